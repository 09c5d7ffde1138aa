"""Time tiles: which hyperplanes are found, the trees, and that the programs compute the same bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.cost.time_sizes import LONG_ROW, Untiled, _work, shape_for
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options, Program
from polyc.model.scop import Region
from polyc.model.tree import Band, Domain, Mark, Node, rewrite, walk
from polyc.model.tree_text import render_tree
from polyc.nests.skew import NotSteps, hyperplane, time_steps
from polyc.passes.timetiles.time_bands import hull_of
from polyc.pipeline import compile_region, initial_program
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.docs.pages import ROOT
from tests.programs import after, region_of
from tests.turns import EVERYTHING, turn

HERE = Path(__file__).parent / "time_tiles"
KERNELS = ROOT / "polybench" / "kernels"
FORCED: dict[str, list[tuple[str, tuple[int, ...]]]] = {
    "jacobi-1d": [("skewed", (3, 7)), ("skewed", (8, 16)), ("diamond", (6,)), ("overlapped", (3, 7))],
    "jacobi-2d": [
        ("skewed", (3, 5)),
        ("skewed", (2, 6, 5)),
        ("diamond", (7,)),
        ("diamond", (8, 6)),
        ("overlapped", (2, 5)),
    ],
    "heat-3d": [("skewed", (2, 5)), ("skewed", (2, 4, 3)), ("diamond", (6, 4))],
    "fdtd-2d": [("skewed", (3, 4)), ("skewed", (4, 4, 5)), ("diamond", (5,))],
    "seidel-2d": [("skewed", (3, 4)), ("skewed", (4, 4))],
}

IN_ORDER = """
void in_order(int t, int n, double a[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5.0;
#pragma endscop
}
"""
BACKWARDS = """
void backwards(int t, int n, double a[n], double b[n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = n - 3; i >= 2; i--)
            b[i] = a[i + 2] - a[i - 1];
        for (int i = 2; i < n - 2; i++)
            a[i] = 0.25 * b[i] + a[i];
    }
#pragma endscop
}
"""
THREE = """
void three(int t, int n, int m, float a[n][m], float b[n][m], float c[n][m])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int j = 0; j < m; j++)
            a[0][j] = s;
        for (int i = 1; i < n; i++)
            for (int j = 0; j < m; j++)
                b[i][j] = a[i - 1][j] + 0.5f * a[i][j];
        for (int j = 1; j < m - 1; j++)
            for (int i = 2; i < n; i++)
                c[i][j] = b[i - 1][j + 1] - b[i][j - 1];
        for (int i = 3; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                a[i][j] = 0.25f * c[i][j] + a[i][j];
    }
#pragma endscop
}
"""
FAR = """
void far(int t, int n, double a[n], double b[n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 0; i < n; i++)
            b[i] = a[n - 1 - i];
        for (int i = 0; i < n; i++)
            a[i] = b[i] + 1;
    }
