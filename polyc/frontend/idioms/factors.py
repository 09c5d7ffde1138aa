"""Factors and steps that are arguments: `stride` of `x * stride`, `s->step` of `i += s->step`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import base_key, lvalues, mentions, writes
from polyc.frontend.c.ctype import INT
from polyc.frontend.c.symbols import Scope
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.records import dataclass, field

MOST_STEPS = 64
"""A larger number is the length of a row."""
MOST_TAPS = 16
"""Iterations of a loop inside of others that a C compiler may unroll."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A size that makes products of variables."""

    type: CType
    value: int | None
    """What each call of the file passes for it; None where that is not known."""
    strides: bool
    """Whether such a product is compared with something, or is a part of another product, `(y * stride + v) * w`: it is
    no place in an array's rows, of which the factor would be the length."""
    taps: bool
    """Whether loops inside of longer ones have so few iterations, `for (u = 0; u < window; u++)`."""
    calls: tuple[int, ...] = ()
    """What the calls pass, one after the other, where they pass several constants."""


def factors(
    body: c.Block,
    scope: Scope,
    values: Mapping[str, int | None],
    each: Mapping[str, tuple[int, ...]],
    member: Callable[[c.Member], CType | None],
) -> dict[c.Expr, Factor]:
    """Sizes by which subscripts, conditions and whole numbers of the region multiply its variables, in which its loops
    count, and that bound short loops; of those of which no value is known only such that bound nothing.

    values: by the names that the user gave them
    each: what the calls of the function pass for its parameters
    member: the type of a member that is a whole number and that the region does not change, `s->w`
    """
    finder = _Finder(scope, values, each, member, frozenset(writes(body)), copies(body))
    bounds = {side for node in c.walk(body) for side in compared(node, finder.changed)}
    for node in c.walk(body):
        finder.look(node)
    finder.look_for_taps(body, within=False)
    return {
        expr: Factor(type_, value, expr in finder.strides, expr in finder.taps, calls)
        for expr, (type_, value, calls) in finder.sizes.items()
        if value is not None or calls or expr not in bounds
    }


Size = tuple[CType, int | None, tuple[int, ...]]
"""Its type, what each call passes, and what the calls pass where that differs."""


@dataclass(slots=True)
class _Finder:
    scope: Scope
    values: Mapping[str, int | None]
    each: Mapping[str, tuple[int, ...]]
    member: Callable[[c.Member], CType | None]
    changed: frozenset[str]
    """The names that the region writes."""
    copies: Mapping[str, c.Name | c.Literal]
    sizes: dict[c.Expr, Size] = field(default_factory=dict)
    strides: set[c.Expr] = field(default_factory=set)
    taps: set[c.Expr] = field(default_factory=set)
    made: dict[str, set[c.Expr]] = field(default_factory=dict)
    """The factors that variables are made with."""

    def look(self, node: c.Node) -> None:
        """Note the factors of one node of the region; those of what stands in front of it are known."""
        match node:
            case c.Subscript(index=index):
                self.products(index)
                for part in parts_of_products(index):
                    self.strides |= self.products(part)
            case c.Ternary(condition=condition) | c.If(condition=condition):
                self.strides |= self.products(condition)
            case c.For(condition=condition, step=step):
                if condition is not None:
                    self.strides |= self.products(condition)
                if isinstance(step, c.Assign) and step.op in ("+=", "-=") and self.is_size(step.value):
                    self.strides.add(step.value)
            case c.Decl(name=name, init=value) if value is not None and is_whole(self.scope, name):
                self.made.setdefault(name, set()).update(self.products(value))
            case c.Assign(target=c.Name(name=name), value=value) if is_whole(self.scope, name):
                self.made.setdefault(name, set()).update(self.products(value))

    def look_for_taps(self, node: c.Node, within: bool) -> bool:
        """Note the bounds of short loops within longer ones. Answers whether no loop of the node is longer."""
        if not isinstance(node, c.For):
            none_longer = [self.look_for_taps(child, within) for child in c.children(node)]
            return all(none_longer)
        heads = [part for part in (node.init, node.condition) if part is not None]
        found = {one for part in heads for one in self.small(part)}
        parts = [self.copied(one) for part in heads for one in outside_subscripts(part)]
        known = self.changed | {one.name for one in found}
        numbers = [literal_value(one.text) or 0 for one in parts if isinstance(one, c.Literal)]
        short = max(numbers, default=0) <= MOST_TAPS
        short = short and all(one.name in known for one in parts if isinstance(one, c.Name))
        if self.look_for_taps(node.body, within or not short) and short:
            if within:
                self.taps |= {one for one in found if self.is_size(one)}
            return True
        return False

    def small(self, node: c.Node) -> Iterator[c.Name]:
        """The sizes in an expression of which every call passes a small number."""
        for part in outside_subscripts(node):
            one = self.copied(part)
            found = self.size(one) if isinstance(one, c.Name) else None
            if found is not None and max((found[1] or 0, *found[2])) in range(1, MOST_TAPS + 1):
                yield one  # type: ignore[misc]

    def copied(self, node: c.Node) -> c.Node:
        """What a variable of the region is a copy of."""
        return self.copies.get(node.name, node) if isinstance(node, c.Name) else node

    def products(self, node: c.Node) -> set[c.Expr]:
        """The sizes that variables are multiplied with in an expression, or in what its names are made of."""
        found: set[c.Expr] = set()
        for one in outside_subscripts(node):
            match one:
                case c.Binary(op="*", left=left, right=right):
                    sides = (left, right), (right, left)
                    found |= {one for one, other in sides if mentions(other) & self.changed and self.is_size(one)}
                case c.Name(name=name):
                    found |= self.made.get(name, set())
        return found

    def is_size(self, node: c.Expr) -> bool:
        """Whether an expression is a size that may be a stride; it is known then."""
        if node not in self.sizes and (found := self.size(node)) is not None:
            self.sizes[node] = found
        return node in self.sizes

    def size(self, node: c.Expr) -> Size | None:
        """What is known of a size; None where an expression is none, or no stride."""
        match node:
            case c.Member() if (type_ := self.member(node)) is not None:
                return type_, None, ()
            case c.Name(name=name) if name not in self.changed and is_whole(self.scope, name):
                symbol = self.scope.symbols[name]
                value = self.values.get(symbol.c_name)
                outside = symbol.key == symbol.c_name and symbol.storage is not Storage.REGION
                if outside and not symbol.constant and not symbol.volatile and 0 < (value or 1) <= MOST_STEPS:
                    calls = () if value is not None else self.each.get(symbol.c_name, ())
                    small = all(0 < one <= MOST_STEPS for one in calls)
                    return symbol.shape.element, value, calls if small else ()
        return None


