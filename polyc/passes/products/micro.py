"""Contractions on a CPU: a tile of the result in vector registers, from panels of the operands in the caches."""

from __future__ import annotations

from itertools import count

import islpy as isl

from polyc.analysis.expressions.elementwise import keeps_type
from polyc.analysis.witness import between
from polyc.cost.given_sizes import ASKED
from polyc.cost.micro_sizes import LINE_BYTES, PANEL_BYTES, MicroSize, written_of
from polyc.model import ctree as c
from polyc.model.program import Buffer, Hoist, Program, RegisterTile
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import LEAF, Band, Extension, Filter, Mark, Member, Node, Role, Sequence, restrict, rewrite
from polyc.nests.boxes import Box
from polyc.nests.contractions import Contraction, dimensions_of, extent_of, is_vector_as_written, varies
from polyc.nests.nest import Outer
from polyc.nests.samples import sample_parameters
from polyc.nests.tiling import tile_members
from polyc.passes.buffers.promotion import copy_statement, prefetch_statement
from polyc.passes.products.panels import Panel, copying, dimensions_along, filled_box, mention_one_index, producer_of
from polyc.passes.products.register_nest import STAGE, NoRegisterTile, RegisterNest
from polyc.passes.products.registers import Tiler, alone_in, contraction_size, size_in_rows, tiled_by
from polyc.passes.products.widen import Widening
from polyc.poly import affine_of, empty_map, least_of, union_of
from polyc.records import dataclass, field, replace

MOST_BYTES = PANEL_BYTES * 3 // 2
"""What panels may take: an operand's box can be larger than the panel that was planned for."""
TURNED_ROWS = 8
"""Rows of an array that a panel takes side by side. Where rows are a power of two apart their lines fall on one set of
a cache, and few caches hold more than eight of these."""
TURNED_VECTORS = 6
"""Of rows that a column's sums have at once, at most, each in a register: what an addition takes is hidden by the
others."""


def tile_contractions_for_cpu(program: Program) -> Program:
    """Sum up a small tile of a contraction in vector registers, from panels that lie as they are read.

    rewrite:  for i for j for k C[i][j] += A[i][k] * B[k][j];   (in a tile)
              -> for kt { a = panel of A; for jr { b = panel of B; for ir { c = tile of C;
                   for k: c += a[k] * b[k], a row of vectors for each i; tile of C = c; } } }
    tree:     point(i, j) - sequence(x, band(k) - S, z)
              -> sequence(point(i, j) - x, band(kt) - extension - sequence(a, band(jr) - extension - sequence(b,
                 band(ir) - extension - sequence(c in, band(k) - band(registers) - S, c out))), point(i, j) - z)
              Tiles are the threads'; where they share the panel of rows (`MicroSize.shared`), tiles run in turn, and
              the loops of x, a, jr and z are theirs
    math:     i and j are coincident, so that k may go outside of them, and tiles of k too: each cell adds up its
              products in the order of k. Tiles at the border run whole, as on a GPU (`registers.py`)
    requires: tiles that `contraction_size` chose
    source:   Goto and van de Geijn 2008, Figures 4 and 8; Zhao et al. 2024, Section 6.4 (promotion)
    """
    return tiled_by(_MicroTiler(program, frozenset(alone_in(program.tree.child))))


@dataclass
class _MicroTiler(Tiler):
    in_turn: set[int] = field(default_factory=set)
    """Tile loops, by identity, that run one after the other: threads share what is inside."""
    undivided: set[int] = field(default_factory=set)
    """Those that isl would divide, by which parts of a triangle are in a tile."""

    def at(self, node: Node, above: tuple[Member, ...], added: frozenset[str]) -> Node:
        found = super().at(node, above, added)
        if not isinstance(node, Band) or not isinstance(found, Band):
            return found
        mine = {id(m) for m in node.members}
        if self.in_turn & mine:
            found = replace(found, members=tuple(replace(m, coincident=False) for m in found.members))
        return _in_one_piece(found) if self.undivided & mine else found

    def point(self, band: Band, above: tuple[Member, ...], added: frozenset[str]) -> Node:
        tile = above[-len(band.members) :]
        sizes = tuple(m.size if m.role is Role.TILE else 0 for m in tile)
        outer = Outer(tuple(m for m in above if m.role is Role.LOOP))
        found = contraction_size(self.program, band, sizes, outer) or size_in_rows(self.program, band, above)
        if found is None:
            return band
        contraction, size = found
        assert isinstance(size, MicroSize)
        before = self.program
        try:
            nest = MicroNest(
                where_it_runs(before, contraction), band, above, contraction, size, self.numbers, self.alone
            )
            if nest.statements & added:
                raise NoRegisterTile("it is computed in the tiles of another nest")
            node = nest.node()
        except NoRegisterTile as reason:
            name = contraction.statement
            message = f"{name} is summed up without a register tile: {reason}"
            self.program = before.remark("no-register-tile", STAGE, message, (name,)).because(reason.dependence)
            return band
        if size.shared:
            self.in_turn.update(id(m) for m in tile)
        if nest.turned:
            self.undivided.update(id(m) for m in tile)
        self.run_for(nest.made, contraction.statement)
        self.program = nest.program
        self.widening = self.widening.joined(nest.widening)
        return node


