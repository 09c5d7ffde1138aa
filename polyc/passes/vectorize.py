"""Bring the loop that runs along consecutive memory innermost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import (
    Band,
    Domain,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    rewrite,
    walk,
)
from polyc.poly import set_name, sets
from polyc.records import dataclass, replace

STAGE = "vectorize"
GATHERED = 3
"""No loop is better for it than another."""
SHUFFLED = 4
"""How many elements lie apart, at most, of what is loaded as whole vectors and shuffled."""
FAR = 1000
"""Elements between neighbours of which each has a line of its own."""
UNROLLED = 32
"""Iterations up to which inner loops with constant bounds are left to be unrolled."""


def sink_vector_loops(program: Program) -> Program:
    """Move one coincident loop of each innermost permutable band below everything else, where memory likes it.

    rewrite:  for w { S2; for kh for kw S3; S4 }  ->  for w S2;  for kh for kw for w S3;  for w S4
    math:     a coincident member of a band has distance 0 for every dependence that its band does not leave to
              outer bands, so it may be the last comparison instead of an early one
    requires: no private scalar lives across what the loop would be distributed over
    source:   the intra-tile distribution of Zhao et al. 2024, Section 5.1 ([70] there)
    """

    program = turned_buffers(program)
    return replace(program, tree=Domain(program.tree.domain, _all_sunk(program.tree.child, program)))


def _all_sunk(node: Node, program: Program) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Band) and all(m.role is not Role.TILE for m in node.members) and not _in_registers(node):
            return _sunk(node, program)
        return node

    return rewrite(node, change)


def turned_buffers(program: Program) -> Program:
    """Store the buffers of a tile with another dimension innermost, where its loops like that better.

    rewrite:  double q_tile[8][1000];  for i for j q_tile[i][j] = f(u[j][i], q_tile[i][j - 1]);
              -> double q_tile[1000][8];  for j for i q_tile[j][i] = f(u[j][i], q_tile[j - 1][i]);
    requires: nothing is copied into or out of them
    ensures:  the same values: a buffer's layout is a map on its index space
    """
    for mark in [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "allocate"]:
        mine = [program.buffers[name] for name in mark.names]
        if not mine or any(_is_fixed(b, program) for b in mine) or _in_registers_below(mark.child):
            continue
        best = _liked(mark.child, program), program
        for last in range(min(len(b.extents) for b in mine) - 1):
            orders = {b.key: (*(d for d in range(len(b.extents)) if d != last), last) for b in mine}
            turned = {key: replace(program.buffers[key], order=order) for key, order in orders.items()}
            tried = replace(program, buffers=program.buffers | turned)
            score = _liked(mark.child, tried)
            if score > best[0]:
                best = score, tried
        if best[1] is not program:
            arrays = ", ".join(b.name for b in mine)
            below = tuple(sorted({name for b in mine for name, _ in b.accesses}))
            verb = "lie" if len(mine) > 1 else "lies"
            message = f"{arrays} {verb} in the tile with another dimension innermost: vector loops run along it"
            program = best[1].remark("turned", STAGE, message, below)
    return program


def _is_fixed(buffer: Buffer, program: Program) -> bool:
    """Whether a buffer keeps its layout: it has one, has one dimension, sizes that are not known, or copies."""
    constant = all(extent.is_cst() for extent in buffer.extents)
    copied = any(name in program.copies for name, _ in buffer.accesses)
    return buffer.storage != "tile" or bool(buffer.order) or len(buffer.extents) < 2 or not constant or copied


def _in_registers_below(node: Node) -> bool:
    return any(isinstance(n, Band) and _in_registers(n) for n in walk(node))


def _liked(node: Node, program: Program) -> float:
    """How well the vector loops of the statements with the most loops like the memory, once they are sunk."""
    found: list[tuple[int, float]] = []
    for band in walk(_all_sunk(node, program)):
        if isinstance(band, Band) and not any(isinstance(n, Band) for n in walk(band.child)):
            member = band.members[-1]
            depth = max(len(program.statements[set_name(s)].loops) for s in sets(member.schedule.domain()))
            found.append((depth, max(0.0, gain_of(member, program)) if member.coincident else 0.0))
    most = max((depth for depth, _ in found), default=0)
    return sum(gain for depth, gain in found if depth == most)


def _in_registers(band: Band) -> bool:
    """Whether the band belongs to a register tile, whose loops are in their order."""
    return any(m.role is Role.REGISTER for n in walk(band) if isinstance(n, Band) for m in n.members)


@dataclass(frozen=True, slots=True)
class _Strides:
    """How the accesses below move when one loop makes a step."""

    consecutive: int
    still: int
    far: int

    @property
    def gain(self) -> float:
        return 2.0 * self.consecutive + 0.5 * self.still - 3.0 * self.far


def _sunk(band: Band, program: Program) -> Node:
    loops_below = _loops(band.child)
    candidates = [m for m in band.members if m.coincident]
    if not candidates:
        return band
    strides = {id(m): _strides(m, program) for m in (*band.members, *(m for b in loops_below for m in b.members))}
    best = max(candidates, key=lambda m: strides[id(m)].gain)
    if strides[id(best)].gain <= 0:
        return band
    innermost = [n.members[-1] for n in (*loops_below, band) if not _loops(n.child)]
    if all(m is best for m in innermost):
        return band
    # Against what is innermost now: a loop that is itself coincident and consecutive stays where it is.
    if innermost and all(m.coincident and strides[id(m)].gain >= strides[id(best)].gain for m in innermost):
        return band
    if private_across(band, program) if loops_below else private_between(band, program):
        return band
    if loops_below and unrolled_below(band, program):
        return band
    if len(band.members) == 1 and band.members[0] is best and not loops_below:
        return band
    below = sink(best, band.child)
    rest = tuple(m for m in band.members if m is not best)
    return replace(band, members=rest, child=below) if rest else below


def _loops(node: Node) -> list[Band]:
    """The bands of a subtree, but for those of which each iteration is printed by itself."""
    return [n for n in walk(node) if isinstance(n, Band) and n.members[-1].role is not Role.WRITTEN_OUT]


def unrolled_below(band: Band, program: Program) -> bool:
    """Whether the loops below have so few constant iterations that the C compiler unrolls them.

    A 3 x 3 window stays inside: its sum then lives in a register, while each pass over a row would load and store it.
    """
    total = 1
    for inner in (n for n in walk(band.child) if isinstance(n, Band)):
        for member in inner.members:
            count = iterations(member, program)
            if count is None:
                return False
            total *= max(count, 1)
    return total <= UNROLLED and band.members[-1].coincident


def iterations(member: Member, program: Program) -> int | None:
    """The number of iterations of a loop whose bounds are constants."""
    values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.scop.domain).range()
    if values.is_empty():
        return 0
    one = isl.Set.from_union_set(values)
    low, high = one.dim_min_val(0), one.dim_max_val(0)
    if not (low.is_int() and high.is_int()):
        return None
    return int(high.to_python() - low.to_python() + 1)


def sink(member: Member, node: Node) -> Node:
    """The subtree with the loop below all others."""
    match node:
        case Leaf():
            return Band((member,), True, node)
        case Band():
            return replace(node, child=sink(member, node.child))
        case Sequence(children=steps) if any(isinstance(n, Band) for s in steps for n in walk(s.child)):
            return Sequence(tuple(Filter(s.filter, sink(_restricted(member, s.filter), s.child)) for s in steps))
        case _:
            return Band((member,), True, node)


def _restricted(member: Member, instances: isl.UnionSet) -> Member:
    return replace(member, schedule=member.schedule.intersect_domain(instances))


def private_across(band: Band, program: Program) -> bool:
    """Whether a private array carries a value between two statements or inner iterations below the band."""
    below = {set_name(s) for s in sets(band.members[0].schedule.domain())}
    for array in program.scop.privatizable:
        for name in below:
            if any(a.array == array for a in program.statements[name].accesses):
                return True
    return False


def private_between(band: Band, program: Program) -> bool:
    """Whether a private array carries a value between two iterations of a band's loops."""
    domain = band.members[0].schedule.domain()
    for array in program.scop.privatizable:
        flow = program.dependences.flow_by_array.get(array)
        inside = None if flow is None else flow.intersect_domain(domain).intersect_range(domain)
        if inside is not None and not inside.is_subset(within_iteration(inside, band.members)):
            return True
    return False


