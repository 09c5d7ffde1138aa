"""Overlapped time tiles: each runs some steps on a copy of its part of the arrays, and of what lies around it."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.rows import with_rows
from polyc.cost.time_sizes import MOST_BYTES
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Array
from polyc.model.tree import Band, Extension, Filter, Mark, Member, Node, Role, Sequence
from polyc.nests.boxes import bounding_box
from polyc.nests.naming import fresh
from polyc.nests.samples import sample_parameters
from polyc.nests.skew import Hyperplane, Steps, overlapped_planes, written_by
from polyc.passes.buffers.promotion import copy_statement, loops_over
from polyc.passes.timetiles.time_bands import hull_of
from polyc.passes.timetiles.wavefronts import ordered_points
from polyc.poly import among, empty_map, greatest_of, least_of, maps, names, out_name, sets, value_on
from polyc.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, eq=False)
class Overlapped:
    """The tree of a nest in overlapped tiles."""

    program: Program
    """With the buffers and the copies."""
    node: Node
    region: isl.Set
    """`[n] -> { [block, half, x0, …] }`."""
    sizes: tuple[int, ...]
    """Steps, and cells along each dimension."""


def overlapped_tiles(program: Program, steps: Steps, sizes: tuple[int, ...]) -> Overlapped | str:
    """Tiles that run some steps each on copies, so that all of a block of steps may run at once; or why not.

    rewrite:  for t { for i B[i] = f(A[i-1..i+1]); for i A[i] = f(B[i-1..i+1]); }
              -> for blocks of 2 T steps {
                   parallel for tiles { A_tile = A; T steps on A_tile, B_tile; A_next = A_tile; }
                   parallel for tiles { A_tile = A_next; T steps on A_tile, B_tile; A = A_tile; } }
    tree:     band(t) - x
              -> mark(allocate A_next) - mark(tiles) - band(block, half, x0, …) - mark(allocate A_tile, B_tile)
                 - extension(whole) - sequence(copies in, band(t) - x, copies out)
    math:     a tile runs E = { z in the block : phi(z) <= max phi(O) } with O the instances that write its own cells,
              for the hyperplanes phi of both sides in each dimension: no flow dependence crosses one backwards, so that
              E has the sources of all that it reads in the block. That is the closure that Algorithm 2 makes stage by
              stage.
    ensures:  tiles of a half read what no tile of it writes; the check shows it
    source:   Zhao et al. 2024, Section 5.5, which names them; Krishnamoorthy et al., PLDI 2007 (overlapped tiles)
    sizes:    steps, then cells; the last one holds for further dimensions
    """
    planes = overlapped_planes(program, steps)
    if isinstance(planes, str):
        return planes
    height, *cells = sizes
    cells = [*cells, *cells[-1:] * steps.rank][: steps.rank]
    maker = _Maker(program, steps, planes, height, tuple(cells))
    return maker.made()


@dataclass(slots=True)
class _Maker:
    program: Program
    steps: Steps
    planes: list[tuple[Hyperplane, Hyperplane]]
    height: int
    cells: tuple[int, ...]
    tile_buffers: list[str] = field(default_factory=list)
    next_buffers: list[str] = field(default_factory=list)
    copies_in: list[Filter] = field(default_factory=list)
    copies_out: list[Filter] = field(default_factory=list)
    reached: isl.Set | None = None
    """`{ [x0, …] }`: the cells that tiles have."""

    def made(self) -> Overlapped | str:
        steps = self.steps
        ran = self.extension()
        every = ran
        size_bytes = 0
        for name in sorted(written_by(self.program, steps)):
            array = self.program.scop.arrays[name]
            if not array.rank and name in self.program.scop.privatizable:
                continue  # each thread has its own
            copied = self.kept(array, ran)
            if isinstance(copied, str):
                return copied
            added, size = copied
            every, size_bytes = every.union(added), size_bytes + size
        if size_bytes > MOST_BYTES:
            return f"a tile's copies take {size_bytes} bytes, more than a thread's stack should hold"
        region = self.region()
        inner = Band((replace(steps.time, role=Role.POINT),), False, ordered_points(steps.node.child, steps.same_step))
        run = Sequence((*self.copies_in, Filter(steps.instances, inner), *self.copies_out))
        node: Node = Extension(every.intersect_domain(isl.UnionSet.from_set(region)), run, whole=True)
        node = Mark("allocate", node, names=tuple(self.tile_buffers))
        node = Mark("tiles", Band(self.members(), False, node), region=region)
        if self.next_buffers:
            node = Mark("allocate", node, names=tuple(self.next_buffers))
        return Overlapped(self.program, node, region, (self.height, *self.cells))

    # --- tiles --------------------------------------------------------------------------------------------------------

    @property
    def tile(self) -> str:
        return ", ".join(["block", "half", *(f"x{d}" for d in range(len(self.cells)))])

    @property
    def first_step(self) -> str:
        return f"{self.height}*(2*block + half)"

    @property
    def last_step(self) -> str:
        return f"{self.height}*(2*block + half) + {self.height - 1}"

    def parsed(self, text: str) -> isl.Map:
        return isl.Map.read_from_str(self.steps.known.get_ctx(), text)

    def extension(self) -> isl.UnionMap:
        """`{ [tile] -> S[t, i] }`: E."""
        conditions = [f"{self.first_step} <= t <= {self.last_step}"]
        for d, ((right, left), size) in enumerate(zip(self.planes, self.cells, strict=True)):
            after = f"({self.last_step})"
            conditions.append(f"u{d} <= {size}*x{d} + {size - 1} + {right.slope}*{after} + {right.shift}")
            conditions.append(f"v{d} <= -{size}*x{d} + {left.slope}*{after} + {left.shift}")
        values = ", ".join(["t", *(f"u{d}, v{d}" for d in range(len(self.cells)))])
        allowed = self.parsed(f"{{ [{self.tile}] -> [{values}] : {' and '.join(conditions)} }}")
        found = empty_map(self.steps.instances)
        for piece in sets(self.steps.instances):
            space = piece.get_space()
            place = isl.Map.from_pw_aff(value_on(self.steps.time.schedule, space))
            for right, left in self.planes:
                for plane in (right, left):
                    place = place.flat_range_product(isl.Map.from_pw_aff(value_on(plane.schedule, space)))
            one = allowed.apply_range(place.intersect_domain(piece).reverse())
            found = found.union(isl.UnionMap.from_map(one))
        return found

    def own(self) -> isl.Map:
        """`{ [tile] -> [x0, …] }`: the cells that a tile puts back."""
        inside = [f"{n}*x{d} <= y{d} <= {n}*x{d} + {n - 1}" for d, n in enumerate(self.cells)]
        return self.parsed(f"{{ [{self.tile}] -> [{self.cell}] : {' and '.join(inside)} }}")

    @property
    def cell(self) -> str:
        return ", ".join(f"y{d}" for d in range(len(self.cells)))

    def members(self) -> tuple[Member, ...]:
        def number(value: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
            return value.scale_down_val(isl.Val.int_from_si(value.get_ctx(), size)).floor()

        time = self.steps.time
        block = number(time.schedule, 2 * self.height)
        half = number(time.schedule, self.height).sub(block.scale_val(isl.Val.int_from_si(block.get_ctx(), 2)))
        found = [Member(block, False, time.name, Role.TILE, 2 * self.height), Member(half, False, "half")]
        for d, size in enumerate(self.cells):
            where: isl.UnionPwAff | None = None
            for cell in self.steps.cells.values():
                one = isl.UnionPwAff.from_pw_aff(cell.get_pw_aff(self.steps.space[d]))
                where = one if where is None else where.union_add(one)
            assert where is not None
            own = number(where.intersect_domain(self.steps.instances), size)
            found.append(Member(own, True, f"x{d}", Role.TILE, size))
        return tuple(found)

    def region(self) -> isl.Set:
        """`{ [tile] }`, by linear conditions: blocks with steps, and tiles with cells."""
        times = isl.UnionMap.from_union_pw_aff(self.steps.time.schedule).intersect_domain(self.steps.instances)
        (steps,) = sets(times.intersect_params(self.steps.known).range())
        assert self.reached is not None
        size = 2 * self.height
        region = self.parsed(f"{{ [{self.tile}] -> [{size}*block] : 0 <= half <= 1 }}")
        found = region.intersect_range(hull_of([steps], 1 - size, 0)).domain()
        rank = len(self.cells)
        for d, n in enumerate(self.cells):
            one = self.reached.project_out(isl.dim_type.set, d + 1, rank - d - 1).project_out(isl.dim_type.set, 0, d)
            there = self.parsed(f"{{ [{self.tile}] -> [{n}*x{d}] }}")
            found = found.intersect(there.intersect_range(hull_of([one], 1 - n, 0)).domain())
        return found

    # --- arrays -------------------------------------------------------------------------------------------------------

    def kept(self, array: Array, ran: isl.UnionMap) -> tuple[isl.UnionMap, int] | str:
        """Buffers for an array and its copies, `{ [tile] -> copy[x] }`; and the bytes of a tile's; or why not."""
        touched = self.access(array.name, None).intersect_domain(self.steps.instances)
        written = self.access(array.name, AccessKind.WRITE).intersect_domain(self.steps.instances)
        first_reads = self.first_reads(array.name)
        own = isl.UnionMap.from_map(self.own().set_tuple_name(isl.dim_type.out, array.name))
        travels = self.travels(array.name) or not written.range().is_disjoint(first_reads.range())
        if travels and self.leaves(written):
            return f"{array.c_name}: later steps write fewer cells, and each block would copy the others on"
        box = self.box(ran.apply_range(touched).union(own) if travels else ran.apply_range(touched))
        if isinstance(box, str):
            return f"{array.c_name}: {box}"
        lower, extents = box
        all_cells = self.all_cells(array, touched.range().intersect_params(self.steps.known))
        cells = all_cells if travels else written.range().intersect_params(self.steps.known).coalesce()
        for piece in sets(cells):
            plain = piece.reset_tuple_id()
            self.reached = plain if self.reached is None else self.reached.union(plain)
        size = array.element.size_bytes or 8
        for extent in extents:
            size *= extent
        key, accesses = self.name_of(array, "tile"), self.references(array.name)
        added = empty_map(ran)
        if travels:
            around = self.around(lower, extents, array.name).intersect_range(all_cells)
            target = self.name_of(array, "next")
            beyond: set[tuple[str, str]] = set()
            mine = own.intersect_range(all_cells)
            for half, fill, store in ((0, around, mine), (1, around, own.intersect_range(cells_of(written)))):
                names_ = (f"fill{half}_{key}", f"store{half}_{key}")
                for name, relation, into in ((names_[0], fill, True), (names_[1], store, False)):
                    added = added.union(self.copy(array, name, self.in_half(relation, half), into, accesses))
                    if into == (half == 1):
                        beyond.add((name, "outside"))
            whole = self.whole(array, target, all_cells, beyond)
            if whole is None:
                return f"{array.c_name}: no box holds what its steps use"
            self.next_buffers.append(target)
        else:
            # A border has several sides: one copy for each, since their loops have nothing in common.
            around = self.around(lower, extents, array.name)
            for number, side in enumerate(self.sides(first_reads)):
                added = added.union(
                    self.copy(array, f"fill{number}_{key}", around.intersect_range(side), True, accesses)
                )
            store = self.final(array.name)
            if not store.is_empty():
                added = added.union(self.copy(array, f"store_{key}", store, False, accesses))
        corner = self.corner(lower, array)
        self.declare(Buffer(key, key, array.name, corner, 2 + len(self.cells), self.constants(extents), "tile",
                            frozenset(accesses)))  # fmt: skip
        self.tile_buffers.append(key)
        return added, size

    def first_reads(self, array: str) -> isl.UnionMap:
        """`{ S[t, i] -> A[x] }`: what the steps read of what stood there before them, whoever wrote it.

        math: with F the flow into the steps from outside of them: reads and (writes . F^-1), and what is live-in
        """
        dependences, own = self.program.dependences, self.steps.instances
        flow = dependences.flow_by_array.get(array, empty_map(own)).intersect_range(own).subtract_domain(own)
        written = empty_map(own)
        for name in names(flow.domain()):
            for access in self.program.statements[name].accesses:
                if access.array == array and access.kind is not AccessKind.READ:
                    written = written.union(isl.UnionMap.from_map(access.relation))
        before = flow.reverse().apply_range(written).intersect(self.access(array, AccessKind.READ))
        return self.named(dependences.live_in, array).intersect_domain(own).union(before).coalesce()

    def sides(self, first_reads: isl.UnionMap) -> list[isl.UnionSet]:
        """The convex parts of what the steps read and never write."""
        cells = first_reads.range().intersect_params(self.steps.known).coalesce()
        parts = [p for piece in sets(cells) for p in basic_sets(piece.remove_redundancies())]
        return [isl.UnionSet.from_set(isl.Set.from_basic_set(part)) for part in parts]

    def all_cells(self, array: Array, touched: isl.UnionSet) -> isl.UnionSet:
        """What the steps touch, as a box where the array has all its cells: the corners that a cross leaves out would
        cut the copies into pieces."""
        (piece,) = sets(touched.coalesce())
        box = isl.Set.universe(piece.get_space())
        rank = len(self.cells)
        for d in range(rank):
            one = piece.project_out(isl.dim_type.set, d + 1, rank - d - 1).project_out(isl.dim_type.set, 0, d)
            there = self.parsed(f"{{ [{self.cell}] -> [y{d}] }}").intersect_range(hull_of([one], 0, 0)).domain()
            box = box.intersect(there.set_tuple_id(piece.get_tuple_id()))
        box = box.intersect_params(self.steps.known)
        return isl.UnionSet.from_set(box if box.is_subset(with_rows(array, piece)) else piece)

    def access(self, array: str, kind: AccessKind | None) -> isl.UnionMap:
        found = empty_map(self.steps.instances)
        for name in names(self.steps.instances):
            for access in self.program.statements[name].accesses:
                if access.array == array and kind in (None, access.kind):
                    found = found.union(isl.UnionMap.from_map(access.relation))
        return found

    def references(self, array: str) -> set[tuple[str, str]]:
        statements = names(self.steps.instances)
        return {(s, a.ref) for s in statements for a in self.program.statements[s].accesses if a.array == array}

    @staticmethod
    def named(relation: isl.UnionMap, array: str) -> isl.UnionMap:
        found = empty_map(relation)
        for piece in maps(relation):
            if out_name(piece) == array:
                found = found.union(isl.UnionMap.from_map(piece))
        return found

    def travels(self, array: str) -> bool:
        """Whether a step reads what an earlier one wrote."""
        flow = self.program.dependences.flow_by_array.get(array)
        if flow is None:
            return False
        inside = among(flow, self.steps.instances)
        at_once = inside.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(self.steps.time.schedule))
        return not inside.subtract(at_once).is_empty()

    def leaves(self, written: isl.UnionMap) -> bool:
        """Whether the last steps, as many as a tile has, write fewer cells than all of them."""
        times = isl.UnionMap.from_union_pw_aff(self.steps.time.schedule).intersect_domain(self.steps.instances)
        times = times.intersect_params(self.steps.known)
        (every,) = sets(times.range())
        near = self.parsed(f"{{ [last] -> [t] : last - {self.height} < t <= last }}")
        recent = isl.UnionSet.from_set(every.lexmax().apply(near))
        cells = written.intersect_domain(times.intersect_range(recent).domain()).range()
        return not written.range().intersect_params(self.steps.known).is_subset(cells)

    def final(self, array: str) -> isl.UnionMap:
        """`{ [tile] -> A[x] }`: own cells that are written last in the tile's block, and needed after all steps."""
        dependences = self.program.dependences
        flow = dependences.flow_by_array.get(array, empty_map(self.steps.instances))
        leaving = flow.intersect_domain(self.steps.instances).subtract_range(self.steps.instances).domain()
        last = self.named(dependences.last_writer, array)
        needed = last.union(self.access(array, AccessKind.WRITE).intersect_domain(leaving))
        values = ", ".join(["t", *(f"y{d}" for d in range(len(self.cells)))])
        inside = [f"{n}*x{d} <= y{d} <= {n}*x{d} + {n - 1}" for d, n in enumerate(self.cells)]
        conditions = " and ".join([f"{self.first_step} <= t <= {self.last_step}", *inside])
        allowed = self.parsed(f"{{ [{self.tile}] -> [{values}] : {conditions} }}")
        found = empty_map(needed)
        for piece in maps(needed.intersect_domain(self.steps.instances)):
            time = isl.Map.from_pw_aff(value_on(self.steps.time.schedule, piece.get_space().domain()))
            place = time.flat_range_product(piece.reset_tuple_id(isl.dim_type.out))
            one = allowed.apply_range(place.reverse()).apply_range(piece)
            found = found.union(
                isl.UnionMap.from_map(one.set_tuple_id(isl.dim_type.out, piece.get_tuple_id(isl.dim_type.out)))
            )
        return found.coalesce()

    def box(self, relation: isl.UnionMap) -> tuple[tuple[int, ...], tuple[int, ...]] | str:
        """The least and the number of cells along each dimension, from the tile's first own one on."""
        (piece,) = maps(relation.intersect_params(self.steps.known))
        pairs = piece.wrap()
        local = isl.LocalSpace.from_space(pairs.get_space())
        lower, extents = [], []
        for d, n in enumerate(self.cells):
            tile = isl.Aff.var_on_domain(local, isl.dim_type.set, 2 + d).scale_val(isl.Val(n, piece.get_ctx()))
            place = isl.Aff.var_on_domain(local, isl.dim_type.set, 2 + len(self.cells) + d).sub(tile)
            low, high = least_of(pairs, place), greatest_of(pairs, place)
            if not (low.is_int() and high.is_int()):
                return "no box holds what a tile reads of it"
            lower.append(int(low.to_python()))
            extents.append(int(high.to_python()) - lower[-1] + 1)
        return tuple(lower), tuple(extents)

    def around(self, lower: tuple[int, ...], extents: tuple[int, ...], array: str) -> isl.UnionMap:
        """`{ [tile] -> A[x] }`: what its buffer can hold."""
        every = enumerate(zip(self.cells, lower, extents, strict=True))
        inside = [f"{n}*x{d} + {low} <= y{d} <= {n}*x{d} + {low + size - 1}" for d, (n, low, size) in every]
        found = self.parsed(f"{{ [{self.tile}] -> [{self.cell}] : {' and '.join(inside)} }}")
        return isl.UnionMap.from_map(found.set_tuple_name(isl.dim_type.out, array))

    def in_half(self, relation: isl.UnionMap, half: int) -> isl.UnionMap:
        there = isl.Set.read_from_str(relation.get_ctx(), f"{{ [{self.tile}] : half = {half} }}")
        return relation.intersect_domain(isl.UnionSet.from_set(there))

    # --- buffers ------------------------------------------------------------------------------------------------------

    def name_of(self, array: Array, what: str) -> str:
        """A name that is a buffer's key as well."""
        taken = self.program.scop.used_names | set(self.program.buffers) | set(self.program.scop.arrays)
        return fresh(f"{array.c_name}_{what}", taken | set(self.tile_buffers) | set(self.next_buffers))

    def copy(
        self, array: Array, name: str, cells: isl.UnionMap, into: bool, accesses: set[tuple[str, str]]
    ) -> isl.UnionMap:
        """A statement that copies cells into the tile's buffer or out of it, as what is to run of it in each tile."""
        (relation,) = maps(cells)
        statement = copy_statement(self.program, array, name, into)
        accesses.add((statement.name, "inside"))
        identity = isl.Id.read_from_str(relation.get_ctx(), statement.name)
        relation = relation.set_tuple_id(isl.dim_type.out, identity)
        self.program = replace(
            self.program,
            statements=self.program.statements | {statement.name: statement},
            copies=self.program.copies | {statement.name},
        )
        every = isl.Set.universe(relation.get_space().range())
        # No pragmas, which would have to be checked: compilers see that these loops copy.
        step = Filter(isl.UnionSet.from_set(every), loops_over(statement.loops, every, False))
        (self.copies_in if into else self.copies_out).append(step)
        return isl.UnionMap.from_map(relation)

    def whole(self, array: Array, key: str, cells: isl.UnionSet, accesses: set[tuple[str, str]]) -> Buffer | None:
        """A second array beside the first."""
        (piece,) = sets(cells)
        nowhere = isl.Set.universe(piece.get_space().params().add_unnamed_tuple_ui(0))
        relation = isl.Map.from_domain_and_range(nowhere, piece)
        found = bounding_box(relation, self.steps.known, sample_parameters(self.program))
        if found is None:
            return None
        named = frozenset((f"{name}_{array.name}", ref) for name, ref in accesses)
        buffer = Buffer(key, key, array.name, found.corner, 0, found.extents, "heap", named)
        self.declare(buffer)
        return buffer

    def declare(self, buffer: Buffer) -> None:
        self.program = replace(self.program, buffers=self.program.buffers | {buffer.key: buffer})

    def corner(self, lower: tuple[int, ...], array: Array) -> isl.MultiAff:
        values = ", ".join(f"{n}*x{d} + {low}" for d, (n, low) in enumerate(zip(self.cells, lower, strict=True)))
        found = isl.MultiAff.read_from_str(self.steps.known.get_ctx(), f"{{ [{self.tile}] -> {array.name}[{values}] }}")
        return found.align_params(self.steps.known.get_space().params())

    def constants(self, extents: tuple[int, ...]) -> tuple[isl.PwAff, ...]:
        params = self.program.scop.context.get_space().params()
        context = params.get_ctx()
        return tuple(
            isl.PwAff.val_on_domain(isl.Set.universe(params), isl.Val.int_from_si(context, e)) for e in extents
        )


def basic_sets(piece: isl.Set) -> list[isl.BasicSet]:
    found = piece.get_basic_set_list()
    return [found.get_at(k) for k in range(found.n_basic_set())]


def cells_of(written: isl.UnionMap) -> isl.UnionSet:
    return written.range().coalesce()


__all__ = ["Overlapped", "overlapped_tiles"]
