"""Recurrences over rows, as in a triangular solve: what a block of rows takes from earlier blocks comes first."""

from __future__ import annotations

import islpy as isl

from polyc.cost.given_sizes import ROW_BLOCKS, given_tile, rounded
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import LEAF, Band, Filter, Member, Node, Role, Sequence, restrict
from polyc.nests.nest import Outer, chain_to_leaf, values
from polyc.nests.sums import Form, Sum, chains, sum_nest
from polyc.nests.tiling import moves, tile_members
from polyc.passes.blocks.blocking import block_of_products, largest_part
from polyc.poly import among, names, sets, value_on
from polyc.records import dataclass, replace

MOST_ROWS = 128
"""Rows of an outer block at most: what is left of it runs on one thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Solve:
    """A nest in blocks of rows."""

    node: Node
    sums: tuple[str, ...]
    sizes: tuple[int, ...]
    """Rows of a block, outermost first."""


def solve_in_blocks(program: Program, instances: isl.UnionSet) -> Solve | None:
    """The nest of these instances with sums ahead of the rows that they belong to; None where it is no such nest.

    rewrite:  for i { for j < i: x[i] -= L[i][j] * x[j]; x[i] /= L[i][i]; }
              -> for it by 8 { for i in it: for j < it: x[i] -= L[i][j] * x[j];
                               for i in it { for it <= j < i: x[i] -= …; x[i] /= L[i][i]; } }
    tree:     band(i) - sequence(S: band(j), x)
              -> band(i by 8) - sequence(S ahead: band(i) - band(j), band(i) - sequence(S else: band(j), x))
    math:     with D the dependences inside of one block and W the cells that S writes: late are the instances of S that
              D leads to from another statement or cell, and those after them at the same cell; ahead = S \\ late.
              No dependence in a block leads to what is ahead but from an earlier value of its own cell, so that its
              rows may run in any order and beside each other
    requires: no other order mixes these instances with others
    ensures:  each cell has its additions in their order
    source:   blocked forward substitution, Golub and Van Loan, "Matrix Computations", 4th edition, Section 3.1.4; as
              index-set splitting by the dependences alone, as in `blocking.py`
    """
    node = restrict(program.scop.tree.child, instances)
    if not isinstance(node, Band) or len(node.members) > 1:
        return None
    machine = load_cpu(program.options.machine)
    rows = chains(machine)
    sizes = [rows]
    if program.options.target != "c" and machine.cores > 1:
        usual = min(max(rows * 2 * machine.cores, MOST_ROWS // 2), MOST_ROWS)
        (outer,) = given_tile(program, ROW_BLOCKS, (usual,), names(instances))
        sizes = [rounded(outer, rows), rows]
    found = _blocked(program, node, instances, (), sizes)
    return Solve(found[0], found[1], tuple(sizes)) if found is not None else None


def _blocked(
    program: Program, node: Band, instances: isl.UnionSet, above: tuple[Member, ...], sizes: list[int]
) -> tuple[Node, tuple[str, ...]] | None:
    """The nest in blocks of the first size, and what is left of each in blocks of the next one."""
    (row,) = node.members
    blocks = tile_members((row,), (sizes[0],))
    inside = Outer((*above, *blocks)).same_iteration(among(program.dependences.all, instances))
    steps: list[Filter] = []
    rest = instances
    for step in node.child.children if isinstance(node.child, Sequence) else (Filter(instances, node.child),):
        sums = _sum_in(program, row, step.filter.intersect(instances), step.child)
        own = step.filter.intersect(instances)
        early = _ahead(program, sums[0].result[0].relation, sums[1], own, inside) if sums else None
        if sums is None or early is None or not _reaches_all_rows(early, row, sizes[0]):
            continue
        chain = tuple(replace(m, schedule=m.schedule.intersect_domain(early)) for m in sums[0].chain)
        along = replace(row, schedule=row.schedule.intersect_domain(early), coincident=True)
        steps.append(Filter(early, Band((along, *chain), False, LEAF)))
        rest = rest.subtract(early)
    if not steps or not inside.intersect_domain(rest).subtract_range(rest).is_empty():
        return None
    rest = rest.coalesce()
    left = restrict(node, rest)
    if len(sizes) > 1 and isinstance(left, Band):
        deeper = _blocked(program, left, rest, (*above, *blocks), sizes[1:])
        left = deeper[0] if deeper is not None else left
    found = tuple(name for step in steps for name in names(step.filter))
    return Band(blocks, False, Sequence((*steps, Filter(rest, left)))), found


def solve_many(program: Program, node: Band, instances: isl.UnionSet) -> Solve | None:
    """The same of a solve with many right-hand sides: sums of products ahead of the rows that they belong to.

    rewrite:  for t for i { for j < i: x[i][t] -= L[i][j] * x[j][t]; x[i][t] /= L[i][i]; }
              -> for it by 48 { for i in it for t for j < it: x[i][t] -= L[i][j] * x[j][t];
                                for t for i in it { for it <= j < i: x[i][t] -= …; x[i][t] /= L[i][i]; } }
    tree:     band(t, j, i) - sequence(S, x)
              -> band(i by 48) - sequence(S ahead: band(i, t) - band(j), band(t, j, i) - sequence(S else, x))
    requires: isl's schedule of the nest; of a single statement `registers` cuts the triangle by itself
    """
    if not node.permutable or not isinstance(node.child, Sequence) or "registers" in program.options.without:
        return None
    for step in node.child.children:
        own, below = step.filter.intersect(instances), chain_to_leaf(step.child)
        written = [a for s in names(own) for a in program.statements[s].accesses if a.kind is not AccessKind.READ]
        if len(names(own)) != 1 or len(written) != 1 or below is None:
            continue
        cell, every = written[0].relation, [_on(m, own) for m in (*node.members, *below)]
        chain = tuple(m for m in every if not moves(cell, m))
        rows = [k for k, m in enumerate(every) if moves(cell, m) and not m.coincident]
        if len(rows) != 1 or rows[0] >= len(node.members) or not chain:
            continue
        columns = [m for m in every if moves(cell, m) and m.coincident]
        result = (replace(every[rows[0]], coincident=True), *columns)
        size = block_of_products(program, Band(result, True, Band(chain, True, LEAF)))
        if size is None:
            continue
        row = node.members[rows[0]]
        blocks = tile_members((row,), (size,))
        inside = Outer(blocks).same_iteration(among(program.dependences.all, instances))
        early = _ahead(program, cell, values(chain, own), own, inside)
        if early is None or not _reaches_all_rows(early, row, size):
            continue
        early = _told_by_blocks(early, own, blocks[0], chain[0])
        rest = instances.subtract(early).coalesce()
        if inside.intersect_domain(rest).subtract_range(rest).is_empty():
            inner = Band(tuple(_on(m, early) for m in chain), True, LEAF)
            ahead = Band(tuple(_on(m, early) for m in result), True, inner)
            count = node.coincident_prefix  # what is left needs no tiles but for threads
            left = Band(node.members[:count], True, replace(node, members=node.members[count:]))
            steps = Filter(early, ahead), Filter(rest, restrict(left, rest))
            loop = replace(blocks[0], role=Role.LOOP)
            return Solve(Band((loop,), False, Sequence(steps)), tuple(names(own)), (size,))
    return None


def _told_by_blocks(early: isl.UnionSet, own: isl.UnionSet, block: Member, step: Member) -> isl.UnionSet:
    """The same instances, told by where the block of a row begins: j < 48 (i / 48), and not 48 (j / 48) + 48 <= i."""
    (every,) = sets(own)
    begin, value = (value_on(m.schedule, every.get_space()) for m in (block, step))
    found = isl.UnionSet.from_set(every.intersect(begin.gt_set(value)))
    return found if found.is_equal(early) else early


def _on(member: Member, instances: isl.UnionSet) -> Member:
    return replace(member, schedule=member.schedule.intersect_domain(instances))


def _sum_in(program: Program, row: Member, instances: isl.UnionSet, node: Node) -> tuple[Sum, isl.UnionMap] | None:
    """The sum by rows that is all of a step, and `{ S[i] -> [j] }`, its order in a row."""
    chain = chain_to_leaf(node)
    own = names(instances)
    if len(own) != 1 or not chain:
        return None
    along = replace(row, schedule=row.schedule.intersect_domain(instances), coincident=True)
    inner = tuple(replace(m, schedule=m.schedule.intersect_domain(instances)) for m in chain)
    nest = sum_nest(program, Band((along, *inner), False, LEAF), None)
    if nest is None or nest.sums[own[0]].form is not Form.ROWS:
        return None
    return nest.sums[own[0]], values(inner, instances)


def _ahead(
    program: Program, written: isl.Map, order: isl.UnionMap, own: isl.UnionSet, inside: isl.UnionMap
) -> isl.UnionSet | None:
    """The instances of a sum that need nothing of their own block; None where there are none."""
    cell = isl.UnionMap.from_map(written)
    at_one_cell = cell.apply_range(cell.reverse())
    into = inside.intersect_range(own)
    others = into.subtract_domain(own).union(into.intersect_domain(own).subtract(at_one_cell))
    late = others.range()
    (space,) = {piece.get_space() for piece in sets(isl.UnionSet.from_set(isl.Set.from_union_set(order.range())))}
    after = order.apply_range(isl.UnionMap.from_map(isl.Map.lex_lt(space))).apply_range(order.reverse())
    late = late.union(late.apply(after.intersect(at_one_cell)))
    return largest_part(program, own.subtract(late).coalesce(), own)


def _reaches_all_rows(early: isl.UnionSet, row: Member, size: int) -> bool:
    """Whether the last row of a block has something ahead, and not the first ones alone."""
    value = isl.Val.int_from_si(row.schedule.get_ctx(), size)
    place = isl.UnionMap.from_union_pw_aff(row.schedule.mod_val(value)).intersect_domain(early)
    last = isl.UnionSet(f"{{ [{size - 1}] }}")
    return not place.intersect_range(last).is_empty()
