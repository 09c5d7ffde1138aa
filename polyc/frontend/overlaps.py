"""Which memory of a region might be the same by two names, where nobody promised that it is not.

Who marks a region promises that arrays with different names do not overlap. Of a region that polyc found by itself
nobody said so: the printed code asks, by the first and last elements that the region touches, and runs the loops as
they were written where two ranges meet.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import islpy as isl
from pycparser import c_ast

from polyc.analysis.expressions.facts import induction
from polyc.errors import Span, UserError
from polyc.frontend.c.liveness import walk
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.live_out import After
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Apart, Array, Memory, Statement, Storage
from polyc.records import dataclass

CODE = "may-overlap"
ALLOCATORS = frozenset(["malloc", "calloc", "aligned_alloc", "valloc", "__builtin_malloc", "__builtin_calloc"])
MOST_PAIRS = 24
"""Comparisons that the printed code makes before a region."""


@dataclass(frozen=True, slots=True)
class _Object:
    """Something in memory that a region touches."""

    name: str
    memory: Memory
    pointer: bool
    """Somebody else decides where it lies."""
    restricted: bool
    written: bool


def refused(message: str, hint: str = "", span: Span | None = None) -> UserError:
    return UserError.of(CODE, message, span, hint)


def apart(
    region: Region, after: After, arrays: dict[str, Array], statements: dict[str, Statement], known: isl.Set
) -> tuple[Apart, ...]:
    """The pairs that have to be asked about. Raises UserError where the code could not ask.

    known: what holds of the parameters
    math:  { lo(n) <= x <= hi(n) : A[x, ...] touched }, in the outermost dimension, for each pointer
    """
    objects = [
        one
        for key, array in arrays.items()
        if (one := _touched(region, after, region.scope.symbols.get(key), array, statements, known)) is not None
    ]
    for one in _read_as_sizes(region, after):
        if all(one.name != other.name for other in objects):
            objects.append(one)
    pairs = [
        Apart(one.memory, two.memory)
        for one, two in combinations(objects, 2)
        if (one.written or two.written) and (one.pointer or two.pointer) and not (one.restricted or two.restricted)
    ]
    if len(pairs) > MOST_PAIRS:
        raise refused(
            f"{len(pairs)} pairs of arrays might overlap, too many to compare before the loops",
            "declare pointers restrict, or promise with --no-alias that arrays do not overlap",
        )
    return tuple(pairs)


def check_loops(region: Region, after: After, body: c.Block) -> None:
    """Refuse loops whose variable somebody else can see: a pointer might lead to it."""
    for item in c.walk(body):
        head = induction(item) if isinstance(item, c.For) else None
        symbol = region.symbol(head.key) if head is not None and not head.declared else None
        if symbol is not None and after.is_exposed(symbol):
            raise refused(
                f"the loop variable '{symbol.c_name}' can be changed through a pointer", "make it a local variable"
            )


def _touched(
    region: Region, after: After, symbol: Symbol | None, array: Array, statements: dict[str, Statement], known: isl.Set
) -> _Object | None:
    """An array of the region; None where nobody else can reach it."""
    if symbol is None or not after.is_exposed(symbol) or is_fresh(symbol, after):
        return None
    if symbol.rank == 0 and symbol.shape.element.kind == "pointer":
        raise refused(f"'{symbol.c_name}' is a pointer that the region uses as a value")
    accesses = [a for s in statements.values() for a in s.accesses if a.array == array.name]
    written = any(a.kind is not AccessKind.READ for a in accesses)
    if not _is_pointer(symbol):
        return _Object(array.name, Memory(c.Name(symbol.c_name)), False, False, written)
    if any(dim.pointer for dim in symbol.shape.dims[1:]):
        raise refused(
            f"the rows of '{symbol.c_name}' are pointers, which might lead to the same memory",
            "promise with --no-alias that they do not",
        )
    restricted = is_restricted(symbol)
    found: list[isl.Set] = [a.relation.range().reset_tuple_id() for a in accesses]
    if not found:
        return None
    cells = reduce(lambda one, two: one.union(two), found).intersect_params(known)
    if cells.is_empty():
        return None
    if not _is_bounded(cells):
        if restricted:
            return _Object(array.name, Memory(c.Name(symbol.c_name)), True, True, written)
        raise refused(
            f"which elements of '{symbol.c_name}' are touched depends on data, so that nobody can tell whether it "
            "overlaps another array",
            f"declare '{symbol.c_name}' restrict, or promise with --no-alias that arrays do not overlap",
        )
    low, high = cells.dim_min(0).gist(known).coalesce(), cells.dim_max(0).gist(known).coalesce()
    memory = Memory(c.Name(symbol.c_name), low, high, _row(array))
    return _Object(array.name, memory, True, restricted, written)


def _is_bounded(cells: isl.Set) -> bool:
    """Whether the first subscript has a least and a greatest value for all parameters."""
    first = cells.project_out(isl.dim_type.set, 1, cells.dim(isl.dim_type.set) - 1)
    return bool(first.dim_has_lower_bound(isl.dim_type.set, 0) and first.dim_has_upper_bound(isl.dim_type.set, 0))


def _row(array: Array) -> c.Expr | None:
    """How many elements of the C array one step of the outermost subscript is; None for one."""
    if not array.flat or array.rank == 1:
        return None
    if array.strides_c:
        return c.Cast("long", array.strides_c[0])
    sizes = [size for size in array.extents_c[1:] if size is not None]
    wide: list[c.Expr] = [c.Cast("long", size) for size in sizes]
    return reduce(lambda one, two: c.Binary("*", one, two), wide)


def _read_as_sizes(region: Region, after: After) -> list[_Object]:
    """What the region's parameters are read from, where somebody else can reach it."""
    found: list[_Object] = []
    for parameter in region.parameters.values():
        for item in _places(parameter.expr):
            base = item
            while isinstance(base, c.Member):
                base = base.base
            symbol = next(
                (s for s in region.scope.symbols.values() if isinstance(base, c.Name) and s.c_name == base.name), None
            )
            if symbol is None:
                raise refused(f"polyc cannot tell where '{parameter.name}' lies in memory")
            if not after.is_exposed(symbol):
                continue
            if symbol.rank == 0:
                found.append(_Object(symbol.key, Memory(c.Name(symbol.c_name)), False, False, False))
            elif symbol.rank == 1 and isinstance(item, c.Member) and item.base == base:
                memory = Memory(c.Unary("*", c.Name(symbol.c_name)))
                found.append(_Object(symbol.key, memory, True, is_restricted(symbol), False))
            else:
                raise refused(f"polyc cannot tell where '{parameter.name}' lies in memory")
    return found


