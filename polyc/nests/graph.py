"""Which nests of a sequence need which others, and in which orders they may stand."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Domain, Filter, Node, Sequence, rewrite
from polyc.nests.nest import Nest
from polyc.poly import in_name, maps, out_name, set_name, sets
from polyc.records import dataclass


@dataclass(slots=True, eq=False)
class NestGraph:
    """Groups of nests in an order that keeps all dependences, to be merged step by step."""

    groups: list[list[int]]
    """Positions of nests as they were written, in rising order; the groups in the order in which they run."""
    needs: dict[int, set[int]]
    """For a nest, those that need it before them; none where nobody does."""

    @staticmethod
    def of(nests: tuple[Nest, ...], relation: isl.UnionMap) -> NestGraph:
        """Each nest by itself; `relation`: all dependences within one iteration of the loops around.

        A statement that several nests share makes a dependence of each of them, which is safe.
        """
        owners: dict[str, list[int]] = {}
        for k, nest in enumerate(nests):
            for name in nest.statements:
                owners.setdefault(name, []).append(k)
        needs: dict[int, set[int]] = {}
        for piece in maps(relation):
            for a in owners.get(in_name(piece), ()):
                needs.setdefault(a, set()).update(b for b in owners.get(out_name(piece), ()) if a < b)
        return NestGraph([[k] for k in range(len(nests))], needs)

    def linked(self, first: list[int], second: list[int]) -> bool:
        """Whether some nest of the second group needs one of the first."""
        return any(a in self.needs and not self.needs[a].isdisjoint(second) for a in first)

    def readers(self) -> list[set[int]]:
        """For each group, the places of the others that need it."""
        places = {nest: place for place, group in enumerate(self.groups) for nest in group}
        found = []
        for place, group in enumerate(self.groups):
            found.append({places[b] for a in group for b in self.needs.get(a, ())} - {place})
        return found

    def mergeable(self, first: int, second: int) -> bool:
        """Whether no group between the two (places, the first one runs first) needs one and is needed by the other."""
        later = self._following(first, second)
        return not any(self.linked(self.groups[k], self.groups[second]) for k in later)

    def merge(self, first: int, second: int) -> int:
        """Make two groups one, with those that need the first one after it; its place.

        requires: mergeable(first, second)
        """
        later = self._following(first, second)
        between = range(first + 1, second)
        before = [self.groups[k] for k in between if k not in later]
        after = [self.groups[k] for k in between if k in later]
        joined = sorted(self.groups[first] + self.groups[second])
        self.groups[first : second + 1] = [*before, joined, *after]
        return first + len(before)

    def _following(self, first: int, second: int) -> list[int]:
        """The places between two groups of what needs the first one, at once or through others."""
        reached = list(self.groups[first])
        found = []
        for k in range(first + 1, second):
            if self.linked(reached, self.groups[k]):
                reached += self.groups[k]
                found.append(k)
        return found


def in_source_order(tree: Domain, program: Program) -> Domain:
    """Put the steps of each sequence into the user's order as far as no dependence says otherwise.

    isl orders independent components as it likes; people look for their loops where they wrote them, and
    Algorithm 1 joins neighbours.
    """
    every = [(in_name(piece), out_name(piece), piece) for piece in maps(program.dependences.all)]
    rank = {name: position for position, name in enumerate(program.scop.statements)}

    def change(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        steps = [{set_name(part): part for part in sets(step.filter)} for step in node.children]
        after: list[list[int]] = [[] for _ in steps]
        waits = [0 for _ in steps]
        for first, second in _order_of(steps, every):
            after[first].append(second)
            waits[second] += 1
        places = [min(rank[name] for name in step) for step in steps]
        free = [(places[k], k) for k in range(len(steps)) if waits[k] == 0]
        heapify(free)
        ordered: list[Filter] = []
        while free:
            _, chosen = heappop(free)
            ordered.append(node.children[chosen])
            for second in after[chosen]:
                waits[second] -= 1
                if waits[second] == 0:
                    heappush(free, (places[second], second))
        return Sequence(tuple(ordered))

    return Domain(tree.domain, rewrite(tree.child, change))


def _order_of(steps: list[dict[str, isl.Set]], every: list[tuple[str, str, isl.Map]]) -> set[tuple[int, int]]:
    """Pairs of steps, the smaller number first, with a dependence between them in either direction.

    One look at each dependence: intersecting all of them with each pair of steps takes a chain of fifty stages longer
    than its scheduling.
    """
    places: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        for name in step:
            places.setdefault(name, []).append(place)
    found: set[tuple[int, int]] = set()
    for source, target, piece in every:
        for one in places.get(source, ()):
            for two in places.get(target, ()):
                pair = (min(one, two), max(one, two))
                if one == two or pair in found:
                    continue
                between = piece.intersect_domain(steps[one][source]).intersect_range(steps[two][target])
                if not between.is_empty():
                    found.add(pair)
    return found
