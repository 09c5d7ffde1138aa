"""Faults of expanded rows, and of the tiles that keep them: other rows, other last values, tiles in a wrong order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.fusion.rows as kept_rows
import polyc.passes.values.expansion as expansion
import polyc.pipeline as pipeline
import polyc.relaxations as relaxations
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.model.tree import Domain, Extension, Node, Sequence, rewrite
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Edit, Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def moved(text: str) -> Install:
    """Rows and their cells by another function, wherever the pass asks for them."""

    def make(original: Callable[..., isl.Map]) -> Callable[..., isl.Map]:
        def cells(self: Any, name: str, made: str = "") -> isl.Map:
            found = original(self, name, "W").apply_range(isl.Map(text))
            if made:
                return found.set_tuple_id(isl.dim_type.out, isl.Id.read_from_str(found.get_ctx(), made))
            return found.reset_tuple_id(isl.dim_type.out)

        return cells

    return together(patched(expansion.Rows, "cells", make), patched(expansion.Rows, "sums", _updates))


def _updates(_original: object) -> Callable[..., list[str]]:
    def sums(self: Any) -> list[str]:
        return [n for n in self.names if expansion.updates(self.scop.statements[n], self.array)]

    return sums


def last(change: Callable[[Statement], Statement]) -> Install:
    """Another copy of the last values."""

    def make(original: Callable[..., Statement | None]) -> Callable[..., Statement | None]:
        def changed(self: Any, made: str, others: Iterable[str] = ()) -> Statement | None:
            found = original(self, made, others)
            return None if found is None else change(found)

        return changed

    return patched(expansion.Rows, "last", make)


def of_tree(change: Callable[[Node], Node]) -> Edit:
    def edit(program: Program) -> Program:
        return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))

    return edit


def reversed_steps(node: Node) -> Node:
    if isinstance(node, Extension) and isinstance(node.child, Sequence):
        return replace(node, child=Sequence(tuple(reversed(node.child.children))))
    return node


def nothing_added(node: Node) -> Node:
    return replace(node, relation=node.relation.subtract(node.relation)) if isinstance(node, Extension) else node


def in_every_tile(node: Node) -> Node:
    if not isinstance(node, Extension):
        return node
    return replace(node, relation=isl.UnionMap.from_domain_and_range(isl.UnionSet("{ [it] }"), node.relation.range()))


def without_first(statement: Statement) -> Statement:
    return replace(statement, domain=statement.domain.lower_bound_val(isl.dim_type.set, 1, isl.Val(1)))


def doubled(statement: Statement) -> Statement:
    def change(node: c.Node) -> c.Node | None:
        return replace(node, op="+=") if isinstance(node, c.Assign) else None

    return replace(statement, body=c.rewrite(statement.body, change))


def of_first_iteration(statement: Statement) -> Statement:
    """From the row of iteration 0."""
    read, write = statement.accesses
    first = read.relation.apply_range(isl.Map(f"{{ {read.array}[i, j] -> {read.array}[0, j] }}"))
    return replace(statement, accesses=(replace(read, relation=first), write))


def smaller_boxes(patch: Any) -> None:
    right = kept_rows._Joined.buffer

    def buffer(self: Any, box: Any) -> Any:
        found = right(self, box)
        one = isl.Val.int_from_si(found.extents[0].get_ctx(), -1)
        less = replace(found, extents=(*found.extents[:-1], found.extents[-1].add_constant_val(one)))
        self.program = replace(self.program, buffers=self.program.buffers | {less.key: less})
        return less

    patch.setattr(kept_rows._Joined, "buffer", buffer)


ROWS: list[tuple[str, str, Install]] = [
    ("nothing forbidden", "no obstacle is seen", always(expansion.Rows, "obstacle", None)),
    ("one row for all", "the first one", moved("{ W[i, j] -> W[0, j] }")),
    ("one element for a row", "the first one", moved("{ W[i, j] -> W[i, 0] }")),
    ("rows of two iterations", "share an array's row", moved("{ W[i, j] -> W[i', j] : 2i' <= i <= 2i' + 1 }")),
    ("rows backwards", "which changes nothing", moved("{ W[i, j] -> W[i, 23 - j] }")),
    ("last values forgotten", "of the row", patched(expansion.Rows, "last", lambda _o: lambda *_args: None)),
    ("last values but the first", "of the row", last(without_first)),
    ("last values added", "to those before", last(doubled)),
    ("first values copied back", "instead of the last", last(of_first_iteration)),
    ("steps reversed", "rows are stored, then summed up", after_pass("rows", of_tree(reversed_steps))),
    ("no last values in tiles", "nobody copies back", after_pass("rows", of_tree(nothing_added))),
    ("last values in every tile", "of rows that it has not", after_pass("rows", of_tree(in_every_tile))),
    ("no condition", "on the length of a row", patched(kept_rows._Joined, "bound", lambda _o: lambda _self: None)),
    ("buffers too small", "by a column", smaller_boxes),
    (
        "arrays as a whole",
        "that no tile keeps",
        together(
            patched(pipeline, "keep_rows", lambda _o: lambda program: program),
            always(relaxations, "in_memory", set()),
        ),
    ),
]
for name_, what_, install_ in ROWS:
    add("rows", name_, what_, install_)
