"""Choices in subscripts have names where they are known: in the loop that decides them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

from polyc.analysis.expressions.facts import mentions
from polyc.analysis.expressions.promoted import SIGNED
from polyc.codegen.text.macros import MACROS
from polyc.model import ctree as c
from polyc.records import replace

Choices = Iterator[tuple[c.Expr, bool]]
"""With each choice, whether it is in a loop inside."""


def with_named_choices(
    block: c.Stmt, own: str, spelled: Mapping[c.Expr, str], fresh: Callable[[str, Set[str]], str]
) -> c.Stmt:
    """The body of a loop with constants for the choices in subscripts that its variable decides.

    rewrite:  for (y) for (x) b[y][x] = a[y == 0 ? 0 : y - 1][x]
              ->  for (y) { const long up = y == 0 ? 0 : y - 1; for (x) b[y][x] = a[up][x] }
    requires: no loop inside decides it; it is in such a loop, or has a name of the user's
    ensures:  no branch in the inner loop: C compilers do not move them out, and make no vectors of a loop with one
    spelled:  choices that have a name in the user's text
    own:      the loop's variable
    fresh:    a name, from a wish and the names that are taken
    """
    found = [one for one in _choices(block, frozenset(), False, spelled) if own in mentions(one[0])]
    chosen = dict.fromkeys(choice for choice, inside in found if inside or choice in spelled)
    taken = {node.name for node in c.walk(block) if isinstance(node, c.Decl | c.Name)}
    names: dict[c.Node, c.Expr] = {}
    declared: list[c.Stmt] = []
    for choice in sorted(chosen, key=lambda one: sum(1 for _ in c.walk(one))):
        name = fresh(spelled.get(choice, own), taken)
        taken.add(name)
        declared.append(c.Decl("const long", name, (), c.rewrite(choice, names.get)))
        names[choice] = c.Name(name)
    body = c.rewrite(block, lambda node: _named(node, names))
    return c.Block((*declared, *c.items(body))) if declared else block


def _choices(node: c.Node, bound: Set[str], inside: bool, spelled: Mapping[c.Expr, str]) -> Choices:
    """The choices in subscripts that mention none of the bound names."""
    match node:
        case c.For(init=c.Decl(name=name), body=body):
            yield from _choices(body, bound | {name}, True, spelled)
            return
        case c.Block(body=items):
            bound |= {item.name for item in items if isinstance(item, c.Decl)}
        case c.ArrayRef(subscripts=subscripts):
            for one in subscripts:
                yield from ((choice, inside) for choice in _in_subscript(one, bound, spelled))
        case c.Cast(operand=c.Ternary() as choice) if choice in spelled:
            yield from ((choice, inside) for choice in _in_subscript(choice, bound, spelled))
            return
    for child in c.children(node):
        yield from _choices(child, bound, inside, spelled)


def _in_subscript(node: c.Node, bound: Set[str], spelled: Mapping[c.Expr, str]) -> Iterator[c.Expr]:
    """The largest ones in a subscript, and those in them that have a name."""
    if isinstance(node, c.Ternary) and all(map(_is_plain, c.walk(node))) and not mentions(node) & bound:
        yield node
        yield from (one for one in c.walk(node) if one is not node and isinstance(one, c.Ternary) and one in spelled)
    elif not isinstance(node, c.ArrayRef):
        for child in c.children(node):
            yield from _in_subscript(child, bound, spelled)


def _is_plain(node: c.Node) -> bool:
    """Whether it is a part of an expression of loops' variables, sizes and numbers, which C computes with a sign."""
    if isinstance(node, c.Call):
        return node.function in MACROS
    if isinstance(node, c.Cast):
        return node.type in SIGNED
    return isinstance(node, c.Name | c.Literal | c.Unary | c.Binary | c.Ternary)


def _named(node: c.Node, names: Mapping[c.Node, c.Expr]) -> c.Node | None:
    """A reference with names in its subscripts, or a value with its name."""

    def change(part: c.Node) -> c.Node | None:
        return names.get(part) or _named(part, names)

    match node:
        case c.ArrayRef(subscripts=subscripts):
            return replace(node, subscripts=tuple(c.rewrite(one, change) for one in subscripts))
        case c.Cast(operand=c.Ternary() as choice) if choice in names:
            return replace(node, operand=names[choice])
    return None


__all__ = ["with_named_choices"]
