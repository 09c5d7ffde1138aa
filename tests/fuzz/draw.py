"""Draws programs and options, see `choose.py`, `parts.py` and `nests.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from polyc.model.program import InputOptions, Options
from tests.fuzz.choose import Chooser
from tests.fuzz.emit import assigns
from tests.fuzz.layout import Layout, lay_out, wraps
from tests.fuzz.model import (
    FLOATS,
    Access,
    Assign,
    Cover,
    Data,
    Declare,
    Fresh,
    Linear,
    Loop,
    Program,
    Run,
    nodes,
    transform,
)
from tests.fuzz.places import placed
from tests.fuzz.windows import Windows

LARGEST_WORK = 40_000
LARGEST_ELEMENTS = 60_000
"""For one run; larger sizes are cut down."""

UNSIGNED = ("unsigned", "size_t")

T = TypeVar("T")


class Maker(Windows):
    """A program in the making."""

    def add_nest(self) -> None:
        if self.wide and self.chance(4):
            self.nests.append(self.own_row_nest())
        elif self.wide and self.chance(5):
            self.nests.append(self.clamped_nest())
        elif self.wide and self.chance(4):
            self.nests.append(self.straight_nest())
        elif self.wide and self.chance(5):
            self.nests.append(self.points_nest())
        elif self.wide and self.chance(4):
            self.nests.append(self.bordered_nest())
        elif self.wide and self.chance(3):
            self.nests.append(self.chunks_nest())
        elif self.wide and self.chance(4):
            self.nests.append(self.columns_nest())
        elif self.wide and self.chance(4):
            self.nests.append(self.search_nest())
        elif self.wide and self.chance(3):
            self.nests.append(self.fresh_nest())
        elif self.wide and self.chance(4):
            self.nests.append(self.masked_nest())
        elif self.wide and self.chance(3):
            self.nests.append(self.partly_nest())
        elif self.wide and self.chance(3):
            self.nests.append(self.branched_nest())
        elif self.wide and self.chance(3):
            self.nests.append(self.gathered_nest())
        else:
            self.add_plain_nest()
        if self.wide and self.nests and self.chance(6):
            self.nests[-1] = self.asserted(self.nests[-1])
        if self.wide and self.nests and self.chance(8):
            self.nests[-1] = self.asked(self.nests[-1])

    def add_plain_nest(self) -> None:
        match self.integer(0, 26):
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
            case 19:
                self.nests.append(self.lookup_nest())
            case 20 | 21:
                self.nests.append(self.accumulator_nest())
            case 22 | 23 | 24:
                self.nests.append(self.neighbour_nest())
            case 25:
                self.nests.append(self.histogram_nest())
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
        if self.chance(50 if not self.detected else 20):
            for _ in range(self.pick((0, 0, 0, 1))):
                self.add_nest()
            self.chain()
            for _ in range(self.pick((0, 0, 1, 1))):
                self.add_nest()
        else:
            wanted = self.pick((1, 2, 2, 3, 3, 3, 4, 5)) if not self.detected else self.pick((1, 1, 2, 2, 3))
            while len(self.nests) < wanted:
                self.add_nest()
            if self.chance(75):
                self.result_nest()
        if self.detected and self.chance(25):
            self.nests.insert(self.pick((0, len(self.nests))), self.rows_nest())
        drawn = Program(
            tuple(self.arrays.values()),
            tuple(self.nests),
            self.runs(),
            tuple((name, self.pick(("int", "int", "int", "long", "short"))) for name in self.params),
            self.integer(1, len(self.nests) - 1) if len(self.nests) > 1 and self.chance(15) else 0,
            None,
            not self.chance(15),
        )
        drawn = replace(drawn, counters_after=self.chance(40), detected=self.detected)
        if self.detected:
            drawn = replace(drawn, split=0)
        elif self.chance(12):
            drawn = self.with_live_out(drawn)
        drawn = self.with_memory(self.with_counters(drawn) if self.chance(25) else bounded(cleaned(drawn)))
        drawn = self.with_scratch(drawn) if self.wide and self.chance(50) else drawn
        # No draw of its own: a run is repeated by its seed, whatever was added since.
        mark = sum(value for run in drawn.runs for _, value in run.sizes) % 8
        walked = self.wide and mark in (2, 6)
        drawn = replace(drawn, made=mark == 5, transfers=mark == 3, called=self.wide and mark in (1, 6), walked=walked)
        other = (mark + len(drawn.arrays)) % 4
        drawn = replace(drawn, rows=self.wide and other in (0, 1), views=self.wide and other in (1, 2))
        drawn = replace(drawn, packed=self.wide and (mark + len(drawn.nests)) % 4 == 3)
        drawn = replace(drawn, included=self.wide and drawn.detected and mark in (0, 4, 6))
        return replace(drawn, worded=self.wide and mark in (1, 4, 7))

    def with_counters(self, program: Program) -> Program:
        """The program, bounded, with other types of loop variables and sizes, at sizes where no bound wraps."""
        changed = bounded(cleaned(self.with_unsigned(program)))
        if changed.counter not in UNSIGNED and all(type_ not in UNSIGNED for _, type_ in changed.types):
            return changed
        # The sizes that made it small enough may be such that a bound wraps.
        runs = tuple(run for run in changed.runs if not wraps(changed, run.values()))
        return replace(changed, runs=runs) if runs or not changed.runs else bounded(cleaned(program))

    def with_unsigned(self, program: Program) -> Program:
        """Parameters and loop variables that count modulo a power of two, at sizes where no bound wraps."""
        counter = self.pick(("int", "unsigned", "unsigned", "size_t", "size_t", "long"))
        if counter == "long":
            return replace(program, counter=counter)
        wide = counter == "size_t"  # 32 bits that wrap in a sum with 64 do not wrap back
        kinds = ("size_t", "int") if wide else ("unsigned", "unsigned", "int", "short", "unsigned char")
        changed = replace(program, types=tuple((name, self.pick(kinds)) for name, _ in program.types), counter=counter)
        runs = tuple(run for run in program.runs if not wraps(changed, run.values()))
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

    def runs(self) -> tuple[Run, ...]:
        """Two or three sizes, and in half of the programs one at which loops run hardly ever."""
        sizes = ((5, 12), (20, 45), (0, 4), (6, 20))
        found = [tuple((name, self.integer(*sizes[run])) for name in self.params) for run in range(self.integer(2, 3))]
        if self.params and self.chance(50):
            found.append(tuple((name, self.pick((1, 2, 0, 7, -1, -3))) for name in self.params))
        return tuple(Run(run) for run in found)

    def with_memory(self, program: Program) -> Program:
        """The program called several times in a row, without memory from the heap, or where polyc finds the regions
        itself with arguments that overlap, at the sizes that it has already."""
        runs = [
            replace(run, calls=self.pick((1, 1, 1, 2, 3)), starved=number > 0 and self.chance(25))
            for number, run in enumerate(program.runs)
        ]
        if program.detected:
            runs += [replace(run, calls=1) for run in runs[:2]]
            runs = [replace(run, placed=placed(self.chooser, program)) for run in runs]
        return replace(program, runs=tuple(runs))


def cleaned(program: Program) -> Program:
    """Without arrays that nothing uses."""
    used = {node.array for node in nodes(program.nests) if isinstance(node, Access | Data | Cover | Fresh)}
    return replace(program, arrays=tuple(array for array in program.arrays if array.name in used))


def bounded(program: Program) -> Program:
    """The program with sizes that are small enough: first parameters shrink, then constant bounds."""
    while True:
        layout = lay_out(program)
        runs = list(program.runs)
        large = [
            layout.work[number] > LARGEST_WORK or elements(layout, number) > LARGEST_ELEMENTS
            for number in range(len(runs))
        ]
        if not any(large):
            return program
        for number, run in enumerate(runs):
            most = max((value for _, value in run.sizes), default=0)
            if large[number] and most > 3:
                sizes = tuple((name, value * 3 // 4 if value == most else value) for name, value in run.sizes)
                runs[number] = replace(run, sizes=sizes)
        before = program
        if runs == list(program.runs):
            program = replace(program, nests=transform(program.nests, halved))
        program = replace(program, runs=tuple(dict.fromkeys(runs)))
        if program == before:  # what is large is so by its constants
            small = tuple(run for run, big in zip(runs, large, strict=True) if not big)
            return replace(program, runs=small or program.runs)


def halved(node: Any) -> Any:
    if isinstance(node, Loop) and isinstance(node.high, Linear) and node.high.constant > 4:
        return replace(node, high=replace(node.high, constant=node.high.constant // 2))
    return node


def elements(layout: Layout, run: int) -> int:
    return sum(counts[run] for counts in layout.counts.values())


def draw_program(chooser: Chooser, wide: bool = False) -> Program:
    return Maker(chooser, wide).program()


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
        strips=pick((0, 0, 0, 2, 3)),
        machine=pick(("generic", "generic", "x86-64-v3")),
    )
    params: tuple[tuple[str, int], ...] = ()
    assume: tuple[str, ...] = ()
    # A size of a region that polyc finds may be none of its parameters.
    given = [name for name, _ in program.runs[0].sizes] if program.runs and not program.detected else []
    if len(given) > 0 and pick((False,) * 11 + (True,)):
        name = pick(given)
        values = [run.values()[name] for run in program.runs]
        if len(set(values)) == 1:
            params = ((name, values[0]),)
        else:
            assume = (f"{name} >= {min(values)}",)
    return options, InputOptions(params=params, assume=assume, detect=program.detected)
