"""Tiles that keep whole rows of an expanded array: what fills them, sums them up and reads them runs in one tile."""

from __future__ import annotations

from math import ceil, prod

import islpy as isl

from polyc.cost.micro_sizes import MicroSize
from polyc.cost.storage import STACK_BYTES
from polyc.machine import load_cpu
from polyc.model.program import Buffer, Group, Program
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Member, Node, Sequence
from polyc.nests.boxes import Box, bounding_box
from polyc.nests.contractions import Contraction, extent_of
from polyc.nests.naming import fresh
from polyc.nests.nest import Nest, Outer, all_instances, at_sequences, inside, is_finished, sequence, values
from polyc.nests.samples import sample_parameters
from polyc.nests.tiling import WHOLE, point_members, tile_members, told_sizes
from polyc.passes.products.registers import apart, contraction_sizes, size_for_rows
from polyc.poly import affine_of, among, empty_map, empty_set, everywhere, maps, out_name, value_on
from polyc.records import dataclass, replace

STAGE = "rows"
CACHE_SHARE = 0.25
"""Of the second level of a cache: what the rows of a tile may take. The panel of what they are made of is there too."""


def keep_rows(program: Program) -> Program:
    """Let a tile keep the rows of an array that `temporaries` expanded, and run all that touches them.

    rewrite:  for i { for j { W[i][j] = 0; for k W[i][j] += A[i][k] * B[k][j]; } }  for i for j A[i][j] = W[i][j];
              -> for i by T { double w[T][M];  for i in the tile for j { w = 0; for k w += … }
                              for i in the tile for j A[i][j] = w; }
    tree:     sequence(P: band(i, j), Q: band(i, j)) -> band(i by T) - sequence(P: band(i, j), Q: band(i, j))
    math:     v(S) = c(f(S)) for each statement S that touches W, with f its element of W and c the loops of the sum as
              functions of the leading indices of W. Tiles cut only v; every dependence between these statements has
              v(x) = v(y), so that tiles are independent, and inside of a tile the nests keep their order
    requires: a sum of products (`contractions.py`) with its rows among v and its columns not, and a row of W with a
              constant bound: where only the extent of the array before says it, that becomes a condition on the sizes
    ensures:  W is in buffers of tiles, and nowhere else
    source:   Zhao et al. 2024, Section 6.4; a tile is as wide as all columns, since a row is read as a whole to make it
    """
    step = program.relocated
    if step is None:
        return program
    arrays = {out_name(m.relation): m.array for m in step.moves if step.before.arrays[m.array].rank}
    if not arrays:
        return program
    keeper = _Keeper(program)
    for made, array in arrays.items():
        tree = keeper.kept(array, made)
        keeper.program = replace(keeper.program, tree=tree)
    return keeper.program


class _No(Exception):
    """Why no tile keeps the rows."""


@dataclass(slots=True)
class _Keeper:
    program: Program

    def kept(self, array: str, made: str) -> Domain:
        """The tree with the rows of one array in tiles; the same where that cannot be."""
        before = self.program
        done: list[isl.UnionSet] = []

        def change(nests: tuple[Nest, ...], outer: Outer) -> Node:
            touching = [k for k, nest in enumerate(nests) if self.touches(nest, made)]
            if touching and not any(_below_outer(nests[k]) for k in touching):
                found = _Joined(self.program, array, made, nests, touching, outer)
                placed = found.placed()
                self.program = found.program
                done.append(found.added)
                return sequence(placed, all_instances(nests))
            return sequence([replace(n, node=inside(n, outer, change)) for n in nests], all_instances(nests))

        try:
            tree = at_sequences(before.tree, change)
            if not done:
                raise _No("what touches it is not beside each other")
        except _No as why:
            name = before.scop.arrays[array].c_name
            step = before.relocated
            assert step is not None
            users = tuple(s for s in step.before.statements if self.uses(s, made))
            message = f"no tile keeps the parts of {name}: {why}"
            self.program = before.remark("not-expanded", STAGE, message, users, array=array)
            return before.tree
        return Domain(tree.domain.subtract(done[0]), tree.child)

    def touches(self, nest: Nest, array: str) -> bool:
        return any(self.uses(name, array) for name in nest.statements)

    def uses(self, statement: str, array: str) -> bool:
        return any(a.array == array for a in self.program.statements[statement].accesses)


def _below_outer(nest: Nest) -> bool:
    """Whether what is inside of the nest is looked at by itself: it is no parallel nest."""
    return is_finished(nest.node) or nest.band is None or nest.band.coincident_prefix == 0


