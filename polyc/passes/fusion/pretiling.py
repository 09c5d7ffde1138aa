"""Fuse nests before tiling where that costs nothing (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice, permutations

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import LEAF, Band, Domain, Filter, Member, Node, Sequence, partial_schedule, rewrite
from polyc.nests.contractions import contraction_of
from polyc.nests.graph import NestGraph, in_source_order
from polyc.nests.nest import (
    Nest,
    Outer,
    all_instances,
    at_sequences,
    at_sequences_below,
    between,
    coincident_first,
    has_loops,
    innermost_loops,
    inside,
    joined_member,
    sequence,
    steps_of,
    values,
)
from polyc.nests.samples import sample_parameters
from polyc.nests.tiling import worth_tiling
from polyc.nests.wishes import why_apart
from polyc.passes.fusion.interlaced import interlaced
from polyc.passes.fusion.planes import by_length, looks_up, with_planes_inside
from polyc.passes.products.registers import contraction_size
from polyc.poly import in_name, maps, sets

STAGE = "pretiling"
WIDTH = 4
"""Bytes of the smallest elements that vector instructions gather."""


def fuse_quasi_identical(program: Program) -> Program:
    """Join nests whose dependences are quasi-identity relations into one nest.

    rewrite:  for h for w S2; for h for w for kh for kw S3; for h for w S4
              -> for h for w { S2; for kh for kw S3; S4 }
    tree:     sequence(band(h,w), band(h,w,kh,kw), band(h,w)) -> band(h,w) - sequence(leaf, band(kh,kw), leaf)
    math:     Definition 4.1 on schedule values: for c = min(m, n), every dependence R(v) -> T(v') between the two
              has v'_i = v_i for i <= c, and the other values of a flow dependence are constants
    requires: isl's schedule without fusion
    ensures:  coincidence and permutability of the common loops stay: the dependences have distance 0 there
              Nests need not be neighbours: what stands between goes before or behind the joined nest, wherever no
              dependence leads from one of the two through it to the other
    source:   Zhao et al. 2024, Section 4.1, Algorithm 1, which joins neighbours. We also ask that no parallel loop is
              lost: where one nest has fewer coincident loops than the other among the common ones, they stay apart.
              Inside of sequential loops, which sweep over the same arrays again and again, they share the coincident
              loops that both have where both touch the same cells of an array in an iteration of these:
              `for j { for i r[j] += A[i][j]; for i A[i][j] -= r[j]; }` meets the columns of A again. Where a nest has
              a loop on data, which is a black box, the other values need not be constants (Section 7.1.2: an extension
              schedule with an empty tile domain): the nests share the loops around the box, without tiles, if no
              tile of the others would meet its data again. Nests that need nothing of each other are joined for a CPU
              where they read the same cells, stand in one loop of the source, or fill up the same rows
              (`interlaced.py`).
              For a GPU they stay apart too where parallel loops of one would be a thread's, and the other has nothing
              to do along them: `for i for j B[i][j] = A[i][j]; for i B[i][0] = c;` has n threads in one nest, and n * m
              in two.
              Loops over up to four planes may go innermost for that, and are written out: `f[c][y][x] / f[3][y][x]`
              needs all planes of a pixel.
    """
    ordered = replace(program, tree=replace(program.tree, child=rewrite(program.tree.child, _ordered)))
    merger = _Merger(ordered)
    tree = at_sequences(ordered.tree, merger.merge)
    return replace(merger.program, tree=tree)


def _loses_loops(group: list[Nest], others: list[Nest], common: int) -> bool:
    """Whether a nest has parallel loops beyond the common ones, and the others no loops at all there."""
    bands = [nest.band for nest in group]
    lost = any(band is not None and band.coincident_prefix > common for band in bands)
    beside = (nest.band for nest in others)
    return lost and all(b is None or (len(b.members) <= common and not has_loops(b.child)) for b in beside)


def _ordered(node: Node) -> Node:
    return coincident_first(node) if isinstance(node, Band) else node


Siblings = Callable[[list[Nest], list[Nest]], list[Nest] | None]


class _Merger:
    """Walks the sequences and remembers the remarks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        d = program.dependences
        self.flow = d.flow
        self.every = d.flow.union(d.false).union(d.private_false)
        self.alike: list[set[str]] = []
        """Statements that were joined since they read the same cells."""
        self.together: list[set[str]] = []
        """Statements that were joined since they were written in one loop."""
        self.planes: list[set[str]] = []
        """Statements that were joined with their loops over a few planes innermost."""
        self.interlaced: list[set[str]] = []
        """Statements that were joined since each writes between the elements of the other."""
        self.loop_of = innermost_loops(program.scop.tree)

    @cached_property
    def typical(self) -> isl.Set:
        return sample_parameters(self.program)

    def merge(self, nests: tuple[Nest, ...], outer: Outer) -> Node:
        here = self.every.intersect_domain(all_instances(nests)).intersect_range(all_instances(nests))
        graph = NestGraph.of(nests, outer.same_iteration(here))
        placed = list(nests)
        for k in range(len(nests)):
            self.joined_chain(graph, placed, k, outer)
        # Members of one struct lie side by side: kernels of their own would each load all of it.
        if not self.program.options.gpu or any(array.root for array in self.program.scop.arrays.values()):
            for joined in (self.siblings, self.interlaced_siblings):
                self.join_siblings(graph, placed, joined)
        groups = [[placed[k] for k in group] for group in graph.groups]
        merged = [self.group_nest(group, outer) if len(group) > 1 else group[0] for group in groups]
        done = [replace(n, node=inside(n, outer, self.merge)) for n in merged]
        return sequence(done, all_instances(nests))

    def joined_chain(self, graph: NestGraph, placed: list[Nest], latest: int, outer: Outer) -> None:
        """Join a nest with groups before it, the nearest first, as long as there is one that it goes with.

        Nests that stand between and need the group go behind it, all others in front of it. What does not follow at
        once has to run the same iterations: a condition in the joined loops would cost more than a loop of its own.
        """
        at = next(place for place, group in enumerate(graph.groups) if latest in group)
        before = at - 1
        while before >= 0:
            first, second = graph.groups[before], graph.groups[at]
            if graph.linked(first, second) and graph.mergeable(before, at):
                one, two = [placed[k] for k in first], [placed[k] for k in second]
                near = before + 1 == at and len(second) == 1
                found = self.joined_somehow(one, two, outer) if near or _alike(one, two) else None
                if found:
                    for k, nest in zip((*first, *second), found, strict=True):
                        placed[k] = nest
                    at = graph.merge(before, at)
                    before = at
            before -= 1

    def joined_somehow(self, group: list[Nest], others: list[Nest], outer: Outer) -> list[Nest] | None:
        """Both groups as one; with the parallel loops of a single nest in another order too, on a GPU, and where it
        takes what a sum of products leaves in registers."""
        found = self.joined(group, others, outer)
        if found is None and len(others) == 1 and (self.program.options.gpu or any(map(self.in_registers, group))):
            orders = ([one] for one in permuted(others[0]))
            found = next((found for one in orders if (found := self.joined(group, one, outer))), None)
        if found is None and len(group) == len(others) == 1:
            first = self.with_short_loops_inside(group[0], others[0])
            found = None if first is None else self.joined([first], others, outer)
        if found is None:
            found = self.joined_planes(group, others, outer)
        return found

    def with_short_loops_inside(self, first: Nest, reader: Nest) -> Nest | None:
        """A nest of lookups with its loops of few iterations innermost, if its reader has all others.

        rewrite:  for c for y for x t[c][y][x] = A[c][B[y][x]];  for y for x u[y][x] = f(t[0][y][x], t[1][y][x])
                  -> for y for x { for c t[c][y][x] = A[c][B[y][x]]; u[y][x] = … }
        No loop has the memory of lookups in a row, so that nothing is lost by it; and what is read from B is there.
        """
        band = first.band
        if self.program.options.gpu or band is None or not band.permutable or reader.band is None:
            return None
        if band.coincident_prefix < len(band.members) or not looks_up(self.program, first):
            return None
        long, short = by_length(self.program, band)
        if not short or len(long) != len(reader.band.members):
            return None
        return replace(first, node=replace(band, members=long, child=Band(short, True, band.child)))

    def joined_planes(self, group: list[Nest], others: list[Nest], outer: Outer) -> list[Nest] | None:
        """Both groups as one, if that needs loops over a few planes to go innermost."""
        if self.program.options.gpu:
            return None
        moved = [with_planes_inside(self.program, nest) for nest in (*group, *others)]
        nests = [nest for nest in moved if nest is not None]
        if len(nests) < len(moved):
            return None
        found = self.joined(nests[: len(group)], nests[len(group) :], outer)
        if found is not None:
            self.planes.append({s for nest in found for s in nest.statements})
        return found

    def joined(self, group: list[Nest], others: list[Nest], outer: Outer) -> list[Nest] | None:
        """Both groups as one, if Definition 4.1 holds between all nests of either."""
        if self.asked_apart(group, others):
            return None
        common, alike = _common([*group, *others])
        if not common or self.looks_up(group) != self.looks_up(others):
            return None
        if self.program.options.gpu and (_loses_loops(group, others, common) or _loses_loops(others, group, common)):
            return None
        if any(map(self.in_registers, group)) and any(map(self.in_registers, others)):
            return None  # each has a tile of registers by itself: `y = W x + U h` as two products into one result
        pairs = [(one, two) for one in group for two in others]
        flows = [outer.same_iteration(between(self.flow, one, two)) for one, two in pairs]
        if all(flow.is_empty() for flow in flows):
            return None  # what another iteration of the outer loops hands on is no nearer for it
        if not alike and not self.meets_again(group, others, outer, common):
            return None
        anything_inside = not alike or self.around_black_box([*group, *others], common)
        for (one, two), flow in zip(pairs, flows, strict=True):
            dependence = outer.same_iteration(between(self.every, one, two))
            if not self.has_distance_0(dependence, one, two, common):
                return None
            if not anything_inside and not self.ends_and_starts(flow, one, two, common):
                return None
        # What is lost when a deeper band is cut to the common loops: its tilability below (condition of 4.1 that
        # the remaining values are constant keeps this to initialisations and final steps).
        return [*group, *others]

    def join_siblings(self, graph: NestGraph, placed: list[Nest], joined: Siblings) -> None:
        """Join groups that need nothing of each other, where `joined` answers the second nests as they go with the
        first.

        rewrite:  for i B[i] = f(A[i]); for i C[i] = g(A[i])  ->  for i { B[i] = f(A[i]); C[i] = g(A[i]); }
        requires: loops that run in parallel and nothing else; the same nests read of both, so that whoever needs a tile
                  of one needs that of the other, or both touch members of the same structs; of what was written in one
                  loop, who reads of one reads of the other
        """
        at, readers = len(graph.groups) - 1, graph.readers()
        while at > 0:
            for before in reversed(range(at)):
                first, second = graph.groups[before], graph.groups[at]
                one, two = [placed[k] for k in first], [placed[k] for k in second]
                alike = readers[before] == readers[at] or bool(self.structs(one) & self.structs(two))
                nested = readers[before] <= readers[at] or readers[before] >= readers[at]
                if (
                    (alike or (nested and self.written_together(one, two)))
                    and not graph.linked(first, second)
                    and graph.mergeable(before, at)
                ):
                    found = joined(one, two) if self.may_join(one, two) else None
                    if found is not None:
                        for k, nest in zip(second, found, strict=True):
                            placed[k] = nest
                        at, readers = graph.merge(before, at) + 1, graph.readers()
                        break
            at -= 1

    def asked_apart(self, group: list[Nest], others: list[Nest]) -> bool:
        """Whether somebody asked that some of these nests stay by themselves."""
        one, two = ([name for nest in nests for name in nest.statements] for nests in (group, others))
        return bool(why_apart(self.program, one, two))

    def may_join(self, group: list[Nest], others: list[Nest]) -> bool:
        """Whether all loops of both are parallel, and as many."""
        every = [*group, *others]
        bands = [n.band for n in every]
        count = _common_loops(every)
        if any(
            b is None or b.coincident_prefix != count or len(b.members) != count or has_loops(b.child) for b in bands
        ):
            return False
        return not self.asked_apart(group, others) and self.looks_up(group) == self.looks_up(others)

    def siblings(self, group: list[Nest], others: list[Nest]) -> list[Nest] | None:
        """The second nests, if they run the same iterations and read the same cells, or were written in one loop."""
        if not _alike(group, others):
            return None
        if self.read_alike(group, others):
            told = self.alike
        elif self.written_together(group, others):
            told = self.together
        else:
            return None
        told.append({s for nest in (*group, *others) for s in nest.statements})
        return others

    def interlaced_siblings(self, group: list[Nest], others: list[Nest]) -> list[Nest] | None:
        """The second nests with their innermost loop moved, if both fill up the rows of the same arrays."""
        one, two = ({s for n in nests for s in n.statements} for nests in (group, others))
        if self.arrays(one, written=True) != self.arrays(two, written=True):
            return None
        moved = interlaced(self.program, self.typical, group, others)
        if moved is not None:
            self.interlaced.append({s for nest in (*group, *others) for s in nest.statements})
        return moved

    def read_alike(self, group: list[Nest], others: list[Nest]) -> bool:
        """Whether each iteration of both reads the same cells."""
        one, two = (self.cells_read(nests) for nests in (group, others))
        return any(
            mine.is_equal(theirs) for array, found in one.items() for mine in found for theirs in two.get(array, ())
        )

    def written_together(self, group: list[Nest], others: list[Nest]) -> bool:
        """Whether all statements stand in one loop of the source, and both nests touch an array of more dimensions."""
        one, two = ({s for n in nests for s in n.statements} for nests in (group, others))
        if len({self.loop_of.get(s) for s in one | two}) != 1:
            return False
        return not self.arrays(one).isdisjoint(self.arrays(two)) or bool(self.structs(group) & self.structs(others))

    def structs(self, nests: list[Nest]) -> set[str]:
        """The arrays of structs of which nests touch members: in one loop, they meet the same lines of memory."""
        arrays = self.program.scop.arrays
        return {arrays[a].root for nest in nests for a in self.arrays({*nest.statements})} - {""}

    def arrays(self, statements: set[str], written: bool = False) -> set[str]:
        """The arrays that statements touch, or write; no scalars."""
        accesses = (a for s in statements for a in self.program.statements[s].accesses)
        accesses = (a for a in accesses if not written or a.kind is not AccessKind.READ)
        return {a.array for a in accesses if a.relation.dim(isl.dim_type.out)}

    def looks_up(self, nests: list[Nest]) -> bool:
        """Whether a CPU's vectors have no instruction for some of it: entries of a table, less than four bytes each.

        In one loop with such a look-up, nothing else runs in vectors either.
        """
        arrays = self.program.scop.arrays
        return not self.program.options.gpu and any(
            not access.exact and access.kind is AccessKind.READ and 0 < arrays[access.array].element.size_bytes < WIDTH
            for nest in nests
            for name in nest.statements
            for access in self.program.statements[name].accesses
        )

    def cells_read(self, nests: list[Nest]) -> dict[str, list[isl.Map]]:
        """`{ [v] -> A[x] }` for each reference that reads: the cells of an iteration of the nests' loops.

        Of a table, those that it may read.
        """
        found: dict[str, list[isl.Map]] = {}
        for nest in nests:
            assert nest.band is not None
            for piece in maps(values(nest.band.members, nest.instances)):
                for access in self.program.statements[in_name(piece)].accesses:
                    if access.kind is AccessKind.READ and access.relation.dim(isl.dim_type.out):
                        found.setdefault(access.array, []).append(piece.reverse().apply_range(access.relation))
        return found

    def meets_again(self, group: list[Nest], others: list[Nest], outer: Outer, common: int) -> bool:
        """Whether the nests touch the same cells of an array of more dimensions in each iteration of the common loops,
        and belong to sequential loops around them."""
        if not outer.members or any(self.is_contraction(n) for n in (*group, *others)):
            return False
        first, second = ([self.touched(n, common) for n in nests] for nests in (group, others))
        return any(two[a].is_equal(m) for one in first for two in second for a, m in one.items() if a in two)

    def in_registers(self, nest: Nest) -> bool:
        """Whether it is a sum that gets a register tile."""
        return nest.band is not None and contraction_size(self.program, nest.band) is not None

    def is_contraction(self, nest: Nest) -> bool:
        return nest.band is not None and contraction_of(self.program, nest.band, in_place=True) is not None

    def touched(self, nest: Nest, common: int) -> dict[str, isl.Map]:
        """`{ [v] -> A[x] }`: the cells of each array in an iteration of the common loops."""
        assert nest.band is not None
        loops = values(nest.band.members[:common], nest.instances).reverse()
        found: dict[str, isl.Map] = {}
        for name in nest.statements:
            for access in self.program.statements[name].accesses:
                if access.exact and access.relation.dim(isl.dim_type.out) > common:
                    for piece in maps(loops.apply_range(isl.UnionMap.from_map(access.relation))):
                        found[access.array] = found[access.array].union(piece) if access.array in found else piece
        return found

    def around_black_box(self, nests: list[Nest], common: int) -> bool:
        """Whether a nest has a loop on data inside of the common loops, and no other one tiles that it would lose."""
        statements = [self.program.statements[s] for n in nests for s in n.statements]
        if not any(s.opaque and c.has_loops(s.body) for s in statements):
            return False
        bands = [n.band for n in nests if n.band is not None]
        return not any(len(b.members) > common and worth_tiling(self.program, b) for b in bands)

    def has_distance_0(self, every: isl.UnionMap, first: Nest, second: Nest, common: int) -> bool:
        assert first.band is not None
        assert second.band is not None
        one, two = first.band.members, second.band.members
        shared = tuple(joined_member(a, b) for a, b in zip(one[:common], two[:common], strict=True))
        return bool(every.is_subset(every.eq_at_multi_union_pw_aff(partial_schedule(shared))))

    def ends_and_starts(self, flow: isl.UnionMap, first: Nest, second: Nest, common: int) -> bool:
        """Whether values go from one iteration of the loops that are not common to one of the other nest's."""
        assert first.band is not None
        assert second.band is not None
        one, two = first.band.members, second.band.members
        rest = [(m, first.instances) for m in one[common:]], [(m, second.instances) for m in two[common:]]
        last = first.instances.intersect(flow.domain())
        sources = all(_constant(m, i.intersect(flow.domain())) for m, i in rest[0])
        sources = sources or (self.is_contraction(first) and _decided(one[:common], one[common:], last))
        targets = all(_constant(m, i.intersect(flow.range())) for m, i in rest[1])
        return sources and targets

    def group_nest(self, group: list[Nest], outer: Outer) -> Nest:
        """One band over the common loops, a sequence of what is left of each nest below."""
        bands = [n.band for n in group if n.band is not None]
        common, _ = _common(group)
        members = bands[0].members[:common]
        for band in bands[1:]:
            members = tuple(joined_member(a, b) for a, b in zip(members, band.members, strict=False))
        steps: list[Filter] = []
        instances = group[0].instances
        for nest, band in zip(group, bands, strict=True):
            rest = band.members[common:]
            node = replace(band, members=rest) if rest else band.child
            steps += steps_of(nest.instances, node)
            instances = instances.union(nest.instances)
        permutable = all(b.permutable for b in bands)
        statements = tuple(s for n in group for s in n.statements)
        loops = f"{common} outer loops" if common > 1 else "outer loop"
        untiled = self.around_black_box(group, common)
        why = self.why(statements)
        if untiled:
            why = "it is that of a loop on data, and all dependences between them stay in one iteration"
        self.program = self.program.remark(
            "pretiling-fused",
            STAGE,
            f"{', '.join(statements)} share their {loops}: {why}",
            statements,
            loops=common,
        )
        below: Node = Sequence(tuple(steps))
        if all(step.child is LEAF for step in steps):  # in no other order than was written, if any does
            below = in_source_order(Domain(instances, below), self.program).child
        if untiled:  # what is inside of the common loops has not been joined yet
            below = at_sequences_below(below, instances, Outer(outer.members + members), self.merge)
        return Nest(instances, Band(members, permutable, below))

    def why(self, statements: tuple[str, ...]) -> str:
        """Why they are one nest; the reason that took the most of them, first."""
        reasons = (
            (self.interlaced, "each writes between the elements of a row that the others write"),
            (self.alike, "each iteration of them reads the same cells"),
            (self.together, "they stand in one loop, and nothing keeps them apart"),
            (self.planes, "with the loops over a few planes innermost, an iteration reads what the same one makes"),
        )
        inside_of = [(found, why) for sets_, why in reasons for found in sets_ if found <= set(statements)]
        for found, why in inside_of:
            if len(found) == len(statements):
                return why
        also = ", or they read the same cells" if any(why == reasons[1][1] for _, why in inside_of) else ""
        return f"the dependences between them are quasi-identity relations (Definition 4.1){also}"


MOST_LOOPS = 5
"""Parallel loops of a nest whose orders are tried: 24 of them, with the last loop in its place."""


def permuted(nest: Nest) -> Iterator[Nest]:
    """The nest with its parallel loops in other orders, as its band allows. The innermost one stays: what lies along
    consecutive memory still goes to neighbouring threads."""
    band = nest.band
    if band is None or not band.permutable or not 2 < band.coincident_prefix <= MOST_LOOPS:
        return
    outer, rest = band.members[: band.coincident_prefix - 1], band.members[band.coincident_prefix - 1 :]
    for order in islice(permutations(outer), 1, None):
        yield replace(nest, node=replace(band, members=(*order, *rest)))


def _common(nests: list[Nest]) -> tuple[int, bool]:
    """How many outer loops nests may share, 0 where one has no parallel loop; whether they have as many parallel ones
    among their common loops."""
    bands = [n.band for n in nests if n.band is not None]
    if len(bands) < len(nests):
        return 0, False
    common = min(len(b.members) for b in bands)
    parallel = {min(b.coincident_prefix, common) for b in bands}
    return (common if parallel != {0} else 0, True) if len(parallel) == 1 else (min(parallel), False)


def _common_loops(nests: list[Nest]) -> int:
    """How many loops the nests can share; 0 where one has no parallel loop, or fewer among these than another."""
    common, alike = _common(nests)
    return common if alike else 0


def _alike(group: list[Nest], others: list[Nest]) -> bool:
    """Whether the loops that two groups can share have the same values."""
    count = _common_loops([*group, *others])
    return count > 0 and bool(_iterations(group, count).is_equal(_iterations(others, count)))


def _iterations(nests: list[Nest], count: int) -> isl.UnionSet:
    """`{ [v] }`, the values that the first loops of the nests have."""
    found: isl.UnionSet | None = None
    for nest in nests:
        assert nest.band is not None
        mine = values(nest.band.members[:count], nest.instances).range()
        found = mine if found is None else found.union(mine)
    assert found is not None
    return found


def _decided(loops: tuple[Member, ...], rest: tuple[Member, ...], instances: isl.UnionSet) -> bool:
    """Whether some instances have one value of the other loops in each iteration of the common ones: the last step of a
    sum, in a triangle too.

    math: with v the values of the common loops and w those of the others, w . v^-1 is a function
    """
    return all(
        isl.Map.from_union_map(values(loops, own).reverse().apply_range(values(rest, own))).is_single_valued()
        for own in (isl.UnionSet.from_set(piece) for piece in sets(instances))
    )


def _constant(member: Member, instances: isl.UnionSet) -> bool:
    """Whether a schedule value is one constant (in the parameters) for some instances."""
    pieces = maps(values((member,), instances))
    return all(isl.Map.from_range(p.range()).is_single_valued() for p in pieces)
