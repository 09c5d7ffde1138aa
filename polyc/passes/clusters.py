"""Tile shapes by upward-exposed data (Algorithm 2) and who may be fused with whom (Algorithm 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import Any

import islpy as isl

from polyc.analysis.witness import carried, first_of, overwriting, value_out
from polyc.machine import load_cpu, load_gpu
from polyc.machine.gpu import STATIC_SHARED_BYTES
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Member
from polyc.model.witness import Finder
from polyc.passes.boxed import by_cells, count_at, has_remainders, is_ragged, is_simpler
from polyc.passes.contract import kept_by_iterations
from polyc.passes.cost import START_CYCLES, Estimate, Rates, estimate, middle_tile, sample_parameters, written_cells
from polyc.passes.cpu_sizes import Judged
from polyc.passes.lookups import tables_of
from polyc.passes.neighbours import Neighbours
from polyc.passes.nests import Nest, Outer, all_instances, values
from polyc.passes.promotion import DataTile, RefFlow, plan_buffer
from polyc.passes.registers import contraction_sizes
from polyc.passes.storage import STACK_BYTES, Life, bytes_for
from polyc.passes.tiling import tile_members, told_sizes
from polyc.poly import empty_map, empty_set, maps, names, out_name, sets, union_of

HULL_SLACK = 1.1
MOST_PIECES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Producer:
    """An intermediate iteration space that runs inside the tiles."""

    nest: Nest
    extension: isl.UnionMap
    """(17): `{ [outer, tile] -> S[i] }`."""
    reserved: isl.UnionSet
    """(20): what still has to run where it was."""
    estimate: Estimate
    guard: isl.Set | None = None
    """Sizes at which nothing is reserved, where only degenerate ones would need it: the rest runs as written."""


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Output nests that share a tile band, and the producers pulled into it."""

    position: int
    outputs: tuple[Nest, ...]
    tile: tuple[Member, ...]
    """The coincident tile members."""
    sizes: tuple[int, ...]
    """Tile sizes of all members of the first output's band."""
    innermost: int | None
    """The member of that band whose tile loop goes inside of the others; None: they are in the band's order."""
    tile_of: isl.UnionMap
    """(11): `{ S[i] -> [outer, tile] }` for the outputs and, multi-valued, the producers."""
    producers: tuple[Producer, ...] = ()
    data: tuple[DataTile, ...] = ()
    """Arrays whose values stay in the tile."""
    known: isl.UnionSet | None = None
    """The domain of `tile_of`, where it was found already: it is asked for with each nest that may join."""

    @property
    def instances(self) -> isl.UnionSet:
        return self.tile_of.domain() if self.known is None else self.known

    @property
    def produced(self) -> isl.UnionSet:
        start = empty_set(self.tile_of)
        for producer in self.producers:
            start = start.union(producer.extension.range())
        return start


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a nest was not pulled into a cluster."""

    code: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)
    dependence: Finder | None = None
    """Finds two iterations that show it, where a dependence is the reason."""


_Asked = tuple[tuple[Cluster, ...], Cluster, Nest, tuple[Nest | None, ...], frozenset[str]]
"""The clusters that are built, the one that a nest may join, the nests that wait, and arrays that are torn."""

Judge = Callable[[Program, Cluster, Nest, list[Nest]], Judged | None]
"""What the machine's model says of a cluster with one producer more, which other nests would compute, too."""


