"""Whether a parallel loop is worth the start of its threads: always, never, or from sizes that only a run knows."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10, prod

import islpy as isl

from polyc.analysis.expressions.facts import mentions
from polyc.cost.time import UNKNOWN, UNKNOWN_UNASKED, Rates, all_operations
from polyc.machine import Cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Member, Role, Worth
from polyc.nests.samples import written_cells
from polyc.nests.strides import UNROLLED, step_of, usual_value
from polyc.poly import affine_of, band_width, box_extents, box_volume, names, set_name, sets, value_on
from polyc.records import replace

FETCHED_US = 0.14
"""Until a line is there that another core wrote."""
FROM_AFAR = 2.0
"""How many times longer than its operations a loop takes at least whose data come from memory."""
SEARCHED = 4
"""How many times as much has to be done where a search starts threads as well, and runs through the loops before."""
MOST_FORMS = 4
"""Of an extent: the least of so many values, as from max(0, j - m) to min(j + m, n)."""
MOST_BANDS = 8
"""Parts of a statement's instances of which each is looked at by itself."""
WIDEST_BAND = 4096
"""Values of a loop, from which on it is no narrow band."""
VECTOR_BYTES = 16
"""In which a core does as many operations in vectors as `Rates` says for one by one."""


def worth_of(
    program: Program,
    machine: Cpu,
    at: isl.Set,
    above: Sequence[Member],
    member: Member,
    inside: Sequence[isl.Set] = (),
) -> Worth | None:
    """From which sizes on threads save more than they take to start; None where that is not known.

    math:  with S the largest statement of the loop, as a box: prod over its loops of (max - min + 1), affine in the
           parameters, times the operations of an iteration, against the operations that one core does in the time that
           a parallel region takes: as slowly as data come from memory, or in vectors, where there are some and all
           data fit into the core's share of the last cache: a loop so small takes time only where it runs again and
           again
    at:    the sample sizes, by which the statements of one loop are compared
    above: the loops around it, which have to be loops as they were written
    inside: instances of other statements that its tiles compute
    """
    if machine.cores < 2:
        return None
    guess = UNKNOWN_UNASKED if program.scop.unmarked and not above else UNKNOWN
    work: list[tuple[float, float, isl.Set]] = []
    for piece in (*sets(member.schedule.domain()), *inside):
        statement = program.statements[set_name(piece)]
        instances = statement.domain.intersect(piece)
        count = box_volume(instances.intersect_params(at))
        work.append((count * all_operations(program, statement, guess), count, instances))
    runs = any(w > 0 for w, _, _ in work)
    if not runs:  # at the sample sizes: `if (mode == 2)`
        work = [(all_operations(program, program.statements[set_name(p)], guess), 1.0, p) for _, _, p in work]
    total, count, largest = sum(w for w, _, _ in work), *max(work, key=lambda one: one[0])[1:]
    if not total < float("inf"):
        return None
    fixed = _dimensions(above, largest)
    if fixed is None:
        return None
    extents = box_extents(largest, program.scop.known, fixed, MOST_FORMS)
    if extents is None:
        return None
    sizes = isl.Set.from_basic_set(program.scop.known.simple_hull())  # several cases of sizes are no bands
    extents = _of_bands(largest.intersect_params(sizes), extents, fixed)
    seconds = machine.parallel_region_us * 1e-6 / (1 - 1 / machine.cores)
    cycles = seconds * machine.clock_ghz * 1e9 * (1 if program.scop.search is None else SEARCHED)
    each = total / count
    least = cycles * Rates().operations / FROM_AFAR / each
    apart = prod(largest.get_stride(d).to_python() for d in range(largest.dim(isl.dim_type.set)) if d not in fixed)
    within = _within(largest, at, fixed)
    lanes, data = _vectors(program, largest, at, within) if runs else (0.0, 0.0)
    if lanes > 0:
        first, last = machine.levels[0], machine.levels[-1]
        moved = min(data / within, _moved(program, largest))
        near = cycles / max(each / (Rates().operations * lanes), moved / machine.bytes_per_cycle(first))
        in_cache = machine.capacity(last, machine.cores) * within / data if data else inf
        least = min(near, max(least, in_cache))
    fetched = _fetched(program, above, member, largest, FETCHED_US * machine.clock_ghz * 1e3 * least / cycles)
    least *= apart  # of `i += 4`, extents count each number
    most = [e.intersect_domain(program.scop.bounded).max_val() for e in extents]
    if all(m.is_int() for m in most) and least > prod(m.to_python() for m in most):
        return Worth((), 2)
    constants = prod(int(e.max_val().to_python()) for e in extents if e.is_cst())
    open_ones = tuple(e for e in extents if not e.is_cst())
    turns = _turns(program, member, largest)
    usual = [usual_value(extent, program) for extent in open_ones]
    if usual and None not in usual and prod(one or 0 for one in usual) > least / constants and not (turns or fetched):
        return Worth((), 0)  # whatever calls in the file pass
    return Worth(open_ones, _plain(least / constants), turns, fetched) if open_ones else Worth((), 0)