class MicroNest(RegisterNest):
    """One contraction in its tile, on the way to vector registers."""

    def __init__(
        self,
        program: Program,
        band: Band,
        above: tuple[Member, ...],
        contraction: Contraction,
        size: MicroSize,
        numbers: count[int],
        alone: frozenset[str],
        elsewhere: frozenset[str] = frozenset(),
    ) -> None:
        """`elsewhere`: panels that other parts of the sum in this tile have."""
        self.program = program
        self.elsewhere = elsewhere
        self.alone = alone
        self.made = ()
        self.band = band
        self.above = above
        self.around_tiles = above[: -len(band.members)]
        self.contraction = contraction
        self.micro = size
        self.numbers = numbers
        self.widening = Widening()
        self.typical = sample_parameters(program)
        self.pair = (contraction.rows, contraction.columns)
        self.blocks = (size.rows, size.columns)
        self.result = ""
        self.inside = ""
        """What to say of the triangle in a tile."""
        self.turned = False
        """Whether a triangle in a tile has a nest in which columns are rows."""
        self.left = MOST_BYTES
        self.parts: dict[str, isl.Set] = {}

    @property
    def statements(self) -> set[str]:
        return {self.contraction.statement}

    def domain(self, name: str) -> isl.Set:
        """The instances that are this nest's."""
        return self.parts.get(name) or super().domain(name)

    def node(self) -> Node:
        c, size = self.contraction, self.micro
        name = c.statement
        for other in (name, *c.before, *c.after):
            self.parts[other] = self.reaching(other)
        every = self.domain(name)
        at_ends = self.at_ends(every)
        self.parts[name] = every.subtract(at_ends).coalesce()
        if self.parts[name].is_empty():
            raise NoRegisterTile("no tile of its result sums up the same steps in all its points")
        whole = self.whole(name)
        if not whole.is_disjoint(super().domain(name).subtract(self.parts[name])):
            raise NoRegisterTile("whole tiles would reach into what runs elsewhere")
        depth = self.depth_of(size.block_k)
        panels = () if self.is_short(depth) else self.panel_loops(whole, depth)
        columns = self.step(whole, self.band.members[c.columns], size.columns, True)
        if size.shared:  # a strip takes long enough to be asked for, and threads need not be equally fast
            columns = replace(columns, uneven=True)
        rows = self.step(whole, self.band.members[c.rows], size.rows, True)
        more = tuple(self.step(whole, self.band.members[p], 1, True) for p in c.more)
        tile = self.above
        of_rows = self.staged(whole, (*tile, *panels), c.rows)
        of_columns = self.staged(whole, (*tile, *panels, columns), c.columns)
        self.above = (*tile, *panels, columns, *more, rows)
        accumulator = self.accumulator({name: whole})
        if panels:
            self.lay_alike(accumulator)
        into, out = (self.copies_of(whole, accumulator, inside) for inside in (True, False))
        self.pad(name, whole, accumulator)
        if self.program.padded.get(name) == "guarded":
            raise NoRegisterTile("what its tiles would run at the border is not harmless")
        summed = Filter(isl.UnionSet.from_set(whole), self.sum_of_tile(whole))
        # A short sum has no time for it; rows of several loops are too few to look ahead among.
        ahead = self.fetched_ahead(accumulator) if panels and not more else []
        node: Node = Band((*more, rows), True, self.with_copies([*ahead, *into], summed, [*out], (accumulator.key,)))
        node = Band((columns,), True, self.with_copies(of_columns, Filter(summed.filter, node)))
        node = self.with_copies(of_rows, Filter(summed.filter, node))
        if panels:
            node = Band(panels, False, node)
        found = self.among_others(node, summed.filter, isl.UnionSet.from_set(at_ends), tile)
        if not self.elsewhere:
            self.say_it(depth)
        return rewrite(found, _in_one_piece) if self.turned else found

    def reaching(self, name: str) -> isl.Set:
        """What of a statement the band runs."""
        own = super().domain(name)
        there = self.band.members[0].schedule.domain().intersect(isl.UnionSet.from_set(own))
        return isl.Set.from_union_set(there) if not there.is_empty() else own

    def at_ends(self, every: isl.Set) -> isl.Set:
        """Instances that have to do without registers: a step of the sum that some points of a tile have and others
        do not, as in a triangle.

        math: with t the tile and the step of an instance, and D = P(i, j) and Q(i, j, k) the domain: what has a tile
              of D outside of D because of Q is harmful, H; and everything in D that belongs to a tile of H. The tiles
              of the others, t(D) \\ t(H), say so in the simplest terms: 8 t + 8 <= i, and not k < i - i mod 8
        """
        name = self.contraction.statement
        self.parts[name] = every
        around, at = self.places_in_tiles()
        blocks = self.blocks
        if not all(self.band.members[p].coincident for p in self.pair):  # rows read each other
            blocks = self.micro.block_m, self.blocks[1]
        tile_of = self.tile_of(blocks, around)
        points = around + len(self.outside) + len(self.band.members)
        chain = len(self.contraction.chain)
        here = every.apply(at)
        tiles = here.apply(tile_of)
        of_sum = here.drop_constraints_not_involving_dims(isl.dim_type.set, points, chain)
        harmful = tiles.apply(tile_of.reverse()).subtract(of_sum)
        if harmful.intersect_params(self.program.scop.known).is_empty():
            return isl.Set.empty(every.get_space())
        others = tiles.subtract(harmful.apply(tile_of)).coalesce()
        return every.subtract(in_loops(others.apply(tile_of.reverse()), at)).coalesce()

    def places_in_tiles(self) -> tuple[int, isl.Map]:
        """How many loops over tiles are around the nest, and `{ S[i] -> [t, p, c] }`, the values of these and of all
        loops of the sum: of a triangle in a tile, isl would divide the summing loop where it does not know these."""
        is_box = self.domain(self.contraction.statement).is_box()
        around = () if is_box else tuple(m for m in self.above if m.role is Role.TILE and m not in self.outside)
        own = self.outside + self.band.members + self.contraction.chain
        return len(around), self.places(self.contraction.statement, around + own)

    def whole(self, name: str) -> isl.Set:
        around, at = self.places_in_tiles()
        tile_of = self.tile_of(self.blocks, around)
        return in_loops(self.domain(name).apply(at).apply(tile_of).apply(tile_of.reverse()), at)

    def tile_of(self, blocks: tuple[int, int], around: int) -> isl.Map:
        """`{ [p, c] -> [t, c] }`: the numbers of the tiles of rows and columns, the values of all other loops, of which
        `around` stand before all of the nest's."""
        first = around + len(self.outside)
        size = first + len(self.band.members) + len(self.contraction.chain)
        block = dict(zip((first + k for k in self.pair), blocks, strict=True))
        one = [f"p{k}" for k in range(size)]
        tiles = [f"floor({v}/{block[k]})" if k in block else v for k, v in enumerate(one)]
        return isl.Map.read_from_str(self.typical.get_ctx(), f"{{ [{', '.join(one)}] -> [{', '.join(tiles)}] }}")

    def result_buffer(self, array: str, box: Box, users: frozenset[tuple[str, str]]) -> Buffer:
        """The tile of the result, with the dimension of the columns innermost."""
        write = next(
            a
            for a in self.program.statements[self.contraction.statement].accesses
            if a.array == array and a.kind is not AccessKind.READ
        )
        last = (self.moving(write, self.contraction.columns) or [len(box.extents) - 1])[-1]
        order = (*(d for d in range(len(box.extents)) if d != last), last)
        return self.new_buffer(array, box, len(self.above), users, "tile", (), order)

    def lay_alike(self, accumulator: Buffer) -> None:
        """Let the buffer of the tile that has the result lie as the registers do, which come and go for each panel."""
        for old in self.replaced:
            if not old.order and accumulator.order != tuple(range(len(old.extents))):
                turned = replace(self.program.buffers[old.key], order=accumulator.order)
                self.program = replace(self.program, buffers=self.program.buffers | {old.key: turned})

    def say_it(self, depth: int) -> None:
        c, s = self.contraction, self.micro
        array = self.program.scop.arrays[c.array].c_name
        self.program = self.program.remark(
            "register-tile",
            STAGE,
            f"{c.statement} sums up {s.rows} x {s.columns} of {array} in registers, {s.lanes} at once, from panels "
            f"{depth} deep{self.inside}{', that of the rows for all threads' if s.shared else ''}",
            (c.statement,),
            array=array,
            tile=[s.block_m, s.block_n, depth],
            registers=[s.rows, s.columns],
            lanes=s.lanes,
            shared=s.shared,
            binds=s.reason,
        )
        if s.reason != ASKED:
            self.program = replace(self.program, register_tiles=(*self.program.register_tiles, self.asked()))

    def asked(self) -> RegisterTile:
        """What is asked of the sizes before the region: whether tiles are faster than the loops as written."""
        found, size, members = self.contraction, self.micro, self.band.members
        domain = self.program.scop.statements[found.statement].domain
        rows = dimensions_of([members[k] for k in (found.rows, *found.more)], domain)
        columns, steps = dimensions_of([members[found.columns]], domain), dimensions_of(found.chain, domain)
        written = written_of(size.lanes, is_vector_as_written(self.program, found))
        return RegisterTile(found.statement, rows, columns, steps, (size.rows, size.columns), written)

    # --- loops -----------------------------------------------------------------------------------------------------

    def step(self, whole: isl.Set, member: Member, size: int, coincident: bool = False) -> Member:
        """`{ S[i] -> [size * floor(v / size)] }`."""
        value = self.value(member)
        by = isl.Val.int_from_si(value.get_ctx(), size)
        corner = value.scale_down_val(by).floor().scale_val(by).intersect_domain(whole)
        return Member(isl.UnionPwAff.from_pw_aff(corner), coincident, member.name, Role.TILE, size)

    def value(self, member: Member) -> isl.PwAff:
        return isl.PwMultiAff.from_map(self.values(self.contraction.statement, (member,))).get_pw_aff(0)

    def panel_loops(self, whole: isl.Set, depth: int) -> tuple[Member, ...]:
        """The loops over the panels of a tile: of `depth` values of the summing loop outside of which no extent has to
        be known; in the loops around it a panel has one value, `for dy for dx for c` with a window of any size."""
        *around, along = self.contraction.chain[: self.first_whole()]
        return (*(self.step(whole, member, 1) for member in around), self.step(whole, along, depth))

    def first_whole(self) -> int:
        """The first of the summing loops, behind the outermost one, from which on a panel has all values."""
        chain, name = self.contraction.chain, self.contraction.statement
        unknown = [k for k in range(1, len(chain)) if extent_of(self.program, chain[k], name) is None]
        return max(unknown, default=0) + 1

    def depth_of(self, most: int) -> int:
        """How many values a panel has of the summing loop that its loop goes along."""
        return max(1, most // self.steps_inside())

    def is_short(self, depth: int) -> bool:
        """Whether one tile has no more steps of that loop than a panel."""
        name = self.contraction.statement
        along = self.first_whole()
        steps = self.values(name, self.contraction.chain[along - 1 : along]).intersect_domain(self.domain(name))
        in_tile = self.values(name, self.above).reverse().apply_range(steps)
        low, high = in_tile.dim_min(0), in_tile.dim_max(0)
        extent = high.sub(low).intersect_params(self.program.scop.known).max_val()
        return bool(extent.is_int()) and int(extent.to_python()) < depth

    def sum_of_tile(self, whole: isl.Set) -> Node:
        """`for k`, and a row of vectors for each i of the register tile."""
        c, size = self.contraction, self.micro
        i, j = (self.value(self.band.members[p]) for p in self.pair)
        context = whole.get_ctx()
        mr, nr, lanes = (isl.Val.int_from_si(context, n) for n in (size.rows, size.columns, size.lanes))
        digits = [
            (i.mod_val(mr), self.band.members[c.rows]),
            (j.mod_val(nr).scale_down_val(lanes).floor(), self.band.members[c.columns]),
            (j.mod_val(lanes), self.band.members[c.columns]),
        ]
        members = [
            Member(isl.UnionPwAff.from_pw_aff(value.intersect_domain(whole)), True, of.name, Role.REGISTER)
            for value, of in digits
        ]
        members[-1] = replace(members[-1], vector=True, lanes=size.lanes)
        chain = tuple(
            replace(m, schedule=isl.UnionPwAff.from_pw_aff(self.value(m).intersect_domain(whole)), role=Role.POINT)
            for m in c.chain
        )
        return Band(chain, False, Band(tuple(members), True, LEAF))

    def with_copies(
        self, before: list[Panel], step: Filter, after: list[Panel] | None = None, names: tuple[str, ...] = ()
    ) -> Node:
        """A step with copies around it, and the declarations of what they fill."""
        after = after or []
        copies = [*before, *after]
        if not copies:
            return step.child
        every = union_of((one.relation for one in copies), empty_map(copies[0].relation))
        steps = [*map(self.copying, before), step, *map(self.copying, after)]
        node = Extension(every, Sequence(tuple(steps)))
        return Mark("allocate", node, names=names or tuple(dict.fromkeys(one.buffer for one in copies)))

    def copying(self, panel: Panel) -> Filter:
        """Loops over the cells of a panel; where it is stored with another dimension innermost than its array, a few
        rows of the array side by side, so that whole vectors are stored, and each line that is read is kept until all
        of it is."""
        filled = copying(panel)
        if not self.program.statements[panel.name].accesses and isinstance(filled.child, Band):
            members = tuple(replace(m, coincident=False) for m in filled.child.members)  # nothing for vectors
            return replace(filled, child=replace(filled.child, members=members))
        order = self.program.buffers[panel.buffer].order
        band = filled.child
        homes = self.replaced if panel.buffer == self.result else []
        if isinstance(band, Band) and any(self.program.buffers[b.key].order == order for b in homes):  # both lie alike
            return replace(filled, child=replace(band, members=tuple(band.members[d] for d in order)))
        if panel.name not in self.program.copies or not isinstance(band, Band) or order[-1:] == (len(order) - 1,):
            return filled
        along = band.members[order[-1]]
        (strip,) = tile_members((along,), (TURNED_ROWS,))
        members = (strip, *(band.members[d] for d in order))
        return replace(filled, child=replace(band, members=members))

    def among_others(self, node: Node, sums: isl.UnionSet, ends: isl.UnionSet, tile: tuple[Member, ...]) -> Node:
        """The sum between the other statements of its points, and the parts of it that are no whole tiles: each runs
        for all points of the tile before the next one begins."""
        c = self.contraction
        before, after = (self.instances_of(others) for others in (c.before, c.after))
        inside = isl.UnionSet.from_set(self.domain(c.statement))
        orders = [[before, ends, inside, after], [before, inside, ends, after]]
        order = next((o for o in orders if self.keeps_order(o, tile)), None)
        if order is None:
            everything = before.union(inside).union(after)
            shown = between(self.program, self.band.members, everything)
            raise NoRegisterTile("its points need each other's results before the sum is done", shown)
        steps = []
        for one in order:
            if one is inside:
                steps.append(Filter(sums, node))
            elif not one.is_empty():
                below = self.in_smaller_tiles(one, tile) if one is ends else restrict(self.band, one)
                steps.append(Filter(one, below))
        return Sequence(tuple(steps)) if len(steps) > 1 else node

    def in_smaller_tiles(self, ends: isl.UnionSet, tile: tuple[Member, ...]) -> Node:
        """What a tile sums up without registers: again in tiles, of fewer rows where rows read each other, or of one
        column where columns end their sums one by one. What is left of these runs point by point."""
        plain, c, size = restrict(self.band, ends), self.contraction, self.micro
        if not isinstance(plain, Band) or size.turned:
            return plain
        contraction = replace(c, before=(), after=())
        if size.inner_m:
            along, width, inner = c.rows, size.inner_m, replace(size, block_m=size.inner_m, inner_m=0)
            inside = f"a triangle in {size.block_m} rows in the same way, {size.inner_m} rows at a time"
        elif (vectors := self.vectors_of_rows()) and not c.more:
            # Neighbours of a vector are rows, which all have the sum's steps; a column is a row of registers.
            along, width = c.columns, size.columns
            contraction = replace(contraction, rows=c.columns, columns=c.rows)
            inner = replace(size, rows=1, columns=vectors * size.lanes, turned=True)
            inside = f"a triangle in {size.columns} columns one column after the other, {inner.columns} rows at a time"
        else:
            return plain
        strips = tile_members((plain.members[along],), (width,))
        mine = frozenset(self.program.buffers) - self.elsewhere
        alone = self.alone - set(self.made)
        nest = MicroNest(self.program, plain, (*tile, *strips), contraction, inner, self.numbers, alone, mine)
        try:
            node = nest.node()
        except NoRegisterTile:
            return plain
        self.program = nest.program
        self.made += nest.made
        self.widening = self.widening.joined(nest.widening)
        self.inside, self.turned = f"; {inside}", inner.turned
        return Band(strips, False, node)

    def vectors_of_rows(self) -> int:
        """How many vectors the sums of one column have, of which a tile's rows fill whole ones; 0: of none."""
        if not all(self.band.members[p].coincident for p in self.pair):
            return 0
        rows = self.above[len(self.around_tiles) + self.contraction.rows]
        filled = rows.size // self.micro.lanes if rows.size % self.micro.lanes == 0 else 0
        fitting = (count for count in range(TURNED_VECTORS, 0, -1) if filled and filled % count == 0)
        return next(fitting, 0) if rows.role is Role.TILE else 0

    def instances_of(self, names: tuple[str, ...]) -> isl.UnionSet:
        found = isl.UnionSet.empty(self.typical.get_space())
        for name in names:
            found = found.union(isl.UnionSet.from_set(self.domain(name)))
        return found

    def keeps_order(self, steps: list[isl.UnionSet], tile: tuple[Member, ...]) -> bool:
        """Whether nothing in a tile depends on what runs in a later step of it."""
        every = self.program.dependences.all
        for k, later in enumerate(steps):
            for earlier in steps[:k]:
                back = every.intersect_domain(later).intersect_range(earlier)
                if not Outer(tile).same_iteration(back).is_empty():
                    return False
        return True

    # --- panels ----------------------------------------------------------------------------------------------------

    def staged(self, whole: isl.Set, around: tuple[Member, ...], position: int) -> list[Panel]:
        """Copies of the operands that move with the rows, or with the columns."""
        statement = self.program.statements[self.contraction.statement]
        member, of_rows = self.band.members[position], position == self.contraction.rows
        found: list[Panel] = []
        known: list[tuple[Access, str, c.Expr | None]] = []
        for access in self.contraction.operands:
            if not varies(access, member, statement.domain) or (of_rows and self.is_read_in_place(access)):
                continue
            here = (b for b in self.program.buffers.values() if b.key not in self.elsewhere)
            if any((statement.name, access.ref) in b.accesses for b in here):
                raise NoRegisterTile(f"{access.array} is in a tile of its own")
            value = self.constant_around(access)
            same = [
                key
                for other, key, its_value in known
                if other.relation.is_equal(access.relation) and its_value is None and value is None
            ]
            if same:
                old = self.program.buffers[same[0]]
                grown = replace(old, accesses=old.accesses | {(statement.name, access.ref)})
                self.program = replace(self.program, buffers=self.program.buffers | {old.key: grown})
                continue
            box = self.box(whole, access, around)
            extents = box.constant_extents() if box is not None else None
            if box is None or extents is None:
                raise NoRegisterTile(f"the part of {access.array} that a tile reads has no box of constant size")
            buffer = self.panel_buffer(access, box, extents, len(around), position)
            known.append((access, buffer.key, value))
            producer = self.producer_of(access) if value is None else None
            if producer is not None:
                found.append(self.made_panel(producer, box, extents, buffer))
            else:
                found += self.copies_of_panel(whole, access, around, box, buffer.key)
                if value is not None:
                    hoist = Hoist(buffer.key, statement.name, access.ref, value)
                    self.program = replace(self.program, hoisted=(*self.program.hoisted, hoist))
        return found

    def is_read_in_place(self, access: Access) -> bool:
        """Whether an operand needs no panel: each element goes to all of a vector, one after the other along a row."""
        return self.micro.turned and access.array not in self.program.scop.written

    def constant_around(self, access: Access) -> c.Expr | None:
        """The largest expression around an operand in which all else stays the same, as in `alpha * A[i][k]`."""
        scop = self.program.scop
        body = self.program.statements[self.contraction.statement].body
        written = scop.written

        def constant(node: c.Expr) -> bool:
            match node:
                case c.Literal():
                    return True
                case c.ArrayRef(array=name, subscripts=subscripts):
                    whole = len(subscripts) == scop.arrays[name].rank
                    return whole and name not in written and all(isinstance(s, c.Literal) for s in subscripts)
                case _:
                    return False

        around: c.Expr | None = None
        inside: c.Expr = next(n for n in c.walk(body) if isinstance(n, c.ArrayRef) and n.ref == access.ref)
        while True:
            for node in c.walk(body):
                match node:
                    case c.Binary(op="*" | "/" | "+" | "-", left=left, right=right) if (
                        left is inside and constant(right)
                    ) or (right is inside and constant(left)):
                        around = inside = node
                        break
                    case c.Unary(op="-", operand=operand) if operand is inside:
                        around = inside = node
                        break
            else:
                break
        element = scop.arrays[access.array].element
        return around if around is not None and keeps_type(around, element, scop.arrays, ()) else None

    def producer_of(self, access: Access) -> Statement | None:
        """Whose values need not be stored, since it runs for each panel; here and for all other sums that read them."""
        return producer_of(self.program, access, self.contraction.statement, self.alone, several=True)

    def panel_buffer(self, access: Access, box: Box, extents: tuple[int, ...], depth: int, position: int) -> Buffer:
        array = self.program.scop.arrays[access.array]
        element = array.element.size_bytes or 8
        statement = self.program.statements[self.contraction.statement]
        order = tuple(range(len(extents)))
        pad = 0
        if position == self.contraction.columns:
            order, _ = self.layout(statement, access, extents, element)
            if not self.is_consecutive(access, order[-1]):
                raise NoRegisterTile(f"neighbours of a row do not read neighbours of {array.c_name}")
        elif not self.contraction.more or len(extents) - 1 not in self.moving(access, position):
            pad = LINE_BYTES // element  # rows a power of two apart would fall on the same lines of a cache
        size = element
        for place, d in enumerate(order):
            size *= extents[d] + (pad if place == len(order) - 1 else 0)
        self.left -= size
        if self.left < 0:
            raise NoRegisterTile("its panels do not fit into a thread's stack")
        return self.new_buffer(
            access.array, box, depth, frozenset([(statement.name, access.ref)]), "tile", (), order, pad
        )

    def moving(self, access: Access, position: int) -> list[int]:
        """The dimensions of what an access touches that move with a loop of the band."""
        cell = isl.PwMultiAff.from_map(self.everywhere(access.relation))
        return dimensions_along(cell, self.values(self.contraction.statement, (self.band.members[position],)))

    def is_consecutive(self, access: Access, dimension: int) -> bool:
        """Whether the columns move along one dimension, and no other, one cell at a time."""
        cell = isl.PwMultiAff.from_map(self.everywhere(access.relation))
        value = self.values(self.contraction.statement, (self.band.members[self.contraction.columns],))
        index = affine_of(isl.PwMultiAff.from_map(value).get_pw_aff(0))
        along = affine_of(cell.get_pw_aff(dimension))
        rank = access.relation.dim(isl.dim_type.out)
        others = [d for d in range(rank) if d != dimension]
        if index is None or along is None or any(mention_one_index(cell.get_pw_aff(d), value) for d in others):
            return False
        used = [d for d in range(index.dim(isl.dim_type.in_)) if index.involves_dims(isl.dim_type.in_, d, 1)]
        one = isl.Val.one(index.get_ctx())
        return len(used) == 1 and along.get_coefficient_val(isl.dim_type.in_, used[0]).eq(one)

    def copies_of_panel(
        self, whole: isl.Set, access: Access, around: tuple[Member, ...], box: Box, key: str
    ) -> list[Panel]:
        statement = self.program.statements[self.contraction.statement]
        moving = [m for p, m in enumerate(self.band.members) if p in self.pair and varies(access, m, statement.domain)]
        cell = isl.PwMultiAff.from_map(self.everywhere(access.relation))
        values = [self.values(statement.name, (m,)) for m in moving]
        rank = access.relation.dim(isl.dim_type.out)
        moved = [d for d in range(rank) if any(mention_one_index(cell.get_pw_aff(d), v) for v in values)]
        at = self.values(statement.name, around)
        cells = at.intersect_domain(whole).reverse().apply_range(self.everywhere(access.relation))
        return self.apart(box, around, cells, access.relation.range(), moved, key, True)

    def copies_of(self, whole: isl.Set, accumulator: Buffer, inside: bool) -> list[Panel]:
        """Copies of the result into the registers, or out of them."""
        name = self.contraction.statement
        points = self.values(name, self.above).intersect_domain(whole).reverse()
        points = points.apply_range(self.values(name, self.band.members))
        used = self.point_of_cell.domain()
        cells = points.apply_range(self.everywhere(self.point_of_cell, "the point of a cell").reverse())
        assert accumulator.corner is not None
        box = Box(accumulator.corner, accumulator.extents)
        return self.apart(box, self.above, cells, used, list(range(len(box.extents))), accumulator.key, inside)

    def fetched_ahead(self, accumulator: Buffer) -> list[Panel]:
        """Requests for the cells of the result that the next tile down the columns copies in, a line apart: its rows
        are far from each other in memory, where nothing else fetches them ahead."""
        if self.replaced:
            return []
        assert accumulator.corner is not None
        statement = self.program.statements[self.contraction.statement]
        (target,) = [a for a in statement.accesses if a.kind is not AccessKind.READ]
        used = target.relation.intersect_domain(self.domain(statement.name)).range()
        extents = Box(accumulator.corner, accumulator.extents).constant_extents()
        assert extents is not None
        last = len(extents) - 1
        # One more than the tile has: where it does not begin with a line, its last one ends behind it.
        cells = filled_box(Box(accumulator.corner, accumulator.extents), (*extents[:last], extents[last] + 1))
        names = [f"o{k}" for k in range(len(self.above))]
        moved = [*names[:-1], f"{names[-1]} + {self.micro.rows}"]
        following = isl.Map.read_from_str(cells.get_ctx(), f"{{ [{', '.join(names)}] -> [{', '.join(moved)}] }}")
        index = [f"x{k}" for k in range(len(extents))]
        array = self.program.scop.arrays[accumulator.array]
        line = LINE_BYTES // (array.element.size_bytes or LINE_BYTES)
        apart = f"{{ [{', '.join(index)}] : {index[last]} mod {line} = 0 }}"
        cells = following.apply_range(cells).intersect_range(isl.Set.read_from_str(cells.get_ctx(), apart))
        name = f"ahead{next(self.numbers)}_{accumulator.array}"
        request = prefetch_statement(self.program, array, name)
        called = isl.Id.read_from_str(cells.get_ctx(), name)
        relation = cells.set_tuple_id(isl.dim_type.out, called).intersect_range(used.set_tuple_id(called))
        self.program = replace(self.program, statements=self.program.statements | {name: request})
        return [Panel(name, relation, accumulator.key)]

    def apart(
        self,
        box: Box,
        around: tuple[Member, ...],
        cells: isl.Map,
        used: isl.Set,
        moved: list[int],
        key: str,
        inside: bool,
    ) -> list[Panel]:
        """Copies of a panel: one for tiles that lie inside of what the domain uses, without a condition, and one for
        those at the border.

        cells: `{ [o] -> A[x] }`, what a tile needs; used: `{ A[x] }`; moved: the dimensions in which tiles run whole
        """
        buffer = self.program.buffers[key]
        name = buffer.array
        extents = box.constant_extents()
        assert extents is not None
        known = self.program.scop.known
        filled = filled_box(box, extents).set_tuple_id(isl.dim_type.out, used.get_tuple_id())
        filled = filled.intersect(_in_other_dimensions(_simple(cells.intersect_params(known), around), moved))
        border = filled.subtract_range(used).intersect_params(known).domain().coalesce()
        pieces = [filled.subtract_domain(border).coalesce(), filled.intersect_domain(border).coalesce()]
        found: list[Panel] = []
        for piece in pieces if not border.is_empty() else [filled]:
            array = self.program.scop.arrays[name]
            statement = copy_statement(self.program, array, f"{'in' if inside else 'out'}{next(self.numbers)}", inside)
            called = isl.Id.read_from_str(piece.get_ctx(), statement.name)
            relation = piece.set_tuple_id(isl.dim_type.out, called)
            self.add_copy(
                replace(statement, domain=used.set_tuple_id(called)), relation, self.program.buffers[key], inside
            )
            found.append(Panel(statement.name, relation, key))
        return found


def _in_one_piece(node: Node) -> Node:
    """A band over tiles whose loops isl does not divide, by which parts of a triangle are in a tile."""
    if not isinstance(node, Band) or node.members[0].role is not Role.TILE:
        return node
    return replace(node, members=tuple(replace(m, undivided=True) for m in node.members))


def _in_other_dimensions(cells: isl.Map, dimensions: list[int]) -> isl.Map:
    """`{ [o] -> A[x] }` for all x that agree in the other dimensions with some cell."""
    name = cells.get_tuple_id(isl.dim_type.out)
    for d in dimensions:
        cells = cells.project_out(isl.dim_type.out, d, 1).insert_dims(isl.dim_type.out, d, 1)
    return cells.set_tuple_id(isl.dim_type.out, name)


def _simple(cells: isl.Map, around: tuple[Member, ...]) -> isl.Map:
    """The cells of each tile, or more of them, without divisions: for any corner, not only for those of tiles.

    math: the hull is taken of `{ [t] -> A[x] }` with t the numbers of tiles, so that it is tight
    """
    sizes = [m.size if m.role in (Role.TILE, Role.LOOP) else 1 for m in around]
    inner = [f"t{k}" for k in range(len(sizes))]
    corners = [f"{size}{t}" for t, size in zip(inner, sizes, strict=True)]
    corner = isl.Map.read_from_str(cells.get_ctx(), f"{{ [{', '.join(inner)}] -> [{', '.join(corners)}] }}")
    hull = isl.Map.from_basic_map(cells.apply_domain(corner.reverse()).remove_divs().simple_hull())
    found = isl.Map.from_basic_map(hull.apply_domain(corner).remove_divs().simple_hull())
    tiles = cells.domain()
    for d in range(len(sizes)):
        lowest = least_of(tiles, d)
        if lowest.is_int():
            found = found.lower_bound_val(isl.dim_type.in_, d, lowest)
    return found


def where_it_runs(program: Program, one: Contraction) -> Program:
    """The program of a triangle behind a guard that asks for sizes at which the region runs anything: no declared rows
    of flat arrays tell isl that sizes are above zero, and it would take the triangle apart by their signs."""
    scop = program.scop
    anything = isl.Set.from_basic_set(program.tree.domain.params().simple_hull().remove_divs())
    is_plain = program.statements[one.statement].domain.is_box() or not scop.arrays[one.array].flat
    if is_plain or scop.known.is_subset(anything):
        return program
    return replace(program, scop=replace(scop, assumed=scop.assumed.intersect(anything)))


def in_loops(places: isl.Set, at: isl.Map) -> isl.Set:
    """The instances that run for some values of loops. at: `{ S[i] -> [t, p, c] }`"""
    return places.coalesce().apply(at.reverse()).coalesce()
