"""Straight-line code of dozens of statements: its temporaries, its schedule, and what is not tried of it."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

import polyc
from polyc.analysis.dependences import compute_dependences
from polyc.flow import Accesses, _by_subtraction, _in_one_block, _Places, compute_false, compute_flow
from polyc.frontend import read
from polyc.frontend.detect import Unfinished
from polyc.model.program import Compiled, InputOptions, Options, operations_for
from polyc.model.scop import Region
from polyc.model.tree import Band, Sequence, walk
from polyc.passes.order.together import together
from polyc.pipeline import compile_region
from polyc.poly import names
from polyc.records import replace
from polyc.runtime.check import check
from tests.programs import region_of

NONE = isl.UnionMap("{ }")
INSIDE = " : 0 <= i, j < 9"
BLOCK = isl.UnionMap("{ S[i, j] -> [i, 0, j, 0]; T[i, j] -> [i, 0, j, 1]; U[i, j] -> [i, 0, j, 2] }")
LOOPS = isl.UnionMap("{ S[i, j] -> [i, 0, j, 0]; T[i, j] -> [i, 1, j, 0]; U[i, j] -> [i, 2, j, 0] }")


def scalar(*names: str, where: str = INSIDE) -> isl.UnionMap:
    return isl.UnionMap(f"{{ {'; '.join(f'{name}[i, j] -> s[]{where}' for name in names)} }}")


@pytest.mark.parametrize(
    ("reads", "writes", "order", "short"),
    [
        (("T", "U"), ("S",), BLOCK, True),
        (("T", "U"), ("S", "T"), BLOCK, True),  # T reads what S wrote, U what T did
        (("U",), ("S", "T"), BLOCK, True),
        (("S",), ("T",), BLOCK, False),  # of the iteration before
        (("T", "S"), ("S",), BLOCK, False),
        (("T",), ("S",), LOOPS, False),  # of the last iteration of another loop
    ],
)
def test_temporaries_of_a_block(
    reads: tuple[str, ...], writes: tuple[str, ...], order: isl.UnionMap, short: bool
) -> None:
    accesses = Accesses(scalar(*reads), scalar(*writes), NONE)
    order = order.intersect_domain(accesses.all.domain())
    found = _in_one_block(accesses.reads, accesses.writes, NONE, order)
    assert (found is not None) == short
    long = _by_subtraction(accesses.reads, accesses.writes, NONE, _Places(accesses.reads, order))
    for one in (compute_flow(accesses, order), *([found] if found is not None else [])):
        assert one.dependence.is_equal(long.dependence)
        assert one.live_in.is_equal(long.live_in)


def test_temporaries_under_conditions_take_the_long_way() -> None:
    """A write in fewer iterations, and one that may not happen."""
    reads, some = scalar("T"), scalar("S", where=" : 0 <= i, j < 9 and j != 4")
    order = BLOCK.intersect_domain(reads.union(some).domain())
    assert _in_one_block(reads, some, NONE, order) is None
    assert _in_one_block(reads, scalar("S"), scalar("U"), order) is None


@pytest.mark.parametrize("order", [BLOCK, LOOPS])
def test_all_pairs_of_accesses_of_a_scalar(order: isl.UnionMap) -> None:
    accesses = Accesses(scalar("T"), scalar("S", "U"), NONE)
    order = order.intersect_domain(accesses.all.domain())
    long = _by_subtraction(accesses.all_writes, NONE, accesses.all, _Places(accesses.all_writes, order))
    assert compute_false(accesses, order, every_pair=True).is_equal(long.dependence)


def butterfly(steps: int, where: str = "2 * i", arguments: str = "double *restrict a") -> str:
    """A loop with 2 * steps + 4 statements, all but the last two of which make temporaries."""
    lines = [f"        double x0 = b[{where}];", f"        double y0 = b[{where} + 1];"]
    for k in range(steps):
        lines += [f"        double x{k + 1} = x{k} * 2 + y{k};", f"        double y{k + 1} = x{k} - y{k} * 3;"]
    lines += [f"        a[{where}] = x{steps};", f"        a[{where} + 1] = y{steps};"]
    head = f"void f(int n, {arguments}, const double *restrict b)\n{{\n    for (int i = 0; i < n; i++) {{\n"
    return head + "\n".join(lines) + "\n    }\n}\n"


def marked(text: str) -> str:
    return text.replace("    for", "#pragma scop\n    for", 1).replace("\n    }\n}", "\n    }\n#pragma endscop\n}")


def test_a_body_is_one_statement_for_the_scheduler(tmp_path: Path) -> None:
    scop = region_of(marked(butterfly(9)), tmp_path).scop
    dependences = compute_dependences(scop)
    bodies = together(scop.tree, dependences.flow)
    assert len(bodies.steps) == 22
    assert bodies.scheduled(scop.domain).n_set() == 1
    assert together(region_of(marked(butterfly(4)), tmp_path).scop.tree, dependences.flow).steps == ()
    assert bodies.order(dependences.flow).is_empty()  # all in one iteration
    flow, held = bodies.tagged(dependences.tagged_flow, dependences.tagged_private_false)
    assert flow.is_empty()
    assert held.is_empty()
    assert not dependences.tagged_private_false.is_empty()


@pytest.mark.parametrize(("steps", "whole"), [(9, False), (15, True)])
def test_a_body_that_waits_for_others_may_be_parted(steps: int, whole: bool, tmp_path: Path) -> None:
    scop = region_of(marked(butterfly(steps).replace("b[2 * i]", "a[2 * i - 1]")), tmp_path).scop
    assert bool(together(scop.tree, compute_dependences(scop).flow).steps) == whole


def test_live_ranges_that_leave_a_body_stay_apart(tmp_path: Path) -> None:
    """The scalar is read in another loop of the same iteration."""
    text = butterfly(9).replace("        a[2 * i] = x9;", "        last = x9;\n        a[2 * i] = x9;")
    text = text.replace("n; i++) {", "n; i++) {\n        double last;", 1)
    text = text.replace("\n    }\n}", "\n        for (int j = 0; j < 3; j++) c[i][j] += last * j;\n    }\n}")
    scop = region_of(
        marked(text).replace("double *restrict a", "double *restrict a, double (*restrict c)[3]"), tmp_path
    ).scop
    dependences = compute_dependences(scop)
    bodies = together(scop.tree, dependences.flow)
    flow, held = bodies.tagged(dependences.tagged_flow, dependences.tagged_private_false)
    assert not flow.is_empty()
    assert not held.is_empty()


def test_bodies_come_back_in_their_order(tmp_path: Path) -> None:
    region = region_of(marked(butterfly(9)), tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert result.verified
    (band,) = (node for node in walk(result.program.tree.child) if isinstance(node, Band))
    assert band.members[0].parallel
    (body,) = (node for node in walk(band.child) if isinstance(node, Sequence))
    assert [name for step in body.children for name in names(step.filter)] == [f"S{k}" for k in range(22)]
    assert check(region, result, sizes=(1, 5, 40)) == []


def test_two_bodies_with_a_dependence_between_them(tmp_path: Path) -> None:
    """The second loop reads what the first one wrote, in another order."""
    second = butterfly(9).replace("a[", "c[").replace("b[", "a[").split("{\n", 1)[1]
    arguments = "double *restrict a, double *restrict c"
    text = butterfly(9, arguments=arguments).rsplit("}\n", 1)[0] + second.replace("a[2 * i", "a[2 * (n - 1 - i)")
    region = region_of(marked(text), tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert result.verified
    assert all(node.members[0].coincident for node in walk(result.program.tree.child) if isinstance(node, Band))
    assert check(region, result, sizes=(1, 5, 40)) == []


SERIAL = """void f(int n, double a[n], double b[n][n])
{
    for (int i = 1; i < n; i++) {
        a[i] = a[i - 1] * 0.5;
        for (int j = 1; j < n; j++)
            b[0][0] = b[0][0] * 0.5 + a[i] * j;
    }
}
"""


def read_text(text: str, folder: Path, detect: bool) -> Region:
    (folder / "read.c").write_text(text)
    return read(str(folder / "read.c"), InputOptions(detect=detect)).regions[0]


def tried(text: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of statements of the regions that are compiled."""
    found: list[int] = []

    def counted(region: Region, options: Options) -> Compiled:
        found.append(len(region.scop.statements))
        return compile_region(region, options)

    monkeypatch.setattr("polyc.pipeline.compile_region", counted)
    polyc.compile(text, detect=True)
    return found


