"""Draws nests: maps, chains of stencils, sums, updates in place, lookups, loops over time."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.model import (
    Access,
    Array,
    Assign,
    Call,
    Compare,
    Cover,
    Data,
    Declare,
    If,
    Index,
    Item,
    Linear,
    Loop,
    Number,
    Op,
    Quasi,
    Read,
    Repeat,
    Total,
    Update,
    Value,
)
from tests.fuzz.parts import HALO, Parts

COUNTERS = ("i", "j", "l", "q")


class Nests(Parts):
    """Nests of each kind, with the arrays that they need."""

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
        if self.chance(60):
            self.writers()

    def writers(self) -> None:
        """Nests that write each a part of an array, every second element or what another one wrote, and a stencil."""
        rank = self.pick((2, 1))
        names = list(COUNTERS[:rank])
        array = replace(self.new_array(rank, "local"), read_after=self.chance(20), pointer=False, pair=False)
        array = self.arrays[array.name] = array
        form = self.pick(("steps", "pairs", "guards", "order", "halves"))
        high = self.size()
        shape = [Loop(name, Linear(), high, 1, (), "<", self.outside) for name in names]
        for part in (1, 0) if self.chance(30) else (0, 1):
            loops, last = list(shape), Linear(((names[-1], 1),))
            body: tuple[Item, ...]
            if form == "steps":
                loops[-1] = replace(loops[-1], low=Linear((), part), step=2)
            elif form == "pairs":
                last = Linear(((names[-1], 2),), part)
            elif form == "order" and part:
                loops[-1] = replace(loops[-1], low=Linear((), self.integer(1, 3)))
            elif form == "halves" and part:
                continue
            place = Access(array.name, (*(Linear(((name, 1),)) for name in names[:-1]), last))
            body = (Assign(place, "=", self.map_value(names, rank)),)
            if form == "guards":
                parity = Quasi("%", Linear(tuple((name, 1) for name in names)), 2)
                body = (If(Compare("==", parity, Linear((), part)), body, ()),)
            self.nests.append(self.around(loops, body))
        self.wrote(array)
        target = self.new_array(rank, "argument")
        value: Value = self.stencil(array, names)
        if form == "halves":
            near = (Quasi("/", Linear(((name, 1),), self.pick((0, 1, 2))), 2) for name in names)
            value = Op("+", Read(Access(array.name, tuple(near))), value if self.chance(20) else Number(1))
        place = Access(target.name, tuple(Linear(((name, 1),)) for name in names))
        self.nests.append(self.around(list(shape), (Assign(place, "=", value),)))
        self.wrote(target)

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

    def lookup_nest(self) -> Item:
        """Elements of short rows at places that data tell, in a loop that is long enough for vectors of them."""
        width = self.pick((64, 128, 130, 67, 200))
        row, along = "y", "x"
        loops = [
            Loop(row, Linear(), Linear((), self.integer(1, 3)), 1, (), "<", self.outside),
            Loop(along, Linear((), self.pick((0, 0, 0, 3))), Linear((), width), 1, (), "<", self.outside),
        ]
        names = [row, along]
        table = replace(self.new_array(2, "argument"), type=self.pick(("float", "int", "float")), parameters=("", ""))
        table = self.arrays[table.name] = replace(table, pair=False, pointer=False)
        own = Linear(((along, 1),))
        rows: tuple[Index, ...] = (Linear(((row, 1),)), Quasi("/", own, self.pick((64, 8, 16, 4))))
        first = self.pick(rows)

        def looked_up() -> Value:
            near = replace(own, constant=self.pick((0, 0, 1)))
            index: Index = Data(self.index_array().name, own)
            if self.chance(70):  # a row that fills a vector
                index = Total(index, Data(self.index_array().name, near))
            return Read(Access(table.name, (first, index)))

        value = looked_up()
        if self.chance(60):
            value = Op("+", value, self.value(names, [], 1))
        if self.chance(40):
            value = Op("*", value, looked_up())
        target = self.new_array(2, "argument")
        self.wrote(target)
        place = Access(target.name, (Linear(((row, 1),)), own))
        return self.around(loops, (Assign(place, "=", value),))

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
