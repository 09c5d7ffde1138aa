"""Rows that each iteration of outer loops fills anew: which get a part of a new array, and which tiles keep them."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.text.printer import expression
from polyc.cost.micro_sizes import fitted, micro_sizes
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Options, Program
from polyc.pipeline import compile_region
from polyc.runtime.check import check as run_and_compare
from polyc.verify import check
from tests.programs import after, compiled, region_of

HEADER = "void f(int n, int m, double A[n][40], double B[40][40], double C[n][40], double w[40])\n"
SUM = "for (int k = 0; k < m; k++) w[j] += A[i][k] * B[k][j];"
FILL = f"for (int j = 0; j < m; j++) {{ w[j] = 0.0; {SUM} }}"
STORE = "for (int j = 0; j < m; j++) A[i][j] = w[j];"
MORE_LOOPS = (
    (
        "for (int h = 0; h < 5; h++) for (int i = 0; i < n; i++) {{ "
        "for (int j = 0; j < m; j++) {{ w[j] = D[h][i][j]; "
        "for (int k = 0; k < m; k++) w[j] += D[h][i][k] * B[k][j]; }} "
        "for (int j = 0; j < m; j++) D[h][i][j] = w[j] + 1.0; }}"
    )
    .replace("{{", "{")
    .replace("}}", "}")
)


def region(body: str, local: str = "") -> str:
    return f"{HEADER}{{\n    {local}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def rows(body: str) -> str:
    return region(f"for (int i = 0; i < n; i++) {{ {body} }}")


def remarks(program: Program) -> list[str]:
    codes = ("expanded", "not-expanded", "kept-rows", "relocated", "register-tile")
    return [r.code for r in program.remarks if r.code in codes]


def text_of(program: Program, name: str) -> str:
    body = program.scop.statements[name].body
    assert isinstance(body, c.ExprStmt)
    return expression(body.expr)


def test_each_iteration_has_a_row(tmp_path: Path) -> None:
    program = after(region_of(rows(FILL + STORE), tmp_path), "temporaries")
    assert remarks(program) == ["expanded"]
    assert [text_of(program, name) for name in program.scop.statements] == [
        "w_each[i][j] = 0.0",
        "w_each[i][j] += A[i][k] * B[k][j]",
        "A[i][j] = w_each[i][j]",
        "w[j] = w_each[i][j]",
    ]
    assert check(program) == []


def test_a_tile_keeps_them(tmp_path: Path) -> None:
    result = compiled(rows(FILL + STORE), tmp_path)
    assert result.passed
    assert remarks(result.program) == ["expanded", "kept-rows", "register-tile"]
    assert "w_each[" not in result.text
    assert "if (m <= 40 && polyc_tiles(" in result.text  # a row is no longer than it was declared
    assert [b.storage for b in result.program.buffers.values() if b.array == "w_each"] == ["tile", "tile"]


def test_what_nobody_needs_afterwards(tmp_path: Path) -> None:
    """A local row has no last values to copy back."""
    text = region(f"for (int i = 0; i < n; i++) {{ {FILL} {STORE} }}".replace("w[", "v["), "double v[40];")
    program = after(region_of(text, tmp_path), "temporaries")
    assert program.relocated is not None
    assert program.relocated.added == ()
    assert remarks(compiled(text, tmp_path).program) == ["expanded", "kept-rows", "register-tile"]


def test_several_loops_around(tmp_path: Path) -> None:
    text = region(MORE_LOOPS).replace("double w[40]", "double w[40], double D[5][n][40]")
    program = after(region_of(text, tmp_path), "rows")
    assert remarks(program) == ["expanded", "kept-rows"]
    assert program.groups[0].tile_sizes[0] == 1
    assert check(program) == []


def test_the_last_values_come_from_several_iterations(tmp_path: Path) -> None:
    """Of a triangle, each column ends in another row."""
    body = FILL.replace("j = 0; j < m", "j = i; j < m") + STORE.replace("j = 0; j < m", "j = i; j < m")
    region_ = region_of(rows(body).replace("i < n", "i < m"), tmp_path)
    program = after(region_, "temporaries")
    assert remarks(program) == ["expanded"]
    assert check(program, region_.scop) == []
    result = compile_region(region_, Options())
    assert result.passed
    assert not [r for r in result.program.remarks if r.code == "verification-failed"]


def test_two_live_ranges_of_one_row(tmp_path: Path) -> None:
    """Each has rows of its own; what is needed afterwards comes from the second one, and where it is shorter, from
    both."""
    second = "for (int i = 0; i < n; i++) { " + FILL.replace("A[i]", "C[i]") + STORE.replace("A[i]", "C[i]") + " }"
    for rest in (second, second.replace("j < m", "j < l")):
        text = region(f"for (int i = 0; i < n; i++) {{ {FILL} {STORE} }} {rest}").replace("int m,", "int m, int l,")
        region_ = region_of(text, tmp_path)
        assert check(after(region_, "temporaries"), region_.scop) == []
        result = compile_region(region_, Options())
        assert result.passed
        assert remarks(result.program) == ["expanded"] * 2 + ["kept-rows"] * 2 + ["register-tile"] * 2


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (SUM.join(("for (int j = 0; j < m; j++) {", "}")) + STORE, "values go from one iteration"),
        (
            f"if (i > 0) for (int j = 0; j < m; j++) w[j] = 0.0; for (int j = 0; j < m; j++) {SUM} {STORE}",
            "read before",
        ),
        (
            f"for (int j = 0; j < m; j++) {{ w[j] = 0.0; {SUM} if (C[i][j] > 0) w[j] = 1.0; }} {STORE}",
            "written depends on data",
        ),
    ],
    ids=["a sum over all", "not always set", "data"],
)
def test_what_stays(body: str, why: str, tmp_path: Path) -> None:
    result = compiled(rows(body), tmp_path)
    assert result.passed
    assert result.program.relocated is None
    (told,) = [r for r in result.program.remarks if r.code == "not-expanded"]
    assert why in told.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            rows(FILL + STORE).replace("[40]", "[n]").replace("int m, ", "int m, int l, ").replace("w[n]", "w[l]"),
            "no constant length",
        ),
        (rows(FILL + STORE).replace("[40]", "[9000]"), "would take more than"),
        (rows(FILL + "for (int j = 0; j < m; j++) A[i + 1][j] = w[j];"), "no register tile"),
    ],
    ids=["any length", "long", "carried by the operand"],
)
def test_no_tile_keeps_them(text: str, why: str, tmp_path: Path) -> None:
    """Then the array is not made, which might be larger than the stack."""
    result = compiled(text, tmp_path)
    assert result.passed
    assert result.program.relocated is None
    assert "w_each" not in result.text
    (told,) = [r for r in result.program.remarks if r.code == "not-expanded"]
    assert why in told.message


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 0; j < m; j++) w[j] += A[i][j];",
        "for (int j = 0; j < m; j++) { w[j] = 0.0; for (int k = 0; k < m; k++) w[j] += B[k][j]; }" + STORE,
        "for (int j = 0; j < m; j++) for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j];",
        "for (int j = 0; j < 4; j++) { w[j] = 0.0; for (int k = 0; k < m; k++) w[j] += A[i][k] * B[k][j]; }"
        "for (int j = 0; j < 4; j++) C[i][j] = w[j];",
    ],
    ids=["columns", "one operand", "a product", "narrow"],
)
def test_nothing_to_gain(body: str, tmp_path: Path) -> None:
    program = after(region_of(rows(body), tmp_path), "rows")
    assert program.relocated is None
    assert remarks(program) == []


def test_a_product_in_a_loop_stays(tmp_path: Path) -> None:
    """What is a sum of products as it is needs no further array."""
    body = "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) { C[i][j] = 0.0; "
    body += "for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j]; }"
    text = region(f"for (int t = 0; t < n; t++) {{ {body} }}")
    assert after(region_of(text, tmp_path), "rows").relocated is None


def test_without_it(tmp_path: Path) -> None:
    for options in ({"tile_sizes": (8, 8)}, {"fuse": "max"}, {"target": "cuda"}, {"expand": False}):
        program = after(region_of(rows(FILL + STORE), tmp_path), "temporaries", **options)
        assert program.relocated is None


@pytest.mark.parametrize(
    ("columns", "element_bytes", "expected"),
    [(160, 4, (14, 32)), (160, 8, (14, 16)), (96, 4, (8, 48)), (None, 8, (8, 24))],
)
def test_a_register_tile_that_fits(columns: int | None, element_bytes: int, expected: tuple[int, int]) -> None:
    """Of a machine with 32 registers of 64 bytes; 96 floats are two tiles of 48, and three of 32."""
    machine = load_cpu("x86-64-v4")
    (size,) = micro_sizes(machine, None, columns, columns, element_bytes)
    found = fitted(machine, size, columns)
    assert (found.rows, found.columns) == expected
    assert found.block_m % found.rows == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        rows(FILL + STORE),
        region(MORE_LOOPS).replace("double w[40]", "double w[40], double D[5][n][40]"),
        rows(FILL + STORE.replace("w[j]", "w[m - 1 - j]")),
    ],
    ids=["one loop", "several loops", "read backwards"],
)
def test_equal_values(text: str, tmp_path: Path) -> None:
    region_ = region_of(text, tmp_path)
    result = compile_region(region_, Options())
    assert "kept-rows" in remarks(result.program)
    assert run_and_compare(region_, result, sizes=(1, 7, 24, 40, 45)) == []
