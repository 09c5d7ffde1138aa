"""Faults of the pass that gives temporaries another place: other elements, other statements, nothing forbidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.values.temporaries as temporaries
import polyc.relaxations as relaxations
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Array, Scop, Statement, Storage
from polyc.model.tree import Domain, restrict
from polyc.poly import sets
from tests.mutation.install import Install, adding_to, together
from tests.mutation.runner import Edit, Fault, Patch, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
LIVE_RANGE = temporaries._LiveRange


def answering(name: str, value: Any) -> Install:
    """A test of the pass that always answers the same."""
    return lambda patch: patch.setattr(LIVE_RANGE, name, lambda *_args: value)


def other_cells(change: Callable[[isl.Map], isl.Map]) -> Install:
    """M is another relation wherever the pass uses it."""
    right = LIVE_RANGE.cell

    def install(patch: Patch) -> None:
        patch.setattr(LIVE_RANGE, "cell", lambda self, name: change(right(self, name)))
        patch.setattr(LIVE_RANGE, "sums", lambda self: [n for n in self.names if updates(self, n)])

    def updates(self: Any, name: str) -> bool:
        return bool(temporaries.updates(self.scop.statements[name], self.array))

    return install


def beside(cell: isl.Map) -> isl.Map:
    """The element before, where there is one."""
    one = isl.MultiAff.identity_on_domain_space(cell.get_space().range())
    last = cell.dim(isl.dim_type.out) - 1
    back = one.get_at(last).add_constant_val(isl.Val.int_from_si(cell.get_ctx(), -1))
    moved = cell.apply_range(isl.Map.from_multi_aff(one.set_at(last, back))).intersect_range(cell.range())
    return moved.union(cell.subtract_domain(moved.domain()))


def without(position: int) -> Callable[[isl.Map], isl.Map]:
    """One element for all values of a subscript: the first."""

    def change(cell: isl.Map) -> isl.Map:
        one = isl.MultiAff.identity_on_domain_space(cell.get_space().range())
        zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(cell.get_space().range()))
        return cell.apply_range(isl.Map.from_multi_aff(one.set_at(position, zero)))

    return change


def any_assignment(self: Any, name: str) -> bool:
    """Whether a statement copies from somewhere to somewhere."""
    match self.scop.statements[name].body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(), value=c.ArrayRef())):
            return True
    return False


def the_store(self: Any, name: str) -> bool:
    return bool(name == self.store.name)


def the_beginning(self: Any, name: str) -> bool:
    return bool(self.begins(self.scop.statements[name]))


def dropping(test: Callable[[Any, str], bool]) -> Install:
    return lambda patch: patch.setattr(LIVE_RANGE, "is_copy", test)


def with_region(program: Program, scop: Scop) -> Program:
    assert program.relocated is not None
    tree = Domain(scop.domain, restrict(scop.tree.child, scop.domain))
    step = replace(program.relocated, after=scop)
    return replace(program, scop=scop, tree=tree, statements=dict(scop.statements), relocated=step)


def of_moved(change: Callable[[Statement], Statement]) -> Edit:
    """Change all statements that have another place instead of a temporary."""

    def edit(program: Program) -> Program:
        if program.relocated is None:
            return program
        moved = {move.statement for move in program.relocated.moves}
        statements = {k: change(s) if k in moved else s for k, s in program.scop.statements.items()}
        return with_region(program, replace(program.scop, statements=statements))

    return edit


def rewritten(change: Callable[[c.Node], c.Node | None]) -> Callable[[Statement], Statement]:
    return lambda statement: replace(statement, body=c.rewrite(statement.body, change))


def other_sign(node: c.Node) -> c.Node | None:
    other = {"+=": "-=", "-=": "+="}
    return replace(node, op=other[node.op]) if isinstance(node, c.Assign) and node.op in other else None


def doubled(node: c.Node) -> c.Node | None:
    return c.Binary("+", node, node) if isinstance(node, c.Literal) and "." in node.text else None


def without_reads(statement: Statement) -> Statement:
    return replace(statement, accesses=tuple(a for a in statement.accesses if a.kind is not AccessKind.READ))


def first_instances_lost(program: Program) -> Program:
    if program.relocated is None:
        return program
    kept = program.scop.domain
    for piece in sets(kept):
        kept = kept.subtract(isl.UnionSet.from_set(piece.lexmin()))
    return with_region(program, replace(program.scop, tree=Domain(kept, program.scop.tree.child)))


def untold(program: Program) -> Program:
    return replace(program, relocated=None)


def first_moves_only(program: Program) -> Program:
    """What became of the last live range is not told."""
    if program.relocated is None:
        return program
    return replace(program, relocated=replace(program.relocated, moves=program.relocated.moves[:-1]))


def nothing_dropped(program: Program) -> Program:
    if program.relocated is None:
        return program
    return replace(program, relocated=replace(program.relocated, dropped=()))


def old_dependences(patch: Patch) -> None:
    """Those of the region before are taken for those after it."""
    patch.setattr(temporaries, "compute_dependences", lambda scop: _KEPT["before"])
    whole = temporaries._Relocator.relocated

    def relocated(self: temporaries._Relocator) -> Program:
        _KEPT["before"] = self.program.dependences
        return whole(self)

    patch.setattr(temporaries._Relocator, "relocated", relocated)


def of_made(change: Callable[[Array], Array]) -> Edit:
    """Change all arrays that the region did not have."""

    def edit(program: Program) -> Program:
        if program.relocated is None:
            return program
        old = program.relocated.before.arrays
        arrays = {name: a if name in old else change(a) for name, a in program.scop.arrays.items()}
        return with_region(program, replace(program.scop, arrays=arrays))

    return edit


def one_row_less(array: Array) -> Array:
    first, *others = array.extents
    assert first is not None
    return replace(array, extents=(first.add_constant_val(isl.Val.int_from_si(first.get_ctx(), -1)), *others))


def made_global(array: Array) -> Array:
    return replace(array, storage=Storage.GLOBAL)


def in_memory(patch: Patch) -> None:
    patch.setattr(relaxations, "in_memory", lambda _program: set())


_KEPT: dict[str, Any] = {}

TEMPORARIES: list[tuple[str, str, Install]] = [
    ("nothing forbidden", "no obstacle is seen", answering("obstacle", None)),
    ("place in use", "somebody else touches the element", answering("in_between", None)),
    ("read later", "after the store", answering("is_before_store", True)),
    (
        "not stored",
        "iterations without a store",
        together(answering("has_places", True), answering("begins_once", True)),
    ),
    ("begun twice", "or never", answering("begins_once", True)),
    ("element before", "M is shifted", other_cells(beside)),
    ("one element for a row", "M without the column", other_cells(without(1))),
    ("one element for a column", "M without the row", other_cells(without(0))),
    ("every copy dropped", "from any element", together(answering("obstacle", None), dropping(any_assignment))),
    ("the store dropped", "with what it computes", dropping(the_store)),
    ("the beginning dropped", "with what it computes", dropping(the_beginning)),
    ("no copy dropped", "which changes nothing", answering("is_copy", False)),
    ("other signs", "of updates", after_pass("temporaries", of_moved(rewritten(other_sign)))),
    ("constants twice", "in moved statements", after_pass("temporaries", of_moved(rewritten(doubled)))),
    ("reads lost", "of moved statements", after_pass("temporaries", of_moved(without_reads))),
    ("first instances lost", "of each statement", after_pass("temporaries", first_instances_lost)),
    ("step not told", "another region, and no word of it", after_pass("temporaries", untold)),
    ("a move not told", "the last one", after_pass("temporaries", first_moves_only)),
    ("what is dropped not told", "statements are gone", after_pass("temporaries", nothing_dropped)),
    ("arrays too small", "by a row", after_pass("temporaries", of_made(one_row_less))),
    ("arrays that outlive the region", "global ones", after_pass("temporaries", of_made(made_global))),
    ("arrays as a whole", "that no tile keeps", in_memory),
    ("old dependences", "those of the scalar", old_dependences),
]
for name_, what_, install_ in TEMPORARIES:
    add("temporaries", name_, what_, install_)
