"""Declare private scalars and small arrays inside the loops whose iterations they belong to."""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property, reduce

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Buffer, Program
from polyc.model.relations import pw_affs_of
from polyc.model.scop import Array, Storage
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Sequence,
    instances_below,
    walk,
)
from polyc.nests.nest import statements_below, values
from polyc.poly import affine_of, among, empty_set, in_name, maps, out_name, set_name, sets
from polyc.records import dataclass, field, replace

STAGE = "privatize"


def place_private_arrays(program: Program) -> Program:
    """Give each iteration that a private array's values do not leave a copy of its own.

    rewrite:  double t; parallel for (i) { t = …; … = t; }  ->  parallel for (i) { double t; t = …; … = t; }
    tree:     band(i, j) - x  ->  band(i) - mark(allocate t) - band(j) - x
    math:     at a loop with value v, for every flow dependence x -> y through the array, v(x) = v(y)
    requires: the array is not live-in and not live-out
    """
    for name in sorted(program.scop.privatizable):
        array = program.scop.arrays[name]
        flow = program.dependences.flow_by_array.get(name)
        if flow is None or any(b.array == name and b.places is None for b in program.buffers.values()):
            continue  # never read, or an iteration's own already
        users = frozenset(s.name for s in program.statements.values() if any(a.array == name for a in s.accesses))
        placed = _Placing(program, array, flow.intersect_params(program.scop.known), users)
        child = placed.at(program.tree.child, (), 0, False)
        program = replace(
            program,
            tree=Domain(program.tree.domain, child),
            buffers=program.buffers | placed.buffers,
        )
    return program


