"""Results that go to memory past the caches: which, their text, their values, and what the check of the text sees."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from polyc.codegen.blocks.lookup_block import with_lookups
from polyc.codegen.blocks.stream_block import FENCE, STREAM, with_rows
from polyc.codegen.blocks.vectors import VectorTypes
from polyc.codegen.loops.loops import print_loops
from polyc.model import ctree as c
from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.reread.blocks.read_streams import row_faults
from polyc.runtime.check import check
from polyc.runtime.csource import c_source
from tests.programs import compiled_file, region_of

FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed", "isl-failed"}
FORCED = Options(stores="nontemporal")
SIZES = (1, 2, 3, 16, 33, 70)

ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n + 60; j++)"
WIDE = "for (int i = 0; i < 3; i++) for (int j = 0; j < 9000; j++)"
STORED = {
    "a row": (f"{ROWS} A[i][j] = B[i][j] + 1;", "{t} A[n][n + 60], {t} B[n][n + 60]", 1),
    "within a row": (f"{ROWS} A[i][j + 3] = 2 * B[i][j];", "{t} A[n][n + 70], {t} B[n][n + 60]", 1),
    "a part of a longer row": (f"{WIDE} A[i][j] = B[i][j] + B[i][j + 1];", "{t} A[3][9000], {t} B[3][9001]", 1),
    "two results": (
        f"{ROWS} {{ A[i][j] = B[i][j] + 1; C[i][j] = 3 * B[i][j]; }}",
        "{t} A[n][n + 60], {t} B[n][n + 60], {t} C[n][n + 60]",
        2,
    ),
    "planes": (
        f"{ROWS} {{ A[0][i][j] = B[i][j]; A[1][i][j] = 2 * B[i][j]; A[2][i][j] = -B[i][j]; }}",
        "{t} A[3][n][n + 60], {t} B[n][n + 60]",
        3,
    ),
    "rows at once": (
        f"{ROWS} A[i][j] = B[i][j] + B[i + 1][j] + B[i + 2][j] + B[i + 3][j] + B[i + 4][j];",
        "{t} A[n][n + 60], {t} B[n + 4][n + 60]",
        1,
    ),
    "a triangle": (
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) A[i][j] = B[j][i] + 1;",
        "{t} A[n][n], {t} B[n][n]",
        1,
    ),
}
TYPES = ["float", "double", "unsigned char", "short"]
KEPT = {
    "a vector": "for (int j = 0; j < 2 * n; j++) A[1][j] = B[1][j / 2] + 1;",
    "read": f"{ROWS} A[i][j] = A[i][j] + B[i][j];",
    "read at another place": f"{ROWS} A[i][j + 1] = B[i][j] + A[i][j];",
    "written twice": f"for (int k = 0; k < 2; k++) {ROWS} A[i][j] = B[i][j] + k;",
    "down a column": "for (int j = 1; j < n; j++) A[j][5] = B[j][5] + 1;",
    "where data say so": f"{ROWS} if (B[i][j] > 0) A[i][j] = B[i][j];",
    "backwards": f"{ROWS} A[i][n + 59 - j] = B[i][j];",
    "every second one": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][2 * j] = B[i][j];",
}


def program(loops: str, arrays: str, kind: str = "float") -> str:
    return f"""
