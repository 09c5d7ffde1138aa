"""Variables of loops in 32 bits: they hold all their values, and what is computed of them is what it was in 64 bits.

math: let e be an expression of the statements in which all variables of printed loops have 64 bits, and e' what stands
      in its place. Shown is that both are the same sums, products, quotients and choices of the same operands, up to
      casts; that each operation that C computes in 32 bits in e' and in 64 in e fits there, at all instances of its
      place; and that e' has the type of e wherever a type decides a value: everywhere but in subscripts, in bounds, in
      comparisons of two such expressions, below casts, and as a factor of 1.0.
"""

from __future__ import annotations

from typing import cast

from polyc.analysis.expressions.reader import FLOORD, MAX, MIN
from polyc.analysis.expressions.widths import INT, LONG, Place, head, is_counted, is_fraction, outermost
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.scop import Scop
from polyc.records import fields, replace

Body = tuple[c.Stmt, ...]


class _Other(Exception):
    """How the statements differ."""


class _NotWhole(Exception):
    """Two pieces of text are no expressions of sizes, constants and variables of loops."""


def counter_faults(scop: Scop, before: Body, after: Body) -> list[Fault]:
    """Where statements with narrower variables of loops do something else, or may overflow."""
    try:
        _block(before, after, outermost(scop))
    except _Other as how:
        return [Fault("text", f"counters: {how}", "")]
    return []


def _block(before: Body, after: Body, place: Place) -> None:
    if len(before) != len(after):
        raise _Other("there are other statements")
    for one, other in zip(before, after, strict=True):
        _statement(one, other, place)
        if isinstance(one, c.Decl) and one.type == "const long" and one.init is not None:
            place = place.constant(
                one.name, one.init, INT if isinstance(other, c.Decl) and other.type == "const int" else LONG
            )


def _statement(one: c.Stmt, other: c.Stmt, place: Place) -> None:
    match one, other:
        case c.Block(body=body), c.Block(body=now):
            _block(body, now, place)
        case c.If(condition=condition), c.If():
            if (one.otherwise is None) != (other.otherwise is None):
                raise _Other("a branch is lost")
            _strictly(condition, other.condition, place)
            _statement(one.then, other.then, place.under(condition))
            if one.otherwise is not None and other.otherwise is not None:
                _statement(one.otherwise, other.otherwise, place.under(c.Unary("!", condition)))
        case c.For(), c.For() if one.counts and is_counted(one) and is_counted(other):
            _loop(one, other, place)
        case c.For(), c.For():
            beside = place.beside(one)
            _field(one.init, other.init, place)
            _field(one.condition, other.condition, beside)
            _field(one.step, other.step, beside)
            _alike(one, replace(other, init=one.init, condition=one.condition, step=one.step))
            _statement(one.body, other.body, beside)
        case c.Decl(type="long" | "const long", init=value), c.Decl(init=now) if value is not None and now is not None:
            narrow = (one.type, other.type) == ("const long", "const int") and place.fits(value)
            if replace(other, init=value, type=one.type if narrow else other.type) != one:
                raise _Other(f"{one.name} is declared otherwise")
            _freely(value, now, place)
        case _:
            _inside(one, other, place)


def _alike(one: c.For, other: c.For) -> None:
    """That two loops with the same head do the same with their bodies."""
    if replace(other, body=one.body) != one:
        raise _Other("a loop is of another kind")


def _loop(one: c.For, other: c.For, place: Place) -> None:
    assert isinstance(one.init, c.Decl)
    assert isinstance(other.init, c.Decl)
    (name, start, step), (same, begin, by) = head(one), head(other)
    if name != same or step != by or one.init.type != "long":
        raise _Other(f"the loop {name} counts otherwise")
    bits = INT if other.init.type == "int" else LONG
    if bits == INT and not place.counts(one):
        raise _Other(f"an int may not hold what {name} counts")
    _freely(start, begin, place)
    inside = place.below(one, bits)
    assert one.condition is not None
    assert other.condition is not None
    _bound(one.condition, other.condition, inside)
    _field(one.worth, other.worth, place)
    _alike(one, replace(other, init=one.init, condition=one.condition, worth=one.worth))
    if any(_changes(node, name) for node in c.walk(one.body)):
        raise _Other(f"{name} is changed in its loop")
    _statement(one.body, other.body, inside)


