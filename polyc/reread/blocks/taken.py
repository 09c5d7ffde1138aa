"""Loops and the blocks that stand for them, taken out of the statements beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from polyc.model import ctree as c


class Other(Exception):
    """How a block differs from the loop that it stands for."""


def taken_out(items: Iterable[c.Stmt], is_one: Callable[[c.Node], bool]) -> tuple[list[c.Stmt], list[c.Stmt]]:
    """The statements with nothing in the places of some in them, and these."""
    found: list[c.Stmt] = []

    def change(node: c.Node) -> c.Node | None:
        if is_one(node):
            found.append(node)  # type: ignore[arg-type]
            return c.Empty()
        return None

    return [c.rewrite(item, change) for item in items], found


def loops_out(items: Iterable[c.Stmt], is_one: Callable[[c.For], bool]) -> tuple[list[c.Stmt], list[c.For]]:
    """The same of loops."""
    left, found = taken_out(items, lambda node: isinstance(node, c.For) and is_one(node))
    return left, [loop for loop in found if isinstance(loop, c.For)]


def without_notes(block: c.Stmt) -> list[c.Stmt]:
    """The statements of a block."""
    items = block.body if isinstance(block, c.Block) else (block,)
    return [item for item in items if not isinstance(item, c.Note)]
