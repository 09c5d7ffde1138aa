"""isl's own fusion, and nests that it fuses by remainders, are drawn often enough."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.case import numbered_case
from tests.fuzz.crossing import EVERY, FUSIONS
from tests.fuzz.model import Assign, Loop, nodes

DRAWN = 240


def test_fusions_that_are_drawn() -> None:
    fusions = Counter(numbered_case(0, number, 20).options.fuse for number in range(DRAWN))
    assert min(fusions[name] for name in ("min", "smart")) >= DRAWN // 40
    assert fusions["max"] >= DRAWN // 20


def test_nests_that_cross() -> None:
    """All have several statements, and most of them steps of two or three."""
    cases = [numbered_case(0, number, 20) for number in range(EVERY - 1, DRAWN, EVERY)]
    assert [case.options.fuse for case in cases] == [FUSIONS[k % len(FUSIONS)] for k in range(len(cases))]
    programs = [list(nodes(case.program.nests)) for case in cases]
    assert all(sum(isinstance(node, Assign) for node in program) >= 2 for program in programs)
    stepping = [any(isinstance(node, Loop) and node.step in (2, 3) for node in program) for program in programs]
    assert sum(stepping) > len(programs) // 2
