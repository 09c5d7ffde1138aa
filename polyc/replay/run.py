"""Run a region and its printed text at small sizes, and compare what each leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from polyc.codegen.printer import expression
from polyc.frontend.ctype import Types
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Apart, Array, Region, Scop, Storage
from polyc.replay.memory import (
    APART,
    Cells,
    Kind,
    Machine,
    OutOfFuel,
    Outside,
    Place,
    Races,
    TracedCells,
    Tracer,
    WatchedCells,
    number_of,
    same_value,
)
from polyc.replay.outcome import Coverage, Difference, Outcome
from polyc.replay.reading import NotUnderstood, Read, WrongText, read_texts
from polyc.replay.sizes import Sizes
from polyc.replay.taint import few_values
from polyc.replay.translate import ARGUMENTS, PLAIN, RESIDUES, ZEROS, Translation, kind_of, translated
from polyc.replay.witness import explained
from polyc.runtime.csource import Unrunnable, is_rows, plain_name, size_text, with_names

REGION, TEXT = "polyc_original", "polyc_printed"
CHEAP = 4_000
"""Iterations of loops up to which a run is repeated to look for races: each access is slower then."""
FUEL = 40_000
"""Iterations of loops that all runs of a region may take together."""
LONG_TEXT = 500
"""Lines of a text above which translating it would take longer than its other checks."""
RANGES = (8, 3, 1)
"""Numbers that choose subscripts are less than the first of these with which the region stays in its arrays."""


def replay(region: Region, program: Program, text: str, fuel: int = FUEL) -> Outcome:
    """Compare a printed text with its region at small sizes, by running both.

    text: what stands in the region's place in the file
    """
    if text.count("\n") > LONG_TEXT:
        return Outcome("not-run", f"the text has more than {LONG_TEXT} lines")
    try:
        return _Replay(region, program, text, fuel).outcome()
    except (NotUnderstood, Unrunnable) as reason:
        return Outcome("not-run", str(reason))
    except WrongText as reason:
        return Outcome("differs", str(reason), Difference("text", str(reason), "", {}))
    except RecursionError:
        return Outcome("not-run", "expressions are nested too deeply")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two arrays in one piece of memory."""

    one: str
    other: str
    by: int
    """Elements from the start of the first one to that of the second one."""


@dataclass(slots=True, eq=False)
class Ran:
    """A run of one text."""

    arrays: dict[str, Cells]
    scalars: dict[str, Any]
    machine: Machine


