"""Tile the outputs and fuse into each tile what it needs (Algorithms 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import permutations

import islpy as isl

from polyc.analysis.witness import carried, first_of, in_loop
from polyc.cost.cpu_sizes import Judged
from polyc.model.program import Buffer, ExtensionSchedule, Group, Program
from polyc.model.tree import Band, Extension, Filter, Mark, Node, Sequence, restrict, rewrite
from polyc.model.witness import Finder
from polyc.nests.naming import fresh
from polyc.nests.nest import (
    Nest,
    Outer,
    all_instances,
    at_sequences,
    coincident_first,
    has_loops,
    inside,
    is_finished,
    sequence,
)
from polyc.nests.tiling import meets_along_last, point_members, tile_members, told_sizes, worth_tiling
from polyc.nests.wishes import options_for, sequential, why_apart
from polyc.passes.buffers.promotion import DataTile, copy_statement, loops_over
from polyc.passes.fusion.cluster import Cluster, Declined, Producer, output_band
from polyc.passes.fusion.fuser import Fuser
from polyc.passes.fusion.grouping import Choice, Grouping
from polyc.passes.fusion.sizes import NotTiled, Sizes
from polyc.passes.products.registers import apart, contraction_size
from polyc.poly import budget, empty_map, in_name, is_over_budget, maps, names, out_name, share
from polyc.records import dataclass, replace

STAGE = "basteln"


def fuse_tiles(program: Program) -> Program:
    """Tile every output nest and pull the nests that make its inputs into its tiles.

    tree:     sequence(P: band, O: band)
              -> sequence(P reserved, O: band(tile) - extension(e) - sequence(P: band, O: band(point)))
    math:     e of (17) for each producer, in reverse topological order (Algorithm 2); reserved as in (20);
              an intermediate array that nobody else needs lives in a buffer of the tile
    requires: Algorithm 1's groups, coincident members outermost
    ensures:  flow is kept, since a tile runs all instances that its reads need, and values that overlap stay in it
    source:   Zhao et al. 2024, Sections 4.5 and 5, Algorithms 2, 3 and 4. Nests are visited from the last to the
              first, which is the reverse topological order that Algorithm 2 asks for. Values are followed instead
              of locations, so that a producer that works in place is told from its input.
    """
    if program.options.fuse != "basteln":
        child = rewrite(program.tree.child, lambda n: coincident_first(n) if isinstance(n, Band) else n)
    else:
        child = rewrite(program.tree.child, lambda n: apart(program, n))
    ordered = replace(program, tree=replace(program.tree, child=child))
    composer = _Composer(ordered)
    tree = at_sequences(ordered.tree, composer.compose)
    return replace(composer.program, tree=tree)


Start = tuple[tuple[int, ...], int | None]
"""Tile sizes of an output, and the tile loop that goes innermost."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """An output with its tile sizes, grown as far as it goes."""

    cluster: Cluster
    too_large: bool
    """Whether a producer was too large for them."""
    program: Program
    waiting: tuple[Nest | None, ...]
    """The nests that are still in their places."""


@lru_cache(maxsize=1000)
def _left(nest: Nest, producer: Producer) -> Nest:
    """What of a nest still has to run where it was."""
    return Nest(producer.reserved, restrict(nest.node, producer.reserved))


class _Composer:
    """Applies Algorithm 4 to each sequence of nests, and collects groups, buffers and remarks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sizes = Sizes()
        self.choice: Choice | None = None
        """What `Grouping` says of the output at hand; None where the model does not cover that."""

    @property
    def fusing(self) -> bool:
        return self.program.options.fuse == "basteln" and self.program.options.tile_sizes is not None

    def compose(self, nests: tuple[Nest, ...], outer: Outer) -> Node:
        """One sequence; again, where tiles computed values for themselves that stayed to be computed as well."""
        before, single = self.program, set[int]()
        fuser = Fuser(self.program, nests, outer, partial(self.judged, outer))
        while True:
            fuser.begin(single)
            node, stayed = self.composed(fuser)
            if not stayed:
                return node
            self.program = before
            single |= stayed

    def composed(self, fuser: Fuser) -> tuple[Node, set[int]]:
        """Clusters from the last nest to the first, then their trees in order; the places of nests that were copied
        into tiles, and still run where they are for others, so that nothing was won."""
        nests, outer = fuser.nests, fuser.outer
        grouping = Grouping(fuser, self.sizes, partial(why_apart, self.program, in_tiles=True))
        copied, stayed = set[int](), set[int]()
        waiting: list[Nest | None] = list(nests)
        placed: list[Nest | None] = [None] * len(nests)
        for position in reversed(range(len(nests))):
            nest = waiting[position]
            if nest is None:
                continue
            waiting[position] = None
            if position in copied:
                stayed.add(position)
            if is_finished(nest.node):
                placed[position] = nest
                continue
            band = output_band(nest)
            if band is None or options_for(self.program, nest.statements).tile_sizes is None:
                placed[position] = self.left_alone(nest, band, outer)
                continue
            cluster = self.grown(fuser, grouping, position, nest, band, waiting)
            fuser.dropped = fuser.dropped_with(cluster)
            fuser.served(cluster)
            copied |= {fuser.copies.places[p.nest] for p in cluster.producers if p.nest.copied}
            if self.fusing and (cluster.producers or worth_tiling(self.program, band)):
                data = fuser.data.internal(cluster, fuser.dropped_with(cluster))
                cluster = replace(cluster, data=(*cluster.data, *data))
            placed[position] = self.built(fuser, cluster, outer)
        return sequence([n for n in placed if n is not None], all_instances(nests)), stayed

    # --- Algorithm 4 -------------------------------------------------------------------------------------------------

    def grown(
        self,
        fuser: Fuser,
        grouping: Grouping,
        position: int,
        nest: Nest,
        band: Band,
        waiting: list[Nest | None],
    ) -> Cluster:
        """The cluster of one output: other outputs that share its data, then producers as far as it pays."""
        sizes = self.sizes.first(self.program, band, fuser.outer)
        if not self.fusing:
            return fuser.cluster(position, nest, band, sizes)
        before = self.program, list(waiting)
        tried: list[tuple[Cluster, Program, list[Nest | None]]] = []
        known: dict[Start, Attempt] = {}
        self.choice = grouping.chosen(position, (*waiting[:position], nest))
        alone, expected = sizes, None
        if self.choice is not None:
            expected = self.choice.producers
            fuser.single |= self.choice.lonely
        sizes = self.sizes.grouped(self.program, fuser.outer, (nest,), expected, alone)
        planned = expected
        while True:
            innermost = self.sizes.innermost(self.program, fuser.outer, (nest,), planned, sizes)
            start = fuser.cluster(position, nest, band, sizes, innermost)
            cluster, too_large = self.attempted(fuser, start, waiting, known)
            tried.append((cluster, self.program, list(waiting)))
            smaller = self.sizes.smaller(self.program, band, fuser.outer, sizes) if too_large else None
            if smaller is not None and not self.program.options.gpu:
                cluster = self.shrunk(fuser, position, nest, band, smaller, before, waiting, known)
                sizes, smaller = cluster.sizes, None
            found = tuple(p.nest for p in reversed(cluster.producers))
            joined = len(cluster.outputs) > 1
            if smaller is None and expected is not None and (found != expected or joined):
                if not found and not joined:
                    return fuser.cluster(position, nest, band, alone)
                # Some of those that pay may not be fused: once more, with sizes for what is left.
                modelled = self.sizes.covers(self.program, fuser.outer, cluster.outputs, found)
                smaller = self.sizes.grouped(self.program, fuser.outer, cluster.outputs, found, alone)
                smaller, expected, planned = (None if smaller == sizes or not modelled else smaller), None, found
            if smaller is None:
                break
            # A producer did not fit: try once more with a smaller tile.
            self.program, waiting[:] = before[0], before[1]
            sizes = smaller
        if not cluster.producers and len(cluster.outputs) == 1 and self.sizes.models(self.program, band):
            return fuser.cluster(position, nest, band, alone)
        if self.program.options.gpu:  # a smaller tile that fuses no more than a larger one is worse
            cluster, self.program, waiting[:] = max(tried, key=lambda one: len(one[0].producers))
        return cluster

    def shrunk(
        self,
        fuser: Fuser,
        position: int,
        nest: Nest,
        band: Band,
        sizes: tuple[int, ...],
        before: tuple[Program, list[Nest | None]],
        waiting: list[Nest | None],
        known: dict[Start, Attempt],
    ) -> Cluster:
        """The cluster with the largest of these sizes, and of the smaller ones, for which no producer is too large.

        With the smallest, where one is too large for all of them: that is tried first, as more producers than fit into
        any tile are what a long chain has.
        """
        ladder = [sizes]
        while (following := self.sizes.smaller(self.program, band, fuser.outer, ladder[-1])) is not None:
            ladder.append(following)

        def fits(rung: int) -> bool:
            if (ladder[rung], None) not in known:
                self.program, waiting[:] = before[0], before[1]
                self.attempted(fuser, fuser.cluster(position, nest, band, ladder[rung]), waiting, known)
            return not known[ladder[rung], None].too_large

        low, high = 0, len(ladder) - 1
        while fits(high) and low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle + 1, high)
        found = known[ladder[high], None]
        self.program, waiting[:] = found.program, found.waiting
        return found.cluster

    def attempted(
        self,
        fuser: Fuser,
        start: Cluster,
        waiting: list[Nest | None],
        known: dict[Start, Attempt],
    ) -> tuple[Cluster, bool]:
        """`attempt`, or what it said of the same output with the same sizes before: a group is tried again where the
        model has others in mind for what is left of it."""
        key = start.sizes, start.innermost
        if key not in known:
            cluster, too_large = self.attempt(fuser, start, waiting)
            known[key] = Attempt(cluster, too_large, self.program, tuple(waiting))
        found = known[key]
        self.program, waiting[:] = found.program, found.waiting
        return found.cluster, found.too_large

    def attempt(self, fuser: Fuser, cluster: Cluster, waiting: list[Nest | None]) -> tuple[Cluster, bool]:
        """Grow a cluster with its tile sizes; also whether a producer was too large for them."""
        start, before = cluster, (self.program, list(waiting))
        position = cluster.position
        too_large = False
        alike = fuser.near.reading(cluster.outputs[0])
        for q in reversed(range(position)):
            other = waiting[q]
            if other is None or q not in alike:
                continue
            if (joined := self.joint(fuser, cluster, q, other)) is not None:
                cluster = joined
                waiting[q] = None
                alike |= fuser.near.reading(other)
        reads = fuser.near.feeding(names(cluster.instances))
        for q in reversed(range(position)):
            other = waiting[q]
            if other is None or q not in reads:
                continue
            answer = self.extended(fuser, cluster, q, other, waiting)
            if answer is None:
                continue
            if isinstance(answer, Declined):
                self.decline(other, cluster, answer)
                too_large = too_large or answer.code == "tile-too-large"
                continue
            cluster = answer
            reads |= fuser.near.feeding(other.statements)
            reserved = answer.producers[0].reserved
            if not answer.producers[0].nest.copied or not other.instances.is_subset(reserved):
                waiting[q] = None if reserved.is_empty() else _left(other, answer.producers[0])
        lonely = fuser.without_sources([*(p.nest for p in cluster.producers), *cluster.outputs], waiting)
        torn = fuser.torn_by(cluster)
        if lonely or torn:
            fuser.single |= lonely
            fuser.torn |= torn
            self.program, waiting[:] = before
            return self.attempt(fuser, start, waiting)
        return cluster, too_large

    def judged(
        self, outer: Outer, program: Program, cluster: Cluster, nest: Nest, readers: list[Nest]
    ) -> Judged | None:
        """What the machine's model says of one producer more; of one that is copied, with its other readers."""
        producers = tuple(p.nest for p in reversed(cluster.producers))
        if nest.copied:
            return self.sizes.copied(program, outer, cluster.outputs, producers, nest, readers)
        return self.sizes.judged(program, outer, cluster.outputs, producers, nest)

    def extended(
        self, fuser: Fuser, cluster: Cluster, q: int, other: Nest, waiting: list[Nest | None]
    ) -> Cluster | Declined | None:
        """One producer more; a producer whose tiles take isl too long stays where it is."""
        if why := self.asked_apart(cluster, other):
            return Declined("asked", why)
        if self.choice is not None and q in self.choice.left_out:
            return self.choice.declined
        context = self.program.scop.domain.get_ctx()
        try:
            with budget(context, share(self.program.options.budget, 5)):
                answer = fuser.extend(cluster, q, other, waiting)
                if isinstance(answer, Declined) and answer.code == "shared-producer":
                    copy = fuser.copy_of(q, other)
                    again = fuser.extend(cluster, q, copy, waiting) if copy is not None else answer
                    if not isinstance(again, Declined) or again.dependence is not None:
                        return again
                    return replace(again, dependence=answer.dependence)
                return answer
        except isl.Error as error:
            if not is_over_budget(error):
                raise
            return Declined("budget", "its tiles took more isl operations than the budget allows")

    def asked_apart(self, cluster: Cluster, other: Nest) -> str:
        """What somebody asked for that keeps a nest out of a cluster."""
        inside = (*cluster.outputs, *(producer.nest for producer in cluster.producers))
        return why_apart(self.program, [s for nest in inside for s in nest.statements], other.statements, True)

    def joint(self, fuser: Fuser, cluster: Cluster, q: int, other: Nest) -> Cluster | None:
        """The cluster with another output in the same tile loops, where the two share data tile by tile.

        math: (22): the tiles of both read the same cells of an array, f_1 = f_2, so that the tile of one is the
              tile of the other; independent groups of Section 5.4 that read one input are the same case
        """
        band = output_band(other)
        first = cluster.outputs[0].band
        if self.asked_apart(cluster, other) or fuser.scatters(other):
            return None
        if band is None or first is None or band.coincident_prefix != first.coincident_prefix:
            return None
        every = fuser.near.all_from(other.instances)
        places = {*range(q + 1, cluster.position)} & fuser.near.targets(every)
        for nest in (*(fuser.nests[place] for place in sorted(places)), *cluster.outputs):
            pairs = every.intersect_range(nest.instances)
            if not fuser.outer.same_iteration(pairs).is_empty():
                return None
        count = first.coincident_prefix
        sizes = self.sizes.first(self.program, band, fuser.outer)
        sizes = (*cluster.sizes[:count], *sizes[count:])
        is_product = contraction_size(self.program, band) is not None
        for order in permutations(band.members[:count]):
            swapped = replace(band, members=(*order, *band.members[count:]))
            if is_product and contraction_size(self.program, swapped, sizes) is None:
                continue  # it has registers in tiles of its own only
            alone = fuser.cluster(q, other, swapped, sizes, cluster.innermost)
            shared = self._shared_data(cluster, alone)
            if not shared:
                continue
            ordered = replace(other, node=swapped)
            members = tuple(
                replace(a, schedule=a.schedule.union_add(b.schedule))
                for a, b in zip(cluster.tile, alone.tile, strict=True)
            )
            self.program = self.program.remark(
                "outputs-joined",
                STAGE,
                f"{', '.join(other.statements)} and {', '.join(cluster.outputs[0].statements)} read the same "
                f"tiles of {', '.join(shared)} and share their tile loops",
                other.statements,
                arrays=list(shared),
            )
            return replace(
                cluster,
                outputs=(ordered, *cluster.outputs),
                tile=members,
                tile_of=cluster.tile_of.union(alone.tile_of),
                known=None,
            )
        return None

    def _shared_data(self, one: Cluster, two: Cluster) -> list[str]:
        """Arrays of which both clusters' tiles read the same cells."""
        first, second = self._footprints(one), self._footprints(two)
        return [a for a, f in second.items() if a in first and f.is_equal(first[a])]

    def _footprints(self, cluster: Cluster) -> dict[str, isl.Map]:
        reads = empty_map(cluster.tile_of)
        for name in names(cluster.instances):
            for access in self.program.statements[name].accesses:
                if access.kind.value == "read" and access.relation.dim(isl.dim_type.out) > 0:
                    reads = reads.union(isl.UnionMap.from_map(access.relation))
        return {out_name(m): m for m in maps(cluster.tile_of.reverse().apply_range(reads))}

    def decline(self, nest: Nest, cluster: Cluster, why: Declined) -> None:
        into = ", ".join(s for o in cluster.outputs for s in o.statements)
        self.program = self.program.remark(
            "not-fused",
            STAGE,
            f"{', '.join(nest.statements)} not fused into the tiles of {into}: {why.message}",
            nest.statements,
            reason=why.code,
            into=[s for o in cluster.outputs for s in o.statements],
            **why.data,
        ).because(why.dependence)

    # --- Algorithm 3 -------------------------------------------------------------------------------------------------

    def left_alone(self, nest: Nest, band: Band | None, outer: Outer) -> Nest:
        """A nest without a tile band: what is inside its sequential loops is tried in its turn."""
        before = len(self.program.groups)
        node = inside(nest, outer, self.compose)
        dependence: Finder | None = None
        if len(self.program.groups) > before:
            return replace(nest, node=node)
        why: NotTiled | None = None
        asked = options_for(self.program, nest.statements).tile_sizes
        if self.program.options.tile_sizes is None:
            why = NotTiled("tiling-off", "tiling is off (--tile-sizes none)")
        elif asked is None:
            why = NotTiled("asked", "tile(no) asks for no tiles")
        elif nest.band is None and outer.members:
            why = NotTiled("loops-around", "the loops around it carry dependences, and it has none of its own")
            around = outer.members[:-1], outer.members[-1]
            own = carried(self.program, *around, nest.instances)
            dependence = first_of([own, carried(self.program, *around)])
        elif nest.band is None:
            why = NotTiled("no-loops", "it is not a loop nest")
        elif band is None and nest.band.coincident_prefix:
            # Only values that nobody reads held it back: private copies free the loop, and nothing can be tiled.
            why = NotTiled("parallel-as-it-is", "its outer loop runs in parallel as it is")
            dependence = in_loop(self.program, nest.instances)
        parallel = band is not None or (nest.band is not None and nest.band.coincident_prefix > 0)
        self._record(nest.statements, (), (), parallel)
        if why is not None:
            self._not_tiled(nest.statements, why, dependence)
        elif nest.band is not None and band is None:
            message = "each loop of its outer band carries a dependence, so that it has no tiles either"
            message = f"{', '.join(nest.statements)} not parallel: {message}"
            told = self.program.remark("not-parallel", STAGE, message, nest.statements)
            self.program = told.because(carried(told, outer.members, nest.band.members[0], nest.instances))
        return replace(nest, node=node)

    def _not_tiled(self, statements: tuple[str, ...], why: NotTiled, dependence: Finder | None = None) -> None:
        message = f"{', '.join(statements)} not tiled: {why.why}"
        told = self.program.remark("not-tiled", STAGE, message, statements, reason=why.reason)
        self.program = told.because(dependence)

    def _record(
        self,
        statements: tuple[str, ...],
        fused: tuple[str, ...],
        sizes: tuple[int, ...],
        parallel: bool,
    ) -> None:
        group = Group((*fused, *statements), statements, fused, sizes, parallel)
        self.program = replace(self.program, groups=(group, *self.program.groups))

    def built(self, fuser: Fuser, cluster: Cluster, outer: Outer) -> Nest:
        """The cluster's tree: Figure 10."""
        outputs = cluster.outputs
        instances = outputs[0].instances
        for output in outputs[1:]:
            instances = instances.union(output.instances)
        band = outputs[0].band
        assert band is not None
        statements = tuple(s for o in outputs for s in o.statements)
        lone = not cluster.producers and len(outputs) == 1 and not cluster.data
        why = self.sizes.useless(self.program, band, outer) if lone else None
        if lone and len(band.members) > 1 and fuser.scatters(outputs[0]):
            why = NotTiled("no-reuse", "data choose what it writes, and which of it tiles would meet again")
        if why is not None:
            self._left(outputs[0], outer, why)
            return outputs[0]
        sizes = cluster.sizes
        for producer in cluster.producers:
            if producer.guard is not None:
                assumed = self.program.scop.assumed.intersect(producer.guard)
                self.program = replace(self.program, scop=replace(self.program.scop, assumed=assumed))
        steps, extension, declared = self._members(cluster, outer)
        below: Node
        if len(steps) == 1 and extension.is_empty():
            below = steps[0].child
        else:
            below = Sequence(tuple(steps))
            if not extension.is_empty():
                below = Extension(extension, below)
        if declared:
            below = Mark("allocate", below, names=declared)
        permutable = all(o.band is not None and o.band.permutable for o in outputs)
        node: Node = Band(cluster.tile, permutable, below)
        fused = tuple(s for p in cluster.producers for s in p.nest.statements)
        first = outputs[-1]  # those that joined it came later, and stand before it
        assert first.band is not None
        self.program, block = self.sizes.block(self.program, first.band, outer, sizes, first.statements)
        self.program = self.sizes.told(self.program, cluster, outer, statements, sizes)
        strips = self.sizes.strips(self.program, cluster, outer, sizes)
        node = Mark("group", node, text=self._comment(cluster, sizes), sizes=block, strips=strips)
        group = Group(
            (*fused, *statements),
            statements,
            fused,
            sizes,
            True,
            tuple(
                ExtensionSchedule(out_name(m), m)
                for p in cluster.producers
                for m in maps(p.extension)
                if out_name(m) in fused
            ),
            partial(fuser.shapes.footprints, cluster),
            max((p.estimate.recompute_percent / 100.0 for p in cluster.producers), default=0.0),
        )
        self.program = replace(self.program, groups=(group, *self.program.groups))
        for producer in cluster.producers:
            self.program = _told_fused(self.program, producer, statements)
        return Nest(instances, node)

    def _left(self, output: Nest, outer: Outer, why: NotTiled) -> None:
        """Record a nest whose tiles would be useless. The only loop inside sequential ones is left to the vector unit
        (`parallel.py`)."""
        assert output.band is not None
        parallel = not outer.members or len(output.band.members) > 1 or has_loops(output.band.child)
        alone = sequential(self.program) & set(output.statements)
        if not outer.members and self.program.options.target != "c" and not alone:
            why = replace(why, why=f"{why.why}; its outer loop runs in parallel")
        self._record(output.statements, (), (), parallel)
        self._not_tiled(output.statements, why)

    def _members(self, cluster: Cluster, outer: Outer) -> tuple[list[Filter], isl.UnionMap, tuple[str, ...]]:
        """The steps inside a tile in order, all that the extension node adds, and the buffers to declare."""
        depth = len(outer.members) + len(cluster.tile)
        extension = empty_map(cluster.tile_of)
        steps: list[Filter] = []
        declared: list[str] = []
        fills: list[Filter] = []
        outs: dict[str, Filter] = {}
        for data in cluster.data:
            name, fill, out = self._buffer(data, depth)
            declared.append(name)
            if fill is not None:
                fills.append(fill[0])
                extension = extension.union(fill[1])
            if out is not None:
                outs[data.array] = out[0]
                extension = extension.union(out[1])
        steps += fills
        writing = [self._arrays_written(producer.nest) for producer in cluster.producers]
        for place, producer in enumerate(cluster.producers):
            ran = producer.extension.range()
            extension = extension.union(producer.extension)
            every = isl.UnionSet.empty(ran.get_space())
            for piece in maps(producer.extension):
                every = every.union(isl.UnionSet.from_set(piece.range()))
            steps.append(Filter(every, restrict(producer.nest.node, every)))
            for array in sorted(writing[place].difference(*writing[place + 1 :])):
                if array in outs:  # once all that writes it has run
                    steps.append(outs.pop(array))
        for output in cluster.outputs:
            steps.append(Filter(output.instances, self._output(output, cluster, outer)))
        return steps, extension, tuple(declared)

    def _output(self, nest: Nest, cluster: Cluster, outer: Outer) -> Node:
        """What is left of an output below the tile band: tiles of its sequential loops, then points."""
        band = nest.band
        assert band is not None
        tiled = band.coincident_prefix
        own = self.sizes.first(self.program, band, outer)
        node: Node = Band(point_members(band.members), band.permutable, band.child)
        rest = tile_members(band.members[tiled:], own[tiled:])
        options = options_for(self.program, nest.statements)
        if options.tile_sizes == "auto" and not options.gpu and meets_along_last(self.program, band):
            return node  # short pieces of rows would take turns
        return Band(rest, band.permutable, node) if rest else node

    def _arrays_written(self, nest: Nest) -> set[str]:
        return {a.array for s in nest.statements for a in self.program.statements[s].accesses if a.kind.value != "read"}

    def _buffer(
        self, data: DataTile, depth: int
    ) -> tuple[str, tuple[Filter, isl.UnionMap] | None, tuple[Filter, isl.UnionMap] | None]:
        """Declare a data tile, and make the statements that copy into and out of it."""
        scop = self.program.scop
        array = scop.arrays[data.array]
        name = fresh(f"{array.c_name}_tile", scop.used_names)
        key = fresh(name, scop.used_names | set(self.program.buffers) | set(scop.arrays))
        accesses = set(data.accesses)
        copies: list[tuple[Filter, isl.UnionMap] | None] = []
        for prefix, cells, into in (("fill", data.fill, True), ("store", data.copy_out, False)):
            if cells is None:
                copies.append(None)
                continue
            statement = copy_statement(self.program, array, f"{prefix}_{key}", into)
            accesses.add((statement.name, "inside"))
            relation = cells.set_tuple_id(isl.dim_type.out, isl.Id.read_from_str(cells.get_ctx(), statement.name))
            self.program = replace(
                self.program,
                statements=self.program.statements | {statement.name: statement},
                copies=self.program.copies | {statement.name},
            )
            ran = isl.UnionSet.from_set(relation.range())
            copies.append((Filter(ran, loops_over(statement.loops, relation.range())), isl.UnionMap.from_map(relation)))
        params = scop.context.get_space().params()
        extents = tuple(
            isl.PwAff.val_on_domain(isl.Set.universe(params), isl.Val.int_from_si(params.get_ctx(), e))
            for e in data.extents
        )
        buffer = Buffer(key, name, data.array, data.box.corner, depth, extents, "tile", frozenset(accesses))
        self.program = replace(self.program, buffers=self.program.buffers | {key: buffer})
        if data.guard is not None:
            assumed = scop.assumed.intersect(data.guard)
            self.program = replace(self.program, scop=replace(scop, assumed=assumed))
        return key, copies[0], copies[1]

    def _comment(self, cluster: Cluster, sizes: tuple[int, ...]) -> str:
        """What a reader of the printed code should know of the group."""
        outputs = ", ".join(s for o in cluster.outputs for s in _numbered(o.statements))
        inside = "" if cluster.innermost is None else f", those along {cluster.tile[-1].name} one after the other"
        lines = [f"{outputs} in tiles of {told_sizes(sizes)}{inside}"]
        for producer in cluster.producers:
            percent = producer.estimate.recompute_percent
            cost = f", {percent:.0f} % repeated" if percent >= 1 else ""
            lines.append(f"{', '.join(_numbered(producer.nest.statements))} computed in the tile that needs it{cost}")
        if cluster.data:
            lines.append(
                "kept in the tile: " + ", ".join(self.program.scop.arrays[d.array].c_name for d in cluster.data)
            )
        return "\n".join(lines)


def _numbered(names: Iterable[str]) -> list[str]:
    """Statements in the order of their numbers: S2 before S10."""
    return sorted(names, key=lambda name: (len(name), name))


def _told_fused(program: Program, producer: Producer, statements: tuple[str, ...]) -> Program:
    """The program with a remark that a producer runs in the tiles of some statements."""
    found, names = producer.estimate, producer.nest.statements
    runs, whose = ("runs", "its") if len(names) == 1 else ("run", "their")
    return program.remark(
        "fused",
        STAGE,
        f"{', '.join(names)} {runs} in the tiles of {', '.join(statements)}; {found.recompute_percent:.1f} % of "
        f"{whose} instances are repeated",
        names,
        into=list(statements),
        recompute_percent=round(found.recompute_percent, 2),
        extra_cycles=round(found.extra_cycles),
        saved_cycles=round(found.saved_cycles),
        **({} if found.fused_us is None else {"fused_us": found.fused_us, "apart_us": found.apart_us}),
    )


__all__ = ["fuse_tiles", "in_name"]