class Fuser:
    """The questions of Algorithms 2 and 4 about the nests of one sequence."""

    def __init__(
        self,
        program: Program,
        nests: tuple[Nest, ...],
        outer: Outer,
        judge: Judge = lambda program, cluster, nest, readers: None,
    ) -> None:
        """judge: what the machine's model says of one producer more, None where it says nothing."""
        self.nests = nests
        self.outer = outer
        self.judge = judge
        d = program.dependences
        self.false = d.false.union(d.private_false)
        self.refs = RefFlow(program)
        self.typical = sample_parameters(program)
        self.measured: dict[Nest, dict[str, tuple[float, float, float]]] = {}
        """What `estimate` found of nests, whatever the tiles."""
        self.copies: dict[Nest, int] = {}
        """Nests as `copy_of` gives them, and their places."""
        self._copy_of: dict[Nest, Nest] = {}
        self.tables: dict[int, tuple[Band, frozenset[str]]] = {}
        """`tables_of` bands, by their identity."""
        self._starts: dict[tuple[Nest, Band, tuple[int, ...], int | None], Cluster] = {}
        """The answers of `cluster`."""
        self._answers: dict[_Asked, Cluster | Declined | None] = {}
        """Those of `extend`: a group is grown again where it did not come out as it was planned."""
        self._extended: tuple[Cluster, isl.UnionSet, isl.UnionMap] | None = None
        """The last `extension`, and what it is of: a copy that is asked about after its nest has the same."""
        self._given, self._near = program, Neighbours(program, nests)
        self.begin(set())

    def begin(self, single: set[int]) -> None:
        """Nothing is built yet.

        single: the places of nests that must not be copied; more come along
        """
        self.program = self._given
        """The dependences that are left to keep: see `served`."""
        self.flow, self.near = self.program.dependences.flow, self._near
        self.single = single
        self.torn = set[str]()
        """Arrays with several writers, not all of which can be in one tile."""
        self.read_by_copies = set[str]()
        """Names for the statements of copies that are built, see `served`."""
        self.dropped = empty_set(self.flow)
        """Instances that no tile runs and that run nowhere else, since nobody needs them."""
        self._built: tuple[Cluster, ...] = ()
        """From these follow the dependences that are left, and what is dropped."""

    def cluster(
        self, position: int, nest: Nest, band: Band, sizes: tuple[int, ...], innermost: int | None = None
    ) -> Cluster:
        """The output alone, its band tiled: relation (11).

        innermost: the member whose tile loop goes inside of the others
        """
        key = nest, band, sizes, innermost
        if key not in self._starts:
            order = sorted(range(band.coincident_prefix), key=lambda k: k == innermost)
            tile = tile_members(tuple(band.members[k] for k in order), tuple(sizes[k] for k in order))
            tile_of = values(self.outer.members + tile, nest.instances)
            self._starts[key] = Cluster(position, (nest,), tile, sizes, innermost, tile_of, known=tile_of.domain())
        return self._starts[key]

    def copy_of(self, position: int, nest: Nest) -> Nest | None:
        """The nest for tiles that have values of their own of it, while others have theirs; None where it may not.

        The user's limit is on what tiles of one nest repeat, and GPUs have no model that says what it costs.
        """
        options = self.program.options
        if position in self.single or options.gpu or options.max_recompute is not None or self.outer.members:
            return None
        if nest not in self._copy_of:
            self._copy_of[nest] = replace(nest, copied=True)
            self.copies[self._copy_of[nest]] = position
        return self._copy_of[nest]

    def without_sources(self, inside: list[Nest], waiting: list[Nest | None]) -> set[int]:
        """The places of copied nests among some that are in a tile, of which a source would be stored just for them.

        Else that source would be in its reader's tiles. It has to come along wherever a copy goes, or make so little
        that it stays in a cache.
        """
        there = [n for n in waiting if n is not None]
        own = [n for n in inside if not n.copied]
        found = set()
        for copy in (n for n in inside if n.copied):
            for source in (waiting[q] for q in self.near.feeding(copy.statements)):
                if source is None or source in own or self._copy_of.get(source) in inside:
                    continue
                if not self.near.reads_from(copy, source) or self._is_small(source):
                    continue
                others = (n for n in {*there, *own} if n.instances is not copy.instances and n is not source)
                if not any(self.near.reads_from(n, source) for n in others):
                    found.add(self.copies[copy])
        return found

    def _is_small(self, nest: Nest) -> bool:
        """Whether all that a nest writes stays in a cache until it is read."""
        return self.written_bytes(nest) <= STACK_BYTES

    def written_bytes(self, nest: Nest) -> float:
        """Of what a nest makes, at the sample sizes."""
        arrays = [self.program.scop.arrays[array] for array in self.near.touched(nest)[1]]
        size = max((array.element.size_bytes or 8 for array in arrays), default=8)
        cells = (written_cells(self.program, piece.intersect_params(self.typical)) for piece in sets(nest.instances))
        return size * sum(cells)

    @property
    def space(self) -> int:
        """Bytes that the buffers of one tile may take."""
        options = self.program.options
        if not options.gpu:
            return STACK_BYTES
        return min(STATIC_SHARED_BYTES, load_gpu(options.machine).shared_bytes_per_block)

    # --- Algorithm 2 ---------------------------------------------------------------------------------------------

    def extension(self, cluster: Cluster, nest: Nest) -> isl.UnionMap | None:
        """(15) and (17): which of the nest's instances a tile needs, whole iterations of its parallel loops.

        math: h = t^-1 . flow^-1, the instances whose values the tile reads; e = h . b . b^-1, with b the values of
              the nest's coincident loops, which plays the part of the grouping relation (16)
        """
        flow = self.outer.same_iteration(self.near.flow_from(nest.instances).intersect_range(cluster.instances))
        if flow.is_empty():
            return None
        assert nest.band is not None
        parallel = nest.band.members[: nest.band.coincident_prefix]
        grouping = values(self.outer.members + parallel, nest.instances)
        tiles = cluster.tile_of.intersect_domain(all_instances(cluster.outputs)).range()
        boxed: isl.UnionMap | None = None
        if has_remainders(flow):  # to describe exactly what is needed of each kind of cells may take isl too long
            boxed = self._same_outer(by_cells(self.program, cluster.tile_of, tiles, nest, grouping))
            if self._little_more(cluster.tile_of, flow, boxed, tiles):
                return boxed
        needed = cluster.tile_of.reverse().apply_range(flow.reverse())
        iterations = needed.apply_range(grouping)
        if len(nest.statements) > 1:  # at once for all of them, in the space of their loops
            iterations = self._one_piece(cluster, iterations.coalesce(), grouping.range())
        same = self._same_outer(iterations.apply_range(grouping.reverse()))
        known = self.program.scop.context.intersect(self.program.scop.assumed)
        found = self._joined_up(cluster, nest, same.intersect_params(known).coalesce())
        if boxed is None and is_ragged(found):
            boxed = self._same_outer(by_cells(self.program, cluster.tile_of, tiles, nest, grouping))
            if is_simpler(boxed, found) and self._little_more(cluster.tile_of, flow, boxed, tiles):
                return boxed
        return found

    def _extension_of(self, cluster: Cluster, nest: Nest) -> isl.UnionMap:
        """`extension` of a nest that the cluster reads from."""
        last = self._extended
        if last is None or last[0] is not cluster or last[1] is not nest.instances:
            extension = self.extension(cluster, nest)
            assert extension is not None
            last = self._extended = cluster, nest.instances, extension
        return last[2]

    def _little_more(self, tile_of: isl.UnionMap, flow: isl.UnionMap, boxed: isl.UnionMap, tiles: isl.UnionSet) -> bool:
        """Whether tiles in the middle, of all and of those that have a part of the box, hold at most HULL_SLACK more
        instances than the flow into them needs."""
        for some in (tiles, boxed.domain()):
            if some.is_empty():
                return False
            (every,) = sets(some)
            tile = middle_tile(every.intersect_params(self.typical))
            if tile is None:
                return False
            here = tile_of.intersect_range(isl.UnionSet.from_set(tile)).domain()
            needed, more = (
                flow.intersect_range(here).domain(),
                boxed.intersect_domain(isl.UnionSet.from_set(tile)).range(),
            )
            least, most = (count_at(found, tile.params()) for found in (needed, more))
            if least is None or most is None or most > HULL_SLACK * least:
                return False
        return True

    def _joined_up(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap) -> isl.UnionMap:
        """One piece for each statement, so that tile shapes do not multiply from stage to stage.

        Readers of shifted data leave gaps at sizes of an iteration or two, and corners that nobody reads. The hull
        of the pieces is taken where it holds at most HULL_SLACK more instances than they do, in one interior tile;
        what of the nest is in other tiles already is none of them.
        """
        return self._one_piece(cluster, extension, nest.instances)

    def _one_piece(self, cluster: Cluster, relation: isl.UnionMap, within: isl.UnionSet) -> isl.UnionMap:
        """Each map of a relation from tiles, or its hull where that is little larger, as far as it is `within`."""
        found = empty_map(relation)
        tiles = cluster.tile_of.intersect_domain(all_instances(cluster.outputs)).range()
        for piece in maps(relation):
            chosen = piece
            if piece.n_basic_map() > 1:
                hull = isl.Map.from_basic_map(piece.simple_hull())
                (hull,) = maps(isl.UnionMap.from_map(hull).intersect_range(within).intersect_domain(tiles).coalesce())
                if _hull_fits(piece.intersect_params(self.typical), hull.intersect_params(self.typical)):
                    chosen = hull
            found = found.union(isl.UnionMap.from_map(chosen))
        return found

    def _same_outer(self, extension: isl.UnionMap) -> isl.UnionMap:
        """Keep the pairs whose tile and instance belong to one iteration of the outer loops."""
        if not self.outer.members:
            return extension
        kept = empty_map(extension)
        count = len(self.outer.members)
        at = values(self.outer.members, extension.range())
        for piece in maps(extension):
            tiles = piece.domain()
            first = isl.Map.identity(tiles.get_space().map_from_set()).intersect_domain(tiles)
            total = first.dim(isl.dim_type.out)
            first = first.project_out(isl.dim_type.out, count, total - count)
            allowed = isl.UnionMap.from_map(first).apply_range(at.reverse())
            kept = kept.union(isl.UnionMap.from_map(piece).intersect(allowed))
        return kept

    def extend(
        self, cluster: Cluster, position: int, nest: Nest, waiting: list[Nest | None]
    ) -> Cluster | Declined | None:
        """The cluster with one more producer; why not; or None where the nest gives it no values.

        `waiting`: the nests that are still in their places.
        `nest.copied`: the nest stays in its place as well, for its other readers, and tiles keep their values.
        """
        asked = self._built, cluster, nest, tuple(waiting), frozenset(self.torn)
        if asked not in self._answers:
            self._answers[asked] = self._answer(cluster, position, nest, waiting)
        return self._answers[asked]

    def _answer(
        self, cluster: Cluster, position: int, nest: Nest, waiting: list[Nest | None]
    ) -> Cluster | Declined | None:
        between = [n for n in waiting[position + 1 : cluster.position] if n is not None]
        if nest.copied and (why := self._single(cluster, nest)) is not None:
            return why
        related = self.outer.same_iteration(self.near.flow_from(nest.instances).intersect_range(cluster.instances))
        if related.is_empty():
            return None
        if nest.band is None or nest.band.coincident_prefix == 0:
            return Declined(
                "fewer-parallel-loops",
                "it has no parallel loop, and its consumer has (m > n in Algorithm 2)",
                {"m": 1, "n": 0},
                carried(self.program, self.outer.members, nest.band.members[0]) if nest.band is not None else None,
            )
        if any(self._depends_on_data(nest, self.program.statements[s]) for s in nest.statements):
            return Declined("data-dependent", "what it writes depends on data, so that its tiles are not known")
        extension = self._extension_of(cluster, nest)
        if _irregular(extension, len(self.outer.members) + len(cluster.tile)):
            return Declined("irregular-tiles", "its tiles take too many pieces or remainders to describe")
        overlapping = not extension.reverse().is_single_valued()
        shared, ran = self._needed_before(between, nest), extension.range()
        if nest.copied:
            shared = self._with_sources(nest, shared)
        twice = shared.intersect(ran)
        wanted = None if nest.copied else self._wanted(cluster, nest, extension, twice, overlapping)
        # Before buffers are planned: it is what keeps most nests out. Of an array that is updated, more is to say.
        if wanted is not None and self._is_only_writer(nest):
            return wanted
        elsewhere = shared if nest.copied else empty_set(shared)
        producer_data: list[DataTile] = []
        for array in self._written_arrays(nest):
            plan = self._plan(cluster, nest, extension, array, overlapping, elsewhere)
            if isinstance(plan, Declined):
                return plan
            if plan is not None:
                producer_data.append(plan)
                if (reader := self._reader_in_registers(cluster, array)) is not None:
                    return Declined(
                        "operand",
                        f"{array} is an operand of {reader}, which reads it from panels of its own, a register tile at "
                        "a time",
                        {"array": array},
                    )
                if (reader := self._reader_of_rows(cluster, array)) is not None:
                    return Declined(
                        "table",
                        f"{array} is a table, whose elements become permutations of vectors in {reader}; in a tile's "
                        "buffer each would be a load",
                        {"array": array},
                    )
        for kept in producer_data:
            stored = 0 if kept.copy_out is None else kept.copy_out.n_basic_map()
            torn = _is_torn(kept) and not self._may_be_whole(kept.array, position, waiting)
            if torn or stored > 4 * MOST_PIECES:  # the owner of a cell differs at each border
                return Declined(
                    "irregular-tiles", f"the cells of {kept.array} to copy take too many pieces to describe"
                )
        clash = self._in_place(cluster, nest, producer_data)
        if clash is not None:
            return clash
        stays_global = set(self._written_arrays(nest)) - {d.array for d in producer_data if d.copy_out is None}
        if wanted is not None:
            return wanted
        if not twice.is_empty() and stays_global:
            return self._shared(cluster, nest, twice, "earlier")
        hazard = self._hazard(cluster, between, nest, extension, stays_global)
        if hazard is not None:
            return hazard
        readers = [other for other in between if self.near.reads_from(other, nest)] if nest.copied else []
        judged = self._judged(cluster, nest, extension, producer_data, overlapping, readers)
        if isinstance(judged, Declined):
            return judged
        replaced = {d.array for d in producer_data}
        data = (*producer_data, *(d for d in cluster.data if d.array not in replaced))
        inside = [nest, *(p.nest for p in cluster.producers), *cluster.outputs]
        bytes_used = self._bytes(data, inside)
        if bytes_used > self.space:
            return Declined(
                "tile-too-large",
                f"the tile's buffers would take {bytes_used} bytes",
                {"bytes": bytes_used, "limit": self.space},
            )
        reserved, guard = self._guarded(self._reserved(cluster, nest, extension, shared))
        return replace(
            cluster,
            tile_of=cluster.tile_of.union(extension.reverse()),
            known=cluster.instances.union(ran),
            producers=(Producer(nest, extension, reserved, judged, guard), *cluster.producers),
            data=data,
        )

    def _wanted(
        self, cluster: Cluster, nest: Nest, extension: isl.UnionMap, twice: isl.UnionSet, overlapping: bool
    ) -> Declined | None:
        """Why instances that tiles need would run twice, where no limit of the user's allows that.

        twice: those of them that run for others before the cluster
        """
        if self.program.options.max_recompute is not None:
            return None
        if not twice.is_empty():
            return self._shared(cluster, nest, twice, "earlier")
        if overlapping and self._needed_later(cluster, nest, extension):
            return self._shared(cluster, nest, extension.range(), "later")
        return None

    def _is_only_writer(self, nest: Nest) -> bool:
        """Whether no other nest writes the arrays that this one does, and it reads none of them itself."""
        (reads, written), own = self.near.touched(nest), self.near.statements(nest)
        others = (other for other in self.nests if own.isdisjoint(self.near.statements(other)))
        return reads.isdisjoint(written) and all(written.isdisjoint(self.near.touched(n)[1]) for n in others)

    def _shared(self, cluster: Cluster, nest: Nest, instances: isl.UnionSet, when: str) -> Declined:
        """That others need some instances of a nest, which stays for them."""
        return Declined(
            "shared-producer",
            f"another nest that runs {when} needs the same instances (neither (21) nor (22) holds)",
            dependence=value_out(self.program, instances, (cluster.instances, nest.instances)),
        )

    def _may_be_whole(self, array: str, position: int, waiting: list[Nest | None]) -> bool:
        """Whether nests that are asked later write cells of an array that the tile would have to copy."""
        others = (n for n in waiting[:position] if n is not None)
        return array not in self.torn and any(array in self._written_arrays(n) for n in others)

    def torn_by(self, cluster: Cluster) -> set[str]:
        """Arrays of which a tile would copy cells in too many pieces: those that write them did not come along."""
        return {kept.array for kept in cluster.data if _is_torn(kept)} - self.torn

    def _single(self, cluster: Cluster, nest: Nest) -> Declined | None:
        """Why copies of a nest in the tiles of all its readers would not be all that is needed of it."""
        if any(array in self.program.scop.live_out for array in self._written_arrays(nest)):
            why = "others read the same values, which are needed after the region, too"
            return Declined("shared-producer", why, dependence=self._read_elsewhere(cluster, nest))
        if self._needed_later(cluster, nest, isl.UnionMap.from_domain(nest.instances).reverse()):
            return self._shared(cluster, nest, nest.instances, "later")
        return None

    def _read_elsewhere(self, cluster: Cluster, nest: Nest) -> Finder:
        """A value of a nest that others read than the cluster."""
        return value_out(self.program, nest.instances, (cluster.instances, nest.instances))

    def _reader_in_registers(self, cluster: Cluster, array: str) -> str | None:
        """An output of the cluster that becomes a sum of products in vector registers, and has the array as a factor:
        one in a tile's buffer would keep it from its panels, and its panels can compute it as they are filled."""
        if self.program.options.gpu:
            return None
        for nest in cluster.outputs:
            found, sizes = contraction_sizes(self.program, nest.band) if nest.band is not None else (None, ())
            if found is not None and sizes and any(access.array == array for access in found.operands):
                return found.statement
        return None

    def _reader_of_rows(self, cluster: Cluster, array: str) -> str | None:
        """An output of the cluster that looks the array up in vector registers (`lookups.py`)."""
        for nest in cluster.outputs:
            if nest.band is not None and array in self._tables(nest.band):
                return ", ".join(nest.statements)
        return None

    def _tables(self, band: Band) -> frozenset[str]:
        if id(band) not in self.tables:
            self.tables[id(band)] = band, tables_of(self.program, band)
        return self.tables[id(band)][1]

    def _depends_on_data(self, nest: Nest, statement: Statement) -> bool:
        """Whether it depends on data which elements a statement writes, or whether it does.

        What it reads may: a read of any element of a row is one of the whole row.
        """
        return statement.opaque and any(
            access.kind is AccessKind.MAY_WRITE and not self._stays_inside(nest, access.array)
            for access in statement.accesses
        )

    def footprints(self, cluster: Cluster) -> tuple[isl.Map, ...]:
        """(13), for the arrays that the producers make: what those read of them that were in the tile before."""
        found: list[isl.Map] = []
        tile_of = cluster.tile_of.intersect_domain(all_instances(cluster.outputs))
        for producer in reversed(cluster.producers):
            for array in self._written_arrays(producer.nest):
                reads = empty_map(tile_of)
                for name in names(tile_of.domain()):
                    for access in self.program.statements[name].accesses:
                        if access.array == array and access.kind is AccessKind.READ:
                            reads = reads.union(isl.UnionMap.from_map(access.relation))
                found += maps(tile_of.reverse().apply_range(reads).coalesce())
            tile_of = tile_of.union(producer.extension.reverse())
        return tuple(found)

    # --- recomputation, and when it is right ---------------------------------------------------------------------

    def _written_arrays(self, nest: Nest) -> list[str]:
        """Arrays that the nest writes, but those that are private to its iterations."""
        found: dict[str, None] = {}
        for name in nest.statements:
            for access in self.program.statements[name].accesses:
                if access.kind is not AccessKind.READ and not self._stays_inside(nest, access.array):
                    found[access.array] = None
        return list(found)

    def _stays_inside(self, nest: Nest, array: str) -> bool:
        if array not in self.program.scop.privatizable:
            return False
        flow = self.program.dependences.flow_by_array.get(array)
        if flow is None:
            return True
        out = flow.intersect_domain(nest.instances)
        return bool(out.is_subset(out.intersect_range(nest.instances)))

    def _plan(
        self,
        cluster: Cluster,
        nest: Nest,
        extension: isl.UnionMap,
        array: str,
        overlapping: bool,
        elsewhere: isl.UnionSet,
    ) -> DataTile | Declined | None:
        """How the array's values stay in the tile; None: they go to the array itself, each by one tile only.

        Producers that are in the tile already and write the array too share one data tile with the new one.
        elsewhere: instances that run outside of the tiles as well, for others
        """
        dropped = self.dropped_with(cluster)
        known = next((d for d in cluster.data if d.array == array), None)
        also = [p for p in cluster.producers if array in self._written_arrays(p.nest)]
        for producer in also:
            if producer.nest.copied:
                elsewhere = elsewhere.union(producer.reserved)
            nest = Nest(nest.instances.union(producer.nest.instances), nest.node)
            extension = extension.union(producer.extension)
        plan = plan_buffer(
            self.program,
            self.refs,
            cluster.tile_of,
            nest,
            extension,
            array,
            self.outer,
            self.typical,
            dropped,
            elsewhere,
            not overlapping and known is None and not also,
        )
        if also:
            overlapping = not extension.reverse().is_single_valued()
        if isinstance(plan, DataTile) and (plan.copy_out is None or overlapping):
            return self._sized(plan, nest)
        if overlapping or known is not None:
            why = plan if isinstance(plan, str) else "its values are needed outside"
            inside = cluster.instances, nest.instances
            again = overwriting(self.program, nest.instances, cluster.instances, array)
            outside = value_out(self.program, nest.instances, inside, array)
            shown = first_of([again, outside] if "writes it" in why else [outside])
            message = f"tiles overlap, and {array} cannot be kept in the tile: {why}"
            return Declined("not-promotable", message, dependence=shown)
        return None

    def _sized(self, data: DataTile, nest: Nest) -> DataTile:
        """The data tile with the size of one element, if it will be a variable of one iteration (`contract.py`)."""
        if nest.band is None or data.array not in kept_by_iterations(self.program, nest.band, nest.instances):
            return data
        return replace(data, size_bytes=self.program.scop.arrays[data.array].element.size_bytes or 8)

    def internal_data(self, cluster: Cluster) -> tuple[DataTile, ...]:
        """Arrays that the outputs of a cluster make for themselves, tile by tile, and nobody else needs."""
        every = Nest(all_instances(cluster.outputs), cluster.outputs[0].node)
        extension = cluster.tile_of.intersect_domain(every.instances).reverse()
        found: list[DataTile] = []
        dropped = self.dropped_with(cluster)
        inside = [*(p.nest for p in cluster.producers), *cluster.outputs]
        for array in self._written_arrays(every):
            flow = self.program.dependences.flow_by_array.get(array)
            if array in self.program.scop.live_out or flow is None or flow.is_empty():
                continue
            plan = plan_buffer(
                self.program, self.refs, cluster.tile_of, every, extension, array, self.outer, self.typical, dropped
            )
            if isinstance(plan, str) or plan.copy_out is not None or plan.fill is not None or plan.guard is not None:
                continue
            plan = self._sized(plan, every)
            if self._bytes((*cluster.data, *found, plan), inside) <= self.space:
                found.append(plan)
        return tuple(found)

    def _bytes(self, data: Iterable[DataTile], nests: list[Nest]) -> int:
        """What the buffers of a tile take that runs these nests in their order."""
        if self.program.options.gpu:
            return sum(one.size_bytes for one in data)
        lives = []
        steps_of: dict[str, list[int]] = {}
        for k, nest in enumerate(nests):
            for name in nest.statements:
                steps_of.setdefault(name, []).append(k)
        for one in data:
            element = self.program.scop.arrays[one.array].element
            size = element.size_bytes or 8
            extents = one.extents if one.size_bytes > size else (1,) * len(one.extents)  # a variable, see `_sized`
            steps = [k for name, _ in one.accesses for k in steps_of.get(name, ())]
            first = -1 if one.fill is not None else min(steps)  # all that is copied in is so first of all
            lives.append(Life(one.array, (element.text,), size, extents, first, max(steps)))
        return bytes_for(lives)

    def _needed_before(self, between: list[Nest], nest: Nest) -> isl.UnionSet:
        """Instances whose values are read by nests that stay between the nest's place and the cluster's."""
        found = empty_set(self.flow)
        out = self.outer.same_iteration(self.near.flow_from(nest.instances))
        read = set(names(out.range()))
        for other in between:
            if read.isdisjoint(self.near.statements(other)):
                continue
            found = found.union(out.intersect_range(other.instances).domain())
        return found

    def _with_sources(self, nest: Nest, needed: isl.UnionSet) -> isl.UnionSet:
        """With all that runs in the same iterations of a nest's parallel loops, if these instances read some of it."""
        own = self.outer.same_iteration(self.near.flow_from(nest.instances).intersect_range(needed))
        if own.domain().is_subset(needed):
            return needed
        assert nest.band is not None
        loops = values(self.outer.members + nest.band.members[: nest.band.coincident_prefix], nest.instances)
        return needed.apply(loops).apply(loops.reverse()).coalesce()

    def _needed_later(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap) -> bool:
        """Whether nests after the cluster, in the same iteration of the outer loops, read values of the tiles."""
        out = self.outer.same_iteration(self.near.flow_from(extension.range()))
        out = out.subtract_range(self.dropped).subtract_range(cluster.instances)
        if not self.read_by_copies.isdisjoint(names(out.range())):
            return True
        later = [self.nests[place] for place in self.near.targets(out) if place > cluster.position]
        return any(not out.intersect_range(other.instances).is_empty() for other in later)

    def _in_place(self, cluster: Cluster, nest: Nest, data: list[DataTile]) -> Declined | None:
        """A tile that writes cells back must not be one that others still read the old values of."""
        for kept in data:
            if kept.copy_out is None:
                continue
            if kept.fill is not None and not kept.fill.range().intersect(kept.copy_out.range()).is_empty():
                return Declined(
                    "input-overwritten",
                    f"{kept.array} is updated in place and needed afterwards, and tiles overlap",
                    {"array": kept.array},
                    overwriting(self.program, nest.instances, nest.instances, kept.array),
                )
            for name in (*nest.statements, *names(cluster.instances)):
                for access in self.program.statements[name].accesses:
                    from_array = access.array == kept.array and (name, access.ref) not in kept.accesses
                    if from_array and access.kind is AccessKind.READ:
                        return Declined(
                            "input-overwritten",
                            f"{kept.array} is updated in place, needed afterwards, and read by overlapping tiles",
                            {"array": kept.array},
                            overwriting(self.program, cluster.instances, nest.instances, kept.array),
                        )
        return None

    def _tiles_clash(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap, array: str) -> bool:
        """Whether a tile of the nest writes a cell of the array itself that another tile of the cluster writes."""
        own = extension.apply_range(self._writes(nest.instances, array))
        others = cluster.tile_of.reverse().apply_range(self._writes(cluster.instances, array))
        pairs = own.apply_range(others.reverse())
        return not pairs.subtract(pairs.domain().identity()).is_empty()

    def _writes(self, instances: isl.UnionSet, array: str) -> isl.UnionMap:
        found = empty_map(self.flow)
        for access in self._accesses(instances, array):
            if access.kind is not AccessKind.READ:
                found = found.union(isl.UnionMap.from_map(access.relation))
        return found.intersect_domain(instances)

    def _hazard(
        self,
        cluster: Cluster,
        between: list[Nest],
        nest: Nest,
        extension: isl.UnionMap,
        stays_global: set[str],
    ) -> Declined | None:
        """Whether moving the nest into the tiles lets it read what was overwritten, or overwrite what is read."""
        moved = extension.range()
        written = set(self._written_arrays(nest))
        kept_inside = {d.array for d in cluster.data if d.copy_out is None}
        for array in stays_global:
            if self._tiles_clash(cluster, nest, extension, array):
                return Declined(
                    "order-of-writes",
                    f"tiles of its consumer write cells of {array} that other tiles would write again",
                    {"array": array},
                    overwriting(self.program, nest.instances, cluster.instances, array),
                )
        members = [*cluster.outputs, *(p.nest for p in cluster.producers)]
        for other in (*between, *members):
            in_cluster = any(other is o for o in members)
            both = self.near.both(nest, other)
            for array in self.program.scop.arrays if both else ():
                if array not in both:
                    continue
                if self._stays_inside(nest, array) and self.refs.reads_own_values(nest, array):
                    continue
                reads = self._cells(moved, array, write=False)
                writes_other = self._cells(other.instances, array, write=True)
                safe = in_cluster and array in kept_inside
                overwritten = not safe and not reads.intersect(writes_other).is_empty()
                if overwritten and not self.refs.reads_own_values(nest, array):
                    return Declined(
                        "input-overwritten",
                        f"{array}, which it reads, is overwritten before its consumer's tiles run",
                        {"array": array},
                        overwriting(self.program, nest.instances, other.instances, array),
                    )
                if array in written and not in_cluster:
                    touched = self._cells(other.instances, array, write=True)
                    if not self._cells(moved, array, write=True).intersect(touched).is_empty():
                        return Declined(
                            "order-of-writes",
                            f"another nest writes {array} between it and its consumer",
                            {"array": array},
                            overwriting(self.program, nest.instances, other.instances, array),
                        )
        return None

    def _cells(self, instances: isl.UnionSet, array: str, write: bool) -> isl.UnionSet:
        found = empty_set(instances)
        for access in self._accesses(instances, array):
            if (access.kind is not AccessKind.READ) == write:
                relation = isl.UnionMap.from_map(access.relation).intersect_domain(instances)
                found = found.union(relation.range())
        return found

    def _accesses(self, instances: isl.UnionSet, array: str) -> list[Access]:
        return [a for s in names(instances) for a in self.program.statements[s].accesses if a.array == array]

    def _judged(
        self,
        cluster: Cluster,
        nest: Nest,
        extension: isl.UnionMap,
        data: list[DataTile],
        overlapping: bool,
        readers: list[Nest],
    ) -> Estimate | Declined:
        """Section 5.4: fuse where the cost falls, or where the user's threshold allows the recomputation.

        The cost is the time that the machine's model predicts for the best sizes of either way; where it says nothing,
        repeated arithmetic against the traffic that is saved.
        readers: other nests that would have to compute its values, too
        """
        saved, gone = 0.0, self.program.options.gpu
        for array in self._written_arrays(nest):
            size = self.program.scop.arrays[array].element.size_bytes or 8
            kept = next((d for d in data if d.array == array), None)
            # Kept in the tile: neither written (with the read for ownership) nor read again; else not read again.
            inside = kept is not None and kept.copy_out is None
            saved += 3.0 * size if inside else 1.0 * size
            gone = gone and inside
        outer = len(self.outer.members)
        known = self.measured.setdefault(nest, {})
        found = estimate(
            self.program, self.typical, extension, nest.instances, saved, outer, self._rates(), not overlapping, known
        )
        numbers: dict[str, Any] = {
            "recompute_percent": round(found.recompute_percent, 2),
            "extra_cycles": round(found.extra_cycles),
            "saved_cycles": round(found.saved_cycles),
        }
        limit = self.program.options.max_recompute
        if limit is not None:
            if found.recompute_percent > limit:
                return Declined(
                    "recompute-limit",
                    f"fusion would repeat {found.recompute_percent:.0f} % of its instances, "
                    f"more than --max-recompute {limit:g}",
                    numbers,
                )
            return found
        judged = self.judge(self.program, cluster, nest, readers)
        if judged is None and nest.copied:
            return self._shared(cluster, nest, nest.instances, "earlier")
        if judged is not None:
            fused, apart = (float(f"{s * 1e6:.3g}") for s in (judged.fused.seconds, judged.apart_seconds))
            found = replace(found, fused_us=fused, apart_us=apart)
            if nest.copied and fused > apart:
                return Declined(
                    "shared-producer",
                    f"others read the same values, and computing them for each reader would take {fused:g} us, by the "
                    f"model of the machine, instead of {apart:g} us",
                    numbers | {"fused_us": fused, "apart_us": apart},
                    self._read_elsewhere(cluster, nest),
                )
            if overlapping and fused > apart:
                return Declined(
                    "recompute-cost",
                    f"fusion would repeat {found.recompute_percent:.0f} % of its instances and take {fused:g} us in "
                    f"tiles of {told_sizes(judged.fused.tile)}, by the model of the machine, instead of {apart:g} us",
                    numbers | {"fused_us": fused, "apart_us": apart},
                )
        elif found.extra_cycles > found.saved_cycles + (START_CYCLES if gone else 0.0):
            return Declined(
                "recompute-cost",
                f"fusion would repeat {found.recompute_percent:.0f} % of its instances, "
                "which costs more than the memory traffic that it saves",
                numbers,
            )
        return found

    def _rates(self) -> Rates:
        """What one core does in a cycle while all are busy; for GPUs what any machine does."""
        options = self.program.options
        if options.gpu:
            return Rates()
        machine = load_cpu(options.machine)
        cores = machine.cores if options.target == "openmp" else 1
        return Rates(machine.lanes(8) * machine.fma_per_cycle, machine.bytes_per_cycle(machine.memory, cores))

    def served(self, cluster: Cluster) -> None:
        """Forget the flow into a cluster that is built from nests that run elsewhere as well: tiles have their values.

        What runs elsewhere as well itself still reads the values there. What its copies in the tiles read of others is
        flow into a statement of another name, which no cluster to come can have inside.
        """
        self._built += (cluster,)
        copied = [p for p in cluster.producers if p.nest.copied]
        if not copied:
            return
        inside = cluster.instances
        once = reduce(isl.UnionSet.subtract, (p.reserved for p in copied), inside)
        d, every = self.program.dependences, reduce(isl.UnionSet.union, (p.nest.instances for p in copied))
        ran = reduce(isl.UnionSet.union, (p.extension.range() for p in copied))

        def left(flow: isl.UnionMap) -> isl.UnionMap:
            reading = [_into_copy(m) for m in maps(flow.intersect_range(ran).subtract_domain(inside))]
            self.read_by_copies.update(map(out_name, reading))
            still = flow.subtract(flow.intersect_domain(every).intersect_range(once))
            return union_of(reading, still)

        by_array = {array: left(flow) for array, flow in d.flow_by_array.items()}
        known = replace(d, flow=left(d.flow), flow_by_array=by_array)
        self.program = replace(self.program, dependences=known)
        self.flow, self.near = known.flow, Neighbours(self.program, self.nests)

    def _reserved(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap, shared: isl.UnionSet) -> isl.UnionSet:
        """(20), unless nobody who runs needs a value of it.

        All readers stand later and are decided, or in earlier iterations of the outer loops and run as they are.
        """
        rest = nest.instances.subtract(extension.range())
        if not rest.is_empty():
            flow = self.near.flow_from(nest.instances)
            flow = flow.subtract_range(self.dropped_with(cluster)).subtract_range(nest.instances)
            needed = flow.domain().union(self.program.dependences.last_writer.domain())
            if rest.intersect(needed).is_empty():
                rest = empty_set(rest)
        return rest.union(shared).coalesce()

    def _guarded(self, reserved: isl.UnionSet) -> tuple[isl.UnionSet, isl.Set | None]:
        """What is reserved, or nothing and a condition on the sizes if only an image of a few cells would need it."""
        if reserved.is_empty() or not reserved.intersect_params(self.typical).is_empty():
            return reserved, None
        known = self.program.scop.context.intersect(self.program.scop.assumed)
        pieces = known.subtract(reserved.params()).coalesce().get_basic_set_list()
        for k in range(pieces.n_basic_set()):
            usual = isl.Set.from_basic_set(pieces.get_at(k))
            if not self.typical.intersect(usual).is_empty():
                return empty_set(reserved), usual
        return reserved, None

    def dropped_with(self, cluster: Cluster) -> isl.UnionSet:
        """`dropped`, once the cluster is built as it is."""
        found = self.dropped
        for producer in cluster.producers:
            if (dropped := _dropped_of(producer)) is not None:
                found = found.union(dropped)
        return found


