"""Nests that stream through one array, in one pass over it: a block of its rows at a time, while it is in a cache."""

from __future__ import annotations

import islpy as isl

from polyc.cost.given_sizes import ROW_BLOCKS, given_tile
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import Access
from polyc.model.tree import Band, Filter, Member, Node, Role, Sequence
from polyc.nests.nest import chain_to_leaf, values
from polyc.nests.sums import COLUMNS, Form, chains, sum_nest
from polyc.nests.tiling import tile_members
from polyc.poly import among, empty_map, names, value_on
from polyc.records import dataclass, replace

ROWS_OF_BLOCK = 32
"""At least: so many rows of a few thousand numbers stay in the second level of a cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A nest of one statement that walks through the rows and columns of an array."""

    position: int
    """Of its step in the sequence."""
    statement: str
    instances: isl.UnionSet
    node: Node
    row: Member
    column: Member
    array: str
    sums_columns: bool = False
    """Whether it adds up each column by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class OnePass:
    """Several walks as one nest, and the other steps around it."""

    steps: tuple[Filter, ...]
    """All of the sequence, with the walks in the place of `made`."""
    made: int
    statements: tuple[str, ...]
    array: str
    rows: int
    node: Node


def one_pass(program: Program, steps: tuple[Filter, ...]) -> OnePass | None:
    """Walks through one array joined by blocks of its rows; None where there are none, or nothing of it is allowed.

    rewrite:  for i for j t[i] += A[i][j] * x[j];  for j for i y[j] += A[i][j] * t[i];
              -> for it by 32 { for i in it for j t[i] += …; for j for i in it y[j] += …; }
    tree:     sequence(P: band(i, j), S: band(j, i)) -> band(i by 32) - sequence(P: band(i, j), S: band(j, i)); where
              all dependences stay in a column, in tiles of columns: band(j by 512) - band(i by 32) - sequence(…)
    math:     with r the row and c the column of A that an instance touches: r(x) <= r(y) for each dependence x -> y
              among them, so that no block needs a later one. Inside of a block the nests keep their order
    requires: a sum by columns among them, which goes through the rows in order; what stands between the nests may
              run before or after all of them
    ensures:  each cell has its additions in their order
    source:   tile-wise fusion with the same tiles for both, relation (22) of Zhao et al. 2024, for outputs that share
              an input, or of which one reads the other
    """
    found = [walk for k, step in enumerate(steps) if (walk := _walk(program, k, step)) is not None]
    for anchor in reversed([walk for walk in found if walk.sums_columns]):
        group = [anchor]
        for other in [w for w in found if w is not anchor]:
            same = _alongside(program, anchor, other)
            if same is None:
                continue
            tried = sorted([*group, same], key=lambda walk: walk.position)
            if _in_row_order(program, tried) and _order_of_others(program, steps, tried) is not None:
                group = tried
        if len(group) > 1:
            return _joined(program, steps, group)
    return None


def _walk(program: Program, position: int, step: Filter) -> Walk | None:
    """The nest, if it is a sum by columns, or if it may be one that walks beside such a sum."""
    node = step.child
    statements = names(step.filter)
    if len(statements) != 1 or not isinstance(node, Band):
        return None
    (name,) = statements
    loops = chain_to_leaf(node)
    if loops is None or len(loops) != 2 or not node.members[0].coincident or name not in program.scop.statements:
        return None
    first, second = loops
    nest = sum_nest(program, node)
    if nest is not None and nest.sums[name].form is Form.COLUMNS:
        streamed = [a for a in program.statements[name].accesses if _is_streamed(a)]
        return Walk(position, name, step.filter, node, second, first, streamed[0].array, True) if streamed else None
    return Walk(position, name, step.filter, node, first, second, "")


def _is_streamed(access: Access) -> bool:
    """Whether each instance touches another cell, of an array with rows and columns."""
    return access.exact and access.relation.dim(isl.dim_type.out) == 2 and bool(access.relation.is_injective())


def _alongside(program: Program, anchor: Walk, other: Walk) -> Walk | None:
    """The other walk with its rows and columns told apart: those of the array that the anchor walks through."""
    mine = [a for a in program.statements[anchor.statement].accesses if _is_streamed(a) and a.array == anchor.array]
    for access in program.statements[other.statement].accesses:
        if access.array != anchor.array or not _is_streamed(access):
            continue
        meets = access.relation.apply_range(mine[0].relation.reverse())
        for row, column in ((other.row, other.column), (other.column, other.row)):
            if _agree(meets, row, anchor.row) and _agree(meets, column, anchor.column):
                return replace(other, row=row, column=column, array=anchor.array)
    return None


def _agree(meets: isl.Map, one: Member, two: Member) -> bool:
    """Whether two loops have the same value for the instances that touch one cell."""
    left, right = (
        isl.Map.from_pw_aff(value_on(member.schedule, space))
        for member, space in ((one, meets.get_space().domain()), (two, meets.get_space().range()))
    )
    return not meets.is_empty() and bool(meets.apply_range(right).is_subset(left))


def _in_row_order(program: Program, walks: list[Walk]) -> bool:
    return _related(program, walks, [walk.row for walk in walks], "<=")


def _related(program: Program, walks: list[Walk], members: list[Member], relation: str) -> bool:
    """Whether the loops' values stand in a relation at both ends of each dependence."""
    own, by = walks[0].instances, empty_map(walks[0].instances)
    for walk, member in zip(walks, members, strict=True):
        own = own.union(walk.instances)
        by = by.union(values((member,), walk.instances))
    every = among(program.dependences.all, own).intersect_params(program.scop.known)
    distances = every.apply_domain(by).apply_range(by)
    return bool(distances.is_subset(isl.UnionMap(f"{{ [a] -> [b] : a {relation} b }}")))


