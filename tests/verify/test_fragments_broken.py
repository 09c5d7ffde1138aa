"""The check of what tensor cores run can fail: each test breaks a contraction in fragments on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Program
from polyc.model.tree import WARP_AXES, Band, Domain, Filter, Mark, Member, Node, Sequence, rewrite
from polyc.verify import check
from tests.half import needs_half
from tests.programs import after, region_of

PRODUCT = """
void f(int n, float A[n][43], float B[43][n], float C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < 43; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def tiled(tmp_path_factory: pytest.TempPathFactory) -> Program:
    region = region_of(PRODUCT, tmp_path_factory.mktemp("fragments"))
    return after(region, "barriers", target="cuda", allow_tf32=True)


def found(program: Program) -> str:
    return "; ".join(f"{fault.kind}: {fault.message}" for fault in check(program))


def with_tree(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def below_mark(program: Program, change: Callable[[Mark], Node]) -> Program:
    return with_tree(program, lambda n: change(n) if isinstance(n, Mark) and n.kind == "mma" else n)


def members_below(program: Program, change: Callable[[Member], Member]) -> Program:
    def at(mark: Mark) -> Node:
        assert isinstance(mark.child, Band)
        return replace(mark, child=replace(mark.child, members=tuple(map(change, mark.child.members))))

    return below_mark(program, at)


def everywhere(program: Program, change: Callable[[Member], Member]) -> Program:
    def at(node: Node) -> Node:
        return replace(node, members=tuple(map(change, node.members))) if isinstance(node, Band) else node

    return with_tree(program, at)


def mapped_to(axis: str, other: str) -> Callable[[Member], Member]:
    return lambda m: replace(m, mapped=other) if m.mapped == axis else m


def reversed_in(size: int) -> Callable[[isl.UnionPwAff], isl.UnionPwAff]:
    def change(schedule: isl.UnionPwAff) -> isl.UnionPwAff:
        most = isl.UnionPwAff.val_on_domain(schedule.domain(), isl.Val.int_from_si(schedule.get_ctx(), size - 1))
        return most.sub(schedule)

    return change


def test_the_unbroken_program_passes(tiled: Program) -> None:
    assert check(tiled) == []
    assert tiled.padded["S1"] == "neutral"


def test_nobody_permits_it(tiled: Program) -> None:
    broken = replace(tiled, options=replace(tiled.options, allow_tf32=False))
    assert found(broken) == "fragments: S1 runs on tensor cores, which nobody permitted"


def test_nobody_permits_halves(tmp_path: Path) -> None:
    """Another order of additions is enough for them; sums of halves, and factors of floats, are not theirs."""
    needs_half()
    text = PRODUCT.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
    halves = after(region_of(text, tmp_path), "barriers", target="cuda", reassociate=True)
    assert check(halves) == []
    broken = replace(halves, options=replace(halves.options, reassociate=False))
    assert found(broken) == "fragments: S1 runs on tensor cores, which nobody permitted"
    assert found(replace(broken, options=replace(broken.options, allow_tf32=True))) == ""
    arrays = halves.scop.arrays
    for one, other in (("C", "A"), ("A", "C")):
        changed = {**arrays, one: replace(arrays[one], element=arrays[other].element)}
        broken = replace(halves, scop=replace(halves.scop, arrays=changed))
        assert "fragments: S1 runs on tensor cores, which nobody permitted" in found(broken)


def test_a_fragment_that_no_tensor_core_has(tiled: Program) -> None:
    assert "that no tensor core has" in found(below_mark(tiled, lambda m: replace(m, sizes=(16, 8, 16))))
    assert "that no tensor core has" in found(below_mark(tiled, lambda m: replace(m, text="float")))


def test_operands_of_other_names(tiled: Program) -> None:
    """What is loaded for the rows has to be the operand with the rows."""
    turned = below_mark(tiled, lambda m: replace(m, names=(m.names[0], m.names[2], m.names[1])))
    assert "fragments: S1 is no product of rows and columns" in found(turned)
    other = below_mark(tiled, lambda m: replace(m, names=(m.names[0], m.names[1], m.names[1])))
    assert "fragments: S1 is no sum of products" in found(other)


def test_products_beyond_the_sum_are_not_zero(tiled: Program) -> None:
    """Copies that leave out what lies outside of the array do not fill it with zeros."""
    (copy,) = [n for n in tiled.copies if n.endswith("_B") and n.startswith("in")]
    broken = replace(tiled, padded=tiled.padded | {copy: "guarded"})
    assert "fragments: S1 adds what is not zero outside of its domain" in found(broken)


def test_free_is_not_enough(tiled: Program) -> None:
    broken = replace(tiled, padded=tiled.padded | {"S1": "free"})
    assert "padding: what lies outside of a domain changes a value" in found(broken)


def test_a_part_is_left_out(tiled: Program) -> None:
    broken = replace(tiled, padded=tiled.padded | {"S1": "guarded"})
    assert "fragments: a part of the fragments of S1 is left out" in found(broken)


def test_a_lane_is_missing(tiled: Program) -> None:
    """The sum ends where its domain does, in the middle of a fragment."""
    domain = tiled.statements["S1"].domain
    space = isl.UnionSet.from_set(isl.Set.universe(domain.get_space()))
    short = isl.UnionSet.from_set(domain)

    def within(instances: isl.UnionSet) -> isl.UnionSet:
        return instances.subtract(space).union(instances.intersect(short))

    def at(node: Node) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(Filter(within(s.filter), s.child, s.barrier) for s in steps))
            case Band(members=members):
                kept = tuple(
                    replace(m, schedule=m.schedule.intersect_domain(within(m.schedule.domain()))) for m in members
                )
                return replace(node, members=kept)
            case _:
                return node

    broken = replace(tiled, tree=Domain(within(tiled.tree.domain), rewrite(tiled.tree.child, at)))
    assert "fragments: S1 runs a part of a fragment" in found(broken)


def test_lanes_in_another_order(tiled: Program) -> None:
    """Row g of a fragment in lane 7 - g: right for the sums, wrong for what the hardware loads, where k goes along."""

    def at(member: Member) -> Member:
        return replace(member, schedule=reversed_in(8)(member.schedule)) if member.mapped == WARP_AXES[2] else member

    assert found(everywhere(tiled, at)) == ""  # the rows of a fragment may have any order, if all agree on it
    first: list[int] = []

    def once(member: Member) -> Member:
        if member.mapped != WARP_AXES[2] or first:
            return member
        first.append(1)
        return at(member)

    assert "registers: several registers hold one cell of C_sum" in found(everywhere(tiled, once))


def test_rows_and_columns_turned(tiled: Program) -> None:
    def turned(member: Member) -> Member:
        other = {"lane.y": "lane.x", "lane.x": "lane.y"}.get(member.mapped, member.mapped)
        return replace(member, mapped=other)

    assert found(everywhere(tiled, turned)) != ""


def test_lanes_of_another_width(tiled: Program) -> None:
    def wider(member: Member) -> Member:
        return replace(member, size=8) if member.mapped == "lane.x" else member

    assert "is not dealt out to the threads of a block" in found(everywhere(tiled, wider))


def test_two_loops_on_one_axis(tiled: Program) -> None:
    assert found(everywhere(tiled, mapped_to("lane.x", "lane.y"))) != ""


def test_digits_of_the_sums_turned(tiled: Program) -> None:
    """The two halves of a fragment's rows are the lane's registers 0 and 2, not its columns."""

    def turned(member: Member) -> Member:
        if member.digit is None:
            return member
        return replace(member, digit=(1 - member.digit[0], member.digit[1]))

    assert found(members_below(tiled, turned)) != ""


def test_a_loop_that_is_none_of_a_fragment(tiled: Program) -> None:
    broken = members_below(tiled, lambda m: replace(m, digit=(0, 1)) if m.digit is None else m)
    assert "fragments: S1 has not the lanes and loops of a fragment" in found(broken)
    assert "has not the lanes and loops" in found(members_below(tiled, lambda m: replace(m, mapped="thread.x")))


def test_a_mark_in_a_mark(tiled: Program) -> None:
    assert "S1 is in 2 fragments" in found(below_mark(tiled, lambda m: replace(m, child=m)))


def test_a_mark_where_no_products_are(tiled: Program) -> None:
    """The mark above what sets the sums to zero."""

    def at(node: Node) -> Node:
        if isinstance(node, Sequence) and any(str(s.filter).find("S0") >= 0 for s in node.children):
            steps = []
            for s in node.children:
                child = s.child
                if "S0" in str(s.filter) and isinstance(child, Band):
                    child = replace(child, child=Mark("mma", child.child, "tf32", ("S0", "", ""), (16, 8, 8)))
                steps.append(replace(s, child=child))
            return Sequence(tuple(steps))
        return node

    assert "fragments: S0" in found(with_tree(tiled, at))