@dataclass(slots=True, eq=False)
class _Replay:
    region: Region
    program: Program
    text: str
    fuel: int
    read: Read = field(init=False)
    types: Types = field(default_factory=Types)
    both: Translation = field(init=False)
    few: dict[str, bool] = field(init=False)
    arrays: dict[str, Array] = field(init=False)
    aliased: frozenset[str] = field(init=False)
    kinds: dict[str, Kind] = field(init=False)
    covered: set[int] = field(default_factory=set)
    sizes: list[dict[str, int]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    wide: list[tuple[dict[str, int], set[int], int]] = field(default_factory=list)
    """For each of the sizes the parallel loops with several iterations, and what it took."""
    most: int = RANGES[0]
    too_large: int = 0

    def __post_init__(self) -> None:
        scop = self.scop
        if any(isinstance(parameter.expr, c.Binary) for parameter in scop.parameters):
            raise NotUnderstood("a size that is a product of others")
        found = [array for array in scop.arrays.values() if array.storage is not Storage.REGION]
        self.arrays = {array.c_name: array for array in found}
        self.aliased = frozenset(name for pair in scop.apart for name in names_of(pair)) & set(self.arrays)
        original, printed = (with_names(text, scop.parameters) for text in (self.region.original, self.text))
        texts = {REGION: original, TEXT: printed}
        self.read = read_texts(self.region.preamble, opening(scop, self.arrays), texts)
        for item in self.read.tree.ext:
            self.types.add_all(item)
        self.few = few_values(self.read.functions[REGION], self.arrays)
        self.kinds = {name: self.kind(array) for name, array in self.arrays.items()}
        self.both = self.translation()

    @property
    def scop(self) -> Scop:
        return self.region.scop

    @property
    def mode(self) -> str:
        if self.program.options.reassociate:
            return RESIDUES
        return ZEROS if "neutral" in self.program.padded.values() else PLAIN

    def translation(self, checked: tuple[str, ...] = ()) -> Translation:
        return translated(self.read, self.types, (REGION, TEXT), self.mode, self.aliased, self.few, checked)

    def kind(self, array: Array) -> Kind:
        declared = self.read.functions[REGION].body.block_items
        for item in declared:
            if getattr(item, "name", None) == array.c_name:
                return kind_of(self.types.shape(item.type), self.types, self.few.get(array.c_name, False))
        raise NotUnderstood(f"the array {array.c_name}")

    # --- runs --------------------------------------------------------------------------------------------------------

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
        sizes = Sizes(self.scop)
        left = self.fuel
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
            self.skipped.append(f"the region takes more than {fuel} iterations at small sizes")
            self.too_large += 1
            return fuel, None
        except (Outside, TypeError, KeyError, IndexError) as reason:
            self.skipped.append(f"the region itself leaves its arrays ({reason})")
            return 100, None
        machine = Machine(fuel=max(fuel, 8000), tag="text", covered=self.covered)
        try:
            found = self.ran(TEXT, sizes, machine, overlap)
        except OutOfFuel:  # tiles that are padded to their whole size
            self.skipped.append("the text takes many more iterations than the region")
            return machine.fuel, None
        if overlap is None:
            self.sizes.append(sizes)
            self.wide.append((sizes, machine.wide, max(wanted.machine.used, machine.used)))
        spent = wanted.machine.used + (machine.used if not isinstance(found, Difference) else 0)
        difference = found if isinstance(found, Difference) else self.difference(wanted, found)
        if difference is None:
            return spent, None
        if not self.is_defined(sizes, overlap):
            if overlap is None:
                self.sizes.pop()
                self.wide.pop()
            self.skipped.append("the region itself leaves its arrays, or reads what nobody wrote")
            return spent, None
        return spent, self.told(difference, sizes, overlap)

    def original(self, sizes: dict[str, int], fuel: int, overlap: Overlap | None = None, tag: str = "region") -> Ran:
        """The region's own run. Raises OutOfFuel, Outside."""
        for most in RANGES[RANGES.index(self.most) :]:
            self.most = most
            ran = self.run(self.both, REGION, sizes, Machine(fuel=fuel, tag=tag), overlap)
            if not ran.machine.faults and all(cells.stays_inside for cells in ran.arrays.values()):
                return ran
            self.most = RANGES[0]
        raise Outside("it does at these sizes")

    def ran(
        self, name: str, sizes: dict[str, int], machine: Machine, overlap: Overlap | None = None
    ) -> Ran | Difference:
        """A run of the text, or what is wrong with it by itself. Raises OutOfFuel."""
        try:
            found = self.run(self.both, name, sizes, machine, overlap)
        except (Outside, TypeError, KeyError, IndexError, AttributeError, MemoryError) as reason:
            return Difference("text", f"the text cannot be run ({type(reason).__name__}: {reason})", "", sizes)
        buffer = machine.outside()
        if buffer is not None:
            place = min(buffer) if min(buffer) < 0 else max(buffer)
            message = f"{buffer.name} has {buffer.size} elements, and number {place} is written"
            return Difference("bounds", message, "", sizes)
        for name_of, cells in found.arrays.items():
            if overlap is None and not cells.stays_inside:
                return Difference("bounds", f"the text leaves the array {name_of}", "", sizes)
        return found

    def run(
        self, code: Translation, name: str, sizes: dict[str, int], machine: Machine, overlap: Overlap | None = None
    ) -> Ran:
        machine.most, machine.residues = self.most, self.mode == RESIDUES
        functions = code.functions(machine)
        state: dict[str, Any] = {plain_name(p): sizes[p.name] for p in self.scop.parameters}
        arrays: dict[str, Cells] = {}
        make = WatchedCells if machine.races is not None else TracedCells if machine.tracer is not None else Cells
        for position, (array_name, array) in enumerate(self.arrays.items()):
            if array_name in state:
                continue
            kind = self.kinds[array_name]
            if not array.rank:
                state[array_name] = machine.initial(kind, number_of(array_name), 0, array_name)
                continue
            state[array_name] = arrays[array_name] = make(machine, array_name, None, kind, APART * (position + 1))
            state[f"{array_name} from"] = 1 << 16
        if overlap is not None:
            arrays[overlap.other] = state[overlap.other] = state[overlap.one]
            state[f"{overlap.other} from"] += overlap.by
        else:
            for aliased in self.aliased:
                state[f"{aliased} from"] = 0
        scalars = functions[name](state)
        if overlap is not None:
            arrays[overlap.one].size = None
        return Ran(arrays, scalars, machine)

    # --- what differs ------------------------------------------------------------------------------------------------

    def difference(self, wanted: Ran, found: Ran) -> Difference | None:
        """The first live-out element with another value."""
        for key in sorted(self.scop.live_out):
            array = self.scop.arrays.get(key)
            name = "" if array is None else array.c_name
            if name in wanted.scalars:
                if not same_value(wanted.scalars[name], found.scalars[name]):
                    return Difference("value", f"{name} has another value", "", {}, name, None)
            elif name in wanted.arrays:
                place = first_difference(wanted.arrays[name], found.arrays[name])
                if place is not None:
                    return Difference("value", f"{name} has another value", "", {}, name, place)
        if wanted.machine.world != found.machine.world:
            return Difference("value", "calls with effects are other ones, or in another order", "", {})
        return None

    def is_defined(self, sizes: dict[str, int], overlap: Overlap | None) -> bool:
        """Whether the region itself stays in its arrays, row by row, and leaves behind nothing that was never set."""
        if overlap is None:
            checked = self.translation((REGION,))
            try:
                self.run(checked, REGION, sizes, Machine(tag="region"))
            except Outside:
                return False
        one, other = (self.original(sizes, 1 << 60, overlap, tag) for tag in ("region", "another"))
        return self.difference(one, other) is None

    def told(self, difference: Difference, sizes: dict[str, int], overlap: Overlap | None) -> Difference:
        """The difference with where it comes from."""
        given = {plain_name(p): sizes[p.name] for p in self.scop.parameters}
        words = ""
        if overlap is not None:
            words = f" where {overlap.other} begins {overlap.by} elements after {overlap.one}"
        difference = replace(difference, sizes=given, message=difference.message + words)
        if difference.kind != "value" or not difference.array:
            return difference
        runs: list[Ran] = []
        for name in (REGION, TEXT):
            machine = Machine(fuel=1 << 30, tag="region" if name == REGION else "text")
            machine.tracer = Tracer(self.place_of)
            runs.append(self.run(self.both, name, sizes, machine, overlap))
        return explained(difference, runs[0], runs[1])

    def place_of(self, frame: FrameType) -> Place | None:
        """Where a run is."""
        if frame.f_code.co_filename != "<replay>":
            return None
        line = self.both.lines.get(frame.f_lineno)
        if line is None:
            return None
        values = frame.f_locals
        return Place(line.line, tuple((c, values[python]) for python, c in line.counters if python in values))

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
            difference = self.raced(self.original(sizes, 2 * used + 100), sizes, None)
            if difference is not None:
                return difference
        return None

    def raced(self, wanted: Ran, sizes: dict[str, int], overlap: Overlap | None) -> Difference | None:
        machine = Machine(fuel=20 * wanted.machine.used + 4000, tag="text", covered=self.covered, races=Races())
        try:
            found = self.ran(TEXT, sizes, machine, overlap)
        except OutOfFuel:
            return None
        assert machine.races is not None
        words = "" if overlap is None else f" where {overlap.other} begins {overlap.by} elements after {overlap.one}"
        given = {plain_name(p): sizes[p.name] for p in self.scop.parameters}
        if machine.races.found and self.is_defined(sizes, overlap):
            name, place = machine.races.found[0]
            known = found.arrays.get(name) if isinstance(found, Ran) else None
            element = f"{name}[{place}]" if known is None or overlap is not None else known.element(place)
            message = f"two iterations of a parallel loop touch {element}{words}"
            return Difference("race", message, "", given, name, place)
        difference = found if isinstance(found, Difference) else self.difference(wanted, found)
        if difference is None or not self.is_defined(sizes, overlap):
            return None
        message = f"{difference.message} with the iterations of parallel loops in another order{words}"
        return replace(difference, message=message, sizes=given)

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
        for pair in self.scop.apart[:4]:
            names = [name for name in names_of(pair) if name in self.arrays and self.arrays[name].rank]
            if len(names) == 2 and names[0] != names[1] and self.kinds[names[0]] == self.kinds[names[1]]:
                for by in (0, 1, -1):
                    yield Overlap(names[0], names[1], by)

    def without_memory(self) -> Difference | None:
        """Run the text where there is no memory on the heap."""
        if "allocated(" not in self.both.source or not self.sizes:
            return None
        sizes = self.sizes[0]
        try:
            wanted = self.original(sizes, 10_000)
        except (OutOfFuel, Outside):
            return None
        machine = Machine(fuel=4 * wanted.machine.used + 4000, tag="text", covered=self.covered, memory=False)
        words = "where there is no memory on the heap"
        try:
            found = self.ran(TEXT, sizes, machine)
        except OutOfFuel:
            return None
        difference = found if isinstance(found, Difference) else self.difference(wanted, found)
        if difference is None:
            return None
        return replace(difference, message=f"{difference.message} {words}", sizes=sizes)


def first_difference(one: Cells, other: Cells) -> int | None:
    """The first element that differs."""
    places: list[int] = sorted({*one, *other})
    return next((place for place in places if not same_value(one[place], other[place])), None)


def names_of(pair: Apart) -> tuple[str, ...]:
    """The objects that have to be apart."""
    return tuple(expression(memory.base) for memory in (pair.one, pair.two))


def opening(scop: Scop, arrays: dict[str, Array]) -> str:
    """Declarations of what both texts are given, in one line."""
    found: list[str] = []
    known: set[str] = set()
    for parameter in scop.parameters:
        found.append(f"{parameter.type.text} {plain_name(parameter)} = {ARGUMENTS};")
        known.add(plain_name(parameter))
    for name, array in arrays.items():
        if name in known:
            continue
        known.add(name)
        element = array.element.text
        if array.rank and is_rows(array):
            found.append(f"{element} {'*' * array.rank}{name} = {ARGUMENTS};")
        elif array.rank and array.flat:
            found.append(f"{element} *{name} = {ARGUMENTS};")
        elif array.rank:
            inner = "".join(f"[{size_text(scop, array, k)}]" for k in range(1, array.rank))
            outer = array.extents_c[0]
            first = "" if outer is None else with_names(expression(outer), scop.parameters)
            found.append(f"{element} {name}[{first}]{inner} = {ARGUMENTS};")
        else:
            found.append(f"{element} {name} = {ARGUMENTS};")
    loops = {name: t.text for s in scop.statements.values() for name, t in zip(s.loops, s.loop_types, strict=True)}
    inside = {array.c_name for array in scop.arrays.values() if array.storage is Storage.REGION}
    found += [f"{text} {name};" for name, text in loops.items() if name not in known | inside]
    return " ".join(found)