def _bound(one: c.Expr, other: c.Expr, place: Place) -> None:
    """The condition of a loop: its bounds are evaluated where the loop begins, and may have no iteration."""
    match one, other:
        case c.Binary(op="&&", left=left, right=right), c.Binary(op="&&", left=first, right=second):
            _bound(left, first, place)
            _bound(right, second, place)
        case c.Binary(op="<" | "<=" as op, left=left, right=right), c.Binary(op=same, left=first, right=second) if (
            op == same
        ):
            assert place.around is not None
            _freely(left, first, place)
            _freely(right, second, place.around)
        case _:
            raise _Other("the condition of a loop is of another form")


def _changes(node: c.Node, name: str) -> bool:
    match node:
        case c.Assign(target=target):
            return target == c.Name(name)
        case c.Postfix(op="++" | "--", operand=operand) | c.Unary(op="++" | "--" | "&", operand=operand):
            return operand == c.Name(name)
    return False


# --- pieces of text


def _inside(one: c.Node, other: c.Node, place: Place) -> None:
    """Two nodes of one kind, their children compared. Raises _Other."""
    if type(one) is not type(other):
        raise _Other(f"a {type(one).__name__} became a {type(other).__name__}")
    for field in fields(one):
        if field.name not in ("span", "ref", "runs"):
            _field(getattr(one, field.name), getattr(other, field.name), place)


def _field(one: object, other: object, place: Place) -> None:
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            raise _Other("there are other operands")
        for a, b in zip(one, other, strict=True):
            _field(a, b, place)
    elif one is None or other is None or isinstance(one, str | bool | int):
        if one != other:
            raise _Other("there is another word")
    elif isinstance(
        one, c.ExprStmt | c.Decl | c.Block | c.If | c.For | c.While | c.Jump | c.Comment | c.Note | c.Empty
    ):
        _statement(one, cast(c.Stmt, other), place)
    else:
        _strictly(cast(c.Expr, one), cast(c.Expr, other), place)


def _strictly(one: c.Expr, other: c.Expr, place: Place) -> None:
    """Two expressions with one value, and one type."""
    if one == other and not _counts_in_int(other, place):
        return
    match one, other:
        case c.ArrayRef(array=array, subscripts=subscripts), c.ArrayRef(array=same, subscripts=now):
            if array != same or len(subscripts) != len(now):
                raise _Other(f"an element of {array} became another one")
            for a, b in zip(subscripts, now, strict=True):
                _freely(a, b, place)
            return
        case c.Subscript(base=base, index=index), c.Subscript(base=other_base, index=now):
            _strictly(base, other_base, place)
            _freely(index, now, place)
            return
        case c.Binary(op=op, left=left, right=right), c.Binary(op=same, left=first, right=second) if (
            op in c.COMPARISONS
        ):
            if op != same:
                raise _Other("a comparison became another one")
            try:
                _whole(left, first, place)
                _whole(right, second, place)
            except _NotWhole:
                _strictly(left, first, place)
                _strictly(right, second, place)
            return
        case c.Cast(type=kind, operand=operand), c.Cast(type=same, operand=now) if kind == same:
            _freely(operand, now, place)
            return
        case c.Binary(op="*", left=left, right=right), c.Binary(op="*", left=first, right=second) if is_fraction(left):
            _strictly(left, first, place)
            _freely(right, second, place)
            return
    try:
        before, bits = _whole(one, other, place)
    except _NotWhole:
        if isinstance(one, c.Name):
            if one != other or place.bits.get(one.name):
                raise _Other(f"a value of {one.name} has another type") from None
        else:
            _inside(one, other, place)
        return
    if before != bits:
        raise _Other("an expression has another type")


