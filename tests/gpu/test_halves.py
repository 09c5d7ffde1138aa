"""`_Float16` in kernels: loaded as a float, rounded where it is stored, as gcc does on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.gpu.device.dialect import CUDA
from polyc.codegen.gpu.device.float16 import HalfWords, lowered, plain_literal, spelled
from polyc.codegen.gpu.device.words import NotMappable
from polyc.codegen.gpu.render import render_device_files
from polyc.codegen.text.printer import statement
from polyc.model import ctree as c
from polyc.model.program import Options
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.half import needs_half
from tests.programs import compiled, region_of

ALL_FORMS = """
#include <math.h>
typedef _Float16 half_t;
void all_forms(int n, const _Float16 A[n][n], half_t B[n], _Float16 alpha, float C[n], _Float16 D[n][n], double E[n],
               int F[n])
{
    _Float16 tmp[n][n];
    half_t s = 0;
#pragma polyc live-out(B, C, D, E, F, s)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            tmp[i][j] = A[i][j] * alpha + (_Float16)0.1 - (half_t)3;
    for (int i = 0; i < n; i++) {
        B[i] = 0.25f16 + E[i];
        for (int j = 0; j < n; j++) {
            _Float16 t = tmp[i][j] * 0.1f16;
            B[i] += t * tmp[j][i];
            D[i][j] = tmp[i][j] > 1.0F16 ? tmp[i][j] : -tmp[i][j];
            D[i][j]++;
        }
        C[i] = B[i];
    }
    for (int i = 0; i < n; i++) {
        F[i] = (int)(B[i] * 3) + (B[i] != 0) + !B[i];
        E[i] = sqrtf(B[i]) + A[i][0] * 2.0 + (float)D[0][i] + fmaxf((half_t)(B[i] * C[i]), 1);
        s += A[i][0] * 3001;
    }
#pragma endscop
    B[0] = s;
}
"""
EVERY_SIZE = """
void every_size(float f[2100][50], _Float16 h[2100][50], _Float16 d[2100][50], float back[2100][50])
{
    float p[50];
#pragma polyc live-out(h, d, back)
#pragma scop
    p[0] = 0x1p-31f;
    for (int j = 1; j < 50; j++)
        p[j] = p[j - 1] * 2;
    for (int i = 0; i < 2100; i++)
        for (int j = 0; j < 50; j++) {
            h[i][j] = p[j] * (i - 1000.5f) + (f[i][j] > 100 ? f[i][j] : 0.0f);
            d[i][j] = p[j] * (i - 1000.5 + (i % 3 - 1) * 1e-12);
            back[i][j] = h[i][j];
        }
#pragma endscop
}
"""
"""From the smallest halves to beyond the largest, and values between two of them or as near as only doubles are."""
SHARED = """
void shared(_Float16 A[70][70], _Float16 out[70][70])
{
    _Float16 t[70][70];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++)
            t[i][j] = A[i][j] * A[j][i];
    for (int i = 1; i < 69; i++)
        for (int j = 1; j < 69; j++)
            out[i][j] = t[i - 1][j] + t[i][j + 1] + t[i + 1][j] + t[i][j - 1];
