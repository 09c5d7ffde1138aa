"""Which nests are contractions: products of two arrays, summed up over loops that the result does not have."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations, permutations
from math import prod

import islpy as isl

from polyc.analysis.expressions.straight import unconditional
from polyc.analysis.readable import unreadable
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Member, Sequence
from polyc.nests.nest import NOWHERE, Outer, chain_to_leaf, values
from polyc.nests.strides import step_of
from polyc.nests.tiling import moves
from polyc.poly import affine_of, everywhere, greatest_of, names, value_on
from polyc.records import dataclass, replace

WIDEST = 128
"""No tile is wider."""
PEELED = 16
"""Steps of a loop up to which C compilers print them one after the other."""
LEAST = 4, 16
"""Rows and columns that are enough to choose between loops."""


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """`C[.., i, .., j] += A[.., i, .., k] * B[.., k, .., j]`, whatever its indices and its operation are.

    rewrite:  for i for j { before; for k C[i][j] += A[i][k] * B[k][j]; after }
    math:     with W, R the accesses of the statement, every cell of C belongs to one (i, j); no loop of the chain moves
              W; each R that moves with i stays with j, or the other way round, or neither
    """

    statement: str
    array: str
    """What is summed up into."""
    rows: int
    columns: int
    """Positions in the band of the loops i and j; j is the one along consecutive memory of C."""
    chain: tuple[Member, ...]
    """The loops inside that sum up, outermost first."""
    before: tuple[str, ...]
    after: tuple[str, ...]
    """Statements of the same (i, j) around the sum."""
    operands: tuple[Access, ...]
    """Reads of arrays that stay with i or with j: what many points of a tile share."""
    more: tuple[int, ...] = ()
    """Positions of further parallel loops of the result that no operand of the columns moves with, outermost first:
    what they read of it is the same, as if they were rows."""
    window: bool = False
    """Whether a subscript of an operand moves with a loop of the result and one of the sum, on a CPU."""


def contraction_of(program: Program, band: Band, in_place: bool = False) -> Contraction | None:
    """The contraction that a nest is, if it is one.

    in_place: it may read other cells of the array that it writes, and its loops may be in any order that the band
              allows, where they are not parallel
    """
    count = tile_members_of(program, band) if in_place else band.coincident_prefix
    found = _shape(band, count)
    if count < 2 or found is None:
        return None
    name, chain, before, after = found
    statement = program.statements[name]
    if not chain or statement.opaque:
        return None
    written = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    if len(written) != 1 or written[0].kind is not AccessKind.WRITE or not written[0].exact:
        return None
    target = written[0]
    if not any(a.array == target.array and a.kind is AccessKind.READ for a in statement.accesses):
        return None  # it sums up nothing
    operands = [a for a in statement.accesses if a.array != target.array and a.relation.dim(isl.dim_type.out)]
    if in_place:
        operands += [a for a in statement.accesses if a.array == target.array and not _is_same(a, target)]
    if not all(a.exact for a in operands) or any(moves(target.relation, m) for m in chain):
        return None
    certain = {node.ref for node in unconditional(statement.body, inside=True)}
    if any(a.ref not in certain and not unreadable(program.scop, a, statement.domain).is_empty() for a in operands):
        return None  # panels are filled whatever the data say
    through_windows = not program.options.gpu and any(is_window(a, chain, statement.domain) for a in operands)
    choose = partial(_pair_of_windows, chain) if through_windows else _pair
    pair = choose(program, band.members[:count], name, target, operands)
    if pair is None:
        return None
    rows, columns = pair
    shared = tuple(a for a in operands if not all(varies(a, band.members[k], statement.domain) for k in pair))
    of_columns = [a for a in operands if varies(a, band.members[columns], statement.domain)]
    more = tuple(
        k
        for k, m in enumerate(band.members[: band.coincident_prefix])
        if k not in pair and moves(target.relation, m) and not any(varies(a, m, statement.domain) for a in of_columns)
    )
    return Contraction(name, target.array, rows, columns, chain, before, after, shared, more, through_windows)


def tile_members_of(program: Program, band: Band) -> int:
    """How many of the outermost loops of a permutable band belong to the result of its only statement; the parallel
    ones, where there are several statements."""
    own = names(band.members[0].schedule.domain())
    if not band.permutable or len(own) != 1 or band.coincident_prefix == 0:
        return band.coincident_prefix
    written = [a for a in program.statements[own[0]].accesses if a.kind is not AccessKind.READ]
    count = 0
    while len(written) == 1 and count < len(band.members) and moves(written[0].relation, band.members[count]):
        count += 1
    return max(count, band.coincident_prefix)


def result_first(program: Program, band: Band) -> Band:
    """A permutable band of one statement with the loops of its result outside of those that sum up, in the order of
    the result's subscripts: its rows, of which there are many tiles, are for the threads."""
    own = names(band.members[0].schedule.domain())
    if not band.permutable or len(own) != 1 or band.coincident_prefix == 0:
        return band
    written = [a for a in program.statements[own[0]].accesses if a.kind is not AccessKind.READ]
    if len(written) != 1:
        return band
    domain, rank = program.statements[own[0]].domain, written[0].relation.dim(isl.dim_type.out)

    def place(member: Member) -> tuple[int, int]:
        if not moves(written[0].relation, member):
            return 2, 0
        along = (k for k in range(rank) if varies(subscript(written[0], k), member, domain))
        return int(not member.coincident), next(along, rank)

    return replace(band, members=tuple(sorted(band.members, key=place)))


