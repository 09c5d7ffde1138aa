"""Tile shapes (Algorithm 2): which instances of a producer a tile needs, by the upward-exposed data of what it has.

The relation is (15) and (17), `{ [outer, tile] -> S[i] }`. Its proof obligation: it covers every instance whose value
an instance in the tile reads. It may hold more, as far as these are instances of the nest: whole iterations of its
parallel loops, and a hull or a box where that is little larger and far simpler.
"""

from __future__ import annotations

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.nests.nest import Nest, Outer, all_instances, values
from polyc.nests.samples import middle_tile
from polyc.passes.fusion.boxed import by_cells, count_at, is_ragged, is_simpler
from polyc.passes.fusion.cluster import MOST_PIECES, Cluster
from polyc.passes.fusion.neighbours import Neighbours
from polyc.poly import coalesced, empty_map, has_remainders, maps, names, sets

HULL_SLACK = 1.1


class Shapes:
    """The tile shapes of the nests of one sequence."""

    def __init__(self, program: Program, near: Neighbours, outer: Outer, typical: isl.Set) -> None:
        self.program = program
        self.near = near
        self.outer = outer
        self.typical = typical
        self._last: tuple[Cluster, isl.UnionSet, isl.UnionMap] | None = None
        """The last `extension`, and what it is of: a copy that is asked about after its nest has the same."""

    def known(self, cluster: Cluster, nest: Nest) -> isl.UnionMap:
        """`extension` of a nest that the cluster reads from."""
        last = self._last
        if last is None or last[0] is not cluster or last[1] is not nest.instances:
            extension = self.extension(cluster, nest)
            assert extension is not None
            last = self._last = cluster, nest.instances, extension
        return last[2]

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
        tiles = _tiles(cluster)
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

    def footprints(self, cluster: Cluster) -> tuple[isl.Map, ...]:
        """(13), for the arrays that the producers make: what those read of them that were in the tile before."""
        found: list[isl.Map] = []
        tile_of = _of_outputs(cluster)
        for producer in reversed(cluster.producers):
            for array in self.near.written(producer.nest):
                reads = empty_map(tile_of)
                for name in names(tile_of.domain()):
                    for access in self.program.statements[name].accesses:
                        if access.array == array and access.kind is AccessKind.READ:
                            reads = reads.union(isl.UnionMap.from_map(access.relation))
                found += maps(tile_of.reverse().apply_range(reads).coalesce())
            tile_of = tile_of.union(producer.extension.reverse())
        return tuple(found)

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
        what of the nest is in other tiles already is none of them. A statement's hull may not ask for values of the
        nest that the hulls of others leave out.
        """
        found = self._one_piece(cluster, extension, nest.instances)
        if len(nest.statements) > 1:
            inside = self.outer.same_iteration(self.near.flow_from(nest.instances).intersect_range(nest.instances))
            if not found.subtract(extension).apply_range(inside.reverse()).is_subset(found):
                return extension
        return found

    def _one_piece(self, cluster: Cluster, relation: isl.UnionMap, within: isl.UnionSet) -> isl.UnionMap:
        """Each map of a relation from tiles, or its hull where that is little larger, as far as it is `within`."""
        found = empty_map(relation)
        tiles = _tiles(cluster)
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


def irregular(extension: isl.UnionMap, outer: int) -> bool:
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


def _of_outputs(cluster: Cluster) -> isl.UnionMap:
    """`{ S[i] -> [outer, tile] }` of the outputs alone."""
    return cluster.tile_of.intersect_domain(all_instances(cluster.outputs))


def _tiles(cluster: Cluster) -> isl.UnionSet:
    """The tiles that run, in few pieces: isl has ended the process over a box that was cut to many."""
    return coalesced(_of_outputs(cluster).range())


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
