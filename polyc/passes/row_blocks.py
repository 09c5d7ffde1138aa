"""Nests that walk over rows, in blocks of rows: what a block shares, or takes from earlier blocks, comes together."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Group, Program
from polyc.model.tree import Band, Domain, Filter, Mark, Node, Sequence
from polyc.passes.solves import Solve, solve_in_blocks
from polyc.passes.sums import streams
from polyc.poly import names

STAGE = "rowblocks"


def block_rows(program: Program) -> Program:
    """Run triangular solves in blocks of rows.

    tree:     band(i) - x  ->  mark(group) - band(i by 64) - sequence(x ahead, x else): see `solves.py`
    requires: isl's schedule without fusion
    ensures:  the order of what adds into a cell
    """
    if not streams(program.options):
        return program
    child = program.tree.child
    if not isinstance(child, Sequence):
        program, node = _blocked(program, program.tree.domain, child)
        return program if node is child else replace(program, tree=Domain(program.tree.domain, node))
    steps: list[Filter] = []
    for step in child.children:
        program, node = _blocked(program, step.filter.intersect(program.tree.domain), step.child)
        steps.append(step if node is step.child else replace(step, child=node))
    if all(new is old for new, old in zip(steps, child.children, strict=True)):
        return program
    return replace(program, tree=Domain(program.tree.domain, Sequence(tuple(steps))))


def _blocked(program: Program, instances: isl.UnionSet, node: Node) -> tuple[Program, Node]:
    """The nest in blocks, where it is a solve."""
    if not isinstance(node, Band) or node.members[0].coincident:
        return program, node
    solve = solve_in_blocks(program, instances)
    return (program, node) if solve is None else _told(program, solve, tuple(names(instances)))


def _told(program: Program, solve: Solve, statements: tuple[str, ...]) -> tuple[Program, Node]:
    sums, sizes = ", ".join(solve.sums), " and ".join(map(str, solve.sizes))
    text = f"{', '.join(statements)} in blocks of {sizes} rows"
    group = Group(statements, statements, (), solve.sizes, len(solve.sizes) > 1)
    message = f"{text}: what {sums} takes from earlier blocks comes first, and its rows are independent there"
    program = replace(program, groups=(*program.groups, group))
    program = program.remark("row-blocks", STAGE, message, solve.sums, sizes=list(solve.sizes))
    return program, Mark("group", solve.node, text=text)

