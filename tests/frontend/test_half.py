"""`_Float16`, which pycparser does not know: types of two bytes, and constants with a suffix that names their width."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.frontend.text.literals import without_widths
from polyc.model import ctree as c
from polyc.model.scop import CType, Scop
from polyc.runtime import compare
from tests.half import compilers, needs_half
from tests.programs import compiled, region_of

from .conftest import Modeller

TYPES = """
typedef _Float16 half_t;
struct cell { _Float16 x; char kind; };
void f(int n, _Float16 A[n][n], const half_t *restrict B, _Float16 alpha, float C[n], struct cell *q)
{
    half_t t[n];
#pragma polyc live-out(C)
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = A[i][0] * alpha + (half_t)0.5;
    for (int i = 0; i < n; i++) {
        _Float16 one = t[i] * B[i];
        C[i] = one + q[i].x;
    }
#pragma endscop
}
"""
CONSTANTS = """
#define SCALE 0.1f16
void f(int n, _Float16 A[n], _Float16 B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = B[i] * SCALE + 1.5F16 - .25f16 + 1e-1f16 + 0x1.8p0f16 + 2.5f32 + 0x1f16 + 0.5f + 1.f;
#pragma endscop
}
"""
ROUNDED = """
void f(int n, _Float16 A[n][n], _Float16 B[n][n], _Float16 C[n][n], _Float16 alpha)
{
    _Float16 t[n][n], u[n][n];
#pragma polyc live-out(C)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = A[i][j] * alpha + 0.1f16;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u[j][i] = (_Float16)(A[i][j] * B[i][j]) + t[i][j] * 3001;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = u[i][j] - A[i][j] / 3;
#pragma endscop
}
"""
INLINED = """
void f(int n, _Float16 A[n][n], _Float16 B[n], _Float16 C[n][n], _Float16 alpha)
{
    _Float16 t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = A[i][j] * alpha + 0.1f16;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = t[j][i] * B[i];
#pragma endscop
}
"""


def test_types(scop: Modeller) -> None:
    found = scop(TYPES)
    half = CType("_Float16", "float", 2)
    named = CType("half_t", "float", 2)
    elements = {array.c_name: array.element for array in found.arrays.values()}
    assert elements["q"].size_bytes == 4
    del elements["q"]
    assert elements == {
        "A": half, "B": named, "C": CType("float", "float", 4), "alpha": half, "one": half, "t": named
    }  # fmt: skip


def test_constants(scop: Modeller) -> None:
    """They come out as they were written; a macro's too."""
    assert literals(scop(CONSTANTS)) == [
        "0.1f16", "1.5F16", ".25f16", "1e-1f16", "0x1.8p0f16", "2.5f32", "0x1f16", "0.5f", "1.f"
    ]  # fmt: skip


def literals(found: Scop) -> list[str]:
    (statement,) = found.statements.values()
    return [node.text for node in c.walk(statement.body) if isinstance(node, c.Literal)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x = 0.5f16;", "x = 0.5f  ;"),
        ("1.5F16+2e3f128x", "1.5F  +2e3f    "),
        ('s = "0.5f16";', 's = "0.5f16";'),
        ("a0.5f16", "a0.5f16"),
        ("0x1f16 1f16 f16 0.5f162", "0x1f16 1f16 f16 0.5f162"),
    ],
)
def test_widths_of_constants(text: str, read: str) -> None:
    assert without_widths(text) == read
    assert len(read) == len(text)


def test_a_mistake_beside_a_constant_has_its_place(scop: Modeller) -> None:
    with pytest.raises(UserError) as caught:
        scop(CONSTANTS.replace("+ 1.5F16", "+ missing"))
    (problem,) = caught.value.diagnostics
    assert problem.code == "undeclared"
    assert problem.span is not None
    line = CONSTANTS.replace("+ 1.5F16", "+ missing").splitlines()[problem.span.line - 1]
    assert line[problem.span.column - 1 :].startswith("missing")


@pytest.mark.parametrize("options", [{}, {"inline": False}, {"target": "c"}, {"tile_sizes": (3, 5)}, {"fuse": "max"}])
def test_rounds_as_before(options: dict[str, object], tmp_path: Path) -> None:
    """Buffers, variables and inlined expressions hold what the arrays held: values of half precision."""
    needs_half()
    made = compiled(ROUNDED, tmp_path, **options)
    assert made.verified
    report = compare(region_of(ROUNDED, tmp_path), made, (5, 40))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped


def test_an_inlined_expression_is_rounded(tmp_path: Path) -> None:
    """gcc computes in float and rounds where a value is stored: so a cast stands in the place of the store."""
    text = compiled(INLINED, tmp_path).text
    assert "C[i][j] = (_Float16)(A[j][i] * alpha + 0.1f16) * B[i];" in text


def test_a_compiler_without_it_says_so(tmp_path: Path) -> None:
    """The text keeps the user's types: a compiler that lacks one refuses the original, too, and `verify` says so."""
    lacking = [cc for cc, has in compilers().items() if not has]
    if not lacking:
        pytest.skip("all compilers here have _Float16")
    made = compiled(ROUNDED, tmp_path)
    report = compare(region_of(ROUNDED, tmp_path), made, (5,), cc=lacking[0])
    assert not report.differences
    (reason,) = report.skipped
    assert "the region cannot be built on its own" in reason
    assert "_Float16" in reason
