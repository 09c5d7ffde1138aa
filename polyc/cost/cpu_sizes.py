"""Tile sizes on a CPU: what a nest and its producers would take in their best tiles, and apart from each other."""

from __future__ import annotations

from functools import cache

import islpy as isl

from polyc.cost.cpu_model import FULL, Prediction, TiledNest, TileModel
from polyc.cost.cpu_tiles import Construction, construct
from polyc.cost.footprints import Probes, TileFootprints, footprints_at, probes_of
from polyc.cost.recurrences import rows_of
from polyc.cost.rows_at_once import AtOnce, position_of, rows_at_once
from polyc.cost.storage import STACK_BYTES
from polyc.cost.strips import sliding_along
from polyc.cost.tile_loops import innermost
from polyc.machine import Cpu, load_cpu
from polyc.model.program import Program
from polyc.model.relations import pw_affs_of
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Member
from polyc.nests.lifetimes import kept_by_iterations
from polyc.nests.nest import Nest, Outer, all_instances, has_loops, values
from polyc.nests.samples import LARGE, sample_parameters
from polyc.nests.strides import dimension_of, distance, gain_of, in_rows, makes_no_vectors, statements_below, step_of
from polyc.poly import box_volume, budget, is_over_budget, names, set_name, sets, share
from polyc.records import dataclass, replace

GAIN = 0.95
"""Of the time without tiles: what they have to get below, since their loops cost what the model does not count."""
LARGEST_BYTES = 128 << 20
"""What arrays of unknown size are taken to have at most: cubes are not as wide as squares."""
MOST_NESTS = 12
"""Of a group whose tiles are constructed for all of them together: the time that this takes grows with their square."""

Stage = tuple[Nest, Probes, TiledNest]
"""A nest of a group, the instances that tiles run of it, and what these touch and do."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What fusing one producer does, with the best sizes of either way."""

    fused: Prediction
    apart_seconds: float
    """Of the group without it, and of the producer by itself."""