#pragma endscop
}
"""
TIME_IN_THE_ARRAY = """
void kept(int t, int n, double a[t][n])
{
#pragma scop
    for (int s = 1; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            a[s][i] = a[s - 1][i - 1] + a[s - 1][i + 1];
#pragma endscop
}
"""
EDIT = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void edit(int n, int m, char s[n], char t[m], int d[n + 1][m + 1])
{
#pragma scop
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            d[i][j] = MIN(MIN(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + (s[i - 1] != t[j - 1]));
#pragma endscop
}
"""
BRANCHES = """
void lcs(int n, int m, char s[n], char t[m], int l[n + 1][m + 1])
{
#pragma scop
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            if (s[i - 1] == t[j - 1])
                l[i][j] = l[i - 1][j - 1] + 1;
            else
                l[i][j] = l[i - 1][j] > l[i][j - 1] ? l[i - 1][j] : l[i][j - 1];
#pragma endscop
}
"""
TEMPORARIES = """
void dtw(int n, int m, double x[n], double y[m], double d[n + 1][m + 1])
{
#pragma scop
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            double cost = x[i - 1] - y[j - 1];
            double best = d[i - 1][j - 1];
            if (d[i - 1][j] < best)
                best = d[i - 1][j];
            if (d[i][j - 1] < best)
                best = d[i][j - 1];
            d[i][j] = cost * cost + best;
        }
#pragma endscop
}
"""
SWEEP = """
void sweep(int n, double a[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
"""
DOWN = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void down(int h, int w, short d[h][w])
{
#pragma scop
    for (int y = h - 2; y >= 0; y--)
        for (int x = w - 2; x >= 1; x--)
            d[y][x] = MIN(MIN(d[y][x], d[y][x + 1] + 3), MIN(d[y + 1][x] + 3, d[y + 1][x - 1] + 4));
#pragma endscop
}
"""
RECURRENCES = {"edit": EDIT, "branches": BRANCHES, "temporaries": TEMPORARIES, "sweep": SWEEP, "down": DOWN}
"""Both loops carry dependences, and each row writes cells of its own."""
PROGRAMS = {
    **{"kept": TIME_IN_THE_ARRAY, "in_order": IN_ORDER, "backwards": BACKWARDS, "three": THREE},
    **RECURRENCES,
}


def kernel(name: str) -> Region:
    options = InputOptions(include_dirs=(str(KERNELS.parent / "harness"),))
    (region,) = read(str(KERNELS / f"{name}.c"), options).regions
    return region


def compiled(region: Region, kind: str, sizes: tuple[int, ...]) -> Compiled:
    return compile_region(region, Options(time_tile=(kind, sizes)))


def codes(result: Compiled) -> set[str]:
    return {remark.code for remark in result.program.remarks}


@pytest.mark.parametrize("name", FORCED)
def test_stencils_compute_the_same(name: str) -> None:
    region = kernel(name)
    for kind, sizes in turn(FORCED[name], len(name)):
        result = compiled(region, kind, sizes)
        assert result.verified
        assert "time-tiled" in codes(result)
        assert not {"verification-failed", "text-not-checked", "budget"} & codes(result), (kind, sizes)
        assert check(region, result, sizes=(1, 2, 5, 13, 24)) == [], (kind, sizes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_the_same(name: str, tmp_path: Path) -> None:
    region = region_of(PROGRAMS[name], tmp_path)
    tiled = 0
    tiles = [("skewed", (3, 5)), ("diamond", (9, 4)), ("skewed", (2, 4, 6)), ("diamond", (6,))]
    for kind, sizes in turn(tiles, len(name)):
        result = compiled(region, kind, sizes)
        assert "verification-failed" not in codes(result)
        tiled += "time-tiled" in codes(result)
        assert check(region, result, sizes=(1, 2, 3, 6, 17)) == [], (kind, sizes)
    assert tiled >= (2 if EVERYTHING else 1) or name in RECURRENCES, "which have no diamonds"


def test_what_travels_too_far_is_left_alone(tmp_path: Path) -> None:
    region = region_of(FAR, tmp_path)
    for kind in ("skewed", "diamond"):
        result = compiled(region, kind, (4, 8))
        assert "not-time-tiled" in codes(result)
        assert "time-tiled" not in codes(result)


def test_steps_that_write_cells_of_their_own_are_not_tiled_unasked(tmp_path: Path) -> None:
    result = compile_region(region_of(TIME_IN_THE_ARRAY, tmp_path), Options())
    assert not {"time-tiled", "not-time-tiled"} & codes(result)


@pytest.mark.parametrize("name", RECURRENCES)
def test_recurrences_along_both_loops_run_in_wavefronts_of_tiles(name: str, tmp_path: Path) -> None:
    result = compile_region(region_of(RECURRENCES[name], tmp_path), Options())
    assert "time-tiled" in codes(result)
    assert not {"verification-failed", "text-not-checked"} & codes(result)
    (remark,) = (r for r in result.program.remarks if r.code == "time-tiled")
    assert remark.data["kind"] == "skewed"
    assert remark.data["sizes"][1] >= LONG_ROW, "the first lines of a row take longer than those that follow"
    assert "#pragma omp parallel for" in result.text


@pytest.mark.parametrize("name", ["edit", "branches", "sweep"])
def test_one_thread_goes_along_the_rows(name: str, tmp_path: Path) -> None:
    """isl's order, along diagonals, would have neighbouring iterations in different rows."""
    result = compile_region(region_of(RECURRENCES[name], tmp_path), Options(target="c"))
    assert "straightened" in codes(result)
    assert "simd" not in result.text


def test_a_temporary_does_not_hide_an_iterated_stencil(tmp_path: Path) -> None:
    text = IN_ORDER.replace("a[i][j] =", "{ double s; s =").replace("/ 5.0;", "; a[i][j] = s / 5.0; }")
    result = compiled(region_of(text, tmp_path), "skewed", (2, 4))
    assert "time-tiled" in codes(result)
    assert check(region_of(text, tmp_path), result, sizes=(1, 2, 5, 13)) == []


PLANES = """
void planes(int t, int n, double *a, double *b{more})
{{
#pragma scop
    for (int s = 0; s < t; s++) {{
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = a[i * n + j - 1] + a[i * n + j] + a[i * n + j + 1] + a[(i - 1) * n + j];
        double *old = a;
        {turn}
    }}
#pragma endscop
}}
"""


def test_a_step_does_the_work_of_its_own_planes(tmp_path: Path) -> None:
    """Planes that change places have statements for each of their orders, of which a step runs one."""
    turns = (("", "a = b; b = old;"), (", double *c", "a = b; b = c; c = old;"))
    done = []
    for more, order in turns:
        program = initial_program(region_of(PLANES.format(more=more, turn=order), tmp_path).scop, Options())
        steps = time_steps(program, program.tree.domain)
        assert not isinstance(steps, NotSteps)
        done.append(_work(program, steps, ()))
    two, three = done
    assert two is not None
    assert three is not None
    assert two.operations == three.operations
    assert (two.moved_bytes, three.moved_bytes) == (24, 24)  # one is read, and one read and written
    assert (two.cell_bytes, three.cell_bytes) == (16, 24)


def test_a_nest_without_iterations_at_the_sample_sizes_is_left_alone(tmp_path: Path) -> None:
    program = initial_program(region_of(IN_ORDER, tmp_path).scop, Options())
    steps = time_steps(program, program.tree.domain)
    assert not isinstance(steps, NotSteps)
    few = program.scop.context.intersect(isl.Set("[t, n] -> { : n <= 2 }"))
    found = shape_for(replace(program, scop=replace(program.scop, context=few)), steps)
    assert found == Untiled("it has no iterations at the sizes that its cost is estimated for")


def test_adi_is_left_alone() -> None:
    program = initial_program(kernel("adi").scop, Options())
    sweeps = isl.UnionSet.from_set(program.scop.statements["S11"].domain)
    for statement in list(program.scop.statements.values())[12:]:
        sweeps = sweeps.union(isl.UnionSet.from_set(statement.domain))
    steps = time_steps(program, sweeps)
    assert not isinstance(steps, NotSteps)
    assert hyperplane(steps, 0) is None
    assert hyperplane(steps, 1) is None


@pytest.mark.parametrize(
    ("name", "sign", "slope"),
    [
        ("jacobi-2d", 1, 2),
        ("jacobi-2d", -1, 2),
        ("heat-3d", 1, 2),
        ("fdtd-2d", 1, 1),
        ("fdtd-2d", -1, 1),
        ("seidel-2d", 1, 1),
        ("seidel-2d", -1, None),
    ],
)
def test_slopes(name: str, sign: int, slope: int | None) -> None:
    program = initial_program(kernel(name).scop, Options())
    steps = time_steps(program, program.tree.domain)
    assert not isinstance(steps, NotSteps)
    found = hyperplane(steps, 0, sign)
    assert (None if found is None else found.slope) == slope


@pytest.mark.parametrize(("name", "kind", "sizes"), [("jacobi-2d", "skewed", (16, 32)), ("jacobi-2d", "diamond", (32,)),
                                                     ("seidel-2d", "skewed", (16, 16))])  # fmt: skip
def test_tree_and_text(name: str, kind: str, sizes: tuple[int, ...], golden: Callable[[Path, str], None]) -> None:
    result = compiled(kernel(name), kind, sizes)
    golden(HERE / f"{name}.{kind}.golden", render_tree(result.program.tree) + "\n" + result.text)


def tiled_program(tmp_path: Path) -> Program:
    program = after(region_of(IN_ORDER, tmp_path), "timetiles", time_tile=("skewed", (4, 8)))
    assert any(isinstance(n, Mark) and n.kind == "tiles" for n in walk(program.tree.child))
    assert faults_of(program) == []
    return program


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def test_a_region_that_leaves_out_tiles_is_seen(tmp_path: Path) -> None:
    def smaller(node: Node) -> Node:
        if not isinstance(node, Mark) or node.region is None:
            return node
        return replace(
            node, region=node.region.lower_bound_val(isl.dim_type.set, 1, isl.Val.one(node.region.get_ctx()))
        )

    faults = faults_of(changed(tiled_program(tmp_path), smaller))
    assert "the loops over tiles leave one out" in {f.message for f in faults}


def test_parallel_wavefronts_are_seen(tmp_path: Path) -> None:
    def parallel(node: Node) -> Node:
        if not isinstance(node, Band) or len(node.members) < 3:
            return node
        return replace(node, members=(replace(node.members[0], parallel=True), *node.members[1:]))

    faults = faults_of(changed(tiled_program(tmp_path), parallel))
    assert "race" in {f.kind for f in faults}


def test_tiles_without_their_skew_are_seen(tmp_path: Path) -> None:
    def straight(node: Node) -> Node:
        if not isinstance(node, Mark) or node.region is None:
            return node
        band = node.child
        assert isinstance(band, Band)
        wave, tile, *rest = band.members
        both = replace(wave, schedule=wave.schedule.sub(tile.schedule).sub(tile.schedule))
        universe = isl.Set.universe(node.region.get_space())
        return replace(node, region=universe, child=replace(band, members=(both, tile, *rest)))

    assert faults_of(changed(tiled_program(tmp_path), straight)) != []


def test_hull_is_wider_by_the_slack() -> None:
    ran = [isl.Set("[n] -> { [u] : 0 <= u < n and u mod 3 = 0 }"), isl.Set("[n] -> { [u] : 2 <= u <= n + 1 }")]
    assert hull_of(ran, -4, 0).is_equal(isl.Set("[n] -> { [u] : -4 <= u <= n + 1 and n >= -1 }"))