void f(int n, {arrays.format(t=kind)})
{{
#pragma scop
    {loops}
#pragma endscop
}}
"""


def codes(result: Compiled) -> set[str]:
    return {remark.code for remark in result.program.remarks}


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, TYPES[k % 4]) for k, name in enumerate(STORED)), ("rows at once", "unsigned char"), ("a row", "short")],
)
def test_values(name: str, kind: str, tmp_path: Path) -> None:
    """Bit by bit; rows begin and end in the middle of lines."""
    loops, arrays, rows = STORED[name]
    region = region_of(program(loops, arrays, kind), tmp_path)
    for target in ("openmp", "c") if name in ("a row", "a triangle") else ("openmp",):
        result = compile_region(region, replace(FORCED, target=target))
        assert result.verified
        assert "nontemporal" in codes(result)
        assert not codes(result) & FAILURES
        assert result.text.count(f"{STREAM}(&") >= rows
        assert f"{FENCE}();" in result.text
        assert check(region, result, sizes=SIZES) == []


@pytest.mark.parametrize("name", KEPT)
def test_stores_that_stay(name: str, tmp_path: Path) -> None:
    arrays = "float A[2 * n + 61][2 * n + 61], float B[n + 61][n + 61]"
    region = region_of(program(KEPT[name], arrays), tmp_path)
    result = compile_region(region, FORCED)
    assert STREAM not in result.text
    assert not codes(result) & FAILURES
    assert check(region, result, sizes=(1, 9, 33)) == []


def test_rows_of_small_tiles(tmp_path: Path) -> None:
    """Of 8 elements in a row no line is whole; gcc warns of what a macro would do with more."""
    loops, arrays, _ = STORED["a triangle"]
    region = region_of(program(loops, arrays), tmp_path)
    result = compile_region(region, replace(FORCED, tile_sizes=(8,)))
    assert "A_row" not in result.text
    assert any("stores 32 bytes of a row" in remark.message for remark in result.program.remarks)
    assert "A_row" in compile_region(region, replace(FORCED, tile_sizes=(64,))).text


def test_rows_of_a_member(tmp_path: Path) -> None:
    """A row is named after the array, which may be a member of a struct."""
    text = """
#include <math.h>
struct layer { int n, m; double *y; };
void forward(struct layer *self, const double *x, const double *w)
{
    for (int i = 0; i < self->n; i++) {
        double s = 0;
        for (int j = 0; j < self->m; j++)
            s += x[j] * w[i * self->m + j];
        self->y[i] = 1 / (1 + exp(-s));
    }
}
"""
    (found,), _ = compiled_file(text, tmp_path, machine="x86-64")
    assert found.certificate is not None
    assert found.certificate.text == "shown"
    assert "self_y_row[" in found.text


def test_read_later(tmp_path: Path) -> None:
    """Another nest may read what was stored past the caches."""
    loops = f"{ROWS} A[i][j] = B[i][j] + 1; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[j][i] = A[i][j];"
    arrays = "double A[n][n + 60], double B[n][n + 60], double C[n][n]"
    region = region_of(program(loops, arrays), tmp_path)
    result = compile_region(region, replace(FORCED, fuse="min"))
    assert result.text.count(f"{STREAM}(&A[i]") == 1
    assert check(region, result, sizes=SIZES) == []


LARGE = "float A[8000][8000], float B[8002][8002]"
POINT = "for (int i = 0; i < 8000; i++) for (int j = 0; j < 8000; j++) A[i][j] = "


def auto(text: str, folder: Path, machine: str = "zen3", **options: str) -> Compiled:
    return compile_region(region_of(text, folder), Options(machine=machine, **options))  # type: ignore[arg-type]


def test_what_pays(tmp_path: Path) -> None:
    large = program(POINT + "B[i][j] + 1;", LARGE)
    assert STREAM in auto(large, tmp_path).text
    assert STREAM not in auto(large, tmp_path, "generic").text
    assert STREAM not in auto(large, tmp_path, stores="plain").text
    small = auto(program(POINT + "B[i][j] + 1;", LARGE).replace("8000", "800"), tmp_path)
    assert STREAM not in small.text
    assert "not-nontemporal" not in codes(small)


def test_arithmetic_hides_memory(tmp_path: Path) -> None:
    power = " * ".join(["B[i][j]"] * 450)
    found = auto(program(POINT + power + ";", LARGE), tmp_path)
    (said,) = [r.message for r in found.program.remarks if r.code == "not-nontemporal"]
    assert "arithmetic is what the nest waits for" in said
    assert STREAM not in found.text


def test_sizes_that_a_run_knows(tmp_path: Path) -> None:
    """Both forms, and the question."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j] + 1;"
    text = program(loops, "int m, float A[n][m], float B[n][m]")
    region = region_of(text, tmp_path)
    result = compile_region(region, Options(machine="zen3"))
    assert "if (1.0 * n * m > 50331648) {" in result.text
    assert result.text.count("B[i][j] + 1") == 2
    assert check(region, result, sizes=(1, 40)) == []
    large = replace(result, text=result.text.replace("> 50331648", "> 40"))
    assert check(region, large, sizes=SIZES) == []


