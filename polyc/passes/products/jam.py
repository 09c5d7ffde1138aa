"""Sums on a CPU that stream through an array: several of them at once, in registers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import islpy as isl

from polyc.analysis.witness import first_of, value_out
from polyc.machine import load_cpu
from polyc.model.program import Buffer, Program
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    restrict,
)
from polyc.model.witness import Finder
from polyc.nests.boxes import bounding_box
from polyc.nests.naming import fresh_buffer
from polyc.nests.nest import Outer, values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import dimension_of, private_across, repeats
from polyc.nests.sums import LINE_BYTES, Form, Sum, SumNest, chains, streams, sum_nest, tile_of_sums
from polyc.nests.tiling import neighbour, tile_members
from polyc.passes.buffers.promotion import copy_statement
from polyc.passes.products.absorb import absorb_sums
from polyc.passes.products.panels import Panel, copying
from polyc.poly import affine_of, empty_map, maps, names, set_name, sets, union_of, value_on
from polyc.records import dataclass, field, replace

STAGE = "jam"


class _NotJammed(Exception):
    """Why a sum stays as it is."""

    def __init__(self, why: str, dependence: Finder | None = None) -> None:
        super().__init__(why)
        self.dependence = dependence


def jam_sums(program: Program) -> Program:
    """Run several sums at once, with a register for each, where they only stream through an array.

    rewrite:  for i for j y[i] += A[i][j] * x[j];
              -> for i by 8 { t = y[i .. i + 7]; for j { t[0] += A[i][j] * x[j]; …; t[7] += …; } y[i .. i + 7] = t; }
              for i for j y[i] += A[j][i] * x[j];
              -> for j by 8 for i by vectors { t = y[i]; t += A[j][i] * x[j]; …; t += A[j + 7][i] * …; y[i] = t; }
    tree:     band(i, j) - S -> band(i by 8) - sequence(whole: extension - sequence(t in, band(j) - band(i mod 8) - S,
              t out), rest: band(i, j) - S)
    math:     i is coincident, so that it may go inside of j; a cell adds up its values in the order of j as before.
              Whole are the instances whose 8 (or 8 x a vector) neighbours are all in the domain; of what is left over,
              runs before them what has smaller j than some of the same cell (`for j = i ..`), and all else after them
    ensures:  the order of additions into each cell; independent additions hide the latency of one
    source:   unroll-and-jam (Callahan, Carr, Kennedy 1990) with scalar replacement
    """
    if not streams(program.options):
        return program
    jammer = _Jammer(absorb_sums(program), frozenset(program.buffers))
    tree = jammer.program.tree
    child = jammer.at(tree.child, (), lambda: values((), tree.domain))
    return replace(jammer.program, tree=Domain(tree.domain, child) if jammer.made else program.tree)


@dataclass(slots=True)
class _Jammer:
    program: Program
    given: frozenset[str] = frozenset()
    """Buffers of earlier passes."""
    made: bool = False
    numbers: count[int] = field(default_factory=lambda: count(1))
    added: frozenset[str] = frozenset()
    """Statements that an extension above runs: copies of their cells would be added inside of what is added."""

    def at(self, node: Node, above: tuple[Member, ...], reach: Callable[[], isl.UnionMap]) -> Node:
        """`reach`: `{ S[i] -> [v] }`, what reaches a node, with the values of the loops above it. Few nests ask for it,
        and below tiles in tiles it takes isl long."""
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above, _of_step(reach, s))) for s in steps))
            case Extension():
                before, self.added = self.added, self.added | {*names(node.relation.range())}
                child = self.at(node.child, above, _with_added(reach, node))
                self.added = before
                return replace(node, child=child)
            case Mark():
                return replace(node, child=self.at(node.child, above, reach))
            case Band():
                nest = sum_nest(self.program, node, Outer(above))
                if nest is not None:
                    return self.jammed(node, nest, above, reach())
                members = node.members
                return replace(node, child=self.at(node.child, above + members, lambda: _inside(reach(), members)))

    def jammed(self, band: Band, nest: SumNest, above: tuple[Member, ...], reach: isl.UnionMap) -> Node:
        before = self.program, self.made
        name = ", ".join(sorted(nest.sums))
        try:
            if isinstance(band.child, Sequence) and private_across(band, self.program):
                inside = band.members[0].schedule.domain()
                lives = first_of(value_out(self.program, inside, (), a) for a in self.program.scop.privatizable)
                raise _NotJammed("a scalar of its loop's iterations lives across its steps", lives)
            return self.tiled(band, nest, above, reach)
        except _NotJammed as reason:
            self.program, self.made = before
            message = f"{name} adds up one value after the other: {reason}"
            told = self.program.remark("not-jammed", STAGE, message, tuple(sorted(nest.sums)))
            self.program = told.because(reason.dependence)
            return self.strips(band, nest, above, reach)

    def strips(self, band: Band, nest: SumNest, above: tuple[Member, ...], reach: isl.UnionMap) -> Band:
        """The band, with its only parallel loop in strips if it goes innermost: then they are what runs in parallel."""
        columns = all(one.form is Form.COLUMNS for one in nest.sums.values())
        if not columns or nest.outer or self.program.options.target == "c" or _is_tiled(nest, above, reach):
            return band
        if private_across(band, self.program) or repeats(nest.along, self.program):
            return band
        self.made = True
        met_again = isinstance(band.child, Sequence)  # a strip's columns stay in a cache for the next step
        size = LINE_BYTES if met_again else tile_of_sums(self.program, nest, blocked=True)
        around = tile_members((nest.along,), (size,))
        point = replace(nest.along, role=Role.POINT)
        return Band(around, band.permutable, replace(band, members=(point, *band.members[1:])))

    def tiled(self, band: Band, nest: SumNest, above: tuple[Member, ...], reach: isl.UnionMap) -> Node:
        """The loop p in tiles, and each step below in a tile of its own."""
        around = nest.outer
        if not _is_tiled(nest, above, reach):
            size = tile_of_sums(self.program, nest, _is_in_row_blocks(nest, above, reach))
            around = (*around, *tile_members((nest.along,), (size,)))
        point = replace(nest.along, role=Role.POINT)
        inside = _inside(reach, around)
        steps: list[Filter] = []
        for step in band.child.children if isinstance(band.child, Sequence) else [None]:
            mine = inside.domain() if step is None else inside.domain().intersect(step.filter)
            (statement, *others) = {set_name(s) for s in sets(mine)}
            found = nest.sums.get(statement) if not others else None
            if found is not None:
                steps += _Jam(self, found, point, above + around, inside.intersect_domain(mine)).steps()
            elif step is not None:
                below = restrict(step.child, mine)
                steps.append(Filter(mine, Band((_on(point, mine),), True, below)))
        child = steps[0].child if len(steps) == 1 else Sequence(tuple(steps))
        return Band(around, band.permutable, child) if around else child


class _Jam:
    """One sum in its tile, on the way to registers."""

    def __init__(
        self, jammer: _Jammer, one: Sum, point: Member, above: tuple[Member, ...], reach: isl.UnionMap
    ) -> None:
        self.jammer = jammer
        self.sum = one
        self.above = above
        self.point = point
        (self.reach,) = maps(reach)
        self.instances = self.reach.domain().coalesce()
        self.machine = load_cpu(jammer.program.options.machine)
        self.count = self.chains()
        self.element = jammer.program.scop.arrays[one.array].element
        if not self.reach.is_single_valued():
            raise _NotJammed("its tiles overlap")
        if one.statement in jammer.added:
            raise _NotJammed("it runs in the tiles of what reads it")
        refs = {(one.statement, a.ref) for a in one.result}
        if any(refs & jammer.program.buffers[given].accesses for given in jammer.given):
            raise _NotJammed("its result is in a buffer of the tile")

    def chains(self) -> int:
        """How many sums run at once: half as many where a tile has no whole number of their blocks."""
        count = chains(self.machine)
        tiles = [m.size for m in self.above if m.role is Role.TILE and self.follows(m)]
        return count // 2 if any(size % count and not size % (count // 2) for size in tiles) else count

    def follows(self, tile: Member) -> bool:
        """Whether a tile loop above runs through the iterations that go into registers."""
        return _follows(tile, self.point, self.instances.get_space())

    def steps(self) -> list[Filter]:
        return self.rows() if self.sum.form is Form.ROWS else self.columns()

    # --- the two forms ---------------------------------------------------------------------------------------------

    def rows(self) -> list[Filter]:
        """`for i by 8 { whole: for j for the 8 i; rest: for i for j }`."""
        if self.is_one_block():  # there is nothing to run in parallel
            self.point = replace(self.point, coincident=False)
        along = self.member(self.point, self.count)
        whole, rest = self.split([(self.point, self.count)])
        digit = Member(self.digit(self.point, 1, self.count, whole), True, self.point.name, Role.REGISTER)
        mine = isl.UnionSet.from_set(self.instances)
        for around in sorted({0, len(self.sum.chain) - 1}):  # so many loops stay around the blocks
            sides = self.sides(rest, whole, around)
            if sides is not None:
                break
        else:
            raise _NotJammed("what is left over of a sum comes before and after its whole blocks")
        before, after = sides
        outer, inner = self.sum.chain[:around], self.sum.chain[around:]
        chain = tuple(_on(m, isl.UnionSet.from_set(whole)) for m in inner)
        summed = Band(chain, False, Band((digit,), True, LEAF))
        steps = [self.plain(left, (self.point, *inner)) for left in (before,) if not left.is_empty()]
        steps.append(Filter(isl.UnionSet.from_set(whole), self.in_registers(whole, (along, *outer), summed)))
        steps += [self.plain(left, (self.point, *inner)) for left in (after,) if not left.is_empty()]
        self.say(f"{self.count} sums at once", self.count)
        child = steps[0].child if len(steps) == 1 else Sequence(tuple(steps))
        if outer:
            child = Band(tuple(_on(m, mine) for m in outer), False, child)
        return [Filter(mine, Band((along,), True, child))]

    def sides(self, rest: isl.Set, whole: isl.Set, around: int) -> tuple[isl.Set, isl.Set] | None:
        """What is left over of sums before their whole blocks, `for j = i ..`, and after them; None where some is both.

        around: how many loops of the chain have both in one iteration
        """
        if rest.is_empty():
            return rest, rest
        mine = isl.UnionSet.from_set(self.instances)
        same = isl.Map.from_union_map(values((self.point, *self.sum.chain[:around]), mine))
        cell = self.reach.flat_range_product(same)
        order = isl.Map.from_union_map(values(self.sum.chain[around:], mine))
        later = order.lex_lt_map(order).intersect(cell.apply_range(cell.reverse()))
        before = later.intersect_domain(rest).intersect_range(whole).domain()
        after = later.intersect_domain(whole).intersect_range(rest).range()
        return (before.coalesce(), rest.subtract(before).coalesce()) if before.is_disjoint(after) else None

    def is_one_block(self) -> bool:
        """Whether a tile of the loop above has as many iterations as run at once."""
        return any(self.follows(m) for m in self.above if m.role is Role.TILE and m.size == self.count)

    def columns(self) -> list[Filter]:
        """`before: for j for i; for j by 8 for i by a line { for the 8 j for the i of a line }; after: for j for i`."""
        size = self.element.size_bytes
        if self.element.text not in ("float", "double") or not size:
            raise _NotJammed(f"vectors of {self.element.text} are left to the C compiler")
        if repeats(self.point, self.jammer.program):
            raise _NotJammed("a quotient or a call in it would be computed again for each of its lines")
        lanes = min(self.machine.lanes(size), LINE_BYTES // size)
        width = LINE_BYTES // size
        *outer, inner = self.sum.chain
        whole, _ = self.split([(self.point, width), (inner, self.count)])
        digits = [Member(self.digit(inner, 1, self.count, whole), False, inner.name, Role.REGISTER)]
        if width > lanes:
            vector = self.digit(self.point, lanes, width // lanes, whole)
            digits.append(Member(vector, True, self.point.name, Role.REGISTER))
        lane = self.digit(self.point, 1, lanes, whole)
        digits.append(Member(lane, True, self.point.name, Role.REGISTER, vector=True, lanes=lanes))
        inside = isl.UnionSet.from_set(whole)
        jammed, along = (_on(self.member(m, n), inside) for m, n in ((inner, self.count), (self.point, width)))
        summed = self.in_registers(whole, (*outer, jammed, along), Band(tuple(digits), False, LEAF))
        before, after = self.around(whole, inner)
        steps = [self.plain(rest, (inner, self.point)) for rest in before]
        steps.append(Filter(inside, Band((jammed, along), False, summed)))
        steps += [self.plain(rest, (inner, self.point)) for rest in after]
        self.say(f"{self.count} x {width} values at once", self.count)
        if not outer:
            return steps
        mine = isl.UnionSet.from_set(self.instances)
        child = steps[0].child if len(steps) == 1 else Sequence(tuple(steps))
        return [Filter(mine, Band(tuple(_on(m, mine) for m in outer), False, child))]

    def around(self, whole: isl.Set, inner: Member) -> tuple[list[isl.Set], list[isl.Set]]:
        """What is left over of sums: what has to come before their whole blocks, and what may come after them.

        Where blocks are cut off along each loop alone, as in a rectangle, conditions of one loop say what it is.
        """
        columns, _ = self.split([(self.point, LINE_BYTES // (self.element.size_bytes or 1))])
        rows, _ = self.split([(inner, self.count)])
        for lines, blocks in ((self.freed(columns, inner), rows), (self.freed(whole, inner), whole)):
            low, high = self.beyond(lines, self.point)
            first, last = self.beyond(blocks, inner)
            in_lines = self.instances.subtract(low).subtract(high)
            pieces = [in_lines.intersect(first), in_lines.intersect(last)]
            pieces += [self.instances.intersect(side) for side in (low, high)]
            if self.are_parts([whole, *pieces]):
                before, *after = (piece.coalesce() for piece in pieces)
                return [p for p in (before,) if not p.is_empty()], [p for p in after if not p.is_empty()]
        raise _NotJammed("its blocks do not follow each other")

    def are_parts(self, pieces: list[isl.Set]) -> bool:
        """Whether each instance is in one of these sets."""
        seen = isl.Set.empty(self.instances.get_space())
        for piece in pieces:
            if not seen.is_disjoint(piece):
                return False
            seen = seen.union(piece)
        return bool(self.instances.is_subset(seen))

    def freed(self, instances: isl.Set, member: Member) -> isl.Set:
        """The instances that differ from some of these in one loop."""
        position = self.position(member)
        wide = instances.project_out(isl.dim_type.set, position, 1).insert_dims(isl.dim_type.set, position, 1)
        return wide.set_tuple_id(instances.get_tuple_id()).coalesce()

    def beyond(self, instances: isl.Set, member: Member) -> tuple[isl.Set, isl.Set]:
        """What comes before the first, and after the last one of some instances that differ in one loop."""
        position = self.position(member)
        space = instances.get_space()
        line = isl.Map.from_domain(instances.reset_tuple_id())
        line = line.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, position, 1)
        found = []
        for end, sign in ((line.lexmin(), "<"), (line.lexmax(), ">")):
            value = isl.PwMultiAff.from_map(end).get_pw_aff(0).coalesce()
            single = affine_of(value)
            if single is None:
                raise _NotJammed("the ends of its whole blocks have several expressions")
            further = isl.Map.read_from_str(space.get_ctx(), f"{{ [a] -> [x] : x {sign} a }}")
            over = isl.Map.from_aff(single).apply_range(further)
            back = over.move_dims(isl.dim_type.in_, position, isl.dim_type.out, 0, 1).domain()
            found.append(back.set_tuple_id(space.get_tuple_id(isl.dim_type.set)))
        index = affine_of(value_on(member.schedule, space))
        assert index is not None
        backwards = index.get_coefficient_val(isl.dim_type.in_, position).is_neg()
        return (found[1], found[0]) if backwards else (found[0], found[1])

    def position(self, member: Member) -> int:
        found = dimension_of(value_on(member.schedule, self.instances.get_space()))
        assert found is not None
        return found

    def plain(self, rest: isl.Set, loops: tuple[Member, ...]) -> Filter:
        left = isl.UnionSet.from_set(rest)
        return Filter(left, Band(tuple(_on(m, left) for m in loops), False, LEAF))

    def say(self, what: str, count: int) -> None:
        program = self.jammer.program
        array = program.scop.arrays[self.sum.array].c_name
        message = f"{self.sum.statement} adds up {what} into registers, in the order of each cell of {array}"
        data = {"array": array, "form": self.sum.form.value, "chains": count}
        self.jammer.program = program.remark("jammed", STAGE, message, (self.sum.statement,), **data)
        self.jammer.made = True

    # --- instances and loops ---------------------------------------------------------------------------------------

    def split(self, blocks: list[tuple[Member, int]]) -> tuple[isl.Set, isl.Set]:
        """Instances whose whole block of neighbours is in the domain, and the others.

        math: a block lies in a convex domain where its corners do
        """
        domain = self.instances.intersect_params(self.jammer.program.scop.known)
        if domain.n_basic_set() != 1:
            raise _NotJammed("its iterations are no convex set")
        space = domain.get_space()
        corners = [isl.Map.identity(space.map_from_set())]
        for member, size in blocks:
            ends = [neighbour(member, size, place, space) for place in (0, size - 1)]
            corners = [one.apply_range(end) for one in corners for end in ends]
        whole = domain
        tiles = self.reach.apply_range(self.reach.reverse())
        for corner in corners:
            whole = whole.intersect(corner.intersect_range(domain).domain())
            if not corner.intersect_domain(whole).intersect_range(domain).is_subset(tiles):
                raise _NotJammed("its tiles cut blocks of them apart")
        whole = whole.coalesce()
        if whole.is_empty():
            raise _NotJammed("no block of them is whole")
        rest = domain.subtract(whole).coalesce()
        return whole, rest

    def member(self, of: Member, size: int) -> Member:
        (stepped,) = tile_members((_on(of, isl.UnionSet.from_set(self.instances)),), (size,))
        return stepped

    def digit(self, of: Member, weight: int, size: int, whole: isl.Set) -> isl.UnionPwAff:
        """`{ S[i] -> [floor(v / weight) mod size] }`."""
        value = value_on(of.schedule, whole.get_space()).intersect_domain(whole)
        context = value.get_ctx()
        if weight > 1:
            value = value.scale_down_val(isl.Val.int_from_si(context, weight)).floor()
        return isl.UnionPwAff.from_pw_aff(value.mod_val(isl.Val.int_from_si(context, size)))

    # --- registers -------------------------------------------------------------------------------------------------

    def in_registers(self, whole: isl.Set, around: tuple[Member, ...], summed: Node) -> Node:
        """The sum with its cells in registers, filled before and written back after."""
        program = self.jammer.program
        inside = isl.UnionMap.from_map(self.reach.intersect_domain(whole))
        at = isl.Map.from_union_map(_inside(inside, around))
        result = self.sum.result[0].relation
        cells = at.reverse().apply_range(result).coalesce()
        box = bounding_box(cells, program.scop.known, sample_parameters(program))
        extents = box.constant_extents() if box is not None else None
        if box is None or extents is None:
            raise _NotJammed("the cells that it adds into have no box of constant size")
        name = fresh_buffer(program, f"{program.scop.arrays[self.sum.array].c_name}_sum")
        refs = frozenset((self.sum.statement, a.ref) for a in self.sum.result)
        depth, order = len(self.above) + len(around), tuple(range(len(extents)))
        buffer = Buffer(name, name, self.sum.array, box.corner, depth, box.extents, "tile", refs, (), order)
        self.jammer.program = replace(program, buffers=program.buffers | {name: buffer})
        into, out = (self.copy(cells, name, to_buffer) for to_buffer in (True, False))
        steps = (copying(into), Filter(isl.UnionSet.from_set(whole), summed), copying(out))
        every = union_of((into.relation, out.relation), empty_map(into.relation))
        return Mark("allocate", Extension(every, Sequence(steps)), names=(name,))

    def copy(self, cells: isl.Map, key: str, to_buffer: bool) -> Panel:
        program = self.jammer.program
        array = program.scop.arrays[self.sum.array]
        prefix = f"{'fill' if to_buffer else 'keep'}{next(self.jammer.numbers)}"
        statement = copy_statement(program, array, prefix, to_buffer)
        relation = cells.set_tuple_id(isl.dim_type.out, isl.Id.read_from_str(cells.get_ctx(), statement.name))
        old = program.buffers[key]
        grown = replace(old, accesses=old.accesses | {(statement.name, "inside")})
        domain = statement.domain.intersect(relation.range().remove_divs()).coalesce()
        self.jammer.program = replace(
            program,
            buffers=program.buffers | {key: grown},
            statements=program.statements | {statement.name: replace(statement, domain=domain)},
            copies=program.copies | {statement.name},
        )
        return Panel(statement.name, relation, key)


def _of_step(reach: Callable[[], isl.UnionMap], step: Filter) -> Callable[[], isl.UnionMap]:
    return lambda: reach().intersect_domain(step.filter)


def _with_added(reach: Callable[[], isl.UnionMap], node: Extension) -> Callable[[], isl.UnionMap]:
    return lambda: reach().union(node.relation.reverse()).coalesce()


def _inside(reach: isl.UnionMap, members: tuple[Member, ...]) -> isl.UnionMap:
    """`reach` below a band of these loops."""
    if not members:
        return reach
    return reach.flat_range_product(values(members, reach.domain()))


def _is_tiled(nest: SumNest, above: tuple[Member, ...], reach: isl.UnionMap) -> bool:
    """Whether a tile loop above already shares out the iterations of p."""
    tiles = [member for member in above if member.role is Role.TILE]
    spaces = [piece.get_space() for piece in sets(reach.domain()) if set_name(piece) in nest.sums]
    return any(_follows(tile, nest.along, space) for tile in tiles for space in spaces)


def _is_in_row_blocks(nest: SumNest, above: tuple[Member, ...], reach: isl.UnionMap) -> bool:
    """Whether a tile loop above cuts the loop that sums up, so that its values are in a cache."""
    tiles = [member for member in above if member.role is Role.TILE]
    spaces = {set_name(piece): piece.get_space() for piece in sets(reach.domain())}
    return any(_follows(t, s.chain[-1], spaces[name]) for t in tiles for name, s in nest.sums.items() if name in spaces)


def _follows(tile: Member, loop: Member, space: isl.Space) -> bool:
    """Whether a tile loop above depends on the index that a loop runs through."""
    position = dimension_of(value_on(loop.schedule, space))
    corner = affine_of(value_on(tile.schedule, space))
    return position is not None and corner is not None and corner.involves_dims(isl.dim_type.in_, position, 1)


def _on(member: Member, instances: isl.UnionSet) -> Member:
    return replace(member, schedule=member.schedule.intersect_domain(instances))
