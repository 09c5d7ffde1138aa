"""A region and its printed text, made ready to run: each from the same memory, and what each leaves behind."""

from __future__ import annotations

from math import prod
from types import FrameType
from typing import Any

import islpy as isl

from polyc.codegen.text.printer import expression
from polyc.frontend.c.ctype import Types
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Apart, Array, Region, Scop, Storage
from polyc.poly import greatest_of
from polyc.records import dataclass, field, replace
from polyc.replay.machine.memory import APART, Cells, Kind, Machine, Outside, Raced, WatchedCells, number_of, same_value
from polyc.replay.machine.reading import NotUnderstood, Read, read_texts
from polyc.replay.machine.tracing import Place, TracedCells, Tracer
from polyc.replay.outcome import Difference
from polyc.replay.taint import few_values
from polyc.replay.translate import ARGUMENTS, PLAIN, RESIDUES, ZEROS, Module, kind_of, place_key, translated
from polyc.replay.witness import explained
from polyc.runtime.csource import array_name, is_asked, is_rows, plain_name, size_text, walked_openings, with_names
from polyc.runtime.sizes import NoSize, made_of

REGION, TEXT = "polyc_original", "polyc_printed"
RANGES = (8, 3, 1)
"""Numbers that choose subscripts are less than the first of these with which the region stays in its arrays."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two arrays in one piece of memory."""

    one: str
    other: str
    by: int
    """Elements from the start of the first one to that of the second one."""

    def __str__(self) -> str:
        return f" where {self.other} begins {self.by} elements after {self.one}"


@dataclass(slots=True, eq=False)
class Ran:
    """A run of one text."""

    arrays: dict[str, Cells]
    scalars: dict[str, Any]
    machine: Machine