def subscript(access: Access, position: int) -> Access:
    """The access to an array with one of the subscripts only."""
    relation = access.relation.reset_tuple_id(isl.dim_type.out)
    rest = relation.dim(isl.dim_type.out) - position - 1
    one = relation.project_out(isl.dim_type.out, position + 1, rest).project_out(isl.dim_type.out, 0, position)
    return replace(access, relation=one)


def _is_same(access: Access, target: Access) -> bool:
    return access.ref == target.ref or access.relation.is_equal(target.relation)


def _shape(band: Band, count: int) -> tuple[str, tuple[Member, ...], tuple[str, ...], tuple[str, ...]] | None:
    """The one statement with loops of its own below the first loops of a band, these loops, and the statements around
    it."""
    inner = band.members[count:]
    if not isinstance(band.child, Sequence):
        chain = chain_to_leaf(band.child)
        own = names(isl.UnionMap.from_union_pw_aff(band.members[0].schedule).domain())
        return (own[0], inner + chain, (), ()) if chain is not None and len(own) == 1 else None
    if inner:
        return None
    around: list[str] = []
    found: tuple[str, tuple[Member, ...], int] | None = None
    for step in band.child.children:
        chain = chain_to_leaf(step.child)
        if chain is None:
            return None
        if chain:
            own = names(step.filter)
            if found is not None or len(own) != 1:
                return None
            found = own[0], chain, len(around)
        else:
            around += names(step.filter)
    if found is None or len(set(around)) != len(around) or found[0] in around:
        return None
    name, chain, position = found
    return name, chain, tuple(around[:position]), tuple(around[position:])


def _pair(
    program: Program, members: tuple[Member, ...], name: str, target: Access, operands: list[Access]
) -> tuple[int, int] | None:
    """Rows and columns: the pair of loops with the largest tiles such that each operand stays with one of them; the
    innermost one among equals. On GPUs a loop along the last subscript of the result makes up for a fifth less: what
    the threads of a warp store lies together then."""
    domain = program.statements[name].domain
    moving = [k for k, m in enumerate(members) if moves(target.relation, m)]
    along = {k: [varies(a, members[k], domain) for a in operands] for k in moving}
    widths = {k: min(extent_of(program, members[k], name) or WIDEST, WIDEST) for k in moving}
    best: tuple[int, tuple[int, int]] | None = None
    for rows, columns in combinations(moving, 2):
        kinds = set(zip(along[rows], along[columns], strict=True))
        area = widths[rows] * widths[columns]
        if program.options.gpu and any(_is_last(target, members[k], domain) for k in (rows, columns)):
            area += area // 4
        if (True, True) not in kinds and {(True, False), (False, True)} <= kinds and (best is None or area >= best[0]):
            best = area, (rows, columns)
    if best is None:
        return None
    rows, columns = best[1]
    return (columns, rows) if _is_last(target, members[rows], domain) else (rows, columns)


