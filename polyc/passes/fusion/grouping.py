"""Which nests share tiles: the groups of a sequence that take the least time together, by the model of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from polyc.nests.nest import Nest
from polyc.passes.fusion.cluster import Declined
from polyc.passes.fusion.fuser import Fuser
from polyc.passes.fusion.sizes import Sizes
from polyc.records import dataclass, field, replace

MOST_STATES = 3
"""How many ways to go on are kept at each nest."""
MOST_GROUPS = 200
"""How many groups of one sequence are looked at for splits: after that each is as large as pays."""
WORTH = 0.05
"""Of the time of all nests: what a split may save at most, for it to be looked at."""
DOUBT = 0.1
"""Of a group's time: what a split has to save, since the model does not know it better than that."""

Waiting = tuple[Nest | None, ...]
"""The nests of a sequence that are still in their places."""


_Key = tuple[int, frozenset[int], frozenset[int], tuple[Nest, ...]]
"""An output, the places that are left, those that are copied, and the nests of which a part runs elsewhere by now."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The producers of an output, the nearest first, and what the group takes."""

    producers: tuple[Nest, ...]
    places: tuple[int, ...]
    """Of the producers in the sequence."""
    seconds: float
    lonely: frozenset[int] = frozenset()
    """The places of nests that must not be copied into the tiles (`Fuser.without_sources`)."""
    left_out: tuple[int, ...] = ()
    """The places of those that would pay one by one, but pay more in groups of their own."""

    doubt: float = 0.0
    """Seconds that the others have to save, for these to be left out."""
    seconds_of_all: tuple[float, float] = 0.0, 0.0
    """Of the groups of all nests so, and where each group is as large as pays."""

    @property
    def declined(self) -> Declined:
        """What is said of a nest that is left out."""
        so, otherwise = (float(f"{seconds * 1e6:.3g}") for seconds in self.seconds_of_all)
        return Declined(
            "other-groups",
            "it pays in these tiles, but more in a group of its own: all groups take "
            f"{so:g} us so, by the model of the machine, instead of {otherwise:g} us",
            {"groups_us": so, "otherwise_us": otherwise},
        )

    @property
    def copied(self) -> frozenset[int]:
        """The places of the nests of which tiles have values of their own."""
        return frozenset(q for q, nest in zip(self.places, self.producers, strict=True) if nest.copied)

    @property
    def taken(self) -> frozenset[int]:
        """The places that are empty then: what is copied stays for its other readers."""
        return frozenset(self.places) - self.copied


@dataclass(frozen=True, slots=True)
class State:
    """What is decided of a sequence's end."""

    left: frozenset[int]
    """The places of the nests that are not in a group yet."""
    copied: frozenset[int]
    """The places of those of which groups have values of their own."""
    seconds: float
    """Of the groups so far."""
    bound: float
    """With the others by themselves."""
    last: Choice | None = None
    position: int = -1
    """Of the last group's output."""
    before: State | None = None

    def groups(self) -> Iterator[tuple[int, Choice]]:
        state: State | None = self
        while state is not None and state.last is not None:
            yield state.position, state.last
            state = state.before


