"""isl's AST of a tree, with what is needed to print it."""

from __future__ import annotations

import islpy as isl

from polyc.codegen.loops.iterations import Visit
from polyc.codegen.loops.to_isl import Annotated
from polyc.poly import kind_of, maps
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """isl's AST of a tree, with what is needed to print it."""

    node: isl.AstNode
    annotated: Annotated
    visits: list[Visit]
    build: isl.AstBuild

    def statement(self, visit: int) -> str:
        """The name of the statement that was visited."""
        (schedule,) = maps(self.visits[visit].schedule)
        return str(schedule.get_tuple_name(isl.dim_type.in_))


def visit_at(node: isl.AstNode) -> int:
    """The number of the visit of a statement."""
    return int(str(node.get_annotation().get_name())[1:])


def visits_below(node: isl.AstNode) -> list[int]:
    """The numbers of all visits in a part of the AST, in the order of the text."""
    kind = kind_of(node)
    if kind == "user":
        return [visit_at(node)]
    if kind == "block":
        return [v for child in children(node) for v in visits_below(child)]
    if kind == "mark":
        return visits_below(node.mark_get_node())
    if kind == "for_":
        return visits_below(node.for_get_body())
    otherwise = visits_below(node.if_get_else_node()) if node.if_has_else_node() else []
    return visits_below(node.if_get_then_node()) + otherwise


def children(block: isl.AstNode) -> list[isl.AstNode]:
    items = block.block_get_children()
    return [items.get_at(k) for k in range(items.n_ast_node())]


def marks_of(node: isl.AstNode) -> list[tuple[str, isl.AstNode]]:
    """The marks below that stand in one iteration with the node, one entry for each time, with what is below them."""
    kind = kind_of(node)
    if kind == "mark":
        inner = node.mark_get_node()
        return [(str(node.mark_get_id().get_name()), inner), *marks_of(inner)]
    if kind == "block":
        return [m for child in children(node) for m in marks_of(child)]
    if kind == "if_":
        otherwise = marks_of(node.if_get_else_node()) if node.if_has_else_node() else []
        return marks_of(node.if_get_then_node()) + otherwise
    if kind == "for_" and node.for_is_degenerate():
        return marks_of(node.for_get_body())
    return []
