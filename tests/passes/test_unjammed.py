"""Vector loops below a loop that gcc would unroll and jam, where a row is no sum of products of its variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

TEXT = """
void f(int n, int m, int head, float a[n][m], float ir[n][m], float s[m])
{{
#pragma scop
    for (int p = 0; p < n; p++)
        for (int b = 0; b < m; b++)
            s[b] += a[{row}][b] * ir[p][b];
#pragma endscop
}}
"""


ROWS = """
void f(float in[64][64], float ring[8][64])
{
#pragma scop
    for (int i = 0; i < 64; i++)
        for (int j = 1; j < 63; j++)
            ring[i % 8][j] = in[i][j - 1] + in[i][j + 1];
#pragma endscop
}
"""


def test_rows_that_no_other_iteration_touches(tmp_path: Path) -> None:
    assert "polyc_unjammed" not in compile_region(region_of(ROWS, tmp_path), Options(tile_sizes=None)).text


@pytest.mark.parametrize(
    ("row", "is_unjammed"),
    [
        ("(p + head) % n", True),
        ("p / 2", True),
        ("p + 3 < n ? p + 3 : n - 1", True),
        ("p == 0 ? n - 1 : p - 1", False),
        ("p", False),
        ("n - 1 - p", False),
    ],
)
def test_rows_that_gcc_would_compute_in_the_inner_loop(row: str, is_unjammed: bool, tmp_path: Path) -> None:
    region = region_of(TEXT.format(row=row), tmp_path)
    found = compile_region(region, Options(tile_sizes=None))
    assert found.verified
    assert not [r for r in found.program.remarks if r.code.startswith("text-")]
    assert ("polyc_unjammed();\n" in found.text) == is_unjammed, found.text
    assert check(region, found, sizes=(1, 5, 8)) == []


TABLE = """
void f(int n, int m, const float t[64], float a[n][m], float s[m])
{
#pragma scop
    for (int p = 0; p < n; p++)
        for (int b = 0; b < m; b++) {
            int w = (3 * p) % 64;
            s[b] += a[p][b] * t[w];
        }
#pragma endscop
}
"""


def test_a_place_in_a_table_that_the_loop_names(tmp_path: Path) -> None:
    region = region_of(TABLE, tmp_path)
    found = compile_region(region, Options(tile_sizes=None))
    assert found.verified
    assert "polyc_unjammed();\n" in found.text
    assert check(region, found, sizes=(1, 5, 70)) == []
