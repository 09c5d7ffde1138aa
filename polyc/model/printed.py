"""A region's text, with the trees that it was printed from."""

from __future__ import annotations

from polyc.model import ctree as c
from polyc.model.certificate import Certificate
from polyc.model.program import Origins
from polyc.records import dataclass, field

Body = tuple[c.Stmt, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    text: str
    """The C text that replaces the region."""
    ast: str
    """isl's text of the AST."""
    body: tuple[c.Stmt, ...]
    """The statements of the text, with notes for its check."""
    guard: c.Expr | None
    """The condition on the sizes under which they run."""
    device: tuple[str, ...] = ()
    """What belongs into the other files of a GPU target."""
    origins: tuple[Origins, ...] = ()
    """Of the text, and of each of `device`."""
    steps: tuple[tuple[str, Body, Body], ...] = ()
    """What was done to the printed loops as C, step by step, from `body` to what is in the file: its name, and the
    statements before and after it."""
    needed: c.Expr | None = None
    """All that is asked before anything runs: `guard`, and what has to be apart in memory. A region that asks the data
    begins with it, and so do its allocations."""
    condition: c.Expr | None = None
    """What the file's `if` says: `needed`, or the answer of the data, or the names of what was allocated under these.
    None where there is no `if`."""
    question: Question | None = None
    heap: tuple[c.Decl, ...] = ()
    """Arrays that are allocated before anything runs."""
    vectors: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """The vector types that the text declares: name -> element type, lanes, bytes of an element."""
    certificate: Certificate = field(default_factory=Certificate)
    """What its first line says was shown of it."""
    unused: tuple[str, ...] = ()
    """The user's names that only the original loops used."""
    after: tuple[c.Stmt, ...] = ()
    """What gives pointers the arrays that they have after the region, behind the statements of the last step."""


@dataclass(frozen=True, slots=True)
class Question:
    """What asks the data something before a region runs."""

    answer: str
    """The variable that is 0 at its end where they are not as they should be."""
    body: tuple[c.Stmt, ...]
