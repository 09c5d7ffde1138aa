"""Faults of the pass that rewrites the region: other instances, other text, other accesses, nothing forbidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.values.inline as inline
from polyc.codegen.loops.instances import InstancePrinter
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Domain, restrict
from polyc.poly import sets, union_of
from tests.mutation.install import Install, adding_to
from tests.mutation.runner import Edit, Fault, Patch, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
CANDIDATE = inline._Candidate


def answering(name: str, value: Any) -> Install:
    """A test of the pass that always answers the same."""
    return lambda patch: patch.setattr(CANDIDATE, name, lambda *_args: value)


def other_instances(change: Callable[[isl.Map, Statement], isl.Map]) -> Install:
    """M is another relation wherever the pass uses it."""
    right = CANDIDATE.instances

    def instances(self: inline._Candidate, read: inline.Read) -> isl.Map:
        return change(right(self, read), self.producer).intersect_range(self.producer.domain)

    def install(patch: Patch) -> None:
        patch.setattr(CANDIDATE, "instances", instances)
        for name in ("is_overwritten", "repeats", "is_irregular", "widened", "chain"):
            answering(name, False)(patch)

    return install


def shifted(m: isl.Map, _producer: Statement) -> isl.Map:
    """The instance before, where there is one."""
    space = m.get_space().range()
    one = isl.MultiAff.identity_on_domain_space(space)
    first = one.get_at(0).add_constant_val(isl.Val.int_from_si(m.get_ctx(), -1))
    return m.apply_range(isl.Map.from_multi_aff(one.set_at(0, first)))


def swapped(m: isl.Map, _producer: Statement) -> isl.Map:
    """The first two loops of the producer change places."""
    count = m.dim(isl.dim_type.out)
    if count < 2:
        return m
    names = [f"i{k}" for k in range(count)]
    other = [names[1], names[0], *names[2:]]
    swap = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(other)}] }}")
    ident = m.get_tuple_id(isl.dim_type.out)
    return m.reset_tuple_id(isl.dim_type.out).apply_range(swap).set_tuple_id(isl.dim_type.out, ident)


def first_reader_only(patch: Patch) -> None:
    whole = CANDIDATE.of

    def of(*given: Any, **more: Any) -> inline._Candidate:
        found = whole(*given, **more)
        return replace(found, reads=found.reads[:1])

    patch.setattr(CANDIDATE, "of", staticmethod(of))


def at_one_tap(patch: Patch) -> None:
    """Products stand in sums with the factors of the first place where they are read."""
    right, whole = CANDIDATE.instances, CANDIDATE.substituted

    def substituted(self: inline._Candidate) -> Program:
        first = right(self, self.reads[0])
        again = any(read.statement is self.reads[0].statement for read in self.reads[1:])
        if again:
            patch.setattr(CANDIDATE, "instances", lambda _self, _read: first)
        try:
            return whole(self)
        finally:
            patch.setattr(CANDIDATE, "instances", right)

    patch.setattr(CANDIDATE, "substituted", substituted)


def wrong_values(patch: Patch) -> None:
    """A loop variable of the producer is one more than it is."""
    whole = inline._named

    def named(statement: Statement) -> Iterator[Any]:
        for name, ctype, relation in whole(statement):
            yield name, ctype, relation.apply_range(isl.Map("{ [v] -> [v + 1] }"))

    patch.setattr(inline, "_named", named)


def no_cast(patch: Patch) -> None:
    patch.setattr(inline, "keeps_type", lambda *_args: True)


def other_expression(change: Callable[[c.Node], c.Node | None]) -> Install:
    whole = inline._value
    return lambda patch: patch.setattr(inline, "_value", lambda producer: c.rewrite(whole(producer), change))


def minus(node: c.Node) -> c.Node | None:
    return replace(node, op="-") if isinstance(node, c.Binary) and node.op == "+" else None


def doubled(node: c.Node) -> c.Node | None:
    return c.Binary("+", node, node) if isinstance(node, c.Literal) and "." in node.text else None


def old_labels(patch: Patch) -> None:
    """What is put in has labels that the reader uses."""

    def labels(_statement: Statement) -> Iterator[str]:
        yield from (f"r{k}" for k in range(100))

    patch.setattr(inline, "_labels", labels)


def of_readers(change: Callable[[Statement], Statement]) -> Edit:
    """Change all statements that something was inlined into, in every region that the pass made."""

    def edit(program: Program) -> Program:
        if not program.inlined:
            return program
        step = program.inlined[-1]
        readers = {use.statement for use in step.uses}
        statements = {k: change(s) if k in readers else s for k, s in step.after.statements.items()}
        scop = replace(step.after, statements=statements)
        inlined = (*program.inlined[:-1], replace(step, after=scop))
        return replace(program, scop=scop, statements=dict(statements), inlined=inlined)

    return edit


def moved_reads(reader: Statement) -> Statement:
    """The reads touch the element before."""

    def moved(access: Access) -> Access:
        if access.kind is not AccessKind.READ or not access.exact or not access.relation.dim(isl.dim_type.out):
            return access
        one = isl.MultiAff.identity_on_domain_space(access.relation.get_space().range())
        first = one.get_at(0).add_constant_val(isl.Val.int_from_si(access.relation.get_ctx(), -1))
        back = isl.Map.from_multi_aff(one.set_at(0, first))
        return replace(access, relation=access.relation.apply_range(back))

    return replace(reader, accesses=tuple(map(moved, reader.accesses)))


def lost_reads(reader: Statement) -> Statement:
    return replace(reader, accesses=tuple(a for a in reader.accesses if a.kind is not AccessKind.READ))


def lost_instances(program: Program) -> Program:
    """The region is without the first iteration of each statement."""
    if not program.inlined:
        return program
    kept = program.tree.domain
    for piece in sets(program.tree.domain):
        kept = kept.subtract(isl.UnionSet.from_set(piece.lexmin()))
    tree = Domain(kept, restrict(program.tree.child, kept))
    step = program.inlined[-1]
    scop = replace(step.after, tree=tree)
    return replace(program, scop=scop, tree=tree, inlined=(*program.inlined[:-1], replace(step, after=scop)))


def untold(program: Program) -> Program:
    return replace(program, inlined=())


def last_step_only(program: Program) -> Program:
    return replace(program, inlined=program.inlined[-1:])


def without_dependences(program: Program) -> Program:
    """Those of the new region are forgotten."""
    if not program.inlined:
        return program
    nothing = union_of([], isl.UnionMap.empty(program.dependences.flow.get_space()))
    return replace(program, dependences=replace(program.dependences, flow=nothing, false=nothing, flow_by_array={}))


def printed_as_first_loop(patch: Patch) -> None:
    """The printer takes the reader's first loop for every loop of a producer."""
    patch.setattr(InstancePrinter, "_value", lambda self, _item: self.instance[0])


