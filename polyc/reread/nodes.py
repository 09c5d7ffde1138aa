"""Parts of a text's C tree, as the comparison of texts takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyc.frontend.extract import initialisation
from polyc.model import ctree as c


def bare(node: c.Node) -> c.Node:
    """A value without the casts that give it its type, and without the labels that tell its references apart."""
    while isinstance(node, c.Cast):
        node = node.operand
    return c.rewrite(node, unlabelled)


def unlabelled(node: c.Node) -> c.Node | None:
    """Rewrites references to those without labels."""
    if isinstance(node, c.ArrayRef) and node.ref:
        return c.rewrite(replace(node, ref=""), unlabelled)
    return None


def flat(node: c.Stmt) -> Iterator[c.Stmt]:
    """The statements of blocks one by one, as the frontend takes them; declarations as assignments.

    A request for a line computes nothing, and is left out where the text is read (`program.py`).
    """
    match node:
        case c.Block(body=body):
            for item in body:
                yield from flat(item)
        case c.Decl(init=None) | c.Empty() | c.Comment() | c.Note():
            pass
        case c.ExprStmt() if c.is_request(node):
            pass
        case c.Decl():
            yield c.ExprStmt(initialisation(node))
        case _:
            yield node
