"""Expressions inside of a statement that is kept whole: the loops around them there, and what they may be computed from
elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain

from polyc.analysis.expressions.facts import Induction, assigned_scalars, constant, induction
from polyc.analysis.expressions.straight import changes_nothing
from polyc.model import ctree as c
from polyc.records import dataclass, replace

_WHOLE = frozenset({"int", "long"})
_REAL = frozenset({"float", "double"})
_SUMS = ("+", "-", "*")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MOST = 1 << 31

Bounds = tuple[int, int]
"""The least and the greatest value of a whole number."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop inside of a statement."""

    head: Induction
    bounds: tuple[c.Expr, ...]
    """Conditions on its variable that hold wherever its body is run."""

    @property
    def key(self) -> str:
        return self.head.key


Change = Callable[[c.Expr, tuple[Counted, ...]], c.Expr]
"""What stands in the place of an expression, with the loops around it."""


def counted(loop: c.For, whole: c.Stmt) -> Counted | None:
    """A loop of a statement whose variable has plain bounds of a signed type; None for others.

    math: a variable that only the loop's head changes, in steps up, is at least its first value; where the body is run
          the condition holds
    """
    head = induction(loop)
    if head is None or head.key in assigned_scalars(loop.body) | _pointed_at(whole) or not _is_plain(head.start):
        return None
    types = {item.type for item in c.walk(whole) if isinstance(item, c.Decl) and item.name == head.key}
    if not types or not types <= _WHOLE:
        return None
    name, up = c.Name(head.key), head.step > 0
    ends: list[c.Expr] = []
    for term in c.conjuncts(loop.condition) if loop.condition is not None else []:
        match term:
            case c.Binary(op=op, left=left, right=bound) if left == name and op in _MIRRORED:
                ends.append(c.Binary(op, name, bound))
            case c.Binary(op=op, left=bound, right=right) if right == name and op in _MIRRORED:
                ends.append(c.Binary(_MIRRORED[op], name, bound))
    wanted = ("<", "<=") if up else (">", ">=")
    plain = [end for end in ends if isinstance(end, c.Binary) and end.op in wanted and _is_plain(end.right)]
    start = c.Binary(">=" if up else "<=", name, head.start)
    return Counted(head, (start, *plain)) if plain else None


def with_changes(node: c.Stmt, change: Change, loops: tuple[Counted, ...] = (), whole: c.Stmt | None = None) -> c.Stmt:
    """A statement with others in the places of all its expressions."""
    whole = node if whole is None else whole

    def inner(part: c.Stmt, around: tuple[Counted, ...] = loops) -> c.Stmt:
        return with_changes(part, change, around, whole)

    def head(part: c.Decl | c.Expr | None) -> c.Decl | c.Expr | None:
        if isinstance(part, c.Decl):
            return part if part.init is None else replace(part, init=change(part.init, loops))
        return None if part is None else change(part, loops)

    match node:
        case c.Block(body=items):
            return replace(node, body=tuple(inner(item) for item in items))
        case c.ExprStmt(expr=expr):
            return replace(node, expr=change(expr, loops))
        case c.Decl(init=init) if init is not None and not isinstance(init, c.InitList):
            return replace(node, init=change(init, loops))
        case c.If(condition=condition, then=then, otherwise=other):
            changed = None if other is None else inner(other)
            return replace(node, condition=change(condition, loops), then=inner(then), otherwise=changed)
        case c.While(condition=condition, body=body):
            return replace(node, condition=change(condition, loops), body=inner(body))
        case c.For(init=init, condition=test, step=step, body=body):
            own = counted(node, whole)
            around = loops if own is None else (*loops, own)
            test, step = (None if part is None else change(part, loops) for part in (test, step))
            return replace(node, init=head(init), condition=test, step=step, body=inner(body, around))
    return node


def given(whole: c.Stmt, is_steady: Callable[[str], bool], names: Collection[str]) -> dict[str, c.Expr]:
    """The variables that a statement declares with a value that never changes, and these values in their types.

    is_steady: whether nothing that runs together writes a variable of the region
    names: those of the loops around the statement, and of sizes
    """
    others = (node for node in c.walk(whole) if not isinstance(node, c.Decl))
    changed = _pointed_at(whole).union(*(_changed(node) for node in others))
    once = Counter(node.name for node in c.walk(whole) if isinstance(node, c.Decl))
    found: dict[str, c.Expr] = {}
    for node, known in _declared(whole, whole, frozenset(names)):  # in their order: each mentions those before it
        init = node.init
        if node.type not in _REAL or node.extents or once[node.name] > 1 or node.name in changed or init is None:
            continue
        read = {one.name for one in c.walk(init) if isinstance(one, c.Name)}
        variables = [one for one in c.walk(init) if isinstance(one, c.ArrayRef)]
        steady = all(not one.subscripts and is_steady(one.array) for one in variables)
        if read <= known | found.keys() and steady and changes_nothing(init):
            found[node.name] = c.Cast(node.type, init)
    return found


