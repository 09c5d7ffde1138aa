"""What was shown of a printed region: its schedule tree, its text, and both together at small sizes."""

from __future__ import annotations

from polyc.records import dataclass

SHOWN = "shown"
AS_WRITTEN = "as written"
NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The results of the checks. `checked` means the first two."""

    tree: str = NOT_SHOWN
    """`shown`: the schedule tree computes the values of the region; `as written`: the region's own loops; else
    `not shown`."""
    text: str = NOT_SHOWN
    """`shown`: what is printed is the tree; `as written`: it is the region's own text; else `not shown`."""
    run: str = "not run"
    """The text and the region run cell by cell at small sizes: `agrees`, or `not run`."""

    @property
    def checked(self) -> bool:
        """Whether nothing is left to show."""
        return NOT_SHOWN not in (self.tree, self.text)

    @property
    def word(self) -> str:
        """The end of the text's first line."""
        if self.checked:
            return "checked"
        return "NOT checked" if self.tree == NOT_SHOWN else "schedule checked, text NOT checked"

    @property
    def state(self) -> str:
        """The same in reports."""
        if self.checked:
            return "verified"
        return "NOT verified" if self.tree == NOT_SHOWN else "schedule verified, text NOT verified"


WRITTEN = Certificate(AS_WRITTEN, AS_WRITTEN)
