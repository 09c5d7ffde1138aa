"""From printed statements to a kernel: its text in the words of the device, what it takes, how wide its indices are."""

from __future__ import annotations

from collections.abc import Container, Iterator
from math import prod
from typing import TYPE_CHECKING

from polyc.codegen.gpu.device.float16 import lowered, spelled
from polyc.codegen.gpu.device.translated import Translation
from polyc.codegen.gpu.device.turns import in_turns
from polyc.codegen.gpu.device.whole import whole_tiles
from polyc.codegen.gpu.device.words import HALF, STORE_16, STORED_BYTES, NotMappable, cell_of
from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.gpu.narrow import fit_32_bits, has_plain_indices, small_sizes, with_indices_of
from polyc.codegen.gpu.opened import Opened
from polyc.codegen.loops.instances import Scope
from polyc.codegen.text.arith import ONE
from polyc.codegen.text.printer import brackets
from polyc.codegen.text.tidy import tidied
from polyc.model import ctree as c
from polyc.nests.naming import fresh
from polyc.records import dataclass

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

_WHOLE = {"int", "long", "unsigned", "unsigned int", "unsigned long"}
_FENCES = {"CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"}


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


def finished(
    printer: KernelPrinter, opened: Opened, printed: tuple[c.Stmt, ...], grid: tuple[c.Expr, ...], scope: Scope
) -> Kernel:
    """What was printed as a kernel. Raises NotMappable."""
    dialect, program = printer.dialect, printer.program
    body = tidied(c.without_notes(printed))
    while body and isinstance(body[-1], c.Block):  # tiles that need no loop
        body = (*body[:-1], *body[-1].body)
    top = (*opened.indices.values(), *opened.shared.values())
    while len(grid) > 1 and grid[-1] == ONE:
        grid = grid[:-1]
    types = {a.name: a.type for a in printer.arrays.values()}
    own = {n.name for item in body for n in c.walk(item) if isinstance(n, c.Decl)} | scope.names
    own |= types.keys() | {p.name for p in program.scop.parameters}
    body = Translation(printer.words, dialect, printer.types).of(body, own)
    body = lowered(body, top, types, dialect.half)
    top = tuple(spelled(item, dialect.half) for item in top)
    parameters = tuple(_parameters(printer, top + body, grid, scope))
    arrays = [p.array for p in parameters if p.array is not None]
    sizes = opened.mark.sizes if opened.threads > 1 else (1,)
    nodes = [n for item in (*top, *body) for n in c.walk(item)]
    taken = {n.name for n in nodes if isinstance(n, c.Name | c.Decl)}
    taken |= {n.array for n in nodes if isinstance(n, c.ArrayRef)}
    if dialect.fetches:
        widths = dict(zip((opened.names["tx"], opened.names["ty"]), sizes, strict=False))
        numbers = _sizes(parameters, top + body, {opened.names[name] for name in ("bx", "by", "bz")})
        panels = {d.name for d in opened.shared.values() if d.type.startswith(dialect.shared)}
        body = in_turns(whole_tiles(body, widths, numbers, panels, taken), widths, panels, taken)
    index, small = "", None
    if program.options.grid is None:
        if all(p.array is not None or p.type in ("float", "double") for p in parameters):
            index = "int" if fit_32_bits(program, [a.key for a in arrays], top, body) else ""
        elif dialect.fetches and prod(sizes) > 1 and has_plain_indices(top, body):
            small = small_sizes(program, {p.name for p in parameters if p.array is None and p.type in _WHOLE}, arrays)
            index = "" if small is None else fresh("index", taken | {p.name for p in parameters})
    if index:
        top, body = with_indices_of(top, index), with_indices_of(body, index)
    if opened.aligned:
        body = (*(_aligned(p) for p in parameters if p.array is not None), *body)
    name = f"{printer.prefix}_{len(printer.kernels) + 1}"
    return Kernel(name, opened.comment, parameters, top + body, sizes, grid, index, small, opened.ahead)


def _parameters(
    printer: KernelPrinter, body: tuple[c.Stmt, ...], grid: tuple[c.Expr, ...], scope: Scope
) -> Iterator[Parameter]:
    """What a kernel takes: sizes and host loops that it mentions, then arrays. Raises NotMappable."""
    program, dialect = printer.program, printer.dialect
    mentioned: dict[str, bool] = {}
    declared: set[str] = set()
    for item in (*body, *grid):
        nodes = list(c.walk(item))
        targets = {id(cell_of(n.target)) for n in nodes if isinstance(n, c.Assign)}
        steps = (n for n in nodes if isinstance(n, c.Unary | c.Postfix) and n.op in ("++", "--"))
        targets |= {id(cell_of(n.operand)) for n in steps}
        stored = [n.arguments[0] for n in nodes if isinstance(n, c.Call) and n.function in (STORE_16, dialect.add)]
        targets |= {id(n.operand) for n in stored if isinstance(n, c.Unary)}
        declared |= {n.name for n in nodes if isinstance(n, c.Decl)}
        for node in nodes:
            if isinstance(node, c.ArrayRef):
                mentioned[node.array] = mentioned.get(node.array, False) or id(node) in targets
            elif isinstance(node, c.Name) and "(" not in node.name and "." not in node.name:
                mentioned.setdefault(node.name, False)
    arrays = {a.name: a for a in printer.arrays.values()}
    sizes = {p.name: printer.words.type(p.type.text) for p in program.scop.parameters}
    used = set(mentioned) - declared
    unknown = used - set(arrays) - set(sizes) - scope.names - _FENCES
    if unknown:
        raise NotMappable(f"a kernel does not know {', '.join(sorted(unknown))}")
    kept = scope.names & used & {b.name for b in program.buffers.values()}
    if kept:
        raise NotMappable(f"each iteration of a loop that the host runs has its own {', '.join(sorted(kept))}")
    yield from (Parameter(name, kind) for name, kind in sizes.items() if name in used)
    yield from (Parameter(name, "long") for name in sorted(scope.names & used - set(sizes) - set(arrays)))
    for name, array in arrays.items():
        if name in used and name not in sizes:
            kind = dialect.half.type if array.type == HALF else array.type
            yield Parameter(name, kind, None if array.by_value else array, mentioned[name])


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


def _aligned(p: Parameter) -> c.Stmt:
    """`A = (float (*)[n])__builtin_assume_aligned(A, 16);`: as `cudaMalloc` gives them, and as the function for the
    device's memory asks for."""
    value = c.Call("__builtin_assume_aligned", (c.Name(p.name), c.Literal(str(STORED_BYTES))))
    return c.ExprStmt(c.Assign("=", c.Name(p.name), c.Cast(p.pointer, value)))
