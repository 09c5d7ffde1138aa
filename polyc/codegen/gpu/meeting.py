"""Barriers that isl put into branches, outside of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from polyc.codegen.loops.instances import block_of
from polyc.model import ctree as c


def outside_of_branches(statements: tuple[c.Stmt, ...], barrier: c.Stmt) -> Iterator[c.Stmt]:
    """Statements that all threads of a block run: they take the same branch, and may as well meet in any case.

    rewrite:   if (n > t) { barrier; A; barrier; B }  ->  barrier; if (n > t) A; barrier; if (n > t) B
    why:       PoCL makes wrong code of barriers in branches inside of loops with barriers
    """
    for item in statements:
        sides = _sides(item) if isinstance(item, c.If) else []
        steps = [step for _, body in sides for step in body]
        if barrier not in steps or any(isinstance(step, c.Decl) for step in steps):
            yield item
            continue
        for condition, body in sides:
            for meets, group in groupby(body, key=lambda step: step == barrier):
                yield barrier if meets else c.If(condition, block_of(tuple(group)))


def _sides(branch: c.If) -> list[tuple[c.Expr, tuple[c.Stmt, ...]]]:
    """Each condition, and what runs where it holds."""
    found: list[tuple[c.Expr, tuple[c.Stmt, ...]]] = [(branch.condition, _steps(branch.then))]
    if branch.otherwise is not None:
        found.append((c.Unary("!", branch.condition), _steps(branch.otherwise)))
    return found


def _steps(body: c.Stmt) -> tuple[c.Stmt, ...]:
    return body.body if isinstance(body, c.Block) else (body,)
