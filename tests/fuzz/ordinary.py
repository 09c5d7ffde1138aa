"""Draws nests as people write them: accumulators in scalars, index temporaries and clamps, histograms of flat rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.fuzz.model import (
    Access,
    Array,
    Assert,
    Assign,
    Call,
    Choose,
    Clamp,
    Compare,
    Cover,
    Data,
    DataTest,
    Declare,
    Exchange,
    Extreme,
    If,
    Index,
    Item,
    Let,
    Linear,
    Loop,
    Number,
    Op,
    Program,
    Quasi,
    Read,
    Temporary,
    Ternary,
    Total,
    Update,
    Value,
    Wrap,
    nodes,
    transform,
)
from tests.fuzz.nests import Nests


class Ordinary(Nests):
    """Nests with variables of their own between the loops."""

    # Accumulators.

    def accumulator_nest(self) -> Item:
        """Sums in variables of the body: initialiser, one or two loops of updates, and what is made of them."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in loops]
        type_ = self.sum_type()
        sums = [self.fresh("s") for _ in range(self.pick((1, 1, 2)))]
        items: list[Item] = [Declare(name, type_, self.initial(names)) for name in sums]
        for _ in range(self.pick((1, 1, 1, 2))):
            items.append(self.updates(names, sums))
            if self.chance(20):
                items.append(Update(self.pick(sums), "=", Op("*", Temporary(self.pick(sums)), Number(0))))
        items += self.epilogue(names, sums)
        return self.around(loops, tuple(items))

    def sum_type(self) -> str:
        """A type that no sum leaves soon."""
        return self.pick([kind for kind in self.types if kind != "unsigned char"] or ("double",))

    def initial(self, names: list[str]) -> Value:
        if self.chance(50):
            return Number(self.integer(0, 6))
        own = Read(self.access(self.source(len(names)), names))
        return own if self.chance(60) else Op("+", Number(self.integer(0, 6)), own)

    def updates(self, names: list[str], sums: list[str]) -> Item:
        """A loop, or two, that changes all of the sums."""
        inner = self.drawn_loops(self.pick((1, 1, 2)), names)
        inside = [*names, *(loop.name for loop in inner)]
        items: list[Item] = []
        for name in sums:
            value = self.value(inside, [], 1)
            if self.chance(50):
                value = Op("*", value, Read(self.access(self.source(), inside)))
            update: Item = Update(name, self.pick(("+=", "+=", "+=", "-=")), value)
            if self.chance(20):
                larger = DataTest(self.pick((">", "<")), Temporary(name), value)
                extreme = Choose(larger, Temporary(name), value)
                update = Update(name, "=", extreme if self.chance(60) else Call("fmax", (Temporary(name), value)))
            if self.chance(12):
                items.append(self.chosen(name, sums, value))
            else:
                items.append(If(self.condition(inside, 40), (update,)) if self.chance(20) else update)
        return self.around(inner, tuple(items))

    def chosen(self, name: str, sums: list[str], value: Value) -> Item:
        """A sum that is set where it compares so with a value, and others below a second condition."""
        other = self.pick(sums)
        more = Update(other, self.pick(("=", "+=", "-=")), Op("+", value, Number(self.integer(0, 6))))
        otherwise = (Update(other, "=", Number(self.integer(0, 6))),) if self.chance(40) else ()
        second = If(DataTest(self.pick((">", "<")), value, Number(self.integer(0, 6))), (more,), otherwise)
        both = self.pick(((Update(name, "=", value), second), (second,), (second, Update(name, "=", value))))
        return If(DataTest(self.pick((">", "<", ">=")), Temporary(name), value), both)

    def epilogue(self, names: list[str], sums: list[str]) -> tuple[Item, ...]:
        """What the sums are for: an element each, one of them all, or a row that is scaled."""
        if self.chance(20):
            target = self.target(len(names) + 1)
            (loop,) = self.drawn_loops(1, names)
            inside = [*names, loop.name]
            value = Op("*", self.value(inside, [], 1), Temporary(sums[0]))
            return (replace(loop, body=(self.assign(target, self.place(target, inside), value),)),)
        found: list[Item] = []
        total: Value | None = None
        for name in sums:
            total = Op("+", total, Temporary(name)) if total else Temporary(name)
            if name == sums[-1] or self.chance(50):
                target = self.target(len(names))
                result = total if self.chance(60) else Op("+", Op("*", total, Number(1)), self.value(names, [], 0))
                found.append(self.assign(target, self.place(target, names), result))
        return tuple(found)

    def with_scratch(self, program: Program) -> Program:
        """The program with variables of the function for those of its bodies, some of which run again, in a loop."""

        def again(node: Any) -> Any:
            if isinstance(node, Loop) and node.body and isinstance(node.body[0], Declare) and self.chance(40):
                inner = Loop(self.fresh("z"), Linear(), Linear((), self.integer(1, 2)), 1, node.body)
                return replace(node, body=(*node.body, inner))
            return node

        if not any(isinstance(node, Declare) for node in nodes(program.nests)):
            return program
        return replace(program, nests=transform(program.nests, again), scratch=True)

    # Index temporaries.

    def neighbour_nest(self) -> Item:
        """Elements beside one's own, by index temporaries: clamped at the border, taken from the other side, moved."""
        loops = self.drawn_loops(self.pick((1, 2, 2)), [])
        names = [loop.name for loop in loops]
        lets: list[Let] = []
        for _ in range(self.pick((1, 1, 2, 2, 3))):
            loop = self.pick(loops)
            lets.append(Let(self.fresh(f"{loop.name}x"), self.let_type(), self.neighbour(loop), ()))
        source, rank = self.source(len(names)), len(names)
        value: Value = Read(Access(source.name, self.beside(source, loops, lets), self.member(source)))
        for _ in range(self.integer(1, 2)):
            other = source if self.chance(60) else self.source(rank)
            read = Read(Access(other.name, self.beside(other, loops, lets), self.member(other)))
            value = Op(self.pick(("+", "-", "*")), read, value)
        target = self.target(rank)
        body: tuple[Item, ...] = (self.assign(target, self.place(target, names), value),)
        body = self.guarded(names, body, 8)
        return self.with_temporaries(loops, lets, body)

    def with_temporaries(self, loops: list[Loop], lets: list[Let], body: tuple[Item, ...]) -> Item:
        """The loops around a body, each temporary in the loop that it depends on or in the innermost one."""
        deepest = loops[-1]
        own = [self.loop_of(let, loops) for let in lets]
        places = [loop if loop is deepest or not self.chance(50) else deepest for loop in own]
        for loop in reversed(loops):
            for let in reversed([let for let, place in zip(lets, places, strict=True) if place is loop]):
                body = (replace(let, body=body),)
            body = (replace(loop, body=body),)
        return body[0]

    def loop_of(self, let: Let, loops: list[Loop]) -> Loop:
        return next(loop for loop in loops if let.name.startswith(f"{loop.name}x"))

    def let_type(self) -> str:
        return self.pick(("int", "int", "int", "const int", "long"))

    def neighbour(self, loop: Loop) -> Index:
        """A value near a loop variable."""
        own = Linear(((loop.name, 1),))
        before, after = replace(own, constant=-1), replace(own, constant=self.pick((1, 1, 2)))
        end = loop.high if isinstance(loop.high, Linear) else self.size()
        last = replace(end, constant=end.constant - 1)
        match self.integer(0, 11):
            case 0 | 1 if (
                isinstance(loop.low, Linear) and not loop.low.terms and loop.low.constant >= 0 and self.chance(60)
            ):
                return self.round(own, end if end is loop.high else Linear((), 8))
            case 0 | 1:
                return after
            case 2:
                return before
            case 3 | 4:
                return Ternary("<", own, Linear((), 1), Linear(), before)
            case 5:
                return Ternary(">", own, Linear(), before, Linear())
            case 6:
                return Ternary("<", after, end, after, last)
            case 7:
                return Extreme("MIN", after, last)
            case 8:
                return Extreme("MAX", before, Linear())
            case 9:
                return Ternary("==", own, last, Linear(), replace(own, constant=1))
            case 10:
                return Clamp(self.pick((before, after)), end)
            case _:
                mirrored: tuple[Index, ...] = (Linear((*last.terms, (loop.name, -1)), last.constant),)
                return self.pick((*mirrored, Quasi("/", own, 2)))

    def round(self, own: Linear, size: Linear) -> Index:
        """A value that goes round: the next one is behind the last one."""
        helper = self.chance(50)
        inner = replace(own, constant=self.pick((1, 1, -1, 2, -2)))
        if inner.constant < 0 and not helper:
            inner = Linear((*own.terms, *size.terms), size.constant + inner.constant)
        return Wrap(inner, size, helper)

    def beside(self, array: Array, loops: list[Loop], lets: list[Let]) -> tuple[Index, ...]:
        """Subscripts of loop variables and of temporaries in their places."""
        found: list[Index] = []
        for position in range(array.rank):
            loop = loops[min(position, len(loops) - 1)]
            known = [let.name for let in lets if self.loop_of(let, loops) is loop]
            name = self.pick(known) if known and self.chance(65) else loop.name
            found.append(Linear(((name, 1),), self.pick((0, 0, 0, 0, 1))))
        return tuple(found)

    def clamped_nest(self) -> Item:
        """Elements at places that data tell, which clamps or conditions keep inside."""
        loops = self.drawn_loops(self.pick((1, 2, 2)), [])
        names = [loop.name for loop in loops]
        lets: list[Let] = []
        for loop in loops:
            data: Index = Data(self.index_array().name, Linear(((loop.name, 1),)))
            if self.chance(40):
                data = Total(data, Linear(((loop.name, self.pick((1, 2))),), self.integer(-4, 1)))
            index = Clamp(data, self.size() if self.chance(70) else Linear((), self.integer(3, 9)))
            form = self.pick(("if", "else", "float", "float", "condition"))
            lets.append(Let(self.fresh(f"{loop.name}x"), "int", index, (), form))
        source = self.source(len(names))
        value: Value = Read(Access(source.name, self.beside(source, loops, lets), self.member(source)))
        if self.chance(60):
            value = Op(self.pick(("+", "*")), value, self.value(names, [], 1))
        target = self.target(len(names))
        return self.with_temporaries(loops, lets, (self.assign(target, self.place(target, names), value),))

    # Straight-line code.

    def straight_nest(self) -> Item:
        """Dozens of statements in one body, as transforms and flux computations have: temporaries that are set once or
        again, and elements of several arrays beside each other."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in loops]
        targets = [self.target(self.pick((len(loops), 1))) for _ in range(self.integer(1, 3))]
        known: list[str] = []
        items: list[Item] = []

        def value(inside: list[str]) -> Value:
            near = known[-6:]
            drawn = self.value(inside, near, 1)
            return (
                Op(self.pick(("+", "-", "*")), Temporary(self.pick(near)), drawn) if near and self.chance(60) else drawn
            )

        for _ in range(self.integer(16, 26)):
            match self.integer(0, 5):
                case 0 | 1 | 2:
                    declared = Declare(self.fresh("t"), self.pick(self.types), value(names))
                    known.append(declared.name)
                    items.append(declared)
                case 3 if known:
                    items.append(Update(self.pick(known[-6:]), self.pick(("=", "+=")), value(names)))
                case _:
                    target = self.pick(targets)
                    items.append(self.assign(target, self.place(target, names), value(names)))
        if self.chance(25):
            (inner,) = self.drawn_loops(1, names)
            inside = [*names, inner.name]
            target = self.target(1)
            items.append(replace(inner, body=(self.assign(target, self.place(target, inside), value(inside)),)))
        return self.around(loops, tuple(items))

    # Grids.

    def points_nest(self) -> Item:
        """Points with a few values each, over which the loops go in another order than memory does; or several loops
        along the lines of a grid in the same outer loops, one after the other."""
        if self.chance(40):
            loops = [replace(loop, step=1) for loop in self.drawn_loops(2, [])]
            inner = Loop(self.fresh("v"), Linear(), Linear((), self.integer(2, 4)), 1, ())
            source, target = (self.new_array(3, "argument") for _ in range(2))
            for array in (source, target):
                few = replace(array, parameters=(*array.parameters[:2], ""), pair=False, flat=False, narrow=False)
                self.arrays[array.name] = few
            along = [loops[1].name, loops[0].name]

            def point(name: str) -> Access:
                first = Linear(((along[0], 1),), self.pick((0, 0, 1, -1)))
                return Access(name, (first, Linear(((along[1], 1),)), Linear(((inner.name, 1),))))

            value: Value = Op(self.pick(("+", "-")), Read(point(source.name)), Read(point(source.name)))
            read = Read(point(target.name)) if self.chance(30) else self.value(along, [], 0)
            value = Op("+", value, read)
            return self.around([*loops, inner], (self.assign(target, self.own_place(target, along, inner), value),))
        outer = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in outer]
        rank = len(outer) + 1
        grids = [self.target(rank), self.target(rank)]
        items: list[Item] = []
        for _ in range(self.integer(2, 4)):
            (loop,) = self.drawn_loops(1, names)
            inside = [*names, loop.name]
            source, target = self.pick(grids), self.pick(grids)
            beside = (0,) * len(names) if self.chance(75) else tuple(self.pick((0, 0, 1, -1)) for _ in names)
            near = [*beside, self.pick((0, 1, -1))]
            cells = tuple(Linear(((name, 1),), by) for name, by in zip(inside, near, strict=True))
            read_beside = Read(Access(source.name, cells, self.member(source)))
            value = Op(self.pick(("+", "-", "*")), read_beside, self.value(inside, [], 1))
            own = Access(target.name, tuple(Linear(((name, 1),)) for name in inside), self.member(target))
            items.append(replace(loop, body=(self.assign(target, own, value),)))
        return self.around(outer, tuple(items))

    def own_place(self, target: Array, along: list[str], inner: Loop) -> Access:
        names = [*along, inner.name]
        return Access(target.name, tuple(Linear(((name, 1),)) for name in names))

    # Assertions.

    def asserted(self, nest: Item | Cover) -> Item | Cover:
        """A nest with a condition in one of its outermost loops that holds in each run: polyc has to ask for it."""
        if not isinstance(nest, Loop) or nest.step < 0:
            return nest
        if nest.body and isinstance(nest.body[0], Loop) and self.chance(60):
            return replace(nest, body=(self.asserted(nest.body[0]), *nest.body[1:]))  # type: ignore[arg-type]
        size = self.size()
        ends = nest.high.constant if isinstance(nest.high, Linear) and not nest.high.terms else 0
        end = replace(size, constant=self.pick((100, 1000)) + ends)  # sizes may be negative
        test = Compare(self.pick(("<", "<=")), Linear(((nest.name, 1),)), end)
        return replace(nest, body=(Assert(test, self.pick(("assert", "abort"))), *nest.body))

    def asked(self, nest: Item | Cover) -> Item | Cover:
        """A nest with a condition in one of its outermost loops on a number that hardly any region changes."""
        if not isinstance(nest, Loop):
            return nest
        if nest.body and isinstance(nest.body[0], Loop) and self.chance(40):
            return replace(nest, body=(self.asked(nest.body[0]), *nest.body[1:]))  # type: ignore[arg-type]
        number = Read(Access(self.new_array(0, self.pick(("global", "local", "argument"))).name, ()))
        test = DataTest(self.pick(("<", ">=", "==", "!=")), number, Number(self.integer(0, 6)))
        return replace(nest, body=(If(test, nest.body, nest.body if self.chance(30) and len(nest.body) == 1 else ()),))

    # Rows.

    def new_row(self, kind: str) -> Array:
        """A small array that only one nest has."""
        row = replace(self.new_array(1, "local"), kind=kind, parameters=("",), pair=False, pointer=False)
        row = self.arrays[row.name] = replace(row, read_after=False)
        return row

    def own_row_nest(self) -> Item:
        """A local array that each iteration of outer loops makes again, for a loop that reads it."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in loops]
        row = self.new_row("local")
        (make,) = self.drawn_loops(1, names)
        inside = [*names, make.name]
        own = Access(row.name, (Linear(((make.name, 1),)),))
        first = replace(make, body=(Assign(own, "=", self.value(inside, [], 1)),))
        (use,) = self.drawn_loops(1, names)
        inside = [*names, use.name]
        beside = Access(row.name, (Linear(((use.name, 1),), self.pick((0, 0, 1, -1))),))
        value = Op(self.pick(("+", "-", "*")), Read(beside), self.value(inside, [], 1))
        target = self.target(len(inside))
        second = replace(use, body=(self.assign(target, self.place(target, inside), value),))
        return self.around(loops, (first, *self.along_row(row, make, names), second))

    def along_row(self, row: Array, make: Loop, names: list[str]) -> tuple[Item, ...]:
        """A loop that goes on along a row: each element is made of the one before, or put in order with it."""
        if not isinstance(make.low, Linear) or not self.chance(60):
            return ()
        loop = Loop(self.fresh("w"), replace(make.low, constant=make.low.constant + 1), make.high, 1, ())
        own = Access(row.name, (Linear(((loop.name, 1),)),))
        before = Access(row.name, (Linear(((loop.name, 1),), -1),))
        if self.chance(40):
            step: Item = Exchange(own, self.pick(("<", ">", "<=", ">=")), before)
        else:
            value = Op(self.pick(("+", "-", "*")), Read(before), self.value([*names, loop.name], [], 1))
            step = Assign(own, "=", value)
        return (replace(loop, body=(step,)),)

    def rows_nest(self) -> Item:
        """An element of one array from that of another one, in rows of a constant length that a size may exceed."""
        loops = [Loop(name, Linear(), self.size(), 1, (), "<", self.outside) for name in ("i", "j")]
        own: tuple[Index, ...] = tuple(Linear(((loop.name, 1),)) for loop in loops)
        type_ = self.pick(self.types)
        both: list[Array] = []
        for _ in range(2):
            made = self.new_array(2, "argument")
            narrow = replace(made, type=type_, parameters=("", ""), pair=False, narrow=True)
            both.append(narrow)
            self.arrays[made.name] = narrow
        source, target = both
        value = Op(self.pick(("+", "-", "*")), Read(Access(source.name, own)), Number(self.integer(0, 6)))
        self.wrote(target)
        return self.around(loops, (Assign(Access(target.name, own), self.pick(("=", "=", "+=")), value),))

    def histogram_nest(self) -> Item:
        """Elements of flat rows at places that data tell: they have to be asked whether they stay in the row."""
        loops = self.drawn_loops(2, [])
        names = [loop.name for loop in loops]
        target = replace(self.new_array(2, "argument"), pair=False, flat=True, narrow=self.chance(50))
        target = self.arrays[target.name] = target
        inner = Linear(((names[1], 1),), self.pick((0, 0, 1)))
        place = Access(target.name, (Linear(((names[0], 1),)), Data(self.index_array().name, inner)))
        self.wrote(target)
        return self.around(loops, (Assign(place, self.pick(("+=", "+=", "=")), self.value(names, [], 1)),))
