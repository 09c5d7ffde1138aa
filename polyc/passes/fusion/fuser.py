"""Who may be fused with whom, of the nests of one sequence, and why not: the steps of Algorithm 2, and Algorithm 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

from polyc.analysis.witness import carried, value_out
from polyc.cost.cpu_sizes import Judged
from polyc.cost.storage import STACK_BYTES
from polyc.cost.time import START_CYCLES, START_SECONDS, Estimate, Rates, estimate
from polyc.machine import load_cpu, load_gpu
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Array, Statement
from polyc.model.tree import Band
from polyc.model.witness import Finder
from polyc.nests.contractions import Contraction
from polyc.nests.nest import Nest, Outer, has_loops, values
from polyc.nests.samples import sample_parameters, written_cells
from polyc.nests.strides import strides_of
from polyc.nests.tiling import tile_members, told_sizes
from polyc.passes.buffers.promotion import DataTile, RefFlow
from polyc.passes.fusion.cluster import MOST_PIECES, Cluster, Declined, Producer, dropped_of
from polyc.passes.fusion.copies import Copies, served, with_sources
from polyc.passes.fusion.hazards import Hazards
from polyc.passes.fusion.neighbours import Neighbours
from polyc.passes.fusion.shapes import Shapes, irregular
from polyc.passes.fusion.tile_data import TileData
from polyc.passes.memory.lookups import tables_of
from polyc.passes.products.registers import contraction_sizes
from polyc.poly import box_volume, empty_set, names, project, sets

_Asked = tuple[tuple[Cluster, ...], Cluster, Nest, tuple[Nest | None, ...], frozenset[str]]
"""The clusters that are built, the one that a nest may join, the nests that wait, and arrays that are torn."""

Judge = Callable[[Program, Cluster, Nest, list[Nest]], Judged | None]
"""What the machine's model says of a cluster with one producer more, which other nests would compute, too."""


