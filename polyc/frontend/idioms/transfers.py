"""Calls of `memset`, `memcpy` and `memmove`, and declarations with zeros, as the loops that they stand for.

rewrite:  memcpy(d + o, s, n * sizeof *d)  ->  for (long k = 0; k < n; k++) d[o + k] = s[k];
          memset(a, 0, sizeof a)           ->  for (long k = 0; k < 8; k++) for (long l = 0; l < 4; l++) a[k][l] = 0;
          double a[8][4] = {{0}};          ->  double a[8][4]; for (long k = 0; k < 8; k++) …
requires: what is copied has one type of number, or of struct of numbers, on both sides; the bytes are a product of
          sizes that C knows and of whole numbers; what `memset` sets is 0, or the same number in any element of that
          type (-1, or 127 in an int). The two objects of a `memmove` have different names

A call stays where one of these does not hold: then it may touch all of what it is given.
"""

from __future__ import annotations

from functools import reduce
from math import prod

from pycparser import c_ast

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import base_key, constant
from polyc.frontend.c.ctype import Shape, literal_of, member_of
from polyc.frontend.c.references import links
from polyc.frontend.c.symbols import Scope
from polyc.frontend.idioms.fixed import is_record
from polyc.frontend.idioms.helpers import is_same
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, replace

_PLAIN = "__builtin_"
_CALLS = frozenset(("memset", "memcpy", "memmove"))
_ZERO = c.Literal("0")
_COUNTER = "long"
FEW = 16
"""Elements up to which a declaration sets each by itself: as many accesses, of which all questions are asked."""


def with_transfers(body: c.Block, scope: Scope, own: frozenset[str]) -> c.Block:
    """The region with such loops; itself where it has no such call. `own`: functions of the file, whatever they do."""
    return c.rewrite(_Transfers(scope, own).zeroed(body), _Transfers(scope, own).changed)


