"""From a mapped schedule tree to kernels, and to the host's statements that start them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from math import prod

import islpy as isl

from polyc.analysis.expressions.linear import linear
from polyc.analysis.expressions.reductions import sum_into
from polyc.codegen.gpu.columns import Columns, column, columns_of, grid_of, pruned
from polyc.codegen.gpu.dialect import Dialect
from polyc.codegen.gpu.float16 import lowered, plain_literal, spelled
from polyc.codegen.gpu.fragment_printer import fragments
from polyc.codegen.gpu.linear import is_linear, linear_loop
from polyc.codegen.gpu.memory import DeviceArray, flat_instances
from polyc.codegen.gpu.narrow import fit_32_bits, has_plain_indices, small_sizes, with_indices_of
from polyc.codegen.gpu.pieces import share_from, statements_below, steps_of_pieces
from polyc.codegen.gpu.reduce import (
    Part,
    blocks_within,
    first_step,
    is_shared_out,
    last_step,
    reduction,
    with_keys,
    with_loads_at_once,
)
from polyc.codegen.gpu.stages import Stages
from polyc.codegen.gpu.turns import in_turns, outside_of_branches
from polyc.codegen.gpu.whole import whole_tiles
from polyc.codegen.gpu.words import (
    AT_ONCE_BYTES,
    HALF,
    INFINITIES,
    STORE_16,
    STORED_BYTES,
    NoKernelForm,
    NotMappable,
    Words,
    alignments,
    cell_of,
    element_type,
    function,
)
from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.loops.generated import Generated
from polyc.codegen.loops.instances import InstancePrinter, Scope, block_of
from polyc.codegen.loops.loops import LoopPrinter
from polyc.codegen.loops.to_isl import BARRIER
from polyc.codegen.text.arith import ONE, ZERO, at_most, divided, most_of, plus, product_of, times, trips_of
from polyc.codegen.text.macros import MAX, MIN
from polyc.codegen.text.printer import UNROLL, brackets
from polyc.codegen.text.tidy import N, simpler, tidied
from polyc.errors import InternalError
from polyc.machine.gpu import STATIC_SHARED_BYTES
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.tree import (
    ALL_THREADS,
    BLOCK_AXES,
    FOLDED,
    GLOBAL_AXES,
    LEAF,
    LINEAR,
    PART_AXES,
    THREAD_AXES,
    WARP_AXES,
    Band,
    Filter,
    Mark,
    Member,
    Role,
    walk,
)
from polyc.nests.naming import fresh
from polyc.poly import in_name, kind_of, maps, names, out_name
from polyc.records import dataclass, field, replace

MOST_BLOCKS = 65535
"""Along y and z."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: a number, or an array."""

    name: str
    type: str
    array: DeviceArray | None = None
    written: bool = False

    @property
    def pointer(self) -> str:
        """Its type, where it is an array: a pointer to an element, or to a row of constant length."""
        constant = "" if self.written else "const "
        if self.array is not None and self.array.boxed and self.array.inner:
            return f"{constant}{self.type} (*){brackets(self.array.inner)}"
        return f"{constant}{self.type} *"


@dataclass(frozen=True, slots=True)
class Kernel:
    name: str
    comment: str
    parameters: tuple[Parameter, ...]
    body: tuple[c.Stmt, ...]
    block: tuple[int, ...]
    """Threads along x, y."""
    grid: tuple[c.Expr, ...]
    """Blocks along x, y, z, in the names of the parameters."""
    index: str = ""
    """The type of its indices, where `small` decides which one that is."""
    small: c.Expr | None = None
    """When 32 bits are enough for them."""
    ahead: int = 0
    """Values of a thread that are on their way to panels while it works."""


