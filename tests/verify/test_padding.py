"""The check of tiles that run whole, and of registers, can fail: each test breaks a contraction on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Buffer, Program
from polyc.model.tree import Band, Domain, Filter, Member, Node, Role, Sequence, rewrite, walk
from polyc.poly import affine_of, sets
from polyc.verify import check
from tests.programs import after, region_of

PRODUCT = """
void f(int n, double beta, double A[n][53], double B[53][n], double C[n][n], double out[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < 53; k++)
                C[i][j] += A[i][k] * B[k][j];
            out[i][j] = C[i][j] + 1.0;
        }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def tiled(tmp_path_factory: pytest.TempPathFactory) -> Program:
    region = region_of(PRODUCT, tmp_path_factory.mktemp("padding"))
    return after(region, "barriers", target="cuda")


def found(program: Program) -> str:
    return "; ".join(f"{fault.kind}: {fault.message} {fault.witness}" for fault in check(program))


def with_tree(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def with_members(program: Program, change: Callable[[Member], Member]) -> Program:
    def at(node: Node) -> Node:
        return replace(node, members=tuple(map(change, node.members))) if isinstance(node, Band) else node

    return with_tree(program, at)


def with_buffer(program: Program, name: str, **changes: object) -> Program:
    return replace(program, buffers=program.buffers | {name: replace(program.buffers[name], **changes)})


def without_step(program: Program, prefix: str) -> Program:
    """The program without what a copy moves."""

    def at(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        kept = [s for s in node.children if not _of(s, prefix)]
        return Sequence(tuple(kept)) if len(kept) < len(node.children) else node

    return with_tree(program, at)


def _of(step: Filter, prefix: str) -> bool:
    one = isl.Set.from_union_set(step.filter) if step.filter.n_set() == 1 else None
    return one is not None and str(one.get_tuple_name()).startswith(prefix)


def copy_named(program: Program, prefix: str, array: str) -> str:
    (name,) = [n for n in program.copies if n.startswith(prefix) and n.endswith(f"_{array}")]
    return name


def test_the_unbroken_program_passes(tiled: Program) -> None:
    assert check(tiled) == []
    kinds = {n: k for n, k in tiled.padded.items() if n not in tiled.copies}
    assert kinds == {"S0": "free", "S1": "free", "S2": "guarded"}


def test_a_store_without_its_guard(tiled: Program) -> None:
    broken = replace(tiled, padded=tiled.padded | {"S2": "free"})
    assert "padding: what lies outside of a domain writes out" in found(broken)


def test_a_copy_back_without_its_guard(tiled: Program) -> None:
    out = copy_named(tiled, "out", "C")
    broken = replace(tiled, padded=tiled.padded | {out: "free"})
    assert "padding: what lies outside of a domain writes C" in found(broken)


def test_zeros_are_for_copies(tiled: Program) -> None:
    broken = replace(tiled, padded=tiled.padded | {"S2": "zero"})
    assert "padding: what lies outside of a domain writes out" in found(broken)


def test_a_border_that_nobody_mentions(tiled: Program) -> None:
    """Without a word on it, what lies outside of the domain is the region's no longer."""
    kept = {n: k for n, k in tiled.padded.items() if n != "S1"}
    assert "S1 runs where the region does not run it" in found(replace(tiled, padded=kept))


def test_sums_that_run_too_far(tiled: Program) -> None:
    """Past the end of k, into registers that matter."""
    (whole,) = [s for s in sets(tiled.tree.domain) if s.get_tuple_name() == "S1"]
    space = whole.get_space()
    far = whole.drop_constraints_involving_dims(isl.dim_type.set, 2, 1)
    more = isl.Set.universe(space).lower_bound_val(isl.dim_type.set, 2, isl.Val.zero(space.get_ctx()))
    more = more.upper_bound_val(isl.dim_type.set, 2, isl.Val.int_from_si(space.get_ctx(), 55))
    wide = far.intersect(more)
    domain = tiled.tree.domain.union(isl.UnionSet.from_set(wide))

    def wider(member: Member) -> Member:
        piece = [p for p in pieces_of(member.schedule) if p.domain().get_tuple_name() == "S1"]
        if not piece:
            return member
        aff = affine_of(piece[0])
        assert aff is not None
        grown = isl.PwAff.from_aff(aff).intersect_domain(wide)
        space_of = isl.UnionSet.from_set(isl.Set.universe(space))
        schedule = member.schedule.subtract_domain(space_of).union_add(isl.UnionPwAff.from_pw_aff(grown))
        return replace(member, schedule=schedule)

    def steps(node: Node) -> Node:
        match node:
            case Band(members=members):
                return replace(node, members=tuple(map(wider, members)))
            case Sequence(children=children):
                return Sequence(
                    tuple(
                        replace(s, filter=s.filter.union(isl.UnionSet.from_set(wide))) if _of(s, "S1") else s
                        for s in children
                    )
                )
            case _:
                return node

    broken = replace(tiled, tree=Domain(domain, rewrite(tiled.tree.child, steps)))
    assert "padding: what lies outside of a domain changes a value" in found(broken)


def test_two_cells_in_one_register(tiled: Program) -> None:
    def change(member: Member) -> Member:
        return replace(member, digit=(member.digit[0], 1)) if member.digit is not None else member

    assert "registers: one register holds several cells of C_sum" in found(with_members(tiled, change))


def test_more_registers_than_there_are(tiled: Program) -> None:
    rows, columns = tiled.buffers["C_sum"].registers
    assert "leaves the registers of C_sum" in found(with_buffer(tiled, "C_sum", registers=(rows - 1, columns)))


def test_a_cell_in_two_threads(tiled: Program) -> None:
    """One step deals its rows out to the threads of another order than the others."""
    first: list[int] = []
    other = {"lane.y": "lane.x", "lane.x": "lane.y"}

    def at(node: Node) -> Node:
        if isinstance(node, Band) and other.keys() <= {m.mapped for m in node.members} and not first:
            first.append(1)
            return replace(node, members=tuple(replace(m, mapped=other.get(m.mapped, m.mapped)) for m in node.members))
        return node

    assert check(with_tree(tiled, at)) != []
    assert first


def test_no_copy_into_the_registers(tiled: Program) -> None:
    broken = without_step(tiled, copy_named(tiled, "in", "C"))
    assert "C" in found(broken)


def test_no_copy_out_of_the_registers(tiled: Program) -> None:
    broken = without_step(tiled, copy_named(tiled, "out", "C"))
    assert "C" in found(broken)


def test_no_copy_of_a_panel(tiled: Program) -> None:
    broken = without_step(tiled, copy_named(tiled, "in", "A"))
    assert "A" in found(broken)


def test_a_panel_one_row_too_small(tiled: Program) -> None:
    panel = tiled.buffers["A_panel"]
    smaller = (panel.extents[0], panel.extents[1].sub(one_like(panel)))
    assert "buffer-bounds: A_panel is too small" in found(with_buffer(tiled, "A_panel", extents=smaller))


def test_no_barrier_between_copies_and_sums(tiled: Program) -> None:
    def at(node: Node) -> Node:
        if isinstance(node, Sequence):
            return Sequence(tuple(replace(s, barrier=False) for s in node.children))
        return node

    assert "no barrier between" in found(with_tree(tiled, at))


def test_no_barrier_around_the_panels(tiled: Program) -> None:
    assert "no barrier in the loop k" in found(with_members(tiled, lambda m: replace(m, barrier=False)))


def one_like(buffer: Buffer) -> isl.PwAff:
    value = buffer.extents[1]
    return isl.PwAff.val_on_domain(value.domain(), isl.Val.one(value.get_ctx()))


def pieces_of(schedule: isl.UnionPwAff) -> list[isl.PwAff]:
    found_pieces: list[isl.PwAff] = []
    schedule.foreach_pw_aff(found_pieces.append)
    return found_pieces


# --- how panels are stored and filled --------------------------------------------------------------------------------

FLOATS = """
void f(int n, float A[n][n], float B[n][48], float C[n][48])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 48; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Program:
    region = region_of(FLOATS, tmp_path_factory.mktemp("floats"))
    return after(region, "barriers", target="cuda")


def test_panels_of_floats_are_copied_16_bytes_at_once(floats: Program) -> None:
    assert check(floats) == []
    assert any(m.role is Role.REGISTER and m.digit is None for b in bands(floats) for m in b.members)


def bands(program: Program) -> list[Band]:
    return [node for node in walk(program.tree.child) if isinstance(node, Band)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": (1, 1)}, "several cells share a place"),
        ({"pad": -1}, "several cells share a place"),
        ({"pad": 3}, "it does not begin at a multiple of 16 bytes"),
    ],
)
def test_a_panel_stored_otherwise(floats: Program, changes: dict[str, object], message: str) -> None:
    assert message in found(with_buffer(floats, "B_panel", **changes))


def test_a_panel_across_goes_through_registers(floats: Program) -> None:
    assert found(with_buffer(floats, "B_panel", order=(1, 0))) == ""


def test_rows_that_are_no_multiple_of_16_bytes(tmp_path: Path) -> None:
    """The same tree, for an array whose rows have 47 elements: copies of B are made 16 bytes long by force."""
    program = after(region_of(FLOATS.replace("48", "47"), tmp_path), "barriers", target="cuda")
    name = copy_named(program, "in", "B")

    def wider(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        return Sequence(tuple(replace(s, child=in_fours(s.child)) if _of(s, name) else s for s in node.children))

    def in_fours(node: Node) -> Node:
        assert isinstance(node, Band)
        last = node.members[-1]
        four = isl.Val.int_from_si(last.schedule.get_ctx(), 4)
        place = replace(last, schedule=last.schedule.mod_val(four), role=Role.REGISTER, mapped="", parallel=False)
        block = replace(last, schedule=last.schedule.scale_down_val(four).floor())
        return replace(node, members=(*node.members[:-1], block), child=Band((place,), True, node.child))

    assert check(program) == []
    assert "cannot copy 16 bytes at once: not all of the cells" in found(with_tree(program, wider))


def test_panels_without_zeros(floats: Program) -> None:
    """Sums outside of the domain would read what nobody has written."""
    kinds = {name: "guarded" if kind == "zero" else kind for name, kind in floats.padded.items()}
    message = "what lies outside of a domain reads A_panel where nobody has written it"
    assert message in found(replace(floats, padded=kinds))


def test_registers_of_another_rank(floats: Program) -> None:
    assert "counts in more dimensions than C_sum has" in found(with_buffer(floats, "C_sum", registers=(4,)))


def test_a_loop_over_registers_that_is_dealt_out(floats: Program) -> None:
    def change(member: Member) -> Member:
        return replace(member, mapped="block.z") if member.role is Role.REGISTER else member

    assert "printed as one of each thread" in found(with_members(floats, change))
