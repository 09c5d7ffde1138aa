"""How large each array has to be: interval arithmetic on the subscripts, run by run.

Nests are visited from the last to the first. Where an array is covered by a nest of its own, all that reads it has
been seen, so that its extents are known and become the bounds of that nest's loops. Subscripts that could be negative
are shifted, all those of one dimension by the same constant, so that distances stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fuzz.model import (
    IDX_LIMIT,
    Access,
    Array,
    Assert,
    Assign,
    Call,
    Choose,
    Clamp,
    Compare,
    Condition,
    Cover,
    Data,
    DataTest,
    Declare,
    Extreme,
    If,
    Index,
    Item,
    Let,
    Linear,
    Logic,
    Loop,
    Op,
    Position,
    Product,
    Program,
    Quasi,
    Read,
    Repeat,
    Stop,
    Ternary,
    Total,
    Update,
    Value,
    Wrap,
    nodes,
)

Range = tuple[int, int]
Ranges = dict[str, Range]


@dataclass(slots=True)
class Layout:
    offsets: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """What is added to each subscript of an array."""
    extents: dict[str, tuple[Linear, ...]] = field(default_factory=dict)
    """Sums of at most one parameter and a constant."""
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Elements of an array, run by run."""
    work: list[int] = field(default_factory=list)
    """At most so many statement instances, run by run."""


def interval(index: Index, ranges: Ranges) -> Range:
    """Least and largest value."""
    match index:
        case Linear():
            low = high = index.constant
            for name, factor in index.terms:
                ends = [factor * end for end in ranges[name]]
                low, high = low + min(ends), high + max(ends)
            return low, high
        case Quasi("/"):
            low, high = interval(index.inner, ranges)
            return int(low / index.divisor), int(high / index.divisor)
        case Quasi():
            low, high = interval(index.inner, ranges)
            last = index.divisor - 1
            return max(low, -last) if low < 0 else 0, min(high, last) if high > 0 else 0
        case Extreme():
            pick = min if index.op == "MIN" else max
            (a, b), (c, d) = interval(index.left, ranges), interval(index.right, ranges)
            return pick(a, c), pick(b, d)
        case Ternary():
            (a, b), (c, d) = chosen(index, ranges)
            return min(a, c), max(b, d)
        case Clamp():
            low, high = interval(index.size, ranges)
            return min(0, low - 1), max(0, high - 1)
        case Wrap():
            low, high = interval(index.inner, ranges)
            last = max(0, interval(index.size, ranges)[1] - 1)
            return max(low, -last) if low < 0 and not index.helper else 0, min(high, last) if low >= 0 else last
        case Total():
            (a, b), (c, d) = interval(index.left, ranges), interval(index.right, ranges)
            return a + c, b + d
        case Data():
            return 0, IDX_LIMIT - 1
        case Product():
            return 0, 6


def chosen(index: Ternary, ranges: Ranges) -> tuple[Range, Range]:
    """The ranges of both values, as far as the test says which ones they can be."""
    low, high = interval(index.bound, ranges)
    most = {"<": high - 1, "<=": high, "==": high}.get(index.op)
    least = {">": low + 1, ">=": low, "==": low}.get(index.op)
    most_else = {">": high, ">=": high - 1}.get(index.op)
    least_else = {"<": low, "<=": low + 1}.get(index.op)
    return (
        _within(index.then, index.left, least, most, ranges),
        _within(index.otherwise, index.left, least_else, most_else, ranges),
    )


def _within(index: Index, tested: Index, least: int | None, most: int | None, ranges: Ranges) -> Range:
    """The range of an index where another one lies between two numbers."""
    low, high = interval(index, ranges)
    if isinstance(index, Linear) and isinstance(tested, Linear) and index.terms == tested.terms:
        distance = index.constant - tested.constant
        low = low if least is None else max(low, least + distance)
        high = high if most is None else min(high, most + distance)
    return min(low, high), max(low, high)


