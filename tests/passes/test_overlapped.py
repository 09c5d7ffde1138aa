"""Overlapped time tiles: that they compute the same, what is left alone, and that wrong ones are seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from click.testing import CliRunner

from polyc.analysis.rows import with_rows
from polyc.cli.main import cli
from polyc.cost.time_sizes import MOST_BYTES, _candidates, _work
from polyc.model.program import Options, Program
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Node, Sequence, rewrite, walk
from polyc.model.tree_text import render_tree
from polyc.nests.skew import NotSteps, time_steps
from polyc.pipeline import compile_region, initial_program
from polyc.poly import empty_map, maps, out_name
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.differential.toolbox import run
from tests.passes.test_time_tiles import BACKWARDS, FAR, HERE, THREE, TIME_IN_THE_ARRAY, codes, compiled, kernel
from tests.programs import after, region_of

JACOBI = """
void jacobi(int t, int n, double a[n], double b[n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.25 * b[i] + b[i + 1];
    }
#pragma endscop
}
"""
ONE_AFTER_THE_OTHER = """
void growing(int t, int n, double a[n][n])
{
#pragma scop
    for (int s = 1; s < t; s++)
        for (int i = s; i < n; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.5 * a[i - 1][j + 1] - a[i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(("name", "sizes"), [("fdtd-2d", (3, 4, 7)), ("heat-3d", (2, 4, 3, 6))])
def test_stencils_compute_the_same(name: str, sizes: tuple[int, ...]) -> None:
    region = kernel(name)
    result = compiled(region, "overlapped", sizes)
    assert result.verified
    assert "time-tiled" in codes(result)
    assert not {"verification-failed", "budget"} & codes(result)
    assert check(region, result, sizes=(1, 2, 5, 13, 24)) == []


@pytest.mark.parametrize("text", [JACOBI, BACKWARDS, THREE], ids=["jacobi", "backwards", "three"])
def test_programs_compute_the_same(text: str, tmp_path: Path) -> None:
    region = region_of(text, tmp_path)
    result = compiled(region, "overlapped", (3, 5))
    assert "time-tiled" in codes(result)
    assert not {"verification-failed", "budget"} & codes(result)
    assert check(region, result, sizes=(1, 2, 3, 6, 17)) == []


def test_tree_and_text(golden: Callable[[Path, str], None]) -> None:
    result = compiled(kernel("jacobi-1d"), "overlapped", (8, 64))
    assert "text-not-checked" not in codes(result)
    golden(HERE / "jacobi-1d.overlapped.golden", render_tree(result.program.tree) + "\n" + result.text)


def test_without_memory_it_runs_as_it_was_written(tmp_path: Path) -> None:
    """Nothing of the region has run when the second array is allocated, so that all of it can run otherwise."""
    source = (
        JACOBI
        + """
void *__wrap_malloc(unsigned long size)
{
    (void)size;
    return 0;
}
double a[40], b[40];
int printf(const char *, ...);
int main(void)
{
    for (int i = 0; i < 40; i++)
        a[i] = i * 0.1;
    jacobi(9, 40, a, b);
    for (int i = 0; i < 40; i++)
        printf("%.17g %.17g\\n", a[i], b[i]);
    return 0;
}
"""
    )
    file = tmp_path / "jacobi.c"
    file.write_text(source)
    out = tmp_path / "jacobi.polyc.c"
    options = ["--time-tile", "overlapped:3,5", "-o", str(out)]
    result = CliRunner().invoke(cli, ["compile", str(file), *options], prog_name="polyc", catch_exceptions=False)
    assert result.exit_code == 0
    assert "__builtin_malloc" in out.read_text()
    assert "abort" not in out.read_text()
    printed = []
    for name, flags in ((file, []), (out, []), (out, ["-Wl,--wrap=malloc"])):
        program = tmp_path / "program"
        run(
            "gcc",
            "-O1",
            "-fopenmp",
            "-ffp-contract=off",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unknown-pragmas",
            name,
            *flags,
            "-o",
            program,
        )
        printed.append(run(program))
    assert printed[0] == printed[1] == printed[2]


def reason(text: str, tmp_path: Path, sizes: tuple[int, ...] = (4, 8)) -> str:
    result = compiled(region_of(text, tmp_path), "overlapped", sizes)
    assert "time-tiled" not in codes(result)
    (remark,) = (r for r in result.program.remarks if r.code == "not-time-tiled")
    return remark.message


def test_what_has_no_halo_is_left_alone(tmp_path: Path) -> None:
    assert "no halo" in reason(FAR, tmp_path)
    assert "no halo" in reason(ONE_AFTER_THE_OTHER, tmp_path)
    assert "cells of their own" in reason(TIME_IN_THE_ARRAY, tmp_path)
    assert "stack" in reason(JACOBI, tmp_path, (4, MOST_BYTES))


def test_what_another_nest_of_the_region_wrote_before(tmp_path: Path) -> None:
    """The border of the steps, and a row that they read and never write, come from nests before them."""
    text = """
void bordered(int t, int n, double a[n][n], double b[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = i + 2 * j;
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = a[i - 1][j] + a[i][j + 1];
        for (int i = 0; i < n; i++)
            for (int j = 1; j < n; j++)
                a[i][j] = 0.25 * b[i][j] + b[i][j - 1];
    }
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compiled(region, "overlapped", (3, 4, 7))
    assert result.verified
    assert "time-tiled" in codes(result)
    assert not {"verification-failed", "budget"} & codes(result)
    assert check(region, result, sizes=(1, 3, 9, 20)) == []


def test_a_recurrence_within_a_step_is_left_alone() -> None:
    result = compiled(kernel("seidel-2d"), "overlapped", (4, 8))
    assert "not-time-tiled" in codes(result)
    assert "time-tiled" not in codes(result)


def test_the_model_has_them_among_its_candidates() -> None:
    program = initial_program(kernel("jacobi-2d").scop, Options())
    steps = time_steps(program, program.tree.domain)
    assert not isinstance(steps, NotSteps)
    kinds = {kind for kind, _ in _candidates(_work(program, steps, (4, 4)))}
    assert kinds == {"skewed", "diamond", "overlapped"}
    chosen = compile_region(kernel("jacobi-2d"), Options(time_tile=("overlapped", ()))).program.remarks
    (told,) = (r for r in chosen if r.code == "time-tiled")
    assert told.data["kind"] == "overlapped"


# --- wrong ones ------------------------------------------------------------------------------------------------------


def tiled_program(tmp_path: Path, text: str = JACOBI) -> Program:
    program = after(region_of(text, tmp_path), "parallel", time_tile=("overlapped", (4, 8)))
    assert any(isinstance(n, Extension) and n.whole for n in walk(program.tree.child))
    assert faults_of(program) == []
    return program


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def with_added(program: Program, name: str, change: Callable[[isl.Map], isl.Map]) -> Program:
    """The program that runs something else of one statement in its tiles."""

    def other(node: Node) -> Node:
        if not isinstance(node, Extension):
            return node
        relation = empty_map(node.relation)
        for piece in maps(node.relation):
            relation = relation.union(isl.UnionMap.from_map(change(piece) if out_name(piece) == name else piece))
        return replace(node, relation=relation)

    return changed(program, other)


def kinds(program: Program) -> set[str]:
    return {fault.kind for fault in faults_of(program)}


def narrower(relation: isl.Map) -> isl.Map:
    """Without the last element of each tile."""
    last = relation.lexmax()
    return relation.subtract(last)


@pytest.mark.parametrize("name", ["S0", "S1"])
def test_a_halo_that_is_too_narrow_is_seen(name: str, tmp_path: Path) -> None:
    def without_last_cell(relation: isl.Map) -> isl.Map:
        last = isl.Map(f"{{ [b, h, x] -> {name}[t, i] : i >= 8x + 7 + 2 * (8b + 4h + 3 - t) - 1 }}")
        return relation.subtract(last)

    assert kinds(with_added(tiled_program(tmp_path), name, without_last_cell)) & {"flow", "live-out"}


@pytest.mark.parametrize("copy", ["fill0", "store0", "fill1", "store1"])
def test_a_copy_that_leaves_out_a_cell_is_seen(copy: str, tmp_path: Path) -> None:
    program = tiled_program(tmp_path)
    (name,) = (n for n in program.copies if n.startswith(f"{copy}_a"))
    assert kinds(with_added(program, name, narrower)) & {"flow", "live-in", "live-out"}


def test_results_that_go_back_at_once_are_seen(tmp_path: Path) -> None:
    """Without the second array, neighbours read what a tile overwrites."""
    program = tiled_program(tmp_path)
    (second,) = (b for b in program.buffers.values() if b.storage == "heap")
    unused = replace(second, accesses=frozenset())
    assert "race" in kinds(replace(program, buffers=program.buffers | {second.key: unused}))


def test_parallel_blocks_are_seen(tmp_path: Path) -> None:
    def parallel(node: Node) -> Node:
        if not isinstance(node, Band) or len(node.members) < 3:
            return node
        return replace(node, members=(replace(node.members[0], parallel=True), *node.members[1:]))

    assert "race" in kinds(changed(tiled_program(tmp_path), parallel))


def test_copies_before_the_steps_are_seen(tmp_path: Path) -> None:
    def turned(node: Node) -> Node:
        return Sequence(tuple(reversed(node.children))) if isinstance(node, Sequence) and _copies(node) else node

    def _copies(node: Sequence) -> bool:
        return any("fill" in str(step.filter) for step in node.children if isinstance(step, Filter))

    assert kinds(changed(tiled_program(tmp_path), turned)) & {"flow", "live-in", "live-out"}


def test_instances_without_tiles_around_are_seen(tmp_path: Path) -> None:
    def bare(node: Node) -> Node:
        return node.child if isinstance(node, Mark) and node.kind == "tiles" else node

    assert "form" in kinds(changed(tiled_program(tmp_path), bare))


def test_what_nobody_computed_is_not_put_back(tmp_path: Path) -> None:
    """A copy of a buffer's cell in which there is no value, into a cell that the region only reads."""
    before = "#pragma scop\n    x[0] = b[0];"
    text = JACOBI.replace("#pragma scop", before).replace("double b[n]", "double b[n], double x[1]")
    program = tiled_program(tmp_path, text)
    (store,) = (n for n in program.copies if n.startswith("store_b"))

    def with_border(relation: isl.Map) -> isl.Map:
        return relation.union(isl.Map(f"[n, t] -> {{ [0, 0, 0] -> {store}[0] : 0 < t <= 4 and n >= 3 }}"))

    faults = faults_of(with_added(program, store, with_border))
    assert [(f.kind, f.message) for f in faults] == [("live-out", "the last writers of b: another value is seen")]


# --- arrays ----------------------------------------------------------------------------------------------------------


def test_a_row_is_there_as_a_whole(tmp_path: Path) -> None:
    text = "void f(int n, double a[n][n]) {\n#pragma scop\n    a[1][2] = 0;\n#pragma endscop\n}\n"
    array = region_of(text, tmp_path).scop.arrays["a"]
    there = with_rows(array, isl.Set("[n] -> { a[x, y] : x = 1 and y = 2 }"))
    assert there.is_equal(isl.Set("[n] -> { a[1, y] : 0 <= y < n; a[1, 2] }"))
