"""`if (x > m) m = x;`: a condition on data that only decides which of two values stays."""

from __future__ import annotations

from polyc.frontend.c.references import resolve
from polyc.frontend.c.state import Region
from polyc.model import ctree as c

_COMPARES = ("<", "<=", ">", ">=")


def as_choice(node: c.If, region: Region) -> c.ExprStmt | None:
    """The statement as an assignment that always happens; None for one of another form.

    rewrite:  if (x > m) m = x;  ->  m = x > m ? x : m;
    requires: the condition compares exactly the two values of the assignment, and reading m as one of the two values
              of `?:` does not change it: m is a floating-point number, or both are whole numbers
    ensures:  the same operations on the same values; where nothing was stored, m gets the value that it has
    """
    then = node.then.body[0] if isinstance(node.then, c.Block) and len(node.then.body) == 1 else node.then
    match node, then:
        case (
            c.If(condition=c.Binary(op=op, left=left, right=right) as test, otherwise=None),
            c.ExprStmt(expr=c.Assign(op="=", target=target, value=value)),
        ) if op in _COMPARES and (left, right) in ((value, target), (target, value)):
            if not _keeps_its_value(target, value, region):
                return None
            choice = c.Ternary(test, value, target, node.span)
            return c.ExprStmt(c.Assign("=", target, choice, node.span), node.span)
    return None


def _keeps_its_value(target: c.Expr, value: c.Expr, region: Region) -> bool:
    found = resolve(region.scope, target)
    if found is None or found.rest or found.symbol.volatile or found.symbol.constant:
        return False
    match found.symbol.shape.element.kind:
        case "float":
            return _is_pure(value, region)
        case "int":
            return _is_pure(value, region) and _is_whole(value, region)
        case _:
            return False


def _is_pure(value: c.Expr, region: Region) -> bool:
    """Whether evaluating it changes nothing."""
    for node in c.walk(value):
        match node:
            case c.Assign() | c.Postfix() | c.Unary(op="++" | "--"):
                return False
            case c.Call(function=name, arguments=arguments):
                effect = region.effects(name)
                if effect.anything or effect.ordered or any(effect.writes(k) for k in range(len(arguments))):
                    return False
            case _:
                pass
    return True


def _is_whole(value: c.Expr, region: Region) -> bool:
    """Whether it is made of whole numbers alone."""
    for node in c.walk(value):
        match node:
            case c.Name(name=name):
                found = region.scope.symbols.get(name)
                if found is None or found.shape.element.kind != "int":
                    return False
            case c.Literal(text=text):
                if not text.rstrip("uUlL").isdigit():
                    return False
            case c.Subscript() | c.Binary():
                pass
            case _:
                return False
    return True
