"""Whole tiles without bounds, beside those at borders: the same values at sizes with both, either, and none."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.analysis.expressions.linear import Linear
from polyc.codegen.gpu.device import whole
from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.records import replace
from polyc.runtime import compare
from tests.programs import compiled, region_of

SIZES = (0, 1, 2, 33, 67, 131)
"""None, the border alone, one whole tile and a part, several."""
PROGRAMS = {
    "rows": (
        "int n, float a[n][n], float b[n], float c[n][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = 2 * a[i][j] + b[j];",
        "if (it + 32 <= n && jt + 32 <= n) {",
    ),
    "stencil": (
        "int n, float a[n][n], float c[n][n]",
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)\n"
        "  c[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j];",
        "1 <= it && it + 17 <= n && 1 <= jt && jt + 65 <= n",
    ),
    "padding": (
        "int n, float a[n][n], float w[3][3], float c[n][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n  float s = 0;\n"
        "  for (int u = 0; u < 3; u++) for (int v = 0; v < 3; v++)\n"
        "    if (i + u >= 1 && i + u <= n && j + v >= 1 && j + v <= n) s += w[u][v] * a[i + u - 1][j + v - 1];\n"
        "  c[i][j] = s;\n}",
        "for (index u = 0; u < 3; u++)",
    ),
    "clamps": (
        "int n, float a[n][n], float c[n][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\n"
        "  c[i][j] = a[i][j == 0 ? 0 : j - 1] - a[i > n - 3 ? n - 1 : i + 2][j];",
        "= a[i * n + (j - 1)] - a[(i + 2) * n + j];",
    ),
    "choices of data": (
        "int n, float t, float a[n][n], float c[n][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] < t ? (i < j ? 1 : 2) : a[i][j];",
        "jt + 32 <= n) {",
    ),
    "no sign": (
        "unsigned n, float a[n][n], float c[n][n]",
        "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++) c[i][j] = j + 1 < n ? a[i][j] : 0;",
        "",
    ),
    "in one row": (
        "double a[90], double c[90]",
        "for (int i = 3; i < 90; i++) { c[i] = 2 * c[i] + a[i - 3]; a[i] = c[i] * c[i]; }",
        "",
    ),
}


def source(name: str) -> str:
    parameters, body, _ = PROGRAMS[name]
    return f"void f({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, tmp_path: Path) -> None:
    region = region_of(source(name), tmp_path)
    result = compile_region(region, Options(target="cuda"))
    assert result.passed
    assert PROGRAMS[name][2] in result.device[0]
    report = compare(region, result, SIZES)
    assert not report.differences, report.differences[0].message


def test_thread_loops_of_constant_length_have_no_second_version(tmp_path: Path) -> None:
    text = source("rows").replace("int n, ", "").replace("[n]", "[640]").replace("< n", "< 640")
    (kernel,) = compiled(text, tmp_path, target="cuda").device
    assert "#pragma unroll" in kernel
    assert "if (" not in kernel[: kernel.index("start_")]


def test_sizes_decide_how_many_bits_indices_have(tmp_path: Path) -> None:
    (text,) = compiled(source("rows"), tmp_path, target="cuda").device
    assert "template <typename index>" in text
    assert "if (n <= 1L << 30 && (long)n * n + 512L * n <= 1L << 30" in text
    assert "<int><<<" in text
    assert "<long><<<" in text


def test_indices_that_are_values_keep_their_bits(tmp_path: Path) -> None:
    """A product of numbers of 64 bits; one of 32 bits is the same whichever the index has."""
    text = source("rows").replace("2 * a[i][j]", "i * j")
    (kernel,) = compiled(text.replace("int i", "long i").replace("int j", "long j"), tmp_path, target="cuda").device
    assert "template" not in kernel
    (kernel,) = compiled(text, tmp_path, target="cuda").device
    assert "template" in kernel
    assert "(int)i * (int)j" in kernel


def one_off(difference: Linear) -> c.Expr:
    return CONDITION(replace(difference, constant=difference.constant + 1))


CONDITION = whole._condition


@pytest.mark.parametrize("name", ["rows", "stencil", "padding", "clamps"])
def test_a_bound_that_is_one_off_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that a border cuts off by one element count as whole."""
    monkeypatch.setattr(whole, "_condition", one_off)
    region = region_of(source(name), tmp_path)
    result = compile_region(region, Options(target="cuda"))
    assert compare(region, result, (31, 63, 65, 66)).differences