def gain_of(member: Member, program: Program) -> float:
    """How well the accesses below like the loop innermost, or on neighbouring threads: the more, the better."""
    return _strides(member, program).gain


def in_rows(member: Member, program: Program) -> bool:
    """Whether the loop makes vectors of what is stored, though what is loaded lies some elements apart in its rows.

    Images of half the size read every second element: compilers load whole vectors, and shuffle them.
    """
    pieces, seen = member.schedule.get_pw_aff_list(), False
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        statement, position = program.statements.get(set_name(piece.domain())), dimension_of(piece)
        if statement is None or position is None:
            return False
        for access in statement.accesses:
            if access.loose or not access.exact or not _stays_in_row(access, position):
                return False
            stored = access.kind is not AccessKind.READ
            if stored and step_of(access, position, _last_stored(program, statement.name, access)) != 1:
                return False
            seen = seen or stored
    return seen


def _stays_in_row(access: Access, position: int) -> bool:
    """Whether a dimension of the statement moves an access in its last subscript only, by a few elements."""
    return distance(access, position) <= SHUFFLED


def distance(access: Access, position: int) -> int:
    """How many elements lie between those that neighbours along a dimension of a statement access; FAR where that is no
    row of the array's, or not known."""
    if access.loose or not access.exact:
        return FAR
    most = 0
    for d, rank, step in _moved(access, position):
        if d != rank - 1:
            return FAR
        most = max(most, abs(step.to_python()) if step.is_int() else 1)
    return most


