"""Loops in steps of a size, `for (i = 0; i < n; i += s)`, as loops that count their turns.

rewrite:  for (i = a; i < b; i += s) S(i)  ->  if (a < b) for (i = 0; i <= (b - a - 1) / s; i++) S(a + i * s)
          for (i = a; i < n * s; i += s) S(i)  ->  if (s > 0) for (i = 0; i < n; i++) S(a + i * s)
                                           where a is 0, or counts the turns of `for (a = 0; a < s; a++)` around it
requires: a, b and s are sizes that the region does not change; nobody else reads i
          What is asserted of i is asserted of a, or of b - 1
assumes:  s > 0 (the quotient is a parameter, and its divisor is asked about: `Affine.invariant`)

With a row of s elements for each turn, `x[i + j]` is an element of `x[][s]` (`sets/delinear.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from polyc.analysis.expressions.facts import assigned_scalars, constant, induction, mentions, with_value, writes
from polyc.analysis.expressions.linear import linear
from polyc.frontend.c.ctype import is_narrower
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.text.asserts import ASSERTED
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.records import dataclass, replace

_ZERO = c.Literal("0")


def with_rolled_loops(body: c.Block, scope: Scope) -> c.Block:
    """The region with loops that were unrolled by hand as they were before; itself where it has none.

    rewrite:  for (k = a; k < b; k += 4) { S(k); S(k + 1); S(k + 2); S(k + 3); }  ->  for (k = a; k < b; k++) S(k)
    requires: a and b are numbers, 4 divides b - a, and S does not change k
    """
    numbers = {
        name: c.Literal(str(value))
        for name, value in scope.types.constants.items()
        if value >= 0 and name not in scope.symbols
    }

    def number(expr: c.Expr) -> int | None:
        return constant(c.rewrite(expr, lambda n: numbers.get(n.name) if isinstance(n, c.Name) else None))

    def change(node: c.Node) -> c.Node | None:
        head = induction(node) if isinstance(node, c.For) else None
        if head is None or not isinstance(node, c.For) or head.step < 2:
            return None
        match node.condition:
            case c.Binary(op="<", left=c.Name(name=key), right=right) if key == head.key:
                first, last = number(head.start), number(right)
            case _:
                return None
        items = c.items(node.body)
        if first is None or last is None or (last - first) % head.step or len(items) != head.step:
            return None
        if key in assigned_scalars(node.body) or not all(isinstance(item, c.ExprStmt) for item in items):
            return None
        turns = (_plain(with_value(items[0], key, _behind(key, k))) for k in range(1, head.step))
        if any(turn != _plain(item) for turn, item in zip(turns, items[1:], strict=True)):
            return None
        return replace(node, step=c.Postfix("++", c.Name(key)), body=c.Block(items[:1]))

    return c.rewrite(body, change)


def _behind(key: str, count: int) -> c.Expr:
    return c.Binary("+", c.Name(key), c.Literal(str(count)))


def _plain(item: c.Stmt) -> c.Stmt:
    """A statement whose subscripts are sums in one order of their terms."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Subscript):
            return None
        return replace(node, base=c.rewrite(node.base, change), index=linear(c.rewrite(node.index, change)).expr())

    return c.rewrite(item, change)


def with_turns(body: c.Block, scope: Scope, is_own: Callable[[Symbol], bool]) -> c.Block:
    """The region with such loops; itself where it has none."""
    return c.rewrite(body, _Turns(scope, body, frozenset(writes(body)), is_own).changed)


