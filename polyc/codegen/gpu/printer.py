"""From a mapped schedule tree to kernels, and to the host's statements that start them."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.reductions import sum_into
from polyc.codegen.gpu.columns import Columns, column, columns_of, grid_of, pruned
from polyc.codegen.gpu.device.dialect import Dialect
from polyc.codegen.gpu.device.turns import outside_of_branches
from polyc.codegen.gpu.device.words import NoKernelForm, Words, alignments, element_type
from polyc.codegen.gpu.finished import Kernel, finished
from polyc.codegen.gpu.fragment_printer import fragments
from polyc.codegen.gpu.linear import is_linear, linear_loop
from polyc.codegen.gpu.mapped import mapped_loop
from polyc.codegen.gpu.memory import DeviceArray, flat_instances
from polyc.codegen.gpu.opened import Opened
from polyc.codegen.gpu.pieces import statements_below, steps_of_pieces
from polyc.codegen.gpu.reduce import (
    Part,
    at_once,
    blocks_within,
    first_step,
    is_shared_out,
    last_step,
    only_first,
    reduction,
    with_keys,
)
from polyc.codegen.gpu.registers import counted_from_zero, in_registers, in_stages
from polyc.codegen.loops.generated import Generated
from polyc.codegen.loops.instances import InstancePrinter, Scope, block_of
from polyc.codegen.loops.loops import LoopPrinter
from polyc.codegen.loops.to_isl import BARRIER
from polyc.codegen.text.arith import ONE, ZERO, at_most
from polyc.codegen.text.printer import UNROLL
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.tree import BLOCK_AXES, FOLDED, GLOBAL_AXES, LEAF, LINEAR, Band, Filter, Mark, Role, walk
from polyc.poly import in_name, kind_of, maps, names, out_name
from polyc.records import replace


class KernelPrinter(LoopPrinter):
    """Prints what is below a kernel's mark as a kernel, and the rest for the host."""

    def __init__(
        self, program: Program, made: Generated, dialect: Dialect, arrays: dict[str, DeviceArray], prefix: str
    ) -> None:
        super().__init__(program, made)
        self.dialect = dialect
        self.arrays = arrays
        self.words = Words(program.scop)
        self.types = {b.name: self.element(b) for b in program.buffers.values()}
        self.types |= {a.name: a.type for a in arrays.values()}
        self.prefix = prefix
        self.kernels: list[Kernel] = []
        self.open: Opened | None = None
        self.targets: dict[str, c.Expr] = {}
        """The cell of the last reduction into an array."""
        self.records: dict[str, Part] = {}
        """By the variables of a thread that keep them, below a reduction's mark."""
        self.columns: Columns | None = None
        """The kernel is one of two for reductions of which each thread has one."""
        self.first_key = 0
        """Band members above that mark."""
        self.index_names = {
            wish: self.namer.take(wish) for wish in ("bx", "by", "bz", "tx", "ty", "wy", "wx", "ly", "lx")
        }

    @property
    def here(self) -> Opened:
        """The kernel that is being printed."""
        assert self.open is not None
        return self.open

    @property
    def instances(self) -> type[InstancePrinter]:
        return flat_instances(self.arrays, self.targets)

    def atomic(self, body: c.Stmt, scope: Scope) -> c.Stmt:
        """The statement, as an atomic update where it adds to a cell that other threads add to, too.

        Raises NotMappable for another one.
        """
        kept = [self.records[own] for own in scope.parts.values() if own in self.records]
        for record in (r for r in kept if _assigns(body, r.own)):
            loops = (f"c{self.first_key + k}_" for k in range(len(record.keys)))
            body = with_keys(body, record, [scope.iterators.get(loop, ZERO) for loop in loops])
        pairs = [pair for member in scope.members.values() for pair in member.atomics]
        shared = {self.arrays[array].name for _, array in pairs}
        if not any(isinstance(n, c.ArrayRef) and n.array in shared for n in c.walk(body)):
            return body
        added = sum_into(body.expr) if isinstance(body, c.ExprStmt) else None
        if added is None or added[0].array not in shared:
            raise NoKernelForm("an update of a cell is none that a device has")
        cell, value = added
        return c.ExprStmt(c.Call(self.dialect.add, (c.Unary("&", cell), value)))

    # --- loops that isl leaves out ---------------------------------------------------------------------------------

    def statements(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """The node. What stands under a mapped loop that isl left out, since it has one iteration, one thread runs."""
        kind = kind_of(node)
        if kind == "if_" and self.open is not None and not scope.alone:
            return tuple(outside_of_branches(super().statements(node, scope), self.dialect.barrier))
        if not scope.waiting or kind not in ("for_", "mark", "user"):
            return super().statements(node, scope)
        left_out, waiting = scope.waiting, scope.waiting[:0]
        if kind == "for_":
            depth = _depth(str(node.for_get_iterator().get_id().get_name()))
            left_out = tuple(i for i in scope.waiting if _depth(i) < depth)
            waiting = tuple(i for i in scope.waiting if _depth(i) > depth)
        mapped = [scope.members[i] for i in left_out]
        alone = scope.alone or any(m.mapped not in BLOCK_AXES for m in mapped)
        body = super().statements(node, replace(scope, waiting=waiting, alone=alone))
        for member in reversed(mapped):
            if member.mapped in BLOCK_AXES:
                self.here.left_out.add(member.mapped)  # there is one block along this axis then
                continue
            index, _ = self.here.share_of(member)
            if member.mapped in GLOBAL_AXES:
                self.here.count(member, ONE, scope)
            body = (c.If(c.Binary("==", index, ZERO), block_of(body)),)
        return body

    # --- marks ---------------------------------------------------------------------------------------------------

    def marked(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        name, inner = str(node.mark_get_id().get_name()), node.mark_get_node()
        if name.startswith(BARRIER):
            return (self.dialect.barrier, *self.statements(inner, scope))
        mark, depth_of_mark = self.annotated.marks.get(name, (None, 0))
        if mark is None:
            band, depth = self.annotated.bands[name]
            if self.open is not None:
                mapped = tuple(f"c{depth + k}_" for k, member in enumerate(band.members) if member.mapped)
                scope = replace(scope, waiting=mapped)
            return super().marked(node, scope)
        if mark.kind == "kernel":
            return self.kernel(mark, inner, scope, columns_of(mark, depth_of_mark))
        if mark.kind == "reduce":
            self.first_key = depth_of_mark
            if self.columns is not None:
                return column(self, self.columns, mark, inner, scope)
            if is_shared_out(self.here.mark):
                return self.statements(inner, scope)
            return reduction(self, mark, inner, scope)
        if mark.kind == "mma":
            return fragments(self, mark, inner, scope)
        if mark.kind == "once":
            return (only_first(self, self.statements(inner, replace(scope, alone=True))),)
        if mark.kind == "group" and self.open is not None:
            self.open.comment = mark.text
            return self.statements(inner, scope)
        return super().marked(node, scope)

    def body(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        if self.open is not None and not scope.alone:
            return self.statements(node, replace(scope, hoisted=frozenset()))  # what is shared is declared at the top
        return super().body(node, scope)

    def allocation(self, name: str, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        if self.open is None or scope.alone:
            if self.open is not None:
                here = frozenset(statements_below(inner))
                if self.open.private.setdefault(name, here) != here or self.comes_from_elsewhere(mark, here):
                    raise NoKernelForm(
                        "isl prints the writer and the reader of a thread's own variable in different loops"
                    )
            return super().allocation(name, mark, inner, scope)
        # Shared by the threads of the block. OpenCL has such arrays at the top of a kernel only.
        chosen = tuple(replace(self.program.buffers[n], name=n) for n in mark.names)
        for buffer in chosen:
            self.share(buffer)
        return self.statements(inner, replace(scope, buffers=(*scope.buffers, *chosen)))

    def comes_from_elsewhere(self, mark: Mark, statements: frozenset[str]) -> bool:
        """Whether a value of a thread's own variables may come from a statement that isl prints in another kernel."""
        buffers, flow = self.program.buffers, self.program.dependences.flow_by_array
        arrays = {buffers[n].array if n in buffers else n for n in mark.names}
        pieces = [piece for array in arrays if array in flow for piece in maps(flow[array])]
        below = self.statements_under(mark)
        return any(out_name(p) in statements and in_name(p) in below - statements for p in pieces)

    def statements_under(self, mark: Mark) -> frozenset[str]:
        """What the mark has below it in the tree."""
        return frozenset(
            name
            for node in walk(mark)
            if isinstance(node, Band | Filter)
            for name in names(node.members[0].schedule.domain() if isinstance(node, Band) else node.filter)
        )

    def share(self, buffer: Buffer) -> None:
        """Declare a buffer at the top of the kernel. Raises NotMappable."""
        opened = self.here
        if buffer.key in opened.shared:
            return
        if buffer.storage == "register":
            sizes = tuple(c.Literal(str(r)) for r in buffer.registers)
            opened.shared[buffer.key] = c.Decl(self.element(buffer), buffer.name, sizes)
            return
        aligned = f"{self.dialect.aligned} " if buffer.order or buffer.pad else ""
        extents = self.extents(buffer)
        if buffer.order:
            extents = tuple(extents[d] for d in buffer.order)
        if buffer.pad and isinstance(extents[-1], c.Literal):
            extents = (*extents[:-1], c.Literal(str(int(extents[-1].text) + buffer.pad)))
        if not all(isinstance(e, c.Literal) for e in extents):
            raise NoKernelForm(f"{buffer.name} has no constant size")
        declaration = c.Decl(f"{aligned}{self.element(buffer)}", buffer.name, extents)
        opened.share(buffer.key, declaration, self.element_bytes(buffer))

    def element(self, buffer: Buffer) -> str:
        return element_type(self.program.scop.arrays[buffer.array].element)

    def element_bytes(self, buffer: Buffer) -> int:
        return self.program.scop.arrays[buffer.array].element.size_bytes

    def copied_at_once(self, buffer: Buffer) -> int:
        """The bytes of a buffer's element that one instruction may move, as its alignment allows."""
        element, arrays = self.program.scop.arrays[buffer.array].element, self.program.scop.arrays.values()
        return alignments(arrays)[element.text] if element.kind == "struct" else element.size_bytes

    # --- kernels -------------------------------------------------------------------------------------------------

    def kernel(
        self, mark: Mark, inner: isl.AstNode, scope: Scope, columns: Columns | None = None
    ) -> tuple[c.Stmt, ...]:
        """Print a kernel; what is left in its place is the call that starts it, or two for a large reduction."""
        assert self.open is None
        opened = self.opened(mark, scope)
        opened.pieces = steps_of_pieces(self.program, inner, self.annotated.bands)
        members = {m.mapped: m for node in walk(mark.child) if isinstance(node, Band) for m in node.members}
        if any(axis in members for axis in FOLDED):
            order = [axis for axis in (BLOCK_AXES[0], *FOLDED) if axis in members]
            opened.folded = {axis: opened.most_trips(members[axis]) for axis in order}
        if is_shared_out(mark):
            return self.two_kernels(mark, inner, scope)
        if columns is not None:
            return self.column_kernels(columns, inner, scope)
        printed = self.body(inner, replace(scope, alone=opened.threads == 1))
        opened.fold()
        grid = tuple(opened.blocks_along(axis) for axis in "xyz")
        if mark.blocks and self.program.options.grid is None:
            grid = at_most(grid, mark.blocks, bool(opened.folded))
        return (self.closed(printed, grid, scope),)

    def opened(self, mark: Mark, scope: Scope) -> Opened:
        """Begin to print a kernel."""
        self.open = Opened(self.program, self.dialect, self.index_names, mark, scope.names)
        return self.open

    def closed(self, printed: tuple[c.Stmt, ...], grid: tuple[c.Expr, ...], scope: Scope) -> c.Stmt:
        """Keep the kernel that was printed, and return the call that starts it. Raises NotMappable."""
        kernel = finished(self, self.here, printed, grid, scope)
        self.open = None
        self.kernels.append(kernel)
        stream = (c.Name(self.dialect.stream),) if self.dialect.stream else ()
        return c.ExprStmt(c.Call(f"start_{kernel.name}", (*stream, *(c.Name(p.name) for p in kernel.parameters))))

    def two_kernels(self, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """A reduction that blocks share, and one block that combines what they found."""
        printed, parts, kept = first_step(self, mark, inner, scope)
        blocks = blocks_within(self.here.blocks_along("x"), mark.blocks)
        first = self.closed(printed, (blocks,), scope)
        self.opened(replace(mark, child=LEAF), scope)
        return first, self.closed(last_step(self, parts, kept, blocks, scope), (ONE,), scope)

    def column_kernels(self, columns: Columns, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """Reductions of which each thread has one: a kernel of blocks that share them, and one for what these leave."""
        mark, pieces = self.here.mark, self.here.pieces
        self.columns = columns
        printed = pruned(self.body(inner, scope))
        first = self.closed(printed, grid_of(self, columns, mark.blocks), scope)
        name = self.namer.fresh("parts", scope.names)
        count = c.Decl("const long", name, (), columns.parts)
        columns.parts, columns.first = c.Name(name), False
        opened = self.opened(mark, scope)
        opened.pieces = pieces
        printed = self.body(inner, scope)
        grid = tuple(opened.blocks_along(axis) for axis in "xy")
        self.columns = None
        return first, self.closed((count, *printed), grid, scope)

    def instance(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """A statement, but for those beside a reduction that leaves parts."""
        if self.columns is not None and self.columns.first and not scope.parts:
            return ()
        return super().instance(node, scope)

    # --- loops ---------------------------------------------------------------------------------------------------

    def loop(self, node: isl.AstNode, scope: Scope) -> c.Stmt:
        iterator = str(node.for_get_iterator().get_id().get_name())
        member = scope.members.get(iterator)
        if self.open is None or member is None:
            return super().loop(node, scope)
        if member.role is Role.REGISTER:
            plain = replace(member, vector=False, lanes=0)
            loop = super().loop(node, replace(scope, members=scope.members | {iterator: plain}))
            return in_registers(self, loop, member, scope)
        if member.stages > 1:
            return in_stages(self, super().loop(node, scope), _depth(iterator) + 1, scope)
        if not member.mapped:
            loop = super().loop(node, scope)
            if member.unroll <= 1 or not self.dialect.fetches:
                return at_once(self, loop) if member.reductions else loop
            if member.coincident and isinstance(loop, c.For):
                self.open.aligned = True
                return counted_from_zero(loop, member.unroll)
            return replace(loop, pragmas=(f"{UNROLL} {member.unroll}",)) if isinstance(loop, c.For) else loop
        if is_linear(iterator, scope):
            return linear_loop(self, node, member, scope)
        if member.mapped == LINEAR:
            raise NoKernelForm(f"the loop {member.name} has no index that it is counted in")
        return mapped_loop(self, node, member, scope)


def _assigns(body: c.Stmt, name: str) -> bool:
    return any(
        isinstance(n, c.Assign) and isinstance(n.target, c.ArrayRef) and n.target.array == name for n in c.walk(body)
    )


def _depth(iterator: str) -> int:
    """How many band members stand above that of an iterator: `c3_`."""
    return int(iterator[1:-1])