def _moved(access: Access, position: int) -> Iterator[tuple[int, int, isl.Val]]:
    """Each subscript that moves with a dimension of the statement: its place, how many there are, its coefficient."""
    for multi in _functions(access):
        rank = multi.dim(isl.dim_type.out)
        for d in range(rank):
            value = multi.get_aff(d)
            if value.involves_dims(isl.dim_type.in_, position, 1):
                yield d, rank, value.get_coefficient_val(isl.dim_type.in_, position)


def subscript_from_right(member: Member, program: Program) -> float:
    """In which subscript of what the statements below write the loop stands, on the average: 0 for the last one."""
    found: list[int] = []
    pieces = member.schedule.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        statement, position = program.statements.get(set_name(piece.domain())), dimension_of(piece)
        if statement is None or position is None:
            continue
        for access in statement.accesses:
            if access.exact and access.kind is not AccessKind.READ:
                found += _subscripts(access, position)
    return sum(found) / len(found) if found else 0.0


def _subscripts(access: Access, position: int) -> list[int]:
    """The subscripts, counted from the right, that depend on a dimension of the statement."""
    relation = isl.PwMultiAff.from_map(access.relation)
    pieces: list[isl.MultiAff] = []
    relation.foreach_piece(lambda _domain, multi: pieces.append(multi))
    rank = relation.dim(isl.dim_type.out)
    return [
        rank - 1 - d
        for multi in pieces
        for d in range(rank)
        if multi.get_aff(d).involves_dims(isl.dim_type.in_, position, 1)
    ]


def _strides(member: Member, program: Program) -> _Strides:
    consecutive = still = far = 0
    pieces = member.schedule.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        statement = program.statements.get(set_name(piece.domain()))
        if statement is None:
            continue
        position = dimension_of(piece)
        if position is None:
            continue
        for access in statement.accesses:
            if access.kind is AccessKind.READ and any(
                other.ref == access.ref and other.kind is not AccessKind.READ for other in statement.accesses
            ):
                continue
            step = step_of(access, position, _last_stored(program, statement.name, access))
            consecutive += step == 1
            still += step == 0
            far += step == 2
    return _Strides(consecutive, still, far)


def dimension_of(piece: isl.PwAff) -> int | None:
    """The statement's dimension that the schedule follows with coefficient 1, if it is just one."""
    if piece.n_piece() != 1:
        return None
    affs: list[isl.Aff] = []
    piece.foreach_piece(lambda _domain, aff: affs.append(aff))
    aff = affs[0]
    if aff.dim(isl.dim_type.div):
        return None  # a loop over cells or blocks
    moved = [d for d in range(aff.dim(isl.dim_type.in_)) if aff.involves_dims(isl.dim_type.in_, d, 1)]
    return moved[0] if len(moved) == 1 else None


def _last_stored(program: Program, statement: str, access: Access) -> int | None:
    """The subscript along which neighbours lie together, where a buffer has them in another order."""
    for buffer in program.buffers.values():
        if buffer.order and (statement, access.ref) in buffer.accesses:
            return buffer.order[-1]
    return None


@lru_cache(maxsize=4096)
def _functions(access: Access) -> tuple[isl.MultiAff, ...]:
    """The pieces of an exact access: each loop around it asks for them."""
    pieces: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(access.relation).foreach_piece(lambda _domain, multi: pieces.append(multi))
    return tuple(pieces)


@lru_cache(maxsize=4096)
def step_of(access: Access, position: int, last: int | None = None) -> int:
    """0: the cell stays, 1: it moves to the next one in memory, 2: it moves further; GATHERED: as the data say.

    `last`: the subscript along which neighbours lie together, if that is not the last one.
    """
    if access.loose:
        return GATHERED
    if not access.exact:
        return 2
    worst = 0
    for d, rank, coefficient in _moved(access, position):
        if (
            d == (rank - 1 if last is None else last)
            and abs(coefficient.to_python() if coefficient.is_int() else 2) <= 1
        ):
            worst = max(worst, 1)
        else:
            worst = 2
    return worst