def _declared(node: c.Stmt, whole: c.Stmt, around: frozenset[str]) -> Iterator[tuple[c.Decl, frozenset[str]]]:
    """The declarations in a statement, but for those in heads of loops, with the variables of the loops around them."""
    match node:
        case c.Decl():
            yield node, around
        case c.Block(body=items):
            for item in items:
                yield from _declared(item, whole, around)
        case c.If(then=then, otherwise=other):
            for branch in (then, other) if other is not None else (then,):
                yield from _declared(branch, whole, around)
        case c.While(body=body):
            yield from _declared(body, whole, around)
        case c.For(body=body):
            own = counted(node, whole)
            yield from _declared(body, whole, around if own is None else around | {own.key})


def written_out(expr: c.Expr, values: Mapping[str, c.Expr]) -> c.Expr:
    """An expression without the names of values.

    math: a name means something in the block of its declaration: there the loops that its value mentions are in the
          iteration in which it was declared
    """

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name) or node.name not in values:
            return None
        return written_out(values[node.name], values)

    return c.rewrite(expr, change)


def without_unread(node: c.Stmt, values: Mapping[str, c.Expr]) -> c.Stmt:
    """A statement without the declarations of values that nothing reads."""
    while True:
        read = {item.name for item in c.walk(node) if isinstance(item, c.Name)}

        def dropped(one: c.Node, read: set[str] = read) -> c.Node | None:
            if not isinstance(one, c.Block):
                return None
            kept = (i for i in one.body if not (isinstance(i, c.Decl) and i.name in values and i.name not in read))
            return replace(one, body=tuple(c.rewrite(item, dropped) for item in kept))

        found = c.rewrite(node, dropped)
        if found == node:
            return node
        node = found


def is_total(
    expr: c.Expr,
    bounds: Mapping[str, Bounds],
    is_real: Callable[[str], bool | None],
    is_function: Callable[[str], bool],
) -> bool:
    """Whether an expression has a value wherever it is computed: of floating operations and functions of `<math.h>`,
    and of sums and products of whole numbers that fit an `int`.

    bounds: of loops' variables
    is_real: whether an array or a variable of the region has a floating type; None for what is no number
    is_function: whether a function computes a floating value of any arguments, and does nothing else
    """
    called = (one.function for one in c.walk(expr) if isinstance(one, c.Call))
    return all(map(is_function, called)) and _value(expr, bounds, is_real) is not None


def _value(expr: c.Expr, bounds: Mapping[str, Bounds], is_real: Callable[[str], bool | None]) -> Bounds | str | None:
    """Bounds of a whole number; "real" for a floating one, "any" for a number without bounds; None where C may give it
    no meaning."""
    match expr:
        case c.Literal(text=text):
            value = constant(expr)
            if value is not None:
                return value, value
            return "real" if text[0] in ".0123456789" and not text.lower().startswith("0x") else None
        case c.Name(name=name):
            return bounds.get(name, "any")
        case c.ArrayRef(array=name, subscripts=()):
            real = is_real(name)
            return None if real is None else "real" if real else "any"
        case c.Cast(type=kind, operand=operand) if kind in _REAL:
            return None if _value(operand, bounds, is_real) is None else "real"
        case c.Unary(op="+" | "-" as op, operand=operand):
            inner = _value(operand, bounds, is_real)
            if inner is None or inner == "any":
                return None
            return (-inner[1], -inner[0]) if op == "-" and isinstance(inner, tuple) else inner
        case c.Call(arguments=arguments):
            parts = [_value(one, bounds, is_real) for one in arguments]
            return None if None in parts else "real"
        case c.Binary(op="+" | "-" | "*" | "/" as op, left=left, right=right):
            one, two = (_value(side, bounds, is_real) for side in (left, right))
            if one is None or two is None:
                return None
            if "real" in (one, two):
                return "real"
            return _combined(op, one, two) if isinstance(one, tuple) and isinstance(two, tuple) else None
    return None


def _combined(op: str, one: Bounds, two: Bounds) -> Bounds | None:
    if op not in _SUMS:
        return None
    if op == "*":
        ends = [a * b for a in one for b in two]
    else:
        ends = list(chain.from_iterable([a + b, a - b] for a in one for b in two))
    found = min(ends), max(ends)
    return found if found[0] >= -_MOST and found[1] < _MOST else None


def _is_plain(expr: c.Expr) -> bool:
    """Whether a bound is a sum of names and numbers."""
    match expr:
        case c.Name() | c.ArrayRef(subscripts=()):
            return True
        case c.Literal():
            return constant(expr) is not None
        case c.Unary(op="-" | "+", operand=operand):
            return _is_plain(operand)
        case c.Binary(op="+" | "-", left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return False


def _changed(node: c.Node) -> set[str]:
    """The name that a node itself gives another value."""
    match node:
        case c.Assign(target=target) | c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
            return {target.name} if isinstance(target, c.Name) else set()
    return set()


def _pointed_at(node: c.Node) -> set[str]:
    """The names of which an address is taken."""
    taken = (n for n in c.walk(node) if isinstance(n, c.Unary) and n.op == "&")
    return {n.name for one in taken for n in c.walk(one) if isinstance(n, c.Name)}


__all__ = ["Bounds", "Counted", "counted", "given", "is_total", "with_changes", "without_unread", "written_out"]
