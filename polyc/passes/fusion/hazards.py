"""Whether a nest may run inside the tiles: nothing that it reads may be overwritten, and no write may be overtaken.

The proof obligation of moving a producer's instances (the range of its extension) into the tiles of its consumers, for
each array that they touch and that no tile keeps for itself:

- no tile of the producer writes a cell that another tile writes, since tiles run in any order (`_tiles_clash`);
- no instance of the producer that stays at its old place writes a cell that one in the tiles touches before it in the
  region (`overtaken`);
- no nest between its old place and the tiles, and none in them, writes a cell that the instances read, unless they
  read values of their own; and no nest between writes a cell that they write (`moving`);
- of an array whose cells tiles copy out, no tile copies such a cell in, and nothing in the tiles reads the array itself
  (`in_place`).
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.witness import overwriting
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.nests.nest import Nest
from polyc.passes.buffers.promotion import DataTile, RefFlow
from polyc.passes.fusion.cluster import Cluster, Declined
from polyc.passes.fusion.neighbours import Neighbours
from polyc.poly import empty_map, empty_set, names


class Hazards:
    """The questions about the order of reads and writes, of the nests of one sequence."""

    def __init__(self, program: Program, near: Neighbours, refs: RefFlow) -> None:
        self.program = program
        self.near = near
        self.refs = refs

    def in_place(self, cluster: Cluster, nest: Nest, data: list[DataTile]) -> Declined | None:
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
        found = empty_map(self.program.dependences.flow)
        for access in self._accesses(instances, array):
            if access.kind is not AccessKind.READ:
                found = found.union(isl.UnionMap.from_map(access.relation))
        return found.intersect_domain(instances)

    def moving(
        self,
        cluster: Cluster,
        between: list[Nest],
        nest: Nest,
        extension: isl.UnionMap,
        stays_global: set[str],
    ) -> Declined | None:
        """Whether moving the nest into the tiles lets it read what was overwritten, or overwrite what is read."""
        moved = extension.range()
        written = set(self.near.written(nest))
        kept_inside = {d.array for d in cluster.data if d.copy_out is None}
        for array in stays_global:
            if self._tiles_clash(cluster, nest, extension, array):
                return Declined(
                    "order-of-writes",
                    f"tiles of its consumer write cells of {self.named(array)} that other tiles would write again",
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
                if self.near.stays_inside(nest, array) and self.refs.reads_own_values(nest, array):
                    continue
                reads = self._cells(moved, array, write=False)
                writes_other = self._cells(other.instances, array, write=True)
                safe = in_cluster and array in kept_inside
                overwritten = not safe and not reads.intersect(writes_other).is_empty()
                if overwritten and not self.refs.reads_own_values(nest, array):
                    return Declined(
                        "input-overwritten",
                        f"{self.named(array)}, which it reads, is overwritten before its consumer's tiles run",
                        {"array": array},
                        overwriting(self.program, nest.instances, other.instances, array),
                    )
                if array in written and not in_cluster:
                    touched = self._cells(other.instances, array, write=True)
                    if not self._cells(moved, array, write=True).intersect(touched).is_empty():
                        return Declined(
                            "order-of-writes",
                            f"another nest writes {self.named(array)} between it and its consumer",
                            {"array": array},
                            overwriting(self.program, nest.instances, other.instances, array),
                        )
        return None

    def overtaken(self, moved: isl.UnionSet, reserved: isl.UnionSet, stays_global: set[str]) -> Declined | None:
        """Whether an instance that stays before the tiles writes what one that moves into them touches before it."""
        known = self.program.dependences
        staying = reserved.subtract(moved)
        late = known.false.union(known.private_false).intersect_domain(moved).intersect_range(staying)
        for array in sorted(stays_global) if not late.is_empty() else ():
            touched = empty_map(known.flow)
            for access in self._accesses(moved, array):
                touched = touched.union(isl.UnionMap.from_map(access.relation))
            if not late.intersect(touched.apply_range(self._writes(staying, array).reverse())).is_empty():
                return Declined(
                    "order-of-writes",
                    f"instances of it that no tile needs write cells of {self.named(array)} after those in the tiles",
                    {"array": array},
                    overwriting(self.program, moved, staying, array),
                )
        return None

    def named(self, array: str) -> str:
        """An array as C has it."""
        return self.program.scop.arrays[array].c_name

    def _cells(self, instances: isl.UnionSet, array: str, write: bool) -> isl.UnionSet:
        found = empty_set(instances)
        for access in self._accesses(instances, array):
            if (access.kind is not AccessKind.READ) == write:
                relation = isl.UnionMap.from_map(access.relation).intersect_domain(instances)
                found = found.union(relation.range())
        return found

    def _accesses(self, instances: isl.UnionSet, array: str) -> list[Access]:
        return [a for s in names(instances) for a in self.program.statements[s].accesses if a.array == array]