def _pair_of_windows(
    chain: tuple[Member, ...],
    program: Program,
    members: tuple[Member, ...],
    name: str,
    target: Access,
    operands: list[Access],
) -> tuple[int, int] | None:
    """Rows and columns where an operand is read through a window, as `in[y + u][x + v]` with sums over u and v.

    The columns are a loop that moves along no window: then rows of vectors begin at multiples of a vector, and
    neighbours lie side by side in a panel, whatever the step of the window is. Of the rows single elements are read.
    Of several loops, those of later subscripts of the result, unless they have too few iterations.
    """
    domain = program.statements[name].domain
    moving = [k for k, m in enumerate(members) if moves(target.relation, m)]
    along = {k: [varies(a, members[k], domain) for a in operands] for k in moving}
    windows = {k: any(is_window(a, chain, domain, members[k]) for a in operands) for k in moving}
    widths = {k: extent_of(program, members[k], name) or WIDEST for k in moving}
    found = [
        (rows, columns)
        for rows, columns in permutations(moving, 2)
        if set(zip(along[rows], along[columns], strict=True)) >= {(True, False), (False, True)}
        and not any(a and b for a, b in zip(along[rows], along[columns], strict=True))
        and not windows[columns]
    ]
    if not found:
        return _pair(program, members, name, target, operands)
    return max(found, key=lambda p: (min(widths[p[1]], LEAST[1]), min(widths[p[0]], LEAST[0]), p[1], p[0]))


def is_window(access: Access, chain: tuple[Member, ...], domain: isl.Set, member: Member | None = None) -> bool:
    """Whether a subscript of an access moves with a loop that sums up, and with another one: with `member`, if that is
    given."""
    rank = access.relation.dim(isl.dim_type.out)
    for one in (subscript(access, k) for k in range(rank)):
        summed = any(varies(one, m, domain) for m in chain)
        if summed and (varies(one, member, domain) if member is not None else _moves_with_others(one, chain, domain)):
            return True
    return False


def _moves_with_others(access: Access, chain: tuple[Member, ...], domain: isl.Set) -> bool:
    """Whether an access moves with an index of its statement that is none of the chain's."""
    cell = affine_of(isl.PwMultiAff.from_map(access.relation).get_pw_aff(0))
    if cell is None:
        return False
    own = set()
    for member in chain:
        value = affine_of(value_on(member.schedule, domain.get_space()))
        if value is not None:
            own |= {d for d in range(domain.dim(isl.dim_type.set)) if value.involves_dims(isl.dim_type.in_, d, 1)}
    return any(cell.involves_dims(isl.dim_type.in_, d, 1) for d in range(domain.dim(isl.dim_type.set)) if d not in own)


def panel_order(contraction: Contraction, band: Band, access: Access, domain: isl.Set) -> tuple[int, ...]:
    """The dimensions of an operand's panel, innermost the one along which a thread reads neighbours."""
    rank = access.relation.dim(isl.dim_type.out)
    pair = [band.members[k] for k in (contraction.rows, contraction.columns)]
    along = [m for m in pair if varies(access, m, domain)]
    inner = max(
        (d for d in range(rank) if any(varies(subscript(access, d), m, domain) for m in along)), default=rank - 1
    )
    return (*(d for d in range(rank) if d != inner), inner)