def test_loops_in_a_serial_region_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(SERIAL, monkeypatch) == [2]
    hidden = SERIAL.replace("for (int j = 1; j < n; j++)", "for (int j = 1; j < n && b[1][j] > 0; j++)")
    assert len(tried(hidden, monkeypatch)) > 0
    parallel = SERIAL.replace("b[0][0] = b[0][0] * 0.5 + a[i] * j", "b[i][j] = a[i] * j")
    assert tried(parallel, monkeypatch)[0] == 2


def test_nothing_is_tried_of_many_statements_that_all_wait(tmp_path: Path) -> None:
    """A marked region goes through all passes."""
    text = butterfly(12).replace("b[2 * i]", "a[2 * i - 1]")
    for detect, passes in ((True, False), (False, True)):
        region = read_text(text if detect else marked(text), tmp_path, detect=detect)
        found = compile_region(region, Options())
        assert ("schedule" in [shown.name for shown in found.passes]) == passes


def test_what_was_tried_in_vain_takes_from_what_many_statements_get(tmp_path: Path) -> None:
    many, few = (region_of(marked(butterfly(steps)), tmp_path).scop for steps in (28, 2))
    assert len(many.statements) == 60
    budgets = [operations_for(replace(many, in_vain=count), Options(budget=1000)) for count in (0, 39, 40, 3000)]
    assert budgets == [3000, 3000, 2000, 1000]
    assert operations_for(replace(few, in_vain=3000), Options(budget=1000)) == 1000