#pragma endscop
}
"""
SUMS = """
void sums(int n, _Float16 A[n][n], _Float16 s[n], _Float16 all[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s[i] += A[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            all[0] += A[i][j] > 1;
#pragma endscop
}
"""
"""The second sum is a whole number below 2048: halves in any order are exact."""

PRODUCT = """
void product(int n, RESULT C[n][n], OPERAND A[n][n], OPERAND B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""
IN_WORDS = PRODUCT.replace("int n, ", "").replace("[n]", "[72]").replace("< n", "< 72")
"""16 bytes of a row are copied at once."""


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("text", [ALL_FORMS, EVERY_SIZE, SHARED], ids=["forms", "sizes", "shared"])
def test_rounds_as_on_the_cpu(text: str, target: str, tmp_path: Path) -> None:
    needs_half()
    assert_same(region_of(text, tmp_path), Options(target=target))


@pytest.mark.slow
@TARGETS
def test_in_other_shapes(target: str, tmp_path: Path) -> None:
    needs_half()
    assert_same(region_of(ALL_FORMS, tmp_path), Options(target=target, inline=False, tile_sizes=(3, 5)))


def test_a_tile_in_shared_memory_is_half_precision(tmp_path: Path) -> None:
    text = "".join(compiled(SHARED, tmp_path, target="cuda").device)
    assert "__shared__ __half t_tile[" in text


@pytest.mark.slow
@TARGETS
def test_parts_of_a_sum_are_floats(target: str, tmp_path: Path) -> None:
    needs_half()
    made = assert_same(region_of(SUMS, tmp_path), Options(target=target, reassociate=True))
    text = "".join(made.device)
    assert "float s_part = 0;" in text
    assert "float all_part = 0;" in text


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("types", ["_Float16 _Float16", "float _Float16", "float short"])
@pytest.mark.parametrize("text", [PRODUCT, IN_WORDS], ids=["symbolic", "constant"])
def test_products_in_registers(text: str, types: str, target: str, tmp_path: Path) -> None:
    """cp.async copies 4 bytes at least: smaller elements are copied through registers, or 16 bytes at once."""
    needs_half()
    result, operand = types.split()
    made = assert_same(region_of(text.replace("RESULT", result).replace("OPERAND", operand), tmp_path), Options(target))
    assert [r for r in made.program.remarks if r.code == "register-tile"]
    (file, *_) = render_device_files("t.c", [made.device], target).values()
    if target == "cuda":
        assert "#include <cuda_pipeline.h>" in file
        assert ("polyc_fetch16(&" in made.device[0]) == (text is IN_WORDS)
        assert "polyc_fetch(&" not in made.device[0]


def test_the_header_is_there_where_it_is_needed(tmp_path: Path) -> None:
    made = compiled(SHARED, tmp_path, target="cuda")
    assert "#include <cuda_fp16.h>" in render_device_files("t.c", [made.device], "cuda")[".cu"]
    other = compiled(SHARED.replace("_Float16", "float"), tmp_path, target="cuda")
    assert "cuda_fp16" not in render_device_files("t.c", [other.device], "cuda")[".cu"]


def cell(name: str) -> c.ArrayRef:
    return c.ArrayRef(name, (c.Name("i"),))


SHORT = HalfWords("half", "of", "to", "double_to")


def printed(item: c.Stmt, **types: str) -> str:
    known = {"A": "_Float16", "B": "_Float16", "f": "float", "d": "double", "n": "int", **types}
    return "\n".join(line for one in lowered((item,), (), known, SHORT) for line in statement(one, 0))


A, B, F, D = cell("A"), cell("B"), cell("f"), cell("d")


def half(value: c.Expr) -> c.Expr:
    return c.Cast("_Float16", value)


def assign(value: c.Expr, op: str = "=", target: c.Expr | None = None) -> c.Stmt:
    return c.ExprStmt(c.Assign(op, target or A, value))


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (assign(B), "A[i] = B[i];"),
        (assign(F), "A[i] = to(f[i]);"),
        (assign(D), "A[i] = double_to(d[i]);"),
        (assign(c.Literal("0.5")), "A[i] = double_to(0.5);"),
        (assign(c.Binary("<", D, c.Literal("1.0"))), "A[i] = to(d[i] < 1.0);"),
        (assign(B, target=F), "f[i] = of(B[i]);"),
        (assign(B, "+="), "A[i] = to(of(A[i]) + of(B[i]));"),
        (assign(c.Binary("+", F, c.Literal("1")), "*="), "A[i] = to(of(A[i]) * (f[i] + 1));"),
        (assign(D, "-="), "A[i] = double_to(of(A[i]) - d[i]);"),
        (assign(B, "+=", D), "d[i] += of(B[i]);"),
        (c.ExprStmt(c.Postfix("++", A)), "A[i] = to(of(A[i]) + 1);"),
        (assign(half(c.Binary("*", A, B))), "A[i] = to(of(A[i]) * of(B[i]));"),
        (assign(half(c.Literal("0.1")), target=F), "f[i] = 0.0999755859375f;"),
        (assign(half(c.Unary("-", c.Literal("2049"))), target=F), "f[i] = -2048.0f;"),
        (assign(half(D), target=F), "f[i] = of(double_to(d[i]));"),
        (assign(c.Cast("float", B), target=F), "f[i] = of(B[i]);"),
        (assign(c.Assign("=", B, c.Literal("1"))), "A[i] = to(of(B[i] = to(1)));"),
        (c.Decl("_Float16", "t", (), F), "half t = to(f[i]);"),
        (c.ExprStmt(c.Call("polyc_fetch", (c.Unary("&", A), c.Unary("&", B)))), "polyc_fetch(&A[i], &B[i]);"),
        (assign(c.Ternary(B, B, c.Literal("0"))), "A[i] = of(B[i]) ? B[i] : to(0);"),
    ],
)  # fmt: skip
def test_statements(item: c.Stmt, expected: str) -> None:
    assert printed(item) == expected


def test_without_half_precision_nothing_changes() -> None:
    item = assign(F, target=D)
    assert lowered((item,), (), {"f": "float", "d": "double"}, CUDA.half) == (item,)


@pytest.mark.parametrize(
    "item",
    [
        assign(c.Postfix("++", B)),
        assign(B, "+=", c.ArrayRef("A", (c.Postfix("++", c.Name("i")),))),
        c.Decl("float", "A", (), c.Literal("0")),
    ],
)
def test_what_a_kernel_cannot_say(item: c.Stmt) -> None:
    with pytest.raises(NotMappable):
        printed(item)


def test_declarations() -> None:
    assert spelled(c.Decl("__shared__ _Float16", "t", ()), CUDA.half).type == "__shared__ __half"


@pytest.mark.parametrize(
    ("text", "plain"),
    [("0.1f16", "0.1f"), ("1.F16", "1.f"), ("1e3f32", "1e3f"), ("2.5f64", "2.5"), ("0x1p-3f16", "0x1p-3f"),
     ("0x1f16", None), ("0.5f", None), ("1.0f128", None), ("10", None)],
)  # fmt: skip
def test_literals(text: str, plain: str | None) -> None:
    assert plain_literal(text) == plain
