"""isl's AST of a tree, and where that of a long program is cut in two."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyc.codegen.instances import Visit
from polyc.codegen.to_isl import Annotated
from polyc.poly import kind_of, maps

FIRST_PART = 0.45
"""Of a long text: who checks it prints all of the text before, and the check of the rest has begun by then."""


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


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the AST of a long program is cut in two: between children of its root."""

    children: int
    """Of the first half."""
    statements: tuple[frozenset[str], frozenset[str]]
    """Those that each half runs."""


def cut_of(made: Generated, fewest: int) -> Cut | None:
    """A cut between statements in the proportion FIRST_PART; None where there is none, or there are fewer of them.

    The first half has several children: they stand in a sequence, in the text too.
    """
    if kind_of(made.node) != "block" or len(made.visits) < fewest:
        return None
    marks = [name for name, _ in marks_of(made.node)]
    if len(set(marks)) < len(marks):
        return None  # they have one declaration
    runs = [[made.statement(visit) for visit in visits_in(child)] for child in children(made.node)]
    before = [sum(map(len, runs[:k])) for k in range(len(runs))]
    if len(runs) < 3:
        return None
    cut = min(range(2, len(runs)), key=lambda k: abs(before[k] - FIRST_PART * len(made.visits)))
    first, second = (frozenset(name for child in half for name in child) for half in (runs[:cut], runs[cut:]))
    return Cut(cut, (first, second))


def visits_in(node: isl.AstNode) -> list[int]:
    """The numbers of the visits that printed what is below a node."""
    kind = kind_of(node)
    if kind == "for_":
        return visits_in(node.for_get_body())
    if kind == "mark":
        return visits_in(node.mark_get_node())
    if kind == "if_":
        otherwise = visits_in(node.if_get_else_node()) if node.if_has_else_node() else []
        return visits_in(node.if_get_then_node()) + otherwise
    if kind == "block":
        return [visit for child in children(node) for visit in visits_in(child)]
    return [visit_at(node)]


def visit_at(node: isl.AstNode) -> int:
    """The number of the visit of a statement."""
    return int(str(node.get_annotation().get_name())[1:])


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
