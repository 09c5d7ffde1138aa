"""Values of the parameters for a run: what is promised holds, and every access is inside its array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

import islpy as isl

from polyc.analysis.expressions.constants import evaluated, literal_value
from polyc.analysis.extents import elements, on_parameters
from polyc.model import ctree as c
from polyc.model.scop import CType, Scop
from polyc.poly import greatest_of, least_of, project
from polyc.records import dataclass

PARAM, SET = isl.dim_type.param, isl.dim_type.set
SCAN = 24
MOST_TRIED = 400
"""Values of sizes that are tried until those that are made of them fit."""


class NoSize(Exception):
    """A size is made of what is no other size; the message is its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The parameters that are expressions of others: `n * m`, `n >> level`, `s > 0 ? n / s : 0`."""

    names: tuple[str, ...]
    """Of all parameters."""
    by_text: Mapping[c.Expr, str]
    """Of the others."""
    made: Mapping[str, c.Expr]
    ranges: Mapping[str, range]
    """The values that the types of these have."""

    def of(self, values: Mapping[str, int]) -> dict[str, int] | None:
        """The values with what is made of them; None where a program could not compute it."""
        found = dict(values)
        for name, expr in self.made.items():
            value = self.value(expr, values)
            if value is None or value not in self.ranges[name]:
                return None
            found[name] = value
        return found

    def value(self, expr: c.Expr, values: Mapping[str, int]) -> int | None:
        """Of an expression of sizes, as C computes it."""
        if expr in self.by_text:
            return values[self.by_text[expr]]
        match expr:
            case c.Literal(text=text):
                return literal_value(text)
            case c.Cast(operand=operand):
                return self.value(operand, values)
            case c.Unary(op="-" | "~" as op, operand=operand):
                value = self.value(operand, values)
                return None if value is None else -value if op == "-" else ~value
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                asked = self.value(condition, values)
                return None if asked is None else self.value(then if asked else otherwise, values)
            case c.Binary(op=op, left=left, right=right):
                one, other = self.value(left, values), self.value(right, values)
                return None if one is None or other is None else evaluated(op, one, other)
        return None

    def near(self, allowed: isl.Set, values: dict[str, int]) -> dict[str, int] | None:
        """Values that are allowed, close to some that need not go together; None where none was found."""
        if not self.made:
            return values
        used = {name for expr in self.made.values() for name in self.sizes_in(expr)}
        for tried in islice(self.candidates(values, sorted(used)), MOST_TRIED):
            found = self.of(tried)
            if found is not None and has(allowed, tuple(found[name] for name in self.names)):
                return found
        return None

    def sizes_in(self, expr: c.Expr) -> set[str]:
        return {name for part in c.walk(expr) if (name := self.by_text.get(part)) is not None}  # type: ignore[arg-type]

    def candidates(self, values: dict[str, int], used: list[str]) -> Iterator[dict[str, int]]:
        """First those with small divisors, so that quotients are no zeros; then the values; then those with which the
        quotients are what they are to be; then others."""
        nodes = [node for expr in self.made.values() for node in c.walk(expr) if isinstance(node, c.Binary)]
        small = {n for node in nodes if node.op in ("/", "%", "<<", ">>") for n in self.sizes_in(node.right)}
        yield {**values, **{name: 2 + values[name] % 3 for name in small}}
        yield values
        wholes = dict(values)
        for name, expr in self.made.items():
            match expr:
                case (
                    c.Binary(op="/", left=left, right=right) | c.Ternary(then=c.Binary(op="/", left=left, right=right))
                ):
                    if left in self.by_text and right in self.by_text:
                        wholes[self.by_text[left]] = values[name] * wholes[self.by_text[right]]
        yield wholes
        few = 9 if len(used) <= 3 else 3 if len(used) <= 6 else 1  # of all together a few hundred
        choices = [tuple(dict.fromkeys((values[n], 2, 1, 4, 3, 4 * values[n], 8, 16, 0)))[:few] for n in used]
        for several in sorted(product(*(range(len(one)) for one in choices)), key=sum):
            yield {**values, **{n: choices[k][which] for k, (n, which) in enumerate(zip(used, several, strict=True))}}


def made_of(scop: Scop) -> Made:
    """The parameters of a region that are made of others. Raises NoSize."""
    made = {
        p.name: p.expr
        for p in scop.parameters
        if isinstance(p.expr, c.Binary | c.Ternary | c.Unary) and not p.is_answer and not is_place(p.expr)
    }
    by_text = {p.expr: p.name for p in scop.parameters if p.name not in made and not p.is_answer}
    for name, expr in made.items():
        if any(part not in by_text and isinstance(part, c.Name | c.Call) for part in _parts(expr, by_text)):
            raise NoSize(name)
    ranges = {p.name: range_of(p.type) for p in scop.parameters if p.name in made}
    return Made(tuple(p.name for p in scop.parameters), by_text, made, ranges)


def range_of(type_: CType) -> range:
    """The values of an integer type."""
    bits = 8 * type_.size_bytes
    return range(-(1 << (bits - 1)), 1 << (bits - 1)) if type_.signed else range(1 << bits)


def is_place(expr: c.Expr) -> bool:
    """Whether it is `*p`."""
    return isinstance(expr, c.Unary) and expr.op == "*"


def _parts(expr: c.Expr, known: Mapping[c.Expr, str]) -> Iterator[c.Expr]:
    yield expr
    if expr not in known:
        for child in c.children(expr):
            yield from _parts(child, known)  # type: ignore[arg-type]


def has(allowed: isl.Set, values: tuple[int, ...]) -> bool:
    """Whether a set of values has these."""
    for position, value in enumerate(values):
        allowed = allowed.fix_val(SET, position, isl.Val.int_from_si(allowed.get_ctx(), value))
    return not allowed.is_empty()


@dataclass(frozen=True, slots=True, eq=False)
class Feasible:
    """Which values of the parameters may be run."""

    names: tuple[str, ...]
    allowed: isl.Set
    """`{ [n, m] : … }`, one dimension a parameter: promises hold, arrays are not empty."""
    busy: isl.Set
    """The part of `allowed` for which every statement runs, whatever comparisons answer."""
    answers: tuple[str, ...] = ()
    """The parameters that answer comparisons, 0 or 1."""
    made: Made | None = None


def feasible(scop: Scop) -> Feasible:
    """Collect the conditions of a region on its parameters."""
    allowed = with_memory(scop.context.params(), scop).intersect(scop.guard.params())
    for array in scop.arrays.values():
        for extent in array.extents:
            if extent is not None:
                allowed = allowed.intersect(on_parameters(extent).pos_set().params())
    for statement in scop.statements.values():
        for access in statement.accesses:
            if access.exact:
                outside = access.relation.range().subtract(
                    elements(scop.arrays[access.array], access.relation.range().get_space())
                )
                allowed = allowed.subtract(outside.params()).coalesce()
    busy = allowed
    answers = tuple(parameter.name for parameter in scop.parameters if parameter.is_answer)
    for statement in scop.statements.values():
        running = busy.intersect(project(statement.domain.params(), answers))
        busy = busy if running.is_empty() else running
    names = tuple(parameter.name for parameter in scop.parameters)
    try:
        made = made_of(scop)
    except NoSize:
        made = None
    return Feasible(names, as_dimensions(allowed, names), as_dimensions(busy, names), answers, made)


def with_memory(allowed: isl.Set, scop: Scop) -> isl.Set:
    """The values with which each pointer leads somewhere, as those of a run do."""
    for parameter in scop.parameters:
        if parameter.is_about_pointer:
            allowed = allowed.intersect(fixed({parameter.name: 1}))
    return allowed


def as_dimensions(values: isl.Set, names: tuple[str, ...]) -> isl.Set:
    """A set of parameters' values with the parameters as its dimensions, in the order of `names`."""
    space = isl.Space.params_alloc(values.get_ctx(), len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(PARAM, position, name)
    values = values.align_params(space)
    for position in reversed(range(values.dim(PARAM))):
        if values.get_dim_name(PARAM, position) not in names:
            values = values.project_out(PARAM, position, 1)
    return isl.Set.from_params(values).move_dims(SET, 0, PARAM, 0, len(names))


def near(found: Feasible, size: int) -> dict[str, int] | None:
    """Parameter values around `size`, all different where they may be; None where nothing is allowed."""
    for space in (found.busy, found.allowed):
        if not space.is_empty():
            values = chosen(space, found, size)
            fitting = values if found.made is None else found.made.near(space, values)
            if fitting is not None:
                return fitting
    return None


def chosen(space: isl.Set, found: Feasible, size: int) -> dict[str, int]:
    """Fix one parameter after the other as close to what is wanted as the others leave room for. Answers are bits of
    the size, so that each of them is no and yes."""
    values: dict[str, int] = {}
    for position, name in enumerate(found.names):
        wanted = (size, size + 1, size // 2 + 1, size // 3 + 1)[position % 4]  # windows come after what they slide over
        wanted = size >> found.answers.index(name) & 1 if name in found.answers else wanted
        value = closest(space, position, wanted)
        space = space.fix_val(SET, position, isl.Val.int_from_si(space.get_ctx(), value))
        values[name] = value
    return values


def closest(space: isl.Set, position: int, wanted: int) -> int:
    low, high = least_of(space, position), greatest_of(space, position)
    if low.is_int():
        wanted = max(wanted, low.to_python())
    if high.is_int():
        wanted = min(wanted, high.to_python())
    context = space.get_ctx()
    for distance in range(SCAN):
        for value in dict.fromkeys((wanted + distance, wanted - distance)):
            if not space.fix_val(SET, position, isl.Val.int_from_si(context, value)).is_empty():
                return value
    point = space.sample_point()
    return int(point.get_coordinate_val(SET, position).to_python())


def fixed(values: dict[str, int]) -> isl.Set:
    """`[n] -> { : n = 5 }`."""
    conditions = " and ".join(f"{name} = {value}" for name, value in values.items())
    return isl.Set(f"[{', '.join(values)}] -> {{ : {conditions} }}" if values else "{ : }")


def bounds(piece: isl.Set, position: int) -> tuple[int, int] | None:
    """Least and greatest value of a dimension of a set without parameters; None where there is none."""
    if piece.is_empty():
        return None
    low, high = least_of(piece, position), greatest_of(piece, position)
    return (low.to_python(), high.to_python()) if low.is_int() and high.is_int() else None
