"""Memory of a replay: cells by their place, values as numbers that say how they were computed.

A floating value is a number that stands for the expression that computed it, `hash((operation, left, right))`; for what
was there before the region, the hash of the array's name and the cell. Two computations have the same number if they
are the same operations on the same values. Where sums may be reassociated, values are residues modulo a prime instead:
sums and products of residues are the same in any order. Whole numbers are whole numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from polyc.records import dataclass, field, replace

if TYPE_CHECKING:
    from polyc.replay.machine.tracing import Tracer

PRIME = (1 << 61) - 1
APART = 1 << 40
"""Bytes between the starts of two objects in memory."""
LARGEST = 1 << 60
"""Elements of an array: more have no place in memory. A `size_t` that wrapped is a place before the array."""
FAR = 1 << 20
"""Elements between rows that pointers lead to."""
THREADS = 3
"""That a parallel region has."""

Value = Any
"""A whole number, a floating value's number, or a record."""


class OutOfFuel(Exception):
    """The sizes are too large for what a replay may run."""


class Outside(Exception):
    """An access leaves an array."""


class Raced(Exception):
    """Two iterations of a parallel loop write one variable."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Type of a cell."""

    letter: str
    """`f` floating, `i` whole, `s` record."""
    bits: int = 0
    signed: bool = True
    fields: tuple[tuple[str, Kind, int], ...] = ()
    """Of a record: name, kind, and how many elements; 0 for one that is no array."""
    few: bool = False
    """Whether only small numbers stand in it: subscripts, sizes and conditions depend on them."""


