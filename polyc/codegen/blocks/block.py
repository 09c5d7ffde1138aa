"""The block that stands in a region's place: the same for every CPU target; the pragmas are in the loops.

Plain Python: building templates would take a twentieth of a compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polyc import __version__

DATA = "the data leave their rows nowhere"
MEMORY = "no memory that is written is reached by another name"
INSIDE = "no array is used before its start"
OTHER_BRANCH = "} else { /* where that does not hold: as it was written */"


def block(
    summary: str,
    code: str,
    *,
    macros: Sequence[str] = (),
    types: Sequence[str] = (),
    question: tuple[str, str, str] | None = None,
    about: str = "",
    allocations: Sequence[str] = (),
    guard: str = "",
    original: str = "",
    heap: Sequence[str] = (),
    unused: Sequence[str] = (),
    hidden: bool = False,
) -> str:
    """The block's text.

    question: the variable of its answer, what it is without asking the data, and the code that asks them
    about: what it is about, in words
    guard: the condition of `code`; where it does not hold, `original` runs
    heap: pointers to free; unused: what only the original loops use; hidden: whether `code` declares such names anew
    """
    them = "it" if len(unused) == 1 else "them"
    last = [f"  (void){', (void)'.join(unused)}; /* only the original loops used {them} */"] if unused else []
    lines = [f"/* polyc {__version__}: {summary} */", *_defined(macros), "{", *(f"  {one}" for one in types)]
    if question is not None:
        answer, otherwise, ahead = question
        lines += [f"  int {answer} = {otherwise};"]
        lines += [f"  if ({answer}) {{ /* whether {about} */", ahead, "  }"]
    lines += [f"  {one}" for one in allocations]
    if guard:
        own = [f"    __builtin_free({name});" for name in heap] if len(heap) == 1 else []  # there is one to free
        lines += [f"  if ({guard}) {{", code, *own, f"  {OTHER_BRANCH}"]
        lines += [original, "  }"]
    else:
        lines += [*last, code] if hidden else [code]
    lines += [f"  __builtin_free({name});" for name in heap if len(heap) > 1]
    return "\n".join([*lines, *([] if hidden else last), "}", ""])


def _defined(macros: Sequence[str]) -> Iterator[str]:
    """Macros that nobody has defined yet."""
    for macro in macros:
        name = re.search(r"#define (\w+)", macro)
        assert name is not None
        yield f"#ifndef {name[1]}"
        yield macro
        yield "#endif"


def indented(text: str, indent: str) -> str:
    """The block at the indentation of its pragma; preprocessor lines stay at the margin."""
    lines = text.split("\n")
    return "\n".join(line if not line or line.startswith("#") else indent + line for line in lines)
