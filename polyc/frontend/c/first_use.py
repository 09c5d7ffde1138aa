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


class Names:
    """The names in each part of a tree, which are asked for many times."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[c.Node, frozenset[str]]] = {}

    def of(self, node: c.Node) -> frozenset[str]:
        """What is mentioned or declared."""
        found = self.known.get(id(node))
        if found is None:
            own = {node.name} if isinstance(node, c.Name | c.Decl) else set()
            found = self.known[id(node)] = node, frozenset(own).union(*map(self.of, c.children(node)))
        return found[1]


def first_use(node: c.Node | None, key: str, names: Names | None = None) -> Use:
    """The first use of a scalar in a tree of the region. names: to look only into parts that have its name."""
    if node is None or (names is not None and key not in names.of(node)):
        return Use.NONE

    def first(part: c.Node | None) -> Use:
        return first_use(part, key, names)

    match node:
        case c.Name(name=name):
            return Use.READ if name == key else Use.NONE
        case c.Assign(op="=", target=c.Name(name=name), value=value) if name == key:
            return in_sequence([first(value), Use.KILL])
        case c.Decl(name=name, init=init) if name == key:
            return in_sequence([first(init), Use.KILL])
        case c.Block(body=items):
            return in_sequence(map(first, items))
        case c.If(condition=condition, then=then, otherwise=otherwise):
            return in_sequence([first(condition), joined([first(then), first(otherwise)])])
        case c.For(init=init, condition=condition, step=step, body=body):
            always = in_sequence(map(first, (init, condition)))
            return always if always is not Use.NONE else in_sequence(maybe(first(part)) for part in (body, step))
        case c.While(condition=condition, body=body, do_first=do_first):
            inside = maybe(first(body))
            return in_sequence([inside, first(condition)] if do_first else [first(condition), inside])
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            return in_sequence([first(condition), joined([first(then), first(otherwise)])])
        case c.Binary(op="&&" | "||", left=left, right=right):
            return in_sequence([first(left), maybe(first(right))])
    uses = [first(child) for child in c.children(node)]
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