@dataclass(slots=True, eq=False)
class Machine:
    """What one run of a text goes through: its fuel, the values that it may start with, and what was seen."""

    fuel: int = 1 << 60
    residues: bool = False
    most: int = 8
    """Small numbers are less than that."""
    tag: str = ""
    """Tells cells that were never set in one run from those of another."""
    covered: set[int] = field(default_factory=set)
    wide: set[int] = field(default_factory=set)
    """Loops with pragmas that had several iterations."""
    buffers: list[Buffer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    tracer: Tracer | None = None
    races: Races | None = None
    memory: bool = True
    """Whether there is memory on the heap."""
    used: int = 0
    weights: dict[int, int] = field(default_factory=dict)
    """What an iteration of each loop costs."""
    world: int = 0
    """What calls with effects did so far."""

    def initial(self, kind: Kind, number: int, place: int, name: str) -> Value:
        """What stands in a cell before anybody writes it."""
        if kind.letter == "s":
            return Record(self, kind, number + place, f"{name}[{place}]")
        found = hash((number, place, 77))
        if kind.letter == "f":
            found = found % PRIME if self.residues else found
            if self.tracer is not None:
                self.tracer.terms[found] = ("start", name)
            return found
        if kind.few:
            return found % min(self.most, 1 << kind.bits)
        found &= (1 << kind.bits) - 1
        return found - (1 << kind.bits) if kind.signed and found >> (kind.bits - 1) else found

    def unset(self, kind: Kind, name: str) -> Value:
        """The value of a variable that is declared without one."""
        return self.initial(replace(kind, few=False), number_of(self.tag), number_of(name), f"unset {name}")

    def unknown(self, name: str, kind: Kind, is_array: bool) -> Value:
        """A variable of which only the name is known."""
        if is_array:
            return Cells(self, name, None, kind)
        return self.initial(kind, number_of(name), 0, name)

    def record(self, kind: Kind, values: dict[str, Any]) -> Record:
        """A struct with values for its members; 0 for the others. Of an array: the values of some elements."""
        found = Record(self, kind, 0, "record")
        for name, inner, count in kind.fields:
            empty = self.record(inner, {}) if inner.letter == "s" else 0
            if not count:
                found[name] = values.get(name, empty)
                continue
            given, cells = values.get(name, {}), found[name]
            assert isinstance(cells, Cells)
            for place in range(count):
                cells[place] = given.get(place, empty)
        return found

    def buffer(self, name: str, size: int, kind: Kind) -> Buffer:
        """A local array, without values."""
        found = Buffer(self, name, size, kind) if self.races is None else WatchedBuffer(self, name, size, kind)
        self.buffers.append(found)
        return found

    def allocated(self, name: str, size: int, kind: Kind) -> Buffer | None:
        return self.buffer(name, size, kind) if self.memory else None

    def rounds(self, values: range, number: int) -> range:
        """The iterations of a loop, which cost fuel."""
        try:
            count = len(values)
        except OverflowError:
            raise OutOfFuel from None
        if count:
            self.covered.add(number)
            self.used += count * self.weights[number]
            if self.used > self.fuel:
                raise OutOfFuel
        return values

    def step(self, count: int = 1) -> bool:
        """One iteration of a loop whose number of iterations is not known before, or so many elements of a copy."""
        self.used += count
        if self.used > self.fuel:
            raise OutOfFuel
        return True

    def parallel(self, values: range, number: int, shared: tuple[object, ...]) -> Iterable[int]:
        """The iterations of a loop with a pragma: in their order, or the other way round where races are looked for."""
        if len(values) > 1:
            self.wide.add(number)
        return values if self.races is None else self.races.iterations(values, shared)

    def atomic(self, begins: bool) -> None:
        if self.races is not None:
            self.races.atomic = begins

    def outside(self) -> Buffer | None:
        """A local array that was written outside of its bounds."""
        for buffer in self.buffers:
            size = buffer.size
            if buffer and not (min(buffer) >= 0 and max(buffer) < size):
                return buffer
        return None


class Cells(dict[int, Value]):
    """An array of the user's: its elements by their place, counted in elements."""

    __slots__ = ("base", "kind", "machine", "name", "number", "rows", "size")

    def __init__(self, machine: Machine, name: str, size: int | None, kind: Kind, base: int = 0) -> None:
        super().__init__()
        self.machine, self.name, self.size, self.kind, self.base = machine, name, size, kind, base
        self.number = number_of(name)
        self.rows: tuple[int, ...] = ()

    def element(self, place: int) -> str:
        """`A[3][4]`."""
        found: list[int] = []
        for length in reversed(self.rows):
            place, last = divmod(place, length) if length else (place, 0)
            found.append(last)
        return self.name + "".join(f"[{k}]" for k in [place, *reversed(found)])

    def __missing__(self, place: int) -> Value:
        name = self.name if self.machine.tracer is None else self.element(place)
        value = self.machine.initial(self.kind, self.number, place, name)
        dict.__setitem__(self, place, value)
        return value

    @property
    def stays_inside(self) -> bool:
        return not self or (min(self) >= 0 and max(self) < (LARGEST if self.size is None else self.size))


class Buffer(Cells):
    """An array that lives in the text."""

    __slots__ = ()
    size: int

    def __missing__(self, place: int) -> Value:
        if not 0 <= place < self.size:
            self.machine.faults.append(f"{self.element(place)} is read, and has {self.size} elements")
        value = self.machine.unset(self.kind, f"{self.name}[{place}]")
        dict.__setitem__(self, place, value)
        return value


class Record(dict[str, Value]):
    """A struct's value."""

    __slots__ = ("kind", "machine", "name", "number")

    def __init__(self, machine: Machine, kind: Kind, number: int, name: str) -> None:
        super().__init__()
        self.machine, self.kind, self.number, self.name = machine, kind, number, name

    def __missing__(self, name: str) -> Value:
        kind, count = next((kind, count) for known, kind, count in self.kind.fields if known == name)
        if count:
            cells = Cells(self.machine, f"{self.name}.{name}", count, kind)
            cells.number = number_of(f"{self.number}.{name}")
            value: Value = cells
        else:
            value = self.machine.initial(kind, self.number, number_of(name), f"{self.name}.{name}")
        self[name] = value
        return value

    def copied(self) -> Record:
        found = Record(self.machine, self.kind, self.number, self.name)
        for name, value in self.items():
            if isinstance(value, Record):
                found[name] = value.copied()
            elif isinstance(value, Cells):
                found[name] = same = Cells(self.machine, value.name, value.size, value.kind)
                same.update(value)
            else:
                found[name] = value
        return found


def number_of(name: str) -> int:
    """A number for a name, the same in each process."""
    return zlib.crc32(name.encode("utf-8", "surrogateescape"))


def same_value(one: Value, other: Value) -> bool:
    """Whether two cells hold the same."""
    if isinstance(one, Record) and isinstance(other, Record):
        return all(same_value(one[name], other[name]) for name in {*one, *other})
    if isinstance(one, Cells) and isinstance(other, Cells):
        return all(same_value(one[place], other[place]) for place in {*one, *other})
    return bool(one == other)


# --- races -----------------------------------------------------------------------------------------------------------

Stamp = tuple[tuple[int, int], ...]
"""The loops with pragmas around an access: which run of the loop, and which iteration."""


@dataclass(slots=True, eq=False)
class Races:
    """Runs loops that have pragmas the other way round, and looks for cells that two of their iterations touch."""

    stamp: Stamp = ()
    runs: int = 0
    shared: list[object] = field(default_factory=list)
    """What reductions combine."""
    atomic: bool = False
    found: list[tuple[str, int]] = field(default_factory=list)

    def iterations(self, values: range, shared: tuple[object, ...]) -> Iterator[int]:
        around, self.runs = self.stamp, self.runs + 1
        run = self.runs
        self.shared += shared
        for value in reversed(values):
            self.stamp = (*around, (run, value))
            yield value
        self.stamp = around
        if shared:
            del self.shared[-len(shared) :]

    def meet(self, one: Stamp, cells: Cells, place: int) -> bool:
        """Whether an earlier access and this one are of two iterations of one loop."""
        if one == self.stamp:
            return False
        for (run, iteration), (other_run, other) in zip(one, self.stamp, strict=False):
            if run != other_run:
                return False
            if iteration != other:
                if not any(cells is kept for kept in self.shared):
                    self.found.append((cells.name, place))
                return True
        return False


class WatchedCells(Cells):
    """An array of which each access is looked at."""

    __slots__ = ("readers", "writers")

    def __init__(self, machine: Machine, name: str, size: int | None, kind: Kind, base: int = 0) -> None:
        super().__init__(machine, name, size, kind, base)
        self.readers: dict[int, Stamp] = {}
        self.writers: dict[int, Stamp] = {}

    def __getitem__(self, place: int) -> Value:
        races = self.machine.races
        if races is not None and races.stamp and not races.atomic:
            writer = self.writers.get(place)
            if writer is not None:
                races.meet(writer, self, place)
            self.readers[place] = races.stamp
        return super().__getitem__(place)

    def __setitem__(self, place: int, value: Value) -> None:
        races = self.machine.races
        if races is not None and races.stamp and not races.atomic:
            for before in (self.writers.get(place), self.readers.get(place)):
                if before is not None:
                    races.meet(before, self, place)
            self.writers[place] = races.stamp
        super().__setitem__(place, value)


class WatchedBuffer(WatchedCells, Buffer):
    """The same for an array that lives in the text."""

    __slots__ = ()

    def __missing__(self, place: int) -> Value:
        return Buffer.__missing__(self, place)
