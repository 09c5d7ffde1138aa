"""Draws nests that share arrays and read them transposed, mirrored and by remainders, in steps of two and three: what
isl's own fusion brings into common loops with values that agree by remainders only."""

from __future__ import annotations

from tests.fuzz.choose import Chooser
from tests.fuzz.draw import Maker
from tests.fuzz.model import (
    Access,
    Array,
    Assign,
    Compare,
    If,
    Index,
    Item,
    Linear,
    Loop,
    Op,
    Program,
    Quasi,
    Read,
    Total,
    Value,
)

NAMES = ("i", "j")
EVERY = 12
"""One program in so many is drawn here, by its number: all others stay what they were."""
FUSIONS = ("max", "smart", "max", "basteln", "max", "min")
"""Of these programs in turn."""


def draw_crossing(chooser: Chooser, wide: bool = False) -> Program:
    return Crossing(chooser, wide).program()


class Crossing(Maker):
    """A program that begins with two or three such nests, or has them where others have a chain."""

    def add_nest(self) -> None:
        if self.nests:
            super().add_nest()
        else:
            self.crossing_nests()

    def chain(self) -> None:
        self.crossing_nests()

    def crossing_nests(self) -> None:
        arrays = [self.new_array(2, self.pick(("argument", "global"))) for _ in range(self.integer(2, 3))]
        size = self.size()
        for _ in range(self.pick((2, 2, 3))):
            names = list(NAMES[: self.pick((2, 2, 1, 2))])
            loops = [self.stepping_loop(name, names[:k], size) for k, name in enumerate(names)]
            items = [item for _ in range(self.pick((1, 1, 2))) for item in self.crossing_items(arrays, names, size)]
            self.nests.append(self.around(loops, tuple(items)))
        for array in arrays:
            self.wrote(array)

    def stepping_loop(self, name: str, outer: list[str], size: Linear) -> Loop:
        low = Linear((), self.integer(0, 2)) if not outer or not self.chance(20) else Linear(((outer[0], 1),))
        high = Linear(size.terms, size.constant + self.pick((0, 0, 2, 4)))
        if outer and self.chance(15):
            high = Linear(((outer[0], 2),), 1)
        return Loop(name, low, high, self.pick((1, 2, 1, 2, 3)), (), "<", self.outside)

    def crossing_items(self, arrays: list[Array], names: list[str], size: Linear) -> list[Item]:
        first = self.crossing_assign(arrays, names, size)
        if not self.chance(45):
            return [first]
        name = self.pick(names)
        halves = Compare("<", Linear(((name, 2),)), size)
        odd = names if self.chance(50) else [name]
        parity = Compare("==", Quasi("%", Linear(tuple((n, 1) for n in odd)), 2), Linear((), self.integer(0, 1)))
        otherwise = (self.crossing_assign(arrays, names, size),) if self.chance(60) else ()
        return [If(self.pick((halves, halves, parity)), (first,), otherwise)]

    def crossing_assign(self, arrays: list[Array], names: list[str], size: Linear) -> Assign:
        value: Value = Read(self.crossing_access(arrays, names, size))
        value = Op(self.pick(("+", "-")), value, Read(self.crossing_access(arrays, names, size)))
        target = self.crossing_access(arrays, names, size)
        return Assign(target, self.pick(("=", "=", "=", "+=")), value)

    def crossing_access(self, arrays: list[Array], names: list[str], size: Linear) -> Access:
        array = self.pick(arrays)
        order = names if self.chance(50) else names[::-1]
        subscripts = tuple(self.crossing_subscript(order[min(k, len(order) - 1)], names, size) for k in range(2))
        return Access(array.name, subscripts, self.member(array))

    def crossing_subscript(self, name: str, names: list[str], size: Linear) -> Index:
        near, own = self.integer(0, 2), Linear(((name, 1),))
        match self.integer(0, 9):
            case 0:
                return Total(Quasi("%", own, self.pick((2, 3))), Linear((), near))
            case 1:
                return Quasi("/", Linear(own.terms, near), 2)
            case 2:
                return Linear(((name, 2),), near)
            case 3:
                return Linear(((name, -1), *size.terms), size.constant + 4 + near)
            case 4:
                return self.sum_of(name, self.pick(names))
            case _:
                return Linear(own.terms, near)