@dataclass(frozen=True, slots=True)
class _Turns:
    scope: Scope
    region: c.Block
    written: frozenset[str]
    is_own: Callable[[Symbol], bool]
    below: tuple[tuple[str, c.Expr], ...] = ()
    """Counters of loops around from 0 on, and their ends."""

    def changed(self, node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For):
            return None
        if (found := self.counted(node)) is None:
            inside = self.inside(node)
            return None if inside is self else replace(node, body=c.rewrite(node.body, inside.changed))
        condition, loop = found
        return c.If(condition, replace(loop, body=c.rewrite(loop.body, self.changed)), None, node.span)

    def inside(self, node: c.For) -> _Turns:
        """What is known in the body of a loop."""
        match node:
            case c.For(
                init=c.Decl(name=key, extents=(), init=start) | c.Assign(op="=", target=c.Name(name=key), value=start),
                condition=c.Binary(op="<", left=c.Name(name=compared), right=end),
                step=c.Postfix(op="++", operand=c.Name(name=stepped)) | c.Unary(op="++", operand=c.Name(name=stepped)),
            ) if start == _ZERO and key == compared == stepped and key not in assigned_scalars(node.body):
                return replace(self, below=(*self.below, (key, end)))
        return self

    def counted(self, node: c.For) -> tuple[c.Expr, c.For] | None:
        """When the loop has a turn, and the loop."""
        match node:
            case c.For(
                init=c.Decl(name=key, extents=(), init=start) | c.Assign(op="=", target=c.Name(name=key), value=start),
                condition=c.Binary(op="<" | "<=" as op, left=c.Name(name=compared), right=end),
                step=c.Assign(op="+=", target=c.Name(name=stepped), value=step),
            ) if start is not None and key == compared == stepped:
                pass
            case _:
                return None
        symbol = self.scope.symbols.get(key)
        if symbol is None or symbol.rank or not symbol.is_integer or key in assigned_scalars(node.body):
            return None
        declared = isinstance(node.init, c.Decl)
        if not declared and (not self.is_own(symbol) or is_read_outside(self.region, key)):
            return None
        turns = self.turns(start, end, step) if op == "<" else None
        parts = (end, step) if turns is not None else (start, end, step)
        if constant(step) is not None or not all(self.is_size(part, symbol) for part in parts):
            return None
        name = c.Name(key, node.span)
        length: c.Expr = end if start == _ZERO else c.Binary("-", end, start)
        last = c.Binary("/", length if op == "<=" else c.Binary("-", length, c.Literal("1")), step)
        offset = c.Binary("*", name, step)
        here = offset if start == _ZERO else c.Binary("+", start, offset)
        init: c.Decl | c.Expr = c.Assign("=", name, _ZERO)
        if isinstance(node.init, c.Decl):
            init = replace(node.init, init=_ZERO)
        ends = _Ends(key, start, c.Binary("-", end, c.Literal("1")) if op == "<" else end)
        body = c.rewrite(node.body, ends.asserted) if symbol.shape.element.signed else node.body
        body = c.rewrite(body, lambda inner: here if inner == c.Name(key) else None)
        condition = c.Binary("<=", name, last, node.span) if turns is None else c.Binary("<", name, turns, node.span)
        loop = c.For(init, condition, c.Postfix("++", name, node.span), body, span=node.span)
        runs = c.Binary(op, start, end, node.span) if turns is None else c.Binary(">", step, _ZERO, node.span)
        return runs, loop

    def turns(self, start: c.Expr, end: c.Expr, step: c.Expr) -> c.Expr | None:
        """How many turns a loop to a multiple of its step has, if it begins below the first one."""
        if start != _ZERO and not any(start == c.Name(key) and below == step for key, below in self.below):
            return None
        match end:
            case c.Binary(op="*", left=left, right=right) if step in (left, right):
                return left if right == step else right
        return None

    def is_size(self, expr: c.Expr, counter: Symbol) -> bool:
        """Whether it is a sum or product of constants and of numbers of the counter's type that stay."""
        match expr:
            case c.Literal():
                return (constant(expr) or 0) >= 0
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                if symbol is None:
                    return name in self.scope.types.constants
                plain = symbol.is_integer and symbol.storage is not Storage.REGION and not symbol.volatile
                return plain and name not in self.written and _is_kept(symbol.shape.element, counter.shape.element)
            case c.Binary(op="+" | "*", left=left, right=right):
                return self.is_size(left, counter) and self.is_size(right, counter)
        return False


@dataclass(frozen=True, slots=True)
class _Ends:
    """What is asserted of a counter, for all of its values: `i + 1 <= m` holds of each where it does of the last one.

    Of `i * s` nobody could tell. Where `last` is none of the values, more is asked than has to be.
    """

    key: str
    first: c.Expr
    last: c.Expr
    """No value is larger."""

    def asserted(self, node: c.Node) -> c.Node | None:
        match node:
            case c.Call(function=name, arguments=(condition, *rest)) if name == ASSERTED:
                others = (c.rewrite(one, self.asserted) for one in rest)
                return replace(node, arguments=(self.everywhere(condition), *others))
        return None

    def everywhere(self, condition: c.Expr) -> c.Expr:
        """A condition that holds only where the given one does of all values; the given one where none is known."""
        match condition:
            case c.Binary(op="&&" | "||", left=left, right=right):
                return replace(condition, left=self.everywhere(left), right=self.everywhere(right))
            case c.Binary(op="<" | "<=" | ">" | ">=" as op, left=left, right=right):
                less, more = (left, right) if op in ("<", "<=") else (right, left)
                if self.rises(less) and self.key not in mentions(more):
                    return self.at(condition, self.last)
                if self.rises(more) and self.key not in mentions(less):
                    return self.at(condition, self.first)
        return condition

    def rises(self, expr: c.Expr) -> bool:
        """Whether an expression is the counter, with something added to it or taken off."""
        match expr:
            case c.Binary(op="+", left=left, right=right) if self.key not in mentions(left):
                return self.rises(right)
            case c.Binary(op="+" | "-", left=left, right=right) if self.key not in mentions(right):
                return self.rises(left)
        return expr == c.Name(self.key)

    def at(self, condition: c.Expr, value: c.Expr) -> c.Expr:
        return c.rewrite(condition, lambda node: value if node == c.Name(self.key) else None)


def _is_kept(type_: CType, counter: CType) -> bool:
    """Whether the counter has each value of a type."""
    same = (type_.size_bytes, type_.signed) == (counter.size_bytes, counter.signed)
    return same or is_narrower(type_, counter)


def is_read_outside(node: c.Node, key: str) -> bool:
    """Whether a variable is mentioned outside of the loops that begin with it."""
    match node:
        case c.Name(name=name):
            return name == key
        case c.For(init=c.Decl(name=name, init=start) | c.Assign(op="=", target=c.Name(name=name), value=start)):
            if name == key:
                return start is not None and key in mentions(start)
    return any(is_read_outside(child, key) for child in c.children(node))


__all__ = ["with_rolled_loops", "with_turns"]