def test_an_array_of_which_too_much_is_asked_is_taken_as_read_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The region is compiled all the same."""
    text = """static double t[64];
    void f(int n, double a[n][64])
    {
    #pragma scop
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 64; j += 2) t[j] = a[i][j];
            for (int j = 1; j < 64; j += 2) t[j] = a[i][j];
            for (int j = 0; j < 64; j++) a[i][j] = t[63 - j];
        }
    #pragma endscop
    }
    """
    assert region_of(text, tmp_path).scop.privatizable
    monkeypatch.setattr("polyc.frontend.statements.flow.MOST_OPERATIONS", 10)
    region = region_of(text, tmp_path)
    assert not region.scop.privatizable
    assert compile_region(region, Options()).verified


@pytest.mark.parametrize(
    ("before", "seconds", "tries"),
    [
        ("", 7, 2),
        ("", 8, 1),
        ("for (int j = 0; j < n; j++) { a[i] += j; b[i][j] += a[i]; }", 7, 3),
        ("for (int j = 0; j < n; j++) { a[i] += j; b[i][j] += a[i]; }", 8, 3),
    ],
)
def test_the_budget_is_used_up_twice_for_one_body(
    before: str, seconds: int, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside of both loops there is all that was too much in the outer one; where there is less, that is tried. What
    took long is tried once."""
    text = f"""
void f(int n, double a[restrict n], double b[restrict n][n], double c[restrict n][n][n])
{{
    for (int i = 1; i < n; i++) {{
        {before}
        for (int j = 1; j < n; j++)
            for (int k = 1; k < n; k++)
                c[i][j][k] += b[j][k];
    }}
}}
"""
    found: list[int] = []

    def judge(region: Region) -> str:
        found.append(len(region.scop.statements))
        return Unfinished("it takes too long")

    monkeypatch.setattr("polyc.frontend.detect.processor_seconds", lambda: seconds * len(found))
    (tmp_path / "read.c").write_text(text)
    source = read(str(tmp_path / "read.c"), InputOptions(detect=True), judge)
    assert source.regions == ()
    assert len(found) == tries
