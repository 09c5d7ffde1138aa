"""One contraction in its tile, on the way to registers and panels."""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import count
from math import prod

import islpy as isl

from polyc.analysis.witness import between
from polyc.cost.gpu_sizes import MANY_SUMS, PAD_BYTES, VECTOR_BYTES, WARP, ContractionSize
from polyc.machine.gpu import STATIC_SHARED_BYTES
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tasks import TaskMapping, repeat, spatial
from polyc.model.tree import LEAF, THREAD_AXES, WARP_AXES, Band, Extension, Filter, Mark, Member, Node, Role, Sequence
from polyc.model.witness import Finder
from polyc.nests.boxes import Box, bounding_box
from polyc.nests.contractions import Contraction, extent_of, loads_neighbours, panel_order
from polyc.nests.naming import fresh_buffer
from polyc.nests.nest import Nest, united
from polyc.nests.samples import sample_parameters
from polyc.passes.buffers.promotion import RefFlow, copy_statement
from polyc.passes.products.panels import (
    Panel,
    buffer_bytes,
    copying,
    filled_box,
    in_whole_blocks,
    mention_one_index,
    producer_of,
    vector_of,
)
from polyc.passes.products.widen import Widening
from polyc.poly import affine_map, affine_of, constant_of, empty_map, empty_set, everywhere, union_of, value_on
from polyc.records import dataclass, replace

STAGE = "registers"

AHEAD_BYTES = 128
"""What a thread may load ahead, an element of each operand a step: more would be spilled."""


MOST_INSIDE = 8
"""How many times as many steps as a panel is deep the loops may have inside of the one that it is cut along."""
SHALLOWEST = 8
"""Steps of a sum between barriers, at least."""


class NoRegisterTile(Exception):
    """Why a contraction stays with one thread a point."""

    def __init__(self, why: str, dependence: Finder | None = None) -> None:
        super().__init__(why)
        self.dependence = dependence


