"""Whether a scalar is read before it is written, in a region's tree or in the rest of its function."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from polyc.model import ctree as c


class Use(Enum):
    """What happens to a variable first."""

    READ = "read"
    KILL = "kill"
    """Overwritten on every path before it can be read."""
    NONE = "none"


def joined(uses: list[Use]) -> Use:
    """One of several paths is taken."""
    if Use.READ in uses:
        return Use.READ
    return Use.KILL if uses and all(u is Use.KILL for u in uses) else Use.NONE


def in_sequence(uses: Iterable[Use]) -> Use:
    """What follows the first of them is not looked at."""
    return next((u for u in uses if u is not Use.NONE), Use.NONE)


def first_use(node: c.Node | None, key: str) -> Use:
    """The first use of a scalar in a tree of the region."""
    match node:
        case None:
            return Use.NONE
        case c.Name(name=name):
            return Use.READ if name == key else Use.NONE
        case c.Assign(op="=", target=c.Name(name=name), value=value) if name == key:
            return in_sequence([first_use(value, key), Use.KILL])
        case c.Decl(name=name, init=init) if name == key:
            return in_sequence([first_use(init, key), Use.KILL])
        case c.Block(body=items):
            return in_sequence(first_use(item, key) for item in items)
        case c.If(condition=condition, then=then, otherwise=otherwise):
            paths = [first_use(then, key), first_use(otherwise, key)]
            return in_sequence([first_use(condition, key), joined(paths)])
        case c.For(init=init, condition=condition, step=step, body=body):
            always = in_sequence(first_use(part, key) for part in (init, condition))
            around = (maybe(first_use(part, key)) for part in (body, step))
            return always if always is not Use.NONE else in_sequence(around)
        case c.While(condition=condition, body=body, do_first=do_first):
            inside = maybe(first_use(body, key))
            return in_sequence([inside, first_use(condition, key)] if do_first else [first_use(condition, key), inside])
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            paths = [first_use(then, key), first_use(otherwise, key)]
            return in_sequence([first_use(condition, key), joined(paths)])
        case c.Binary(op="&&" | "||", left=left, right=right):
            return in_sequence([first_use(left, key), maybe(first_use(right, key))])
    uses = [first_use(child, key) for child in c.children(node)]
    return Use.READ if Use.READ in uses else in_sequence(uses)


def maybe(use: Use) -> Use:
    """What may not be executed kills nothing."""
    return Use.NONE if use is Use.KILL else use


def is_set_first(items: Iterable[c.Stmt]) -> bool:
    """Whether no variable that is declared without a value in a loop is read before it has one."""
    for node in (node for item in items for node in c.walk(item)):
        if isinstance(node, c.Block):
            for position, item in enumerate(node.body):
                if isinstance(item, c.Decl) and item.init is None and not item.extents:
                    rest = c.Block(node.body[position + 1 :])
                    if first_use(rest, item.name) is Use.READ:
                        return False
    return True
