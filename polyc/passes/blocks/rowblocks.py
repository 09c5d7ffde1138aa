"""Nests that walk over rows, in blocks of rows: what a block shares, or takes from earlier blocks, comes together."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Group, Program
from polyc.model.tree import Band, Domain, Filter, Mark, Node, Sequence
from polyc.nests.sums import streams
from polyc.nests.wishes import asks_tiles
from polyc.passes.blocks.one_pass import OnePass, one_pass
from polyc.passes.blocks.solves import solve_in_blocks, solve_many
from polyc.poly import names

STAGE = "rowblocks"


def block_rows(program: Program) -> Program:
    """Run what walks through the rows of one array in one pass over it, and triangular solves in blocks of rows.

    tree:     sequence(band(i, j) - S, band(j, i) - T) -> mark(group) - band(i by 32) - sequence(S, T): `one_pass.py`
              band(i) - x  ->  mark(group) - band(i by 64) - sequence(x ahead, x else): see `solves.py`
    requires: isl's schedule without fusion
    ensures:  the order of what adds into a cell
    """
    if not streams(program.options):
        return program
    child = program.tree.child
    if not isinstance(child, Sequence):
        program, node = _solved(program, program.tree.domain, child)
        return program if node is child else replace(program, tree=Domain(program.tree.domain, node))
    steps = child.children
    while not program.scop.wishes and (found := one_pass(program, steps)) is not None:
        program, node = _told(program, found)
        made = replace(found.steps[found.made], child=node)
        steps = (*found.steps[: found.made], made, *found.steps[found.made + 1 :])
    solved: list[Filter] = []
    for step in steps:
        program, node = _solved(program, step.filter.intersect(program.tree.domain), step.child)
        solved.append(step if node is step.child else replace(step, child=node))
    if len(solved) == len(child.children) and all(a is b for a, b in zip(solved, child.children, strict=True)):
        return program
    whole = solved[0].child if len(solved) == 1 else Sequence(tuple(solved))
    return replace(program, tree=Domain(program.tree.domain, whole))


def _told(program: Program, found: OnePass) -> tuple[Program, Node]:
    who, array = ", ".join(found.statements), program.scop.arrays[found.array].c_name
    text = f"{who} in blocks of {found.rows} rows of {array}"
    message = f"{text}: what one of them has read is in a cache for the next one"
    program = replace(
        program, groups=(*program.groups, Group(found.statements, found.statements, (), (found.rows,), True))
    )
    program = program.remark("row-blocks", STAGE, message, found.statements, array=array, sizes=[found.rows])
    return program, Mark("group", found.node, text=text)


def _solved(program: Program, instances: isl.UnionSet, node: Node) -> tuple[Program, Node]:
    """The nest in blocks, where it is a solve."""
    if not isinstance(node, Band) or asks_tiles(program, names(instances)):
        return program, node
    many = node.members[0].coincident
    solve = solve_many(program, node, instances) if many else solve_in_blocks(program, instances)
    if solve is None:
        return program, node
    statements = tuple(names(instances))
    sums, sizes = ", ".join(solve.sums), " and ".join(map(str, solve.sizes))
    text = f"{', '.join(statements)} in blocks of {sizes} rows"
    message = f"{text}: what {sums} takes from earlier blocks comes first, and its rows are independent there"
    program = program.remark("row-blocks", STAGE, message, solve.sums, sizes=list(solve.sizes))
    if many:  # its sums of products, and what is left, get tiles of their own
        return program, solve.node
    group = Group(statements, statements, (), solve.sizes, len(solve.sizes) > 1)
    return replace(program, groups=(*program.groups, group)), Mark("group", solve.node, text=text)