def test_another_machine(tmp_path: Path) -> None:
    arm = replace(FORCED, machine="graviton3")
    result = compile_region(region_of(program(*STORED["a row"][:2]), tmp_path), arm)
    assert STREAM not in result.text
    assert "not-nontemporal" in codes(result)


# --- the check of the text ---


def printed(text: str, folder: Path) -> tuple[Callable[[tuple[c.Stmt, ...]], bool], tuple[c.Stmt, ...]]:
    """What says whether a text is refused, and the one that is printed."""
    made = compile_region(region_of(text, folder), FORCED).program
    plain = with_lookups(print_loops(made).body, made, VectorTypes())
    rows = with_rows(plain, made)
    assert rows != plain
    return (lambda items: bool(row_faults(made, plain, items))), rows


def changed(items: tuple[c.Stmt, ...], change: Callable[[c.Node], c.Node | None]) -> tuple[c.Stmt, ...]:
    found = tuple(c.rewrite(item, change) for item in items)
    assert found != items
    return found


def one_more(node: c.Expr) -> c.Expr:
    return c.Binary("+", node, c.Literal("1"))


def in_call(place: int, edit: Callable[[c.Expr], c.Expr], node: c.Node) -> c.Node | None:
    if isinstance(node, c.Call) and node.function == STREAM:
        return replace(node, arguments=tuple(edit(a) if k == place else a for k, a in enumerate(node.arguments)))
    return None


def last(edit: Callable[[c.Expr], c.Expr], node: c.Expr) -> c.Expr:
    """Change the last subscript of `&A[…]`."""
    assert isinstance(node, c.Unary)
    assert isinstance(node.operand, c.ArrayRef)
    *places, end = node.operand.subscripts
    return replace(node, operand=replace(node.operand, subscripts=(*places, edit(end))))


def first(edit: Callable[[c.Expr], c.Expr], node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Unary)
    assert isinstance(node.operand, c.ArrayRef)
    place, *rest = node.operand.subscripts
    return replace(node, operand=replace(node.operand, subscripts=(edit(place), *rest)))


def elements(edit: Callable[[c.Expr], c.Expr], node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Binary)
    return replace(node, left=edit(node.left))


def of_type(kind: str, node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Binary)
    return replace(node, right=c.SizeOf(kind))


def in_row(edit: Callable[[c.ArrayRef], c.Expr], node: c.Node) -> c.Node | None:
    """Change what the loop stores into its row."""
    match node:
        case c.Assign(target=c.ArrayRef(array=name) as target) if name.endswith("_row"):
            return replace(node, target=edit(target))
    return None


def moved(target: c.ArrayRef) -> c.Expr:
    return replace(target, subscripts=(*target.subscripts[:-1], one_more(target.subscripts[-1])))


def shorter(node: c.Node) -> c.Node | None:
    if isinstance(node, c.Decl) and node.name.endswith("_row"):
        *others, end = node.extents
        assert isinstance(end, c.Literal)
        return replace(node, extents=(*others, c.Literal(str(int(end.text) - 17))))
    return None


def loop_from(edit: Callable[[c.For], c.For], node: c.Node) -> c.Node | None:
    """Change the loop that fills a row."""
    if isinstance(node, c.For) and any(
        isinstance(n, c.Assign) and isinstance(n.target, c.ArrayRef) and n.target.array.endswith("_row")
        for n in c.walk(node.body)
    ):
        inner = c.rewrite(node.body, partial(loop_from, edit))
        return edit(node) if inner == node.body else replace(node, body=inner)
    return None


def ends_early(loop: c.For) -> c.For:
    assert isinstance(loop.condition, c.Binary)
    return replace(loop, condition=replace(loop.condition, right=c.Binary("-", loop.condition.right, c.Literal("1"))))


def starts_late(loop: c.For) -> c.For:
    assert isinstance(loop.init, c.Decl)
    assert loop.init.init is not None
    return replace(loop, init=replace(loop.init, init=one_more(loop.init.init)))


