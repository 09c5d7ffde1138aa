"""The check of register tiles on CPUs can fail: each test breaks one on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.expand import expand
from polyc.flow import Accesses
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Member, Node, Sequence, rewrite, walk
from polyc.poly import OverBudget, budget, maps, names, out_name, reaching
from polyc.verify import check
from polyc.verify.flow import dataflow
from polyc.verify.places.padding import without_borders
from tests.programs import after, region_of

PRODUCT = """
void f(int n, double alpha, double A[n][53], double B[53][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < 53; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
#pragma endscop
}
"""
IN_PLACE = """
void f(int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = i + 1; k < n; k++)
                B[i][j] += A[k][i] * B[k][j];
#pragma endscop
}
"""

IN_TILES = """
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
    double w;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.5;
            for (int k = 0; k < i; k++)
                w += B[k][j] * A[i][k];
            C[i][j] = 0.25 * C[i][j] + w;
        }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return after(region_of(PRODUCT, tmp_path_factory.mktemp("micro")), "privatize")


@pytest.fixture(scope="module")
def in_place(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return after(region_of(IN_PLACE, tmp_path_factory.mktemp("micro")), "privatize")


@pytest.fixture(scope="module")
def in_tiles(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return after(region_of(IN_TILES, tmp_path_factory.mktemp("micro")), "privatize")


def found(program: Program) -> str:
    """What the check says; "over budget" where it does not end, which a compile takes for a refusal."""
    try:
        with budget(program.scop.domain.get_ctx(), 2_000_000):
            return "; ".join(f"{fault.kind}: {fault.message} {fault.witness}" for fault in check(program))
    except OverBudget:
        return "over budget"


def with_tree(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def without_copies(program: Program, what: str) -> Program:
    """The program without the copies whose names contain something."""

    def change(node: Node) -> Node:
        match node:
            case Extension(relation=relation):
                kept = [m for m in maps(relation) if what not in out_name(m)]
                if not kept:
                    return node.child
                every = isl.UnionMap.from_map(kept[0])
                for one in kept[1:]:
                    every = every.union(isl.UnionMap.from_map(one))
                return replace(node, relation=every)
            case Sequence(children=steps):
                left = tuple(s for s in steps if not any(what in name for name in names(s.filter)))
                return left[0].child if len(left) == 1 else Sequence(left)
            case _:
                return node

    return with_tree(program, change)


def members(program: Program) -> list[Member]:
    return [m for node in walk(program.tree.child) if isinstance(node, Band) for m in node.members]


def test_both_are_right(product: Program, in_place: Program) -> None:
    assert found(product) == ""
    assert found(in_place) == ""


@pytest.mark.parametrize("copy", ["in1_A", "in3_B", "in5_C", "out7_C"])
def test_copies_that_are_left_out(product: Program, copy: str) -> None:
    assert found(without_copies(product, copy)) != ""


def test_a_panel_of_cells_that_are_written_meanwhile(in_place: Program) -> None:
    """Rows from the last tile to the first one: panels hold what is not yet there, or no more."""
    assert found(with_tree(in_place, reversed_rows)) != ""


def reversed_rows(node: Node) -> Node:
    """The tiles of rows from the last one to the first."""
    if not isinstance(node, Band):
        return node

    def at(member: Member) -> Member:
        return replace(member, schedule=member.schedule.neg()) if member.name == "i" and member.size > 8 else member

    return replace(node, members=tuple(map(at, node.members)))


def test_the_result_goes_out_before_the_sum(product: Program) -> None:
    def change(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        out = [s for s in node.children if any("out" in name for name in names(s.filter))]
        rest = [s for s in node.children if s not in out]
        return Sequence((*out, *rest))

    assert found(with_tree(product, change)) != ""


def test_an_expression_that_the_panel_does_not_hold(product: Program) -> None:
    (hoist,) = product.hoisted
    assert isinstance(hoist.value, c.Binary)
    doubled = c.Binary("*", c.Literal("2.0"), hoist.value)
    assert "hoisted" in found(replace(product, hoisted=(replace(hoist, value=doubled),)))
    swapped = c.Binary("+", hoist.value.left, hoist.value.right)
    assert "hoisted" in found(replace(product, hoisted=(replace(hoist, value=swapped),)))


def test_a_panel_that_another_reference_reads_plainly(product: Program) -> None:
    (hoist,) = product.hoisted
    buffer = product.buffers[hoist.buffer]
    grown = replace(buffer, accesses=buffer.accesses | {(hoist.statement, "r9")})
    assert "as if it held A" in found(replace(product, buffers=product.buffers | {buffer.key: grown}))


def test_a_factor_that_the_region_writes(tmp_path: Path) -> None:
    text = PRODUCT.replace("#pragma endscop", "    alpha = 2.0;\n#pragma endscop")
    assert after(region_of(text, tmp_path), "privatize").hoisted == ()


def test_a_border_that_nobody_mentions(product: Program) -> None:
    assert "S0" in product.padded
    left = {name: kind for name, kind in product.padded.items() if name != "S0"}
    assert found(replace(product, padded=left)) != ""


def test_lanes_that_depend_on_each_other(product: Program) -> None:
    """The loop over k as the lanes of a vector."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[-1].name == "k" and node.members[-1].size == 1:
            return replace(node, members=(*node.members[:-1], replace(node.members[-1], vector=True)))
        return node

    assert "race" in found(with_tree(product, change))


def test_a_panel_whose_copies_run_beside_its_readers(product: Program) -> None:
    """Threads fill it together: they have to be done before the first of them reads it."""
    assert [m.name for m in members(product) if m.parallel] == ["x0", "x0", "j"]

    def change(node: Node) -> Node:
        if not isinstance(node, Sequence) or not any("in1_A" in names(s.filter) for s in node.children):
            return node
        return Sequence(tuple(reversed(node.children)))

    assert found(with_tree(product, change)) != ""


def test_rows_of_a_panel_in_one_iteration_of_threads_that_share_it(product: Program) -> None:
    """A panel of the columns outside of the loop in which each thread has its own."""
    key = next(b.key for b in product.buffers.values() if b.array == "B")
    shared = product.buffers | {key: replace(product.buffers[key], depth=product.buffers[key].depth - 1)}
    assert found(replace(product, buffers=shared)) != ""


@pytest.fixture(scope="module")
def fetching(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """With a sum that is long enough to ask for the next tile of the result."""
    return after(region_of(PRODUCT.replace("53", "1000"), tmp_path_factory.mktemp("micro")), "privatize")


def test_cells_that_are_asked_for(fetching: Program) -> None:
    assert found(fetching) == ""
    (name,) = [name for name in fetching.statements if name.startswith("ahead")]

    def change(node: Node) -> Node:
        """Columns that the array may not have."""
        if not isinstance(node, Extension):
            return node
        every = node.relation
        for one in maps(every):
            if out_name(one) == name:
                space = one.get_space().range()
                shift = isl.MultiAff.identity_on_domain_space(space)
                further = shift.set_aff(1, shift.get_aff(1).add_constant_val(isl.Val.int_from_si(one.get_ctx(), 64)))
                moved = one.apply_range(isl.Map.from_multi_aff(further))
                every = every.subtract(isl.UnionMap.from_map(one)).union(isl.UnionMap.from_map(moved))
        return replace(node, relation=every)

    def filtered(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        every = isl.UnionSet.from_set(fetching.statements[name].domain)
        return Sequence(tuple(replace(s, filter=every) if name in names(s.filter) else s for s in node.children))

    assert "copies cells that the region does not touch" in found(with_tree(with_tree(fetching, filtered), change))


def test_a_statement_that_asks_for_more_than_a_line(fetching: Program) -> None:
    (name,) = [name for name in fetching.statements if name.startswith("ahead")]
    old = fetching.statements[name]
    assert isinstance(old.body, c.ExprStmt)
    assert isinstance(old.body.expr, c.Call)
    other = replace(old, body=replace(old.body, expr=replace(old.body.expr, function="clear")))
    assert "is no copy" in found(replace(fetching, statements=fetching.statements | {name: other}))


@pytest.mark.parametrize("lanes", [2, 3, 8])
def test_vectors_of_another_length_than_their_loop(product: Program, lanes: int) -> None:
    def change(node: Node) -> Node:
        match node:
            case Band(members=(*others, last)) if last.lanes:
                return replace(node, members=(*others, replace(last, lanes=lanes)))
            case _:
                return node

    assert f"does not run {lanes} lanes" in found(with_tree(product, change))


def renamed(program: Program, array: str) -> bool:
    """Whether the short way through registers and panels (`renamed.py`) shows an array's flow."""
    inside = without_borders(program)
    now = expand(inside)
    keys = {array} | {b.key for b in inside.buffers.values() if b.array == array}
    all_of = (now.accesses.reads, now.accesses.writes, now.accesses.may_writes)
    after_now = Accesses(*(reaching(relation, keys) for relation in all_of))
    return dataflow._renamed(inside, now, array, dataflow.original_of(inside.scop, array), after_now)


def test_an_array_that_is_in_a_buffer_of_each_tile(in_tiles: Program) -> None:
    assert renamed(in_tiles, "w_each")
    assert found(in_tiles) == ""


@pytest.mark.parametrize("copy", ["in5_w_each", "in6_w_each", "out7_w_each", "out8_w_each"])
def test_copies_of_such_a_buffer_that_are_left_out(in_tiles: Program, copy: str) -> None:
    assert not renamed(without_copies(in_tiles, copy), "w_each")


def test_results_of_small_tiles_that_are_not_copied_out(in_place: Program) -> None:
    """A triangle has tiles of its own in a tile; what these sum up has to be in the array for the others."""
    assert renamed(in_place, "B")
    out = [name for name in sorted(in_place.copies) if name.startswith("out")]
    assert len(out) == 4
    assert not any(renamed(without_copies(in_place, copy), "B") for copy in out)


def test_such_an_array_where_somebody_uses_it_without_its_buffer(in_tiles: Program) -> None:
    buffer = in_tiles.buffers["w_each_tile"]
    assert ("S2", "r1") in buffer.accesses
    less = replace(buffer, accesses=buffer.accesses - {("S2", "r1")})
    broken = replace(in_tiles, buffers=in_tiles.buffers | {buffer.key: less})
    assert not renamed(broken, "w_each")


def test_such_an_array_with_a_buffer_of_less_than_what_uses_a_cell(in_tiles: Program) -> None:
    """A buffer anew for each block of the sum, which forgets what the blocks before it have added up."""

    def outside(node: Node) -> Node:
        match node:
            case Mark(kind="allocate", names=("w_each_tile",), child=child):
                return child
            case Band(members=(m,), child=Mark(kind="allocate", names=("A_panel",)) as inner) if m.name == "k":
                return replace(node, child=Mark("allocate", inner, names=("w_each_tile",)))
            case _:
                return node

    buffer = in_tiles.buffers["w_each_tile"]
    assert buffer.corner is not None
    deeper = replace(buffer, corner=buffer.corner.insert_dims(isl.dim_type.in_, 2, 1), depth=3)
    moved = with_tree(replace(in_tiles, buffers=in_tiles.buffers | {buffer.key: deeper}), outside)
    assert not renamed(moved, "w_each")


def test_a_panel_that_is_filled_while_registers_hold_the_array(in_place: Program) -> None:
    """Copies of the panel of B go between those into the registers and those out of them: what they find in B meanwhile
    may be old. It is not where they read other rows than those in the registers; it is with one row more."""
    moved: list[Filter] = []
    relations: list[isl.Map] = []

    def is_panel(name: str) -> bool:
        return name in ("in3_B", "in4_B")

    def taken(node: Node) -> Node:
        match node:
            case Extension(relation=relation, child=Sequence(children=steps)):
                own = [m for m in maps(relation) if is_panel(out_name(m))]
                if own:
                    relations.extend(own)
                    moved.extend(s for s in steps if any(map(is_panel, names(s.filter))))
                    return steps[-1].child
        return node

    def given(node: Node) -> Node:
        match node:
            case Extension(relation=relation, child=Sequence(children=steps)) if any(
                out_name(m).startswith("out") for m in maps(relation)
            ):
                every = relation
                for one in relations:
                    if row_more:
                        name = out_name(one)
                        before = isl.Map.read_from_str(one.get_ctx(), f"{{ {name}[x, y] -> {name}[x - 1, y] }}")
                        one = one.union(one.apply_range(before))
                    deeper = one.insert_dims(isl.dim_type.in_, one.dim(isl.dim_type.in_), 1)
                    every = every.union(isl.UnionMap.from_map(deeper))
                return replace(node, relation=every, child=Sequence((*steps[:2], *moved, *steps[2:])))
        return node

    row_more = False
    assert renamed(in_place, "B")
    outside = with_tree(in_place, taken)
    assert len(moved) == 2
    assert renamed(with_tree(outside, given), "B")
    row_more = True
    assert not renamed(with_tree(outside, given), "B")