def _freely(one: c.Expr, other: c.Expr, place: Place) -> None:
    """Two expressions with one value: below a cast, in a subscript, as a bound."""
    try:
        _whole(one, other, place)
    except _NotWhole:
        _strictly(one, other, place)


def _counts_in_int(node: c.Node, place: Place) -> bool:
    return any(isinstance(part, c.Name) and place.bits.get(part.name) == INT for part in c.walk(node))


# --- whole numbers


def _whole(one: c.Expr, other: c.Expr, place: Place) -> tuple[int, int]:
    """The bits in which C computes two expressions that are the same number. Raises _NotWhole where they are of another
    kind, _Other where they are not the same number."""
    if isinstance(one, c.Cast) and one.type == "long" and place.parameters.get(one.operand) == 0:
        if one != other:
            raise _Other("an unsigned size lost its cast")
        return LONG, LONG
    if isinstance(one, c.Cast) and one.type == "long":
        return LONG, _whole(one.operand, other, place)[1]
    if isinstance(other, c.Cast) and other.type == "long":
        return _whole(one, other.operand, place)[0], LONG
    match one, other:
        case c.Cast(type="int", operand=operand), c.Cast(type="int", operand=now):
            _whole(operand, now, place)
            return INT, INT
        case c.Cast(type="int", operand=operand), _:
            a = _whole(operand, other, place)
            # It changed no value where the operand had that type already, or an int holds all values of it.
            if INT not in a and not place.fits(operand):
                raise _Other("a cast to int is lost")
            return INT, a[1]
        case c.Literal(), c.Literal():
            bits = place.literal(one), place.literal(other)
            if not all(bits):
                raise _NotWhole
            if one.text.rstrip("lL") != other.text.rstrip("lL"):
                raise _Other("a constant became another one")
            return bits
        case c.Unary(op="-", operand=operand), c.Unary(op="-", operand=now):
            return _fitting(one, _whole(operand, now, place), place)
        case (
            c.Binary(op="+" | "-" | "*" | "/" | "%" | "&" | ">>" as op, left=left, right=right),
            c.Binary(left=first, right=second),
        ):
            if place.leaf(one) and one == other:
                return place.leaf(one), place.leaf(other)
            a, b = _whole(left, first, place), _whole(right, second, place)
            if op != other.op:
                raise _Other("an operation became another one")
            return _fitting(one, (max(a[0], b[0]), max(a[1], b[1])), place)
        case c.Call(function=function, arguments=(left, right)), c.Call(function=same, arguments=(first, second)) if (
            function in (MIN, MAX, FLOORD)
        ):
            a, b = _whole(left, first, place), _whole(right, second, place)
            if function != same:
                raise _Other("a minimum became another one")
            bits = max(a[0], b[0]), max(a[1], b[1])
            if function == FLOORD:  # computes `d - n` for negative n
                _fitting(c.Binary("-", right, left), bits if a[1] == INT else (LONG, LONG), place, "a quotient")
            return bits
        case c.Ternary(condition=condition, then=left, otherwise=right), c.Ternary(then=first, otherwise=second):
            a, b = _whole(left, first, place), _whole(right, second, place)
            _freely(condition, other.condition, place)
            return max(a[0], b[0]), max(a[1], b[1])
    bits = place.leaf(one), place.leaf(other)
    if one != other or not all(bits):
        raise _NotWhole
    return (LONG if isinstance(one, c.Name) and one.name in place.bits else bits[0]), bits[1]


def _fitting(one: c.Expr, bits: tuple[int, int], place: Place, what: str = "a sum") -> tuple[int, int]:
    """The bits of an operation, where 32 of them hold its value. Raises _Other."""
    if bits == (LONG, INT) and not place.fits(one):
        raise _Other(f"{what} may leave the range of an int")
    return bits
