"""Who has to do with whom among the nests of a sequence, by the names of their statements.

To ask isl for the dependences between each pair of nests takes the square of their number, or its cube, and most pairs
have none.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.nests.nest import Nest
from polyc.poly import empty_map, in_name, maps, names, out_name, union_of


class Neighbours:
    """The dependences of a region by their statements, and the nests of one sequence by what they touch."""

    def __init__(self, program: Program, nests: tuple[Nest, ...]) -> None:
        d = program.dependences
        self._program = program
        self._nothing = empty_map(d.flow)
        self._flow, self._false = _by_source(d.flow), _by_source(d.false.union(d.private_false))
        self._places: dict[str, set[int]] = {}
        """Of each statement in the sequence."""
        self._sources: dict[str, set[str]] = {}
        """The statements whose values a statement reads."""
        self._readers: dict[str, set[int]] = {}
        """The nests that read an array."""
        self._touched: dict[Nest, tuple[frozenset[str], frozenset[str]]] = {}
        self._statements: dict[Nest, frozenset[str]] = {}
        for place, nest in enumerate(nests):
            for name in nest.statements:
                self._places.setdefault(name, set()).add(place)
            for array in self.touched(nest)[0]:
                self._readers.setdefault(array, set()).add(place)
        for source, pieces in self._flow.items():
            for piece in pieces:
                self._sources.setdefault(out_name(piece), set()).add(source)

    def flow_from(self, instances: isl.UnionSet) -> isl.UnionMap:
        """The flow out of some instances."""
        pieces = (piece for name in names(instances) for piece in self._flow.get(name, ()))
        return union_of(pieces, self._nothing).intersect_domain(instances)

    def all_from(self, instances: isl.UnionSet) -> isl.UnionMap:
        """All dependences out of some instances."""
        kinds = (self._flow, self._false)
        pieces = (piece for name in names(instances) for kind in kinds for piece in kind.get(name, ()))
        return union_of(pieces, self._nothing).intersect_domain(instances)

    def feeding(self, statements: Iterable[str]) -> set[int]:
        """The places of the nests whose values these statements may read."""
        sources = (source for name in statements for source in self._sources.get(name, ()))
        return {place for source in sources for place in self._places.get(source, ())}

    def reads_from(self, reader: Nest, nest: Nest) -> bool:
        """Whether a nest reads values that another one makes."""
        return not self.flow_from(nest.instances).intersect_range(reader.instances).is_empty()

    def reading(self, nest: Nest) -> set[int]:
        """The places of the nests that read an array that this one reads."""
        return {place for array in self.touched(nest)[0] for place in self._readers.get(array, ())}

    def targets(self, flow: isl.UnionMap) -> set[int]:
        """The places of the nests that a flow may go to."""
        return {place for name in names(flow.range()) for place in self._places.get(name, ())}

    def both(self, nest: Nest, other: Nest) -> frozenset[str]:
        """The arrays that a nest touches and another one writes."""
        reads, writes = self.touched(nest)
        written = self.touched(other)[1]
        return (reads & written) | (writes & written)

    def statements(self, nest: Nest) -> frozenset[str]:
        if nest not in self._statements:
            self._statements[nest] = frozenset(nest.statements)
        return self._statements[nest]

    def touched(self, nest: Nest) -> tuple[frozenset[str], frozenset[str]]:
        """The arrays that a nest reads, and those that it writes."""
        if nest not in self._touched:
            accesses = [a for name in nest.statements for a in self._program.statements[name].accesses]
            reads = frozenset(a.array for a in accesses if a.kind is AccessKind.READ)
            self._touched[nest] = reads, frozenset(a.array for a in accesses if a.kind is not AccessKind.READ)
        return self._touched[nest]

    def written(self, nest: Nest) -> list[str]:
        """Arrays that the nest writes, but those that are private to its iterations."""
        found: dict[str, None] = {}
        for name in nest.statements:
            for access in self._program.statements[name].accesses:
                if access.kind is not AccessKind.READ and not self.stays_inside(nest, access.array):
                    found[access.array] = None
        return list(found)

    def stays_inside(self, nest: Nest, array: str) -> bool:
        """Whether an array may be private, and whoever reads what a nest stores to it is of the nest itself."""
        if array not in self._program.scop.privatizable:
            return False
        flow = self._program.dependences.flow_by_array.get(array)
        if flow is None:
            return True
        out = flow.intersect_domain(nest.instances)
        return bool(out.is_subset(out.intersect_range(nest.instances)))


def _by_source(dependences: isl.UnionMap) -> dict[str, list[isl.Map]]:
    found: dict[str, list[isl.Map]] = {}
    for piece in maps(dependences):
        found.setdefault(in_name(piece), []).append(piece)
    return found
