"""Witnesses of dependences: the first two iterations, at small sizes, that show why an order has to stay.

Nothing here runs in a compile that nobody asks: a remark keeps a function that finds its witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.analysis.order import order_of
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement
from polyc.model.tree import Band, Leaf, Member, Node, child_nodes, restrict
from polyc.model.witness import Finder, Touch, Witness
from polyc.poly import budget, empty_map, in_name, least_of, maps, out_name
from polyc.records import dataclass

SMALL = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 33, 48, 64, 65, 96, 100, 128, 129, 256)
"""Sizes that are tried before the least one that is possible is asked for."""
BUDGET = 500_000
"""isl operations that looking for a witness may take."""
FORGIVEN: type[Exception] = isl.Error
"""What may end the search without a witness; tests forgive the budget only."""
_PARAM, _SET = isl.dim_type.param, isl.dim_type.set

Pairs = Callable[[], Iterable[isl.UnionMap]]
"""Finds dependences `{ S[i] -> T[j] }`, S[i] before T[j]; the ones that explain best come first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which conflicts between two iterations are looked at."""

    array: str | None = None
    """Those on one array only."""
    overwritten: bool = False
    """First those of a cell that is read and then overwritten."""

    def order(self, pair: tuple[Access, Access]) -> tuple[bool, bool]:
        """Values come first, then cells that are used again; or the other way round."""
        read, written = pair[0].kind is AccessKind.READ, pair[1].kind is not AccessKind.READ
        return (not read, not written) if self.overwritten else (read, written)


def first_of(finders: Iterable[Finder]) -> Finder:
    """A finder that asks several, in turn."""
    known = list(finders)
    return lambda: next((found for find in known if (found := find()) is not None), None)


def finder(scop: Scop, pairs: Pairs, wanted: Wanted | None = None) -> Finder:
    """A function that looks for the witness once, when it is asked for."""
    known: list[Witness | None] = []

    def find() -> Witness | None:
        if not known:
            known.append(witness(scop, pairs, wanted or Wanted()))
        return known[0]

    return find


def witness(scop: Scop, pairs: Pairs, wanted: Wanted) -> Witness | None:
    """Two iterations that one of the dependences holds in their order, or None: there are none, or finding them takes
    too long."""
    try:
        with budget(scop.domain.get_ctx(), BUDGET):
            for relation in pairs():
                for piece in _in_source_order(relation.intersect_params(scop.known), scop):
                    found = _of_statements(scop, piece, wanted)
                    if found is not None:
                        return found
    except FORGIVEN:
        return None
    return None


# --- which dependences -----------------------------------------------------------------------------------------------


def carried(
    program: Program,
    outer: tuple[Member, ...],
    loop: Member,
    instances: isl.UnionSet | None = None,
    private: bool = True,
) -> Finder:
    """A dependence that a loop carries: between its iterations, in one iteration of the loops around it.

    private: also one on an array of which each thread may have a copy
    """

    def find() -> Iterator[isl.UnionMap]:
        inside = loop.schedule.domain() if instances is None else instances.intersect(loop.schedule.domain())
        for relation in list(_ordering(program))[: 3 if private else 2]:
            around = within_iteration(_between(relation, inside, inside), outer)
            yield around.subtract(within_iteration(around, (loop,)))

    return finder(program.scop, find)


def crossing(program: Program, outer: tuple[Member, ...], loop: Member) -> Finder:
    """A dependence that goes forward in the loops above, and backward in this one: they cannot be interchanged."""

    def find() -> Iterator[isl.UnionMap]:
        inside = loop.schedule.domain()
        for relation in _ordering(program):
            pairs = within_iteration(_between(relation, inside, inside), outer)
            if not pairs.is_empty():
                pairs = pairs.lex_gt_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(loop.schedule))
            yield pairs

    return finder(program.scop, find)


def between(program: Program, loops: tuple[Member, ...], instances: isl.UnionSet, array: str | None = None) -> Finder:
    """A dependence between different iterations of some loops, of which `instances` are."""

    def find() -> Iterator[isl.UnionMap]:
        for relation in _ordering(program):
            pairs = _between(relation, instances, instances)
            yield pairs.subtract(within_iteration(pairs, loops))

    return finder(program.scop, find, Wanted(array))


def value_out(
    program: Program, first: isl.UnionSet, apart: tuple[isl.UnionSet, ...], array: str | None = None
) -> Finder:
    """A value that goes from some instances to others, apart from those named."""

    def find() -> Iterator[isl.UnionMap]:
        found = program.dependences.flow if array is None else program.dependences.flow_by_array.get(array)
        if found is not None:
            found = found.intersect_domain(first)
            for instances in apart:
                found = found.subtract_range(instances)
            yield found

    return finder(program.scop, find, Wanted(array))


def overwriting(program: Program, first: isl.UnionSet, second: isl.UnionSet, array: str) -> Finder:
    """A cell of an array that some instances touch, and that others write later."""

    def find() -> Iterator[isl.UnionMap]:
        before = earlier(program.scop, first, second)
        reads = writes = empty_map(program.scop.domain)
        for statement in program.scop.statements.values():
            for access in statement.accesses:
                if access.array == array:
                    one = isl.UnionMap.from_map(access.relation)
                    if access.kind is AccessKind.READ:
                        reads = reads.union(one)
                    else:
                        writes = writes.union(one)
        for touched in (reads, writes):
            yield touched.apply_range(writes.reverse()).intersect(before)

    return finder(program.scop, find, Wanted(array, overwritten=True))


def earlier(scop: Scop, first: isl.UnionSet, second: isl.UnionSet) -> isl.UnionMap:
    """`{ S[i] -> T[j] }`: S[i] runs before T[j] in the original order."""
    order = order_of(scop.tree)
    return order.intersect_domain(first).lex_lt_union_map(order.intersect_domain(second))


def loops_above(node: Node, band: Band) -> tuple[Member, ...]:
    """The loops of a tree around one of its bands."""
    waiting: list[tuple[Node, tuple[Member, ...]]] = [(node, ())]
    while waiting:
        here, above = waiting.pop()
        if here is band:
            return above
        inside = (*above, *here.members) if isinstance(here, Band) else above
        waiting += [(child, inside) for child in child_nodes(here)]
    return ()


def in_loop(program: Program, instances: isl.UnionSet) -> Finder:
    """A dependence that the innermost loop around some instances carries, in the order that was written."""

    def find() -> Iterator[isl.UnionMap]:
        outer: tuple[Member, ...] = ()
        node = restrict(program.scop.tree.child, instances)
        while not isinstance(node, Leaf):
            outer += node.members if isinstance(node, Band) else ()
            node = child_nodes(node)[-1]
        inside = instances.intersect(outer[-1].schedule.domain()) if outer else instances
        for relation in _ordering(program):
            around = within_iteration(_between(relation, inside, inside), outer[:-1])
            yield around.subtract(within_iteration(around, outer[-1:]))

    return finder(program.scop, find)


def _ordering(program: Program) -> Iterator[isl.UnionMap]:
    """What holds loops: values, then cells that are used again, then those of which threads may have copies."""
    found = program.dependences
    yield from (found.flow, found.false, found.private_false)


def _between(relation: isl.UnionMap, first: isl.UnionSet, second: isl.UnionSet) -> isl.UnionMap:
    return relation.intersect_domain(first).intersect_range(second)


# --- which two iterations --------------------------------------------------------------------------------------------


def _in_source_order(relation: isl.UnionMap, scop: Scop) -> list[isl.Map]:
    """The pieces of a dependence relation, those of nearby statements first."""
    place = {name: k for k, name in enumerate(scop.statements)}
    pieces = [m for m in maps(relation) if in_name(m) in place and out_name(m) in place]
    return sorted(pieces, key=lambda m: (abs(place[in_name(m)] - place[out_name(m)]), place[in_name(m)]))


def _of_statements(scop: Scop, piece: isl.Map, wanted: Wanted) -> Witness | None:
    """A witness of the dependences between two statements."""
    first, second = scop.statements[in_name(piece)], scop.statements[out_name(piece)]
    for one, two in _conflicts(first, second, wanted):
        meeting = piece.intersect(one.relation.apply_range(two.relation.reverse()))
        if not meeting.is_empty():
            return _sampled(scop, meeting, (first, one), (second, two))
    return None


def _conflicts(first: Statement, second: Statement, wanted: Wanted) -> list[tuple[Access, Access]]:
    """Two accesses to one array of which one writes."""
    found = [
        (one, two)
        for one, two in product(first.accesses, second.accesses)
        if one.array == two.array
        and wanted.array in (None, one.array)
        and (one.kind is not AccessKind.READ or two.kind is not AccessKind.READ)
    ]
    return sorted(found, key=wanted.order)


def _sampled(
    scop: Scop, meeting: isl.Map, first: tuple[Statement, Access], second: tuple[Statement, Access]
) -> Witness:
    """The first pair of a relation at small sizes, and the first cell that both touch."""
    named = tuple(p.name for p in scop.parameters)
    shown = [
        name for name in named if _mentions(meeting, name) or any(_mentions(s.domain, name) for s, _ in (first, second))
    ]
    at, sizes = small_sizes(meeting, scop.known, named)
    pair = meeting.intersect_params(at).wrap().flatten()
    values = _coordinates(_first_of(pair))
    count = meeting.dim(isl.dim_type.in_)
    starts, ends = values[:count], values[count:]
    cells = None
    for (_, access), instance in ((first, starts), (second, ends)):
        touched = _image(access.relation.intersect_params(at), instance)
        cells = touched if cells is None else cells.intersect(touched)
    assert cells is not None
    cell = tuple(_coordinates(_first_of(cells)))
    array = scop.arrays[first[1].array]
    return Witness(
        _touch(*first, starts),
        _touch(*second, ends),
        array.name,
        cell,
        element_of(array, cell, at),
        tuple((name, sizes[name]) for name in shown),
    )


def small_sizes(relation: isl.Map, known: isl.Set, named: tuple[str, ...]) -> tuple[isl.Set, dict[str, int]]:
    """Small values of the parameters at which a relation has pairs, each one given those before it."""
    at, sizes = known, {}
    for name in named:
        position = at.find_dim_by_name(_PARAM, name)
        if position < 0:
            at = at.add_dims(_PARAM, 1)
            position = at.dim(_PARAM) - 1
            at = at.set_dim_name(_PARAM, position, name)
        for value in SMALL:
            tried = at.fix_val(_PARAM, position, isl.Val.int_from_si(at.get_ctx(), value))
            if not relation.intersect_params(tried).is_empty():
                sizes[name] = value
                at = tried
                break
        else:
            left = relation.intersect_params(at).params()
            place = left.find_dim_by_name(_PARAM, name)
            sizes[name] = int(left.sample_point().get_coordinate_val(_PARAM, place).to_python())
            least = least_of(left.move_dims(_SET, 0, _PARAM, place, 1), 0)
            if least.is_int():
                sizes[name] = int(least.to_python())
            at = at.fix_val(_PARAM, position, isl.Val.int_from_si(at.get_ctx(), sizes[name]))
    return at, sizes


def _mentions(thing: isl.Map | isl.Set, parameter: str) -> bool:
    position = thing.find_dim_by_name(_PARAM, parameter)
    return position >= 0 and bool(thing.involves_dims(_PARAM, position, 1))


def _first_of(points: isl.Set) -> isl.Point:
    """The lexicographically first point, or any where there is no first one."""
    try:
        return points.lexmin().sample_point()
    except isl.Error:
        return points.sample_point()


def _coordinates(point: isl.Point) -> list[int]:
    count = point.get_space().dim(_SET)
    return [int(point.get_coordinate_val(_SET, k).to_python()) for k in range(count)]


def _image(relation: isl.Map, instance: list[int]) -> isl.Set:
    """The cells that one instance touches."""
    for position, value in enumerate(instance):
        relation = relation.fix_val(isl.dim_type.in_, position, isl.Val.int_from_si(relation.get_ctx(), value))
    return relation.range()


def _touch(statement: Statement, access: Access, instance: list[int]) -> Touch:
    return Touch(statement.name, tuple(zip(statement.loops, instance, strict=True)), access.kind, statement.span.line)


def element_of(array: Array, cell: tuple[int, ...], at: isl.Set) -> str:
    """`A[2][3]`, or `A[203]` where C has one dimension for the model's two.

    at: the sizes, a parameter set of one point
    """
    if array.flat:
        place = 0
        for position, (index, begin) in enumerate(zip(cell, array.begins, strict=True)):
            place += (index + begin) * _stride(array, position, at)
        cell = (place,)
    return array.c_name + "".join(f"[{index}]" for index in cell)


def _stride(array: Array, dimension: int, at: isl.Set) -> int:
    """Elements between neighbours along one dimension of a flat array."""
    if dimension == array.rank - 1:
        return 1
    if array.strides:
        return _value(array.strides[dimension], at)
    count = 1
    for extent in array.extents[dimension + 1 :]:
        count *= 1 if extent is None else _value(extent, at)
    return count


def _value(size: isl.PwAff, at: isl.Set) -> int:
    return int(size.intersect_params(at).max_val().to_python())