@lru_cache(maxsize=1000)
def _dropped_of(producer: Producer) -> isl.UnionSet | None:
    """The instances of a producer that nobody needs, None where there are none."""
    found = producer.nest.instances.subtract(producer.extension.range()).subtract(producer.reserved)
    return None if found.is_empty() else found


def _into_copy(flow: isl.Map) -> isl.Map:
    """The flow into a copy of a statement."""
    name = isl.Id.read_from_str(flow.get_ctx(), f"{out_name(flow)}_copy")
    return flow.set_tuple_id(isl.dim_type.out, name)


def _is_torn(kept: DataTile) -> bool:
    return kept.fill is not None and kept.fill.n_basic_map() > MOST_PIECES


def _irregular(extension: isl.UnionMap, outer: int) -> bool:
    """Whether a tile's instances are scattered so that isl would take seconds to check what is made of them.

    One remainder for each tile loop, and one for a step or a halved subscript in each dimension, are usual. Without the
    latter, there may be a piece for each of the four sides of an image.
    """
    for piece in maps(extension):
        basics = piece.get_basic_map_list()
        remainders = max((basics.get_at(k).dim(isl.dim_type.div) for k in range(basics.n_basic_map())), default=0)
        most = MOST_PIECES if remainders > outer else 2 * MOST_PIECES
        if basics.n_basic_map() > most or remainders > 2 * outer:
            return True
    return False


def _hull_fits(exact: isl.Map, hull: isl.Map) -> bool:
    """Whether one interior tile of the hull is little larger than the exact one."""
    if hull.is_subset(exact):
        return True
    tile = middle_tile(exact.domain())
    if tile is None:
        return False
    more = hull.intersect_domain(tile).range()
    least = exact.intersect_domain(tile).range()
    if not (more.is_bounded() and least.is_bounded()):
        return False
    sizes = more.count_val(), least.count_val()
    if not all(size.is_int() for size in sizes):
        return False
    return bool(sizes[0].to_python() <= HULL_SLACK * sizes[1].to_python())


def output_band(nest: Nest) -> Band | None:
    """The band that is tiled, if the nest can be an output: permutable, with a parallel loop."""
    band = nest.band
    if band is None or not band.permutable or band.coincident_prefix == 0:
        return None
    return band


__all__ = ["Cluster", "Declined", "Fuser", "Producer", "out_name", "output_band"]
