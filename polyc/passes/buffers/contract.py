"""Keep in a variable of one iteration what no other iteration reads: registers instead of a tile's buffer."""

from __future__ import annotations

from itertools import combinations
from math import prod

import islpy as isl

from polyc.analysis.order import order_map, runs
from polyc.cost.storage import STACK_BYTES
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Leaf,
    Mark,
    Member,
    Node,
    Sequence,
    walk,
)
from polyc.nests.boxes import bounding_box
from polyc.nests.lifetimes import stays_within
from polyc.nests.naming import fresh
from polyc.nests.nest import statements_below, values
from polyc.nests.samples import sample_parameters
from polyc.passes.buffers.promotion import starts_at_zero
from polyc.poly import among, empty_map, empty_set, maps, names, out_name, union_of
from polyc.records import dataclass, replace

STAGE = "contract"


def contract_buffers(program: Program) -> Program:
    """Move the declaration of each tile buffer below the loops that no value of it crosses.

    rewrite:  float B_tile[32][32]; for i for j { B_tile[i][j] = …; C[i][j] = B_tile[i][j]; }
              -> for i for j { float B_tile; B_tile = …; C[i][j] = B_tile; }
    tree:     mark(allocate B) - band(i, j) - x  ->  band(i, j) - mark(allocate B) - x
    math:     for every flow dependence x -> y through the array and each member v of the band: v(x) = v(y)
    requires: a buffer that nothing is copied into or out of, with users that isl prints in the same loops
    ensures:  the buffer is the box of what one iteration touches; the check shows that no value is lost
    source:   with pre-tiling fusion this is what Algorithm 5 of Zhao et al. 2024 reaches by substitution: an
              elementwise producer computed at its reader, where it is read in one iteration only
    """
    contractor = _Contractor(program)
    child = contractor.below(program.tree.child, ())
    for array in _unbuffered(program):
        child = contractor.moved(_whole(contractor.program, array), child, ()) or child
    return replace(contractor.program, tree=Domain(program.tree.domain, child))


def _unbuffered(program: Program) -> list[str]:
    """Arrays whose values nobody needs afterwards or has from before, and that no tile keeps."""
    scop, kept = program.scop, {b.array for b in program.buffers.values()}
    before = {out_name(m) for m in maps(program.dependences.live_in)}
    found = []
    touching: dict[str, list[Access]] = {}
    for statement in scop.statements.values():
        for access in statement.accesses:
            touching.setdefault(access.array, []).append(access)
    for name, array in scop.arrays.items():
        printed = all(a.placed for a in touching.get(name, []))
        if array.rank and printed and name not in scop.live_out | kept | before:
            found.append(name)
    return found


def _whole(program: Program, array: str) -> Buffer:
    """A buffer for all accesses of an array, still without its place."""
    name = program.scop.arrays[array].c_name
    statements = program.scop.statements.values()
    refs = frozenset((s.name, a.ref) for s in statements for a in s.accesses if a.array == array)
    here = fresh(f"{name}_here", _taken(program, array))
    key = fresh(here, program.scop.used_names | set(program.buffers) | set(program.scop.arrays))
    return Buffer(key, here, array, None, 0, (), "tile", refs)


