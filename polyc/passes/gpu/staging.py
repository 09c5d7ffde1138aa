"""Rows and columns on a GPU: a block fetches parts of several of them, and one thread walks along each."""

from __future__ import annotations

from functools import reduce
from itertools import count, takewhile
from math import prod

import islpy as isl

from polyc.machine import load_gpu
from polyc.model.program import Group, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Domain, Filter, Leaf, Mark, Member, Node, Role, Sequence
from polyc.nests.contractions import subscript, varies
from polyc.nests.nest import Outer, has_loops, values
from polyc.nests.points import statements_of
from polyc.nests.strides import axes_of, gain_of, iterations
from polyc.nests.tiling import point_members, tile_members
from polyc.passes.buffers.places import place_for_each
from polyc.passes.gpu.parts import NoPanels, Parts
from polyc.passes.gpu.untile import at_once, without_tile
from polyc.poly import among, constant_of, empty_map, names
from polyc.records import dataclass, replace

STAGE = "staging"
ROWS = 32
"""Of a tile: one for each lane of a warp, which walks while the others of its block wait, and fetches with them."""
SHAPES = (128, 2), (64, 2), (32, 2), (16, 2), (32, 1), (16, 1)
"""Elements of a part of a row, and places of a panel that is only read: with two, one is filled while the other one is
used."""
WARPS = 8
"""Of a block: enough to have a part of each row on its way at once."""
SHORT = 32
"""Elements of a row below which it is a line of the cache or two, which a thread has to itself as well."""
UNROLLED = 8
"""Elements of a row that a thread loads at once."""
MANY = 65536
"""Columns whose threads have enough on the way by themselves."""
FEWEST = 8
"""Rows of a tile, at least."""
MOST_SHARED = 36 << 10
"""Bytes of shared memory of a block: six of them fit on a multiprocessor, with 48 warps."""
FETCHED_BYTES = (4, 8, 16)
"""Of elements that are fetched without a register."""
MOST_STATE = 16
"""Elements of a private array of which each row of a tile has its own in shared memory."""


def stage_rows(program: Program) -> Program:
    """Fetch parts of rows by all threads of a block, side by side, where each thread walks along a row of its own.

    rewrite:  for i on threads { s = 0; for j s += A[i][j] * x[j]; y[i] = s; }
              -> for a tile of 32 rows: s_of[i] = 0 for its i on threads;
                 for jt by 128 { A_panel = A[it …][jt …] by all threads; barrier;
                                 for i on threads for j in jt s_of[i] += A_panel[i][j] * x[j]; }
                 y[i] = s_of[i] for its i on threads
    tree:     band(tile: i) - band(i) - sequence(S0, band(j) - S1, S2)
              -> band(tile: i) - allocate(s_of) -
                 sequence(band(i) S0, band(tile: j) - allocate(A_panel) - extension(copies) -
                          sequence(copies, band(i) - band(j) - S1, copies back), band(i) S2)
              for i on threads { s = f(b[i]); for j A[i][j] *= s; }, j parallel
              -> for a tile of 8 rows: s_of[i] = f(b[i]) for its i on threads; A[i][j] *= s_of[i] by all threads
              for i, j on threads B[j][i] = A[i][j]
              -> for a tile of 32 x 32: B_panel[j][i] = A[i][j] by all threads; barrier; B = B_panel by all threads
    math:     i is coincident and what is private has a place for each i, so that a step may run for all rows of a tile
              before the next step does; steps whose loops are all parallel are shared by all threads
    requires: consecutive memory along j, and not along i; or along i, and not along j, for columns; where both are
              parallel, of some arrays along the one and of others along the other
    ensures:  each row has its order, and each cell of the array is copied back by the tile that wrote it
    source:   shared memory for accesses that are not coalesced, as PPCG has it (Verdoolaege et al., TACO 2013);
              scalar expansion in tiles as on CPUs (`passes/loops/spread.py`)
    """
    staging = _Staging(program)
    child = staging.at(program.tree.child, program.tree.domain, ())
    return replace(staging.program, tree=Domain(program.tree.domain, child)) if staging.made else program


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """A step whose innermost loop goes along rows."""

    step: Filter
    chain: tuple[Member, ...]
    """Its loops, of one iteration of the rows' loop."""
    body: Node
    arrays: tuple[str, ...]
    """What it touches along the rows."""
    down: bool = False
    """It walks down columns, whose neighbours lie side by side in memory."""
    shared: bool = False
    """Its loops are parallel and go along rows: all threads share what each would have to itself."""


