"""Loops over all elements of an image at once, beside loops over its rows.

rewrite:  for (p = 0; p < w * h; p++) u[p] = v[p];
          ->
          for (y = 0; y < h; y++) for (x = 0; x < w; x++) u[y * w + x] = v[y * w + x];
          of u[base + p], with a base that p does not move, too
requires: another reference of the region to one of these arrays has the stride w; nobody else reads p
ensures:  the same iterations in the same order where w is no negative number, which is assumed; and where a size that
          is declared as a product still is that product
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycparser import c_ast

from polyc.analysis.expressions.facts import assigned_scalars, has_jump, induction, mentions, writes
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.turns import is_read_outside
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace


@dataclass(slots=True)
class Rows:
    """The region with loops over rows, and what has to hold for them."""

    scope: Scope
    body: c.Block
    is_own: Callable[[Symbol], bool]
    """Whether nobody but the region knows the values of a local variable."""
    lengths: list[c.Expr] = field(default_factory=list)
    """Of rows: they are assumed to be 0 or more."""
    products: dict[str, c.Expr] = field(default_factory=dict)
    """Sizes that are taken for products of others, by key."""
    written_products: list[c.Expr] = field(default_factory=list)
    """Products of sizes, which are assumed not to wrap."""
    strides: dict[str, set[str]] = field(init=False)
    """The sizes by which variables of loops are multiplied in the subscripts of each array."""
    apart: set[tuple[str, str]] = field(init=False)
    """Arrays and those of these sizes at which loops end, and which neighbouring rows are apart."""
    written: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.strides, self.apart, self.written = {}, set(), writes(self.body)
        heads = [induction(node) for node in c.walk(self.body) if isinstance(node, c.For)]
        counters = {head.key for head in heads if head is not None}
        conditions = [node.condition for node in c.walk(self.body) if isinstance(node, c.For)]
        ends = {one.right.name for one in conditions if isinstance(one, c.Binary) and isinstance(one.right, c.Name)}
        for node in c.walk(self.body):
            if isinstance(node, c.Subscript) and isinstance(node.base, c.Name):
                products = [part for part in c.walk(node.index) if isinstance(part, c.Binary) and part.op == "*"]
                sides = [pair for one in products for pair in ((one.left, one.right), (one.right, one.left))]
                named = {side.name for side, other in sides if isinstance(side, c.Name) and mentions(other) & counters}
                self.strides.setdefault(node.base.name, set()).update(named - self.written - counters)
                self.apart |= {(node.base.name, name) for name in ends & set(_row_lengths(node.index))}
        if any(self.strides.values()):
            self.body = c.rewrite(self.body, self.parted)

    def parted(self, node: c.Node) -> c.Node | None:
        """Such a loop as two."""
        head = induction(node) if isinstance(node, c.For) else None
        if not isinstance(node, c.For) or head is None or head.step != 1:
            return None
        own = head.declared or self.is_own(self.scope.symbols[head.key])
        if not own or (not head.declared and is_read_outside(self.body, head.key)):
            return None
        if head.start != c.Literal("0") or has_jump(node.body) or head.key in assigned_scalars(node.body):
            return None
        match node.condition:
            case c.Binary(op="<", left=c.Name(name=name), right=bound) if name == head.key:
                sides = self.factors(bound)
            case _:
                return None
        if sides is None:
            return None
        plane = all(mentions(side) for side in sides)  # of 4 * h elements, 4 parts of a row may be meant
        flat = [n for n in c.walk(node.body) if isinstance(n, c.Subscript) and _moves_by_one(n.index, head.key)]
        known = {
            row
            for n in flat
            if isinstance(n.base, c.Name)
            for row in self.strides.get(n.base.name, ())
            if n.index == c.Name(head.key) or (plane and (n.base.name, row) in self.apart)
        }
        for length, count in (sides, sides[::-1]):
            if isinstance(length, c.Name) and length.name in known:
                if isinstance(bound, c.Name):
                    self.products[bound.name] = c.Binary("*", *sides)
                else:
                    self.written_products.append(bound)
                self.lengths.append(length)
                return self.rows(node, head.key, length, count)
        return None

    def factors(self, bound: c.Expr) -> tuple[c.Expr, c.Expr] | None:
        """What a bound is the product of: two sizes."""
        match bound:
            case c.Cast(operand=inner):
                return self.factors(inner)
            case c.Binary(op="*", left=left, right=right):
                sides = self.size(left), self.size(right)
                return None if None in sides else sides  # type: ignore[return-value]
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                init = symbol.node.init if symbol is not None and symbol.node is not None else None
                if symbol is None or symbol.storage is not Storage.LOCAL or name in self.written:
                    return None
                if not isinstance(init, c_ast.BinaryOp) or init.op != "*":
                    return None
                sides = self.named(init.left), self.named(init.right)
                return None if None in sides else sides  # type: ignore[return-value]
        return None

    def size(self, node: c.Expr) -> c.Expr | None:
        """A size that the region does not write, or a sum with one."""
        while isinstance(node, c.Cast):
            node = node.operand
        names = mentions(node)
        plain = all(isinstance(n, c.Name | c.Literal | c.Binary) for n in c.walk(node))
        sizes = all((s := self.scope.symbols.get(name)) is not None and s.is_integer and not s.rank for name in names)
        return node if plain and sizes and not names & self.written else None

    def named(self, node: c_ast.Node) -> c.Expr | None:
        symbol = self.scope.find(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self.size(c.Name(symbol.key))

    def rows(self, node: c.For, key: str, length: c.Expr, count: c.Expr) -> c.For:
        symbol = self.scope.symbols[key]
        row, place = (self.scope.like(symbol, f"{symbol.c_name}_{what}") for what in ("row", "in_row"))
        here = c.Binary("+", c.Binary("*", c.Name(row.key), length), c.Name(place.key))
        body = c.rewrite(c.rewrite(node.body, self.parted), lambda n: here if n == c.Name(key) else None)
        inner = _loop(place, length, body, node)
        return _loop(row, count, inner, node)


def _row_lengths(index: c.Expr) -> Iterator[str]:
    """The sizes by which the terms of a subscript are multiplied last."""
    match index:
        case c.Binary(op="+" | "-", left=left, right=right):
            yield from _row_lengths(left)
            yield from _row_lengths(right)
        case c.Binary(op="*", right=c.Name(name=name)) | c.Binary(op="*", left=c.Name(name=name)):
            yield name
        case c.Cast(operand=inner):
            yield from _row_lengths(inner)


def _moves_by_one(index: c.Expr, key: str) -> bool:
    """Whether a subscript is a loop's variable, with something added that it does not move."""
    match index:
        case c.Binary(op="+", left=left, right=right) if key not in mentions(left):
            return _moves_by_one(right, key)
        case c.Binary(op="+", left=left, right=right) if key not in mentions(right):
            return _moves_by_one(left, key)
        case c.Cast(operand=inner):
            return _moves_by_one(inner, key)
    return index == c.Name(key)


def _loop(counter: Symbol, end: c.Expr, body: c.Stmt, node: c.For) -> c.For:
    name = c.Name(counter.key, node.span)
    start = c.Decl(counter.shape.element.text, counter.key, (), c.Literal("0"), node.span)
    return replace(node, init=start, condition=c.Binary("<", name, end), step=c.Postfix("++", name), body=body)


__all__ = ["Rows"]
