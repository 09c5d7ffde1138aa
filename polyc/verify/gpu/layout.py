"""How panels lie in shared memory, and which of their cells a thread may copy 16 bytes at once.

A buffer with an `order` is stored with its dimensions in another order, and with a row that has some elements more.
That changes no value if the order is one of its dimensions, each once, and a row has at least what it needs.

In a loop with two places for its panels a copy of single elements in a loop of constant length is printed as one copy
of 16 bytes (`codegen/gpu/device/stages.py`). With w elements in these, x a cell, e the last dimension, and { o -> x }
what is copied in each tile, that is right if
math:   (1) the loop runs the w cells that lie together in the array: it counts x_e mod w, and no other loop below the
            tile tells cells of one floor(x_e / w) apart;
        (2) all w are copied, or none: { o -> x } has either all cells of one floor(x_e / w) or none, and so have those
            that hold no zero;
        (3) they lie together in the panel, too: e is innermost there; or not, and then they are loaded 16 bytes at
            once, and stored one by one;
        (4) and begin at multiples of 16 bytes: rows of the array and the panel's corners have multiples of w elements,
            and so have rows of the panel where e is innermost there.

A vector loop over registers is printed as one store of 16 bytes to an array in memory (`codegen/gpu/registers.py`). It
has w iterations 0 <= v < w (`order/lanes.py`), which depend on each other in nothing (`order/races.py`). With
{ o, v -> x } the cells that it stores, that is right if
math:   (5) v = x_e mod w, and floor(x_e / w) and all other subscripts are functions of o;
        (6) rows of the array begin at multiples of w elements;
        (7) what lies outside of the statement's domain, and is left out there, is all w of them or none.
Where (6) does not hold at all sizes, the text has a condition for it, and stores one by one otherwise: (5) and (7) are
checked for the sizes at which it holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.expand import buffer_of
from polyc.analysis.order import Run, runs
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Member, Role, walk

BYTES = 16
"""Of one copy, or one store."""


def layout_faults(program: Program) -> Iterator[Fault]:
    """Buffers that are stored in a way in which cells meet, and copies of 16 bytes that are not whole, or not aligned.

    program: with what lies outside of the statements' domains
    """
    good = True
    for buffer in program.buffers.values():
        rank = program.scop.arrays[buffer.array].rank
        if buffer.pad < 0 or (buffer.order and sorted(buffer.order) != list(range(rank))):
            good = False
            yield Fault("layout", f"{buffer.name} is stored in a way in which several cells share a place", "")
    ahead = any(isinstance(n, Band) and any(m.stages > 1 for m in n.members) for n in walk(program.tree.child))
    for run in runs(program.tree) if good and program.options.gpu else ():
        last = run.path.steps[-1] if run.path.steps else None
        if not isinstance(last, Member) or last.role is not Role.REGISTER:
            continue
        if last.vector:
            yield from _store_faults(program, run, last)
        elif ahead and last.digit is None and _is_ahead(run):
            yield from _vector_faults(program, run, last)


def _is_ahead(run: Run) -> bool:
    """Whether the leaf is in a loop with several places for its panels."""
    return any(isinstance(step, Member) and step.stages > 1 for step in run.path.steps)


def _vector_faults(program: Program, run: Run, last: Member) -> Iterator[Fault]:
    statement = program.statements[run.statement]
    if run.path.extension is None:
        return
    if run.statement not in program.copies:
        yield Fault("layout", f"{run.statement} computes what it stores, and is printed as a copy", "")
        return
    (write,) = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    buffer = buffer_of(program, run, write)
    if buffer is None or not buffer.order:
        return
    array = program.scop.arrays[buffer.array]
    width, left = divmod(BYTES, array.element.size_bytes or BYTES)
    relation = run.instances.unwrap()
    found = [
        (left == 0 and width > 1, "elements do not fill 16 bytes"),
        (_counts_neighbours(run, last, relation, width), "its loop does not run neighbours"),
        (_is_whole(relation, width), "not all of the cells are copied"),
        (_is_whole(isl.Map.from_range(statement.domain), width), "not all of the cells are in the array"),
        (_is_aligned(program, buffer, relation, width), "it does not begin at a multiple of 16 bytes"),
    ]
    for right, what in found:
        if not right:
            yield Fault("layout", f"{run.statement} cannot copy 16 bytes at once: {what}", "")
            return


def _store_faults(program: Program, run: Run, last: Member) -> Iterator[Fault]:
    """Where a vector loop over registers is no store of 16 bytes."""
    written = [a for a in program.statements[run.statement].accesses if a.kind is not AccessKind.READ]
    sure = len(written) == 1 and written[0].kind is AccessKind.WRITE and written[0].exact
    if not sure or buffer_of(program, run, written[0]) is not None:
        yield Fault("layout", f"{run.statement} stores 16 bytes at once, and may not write one cell in memory", "")
        return
    array = program.scop.arrays[written[0].array]
    aligned = array.aligned(last.lanes, program.scop.known)
    cells = run.contraction.apply_range(written[0].relation).intersect_domain(run.instances).intersect_params(aligned)
    cells = cells.reset_tuple_id(isl.dim_type.out)
    place = isl.Map.read_from_str(cells.get_ctx(), _place_text(array.rank, last.lanes))
    outer = run.prefix(sum(isinstance(step, Member) for step in run.path.steps) - 1).intersect_domain(run.instances)
    block = outer.reverse().apply_range(cells)
    domain = program.statements[run.statement].domain
    inside = outer.reverse().apply_range(cells.intersect_domain(domain.apply(run.contraction.reverse())))
    kind = program.padded.get(run.statement, "guarded")
    found = [
        (last.lanes * array.element.size_bytes == BYTES, "its loop does not fill 16 bytes"),
        (cells.apply_range(place).is_subset(run.columns[-1]), "its loop does not run neighbours"),
        (_is_one_block(block, last.lanes), "its cells do not lie together"),
        (not aligned.is_empty(), "rows do not begin at multiples of 16 bytes"),
        (kind == "guarded" and _is_whole(inside, last.lanes), "a part of it lies outside of the domain"),
    ]
    for right, what in found:
        if not right:
            yield Fault("layout", f"{run.statement} cannot store 16 bytes at once: {what}", "")
            return


def _place_text(rank: int, width: int) -> str:
    """`{ [x] -> [x_e mod w] }`."""
    return f"{{ [{', '.join(f'x{d}' for d in range(rank))}] -> [x{rank - 1} mod {width}] }}"


def _is_one_block(block: isl.Map, width: int) -> bool:
    """Whether `{ o -> x }` stays in one block of the last dimension for each o."""
    rank = block.dim(isl.dim_type.out)
    names = [f"x{d}" for d in range(rank)]
    first = isl.Map.read_from_str(
        block.get_ctx(), f"{{ [{', '.join(names)}] -> [{', '.join([*names[:-1], f'floor({names[-1]}/{width})'])}] }}"
    )
    return bool(block.apply_range(first).is_single_valued())


def _block(context: isl.Context, rank: int, width: int) -> isl.Map:
    """`{ [x] -> [y] : x and y agree but for their place in one block of the last dimension }`."""
    names = [f"x{d}" for d in range(rank)]
    text = f"{{ [{', '.join(names)}] -> [{', '.join([*names[:-1], 'y'])}] : "
    return isl.Map.read_from_str(context, f"{text}floor({names[-1]}/{width}) = floor(y/{width}) }}")


def _is_whole(relation: isl.Map, width: int) -> bool:
    """Whether what `{ o -> x }` has of a block it has all of."""
    plain = relation.reset_tuple_id(isl.dim_type.out)
    grown = plain.apply_range(_block(plain.get_ctx(), plain.dim(isl.dim_type.out), width))
    return bool(grown.is_subset(plain))


def _counts_neighbours(run: Run, last: Member, relation: isl.Map, width: int) -> bool:
    """Whether the last loop counts the place in a block, and the others below the tile the block."""
    cells = relation.range()
    rank = cells.dim(isl.dim_type.set)
    block = _block(cells.get_ctx(), rank, width)
    place = isl.Map.read_from_str(cells.get_ctx(), _place_text(rank, width))
    members = [step for step in run.path.steps if isinstance(step, Member)][run.path.depth_of_extension :]
    for member in members:
        values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(isl.UnionSet.from_set(cells))
        if values.is_empty():
            return False
        value = isl.Map.from_union_map(values).reset_tuple_id(isl.dim_type.in_)
        if member is last:
            if not value.is_equal(place.intersect_domain(cells.reset_tuple_id())):
                return False
        elif not block.apply_range(value).intersect_domain(cells.reset_tuple_id()).is_single_valued():
            return False
    return True


def _is_aligned(program: Program, buffer: Buffer, relation: isl.Map, width: int) -> bool:
    """Whether rows of the array and of the panel, and corners, are multiples of 16 bytes."""
    array = program.scop.arrays[buffer.array]
    last = array.rank - 1
    most, least = buffer.extents[last].max_val(), buffer.extents[last].min_val()
    pad = buffer.pad if buffer.order[-1] == last else 0
    if not most.is_int() or not most.eq(least) or (most.to_python() + pad) % width:
        return False
    if not program.scop.known.is_subset(array.aligned(width, program.scop.known)):
        return False
    assert buffer.corner is not None
    value = isl.Val.int_from_si(relation.get_ctx(), width)
    corner = isl.PwAff.from_aff(buffer.corner.get_aff(last)).mod_val(value)
    return bool(relation.domain().reset_tuple_id().is_subset(corner.zero_set()))
