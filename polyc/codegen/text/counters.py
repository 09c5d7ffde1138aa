"""Printed loops count in the type of the user's loops, where that holds all that is computed of their variables.

Up to here all variables of loops have 64 bits. A loop over `int`s gets its type back where no value of it leaves that
type, the one at which it ends included. Sums and products in which 32 bits might overflow are computed in 64, as they
were: with a cast on their first operand.
"""

from __future__ import annotations

from polyc.analysis.expressions.reader import FLOORD, MAX, MIN
from polyc.analysis.expressions.widths import INT, LONG, Place, head, is_counted, is_fraction, outermost
from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import dataclass, replace

STATEMENTS = c.Block | c.If | c.For | c.While
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def with_counters(body: tuple[c.Stmt, ...], scop: Scop) -> tuple[c.Stmt, ...]:
    """The statements with narrower variables of loops.

    rewrite:   for (long i = 0; i < n + 1L; i++) a[i] = (int)i   ->   for (int i = 0; i < n + 1; i++) a[i] = i
    """
    if not any(isinstance(node, c.For) and node.counts == "int" for item in body for node in c.walk(item)):
        return body
    return _block(body, outermost(scop))


def _block(items: tuple[c.Stmt, ...], place: Place) -> tuple[c.Stmt, ...]:
    found: list[c.Stmt] = []
    for item in items:
        found.append(now := _statement(item, place))
        if isinstance(item, c.Decl) and item.type == "const long" and item.init is not None:
            place = place.constant(
                item.name, item.init, INT if isinstance(now, c.Decl) and now.type == "const int" else LONG
            )
    return tuple(found)


def _statement(item: c.Stmt, place: Place) -> c.Stmt:
    match item:
        case c.Block(body=body):
            return replace(item, body=_block(body, place))
        case c.If(condition=condition, then=then, otherwise=otherwise):
            inside = place.under(condition)
            beside = place.under(c.Unary("!", condition))
            other = None if otherwise is None else _statement(otherwise, beside)
            return replace(item, condition=_same(condition, place), then=_statement(then, inside), otherwise=other)
        case c.While(condition=condition, body=body):
            return replace(item, condition=_same(condition, place), body=_statement(body, place))
        case c.For() if item.counts and is_counted(item):
            return _loop(item, place)
        case c.For(init=init, condition=condition, step=step, body=body):
            first = _declared(init, place) if isinstance(init, c.Decl) else None if init is None else _same(init, place)
            beside = place.beside(item)
            head_ = [None if part is None else _same(part, beside) for part in (condition, step)]
            return replace(item, init=first, condition=head_[0], step=head_[1], body=_statement(body, beside))
        case c.Decl():
            return _declared(item, place)
    return _same(item, place)


def _declared(item: c.Decl, place: Place) -> c.Decl:
    if item.init is not None and item.type in ("long", "const long"):
        whole = item.type == "const long" and _is_narrow(item.init, place) and place.fits(item.init)
        return replace(item, type="const int" if whole else item.type, init=_free(item.init, place))
    return _same(item, place)


def _loop(loop: c.For, place: Place) -> c.Stmt:
    assert isinstance(loop.init, c.Decl)
    assert loop.condition is not None
    _, start, _ = head(loop)
    bits = INT if _in_int(loop, place) else LONG
    inside = place.below(loop, bits)
    init = replace(loop.init, type="int" if bits == INT else "long", init=_free(start, place))
    condition = _condition(loop.condition, inside)
    worth = None if loop.worth is None else _worth(loop.worth, place)
    return replace(loop, init=init, condition=condition, body=_statement(loop.body, inside), worth=worth)


def _worth(node: c.Expr, place: Place) -> c.Expr:
    """The condition on which threads start, `1.0 * n * (m - 1L) > 12000`."""
    match node:
        case c.Binary(op="&&" | "||", left=left, right=right):
            return replace(node, left=_worth(left, place), right=_worth(right, place))
        case c.Binary(op=op, left=left, right=right) if op in _COMPARE:
            return replace(node, left=_worth(left, place), right=_free(right, place))
        case c.Binary(op="*", left=left, right=right) if is_fraction(left):
            return replace(node, left=_worth(left, place), right=_free(right, place))
    return _free(node, place)


