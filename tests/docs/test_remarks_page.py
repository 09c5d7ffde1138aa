"""docs/remarks.md is made from the codes and the examples in tests/remarks (`pytest --update-golden tests/docs`)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from polyc.explain.codes import OUTCOMES, REASONS, REMARKS, Code
from polyc.explain.facts import nests

from .pages import ROOT
from .test_language import codes_of

PAGE = ROOT / "docs" / "remarks.md"
EXAMPLES = ROOT / "tests" / "remarks"
PASSES = [
    *(file for room in ("passes", "cost", "nests", "analysis") for file in (ROOT / "polyc" / room).rglob("*.py")),
    *(ROOT / "polyc").glob("*.py"),
]

HEAD = """# Remarks

A remark is one decision of polyc: what was done with a nest, or why it was not. `polyc explain FILE --why LINE` answers
for the nest at a line; `polyc explain FILE --all-passes` and `polyc compile --remarks` show all of them, JSON with
`--format json`, `--remarks=json` or `--diagnostics-format json`, and SARIF with `--diagnostics-format sarif`. Remarks
are never errors: the result is right either way.

A remark has a stable code, the pass that decided, the lines and the statements that it is about (of a pair of nests:
both), and the numbers that decided. Where a dependence is the reason it has a *witness*: two iterations, and the array
cell that they share, at sizes as small as they can be:

```
because S1[i=0] writes total, and S1[i=1] reads it (n = 2)
```

Iteration `i = 0` of statement S1 has to run before iteration `i = 1`, since that one reads what it wrote. Statements
are numbered in the order of the file; `polyc explain` names their lines.

This page is made from `polyc/explain/codes/` and from the examples in `tests/remarks`, with what polyc says of them.
"""
REASON_HEADS = {
    "not-tiled": "Reasons of not-tiled",
    "not-fused": "Reasons of not-fused",
    "not-inlined": "Reasons of not-inlined",
    "not-relocated": "Reasons of not-relocated",
}


def test_the_page_is_what_the_codes_say(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, "\n".join(page()))


def test_every_code_has_an_entry() -> None:
    assert set(REMARKS) == codes_of("remark", PASSES)
    assert set(REASONS) == set(REASON_HEADS)
    assert set(REASONS["not-tiled"]) == codes_of("NotTiled", PASSES)
    assert set(REASONS["not-fused"]) == codes_of("Declined", PASSES)
    assert set(REASONS["not-inlined"]) == codes_of("Obstacle", PASSES)
    assert set(REASONS["not-relocated"]) == codes_of("Hindrance", PASSES)
    assert set(OUTCOMES) == codes_of("Reason", [Path(nests.__file__)])


def page() -> Iterator[str]:
    yield HEAD
    yield "## All codes\n"
    yield "| code | |\n|---|---|"
    for code in sorted(REMARKS):
        yield f"| [`{code}`](#{code}) | {REMARKS[code].title} |"
    yield ""
    yield "## Codes\n"
    for code in sorted(REMARKS):
        yield from entry(code, REMARKS[code], "remarks", code)
    for remark, title in REASON_HEADS.items():
        yield f"## {title}\n"
        yield f"A remark [`{remark}`](#{remark}) carries one of these as its reason.\n"
        for reason, known in sorted(REASONS[remark].items()):
            yield from entry(f"{remark}: {reason}", known, remark, reason)
    yield "## Reasons of the report\n"
    yield wrapped(
        "The report of `polyc explain` and the summary line of `polyc compile` give their reasons in the same words, "
        "and for loops of which no pass had to decide anything, in these."
    )
    for code, known in sorted(OUTCOMES.items()):
        yield from entry(f"report: {code}", known, "summary", code)


def entry(title: str, known: Code, folder: str, name: str) -> Iterator[str]:
    """A heading, the meaning, the advice, and an example with what is said about it."""
    yield f"### {title}\n"
    yield wrapped(f"*{known.title}.* {known.meaning}")
    see = f" More: [{known.see.partition('#')[0]}]({known.see})." if known.see else ""
    yield wrapped(f"**What to do:** {known.advice}{see}")
    source = EXAMPLES / folder / f"{name}.c"
    if source.exists():
        yield f"```c\n{source.read_text().strip()}\n```\n"
        yield f"```\n{said(source.with_suffix('.expected').read_text(), folder, name)}\n```\n"


def wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def said(text: str, folder: str, name: str) -> str:
    """The decision in the output of `polyc compile --remarks`, with its numbers and its witness."""
    if folder == "summary":
        return next(line for line in text.splitlines() if line.startswith("polyc: ") and f": {name}" in line)
    lines = text.splitlines()
    for number, line in enumerate(lines):
        more: list[str] = []
        for one in lines[number + 1 :]:
            if not one.startswith("      "):
                break
            more.append(one)
        wanted = f"reason {name}" in "".join(more[:1]) if folder in REASON_HEADS else f"[{name}, " in line
        if wanted and re.search(r"\[[\w-]+, [\w-]+\]$", line):
            return "\n".join(one[4:] for one in [line, *more])
    raise AssertionError(f"{folder}/{name}.expected does not say {name}")
