"""Draws nests of windows with borders, chunks of a loop, columns that data choose, and searches that end early."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.model import (
    Access,
    Assign,
    Choose,
    Compare,
    Data,
    DataTest,
    Declare,
    Fresh,
    If,
    Item,
    Let,
    Linear,
    Logic,
    Loop,
    Number,
    Op,
    Read,
    Repeat,
    Stop,
    Temporary,
    Update,
    Value,
)
from tests.fuzz.ordinary import Ordinary


class Windows(Ordinary):
    """Nests whose conditions say which part of a window, and which columns, there are."""

    def bordered_nest(self) -> Item:
        """A sum or a maximum over a window, of which a condition leaves out what is beyond the border: in the loops
        themselves, or by a variable of its own."""
        loops = [replace(loop, step=1) for loop in self.drawn_loops(self.pick((1, 2, 2)), [])]
        names = [loop.name for loop in loops]
        inner = [Loop(f"{name}w", Linear(), Linear((), self.pick((2, 3, 3, 5))), 1, ()) for name in names]
        stride = self.pick((1, 1, 1, 2))
        places = [
            Linear(((name, stride), (loop.name, 1)), self.pick((-1, -1, 0, -2)))
            for name, loop in zip(names, inner, strict=True)
        ]
        ends = [self.size() for _ in names]
        type_ = self.sum_type()
        total = Declare(self.fresh("s"), type_, Number(self.integer(0, 6)))
        source = self.source(len(names))
        while source.rank != len(names):
            source = self.new_array(len(names), "argument")
        read: Value = Read(Access(source.name, tuple(places), self.member(source)))
        update: Item = Update(total.name, "+=", read)
        if self.chance(30):
            larger = DataTest(">", read, Temporary(total.name))
            update = Update(total.name, "=", Choose(larger, read, Temporary(total.name)))
        body: tuple[Item, ...] = (update,)
        form = self.pick(("", "named", "continue", "apart", "apart"))
        if form == "apart":
            for place, end, loop in reversed(list(zip(places, ends, inner, strict=True))):
                skips = self.pick((("", ""), ("continue", self.fresh("in"))))
                body = (replace(loop, body=(If(self.inside(place, end), body, (), *skips),)),)
        else:
            tests = [self.inside(place, end) for place, end in zip(places, ends, strict=True)]
            both = tests[0] if len(tests) == 1 else Logic("&&", tests[0], tests[1])
            body = (self.around(inner, (If(both, body, (), form, self.fresh("in") if form else ""),)),)
        target = self.target(len(names))
        value: Value = Temporary(total.name)
        if self.chance(30):
            value = Op("+", value, self.value(names, [], 1))
        return self.around(loops, (total, *body, self.assign(target, self.place(target, names), value)))

    def partly_nest(self) -> Item:
        """A small array of a body without values, of which data say what is set, and what is read."""
        loops = self.drawn_loops(self.pick((1, 2, 2)), [])
        names = [loop.name for loop in loops]
        row = self.new_row("fresh")
        target = self.target(len(names))

        def element(index: str) -> Access:
            return Access(row.name, (Linear(((index, 1),)),))

        def added(index: str) -> Item:
            value = Op(self.pick(("+", "-")), Read(element(index)), self.value(names, [], 0))
            return self.assign(target, self.place(target, names), value)

        if self.chance(50):
            bound = Data(self.index_array().name, Linear(((names[0], 1),)))
            first, second, times = self.fresh("w"), self.fresh("w"), self.integer(1, 3)
            set_ = Assign(element(first), "=", self.value([*names, first], [], 1))
            steps: tuple[Item, ...] = (
                Repeat("data", first, times, bound, (set_,)),
                Repeat("data", second, times, bound, (added(second),)),
            )
        else:
            test = DataTest(self.pick((">", "<")), self.value(names, [], 0), Number(self.integer(0, 6)))
            inner = Loop(self.fresh("w"), Linear(), Linear((), 3), 1, ())
            set_ = Assign(element(inner.name), "=", self.value([*names, inner.name], [], 1))
            steps = (
                If(test, (replace(inner, body=(set_,)),)),
                If(test, (replace(inner, body=(added(inner.name),)),)),
            )
        return self.around(loops, (Fresh(row.name, ()), *steps))

    def masked_nest(self) -> Item:
        """Elements that are set in any case, and some of them anew, as data say: with variables below the branch, and
        branches there."""
        loops = self.drawn_loops(self.pick((1, 2, 2)), [])
        names = [loop.name for loop in loops]
        target = self.target(len(names))
        place = self.place(target, names)
        first = Assign(place, self.pick(("=", "=", "+=")), self.value(names, [], 1))
        self.wrote(target)
        own = Declare(self.fresh("t"), self.pick(("float", "double")), self.value(names, [], 1))

        def again() -> Item:
            value = Op(self.pick(("+", "-", "*")), Temporary(own.name), self.value(names, [], 0))
            return Assign(place, self.pick(("=", "+=", "-=")), value)

        inner: Item = again()
        if self.chance(60):
            test = DataTest(self.pick(("<", ">", ">=")), Temporary(own.name), Number(self.integer(0, 6)))
            inner = If(test, (inner,), (again(),) if self.chance(50) else ())
        mask = DataTest(self.pick((">", "<", "!=")), self.value(names, [], 0), Number(self.integer(0, 6)))
        return self.around(loops, (first, If(mask, (own, inner))))

    def branched_nest(self) -> Item:
        """Loops below a branch that stands in no loop, as far as variables of the branch say."""

        def side() -> Item:
            last = self.fresh("last")
            loop = Loop("i", Linear(), Linear(((last, 1),)), 1, (), "<", self.outside)
            inner = self.drawn_loops(self.pick((0, 1)), [loop.name])
            names = [loop.name, *(one.name for one in inner)]
            target = self.target(len(names))
            index = Data(self.index_array().name, Linear(((loop.name, 1),)))
            source = self.source(1)
            if source.rank != 1:
                source = self.new_array(1, "argument")
            read = Read(Access(source.name, (index,), self.member(source)))
            item: Item = self.assign(target, self.place(target, names), Op("+", read, self.value(names, [], 1)))
            if self.chance(40):
                item = If(DataTest(self.pick((">", "<")), read, Number(self.integer(0, 6))), (item,))
            return Let(last, "int", self.size(), (self.around([loop, *inner], (item,)),))

        test = Compare(self.pick(("<", ">", "!=")), self.size(), Linear((), self.pick((3, 8, 20))))
        return If(test, (side(),), (side(),) if self.chance(60) else ())

    def gathered_nest(self) -> Item:
        """A sum over all iterations of what an inner loop finds for each, and of elements that data choose."""
        loops = self.drawn_loops(1, [])
        names = [loop.name for loop in loops]
        total = Declare(self.fresh("s"), self.sum_type(), Number(self.integer(0, 6)))
        (inner,) = self.drawn_loops(1, names)
        update = Update(total.name, "+=", self.value([*names, inner.name], [], 1))
        source = self.new_array(1, "argument")
        index = Data(self.index_array().name, Linear(((names[0], 1),)))
        read = Read(Access(source.name, (index,), self.member(source)))
        target = self.target(1)
        place = Access(target.name, (Linear((), self.integer(0, 3)),), self.member(target))
        item = self.assign(target, place, Op(self.pick(("+", "-")), Temporary(total.name), read))
        return self.around(loops, (total, replace(inner, body=(update,)), replace(item, op=self.pick(("+=", "-=")))))

    def inside(self, place: Linear, end: Linear) -> Logic:
        """The test of an index against both ends of a row."""
        return Logic("&&", Compare(">=", place, Linear()), Compare("<", place, end))

    def chunks_nest(self) -> Item:
        """Loops over chunks of a constant size: what is found of a chunk is what its elements are made of."""
        size = self.pick((2, 3, 4, 8))
        outer = Loop("i", Linear(), self.size(), 1, (), "<", self.outside)
        chunk = Loop("j", Linear(((outer.name, size),)), Linear(((outer.name, size),), size), 1, ())
        more = self.drawn_loops(self.pick((0, 0, 1)), [outer.name, chunk.name])
        names = [chunk.name, *(loop.name for loop in more)]
        every = [outer.name, *names]
        type_ = self.sum_type()
        sums = [Declare(self.fresh("s"), type_, Number(self.integer(0, 6))) for _ in range(self.pick((1, 1, 2)))]
        source = self.new_array(len(names), "argument")
        own = Read(Access(source.name, tuple(Linear(((name, 1),)) for name in names), self.member(source)))
        items: list[Item] = [*sums]
        for one in sums:
            value: Value = own if self.chance(60) else Op("*", own, self.value(every, [], 1))
            items.append(self.around([chunk, *more], (Update(one.name, self.pick(("+=", "+=", "-=")), value),)))
        target = source if self.chance(25) else self.target(len(names))
        place = Access(target.name, tuple(Linear(((name, 1),)) for name in names), self.member(target))
        value = Op(self.pick(("+", "-", "*")), own, Temporary(self.pick(sums).name))
        items.append(self.around([chunk, *more], (Assign(place, "=", value),)))
        self.wrote(target)
        if self.chance(40):
            result = self.target(1)
            items.append(self.assign(result, self.place(result, [outer.name]), Temporary(sums[-1].name)))
        return self.around([outer], tuple(items))

    def columns_nest(self) -> Item:
        """Loops that run where an element says so, with rows that only they have."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in loops]
        asked = self.source(len(names))
        test = DataTest(self.pick((">", "<", ">=")), Read(self.access(asked, names)), Number(self.integer(0, 6)))
        row = self.new_row("local")
        size = self.pick((3, 5, 8))
        inner = Loop("k" if "k" not in (*names, *self.params) else "kk", Linear(), Linear((), size), 1, ())
        inside = [*names, inner.name]
        own = Access(row.name, (Linear(((inner.name, 1),)),))
        items: list[Item] = [replace(inner, body=(Assign(own, "=", self.value(inside, [], 1)),))]
        if self.chance(50):
            before = Access(row.name, (Linear(((inner.name, 1),), -1),))
            step = Op(self.pick(("+", "-", "*")), Read(before), Read(own))
            items.append(replace(inner, low=Linear((), 1), body=(Assign(own, "=", step),)))
        target = self.target(len(inside))
        value = Op(self.pick(("+", "-")), Read(own), self.value(inside, [], 0))
        items.append(replace(inner, body=(self.assign(target, self.place(target, inside), value),)))
        otherwise: tuple[Item, ...] = ()
        if self.chance(25):
            otherwise = (replace(inner, body=(self.assign(target, self.place(target, inside), Number(1)),)),)
        form = self.pick(("", "named", "continue")) if not otherwise else self.pick(("", "named"))
        return self.around(loops, (If(test, tuple(items), otherwise, form, self.fresh("in") if form else ""),))

    def fresh_nest(self) -> Item:
        """A small array of a body with an initialiser: some elements change, all of them are read."""
        loops = self.drawn_loops(self.pick((1, 2, 2)), [])
        names = [loop.name for loop in loops]
        row = self.new_row("fresh")
        inner = Loop(
            "k" if "k" not in (*names, *self.params) else "kk", Linear(), Linear((), self.pick((3, 5, 6, 20))), 1, ()
        )
        inside = [*names, inner.name]
        items: list[Item] = [Fresh(row.name, tuple(self.integer(0, 6) for _ in range(self.pick((1, 1, 2, 3)))))]
        for _ in range(self.pick((1, 1, 2))):
            one = Access(row.name, (Linear((), self.integer(0, 2)),))
            change: Item = Assign(one, self.pick(("=", "+=", "-=")), self.value(names, [], 1))
            items.append(If(self.condition(names, 60), (change,)) if self.chance(50) else change)
        target = self.target(self.pick((len(inside), len(names))))
        read = Read(Access(row.name, (Linear(((inner.name, 1),)),)))
        value = Op(self.pick(("+", "-")), read, self.value(inside, [], 0))
        items.append(replace(inner, body=(self.assign(target, self.place(target, inside), value),)))
        return self.around(loops, tuple(items))

    def search_nest(self) -> Item:
        """A loop that ends where a sum or an element of a row says so, and what was found by then."""
        loops = self.drawn_loops(self.pick((1, 1, 2)), [])
        names = [loop.name for loop in loops]
        (inner,) = self.drawn_loops(1, names)
        inside = [*names, inner.name]
        type_ = self.sum_type()
        total = Declare(self.fresh("s"), type_, Number(self.integer(0, 6)))
        value = self.value(inside, [], 1)
        tested: Value = Temporary(total.name) if self.chance(60) else Read(self.access(self.source(), inside))
        stop = Stop(DataTest(self.pick((">", "<")), tested, Number(self.integer(0, 6))))
        update = Update(total.name, self.pick(("+=", "=", "-=")), value)
        steps: list[Item] = [update, stop] if self.chance(50) else [stop, update]
        if self.chance(30):
            skipped = DataTest(self.pick((">", "<")), self.value(inside, [], 0), Number(self.integer(0, 6)))
            again = Update(total.name, "+=", Number(1))
            steps.append(If(skipped, (again,), (), "continue", self.fresh("in")))
        body: Item = replace(inner, body=tuple(steps))
        if self.chance(30):
            again_ = Loop(self.fresh("w"), Linear(), Linear((), self.integer(1, 3)), 1, ())
            body = replace(again_, body=(body, Stop(DataTest("<", Temporary(total.name), Number(self.integer(0, 6))))))
        target = self.target(len(names))
        return self.around(loops, (total, body, self.assign(target, self.place(target, names), Temporary(total.name))))
