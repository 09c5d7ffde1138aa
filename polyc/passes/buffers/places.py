"""A private scalar or array with a place for each iteration of a loop (storage `spread`)."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.extents import on_parameters
from polyc.model.program import Buffer, Program
from polyc.model.tree import Member
from polyc.nests.naming import fresh_buffer
from polyc.poly import maps, names, value_on
from polyc.records import replace


def place_for_each(
    program: Program, array: str, instances: isl.UnionSet, member: Member, depth: int, tile: int, size: int
) -> tuple[Program, str]:
    """The program with a place of a scalar, or of each element of an array, for each iteration of a loop in a tile, and
    the buffer's key.

    depth: loops around the buffer's declaration; tile: which of them is over the tiles of `size` iterations
    source: scalar expansion (Kuck et al., POPL 1981), and array expansion (Feautrier, ICS 1988), in strips
    """
    name = fresh_buffer(program, f"{program.scop.arrays[array].c_name}_of")
    refs = frozenset((s, a.ref) for s in names(instances) for a in program.statements[s].accesses if a.array == array)
    context = instances.get_ctx()
    shape = program.scop.arrays[array]
    own = isl.Id.read_from_str(context, array)
    places = isl.UnionMap.empty(instances.get_space())
    for piece in maps(instances.identity()):
        space = piece.get_space().domain()
        if any(s == space.get_tuple_name(isl.dim_type.set) for s, _ in refs):
            value = isl.Map.from_pw_aff(value_on(member.schedule, space)).set_tuple_id(isl.dim_type.out, own)
            places = places.union(isl.UnionMap.from_map(value))
    outer = instances.get_space().params()
    around, cell = outer.add_unnamed_tuple_ui(depth), outer.add_unnamed_tuple_ui(shape.rank + 1)
    last = isl.Aff.var_on_domain(isl.LocalSpace.from_space(around), isl.dim_type.set, tile)
    corner = isl.MultiAff.zero(around.map_from_domain_and_range(cell)).set_at(shape.rank, last)
    corner = corner.set_tuple_id(isl.dim_type.out, own)
    extent = isl.PwAff.val_on_domain(isl.Set.universe(outer), isl.Val.int_from_si(context, size))
    extents = (*(on_parameters(e) for e in shape.extents if e is not None), extent)
    buffer = Buffer(name, name, array, corner, depth, extents, "spread", refs, (), (), 0, places)
    return replace(program, buffers=program.buffers | {name: buffer}), name
