"""Both sides of a region's guard, by running the region and its result on memory that is laid out for that.

A guard is a conjunction. Sizes, places of pointers and contents are looked for that make each of its conjuncts false
while all others hold, and each comparison in them true and false. Every run compares the result, built with
`gcc -O1 -fopenmp`, with the region as it was written, built with `gcc -O0`: all memory that outlives the region.
"""

from __future__ import annotations

import ctypes
import itertools
import multiprocessing
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polyc.codegen.text.macros import APART, MACROS
from polyc.codegen.text.printer import expression
from polyc.model.program import Compiled
from polyc.model.scop import Array, Region
from polyc.runtime import csource, sizes
from polyc.runtime.inputs import random_array
from polyc.runtime.interval import Interval
from polyc.runtime.layout import SMALL, Layout, Need, Shape, Unsafe
from tests.differential.toolbox import ENVIRONMENT, ROUNDING, counted, guard_in, run

FLAGS = (
    "-std=gnu11",
    "-w",
    "-fPIC",
    "-shared",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-aggressive-loop-optimizations",
)
PROBE = "polyc_probe"
BASES = (5, 9, 3, 17, 1)
MOST_TRIED = 6000
MOST_BYTES = 1 << 28
MOST_LISTED = 30
"""Pairs of a list of memory that are made to overlap, spread over all of them."""
SLACK_BYTES = 1 << 15
"""Around each array: regions for whose sizes the model does not hold may go further than it says."""
SCALES = (0.1, 1.0, 40.0, -40.0)
LIMIT_SECONDS = 120
PAUSE_HARD = 2
"""`omp_pause_hard` of omp.h."""
Values = dict[str, int]


def parts(text: str, operator: str) -> list[str]:
    """The operands of `&&` or `||` outside of parentheses."""
    text = " ".join(text.split())
    while text.startswith("(") and closing(text) == len(text) - 1:
        text = text[1:-1]
    found, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and text.startswith(f" {operator} ", k):
            found.append(text[start:k])
            start = k + len(operator) + 2
    return [*found, text[start:]]


