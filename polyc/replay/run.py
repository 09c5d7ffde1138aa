"""Run a region and its printed text at small sizes, and compare what each leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.model.program import Program
from polyc.model.scop import AccessKind, Region
from polyc.records import dataclass, field, replace
from polyc.replay.both import TEXT, Both, Overlap, Ran, names_of
from polyc.replay.machine.memory import Machine, OutOfFuel, Outside, Races
from polyc.replay.machine.reading import NotUnderstood, WrongText
from polyc.replay.outcome import Coverage, Difference, Outcome
from polyc.replay.sizes import Sizes, least_iterations
from polyc.runtime.csource import Unrunnable, array_name

CHEAP = 4_000
"""Iterations of loops up to which a run is repeated to look for races: each access is slower then."""
FUEL = 40_000
"""Iterations of loops that all runs of a region may take together."""
TOO_LARGE = "the region takes more than {} iterations at small sizes"
LONG_TEXT = 500
"""Lines of a text above which translating it would take longer than its other checks."""


def replay(region: Region, program: Program, text: str, fuel: int = FUEL) -> Outcome:
    """Compare a printed text with its region at small sizes, by running both.

    text: what stands in the region's place in the file
    """
    if text.count("\n") > LONG_TEXT:
        return Outcome("not-run", f"the text has more than {LONG_TEXT} lines")
    try:
        return _Replay(region, program, text, fuel=fuel).outcome()
    except (NotUnderstood, Unrunnable) as reason:
        return Outcome("not-run", str(reason))
    except WrongText as reason:
        return Outcome("differs", str(reason), Difference("text", str(reason), "", {}))
    except RecursionError:
        return Outcome("not-run", "expressions are nested too deeply")


@dataclass(slots=True, eq=False)
class _Replay(Both):
    """The runs of one region and its text, one after the other."""

    fuel: int = FUEL
    covered: set[int] = field(default_factory=set)
    sizes: list[dict[str, int]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    wide: list[tuple[dict[str, int], set[int], int]] = field(default_factory=list)
    """For each of the sizes the parallel loops with several iterations, and what it took."""
    too_large: int = 0

    def outcome(self) -> Outcome:
        difference = self.all_sizes() or self.races() or self.overlapping() or self.without_memory()
        if self.both.shared and difference is None:
            line, message = self.both.shared[0]
            difference = Difference("race", message, f"in line {line} of the text", {})
        coverage = self.coverage()
        if difference is not None:
            return Outcome("differs", difference.message, difference, coverage, tuple(self.sizes))
        if not self.sizes or (coverage.total and not coverage.ran):
            return Outcome("not-run", self.skipped[0] if self.skipped else "no sizes", None, coverage)
        return Outcome("agrees", "", None, coverage, tuple(self.sizes))

    def coverage(self) -> Coverage:
        mine = {number: line for number, line in self.both.blocks.items() if line.text == TEXT}
        missed = sorted({line.line for number, line in mine.items() if number not in self.covered})
        return Coverage(sum(number in self.covered for number in mine), len(mine), tuple(missed))

    def all_sizes(self) -> Difference | None:
        """Run small sizes, and then some for what has not run, until the fuel is used up."""
        sizes, left = Sizes(self.scop), self.fuel
        if least_iterations(self.scop) > left // 2:
            self.skipped.append(TOO_LARGE.format(left // 2))
            return None
        for one in self.wanted(sizes):
            spent, difference = self.compared(one, min(left // 2, self.fuel // 4 if self.sizes else left))
            left -= spent
            if difference is not None or (self.too_large >= 2 and not self.covered):
                return difference
            if left <= self.fuel // 50:
                break
        return self.more_sizes(sizes, min(left, self.fuel // 4))

    def more_sizes(self, sizes: Sizes, left: int) -> Difference | None:
        """Run larger ones with what is left."""
        for one in sizes.more():
            if left <= self.fuel // 50:
                break
            spent, difference = self.compared(one, left // 2)
            left -= spent
            if difference is not None:
                return difference
        return None

    def wanted(self, sizes: Sizes) -> Iterator[dict[str, int]]:
        """The sizes to run, which depend on what has not run so far."""
        yield from sizes.first()
        if not self.sizes and not self.too_large:
            yield from sizes.feasible()
        lines = self.text.split("\n")
        tried: set[str] = set()
        for number, block in self.both.blocks.items():
            if block.text != TEXT or number in self.covered:
                continue
            for line in (block.line, *reversed(block.around)):
                head = lines[line - 1] if 0 < line <= len(lines) else ""
                if head in tried or number in self.covered:
                    continue
                tried.add(head)
                for one in sizes.reaching(head):
                    yield one
                    if number in self.covered:
                        break

    def compared(
        self, sizes: dict[str, int], fuel: int, overlap: Overlap | None = None
    ) -> tuple[int, Difference | None]:
        """The fuel that was spent, and what differs."""
        try:
            wanted = self.original(sizes, fuel, overlap)
        except OutOfFuel:
            self.skipped.append(TOO_LARGE.format(fuel))
            self.too_large += 1
            return fuel, None
        except (Outside, TypeError, KeyError, IndexError) as reason:
            self.skipped.append(f"the region itself leaves its arrays ({reason})")
            return 100, None
        machine = Machine(fuel=max(fuel, 8000), tag="text", covered=self.covered)
        try:
            found = self.ran(sizes, machine, overlap)
        except OutOfFuel:  # tiles that are padded to their whole size
            self.skipped.append("the text takes many more iterations than the region")
            return machine.fuel, None
        if overlap is None:
            self.sizes.append(sizes)
            self.wide.append((sizes, machine.wide, max(wanted.machine.used, machine.used)))
        spent = wanted.machine.used + (machine.used if not isinstance(found, Difference) else 0)
        difference = self.difference(wanted, found)
        if difference is None and overlap is None and isinstance(found, Ran):
            difference = self.in_vain(wanted, found, sizes)
        if difference is None:
            return spent, None
        if not self.is_defined(sizes, overlap):
            if overlap is None:
                self.sizes.pop()
                self.wide.pop()
            self.skipped.append("the region itself leaves its arrays, or reads what nobody wrote")
            return spent, None
        return spent, self.told(difference, sizes, overlap)

    # --- other ways to run it ----------------------------------------------------------------------------------------

    def races(self) -> Difference | None:
        """Run the text with its parallel loops the other way round, at sizes at which each has several iterations."""
        seen: set[int] = set()
        cheap = sorted((run for run in self.wide if run[2] <= CHEAP), key=lambda run: (-len(run[1]), -run[2]))
        others = sorted((run for run in self.wide if run[2] > CHEAP), key=lambda run: run[2])
        for sizes, wide, used in [*cheap, *others]:
            if wide <= seen or used > 5 * CHEAP:
                continue
            seen |= wide
            try:
                wanted = self.original(sizes, 2 * used + 100)
            except (OutOfFuel, Outside):  # other loops than those of the text, which `used` counts, or no meaning
                continue
            difference = self.raced(wanted, sizes, None)
            if difference is not None:
                return difference
        return None

    def raced(self, wanted: Ran, sizes: dict[str, int], overlap: Overlap | None) -> Difference | None:
        machine = Machine(fuel=20 * wanted.machine.used + 4000, tag="text", covered=self.covered, races=Races())
        try:
            found = self.ran(sizes, machine, overlap)
        except OutOfFuel:
            return None
        assert machine.races is not None
        if machine.races.found and self.is_defined(sizes, overlap):
            name, place = machine.races.found[0]
            known = found.arrays.get(name) if isinstance(found, Ran) else None
            element = f"{name}[{place}]" if known is None or overlap is not None else known.element(place)
            message = f"two iterations of a parallel loop touch {element}{overlap or ''}"
            return Difference("race", message, "", self.given(sizes), name, place)
        difference = self.difference(wanted, found)
        if difference is None or not self.is_defined(sizes, overlap):
            return None
        message = f"{difference.message} with the iterations of parallel loops in another order{overlap or ''}"
        return replace(difference, message=message, sizes=self.given(sizes))

    def overlapping(self) -> Difference | None:
        """Run both with arrays that overlap, if a guard asks about that."""
        chosen = [sizes for sizes in self.sizes if min([1, *sizes.values()]) > 0][:2]
        for overlap in self.overlaps():
            for sizes in chosen:
                _, difference = self.compared(sizes, 4000, overlap)
                if difference is not None:
                    return difference
                try:
                    wanted = self.original(sizes, 4000, overlap)
                except (OutOfFuel, Outside):
                    continue
                difference = self.raced(wanted, sizes, overlap)
                if difference is not None:
                    return difference
        return None

    def overlaps(self) -> Iterator[Overlap]:
        """Pairs of arrays that a guard asks about.

        Not one that is needed afterwards with one that is not: what the region writes to elements of the first by the
        name of the second only is not needed by the user's own word. Nor a flat one of which a guard asks about all of
        the object, `&row + 1`: the runs have it as a pointer, without its length.
        """
        accesses = [a for statement in self.scop.statements.values() for a in statement.accesses]
        written = {a.array for a in accesses if a.kind is not AccessKind.READ}
        dead = {array_name(self.scop.arrays[key]) for key in written - self.scop.live_out}
        for pair in self.scop.apart[:4]:
            names = [name for name in names_of(pair, self.scop) if name in self.arrays and self.arrays[name].rank]
            if len(names) != 2 or names[0] == names[1] or (names[0] in dead) != (names[1] in dead):
                continue
            whole = [self.arrays[n].flat and m.low is None for n, m in zip(names, (pair.one, pair.two), strict=True)]
            if self.kinds[names[0]] == self.kinds[names[1]] and not any(whole):
                for by in (0, 1, -1):
                    yield Overlap(names[0], names[1], by)

    def without_memory(self) -> Difference | None:
        """Run the text where there is no memory on the heap."""
        if not any("allocated(" in line for line in self.both.lines) or not self.sizes:
            return None
        sizes = self.sizes[0]
        try:
            wanted = self.original(sizes, 10_000)
        except (OutOfFuel, Outside):
            return None
        machine = Machine(fuel=4 * wanted.machine.used + 4000, tag="text", covered=self.covered, memory=False)
        try:
            found = self.ran(sizes, machine)
        except OutOfFuel:
            return None
        difference = self.difference(wanted, found)
        if difference is None:
            return None
        message = f"{difference.message} where there is no memory on the heap"
        return replace(difference, message=message, sizes=self.given(sizes))
