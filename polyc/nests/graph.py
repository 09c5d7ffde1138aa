"""Which nests of a sequence need which others, and in which orders they may stand."""

from __future__ import annotations

import islpy as isl

from polyc.nests.nest import Nest
from polyc.poly import in_name, maps, out_name
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
