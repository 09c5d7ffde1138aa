"""Sums that variables are equal to: an array and offsets for a pointer, a value and what was added to it for a number.

Offsets are added in 64 bits, as C adds them to a pointer. So no sum overflows that did not in the region.
"""

from __future__ import annotations

from collections.abc import Iterable

from polyc.analysis.expressions.facts import assigned_scalars, base_key, mentions, writes
from polyc.analysis.expressions.facts import constant as constant_value
from polyc.errors import Span
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.helpers import Unclear, converted, is_same_array, shape_of, type_of
from polyc.model import ctree as c
from polyc.records import dataclass, replace

LARGEST = 64
"""Nodes of a value that is put in the place of a use."""
ZERO = c.Literal("0")


def constant(expr: c.Expr) -> int | None:
    """The value of a number that is written as one, without a conversion."""
    return None if isinstance(expr, c.Cast) else constant_value(expr)


class Excluded(Exception):
    """A variable has to stay as it is, by its key."""


@dataclass(frozen=True, slots=True)
class Sum:
    """What a variable is equal to."""

    base: c.Expr
    """For a pointer: a name, a row `a[i]`, or an array in a struct, `a[i].u`."""
    added: tuple[c.Expr, ...] = ()

    def plus(self, *more: c.Expr) -> Sum:
        return Sum(self.base, tuple(part for part in (*self.added, *more) if constant(part) != 0))

    @property
    def names(self) -> set[str]:
        return {name for part in (self.base, *self.added) for name in mentions(part)}

    def is_kept(self, changes: Changes) -> bool:
        """Whether it is the same after some changes: those of an array's elements do not move the array."""
        base, root = self.base, base_key(self.base)
        inside: list[c.Expr] = list(self.added)
        while isinstance(base, c.Subscript | c.Member):
            inside += [base.index] if isinstance(base, c.Subscript) else []
            base = base.base
        if not isinstance(base, c.Name):
            inside.append(base)
        return root not in changes.whole and not any(mentions(part) & changes.all for part in inside)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a part of the region writes."""

    all: frozenset[str]
    whole: frozenset[str]
    """Variables, and no elements of arrays."""

    def without(self, names: set[str]) -> Changes:
        return Changes(self.all - names, self.whole - names)


def changes_of(parts: Iterable[c.Node]) -> Changes:
    whole: set[str] = set()
    written: set[str] = set()
    for part in parts:
        whole |= assigned_scalars(part) | {item.name for item in c.walk(part) if isinstance(item, c.Decl)}
        written |= writes(part)
    return Changes(frozenset(whole | written), frozenset(whole))


State = dict[str, Sum | None]
"""What variables are equal to; None: unknown. Those that are missing have the values that they had before."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values at one place. All methods raise Excluded where one is used that is not known."""

    scope: Scope
    chosen: set[str]
    state: State

    def of(self, node: c.N) -> c.N:
        """A tree with the values of variables."""
        return c.rewrite(node, self.change) if mentions(node) & self.chosen else node

    def change(self, node: c.Node) -> c.Node | None:
        match node:
            case c.Name(name=name) if name in self.chosen:
                return self.use(node, False)
            case c.Subscript(base=base, index=index, span=span):
                if self.is_moved(base):
                    place = self.known_place(base)
                    return c.Subscript(place.base, self.total((*place.added, self.index(index)), span), span)
                return c.Subscript(self.of(base), self.index(index), span)
            case c.Unary(op="*", operand=base, span=span) if self.is_moved(base):
                return self.element(base, span)
            case c.Binary(op="-" | "<" | "<=" | ">" | ">=" | "==" | "!=", left=left, right=right) if (
                self.rank(left) == 1 and self.rank(right) == 1 and (self.is_moved(left) or self.is_moved(right))
            ):
                return self.compared(node)
            case c.Member(base=base, field=field, arrow=True, span=span) if self.is_moved(base):
                return c.Member(self.element(base, span), field, False, span)
            case c.SizeOf(text=text):
                for key in self.chosen:
                    if self.scope.symbols[key].c_name in text:
                        raise Excluded(key)
        return None

    def is_moved(self, expr: c.Expr) -> bool:
        """Whether a pointer is made of one that has another name, or an offset; no member of what that leads to."""
        key = base_key(expr)
        return key is not None and key in self.state and self.scope.symbols[key].rank > 0 and self.rank(expr) > 0

    def element(self, base: c.Expr, span: Span | None) -> c.Expr:
        place = self.known_place(base)
        return c.Subscript(place.base, self.total(place.added, span), span)

    def compared(self, node: c.Binary) -> c.Expr | None:
        """A difference or a comparison of two pointers into one array as one of their offsets."""
        one, other = self.known_place(node.left), self.known_place(node.right)
        if one.base != other.base:
            return None
        first, second = map(self.total, without_common(one.added, other.added))
        if node.op == "-":
            return c.placed(difference(self.long(first), second), node.span)
        return replace(node, left=self.long(first), right=self.long(second))

    def known_place(self, expr: c.Expr) -> Sum:
        """Where a pointer points to that is made of one that is followed."""
        try:
            return self.place(expr)
        except Unclear:
            raise Excluded(base_key(expr)) from None

    def place(self, expr: c.Expr) -> Sum:
        """Where a pointer points to. Raises Unclear."""
        match expr:
            case c.Name(name=name) if name in self.state:
                found = self.state[name]
                if found is None:
                    raise Excluded(name)
                return found
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                if symbol is not None and symbol.rank:
                    return Sum(expr)
            case c.Binary(op="+" | "-" as op, left=left, right=right, span=span):
                if op == "+" and self.rank(left) == 0:
                    left, right = right, left
                amount = self.index(right)
                wide = type_of(amount, self.scope)
                if wide is not None and wide.kind == "int":
                    return self.place(left).plus(amount if op == "+" else c.Unary("-", long(amount), span))
            case c.Unary(op="&", operand=c.Subscript(base=base, index=index)):
                return self.place(base).plus(self.index(index))
            case c.Unary(op="&", operand=c.Unary(op="*", operand=base)):
                return self.place(base)
            case c.Subscript(base=base, index=index, span=span) if self.rank(expr) > 0:
                found = self.place(base)
                return Sum(c.Subscript(found.base, self.total((*found.added, self.index(index)), span), span))
            case c.Unary(op="*", operand=inner, span=span) if self.rank(expr) > 0:
                found = self.place(inner)
                return Sum(c.Subscript(found.base, self.total(found.added, span), span))
            case c.Member(base=base, field=field, arrow=arrow, span=span) if self.rank(expr) > 0:
                if arrow and self.is_moved(base):
                    return Sum(c.Member(self.element(base, span), field, False, span))
                return Sum(replace(expr, base=self.of(base)))
            case c.Cast(type=text, operand=inner):
                found = self.place(inner)
                key = base_key(found.base)
                element = self.scope.symbols[key].shape.element.text if key is not None else ""
                if text.replace(" ", "") == element.replace(" ", "") + "*" * self.rank(found.base):
                    return found
        raise Unclear

    def rank(self, expr: c.Expr) -> int:
        """How many dimensions an expression has that is a place; 0 for a value."""
        match expr:
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                return symbol.rank if symbol is not None else 0
            case c.Subscript(base=base) | c.Unary(op="*", operand=base):
                return max(0, self.rank(base) - 1)
            case c.Member():
                shape = shape_of(expr, self.scope)
                return len(shape.dims) if shape is not None else 0
            case c.Unary(op="&", operand=inner):
                return self.rank(inner) + 1
            case c.Binary(op="+" | "-", left=left, right=right):
                return max(self.rank(left), self.rank(right))
            case c.Cast(operand=inner):
                return self.rank(inner)
        return 0

    def pointer(self, symbol: Symbol, value: c.Expr) -> Sum:
        """What a pointer is given. Raises Unclear where its elements are none of one array of the same type."""
        found = self.place(value)
        if not is_same_array(found.base, symbol.shape, self.scope, own=True):
            raise Unclear
        return found

    # --- numbers

    def index(self, expr: c.Expr) -> c.Expr:
        """An offset: sums of 64 bits are as good as those of int, which do not overflow."""
        if not mentions(expr) & self.chosen:
            return expr
        wide = all(self.is_plain(node) for node in c.walk(expr))

        def change(node: c.Node) -> c.Node | None:
            if wide and isinstance(node, c.Name) and node.name in self.chosen:
                return self.use(node, True)
            return None if wide else self.change(node)

        return c.rewrite(expr, change)

    def is_plain(self, node: c.Node) -> bool:
        match node:
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                element = symbol.shape.element if symbol is not None else None
                return element is None or (
                    symbol is not None and symbol.is_integer and (element.signed or element.size_bytes == 8)
                )
            case c.Literal(text=text):
                return text.isdigit()
        return isinstance(node, c.Binary) and node.op in "+-*"

    def use(self, node: c.Name, wide: bool) -> c.Expr:
        """The value of a variable; `wide`: in 64 bits."""
        if node.name not in self.state:
            return node
        found, symbol = self.state[node.name], self.scope.symbols[node.name]
        if found is None:
            raise Excluded(node.name)
        if symbol.rank:
            return c.Binary("+", found.base, self.total(found.added, node.span), node.span)
        element = symbol.shape.element
        whole = self.total((found.base, *found.added), node.span) if found.added else c.placed(found.base, node.span)
        if sum(1 for _ in c.walk(whole)) > LARGEST:
            raise Excluded(node.name)
        type_ = type_of(whole, self.scope)
        if wide and (element.signed or element.size_bytes == 8) and type_ is not None and type_.signed:
            return whole
        try:
            return converted(whole, element, type_)
        except Unclear:
            raise Excluded(node.name) from None

    def total(self, parts: tuple[c.Expr, ...], span: Span | None = None) -> c.Expr:
        """The sum of some numbers, in 64 bits where there are several."""
        plain = sum(value for part in parts if (value := constant(part)) is not None)
        others = [part for part in parts if constant(part) is None]
        if not others:
            return c.placed(literal(plain), span)
        if len(others) == 1 and not plain:
            return c.placed(others[0], span)
        found = self.long(others[0])
        for part in others[1:]:
            match part:
                case c.Unary(op="-", operand=inner):
                    found = c.Binary("-", found, self.signed(inner), span)
                case _:
                    found = c.Binary("+", found, self.signed(part), span)
        if plain:
            found = c.Binary("+" if plain > 0 else "-", found, c.Literal(str(abs(plain)), span), span)
        return c.placed(found, span)

    def long(self, expr: c.Expr) -> c.Expr:
        """A number in 64 bits."""
        type_ = type_of(expr, self.scope)
        known = type_ is not None and type_.kind == "int" and type_.size_bytes == 8 and type_.signed
        return expr if known else long(expr)

    def signed(self, expr: c.Expr) -> c.Expr:
        """A number that a sum of 64 bits can take as it is."""
        type_ = type_of(expr, self.scope)
        known = type_ is not None and type_.kind == "int" and type_.signed and type_.size_bytes >= 4
        return expr if known else long(expr)


