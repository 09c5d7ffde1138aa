"""Which arrays of whole numbers decide subscripts, sizes and conditions: only small numbers stand in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polyc.frontend.text.trees import walk
from polyc.model.scop import Array
from polyc.replay.translate.heads import base_names


def few_values(function: c_ast.FuncDef, arrays: Mapping[str, Array]) -> dict[str, bool]:
    """Of each array, whether small numbers stand in it."""
    decisive = {name for node in walk(function.body) for name in _decided(node)}
    assigned = [(_bases(node), {*_names(node)}) for node in walk(function.body) if _stores(node)]
    before = -1
    while len(decisive) != before:
        before = len(decisive)
        for bases, names in assigned:
            if bases & decisive:
                decisive |= names
    return {name: name in decisive and array.element.kind in ("int", "struct") for name, array in arrays.items()}


def _decided(node: c_ast.Node) -> Iterator[str]:
    """Names in what chooses a cell, or what runs."""
    match node:
        case c_ast.ArrayRef(subscript=part) | c_ast.ArrayDecl(dim=part):
            yield from _names(part)
        case c_ast.If(cond=part) | c_ast.While(cond=part) | c_ast.DoWhile(cond=part):
            yield from _names(part)
        case c_ast.For(init=first, cond=part, next=step):
            for inner in (first, part, step):
                yield from _names(inner)
        case c_ast.BinaryOp(op="<<" | ">>" | "/" | "%", right=part):
            yield from _names(part)
        case _:
            pass


def _names(node: c_ast.Node | None) -> Iterator[str]:
    if node is not None:
        yield from (inner.name for inner in walk(node) if isinstance(inner, c_ast.ID))


def _stores(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.Decl) and node.init is not None)


def _bases(node: c_ast.Node) -> set[str]:
    """The arrays or variables that a statement assigns to."""
    return {node.name} if isinstance(node, c_ast.Decl) else base_names(node.lvalue)