def loads_neighbours(
    program: Program, band: Band, contraction: Contraction, position: int, made: Iterable[Buffer] = ()
) -> bool:
    """Whether an operand has cells for consecutive iterations of a loop next to each other in shared memory, from a
    multiple of 16 bytes on.

    made: buffers that hold operands already
    """
    statement, member = program.statements[contraction.statement], band.members[position]
    value = value_on(member.schedule, statement.domain.get_space())
    for access in contraction.operands:
        function = everywhere(access.relation)
        if function is None or not varies(access, member, statement.domain):
            continue
        home = next((b for b in made if (statement.name, access.ref) in b.accesses), None)
        order = panel_order(contraction, band, access, statement.domain)
        if home is not None:
            order = home.order or tuple(range(len(order)))
        rest = affine_of(isl.PwMultiAff.from_map(function).get_pw_aff(order[-1]).sub(value))
        if rest is not None and not rest.involves_dims(isl.dim_type.in_, 0, rest.dim(isl.dim_type.in_)):
            return True
    return False


def _is_last(target: Access, member: Member, domain: isl.Set) -> bool:
    """Whether a loop moves along the last subscript of the result."""
    rank = target.relation.dim(isl.dim_type.out)
    last = target.relation.reset_tuple_id(isl.dim_type.out).project_out(isl.dim_type.out, 0, rank - 1)
    return varies(replace(target, relation=last), member, domain)


def varies(access: Access, member: Member, domain: isl.Set) -> bool:
    """Whether another iteration of a loop, with all others the same, means another cell.

    math: the loop's value is an index of the statement, and the access function mentions it
    """
    value = affine_of(value_on(member.schedule, domain.get_space()))
    cell = isl.PwMultiAff.from_map(access.relation)
    cells = [affine_of(cell.get_pw_aff(k)) for k in range(cell.dim(isl.dim_type.out))]
    count = domain.dim(isl.dim_type.set)
    used = [d for d in range(count) if value is not None and value.involves_dims(isl.dim_type.in_, d, 1)]
    if len(used) != 1 or any(c is None for c in cells):
        return moves(access.relation, member)
    return any(c.involves_dims(isl.dim_type.in_, used[0], 1) for c in cells if c is not None)


def dimensions_of(members: Iterable[Member], domain: isl.Set) -> tuple[int, ...]:
    """The dimensions of a statement that loops go along."""
    found = [value_on(member.schedule, domain.get_space()) for member in members]
    count = domain.dim(isl.dim_type.set)
    return tuple(k for k in range(count) if any(one.involves_dims(isl.dim_type.in_, k, 1) for one in found))


def is_vector_as_written(program: Program, found: Contraction) -> bool:
    """Whether a C compiler makes vectors of the innermost loop as it was written: one along memory, that does not sum
    up; or around a sum of so few steps that it is unrolled."""
    statement = program.scop.statements[found.statement]
    loop = statement.domain.dim(isl.dim_type.set) - 1
    summing = dimensions_of(found.chain, statement.domain)
    if loop in summing:
        steps = [extent_of(program, member, found.statement) for member in found.chain]
        if not all(steps) or prod(one or 1 for one in steps) > PEELED:
            return False
        loop = next((k for k in range(loop, -1, -1) if k not in summing), loop)
    moved = {step_of(a, loop) for a in statement.accesses}
    return moved <= {0, 1} and 1 in moved


def extent_of(program: Program, member: Member, statement: str, outer: Outer = NOWHERE) -> int | None:
    """How many values a loop has for a statement, where that is a constant; in an iteration of the loops around."""
    domain = program.scop.statements[statement].domain.intersect_params(program.scop.known)
    value = value_on(member.schedule, domain.get_space()).intersect_domain(domain)
    low, high = value.min_val(), value.max_val()
    if low.is_int() and high.is_int():
        return int(high.sub(low).to_python()) + 1
    if not outer.members:
        return None
    instances = isl.UnionSet.from_set(domain)
    each = values(outer.members, instances).reverse().apply_range(values((member,), instances))
    most = greatest_of(isl.Map.from_union_map(each.reverse().apply_range(each)).deltas(), 0)
    return int(most.to_python()) + 1 if most.is_int() else None
