"""Values, pointers and variables of C as text of Python, and what cells hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from pycparser import c_ast

from polyc.frontend.c.ctype import INT, Shape, Types
from polyc.model.scop import CType
from polyc.records import dataclass, replace
from polyc.replay.machine.memory import FAR, Kind
from polyc.replay.machine.reading import NotUnderstood

LONG = CType("long", "int", 8)
UNSIGNED = CType("unsigned", "int", 4, False)
SIZE = CType("unsigned long", "int", 8, False)
DOUBLE = CType("double", "float", 8)
FLOAT = CType("float", "float", 4)
ADDRESS = CType("pointer", "pointer", 8)
SMALL = 1 << 15
"""Constants from here on are large; loop counters and sizes are less."""
_SIMPLE = re.compile(r"\w+")
_SUM = re.compile(r"[\w +*-]+")


@dataclass(frozen=True, slots=True)
class Pointer:
    """An array, a part of one, or a pointer: where its elements are."""

    cells: str
    base: str
    """Elements from the start of the cells."""
    index: str
    """What has been subscripted so far, in units of `extents`; "" for nothing."""
    extents: tuple[str, ...]
    """Of the dimensions that are left; that of the first one is not asked for."""
    shape: Shape
    """Of the elements."""
    lanes: int = 0
    """Of a pointer to vectors."""
    checked: bool = False
    """Whether subscripts are compared with extents."""

    def at(self, index: str) -> Pointer:
        """The element, or row, with a subscript."""
        if not self.extents:
            raise NotUnderstood("a subscript of what is no array")
        if self.checked and self.extents[0] != "0":
            index = f"within({index}, {self.extents[0]})"
        whole = f"{closed(self.index)}*{self.extents[0]} + {summand(index)}" if self.index else index
        return replace(self, index=whole, extents=self.extents[1:])

    @property
    def place(self) -> str:
        """Elements from the start of the cells to here."""
        if not self.index:
            return self.base
        row = "*".join(closed(extent) for extent in self.extents)
        here = f"{closed(self.index)}*{row}" if row else self.index
        return here if self.base == "0" else f"{summand(self.base)} + {summand(here)}"

    def moved(self, by: str) -> Pointer:
        row = "*".join(closed(extent) for extent in self.extents[1:])
        step = f"{closed(by)}*{row}" if row else by
        place = self.place
        return replace(self, base=step if place == "0" else f"{summand(place)} + {summand(step)}", index="")

    def address(self) -> Pointer:
        """What `&` makes of an element or a row."""
        return replace(self, base=self.place, index="", extents=("0", *self.extents))


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of Python, and its type in C."""

    code: str
    type: CType
    large: bool = False
    """Whether it may be so large that a sum leaves the range of its type: data, numbers below 0 as unsigned ones."""
    constant: Fraction | None = None
    truth: bool = False
    """Whether it is a condition."""
    pointer: Pointer | None = None
    node: c_ast.Node | None = None
    """Of a record: its struct."""

    @property
    def floating(self) -> bool:
        return self.type.kind == "float"


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What can be assigned to."""

    code: str
    """A variable, or what has the cell."""
    key: str
    """The cell; "" for a variable."""
    type: CType
    node: c_ast.Node | None = None
    pointer: Pointer | None = None
    variable: Variable | None = None

    @property
    def read(self) -> str:
        return f"{self.code}[{self.key}]" if self.key else self.code


@dataclass(slots=True, eq=False)
class Variable:
    """A name in C."""

    code: str
    shape: Shape
    number: int
    """Variables that are declared later have larger ones."""
    extents: tuple[str, ...] = ()
    is_array: bool = False
    offset: str = "0"
    lanes: int = 0
    large: bool = True


def summand(code: str) -> str:
    """A part of a sum."""
    return code if _SUM.fullmatch(code) else f"({code})"


def closed(code: str) -> str:
    """An operand of something."""
    return code if _SIMPLE.fullmatch(code) else f"({code})"


def number(code: int | Fraction, ctype: CType = INT) -> Value:
    return Value(str(int(code)), ctype, abs(int(code)) >= SMALL, constant=Fraction(code))


def kind_of(shape: Shape, types: Types, few: bool = False) -> Kind:
    """What a cell of this type holds."""
    if shape.element.kind == "float":
        return Kind("f", 8 * shape.element.size_bytes)
    if shape.element.kind == "int":
        bits = 1 if shape.element.text == "_Bool" else 8 * shape.element.size_bytes
        return Kind("i", bits, shape.element.signed, few=few)
    if shape.element.kind != "struct" or shape.node is None:
        raise NotUnderstood(f"the type {shape.element.text}")
    fields: list[tuple[str, Kind, int]] = []
    for item in shape.node.decls or ():
        if not isinstance(item, c_ast.Decl) or not item.name or isinstance(shape.node, c_ast.Union):
            raise NotUnderstood(f"the type {shape.element.text}")
        inner = types.shape(item.type)
        if any(d.pointer or d.size is None for d in inner.dims):
            continue  # whoever asks for it is not understood
        count = product([d.size or 0 for d in inner.dims]) if inner.dims else 0
        fields.append((item.name, kind_of(inner, types, few), count))
    return Kind("s", 0, fields=tuple(fields))


def product(sizes: Sequence[int]) -> int:
    found = 1
    for size in sizes:
        found *= size
    return found


def extents_of(shape: Shape) -> tuple[str, ...]:
    """Extents that are constants, or rows that pointers lead to."""
    return tuple(str(FAR) if dim.pointer else str(dim.size) for dim in shape.dims)