INLINING: list[tuple[str, str, Install]] = [
    ("needed afterwards", "values that are live-out", answering("is_live_out", False)),
    ("other writers", "values of two statements", answering("has_other_source", False)),
    ("input overwritten", "between producer and reader", answering("is_overwritten", False)),
    ("read twice", "by two statements", answering("repeats", False)),
    ("chains too", "what pre-tiling fusion joins", answering("chain", False)),
    ("nothing forbidden", "no obstacle is seen", answering("obstacle", None)),
    ("any products", "whatever forbids it", answering("in_sums", True)),
    ("products of other elements", "at the first tap's place", at_one_tap),
    ("a reader forgotten", "all but the first", first_reader_only),
    ("instance before", "M is shifted", other_instances(shifted)),
    ("loops interchanged", "M is transposed", other_instances(swapped)),
    ("value + 1", "of a loop variable", wrong_values),
    ("no rounding", "no cast to the array's type", no_cast),
    ("minus for plus", "in the expression", other_expression(minus)),
    ("constants twice", "in the expression", other_expression(doubled)),
    ("labels used again", "two references of one label", old_labels),
    ("reads moved", "the element before", after_pass("inline", of_readers(moved_reads))),
    ("reads lost", "of the readers", after_pass("inline", of_readers(lost_reads))),
    ("first instance lost", "of each statement", after_pass("inline", lost_instances)),
    ("steps not told", "another region, and no word of it", after_pass("inline", untold)),
    ("only the last step told", "of several", after_pass("inline", last_step_only)),
    ("dependences forgotten", "of the new region", after_pass("inline", without_dependences)),
    ("printed for another iteration", "loop variables of producers", printed_as_first_loop),
]
for name_, what_, install_ in INLINING:
    add("inline", name_, what_, install_)


def of_another_step(patch: Patch) -> None:
    other_instances(shifted)(patch)
    answering("widened", True)(patch)


for name_, what_, install_ in (
    ("factors: of another step", "M is shifted", of_another_step),
    ("factors: minus for plus", "in the expression", other_expression(minus)),
):
    add("inline", name_, what_, install_, "from_one")