def moved(body: c.Block) -> frozenset[str]:
    """The names that such calls mention: for C compilers, each of these is read."""
    calls = [node for node in c.walk(body) if isinstance(node, c.Call) and node.function.removeprefix(_PLAIN) in _CALLS]
    return frozenset(item.name for call in calls for item in c.walk(call) if isinstance(item, c.Name))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A piece of memory that begins at `base[offset]`."""

    base: c.Expr
    offset: c.Expr | None
    shape: Shape
    """Of the base: its first dimension is the one that the piece runs along."""

    @property
    def inner(self) -> tuple[int, ...] | None:
        """The sizes of the dimensions inside; None where they are not known."""
        sizes = [None if dim.pointer else dim.size for dim in self.shape.dims[1:]]
        return None if None in sizes else tuple(size for size in sizes if size is not None)

    def element(self, counters: tuple[c.Expr, ...], sizes: tuple[int, ...]) -> c.Expr:
        """That at the values of the loops, of which the inner ones have these sizes."""
        if len(self.shape.dims) == 1 and sizes:
            index = counters[0]
            for size, counter in zip(sizes, counters[1:], strict=True):
                index = c.Binary("+", c.Binary("*", index, c.Literal(str(size))), counter)
            counters = (index,)
        first = counters[0] if self.offset is None else c.Binary("+", self.offset, counters[0])
        found = self.base
        for index in (first, *counters[1:]):
            found = c.Subscript(found, index, self.base.span)
        return found


@dataclass(frozen=True, slots=True)
class _Transfers:
    scope: Scope
    own: frozenset[str]

    def zeroed(self, node: c.Block) -> c.Block:
        """A block whose large arrays get their zeros from loops."""
        items: list[c.Stmt] = []
        for item in node.body:
            if isinstance(item, c.Decl) and (loops := self.zeros(item)) is not None:
                items += [replace(item, init=None), loops]
            else:
                items.append(c.rewrite(item, lambda n: self.zeroed(n) if isinstance(n, c.Block) else None))
        same = len(items) == len(node.body) and all(a is b for a, b in zip(items, node.body, strict=True))
        return node if same else replace(node, body=tuple(items))

    def zeros(self, node: c.Decl) -> c.Stmt | None:
        """The loops for `= {0}`; None for other values, and for few elements."""
        symbol = self.scope.symbols.get(node.name)
        if symbol is None or symbol.constant or symbol.static or not _is_zero(node.init):
            return None
        if any(constant(extent) is None for extent in node.extents):
            return None
        to = self.piece(c.Name(node.name, node.span))
        size = symbol.shape.size_bytes
        if to is None or self.value(_ZERO, to.shape) is None or size <= FEW * replace(symbol.shape, dims=()).size_bytes:
            return None
        return self.loops(c.ExprStmt(c.Name(node.name), node.span), to, _ZERO, c.Literal(str(size)))

    def changed(self, node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ExprStmt):
            return None
        match node.expr:
            case c.Call() as call:
                pass
            case c.Cast(type="void", operand=c.Call() as call):
                pass
            case _:
                return None
        name = call.function.removeprefix(_PLAIN)
        if name not in _CALLS or call.function in self.own or len(call.arguments) != 3:
            return None
        target, given, length = call.arguments
        to = self.piece(target)
        if to is None:
            return None
        if name == "memset":
            value = self.value(given, to.shape)
            return None if value is None else self.loops(node, to, value, length)
        source = self.piece(given)
        if source is None or not self.is_alike(to.shape, source.shape):
            return None
        if name == "memmove" and base_key(to.base) == base_key(source.base):
            return None
        return self.loops(node, to, source, length)

    def loops(self, node: c.ExprStmt, to: _Piece, source: _Piece | c.Expr, length: c.Expr) -> c.Stmt | None:
        """The loops; None where the bytes are no number of elements, or leave a row."""
        both = [to, source] if isinstance(source, _Piece) else [to]
        factors = self.factors(length)
        ranks = {len(piece.shape.dims) for piece in both} - {1}
        widest = max(both, key=lambda piece: len(piece.shape.dims))
        sizes = widest.inner
        if factors is None or sizes is None or len(ranks) > 1 or any(p.inner not in (sizes, ()) for p in both):
            return None
        known, others = factors
        bytes_ = replace(to.shape, dims=()).size_bytes * prod(sizes)
        if not bytes_ or known % bytes_:
            return None
        times = known // bytes_
        parts: list[c.Expr] = [c.Literal(str(times))] if times != 1 or not others else []
        parts += [c.Cast(_COUNTER, other) if k == 0 else other for k, other in enumerate(others)]
        count = reduce(lambda left, right: c.Binary("*", left, right), parts)
        if not all(_stays(piece, None if others else times, sizes) for piece in both):
            return None
        counters = tuple(self.counter() for _ in (count, *sizes))
        value = source.element(counters, sizes) if isinstance(source, _Piece) else source
        found: c.Stmt = c.ExprStmt(c.Assign("=", to.element(counters, sizes), value, node.span), node.span)
        ends = (count, *(c.Literal(str(size)) for size in sizes))
        for depth in reversed(range(len(ends))):
            # Loops are told apart by their places.
            span = None if node.span is None else replace(node.span, column=node.span.column + depth)
            name = c.Name(counters[depth].name, span)
            start = c.Decl(_COUNTER, name.name, (), _ZERO, span)
            found = c.For(start, c.Binary("<", name, ends[depth]), c.Postfix("++", name), found, span=span)
        return found

    def counter(self) -> c.Name:
        kind = c_ast.TypeDecl("k", [], None, c_ast.IdentifierType([_COUNTER]))
        return c.Name(self.scope.fresh(c_ast.Decl("k", [], [], [], [], kind, None, None, None)).key)

    def factors(self, length: c.Expr) -> tuple[int, list[c.Expr]] | None:
        """The constant factor of a number of bytes, and the others; None where it is made of anything else."""
        match length:
            case c.SizeOf(text=text):
                size = self.scope.size_of(text)
                return None if size is None else (size, [])
            case c.Literal(text=text):
                number = literal_value(text)
                return None if number is None else (number, [])
            case c.Cast(type=text, operand=inner):
                kind = self.scope.types.named(text)
                return self.factors(inner) if kind is not None and kind.kind == "int" and kind.size_bytes == 8 else None
            case c.Binary(op="*", left=left, right=right):
                one, other = self.factors(left), self.factors(right)
                return None if one is None or other is None else (one[0] * other[0], [*one[1], *other[1]])
        return (1, [length]) if self.is_whole(length) else None

    def is_whole(self, expr: c.Expr) -> bool:
        """Whether it is made of constants and of whole numbers in variables, or in members of structs."""
        match expr:
            case c.Literal(text=text):
                return literal_value(text) is not None
            case c.Binary(op="+" | "-" | "*", left=left, right=right):
                return self.is_whole(left) and self.is_whole(right)
            case c.Cast(type=text, operand=inner):
                kind = self.scope.types.named(text)
                return kind is not None and kind.kind == "int" and self.is_whole(inner)
            case c.Name(name=name) if name not in self.scope.symbols:
                return name in self.scope.types.constants
            case c.Name() | c.Member():
                shape = self.shape(expr)
                return shape is not None and not shape.dims and shape.element.kind == "int"
        return False

    def piece(self, expr: c.Expr) -> _Piece | None:
        """Where a pointer leads; None where that is not known, or not to numbers."""
        match expr:
            case c.Cast(type=text, operand=inner):
                return self.piece(inner) if text.replace("const", "").replace(" ", "") == "void*" else None
            case c.Unary(op="&", operand=c.Subscript(base=base, index=index)):
                found = self.piece(base)
                return None if found is None or found.offset is not None else self.at(found, index)
            case c.Binary(op="+", left=left, right=right):
                found = self.piece(left)
                return None if found is None else self.at(found, right)
        shape = self.shape(expr)
        if shape is None or not shape.dims or shape.is_function or not self.is_number(shape):
            return None
        return _Piece(expr, None, shape)

    def at(self, piece: _Piece, index: c.Expr) -> _Piece | None:
        if not self.is_whole(index):
            return None
        return replace(piece, offset=index if piece.offset is None else c.Binary("+", piece.offset, index))

    def shape(self, expr: c.Expr) -> Shape | None:
        """The type of a reference."""
        key, chain = base_key(expr), links(expr)
        symbol = self.scope.symbols.get(key) if key is not None else None
        if symbol is None or chain is None or symbol.volatile:
            return None
        shape: Shape | None = symbol.shape
        for link in chain:
            if shape is None:
                return None
            if isinstance(link, c.Member):
                shape = None if shape.dims else member_of(self.scope.types, shape.node, link.field)
            elif not shape.dims or (isinstance(link, c.Subscript) and not self.is_whole(link.index)):
                return None
            else:
                shape = replace(shape, dims=shape.dims[1:])
        if shape is not None and not chain and symbol.storage is Storage.ARGUMENT and shape.dims:
            first = replace(shape.dims[0], pointer=True, size=None, extent=None)
            return replace(shape, dims=(first, *shape.dims[1:]))
        return shape

    def is_number(self, shape: Shape) -> bool:
        return shape.element.kind in ("int", "float") or is_record(self.scope.types, replace(shape, dims=()))

    def is_alike(self, one: Shape, other: Shape) -> bool:
        if one.element.kind == "struct" or other.element.kind == "struct":
            return one.node is other.node and one.node is not None
        return is_same(one.element, other.element)

    def value(self, expr: c.Expr, shape: Shape) -> c.Expr | None:
        """What each element is where each byte is that; None where that is not known."""
        kind, number = shape.element.kind, constant(expr)
        if kind == "struct" or shape.element.text == "_Bool":
            return None
        if number == 0:
            return _ZERO
        if kind != "int" or number is None:
            return None
        repeated = bytes([number % 256]) * shape.element.size_bytes
        found = int.from_bytes(repeated, "little", signed=shape.element.signed)
        return literal_of(found, shape.element)


def _is_zero(value: c.Expr | None) -> bool:
    """Whether an initialiser is a list of zeros."""
    match value:
        case c.InitList(items=items):
            return all((isinstance(one, c.Literal) and constant(one) == 0) or _is_zero(one) for one in items)
    return False


def _stays(piece: _Piece, count: int | None, sizes: tuple[int, ...]) -> bool:
    """Whether a piece stays in the object that its base is, as far as C's types tell: `memset(a[0], 0, sizeof a)` does
    not stay in the first row."""
    first, counted = piece.shape.dims[0], count
    if counted is not None and len(piece.shape.dims) == 1:
        counted *= prod(sizes)
    chain = links(piece.base) or []
    rows = [link for link in chain if isinstance(link, c.Subscript)]
    if first.pointer or not rows:
        return True
    if counted is not None and first.size is not None:
        start = 0 if piece.offset is None else constant(piece.offset)
        return counted <= first.size - (start or 0)
    return not all(isinstance(row.index, c.Literal) for row in rows)