@dataclass
class _Placing:
    program: Program
    array: Array
    flow: isl.UnionMap
    users: frozenset[str]
    buffers: dict[str, Buffer] = field(default_factory=dict)

    @cached_property
    def instances(self) -> isl.UnionSet:
        """Of the users."""
        domain = self.program.tree.domain
        own = (isl.UnionSet.from_set(piece) for piece in sets(domain) if set_name(piece) in self.users)
        return reduce(isl.UnionSet.union, own, empty_set(domain)).intersect_params(self.program.scop.known)

    def at(self, node: Node, above: tuple[Member, ...], depth: int, concurrent: bool) -> Node:
        """The subtree with the declaration as deep as it may stand.

        above: the `depth` loops that the node is in; without those that only give instances to an extension
        concurrent: some loop above is parallel
        """
        if not self._used(node):
            return node
        match node:
            case Leaf():
                return self._declare(node, depth, concurrent)
            case Mark(kind="allocate", names=names) if any(self._is_own(key) for key in names):
                return node
            case Extension():
                return replace(node, child=self.at(node.child, (), depth, concurrent))
            case Mark(kind="tiles", child=Band(members=members) as band):  # loops that belong together, as of a region
                if not all(self._stays(member) for member in members):
                    return self._declare(node, depth, concurrent)
                within = concurrent or any(m.parallel or m.vector for m in members)
                below = self.at(band.child, (*above, *members), depth + len(members), within)
                return replace(node, child=replace(band, child=below))
            case Mark():
                # A kernel of one thread has no parallel loop, and keeps its scalars to itself all the same.
                within = concurrent or node.kind == "kernel"
                return replace(node, child=self.at(node.child, above, depth, within))
            case Sequence(children=steps):
                if self._connected(steps):
                    return self._declare(self._parallel_steps(node, above, depth, concurrent), depth, concurrent)
                return Sequence(tuple(self._step(s, above, depth, concurrent) for s in steps))
            case Band():
                return self._in_band(node, above, depth, concurrent)

    def _in_band(self, band: Band, above: tuple[Member, ...], depth: int, concurrent: bool) -> Node:
        """A band with the declaration below it, between its members or above it."""
        members, inside = band.members, 0
        while inside < len(members) and self._stays(members[inside]):
            concurrent = concurrent or members[inside].parallel or members[inside].vector
            inside += 1
        if inside == len(members):
            before = dict(self.buffers)
            child = self.at(band.child, (*above, *members), depth + inside, concurrent)
            new = self.buffers.keys() - before.keys()
            if not new or _is_concurrent(child, new) or self._varying(band, inside, above) == inside:
                return replace(band, child=child)
            self.buffers = before
        common, inside = inside, self._varying(band, inside, above)
        # One thread alone uses it then, but C compilers may hold it in a register and store it in each thread.
        alone = [m if k < inside or k >= common else replace(m, parallel=False) for k, m in enumerate(members)]
        if inside == 0:
            return self._declare(replace(band, members=tuple(alone)), depth, concurrent)
        rest = replace(band, members=tuple(alone[inside:]))
        below = self._declare(rest, depth + inside, concurrent)
        return replace(band, members=members[:inside], child=below)

    def _varying(self, band: Band, count: int, above: tuple[Member, ...]) -> int:
        """How many of the band's first `count` members it takes to tell the array's users apart, or are not sequential.

        Below others a declaration gains nothing, and isl may print some of the users outside of the loop: where all run
        in one of its iterations, or, of a sequential one, where some run behind the iterations of others, but for one
        that both share.

        above: the members of the bands above
        """
        tiles = band.whole is not None or any(isinstance(n, Extension) for n in walk(band))
        while count and not tiles and not self._is_varying((*above, *band.members[:count])):
            count -= 1
        return count

    def _is_varying(self, members: tuple[Member, ...]) -> bool:
        """Whether the last one of some loops is not sequential, or has iterations that keep its users together: each
        runs before an iteration of another one, and behind one. isl prints these in one loop."""
        concurrent = members[-1].parallel or members[-1].vector
        if concurrent and self.program.options.gpu:
            return True
        apart = [one.range() for one in maps(values(members, self.instances))]
        if not apart:
            return True  # none of its users runs at any size
        if concurrent:
            return any(_precedes(one, other) for one in apart for other in apart)
        together = [apart[0] if len(apart) == 1 else apart.pop()]  # one alone alternates with itself
        for one in together:
            found = [other for other in apart if _alternate(one, other)]
            apart = [other for other in apart if other not in found]
            together += found
        return not apart

    def _is_own(self, key: str) -> bool:
        """Whether a buffer is of the array."""
        buffer = self.program.buffers.get(key)
        return buffer is not None and buffer.array == self.array.name

    def _step(self, step: Filter, above: tuple[Member, ...], depth: int, concurrent: bool) -> Filter:
        """A step with a declaration of its own, or in its steps, unless it hands values to others, or reads theirs."""
        if not self._reaches(step):
            return step
        if self._alone(instances_below(step)):
            return replace(step, child=self.at(step.child, above, depth, concurrent))
        if isinstance(step.child, Sequence):
            return replace(step, child=self._parallel_steps(step.child, above, depth, concurrent))
        return step

    def _parallel_steps(self, sequence: Sequence, above: tuple[Member, ...], depth: int, concurrent: bool) -> Sequence:
        """A sequence whose steps hand values to each other, with declarations in those that have parallel loops."""
        steps = sequence.children
        own = (self._step(s, above, depth, concurrent) if _parallel_loops(s.child) else s for s in steps)
        return Sequence(tuple(own))

    def _reaches(self, step: Filter) -> bool:
        """Whether a statement below uses the array."""
        return bool(statements_below(step) & self.users)

    def _declare(self, node: Node, depth: int, concurrent: bool) -> Node:
        anywhere = self.array.storage is Storage.REGION and not self.program.options.gpu
        if depth == 0 or not (concurrent or anywhere):
            return node  # on a GPU what outlives a kernel stays in the device's memory
        c_name = self.array.printed_name
        key = f"{self.array.name}_private{len(self.buffers)}"
        refs = frozenset(
            (s.name, a.ref) for s in self.program.statements.values() for a in s.accesses if a.array == self.array.name
        )
        extents = tuple(e for e in self.array.extents if e is not None)
        self.buffers[key] = Buffer(key, c_name, self.array.name, None, depth, extents, "private", refs)
        return Mark("allocate", node, names=(key,))

    def _used(self, node: Node) -> bool:
        """Whether a statement below uses the array (bands and filters name the statements below)."""
        match node:
            case Leaf():
                return True
            case Band(members=members):
                here = {set_name(s) for s in sets(members[0].schedule.domain())}
                return bool(here & self.users) or self._used(node.child)
            case Sequence(children=steps):
                return any(self._reaches(f) for f in steps)
            case Mark() | Extension():
                return self._used(node.child)

    def _connected(self, steps: tuple[Filter, ...]) -> bool:
        """Whether a step of the sequence reads what another one computes, or all is in leaves."""
        using = [s for s in steps if self._reaches(s)]
        if not all(self._alone(instances_below(step)) for step in using):
            return True
        return len(using) > 1 and all(isinstance(s.child, Leaf) for s in using)

    def _alone(self, instances: isl.UnionSet) -> bool:
        """Whether no value goes from some instances to others, or comes from these."""
        read, written = self.flow.intersect_range(instances), self.flow.intersect_domain(instances)
        if _looks_equal(read, written):
            return True
        return bool(read.is_subset(written) and written.is_subset(read))

    def _stays(self, member: Member) -> bool:
        """Whether no value leaves an iteration of the loop."""
        if self._same_value(member):
            return True
        domain = member.schedule.domain()
        inside = among(self.flow, domain)
        return bool(inside.is_subset(within_iteration(inside, (member,))))

    def _same_value(self, member: Member) -> bool:
        """Whether the loop's value is the same at both ends of each flow, even of what does not run in it.

        It is so wherever a scalar belongs to an iteration, and is seen without the conditions under which tiles run
        their instances.
        """
        value = {name: affine_of(v) for name, v in pw_affs_of(member.schedule).items()}
        for piece in maps(self.flow):
            ends = in_name(piece), out_name(piece)
            if not value.keys() >= set(ends):
                continue  # not in the loop
            first, second = (value[end] for end in ends)
            if first is None or second is None:
                return False
            if not piece.is_subset(isl.Map.from_aff(first).apply_range(isl.Map.from_aff(second).reverse())):
                return False
        return True