class CpuSizes:
    """Constructs tiles for the bands and the groups of one program; what it constructed it remembers."""

    def __init__(self) -> None:
        self.failed: dict[int, str] = {}
        """Bands for which nothing could be constructed, and why."""
        self.alone: dict[int, Construction] = {}
        self.groups: dict[tuple[int | str, ...], Construction | None] = {}
        self.stages: dict[tuple[int, ...], Stage | None] = {}
        self.bands: dict[int, tuple[Probes, TiledNest]] = {}
        """Bands in tiles of their own."""
        self.links: dict[tuple[int, int], tuple[isl.UnionMap, isl.UnionMap | None]] = {}
        """What `_link` found."""
        self.readers: dict[tuple[int, int, str], isl.UnionSet] = {}
        """The instances that read what a nest writes to an array."""
        self.seen: list[object] = []
        """What the keys are the identities of."""
        self.typical: isl.Set | None = None
        self._machine: Cpu | None = None

    def machine(self, program: Program) -> Cpu:
        """The program's, which is the same for all that are asked about here; to find it takes a look at a file."""
        if self._machine is None:
            self._machine = load_cpu(program.options.machine)
        return self._machine

    def construction(self, program: Program, band: Band, outer: Outer) -> Construction | None:
        """Tiles of a band's parallel loops by itself; None where isl took too long, with the reason in `failed`.

        The model knows nothing of recurrences, which go on faster in short pieces of several rows: loops that carry
        dependences keep their usual sizes.
        """
        key = id(band)
        if key not in self.alone and key not in self.failed:
            self.seen.append(band)
            try:
                with budget(program.scop.domain.get_ctx(), share(program.options.budget, 5)):
                    _, tiled = self._by_itself(program, band, outer)
                    self.alone[key] = self.constructed(program, (tiled,), band, outer)
            except isl.Error as error:  # the usual sizes are right as well
                over = "measuring the data of its tiles took more isl operations than the budget allows"
                self.failed[key] = over if is_over_budget(error) else f"isl failed ({str(error).splitlines()[0]})"
        return self.alone.get(key)

    def constructed(
        self,
        program: Program,
        nests: tuple[TiledNest, ...],
        band: Band,
        outer: Outer,
        kept: frozenset[str] = frozenset(),
    ) -> Construction:
        machine = self.machine(program)
        parallel = band.coincident_prefix
        strips = parallel == 1 and nests[-1].vectors and (len(band.members) > 1 or has_loops(band.child))
        model = TileModel(machine, _cores(program, machine), nests, parallel, kept, bool(outer.members), strips)
        steps = _steps(program, band, machine, len(model.extents))
        along = sliding_along(model) if program.options.strips is None else None
        found = construct(model, steps, STACK_BYTES, along)
        return replace(found, innermost=innermost(model, found.best[0])) if found.best and kept else found

    def at(self, program: Program) -> isl.Set:
        if self.typical is None:
            self.typical = modest_parameters(program)
        return self.typical

    # --- groups ------------------------------------------------------------------------------------------------------

    def seconds(self, program: Program, nest: Nest, outer: Outer) -> float | None:
        """Of a nest by itself, in its best tiles or without; None where the model does not cover it."""
        if nest.band is None or not nest.band.permutable or nest.band.coincident_prefix == 0:
            return None
        found = self.construction(program, nest.band, outer)
        return None if found is None else min(p.seconds for p in (found.plain, *found.best[:1]))

    def computing(self, program: Program, nest: Nest, outer: Outer) -> float:
        """Of that, what is spent on arithmetic by all cores, nothing twice; 0 where the model does not cover it."""
        if self.seconds(program, nest, outer) is None or nest.band is None:
            return 0.0
        found = self.construction(program, nest.band, outer)
        return 0.0 if found is None else found.plain.computing / _cores(program, self.machine(program))

    def passing(self, program: Program, size: float) -> float:
        """Seconds to store so many bytes and to read them again; none where they stay in a cache until then."""
        machine = self.machine(program)
        cores = _cores(program, machine)
        if size / cores <= FULL * machine.capacity(machine.levels[-1], cores):
            return 0.0
        rate = machine.bytes_per_cycle(machine.memory, cores) * machine.clock_ghz * 1e9 * cores
        return 3 * size / rate

    def judged(
        self, program: Program, outer: Outer, outputs: tuple[Nest, ...], producers: tuple[Nest, ...], nest: Nest
    ) -> Judged | None:
        """A group with one producer more, and without it; None where the model does not cover it.

        producers: those that the group has, the nearest to the outputs first.
        """
        together = self.group(program, outer, outputs, (*producers, nest))
        if together is None or not together.best:
            return None
        by_itself = self.seconds(program, nest, outer)
        if len(outputs) == 1 and not producers:
            rest = self.seconds(program, outputs[0], outer)
        else:
            without = self.group(program, outer, outputs, producers)
            rest = without.best[0].seconds if without is not None and without.best else None
        if by_itself is None or rest is None:
            return None
        return Judged(together.best[0], rest + by_itself)

    def extra_seconds(self, program: Program, outer: Outer, reader: Nest, copied: Nest) -> float | None:
        """What a nest takes more that computes another one's values for itself; None where the model cannot say."""
        if reader.band is None or not reader.band.permutable or reader.band.coincident_prefix == 0:
            return None
        together, alone = self.group(program, outer, (reader,), (copied,)), self.seconds(program, reader, outer)
        if together is None or not together.best or alone is None:
            return None
        return together.best[0].seconds - alone

    def group(
        self, program: Program, outer: Outer, outputs: tuple[Nest, ...], producers: tuple[Nest, ...]
    ) -> Construction | None:
        """Tiles for outputs that share their tile loops, with producers in them, the nearest first."""
        band = outputs[-1].band
        if band is None or len(outputs) + len(producers) > MOST_NESTS:
            return None
        key: tuple[int | str, ...] = (*map(id, outputs), -1, *map(id, producers))
        self.seen += [outputs, producers]
        try:
            with budget(program.scop.domain.get_ctx(), share(program.options.budget, 5)):
                # What lives in the tiles depends on the readers that are left: others may have copies by now.
                kept = self._kept(program, [*outputs, *producers], producers)
                key = (*key, *sorted(kept))
                if key not in self.groups:
                    self.groups[key] = self._grouped(program, outer, outputs, producers, band, kept)
        except isl.Error:
            self.groups[key] = None
        return self.groups[key]

    def _grouped(
        self,
        program: Program,
        outer: Outer,
        outputs: tuple[Nest, ...],
        producers: tuple[Nest, ...],
        band: Band,
        kept: frozenset[str],
    ) -> Construction | None:
        stages = [self._output(program, outer, output) for output in reversed(outputs)]
        for k in range(len(producers)):
            stage = self._stage(program, outer, outputs, producers[: k + 1], stages)
            if stage is None:
                return None
            stages.append(stage)
        return self.constructed(program, tuple(tiled for _, _, tiled in reversed(stages)), band, outer, kept)

    def _output(self, program: Program, outer: Outer, output: Nest) -> Stage:
        key = (id(output),)
        found = self.stages.get(key)
        if found is None:
            assert output.band is not None
            self.seen.append(output)
            found = self.stages[key] = output, *self._by_itself(program, output.band, outer)
        return found

    def _by_itself(self, program: Program, band: Band, outer: Outer) -> tuple[Probes, TiledNest]:
        """A band in its own tiles."""
        key = id(band)
        if key not in self.bands:
            self.seen.append(band)
            probes = probes_of(program, band, outer, self.at(program))
            self.bands[key] = probes, _tiled(program, band, probes, self.machine(program))
        return self.bands[key]

    def _stage(
        self,
        program: Program,
        outer: Outer,
        outputs: tuple[Nest, ...],
        producers: tuple[Nest, ...],
        stages: list[Stage],
    ) -> Stage | None:
        """The last of these producers, as far as tiles need it.

        math: flow^-1, and with an instance all of the same iteration of the producer's parallel loops, as (15) and (17)
        """
        key = (*map(id, outputs), -1, *map(id, producers))
        if key in self.stages:
            return self.stages[key]
        self.seen += [outputs, producers]
        nest, at = producers[-1], self.at(program)
        if nest.band is None or nest.band.coincident_prefix == 0:
            return None
        reader = stages[0][1]
        for _, probes, _ in stages[1:]:
            reader = reader.joined(probes)
        back, loops = self._link(program, outer, nest, at)

        def needed(tile: isl.UnionSet) -> isl.UnionSet:
            found = tile.apply(back)
            return (found if loops is None else found.apply(loops).apply(loops.reverse())).coalesce()

        probes = reader.of(needed)
        if probes.point.is_empty() or probes.whole.is_empty():
            self.stages[key] = None
            return None
        found = self.stages[key] = nest, probes, _tiled(program, nest.band, probes, self.machine(program))
        return found

    def _link(
        self, program: Program, outer: Outer, nest: Nest, at: isl.Set
    ) -> tuple[isl.UnionMap, isl.UnionMap | None]:
        """From readers to the nest's instances, and the values of its parallel loops; None where no two instances have
        the same."""
        flow = program.dependences.flow
        key = id(nest), id(flow)
        if key not in self.links:
            assert nest.band is not None
            self.seen += [nest, flow]
            instances = nest.instances.intersect_params(at)
            back = outer.same_iteration(flow.intersect_domain(nest.instances).intersect_params(at)).reverse()
            loops = values(outer.members + nest.band.members[: nest.band.coincident_prefix], instances)
            self.links[key] = back, None if loops.is_injective() else loops
        return self.links[key]

    def _kept(self, program: Program, nests: list[Nest], producers: tuple[Nest, ...]) -> frozenset[str]:
        """Arrays that producers write and nobody but the group reads, or that others compute for themselves."""
        found = set()
        inside = all_instances(tuple(nests))
        statements = {name for nest in nests for name in nest.statements}
        for nest in producers:
            for name in nest.statements:
                for access in program.statements[name].accesses:
                    array = access.array
                    if access.kind is AccessKind.READ or array in program.scop.live_out or array in found:
                        continue
                    flow = program.dependences.flow_by_array.get(array)
                    if flow is None:
                        continue
                    if nest.copied or self._reads(nest, array, flow, statements, inside):
                        found.add(array)
        return frozenset(found)

    def _reads(self, nest: Nest, array: str, flow: isl.UnionMap, statements: set[str], inside: isl.UnionSet) -> bool:
        """Whether all that read the nest's values of an array are `inside`, which these statements are."""
        key = id(nest), id(flow), array
        if key not in self.readers:
            self.seen += [nest, flow]
            self.readers[key] = flow.intersect_domain(nest.instances).range()
        readers = self.readers[key]
        if any(set_name(piece) not in statements and not piece.is_empty() for piece in sets(readers)):
            return False
        return bool(readers.is_subset(inside))


