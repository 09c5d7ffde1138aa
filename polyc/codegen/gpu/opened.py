"""The kernel that is being printed: its blocks and threads, and what these share."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.codegen.gpu.device.dialect import Dialect
from polyc.codegen.gpu.device.words import NoKernelForm
from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.loops.instances import Scope
from polyc.codegen.text.arith import ONE, ZERO, divided, most_of, plus, product_of, times
from polyc.codegen.text.macros import MAX
from polyc.machine.gpu import STATIC_SHARED_BYTES
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import ALL_THREADS, BLOCK_AXES, GLOBAL_AXES, PART_AXES, THREAD_AXES, WARP_AXES, Mark, Member
from polyc.records import dataclass, field, replace


@dataclass(slots=True)
class Opened:
    program: Program
    dialect: Dialect
    names: dict[str, str]
    """Of the variables for the indices of blocks and threads: `bx`, `ty`."""
    mark: Mark
    host: frozenset[str]
    """Names of the loops around it, which run on the host."""
    shared: dict[str, c.Decl] = field(default_factory=dict)
    shared_bytes: int = 0
    staged: set[str] = field(default_factory=set)
    """Shared arrays that have two places."""
    ahead: int = 0
    """Values of a thread that are on their way to them."""
    counts: dict[str, list[c.Expr]] = field(default_factory=dict)
    """For each axis, how many blocks each loop on it has work for."""
    indices: dict[str, c.Decl] = field(default_factory=dict)
    """Variables for the indices of blocks and threads, by what they are."""
    left_out: set[str] = field(default_factory=set)
    """Axes of blocks along which isl left out a loop."""
    comment: str = ""
    pieces: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The step of mapped members whose loop isl prints in several pieces."""
    private: dict[str, frozenset[str]] = field(default_factory=dict)
    """For each mark that declares a thread's own variables: the statements below it."""
    parts: dict[str, str] = field(default_factory=dict)
    """Arrays that its threads combine parts of, and the shared array that has these."""
    folded: dict[str, c.Expr] = field(default_factory=dict)
    """The axes that share x, from the fastest on, and how many blocks each has."""
    aligned: bool = False
    """Threads have neighbours in memory: nvcc moves 16 bytes at once where it knows where arrays begin."""

    # --- what the threads of a block share ---------------------------------------------------------------------------

    def share(self, key: str, declaration: c.Decl, element_bytes: int) -> None:
        """Declare an array of constant size that the threads of a block share. Raises NotMappable."""
        self.take(declaration, element_bytes)
        self.shared[key] = replace(declaration, type=f"{self.dialect.shared} {declaration.type}")

    def take(self, declaration: c.Decl, element_bytes: int) -> None:
        """Use the memory of an array that a block shares. Raises NotMappable."""
        numbers = [int(e.text.rstrip("uUlL"), 0) for e in declaration.extents if isinstance(e, c.Literal)]
        self.shared_bytes += element_bytes * prod(numbers)
        if self.shared_bytes > STATIC_SHARED_BYTES:
            raise NoKernelForm("a tile does not fit in the memory that a block shares")

    # --- indices -----------------------------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """Of a block."""
        return prod(self.mark.sizes)

    def width(self, axis: str) -> int:
        """The threads of a block along an axis."""
        return (*self.mark.sizes, 1, 1)["xyz".index(axis)]

    def together(self, member: Member) -> int:
        """How many iterations a block takes at once."""
        return self.width(member.mapped[-1]) if member.mapped in GLOBAL_AXES else 1

    def share_of(self, member: Member) -> tuple[c.Expr, c.Expr]:
        """The first iteration of a block or thread, and how many of them there are."""
        axis = member.mapped[-1]
        if member.mapped == ALL_THREADS:
            return self.thread(ALL_THREADS), c.Literal(str(self.threads))
        if member.mapped in THREAD_AXES:
            return self.thread(member.mapped), c.Literal(str(self.width(axis)))
        if member.mapped in WARP_AXES:
            return self.lane(member), c.Literal(str(member.size))
        if member.mapped in self.folded:
            return self.part_of_x(member.mapped)
        block, blocks = self.block(axis), self.blocks(axis)
        if member.mapped in (*BLOCK_AXES, *PART_AXES):
            return block, blocks
        width = self.width(axis)
        return plus(times(width, block), self.thread(f"thread.{axis}")), times(width, blocks)

    def part_of_x(self, axis: str) -> tuple[c.Expr, c.Expr]:
        """The index along an axis that shares x with others, and the step to the next tile: x counts fastest."""
        order = list(self.folded)
        # A loop without iterations has one block all the same, whose indices are divided by how many there are.
        folded = {a: n if isinstance(n, c.Literal) else c.Call(MAX, (n, ONE)) for a, n in self.folded.items()}
        index, blocks = self.block("x"), self.blocks("x")
        for inner in order[: order.index(axis)]:
            index, blocks = divided(index, folded[inner]), divided(blocks, folded[inner])
        return (index, blocks) if axis == order[-1] else (c.Binary("%", index, folded[axis]), folded[axis])

    def part_index(self) -> c.Expr:
        """Of all parts that blocks leave for a cell, the one of this block."""
        found: c.Expr = ZERO
        for axis in ("z", "y"):
            if f"part.{axis}" in self.counts:
                block = self.block(axis)
                found = block if found == ZERO else plus(c.Binary("*", found, self.blocks(axis)), block)
        return found

    def block(self, axis: str) -> c.Expr:
        """The index of a block along an axis."""
        return self.variable(f"b{axis}", self.dialect.index(self.dialect.block, axis))

    def blocks(self, axis: str) -> c.Expr:
        """The blocks along an axis, in the words of the device."""
        return c.Name(self.dialect.index(self.dialect.blocks, axis))

    def thread(self, which: str) -> c.Expr:
        """The index of a thread in its block, along an axis or of all."""
        x = self.variable("tx", self.dialect.index(self.dialect.thread, "x"))
        if which == THREAD_AXES[0] or (which == ALL_THREADS and len(self.mark.sizes) == 1):
            return x
        y = self.variable("ty", self.dialect.index(self.dialect.thread, "y"))
        if which == THREAD_AXES[1]:
            return y
        return c.Binary("+", c.Binary("*", c.Literal(str(self.width("x"))), y), x)

    def lane(self, member: Member) -> c.Expr:
        """The index of a warp in its block, or of a lane in its warp, along an axis."""
        axis = THREAD_AXES[member.mapped.startswith("warp")]
        index, count = self.thread(axis), self.width(axis[-1])
        if count == member.size:
            return index
        if member.mapped.endswith("x"):
            value = c.Binary("%", index, c.Literal(str(member.size)))
        else:
            value = c.Binary("/", index, c.Literal(str(count // member.size)))
        return self.variable(member.mapped[0] + member.mapped[-1], f"{member.mapped} {member.size}", value)

    def variable(self, name: str, value: str, written: c.Expr | None = None) -> c.Expr:
        """A variable of the kernel for one of its indices: signed, so that sums with negative bounds are right.

        written: the value, where it is no word of the device
        """
        declared = c.Decl("const long", self.names[name], (), written or c.Name(value))
        self.indices.setdefault(value, declared)
        return c.Name(self.names[name])

    # --- how many blocks ---------------------------------------------------------------------------------------------

    def count(self, member: Member, trips: c.Expr, scope: Scope) -> None:
        """Note for how many blocks a loop has work."""
        if member.mapped not in (*BLOCK_AXES, *GLOBAL_AXES, *PART_AXES):
            return
        if {n.name for n in c.walk(trips) if isinstance(n, c.Name)} & (scope.names - self.host):
            trips = self.most_trips(member)
        self.counts.setdefault(member.mapped, []).append(trips)

    def most_trips(self, member: Member) -> c.Expr:
        """An upper bound of a loop's iterations in the region's sizes alone."""
        return self.range_of(member, member.size * self.together(member))[1]

    def range_of(self, member: Member, step: int = 1) -> tuple[c.Expr, c.Expr]:
        """The least value of a loop in the region's sizes alone, and how many steps lead to the greatest one, and 1.

        Raises NotMappable.
        """
        scop = self.program.scop
        values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(self.program.tree.domain).range()
        one = isl.Set.from_union_set(values).intersect_params(scop.known)
        if not one.dim_is_bounded(isl.dim_type.set, 0):
            raise NoKernelForm(f"the loop {member.name} has no bound in the sizes")
        size = isl.Val.int_from_si(one.get_ctx(), step)
        steps = one.dim_max(0).sub(one.dim_min(0)).scale_down_val(size).floor()
        trips = steps.add_constant_val(isl.Val.one(one.get_ctx()))
        printer, build = ExprPrinter(scop.parameters, {}), build_for(scop, scop.known)
        return printer.convert(expression(build, one.dim_min(0))), printer.convert(expression(build, trips))

    def most_blocks(self, axis: str) -> c.Expr:
        """For how many blocks the loops on an axis have work."""
        return most_of(self.counts[axis])

    def blocks_along(self, axis: str) -> c.Expr:
        """How many blocks a kernel is started with: as many as have work, or those that the user wants."""
        name, shared = f"block.{axis}", list(self.folded) if axis == "x" else []
        counts = self.counts.get(name, self.counts.get(f"global.{axis}"))
        wanted = (self.program.options.grid or ())["xyz".index(axis) :][:1]
        if counts is None:
            return ONE
        if not wanted or (shared[-1] if shared else name) in self.left_out:
            return most_of(counts)  # more blocks would do the same work again
        blocks = c.Literal(str(wanted[0]))
        inner = [count for count in (self.folded[a] for a in shared[:-1]) if count != ONE]
        if not inner:
            return blocks
        # Each block has one iteration of the inner loops, so that their product has to divide the blocks.
        each = product_of(inner)
        return c.Binary("*", c.Call(MAX, (c.Binary("/", blocks, c.Call(MAX, (each, ONE))), ONE)), each)

    def fold(self) -> None:
        """Make one count of those of the axes that share x. Raises NotMappable."""
        for axis in self.left_out:
            counts = [self.folded[axis]] if axis in self.folded else self.counts.get(axis, [])
            if any(count != ONE for count in counts):
                raise NoKernelForm("a part of a kernel has one block where others have several")
        if self.folded:
            self.counts[BLOCK_AXES[0]] = [product_of([count for count in self.folded.values() if count != ONE])]
