"""Draws programs and options. All choices are integers from a Chooser, the least of which is the plainest.

So the same code serves hypothesis, which shrinks what it chose, and `random.Random`, which is fast.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from polyc.model.program import InputOptions, Options
from tests.fuzz.emit import assigns
from tests.fuzz.layout import Layout, interval, lay_out, wraps
from tests.fuzz.model import (
    FLOATS,
    INTEGERS,
    Access,
    Array,
    Assign,
    Call,
    Choose,
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
    Linear,
    Logic,
    Loop,
    Number,
    Op,
    Position,
    Product,
    Program,
    Quasi,
    Read,
    Repeat,
    Temporary,
    Total,
    Update,
    Value,
    nodes,
    transform,
)

LARGEST_WORK = 40_000
LARGEST_ELEMENTS = 60_000
"""For one run; larger sizes are cut down."""
COUNTERS = ("i", "j", "l", "q")
HALO = (0, 0, 0, 1, -1, 1, 2, -2, 3)

T = TypeVar("T")


class Chooser(Protocol):
    def integer(self, low: int, high: int) -> int:
        """A number, both ends included."""


class RandomChooser:
    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


class Maker:
    """A program in the making."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.arrays: dict[str, Array] = {}
        self.recent: list[str] = []
        self.nests: list[Item | Cover] = []
        self.count = 0
        self.params: tuple[str, ...] = ("n", "m", "k")[: self.pick((1, 2, 1, 2, 2, 3, 0))]
        self.types = self.pick((("double",), ("double",), ("double",), ("float",), ("int",), (*FLOATS, *INTEGERS)))
        self.outside = self.chance(20)
        self.pairs = self.chance(10)
        self.pointers = self.chance(25)

    # Choices.

    def integer(self, low: int, high: int) -> int:
        return self.chooser.integer(low, high)

    def chance(self, percent: int) -> bool:
        return self.chooser.integer(0, 99) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[self.chooser.integer(0, len(options) - 1)]

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # Arrays.

    def new_array(self, rank: int, kind: str = "", index: bool = False) -> Array:
        kind = kind or self.pick(("argument", "argument", "argument", "local", "global", "static"))
        kind = "local" if kind == "static" and rank == 0 else kind
        fixed = kind in ("global", "static") or not self.params or self.chance(15)
        pair = self.pairs and rank > 0 and not index and self.chance(50)
        parameters = tuple("" if fixed or self.chance(10) else self.pick(self.params) for _ in range(rank))
        after = kind == "local" and self.chance(30)
        name = self.fresh("I" if index else "s" if rank == 0 else "ABCDE"[rank])
        type_ = "int" if index else self.pick(self.types)
        array = Array(
            name, type_, rank, kind, parameters, index, after, pair, self.pointers and self.chance(60 if rank else 0)
        )
        self.arrays[name] = array
        return array

    def source(self, deepest: int = 3) -> Array:
        """An array to read: one that a nest wrote, more often than not."""
        written = [self.arrays[name] for name in self.recent[-3:] if self.arrays[name].rank <= deepest]
        if written and not self.chance(30):
            return self.pick(written[::-1])
        known = [array for array in self.arrays.values() if array.rank <= deepest and not array.index]
        if known and not self.chance(30):
            return self.pick(known)
        return self.new_array(max(1, min(deepest, self.pick((1, 2, 2, 1, 3)))), "argument")

    def target(self, rank: int) -> Array:
        """An array to write, new ones more often than not."""
        known = [array for array in self.arrays.values() if array.rank == rank and not array.index]
        if known and self.chance(35):
            return self.pick(known)
        return self.new_array(rank)

    def index_array(self) -> Array:
        known = [array for array in self.arrays.values() if array.index]
        return self.pick(known) if known else self.new_array(1, "argument", index=True)

    def wrote(self, array: Array) -> None:
        if array.name in self.recent:
            self.recent.remove(array.name)
        self.recent.append(array.name)

    # Bounds and subscripts.

    def size(self) -> Linear:
        if not self.params or self.chance(15):
            return Linear((), self.pick((8, 5, 16, 33, 40, 20, 12, 1, 2, 0)))
        return Linear(((self.pick(self.params), 1),), self.pick((0, 0, 0, -1, -2, 1)))

    def bounds(self, outer: list[str]) -> tuple[Index, Index]:
        size = self.size()
        if outer and self.chance(25):
            name = self.pick(outer[::-1])
            near = [Linear(((name, 1),), constant) for constant in (0, 1, -1, 2, 3, 4)]
            match self.integer(0, 6):
                case 0:
                    return Linear(), near[0]
                case 1:
                    return Linear(), near[1]
                case 2:
                    return near[0], size
                case 3:
                    return near[1], size
                case 4:
                    return near[0], self.pick(near[3:])
                case 5:
                    return Extreme("MAX", near[2], Linear()), Extreme("MIN", near[4], size)
                case _:
                    return Quasi("/", near[0], 2), Extreme("MIN", Total(near[0], size), Linear((), 40))
        match self.integer(0, 15):
            case 11 | 12 | 13:
                inset = self.integer(1, 3)
                return Linear((), inset), Linear(size.terms, size.constant - inset)
            case 14:
                return Linear((), self.integer(0, 3)), Extreme("MIN", size, self.size())
            case 15:
                return Linear(), Quasi("/", Linear(size.terms, 3), 2)
            case 10:
                first = self.integer(0, 4)
                return Linear((), first), Linear((), first + self.pick((1, 1, 0, 2)))
            case _:
                return Linear(), size

    def loop(self, outer: list[str]) -> Loop:
        """A loop without a body."""
        low, high = self.bounds(outer)
        step = 1 if not self.chance(15) else self.pick((2, -1, 3, -2, 4))
        form = self.pick(("<", "<", "<=", "!="))
        name = "ijkl"[len(outer)] if len(outer) < 4 else self.fresh("i")
        name = name if name not in (*outer, *self.params) else f"{name}{name}"
        return Loop(name, low, high, step, (), form, self.outside)

    def subscript(self, names: list[str], wanted: str) -> Index:
        """A subscript to read at, near the loop variable that is wanted."""
        if not names:
            return Linear((), self.integer(0, 3))
        name = wanted or self.pick(names)
        near = Linear(((name, 1),), self.pick(HALO))
        if not self.chance(30):
            return near
        match self.integer(0, 11):
            case 0:
                return Linear((), self.integer(0, 4))
            case 1:
                return Linear(((name, 2),), self.integer(0, 2))
            case 2:
                return Quasi("/", near, self.pick((2, 3)))
            case 3:
                return Quasi("%", Linear(((name, 1),)), self.pick((2, 3, 5)))
            case 4:
                return self.sum_of(name, self.pick(names))
            case 5:
                return Linear(((name, -1), *self.size().terms), self.integer(-1, 1))
            case 6:
                return Extreme("MIN", near, Linear(self.size().terms, -1))
            case 7:
                return Extreme("MAX", near, Linear((), self.integer(0, 2)))
            case 8:
                return Data(self.index_array().name, Linear(((name, 1),)))
            case 9:
                return Product(Linear(((name, 1),)), Linear(((self.pick(names), 1),)))
            case 10:
                return Linear(self.size().terms, self.integer(-1, 1))
            case _:
                return Total(Quasi("/", Linear(((name, 1),)), 2), Quasi("%", Linear(((name, 1),)), 2))

    def sum_of(self, name: str, other: str) -> Linear:
        return Linear(((name, 2),)) if name == other else Linear(((name, 1), (other, 1)))

    def access(self, array: Array, names: list[str]) -> Access:
        """A place to read, its dimensions along the loops in order."""
        subscripts = []
        for position in range(array.rank):
            wanted = names[position] if position < len(names) and not self.chance(15) else ""
            subscripts.append(self.subscript(names, wanted))
        return Access(array.name, tuple(subscripts), self.member(array))

    def member(self, array: Array) -> str:
        return self.pick(("x", "x", "y", "")) if array.pair else "x"

    def place(self, array: Array, names: list[str]) -> Access:
        """A place to write: mostly one element for each iteration of the outer loops."""
        shift = self.pick((0, 0, 0, 0, 1, 2))
        order = names if not self.chance(10) else names[::-1]
        subscripts: list[Index] = []
        for position in range(array.rank):
            if position >= len(order) or self.chance(6):
                subscripts.append(self.subscript(names, ""))
            else:
                subscripts.append(Linear(((order[position], 2 if self.chance(5) else 1),), shift))
        return Access(array.name, tuple(subscripts), self.member(array))

    # Values and conditions.

    def value(self, names: list[str], temporaries: list[str], depth: int = 2, deepest: int = 3) -> Value:
        if depth == 0 or self.chance(20):
            match self.integer(0, 9):
                case 9:
                    return Number(self.integer(0, 6))
                case 8 if names:
                    return Position(Linear(((self.pick(names), 1),)))
                case 7 | 6 if temporaries:
                    return Temporary(self.pick(temporaries))
                case _:
                    return Read(self.access(self.source(deepest), names))
        first = self.value(names, temporaries, depth - 1, deepest)
        match self.integer(0, 15):
            case 14:
                name = self.pick(("fmax", "fmin", "fabs", "sqrt", "mixed"))
                if name in ("fabs", "sqrt"):
                    return Call(name, (first,))
                return Call(name, (first, self.value(names, temporaries, depth - 1, deepest)))
            case 15:
                return Choose(self.condition(names), first, self.value(names, temporaries, depth - 1, deepest))
            case choice:
                op = "+" if choice < 7 else "*" if choice < 11 else "-"
                return Op(op, first, self.value(names, temporaries, depth - 1, deepest))

    def stencil(self, array: Array, names: list[str]) -> Value:
        """A weighted sum of neighbours."""
        points = self.integer(2, 5)
        middle = [names[k] if k < len(names) else "" for k in range(array.rank)]
        total: Value | None = None
        for _ in range(points):
            place = tuple(
                Linear(((name, 1),) if name else (), self.pick((0, 1, -1, 2, -2)) if name else self.integer(0, 2))
                for name in middle
            )
            term: Value = Read(Access(array.name, place))
            if self.chance(40):
                term = Op("*", Number(self.integer(0, 6)), term)
            total = Op("+", total, term) if total else term
        assert total is not None
        return Op("*", Number(0), total)

    def condition(self, names: list[str], data: int = 15) -> Condition:
        if not names or self.chance(data):
            return DataTest(self.pick((">", "<", ">=")), self.value(names, [], 0), Number(self.integer(0, 6)))
        if self.chance(20):
            op = self.pick(("&&", "||", "!"))
            return Logic(op, self.condition(names, data), self.condition(names, data))
        name = self.pick(names)
        own = Linear(((name, 1),))
        match self.integer(0, 4):
            case 0:
                return Compare("==", Quasi("%", own, self.pick((2, 3))), Linear((), self.integer(0, 1)))
            case 1:
                return Compare(self.pick(("<", "<=", ">", "!=", "==")), own, Linear((), self.integer(0, 6)))
            case 2:
                return Compare(self.pick(("<", ">=", "==", "!=")), own, Linear(((self.pick(names), 1),), 1))
            case 3:
                return Compare("<", self.sum_of(name, self.pick(names)), self.size())
            case _:
                return Compare(">", own, Quasi("/", self.size(), 2))

    # Statements.

    def assign(self, array: Array, place: Access, value: Value) -> Assign:
        ops = ("=", "=", "=", "+=", "-=") if not array.index else ("=",)
        self.wrote(array)
        return Assign(place, self.pick(ops), value)

    def around(self, loops: list[Loop], body: tuple[Item, ...]) -> Item:
        """The loops of a nest, outermost first, around a body."""
        for loop in reversed(loops):
            body = (replace(loop, body=body),)
        return body[0]

    def drawn_loops(self, depth: int, outer: list[str]) -> list[Loop]:
        found: list[Loop] = []
        for _ in range(depth):
            found.append(self.loop([*outer, *(loop.name for loop in found)]))
        return found

    def guarded(self, names: list[str], items: tuple[Item, ...], percent: int = 15) -> tuple[Item, ...]:
        if not self.chance(percent):
            return items
        otherwise: tuple[Item, ...] = ()
        if self.chance(40) and isinstance(items[-1], Assign):
            otherwise = (replace(items[-1], value=self.value(names, [], 1)),)
        return (If(self.condition(names), items, otherwise),)

    # Nests.

    def cover_nest(self) -> None:
        """A local array, wholly written by a nest, and read by the nests that follow."""
        rank = self.pick((2, 1, 2, 1, 3))
        self.cover(rank, self.map_value(list(COUNTERS[:rank]), rank))

    def cover(self, rank: int, value: Value) -> Array:
        array = self.new_array(rank, "local")
        if self.chance(70):  # nobody needs it after the region, so that it can live in the tile
            array = self.arrays[array.name] = replace(array, read_after=False, pointer=False)
        self.nests.append(Cover(array.name, COUNTERS[:rank], value))
        self.wrote(array)
        return array

    def chain(self) -> None:
        """Producers with halos, each read by the next one or by two, and nests that write what is wanted."""
        rank = self.pick((2, 1, 2, 1, 2, 3))
        names = list(COUNTERS[:rank])
        known = [self.new_array(rank, "argument")]
        for _ in range(self.pick((1, 2, 1, 2, 3))):
            array = known[-1] if not self.chance(25) else self.pick(known)
            value = self.stage(array, names)
            if len(known) > 1 and self.chance(25):
                value = Op("+", value, Read(self.near(self.pick(known), names)))
            known.append(self.cover(rank, value))
        lows = [Linear((), self.pick((0, 0, 1, 2))) for _ in names]
        highs = [self.size() for _ in names]
        read = known[-1]
        for _ in range(1 if not self.chance(40) else 2):
            bounds = zip(names, lows, highs, strict=True)
            loops = [Loop(name, low, high, 1, (), "<", self.outside) for name, low, high in bounds]
            target = self.new_array(rank, self.pick(("argument", "argument", "argument", "global")))
            place = Access(target.name, tuple(Linear(((name, 1),)) for name in names))
            if rank < 3 and self.chance(25):
                body = self.window(place, read, names)
            else:
                body = (Assign(place, "=", self.stage(read, names)),)
            self.nests.append(self.around(loops, self.guarded(names, body, 6)))
            self.wrote(target)
            read = self.pick(known[1:]) if self.chance(20) else target if self.chance(15) else read

    def stage(self, array: Array, names: list[str]) -> Value:
        if self.chance(70):
            return self.stencil(array, names)
        return Op("*", Read(self.near(array, names)), Number(self.integer(0, 6)))

    def near(self, array: Array, names: list[str]) -> Access:
        return Access(array.name, tuple(Linear(((name, 1),), self.pick(HALO)) for name in names), self.member(array))

    def window(self, place: Access, source: Array, names: list[str]) -> tuple[Item, ...]:
        """A convolution."""
        inner = [Loop(f"{name}w", Linear(), Linear((), self.pick((2, 3, 3))), 1, ()) for name in names]
        sums = tuple(Linear(((name, 1), (loop.name, 1))) for name, loop in zip(names, inner, strict=True))
        value: Value = Read(Access(source.name, sums))
        if self.chance(60):
            weights = self.new_array(len(names), "argument")
            value = Op("*", value, Read(Access(weights.name, tuple(Linear(((loop.name, 1),)) for loop in inner))))
        return Assign(place, "=", Number(0)), self.around(inner, (Assign(place, "+=", value),))

    def map_value(self, names: list[str], rank: int) -> Value:
        source = self.source(rank + 1)
        if source.rank and self.chance(60):
            return self.stencil(source, names)
        return Op("+", Read(self.access(source, names)), self.value(names, [], 1))

    def map_nest(self, outer: list[str]) -> Item:
        """Pointwise or a stencil."""
        rank = self.pick((2, 1, 2, 1, 3, 2, 1, 3, 4))
        loops = self.drawn_loops(rank, outer)
        names = [loop.name for loop in loops]
        value = self.map_value(names, min(rank, 3))
        target = self.target(rank)
        assign = self.assign(target, self.place(target, names), value)
        return self.around(loops, self.guarded([*outer, *names], (assign,)))

    def sum_nest(self, outer: list[str]) -> Item:
        """Convolutions, products, pooling: one element for the outer loops, a sum over the inner ones."""
        rank = self.pick((1, 2, 2, 0))
        loops = self.drawn_loops(rank, outer)
        names = [loop.name for loop in loops]
        inner = self.drawn_loops(self.pick((1, 1, 2)), [*outer, *names])
        if self.chance(60):
            inner = [replace(loop, low=Linear(), high=Linear((), self.integer(2, 4)), step=1) for loop in inner]
        all_names = [*names, *(loop.name for loop in inner)]
        source, other = self.source(), self.source()
        middle = [
            self.sum_of(names[k], inner[min(k, len(inner) - 1)].name) if k < len(names) and self.chance(50) else None
            for k in range(source.rank)
        ]
        place = self.access(source, all_names)
        kept = tuple(new or old for new, old in zip(middle, place.subscripts, strict=True))
        value: Value = Read(Access(source.name, kept))
        if self.chance(60):
            reduced = [*(loop.name for loop in inner), *names]
            value = Op("*", value, Read(self.access(other, reduced)))
        target = self.target(rank)
        element = self.place(target, names)
        first = Assign(element, "=", Number(0))
        update: Item = Assign(element, self.pick(("+=", "+=", "-=")), value)
        if self.chance(15):
            update = Assign(element, "=", Call("fmax", (Read(element), value)))
        self.wrote(target)
        if not loops:
            self.nests.append(first) if not outer else None
            return self.around(inner, (update,))
        if self.chance(25):
            self.nests.append(self.around(loops, (first,))) if not outer else None
            return self.around([*loops, *inner], (update,))
        last: tuple[Item, ...] = ()
        if self.chance(30):
            last = (Assign(element, "=", Op("+", Op("*", Read(element), Number(0)), Number(2))),)
        head: tuple[Item, ...] = (first,) if not self.chance(15) else ()
        return self.around(loops, (*head, self.around(inner, (update,)), *last))

    def update_nest(self, outer: list[str]) -> Item:
        """An array in place: pointwise, a prefix sum, Gauss-Seidel."""
        array = self.source()
        if array.index:
            array = self.target(1)
        loops = self.drawn_loops(max(1, array.rank), outer)
        names = [loop.name for loop in loops]
        place = Access(array.name, tuple(Linear(((name, 1),)) for name in names[: array.rank]))
        value: Value = Read(place)
        if self.chance(50) and array.rank:
            value = self.stencil(array, names)
        value = Op("+", value, self.value(names, [], 1))
        self.wrote(array)
        items: tuple[Item, ...] = (Assign(place, "=", Op("*", Number(0), value)),)
        return self.around(loops, self.guarded(names, items))

    def border_nests(self) -> None:
        """Parts of an array, each by a nest of its own."""
        array = self.target(self.pick((2, 1)))
        for _ in range(self.integer(1, 3)):
            loop = self.loop([])
            name = loop.name
            fixed = self.pick((Linear(), Linear(self.size().terms, self.integer(-1, 2))))
            at: tuple[Index, ...] = (fixed,)
            if array.rank == 2:
                at = (fixed, Linear(((name, 1),))) if self.chance(50) else (Linear(((name, 1),)), fixed)
            value = self.value([name], [], 1)
            self.nests.append(replace(loop, body=(Assign(Access(array.name, at), "=", value),)))
        self.wrote(array)

    def temporary_nest(self, outer: list[str]) -> Item:
        """A variable of the body between reads and writes."""
        loops = self.drawn_loops(self.pick((1, 2)), outer)
        names = [loop.name for loop in loops]
        name = self.fresh("t")
        type_ = self.pick(self.types)
        items: list[Item] = [Declare(name, type_, self.value(names, []))]
        if self.chance(40):
            inner = self.drawn_loops(1, names)
            update = Update(name, self.pick(("+=", "=", "-=")), self.value([*names, inner[0].name], [name], 1))
            items.append(self.around(inner, (update,)))
        for _ in range(self.integer(1, 2)):
            target = self.target(self.pick((len(loops), 1)))
            items.append(self.assign(target, self.place(target, names), self.value(names, [name], 1)))
        return self.around(loops, tuple(items))

    def opaque_nest(self, outer: list[str]) -> Item:
        """A loop around one that polyc keeps whole."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), outer)
        names = [loop.name for loop in loops]
        counter = self.fresh("w")
        form = self.pick(("while", "do", "break", "data"))
        bound = Data(self.index_array().name, Linear(((names[0], 1),)))
        target = self.target(len(loops))
        inside = [*names, counter] if self.chance(60) else names
        update = Assign(self.place(target, names), self.pick(("+=", "=")), self.value(inside, [], 1))
        self.wrote(target)
        return self.around(loops, (Repeat(form, counter, self.integer(1, 4), bound, (update,)),))

    def mixed_nest(self, outer: list[str]) -> Item:
        """A loop with other nests in it."""
        loop = self.loop(outer)
        names = [*outer, loop.name]
        items: list[Item] = []
        for _ in range(self.integer(1, 3)):
            if self.chance(50):
                target = self.target(self.pick((1, 2)))
                items.append(self.assign(target, self.place(target, names), self.value(names, [], 1)))
            else:
                inner = self.drawn_loops(self.pick((1, 2)), names)
                inside = [*names, *(loop.name for loop in inner)]
                target = self.target(self.pick((2, 1, 3)))
                statement = self.assign(target, self.place(target, inside), self.value(inside, []))
                items.append(self.around(inner, self.guarded(inside, (statement,))))
        return replace(loop, body=tuple(items))

    def time_nest(self) -> Item:
        """Nests in a time loop."""
        high = Linear((), self.integer(1, 5)) if self.chance(70) or not self.params else self.size()
        loop = Loop("t", Linear(), high, 1, (), "<", self.outside)
        items: list[Item] = []
        rank = self.pick((1, 2))
        first = self.target(rank)
        self.wrote(first)
        before = first
        for _ in range(self.integer(1, 2)):
            after = first if self.chance(35) else self.target(rank)
            loops = self.drawn_loops(rank, ["t"])
            names = [inner.name for inner in loops]
            place = Access(after.name, tuple(Linear(((name, 1),)) for name in names))
            items.append(self.around(loops, (Assign(place, "=", self.stencil(before, names)),)))
            self.wrote(after)
            before = after
        if before is not first:
            loops = self.drawn_loops(rank, ["t"])
            names = [inner.name for inner in loops]
            places = tuple(Linear(((name, 1),)) for name in names)
            items.append(
                self.around(loops, (Assign(Access(first.name, places), "=", Read(Access(before.name, places))),))
            )
        return replace(loop, body=tuple(items))

    def add_nest(self) -> None:
        match self.integer(0, 19):
            case 0 | 1 | 2 | 3:
                self.nests.append(self.map_nest([]))
            case 4 | 5 | 6 | 7 | 8:
                self.cover_nest()
            case 9 | 10 | 11:
                self.nests.append(self.sum_nest([]))
            case 12 | 13:
                self.nests.append(self.update_nest([]))
            case 14:
                self.border_nests()
            case 15:
                self.nests.append(self.temporary_nest([]))
            case 16:
                self.nests.append(self.opaque_nest([]))
            case 17 | 18:
                self.nests.append(self.mixed_nest([]))
            case _:
                self.nests.append(self.time_nest())

    def result_nest(self) -> None:
        """What is read last goes into an argument: otherwise much of the program would be dead."""
        rank = self.pick((2, 1, 2))
        loops = self.drawn_loops(rank, [])
        names = [loop.name for loop in loops]
        value = self.map_value(names, rank)
        target = self.new_array(rank, "argument")
        body = self.guarded(names, (Assign(self.place(target, names), "=", value),))
        self.nests.append(self.around(loops, body))
        self.wrote(target)

    def program(self) -> Program:
        if self.chance(50):
            for _ in range(self.pick((0, 0, 0, 1))):
                self.add_nest()
            self.chain()
            for _ in range(self.pick((0, 0, 0, 1))):
                self.add_nest()
        else:
            wanted = self.pick((1, 2, 2, 3, 3, 3, 4, 5))
            while len(self.nests) < wanted:
                self.add_nest()
            if self.chance(75):
                self.result_nest()
        drawn = Program(
            tuple(self.arrays.values()),
            tuple(self.nests),
            self.runs(),
            tuple((name, self.pick(("int", "int", "int", "long", "short"))) for name in self.params),
            self.integer(1, len(self.nests) - 1) if len(self.nests) > 2 and self.chance(8) else 0,
            None,
            not self.chance(15),
        )
        drawn = replace(drawn, counters_after=self.chance(40))
        if self.chance(12):
            drawn = self.with_live_out(drawn)
        if not self.chance(18):
            return bounded(cleaned(drawn))
        changed = bounded(cleaned(self.with_unsigned(drawn)))
        if changed.counter != "unsigned" and all(type_ != "unsigned" for _, type_ in changed.types):
            return changed
        # The sizes that made it small enough may be such that a bound wraps.
        runs = tuple(run for run in changed.runs if not wraps(changed, dict(run)))
        return replace(changed, runs=runs) if runs or not changed.runs else bounded(cleaned(drawn))

    def with_unsigned(self, program: Program) -> Program:
        """Parameters and loop variables that count modulo a power of two, at sizes where no bound wraps."""
        kinds = ("unsigned", "unsigned", "int", "short", "unsigned char")
        types = tuple((name, self.pick(kinds)) for name, _ in program.types)
        changed = replace(program, types=types, counter=self.pick(("int", "unsigned", "unsigned", "long")))
        if changed.counter == "long":
            return replace(program, counter="long")
        runs = tuple(run for run in program.runs if not wraps(program, dict(run)))
        return replace(changed, runs=runs) if runs or not program.runs else program

    def with_live_out(self, program: Program) -> Program:
        written = {item.target.array for item in assigns(program.nests)}
        named = [name for name in self.arrays if name in written and self.arrays[name].kind == "argument"]
        if not named:
            return program
        chosen = (self.pick(named), *(name for name in named if self.chance(30)))
        arrays = tuple(replace(array, read_after=False) for array in program.arrays)
        return replace(
            program,
            arrays=arrays,
            live_out=tuple(dict.fromkeys(chosen)),
            by_option=self.chance(40),
            counters_after=False,
            split=0,
        )

    def runs(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        sizes = ((5, 12), (20, 45), (0, 4), (6, 20))
        return tuple(
            tuple((name, self.integer(*sizes[run])) for name in self.params) for run in range(self.integer(2, 3))
        )


def cleaned(program: Program) -> Program:
    """Without arrays that nothing uses."""
    used = {node.array for node in nodes(program.nests) if isinstance(node, Access | Data | Cover)}
    return replace(program, arrays=tuple(array for array in program.arrays if array.name in used))


def bounded(program: Program) -> Program:
    """The program with sizes that are small enough: first parameters shrink, then constant bounds."""
    while True:
        layout = lay_out(program)
        runs = list(program.runs)
        large = [
            layout.work[number] > LARGEST_WORK or elements(layout, dict(run)) > LARGEST_ELEMENTS
            for number, run in enumerate(runs)
        ]
        if not any(large):
            return program
        for number, run in enumerate(runs):
            most = max((value for _, value in run), default=0)
            if large[number] and most > 3:
                runs[number] = tuple((name, value * 3 // 4 if value == most else value) for name, value in run)
        if runs == list(program.runs):
            program = replace(program, nests=transform(program.nests, halved))
        program = replace(program, runs=tuple(dict.fromkeys(runs)))


def halved(node: Any) -> Any:
    if isinstance(node, Loop) and isinstance(node.high, Linear) and node.high.constant > 4:
        return replace(node, high=replace(node.high, constant=node.high.constant // 2))
    return node


def elements(layout: Layout, run: dict[str, int]) -> int:
    total = 0
    ranges = {name: (value, value) for name, value in run.items()}
    for extents in layout.extents.values():
        size = 1
        for extent in extents:
            size *= interval(extent, ranges)[1]
        total += size
    return total


def draw_program(chooser: Chooser) -> Program:
    return Maker(chooser).program()


def draw_options(chooser: Chooser, program: Program) -> tuple[Options, InputOptions]:
    """Options for a program. Other orders of additions are only allowed where they make no difference."""

    def pick(options: Sequence[T]) -> T:
        return options[chooser.integer(0, len(options) - 1)]

    fuse = pick(("basteln",) * 6 + ("min", "smart", "max", "max"))
    sizes: tuple[int, ...] | str | None = pick(("auto", "auto", "auto", "sizes", "sizes", "sizes", "sizes", None))
    if any(isinstance(nest, Cover) for nest in program.nests):  # more of what fuses
        fuse = pick(("basteln",) * 4 + (fuse,))
        sizes = sizes if sizes not in ("auto", None) or not pick((False, True)) else "sizes"
    if sizes == "sizes":
        sizes = tuple(pick((4, 2, 3, 5, 7, 8, 16, 32)) for _ in range(pick((1, 2, 3, 2))))
    exact = all(array.type not in FLOATS for array in program.arrays) and not any(
        isinstance(node, Declare) and node.type in FLOATS for node in nodes(program.nests)
    )
    options = Options(
        target=pick(("openmp",) * 6 + ("c",)),
        fuse=fuse,
        tile_sizes=sizes,
        threads="always",
        max_recompute=pick((None, None, 1e6, 1e6, 1e6, 1e6, 100.0, 0.0, 10.0, 50.0, 1000.0)),
        reassociate=exact and pick((False, True)),
        budget=pick((Options().budget,) * 9 + (300_000,)),
    )
    params: tuple[tuple[str, int], ...] = ()
    assume: tuple[str, ...] = ()
    if program.runs and program.runs[0] and pick((False,) * 11 + (True,)):
        name = pick([name for name, _ in program.runs[0]])
        values = [dict(run)[name] for run in program.runs]
        if len(set(values)) == 1:
            params = ((name, values[0]),)
        else:
            assume = (f"{name} >= {min(values)}",)
    return options, InputOptions(params=params, assume=assume)
