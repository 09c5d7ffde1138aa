"""Declare private scalars and small arrays inside the loops whose iterations they belong to."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Buffer, Program
from polyc.model.scop import Array, Storage
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Sequence, instances_below
from polyc.nests.nest import statements_below
from polyc.poly import affine_of, among, constant_of, in_name, maps, out_name, set_name, sets
from polyc.records import dataclass, replace

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
        child = placed.at(program.tree.child, 0, False)
        program = replace(
            program,
            tree=Domain(program.tree.domain, child),
            buffers=program.buffers | placed.buffers,
        )
    return program


@dataclass(slots=True)
class _Placing:
    program: Program
    array: Array
    flow: isl.UnionMap
    users: frozenset[str]
    buffers: dict[str, Buffer] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.buffers = {}

    def at(self, node: Node, depth: int, concurrent: bool) -> Node:
        """The subtree with the declaration as deep as it may stand; `concurrent`: some loop above is parallel."""
        if not self._used(node):
            return node
        match node:
            case Leaf():
                return self._declare(node, depth, concurrent)
            case Mark(kind="allocate", names=names) if any(self._is_own(key) for key in names):
                return node
            case Mark() | Extension():
                # A kernel of one thread has no parallel loop, and keeps its scalars to itself all the same.
                within = concurrent or (isinstance(node, Mark) and node.kind == "kernel")
                return replace(node, child=self.at(node.child, depth, within))
            case Sequence(children=steps):
                if self._connected(steps):
                    return self._declare(node, depth, concurrent)
                return Sequence(tuple(self._step(s, depth, concurrent) for s in steps))
            case Band(members=members):
                inside = 0
                while inside < len(members) and self._stays(members[inside]):
                    concurrent = concurrent or members[inside].parallel or members[inside].vector
                    inside += 1
                if inside == len(members):
                    child = self.at(node.child, depth + inside, concurrent)
                    inside = self._varying(node)
                    declared = isinstance(child, Mark) and any(key in self.buffers for key in child.names)
                    if inside == len(members) or not declared:
                        return replace(node, child=child)
                    self.buffers.popitem()
                if inside == 0:
                    return self._declare(node, depth, concurrent)
                rest = replace(node, members=members[inside:])
                below = self._declare(rest, depth + inside, concurrent)
                return replace(node, members=members[:inside], child=below)

    def _varying(self, band: Band) -> int:
        """How many of the band's members it takes to tell the array's users apart, or are not sequential.

        Below others, which all users run in one iteration of, a declaration gains nothing, and isl may print what comes
        last in that iteration behind the loop.
        """
        count = len(band.members)
        while count and band.whole is None and self._is_fixed(band.members[count - 1]):
            count -= 1
        return count

    def _is_fixed(self, member: Member) -> bool:
        """Whether a sequential loop has one value for all users."""
        if member.parallel or member.vector:
            return False
        pieces = member.schedule.get_pw_aff_list()
        values = [pieces.get_at(k) for k in range(pieces.n_pw_aff())]
        found = {constant_of(value) for value in values if set_name(value.domain()) in self.users}
        return len(found) == 1 and None not in found

    def _is_own(self, key: str) -> bool:
        """Whether a buffer is of the array."""
        buffer = self.program.buffers.get(key)
        return buffer is not None and buffer.array == self.array.name

    def _step(self, step: Filter, depth: int, concurrent: bool) -> Filter:
        if not self._reaches(step):
            return step
        return replace(step, child=self.at(step.child, depth, concurrent))

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
        for step in using:
            instances = instances_below(step)
            read_here = self.flow.intersect_range(instances)
            if not read_here.is_subset(read_here.intersect_domain(instances)):
                return True
        return len(using) > 1 and all(isinstance(s.child, Leaf) for s in using)

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
        pieces = member.schedule.get_pw_aff_list()
        values = [pieces.get_at(k) for k in range(pieces.n_pw_aff())]
        value = {set_name(v.domain()): affine_of(v) for v in values}
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
