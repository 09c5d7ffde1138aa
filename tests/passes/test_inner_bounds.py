"""Conditions with a division that bound the vector loop, where the loop of the division is inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

COLUMNS = """
void columns(int n, int m, double G[n][m], double x[n], double g[m])
{{
#pragma scop
    for (int a = 0; a < m; a++)
        for (int k = 0; k < n; k++)
            if ({condition})
                g[a] += G[k][a] * x[k];
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("condition", "bound"),
    [
        ("k >= 8 * (a / 3)", "3 * (k / 8) + 3); a++)"),
        ("k <= 4 * (a / 4) + 3", "long a = polyc_max(at, k - k % 4);"),
        ("k - 20 >= 8 * (a / 3)", "3 * ((k + 4) / 8) - 6); a++)"),
        ("5 * (k - 4) <= 4 * ((2 * a + 1) / 7)", None),
        ("k - 9 <= (a + k) / 5 * 2", None),
    ],
)
def test_no_iteration_asks(condition: str, bound: str | None, tmp_path: Path) -> None:
    region = region_of(COLUMNS.format(condition=condition), tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "text-not-checked" not in {remark.code for remark in result.program.remarks}
    vector = result.text[result.text.rindex("simd\n") :]
    assert "if" not in vector, result.text
    assert bound is None or bound in vector
    assert check(region, result, sizes=(1, 2, 3, 17, 40, 61)) == []


def test_what_a_tile_computes_anew(tmp_path: Path) -> None:
    text = """
    void rows(double G[64][66], double out[64][64])
    {
        double T[64][66];
    #pragma scop
        for (int k = 0; k < 64; k++)
            for (int a = 0; a < 66; a++) {
                T[k][a] = 0;
                if (k >= 8 * (a / 3))
                    T[k][a] = G[k][a] * 2;
            }
        for (int k = 0; k < 64; k++)
            for (int a = 0; a < 64; a++)
                out[k][a] = T[k][a] + T[k][a + 1] + T[k][a + 2];
    #pragma endscop
    }
    """
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "a < 3 * (k / 8) + 3" in result.text
    assert "if (" not in result.text
    assert check(region, result) == []
