"""Which arrays have their values in the tiles of a cluster, and what their buffers take.

Proof obligation, for an array of which tiles that overlap keep the values: each value that is read outside of the tile
that makes it is stored to the array, by one tile only, and each that a tile reads of the array itself is copied in
before (`promotion.py` plans the copies).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polyc.analysis.witness import first_of, overwriting, value_out
from polyc.cost.storage import STACK_BYTES, Life, bytes_for
from polyc.machine import load_gpu
from polyc.machine.gpu import STATIC_SHARED_BYTES
from polyc.model.program import Program
from polyc.nests.lifetimes import kept_by_iterations
from polyc.nests.nest import Nest, Outer, all_instances
from polyc.passes.buffers.promotion import DataTile, RefFlow, plan_buffer
from polyc.passes.fusion.cluster import Cluster, Declined
from polyc.passes.fusion.neighbours import Neighbours


class TileData:
    """The buffers of the tiles of one sequence."""

    def __init__(self, program: Program, near: Neighbours, outer: Outer, refs: RefFlow, typical: isl.Set) -> None:
        self.program = program
        self.near = near
        self.outer = outer
        self.refs = refs
        self.typical = typical

    @property
    def space(self) -> int:
        """Bytes that the buffers of one tile may take."""
        options = self.program.options
        if not options.gpu:
            return STACK_BYTES
        return min(STATIC_SHARED_BYTES, load_gpu(options.machine).shared_bytes_per_block)

    def plan(
        self,
        cluster: Cluster,
        nest: Nest,
        extension: isl.UnionMap,
        array: str,
        overlapping: bool,
        elsewhere: isl.UnionSet,
        dropped: isl.UnionSet,
    ) -> DataTile | Declined | None:
        """How the array's values stay in the tile; None: they go to the array itself, each by one tile only.

        Producers that are in the tile already and write the array too share one data tile with the new one.
        elsewhere: instances that run outside of the tiles as well, for others
        dropped: instances that nobody needs (`Fuser.dropped_with`)
        """
        known = next((d for d in cluster.data if d.array == array), None)
        also = [p for p in cluster.producers if array in self.near.written(p.nest)]
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

    def internal(self, cluster: Cluster, dropped: isl.UnionSet) -> tuple[DataTile, ...]:
        """Arrays that the outputs of a cluster make for themselves, tile by tile, and nobody else needs."""
        every = Nest(all_instances(cluster.outputs), cluster.outputs[0].node)
        extension = cluster.tile_of.intersect_domain(every.instances).reverse()
        found: list[DataTile] = []
        inside = [*(p.nest for p in cluster.producers), *cluster.outputs]
        for array in self.near.written(every):
            flow = self.program.dependences.flow_by_array.get(array)
            if array in self.program.scop.live_out or flow is None or flow.is_empty():
                continue
            plan = plan_buffer(
                self.program,
                self.refs,
                cluster.tile_of,
                every,
                extension,
                array,
                self.outer,
                self.typical,
                dropped,
                whatever=True,
            )
            if isinstance(plan, str) or plan.copy_out is not None or plan.fill is not None or plan.guard is not None:
                continue
            plan = self._sized(plan, every)
            if self.bytes_of((*cluster.data, *found, plan), inside) <= self.space:
                found.append(plan)
        return tuple(found)

    def bytes_of(self, data: Iterable[DataTile], nests: list[Nest]) -> int:
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