def _order_of_others(
    program: Program, steps: tuple[Filter, ...], walks: list[Walk]
) -> tuple[list[Filter], list[Filter]] | None:
    """The steps that run before all of the walks, and those that run after them; None where one can do neither."""
    every = program.dependences.all
    mine = {walk.position for walk in walks}
    before = list(steps[: walks[0].position])
    after: list[Filter] = []
    joined = steps[walks[0].position].filter
    for k in range(walks[0].position + 1, len(steps)):
        step = steps[k]
        behind = after if k in mine else [*after, *(steps[p] for p in mine if p < k)]
        waits = any(not every.intersect_domain(b.filter).intersect_range(step.filter).is_empty() for b in behind)
        if k in mine:
            if waits:
                return None
            joined = joined.union(step.filter)
        elif waits or k > walks[-1].position:
            after.append(step)
        else:
            before.append(step)
    return before, after


def _joined(program: Program, steps: tuple[Filter, ...], walks: list[Walk]) -> OnePass:
    around = _order_of_others(program, steps, walks)
    assert around is not None
    instances, row, column = walks[0].instances, walks[0].row.schedule, walks[0].column.schedule
    for walk in walks[1:]:
        instances = instances.union(walk.instances)
        row, column = row.union_add(walk.row.schedule), column.union_add(walk.column.schedule)
    machine = load_cpu(program.options.machine)
    apart = _related(program, walks, [walk.column for walk in walks], "=")
    rows = ROWS_OF_BLOCK if apart else max(ROWS_OF_BLOCK, 2 * chains(machine) * machine.cores)
    (rows,) = given_tile(program, ROW_BLOCKS, (rows,))
    anchor = next(walk for walk in walks if walk.sums_columns)
    blocks = tile_members((Member(row, False, anchor.row.name, Role.LOOP),), (rows,))
    inside = Sequence(tuple(Filter(walk.instances, walk.node) for walk in walks))
    node: Node = Band(blocks, False, inside)
    if apart:
        node = Band(tile_members((Member(column, True, anchor.column.name, Role.LOOP),), (COLUMNS,)), True, node)
    before, after = around
    statements = tuple(walk.statement for walk in walks)
    every = (*before, Filter(instances, node), *after)
    return OnePass(every, len(before), statements, anchor.array, rows, node)