class RegisterNest:
    """One contraction in its tile, on the way to registers."""

    def __init__(
        self,
        program: Program,
        band: Band,
        above: tuple[Member, ...],
        contraction: Contraction,
        size: ContractionSize,
        numbers: count[int],
        elsewhere: frozenset[str],
        alone: frozenset[str],
    ) -> None:
        """`elsewhere`: panels of other kernels, which take nothing of this one's shared memory; `alone`: statements
        with a nest of their own."""
        self.program = program
        self.elsewhere = elsewhere
        self.alone = alone
        self.made: tuple[str, ...] = ()
        """Statements that run for each panel now, and nowhere else."""
        self.band = band
        self.above = above
        self.around_tiles = above[: -len(band.members)]
        self.contraction = contraction
        self.size = size
        self.numbers = numbers
        self.widening = Widening()
        self.result = ""
        """The key of the tile of the result."""
        self.crowded = False
        """Whether shared memory had no room for a panel."""
        self.in_registers = False
        """Whether a panel goes through registers already."""
        self.led: tuple[Member, ...] = ()
        """The summing loops around the one over panels."""
        self.typical = sample_parameters(program)
        self.pair = (contraction.rows, contraction.columns)
        self.blocks = (size.block_m, size.block_n)
        self.tasks = self.mapping()

    def mapping(self) -> TaskMapping:
        """Which thread sums up which cells of the tile."""
        size = self.size
        element = self.program.scop.arrays[self.contraction.array].element.size_bytes or 4
        vector = max(VECTOR_BYTES // element, 1)
        own = (size.thread_m, size.thread_n)
        made = list(self.program.buffers.values())
        along = [loads_neighbours(self.program, self.band, self.contraction, k, made) for k in self.pair]
        inner = tuple(min(vector, t) if found else 1 for found, t in zip(along, own, strict=True))
        outer = tuple(t // c for t, c in zip(own, inner, strict=True))
        if size.warps == (0, 0):
            return repeat(*outer) * spatial(size.threads_y, size.threads_x) * repeat(*inner)
        return spatial(*size.warps) * repeat(*outer) * spatial(*WARP) * repeat(*inner)

    @property
    def statements(self) -> set[str]:
        c = self.contraction
        return {c.statement, *c.before, *c.after}

    # --- points, and tiles at the border run whole -----------------------------------------------------------------

    def domain(self, name: str) -> isl.Set:
        return self.program.scop.statements[name].domain

    def values(self, name: str, members: tuple[Member, ...]) -> isl.Map:
        """`{ S[i] -> [v] }`, everywhere."""
        space = self.domain(name).get_space()
        found = [affine_of(value_on(m.schedule, space)) for m in members]
        if not found or any(f is None for f in found):
            raise NoRegisterTile(f"a loop of {name} is not affine")
        return affine_map(space, [f for f in found if f is not None])

    @property
    def outside(self) -> tuple[Member, ...]:
        """The loops around the tiles, such as one over time, whose iterations follow each other."""
        return tuple(m for m in self.around_tiles if m.role is Role.LOOP)

    def places(self, name: str, members: tuple[Member, ...]) -> isl.Map:
        """The same, for all loops of a statement: each of its instances has a place of its own. Loops that have one
        iteration stand in no band."""
        fixed = isl.Set.from_basic_set(self.domain(name).affine_hull())
        at = self.values(name, members).intersect_domain(fixed)
        if not at.is_injective():
            raise NoRegisterTile(f"{name} has loops that are not in its band")
        return at

    def same_tile(self, more: int) -> isl.Map:
        """`{ [p, c] -> [p', c'] }`: the same tile in rows and columns, the same values in all other loops."""
        size = len(self.outside) + len(self.band.members) + more
        block = dict(zip((len(self.outside) + k for k in self.pair), self.blocks, strict=True))
        one, two = [[f"{v}{k}" for k in range(size)] for v in "pq"]
        same = [
            f"floor({a}/{block[k]}) = floor({b}/{block[k]})" if k in block else f"{a} = {b}"
            for k, (a, b) in enumerate(zip(one, two, strict=True))
        ]
        text = f"{{ [{', '.join(one)}] -> [{', '.join(two)}] : {' and '.join(same)} }}"
        return isl.Map.read_from_str(self.typical.get_ctx(), text)

    def whole(self, name: str) -> isl.Set:
        """What the tiles run of a statement, without a border."""
        chain = self.contraction.chain if name == self.contraction.statement else ()
        at = self.places(name, self.outside + self.band.members + chain)
        domain = self.domain(name)
        moved = domain.apply(at).apply(self.same_tile(len(chain))).apply(at.reverse())
        return moved.coalesce()

    # --- the tree ----------------------------------------------------------------------------------------------------

    on = ""
    """What to say of tensor cores."""
    candidates: tuple[str, ...] = ()
    """The shape and the next ones, with the share of the arithmetic limit that is predicted."""

    def node(self) -> Node:
        c = self.contraction
        wholes = {name: self.whole(name) for name in sorted(self.statements)}
        accumulator = self.accumulator(wholes)
        into, out = self.copies_of_result(accumulator)
        summed = self.sum(wholes[c.statement])
        for name, whole in wholes.items():
            self.pad(name, whole, accumulator)
        steps: list[Filter] = []
        if into is not None:
            steps.append(self.copy_step(into))
        steps += [self.around([wholes[name] for name in group]) for group in self.together(c.before)]
        steps.append(Filter(isl.UnionSet.from_set(wholes[c.statement]), summed))
        steps += [self.around([wholes[name] for name in group]) for group in self.together(c.after)]
        if out is not None:
            steps.append(self.copy_step(out))
        node: Node = Sequence(tuple(steps)) if len(steps) > 1 else summed
        relations = [copy.relation for copy in (into, out) if copy is not None]
        if relations:
            node = Extension(union_of(relations, empty_map(relations[0])), node)
        node = Mark("allocate", node, names=(accumulator.key,))
        self.say()
        return Mark("threads", node, sizes=self.size.block)

    def say(self) -> None:
        c, s = self.contraction, self.size
        array = self.program.scop.arrays[c.array].c_name
        self.program = self.program.remark(
            "register-tile",
            STAGE,
            f"{c.statement} sums up a tile of {s.block_m} x {s.block_n} of {array}, {s.thread_m} x {s.thread_n} of it "
            f"in the registers of each of {s.threads} threads, from panels {s.block_k} deep{self.on}",
            (c.statement,),
            array=array,
            tile=[s.block_m, s.block_n, s.block_k],
            thread=[s.thread_m, s.thread_n],
            threads=s.threads,
            binds=s.reason,
            shared_bytes=s.shared_bytes,
            registers=s.registers,
            blocks_per_multiprocessor=s.blocks_per_multiprocessor,
            score=round(s.score, 3),
            candidates=self.candidates,
        )

    def together(self, listed: tuple[str, ...]) -> list[list[str]]:
        """Statements before or after the sum, in groups that leave nothing private to each other: what one leaves to
        the next has no place for each cell, so that they share their loops."""
        found: list[list[str]] = []
        for name in listed:
            own = self.private_of(name)
            first = next((k for k, group in enumerate(found) if own & set().union(*map(self.private_of, group))), None)
            if first is None:
                found.append([name])
            else:
                found[first:] = [[*(one for group in found[first:] for one in group), name]]
        return found

    def private_of(self, name: str) -> set[str]:
        arrays = {access.array for access in self.program.statements[name].accesses}
        return arrays & self.program.scop.privatizable - {self.contraction.array}

    def around(self, wholes: list[isl.Set]) -> Filter:
        """The loops of statements before or after the sum, which run in the order in which they are listed."""
        steps = []
        for whole in wholes:
            point = self.values(str(whole.get_tuple_name()), self.band.members)
            along = self.stored_at_once(whole, point) if len(wholes) == 1 else None
            below = self.registers(whole, point, LEAF, along)
            steps.append(Filter(isl.UnionSet.from_set(whole), self.threads(whole, point, below)))
        return Filter(reduce(isl.UnionSet.union, (step.filter for step in steps)), _in_one_loop(steps))

    def stored_at_once(self, whole: isl.Set, point: isl.Map) -> int | None:
        """The dimension whose innermost digit runs along cells in memory that fill 16 bytes, from a multiple of these
        on at some sizes, so that a thread may store them at once then; None where there is none."""
        name = str(whole.get_tuple_name())
        written = [a for a in self.program.statements[name].accesses if a.kind is not AccessKind.READ]
        buffered = any((name, a.ref) in b.accesses for b in self.program.buffers.values() for a in written)
        if len(written) != 1 or buffered or not written[0].exact or written[0].kind is not AccessKind.WRITE:
            return None
        array = self.program.scop.arrays[written[0].array]
        lanes, left = divmod(VECTOR_BYTES, array.element.size_bytes or VECTOR_BYTES)
        if left or lanes < 2 or not array.rank:
            return None
        aligned = array.aligned(lanes, self.program.scop.known)
        cells = self.program.statements[name].domain.intersect_params(aligned).apply(written[0].relation)
        if aligned.is_empty() or not in_whole_blocks(cells, lanes):
            return None
        last, part = array.rank - 1, len(self.tasks.parts) - 1
        cell = isl.PwMultiAff.from_map(self.everywhere(written[0].relation))
        for d in (1, 0):
            value = isl.PwMultiAff.from_map(point).get_pw_aff(self.pair[d])
            apart = cell.get_pw_aff(last).sub(value).mod_val(isl.Val.int_from_si(value.get_ctx(), lanes))
            elsewhere = any(mention_one_index(cell.get_pw_aff(k), isl.Map.from_pw_aff(value)) for k in range(last))
            if self.tasks.parts[part].sizes[d] == lanes and not elsewhere and whole.is_subset(apart.zero_set()):
                return d
        return None

    def threads(self, whole: isl.Set, point: isl.Map, below: Node) -> Band:
        """The digits of rows and columns that are dealt out: to warps and the lanes of a warp, or to threads."""
        places = [(part, d) for part, p in enumerate(self.tasks.parts) if p.spatial for d in range(2)]
        axes = WARP_AXES if len(places) == len(WARP_AXES) else tuple(reversed(THREAD_AXES))
        members = [
            Member(
                self.digit(whole, point, part, d),
                True,
                self.band.members[self.pair[d]].name,
                Role.POINT,
                self.tasks.parts[part].sizes[d],
                parallel=True,
                mapped=axis,
            )
            for (part, d), axis in zip(places, axes, strict=True)
            if axis in THREAD_AXES or self.tasks.parts[part].sizes[d] > 1
        ]
        return Band(tuple(members), True, below)

    def registers(self, whole: isl.Set, point: isl.Map, below: Node, at_once: int | None = None) -> Node:
        """The digits that a thread runs; of the dimension that it stores at once the innermost one comes last."""
        members = [
            Member(
                self.digit(whole, point, part, d),
                True,
                self.band.members[self.pair[d]].name,
                Role.REGISTER,
                digit=(d, self.tasks.register_weight(part, d)),
            )
            for d in range(2)
            for part, p in enumerate(self.tasks.parts)
            if not p.spatial and p.sizes[d] > 1
        ]
        if at_once is not None:
            last = max(k for k, m in enumerate(members) if m.digit is not None and m.digit[0] == at_once)
            vector = replace(members.pop(last), vector=True, lanes=self.tasks.parts[-1].sizes[at_once])
            members.append(vector)
        return Band(tuple(members), True, below) if members else below

    def digit(self, whole: isl.Set, point: isl.Map, part: int, d: int) -> isl.UnionPwAff:
        """`{ S[i] -> [floor(v / weight) mod size] }`."""
        value = isl.PwMultiAff.from_map(point).get_pw_aff(self.pair[d])
        context = value.get_ctx()
        weight = isl.Val.int_from_si(context, self.tasks.weight(part, d))
        size = isl.Val.int_from_si(context, self.tasks.parts[part].sizes[d])
        number = value.scale_down_val(weight).floor().mod_val(size)
        return isl.UnionPwAff.from_pw_aff(number.intersect_domain(whole))

    # --- the result ------------------------------------------------------------------------------------------------

    def accumulator(self, wholes: dict[str, isl.Set]) -> Buffer:
        """The tile of the result, a register for each of its cells."""
        array = self.contraction.array
        operands = {(self.contraction.statement, a.ref) for a in self.contraction.operands}
        users = [
            (n, a)
            for n in sorted(wholes)
            for a in self.program.statements[n].accesses
            if a.array == array and (n, a.ref) not in operands
        ]
        if not all(a.exact for _, a in users):
            raise NoRegisterTile("an access of its result is not affine")
        points: isl.Map | None = None
        for name, access in users:
            one = access.relation.reverse().apply_range(self.values(name, self.band.members))
            points = one if points is None else points.union(one)
        assert points is not None
        if not points.is_single_valued():
            everything = empty_set(self.typical)
            for name in wholes:
                everything = everything.union(isl.UnionSet.from_set(self.domain(name)))
            shown = between(self.program, self.band.members, everything, array)
            raise NoRegisterTile("its result has cells that several points use", shown)
        if not points.is_injective():
            raise NoRegisterTile("a point of it uses several cells of its result")
        self.point_of_cell = points
        access = next(a for n, a in users if n == self.contraction.statement and a.kind is not AccessKind.READ)
        box = self.box(wholes[self.contraction.statement], access, self.above)
        if box is None:
            raise NoRegisterTile("its result has no box of constant size in the tile")
        self.replaced = [
            b
            for b in self.program.buffers.values()
            if b.array == array and b.key not in self.elsewhere and any((n, a.ref) in b.accesses for n, a in users)
        ]
        if len(self.replaced) > 1 or any(b.storage != "tile" for b in self.replaced):
            raise NoRegisterTile("its result is in several places")
        found = self.result_buffer(array, box, frozenset((n, a.ref) for n, a in users))
        self.result = found.key
        return found

    def result_buffer(self, array: str, box: Box, users: frozenset[tuple[str, str]]) -> Buffer:
        return self.new_buffer(array, box, len(self.above), users, "register", self.tasks.registers)

    def box(self, whole: isl.Set, access: Access, members: tuple[Member, ...]) -> Box | None:
        """The box of what an access touches in one iteration of some loops."""
        name = str(whole.get_tuple_name())
        access_map = self.everywhere(access.relation).intersect_domain(whole)
        cells = self.values(name, members).reverse().apply_range(access_map)
        found = bounding_box(cells.coalesce(), self.program.scop.known, self.typical)
        if found is None or found.constant_extents() is not None:
            return found
        wide = bounding_box(cells.coalesce(), self.program.scop.known, self.large)
        if wide is not None and wide.constant_extents() is not None:
            return wide
        cell = isl.PwMultiAff.from_map(self.everywhere(access.relation))
        moving = [self.values(name, (self.band.members[k],)) for k in self.pair]
        subscripts = range(access.relation.dim(isl.dim_type.out))
        uncut = [d for d in subscripts if not any(mention_one_index(cell.get_pw_aff(d), v) for v in moving)]
        return found.bounded(self.program.scop.known, uncut)

    @cached_property
    def large(self) -> isl.Set:
        """Sizes whatever those of the calls are, at which a tile may be larger than the array: a box of the tile's size
        does for all."""
        return sample_parameters(replace(self.program, scop=replace(self.program.scop, usual={})))

    def everywhere(self, relation: isl.Map, what: str = "an access") -> isl.Map:
        """A function without its domain."""
        found = everywhere(relation)
        if found is None:
            raise NoRegisterTile(f"{what} is not affine")
        return found

    def new_buffer(
        self,
        array: str,
        box: Box,
        depth: int,
        accesses: frozenset[tuple[str, str]],
        storage: str,
        registers: tuple[int, ...] = (),
        order: tuple[int, ...] = (),
        pad: int = 0,
    ) -> Buffer:
        kind = "sum" if storage == "register" else "panel"
        name = fresh_buffer(self.program, f"{self.program.scop.arrays[array].c_name}_{kind}")
        buffer = Buffer(name, name, array, box.corner, depth, box.extents, storage, accesses, registers, order, pad)
        self.program = replace(self.program, buffers=self.program.buffers | {buffer.key: buffer})
        return buffer

    def copies_of_result(self, accumulator: Buffer) -> tuple[_Copy | None, _Copy | None]:
        """How the result comes into the registers, and out of them, where that is needed."""
        array = self.contraction.array
        instances = empty_set(self.program.scop.domain)
        for name in self.statements:
            instances = instances.union(isl.UnionSet.from_set(self.domain(name)))
        if self.replaced:
            (old,) = self.replaced
            if {name for name, _ in old.accesses} <= self.statements:
                self.widening = replace(self.widening, dropped=self.widening.dropped | {old.key})
                kept = {k: b for k, b in self.program.buffers.items() if k != old.key}
                self.program = replace(self.program, buffers=kept)
                return None, None
        flow = self.program.dependences.flow_by_array.get(array)
        leaves = flow is not None and not flow.intersect_domain(instances).subtract_range(instances).is_empty()
        own = RefFlow(self.program).reads_own_values(Nest(instances, LEAF), array)
        into = None if own else self.copy_of_result(accumulator, True)
        needed = leaves or array in self.program.scop.live_out
        return into, self.copy_of_result(accumulator, False) if needed else None

    def copy_of_result(self, accumulator: Buffer, inside: bool) -> _Copy:
        """A copy of each cell of the tile, by the thread that has its register."""
        array = self.program.scop.arrays[self.contraction.array]
        statement = copy_statement(self.program, array, f"{'in' if inside else 'out'}{next(self.numbers)}", inside)
        name = isl.Id.read_from_str(self.typical.get_ctx(), statement.name)
        points = self.point_of_cell.set_tuple_id(isl.dim_type.in_, name)
        point = self.everywhere(points, "the point of a cell of its result")
        tiles = self.values(self.contraction.statement, self.above)
        at = self.values(self.contraction.statement, self.band.members)
        per_tile = tiles.intersect_domain(self.domain(self.contraction.statement)).reverse().apply_range(at)
        for other in self.statements - {self.contraction.statement}:
            one = self.values(other, self.above).intersect_domain(self.domain(other)).reverse()
            per_tile = per_tile.union(one.apply_range(self.values(other, self.band.members)))
        fixed = isl.Set.from_basic_set(points.domain().affine_hull())  # by loops of one iteration
        cells = point.reverse().intersect_range(fixed)
        relation = per_tile.apply_range(self.same_tile(0)).apply_range(cells).coalesce()
        self.add_copy(replace(statement, domain=points.domain()), relation, accumulator, inside)
        return _Copy(statement.name, relation, point)

    def add_copy(self, statement: Statement, relation: isl.Map, buffer: Buffer, inside: bool) -> None:
        """A statement that moves one cell, with one side in the buffer, and the other one where the array is."""
        known = self.program.buffers[buffer.key]
        grown = replace(known, accesses=known.accesses | {(statement.name, "inside")})
        buffers = self.program.buffers | {buffer.key: grown}
        for old in self.replaced if buffer.key == self.result else []:
            outer = self.program.buffers[old.key]  # with the copies before this one
            buffers[old.key] = replace(outer, accesses=outer.accesses | {(statement.name, "outside")})
        padded = dict(self.program.padded)
        if not relation.range().intersect_params(self.program.scop.known).is_subset(statement.domain):
            padded[statement.name] = "zero" if inside else "guarded"
        self.program = replace(
            self.program,
            buffers=buffers,
            padded=padded,
            statements=self.program.statements | {statement.name: statement},
            copies=self.program.copies | {statement.name},
        )

    def copy_step(self, copy: _Copy) -> Filter:
        whole = copy.relation.range()
        below = self.registers(whole, copy.point, LEAF, self.stored_at_once(whole, copy.point))
        return Filter(isl.UnionSet.from_set(whole), self.threads(whole, copy.point, below))

    # --- the sum -----------------------------------------------------------------------------------------------------

    def sum(self, whole: isl.Set) -> Node:
        """The loop over panels: copies, and the products of what they brought."""
        start, wanted = (self.program, self.made), self.depth()
        self.led = self.points(self.contraction.chain[: self.first_whole() - 1], whole)
        depths = [wanted >> k for k in range(wanted.bit_length()) if k == 0 or wanted >> k >= self.shallowest()]
        for depth in (*depths, wanted):  # where less deep ones have no room either, as deep as the shape wants
            self.program, self.made = start
            panel, copies = self.filled(whole, depth)
            if not self.crowded:
                break
        body = self.products(whole, depth)
        if copies:
            panel = replace(panel, stages=self.size.stages)
            every = union_of((one.relation for one in copies), empty_map(whole))
            steps = [copying(one) for one in copies]
            steps.append(Filter(isl.UnionSet.from_set(whole), body))
            body = Mark("allocate", Extension(every, Sequence(tuple(steps))), names=tuple(p.buffer for p in copies))
        panels = Band((panel,), False, body)
        return Band(self.led, False, panels) if self.led else panels

    def points(self, members: tuple[Member, ...], whole: isl.Set) -> tuple[Member, ...]:
        """Loops of the sum over all that the tiles run."""
        name = self.contraction.statement
        return tuple(
            replace(m, schedule=isl.UnionPwAff.from_pw_aff(_on(self.values(name, (m,)), whole))) for m in members
        )

    def filled(self, whole: isl.Set, depth: int) -> tuple[Member, list[Panel]]:
        """The loop over panels of a depth, and what fills them."""
        first = self.contraction.chain[self.first_whole() - 1]
        value = isl.PwMultiAff.from_map(self.values(self.contraction.statement, (first,))).get_pw_aff(0)
        step = isl.Val.int_from_si(value.get_ctx(), depth)
        corner = isl.UnionPwAff.from_pw_aff(value.scale_down_val(step).floor().scale_val(step).intersect_domain(whole))
        panel = Member(corner, False, first.name, Role.TILE, depth)
        return panel, self.panels(whole, panel)

    def products(self, whole: isl.Set, depth: int) -> Node:
        """What the threads do with one iteration of the loop over panels."""
        c = self.contraction
        name = c.statement
        inner = self.points(c.chain[self.first_whole() - 1 :], whole)
        chain = tuple(replace(m, role=Role.POINT) for m in inner)
        chain = (*chain[:-1], replace(chain[-1], unroll=self.unrolled(depth) if len(chain) == 1 else 1))
        point = self.values(name, self.band.members)
        return self.threads(whole, point, Band(chain, False, self.registers(whole, point, LEAF)))

    def tile_values(self, name: str, panel: Member) -> isl.Map:
        """`{ S[i] -> [outer, tile, led, panel] }`."""
        return self.values(name, (*self.above, *self.led, panel))

    def unrolled(self, depth: int) -> int:
        """Steps of the sum to have at once: what they load has to fit into registers beside the results."""
        element = self.program.scop.arrays[self.contraction.array].element.size_bytes or 8
        in_registers = max(element, 4) * len(self.contraction.operands)  # halves become floats
        return max(1, min(depth, AHEAD_BYTES // in_registers))

    def depth(self) -> int:
        """How many values a panel has of the summing loop that its loop goes along."""
        inner = self.steps_inside()
        depth = self.size.block_k
        while depth > 1 and depth * inner > 2 * self.size.block_k:
            depth //= 2
        return depth

    def shallowest(self) -> int:
        """Down to how many values a panel is made less deep where shared memory has no room for it."""
        return max(1, SHALLOWEST // self.steps_inside())

    def first_whole(self) -> int:
        """The first of the summing loops, behind the outermost one, from which on a panel has all values: these have a
        few iterations, as a window has; the loops before the one in front of it stand around the panels."""
        chain, name = self.contraction.chain, self.contraction.statement
        steps = 1
        for k in range(len(chain) - 1, 0, -1):
            extent = extent_of(self.program, chain[k], name)
            if extent is None or steps * extent > MOST_INSIDE * self.size.block_k:
                return k + 1
            steps *= extent
        return 1

    def steps_inside(self) -> int:
        """Iterations of these loops, where they are known."""
        inner = self.contraction.chain[self.first_whole() :]
        return prod(extent_of(self.program, member, self.contraction.statement) or 1 for member in inner)

    def panels(self, whole: isl.Set, panel: Member) -> list[Panel]:
        """A copy for each operand that many threads read, as far as shared memory goes."""
        statement = self.program.statements[self.contraction.statement]
        found: list[Panel] = []
        there = [b for b in self.program.buffers.values() if b.storage == "tile" and b.key not in self.elsewhere]
        around = (*self.above, *self.led, panel)
        left = STATIC_SHARED_BYTES
        for one in there:
            places = self.size.stages if one.depth == len(around) else 1
            left -= places * buffer_bytes(self.program, one, STATIC_SHARED_BYTES)
        self.crowded = self.in_registers = False
        staged: list[tuple[Access, str]] = []
        for access in self.contraction.operands:
            home = self.home(access)
            if home is not None:
                left -= self.pad_rows(home, left)
                continue
            same = [key for other, key in staged if other.relation.is_equal(access.relation)]
            if same:
                old = self.program.buffers[same[0]]
                grown = replace(old, accesses=old.accesses | {(statement.name, access.ref)})
                self.program = replace(self.program, buffers=self.program.buffers | {old.key: grown})
                continue
            if access.array in {
                a.array
                for s in self.statements
                for a in self.program.statements[s].accesses
                if a.kind is not AccessKind.READ
            }:
                continue
            box = self.box(whole, access, around)
            extents = box.constant_extents() if box is not None else None
            if box is None or extents is None:
                continue
            element = self.program.scop.arrays[access.array].element.size_bytes or 8
            order, pad = self.layout(statement, access, extents, element)
            size = element
            for position, d in enumerate(order):
                size *= extents[d] + (pad if position == len(order) - 1 else 0)
            size *= self.size.stages
            if size > left:
                self.crowded = True
                continue
            left -= size
            buffer = self.new_buffer(
                access.array, box, len(around), frozenset([(statement.name, access.ref)]), "tile", (), order, pad
            )
            staged.append((access, buffer.key))
            producer = producer_of(self.program, access, statement.name, self.alone)
            if producer is not None:
                found.append(self.made_panel(producer, box, extents, buffer))
            else:
                tiles = whole.apply(self.tile_values(statement.name, panel))
                found.append(self.panel(access, box, extents, buffer, tiles))
        return found

    def home(self, access: Access) -> Buffer | None:
        """Where an operand is that the tile makes itself, or that has been copied already."""
        use = (self.contraction.statement, access.ref)
        return next((b for b in self.program.buffers.values() if use in b.accesses), None)

    def pad_rows(self, buffer: Buffer, left: int) -> int:
        """Put so much behind the rows of an operand that a tile makes that lanes read different banks, which read the
        same column of rows that follow each other. Returns the bytes that this takes of those that are left.

        math: rows of 4 (2 k + 1) words begin in different groups of four banks, eight of them in all
        """
        extents = [constant_of(extent) for extent in buffer.extents]
        element = self.program.scop.arrays[buffer.array].element.size_bytes or 8
        known = [extent for extent in extents if extent is not None]
        if len(known) < len(extents) or known[-1] * element % (2 * PAD_BYTES):
            return 0
        if buffer.storage != "tile" or buffer.order or buffer.pad:
            return 0
        taken = prod(known[:-1]) * PAD_BYTES
        if taken > left:
            return 0
        padded = replace(buffer, pad=PAD_BYTES // element)
        self.program = replace(self.program, buffers=self.program.buffers | {buffer.key: padded})
        return taken

    def layout(
        self, statement: Statement, access: Access, extents: tuple[int, ...], element: int
    ) -> tuple[tuple[int, ...], int]:
        """The order of a panel's dimensions, and how many elements more a row has."""
        order = panel_order(self.contraction, self.band, access, statement.domain)
        return order, PAD_BYTES // element if order[-1] != len(order) - 1 else 0

    def panel(self, access: Access, box: Box, extents: tuple[int, ...], buffer: Buffer, tiles: isl.Set) -> Panel:
        array = self.program.scop.arrays[access.array]
        statement = copy_statement(self.program, array, f"in{next(self.numbers)}", True)
        name = isl.Id.read_from_str(self.typical.get_ctx(), statement.name)
        relation = filled_box(box, extents).set_tuple_id(isl.dim_type.out, name)
        cells = access.relation.range().set_tuple_id(name)
        self.add_copy(replace(statement, domain=cells), relation, buffer, True)
        vector = vector_of(array, box, extents, tiles, cells, self.program.scop.known)
        if vector > 1 and buffer.order[-1] != array.rank - 1:  # they go through registers, which have to be there
            words = self.size.thread_m * self.size.thread_n * max(1, array.element.size_bytes // 4)
            vector = 1 if self.in_registers and words > MANY_SUMS else vector  # two of them would be spilled
            self.in_registers = True
        if vector > 1:  # where corners are multiples of it
            relation = relation.intersect_domain(tiles)
        return Panel(statement.name, relation, buffer.key, vector)

    def made_panel(self, producer: Statement, box: Box, extents: tuple[int, ...], buffer: Buffer) -> Panel:
        """A panel of values that nobody has made yet: their producer runs for it."""
        (write,) = [a for a in producer.accesses if a.kind is not AccessKind.READ]
        cells = filled_box(box, extents).set_tuple_id(isl.dim_type.out, write.relation.get_tuple_id(isl.dim_type.out))
        fixed = isl.Set.from_basic_set(producer.domain.affine_hull())  # loops of one iteration
        relation = cells.apply_range(self.everywhere(write.relation).intersect_domain(fixed).reverse())
        grown = replace(buffer, accesses=buffer.accesses | {(producer.name, write.ref)})
        padded = dict(self.program.padded)
        if not relation.range().intersect_params(self.program.scop.known).is_subset(producer.domain):
            padded[producer.name] = "zero"
        self.program = replace(self.program, buffers=self.program.buffers | {buffer.key: grown}, padded=padded)
        self.made = (*self.made, producer.name)
        return Panel(producer.name, relation, buffer.key)

    # --- what lies outside of the domain -----------------------------------------------------------------------------

    def pad(self, name: str, whole: isl.Set, accumulator: Buffer) -> None:
        """Let tiles at the border run whole."""
        domain = self.domain(name)
        more = whole.subtract(domain).intersect_params(self.program.scop.known)
        self.widening = self.widening.with_part(domain, whole)
        if more.is_empty():
            return
        statement = self.program.statements[name]
        kind = "free" if self.harmless(statement, more, accumulator) else "guarded"
        self.program = replace(self.program, padded=self.program.padded | {name: kind})

    def harmless(self, statement: Statement, more: isl.Set, accumulator: Buffer) -> bool:
        """Whether instances outside of the domain touch only registers and panels, and no cell that matters."""
        panels = {b.key for b in self.program.buffers.values() if b.storage == "register" or b.order}
        own = {
            ref
            for b in self.program.buffers.values()
            if b.key in panels
            for s, ref in b.accesses
            if s == statement.name
        }
        for access in statement.accesses:
            private = access.array in self.program.scop.privatizable  # written where nothing lies outside
            if access.ref not in own and (access.kind is not AccessKind.READ or private):
                return False
            if access.ref not in own and not is_settled(access) and not self.is_read_anyway(access, statement, more):
                return False
        written = [a for a in statement.accesses if a.array == accumulator.array and a.kind is not AccessKind.READ]
        return all(more.apply(self.everywhere(access.relation)).is_disjoint(self.result_cells) for access in written)

    def is_read_anyway(self, access: Access, statement: Statement, more: isl.Set) -> bool:
        """Whether what lies outside of the domain reads nothing that instances inside do not read at these sizes."""
        cells = more.apply(self.everywhere(access.relation))
        return bool(cells.is_subset(self.domain(statement.name).apply(access.relation)))

    @cached_property
    def result_cells(self) -> isl.Set:
        """The cells of the result that the region's own instances use."""
        found = [
            self.domain(name).apply(access.relation)
            for name in sorted(self.statements)
            for access in self.program.scop.statements[name].accesses
            if access.array == self.contraction.array
        ]
        return reduce(isl.Set.union, found).coalesce()


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    name: str
    relation: isl.Map
    """`{ [outer, tile] -> copy[x] }`."""
    point: isl.Map
    """`{ copy[x] -> [p] }`."""


def is_settled(access: Access) -> bool:
    """Whether a reference leads to the same cell in all instances: what one of a tile reads, all may read."""
    cell = isl.PwMultiAff.from_map(access.relation)
    found = [affine_of(cell.get_pw_aff(k)) for k in range(cell.dim(isl.dim_type.out))]
    loops = cell.dim(isl.dim_type.in_)
    return all(one is not None and not one.involves_dims(isl.dim_type.in_, 0, loops) for one in found)


def _on(value: isl.Map, domain: isl.Set) -> isl.PwAff:
    return isl.PwMultiAff.from_map(value).get_pw_aff(0).intersect_domain(domain)


def _in_one_loop(steps: list[Filter]) -> Node:
    """Steps whose loops have the same values, as one nest that runs them in their order."""
    first, *others = (step.child for step in steps)
    if not others:
        return first
    if not isinstance(first, Band):
        return Sequence(tuple(steps))
    filters, bands = [step.filter for step in steps], [one for one in (first, *others) if isinstance(one, Band)]
    members = tuple(united([band.members[k] for band in bands], filters) for k in range(len(first.members)))
    inside = [replace(step, child=band.child) for step, band in zip(steps, bands, strict=True)]
    return replace(first, members=members, child=_in_one_loop(inside))
