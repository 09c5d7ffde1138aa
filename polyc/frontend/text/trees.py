"""pycparser's trees, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(list(one))
