"""What a code stands for."""

from __future__ import annotations

from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """What a code stands for."""

    title: str
    """A few words, as a heading."""
    meaning: str
    """Markdown, without links."""
    advice: str
    """What to do about it; Markdown, without links."""
    see: str = ""
    """A place in docs/ that says more: `cpu.md#temporaries`."""
    dependence: bool = False
    """A dependence is the reason, at least where the code's example shows it, and the record has a witness."""
    gain: bool = False
    """The pass makes a region faster, though none of its nests has tiles or a parallel loop for that."""
    sizes: bool = False
    """The message has sizes that the pass chose by itself."""


NOTHING = "Nothing: this is an improvement."
REPORT = "Please report it, with the file that polyc names: your program is not at fault, and the output is right."
BUDGET = (
    "Raise `--budget` (isl operations that a step may take; 0 is no bound), promise sizes with `--param` or "
    "`--assume`, or split the region in two."
)
