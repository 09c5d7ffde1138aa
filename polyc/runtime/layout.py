"""How large each array of a run is, and what its integers may be, so that every access is inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polyc.analysis.extents import on_parameters
from polyc.model import ctree as c
from polyc.model.scop import Array, Scop, Statement, Storage
from polyc.records import dataclass, field, replace
from polyc.runtime import sizes
from polyc.runtime.interval import ANY, Interval, Ranges

LARGEST_EXTENT = 1 << 22
ROUNDS = 3
SMALL = Interval(1, 9)
"""What integers are drawn from that index nothing."""


class Unsafe(Exception):
    """No input is known for which the region surely stays inside its arrays."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One array of a run."""

    name: str
    extents: tuple[int, ...]
    corner: tuple[int, ...]
    """The least subscripts that are used: below zero only for pointers into the middle of memory."""
    contents: Interval
    sorted: bool = False
    """Filled in rising order: it holds the bounds of loops."""
    begins: tuple[int, ...] = (0,)
    """What the first subscript of each dimension is in C."""


@dataclass(slots=True)
class Need:
    """Subscripts that are used of an array with unknown extents."""

    low: list[int]
    high: list[int]

    def reach(self, position: int, found: Interval, name: str) -> None:
        if found.low is None or found.high is None or found.high - found.low >= LARGEST_EXTENT:
            raise Unsafe(f"a subscript of {name} depends on data in a way that is not bounded")
        self.low[position] = min(self.low[position], found.low)
        self.high[position] = max(self.high[position], found.high)