def _cores(program: Program, machine: Cpu) -> int:
    return 1 if program.options.target == "c" else machine.cores


def _tiled(program: Program, band: Band, probes: Probes, machine: Cpu) -> TiledNest:
    """A nest and the loop that will run innermost in it (`vectorize.py`)."""
    members = band.members[: band.coincident_prefix]
    gains = {k: gain_of(m, program) for k, m in enumerate(members)}
    best = max(gains, key=lambda k: (gains[k], k))
    vectors = gains[best] > 0 or in_rows(members[best], program)
    vectors = vectors and not makes_no_vectors(members[best].schedule.domain(), program)
    inner = best if vectors else len(members) - 1
    waiting = rows_of(program, band)
    rows = waiting.count if waiting is not None else 0
    own = kept_by_iterations(program, band, probes.whole)
    prints = footprints_at(program, probes, own)
    along = _dimensions(members[inner], inner, prints, probes)
    lanes = machine.lanes(prints.element_bytes) if vectors else 1
    loads, stores = _moves(program, dict(zip(names(probes.whole), along, strict=True)), lanes, own)
    place = _moving(prints, along, min(inner, len(probes.typical) - 1))
    at_once = cache(lambda: _at_once(program, band, inner, names(probes.whole), prints) if vectors else None)
    return TiledNest(prints, place, along, vectors, loads, stores, rows, at_once)


