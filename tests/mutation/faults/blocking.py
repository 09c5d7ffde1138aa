"""Faults of `blocking`: updates that wait though somebody needs them, blocks of a wrong size, a wrong order in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.blocks.blocking as blocking
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Filter, Member, Node, Sequence, restrict, rewrite
from tests.mutation import edits as e
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- the blocks that it makes ----------------------------------------------------------------------------------------


def of_blocks(change: Callable[[Band, Filter, list[Filter]], Node]) -> e.Edit:
    """Change a loop over blocks: the loop, what runs in the block, what waits for its end."""

    def at(node: Node) -> Node | None:
        match node:
            case Band(members=(loop,), child=Sequence(children=(near, *far))):
                steps = near.child
                if isinstance(steps, Band) and steps.members[0].name == loop.name:
                    return change(node, near, far)
                return None
            case _:
                return None

    def edit(program: Program) -> Program:
        if not any(r.code == "blocked" for r in program.remarks):
            return program
        seen = False

        def outermost(node: Node) -> Node:
            nonlocal seen
            changed = at(node)
            seen = seen or changed is not None
            return changed or node

        tree = Domain(program.tree.domain, rewrite(program.tree.child, outermost))
        assert seen
        return replace(program, tree=tree)

    return edit


def steps(loop: Band, near: Filter, far: list[Filter]) -> Node:
    """What waits runs before the block instead of after it."""
    return replace(loop, child=Sequence((*far, near)))


def nothing_waits(loop: Band, near: Filter, _far: list[Filter]) -> Node:
    """What waits never runs."""
    return replace(loop, child=near.child)


def only_waits(loop: Band, _near: Filter, far: list[Filter]) -> Node:
    """The block's own steps never run."""
    return replace(loop, child=far[0].child)


def no_blocks(_loop: Band, near: Filter, far: list[Filter]) -> Node:
    """All that waits waits for the end of all steps."""
    return Sequence((near, *far))


def backwards(loop: Band, _near: Filter, _far: list[Filter]) -> Node:
    """The last block first."""
    (member,) = loop.members
    return replace(loop, members=(replace(member, schedule=member.schedule.neg()),))


def parallel_blocks(loop: Band, _near: Filter, _far: list[Filter]) -> Node:
    """Blocks count as independent."""
    (member,) = loop.members
    return replace(loop, members=(replace(member, coincident=True),))


def steps_in_parallel(loop: Band, near: Filter, far: list[Filter]) -> Node:
    """The steps of a block count as independent."""
    return replace(loop, child=Sequence((replace(near, child=_coincident(near.child)), *far)))


