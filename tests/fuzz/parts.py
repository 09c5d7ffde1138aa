"""Draws what nests are made of: arrays, bounds, subscripts, values and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tests.fuzz import helpers
from tests.fuzz.choose import Chooser
from tests.fuzz.model import (
    FLOATS,
    INTEGERS,
    Access,
    Array,
    Call,
    Choose,
    Clamp,
    Compare,
    Condition,
    Cover,
    Data,
    DataTest,
    Extreme,
    Index,
    Item,
    Linear,
    Logic,
    Loop,
    Number,
    Op,
    Position,
    Product,
    Quasi,
    Read,
    Temporary,
    Ternary,
    Total,
    Value,
)

HALO = (0, 0, 0, 1, -1, 1, 2, -2, 3)

TYPES: tuple[tuple[str, ...], ...] = (
    *(("double",), ("double",), ("double",), ("float",), ("int",)),
    *(FLOATS, (*FLOATS, "int"), (*FLOATS, *INTEGERS)),
)
"""Of the arrays of a program."""

T = TypeVar("T")


def is_shared(array: Array) -> bool:
    """Whether any nest may use an array for values."""
    return not array.index and array.kind != "fresh"


class Parts:
    """What has been drawn of a program, and what its nests are made of."""

    def __init__(self, chooser: Chooser, wide: bool = False) -> None:
        """wide: with what has been drawn only since the programs of the tests' seeds stay as they are"""
        self.chooser = chooser
        self.wide = wide
        self.arrays: dict[str, Array] = {}
        self.recent: list[str] = []
        self.nests: list[Item | Cover] = []
        self.count = 0
        self.params: tuple[str, ...] = ("n", "m", "k")[: self.pick((1, 2, 1, 2, 2, 3, 0))]
        self.types = self.pick(TYPES)
        self.outside = self.chance(20)
        self.pairs = self.chance(10)
        self.pointers = self.chance(25)
        self.flat = self.chance(20)
        self.helped = self.chance(20)
        self.detected = self.chance(30)

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
        fixed = kind in ("global", "static") or not self.params or self.chance(15)
        pair = self.pairs and rank > 0 and not index and self.chance(50)
        parameters = tuple("" if fixed or self.chance(10) else self.pick(self.params) for _ in range(rank))
        after = kind == "local" and self.chance(30)
        name = self.fresh("I" if index else "s" if rank == 0 else "ABCDE"[rank])
        type_ = "int" if index else self.pick(self.types)
        pointer = (self.pointers or self.detected) and self.chance(60 if rank else 0)
        flat = self.flat and kind == "argument" and rank > 1 and not pair and self.chance(60)
        narrow = rank > 1 and kind == "argument" and (flat or self.detected) and self.chance(25)
        helper = flat and self.chance(60 if self.helped else 30)
        array = Array(name, type_, rank, kind, parameters, index, after, pair, pointer, flat, helper, narrow)
        self.arrays[name] = array
        return array

    def source(self, deepest: int = 3) -> Array:
        """An array to read: one that a nest wrote, more often than not."""
        written = [self.arrays[name] for name in self.recent[-3:] if self.arrays[name].rank <= deepest]
        if written and not self.chance(30):
            return self.pick(written[::-1])
        known = [array for array in self.arrays.values() if array.rank <= deepest and is_shared(array)]
        if known and not self.chance(30):
            return self.pick(known)
        return self.new_array(max(1, min(deepest, self.pick((1, 2, 2, 1, 3)))), "argument")

    def target(self, rank: int) -> Array:
        """An array to write, new ones more often than not."""
        known = [array for array in self.arrays.values() if array.rank == rank and is_shared(array)]
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
        match self.integer(0, 14):
            case 14:
                return Ternary("<", Linear(((name, 1),)), Linear((), 1), Linear(), Linear(((name, 1),), -1))
            case 13:
                return Ternary("<", near, self.size(), near, Linear(self.size().terms, -1))
            case 12:
                return Clamp(near, self.size())
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
        if self.helped and self.chance(30):
            return Call(self.pick(helpers.VALUES), (first, self.value(names, temporaries, depth - 1, deepest)))
        match self.integer(0, 15):
            case 14:
                rounded = helpers.ROUNDED if self.wide else ()
                name = self.pick(("fmax", "fmin", "fabs", "sqrt", *rounded, *helpers.VALUES))
                if name in ("fabs", "sqrt", *rounded):
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