def closing(text: str) -> int:
    """Where the parenthesis ends that a text begins with."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return k
    return -1


def leaves(text: str) -> list[str]:
    """The comparisons that a condition is made of."""
    for operator in ("||", "&&"):
        found = parts(text, operator)
        if len(found) > 1:
            return list(dict.fromkeys(leaf for one in found for leaf in leaves(one)))
    return found


def named(place: str) -> str:
    """The array of `&a + 1` and `a + (n - 1)`."""
    return re.findall(r"[A-Za-z_]\w*", place)[0]


@dataclass(slots=True)
class Sides:
    """What was seen of a guard."""

    branches: set[bool] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    """Conjuncts that were false while all others held."""
    seen: set[tuple[str, bool]] = field(default_factory=set)
    runs: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Placed:
    """The memory of a run: bytes, and where the element 0 of each array is."""

    size: int
    places: dict[str, int]
    spans: dict[str, tuple[int, int]]
    """Of each array: bytes before its element 0, and behind that."""
    room: int
    """Where two arrays may be moved to."""


@dataclass(eq=False)
class Guarded:
    """A region with a guard, as functions in C."""

    region: Region
    compiled: Compiled
    folder: Path

    @cached_property
    def condition(self) -> str:
        """What is asked before anything runs."""
        asked = re.search(r"(?s)  int (\w+) = (.*?);\n\s*if \(\1\) \{ /\* whether ", self.compiled.text)
        return asked[2] if asked else guard_in(self.compiled.text)

    @cached_property
    def asks_data(self) -> bool:
        return "/* whether the data" in self.compiled.text

    @cached_property
    def conjuncts(self) -> list[str]:
        return [*([] if self.condition.strip() == "1" else parts(self.condition, "&&")), *self.listed]

    @cached_property
    def listed(self) -> list[str]:
        """What a list of memory asks at once, two by two: its entries are the model's pieces of memory, in order."""
        scop = self.compiled.program.scop
        if not scop.sorts_memories:
            return []
        entries = re.findall(r"(?m)^ *polyc_range\((.*), [01]\);$", self.compiled.text)
        ends = dict(zip(map(id, scop.memories), entries, strict=True))
        some = scop.apart[:: 1 + len(scop.apart) // MOST_LISTED]  # of hundreds of pairs, each of which takes some runs
        return [f"polyc_apart({ends[id(pair.one)]}, {ends[id(pair.two)]})" for pair in some]

    @cached_property
    def comparisons(self) -> list[str]:
        return list(dict.fromkeys(leaf for one in self.conjuncts for leaf in leaves(one)))

    @cached_property
    def apart(self) -> dict[str, list[str]]:
        """The four places that each question for overlap names."""
        found = {}
        for one in self.conjuncts:
            if one.startswith("polyc_apart("):
                inner = one[len("polyc_apart(") : -1]
                depth = itertools.accumulate((letter == "(") - (letter == ")") for letter in inner)
                marked = "".join("\n" if not d and x == "," else x for d, x in zip(depth, inner, strict=True))
                found[one] = marked.split("\n")
        return found

    # --- as C --------------------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> csource.CSource:
        return csource.c_source(self.region, "")

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """By their names in C, without what has a place as a parameter."""
        taken = {csource.plain_name(p) for p in self.region.scop.parameters}
        keys = self.source.arrays
        found = {self.region.scop.arrays[key].c_name: self.region.scop.arrays[key] for key in keys}
        return {name: array for name, array in found.items() if name not in taken}

    @cached_property
    def position(self) -> dict[str, int]:
        """In the array of pointers that the functions take, by names in C."""
        parameters = [csource.plain_name(parameter) for parameter in self.region.scop.parameters]
        keys = self.source.arrays
        found = {name: len(parameters) + keys.index(array.name) for name, array in self.arrays.items()}
        return found | {name: k for k, name in enumerate(parameters)}

    @cached_property
    def objects(self) -> list[str]:
        """Whose own address the guard asks for: they are no copies, but lie where the test says."""
        return sorted({name for place in self.apart.values() for one in place for name in re.findall(r"&(\w+)", one)})

    def function(self, name: str, body: str) -> str:
        scop = self.region.scop
        source = self.source
        opening, after = csource.declarations(scop, source.parameters, source.arrays, source.rows)
        body = csource.with_names(body, scop)
        defines = []
        for one in self.objects:
            place = f"polyc_args[{self.position[one]}]"
            opening, after = (
                "\n".join(line for line in text.split("\n") if place not in line) for text in (opening, after)
            )
            if one in self.arrays:
                array = self.arrays[one]
                dims = "".join(f"[{expression(e)}]" for e in array.extents_c if e is not None)
                kind = f"{array.element.text} (*){dims}"
            else:
                kind = f"{next(p.type.text for p in scop.parameters if csource.plain_name(p) == one)} *"
            defines.append(f"#define {one} (*({kind}){place})\n")
        undone = "".join(f"#undef {one}\n" for one in self.objects)
        head = f"void {name}(void **polyc_args, long *polyc_out)\n{{\n"
        return f"{''.join(defines)}{head}{opening}{{\n{body}\n}}\n{after}}}\n{undone}"

    def probe(self) -> str:
        """What each comparison and each conjunct says, and the places that each question for overlap names."""
        macros = [
            f"#undef {name}\n{line}"
            for line, name in re.findall(r"(?m)^(#define (polyc_\w+)\(.*[^\\])$", self.compiled.text)
        ]
        macros += [f"#undef {APART}\n{MACROS[APART]}"] if self.listed else []
        asked = [*self.comparisons, *self.conjuncts]
        lines = [f"polyc_out[{k}] = !!({one});" for k, one in enumerate(asked)]
        places = [one for ends in self.apart.values() for one in ends]
        lines += [f"polyc_out[{k}] = (long)({one});" for k, one in enumerate(places, len(asked))]
        return "\n".join([*macros, *lines])

    def library(self, name: str, text: str, *flags: str) -> Path:
        """The region's declarations and the text, built."""
        source = self.source.text.partition(f"\nvoid {csource.ORIGINAL}(")[0]
        file = self.folder / f"{name}.c"
        file.write_text(f"int polyc_ran[2];\n{source}\n{text}", errors="surrogateescape")
        run("gcc", *FLAGS, ROUNDING, *flags, file, "-o", file.with_suffix(".so"), "-lm")
        return file.with_suffix(".so")

    def build(self) -> None:
        text = csource.with_all_threads(self.compiled.text)
        result = counted(text, guard_in(text))
        original = self.function(csource.ORIGINAL, self.region.original)
        self.library("original", original + self.function(PROBE, self.probe()), "-O0")
        self.library("result", self.function(csource.RESULT, result), "-O1", "-fopenmp")

    # --- memory ------------------------------------------------------------------------------------------------------

    def allowed(self, values: Values) -> bool:
        """Whether the sizes are in their types, and as they are promised."""
        for parameter in self.region.scop.parameters:
            bits, value = 8 * (parameter.type.size_bytes or 4), values[parameter.name]
            low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if parameter.type.signed else (0, 1 << bits)
            if not low <= value < high:
                return False
        return not self.region.scop.context.intersect(sizes.fixed(values)).is_empty()

    def spans(self, values: Values, bytes_of: dict[str, int]) -> dict[str, tuple[int, int]] | None:
        """Bytes of each array before and behind its element 0, for the model's accesses; None where it has no room."""
        layout = Layout(self.region.scop, values)
        needs = {n: Need([0] * a.rank, [0] * a.rank) for n, a in self.region.scop.arrays.items()}
        try:
            known = {name: layout.known_extents(array) for name, array in self.region.scop.arrays.items()}
            held = layout.fixpoint(dict.fromkeys(needs, SMALL))
            for statement in self.region.scop.statements.values():
                layout.exact_needs(statement, needs)
                with suppress(Unsafe):  # what data choose without a bound has the slack
                    layout.inexact_needs(statement, held, known, needs)
        except Unsafe:
            return None
        found = {}
        for name, array in self.arrays.items():
            extents, need = known[array.name], needs[array.name]
            if any(extent is None or (extent < 1 and not array.flat) for extent in extents[1:]):
                return None
            strides = [
                int(np.prod([max(1, e or 1) for e in extents[k + 1 :]], dtype=object)) for k in range(array.rank)
            ]
            low = sum(x * s for x, s in zip(need.low, strides, strict=True))
            high = sum(x * s for x, s in zip(need.high, strides, strict=True))
            declared = max(1, extents[0] or 1) * strides[0] if array.rank else 1
            found[name] = (-low * bytes_of[name], max(high + 1, declared) * bytes_of[name])
        return found if sum(map(sum, found.values())) <= MOST_BYTES else None

    def placed(self, spans: dict[str, tuple[int, int]]) -> Placed:
        """Memory for a run: the arrays behind each other, with slack, and room for two of them that overlap."""
        at, places = SLACK_BYTES, {}
        for name, (before, behind) in spans.items():
            places[name] = at + before + -(at + before) % 64
            at = places[name] + behind + SLACK_BYTES
        widest = sum(sorted(map(sum, spans.values()))[-2:])
        room = at + 2 * widest + SLACK_BYTES
        return Placed(room + 2 * widest + SLACK_BYTES, places, spans, room + -room % 64)


@dataclass(eq=False)
class Runs:
    """The runs of a region's two functions, in a process that has loaded them."""

    one: Guarded
    sides: Sides = field(default_factory=Sides)
    kept: dict[tuple[str, int, float], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        os.environ.update(ENVIRONMENT)
        libraries = [ctypes.CDLL(str(self.one.folder / f"{name}.so")) for name in ("original", "result")]
        self.original, self.probe = libraries[0][csource.ORIGINAL], libraries[0][PROBE]
        self.result = libraries[1][csource.RESULT]
        self.ran = (ctypes.c_int * 2).in_dll(libraries[1], "polyc_ran")
        keys = self.one.source.arrays
        table = (ctypes.c_ulong * max(1, len(keys))).in_dll(libraries[0], csource.ELEMENT_SIZES)
        found = dict(zip(keys, table, strict=False))
        self.bytes_of = {name: found[array.name] for name, array in self.one.arrays.items()}
        self.random = np.random.default_rng(17)

    def arguments(self, base: int, values: Values, places: dict[str, int]) -> tuple[Any, list[Any]]:
        """The array of pointers, and what keeps their targets alive."""
        scop = self.one.region.scop
        kept: list[Any] = []
        keys = self.one.source.arrays
        pointers = (ctypes.c_void_p * max(1, len(scop.parameters) + len(keys)))()
        for k, parameter in enumerate(scop.parameters):
            value = values[parameter.name]
            data = value.to_bytes(parameter.type.size_bytes or 4, "little", signed=value < 0)
            kept.append(ctypes.create_string_buffer(data, 16))
            pointers[k] = ctypes.addressof(kept[-1])
        for name, place in places.items():
            pointers[self.one.position[name]] = base + place
        return pointers, kept

    def asked(self, values: Values, places: dict[str, int]) -> tuple[dict[str, bool], dict[str, bool], list[int]]:
        """What comparisons and conjuncts say, and the places of questions for overlap, relative to the memory."""
        base = 1 << 40
        pointers, kept = self.arguments(base, values, places)
        for name, array in self.one.arrays.items():
            if not array.rank and name not in self.one.objects:  # its value is read
                kept.append(ctypes.create_string_buffer(64))
                pointers[self.one.position[name]] = ctypes.addressof(kept[-1])
        asked = [*self.one.comparisons, *self.one.conjuncts]
        out = (ctypes.c_long * (len(asked) + 4 * len(self.one.apart) + 1))()
        self.probe(pointers, out)
        said = [bool(out[k]) for k in range(len(asked))]
        count = len(self.one.comparisons)
        ends = [out[len(asked) + k] - base for k in range(4 * len(self.one.apart))]
        return dict(zip(asked[:count], said, strict=False)), dict(zip(asked[count:], said[count:], strict=True)), ends

    # --- one run -----------------------------------------------------------------------------------------------------

    def compare(self, values: Values, placed: Placed, moved: dict[str, int], words: str, scale: float = 0.5) -> None:
        """Run both on the same memory; note what was asked, which side ran, and what differs."""
        places = {**placed.places, **moved}
        memory = self.filled(placed, places, scale)
        copies = [aligned(memory) for _ in range(2)]
        before = list(self.ran)
        for function, copy in zip((self.original, self.result), copies, strict=True):
            pointers, _kept = self.arguments(copy.ctypes.data, values, places)
            function(pointers, None)
        held = self.ran[0] > before[0]
        comparisons, conjuncts, _ = self.asked(values, places)
        self.sides.runs += 1
        self.sides.branches.add(held)
        self.sides.seen |= set(comparisons.items())
        wrong = [name for name, said in conjuncts.items() if not said]
        self.sides.alone |= set(wrong) if len(wrong) == 1 else set()
        where = f"with {values}{words}"
        if list(self.ran) != [before[0] + held, before[1] + (not held)] or (held and wrong):
            self.sides.faults.append(f"{where}: the branch that ran is not the one that the condition says")
        if not self.one.asks_data and held == bool(wrong):
            self.sides.faults.append(f"{where}: the branch that ran is not the one that the condition says")
        if np.array_equal(*copies):
            return
        unlike = (copies[0] != copies[1]) & self.alive(placed, places)
        if unlike.any():
            at = int(np.argmax(unlike))
            name = max((n for n in places if places[n] <= at), key=places.__getitem__, default="?")
            self.sides.faults.append(
                f"{where}: {int(unlike.sum())} bytes differ, the first {at - places.get(name, 0)} bytes behind {name}, "
                f"{'the nests' if held else 'the original loops'} ran"
            )

    def filled(self, placed: Placed, places: dict[str, int], scale: float) -> Any:
        memory = np.zeros(placed.size, np.uint8)
        for name, array in self.one.arrays.items():
            before, behind = placed.spans[name]
            size = self.bytes_of[name]
            raw = self.drawn(array, (before + behind) // size, size, scale)
            start = places[name] - before
            memory[start : start + len(raw)] = raw
        return memory

    def drawn(self, array: Array, count: int, size: int, scale: float) -> Any:
        """Random elements of an array, as bytes."""
        key = (array.name, count, scale)
        if key not in self.kept:
            contents = SMALL if scale == 0.5 else Interval(0, int(abs(scale)))
            drawn = random_array(Shape(array.name, (count,), (0,), contents), array.element, size, self.random)
            if drawn.dtype.kind == "f":
                drawn = np.asarray(drawn * scale, dtype=drawn.dtype)
            self.kept[key] = np.frombuffer(drawn.tobytes(), np.uint8)
        return self.kept[key]

    def alive(self, placed: Placed, places: dict[str, int]) -> Any:
        """The bytes that outlive the region."""
        mask = np.ones(placed.size, bool)
        live = self.one.region.scop.live_out
        for wanted in (False, True):
            for name, array in self.one.arrays.items():
                if (array.name in live) is wanted:
                    before, behind = placed.spans[name]
                    mask[places[name] - before : places[name] + behind] = wanted
        return mask

    # --- which runs --------------------------------------------------------------------------------------------------

    def bases(self) -> Iterator[Values]:
        found = sizes.feasible(self.one.region.scop)
        tried: list[Values] = []
        for size in BASES:
            values = sizes.near(found, size)
            if values is not None and values not in tried:
                tried.append(values)
                yield values

    def neighbours(self, base: Values) -> Iterator[Values]:
        """Sizes that differ from some in one of them, and then in two."""
        constants = {int(n) for n in re.findall(r"\b\d+(?=L?\b)", self.one.condition)}
        near = {-1, 0, 1, 2, 3, *(n + d for n in constants if n < 5000 for d in (-1, 0, 1))}
        choices = {
            name: sorted({*near, v - 1, v + 1, *({2 * v, 2 * v + 1} if v < 50 else ())} - {v})
            for name, v in base.items()
        }
        for name in base:
            for value in choices[name]:
                yield {**base, name: value}
        for one, other in itertools.combinations(base, 2):
            for pair in itertools.product(choices[one], choices[other]):
                yield {**base, one: pair[0], other: pair[1]}

    def goals(self, values: Values, places: dict[str, int]) -> set[tuple[str, object]]:
        """What a run with these sizes would show for the first time."""
        comparisons, conjuncts, _ = self.asked(values, places)
        wrong = [name for name, said in conjuncts.items() if not said]
        found: set[tuple[str, object]] = {item for item in comparisons.items() if item not in self.sides.seen}
        if len(wrong) == 1 and wrong[0] not in self.sides.alone:
            found.add((wrong[0], "alone"))
        if (not wrong) not in self.sides.branches:
            found.add(("", not wrong))
        return found

    def missing(self) -> set[str]:
        """Conjuncts that were never false alone, and comparisons that were never true, or never false."""
        said = {leaf for leaf in self.one.comparisons for side in (False, True) if (leaf, side) not in self.sides.seen}
        return said | (set(self.one.conjuncts) - self.sides.alone)

    def all_sizes(self) -> list[tuple[Values, Placed]]:
        """Run each sizes that show something new; the first ones of which all outcomes are known come back."""
        usual = []
        far = {name: k << 30 for k, name in enumerate(self.one.arrays)}
        for base in self.bases():
            placed = self.placed(base)
            if placed is not None:
                usual.append((base, placed))
                self.compare(base, placed, {}, "")
        wanted = {one for one in self.one.conjuncts if one not in self.one.apart}
        wanted |= set(self.one.comparisons) - set(self.one.apart)
        for base, least in usual:
            for values in itertools.islice(self.neighbours(base), MOST_TRIED):
                if not wanted & self.missing():
                    return usual
                if self.one.allowed(values) and self.goals(values, far):
                    placed = self.placed(values, least)
                    if placed is not None and self.goals(values, placed.places):
                        self.compare(values, placed, {}, "")
        return usual

    def placed(self, values: Values, least: Placed | None = None) -> Placed | None:
        """Memory for a run with some sizes: what the model's accesses reach, what the guard asks for, and as much as
        for other sizes from which one or two of them differ."""
        spans = self.one.spans(values, self.bytes_of)
        if spans is None:
            return None
        _, _, ends = self.asked(values, dict.fromkeys(spans, 0))
        reached = [(name, spans) for name, spans in ([] if least is None else least.spans.items())]
        for k, places in enumerate(self.one.apart.values()):
            for at, place in ((4 * k, places[0]), (4 * k + 2, places[2])):
                reached.append((named(place), (-ends[at], ends[at + 1])))
        for name, (before, behind) in reached:
            if max(before, behind) < MOST_BYTES:
                spans[name] = (max(spans[name][0], before), max(spans[name][1], behind))
        return self.one.placed(spans)

    def overlaps(self, usual: Sequence[tuple[Values, Placed]]) -> None:
        """For each question for overlap: the same start, one element in common at either end, and just beside."""
        for k, (question, ends) in enumerate(self.one.apart.items()):
            first, second = (named(ends[at]) for at in (0, 2))
            for values, placed in usual:
                _, conjuncts, places = self.asked(values, placed.places)
                start, end, start2, end2 = places[4 * k : 4 * k + 4]
                if not all(conjuncts.values()) or start >= end or start2 >= end2:
                    continue
                self.overlap(values, placed, (first, second), (start, end, start2, end2))
                if question in self.sides.alone:
                    break

    def overlap(self, values: Values, placed: Placed, names: tuple[str, str], at: tuple[int, int, int, int]) -> None:
        first, second = names
        start, end, start2, end2 = at
        size = self.bytes_of[second]
        to_room = placed.room - placed.places[first]
        for words, begins in (
            ("where it begins", start),
            ("one element later", start + size),
            ("at its last element", end - size),
            ("with the last element on its first", start + size - (end2 - start2)),
            ("just behind it", end),
            ("just before it", start - (end2 - start2)),
        ):
            shift = begins - start2 + to_room
            moved = {first: placed.room, second: placed.places[second] + shift - shift % size}
            self.compare(values, placed, moved, f", {second} lies {words}: {first}")

    def all(self) -> Sides:
        usual = self.all_sizes()
        self.overlaps(usual)
        if self.one.asks_data:
            for values, placed in usual[:2]:
                for scale in SCALES:
                    self.compare(values, placed, {}, f", contents times {scale}", scale)
        return self.sides


def aligned(memory: Any) -> Any:
    """A copy at an address that is the same one modulo a page."""
    room = np.empty(len(memory) + 4096, np.uint8)
    start = -room.ctypes.data % 4096
    room[start : start + len(memory)] = memory
    return room[start : start + len(memory)]


def _child(one: Guarded, pipe: Any) -> None:
    runs = Runs(one)
    pipe.send((runs.all(), runs.missing()))


def both_sides(region: Region, compiled: Compiled, folder: Path) -> tuple[Guarded, Sides, set[str]]:
    """What runs showed of the guard, and what they did not; the calls are in a process of their own."""
    one = Guarded(region, compiled, folder)
    one.build()
    # Threads that the OpenMP library has started do not exist in a fork, which would wait for them: it gives them up.
    ctypes.CDLL("libgomp.so.1").omp_pause_resource_all(PAUSE_HARD)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)
    child = context.Process(target=_child, args=(one, sender))
    child.start()
    sender.close()
    try:
        if not receiver.poll(LIMIT_SECONDS):
            raise AssertionError("the runs take too long")
        sides, missing = receiver.recv()
    except EOFError:
        child.join()
        raise AssertionError(f"a run ends its process ({child.exitcode})") from None
    finally:
        child.kill()
    return one, sides, missing