def sums_backwards(loop: Band, near: Filter, far: list[Filter]) -> Node:
    """What waits is added up from the last step to the first."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and len(node.members) == 1:
            (member,) = node.members
            return replace(node, members=(replace(member, schedule=member.schedule.neg()),))
        return node

    turned = tuple(replace(f, child=rewrite(f.child, change)) for f in far)
    return replace(loop, child=Sequence((near, *turned)))


def sums_in_parallel(loop: Band, near: Filter, far: list[Filter]) -> Node:
    """The products of a sum count as independent."""
    turned = tuple(replace(f, child=rewrite(f.child, _coincident)) for f in far)
    return replace(loop, child=Sequence((near, *turned)))


def _coincident(node: Node) -> Node:
    if not isinstance(node, Band):
        return node
    return replace(node, members=tuple(replace(m, coincident=True) for m in node.members))


def without_a_column(loop: Band, near: Filter, far: list[Filter]) -> Node:
    """One row of the matrix is not updated at the end of a block."""
    kept = [_without_row(f.filter) for f in far]
    cut = tuple(Filter(left, restrict(f.child, left)) for f, left in zip(far, kept, strict=True))
    return replace(loop, child=Sequence((near, *cut)))


def _without_row(instances: isl.UnionSet) -> isl.UnionSet:
    (piece,) = [instances.get_set_list().get_at(k) for k in range(instances.n_set())]
    at = piece.fix_val(isl.dim_type.set, 1, isl.Val.int_from_si(piece.get_ctx(), 60))
    return isl.UnionSet.from_set(piece.subtract(at))


EDITS: list[tuple[str, str, Callable[[Band, Filter, list[Filter]], Node]]] = [
    ("updates before their block", "", steps),
    ("updates lost", "what waits never runs", nothing_waits),
    ("steps lost", "only what waits runs", only_waits),
    ("one block", "all wait for the end of all steps", no_blocks),
    ("blocks backwards", "", backwards),
    ("blocks in parallel", "", parallel_blocks),
    ("steps of a block in parallel", "", steps_in_parallel),
    ("sums backwards", "another order of additions", sums_backwards),
    ("sums in parallel", "several products into one cell", sums_in_parallel),
    ("a row not updated", "at the end of a block", without_a_column),
]
for name_, what_, change_ in EDITS:
    add("blocking", name_, what_, after_pass("blocking", of_blocks(change_)))

# --- what may wait ---------------------------------------------------------------------------------------------------


def all_wait(_original: Any) -> Any:
    """Nothing is needed within a block."""
    return lambda self, step, member, size, above: step.filter.intersect(member.schedule.domain())


def waiting_for(change: Callable[[int], int]) -> Callable[[Any], Any]:
    """What may wait is found for blocks of another size than they have."""

    def make(original: Any) -> Any:
        return lambda self, step, member, size, above: original(self, step, member, change(size), above)

    return make


def a_step_more(original: Any) -> Any:
    """The first row and column that the block needs wait as well, if they are the last of it."""

    def waiting(self: Any, step: Filter, member: Member, size: int, above: Any) -> isl.UnionSet | None:
        found = original(self, step, member, size, above)
        own = step.filter.intersect(member.schedule.domain())
        if found is None:
            return None
        (piece,) = [found.get_set_list().get_at(k) for k in range(found.n_set())]
        text = ", ".join(f"i{k}" for k in range(piece.dim(isl.dim_type.set)))
        moved = text.replace("i1", "i1 - 1").replace("i2", "i2 - 1")
        shift = isl.Map.read_from_str(piece.get_ctx(), f"{{ [{text}] -> [{moved}] }}")
        more = piece.reset_tuple_id().apply(shift).set_tuple_id(piece.get_tuple_id())
        return found.union(isl.UnionSet.from_set(more)).intersect(own).coalesce()

    return waiting


def rows_alone(original: Any) -> Any:
    """Only the rows of what may wait are bounded: the block's columns wait too."""

    def waiting(self: Any, step: Filter, member: Member, size: int, above: Any) -> isl.UnionSet | None:
        found = original(self, step, member, size, above)
        own = step.filter.intersect(member.schedule.domain())
        if found is None:
            return None
        (piece,) = [found.get_set_list().get_at(k) for k in range(found.n_set())]
        last = piece.dim(isl.dim_type.set) - 1
        wider = piece.project_out(isl.dim_type.set, last, 1).add_dims(isl.dim_type.set, 1)
        return isl.UnionSet.from_set(wider.set_tuple_id(piece.get_tuple_id())).intersect(own)

    return waiting


def corner_of(change: Callable[[int], int]) -> Callable[[Any], Any]:
    return lambda original: lambda schedule, size: original(schedule, change(size))


def counted(original: Any) -> Any:
    """The loop over blocks begins one step later than it should."""

    def corner(schedule: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
        one = isl.UnionPwAff.val_on_domain(schedule.domain(), isl.Val.one(schedule.get_ctx()))
        return original(schedule.sub(one), size)

    return corner


add("blocking", "all wait", "nothing is needed in a block", patched(blocking._Blocker, "waiting", all_wait))
add("blocking", "found for half a block", "", patched(blocking._Blocker, "waiting", waiting_for(lambda s: s // 2)))
add(
    "blocking", "found for a block one shorter", "", patched(blocking._Blocker, "waiting", waiting_for(lambda s: s - 1))
)
add("blocking", "found for two blocks", "", patched(blocking._Blocker, "waiting", waiting_for(lambda s: 2 * s)))
add("blocking", "a row and a column more wait", "", patched(blocking._Blocker, "waiting", a_step_more))
add("blocking", "the block's columns wait", "", patched(blocking._Blocker, "waiting", rows_alone))
add("blocking", "blocks a step aside", "for all", patched(blocking, "_corner", counted))
add("blocking", "blocks of seven", "for all", patched(blocking, "_corner", corner_of(lambda _s: 7)))