LONG_LOOP = 64
"""Iterations of a sequential loop that a kernel of its own is worth, on a GPU."""
MOST_MOVED = 3.0
"""How often what a nest writes moves to and from memory, at most: it is written, which reads it first, and read."""


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
        self.refs = RefFlow(program)
        self.typical = sample_parameters(program)
        self.measured: dict[Nest, dict[str, tuple[float, float, float]]] = {}
        """What `estimate` found of nests, whatever the tiles."""
        self.copies = Copies()
        self.tables: dict[int, tuple[Band, frozenset[str]]] = {}
        """`tables_of` bands, by their identity."""
        self._starts: dict[tuple[Nest, Band, tuple[int, ...], int | None], Cluster] = {}
        """The answers of `cluster`."""
        self._answers: dict[_Asked, Cluster | Declined | None] = {}
        """Those of `extend`: a group is grown again where it did not come out as it was planned."""
        self._given, self._near = program, Neighbours(program, nests)
        self.begin(set())

    def begin(self, single: set[int]) -> None:
        """Nothing is built yet.

        single: the places of nests that must not be copied; more come along
        """
        self._ask_of(self._given, self._near)
        self.single = single
        self.torn = set[str]()
        """Arrays with several writers, not all of which can be in one tile."""
        self.read_by_copies = set[str]()
        """Names for the statements of copies that are built, see `served`."""
        self.dropped = empty_set(self.flow)
        """Instances that no tile runs and that run nowhere else, since nobody needs them."""
        self._built: tuple[Cluster, ...] = ()
        """From these follow the dependences that are left, and what is dropped."""

    def _ask_of(self, program: Program, near: Neighbours) -> None:
        """Take the dependences of a program for those that are left to keep: see `served`."""
        self.program, self.near, self.flow = program, near, program.dependences.flow
        self.shapes = Shapes(program, near, self.outer, self.typical)
        self.hazards = Hazards(program, near, self.refs)
        self.data = TileData(program, near, self.outer, self.refs, self.typical)

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
        return self.copies.of(position, nest)

    def without_sources(self, inside: list[Nest], waiting: list[Nest | None]) -> set[int]:
        """The places of copied nests among some that are in a tile, of which a source would be stored just for them."""
        return self.copies.without_sources(self.near, inside, waiting, self._is_small)

    def _is_small(self, nest: Nest) -> bool:
        """Whether all that a nest writes stays in a cache until it is read."""
        return self.written_bytes(nest) <= STACK_BYTES

    def written_bytes(self, nest: Nest) -> float:
        """Of what a nest makes, at the sample sizes."""
        arrays = [self.program.scop.arrays[array] for array in self.near.touched(nest)[1]]
        size = max((array.element.size_bytes or 8 for array in arrays), default=8)
        cells = (written_cells(self.program, piece.intersect_params(self.typical)) for piece in sets(nest.instances))
        return size * sum(cells)

    # --- who joins -----------------------------------------------------------------------------------------------

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
        if (why := self._barred(cluster, nest)) is not None:
            return why
        extension = self.shapes.known(cluster, nest)
        if extension.is_empty():
            return None  # at the sizes of all arrays no tile needs any of it
        if irregular(extension, len(self.outer.members) + len(cluster.tile)):
            return Declined("irregular-tiles", "its tiles take too many pieces or remainders to describe")
        overlapping = not extension.reverse().is_single_valued()
        shared, ran = self._needed_before(between, nest), extension.range()
        if nest.copied:
            shared = with_sources(self.near, self.outer, nest, shared)
        twice = shared.intersect(ran)
        wanted = None if nest.copied else self._wanted(cluster, nest, extension, twice, overlapping)
        # Before buffers are planned: it is what keeps most nests out. Of an array that is updated, more is to say.
        if wanted is not None and self._is_only_writer(nest):
            return wanted
        elsewhere = shared if nest.copied else empty_set(shared)
        producer_data = self._planned(cluster, nest, extension, overlapping, elsewhere)
        if isinstance(producer_data, Declined):
            return producer_data
        if (why := self._scattered(producer_data, position, waiting)) is not None:
            return why
        if (why := self.hazards.in_place(cluster, nest, producer_data)) is not None:
            return why
        stays_global = set(self.near.written(nest)) - {d.array for d in producer_data if d.copy_out is None}
        if wanted is not None:
            return wanted
        if not twice.is_empty() and stays_global:
            return self._shared(cluster, nest, twice, "earlier")
        if (why := self.hazards.moving(cluster, between, nest, extension, stays_global)) is not None:
            return why
        readers = [other for other in between if self.near.reads_from(other, nest)] if nest.copied else []
        judged = self._judged(cluster, nest, extension, producer_data, overlapping, readers)
        if isinstance(judged, Declined):
            return judged
        replaced = {d.array for d in producer_data}
        data = (*producer_data, *(d for d in cluster.data if d.array not in replaced))
        inside = [nest, *(p.nest for p in cluster.producers), *cluster.outputs]
        bytes_used = self.data.bytes_of(data, inside)
        if bytes_used > self.data.space:
            return Declined(
                "tile-too-large",
                f"the tile's buffers would take {bytes_used} bytes",
                {"bytes": bytes_used, "limit": self.data.space},
            )
        reserved, guard = self._guarded(self._reserved(cluster, nest, extension, shared))
        if (why := self.hazards.overtaken(ran, reserved, stays_global)) is not None:
            return why
        if any(d.guard is not None and extension.intersect_params(d.guard).is_empty() for d in producer_data):
            return None  # at the sizes for which its buffers are large enough no tile needs any of it
        return replace(
            cluster,
            tile_of=cluster.tile_of.union(extension.reverse()),
            known=cluster.instances.union(ran),
            producers=(Producer(nest, extension, reserved, judged, guard), *cluster.producers),
            data=data,
        )

    def _scattered(self, data: list[DataTile], position: int, waiting: list[Nest | None]) -> Declined | None:
        """Why what tiles keep of arrays cannot be copied from and to these."""
        for kept in data:
            stored = 0 if kept.copy_out is None else kept.copy_out.n_basic_map()
            torn = _is_torn(kept) and not self._may_be_whole(kept.array, position, waiting)
            if torn or stored > 4 * MOST_PIECES:  # the owner of a cell differs at each border
                what = "read and it does not write" if torn else "store for later"
                message = f"the cells of {kept.array} that tiles {what} take too many pieces to copy"
                return Declined("scattered-copies", message, {"array": kept.array})
        return None

    def _barred(self, cluster: Cluster, nest: Nest) -> Declined | None:
        """Why a nest whose values a cluster reads can run in no tiles of others, whatever these look like."""
        if nest.band is None or nest.band.coincident_prefix == 0:
            return Declined(
                "fewer-parallel-loops",
                "it has no parallel loop, and its consumer has (m > n in Algorithm 2)",
                {"m": 1, "n": 0},
                carried(self.program, self.outer.members, nest.band.members[0]) if nest.band is not None else None,
            )
        if any(self._depends_on_data(nest, self.program.statements[s]) for s in nest.statements):
            return Declined("data-dependent", "what it writes depends on data, so that its tiles are not known")
        if all(map(self.scatters, cluster.outputs)):
            return Declined("data-dependent", "its consumer writes what data choose, and gains nothing by tiles")
        if (own := self._array_of_iterations(nest)) is not None:
            message = (
                f"each of its iterations fills an array of its own, {own.c_name}, which would be one of the tile's"
            )
            return Declined("private-array", message, {"array": own.name})
        return (
            self._registers_alone(nest)
            or self._too_long_for_threads(cluster, nest)
            or self._loses_parallel_loops(cluster, nest)
        )

    def _array_of_iterations(self, nest: Nest) -> Array | None:
        """An array with dimensions that each iteration of a nest has for itself."""
        if self.program.options.gpu:
            return None
        arrays = self.program.scop.arrays
        written = (
            a for s in nest.statements for a in self.program.statements[s].accesses if a.kind is not AccessKind.READ
        )
        own = (arrays[a.array] for a in written if self.near.stays_inside(nest, a.array))
        return next((array for array in own if array.rank), None)

    def _planned(
        self,
        cluster: Cluster,
        nest: Nest,
        extension: isl.UnionMap,
        overlapping: bool,
        elsewhere: isl.UnionSet,
    ) -> list[DataTile] | Declined:
        """What a tile keeps of the arrays that a producer writes. Parameters: as of `TileData.plan`."""
        planned: list[DataTile] = []
        dropped = self.dropped_with(cluster)
        for array in self.near.written(nest):
            plan = self.data.plan(cluster, nest, extension, array, overlapping, elsewhere, dropped)
            if isinstance(plan, Declined):
                return plan
            if plan is None:
                continue
            if (reader := self._reader_in_registers(cluster, array)) is not None:
                return Declined(
                    "operand",
                    f"{array} is an operand of {reader}, which reads it from panels of its own, a register tile at a "
                    "time",
                    {"array": array},
                )
            if (reader := self._reader_of_rows(cluster, array)) is not None:
                return Declined(
                    "table",
                    f"{array} is a table, whose elements become permutations of vectors in {reader}; in a tile's "
                    "buffer each would be a load",
                    {"array": array},
                )
            planned.append(plan)
        return planned

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
        return array not in self.torn and any(array in self.near.written(n) for n in others)

    def torn_by(self, cluster: Cluster) -> set[str]:
        """Arrays of which a tile would copy cells in too many pieces: those that write them did not come along."""
        return {kept.array for kept in cluster.data if _is_torn(kept)} - self.torn

    def _single(self, cluster: Cluster, nest: Nest) -> Declined | None:
        """Why copies of a nest in the tiles of all its readers would not be all that is needed of it."""
        if any(array in self.program.scop.live_out for array in self.near.written(nest)):
            why = "others read the same values, which are needed after the region, too"
            return Declined("shared-producer", why, dependence=self._read_elsewhere(cluster, nest))
        if self._needed_later(cluster, nest, isl.UnionMap.from_domain(nest.instances).reverse()):
            return self._shared(cluster, nest, nest.instances, "later")
        return None

    def _read_elsewhere(self, cluster: Cluster, nest: Nest) -> Finder:
        """A value of a nest that others read than the cluster."""
        return value_out(self.program, nest.instances, (cluster.instances, nest.instances))

    def _product(self, nest: Nest) -> Contraction | None:
        """The sum of products that a nest is, if it has a tile of registers by itself."""
        found, sizes = contraction_sizes(self.program, nest.band) if nest.band is not None else (None, ())
        return found if sizes else None

    def _reader_in_registers(self, cluster: Cluster, array: str) -> str | None:
        """An output of the cluster that becomes a sum of products in vector registers, and has the array as a factor:
        one in a tile's buffer would keep it from its panels, and its panels can compute it as they are filled."""
        if self.program.options.gpu:
            return None
        for nest in cluster.outputs:
            found = self._product(nest)
            if found is not None and any(access.array == array for access in found.operands):
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

    def scatters(self, nest: Nest) -> bool:
        """Whether data choose the elements that all statements of a nest write, on a CPU: its rows as they were written
        touch the least, since nobody knows which elements a tile meets again."""
        statements = [self.program.statements[name] for name in nest.statements]
        written = ([a for a in s.accesses if a.kind is not AccessKind.READ] for s in statements)
        return not self.program.options.gpu and all(any(a.loose or not a.exact for a in own) for own in written)

    def _depends_on_data(self, nest: Nest, statement: Statement) -> bool:
        """Whether it depends on data which elements a statement writes, or whether it does.

        What it reads may: a read of any element of a row is one of the whole row.
        """
        return statement.opaque and any(
            access.kind is AccessKind.MAY_WRITE and not self.near.stays_inside(nest, access.array)
            for access in statement.accesses
        )

    # --- recomputation, and when it is right ---------------------------------------------------------------------

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

    def _needed_later(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap) -> bool:
        """Whether nests after the cluster, in the same iteration of the outer loops, read values of the tiles."""
        out = self.outer.same_iteration(self.near.flow_from(extension.range()))
        out = out.subtract_range(self.dropped).subtract_range(cluster.instances)
        if not self.read_by_copies.isdisjoint(names(out.range())):
            return True
        later = [self.nests[place] for place in self.near.targets(out) if place > cluster.position]
        return any(not out.intersect_range(other.instances).is_empty() for other in later)

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
        saved, gone = self._saved(nest, data)
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
        if found.all_in_each and not self.program.options.gpu and self._is_small(nest):
            message = "each tile would compute all of it, which stays in a cache where it is computed once"
            return Declined("recompute-cost", message, numbers)
        judged = self.judge(self.program, cluster, nest, readers)
        if judged is None and nest.copied:
            return self._shared(cluster, nest, nest.instances, "earlier")
        if judged is not None:
            return self._by_model(cluster, nest, found, judged, overlapping, numbers)
        if found.extra_cycles > found.saved_cycles + (START_CYCLES if gone else 0.0):
            return Declined(
                "recompute-cost",
                f"fusion would repeat {found.recompute_percent:.0f} % of its instances, "
                "which costs more than the memory traffic that it saves",
                numbers,
            )
        return found

    def _saved(self, nest: Nest, data: list[DataTile]) -> tuple[float, bool]:
        """The bytes of traffic that a tile's buffers save for each instance, and whether on a GPU no array of the nest
        is left in memory. Kept in the tile, an array is neither written (with the read for ownership) nor read again;
        else it is not read again."""
        saved, gone = 0.0, self.program.options.gpu
        for array in self.near.written(nest):
            size = self.program.scop.arrays[array].element.size_bytes or 8
            kept = next((d for d in data if d.array == array), None)
            inside = kept is not None and kept.copy_out is None
            saved += MOST_MOVED * size if inside else 1.0 * size
            gone = gone and inside
        return saved, gone

    def _by_model(
        self,
        cluster: Cluster,
        nest: Nest,
        found: Estimate,
        judged: Judged,
        overlapping: bool,
        numbers: dict[str, Any],
    ) -> Estimate | Declined:
        """What the machine's model says of both ways."""
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
        return found

    def _registers_alone(self, nest: Nest) -> Declined | None:
        """That a sum of products would lose its tile of registers in the tiles of another nest, which costs more than
        fusion may save.

        On a CPU each step on a vector of the result loads and stores it then, in about a cycle more; without a loop
        that goes along the rows of what it reads there are no vectors, but sums that wait for themselves. On a GPU each
        thread loads both operands of each product.
        """
        program, band = self.program, nest.band
        if program.options.max_recompute is not None or band is None:
            return None
        found = self._product(nest)
        if found is None:
            return None
        size = program.scop.arrays[found.array].element.size_bytes
        if program.options.gpu:
            gpu = load_gpu(program.options.machine)
            cycles = gpu.cycles_of_loads(2) / gpu.multiprocessors
            saved = MOST_MOVED * self.written_bytes(nest) / gpu.bytes_per_cycle() + START_SECONDS * gpu.clock_mhz * 1e6
        else:
            machine = load_cpu(program.options.machine)
            strided = all(strides_of(m, program).far for m in band.members if m.coincident)
            cycles = machine.fma_latency_cycles if strided else 1 / machine.lanes(size)
            saved = MOST_MOVED * self.written_bytes(nest) / self._rates().bytes
        lost = cycles * box_volume(program.statements[found.statement].domain.intersect_params(self.typical))
        if lost <= saved:
            return None
        where = "registers" if program.options.gpu else "vector registers"
        return Declined(
            "registers",
            f"{found.statement} sums up products in {where}, which it would not have in the tiles of another nest",
            {"lost_cycles": round(lost), "saved_cycles": round(saved)},
        )

    def _loses_parallel_loops(self, cluster: Cluster, nest: Nest) -> Declined | None:
        """That on a GPU a block would run parallel loops of a nest with long sums, which have threads of many blocks in
        a kernel of its own."""
        program, band = self.program, nest.band
        if not program.options.gpu or program.options.max_recompute is not None or band is None:
            return None
        own, shared = band.coincident_prefix, len(cluster.tile)
        if own <= shared or (len(band.members) == own and not has_loops(band.child)):
            return None
        message = f"it has {own} parallel loops around its sums, of which the tiles share out {shared} to blocks"
        return Declined("parallel-loops", message, {"parallel": own, "shared": shared})

    def _too_long_for_threads(self, cluster: Cluster, nest: Nest) -> Declined | None:
        """That on a GPU a tile of a product would wait for a nest of which each thread runs a long sequential loop,
        and has fewer threads for it than a kernel of its own."""
        program, band = self.program, nest.band
        if not program.options.gpu or program.options.max_recompute is not None or band is None:
            return None
        found = self._product(cluster.outputs[0])
        if found is None:
            return None
        parallel = values(band.members[: band.coincident_prefix], nest.instances)
        for name in nest.statements:
            domain = program.statements[name].domain.intersect_params(self.typical)
            here = isl.Set.from_union_set(parallel.intersect_domain(isl.UnionSet.from_set(domain)).range())
            steps = round(box_volume(domain) / max(1, box_volume(here)))
            if steps >= LONG_LOOP:
                message = (
                    f"each thread would run about {steps} iterations one after the other, while the others of its "
                    f"block wait with the product of {found.statement}"
                )
                return Declined("sequential-loop", message, {"iterations": steps, "product": found.statement})
        return None

    def _rates(self) -> Rates:
        """What one core does in a cycle while all are busy; for GPUs what any machine does."""
        options = self.program.options
        if options.gpu:
            return Rates()
        machine = load_cpu(options.machine)
        cores = machine.cores if options.target == "openmp" else 1
        return Rates(machine.lanes(8) * machine.fma_per_cycle, machine.bytes_per_cycle(machine.memory, cores))

    def served(self, cluster: Cluster) -> None:
        """Forget the flow into a cluster that is built from nests of which its tiles have copies."""
        self._built += (cluster,)
        if any(producer.nest.copied for producer in cluster.producers):
            known, read_by_copies = served(self.program.dependences, cluster)
            self.read_by_copies |= read_by_copies
            program = replace(self.program, dependences=known)
            self._ask_of(program, Neighbours(program, self.nests))

    def _reserved(self, cluster: Cluster, nest: Nest, extension: isl.UnionMap, shared: isl.UnionSet) -> isl.UnionSet:
        """(20), unless nobody who runs needs a value of it.

        All readers stand later and are decided, or in earlier iterations of the outer loops and run as they are; or are
        instances of the nest itself that tiles run.
        """
        ran = extension.range()
        rest = nest.instances.subtract(ran)
        if not rest.is_empty():
            flow = self.near.flow_from(nest.instances)
            flow = flow.subtract_range(self.dropped_with(cluster)).subtract_range(nest.instances.subtract(ran))
            needed = flow.domain().union(self.program.dependences.last_writer.domain())
            if rest.intersect(needed).is_empty():
                rest = empty_set(rest)
        return rest.union(shared).coalesce()

    def _guarded(self, reserved: isl.UnionSet) -> tuple[isl.UnionSet, isl.Set | None]:
        """What is reserved, or nothing and a condition on the sizes if only an image of a few cells would need it."""
        if reserved.is_empty() or not reserved.intersect_params(self.typical).is_empty():
            return reserved, None
        known = self.program.scop.context.intersect(self.program.scop.assumed)
        needing = project(reserved.params(), (p.name for p in self.program.scop.parameters if p.is_answer))
        pieces = known.subtract(needing).coalesce().get_basic_set_list()
        for k in range(pieces.n_basic_set()):
            usual = isl.Set.from_basic_set(pieces.get_at(k))
            if not self.typical.intersect(usual).is_empty():
                return empty_set(reserved), usual
        return reserved, None

    def dropped_with(self, cluster: Cluster) -> isl.UnionSet:
        """`dropped`, once the cluster is built as it is."""
        found = self.dropped
        for producer in cluster.producers:
            if (dropped := dropped_of(producer)) is not None:
                found = found.union(dropped)
        return found


def _is_torn(kept: DataTile) -> bool:
    return kept.fill is not None and kept.fill.n_basic_map() > MOST_PIECES


__all__ = ["Fuser"]
