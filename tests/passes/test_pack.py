"""Which arrays are copied into another layout for sums that read their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.programs import region_of

PROJECTED = """
#include <complex.h>
void f(int bands, int shapes, int n, const T v[restrict shapes][n], const T p[restrict bands][n],
       T c[restrict bands][shapes])
{
#pragma scop
    for (int b = 0; b < bands; b++)
        for (int s = 0; s < shapes; s++) {
            T sum = 0;
            for (int g = 0; g < n; g++)
                sum += v[s][g] * p[b][g];
            c[b][s] = sum / (b + 1);
        }
#pragma endscop
}
"""


@pytest.mark.parametrize("kind", ["double complex", "float complex"])
def test_sums_that_make_no_vectors_keep_their_rows(kind: str, tmp_path: Path) -> None:
    """Products of complex numbers look for NaN: along a column they would only be slower."""
    text = PROJECTED.replace("T ", f"{kind} ")
    result = compile_region(region_of(text, tmp_path), Options())
    assert "packed" not in {remark.code for remark in result.program.remarks}