class _Finder:
    """What the accesses need, collected over the nests, for all runs at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.runs = [run.values() for run in program.runs]
        self.needs: dict[tuple[str, int], list[Range | None]] = {}
        self.layout = Layout(work=[0] * len(self.runs))

    def find(self) -> Layout:
        for nest in reversed(self.program.nests):
            if isinstance(nest, Cover):
                self.settle(nest.array)
            for run, values in enumerate(self.runs):
                ranges = {name: (value, value) for name, value in values.items()}
                if isinstance(nest, Cover):
                    self.cover(nest, ranges, run)
                else:
                    self.items((nest,), ranges, run, 1)
        for array in self.program.arrays:
            self.settle(array.name)
        return self.layout

    def settle(self, name: str) -> None:
        """Fix the extents and offsets of an array."""
        if name in self.layout.extents:
            return
        array = self.program.array(name)
        offsets, extents = [], []
        for position in range(array.rank):
            found = self.needs.get((name, position), [None] * len(self.runs))
            offset = max([0, *(-need[0] for need in found if need)])
            sizes = [need[1] + offset + 1 if need else 1 for need in found]
            parameter = array.parameters[position]
            if array.narrow and position:
                sizes = sizes[:1]
            if parameter:
                rest = max(size - run[parameter] for size, run in zip(sizes, self.runs, strict=False))
                rest = max([rest, *(1 - run[parameter] for run in self.runs)])
                extents.append(Linear(((parameter, 1),), rest))
            else:
                extents.append(Linear((), max(sizes)))
            offsets.append(offset)
        self.layout.offsets[name], self.layout.extents[name] = tuple(offsets), tuple(extents)
        self.layout.counts[name] = tuple(self.count(array, run) for run in range(len(self.runs)))

    def count(self, array: Array, run: int) -> int:
        """Elements at the sizes of a run: all rows, or more where a subscript leaves its own."""
        ranges = {name: (value, value) for name, value in self.runs[run].items()}
        whole, last, stride = 1, 0, 1
        for position in reversed(range(array.rank)):
            extent = interval(self.layout.extents[array.name][position], ranges)[1]
            need = self.needs.get((array.name, position), [None] * len(self.runs))[run]
            last += stride * (need[1] + self.layout.offsets[array.name][position] if need else 0)
            stride *= extent
            whole *= extent
        return max(whole, last + 1)

    def cover(self, nest: Cover, ranges: Ranges, run: int) -> None:
        work = 1
        for name, extent in zip(nest.names, self.layout.extents[nest.array], strict=True):
            size = interval(extent, ranges)[1]
            ranges = ranges | {name: (0, size - 1)}
            work *= size
        self.layout.work[run] += work
        self.value(nest.value, ranges, run)

    def items(self, items: tuple[Item, ...], ranges: Ranges, run: int, times: int) -> None:
        for item in items:
            match item:
                case Assign():
                    self.layout.work[run] += times
                    self.access(item.target, ranges, run)
                    self.value(item.value, ranges, run)
                case Declare() | Update():
                    self.layout.work[run] += times
                    self.value(item.value, ranges, run)
                case Assert() | Stop():
                    self.condition(item.condition, ranges, run)
                case If():
                    self.condition(item.condition, ranges, run)
                    self.items(item.then, ranges, run, times)
                    self.items(item.otherwise, ranges, run, times)
                case Repeat():
                    self.index(item.bound, ranges, run)
                    most = max(item.times, interval(item.bound, ranges)[1])
                    self.items(item.body, ranges | {item.name: (0, most)}, run, times * max(1, most))
                case Let():
                    self.index(item.index, ranges, run)
                    self.items(item.body, ranges | {item.name: interval(item.index, ranges)}, run, times)
                case Loop():
                    self.index(item.low, ranges, run)
                    self.index(item.high, ranges, run)
                    low, high = interval(item.low, ranges)[0], interval(item.high, ranges)[1] - 1
                    if low <= high:
                        count = (high - low) // abs(item.step) + 1
                        self.items(item.body, ranges | {item.name: (low, high)}, run, times * count)

    def access(self, access: Access, ranges: Ranges, run: int) -> None:
        for position, subscript in enumerate(access.subscripts):
            self.index(subscript, ranges, run)
            needs = self.needs.setdefault((access.array, position), [None] * len(self.runs))
            low, high = interval(subscript, ranges)
            old = needs[run]
            needs[run] = (min(low, old[0]), max(high, old[1])) if old else (low, high)

    def index(self, index: Index, ranges: Ranges, run: int) -> None:
        """Accesses inside a subscript."""
        for part in parts(index):
            if isinstance(part, Data):
                self.access(Access(part.array, (part.inner,)), ranges, run)

    def condition(self, condition: Condition, ranges: Ranges, run: int) -> None:
        match condition:
            case Compare():
                self.index(condition.left, ranges, run)
                self.index(condition.right, ranges, run)
            case Logic():
                self.condition(condition.left, ranges, run)
                self.condition(condition.right, ranges, run)
            case DataTest():
                self.value(condition.left, ranges, run)
                self.value(condition.right, ranges, run)

    def value(self, value: Value, ranges: Ranges, run: int) -> None:
        match value:
            case Read():
                self.access(value.access, ranges, run)
            case Position():
                self.index(value.index, ranges, run)
            case Op():
                self.value(value.left, ranges, run)
                self.value(value.right, ranges, run)
            case Call():
                for argument in value.args:
                    self.value(argument, ranges, run)
            case Choose():
                self.condition(value.condition, ranges, run)
                self.value(value.then, ranges, run)
                self.value(value.otherwise, ranges, run)
            case _:
                pass


def parts(index: Index) -> Iterator[Index]:
    yield index
    match index:
        case Quasi() | Data():
            yield from parts(index.inner)
        case Extreme() | Total() | Product():
            yield from parts(index.left)
            yield from parts(index.right)
        case Ternary():
            for part in (index.left, index.bound, index.then, index.otherwise):
                yield from parts(part)
        case Clamp() | Wrap():
            yield from parts(index.inner)
            yield from parts(index.size)
        case _:
            pass


def wraps(program: Program, run: dict[str, int]) -> bool:
    """Whether a size, a bound or a part of a subscript could be negative, which no unsigned number is.

    Conditions may wrap: no size depends on them.
    """
    ranges: Ranges = {name: (value, value) for name, value in run.items()}

    def negative(index: Index) -> bool:
        return interval(index, ranges)[0] < 0

    def within(index: Index) -> bool:
        """Sums and subscripts are right modulo 2^32; what is divided or compared has to be right itself."""
        inner = [part for whole in parts(index) for part in operands(whole)]
        return not any(negative(part) for part in inner)

    def items(nests: tuple[Item | Cover, ...]) -> bool:
        return all(item(nest) for nest in nests)

    def item(nest: Item | Cover) -> bool:
        match nest:
            case If():
                return items(nest.then) and items(nest.otherwise) and known(nest)
            case Let():
                if negative(nest.index) or not within(nest.index):
                    return False
                ranges[nest.name] = interval(nest.index, ranges)
                return items(nest.body)
            case Loop():
                ends = (nest.low, nest.high)
                if any(negative(end) or not within(end) for end in ends) or ends_below_zero(nest, ranges):
                    return False
                ranges[nest.name] = (interval(nest.low, ranges)[0], max(0, interval(nest.high, ranges)[1] - 1))
                return items(nest.body)
            case Repeat():
                ranges[nest.name] = (0, max(nest.times, IDX_LIMIT))
                return items(nest.body)
            case Cover():
                for name in nest.names:
                    ranges[name] = (0, 0)
                return known(nest)
            case _:
                return known(nest)

    def known(nest: Item | Cover) -> bool:
        accesses = [node for node in nodes(nest) if isinstance(node, Access)]
        return all(within(index) for access in accesses for index in access.subscripts)

    sizes = (run[name] for name, type_ in program.types if type_.startswith(("unsigned", "size_t")))
    return any(size < 0 for size in sizes) or not items(program.nests)


def operands(index: Index) -> tuple[Index, ...]:
    match index:
        case Quasi():
            return (index.inner,)
        case Extreme():
            return index.left, index.right
        case Ternary():
            return index.left, index.bound
        case Clamp():
            return (index.size,)
        case Wrap():
            return index.inner, index.size
        case _:
            return ()


def ends_below_zero(loop: Loop, ranges: Ranges) -> bool:
    """Whether the last test of the loop compares with a negative number."""
    if loop.step < 0:
        return interval(loop.low, ranges)[0] + loop.step < 0 or interval(loop.high, ranges)[0] < 1
    return loop.form == "<=" and interval(loop.high, ranges)[0] < 1


def lay_out(program: Program) -> Layout:
    """The extents and offsets of every array."""
    return _Finder(program).find()