def _condition(node: c.Expr, place: Place) -> c.Expr:
    """The condition of a loop. What the variable is compared with is evaluated for no iteration, too."""
    match node:
        case c.Binary(op="&&", left=left, right=right):
            return replace(node, left=_condition(left, place), right=_condition(right, place))
        case c.Binary(op=op, left=left, right=right) if op in _COMPARE:
            assert place.around is not None
            return replace(node, left=_free(left, place), right=_free(right, place.around))
    return _same(node, place)


def _in_int(loop: c.For, place: Place) -> bool:
    """Whether a loop is to count in an int. Between bounds in 64 bits it is not: compilers would not see how many
    iterations there are from a start that is cut to 32."""
    assert loop.condition is not None
    bounds = (head(loop)[1], *_bounds(loop.condition))
    if loop.counts != "int" or not all(_is_narrow(bound, place) for bound in bounds) or not place.counts(loop):
        return False
    return not _has_wide_bounds(loop.body, head(loop)[0], place.below(loop, INT), place.below(loop, LONG))


def _has_wide_bounds(item: c.Stmt, name: str, narrow: Place, wide: Place) -> bool:
    """Whether loops inside begin or end with sums that need a cast because a variable is an int: they would be loops of
    64 bits, with more words. That is so for the numbers of tiles, `64 * x0t`."""
    if not isinstance(item, c.For):
        return any(
            _has_wide_bounds(part, name, narrow, wide) for part in c.children(item) if isinstance(part, STATEMENTS)
        )
    if not (item.counts and is_counted(item)):
        return _has_wide_bounds(item.body, name, narrow.beside(item), wide.beside(item))
    assert item.condition is not None
    for bound in (head(item)[1], *_bounds(item.condition)):
        if any(isinstance(part, c.Name) and part.name == name for part in c.walk(bound)):
            one, other = narrowed(bound, narrow), narrowed(bound, wide)
            if one is not None and other is not None and _casts(one.expr) > _casts(other.expr):
                return True
    return _has_wide_bounds(item.body, name, narrow.below(item, INT), wide.below(item, INT))


def _casts(node: c.Expr) -> int:
    """The casts in an expression, and constants that say how many bits they have."""
    return sum(isinstance(p, c.Cast) or (isinstance(p, c.Literal) and p.text[-1] in "lL") for p in c.walk(node))


def _bounds(node: c.Expr) -> list[c.Expr]:
    """What the condition of a loop compares the variable with."""
    match node:
        case c.Binary(op="&&", left=left, right=right):
            return [*_bounds(left), *_bounds(right)]
        case c.Binary(op=op, right=right) if op in _COMPARE:
            return [right]
    return []


def _is_narrow(node: c.Expr, place: Place) -> bool:
    found = narrowed(node, place)
    return found is not None and found.bits == INT


# --- expressions


def _same(node: c.N, place: Place) -> c.N:
    """A piece of text whose values, and types, stay what they are."""

    def change(part: c.Node) -> c.Node | None:
        match part:
            case c.ArrayRef(subscripts=subscripts) if subscripts:
                return replace(part, subscripts=tuple(_free(subscript, place) for subscript in subscripts))
            case c.Subscript(base=base, index=index):
                return replace(part, base=_same(base, place), index=_free(index, place))
            case c.Binary(op=op, left=left, right=right) if op in _COMPARE:
                if narrowed(left, place) is not None and narrowed(right, place) is not None:
                    return replace(part, left=_free(left, place), right=_free(right, place))
            case c.Cast(type=type_, operand=operand) if type_ not in ("int", "long"):
                if narrowed(operand, place) is not None:
                    return replace(part, operand=_free(operand, place))
        if isinstance(part, c.Name | c.Cast | c.Binary | c.Unary | c.Call | c.Ternary) and _counts_in_int(part, place):
            found = narrowed(part, place)
            if found is not None:
                return found.expr if found.bits == found.before else c.Cast("long", found.expr)
        return None

    return c.rewrite(node, change)


def _free(node: c.Expr, place: Place) -> c.Expr:
    """An expression whose type does not matter: a subscript, a bound."""
    found = narrowed(node, place)
    return _same(node, place) if found is None else found.expr


def _counts_in_int(node: c.Node, place: Place) -> bool:
    return any(isinstance(part, c.Name) and place.bits.get(part.name) == INT for part in c.walk(node))


