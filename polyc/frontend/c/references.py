"""References: the chain of subscripts, dereferences and members from a name to what is accessed."""

from __future__ import annotations

from polyc.analysis.expressions.facts import base_key
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`p[i].x[2]` is `subscripts` (i) of `p`, and the rest `.x` and `[2]`."""

    symbol: Symbol
    subscripts: tuple[c.Expr, ...]
    rest: tuple[c.Expr, ...]


def resolve(scope: Scope, expr: c.Expr) -> Reference | None:
    """The element of an array that an expression refers to, None where it is no whole element."""
    key = base_key(expr)
    symbol = scope.symbols.get(key) if key is not None else None
    chain = links(expr)
    if symbol is None or chain is None:
        return None
    subscripts, rest = split_chain(chain, symbol.rank)
    return None if subscripts is None else Reference(symbol, subscripts, tuple(rest))


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """What a function is given that points into an array: `A`, `A[i]`, `&A[i][j]`, `A + k`."""

    symbol: Symbol
    fixed: tuple[c.Expr, ...]
    """Subscripts that the function cannot leave: `i` for `A[i]`, for `&A[i][j]` and for `&p[i].x`."""


def place_of(scope: Scope, expr: c.Expr) -> Place | None:
    """The place that an argument points to, None where it is a value."""
    match expr:
        case c.Cast(operand=inner):
            return place_of(scope, inner)
        case c.Binary(op="+" | "-", left=left):
            return place_of(scope, left)
        case c.Unary(op="&", operand=inner):
            address, target = True, inner
        case _:
            address, target = False, expr
    key, chain = base_key(target), links(target)
    symbol = scope.symbols.get(key) if key is not None else None
    if symbol is None or chain is None or symbol.shape.is_function:
        return None
    subscripts: list[c.Expr] = []
    for link in chain:
        match link:
            case c.Subscript(index=index):
                subscripts.append(index)
            case c.Unary(op="*"):
                subscripts.append(c.Literal("0"))
            case _:
                break
    rest = chain[len(subscripts) :]
    if rest:
        inside = inner_rank(scope, symbol, rest) if len(subscripts) == symbol.rank else None
        return None if inside is None or not (address or inside) else Place(symbol, tuple(subscripts))
    if not address:
        return Place(symbol, tuple(subscripts)) if len(subscripts) < symbol.rank else None
    if len(subscripts) > symbol.rank or (not subscripts and symbol.rank):
        return None
    return Place(symbol, tuple(subscripts[:-1]))


def inner_rank(scope: Scope, symbol: Symbol, rest: list[c.Expr]) -> int | None:
    """How many dimensions are left of what members of an element lead to; None where that lies outside of it."""
    node, left = symbol.shape.node, 0
    for link in rest:
        if isinstance(link, c.Subscript) and left > 0:
            left -= 1
        elif isinstance(link, c.Member) and left == 0:
            shape = scope.types.field(node, link.field)
            if shape is None or any(d.pointer for d in shape.dims):
                return None
            node, left = shape.node, len(shape.dims)
        else:
            return None
    return left


def links(expr: c.Expr) -> list[c.Expr] | None:
    """`p[i]->x` as its links from the name outwards: subscript, dereference and member nodes."""
    found: list[c.Expr] = []
    while not isinstance(expr, c.Name):
        match expr:
            case c.Subscript(base=c.Unary(op="*", operand=inner), index=index):
                found += [expr, c.Unary("*", inner)]
                expr = inner
            case c.Subscript(base=inner):
                found.append(expr)
                expr = inner
            case c.Member(base=inner, arrow=arrow, span=span):
                found.append(expr)
                if arrow:
                    found.append(c.Unary("*", inner, span))
                expr = inner
            case c.Unary(op="*", operand=c.Binary(op="+", left=inner, right=index)):
                found.append(c.Subscript(inner, index, expr.span))
                expr = inner
            case c.Unary(op="*", operand=inner):
                found.append(expr)
                expr = inner
            case _:
                return None
    return found[::-1]


def split_chain(chain: list[c.Expr], rank: int) -> tuple[tuple[c.Expr, ...] | None, list[c.Expr]]:
    """The first `rank` links as subscripts (a dereference is `[0]`), and the members after them."""
    subscripts: list[c.Expr] = []
    for link in chain[:rank]:
        match link:
            case c.Subscript(index=index):
                subscripts.append(index)
            case c.Unary(op="*"):
                subscripts.append(c.Literal("0"))
            case _:
                return None, []
    if len(subscripts) != rank:
        return None, []
    rest = chain[rank:]
    if any(isinstance(link, c.Unary) for link in rest):
        return None, []
    if rest and not isinstance(rest[0], c.Member):
        return None, []
    return tuple(subscripts), rest


def tested_pointer(scope: Scope, assigned: frozenset[str], expr: c.Expr) -> tuple[c.Name, bool] | None:
    """The pointer that a condition asks whether it leads anywhere, `p`, `p != NULL`, `p == 0`, and whether it asks for
    that or the opposite; None for all other conditions. The region does not change it.

    assigned: the names that the region assigns as a whole
    """
    match expr:
        case c.Name(name=name):
            symbol = scope.symbols.get(name)
            if symbol is None or not symbol.rank or symbol.shape.is_function or name in assigned:
                return None
            return (expr, True) if symbol.shape.dims[0].pointer or symbol.storage is Storage.ARGUMENT else None
        case c.Binary(op="==" | "!=" as op, left=left, right=right):
            sides = [(left, right), (right, left)]
            named = next((one for one, other in sides if is_null(other) and isinstance(one, c.Name)), None)
            found = None if named is None else tested_pointer(scope, assigned, named)
            return None if found is None else (found[0], op == "!=")
    return None


def is_null(expr: c.Expr) -> bool:
    while isinstance(expr, c.Cast):
        expr = expr.operand
    return isinstance(expr, c.Literal) and expr.text == "0"