@dataclass(slots=True)
class Layout:
    """The arrays of a region for some values of its parameters."""

    scop: Scop
    values: dict[str, int]
    index_arrays: set[str] = field(default_factory=set)
    bound_arrays: set[str] = field(default_factory=set)
    point: isl.Set = field(init=False)
    """`[n] -> { : n = 5 }`, the values; read once."""

    def __post_init__(self) -> None:
        self.point = sizes.fixed(self.values)

    def shapes(self) -> dict[str, Shape]:
        """A shape for each array outside of the region. Raises Unsafe."""
        for statement in self.scop.statements.values():
            self.find_index_arrays(statement)
        problem = Unsafe("no values were tried")
        for contents in self.candidates():
            try:
                return self.shapes_for(contents)
            except Unsafe as error:
                problem = error
        raise problem

    def candidates(self) -> Iterator[Interval]:
        """Ranges for the contents of index arrays, wide ones first."""
        if not self.index_arrays:
            yield SMALL
            return
        known = [n for a in self.scop.arrays.values() for n in self.known_extents(a) if n is not None]
        largest = max([n for n in known if n <= LARGEST_EXTENT], default=8)
        for count in dict.fromkeys((largest, *sorted(set(known), reverse=True), largest // 2, 4, 2, 1)):
            if 0 < count <= LARGEST_EXTENT:
                yield Interval(0, count - 1)

    def known_extents(self, array: Array) -> list[int | None]:
        """The extents as numbers; None where only the accesses tell."""
        names = Ranges({name: Interval.of(value) for name, value in self.values.items()}, {})
        answer: list[int | None] = []
        for extent, text in zip(array.extents, array.extents_c, strict=True):
            if extent is not None:
                largest = on_parameters(extent).intersect_params(self.point).max_val()
                answer.append(largest.to_python() if largest.is_int() else None)
            else:
                answer.append(None if text is None else names.of(text).exact)
        return answer

    def find_index_arrays(self, statement: Statement) -> None:
        """Integer arrays whose values are used in subscripts, and in the bounds of loops."""
        for node in c.walk(statement.body):
            parts: list[c.Expr | c.Stmt] = []
            match node:
                case c.ArrayRef(subscripts=subscripts):
                    parts += subscripts
                case c.Subscript(index=index):
                    parts.append(index)
                case c.For(init=init, condition=condition):
                    heads = [part for part in (init, condition) if part is not None]
                    parts += heads
                    self.bound_arrays |= self.integers_in(heads)
            self.index_arrays |= self.integers_in(parts)

    def integers_in(self, parts: Iterable[c.Node]) -> set[str]:
        found = {n.array for part in parts for n in c.walk(part) if isinstance(n, c.ArrayRef)}
        return {name for name in found if self.scop.arrays[name].element.kind == "int"}

    def shapes_for(self, contents: Interval) -> dict[str, Shape]:
        """The shapes if index arrays hold values from `contents`."""
        arrays = {n: a for n, a in self.scop.arrays.items() if a.storage is not Storage.REGION}
        known = {name: self.known_extents(array) for name, array in self.scop.arrays.items()}
        needs = {n: Need([0] * a.rank, [0] * a.rank) for n, a in self.scop.arrays.items()}
        drawn = {n: contents if n in self.index_arrays else SMALL for n in arrays}
        held = self.fixpoint(drawn)
        for statement in self.scop.statements.values():
            self.exact_needs(statement, needs)
            self.inexact_needs(statement, held, known, needs)
        return {n: self.shape(a, known[n], needs[n], drawn[n]) for n, a in arrays.items()}

    def shape(self, array: Array, known: list[int | None], need: Need, contents: Interval) -> Shape:
        extents, corner = [], []
        for position, size in enumerate(known):
            low = min(0, need.low[position]) if position == 0 and size is None else 0
            if size is not None and (need.high[position] >= size or need.low[position] < 0):
                raise Unsafe(f"a subscript of {array.c_name} may lie outside of it")
            if size is None and position > 0 and need.low[position] < 0:
                raise Unsafe(f"a subscript of {array.c_name} is negative")
            extents.append(size if size is not None else need.high[position] - low + 1)
            corner.append(low)
        ordered = array.name in self.bound_arrays and array.rank > 0
        return Shape(array.name, tuple(extents), tuple(corner), contents, ordered, array.begins)

    def loop_ranges(self, statement: Statement) -> dict[str, Interval] | None:
        """Ranges of loop variables and parameters; None where the statement does not run."""
        domain = statement.domain.intersect_params(self.point)
        if domain.is_empty():
            return None
        names = {name: Interval.of(value) for name, value in self.values.items()}
        for position, name in enumerate(statement.loops):
            found = sizes.bounds(domain, position)
            names[name] = Interval(*found) if found else ANY
        return names

    def exact_needs(self, statement: Statement, needs: dict[str, Need]) -> None:
        for access in statement.accesses:
            if not access.exact:
                continue
            elements: isl.Set = access.relation.intersect_params(self.point).range()
            if elements.is_empty():
                continue
            for position in range(self.scop.arrays[access.array].rank):
                found = sizes.bounds(elements, position)
                needs[access.array].reach(position, Interval(*found) if found else ANY, access.array)

    def inexact_needs(
        self, statement: Statement, held: dict[str, Interval], known: dict[str, list[int | None]],
        needs: dict[str, Need],
    ) -> None:  # fmt: skip
        """Bound the subscripts that depend on data by the ranges of what they are made of."""
        names = self.loop_ranges(statement)
        if names is None:
            return
        known_by_model = {a.ref: a for a in statement.accesses if a.ref and (a.exact or a.clamped)}
        for ref, ranges in references(statement.body, Ranges(names, held)):
            access = known_by_model.get(ref.ref)
            if ref.array not in needs or (access is not None and access.exact):
                continue
            for position, subscript in enumerate(ref.subscripts):
                found = ranges.of(subscript)
                if access is not None and position in access.clamped:
                    ends = sizes.bounds(access.relation.intersect_params(self.point).range(), position)
                    found = Interval(*ends) if ends else found
                needs[ref.array].reach(position, found, ref.array)

    def fixpoint(self, drawn: dict[str, Interval]) -> dict[str, Interval]:
        """What integer arrays hold at any time: the input, and what the region writes there."""
        integers = {n for n, a in self.scop.arrays.items() if a.element.kind == "int"}
        held = {n: i for n, i in drawn.items() if n in integers}
        for round_ in range(ROUNDS):
            before = dict(held)
            for statement in self.scop.statements.values():
                names = self.loop_ranges(statement)
                for array, value in assigned(statement.body, Ranges(names, held)) if names is not None else ():
                    if array in integers:
                        held[array] = held[array].join(value) if array in held else value
            if held == before:
                break
            if round_ == ROUNDS - 1:
                held = {n: i if i == before.get(n) else ANY for n, i in held.items()}
        return held


def references(node: c.Node, ranges: Ranges) -> Iterator[tuple[c.ArrayRef, Ranges]]:
    """Every array reference of a body, with the ranges that hold there."""
    if isinstance(node, c.For):
        ranges = inside_loop(node, ranges)
    if isinstance(node, (c.While, c.Block)):
        ranges = after_changes(node, ranges)
    if isinstance(node, c.ArrayRef):
        yield node, ranges
    for child in c.children(node):
        yield from references(child, ranges)


def assigned(node: c.Node, ranges: Ranges) -> Iterator[tuple[str, Interval]]:
    """Arrays that are written, with a range of the values."""
    if isinstance(node, c.For):
        ranges = inside_loop(node, ranges)
    if isinstance(node, (c.While, c.Block)):
        ranges = after_changes(node, ranges)
    match node:
        case c.Assign(op=op, target=c.ArrayRef(array=array), value=value):
            yield array, ranges.of(value) if op == "=" else ANY
        case c.Unary(op="++" | "--", operand=c.ArrayRef(array=array)) | c.Postfix(operand=c.ArrayRef(array=array)):
            yield array, ANY
        case c.Decl(name=name, init=init) if init is not None:
            yield name, ranges.of(init)
        case _:
            pass
    for child in c.children(node):
        yield from assigned(child, ranges)


def inside_loop(loop: c.For, ranges: Ranges) -> Ranges:
    """The loop's variable runs from its start to its bound; without that form, nothing is known of it."""
    match loop.init:
        case c.Decl(name=name, init=start) if start is not None:
            pass
        case c.Assign(op="=", target=c.Name(name=name) | c.ArrayRef(array=name), value=start):
            pass
        case _:
            return after_changes(loop, ranges)
    first, last = ranges.of(start), ANY
    match loop.condition:
        case c.Binary(op=op, left=c.Name(name=left) | c.ArrayRef(array=left), right=bound) if left == name:
            last = ranges.of(bound)
            if op in ("<", ">"):
                last = last + Interval.of(-1 if op == "<" else 1)
        case _:
            op = ""
    if op in ("<", "<="):
        found = Interval(first.low, last.high)
    elif op in (">", ">="):
        found = Interval(last.low, first.high)
    else:
        found = ANY
    below = after_changes(loop.body, ranges)
    if name in changed(loop.body):
        found = ANY
    return Ranges({**below.names, name: found}, {**below.contents, name: found})


def after_changes(node: c.Node, ranges: Ranges) -> Ranges:
    """Names that are changed below hold anything; declared ones hold what they start with."""
    names = dict(ranges.names)
    for name, start in changed(node).items():
        names[name] = ranges.of(start) if start is not None else ANY
    return replace(ranges, names=names)


def changed(node: c.Node) -> dict[str, c.Expr | None]:
    """Names that are declared below with their start value, or None for those that change there."""
    found: dict[str, c.Expr | None] = {}
    for one in c.walk(node):
        match one:
            case c.Decl(name=name, init=init):
                found.setdefault(name, init)
            case c.Assign(target=c.Name(name=name)) | c.Unary(op="++" | "--", operand=c.Name(name=name)):
                found[name] = None
            case c.Postfix(operand=c.Name(name=name)):
                found[name] = None
            case _:
                pass
    return found