def _at_once(program: Program, band: Band, inner: int, statements: list[str], prints: TileFootprints) -> AtOnce | None:
    """The rows that `unroll.py` will run at once, with the loop of the tile's that they move with."""
    members = band.members
    every = [program.statements[name] for name in statements]
    if band.coincident_prefix < len(members) or has_loops(band.child) or any(s.opaque for s in every):
        return None
    order = (*members[:inner], *members[inner + 1 :], members[inner])
    found = rows_at_once(program, every, order, lambda count, member: True)
    if found is None:
        return None
    dimension = position_of(every[0], order[found.place])
    slopes = [0.0 if dimension is None else slopes[dimension] for slopes in prints.work[0][1].slopes]
    return replace(found, place=max(range(len(slopes)), key=lambda k: slopes[k]))


def _moves(
    program: Program, along: dict[str, int | None], lanes: int, registers: frozenset[str]
) -> tuple[float, float]:
    """How many loads and stores an instance takes of the average statement; where instances make vectors, of whole
    vectors. What lies apart in a row takes one for each stretch of a vector's length, a lookup one for each element."""
    loads = stores = 0.0
    for name, dimension in along.items():
        statement = program.statements[name]
        seen: set[tuple[str, bool]] = set()
        for access in statement.accesses:
            stored = access.kind is not AccessKind.READ
            scalar = not access.placed or not access.relation.dim(isl.dim_type.out)
            if scalar or access.array in registers or (access.ref, stored) in seen:
                continue
            seen.add((access.ref, stored))
            width = 1 if dimension is None else min(lanes, max(1, distance(access, dimension)))
            loads, stores = loads + width * (not stored), stores + width * stored
    return loads / max(1, len(along)), stores / max(1, len(along))


