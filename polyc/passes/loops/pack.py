"""Arrays of which sums read rows, again and again: once in another layout, in which neighbouring sums find theirs side
by side."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Role, Sequence
from polyc.nests.naming import fresh_buffer
from polyc.nests.nest import has_loops
from polyc.nests.strides import UNROLLED, iterations, last_stored, makes_no_vectors, step_of, usual_sizes
from polyc.nests.sums import streams, sums_in_vectors
from polyc.nests.tiling import point_members, tile_members
from polyc.passes.buffers.promotion import loops_over
from polyc.passes.loops.columns import Column, below_columns, column_of, position_of, row_read, with_columns
from polyc.poly import empty_map, names, union_of
from polyc.records import dataclass, field, replace

STAGE = "pack"
REUSED = 8
"""How often an array has to be read for it to pay to copy it, which for a large one is done through memory."""
LINE_ELEMENTS = 16
"""Neighbours that are filled at once: those in a line of the caches."""
SHORTEST = 16
"""Neighbouring sums that make vectors."""
LARGE = 4 << 20
"""Bytes of an array that no cache keeps: each time that it is read, it comes from memory, however it lies there."""


def pack_rows(program: Program) -> Program:
    """Copy arrays of which each sum reads a row that outer loops read again, so that a loop over sums makes vectors.

    rewrite:  for t for i for j y[i] += A[i][j] * x[t][j];
              -> for i for j B[j][i] = A[i][j];  for t for i for j y[i] += B[j][i] * x[t][j];
    tree:     x -> mark(allocate B) - extension - sequence(copies, x)
    requires: i is coincident, j is not, and A is read along j; along i all else that the sum touches stays where it is,
              or goes along a row; t does not move A, and nothing in the region writes it
    ensures:  the order of additions into each cell. Where t has few iterations, the region stays as it was written
    source:   the layout of an array chosen with the loops around it (ALT, Xu et al., EuroSys 2023); packing as for
              products (Goto and van de Geijn, TOMS 2008)
    """
    if not streams(program.options):
        return program
    packer = _Packer(program)
    packer.at(program.tree.child, ())
    return packer.packed()


@dataclass(slots=True)
class _Packer:
    program: Program
    reads: dict[tuple[str, int], list[tuple[Statement, Access]]] = field(default_factory=dict)
    """The references to an array for which loops move one subscript."""
    worth: dict[tuple[str, int], isl.Set] = field(default_factory=dict)
    """The sizes at which an array is read often enough."""

    def at(self, node: Node, above: tuple[Member, ...]) -> None:
        match node:
            case Band(members=members, child=child):
                if any(m.role is Role.REGISTER for m in members):
                    return
                if not has_loops(child):
                    self.visit(members[0].schedule.domain(), above + members)
                self.at(child, above + members)
            case Sequence(children=steps):
                for step in steps:
                    self.at(step.child, above)
            case Mark(kind="tiles"):
                return  # tiles over time have an order of their own
            case Extension() | Mark():
                self.at(node.child, above)
            case _:
                return

    def visit(self, instances: isl.UnionSet, around: tuple[Member, ...]) -> None:
        """The statements in an innermost loop, with all loops around them."""
        *outer, inner = around
        count = iterations(inner, self.program)
        if inner.coincident or (count is not None and count <= UNROLLED):
            return
        if makes_no_vectors(instances, self.program):
            return
        if sums_in_vectors(self.program, inner) and (count is None or count >= SHORTEST):
            return  # of whole numbers compilers make vectors along the rows
        for name in names(instances):
            statement = self.program.statements[name]
            loops = [(m, p) for m in outer if (p := position_of(m, statement)) is not None]
            place = next((k for k in reversed(range(len(loops))) if loops[k][0].coincident), None)
            if place is not None and self.sums_up(statement, position_of(inner, statement)):
                self.rows(statement, inner, loops[place], loops[:place])

    def sums_up(self, statement: Statement, position: int | None) -> bool:
        """Whether a statement adds into a cell that its innermost loop does not move."""
        if position is None or statement.opaque or statement.name in self.program.copies:
            return False
        written = [a for a in statement.accesses if a.kind is not AccessKind.READ]
        return all(
            a.exact
            and step_of(a, position) == 0
            and any(r.kind is AccessKind.READ and r.relation.is_equal(a.relation) for r in statement.accesses)
            for a in written
        )

    def rows(
        self, statement: Statement, inner: Member, along: tuple[Member, int], outer: list[tuple[Member, int]]
    ) -> None:
        """The arrays of which a sum reads a row.

        along: the loop over sums; outer: those around it, each with the dimension of the statement that it runs through
        """
        member, position = along
        count = iterations(member, self.program)
        if count is not None and count < SHORTEST:
            return
        steps = [(a, step_of(a, position, last_stored(self.program, statement.name, a))) for a in statement.accesses]
        far = [a for a, step in steps if step > 1]
        across = position_of(inner, statement)
        every = self.program.statements.values()
        rows = [row_read(self.program, statement, a, position, every) for a in far]
        if across is None or None in rows or any(step_of(a, across) != 1 for a in far):
            return
        for access, subscript in zip(far, rows, strict=True):
            worth = self.read_again(statement, access, outer)
            if subscript is None or worth.is_disjoint(self.program.scop.known):
                continue
            key = access.array, subscript
            self.reads.setdefault(key, []).append((statement, access))
            self.worth[key] = worth.union(self.worth[key]) if key in self.worth else worth

    def read_again(self, statement: Statement, access: Access, outer: list[tuple[Member, int]]) -> isl.Set:
        """The sizes at which one of the loops around reads the same elements again often enough."""
        params = isl.Set.universe(self.program.scop.known.get_space().params())
        least = isl.PwAff.val_on_domain(params, isl.Val.int_from_si(params.get_ctx(), REUSED - 1))
        found = params.complement()
        for _, position in outer:
            if step_of(access, position) == 0:
                first, last = statement.domain.dim_min(position), statement.domain.dim_max(position)
                found = found.union(last.sub(first).ge_set(least))
        return found.coalesce()

    def packed(self) -> Program:
        """The program with the copies."""
        made: list[Column] = []
        program = self.program
        for (array, subscript), reads in sorted(self.reads.items(), key=lambda one: one[0]):
            name = fresh_buffer(program, f"{program.scop.arrays[array].c_name}_columns", ())
            cells = union_of((a.relation for _, a in reads), empty_map(program.scop.domain)).range()
            column = self.column(isl.Set.from_union_set(cells), subscript, reads, name)
            if column is None:
                continue
            made.append(column)
            program = with_columns(program, [column])
            assumed = program.scop.assumed.intersect(self.worth[array, subscript])
            what = program.scop.arrays[array].c_name
            message = f"{what} is copied once, so that what neighbouring sums read lies side by side"
            program = replace(program, scop=replace(program.scop, assumed=assumed))
            program = program.remark("packed", STAGE, message, tuple(s.name for s, _ in reads), array=array)
        if not made:
            return program
        tree = program.tree
        child = below_columns(tuple(made), tree.domain, tree.child, _by_lines)
        return replace(program, tree=Domain(tree.domain, child))

    def column(self, cells: isl.Set, subscript: int, reads: list[tuple[Statement, Access]], name: str) -> Column | None:
        nowhere = isl.Set.universe(cells.get_space().params().add_unnamed_tuple_ui(0))
        found = column_of(self.program, isl.Map.from_domain_and_range(nowhere, cells), subscript, reads, name)
        if found is None or self.is_large(found.buffer):
            return None
        return replace(found, buffer=replace(found.buffer, storage="heap"))

    def is_large(self, buffer: Buffer) -> bool:
        """Whether no cache keeps an array, at the sizes that are known."""
        sizes = usual_sizes(self.program)
        most = [extent.intersect_params(sizes).max_val() for extent in buffer.extents]
        size = self.program.scop.arrays[buffer.array].element.size_bytes
        return all(value.is_int() for value in most) and prod(value.to_python() for value in most) * size > LARGE


def _by_lines(column: Column) -> Band:
    """Loops that fill a line of several rows, then the next one of each: rows may lie a power of two apart, of which a
    cache keeps few."""
    loops = loops_over(column.statement.loops, column.cells.range(), coincident=False)
    along = column.buffer.order[-1]
    moved = loops.members[along]
    others = tuple(m for k, m in enumerate(loops.members) if k != along)
    tiles = tile_members((replace(moved, coincident=True),), (LINE_ELEMENTS,))
    inside = Band(point_members((moved,)), True, loops.child)
    return Band(tiles, True, Band(others, True, inside) if others else inside)