@dataclass(slots=True, eq=False)
class Grouping:
    """Finds the groups of one sequence.

    math:   the last nest that waits is an output. Its producers are a prefix of those that pay one by one, the nearest
            first; time(waiting) = min over the prefixes p of time(output, p) + time(waiting - output - p), by dynamic
            programming over the sets of nests that wait, with the model's time of a group in its best tiles
    why:    what pays one by one goes on for too long in a chain: each stage more repeats more of all before it, and is
            taken while that costs less than a group of its own, where two groups of half the length are faster
    source: the recursion is that of Jangda and Bondhugula, "An effective fusion and tile size model for optimizing
            image processing pipelines", PPoPP 2018, Section 4; they take each connected set of successors, which ends
            at about thirty stages. Zhao et al. 2024, Section 5.4 compare two nests at a time
    """

    fuser: Fuser
    sizes: Sizes
    apart: Callable[[tuple[str, ...], tuple[str, ...]], str]
    """What somebody asked for that keeps two nests apart."""
    paths: dict[_Key, Choice] = field(default_factory=dict)
    prefixes: dict[_Key, tuple[float, ...]] = field(default_factory=dict)
    looked_at: int = 0
    moved: dict[int, float] = field(default_factory=dict)
    """`_moved`, by the identity of a nest."""

    def chosen(self, position: int, waiting: Waiting) -> Choice | None:
        """The producers of the last nest that waits; None where the model does not cover it."""
        nest = self.nest_at(waiting, position)
        if nest.band is None or not self.sizes.models(self.fuser.program, nest.band):
            return None
        # The user's limit decides by itself what is repeated.
        best = self.best(waiting, self.fuser.program.options.max_recompute is None)
        choice = next(choice for place, choice in best.groups() if place == position)
        if not choice.left_out:
            return choice
        predicted = best.seconds - sum(part.doubt for _, part in best.groups())
        return replace(choice, seconds_of_all=(predicted, self.best(waiting, False).seconds))

    def best(self, waiting: Waiting, split: bool = True) -> State:
        """The groups of all nests that wait, from the last one on; `split`: whether one may be less than pays."""
        everything = frozenset(place for place, nest in enumerate(waiting) if nest is not None)
        whole = sum(self._alone(waiting, place) for place in everything)
        open_: dict[int, dict[frozenset[int], State]] = {}
        final = State(everything, frozenset(), 0.0, whole)
        open_[max(everything, default=-1)] = {everything: final}
        for position in reversed(range(len(waiting))):
            states = sorted(open_.pop(position, {}).values(), key=lambda state: state.bound)
            for state in states[:MOST_STATES]:
                for choice in self._choices(
                    waiting, position, state.left, state.copied, WORTH * whole if split else inf
                ):
                    left = state.left - choice.taken - {position}
                    seconds = state.seconds + choice.seconds + choice.doubt
                    bound = seconds + sum(self._alone(waiting, place) for place in left)
                    copied = (state.copied | choice.copied) & left
                    found = State(left, copied, seconds, bound, choice, position, state)
                    there = open_.setdefault(max(left, default=-1), {})
                    if left not in there or seconds < there[left].seconds:
                        there[left] = found
        return min(open_[-1].values(), key=lambda state: state.seconds)

    def _choices(
        self, waiting: Waiting, position: int, left: frozenset[int], copied: frozenset[int], worth: float
    ) -> list[Choice]:
        """All that pays, and the parts of it that may take less with groups of their own for the rest."""
        key = position, left, copied, self._parts(waiting, left)
        if key not in self.paths:
            self.paths[key], self.prefixes[key] = self._path(waiting, position, left, copied)
        path, seconds = self.paths[key], self.prefixes[key]
        found = [path]
        if self.looked_at >= MOST_GROUPS:
            return found
        for count in range(len(path.producers)):
            if any(nest.copied for nest in path.producers[count:]):
                continue  # readers may need other parts of it, so that copying repeats less than the model says
            rest = self._least(waiting, position, path, count)
            if seconds[count] + rest + worth < path.seconds:
                part = path.producers[:count], path.places[:count], seconds[count]
                found.append(Choice(*part, path.lonely, path.places[count:], DOUBT * path.seconds))
        return found

    def _parts(self, waiting: Waiting, left: frozenset[int]) -> tuple[Nest, ...]:
        """The nests that wait of which a part runs in tiles by now."""
        parts = (waiting[q] for q in sorted(left) if waiting[q] is not self.fuser.nests[q])
        return tuple(nest for nest in parts if nest is not None)

    def _path(
        self, waiting: Waiting, position: int, left: frozenset[int], copied: frozenset[int]
    ) -> tuple[Choice, tuple[float, ...]]:
        """The producers of a nest that pay one by one, the nearest first, and the time with so many of them."""
        nest, lonely = self.nest_at(waiting, position), frozenset[int]()
        there = [n if place in left and place != position else None for place, n in enumerate(waiting)]
        while True:
            found, places, seconds = self._paying(nest, position, there, lonely, copied)
            more = self.fuser.without_sources([*found, nest], there) - lonely
            if not more:
                return Choice(found, places, seconds[-1], lonely), seconds
            lonely |= more

    def _paying(
        self,
        nest: Nest,
        position: int,
        waiting: list[Nest | None],
        lonely: frozenset[int],
        copied: frozenset[int],
    ) -> tuple[tuple[Nest, ...], tuple[int, ...], tuple[float, ...]]:
        """Producers that pay by the model, whether or not they may be fused."""
        fuser, program = self.fuser, self.fuser.program
        found, places = tuple[Nest, ...](), tuple[int, ...]()
        shown = found
        """The same as the model is asked: what others have copies of is needed here only."""
        seconds = [self._seconds(nest)]
        if nest.band is None or not self.sizes.models(program, nest.band):
            return found, places, tuple(seconds)
        inside, reads = nest.instances, fuser.near.feeding(nest.statements)
        for q in reversed(range(position)):
            other = waiting[q]
            if other is None or other.band is None or q not in reads:
                continue
            if self.apart(nest.statements, other.statements):
                continue
            flow = fuser.near.flow_from(other.instances).intersect_range(inside)
            if fuser.outer.same_iteration(flow).is_empty():
                continue
            here = [n for n in found if not n.copied]
            readers = [n for n in waiting[q + 1 : position] if n is not None and n not in here]
            readers = [n for n in readers if fuser.near.reads_from(n, other)]
            self.looked_at += 1
            if readers:
                copy = fuser.copy_of(q, other) if q not in lonely else None
                if copy is None:
                    continue
                other = copy
                own = copy
                judged = self.sizes.copied(program, fuser.outer, (nest,), shown, copy, readers)
            else:
                own = (fuser.copy_of(q, other) or other) if q in copied else other
                judged = self.sizes.judged(program, fuser.outer, (nest,), shown, own)
            if judged is not None and judged.fused.seconds <= judged.apart_seconds:
                found, inside = (*found, other), inside.union(other.instances)
                places, shown = (*places, q), (*shown, own)
                group = self.sizes.cpu.group(program, fuser.outer, (nest,), shown)
                assert group is not None
                seconds.append(group.best[0].seconds)
                reads |= fuser.near.feeding(other.statements)
        return found, places, tuple(seconds)

    # --- single nests ------------------------------------------------------------------------------------------------

    def _alone(self, waiting: Waiting, place: int) -> float:
        return self._seconds(self.nest_at(waiting, place))

    @staticmethod
    def nest_at(waiting: Waiting, place: int) -> Nest:
        nest = waiting[place]
        assert nest is not None
        return nest

    def _seconds(self, nest: Nest) -> float:
        """Of a nest by itself; nothing where the model does not cover it, whatever its group."""
        program = self.fuser.program
        if nest.band is None or not self.sizes.models(program, nest.band):
            return 0.0
        return self.sizes.cpu.seconds(program, nest, self.fuser.outer) or 0.0

    def _least(self, waiting: Waiting, position: int, path: Choice, count: int) -> float:
        """What the producers after the first `count` take at least with groups of their own: their arithmetic once,
        and to store and read what the others need of them."""
        program, outer = self.fuser.program, self.fuser.outer
        rest = path.producers[count:]
        computing = sum(self.sizes.cpu.computing(program, nest, outer) for nest in rest)
        readers = [self.nest_at(waiting, position), *path.producers[:count]]
        needed = {place for nest in readers for place in self.fuser.near.feeding(nest.statements)}
        return computing + sum(self._moved(n) for n, q in zip(rest, path.places[count:], strict=True) if q in needed)

    def _moved(self, nest: Nest) -> float:
        """To store what a nest makes, and read it once; nothing where that stays in a cache."""
        if id(nest) not in self.moved:
            program = self.fuser.program
            self.moved[id(nest)] = self.sizes.cpu.passing(program, self.fuser.written_bytes(nest))
        return self.moved[id(nest)]
