"""The accesses of a transformed program, instance by instance, with its buffers as arrays of their own."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.order import Run, order_map, runs
from polyc.flow import Accesses
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.poly import empty_map, in_name, maps
from polyc.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """What the tree runs. An instance is `S[i]`, or `[[o] -> S[i]]` below an extension node."""

    runs: tuple[Run, ...]
    order: isl.UnionMap
    accesses: Accesses
    contraction: isl.UnionMap
    """`{ instance -> S[i] }`."""
    per_run: tuple[tuple[Run, tuple[tuple[Access, isl.Map], ...]], ...]
    """Each run with its accesses, `instance -> cell`; none where somebody else put this together."""

    @property
    def listed(self) -> bool:
        """Whether `per_run` has all that runs: what looks there alone shows nothing otherwise."""
        return len(self.per_run) == len(self.runs)


def expand(program: Program) -> Expanded:
    """Compute the expanded accesses of the program's current tree."""
    found = runs(program.tree)
    start = empty_map(program.scop.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    contraction = start
    per_run: list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]] = []
    for run in found:
        contraction = contraction.union(isl.UnionMap.from_map(run.contraction))
        one: list[tuple[Access, isl.Map]] = []
        for access in program.statements[run.statement].accesses:
            relation = run.contraction.apply_range(access.relation)
            buffer = buffer_of(program, run, access)
            if buffer is not None:
                if buffer.places is not None:
                    relation = run.contraction.apply_range(in_places(buffer, run.statement, access.relation))
                relation = through_buffer(relation, run, buffer)
            by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(relation))
            one.append((access, relation))
        per_run.append((run, tuple(one)))
    accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
    return Expanded(found, order_map(found), accesses, contraction, tuple(per_run))


def buffer_of(program: Program, run: Run, access: Access) -> Buffer | None:
    """The buffer that an access uses at this leaf."""
    return buffer_for(program, run, access.array, access.ref)


def buffer_for(program: Program, run: Run, array: str, ref: str) -> Buffer | None:
    """The buffer that a reference uses at this leaf: declared by a mark above it."""
    for mark in reversed(run.path.marks):
        if mark.kind != "allocate":
            continue
        for name in mark.names:
            buffer = program.buffers[name]
            # A private copy has the array's name in C, which it hides from every access below.
            hides = buffer.storage == "private"
            if buffer.array == array and (hides or (run.statement, ref) in buffer.accesses):
                return buffer
    return None


def through_buffer(relation: isl.Map, run: Run, buffer: Buffer) -> isl.Map:
    """`instance -> A[x]` as `instance -> buffer[tile, x]`: a tile has storage of its own, and loses it at its end."""
    name = isl.Id.read_from_str(relation.get_ctx(), buffer.key)
    return run.in_tile(relation, buffer.depth).flatten_range().set_tuple_id(isl.dim_type.out, name)


def in_places(buffer: Buffer, statement: str, relation: isl.Map) -> isl.Map:
    """`S[i] -> t[x]` as `S[i] -> t[x, v]`, for a buffer with a place for each iteration of a loop; none for a statement
    that has no place."""
    assert buffer.places is not None
    own = isl.Id.read_from_str(relation.get_ctx(), buffer.array)
    found = next((m for m in maps(buffer.places) if in_name(m) == statement), None)
    if found is None:  # `wellformed.py` tells of it
        found = relation.subtract(relation).insert_dims(isl.dim_type.out, 0, 1)
        return found.set_tuple_id(isl.dim_type.out, own)
    return relation.flat_range_product(found).set_tuple_id(isl.dim_type.out, own)


def place_in_buffer(buffer: Buffer) -> isl.Map:
    """`{ buffer[o, x] -> buffer[x - corner(o)] }`: where in the buffer a tile's cell lies."""
    moved = shift(buffer)
    return moved.flatten_domain().set_tuple_id(isl.dim_type.in_, moved.get_tuple_id(isl.dim_type.out))


def shift(buffer: Buffer) -> isl.Map:
    """`{ [[o] -> A[x]] -> buffer[x - corner(o)] }`."""
    assert buffer.corner is not None
    corner = isl.Map.from_multi_aff(buffer.corner)
    # { o -> A[l] } and { o -> A[x] }: the difference of the two, for each x.
    array = corner.get_space().range()
    everything = isl.Map.from_domain_and_range(isl.Set.universe(corner.get_space().domain()), isl.Set.universe(array))
    to_tile, to_cell = everything.domain_map(), everything.range_map()
    difference = to_cell.sum(to_tile.apply_range(corner).neg())
    return difference.set_tuple_id(isl.dim_type.out, isl.Id.read_from_str(corner.get_ctx(), buffer.key))