def sometimes(node: c.Node) -> c.Node | None:
    match node:
        case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=name))) if name.endswith("_row"):
            return c.If(c.Binary("<", c.Name("i"), c.Literal("5")), node)
    return None


def another_value(node: c.Node) -> c.Node | None:
    match node:
        case c.Assign(target=c.ArrayRef(array=name), value=value) if name.endswith("_row"):
            return replace(node, value=one_more(value))
    return None


def no_fence(node: c.Node) -> c.Node | None:
    return c.Empty() if node == c.ExprStmt(c.Call(FENCE, ())) else None


def no_call(node: c.Node) -> c.Node | None:
    match node:
        case c.ExprStmt(expr=c.Call(function=function)) if function == STREAM:
            return c.Empty()
    return None


def parts(edit: Callable[[c.For], c.For], node: c.Node) -> c.Node | None:
    """Change the loop over parts of a row."""
    if isinstance(node, c.For) and isinstance(node.init, c.Decl) and node.init.name == "jp":
        return edit(node)
    return None


def longer_parts(loop: c.For) -> c.For:
    assert isinstance(loop.step, c.Assign)
    return replace(loop, step=replace(loop.step, value=one_more(loop.step.value)))


FAULTS: dict[str, Callable[[c.Node], c.Node | None]] = {
    "one element less": partial(in_call, 2, partial(elements, lambda e: c.Binary("-", e, c.Literal("1")))),
    "one element more": partial(in_call, 2, partial(elements, one_more)),
    "bytes of another type": partial(in_call, 2, partial(of_type, "double")),
    "to the next element": partial(in_call, 0, partial(last, one_more)),
    "to the next row": partial(in_call, 0, partial(first, one_more)),
    "from the next element": partial(in_call, 1, partial(last, one_more)),
    "filled from the second element on": partial(in_row, moved),
    "a short row": shorter,
    "the last iteration lost": partial(loop_from, ends_early),
    "the first iteration lost": partial(loop_from, starts_late),
    "under a condition": sometimes,
    "another value": another_value,
    "no fence": no_fence,
    "never stored": no_call,
}


@pytest.mark.parametrize("name", ["a row", "within a row", "a part of a longer row", "rows at once", "a triangle"])
def test_what_the_check_sees(name: str, tmp_path: Path) -> None:
    refused, items = printed(program(*STORED[name][:2]), tmp_path)
    assert not refused(items)
    for fault, edit in FAULTS.items():
        assert refused(changed(items, edit)), fault


def test_parts_that_leave_elements_out(tmp_path: Path) -> None:
    refused, items = printed(program(*STORED["a part of a longer row"][:2]), tmp_path)
    assert refused(changed(items, partial(parts, longer_parts)))
    assert refused(changed(items, partial(parts, ends_early)))
    assert refused(changed(items, partial(parts, starts_late)))


def test_rows_that_change_places(tmp_path: Path) -> None:
    """One row's values in another one's place."""
    refused, items = printed(program(*STORED["two results"][:2]), tmp_path)
    names = {"A_row": "C_row", "C_row": "A_row"}

    def swapped(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Call) and node.function == STREAM:
            return None
        match node:
            case c.Assign(target=c.ArrayRef(array=array) as target) if array in names:
                return replace(node, target=replace(target, array=names[array]))
        return None

    assert refused(changed(items, swapped))


# --- what C compilers make of it ---


@pytest.mark.parametrize("flags", ["-O3", "-march=x86-64-v4", "-march=x86-64-v3", "-fsanitize=address", "-U__SSE2__"])
@pytest.mark.parametrize("cc", ["gcc", "clang-19"])
def test_no_warnings(cc: str, flags: str, tmp_path: Path) -> None:
    """On machines with longer and shorter vectors, and without such stores."""
    for name in ("a part of a longer row", "rows at once", "a triangle"):
        region = region_of(program(*STORED[name][:2]), tmp_path)
        result = compile_region(region, FORCED)
        file = tmp_path / "result.c"
        file.write_text(c_source(region, result.text).text)
        strict = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused", "-fopenmp", "-c"]
        try:
            done = subprocess.run([cc, *strict, flags, str(file), "-o", "/dev/null"], capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip(f"no {cc}")
        assert done.returncode == 0, done.stderr