def _places(expr: c.Expr) -> list[c.Expr]:
    """The variables and members that an expression reads."""
    if isinstance(expr, (c.Name, c.Member, c.Subscript)) or (isinstance(expr, c.Unary) and expr.op == "*"):
        return [expr]
    return [place for child in c.children(expr) for place in _places(child)]  # type: ignore[arg-type]


def _is_pointer(symbol: Symbol) -> bool:
    return bool(symbol.rank) and (symbol.shape.dims[0].pointer or symbol.storage is Storage.ARGUMENT)


def is_fresh(symbol: Symbol, after: After) -> bool:
    """Whether a local pointer always has memory from malloc, and hands it to nobody: no other name leads there."""
    if symbol.storage is not Storage.LOCAL or not symbol.rank or not symbol.shape.dims[0].pointer:
        return False
    gone = after.escaped(symbol)
    if symbol.c_name in gone.to_call or symbol.c_name in gone.to_pointer:
        return False
    values: list[c_ast.Node | None] = []
    for node in walk(after.function.body):
        match node:
            case c_ast.Decl(name=symbol.c_name):
                values += [node.init] if node.init is not None else []
            case c_ast.Assignment(lvalue=c_ast.ID(name=symbol.c_name)):
                values.append(node.rvalue if node.op == "=" else None)
            case c_ast.UnaryOp(expr=c_ast.ID(name=symbol.c_name)) if node.op in ("&", "++", "--", "p++", "p--"):
                values.append(None)
    return bool(values) and all(_allocates(value) for value in values)


def _allocates(value: c_ast.Node | None) -> bool:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    called = isinstance(value, c_ast.FuncCall) and isinstance(value.name, c_ast.ID)
    return called and value.name.name in ALLOCATORS  # type: ignore[union-attr]


def is_restricted(symbol: Symbol) -> bool:
    """Whether C promises that nothing else leads to what a pointer points to."""
    node = symbol.node.type if symbol.node is not None else None
    match node:
        case c_ast.PtrDecl():
            return "restrict" in (node.quals or ())
        case c_ast.ArrayDecl():
            return "restrict" in (node.dim_quals or ())
    return False