def _taken(program: Program, array: str) -> set[str]:
    """Names that a variable for an array's values cannot have: two arrays of the region may have one name in C."""
    return {*program.scop.used_names, *(b.name for b in program.buffers.values() if b.array != array)}


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The loops around a node."""

    above: tuple[Member, ...]
    """Those above an extension node that adds what is looked at; all of them where none does."""
    added: isl.UnionMap | None = None
    """Its relation."""
    below: tuple[Member, ...] = ()
    """The loops below it."""

    @property
    def depth(self) -> int:
        return len(self.above) + len(self.below)

    def under(self, band: Band) -> _Around:
        if self.added is None:
            return replace(self, above=self.above + band.members)
        return replace(self, below=self.below + band.members)

    def iterations(self, instances: isl.UnionSet) -> isl.UnionMap:
        """`{ S[i] -> [v0, …] }`, the values of all these loops."""
        if self.added is None:
            return values(self.above, instances)
        tiles = self.added.reverse().intersect_domain(instances)
        return tiles.flat_range_product(values(self.below, instances))


class _Contractor:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.typical = sample_parameters(program)
        self.inside: dict[Extension | Band, frozenset[str]] = {}

    def running(self, node: Extension | Band) -> frozenset[str]:
        """The statements that an extension node adds, or that a band has loops for, found once: each array asks."""
        if node not in self.inside:
            ran = node.relation.range() if isinstance(node, Extension) else node.members[0].schedule.domain()
            self.inside[node] = frozenset(names(ran))
        return self.inside[node]

    def below(self, node: Node, members: tuple[Member, ...]) -> Node:
        """The subtree with every buffer as deep as it may be; `members`: the loops around it."""
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.below(s.child, members)) for s in steps))
            case Band():
                return replace(node, child=self.below(node.child, members + node.members))
            case Mark(kind="allocate", names=names):
                child = self.below(node.child, members)
                kept: list[str] = []
                for name in names:
                    moved = self.moved(self.program.buffers[name], child, members)
                    if moved is None:
                        kept.append(name)
                    else:
                        child = moved
                return replace(node, child=child, names=tuple(kept)) if kept else child
            case _:
                return replace(node, child=self.below(node.child, members))

    def moved(self, buffer: Buffer, node: Node, members: tuple[Member, ...]) -> Node | None:
        """The subtree with the buffer declared inside of it; None where it has to stay above."""
        users = frozenset(statement for statement, _ in buffer.accesses)
        flow = self.program.dependences.flow_by_array.get(buffer.array)
        if buffer.storage != "tile" or flow is None or users & self.program.copies:
            return None
        inside = isl.UnionSet.empty(self.program.scop.context.get_space())
        for name in users:
            inside = inside.union(isl.UnionSet.from_set(self.program.statements[name].domain))
        flow = among(flow, inside)
        c_name = self.program.scop.arrays[buffer.array].c_name
        found = self.placed(node, buffer, users, flow, _Around(members))
        if found is None:
            return None
        self.program = self.program.remark(
            "contracted",
            STAGE,
            f"{c_name} needs no array: each iteration keeps its own values",
            tuple(sorted(users)),
            array=buffer.array,
        )
        return found

    def placed(
        self, node: Node, buffer: Buffer, users: frozenset[str], flow: isl.UnionMap, around: _Around
    ) -> Node | None:
        match node:
            case Band():
                if not (users <= self.running(node) and stays_within(flow, node.members)):
                    return None
                inside = around.under(node)
                deeper = self.placed(node.child, buffer, users, flow, inside)
                if (
                    deeper is None
                    and not self.reads_alone(buffer, flow, inside)
                    and not self.come_apart(users, inside, node)
                    and not self.is_shared_below(buffer, users, node.child)
                    and self.declared(buffer, inside)
                ):
                    deeper = _declaring(buffer.key, node.child)
                return None if deeper is None else replace(node, child=deeper)
            case Sequence(children=steps):
                using = [k for k, s in enumerate(steps) if statements_below(s) & users]
                if len(using) != 1:
                    return None
                deeper = self.placed(steps[using[0]].child, buffer, users, flow, around)
                if deeper is None:
                    return None
                return Sequence(tuple(replace(s, child=deeper) if k == using[0] else s for k, s in enumerate(steps)))
            case Extension(relation=relation):
                added = users & self.running(node)
                if added and (added != users or around.added is not None):
                    return None
                inside = replace(around, added=relation) if added else around
                deeper = self.placed(node.child, buffer, users, flow, inside)
                return None if deeper is None else replace(node, child=deeper)
            case Mark():
                deeper = self.placed(node.child, buffer, users, flow, around)
                return None if deeper is None else replace(node, child=deeper)
            case Leaf():
                return None

    def reads_alone(self, buffer: Buffer, flow: isl.UnionMap, around: _Around) -> bool:
        """Whether an iteration of these loops reads what nobody has set, and sets nothing in the buffer: it would be a
        variable that is read only."""
        reading, writing = (empty_set(self.program.scop.domain) for _ in range(2))
        for name, ref in buffer.accesses:
            for access in self.program.statements[name].accesses:
                if access.ref == ref and access.array == buffer.array:
                    ran = isl.UnionSet.from_set(access.relation.domain())
                    if access.kind is AccessKind.READ:
                        reading = reading.union(ran)
                    else:
                        writing = writing.union(ran)
        unset = reading.subtract(flow.range()).intersect_params(self.program.scop.known)
        if unset.is_empty():
            return False
        setting = writing.apply(around.iterations(writing))
        return not unset.apply(around.iterations(unset)).subtract(setting).is_empty()

    def is_shared_below(self, buffer: Buffer, users: frozenset[str], node: Node) -> bool:
        """Whether a loop below may run in parallel only since each of its iterations has elements of its own: it comes
        to the same ones again, and `privatize` places the array."""
        if buffer.array not in self.program.scop.privatizable:
            return False
        bands = [n for n in walk(node) if isinstance(n, Band) and users & self.running(n)]
        return any(
            member.coincident and self.comes_again(buffer, band.members[: k + 1])
            for band in bands
            for k, member in enumerate(band.members)
        )

    def comes_again(self, buffer: Buffer, members: tuple[Member, ...]) -> bool:
        """Whether an iteration of the last one of some loops writes an element that another one touches, in one of the
        others."""
        every = [
            access
            for name, ref in buffer.accesses
            for access in self.program.statements[name].accesses
            if access.ref == ref and access.array == buffer.array
        ]
        iterations = values(members, members[-1].schedule.domain()).reverse()
        start = empty_map(iterations)
        touched = iterations.apply_range(union_of((a.relation for a in every), start))
        written = union_of((a.relation for a in every if a.kind is not AccessKind.READ), start)
        pairs = iterations.apply_range(written).apply_range(touched.reverse())
        if pairs.is_empty():
            return False
        (again,) = maps(pairs)
        for k in range(len(members) - 1):
            again = again.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        last = len(members) - 1
        return not again.subtract(again.equate(isl.dim_type.in_, last, isl.dim_type.out, last)).is_empty()

    def come_apart(self, users: frozenset[str], around: _Around, band: Band) -> bool:
        """Whether isl makes loops of their own for some users, one behind the other: where one of two never runs in a
        later iteration than the other, or both run in a single one (isl_ast_codegen.c, generate_components); of the
        last loop only, where nothing else runs before and behind that one, and one of them runs first in it.

        band: the innermost one of the loops
        """
        if around.added is not None or len(users) < 2:
            return False
        ran = {name: self.iterations(name, around) for name in sorted(users)}
        apart: list[isl.Set] = []
        for found in ran.values():
            if not any(found.is_equal(other) for other in apart):
                apart.append(found)
        if any(_follow(one, other) for k, one in enumerate(apart) for other in apart[: k or 1]):
            return True
        at_once = [pair for pair in combinations(ran, 2) if not any(_at_last(*(ran[name] for name in pair)))]
        if not at_once or any(isinstance(node, Extension) for node in walk(band)):
            return False
        others = [self.iterations(name, around) for name in self.running(band) - users]
        order = order_map(runs(Domain(band.members[0].schedule.domain(), band.child)))
        return any(
            not any(all(_at_last(ran[one], own)) for own in others) and self.is_first(one, other, around, order)
            for one, other in at_once
        )

    def iterations(self, name: str, around: _Around) -> isl.Set:
        """Those of some loops that a statement runs in."""
        domain = isl.UnionSet.from_set(self.program.statements[name].domain)
        found = isl.Set.from_union_set(domain.apply(around.iterations(domain)))
        return found.intersect_params(self.program.scop.known)

    def is_first(self, one: str, other: str, around: _Around, order: isl.UnionMap) -> bool:
        """Whether in each iteration of some loops all of one of two statements runs before all of the other."""
        first, second = (
            around.iterations(isl.UnionSet.from_set(self.program.statements[name].domain)) for name in (one, other)
        )
        same = first.apply_range(second.reverse())
        before = same.intersect(order.lex_lt_union_map(order))
        return bool(before.is_empty() or before.is_equal(same))

    def declared(self, buffer: Buffer, around: _Around) -> bool:
        """Whether the buffer has a box of constant size inside these loops; if so, it is that from now on.

        Of what an extension node adds, one cell, or one in each plane: the loops above such a node are no function of
        its instances, and codegen asks for none where subscripts are 0 or those of the array.
        """
        touched: isl.UnionMap | None = None
        loose: set[int] = set()
        for name, ref in buffer.accesses:
            statement = self.program.statements[name]
            per_iteration = around.iterations(isl.UnionSet.from_set(statement.domain)).reverse()
            for access in statement.accesses:
                if access.ref == ref and access.array == buffer.array:
                    loose.update(access.loose)
                    one = per_iteration.apply_range(isl.UnionMap.from_map(access.relation))
                    touched = one if touched is None else touched.union(one)
        pieces = maps(touched.coalesce()) if touched is not None else []
        box = bounding_box(pieces[0], self.program.scop.known, self.typical) if len(pieces) == 1 else None
        extents = box.constant_extents() if box is not None else None
        if box is None or extents is None:
            return False
        if around.added is not None and not all(e == 1 or starts_at_zero(box, d) for d, e in enumerate(extents)):
            return False
        if not all(starts_at_zero(box, d) for d in loose):  # such a subscript is printed as it was written
            return False
        element = self.program.scop.arrays[buffer.array].element.size_bytes or 8
        if prod(extents) * element > STACK_BYTES:  # a row may be as long as memory
            return False
        params = self.program.scop.context.get_space().params()
        sizes = tuple(
            isl.PwAff.val_on_domain(isl.Set.universe(params), isl.Val.int_from_si(params.get_ctx(), e)) for e in extents
        )
        array, single = self.program.scop.arrays[buffer.array], set(extents) == {1}
        name = fresh(f"{array.c_name}_here", _taken(self.program, buffer.array)) if single else buffer.name
        # A variable has no dimensions that could lie in another order (`vectorize.turned_buffers`).
        order, pad = ((), 0) if single else (buffer.order, buffer.pad)
        smaller = replace(buffer, name=name, corner=box.corner, depth=around.depth, extents=sizes, order=order, pad=pad)
        self.program = replace(self.program, buffers=self.program.buffers | {buffer.key: smaller})
        return True


def _follow(one: isl.Set, other: isl.Set) -> bool:
    """Whether at some loop all of one set of iterations are at or before all of the other one, in the same iterations
    of the loops around, and not all of them at the same; or all of them are at the same everywhere."""
    pairs, alternate = isl.Map.from_domain_and_range(one, other), False
    for k in range(one.dim(isl.dim_type.set)):
        orders = (pairs.order_lt, pairs.order_gt)
        before, after = (not order(isl.dim_type.in_, k, isl.dim_type.out, k).is_empty() for order in orders)
        if before != after:
            return True
        alternate = alternate or before
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return not alternate


def _at_last(one: isl.Set, other: isl.Set) -> tuple[bool, bool]:
    """Whether one set of iterations has some before, and some behind, those of the other at the last loop, in the same
    iterations of the loops around."""
    pairs, last = isl.Map.from_domain_and_range(one, other), one.dim(isl.dim_type.set) - 1
    for k in range(last):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    before = pairs.order_lt(isl.dim_type.in_, last, isl.dim_type.out, last)
    return not before.is_empty(), not pairs.order_gt(isl.dim_type.in_, last, isl.dim_type.out, last).is_empty()


def _declaring(key: str, node: Node) -> Node:
    if isinstance(node, Mark) and node.kind == "allocate":
        return replace(node, names=(key, *node.names))
    return Mark("allocate", node, names=(key,))