def _dimensions(member: Member, place: int, prints: TileFootprints, probes: Probes) -> tuple[int | None, ...]:
    """For each statement of a nest the dimension that a loop of its band runs along, or the one that moves with it."""
    known = {name: dimension_of(piece) for name, piece in pw_affs_of(member.schedule).items()}
    found: list[int | None] = []
    for name, (_, work) in zip(names(probes.whole), prints.work, strict=True):
        slopes = work.slopes[place] if place < len(work.slopes) else ()
        steepest = max(range(len(slopes)), key=lambda d: slopes[d], default=None)
        moved = steepest if steepest is not None and slopes[steepest] > 0 else None
        found.append(moved if known.get(name) is None else known[name])
    return tuple(found)


def _moving(prints: TileFootprints, along: tuple[int | None, ...], otherwise: int) -> int:
    """The loop of the tile with which the innermost dimension grows: a producer's loops are not those of the tile."""
    for (_, work), dimension in zip(prints.work, along, strict=True):
        if dimension is not None:
            best = max(range(len(work.slopes)), key=lambda k: work.slopes[k][dimension], default=otherwise)
            if work.slopes and work.slopes[best][dimension] > 0:
                return best
    return otherwise


def _steps(program: Program, band: Band, machine: Cpu, count: int) -> tuple[int, ...]:
    """What the size of each loop is a multiple of: the elements of a line, where an access runs along memory."""
    line = machine.levels[0].line_bytes
    found = [1] * count
    for k, member in enumerate(band.members[:count]):
        for statement, position in statements_below(member, program):
            for access in statement.accesses:
                size = (
                    program.scop.arrays[access.array].element.size_bytes if access.array in program.scop.arrays else 0
                )
                if size and access.exact and access.relation.dim(isl.dim_type.out) and step_of(access, position) == 1:
                    found[k] = max(found[k], line // size)
    return tuple(found)


def modest_parameters(program: Program) -> isl.Set:
    """Sample sizes at which the largest array is not larger than LARGEST_BYTES, where the user gave none."""
    at = sample_parameters(program)
    known = program.scop.context.intersect(program.scop.assumed).align_params(program.scop.domain.get_space())
    most = LARGE
    while most > 64 and _largest_bytes(program, at) > LARGEST_BYTES:
        most //= 2
        smaller = known
        for k in range(known.dim(isl.dim_type.param)):
            value = at.plain_get_val_if_fixed(isl.dim_type.param, k)
            if not value.is_int():
                return at
            chosen = isl.Val.int_from_si(known.get_ctx(), min(most, int(value.to_python())))
            smaller = smaller.fix_val(isl.dim_type.param, k, chosen)
        if smaller.is_empty():
            return at
        at = smaller
    return at


def _largest_bytes(program: Program, at: isl.Set) -> float:
    found = 0.0
    for array in program.scop.arrays.values():
        size = float(array.element.size_bytes or 8)
        if any(extent is None for extent in array.extents):  # of a pointer nobody says how many rows there are
            found = max(found, size * _most_touched(program, array.name, at))
            continue
        for extent in array.extents:
            value = None if extent is None else extent.intersect_params(at).max_val()
            if value is not None and value.is_int():
                size *= max(1, value.to_python())
        found = max(found, size)
    return found


def _most_touched(program: Program, array: str, at: isl.Set) -> float:
    """Cells of the box that one access touches, of all whose subscripts are known."""
    accesses = (a for one in program.scop.statements.values() for a in one.accesses if a.array == array and a.exact)
    boxes = (box_volume(one.relation.range().intersect_params(at)) for one in accesses)
    return max((box for box in boxes if box < float("inf")), default=1.0)


__all__ = ["GAIN", "CpuSizes", "Judged", "modest_parameters"]
