"""How much data a tile of any size touches: bounding boxes from the access relations, linear in the tile's sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, reduce
from math import inf, prod

import islpy as isl

from polyc.cost.time import DIVIDED, divisions, multiply_adds, operations
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Member
from polyc.nests.nest import Outer, values
from polyc.nests.samples import middle_tile
from polyc.poly import box_volume, greatest_of, in_name, least_of, maps, multi_affs_of, names
from polyc.records import dataclass, field, replace

UNBOUNDED = 1e6
"""Taken for the extent of what has no bound at the typical sizes."""
TABLE = 4096.0
"""Taken for what data choose from in such a dimension."""
STEP = 32
"""Two tiles that differ by so much along one loop tell how its boxes grow."""


FEWEST = 16
"""Iterations of common loops below which they leave threads too little to share."""
FULL = 0.5
"""The share of the second cache that what an iteration of them touches may take."""


def stays_in_caches(
    program: Program, members: tuple[Member, ...], nests: Iterable[isl.UnionSet], sizes: isl.Set
) -> bool:
    """Whether common loops of some nests have iterations enough at some sizes, and one of these touches no more than
    the caches keep."""
    every = list(nests)
    ran = values(members, reduce(isl.UnionSet.union, every)).range()
    common = isl.Set.from_union_set(ran).intersect_params(sizes)
    if common.is_empty() or box_volume(common.project_out_all_params()) < FEWEST:
        return False
    iteration = isl.Set.from_point(common.sample_point())
    touched: dict[str, list[isl.Set]] = {}
    for instances in every:
        for piece in maps(values(members, instances)):
            here = piece.intersect_range(iteration).domain()
            for access in program.statements[in_name(piece)].accesses:
                if access.relation.dim(isl.dim_type.out):
                    cells = access.relation.intersect_domain(here).intersect_params(sizes).range()
                    touched.setdefault(access.array, []).append(cells.project_out_all_params())
    size = 0.0
    for array, cells_of in touched.items():
        size += box_volume(reduce(isl.Set.union, cells_of)) * program.scop.arrays[array].element.size_bytes
    levels = load_cpu(program.options.machine).levels
    return size <= FULL * levels[min(1, len(levels) - 1)].bytes


@dataclass(frozen=True, slots=True)
class Box:
    """The extents of a bounding box, as functions of the tile's sizes."""

    base: tuple[float, ...]
    """Of one point of the tile."""
    slopes: tuple[tuple[float, ...], ...]
    """For each loop of the tile, how much each extent grows with it."""
    most: tuple[float, ...]
    """Of the whole nest."""
    known: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What was asked: the tiles of all groups that a nest is tried in come from few sizes."""
    _growing: list[tuple[float, float, tuple[tuple[int, float], ...]]] = field(
        default_factory=list, init=False, compare=False, repr=False
    )
    """Each extent of one point and of the whole nest, the loops that it grows with, and the slopes."""

    def extents(self, tile: tuple[int, ...]) -> tuple[float, ...]:
        known = self.known.get(tile)
        if known is None:
            found = []
            for start, limit, slopes in self._growing or self._grown():
                grown = 0.0
                for loop, slope in slopes:
                    grown += slope * (tile[loop] - 1)
                extent = start + grown
                if extent > limit:
                    extent = limit
                found.append(extent if extent > 1.0 else 1.0)
            known = self.known[tile] = tuple(found)
        return known

    def _grown(self) -> list[tuple[float, float, tuple[tuple[int, float], ...]]]:
        for d, (start, limit) in enumerate(zip(self.base, self.most, strict=True)):
            slopes = tuple((k, slope[d]) for k, slope in enumerate(self.slopes) if slope[d])
            self._growing.append((start, limit, slopes))
        return self._growing


@dataclass(frozen=True, slots=True)
class ArrayFootprint:
    """What a tile touches of one array."""

    array: str
    element_bytes: int
    boxes: tuple[Box, ...]
    """One an access."""
    hull: Box | None
    """Of all accesses together."""
    accesses: int
    """Places in the statements' text; `reads` are those that load."""
    reads: int
    made_here: bool
    """Another nest of the region makes it, and nobody needs it afterwards: it may live in the tile."""
    written: bool
    """Whether some of these accesses store."""
    known: dict[tuple[tuple[int, ...], int], float] = field(default_factory=dict, compare=False, repr=False)
    """The answers of `bytes`, and those of `rows` as of transactions of 0 bytes."""
    _different: list[Box] = field(default_factory=list, init=False, compare=False, repr=False)
    """The boxes, each once: `footprints_at` gives the accesses of a window the same."""
    _which: list[int] = field(default_factory=list, init=False, compare=False, repr=False)
    """The place of each access's box among them."""

    def bytes(self, tile: tuple[int, ...], transaction: int = 1) -> float:
        """Accesses that overlap share data: the hull, or the sum where that is less."""
        found = self.known.get((tile, transaction))
        if found is None:
            each = [self._volume(box.extents(tile), transaction) for box in self._different or self._distinct()]
            found = each[0] if len(self._which) == 1 else sum([each[k] for k in self._which])
            if self.hull is not None:
                found = min(found, self._volume(self.hull.extents(tile), transaction))
            self.known[tile, transaction] = found
        return found

    def rows(self, tile: tuple[int, ...]) -> float:
        """Stretches of consecutive memory that a tile touches."""
        found = self.known.get((tile, 0))
        if found is None:
            each = [prod(box.extents(tile)[:-1]) for box in self._different or self._distinct()]
            found = each[0] if len(self._which) == 1 else sum([each[k] for k in self._which])
            if self.hull is not None:
                found = min(found, prod(self.hull.extents(tile)[:-1]))
            self.known[tile, 0] = found
        return found

    def _distinct(self) -> list[Box]:
        places: dict[int, int] = {}
        for box in self.boxes:
            self._which.append(places.setdefault(id(box), len(places)))
            if len(places) > len(self._different):
                self._different.append(box)
        return self._different

    def whole_bytes(self, transaction: int = 1) -> float:
        boxes = self.boxes if self.hull is None else (self.hull,)
        return sum(self._volume(box.most, transaction) for box in boxes)

    def _volume(self, extents: tuple[float, ...], transaction: int) -> float:
        if not extents:
            return float(transaction)
        row = -(-extents[-1] * self.element_bytes // transaction) * transaction
        return prod(extents[:-1]) * row


@dataclass(frozen=True, slots=True)
class TileFootprints:
    """What a tile of a band touches and does."""

    arrays: tuple[ArrayFootprint, ...]
    extents: tuple[int | None, ...]
    """Of the band's parallel loops, at most; None where the sizes of a run decide."""
    typical: tuple[int, ...]
    """The same at the typical sizes."""
    work: tuple[tuple[float, Box], ...]
    """For each statement: operations of an instance, and the box of a tile's instances."""

    def traffic_bytes(self, tile: tuple[int, ...], transaction: int) -> float:
        return sum(array.bytes(tile, transaction) for array in self.arrays)

    def least_bytes(self, tile: tuple[int, ...], transaction: int) -> float:
        """The tile's part of what the whole nest touches, each byte once."""
        share = prod(min(1.0, t / n) for t, n in zip(tile, self.typical, strict=True))
        return min(self.traffic_bytes(tile, transaction), share * sum(a.whole_bytes(transaction) for a in self.arrays))

    def made_bytes(self, tile: tuple[int, ...], limit: int) -> float:
        """What the tile would hold of arrays that the region makes, without those of which not even a row fits."""
        least = tuple(1 for _ in tile)
        fitting = [a for a in self.arrays if a.made_here and a.bytes(least) * STEP <= limit]
        return sum(a.bytes(tile) for a in fitting)

    @property
    def read_bytes(self) -> int:
        """That one point of a thread has on the way at once: its loads do not wait for each other."""
        return max(4, sum(a.element_bytes * a.reads for a in self.arrays))

    @property
    def element_bytes(self) -> int:
        return max((a.element_bytes for a in self.arrays), default=4)

    def operations(self, tile: tuple[int, ...]) -> float:
        return sum(count * prod(box.extents(tile)) for count, box in self.work)


def footprints_of(program: Program, band: Band, outer: Outer, typical: isl.Set) -> TileFootprints:
    """Measure the boxes of tiles of a band's parallel loops, in the middle of the nest, at the typical sizes.

    math: the box of an affine access over a tile is base + sum over the loops of slope * (size - 1) in each dimension,
          so that one point and one longer tile for each loop tell it for all tiles
    """
    return footprints_at(program, probes_of(program, band, outer, typical))


def probes_of(program: Program, band: Band, outer: Outer, typical: isl.Set, count: int | None = None) -> Probes:
    """Tiles of a band at the typical sizes, as the instances that they run.

    count: how many of the band's loops have tiles; None for those that are parallel
    """
    count = band.coincident_prefix if count is None else count
    members = outer.members + band.members[:count]
    instances = band.members[0].schedule.domain().intersect(program.tree.domain)
    at = values(members, instances.intersect_params(typical))
    tiles = _anonymous(at, len(members))
    wide = [_width(tiles, len(outer.members) + k) for k in range(count)]
    known = _anonymous(values(members, instances.intersect_params(program.scop.known)), len(members))
    fixed = [_width(known, len(outer.members) + k) for k in range(count)]
    extents = tuple(None if width == inf else max(1, int(width)) for width in fixed)
    return _probes(at, len(outer.members), extents, tuple(1 if width == inf else max(1, int(width)) for width in wide))


def footprints_at(program: Program, probes: Probes, registers: frozenset[str] = frozenset()) -> TileFootprints:
    """What the instances of some tiles touch and do; `registers`: arrays that need no memory."""
    instances = probes.whole
    arrays: dict[str, list[tuple[Access, Statement, _Touched]]] = {}
    work: list[tuple[float, Box]] = []
    alike: dict[tuple[object, ...], Box] = {}

    def shared(box: Box) -> Box:
        return alike.setdefault((box.base, box.slopes, box.most), box)

    for name in names(instances):
        statement = program.statements[name]
        counted = operations(statement, subscripts=program.options.gpu)
        if not program.options.gpu:
            counted += DIVIDED * divisions(program, statement) - multiply_adds(program, statement)
        ran = _touched(_identity(statement.domain), probes)
        work.append((counted, shared(_hull([ran], probes))))
        for access in statement.accesses:
            if access.placed and access.relation.dim(isl.dim_type.out) and access.array not in registers:
                arrays.setdefault(access.array, []).append((access, statement, ran))
    made = _made_elsewhere(program, instances, arrays)
    prints = []
    for array, accesses in arrays.items():
        found = [access for access, _, _ in accesses]
        touched = _all_touched(accesses, probes)
        hulls = (_hull([one], probes) for one in touched)
        boxes = tuple(shared(_looked_up(access, box)) for access, box in zip(found, hulls, strict=True))
        hull = _hull(touched, probes) if len(touched) > 1 else None
        if hull is not None:
            for access in found:
                hull = _looked_up(access, hull)
            hull = shared(hull)
        size = program.scop.arrays[array].element.size_bytes
        refs = {access.ref for access in found}
        reads = {access.ref for access in found if access.kind is AccessKind.READ}
        written = any(access.kind is not AccessKind.READ for access in found)
        prints.append(ArrayFootprint(array, size, boxes, hull, len(refs), len(reads), array in made, written))
    return TileFootprints(tuple(prints), probes.extents, probes.typical, tuple(work))


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """Tiles at the typical sizes, as the instances that they run."""

    point: isl.UnionSet
    longer: tuple[tuple[int, isl.UnionSet], ...]
    """For each loop a tile of some points along it, and how many more than one these are."""
    whole: isl.UnionSet
    extents: tuple[int | None, ...]
    """Of the loops; None where the sizes of a run decide."""
    typical: tuple[int, ...]
    """The same at the typical sizes."""

    def of(self, others: Callable[[isl.UnionSet], isl.UnionSet]) -> Probes:
        """What other nests run for the same tiles."""
        longer = tuple((more, others(tile)) for more, tile in self.longer)
        return replace(self, point=others(self.point), longer=longer, whole=others(self.whole))

    def joined(self, other: Probes) -> Probes:
        """What two nests run for the same tiles."""
        longer = tuple(
            (min(n, m), one.union(two)) for (n, one), (m, two) in zip(self.longer, other.longer, strict=True)
        )
        return replace(self, point=self.point.union(other.point), longer=longer, whole=self.whole.union(other.whole))


def _probes(at: isl.UnionMap, outer: int, extents: tuple[int | None, ...], typical: tuple[int, ...]) -> Probes:
    count = len(typical)
    tiles = _anonymous(at, outer + count)
    back = at.reverse()
    middle = None if tiles.is_empty() else middle_tile(tiles)
    if middle is None:
        every = at.domain()
        return Probes(every, tuple((0, every) for _ in range(count)), every, extents, typical)
    where = [int(least_of(middle, d).to_python()) for d in range(outer + count)]

    def instances(lengths: list[int]) -> isl.UnionSet:
        box = isl.Set.universe(tiles.get_space())
        for d, low in enumerate(where):
            high = low + (lengths[d - outer] if d >= outer else 1) - 1
            box = box.lower_bound_val(isl.dim_type.set, d, isl.Val.int_from_si(box.get_ctx(), low))
            box = box.upper_bound_val(isl.dim_type.set, d, isl.Val.int_from_si(box.get_ctx(), high))
        return isl.UnionSet.from_set(box).apply(back)

    longer = []
    for k in range(count):
        last = greatest_of(tiles, outer + k)
        room = min(STEP, int(last.to_python()) - where[outer + k]) if last.is_int() else STEP
        longer.append((room, instances([1 + room * (d == k) for d in range(count)])))
    return Probes(instances([1] * count), tuple(longer), at.domain(), extents, typical)


Bounds = tuple[tuple[int, int], ...]
"""The least and the greatest value in each dimension; empty where there are no cells."""


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """The cells that one access touches of its array, for each of the tiles that are probed."""

    relation: isl.Map
    bounds: tuple[Bounds | None, ...]
    """None where a dimension has none."""

    def shifted(self, relation: isl.Map, offsets: tuple[int, ...]) -> _Touched:
        """What another access touches, so many cells further on in each dimension."""
        moved: list[Bounds | None] = []
        for bounds in self.bounds:
            pairs = None if bounds is None else zip(bounds, offsets, strict=False)
            moved.append(None if pairs is None else tuple((low + more, high + more) for (low, high), more in pairs))
        return _Touched(relation, tuple(moved))


def _tiles(probes: Probes) -> tuple[isl.UnionSet, ...]:
    return probes.point, *(tile for _, tile in probes.longer), probes.whole


def _touched(relation: isl.Map, probes: Probes) -> _Touched:
    return _Touched(relation, tuple(_bounds(_cells(relation, tile)) for tile in _tiles(probes)))


def _all_touched(accesses: list[tuple[Access, Statement, _Touched]], probes: Probes) -> list[_Touched]:
    """What each access to one array touches, where the tiles run these instances: isl is asked where a subscript does
    not go along with one loop, and once for all windows of a stencil."""
    found: list[_Touched] = []
    known: dict[tuple[object, ...], tuple[_Touched, tuple[int, ...]]] = {}
    for access, statement, ran in accesses:
        if (steps := _steps(access, statement)) is not None and None not in ran.bounds:
            found.append(_Touched(access.relation, tuple(_stepped(steps, bounds or ()) for bounds in ran.bounds)))
            continue
        linear = _linear(access)
        if linear is None:
            found.append(_touched(access.relation, probes))
        elif linear[0] in known:
            first, start = known[linear[0]]
            found.append(first.shifted(access.relation, tuple(x - y for x, y in zip(linear[1], start, strict=True))))
        else:
            found.append(_touched(access.relation, probes))
            known[linear[0]] = found[-1], linear[1]
    return found


Step = tuple[int, int, int, int, int, int]
"""A subscript `scale * ((factor * x + offset) / divisor) + constant`, rounded down, of the loop x that comes first."""


def _stepped(steps: tuple[Step, ...], bounds: Bounds) -> Bounds:
    """The bounds of subscripts over the instances that have these bounds: each goes one way along with one loop."""
    if not bounds and steps:
        return ()
    found = []
    for loop, factor, offset, divisor, scale, constant in steps:
        one, two = (scale * ((factor * x + offset) // divisor) + constant for x in bounds[loop])
        found.append((min(one, two), max(one, two)))
    return tuple(found)


@lru_cache(maxsize=10_000)
def _steps(access: Access, statement: Statement) -> tuple[Step, ...] | None:
    """The subscripts of an access of all instances of a statement, None where one of them is of another kind."""
    if not access.exact or not access.relation.domain().is_equal(statement.domain):
        return None
    pieces = multi_affs_of(access.relation)
    if len(pieces) != 1:
        return None
    found = [_step(pieces[0].get_aff(d)) for d in range(pieces[0].dim(isl.dim_type.out))]
    steps = [step for step in found if step is not None]
    return tuple(steps) if len(steps) == len(found) else None


def _step(subscript: isl.Aff) -> Step | None:
    if not subscript.get_denominator_val().is_one():
        return None  # isl writes j % 3 of even j with halves
    divisions = [k for k, factor in enumerate(_factors(subscript, isl.dim_type.div)) if factor]
    loops = [k for k, factor in enumerate(_factors(subscript, isl.dim_type.in_)) if factor]
    if any(_factors(subscript, isl.dim_type.param)) or len(divisions) + len(loops) != 1:
        return None
    constant = int(subscript.get_constant_val().to_python())
    if loops:
        return loops[0], _factors(subscript, isl.dim_type.in_)[loops[0]], 0, 1, 1, constant
    inner = subscript.get_div(divisions[0])
    divisor = inner.get_denominator_val()
    inner = inner.scale_val(divisor)
    loops = [k for k, factor in enumerate(_factors(inner, isl.dim_type.in_)) if factor]
    if len(loops) != 1 or any((*_factors(inner, isl.dim_type.div), *_factors(inner, isl.dim_type.param))):
        return None
    factor, offset = _factors(inner, isl.dim_type.in_)[loops[0]], int(inner.get_constant_val().to_python())
    scale = _factors(subscript, isl.dim_type.div)[divisions[0]]
    return loops[0], factor, offset, int(divisor.to_python()), scale, constant


def _factors(value: isl.Aff, kind: isl.dim_type) -> list[int]:
    return [int(value.get_coefficient_val(kind, k).to_python()) for k in range(value.dim(kind))]


@lru_cache(maxsize=10_000)
def _linear(access: Access) -> tuple[tuple[object, ...], tuple[int, ...]] | None:
    """What accesses that differ in constants only have in common, and these constants; None where a subscript has
    several expressions, or remainders. Kept, since a nest's tiles are probed in each group that it is tried in."""
    pieces = multi_affs_of(access.relation) if access.exact else []
    if len(pieces) != 1:
        return None
    domain, forms, constants = access.relation.domain(), [], []
    for d in range(pieces[0].dim(isl.dim_type.out)):
        subscript = pieces[0].get_aff(d)
        constant = subscript.get_constant_val()
        if subscript.dim(isl.dim_type.div) or not constant.is_int():
            return None
        forms.append(str(subscript.set_constant_val(isl.Val.zero(domain.get_ctx()))))
        constants.append(int(constant.to_python()))
    return (str(domain), *forms), tuple(constants)


def _cells(relation: isl.Map, instances: isl.UnionSet) -> isl.Set:
    space = relation.get_space().domain().align_params(instances.get_space())
    return relation.intersect_domain(instances.align_params(space).extract_set(space)).range()


def _bounds(cells: isl.Set) -> Bounds | None:
    if cells.is_empty():
        return ()
    found = []
    for d in range(cells.dim(isl.dim_type.set)):
        low = high = cells.plain_get_val_if_fixed(isl.dim_type.set, d)
        if not low.is_int():
            low, high = least_of(cells, d), greatest_of(cells, d)
        if not (low.is_int() and high.is_int()):
            return None
        found.append((low.to_python(), high.to_python()))
    return tuple(found)


def _looked_up(access: Access, box: Box) -> Box:
    """The box of an access, with a table's size in each dimension that depends on data and has no bound."""

    def bounded(extents: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(TABLE if d in access.loose and e >= UNBOUNDED else e for d, e in enumerate(extents))

    return replace(box, base=bounded(box.base), most=bounded(box.most), known={}) if access.loose else box


def _hull(touched: list[_Touched], probes: Probes) -> Box:
    """The box of all cells that some accesses of one array touch."""
    base, *longer, whole = (_extents(touched, k, tile) for k, tile in enumerate(_tiles(probes)))
    slopes = []
    for (more, _), grown in zip(probes.longer, longer, strict=True):
        slopes.append(tuple(max(0.0, (g - b) / more) if more > 0 else 0.0 for g, b in zip(grown, base, strict=True)))
    return Box(base, tuple(slopes), whole)


def _extents(touched: list[_Touched], probe: int, tile: isl.UnionSet) -> tuple[float, ...]:
    """Of the box around the cells of all of them."""
    bounds = [one.bounds[probe] for one in touched]
    every = [found for found in bounds if found]
    if None not in bounds and every:
        return tuple(
            min(float(max(high for _, high in along) - min(low for low, _ in along) + 1), UNBOUNDED)
            for along in zip(*every, strict=True)
        )
    cells = reduce(isl.Set.union, (_cells(one.relation, tile) for one in touched))
    if cells.is_empty():
        return tuple(1.0 for _ in range(cells.dim(isl.dim_type.set)))
    return tuple(min(_width(cells, d), UNBOUNDED) for d in range(cells.dim(isl.dim_type.set)))


def _width(piece: isl.Set, position: int) -> float:
    """How many values a dimension has at most, whatever the sizes are."""
    if piece.is_empty():
        return 0.0
    low, high = least_of(piece, position), greatest_of(piece, position)
    if low.is_int() and high.is_int():
        return float(high.to_python() - low.to_python() + 1)
    if not piece.dim_is_bounded(isl.dim_type.set, position):
        return inf
    most = piece.dim_max(position).sub(piece.dim_min(position)).floor().max_val()  # `a[n]` is one row, wherever it is
    return float(most.to_python() + 1) if most.is_int() else inf


def _identity(domain: isl.Set) -> isl.Map:
    return isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)


def _anonymous(at: isl.UnionMap, count: int) -> isl.Set:
    """The values of some loops."""
    if at.is_empty():
        return isl.Set.empty(at.get_space().params().add_unnamed_tuple_ui(count))
    return isl.Set.from_union_set(at.range())


def _made_elsewhere(program: Program, instances: isl.UnionSet, arrays: Iterable[str]) -> set[str]:
    """Those of some arrays whose values other nests of the region make, and nobody needs afterwards."""
    found = set()
    for array in arrays:
        flow = program.dependences.flow_by_array.get(array)
        if flow is None or array in program.scop.live_out:
            continue
        if not flow.intersect_range(instances).subtract_domain(instances).is_empty():
            found.add(array)
    return found


__all__ = [
    "ArrayFootprint",
    "Box",
    "Probes",
    "TileFootprints",
    "footprints_at",
    "footprints_of",
    "probes_of",
    "stays_in_caches",
]
