"""Faults of the owners of cells: updates that no thread makes, or two of them, or in another order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.codegen.blocks.owner_block as printing
import polyc.codegen.render as render
import polyc.passes.scatter.scatters as scatters
from polyc.model import ctree as c
from polyc.model.tree import Band, Node
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
PROGRAMS = ("scattered",)


def printed(change: Callable[[c.Node], c.Node | None]) -> Install:
    """Change what is printed for such loops, each node of it that the change applies to."""

    def make(original: Any) -> Any:
        def block(self: printing._Owners) -> c.Stmt:
            return c.rewrite(original(self), change)  # type: ignore[no-any-return]

        return block

    return patched(printing._Owners, "printed", make)


def comparing(op: str, other: str, left: str) -> Install:
    """Another comparison with a variable on the left."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op=found, left=c.Name(name=name)) if found == op and name.rstrip("0123456789") == left:
                return replace(node, op=other)
        return None

    return printed(change)


def with_number(old: str, new: str, op: str) -> Install:
    """Another number on the right of an operator."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op=found, right=c.Literal(text=text)) if (found, text) == (op, old):
                return replace(node, right=c.Literal(new))
        return None

    return printed(change)


def calling(old: str, new: str) -> Install:
    return printed(lambda n: replace(n, function=new) if isinstance(n, c.Call) and n.function == old else None)


def on_bands(change: Callable[[Band], Band]) -> Install:
    def at(node: Node) -> Node | None:
        return change(node) if isinstance(node, Band) and any(m.owned for m in node.members) else None

    return after_pass("scatters", e.everywhere(at))


def other_members(**changes: Any) -> Install:
    return on_bands(lambda band: replace(band, members=tuple(replace(m, **changes) for m in band.members)))


def one_update(original: Any) -> Any:
    """The last update has its cell in no part's range."""

    def looked_up(self: printing._Owners) -> c.Stmt:
        body = original(self)
        return c.Block(body.body[:-1]) if isinstance(body, c.Block) and len(body.body) > 1 else c.Block(())

    return looked_up


def _body(self: printing._Owners) -> c.Stmt:
    return self.loop.body


def _without_else(block: c.Block) -> c.Stmt:
    *items, last = block.body
    assert isinstance(last, c.If)
    return c.Block((*items, replace(last, otherwise=None)))


for name_, what_, install_ in (
    ("a cell of two parts", "the last one of each", comparing("<", "<=", "at")),
    ("a cell of none", "the first one of each", comparing("<=", "<", "from")),
    ("smaller parts", "without what a division cuts off", with_number("1", "0", "+")),
    ("one part less", "", comparing("<", "<=", "part")),
    ("more blocks", "than the table has", with_number("1024", "512", "/")),
    ("the greatest for the least", "", calling("polyc_min", "polyc_max")),
    ("the least for the greatest", "", calling("polyc_max", "polyc_min")),
    ("no conditions", "where others have cells, too", patched(printing._Owners, "masked", lambda _o: _body)),
    ("an update not looked up", "", patched(printing._Owners, "looked_up", one_update)),
    ("the loop lost", "of one thread", patched(printing._Owners, "printed", lambda o: lambda s: _without_else(o(s)))),
    ("twice", "the block and the loop", patched(render, "with_owners", lambda o: lambda b, p: (*o(b, p), *b))),
    ("another array", "", other_members(owned=(("+", "w"),))),
    ("no array", "a parallel loop", other_members(owned=())),
    ("in any order", "by atomic updates", other_members(owned=(), atomics=(("+", "net"),))),
    ("whatever else it writes", "", always(scatters._Marker, "race", None)),
):
    add("scatters", f"owners: {name_}", what_, install_, *PROGRAMS, *(("ran_twice",) if "what" in name_ else ()))