def without_common(one: tuple[c.Expr, ...], other: tuple[c.Expr, ...]) -> tuple[tuple[c.Expr, ...], tuple[c.Expr, ...]]:
    """The parts of two sums without those that are in both."""
    first, second = list(one), list(other)
    for part in one:
        if part in second:
            first.remove(part)
            second.remove(part)
    return tuple(first), tuple(second)


def long(expr: c.Expr) -> c.Expr:
    return c.Cast("long", expr, expr.span)


# --- loops


@dataclass(frozen=True, slots=True)
class Trips:
    """How often a loop runs."""

    before: c.Expr
    """How far its variable is from where it started."""
    step: int
    """By how much it moves in an iteration."""
    count: c.Expr
    """Iterations; none where that would be less than none."""
    positive: c.Expr
    """The same where there is one."""

    @property
    def some(self) -> bool:
        """Whether there is an iteration in any case."""
        return bool(constant(self.count))

    def times(self, part: c.Expr) -> c.Expr:
        """What there is of something that is added in each iteration, when an iteration begins."""
        amount = constant(part)
        if amount is not None and amount % self.step == 0:
            return product(literal(amount // self.step), self.before)
        before = self.before if self.step == 1 else c.Binary("/", self.before, c.Literal(str(self.step)))
        return product(part, before)

    def whole(self, part: c.Expr) -> c.Expr:
        """What there is of it behind the loop."""
        return product(part, self.count)

    def inside(self, value: Sum) -> Sum:
        """A value in an iteration: there is one."""
        if not isinstance(self.count, c.Ternary):
            return value

        def change(node: c.Node) -> c.Node | None:
            return self.positive if node == self.count else None

        return Sum(c.rewrite(value.base, change), tuple(c.rewrite(part, change) for part in value.added))


def product(one: c.Expr, other: c.Expr) -> c.Expr:
    """A product in 64 bits."""
    first, second = constant(one), constant(other)
    if first is not None and second is not None:
        return literal(first * second)
    if 0 in (first, second):
        return ZERO
    if first == 1:
        return other
    if second == 1:
        return one
    return c.Binary("*", long(other), one)


def literal(value: int) -> c.Expr:
    return c.Literal(str(value)) if value >= 0 else c.Unary("-", c.Literal(str(-value)))


def trips(start: c.Expr, op: str, bound: c.Expr, step: int, key: str) -> Trips | None:
    """Of `for (key = start; key op bound; key += step)`; None where the step leads away from the bound."""
    up = step > 0
    if op not in (("<", "<=") if up else (">", ">=")) and not (op == "!=" and abs(step) == 1):
        return None
    low, high = (start, bound) if up else (bound, start)
    here: c.Expr = c.Name(key)
    before = difference(here, start) if up else difference(start, here)
    distance = difference(high, low)
    test = c.Binary(">", high, low)
    if op in ("<=", ">="):  # `m - 2 >= 0` says nothing where there is no sign
        distance = c.Binary("+", distance, c.Literal("1"))
        test = c.Binary(">", distance, ZERO)
    if abs(step) > 1:
        distance = c.Binary(
            "/", c.Binary("+", long(distance), c.Literal(str(abs(step) - 1))), c.Literal(str(abs(step)))
        )
    known = constant(distance)
    if known is not None:
        count: c.Expr = c.Literal(str(max(known, 0)))
        return Trips(before, abs(step), count, count)
    return Trips(before, abs(step), c.Ternary(test, distance, ZERO), distance)


def iterations_before(start: c.Expr, step: int, key: str) -> Trips:
    """What is known while a loop runs of which nobody knows how often it does: how far its variable is."""
    here: c.Expr = c.Name(key)
    return Trips(difference(here, start) if step > 0 else difference(start, here), abs(step), ZERO, ZERO)


def difference(one: c.Expr, other: c.Expr) -> c.Expr:
    if constant(other) == 0:
        return one
    first, second = constant(one), constant(other)
    if first is not None and second is not None:
        return literal(first - second)
    return c.Binary("-", long(one), other)
