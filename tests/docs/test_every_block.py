"""Every block of code in the pages is run by a test, or says why not.

A block that no test runs has `<!-- not run: WHY -->` on the line before it. WHY is one of the reasons below, and
`not_run.expected` counts them by page: `pytest --update-golden tests/docs` after a new one, and read the diff.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from .pages import PAGES, ROOT, Fence, fences
from .sessions import is_session

REASONS = {
    "a drawing": "a picture, a formula or a signature, and no code",
    "in outline": "code of which only what the text speaks of is left",
    "a set-up": "changes the machine or the user's own folders",
    "hours": "measures the machine for minutes or hours",
    "a GPU": "needs nvcc or a GPU",
    "other programs": "needs programs or sources that are not ours",
    "told elsewhere": "stands in another file, which a test runs or compares",
}
MADE = {"remarks.md"}
"""Pages that a test makes as a whole."""
IN_SESSIONS = ("file", "part", "printed")
BY_PAGE: dict[str, Callable[[Fence], bool]] = {
    "README.md": lambda fence: fence.wished("from") is not None,
    "add-a-pass.md": lambda fence: fence.wish.startswith(("save: ", "insert: ")),
    "api.md": lambda fence: fence.language == "python",
    "cc.md": lambda fence: fence.wish.split(" ")[0] in ("detect", "says", "prints"),
    "language.md": lambda fence: fence.is_region or fence.wish in ("says", "prints"),
    "machines.md": lambda fence: fence.language == "toml",
}
"""Blocks that the test of the page runs or compares."""
GOLDEN = Path(__file__).parent / "not_run.expected"


def why_not(fence: Fence) -> str | None:
    """The reason that a block gives for not being run."""
    return fence.wished("not run")


def is_run(fence: Fence) -> bool:
    if is_session(fence.page) and (fence.language == "console" or fence.wish.partition(":")[0] in IN_SESSIONS):
        return True
    return fence.page.name in MADE or BY_PAGE.get(fence.page.name, lambda _: False)(fence)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    for fence in fences(page):
        reason = why_not(fence)
        place = f"{page.relative_to(ROOT)}:{fence.line}"
        if reason is None:
            assert is_run(fence), f"{place}: no test runs this block: let one, or write <!-- not run: WHY --> before it"
        else:
            assert reason.partition(":")[0] in REASONS, f"{place}: '{reason}' is none of {', '.join(REASONS)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_block_hides(page: Path) -> None:
    """Code stands in fences at the left edge, where the tests see it."""
    text = page.read_text()
    assert len(re.findall(r"^[ \t]*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(fences(page))
    left = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    hidden = [left.count("\n", 0, m.start()) + 2 for m in re.finditer(r"^[ \t]*\n(?= {4}|\t)", left, re.MULTILINE)]
    assert not hidden, f"{page.relative_to(ROOT)}: indented code at lines {hidden}"


def test_what_is_not_run_is_counted(golden: Callable[[Path, str], None]) -> None:
    found = Counter(
        (str(page.relative_to(ROOT)), reason.partition(":")[0])
        for page in PAGES
        for reason in map(why_not, fences(page))
        if reason is not None
    )
    golden(GOLDEN, "".join(f"{page}: {reason}: {count}\n" for (page, reason), count in sorted(found.items())))