def copies(body: c.Block) -> dict[str, c.Name | c.Literal]:
    """Variables of the region that are declared as copies of others, or as numbers, and never change: a function's
    parameters, where its body stands in the place of a call."""
    written = Counter(key for target in lvalues(body) if (key := base_key(target)) is not None)
    declared = [node for node in c.walk(body) if isinstance(node, c.Decl) and written[node.name] == 1]
    return {node.name: node.init for node in declared if isinstance(node.init, c.Name | c.Literal)}


def parts_of_products(node: c.Node) -> Iterator[c.Expr]:
    """The sums and products that products in an expression multiply by something else than a number: `y * stride + v`
    of `(y * stride + v) * w`."""
    for one in c.walk(node):
        match one:
            case c.Binary(op="*", left=left, right=right):
                for part, other in ((left, right), (right, left)):
                    if not isinstance(other, c.Literal) and any(isinstance(n, c.Binary) for n in c.walk(part)):
                        yield part


def outside_subscripts(node: c.Node) -> Iterator[c.Node]:
    """The parts of an expression but what chooses the elements that it reads."""
    yield node
    if not isinstance(node, c.Subscript):
        for child in c.children(node):
            yield from outside_subscripts(child)


def compared(node: c.Node, changed: Collection[str]) -> Iterator[c.Expr]:
    """The terms of what a comparison compares, and the factors of those that do not vary."""
    waiting = [node.left, node.right] if isinstance(node, c.Binary) and node.op in c.COMPARISONS else []
    while waiting:
        side = waiting.pop()
        yield side
        if isinstance(side, c.Binary) and (side.op in ("+", "-") or not mentions(side) & {*changed}):
            waiting += [side.left, side.right]


def is_whole(scope: Scope, name: str) -> bool:
    symbol = scope.symbols.get(name)
    return symbol is not None and symbol.is_integer and not symbol.rank


def with_numbers(body: c.Block, values: Mapping[c.Expr, tuple[int, CType]]) -> c.Block:
    """The region with numbers for sizes, in the types of these."""

    def number(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name | c.Member) or node not in values:
            return None
        value, type_ = values[node]
        text = c.Literal(str(value), node.span)
        return text if type_ == INT else c.Cast(type_.text, text, node.span)

    return c.rewrite(body, number) if values else body
