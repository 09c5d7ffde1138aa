"""Rows that share what they read, and that run at once: for the loops (`unroll.py`) and for the model of their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Member
from polyc.nests.strides import dimension_of
from polyc.poly import value_on
from polyc.records import dataclass

ROWS = ((4, 0.6), (2, 0.75))
"""Rows at once, and the share of their reads that has to be left for them."""
LEAST_READS = 5
"""Reads of an iteration below which memory is what it waits for, and not loads."""
MOST_READS = 160
"""Reads in the body of a loop that is written out."""
SAMPLE = 960
"""An index to compare subscripts at: a multiple of all that loops are cut by."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Some iterations of a loop that run in one iteration of the innermost one."""

    place: int
    """Which loop of the band it is."""
    count: int
    share: float
    """Of the reads of all of them, those of different elements."""


def rows_at_once(
    program: Program,
    statements: list[Statement],
    members: tuple[Member, ...],
    fits: Callable[[int, Member], bool],
) -> AtOnce | None:
    """A loop in parts of four or two, where its neighbouring iterations read the same elements.

    members: the loops of a band, the innermost last; fits: whether a loop has whole parts of so many iterations
    """
    written = {a.array for s in statements for a in s.accesses if a.kind is not AccessKind.READ}
    if written & program.scop.privatizable:
        return None
    reads = [
        (s, multi)
        for s in statements
        for a in plain_accesses(s)
        if a.kind is AccessKind.READ and a.array not in written
        for multi in [_main(a, position_of(s, members[-1]))]
    ]
    once = len(_touched(reads, {}))
    if once < LEAST_READS:
        return None
    for place in reversed(range(len(members) - 1)):
        member = members[place]
        moved = {s.name: position_of(s, member) for s in statements}
        if not member.coincident or None in moved.values():
            continue
        for count, share in ROWS:
            if once * count > MOST_READS or not fits(count, member):
                continue
            seen = set().union(*(_touched(reads, {n: (p, k) for n, p in moved.items()}) for k in range(count)))
            if len(seen) <= share * once * count:
                return AtOnce(place, count, len(seen) / (count * len(reads)))
    return None


def are_loaded_once(program: Program, statements: list[Statement]) -> bool:
    """Whether C compilers load an element once for several rows: each of these ends with a store, which may change
    whatever a pointer leads to, as far as they know. A function of its own, as OpenMP makes one, has nothing but
    pointers, and no `restrict`; what is left are arrays of the tile. Others are read once again for each row, and in as
    many places of memory at once: windows of 2 x 3 over floats take 8 % longer, over shorts half as long again."""
    plain = [(s, access) for s in statements for access in plain_accesses(s)]
    stored = [one for one in plain if one[1].kind is not AccessKind.READ]
    loaded = [one for one in plain if one[1].kind is AccessKind.READ]
    return all(_is_in_tile(program, *one) for one in stored) or all(_is_in_tile(program, *one) for one in loaded)


def _is_in_tile(program: Program, statement: Statement, access: Access) -> bool:
    """Whether an access goes to an array that is declared in a loop."""
    used = [b for b in program.buffers.values() if (statement.name, access.ref) in b.accesses]
    return any(buffer.depth and buffer.storage != "heap" for buffer in used)


def position_of(statement: Statement, member: Member) -> int | None:
    return dimension_of(value_on(member.schedule, statement.domain.get_space()))


def plain_accesses(statement: Statement) -> Iterator[Access]:
    """Accesses whose subscripts are known."""
    return (a for a in statement.accesses if a.exact and not a.loose and a.relation.dim(isl.dim_type.out))


def pieces_of(access: Access) -> list[tuple[isl.MultiAff, isl.Set]]:
    found: list[tuple[isl.MultiAff, isl.Set]] = []
    isl.PwMultiAff.from_map(access.relation).foreach_piece(lambda domain, multi: found.append((multi, domain)))
    return found


def _main(access: Access, position: int | None) -> isl.MultiAff:
    """The subscripts of an access, where they depend on a dimension if they do anywhere."""
    pieces = [multi for multi, _ in pieces_of(access)]
    return next((m for m in pieces if involves(m, position)), pieces[0])


def involves(multi: isl.MultiAff, position: int | None) -> bool:
    if position is None:
        return False
    return any(
        multi.get_aff(d).involves_dims(isl.dim_type.in_, position, 1) for d in range(multi.dim(isl.dim_type.out))
    )


def _touched(
    reads: list[tuple[Statement, isl.MultiAff]], moved: dict[str, tuple[int | None, int]]
) -> set[tuple[str, tuple[int, ...]]]:
    """Elements that one iteration reads, at an offset along a dimension of each statement."""
    found = set()
    for statement, multi in reads:
        space = multi.get_domain_space()
        place = isl.Set.universe(space)
        position, offset = moved.get(statement.name, (None, 0))
        for kind in (isl.dim_type.param, isl.dim_type.set):
            for d in range(place.dim(kind)):
                here = SAMPLE + (offset if kind == isl.dim_type.set and d == position else 0)
                place = place.fix_val(kind, d, isl.Val.int_from_si(space.get_ctx(), here))
        at, rank = place.sample_point(), multi.dim(isl.dim_type.out)
        # A subscript in a loop with a step may have a fraction, that is whole where the statement runs.
        index = tuple(multi.get_aff(d).eval(at).floor().to_python() for d in range(rank))
        found.add((str(multi.get_tuple_name(isl.dim_type.out)), index))
    return found