class _Joined:
    """The nests that touch one array, in the tiles of the loops that its leading indices belong to."""

    def __init__(
        self, program: Program, array: str, made: str, nests: tuple[Nest, ...], touching: list[int], outer: Outer
    ) -> None:
        step = program.relocated
        assert step is not None
        self.program = program
        self.outer = outer
        self.nests = nests
        self.touching = touching
        self.original = step.before.statements
        self.before = step.before.arrays[array]
        self.made = program.scop.arrays[made]
        self.leading = self.made.rank - self.before.rank
        self.cells = {
            name: a.relation
            for k in touching
            for name in nests[k].statements
            for a in program.statements[name].accesses
            if a.array == made
        }
        """`{ S[i] -> W[p, x] }`: one for each statement, as the temporary had."""
        self.added = empty_set(program.scop.domain)
        """Instances that run in some tiles only: these add them, and they run nowhere else."""

    def placed(self) -> list[Nest]:
        """All nests of the sequence. Raises _No."""
        inside = [self.nests[k] for k in self.touching]
        if {s for n in inside for s in n.statements} != set(self.cells):
            raise _No("a nest that touches it has other statements as well")
        between = [k for k in range(self.touching[0], self.touching[-1]) if k not in self.touching]
        d = self.program.dependences
        every = self.outer.same_iteration(d.flow.union(d.false).union(d.private_false))
        for k in between:
            for one in (self.nests[j] for j in self.touching if j < k):
                if not every.intersect_domain(one.instances).intersect_range(self.nests[k].instances).is_empty():
                    raise _No("what stands between its statements needs it")
        self.bound()
        made = self.joined(inside, every)
        first, last = self.touching[0], self.touching[-1]
        return [*self.nests[:first], *(self.nests[k] for k in between), made, *self.nests[last + 1 :]]

    def bound(self) -> None:
        """Ask that a row is no longer than it was declared, where no constant bounds it."""
        scop = self.program.scop
        asked = scop.assumed
        for extent, declared in zip(self.made.extents[self.leading :], self.before.extents, strict=True):
            value = None if extent is None else affine_of(extent)
            limit = None if declared is None else declared.max_val()
            if value is None:
                raise _No("its rows have no known length")
            if value.is_cst():
                continue
            if limit is None or not limit.is_int():
                raise _No("its rows have no constant length")
            whole = isl.PwAff.from_aff(value)
            asked = asked.intersect(whole.le_set(isl.PwAff.val_on_domain(whole.domain(), limit)).params())
        if not scop.known.is_subset(asked):
            self.program = replace(self.program, scop=replace(scop, assumed=asked))

    def joined(self, nests: list[Nest], every: isl.UnionMap) -> Nest:
        """One nest of all. Raises _No."""
        total, band, found, size = self.sum_of(nests)
        shared = [k for k, member in enumerate(band.members) if self.of_leading(found.statement, member) is not None]
        if shared != list(range(len(shared))) or found.rows not in shared or found.columns in shared:
            raise _No("its rows are not those of a sum of products")
        common = [self.common(found.statement, band.members[k]) for k in shared]
        instances = all_instances(tuple(nests))
        pairs = among(every, instances)
        if not pairs.is_subset(Outer(tuple(common)).same_iteration(pairs)):
            raise _No("iterations of the loops around depend on each other all the same")
        sizes, box = self.sizes(instances, common, found.statement, found.rows, size)
        buffer = self.buffer(box)
        tile = tile_members(tuple(common), sizes)
        steps = []
        tiles = values(self.outer.members + tile, instances)
        every_tile = tiles.intersect_domain(total.instances).range()
        added = empty_map(instances)
        for nest in nests:
            mine = tiles.intersect_domain(nest.instances)
            if not mine.range().is_equal(every_tile):
                # isl would move what runs in some tiles only out of their loops, where their buffer is another one.
                added = added.union(mine.reverse())
            own = band if nest is total else nest.band
            assert own is not None
            rest = tuple(m for m in own.members if not any(_equal(m, other, nest.instances) for other in common))
            here = tuple(replace(m, schedule=m.schedule.intersect_domain(nest.instances)) for m in common)
            steps.append(Filter(nest.instances, Band(point_members((*here, *rest)), own.permutable, own.child)))
        node: Node = Sequence(tuple(steps))
        if not added.is_empty():
            node = Extension(added, node)
            self.added = added.range()
            instances = instances.subtract(self.added)
            tile = tuple(replace(m, schedule=m.schedule.intersect_domain(instances)) for m in tile)
        node = Mark("allocate", node, names=(buffer.key,))
        statements = tuple(s for s in self.program.scop.statements if s in self.cells)
        told = told_sizes((*sizes, WHOLE))
        users = tuple(s for s in statements if s in self.original)
        text = f"{', '.join(users)} in tiles of {told}\nkept in the tile: {self.made.c_name}"
        group = Group(statements, statements, (), sizes, True)
        self.program = replace(self.program, groups=(group, *self.program.groups))
        self.program = self.program.remark(
            "kept-rows",
            STAGE,
            f"{', '.join(users)} run in tiles of {told}, each of which keeps the rows of {self.made.c_name} that it "
            "fills",
            users,
            array=self.made.name,
            tile=list(sizes),
            bytes=self.bytes_of(box),
        )
        return Nest(instances, Mark("group", Band(tile, True, node), text=text))

    def sum_of(self, nests: list[Nest]) -> tuple[Nest, Band, Contraction, MicroSize]:
        """The nest with the sum of products into the array, with its loops that sum up in a band of their own."""
        for nest in nests:
            node = apart(self.program, nest.node)
            if not isinstance(node, Band):
                continue
            found, sizes = contraction_sizes(self.program, node)
            if found is not None and found.array == self.made.name and sizes:
                return nest, node, found, size_for_rows(self.program, node, found, sizes[0])
        raise _No("no register tile would sum it up")

    def of_leading(self, name: str, member: Member) -> isl.Map | None:
        """`{ W[p, x] -> [v] }`: a loop of a statement as a function of the leading indices; None where it is none."""
        cells = self.cells[name]
        value = isl.Map.from_pw_aff(value_on(member.schedule, cells.get_space().domain()))
        found = everywhere(cells.reverse().apply_range(value.intersect_domain(cells.domain())))
        if found is None:
            return None
        only = affine_of(isl.PwMultiAff.from_map(found).get_pw_aff(0))
        others = self.made.rank - self.leading
        inside = only is None or only.involves_dims(isl.dim_type.in_, self.leading, others)
        return None if inside else found

    def common(self, name: str, member: Member) -> Member:
        """The loop for all statements that touch the array."""
        function = self.of_leading(name, member)
        assert function is not None
        schedule = isl.UnionPwAff.empty(member.schedule.get_space())
        for cells in self.cells.values():
            value = cells.apply_range(function)
            schedule = schedule.union_add(isl.UnionPwAff.from_pw_aff(isl.PwMultiAff.from_map(value).get_pw_aff(0)))
        return replace(member, schedule=schedule, coincident=True)

    def sizes(
        self, instances: isl.UnionSet, common: list[Member], statement: str, rows: int, size: MicroSize
    ) -> tuple[tuple[int, ...], Box]:
        """As many rows in a tile as register tiles like, and as their buffer allows."""
        machine = load_cpu(self.program.options.machine)
        second = machine.levels[min(1, len(machine.levels) - 1)].bytes
        most = min(STACK_BYTES, int(second * CACHE_SHARE))
        typical = sample_parameters(self.program)
        most_rows = size.block_m
        extent = extent_of(self.program, common[rows], statement) if len(common) == 1 else None
        if extent is not None and extent < machine.cores * most_rows:  # one tile for each core, at least
            most_rows = max(1, ceil(extent / machine.cores / size.rows)) * size.rows
        for count in range(most_rows, 0, -size.rows):
            sizes = tuple(count if k == rows else 1 for k in range(len(common)))
            tile = tile_members(tuple(common), sizes)
            tiles = values(self.outer.members + tile, instances).reverse()
            cells = empty_map(instances)
            for relation in self.cells.values():
                cells = cells.union(isl.UnionMap.from_map(relation))
            (touched,) = maps(tiles.apply_range(cells).coalesce())
            box = bounding_box(touched, self.program.scop.known, typical)
            box = None if box is None else box.bounded(self.program.scop.known, range(self.leading, self.made.rank))
            if box is None:
                raise _No("the rows of a tile have no box of constant size")
            if self.bytes_of(box) <= most:
                return sizes, box
        raise _No(f"a tile of a few rows would take more than {most} bytes")

    def bytes_of(self, box: Box) -> int:
        extents = box.constant_extents()
        assert extents is not None
        return prod(extents) * (self.made.element.size_bytes or 8)

    def buffer(self, box: Box) -> Buffer:
        scop = self.program.scop
        name = fresh(f"{self.made.c_name}_tile", scop.used_names)
        key = fresh(name, scop.used_names | set(self.program.buffers) | set(scop.arrays))
        users = frozenset(
            (s, a.ref) for s in self.cells for a in self.program.statements[s].accesses if a.array == self.made.name
        )
        depth = box.corner.dim(isl.dim_type.in_)
        found = Buffer(key, name, self.made.name, box.corner, depth, box.extents, "tile", users)
        self.program = replace(self.program, buffers=self.program.buffers | {key: found})
        return found


def _equal(one: Member, other: Member, instances: isl.UnionSet) -> bool:
    """Whether two loops have the same values."""
    a, b = (values((m,), instances) for m in (one, other))
    return bool(a.is_equal(b))
