"""Values of floats that a C compiler may round otherwise at another place.

It may make one operation of `a * b + c` in one loop, which rounds once, and two of it in another one
(`-ffp-contract`): an index that is made of it may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from polyc.model import ctree as c

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||", "%", "&", "|", "^", "<<", ">>")


def is_real(expr: c.Expr, floats: Set[str]) -> bool:
    """Whether an expression has a floating type, as far as can be seen.

    floats: names of variables and arrays of such a type
    """
    match expr:
        case c.Literal(text=text):
            return not text.startswith(("'", '"', "0x", "0X")) and any(part in text.lower() for part in (".", "e"))
        case c.Name(name=name) | c.ArrayRef(array=name):
            return name in floats
        case c.Subscript(base=inner) | c.Member(base=inner) | c.Postfix(operand=inner):
            return is_real(inner, floats)
        case c.Unary(op=op, operand=inner):
            return op not in ("!", "~") and is_real(inner, floats)
        case c.Cast(type=text):
            return "float" in text or "double" in text
        case c.Call():
            return True
        case c.Binary(op=op, left=left, right=right):
            return op not in _COMPARISONS and (is_real(left, floats) or is_real(right, floats))
        case c.Ternary(then=left, otherwise=right):
            return is_real(left, floats) or is_real(right, floats)
        case c.Assign(target=inner):
            return is_real(inner, floats)
    return False


def with_numbers(statements: Iterable[c.Stmt], wholes: Iterable[c.Expr]) -> list[c.Stmt]:
    """Some statements with a number for each whole number that does not change: a struct's member `h->m` is none of
    the floats that the struct may have."""
    known = frozenset(expr for expr in wholes if isinstance(expr, c.Member))

    def number(node: c.Node) -> c.Node | None:
        return c.Literal("1") if isinstance(node, c.Member) and node in known else None

    return [c.rewrite(item, number) for item in statements]


def may_round_otherwise(statements: Iterable[c.Stmt], floats: Set[str]) -> bool:
    """Whether one operation may be made of a product and a sum in some statements; the product may have a name."""
    nodes = [node for item in statements for node in c.walk(item)]
    named = _products(nodes, floats)
    for node in nodes:
        match node:
            case c.Binary(op="+" | "-", left=left, right=right) if is_real(node, floats):
                if any(_has_product(one, floats, named) for one in (left, right)):
                    return True
            case c.Assign(op="+=" | "-=", target=target, value=value) if is_real(target, floats):
                if any(_has_product(one, floats, named) for one in (target, value)):
                    return True
    return False


def _products(nodes: list[c.Node], floats: Set[str]) -> set[str]:
    """The variables that may hold a product, also one that another of them has held."""
    named: set[str] = set()
    while True:
        before = len(named)
        for node in nodes:
            match node:
                case c.Decl(name=name, init=init) if init is not None and _has_product(init, floats, named):
                    named.add(name)
                case c.Assign(target=c.Name(name=name), op=op, value=value):
                    if op == "*=" or _has_product(value, floats, named):
                        named.add(name)
        if len(named) == before:
            return named


def computes(statements: Iterable[c.Stmt], floats: Set[str]) -> bool:
    """Whether some statements add, multiply or divide floats."""
    return any(
        isinstance(node, c.Binary) and node.op in ("+", "-", "*", "/") and is_real(node, floats)
        for item in statements
        for node in c.walk(item)
    )


def _has_product(expr: c.Expr, floats: Set[str], named: Set[str]) -> bool:
    """Whether an operand is a product of floats, whatever sign or branch stands before it."""
    match expr:
        case c.Binary(op="*"):
            return is_real(expr, floats)
        case c.Unary(operand=inner) | c.Cast(operand=inner):
            return _has_product(inner, floats, named)
        case c.Ternary(then=then, otherwise=otherwise):
            return _has_product(then, floats, named) or _has_product(otherwise, floats, named)
        case c.Name(name=name):
            return name in named and name in floats
    return False
