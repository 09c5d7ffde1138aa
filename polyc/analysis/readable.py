"""Elements that are there whatever the data say: they may be read in vain."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import lru_cache

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.analysis.expressions.promoted import EXTREMA, ROOTS, ROUNDED, floating_type, is_int
from polyc.analysis.expressions.selects import Choices, as_selects, folded_scalars, has_choices
from polyc.analysis.expressions.straight import ABSOLUTE, either, unconditional
from polyc.analysis.extents import elements
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import CALLS, Access, AccessKind, Array, Scop, Statement, Storage
from polyc.model.tree import Member, Role
from polyc.poly import among, empty_map, set_name, sets


def readable(scop: Scop, array: Array, space: isl.Space) -> isl.Set:
    """The elements of an array that are there, in a space `{ A[x] }`.

    math: let U be the elements that the region accesses whatever the data are. With two elements of an array, all
          between them are there: { x : l <= x <= h, l and h in U }, in the order in which they lie in memory. Where an
          instance accesses one of two elements, the later one is as good as an l, and the other one as an h. Of an
          array that is declared with all its extents, and is no parameter, each element is there
    """
    space = space.align_params(scop.known.get_space())
    none = isl.Set.empty(space)
    if array.element.kind == "pointer" or CALLS in scop.arrays:  # a call may end the program
        return none
    own = array.storage is not Storage.ARGUMENT and not array.flat and not array.root
    if own and array.rank and all(extent is not None for extent in array.extents):
        return elements(array, space)
    first, last = _ends(scop, array.name, _is_in_one_piece(array))
    if first.is_empty() or last.is_empty():
        return none
    first, last = first.reset_tuple_id(), last.reset_tuple_id()
    if not _is_in_one_piece(array):
        return first.set_tuple_id(space.get_tuple_id(isl.dim_type.set))
    later = isl.Map.lex_ge(first.get_space())
    between = first.apply(later.reverse()).intersect(last.apply(later))
    return between.set_tuple_id(space.get_tuple_id(isl.dim_type.set))


@lru_cache(maxsize=256)
def _ends(scop: Scop, array: str, either_of_two: bool) -> tuple[isl.Set, isl.Set]:
    """All l, and all h, of one array."""
    first, last = empty_map(scop.domain).range(), empty_map(scop.domain).range()
    for statement in scop.statements.values():
        exact = {a.ref: a.relation for a in statement.accesses if a.ref and a.array == array and a.exact}
        found = [(node, node) for node in unconditional(statement.body, inside=True)] if exact else []
        found += list(either(statement.body)) if exact and either_of_two else []
        for one, other in found:
            if one.ref in exact and other.ref in exact:
                both = exact[one.ref].union(exact[other.ref]).intersect_params(scop.known)
                first = first.union(isl.UnionSet.from_set(both.lexmax().range()))
                last = last.union(isl.UnionSet.from_set(both.lexmin().range()))
    return _as_set(first), _as_set(last)


def _as_set(cells: isl.UnionSet) -> isl.Set:
    return isl.Set.from_union_set(cells) if not cells.is_empty() else isl.Set.empty(cells.get_space())


def _is_in_one_piece(array: Array) -> bool:
    """Whether the rows of an array follow each other in memory."""
    return all(extent is not None for extent in array.extents[1:])


def unreadable(scop: Scop, access: Access, ran: isl.Set) -> isl.Set:
    """`{ S[i] }`: those of some instances for which it is not known whether what they may read is there.

    In an instance for which the access has no element, since a condition leaves it out, it has a subscript all the
    same, and nobody knows which one.
    """
    relation = access.relation.intersect_params(scop.known)
    there = readable(scop, scop.arrays[access.array], relation.get_space().range())
    return relation.subtract_range(there).domain().intersect(ran).union(left_out(scop, access, ran))


def left_out(scop: Scop, access: Access, ran: isl.Set) -> isl.Set:
    """`{ S[i] }`: those of some instances for which an access has no element."""
    return ran.intersect_params(scop.known).subtract(access.relation.domain())


def makes_vectors(program: Program, member: Member, everything: bool = False) -> bool:
    """Whether C compilers may make vectors of a loop, once both branches of its choices are computed, as far as
    dependences, calls and branches go.

    everything: as if all elements were there
    """
    if not member.coincident or member.role not in (Role.LOOP, Role.POINT):
        return False
    plain = ABSOLUTE | EXTREMA.keys() | ROUNDED.keys() | program.scop.own_functions - program.scop.looping_functions
    plain |= frozenset() if program.scop.reads_errno else ROOTS.keys()
    kept = {access for b in program.buffers.values() for access in b.accesses}
    for ran in sets(member.schedule.domain()):
        statement = program.statements[set_name(ran)]
        if any(n.function not in plain for n in c.walk(statement.body) if isinstance(n, c.Call)):
            return False
        if not has_choices(statement.body) or masked(program, statement) != statement.body:
            continue
        choices = choices_of(
            program,
            statement,
            ran.intersect(statement.domain),
            lambda node, name=statement.name: (name, node.ref) in kept,  # type: ignore[misc]
            everything,
        )
        if choices.is_branched(choices.taken(statement.body)):
            return False
    return True


def adds_in_order(program: Program, member: Member, around: tuple[Member, ...]) -> bool:
    """Whether a loop hands on nothing but sums from one iteration to the next, `s += f(x[i])`: C compilers may compute
    several f at once, and add one after the other.

    around: the loops around it
    """
    if member.coincident or member.role not in (Role.LOOP, Role.POINT):
        return False
    instances, sums = member.schedule.domain(), set[str]()
    plain = ABSOLUTE | ROOTS.keys()
    for ran in sets(instances):
        body = program.statements[set_name(ran)].body
        if any(isinstance(n, c.If | c.For | c.While | c.Ternary) for n in c.walk(body)):
            return False
        if any(n.function not in plain for n in c.walk(body) if isinstance(n, c.Call)):
            return False
        added = _sum_of(body)
        if added is not None and program.scop.arrays[added.array].element.kind == "float":
            sums.add(added.array)
    for array, flow in program.dependences.flow_by_array.items() if sums else ():
        here = within_iteration(among(flow, instances), around)
        if array not in sums and not here.is_subset(within_iteration(here, (member,))):
            return False
    return bool(sums)


def _sum_of(body: c.Stmt) -> c.ArrayRef | None:
    """What a statement adds to, or subtracts from."""
    match body:
        case c.ExprStmt(expr=c.Assign(op="+=" | "-=", target=c.ArrayRef() as target)):
            return target
        case c.ExprStmt(
            expr=c.Assign(
                op="=", target=c.ArrayRef() as target, value=c.Binary(op="+" | "-", left=c.ArrayRef() as left)
            )
        ) if (left.array, left.subscripts) == (target.array, target.subscripts):
            return target
    return None


def masked(program: Program, statement: Statement, own: Set[str] = frozenset()) -> c.Stmt:
    """The body of a statement, and where it updates, under a condition, floating values of which each iteration of a
    vector loop has a place, as choices (`as_selects`).

    own: arrays of which each one is to have a place
    """
    body, scop, arrays = statement.body, program.scop, program.scop.arrays
    if not isinstance(body, c.If):
        return body
    accesses = {a.ref: a for a in statement.accesses if a.ref}
    places = {access for b in program.buffers.values() if b.places is not None for access in b.accesses}

    def place_of(node: c.ArrayRef) -> str:
        has_place = node.array in own or (statement.name, node.ref) in places
        if not has_place:
            return ""
        element = arrays[node.array].element
        whole = "unsigned" if element.size_bytes <= 4 else "unsigned long long"
        return whole if element.kind == "int" else floating_type(node, arrays, {})

    def is_there(node: c.ArrayRef) -> bool:
        array, access = arrays[node.array], accesses.get(node.ref)
        if place_of(node) or not array.rank or array.element.kind != "float":
            return array.element.kind == "float"
        return access is not None and access.exact and unreadable(scop, access, statement.domain).is_empty()

    return as_selects(body, place_of, is_there, _plain(scop)) or body


def _plain(scop: Scop) -> frozenset[str]:
    """The functions of floating values that do nothing else."""
    plain = ABSOLUTE | ROUNDED.keys() | (frozenset() if scop.reads_errno else ROOTS.keys())
    return plain - scop.own_functions


def is_chosen(program: Program, statement: Statement) -> bool:
    """Whether what a statement does under a condition is printed as choices, once its private values have places."""
    return masked(program, statement, program.scop.privatizable) != statement.body


def choices_of(
    program: Program,
    statement: Statement,
    ran: isl.Set,
    is_kept: Callable[[c.ArrayRef], bool],
    everything: bool = False,
) -> Choices:
    """What is known of a statement's values in some instances, for choices between them.

    is_kept:    whether a buffer has the element, where there is room for all that may be read
    everything: as if all elements were there
    """
    scop = program.scop
    loops = dict(zip(statement.loops, statement.loop_types, strict=True))
    loops |= {p.expr.name: p.type for p in scop.parameters if isinstance(p.expr, c.Name)}
    surely = {c.unlabelled(node) for node in unconditional(statement.body, inside=True)}
    both = ((c.unlabelled(one), c.unlabelled(other)) for one, other in either(statement.body))
    surely |= {one for one, other in both if one == other}
    accesses = {a.ref: a for a in statement.accesses if a.ref}

    def is_sure(node: c.ArrayRef) -> bool:
        return not scop.arrays[node.array].rank or c.unlabelled(node) in surely

    def is_there(node: c.ArrayRef) -> bool:
        if is_sure(node):
            return True
        access = accesses.get(node.ref)
        if access is None or not access.exact:
            return False
        kept = is_kept(node)
        if everything:
            return True
        if kept:
            return bool(left_out(scop, access, ran).is_empty())
        return bool(unreadable(scop, access, ran).is_empty())

    def is_own(node: c.ArrayRef) -> bool:
        if not scop.arrays[node.array].rank:
            return node.array in scop.privatizable
        access = accesses.get(node.ref)
        if access is None or not access.exact:
            return False
        cells = access.relation.intersect_params(scop.known).intersect_domain(ran).range()
        return cells.is_subset(_surely_written(scop, node.array, cells.get_space()))

    return Choices(
        lambda expr: floating_type(expr, scop.arrays, loops),
        lambda expr: is_int(expr, scop.arrays, loops),
        is_there,
        is_sure,
        is_own,
        lambda node: not scop.arrays[node.array].rank and node.array in _folded(scop),
        _plain(scop),
    )


def _surely_written(scop: Scop, array: str, space: isl.Space) -> isl.Set:
    """The elements of an array that a region sets whatever the data say: setting them once more shows nobody more."""
    found = isl.Set.empty(space)
    for statement in scop.statements.values():
        for access in statement.accesses:
            if access.array == array and access.exact and access.kind is AccessKind.WRITE:
                found = found.union(access.relation.intersect_domain(statement.domain).range())
    return found.intersect_params(scop.known)


@lru_cache(maxsize=64)
def _folded(scop: Scop) -> frozenset[str]:
    """The scalars of which some statement computes something with a number."""
    return frozenset(name for s in scop.statements.values() for name in folded_scalars(s.body))


__all__ = ["choices_of", "left_out", "makes_vectors", "masked", "readable", "unreadable"]