@dataclass(slots=True)
class _Open:
    """The kernel that is being printed."""

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
    """Variables for the indices of blocks and threads, by name."""
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
        self.open: _Open | None = None
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
                assert self.open is not None
                self.open.left_out.add(member.mapped)  # there is one block along this axis then
                continue
            index, _ = self.share_of(member)
            if member.mapped in GLOBAL_AXES:
                self.count(member, c.Literal("1"), scope)
            body = (c.If(c.Binary("==", index, c.Literal("0")), block_of(body)),)
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
            assert self.open is not None
            self.first_key = depth_of_mark
            if self.columns is not None:
                return column(self, self.columns, mark, inner, scope)
            if is_shared_out(self.open.mark):
                return self.statements(inner, scope)
            return reduction(self, mark, inner, scope)
        if mark.kind == "mma":
            return fragments(self, mark, inner, scope)
        if mark.kind == "once":
            first = c.Binary("==", self.thread(ALL_THREADS), c.Literal("0"))
            return (c.If(first, block_of(self.statements(inner, replace(scope, alone=True)))),)
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
        assert self.open is not None
        if buffer.key in self.open.shared:
            return
        if buffer.storage == "register":
            sizes = tuple(c.Literal(str(r)) for r in buffer.registers)
            self.open.shared[buffer.key] = c.Decl(self.element(buffer), buffer.name, sizes)
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
        self.share_array(buffer.key, declaration, self.element_bytes(buffer))

    def share_array(self, key: str, declaration: c.Decl, element_bytes: int) -> None:
        """Declare an array of constant size that the threads of a block share. Raises NotMappable."""
        assert self.open is not None
        self.take(_bytes_of(declaration, element_bytes))
        self.open.shared[key] = replace(declaration, type=f"{self.dialect.shared} {declaration.type}")

    def take(self, size_bytes: int) -> None:
        """Use more of the memory that a block shares. Raises NotMappable."""
        assert self.open is not None
        self.open.shared_bytes += size_bytes
        if self.open.shared_bytes > STATIC_SHARED_BYTES:
            raise NoKernelForm("a tile does not fit in the memory that a block shares")

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
        self.open = opened = _Open(mark, scope.names)
        opened.pieces = steps_of_pieces(self.program, inner, self.annotated.bands)
        members = {m.mapped: m for node in walk(mark.child) if isinstance(node, Band) for m in node.members}
        if any(axis in members for axis in FOLDED):
            order = [axis for axis in (BLOCK_AXES[0], *FOLDED) if axis in members]
            opened.folded = {axis: self.most_trips(members[axis]) for axis in order}
        if is_shared_out(mark):
            return self.two_kernels(mark, inner, scope)
        if columns is not None:
            return self.column_kernels(columns, inner, scope)
        serial = prod(mark.sizes) == 1
        printed = self.body(inner, replace(scope, alone=serial))
        self.fold(opened)
        grid = tuple(self.blocks_along(axis) for axis in "xyz")
        if mark.blocks and self.program.options.grid is None:
            grid = at_most(grid, mark.blocks, bool(opened.folded))
        return (self.finished(opened, printed, grid, scope),)

    def two_kernels(self, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """A reduction that blocks share, and one block that combines what they found."""
        opened = self.open
        assert opened is not None
        printed, parts, kept = first_step(self, mark, inner, scope)
        blocks = blocks_within(self.blocks_along("x"), mark.blocks)
        first = self.finished(opened, printed, (blocks,), scope)
        self.open = opened = _Open(replace(mark, child=LEAF), scope.names)
        return first, self.finished(opened, last_step(self, parts, kept, blocks, scope), (c.Literal("1"),), scope)

    def column_kernels(self, columns: Columns, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """Reductions of which each thread has one: a kernel of blocks that share them, and one for what these leave."""
        opened = self.open
        assert opened is not None
        self.columns = columns
        printed = pruned(self.body(inner, scope))
        first = self.finished(opened, printed, grid_of(self, columns, opened.mark.blocks), scope)
        name = self.namer.fresh("parts", scope.names)
        count = c.Decl("const long", name, (), columns.parts)
        columns.parts, columns.first = c.Name(name), False
        self.open = second = _Open(opened.mark, scope.names, pieces=opened.pieces)
        printed = self.body(inner, scope)
        grid = tuple(self.blocks_along(axis) for axis in "xy")
        self.columns = None
        return first, self.finished(second, (count, *printed), grid, scope)

    def instance(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """A statement, but for those beside a reduction that leaves parts."""
        if self.columns is not None and self.columns.first and not scope.parts:
            return ()
        return super().instance(node, scope)

    def finished(self, opened: _Open, printed: tuple[c.Stmt, ...], grid: tuple[c.Expr, ...], scope: Scope) -> c.Stmt:
        """Keep a kernel, and answer the call that starts it."""
        body = tidied(c.without_notes(printed))
        while body and isinstance(body[-1], c.Block):  # tiles that need no loop
            body = (*body[:-1], *body[-1].body)
        top = (*opened.indices.values(), *opened.shared.values())
        self.open = None
        while len(grid) > 1 and grid[-1] == c.Literal("1"):
            grid = grid[:-1]
        body = self.with_numbers(tuple(c.rewrite(item, self.translated) for item in body), scope)
        types = {a.name: a.type for a in self.arrays.values()}
        body = lowered(body, top, types, self.dialect.half)
        top = tuple(spelled(item, self.dialect.half) for item in top)
        parameters = tuple(self.parameters(top + body, grid, scope))
        name = f"{self.prefix}_{len(self.kernels) + 1}"
        sizes = opened.mark.sizes if prod(opened.mark.sizes) > 1 else (1,)
        arrays = [p.array.key for p in parameters if p.array is not None]
        numbers = any(p.array is None and p.type not in ("float", "double") for p in parameters)
        if self.dialect.fetches:
            nodes = [n for item in (*top, *body) for n in c.walk(item)]
            taken = {n.name for n in nodes if isinstance(n, c.Name | c.Decl)}
            taken |= {n.array for n in nodes if isinstance(n, c.ArrayRef)}
            widths = dict(zip((self.index_names["tx"], self.index_names["ty"]), sizes, strict=False))
            blocks = {self.index_names[name] for name in ("bx", "by", "bz")}
            sizes_ = _sizes(parameters, top + body, blocks)
            panels = {d.name for d in opened.shared.values() if d.type.startswith(self.dialect.shared)}
            body = in_turns(whole_tiles(body, widths, sizes_, panels, taken), widths, panels, taken)
        index, small = "", None
        if self.program.options.grid is None:
            if not numbers:
                index = "int" if fit_32_bits(self.program, arrays, top, body) else ""
            elif self.dialect.fetches and prod(sizes) > 1 and has_plain_indices(top, body):
                counts = {p.name for p in parameters if p.array is None and p.type in _WHOLE}
                small = small_sizes(self.program, counts, (p.array for p in parameters if p.array is not None))
                index = "" if small is None else fresh("index", taken | {p.name for p in parameters})
        if index:
            top, body = with_indices_of(top, index), with_indices_of(body, index)
        if opened.aligned:
            body = (*(_aligned(p) for p in parameters if p.array is not None), *body)
        self.kernels.append(
            Kernel(name, opened.comment, parameters, top + body, sizes, grid, index, small, opened.ahead)
        )
        stream = (c.Name(self.dialect.stream),) if self.dialect.stream else ()
        return c.ExprStmt(c.Call(f"start_{name}", (*stream, *(c.Name(p.name) for p in parameters))))

    def blocks_along(self, axis: str) -> c.Expr:
        """How many blocks a kernel is started with: as many as have work, or those that the user wants."""
        assert self.open is not None
        name, shared = f"block.{axis}", list(self.open.folded) if axis == "x" else []
        counts = self.open.counts.get(name, self.open.counts.get(f"global.{axis}"))
        wanted = (self.program.options.grid or ())["xyz".index(axis) :][:1]
        if counts is None:
            return c.Literal("1")
        if not wanted or (shared[-1] if shared else name) in self.open.left_out:
            return most_of(counts)  # more blocks would do the same work again
        blocks = c.Literal(str(wanted[0]))
        inner = [count for count in (self.open.folded[a] for a in shared[:-1]) if count != c.Literal("1")]
        if not inner:
            return blocks
        # Each block has one iteration of the inner loops, so that their product has to divide the blocks.
        each, one = product_of(inner), c.Literal("1")
        return c.Binary("*", c.Call(MAX, (c.Binary("/", blocks, c.Call(MAX, (each, one))), one)), each)

    def fold(self, opened: _Open) -> None:
        """Make one count of those of the axes that share x. Raises NotMappable."""
        for axis in opened.left_out:
            counts = [opened.folded[axis]] if axis in opened.folded else opened.counts.get(axis, [])
            if any(count != c.Literal("1") for count in counts):
                raise NoKernelForm("a part of a kernel has one block where others have several")
        if opened.folded:
            counts = [count for count in opened.folded.values() if count != c.Literal("1")]
            opened.counts[BLOCK_AXES[0]] = [product_of(counts)]

    def parameters(self, body: tuple[c.Stmt, ...], grid: tuple[c.Expr, ...], scope: Scope) -> Iterator[Parameter]:
        """What a kernel takes: sizes and host loops that it mentions, then arrays. Raises NotMappable."""
        mentioned: dict[str, bool] = {}
        declared: set[str] = set()
        for item in (*body, *grid):
            nodes = list(c.walk(item))
            targets = {id(cell_of(n.target)) for n in nodes if isinstance(n, c.Assign)}
            steps = (n for n in nodes if isinstance(n, c.Unary | c.Postfix) and n.op in ("++", "--"))
            targets |= {id(cell_of(n.operand)) for n in steps}
            stored = [
                n.arguments[0] for n in nodes if isinstance(n, c.Call) and n.function in (STORE_16, self.dialect.add)
            ]
            targets |= {id(n.operand) for n in stored if isinstance(n, c.Unary)}
            declared |= {n.name for n in nodes if isinstance(n, c.Decl)}
            for node in nodes:
                if isinstance(node, c.ArrayRef):
                    mentioned[node.array] = mentioned.get(node.array, False) or id(node) in targets
                elif isinstance(node, c.Name) and "(" not in node.name and "." not in node.name:
                    mentioned.setdefault(node.name, False)
        arrays = {a.name: a for a in self.arrays.values()}
        sizes = {p.name: self.words.type(p.type.text) for p in self.program.scop.parameters}
        unknown = set(mentioned) - declared - set(arrays) - set(sizes) - scope.names - _FENCES
        if unknown:
            raise NotMappable(f"a kernel does not know {', '.join(sorted(unknown))}")
        used = set(mentioned) - declared
        kept = scope.names & used & {b.name for b in self.program.buffers.values()}
        if kept:
            raise NotMappable(f"each iteration of a loop that the host runs has its own {', '.join(sorted(kept))}")
        yield from (Parameter(name, kind) for name, kind in sizes.items() if name in used)
        yield from (Parameter(name, "long") for name in sorted(scope.names & used - set(sizes) - set(arrays)))
        for name, array in arrays.items():
            if name in used and name not in sizes:
                kind = self.dialect.half.type if array.type == HALF else array.type
                yield Parameter(name, kind, None if array.by_value else array, mentioned[name])

    def translated(self, node: c.Node) -> c.Node | None:
        """The node in words that a kernel has."""
        match node:
            case c.Cast(type=text, operand=c.InitList() as given):
                return c.Cast(self.words.type(text), self.words.listed(text, given, 0, self.inner))
            case c.Decl(type=text, init=c.InitList() as given, extents=extents):
                values = self.words.listed(text, given, len(extents), self.inner)
                return replace(node, type=self.words.type(text), init=values)
            case c.Cast(type=text, operand=operand):
                kind = self.words.type(text)
                return c.Cast(kind, c.rewrite(operand, self.translated)) if kind != text else None
            case c.Decl(type=text, init=init) if not text.startswith(("const ", self.dialect.shared)):
                kind = self.words.type(text)
                changed = None if init is None else c.rewrite(init, self.translated)
                return replace(node, type=kind, init=changed) if kind != text else None
            case c.Call(function=name) if name in INFINITIES and self.dialect.name == "opencl":
                return c.Literal(INFINITIES[name])
            case c.Call(function=name, arguments=arguments) if (known := function(name)) is not None:
                # These functions are overloaded in C++ and OpenCL: the type of the argument chooses, not the name.
                pairs = zip(known.arguments, map(self.inner, arguments), strict=True)
                cast = tuple(self.of_type(kind, value) if kind else value for kind, value in pairs)
                return c.Call(known.text(self.dialect.name), cast)
            case c.Literal(text=text) if (plain := plain_literal(text)) is not None:
                return c.Literal(plain)
            case _:
                return None

    def inner(self, value: c.Expr) -> c.Expr:
        return c.rewrite(value, self.translated)

    def with_numbers(self, body: tuple[c.Stmt, ...], scope: Scope) -> tuple[c.Stmt, ...]:
        """Statements with the numbers of enumerators."""
        own = {n.name for item in body for n in c.walk(item) if isinstance(n, c.Decl)} | scope.names
        own |= {a.name for a in self.arrays.values()} | {p.name for p in self.program.scop.parameters}

        def change(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Name) or node.name in own or node.name not in self.words.enumerators:
                return None
            number = self.words.enumerators[node.name]
            literal = c.Literal(str(abs(number)))
            return literal if number >= 0 else c.Unary("-", literal)

        return tuple(c.rewrite(item, change) for item in body)

    def of_type(self, kind: str, value: c.Expr) -> c.Expr:
        return value if self.type_of(value) == kind else c.Cast(kind, value)

    def type_of(self, value: c.Expr) -> str | None:
        """The type of a value, where all that it is made of has this one; None where that is not clear."""
        match value:
            case c.ArrayRef(array=array):
                return self.types.get(array)
            case c.Literal(text=text) if text[:1].isdigit() and text[-1:] in "fF" and "x" not in text:
                return "float"
            case c.Unary(op="-", operand=operand):
                return self.type_of(operand)
            case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                kind = self.type_of(left)
                return kind if kind in ("float", "double") and kind == self.type_of(right) else None
            case c.Call(function=name) if (known := function(name)) is not None:
                return known.result
            case _:
                return None

    # --- loops ---------------------------------------------------------------------------------------------------

    def loop(self, node: isl.AstNode, scope: Scope) -> c.Stmt:
        iterator = str(node.for_get_iterator().get_id().get_name())
        member = scope.members.get(iterator)
        if self.open is not None and member is not None:
            if member.role is Role.REGISTER:
                return self.unrolled(node, member, scope)
            if member.stages > 1:
                return self.staged(node, iterator, scope)
            if member.unroll > 1 and not member.mapped and self.dialect.fetches:
                loop = super().loop(node, scope)
                if member.coincident and isinstance(loop, c.For):
                    self.open.aligned = True
                    return counted_from_zero(loop, member.unroll)
                return replace(loop, pragmas=(f"{UNROLL} {member.unroll}",)) if isinstance(loop, c.For) else loop
        if self.open is None or member is None or not member.mapped:
            loop = super().loop(node, scope)
            return self.at_once(loop) if member is not None and member.reductions and self.open is not None else loop
        if is_linear(iterator, scope):
            return linear_loop(self, node, member, scope)
        if member.mapped == LINEAR:
            raise NoKernelForm(f"the loop {member.name} has no index that it is counted in")
        wish = member.name + ("t" if member.role is Role.TILE else "")
        name = self.namer.fresh(wish, scope.names)
        alone = scope.alone or member.mapped not in BLOCK_AXES
        own = {name}
        each = ""
        if member.mapped in PART_AXES:
            each = self.namer.fresh("each", scope.names | own)
            own.add(each)
        below = replace(
            scope,
            iterators=scope.iterators | {iterator: c.Name(name)},
            names=scope.names | own,
            # The first of two thread loops is not enough, but nothing stands between them.
            alone=alone,
        )
        start = self.printer(scope).convert(node.for_get_init())
        index, count = self.share_of(member)
        for step in self.open.pieces.get(id(member), ()):
            index = share_from(start, step, index, count)
        if node.for_is_degenerate():
            value = c.Decl("const long", name, (), start)
            self.count(member, c.Literal("1"), scope)
            body = self.statements(node.for_get_body(), below)
            return c.If(c.Binary("==", index, c.Literal("0")), c.Block((value, *body)))
        step = int(node.for_get_inc().get_val().to_python())
        condition = self.condition(node.for_get_cond(), self.printer(below))
        assert isinstance(condition, c.Binary)
        if start == c.Literal("0") and step == 1 and condition.op == "<" and condition.right == count:
            # Each thread has one iteration: its own number.
            below = replace(below, iterators=scope.iterators | {iterator: index}, names=scope.names)
            return c.Block(self.body(node.for_get_body(), below))
        end = condition.right if condition.op == "<" else c.Binary("+", condition.right, c.Literal("1"))
        trips = trips_of(start, end, step * self.together(member))
        self.count(member, trips, scope)
        body = self.body(node.for_get_body(), below)
        if self.has_one_iteration(member, trips):
            return c.Block((c.Decl("const long", name, (), plus(start, times(step, index))), *body))
        if each:
            whole = c.For(c.Decl("long", name, (), start), c.Binary("<", c.Name(name), end), None, block_of(body))
            return self.in_turn(whole, each, step, trips, (index, count))
        advance = c.Assign("+=", c.Name(name), times(step, count))
        first = c.Decl("long", name, (), plus(start, times(step, index)))
        loop = c.For(first, condition, advance, block_of(body))
        return self.at_once(loop) if member.reductions else loop

    def in_turn(self, loop: c.For, each: str, step: int, trips: c.Expr, share: tuple[c.Expr, c.Expr]) -> c.Stmt:
        """A loop of which each block has iterations that follow each other: compilers know how many these are, and
        what a thread loads for some of them is on its way at once.

        share: the block, and how many there are
        """
        block, blocks = share
        assert isinstance(loop.init, c.Decl)
        assert loop.init.init is not None
        assert isinstance(loop.condition, c.Binary)
        start, name = loop.init.init, c.Name(loop.init.name)
        count = c.Binary("/", c.Binary("-", plus(product_of([trips]), blocks), ONE), blocks)
        first, behind = (times(step, c.Binary("*", c.Name(each), b)) for b in (block, c.Binary("+", block, ONE)))
        condition = c.Binary("<", name, c.Call(MIN, (loop.condition.right, plus(start, behind))))
        advance = c.Assign("+=", name, c.Literal(str(step))) if step > 1 else c.Postfix("++", name)
        part = replace(loop, init=replace(loop.init, init=plus(start, first)), condition=condition, step=advance)
        return c.Block((c.Decl("const long", each, (), count), self.at_once(part)))

    def at_once(self, loop: c.Stmt) -> c.Stmt:
        """A reduction's loop, as a compiler for this device is told."""
        return with_loads_at_once(loop) if self.dialect.fetches else loop

    def has_one_iteration(self, member: Member, trips: c.Expr) -> bool:
        """Whether each block has one tile along the axis, since there are as many blocks."""
        assert self.open is not None
        if member.mapped not in BLOCK_AXES or member.mapped in self.open.folded or self.open.mark.blocks:
            return False
        if self.program.options.grid is not None or not isinstance(trips, c.Literal):
            return False
        bands = [n for n in walk(self.open.mark.child) if isinstance(n, Band)]
        alone = sum(m.mapped == member.mapped for band in bands for m in band.members) == 1
        return alone and int(trips.text.rstrip("L")) <= MOST_BLOCKS

    def unrolled(self, node: isl.AstNode, member: Member, scope: Scope) -> c.Stmt:
        """A loop over places in registers. Raises InternalError where its length is no constant."""
        iterator = str(node.for_get_iterator().get_id().get_name())
        plain = replace(member, vector=False, lanes=0)
        loop = super().loop(node, replace(scope, members=scope.members | {iterator: plain}))
        if not isinstance(loop, c.For):
            return loop
        match loop:
            case c.For(init=c.Decl(init=c.Literal()) as init, condition=c.Binary(right=c.Literal())):
                unrolled = replace(loop, init=replace(init, type="int"), pragmas=(UNROLL,))
                return self.stored_at_once(unrolled, scope) if member.vector and self.dialect.stores else unrolled
            case _:
                raise InternalError(f"the loop {member.name} over registers has no constant length")

    def stored_at_once(self, loop: c.For, scope: Scope) -> c.Stmt:
        """A loop that stores 16 bytes of an array, through registers; unchanged where it has another form.

        rewrite:  for (j < 4) if (4 * tx + j < n) C[i][4 * tx + j] = e(j);
                  -> if (4 * tx < n) { float row[4]; for (j < 4) row[j] = e(j); polyc_store16(&C[i][4 * tx], &row[0]); }
                  if (m % 4 == 0) this; else that, where rows have m elements
        requires: all iterations store or none (`verify/gpu/layout.py`): the condition of the first one is that of all
        """
        start, condition, step = loop.init, loop.condition, c.only(loop.body)
        if not (isinstance(start, c.Decl) and start.init == ZERO and isinstance(condition, c.Binary)):
            return loop
        lanes = condition.right

        def first(node: N) -> N:
            return simpler(c.rewrite(node, lambda n: ZERO if n == c.Name(start.name) else None))

        guard = None
        if isinstance(step, c.If) and step.otherwise is None:
            guard, step = first(step.condition), c.only(step.then)
        match step:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=value)):
                row = self.namer.fresh(f"{target.array}_row", scope.names)
                declared = c.Decl(self.types[target.array], row, (lanes,), aligned=STORED_BYTES)
                kept = c.ExprStmt(c.Assign("=", c.ArrayRef(row, (c.Name(start.name),)), value))
                store = c.ExprStmt(
                    c.Call(STORE_16, (c.Unary("&", first(target)), c.Unary("&", c.ArrayRef(row, (ZERO,)))))
                )
                stored: c.Stmt = c.Block((declared, replace(loop, body=block_of((kept,))), store))
                stored = stored if guard is None else c.If(guard, stored)
                array = next(a for a in self.arrays.values() if a.name == target.array)
                rows = [row for row in array.strides or array.inner[-1:] if not isinstance(row, c.Literal)]
                for size in rows:  # whether rows begin at multiples of 16 bytes
                    stored = c.If(c.Binary("==", c.Binary("%", size, lanes), ZERO), stored, loop)
                return stored
            case _:
                return loop

    def staged(self, node: isl.AstNode, iterator: str, scope: Scope) -> c.Stmt:
        """A loop over panels, with two places for each. Raises InternalError, NotMappable."""
        assert self.open is not None
        loop = super().loop(node, scope)
        if not isinstance(loop, c.For):
            return loop  # it has one iteration
        inside = _depth(iterator) + 1
        here = {b.key for b in self.program.buffers.values() if b.order and b.depth == inside} & set(self.open.shared)
        for key in here - self.open.staged:
            one = self.open.shared[key]
            self.take(_bytes_of(one, self.element_bytes(self.program.buffers[key])))
            self.open.shared[key] = replace(one, extents=(c.Literal("2"), *one.extents))
        self.open.staged |= here
        stage = self.namer.fresh("stage", scope.names)
        at_once = {key: self.copied_at_once(self.program.buffers[key]) for key in here}
        small = frozenset(key for key, size in at_once.items() if size not in AT_ONCE_BYTES)
        types = {key: self.element(self.program.buffers[key]) for key in here}

        def fresh(wish: str) -> str:
            return self.namer.fresh(wish, scope.names)

        sources = {a.name: a.type for a in self.arrays.values() if a.type in _PLAIN}
        pieces = {k: n for k, n in at_once.items() if n != self.element_bytes(self.program.buffers[k])}
        made = Stages(self.dialect, types, stage, fresh, sources, small, pieces).of(loop)
        # Of what is loaded 16 bytes at once, a thread has few.
        kept = [one.extents for one in made.body if isinstance(one, c.Decl) and one.extents and not one.aligned]
        self.open.ahead += sum(prod(int(e.text) for e in extents if isinstance(e, c.Literal)) for extents in kept)
        return made

    def together(self, member: Member) -> int:
        """How many iterations a block takes at once."""
        return self.width(member.mapped[-1]) if member.mapped in GLOBAL_AXES else 1

    def width(self, axis: str) -> int:
        assert self.open is not None
        sizes = self.open.mark.sizes
        position = "xyz".index(axis)
        return sizes[position] if position < len(sizes) else 1

    def share_of(self, member: Member) -> tuple[c.Expr, c.Expr]:
        """The first iteration of a block or thread, and how many of them there are."""
        assert self.open is not None
        axis = member.mapped[-1]
        if member.mapped == ALL_THREADS:
            return self.thread(ALL_THREADS), c.Literal(str(prod(self.open.mark.sizes)))
        if member.mapped in THREAD_AXES:
            return self.thread(member.mapped), c.Literal(str(self.width(axis)))
        if member.mapped in WARP_AXES:
            return self.lane(member), c.Literal(str(member.size))
        if member.mapped in self.open.folded:
            return self.part_of_x(member.mapped)
        block = self.variable(f"b{axis}", self.dialect.index(self.dialect.block, axis))
        blocks = c.Name(self.dialect.index(self.dialect.blocks, axis))
        if member.mapped in (*BLOCK_AXES, *PART_AXES):
            return block, blocks
        width = self.width(axis)
        return plus(times(width, block), self.thread(f"thread.{axis}")), times(width, blocks)

    def part_of_x(self, axis: str) -> tuple[c.Expr, c.Expr]:
        """The index along an axis that shares x with others, and the step to the next tile: x counts fastest."""
        assert self.open is not None
        order = list(self.open.folded)
        # A loop without iterations has one block all the same, whose indices are divided by how many there are.
        folded = {a: n if isinstance(n, c.Literal) else c.Call(MAX, (n, ONE)) for a, n in self.open.folded.items()}
        inner = [folded[a] for a in order[: order.index(axis)]]
        index = self.variable("bx", self.dialect.index(self.dialect.block, "x"))
        for count in inner:
            index = divided(index, count)
        if axis != order[-1]:
            return c.Binary("%", index, folded[axis]), folded[axis]
        blocks: c.Expr = c.Name(self.dialect.index(self.dialect.blocks, "x"))
        for count in inner:
            blocks = divided(blocks, count)
        return index, blocks

    def thread(self, which: str) -> c.Expr:
        """The index of a thread in its block, along an axis or of all."""
        assert self.open is not None
        x = self.variable("tx", self.dialect.index(self.dialect.thread, "x"))
        if which == THREAD_AXES[0] or (which == ALL_THREADS and len(self.open.mark.sizes) == 1):
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
            value: c.Expr = c.Binary("%", index, c.Literal(str(member.size)))
        else:
            value = c.Binary("/", index, c.Literal(str(count // member.size)))
        name = self.index_names[member.mapped[0] + member.mapped[-1]]
        assert self.open is not None
        self.open.indices.setdefault(f"{member.mapped} {member.size}", c.Decl("const long", name, (), value))
        return c.Name(name)

    def threads(self) -> int:
        """Of a block."""
        assert self.open is not None
        return prod(self.open.mark.sizes)

    def block_index(self) -> c.Expr:
        """Along x."""
        return self.variable("bx", self.dialect.index(self.dialect.block, "x"))

    def variable(self, wish: str, value: str) -> c.Expr:
        """A variable of the kernel for one of its indices: signed, so that sums with negative bounds are right."""
        assert self.open is not None
        name = self.index_names[wish]
        self.open.indices.setdefault(value, c.Decl("const long", name, (), c.Name(value)))
        return c.Name(name)

    def count(self, member: Member, trips: c.Expr, scope: Scope) -> None:
        """Note for how many blocks a loop has work."""
        assert self.open is not None
        if member.mapped not in (*BLOCK_AXES, *GLOBAL_AXES, *PART_AXES):
            return
        if {n.name for n in c.walk(trips) if isinstance(n, c.Name)} & (scope.names - self.open.host):
            trips = self.most_trips(member)
        self.open.counts.setdefault(member.mapped, []).append(trips)

    def most_trips(self, member: Member) -> c.Expr:
        """An upper bound of a loop's iterations in the region's sizes alone."""
        return self.range_of(member, member.size * self.together(member))[1]

    def range_of(self, member: Member, step: int = 1) -> tuple[c.Expr, c.Expr]:
        """The least value of a loop in the region's sizes alone, and how many steps lead to the greatest one, and 1.

        Raises NotMappable.
        """
        values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(self.program.tree.domain).range()
        one = isl.Set.from_union_set(values).intersect_params(self.program.scop.known)
        if not (one.dim_has_lower_bound(isl.dim_type.set, 0) and one.dim_has_upper_bound(isl.dim_type.set, 0)):
            raise NoKernelForm(f"the loop {member.name} has no bound in the sizes")
        size = isl.Val.int_from_si(one.get_ctx(), step)
        steps = one.dim_max(0).sub(one.dim_min(0)).scale_down_val(size).floor()
        trips = steps.add_constant_val(isl.Val.one(one.get_ctx()))
        printer = ExprPrinter(self.program.scop.parameters, {})
        build = build_for(self.program.scop, self.program.scop.known)
        return printer.convert(expression(build, one.dim_min(0))), printer.convert(expression(build, trips))

    def part_index(self) -> c.Expr:
        """Of all parts that blocks leave for a cell, the one of this block."""
        assert self.open is not None
        found: c.Expr = ZERO
        for axis in ("z", "y"):
            if f"part.{axis}" in self.open.counts:
                block = self.variable(f"b{axis}", self.dialect.index(self.dialect.block, axis))
                blocks = c.Name(self.dialect.index(self.dialect.blocks, axis))
                found = block if found == ZERO else plus(c.Binary("*", found, blocks), block)
        return found

    def most_blocks(self, axis: str) -> c.Expr:
        """For how many blocks the loops on an axis have work."""
        assert self.open is not None
        return most_of(self.open.counts[axis])


def counted_from_zero(loop: c.For, count: int) -> c.For:
    """A loop of so many iterations that is unrolled, where compilers need not find out how many there are.

    rewrite:  for (j = 4 * q; j < 4 * q + 4; j++) A[j] -> for (j = 0; j < 4; j++) A[4 * q + j]
    """
    start, last = loop.init, loop.condition
    if not (isinstance(start, c.Decl) and start.init is not None and isinstance(last, c.Binary)):
        return loop
    begin, name = start.init, c.Name(start.name)
    end = last.right if last.op == "<" else plus(last.right, c.Literal("1"))
    length = linear(end).plus(linear(begin), -1)
    if length.terms or length.constant != count:
        return loop
    body = c.rewrite(loop.body, lambda n: plus(begin, name) if n == name else None)
    inside = c.Binary("<", name, c.Literal(str(count)))
    return replace(loop, init=replace(start, type="int", init=ZERO), condition=inside, body=body, pragmas=(UNROLL,))


def _aligned(p: Parameter) -> c.Stmt:
    """`A = (float (*)[n])__builtin_assume_aligned(A, 16);`: as `cudaMalloc` gives them, and as the function for the
    device's memory asks for."""
    value = c.Call("__builtin_assume_aligned", (c.Name(p.name), c.Literal(str(STORED_BYTES))))
    return c.ExprStmt(c.Assign("=", c.Name(p.name), c.Cast(p.pointer, value)))


def _sizes(parameters: tuple[Parameter, ...], body: tuple[c.Stmt, ...], blocks: Container[str]) -> dict[str, bool]:
    """Names of a kernel's whole numbers that no statement changes, and whether they have a sign: sizes, indices of
    blocks, and what its loops count."""
    nodes = [n for item in body for n in c.walk(item)]
    inits = {id(n.init): n.init.name for n in nodes if isinstance(n, c.For) and isinstance(n.init, c.Decl)}
    indices = {n.name for n in body if isinstance(n, c.Decl) and n.name in blocks}
    other = {n.name for n in nodes if isinstance(n, c.Decl) and id(n) not in inits} - indices
    found = {p.name: not p.type.startswith("u") for p in parameters if p.array is None and p.type in _WHOLE}
    found |= dict.fromkeys((*inits.values(), *indices), True)
    return {name: signed for name, signed in found.items() if name not in other}


_PLAIN = ("float", "double", "int", "long")
_WHOLE = {"int", "long", "unsigned", "unsigned int", "unsigned long"}


def _assigns(body: c.Stmt, name: str) -> bool:
    return any(
        isinstance(n, c.Assign) and isinstance(n.target, c.ArrayRef) and n.target.array == name for n in c.walk(body)
    )


_FENCES = {"CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"}


def _depth(iterator: str) -> int:
    """How many band members stand above that of an iterator: `c3_`."""
    return int(iterator[1:-1])


def _bytes_of(declaration: c.Decl, element_bytes: int) -> int:
    """What an array of constant size takes."""
    numbers = [int(e.text.rstrip("uUlL"), 0) for e in declaration.extents if isinstance(e, c.Literal)]
    return element_bytes * prod(numbers)