def _fetched(
    program: Program, above: Sequence[Member], member: Member, instances: isl.Set, least: float
) -> tuple[tuple[isl.PwAff, int], ...]:
    """How many iterations a loop has to have, where each step of a loop inside of it fetches a line that another core
    wrote in the iteration before of the loops around: a column, `A[i][j] -= A[i][k] * s[j]` along i.

    least: how many iterations take as long as a line takes
    """
    dimension = _dimension(replace(member, size=1), instances)
    fixed = _dimensions(above, instances) or set[int]()
    inner = {*range(instances.dim(isl.dim_type.set))} - fixed - {dimension}
    if not above or dimension is None or len(inner) != 1:
        return ()
    (along,), statement = inner, program.statements[set_name(instances)]
    written = {a.array for s in program.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    columns = [
        a
        for a in statement.accesses
        if a.kind is AccessKind.READ and a.exact and a.array in written - program.scop.privatizable
        if step_of(a, dimension) == 0 and step_of(a, along) == 2
    ]
    extent = _extent(program, instances, dimension) if columns else None
    return () if extent is None or extent.is_cst() else ((extent, _plain(least)),)


def _extent(program: Program, instances: isl.Set, dimension: int) -> isl.PwAff | None:
    """How many values a dimension has, affine in the sizes; None where that is not known."""
    others = {*range(instances.dim(isl.dim_type.set))} - {dimension}
    (extent,) = box_extents(instances, program.scop.known, others, MOST_FORMS) or (None,)
    return extent


def _of_bands(instances: isl.Set, extents: list[isl.PwAff], fixed: set[int]) -> list[isl.PwAff]:
    """The extents, with a number for one that is of several narrow bands: `|i - a| <= 2 || |i - b| <= 2`, and no more
    than the width of one that moves along with a loop around, `|j - i| <= w`."""
    found, open_ones = list(extents), [d for d in range(instances.dim(isl.dim_type.set)) if d not in fixed]
    for place, d in enumerate(open_ones):
        width = None if extents[place].is_cst() else band_width(instances, d)
        if width is not None:
            found[place] = extents[place].min(width).coalesce()
    bands = instances.make_disjoint().get_basic_sets()
    for place, d in enumerate(open_ones) if 1 < len(bands) <= MOST_BANDS else ():
        if extents[place].is_cst():
            continue
        widths = [_width(isl.Set.from_basic_set(band), d) for band in bands]
        if None not in widths:
            value = isl.Val.int_from_si(instances.get_ctx(), sum(width for width in widths if width is not None))
            found[place] = isl.PwAff.val_on_domain(extents[place].domain(), value)
    return found


def _width(band: isl.Set, dimension: int) -> int | None:
    """The most values that a dimension has, whatever the sizes, if these are few: `n <= 1 << 28` makes no band."""
    most = band.dim_max(dimension).sub(band.dim_min(dimension)).max_val()
    return int(most.to_python()) + 1 if most.is_int() and most.to_python() < WIDEST_BAND else None


def _turns(program: Program, member: Member, instances: isl.Set) -> tuple[tuple[isl.PwAff, int], ...]:
    """More than one iteration, of a loop in steps of a size: the last stages of a transform have few of them, and as
    much to do as the first ones (`x[i * len + k]`, k < len)."""
    steps = {p.name for p in program.scop.parameters if any(_is_quotient(node) for node in c.walk(p.expr))}
    own = set_name(instances) in names(member.schedule.domain())
    dimension = _dimension(member, instances) if steps and own else None
    if dimension is None:
        return ()
    extent = _extent(program, instances, dimension)
    if extent is None or not any(_involves(extent, name) for name in steps):
        return ()
    return ((extent, 1),)


def _involves(extent: isl.PwAff, name: str) -> bool:
    position = extent.find_dim_by_name(isl.dim_type.param, name)
    return position >= 0 and extent.involves_dims(isl.dim_type.param, position, 1)


def _is_quotient(node: c.Node) -> bool:
    return isinstance(node, c.Binary) and node.op == "/" and bool(mentions(node.right))


def started(program: Program, machine: Cpu, at: isl.Set, above: Sequence[Member], member: Member) -> Member | None:
    """A parallel loop that starts threads where they are worth it; None where they never are."""
    if program.options.threads == "always":
        return member
    worth = worth_of(program, machine, at, above, member)
    if worth is None or worth.least <= 1:
        return member
    return replace(member, worth=worth) if worth.extents and not (above and not holds(worth, at)) else None


def holds(worth: Worth, at: isl.Set) -> bool:
    """Whether threads pay at the sample sizes: in each iteration of a loop around, asking takes as long as hundreds of
    operations."""
    most = [extent.intersect_domain(at).max_val() for extent in worth.extents]
    return not all(m.is_int() for m in most) or prod(m.to_python() for m in most) > worth.least


def with_tiles(program: Program, at: isl.Set, shared: Sequence[Member]) -> Sequence[Member]:
    """Loops that share threads, the first of which asks for more than one tile as well where only a run knows how many
    there are.

    math: a loop over tiles of s iterations has several where its extent is more than s
    at:   the sample sizes, by which the statements of one loop are compared
    """
    worth = shared[0].worth
    if worth is None or any(member.role is not Role.TILE for member in shared):
        return shared
    tiles: list[tuple[isl.PwAff, int]] = []
    for member in shared:
        pieces = [program.statements[set_name(p)].domain.intersect(p) for p in sets(member.schedule.domain())]
        largest = max(pieces, key=lambda piece: box_volume(piece.intersect_params(at)))
        dimension = _dimension(replace(member, size=1), largest)
        extent = None if dimension is None else _extent(program, largest, dimension)
        if extent is None or dimension is None:
            return shared
        others = {*range(largest.dim(isl.dim_type.set))} - {dimension}
        (extent,) = _of_bands(largest.intersect_params(program.scop.known), [extent], others)
        if len(shared) == 1 and _is_at_most(extent, member.size):
            return [replace(member, parallel=False, worth=None)]
        if extent.is_cst():
            return shared
        tiles.append((extent, member.size))
    largest_tile = 1.0  # `n * n > 6000` says that n > 64
    for one in worth.extents:
        largest_tile *= next((size for extent, size in tiles if extent.plain_is_equal(one)), inf)
    asked_anyway = any(extent.plain_is_equal(tiles[0][0]) and n >= tiles[0][1] for extent, n in worth.fetched)
    if largest_tile <= worth.least or (asked_anyway and len(tiles) == 1):
        return shared
    return [replace(shared[0], worth=replace(worth, tiles=tuple(tiles))), *shared[1:]]


def _is_at_most(extent: isl.PwAff, size: int) -> bool:
    """Whether a loop over tiles of a size has one of them, whatever the sizes."""
    most = extent.max_val()
    return bool(most.is_int() and most.to_python() <= size)


def _within(instances: isl.Set, at: isl.Set, fixed: set[int]) -> float:
    """How many instances the loops have without those of which the dimensions are fixed."""
    inner = instances.intersect_params(at)
    for d in sorted(fixed, reverse=True):
        inner = inner.project_out(isl.dim_type.set, d, 1)
    return box_volume(inner)


def _vectors(program: Program, instances: isl.Set, at: isl.Set, within: float) -> tuple[float, float]:
    """How many times as many operations the vectors of a statement do in a cycle, 0 where it has none as far as can be
    seen, and the bytes of all elements that it touches.

    within: how many instances a run of the loop has
    """
    statement = program.statements[set_name(instances)]
    if any(isinstance(node, c.Call) for node in c.walk(statement.body)) or not all(a.exact for a in statement.accesses):
        return 0.0, 0.0
    there = instances.intersect_params(at)
    cells: dict[str, float] = {}
    for access in statement.accesses:
        if access.relation.dim(isl.dim_type.out):
            touched = access.relation.intersect_domain(there).range()
            if box_volume(touched) == float("inf"):  # of `a[now][x]` the row that is touched, whichever it is
                touched = touched.intersect_params(isl.Set.from_point(touched.params().sample_point()))
            cells[access.array] = max(cells.get(access.array, 0.0), box_volume(touched))
    written = written_cells(program, there)
    private = all(a.kind is AccessKind.READ or a.array in program.scop.privatizable for a in statement.accesses)
    if written < within and written * UNROLLED < box_volume(there) and not private:
        return 0.0, 0.0  # a sum, of more than compilers unroll
    sizes = {a.array: max(1, program.scop.arrays[a.array].element.size_bytes) for a in statement.accesses}
    return max(1.0, VECTOR_BYTES / max(sizes.values())), sum(cells[name] * sizes[name] for name in cells)


def _moved(program: Program, instances: isl.Set) -> float:
    """The bytes that one instance of a statement loads and stores."""
    accesses = program.statements[set_name(instances)].accesses
    arrays = [program.scop.arrays[a.array] for a in accesses if a.relation.dim(isl.dim_type.out)]
    return float(sum(max(1, array.element.size_bytes) for array in arrays))


def _dimensions(above: Sequence[Member], instances: isl.Set) -> set[int] | None:
    """The dimensions of a statement whose loops stand around; None where these are others than those written."""
    found = {_dimension(member, instances) for member in above}
    return None if None in found else {one for one in found if one is not None}


def _dimension(member: Member, instances: isl.Set) -> int | None:
    """The dimension of a statement that a loop runs through; None where that is not one of those written."""
    value = affine_of(value_on(member.schedule, instances.get_space()))
    if value is None or member.size != 1:
        return None
    used = [d for d in range(instances.dim(isl.dim_type.set)) if value.involves_dims(isl.dim_type.in_, d, 1)]
    return used[0] if len(used) == 1 else None


def _plain(count: float) -> int:
    """With two digits, as people write numbers that are about right."""
    if count < 1:
        return 0
    unit = int(10 ** max(0, int(log10(count)) - 1))
    return round(count / unit) * unit
