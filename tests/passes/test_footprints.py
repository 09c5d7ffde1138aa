"""The bounds of what instances touch: by arithmetic where a subscript goes along with one loop, as isl has them."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polyc.cost.footprints import _bounds, _cells, _stepped, _steps
from polyc.model.scop import Access, Statement
from tests.programs import region_of

PROGRAM = """
void f(int n, double A[500][500], double B[500][500])
{{
#pragma scop
    for (int i = 2; i < 90; i++)
        for (int j = 1; j < 60; j++)
            B[i][j] = A[{}][{}];
#pragma endscop
}}
"""
PARTS = ("{ S0[i, j] : 7 <= i <= 39 and 3 <= j <= 34 }", "{ S0[i, j] : i = 11 and j = 8 }", "{ S0[i, j] : i > 200 }")
TRIANGLE = "{ S0[i, j] : 2 <= i < 90 and 1 <= j < 60 and 2j <= i and i + j <= 77 }"


def read_of(rows: str, columns: str, folder: Path) -> tuple[Access, Statement]:
    region = region_of(PROGRAM.format(rows, columns), folder)
    (statement,) = region.scop.statements.values()
    (access,) = (a for a in statement.accesses if a.array == "A")
    return access, statement


@pytest.mark.parametrize("columns", ["j + 1", "60 - j", "2 * j + 3", "j / 2", "(j + 5) / 4 + 1", "120 - 3 * (j / 8)"])
@pytest.mark.parametrize("part", [*PARTS, TRIANGLE])
def test_bounds_are_those_of_isl(columns: str, part: str, tmp_path: Path) -> None:
    access, statement = read_of("i - 2", columns, tmp_path)
    name = statement.name
    ran = isl.UnionSet(part.replace("S0", name)).intersect(isl.UnionSet.from_set(statement.domain))
    steps = _steps(access, statement)
    assert steps is not None
    identity = isl.Map.identity(statement.domain.get_space().map_from_set())
    bounds = _bounds(_cells(identity, ran))
    assert bounds is not None
    assert _stepped(steps, bounds) == _bounds(_cells(access.relation, ran))


@pytest.mark.parametrize("columns", ["i + j", "j % 3", "i > 5 ? j : 0", "7", "n"])
def test_others_are_left_to_isl(columns: str, tmp_path: Path) -> None:
    assert _steps(*read_of("i - 2", columns, tmp_path)) is None


def test_halves_of_strides_are_left_to_isl(tmp_path: Path) -> None:
    """isl writes j % 3 of an even j with j / 2: found by the fuzzer."""
    region = region_of(PROGRAM.replace("j++", "j += 2").replace("j = 1", "j = 0").format("i", "j % 3"), tmp_path)
    (statement,) = region.scop.statements.values()
    (access,) = (a for a in statement.accesses if a.array == "A")
    assert _steps(access, statement) is None