@dataclass(frozen=True, slots=True)
class Narrowed:
    """An expression of sizes, constants and variables of loops, in the types that these have now."""

    expr: c.Expr
    bits: int
    before: int
    """The bits in which it was computed where all variables of loops had 64."""


def narrowed(node: c.Expr, place: Place) -> Narrowed | None:
    """The expression without casts that it does not need; None where it is of another kind."""
    bits = place.leaf(node)
    if bits:
        if isinstance(node, c.Literal) and bits == LONG and node.text[-1] in "lL":
            short = c.Literal(node.text.rstrip("lL"), node.span)
            return Narrowed(short, place.literal(short), LONG)
        return Narrowed(node, bits, LONG if isinstance(node, c.Name) and node.name in place.bits else bits)
    match node:
        case c.Cast(type="long", operand=operand):
            found = narrowed(operand, place)
            if found is None:
                unsigned = place.parameters.get(operand) == 0
                return Narrowed(node, LONG, LONG) if unsigned else None
            return replace(found, before=LONG)
        case c.Cast(type="int", operand=operand):
            found = narrowed(operand, place)
            if found is None:
                return None
            return Narrowed(found.expr if found.bits == INT else replace(node, operand=found.expr), INT, INT)
        case c.Unary(op="-", operand=operand):
            found = narrowed(operand, place)
            return None if found is None else _checked(node, replace(node, operand=found.expr), [found], place)
        case c.Binary(op="+" | "-" | "*" | "/" | "%" | "&" | ">>", left=left, right=right):
            both = _each((left, right), place)
            if both is None:
                return None
            return _checked(node, replace(node, left=both[0].expr, right=both[1].expr), both, place)
        case c.Call(function=function, arguments=(first, second)) if function in (MIN, MAX, FLOORD):
            both = _each((first, second), place)
            if both is None:
                return None
            if function == FLOORD:
                return _divided(node, first, both, place)
            bits = max(both[0].bits, both[1].bits)
            return Narrowed(replace(node, arguments=tuple(one.expr for one in both)), bits, _before(both))
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            both = _each((then, otherwise), place)
            if both is None:
                return None
            expr = replace(node, condition=_free(condition, place), then=both[0].expr, otherwise=both[1].expr)
            return Narrowed(expr, max(both[0].bits, both[1].bits), _before(both))
    return None


def _each(nodes: tuple[c.Expr, ...], place: Place) -> list[Narrowed] | None:
    found = [narrowed(node, place) for node in nodes]
    kept = [one for one in found if one is not None]
    return kept if len(kept) == len(found) else None


def _before(parts: list[Narrowed]) -> int:
    return max(part.before for part in parts)


def _checked(then: c.Expr, now: c.Expr, parts: list[Narrowed], place: Place) -> Narrowed:
    """An operation on narrowed operands, in 64 bits where 32 may be too few for it."""
    bits, before = max(part.bits for part in parts), _before(parts)
    if bits == INT and before == LONG and not place.fits(then):
        return Narrowed(widened(now), LONG, before)
    return Narrowed(now, bits, before)


def _divided(then: c.Call, number: c.Expr, both: list[Narrowed], place: Place) -> Narrowed:
    """`floord(n, d)`, which computes `-n + d - 1` for negative numbers."""
    one, two = both
    needed = c.Binary("-", two.expr, number)
    if one.bits == INT and _before(both) == LONG and not place.fits(needed):
        one = Narrowed(widened(one.expr), LONG, one.before)
    return Narrowed(replace(then, arguments=(one.expr, two.expr)), max(one.bits, two.bits), _before(both))


def widened(expr: c.Expr) -> c.Expr:
    """The expression in 64 bits: from its first operand on."""
    match expr:
        case c.Binary(op="+" | "-" as op, left=left, right=c.Literal(text=text)) if not isinstance(left, c.Binary):
            if isinstance(left, c.Name | c.Member):
                return replace(expr, right=c.Literal(f"{text}L"))
            return c.Binary(op, widened(left), expr.right)
        case c.Binary(op="+" | "-" | "*", left=left):
            return replace(expr, left=widened(left))
        case c.Unary(op="-", operand=operand):
            return replace(expr, operand=widened(operand))
        case c.Literal(text=text):
            return c.Literal(f"{text.rstrip('lL')}L")
    return c.Cast("long", expr)