class _Staging(Parts):
    def __init__(self, program: Program) -> None:
        super().__init__(program, ROWS)
        self.machine = load_gpu(program.options.machine)
        self.made = False
        self.long = program.scop.context.params()
        """Sizes for which the rows are long enough."""
        self.added: list[isl.UnionSet] = []
        """Instances that tiles added, and that the domain's filters let through now."""

    def at(self, node: Node, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Node:
        """The subtree with the rows of its nests fetched by blocks."""
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(self.step(s, reaching, above) for s in steps))
            case Mark(kind="group", child=Band() as tiles) if tiles.members[0].role is Role.TILE:
                found = without_tile(self.program, tiles, reaching)
                if found is None or (above and not found[1].is_empty()):
                    return node
                points, added = found
                plain = node if added.is_empty() else _loops(points)
                made = self.tiled(points, reaching.union(added), above, plain)
                if made is plain:
                    return node
                self.added.append(added)
                return made
            case Band(members=members) if members[0].role is Role.LOOP and not any(m.mapped for m in members):
                if node.coincident_prefix:
                    return self.tiled(node, reaching, above, node)
                return replace(node, child=self.at(node.child, reaching, above + members))
            case _:
                return node

    def step(self, step: Filter, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Filter:
        """A step, with what its tiles have made."""
        before = len(self.added)
        child = self.at(step.child, reaching.intersect(step.filter), above)
        return replace(step, filter=reduce(isl.UnionSet.union, self.added[before:], step.filter), child=child)

    def tiled(self, points: Band, reaching: isl.UnionSet, above: tuple[Member, ...], node: Node) -> Node:
        """A nest in tiles of rows where these are long; the node that it is where that gains nothing, or cannot be."""
        if not points.coincident_prefix:
            return node
        before = self.program
        for attempt in (self.staged, self.transposed):
            try:
                child, shape = attempt(points, reaching, above)
                break
            except NoPanels:
                self.program, self.refs = before, None
        else:
            return node
        self.made = True
        listed = ", ".join(statements_of(points))
        sizes = (self.machine.warp_size, WARPS)
        made = Mark("group", child, f"{listed} in tiles of {shape}", sizes=sizes)
        instances = reaching.intersect(points.members[0].schedule.domain())
        some = instances.subtract(instances.intersect_params(self.long))
        if some.intersect_params(self.program.scop.known).is_empty():
            return made
        return Sequence((Filter(instances.intersect_params(self.long), made), Filter(some, node)))

    def staged(self, points: Band, reaching: isl.UnionSet, above: tuple[Member, ...]) -> tuple[Node, str]:
        """The tiles of a nest, made anew, and what they are. Raises NoPanels where that gains nothing, or cannot be."""
        number = points.coincident_prefix
        parallel, rest = points.members[:number], points.members[number:]
        at, *_ = axes_of(parallel, self.program)
        row, others = parallel[at], tuple(member for k, member in enumerate(parallel) if k != at)
        inner = replace(points, members=rest, permutable=False) if rest else points.child
        instances = reaching.intersect(row.schedule.domain())
        steps = inner.children if isinstance(inner, Sequence) else (Filter(instances, inner),)
        steps = self.joined(tuple(replace(step, filter=step.filter.intersect(instances)) for step in steps))
        walks = [self.walk(step, row, others) for step in steps]
        walking = any(walk.arrays for walk in walks)
        if not walking and not any(walk.shared for walk in walks):
            raise NoPanels
        self.long = self.program.scop.context.params()
        for walk in walks:
            if walk.arrays or (walk.shared and not walking):
                self.long = self.long.intersect(_at_least(walk.chain[-1], walk.step.filter, SHORT)).coalesce()
        self.rows = self.rows_of_a_tile(parallel) if walking else WARPS
        tiles = tile_members(parallel, tuple(self.rows if member is row else 1 for member in parallel))
        around = (*above, *tiles)
        state = self.state(instances, walks, above + parallel)
        kept = [self.place(array, instances, row, around, len(above) + at) for array in state]
        taken = sum(self.bytes_of(array) * self.rows for array in state)
        start = self.program
        for width, places in SHAPES:
            self.program, self.left, self.numbers = start, MOST_SHARED - taken, count(1)
            made = tuple(self.made_step(walk, point_members(parallel), around, width, places) for walk in walks)
            if self.left >= 0:
                break
        else:
            raise NoPanels
        child: Node = Sequence(made) if len(made) > 1 else made[0].child
        self.tell_of_rows(points, walks)
        tiled = Band(tiles, points.permutable, Mark("allocate", child, names=tuple(kept)) if kept else child)
        return tiled, f"{self.rows} rows"

    def transposed(self, points: Band, reaching: isl.UnionSet, above: tuple[Member, ...]) -> tuple[Node, str]:
        """Tiles of a nest that is all parallel, with panels for what lies along another loop than the one that threads
        next to each other have. Raises NoPanels where there is nothing of that, or it cannot be."""
        loops = points.members
        instances = reaching.intersect(loops[0].schedule.domain())
        if points.coincident_prefix < len(loops) or has_loops(points.child):
            raise NoPanels
        first = loops[axes_of(loops, self.program)[0]]
        second, arrays = self.across(loops, first, instances)
        self.long = _at_least(first, instances, SHORT).intersect(_at_least(second, instances, SHORT)).coalesce()
        if self.long.intersect_params(self.program.scop.known).is_empty():
            raise NoPanels
        tiles = tile_members(loops, tuple(ROWS if member in (first, second) else 1 for member in loops))
        around = (*above, *tiles)
        tile = values(around, instances)
        self.left, self.numbers, self.rows = MOST_SHARED, count(1), ROWS
        step = Filter(instances, points)
        of_step = [
            (array, self.touched(array, instances, tile, False, around), self.touched(array, instances, tile, True))
            for array in arrays
        ]
        below: Node = Band(point_members(loops), True, points.child)
        below = self.with_panels(of_step, step, below, around, 1)
        self.refs = None
        if self.left < 0:
            raise NoPanels
        of = " and ".join(self.program.scop.arrays[array].c_name for array in arrays)
        listed = self.retiled(points)
        message = (
            f"{', '.join(listed)}: {of} has its neighbours in memory along {second.name}, other arrays "
            f"along {first.name}; tiles of {ROWS} x {ROWS} go through shared memory, so that threads next to each "
            f"other have neighbours of each array"
        )
        self.program = self.program.remark("tile-transposed", STAGE, message, listed, rows=self.rows)
        return Band(tiles, points.permutable, below), f"{ROWS} x {ROWS}"

    def across(
        self, loops: tuple[Member, ...], first: Member, instances: isl.UnionSet
    ) -> tuple[Member, tuple[str, ...]]:
        """The loop along which some arrays are consecutive, but for the first one, along which others are; and these
        arrays. What nobody writes may be read along the first one as well, as `A[i][j] + A[j][i]` is. Raises NoPanels
        where there are none, or several such loops."""
        found: dict[Member, set[str]] = {}
        uses = [
            (self.program.statements[name], a)
            for name in names(instances)
            for a in self.program.statements[name].accesses
        ]
        for statement, access in uses:
            for other in loops:
                if other is not first and self.is_along(access, first, other, statement.domain):
                    found.setdefault(other, set()).add(access.array)
        if len(found) != 1:
            raise NoPanels
        ((second, arrays),) = found.items()
        taken = {ref for buffer in self.program.buffers.values() for ref in buffer.accesses}
        written = {access.array for _, access in uses if access.kind is not AccessKind.READ}
        refs = set[tuple[str, str]]()
        for statement, access in uses:
            if access.array not in arrays:
                continue
            alone = access.exact and access.kind is not AccessKind.MAY_WRITE
            alone = alone and (statement.name, access.ref) not in taken
            if not self.is_along(access, first, second, statement.domain):
                if access.array in written:
                    raise NoPanels
            elif alone and all(varies(access, member, statement.domain) for member in loops):
                refs.add((statement.name, access.ref))
            else:
                raise NoPanels
        self.refs = frozenset(refs)
        return second, tuple(sorted(arrays))

    def joined(self, steps: tuple[Filter, ...]) -> tuple[Filter, ...]:
        """The steps, with neighbours that have the same loops and nothing from each other as one: they share panels."""
        found: list[Filter] = []
        for step in steps:
            both = at_once(found[-1], step) if found else None
            alike = isinstance(both, Filter) and isinstance(both.child, Band) and not both.child.members[-1].coincident
            if both is None or not alike or not self.apart(found[-1].filter, step.filter):
                found.append(step)
            else:
                found[-1] = both
        return tuple(found)

    def apart(self, one: isl.UnionSet, two: isl.UnionSet) -> bool:
        """Whether no dependence leads between some instances and others."""
        between = among(self.program.dependences.all, one.union(two))
        return between.subtract(among(between, one)).subtract(among(between, two)).is_empty()

    def rows_of_a_tile(self, parallel: tuple[Member, ...]) -> int:
        """As many as a warp has lanes, or fewer where multiprocessors would have nothing to do."""
        known, rows = [iterations(member, self.program) for member in parallel], ROWS
        most = prod(one for one in known if one is not None)
        while None not in known and rows > FEWEST and -(-most // rows) < self.machine.multiprocessors:
            rows //= 2
        return rows

    # --- what a step is ----------------------------------------------------------------------------------------------

    def walk(self, step: Filter, row: Member, others: tuple[Member, ...]) -> _Walk:
        """What a step has along the rows. Raises NoPanels for loops that are no chain, and where the threads that walk
        would do more than the whole block."""
        chain: tuple[Member, ...] = ()
        body = step.child
        while isinstance(body, Band):
            chain, body = chain + body.members, body.child
        if has_loops(body) or not isinstance(body, Leaf | Sequence):
            raise NoPanels
        lengths = [iterations(member, self.program) for member in chain]
        if all(length is not None for length in lengths) and prod(length or 1 for length in lengths) < SHORT:
            return _Walk(step, chain, body, ())
        if chain[-1].coincident:
            along = gain_of(chain[-1], self.program) > max(0, gain_of(row, self.program))
            return _Walk(step, chain, body, (), shared=along and all(member.coincident for member in chain))
        found, shared, columns = set[str](), set[str](), set[str]()
        for name in names(step.filter):
            for access in self.program.statements[name].accesses:
                domain = self.program.statements[name].domain
                rank = access.relation.dim(isl.dim_type.out)
                taken = any((name, access.ref) in b.accesses for b in self.program.buffers.values())
                if not rank or access.array in self.program.scop.privatizable:
                    continue
                if not access.exact or taken:
                    raise NoPanels
                if self.is_along(access, row, chain[-1], domain):
                    if not all(varies(access, member, domain) for member in others):
                        raise NoPanels  # tiles of rows and of these would meet it again
                    found.add(access.array)
                elif not varies(access, row, domain) and varies(subscript(access, rank - 1), chain[-1], domain):
                    shared.add(access.array)
                elif varies(access, row, domain) and varies(access, chain[-1], domain):
                    if not self.is_along(access, chain[-1], row, domain):
                        raise NoPanels
                    if not all(varies(access, member, domain) for member in others):
                        raise NoPanels
                    columns.add(access.array)
        if bool(found) == bool(columns):
            raise NoPanels  # of columns, more threads would have more on the way
        if columns and (iterations(row, self.program) or 0) >= MANY:
            raise NoPanels
        return _Walk(step, chain, body, tuple(sorted(found | columns | shared)), bool(columns))

    def is_along(self, access: Access, row: Member, along: Member, domain: isl.Set) -> bool:
        """Whether another iteration of a loop means the next cell in memory, and one of another loop another row."""
        rank = access.relation.dim(isl.dim_type.out)
        if rank < 2:
            return False
        last = subscript(access, rank - 1)
        return varies(access, row, domain) and varies(last, along, domain) and not varies(last, row, domain)

    # --- what is private ---------------------------------------------------------------------------------------------

    def state(self, instances: isl.UnionSet, walks: list[_Walk], around: tuple[Member, ...]) -> list[str]:
        """What is private and lives longer than an iteration of all loops around it: each row needs one of its own."""
        found = []
        users = [self.program.statements[name] for name in names(instances)]
        written = {a.array for s in users for a in s.accesses if a.kind is not AccessKind.READ}
        for array in sorted(written & self.program.scop.privatizable):
            flow = self.program.dependences.flow_by_array.get(array, empty_map(instances))
            flow = flow.intersect_domain(instances).union(flow.intersect_range(instances))
            if not flow.is_subset(Outer(around).same_iteration(flow)):
                raise NoPanels
            for walk in walks:
                ran = instances.intersect(walk.step.filter)
                flow = flow.subtract(Outer(around + walk.chain).same_iteration(among(flow, ran)))
            if flow.is_empty():
                continue
            refs = {(s.name, a.ref) for s in users for a in s.accesses if a.array == array}
            exact = all(a.exact for s in users for a in s.accesses if a.array == array)
            taken = any(
                (b.places is None and b.array == array) or refs & b.accesses for b in self.program.buffers.values()
            )
            if taken or not exact or array not in self.program.dependences.flow_by_array or not self.is_small(array):
                raise NoPanels
            found.append(array)
        return found

    def is_small(self, array: str) -> bool:
        """Whether each row of a tile may have the array to itself."""
        known = [None if e is None else constant_of(e) for e in self.program.scop.arrays[array].extents]
        return prod(MOST_STATE + 1 if k is None else k for k in known) <= MOST_STATE

    def bytes_of(self, array: str) -> int:
        shape = self.program.scop.arrays[array]
        return (shape.element.size_bytes or 8) * prod(constant_of(e) or 1 for e in shape.extents if e is not None)

    def place(self, array: str, instances: isl.UnionSet, row: Member, around: tuple[Member, ...], position: int) -> str:
        self.program, key = place_for_each(self.program, array, instances, row, len(around), position, self.rows)
        return key

    # --- the steps of a tile -----------------------------------------------------------------------------------------

    def made_step(
        self, walk: _Walk, own: tuple[Member, ...], around: tuple[Member, ...], width: int, places: int
    ) -> Filter:
        """A step for all rows of a tile."""
        if not walk.arrays:
            first = len(list(takewhile(lambda member: not member.coincident, walk.chain)))
            waiting, shared = walk.chain[:first], walk.chain[first:]
            if shared and all(member.coincident for member in shared):  # by all threads
                below: Node = Band((*own, *point_members(shared)), True, walk.body)
                return replace(walk.step, child=Band(waiting, False, below) if waiting else below)
            below = Band(walk.chain, False, walk.body) if walk.chain else walk.body
            return replace(walk.step, child=Band(own, True, below))
        *outer, along = walk.chain
        each = replace(along, role=Role.POINT, unroll=UNROLLED)
        (part,) = tile_members((along,), (width,))
        inside = (*around, *outer, part)
        instances = along.schedule.domain().intersect(walk.step.filter)
        tile = values(inside, instances)
        of_step = [
            (array, self.touched(array, instances, tile, False, inside), self.touched(array, instances, tile, True))
            for array in walk.arrays
        ]
        below = Band(own, True, Band((each,), False, walk.body))
        below = self.with_panels(
            [one for one in of_step if one[2] is not None], walk.step, below, inside, 1, not walk.down
        )
        only_read = [one for one in of_step if one[2] is None]
        below = self.with_panels(only_read, walk.step, below, inside, places, not walk.down)
        part = replace(part, coincident=False, stages=places if only_read else 1)
        parts = Band((part,), False, below)  # by itself: threads meet in each of its iterations
        return replace(walk.step, child=Band(tuple(outer), False, parts) if outer else parts)

    def tell_of_rows(self, points: Band, walks: list[_Walk]) -> None:
        listed = self.retiled(points)
        arrays = sorted({self.program.scop.arrays[a].c_name for walk in walks for a in walk.arrays})
        down = all(walk.down for walk in walks if walk.arrays)
        message = (
            f"{', '.join(listed)}: each thread walks {'down a column' if down else 'along a row'}, in tiles of "
            f"{self.rows}; parts of the {'columns' if down else 'rows'} of {' and '.join(arrays)} are fetched by all "
            f"threads of a block, which have neighbours in memory"
        )
        if not arrays:
            message = (
                f"{', '.join(listed)}: the threads of a block share each row, in tiles of {self.rows}, and have "
                f"neighbours in memory; one thread alone would walk along it"
            )
        self.program = self.program.remark("rows-staged", STAGE, message, listed, rows=self.rows)

    def retiled(self, points: Band) -> tuple[str, ...]:
        """Forget what was said of a nest's tiles. Answers its statements."""
        listed = statements_of(points)

        def changed(group: Group) -> Group:
            return replace(group, tile_sizes=(self.rows,)) if set(listed) & set(group.statements) else group

        groups = tuple(changed(group) for group in self.program.groups)
        remarks = tuple(r for r in self.program.remarks if r.code != "gpu-sizes" or not {*r.statements} <= {*listed})
        self.program = replace(self.program, groups=groups, remarks=remarks)
        return listed


def _loops(points: Band) -> Band:
    return replace(points, members=tuple(replace(member, role=Role.LOOP) for member in points.members))


def _at_least(member: Member, instances: isl.UnionSet, count: int) -> isl.Set:
    """The parameters for which a loop has so many values."""
    reached = isl.Set.from_union_set(values((member,), instances).range())
    length = reached.dim_max(0).sub(reached.dim_min(0)).add_constant_val(isl.Val.one(reached.get_ctx()))
    enough = isl.PwAff.val_on_domain(length.domain(), isl.Val.int_from_si(reached.get_ctx(), count))
    return length.ge_set(enough).params()


__all__ = ["stage_rows"]