def _looks_equal(one: isl.UnionMap, other: isl.UnionMap) -> bool:
    """Whether two relations have the same pieces, which is seen at once. False says nothing."""
    pieces = maps(one)
    return len(pieces) == other.n_map() and all(p.plain_is_equal(other.extract_map(p.get_space())) for p in pieces)


def _precedes(one: isl.Set, other: isl.Set) -> bool:
    """Whether of two sets of iterations `{ [v0, v1] }` one has any before one of the other, in v1."""
    last = one.dim(isl.dim_type.set) - 1
    later = isl.Map.universe(isl.Space.map_from_set(one.get_space()))
    for d in range(last):
        later = later.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    later = later.order_lt(isl.dim_type.in_, last, isl.dim_type.out, last)
    return not later.intersect_domain(one).intersect_range(other).is_empty()


def _alternate(one: isl.Set, other: isl.Set) -> bool:
    """Whether each of two sets of iterations has one before and one behind one of the other."""
    return _precedes(one, other) and _precedes(other, one)


def _is_concurrent(node: Node, names: Set[str]) -> bool:
    """Whether a parallel loop of a subtree, or a kernel, has declarations of some buffers inside."""

    def declares(below: Node) -> bool:
        return any(isinstance(n, Mark) and not names.isdisjoint(n.names) for n in walk(below))

    kernels = [n.child for n in walk(node) if isinstance(n, Mark) and n.kind == "kernel"]
    return any(declares(below) for below in (*kernels, *(loop.child for loop in _parallel_loops(node))))


def _parallel_loops(node: Node) -> list[Band]:
    return [n for n in walk(node) if isinstance(n, Band) and any(m.parallel or m.vector for m in n.members)]