@dataclass(slots=True, eq=False)
class Both:
    """Both texts as Python, and their arguments."""

    region: Region
    program: Program
    text: str
    read: Read = field(init=False)
    types: Types = field(default_factory=Types)
    both: Module = field(init=False)
    few: dict[str, bool] = field(init=False)
    arrays: dict[str, Array] = field(init=False)
    aliased: frozenset[str] = field(init=False)
    kinds: dict[str, Kind] = field(init=False)
    most: int = RANGES[0]

    def __post_init__(self) -> None:
        scop = self.scop
        if not all(is_asked(parameter, self.region.original) for parameter in scop.parameters):
            raise NotUnderstood("a condition that is written in another way")
        try:
            made_of(scop)
        except NoSize:
            raise NotUnderstood("a size that is made of what is no size") from None
        found = [array for array in scop.arrays.values() if array.storage is not Storage.REGION]
        self.arrays = {array_name(array): array for array in found}
        apart = {name for pair in scop.apart for name in names_of(pair, scop)}
        ranked = {name for name, one in self.arrays.items() if one.rank}
        self.aliased = frozenset(ranked & {*apart, *scop.moved, *(one.name for one in scop.walked)})
        original, printed = (with_names(text, scop) for text in (self.region.original, self.text))
        texts = {REGION: original, TEXT: printed}
        self.read = read_texts(self.region.preamble, opening(scop, self.arrays), texts)
        for item in self.read.tree.ext:
            self.types.add_all(item)
        self.few = few_values(self.read.functions[REGION], self.arrays)
        self.kinds = {name: self.kind(array) for name, array in self.arrays.items()}
        self.both = self.translation()

    @property
    def scop(self) -> Scop:
        return self.region.scop

    @property
    def mode(self) -> str:
        if self.program.options.reassociate:
            return RESIDUES
        return ZEROS if "neutral" in self.program.padded.values() else PLAIN

    def translation(self, checked: tuple[str, ...] = ()) -> Module:
        of_file = frozenset(a.c_name for a in self.arrays.values() if a.rank and a.storage is Storage.GLOBAL)
        members: dict[str, dict[str, str]] = {}
        for parameter in self.scop.parameters:
            match parameter.expr:
                case c.Member(base=c.Name(name=name), field=member):
                    members.setdefault(name, {})[member] = plain_name(parameter)
        names = (REGION, TEXT)
        return translated(
            self.read, self.types, names, self.mode, self.aliased, self.few, checked, self.region.pure, of_file, members
        )

    def kind(self, array: Array) -> Kind:
        declared = self.read.functions[REGION].body.block_items
        for item in declared:
            if getattr(item, "name", None) == array_name(array):
                return kind_of(self.types.shape(item.type), self.types, self.few.get(array_name(array), False))
        raise NotUnderstood(f"the array {array.c_name}")

    def given(self, sizes: dict[str, int]) -> dict[str, int]:
        """The sizes by their names in C."""
        return {plain_name(p): sizes[p.name] for p in self.scop.parameters}

    def original(self, sizes: dict[str, int], fuel: int, overlap: Overlap | None = None, tag: str = "region") -> Ran:
        """The region's own run. Raises OutOfFuel, Outside."""
        for most in RANGES[RANGES.index(self.most) :]:
            self.most = most
            try:
                ran = self.run(self.both, REGION, sizes, Machine(fuel=fuel, tag=tag), overlap)
            except Raced as reason:
                raise Outside(str(reason)) from None
            stays_inside = all(cells.stays_inside for cells in ran.arrays.values()) and ran.machine.outside() is None
            if not ran.machine.faults and stays_inside:
                return ran
            self.most = RANGES[0]
        raise Outside("it does at these sizes")

    def ran(self, sizes: dict[str, int], machine: Machine, overlap: Overlap | None = None) -> Ran | Difference:
        """A run of the text, or what is wrong with it by itself. Raises OutOfFuel."""
        try:
            found = self.run(self.both, TEXT, sizes, machine, overlap)
        except Raced as reason:
            return Difference("race", str(reason), "", sizes)
        except (Outside, TypeError, KeyError, IndexError, AttributeError, MemoryError) as reason:
            return Difference("text", f"the text cannot be run ({type(reason).__name__}: {reason})", "", sizes)
        buffer = machine.outside()
        if buffer is not None:
            place = min(buffer) if min(buffer) < 0 else max(buffer)
            message = f"{buffer.name} has {buffer.size} elements, and number {place} is written"
            return Difference("bounds", message, "", sizes)
        for name_of, cells in found.arrays.items():
            if overlap is None and not cells.stays_inside:
                return Difference("bounds", f"the text leaves the array {name_of}", "", sizes)
        return found

    def in_vain(self, wanted: Ran, found: Ran, sizes: dict[str, int]) -> Difference | None:
        """An array of which the text touches, for nothing, what may not be there."""
        for name, cells in found.arrays.items():
            if not self.is_inside(name, cells, wanted.arrays[name], sizes):
                return Difference("bounds", f"the text leaves the array {name}", "", sizes)
        return None

    def is_inside(self, name: str, cells: Cells, wanted: Cells, sizes: dict[str, int]) -> bool:
        """Whether some cells are there: all between the first and the last row of an array that the region touches,
        which are the `wanted` ones; of one that is no parameter, all that is declared."""
        if not cells or (wanted and min(wanted) <= min(cells) and max(cells) <= max(wanted)):
            return True
        array = self.arrays[name]
        if array.flat or array.root:
            return False
        inner = [value_at(extent, sizes) for extent in array.extents[1:] if extent is not None]
        if len(inner) < array.rank - 1:
            return False
        row = prod(inner)
        rows = range(min(wanted) // row, max(wanted) // row + 1) if wanted else range(0)
        if array.storage is not Storage.ARGUMENT and array.extents[0] is not None:
            rows = range(value_at(array.extents[0], sizes))
        return min(cells) // row in rows and max(cells) // row in rows

    def run(
        self, code: Module, name: str, sizes: dict[str, int], machine: Machine, overlap: Overlap | None = None
    ) -> Ran:
        machine.most, machine.residues = self.most, self.mode == RESIDUES
        functions = code.functions(machine)
        state: dict[str, Any] = {**self.given(sizes)}
        arrays: dict[str, Cells] = {}
        make = WatchedCells if machine.races is not None else TracedCells if machine.tracer is not None else Cells
        for position, (called, array) in enumerate(self.arrays.items()):
            if called in state:
                continue
            kind = self.kinds[called]
            if not array.rank:
                state[called] = machine.initial(kind, number_of(called), 0, called)
                continue
            state[called] = arrays[called] = make(machine, called, None, kind, APART * (position + 1))
            if array.name in self.scop.unset:
                arrays[called].number = number_of(f"{called}, never set of the {machine.tag}")
            state[f"{called} from"] = 1 << 16
        if overlap is not None:
            arrays[overlap.other] = state[overlap.other] = state[overlap.one]
            state[f"{overlap.other} from"] += overlap.by
        else:
            for aliased in self.aliased:
                state[f"{aliased} from"] = 0
        scalars = functions[name](state)
        if overlap is not None:
            arrays[overlap.one].size = None
        return Ran(arrays, scalars, machine)

    # --- what differs ------------------------------------------------------------------------------------------------

    def difference(self, wanted: Ran, found: Ran | Difference) -> Difference | None:
        """The first live-out element with another value, or what is wrong with the text by itself."""
        if isinstance(found, Difference):
            return found
        for key in sorted(self.scop.live_out):
            array = self.scop.arrays.get(key)
            name = "" if array is None else array_name(array)
            if name in wanted.scalars:
                if not same_value(wanted.scalars[name], found.scalars[name]):
                    return Difference("value", f"{name} has another value", "", {}, name, None)
            elif name in wanted.arrays:
                place = first_difference(wanted.arrays[name], found.arrays[name])
                if place is not None:
                    return Difference("value", f"{name} has another value", "", {}, name, place)
        for name in {name for one in self.scop.exchanges for name, _ in one.moves}:
            if wanted.scalars[place_key(name)] != found.scalars[place_key(name)]:
                return Difference("value", f"{name} points to another array", "", {})
        if wanted.machine.world != found.machine.world:
            return Difference("value", "calls with effects are other ones, or in another order", "", {})
        return None

    def is_defined(self, sizes: dict[str, int], overlap: Overlap | None) -> bool:
        """Whether the region itself stays in its arrays, row by row, and leaves behind nothing that was never set."""
        if overlap is None:
            checked = self.translation((REGION,))
            try:
                self.run(checked, REGION, sizes, Machine(tag="region"))
            except Outside:
                return False
        one, other = (self.original(sizes, 1 << 60, overlap, tag) for tag in ("region", "another"))
        return self.difference(one, other) is None

    def told(self, difference: Difference, sizes: dict[str, int], overlap: Overlap | None) -> Difference:
        """The difference with where it comes from."""
        difference = replace(difference, sizes=self.given(sizes), message=f"{difference.message}{overlap or ''}")
        if difference.kind != "value" or not difference.array:
            return difference
        runs: list[Ran] = []
        for name in (REGION, TEXT):
            machine = Machine(fuel=1 << 30, tag="region" if name == REGION else "text")
            machine.tracer = Tracer(self.place_of)
            runs.append(self.run(self.both, name, sizes, machine, overlap))
        return explained(difference, runs[0], runs[1])

    def place_of(self, frame: FrameType) -> Place | None:
        """Where a run is."""
        if frame.f_code.co_filename != "<replay>":
            return None
        line = self.both.places.get(frame.f_lineno)
        if line is None:
            return None
        values = frame.f_locals
        return Place(line.line, tuple((c, values[python]) for python, c in line.counters if python in values))


def value_at(size: isl.PwAff, sizes: dict[str, int]) -> int:
    """The value of an expression of the parameters at some sizes."""
    found = isl.Map.from_pw_aff(size).range()
    for name, value in sizes.items():
        position = found.find_dim_by_name(isl.dim_type.param, name)
        found = found if position < 0 else found.fix_val(isl.dim_type.param, position, isl.Val(value))
    return greatest_of(found, 0).to_python()


def first_difference(one: Cells, other: Cells) -> int | None:
    """The first element that differs."""
    places: list[int] = sorted({*one, *other})
    return next((place for place in places if not same_value(one[place], other[place])), None)


def names_of(pair: Apart, scop: Scop) -> tuple[str, ...]:
    """The objects that have to be apart."""
    return tuple(with_names(expression(memory.base), scop) for memory in (pair.one, pair.two))


def carrier(scop: Scop, name: str) -> str:
    """The declaration of a pointer that changes places with arrays."""
    array = next(array for array in scop.arrays.values() if array.c_name in scop.moved)
    inner = "".join(f"[{size_text(scop, array, k)}]" for k in range(1, array.rank)) if not array.flat else ""
    return f"{array.element.text} {f'(*{name}){inner}' if inner else f'*{name}'} = {array.c_name};"


def opening(scop: Scop, arrays: dict[str, Array]) -> str:
    """Declarations of what both texts are given, in one line."""
    found = [text for _, text in scop.constants]
    known = {name for name, _ in scop.constants}
    for parameter in scop.parameters:
        found.append(f"{parameter.type.text} {plain_name(parameter)} = {ARGUMENTS};")
        known.add(plain_name(parameter))
    for name, array in arrays.items():
        if name in known:
            continue
        known.add(name)
        element = array.element.text
        if array.rank and is_rows(array):
            found.append(f"{element} {'*' * array.rank}{name} = {ARGUMENTS};")
        elif array.rank and array.flat:
            found.append(f"{element} *{name} = {ARGUMENTS};")
        elif array.rank:
            inner = "".join(f"[{size_text(scop, array, k)}]" for k in range(1, array.rank))
            outer = array.extents_c[0]
            first = "" if outer is None else with_names(expression(outer), scop)
            found.append(f"{element} {name}[{first}]{inner} = {ARGUMENTS};")
        else:
            found.append(f"{element} {name} = {ARGUMENTS};")
    found += walked_openings(scop, known)
    found += [carrier(scop, name) for name in scop.carriers]
    loops = {name: t.text for s in scop.statements.values() for name, t in zip(s.loops, s.loop_types, strict=True)}
    inside = {array.c_name for array in scop.arrays.values() if array.storage is Storage.REGION}
    found += [f"{text} {name};" for name, text in loops.items() if name not in known | inside]
    return " ".join(found)
