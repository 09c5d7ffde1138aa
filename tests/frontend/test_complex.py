"""Complex numbers of C99: imaginary constants, which pycparser does not know, functions of <complex.h>, and sums."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend.text.literals import as_written, without_widths
from polyc.model import ctree as c
from polyc.runtime import compare
from tests.programs import compiled, region_of

from .conftest import Modeller

SPECTRUM = """
#include <complex.h>
#include <math.h>
void f(int n, int m, float complex r[n], const float complex v[m], double power[n], float angle)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float complex turn = cosf(angle * i) + sinf(angle * i) * I;
        r[i] = 0;
        for (int j = 0; j < m; j++)
            r[i] += v[j] * turn * (0.5f + 2.0if);
    }
    for (int i = 0; i < n; i++)
        power[i] = creal(r[i] * conjf(r[i])) + cabsf(r[i]);
#pragma endscop
}
"""
CONVERTED = """
void f(int n, double _Complex A[n][n], double _Complex B[n], double C[n][n])
{
    double t[n][n];
#pragma polyc live-out(C)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = A[i][j] * B[j] * 1.5i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = t[i][j] * B[i] + (float _Complex)t[i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x = 1.0iF;", "x = 1.0L ;"),
        ("x = 2.5fi + 1e3j;", "x = 2.5L  + 1e3L;"),
        ('s = "1.0i"; y = 0x1p3i;', 's = "1.0i"; y = 0x1p3L;'),
        ("1.0ix 1.0fl a1.0i", "1.0ix 1.0fl a1.0i"),
    ],
)
def test_imaginary_constants(text: str, read: str) -> None:
    assert without_widths(text) == read


def test_an_imaginary_constant_is_printed_as_it_was_written(scop: Modeller) -> None:
    found = scop(SPECTRUM)
    texts = {node.text for s in found.statements.values() for node in c.walk(s.body) if isinstance(node, c.Literal)}
    assert {"1.0iF", "2.0if", "0.5f"} <= texts
    assert as_written("1.0L", 0, "1.0L") == "1.0L"


@pytest.mark.parametrize("text", [SPECTRUM, CONVERTED])
@pytest.mark.parametrize("options", [{}, {"tile_sizes": (3, 5)}, {"fuse": "max"}])
def test_computes_what_was_written(text: str, options: dict[str, object], tmp_path: Path) -> None:
    """An inlined expression is converted, too: a real array has no imaginary part."""
    made = compiled(text, tmp_path, **options)
    assert made.verified
    report = compare(region_of(text, tmp_path), made, (5, 40))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped


def test_a_sum_of_complex_products_keeps_its_loops(tmp_path: Path) -> None:
    """Compilers make no vectors of such products: with the sum innermost its value stays in registers."""
    made = compiled(SPECTRUM, tmp_path)
    assert not [remark.code for remark in made.program.remarks if remark.code in ("spread", "cpu-sizes")]
