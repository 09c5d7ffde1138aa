"""Imports within polyc point one way, and docs/architecture.md shows them as they are."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from .pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import rooms

MOST_FILES = 16
"""A room with more is two."""


def inside(room: str, other: str) -> bool:
    """Whether a room is the other one, or lies in it."""
    return f"{room}/".startswith(f"{other}/")


def test_every_room_has_a_place() -> None:
    named = {room for edge in rooms.edges() for room in edge}
    assert named <= set(rooms.ORDER)
    assert set(rooms.summaries()) <= set(rooms.ORDER) | {"runtime/cuda_shim", "machine"}


def test_imports_point_one_way() -> None:
    at = {room: place for place, room in enumerate(rooms.ORDER)}
    wrong = [edge for edge in rooms.edges() if at[edge[1]] > at[edge[0]] and edge not in rooms.ALLOWED]
    assert not wrong, "these rooms import from later ones"


def test_checks_share_no_code_with_what_they_check() -> None:
    wrong = [
        edge
        for edge in rooms.edges()
        for one, other in rooms.FORBIDDEN
        if inside(edge[0], one) and inside(edge[1], other)
    ]
    assert not wrong


def test_no_module_takes_what_another_keeps_to_itself() -> None:
    wrong = [one for one in rooms.imports() if one[2].startswith("_") and not one[2].startswith("__")]
    assert not wrong, "these names begin with an underscore"


def test_there_are_no_circles() -> None:
    """Modules, whatever their rooms; imports inside functions count, those for type checkers do not."""
    needs: dict[str, set[str]] = {name: set() for name in rooms.modules()}
    for one, other, _ in rooms.imports(types=False):
        if other in needs and (one, other) != ("polyc.explain", "polyc.api.calls"):
            needs[one].add(other)
    del needs["polyc"]
    while ready := {name for name, others in needs.items() if not others & set(needs)}:
        needs = {name: others for name, others in needs.items() if name not in ready}
    assert not needs


def test_rooms_are_small_and_say_what_they_are_for() -> None:
    told = rooms.summaries()
    files = Counter(room for room in (rooms.room_of(m, rooms.modules()) for m in rooms.modules()) if room in told)
    assert {room: count for room, count in files.items() if count > MOST_FILES + 1 and "/" in room} == {}
    assert [room for room, (first, _) in told.items() if not first] == []


def test_the_page_shows_the_rooms_of_today() -> None:
    """Written by `make docs`, or `python docs/rooms.py`."""
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert rooms.with_table(page) == page
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.drawing()


def test_files_that_are_named_exist() -> None:
    """In comments, docstrings and pages: `inline.py`, `verify/order/races.py`."""
    files = [f for folder in ("polyc", "docs", "tests", "benchmarks") for f in (ROOT / folder).rglob("*.py")]
    known = {part for f in files for part in endings(f.relative_to(ROOT))}
    pages = [*(ROOT / "polyc").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    named = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in pages
        for name in re.findall(r"(?<![\w/.-])((?:\w+/)*\w+\.py)\b", page.read_text(encoding="utf-8"))
        if name not in known
    }
    assert named <= {"docs/add-a-pass.md: polyc/passes/loops/short_loops.py"}


def endings(path: Path) -> set[str]:
    """`a/b/c.py` as `c.py`, `b/c.py` and itself."""
    return {"/".join(path.parts[k:]) for k in range(len(path.parts))}
