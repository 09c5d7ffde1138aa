"""Which memory of a region might be the same by two names, where nobody promised that it is not.

Who marks a region promises that arrays with different names do not overlap. Of a region that polyc found by itself
nobody said so: the printed code asks, by the first and last elements that the region touches, and runs the loops as
they were written where two ranges meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations

import islpy as isl
from pycparser import c_ast

from polyc.analysis.expressions.facts import induction
from polyc.analysis.expressions.straight import unconditional
from polyc.errors import Span, UserError
from polyc.frontend.c.functions import PURE
from polyc.frontend.c.liveness import is_own_static, is_static_of
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.memory.live_out import After
from polyc.frontend.memory.search import NotFound
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Apart, Array, Memory, Search, Statement, Storage
from polyc.records import dataclass, replace

CODE = "may-overlap"
MOST_PIECES = 4
"""Of an end of what is touched, by the sizes at which one access or another is the last: more are too much to read."""
MOST_MEMORIES = 100
"""Pieces of memory that the printed code compares before a region."""


@dataclass(frozen=True, slots=True)
class _Object:
    """Something in memory that a region touches."""

    name: str
    memory: Memory
    pointer: bool
    """Somebody else decides where it lies."""
    restricted: bool
    inside: str = ""
    """The object that it is a part of, of which the region uses other parts by other members."""
    unknown: bool = False
    """The data choose which of its elements are touched."""

    @property
    def written(self) -> bool:
        return self.memory.written


def refused(message: str, hint: str = "", span: Span | None = None) -> UserError:
    return UserError.of(CODE, message, span, hint)


def apart(
    region: Region,
    after: After,
    arrays: dict[str, Array],
    statements: dict[str, Statement],
    known: isl.Set,
    searched: Callable[[list[str]], Search],
) -> tuple[tuple[Apart, ...], Search | None]:
    """The pairs that have to be asked about, and what finds out where memory lies that the data choose.

    Raises UserError where the code could not ask.

    known: what holds of the parameters
    searched: for arrays of which the data choose the elements. Raises NotFound
    math:  { lo(n) <= x <= hi(n) : A[x, ...] touched }, in the outermost dimension, for each pointer
    """
    objects: list[_Object] = []
    for key, array in arrays.items():
        symbol = region.scope.symbols.get(key)
        if symbol is not None and any(dim.pointer for dim in symbol.shape.dims[1:]):
            objects += _rows(after, symbol, array, statements, known)
        elif (one := _touched(region, after, symbol, array, statements, known)) is not None:
            objects.append(one)
    for one in (*_read_as_sizes(region, after), *_read_as_pointers(region, after, arrays)):
        wholes = {other.memory.base for other in objects if other.memory.low is None and not other.unknown}
        if one.memory.base not in wholes and all(one.name != other.name for other in objects):
            objects.append(one)
    pairs = [
        Apart(one.memory, two.memory)
        for one, two in combinations(objects, 2)
        if (one.written or two.written)
        and (one.pointer or two.pointer)
        and not (one.restricted or two.restricted)
        and not (one.inside and one.inside == two.inside)
        and not (one.written and _is_part(two, objects))
        and not (two.written and _is_part(one, objects))
    ]
    pairs += [Apart(one.memory, one.memory) for one in objects if one.memory.inside and one.written]
    if len(objects) > MOST_MEMORIES:
        raise refused(
            f"{len(objects)} arrays might overlap, too many to compare before the loops",
            "declare pointers restrict, or promise with --no-alias that arrays do not overlap",
        )
    return _with_search(region, pairs, {one.memory for one in objects if one.unknown}, searched)


def where_touched(pairs: tuple[Apart, ...], context: isl.Set) -> tuple[Apart, ...]:
    """The pairs without memory that is touched at no sizes that the region runs for."""

    def runs(memory: Memory) -> bool:
        return memory.low is None or not memory.low.domain().params().is_disjoint(context)

    return tuple(pair for pair in pairs if runs(pair.one) and runs(pair.two))


def _with_search(
    region: Region, pairs: list[Apart], unknown: set[Memory], searched: Callable[[list[str]], Search]
) -> tuple[tuple[Apart, ...], Search | None]:
    """The pairs, with what is known of each piece of memory once the search has run, if one is needed.

    The search reads what the region reads to find out what it touches: so all of them are seen, or none.
    """
    asked = dict.fromkeys(memory for pair in pairs for memory in (pair.one, pair.two) if memory in unknown)
    bases = {memory: memory.base.name for memory in asked if isinstance(memory.base, c.Name)}
    if not bases:
        return tuple(pairs), None
    symbols = {s.c_name: s for s in region.scope.symbols.values() if s.storage is not Storage.REGION}
    try:
        found = searched([symbols[name].key for name in bases.values()])
    except NotFound as reason:
        symbol = symbols[next(iter(bases.values()))]
        raise _depends_on_data(symbol, reason, f"declare '{symbol.c_name}' restrict, or ") from None
    seen = {memory: replace(memory, seen=found.ends[name]) for memory, name in bases.items()}
    return tuple(Apart(seen.get(p.one, p.one), seen.get(p.two, p.two)) for p in pairs), found


def _is_part(one: _Object, objects: list[_Object]) -> bool:
    """Whether all of the struct that it is a part of is asked about."""
    if not one.inside.startswith("*"):
        return False
    whole = c.Unary("*", c.Name(one.inside[1:]))
    return one.memory.base != whole and any(o.memory.base == whole for o in objects if o.memory.low is None)


def exposed(region: Region, after: After) -> frozenset[str] | None:
    """The arrays and variables of a region that may be touched by another name as well; None where its sizes are among
    them, or pointers to its arrays."""
    if _read_as_sizes(region, after):
        return None
    found: set[str] = set()
    for key, symbol in region.scope.symbols.items():
        if symbol.storage is Storage.REGION and not symbol.is_pointer:
            continue
        if symbol.rank or symbol.shape.node is not None or symbol.fixed is not None:
            found.add(key)
            if symbol.fixed is not None or (symbol.storage is Storage.GLOBAL and symbol.is_pointer):
                return None
        elif _is_exposed(symbol, region, after):
            found.add(key)
    return frozenset(found)


def check_loops(region: Region, after: After, body: c.Block) -> None:
    """Refuse loops whose variable somebody else can see: a pointer might lead to it."""
    for item in c.walk(body):
        head = induction(item) if isinstance(item, c.For) else None
        symbol = region.symbol(head.key) if head is not None and not head.declared else None
        if symbol is not None and _is_exposed(symbol, region, after):
            raise refused(
                f"the loop variable '{symbol.c_name}' can be changed through a pointer", "make it a local variable"
            )


def _touched(
    region: Region, after: After, symbol: Symbol | None, array: Array, statements: dict[str, Statement], known: isl.Set
) -> _Object | None:
    """An array of the region; None where nobody else can reach it."""
    if symbol is None or not _is_exposed(symbol, region, after) or after.is_fresh(symbol):
        return None
    if symbol.storage is Storage.REGION and not symbol.is_pointer:
        return None  # it begins inside: no pointer from before leads there, and its name means nothing outside
    if symbol.rank == 0 and symbol.shape.element.kind == "pointer":
        raise refused(f"'{symbol.c_name}' is a pointer that the region uses as a value")
    accesses = [a for s in statements.values() for a in s.accesses if a.array == array.name]
    written = any(a.kind is not AccessKind.READ for a in accesses)
    if not symbol.is_pointer:
        return _object(symbol, written)
    restricted = is_restricted(symbol)
    found: list[isl.Set] = [a.relation.range().reset_tuple_id() for a in accesses]
    if not found:
        return None
    cells = reduce(lambda one, two: one.union(two), found).intersect_params(known)
    if cells.is_empty():
        return None
    if not is_bounded(cells):
        memory = Memory(c.Name(symbol.c_name), written=written)
        inside = f"*{symbol.c_name}" if symbol.shape.node is not None else ""
        return _Object(array.name, memory, True, restricted, inside, True)
    low, high = cells.dim_min(0).gist(known).coalesce(), cells.dim_max(0).gist(known).coalesce()
    if any(sum(domain.n_basic_set() for domain, _ in end.get_pieces()) > MOST_PIECES for end in (low, high)):
        low, high = _anywhere(found, known, False) or low, _anywhere(found, known, True) or high
    inner = () if array.flat else tuple(size for size in array.extents_c[1:] if size is not None)
    memory = Memory(_start(array), low, high, _row(array), (), written, inner)
    if symbol.shape.node is not None and symbol.rank == 1 and _is_zero(low) and _is_zero(high):
        memory = Memory(c.Unary("*", memory.base), written=written)
    inside = f"*{symbol.c_name}" if symbol.shape.node is not None else ""
    return _Object(array.name, memory, True, restricted, inside)


def _anywhere(found: list[isl.Set], known: isl.Set, greatest: bool) -> isl.PwAff | None:
    """The least or the greatest first subscript of some accesses, as if all of them were made at all sizes; None where
    one of them has no single end."""
    ends: dict[str, isl.PwAff] = {}
    for cells in found:
        here = cells.intersect_params(known)
        if here.is_empty():
            continue
        end = (here.dim_max(0) if greatest else here.dim_min(0)).coalesce()
        alike = (one for _, aff in end.get_pieces() if _is_same(end, one := isl.PwAff.from_aff(aff)))
        whole = next(alike, None)  # where i = 2147483647, that is the same as i
        if whole is None:
            return None
        ends[str(whole)] = whole
    return reduce(isl.PwAff.max if greatest else isl.PwAff.min, ends.values()).coalesce() if ends else None


def _is_same(end: isl.PwAff, whole: isl.PwAff) -> bool:
    return bool(whole.intersect_domain(end.domain()).is_equal(end))


def _object(symbol: Symbol, written: bool = False) -> _Object:
    """A variable, or a place in memory that does not move, as a whole."""
    fixed = symbol.fixed
    if fixed is None:
        inside = symbol.c_name if symbol.shape.node is not None else ""
        return _Object(symbol.key, Memory(c.Name(symbol.c_name), written=written), False, False, inside)
    return _Object(symbol.key, Memory(c.Name(symbol.c_name), written=written), fixed.elsewhere, False, fixed.inside)


def _cell(text: str, inside: str, elsewhere: bool) -> _Object:
    """A pointer or a number in memory; all of the struct that it lies in, which may have others."""
    if not inside.startswith("*"):
        return _Object(f"&{text}", Memory(c.Name(text)), elsewhere, False, inside)
    return _Object(inside, Memory(c.Unary("*", c.Name(inside[1:]))), True, False, inside)


def _is_exposed(symbol: Symbol, region: Region, after: After) -> bool:
    """Whether somebody else may reach it: also what is a part of a variable of which somebody has the address."""
    if is_own_static(symbol, after.function):
        return False
    if is_static_of(symbol, after.function) and not (symbol.is_pointer or after.is_handed_on(symbol)):
        return False
    fixed = symbol.fixed
    root = None if fixed is None or fixed.elsewhere or symbol.is_pointer else region.symbol(fixed.root)
    return after.is_exposed(symbol if root is None else root)


def _is_zero(value: isl.PwAff) -> bool:
    return value.n_piece() == 1 and bool(value.is_cst()) and bool(value.max_val().is_zero())


def _depends_on_data(symbol: Symbol, reason: object = "", hint: str = "") -> UserError:
    why = f"; the loops cannot find it out before: {reason}" if str(reason) else ""
    return refused(
        f"which elements of '{symbol.c_name}' are touched depends on data, so that nobody can tell whether it "
        f"overlaps another array{why}",
        f"{hint}promise with --no-alias that arrays do not overlap",
    )


def _rows(
    after: After, symbol: Symbol, array: Array, statements: dict[str, Statement], known: isl.Set
) -> list[_Object]:
    """An array of pointers to rows, or to such arrays: the pointers, and what they lead to; others may reach that, too.

    requires: the code that asks reads the pointers of all rows from the first one to the last one, so that the region
              has to do so too, whatever its data are
    """
    dims = symbol.shape.dims
    levels = next((k for k, dim in enumerate(dims) if k and not dim.pointer), len(dims)) - 1
    if not levels or any(dim.pointer for dim in dims[levels + 1 :]):
        raise refused(
            f"the rows of '{symbol.c_name}' are pointers to pointers, which might lead to the same memory",
            "promise with --no-alias that they do not",
        )
    every: list[isl.Set] = []
    sure: list[isl.Set] = []
    certain: list[isl.Set] = []
    written = False
    for statement in statements.values():
        own = [a for a in statement.accesses if a.array == array.name]
        touched = {a: a.relation.range().reset_tuple_id().intersect_params(known) for a in own}
        every += touched.values()
        written = written or any(a.kind is not AccessKind.READ for a in own)
        if not own or (statement.opaque and _may_end(statement.body)):
            continue
        rows = {a.ref: _first_of(a.relation, levels) for a in own if a.exact}
        none = _first_of(own[0].relation, levels)
        found_rows = _certain(statement.body, rows, none.subtract(none)).range().intersect_params(known)
        certain += [] if found_rows.is_empty() else [found_rows]
        plain = set() if statement.opaque else {one.ref for one in unconditional(statement.body, inside=True)}
        sure += [touched[a] for a in own if a.exact and a.ref in plain and a.kind is not AccessKind.MAY_WRITE]
    if not every:
        return []
    cells = reduce(lambda one, two: one.union(two), every)
    if cells.is_empty():
        return []
    if not all(is_bounded(cells, k) for k in range(levels + 1)):
        raise _depends_on_data(symbol)
    if not certain or not _first(cells, levels).is_equal(reduce(lambda one, two: one.union(two), certain)):
        raise _depends_on_data(symbol)
    pieces = [cells]
    if not _is_box(cells, levels) and not written and len(sure) == len(every):
        pieces = [one for k, one in enumerate(sure) if not any(one.is_equal(other) for other in sure[:k])]
    if not all(_is_box(piece, levels) for piece in pieces):
        message = f"not all rows of '{symbol.c_name}' between two that are touched are touched, too"
        raise refused(message, "promise with --no-alias that arrays do not overlap")
    name = c.Name(symbol.c_name)
    found: list[_Object] = []
    for number, piece in enumerate(pieces):
        first, *inside = (_bounds(piece, k, known) for k in range(levels + 1))
        found.append(
            _Object(f"{array.name} rows {number}", Memory(name, *first, None, tuple(inside), written), True, False)
        )
        found += [
            _Object(f"{array.name} pointers {number}, {k}", Memory(name, *first, None, tuple(inside[:k])), True, False)
            for k in range(1, levels)
        ]
    if symbol.is_pointer:
        found.append(_Object(array.name, Memory(name, *_bounds(cells, 0, known)), True, is_restricted(symbol)))
    elif after.is_exposed(symbol):
        found.append(_Object(array.name, Memory(name), False, False))
    return found


def _is_box(cells: isl.Set, levels: int) -> bool:
    """Whether the first subscripts have all values between their least and their greatest ones."""
    space = _first(cells, levels).get_space()
    between = isl.Set.universe(space)
    for k in range(levels):
        row = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, k)
        low, high = (bound.insert_domain(space) for bound in (cells.dim_min(k), cells.dim_max(k)))
        between = between.intersect(row.ge_set(low)).intersect(row.le_set(high))
    return bool(_first(cells, levels).is_equal(between))


def _bounds(cells: isl.Set, position: int, known: isl.Set) -> tuple[isl.PwAff, isl.PwAff]:
    """The least and the greatest value of a subscript."""
    low, high = cells.dim_min(position), cells.dim_max(position)
    return low.gist(known).coalesce(), high.gist(known).coalesce()


def _first_of(relation: isl.Map, count: int) -> isl.Map:
    """The relation to the first subscripts."""
    return relation.reset_tuple_id(isl.dim_type.out).project_out(
        isl.dim_type.out, count, relation.dim(isl.dim_type.out) - count
    )


def _first(cells: isl.Set, count: int) -> isl.Set:
    """The values of the first subscripts."""
    return cells.project_out(isl.dim_type.set, count, cells.dim(isl.dim_type.set) - count)


def _may_end(body: c.Node) -> bool:
    """Whether parts of a statement may be left out without a condition around them."""
    return any(isinstance(n, c.Jump) or (isinstance(n, c.Call) and n.function not in PURE) for n in c.walk(body))


def _certain(node: c.Node, rows: Mapping[str, isl.Map], none: isl.Map) -> isl.Map:
    """The rows that each instance touches whatever its data are; of two branches, those that both touch.

    rows: `{ S[i, j] -> [row] }` by the labels of the references
    """
    parts: Sequence[c.Node] = ()
    found = none
    match node:
        case c.For() | c.While() | c.SizeOf():
            pass  # it may have no iteration
        case c.ArrayRef(ref=ref, subscripts=parts):
            found = rows.get(ref, none)
        case c.If(condition=first, then=then, otherwise=other) | c.Ternary(condition=first, then=then, otherwise=other):
            parts = (first,)
            found = none if other is None else _certain(then, rows, none).intersect(_certain(other, rows, none))
        case c.Binary(op="&&" | "||", left=first):
            parts = (first,)
        case _:
            parts = c.children(node)
    return reduce(lambda one, two: one.union(two), (_certain(part, rows, none) for part in parts), found)


def is_bounded(cells: isl.Set, position: int = 0) -> bool:
    """Whether a subscript, the first one, has a least and a greatest value for all parameters."""
    rest = cells.dim(isl.dim_type.set) - 1 - position
    one = cells.project_out(isl.dim_type.set, position + 1, rest).project_out(isl.dim_type.set, 0, position)
    one = one.remove_divs()  # isl takes a remainder for a bound (islpy 2026.2.2)
    return bool(one.dim_has_lower_bound(isl.dim_type.set, 0) and one.dim_has_upper_bound(isl.dim_type.set, 0))


def _row(array: Array) -> c.Expr | None:
    """How many elements of the C array one step of the outermost subscript is; None for one."""
    return _step(array, 0) if array.flat and array.rank > 1 else None


def _step(array: Array, dimension: int) -> c.Expr:
    """How many elements of a flat array one step of a subscript is, but of the innermost."""
    if array.strides_c:
        return c.Cast("long", array.strides_c[dimension])
    sizes = [size for size in array.extents_c[dimension + 1 :] if size is not None]
    wide: list[c.Expr] = [c.Cast("long", size) for size in sizes]
    return reduce(lambda one, two: c.Binary("*", one, two), wide)


def _start(array: Array) -> c.Expr:
    """The pointer to the first element of row 0: `c + 1` where rows begin at 1."""
    found: c.Expr = c.Name(array.c_name)
    for position, begin in enumerate(array.begins):
        if begin:
            innermost = position == array.rank - 1
            distance = c.Literal(str(begin)) if innermost else _step(array, position)
            found = c.Binary("+", found, distance)
    return found


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
            if parameter.is_about_pointer and not after.is_moved(symbol):
                continue
            if not _is_exposed(symbol, region, after):
                continue
            if symbol.rank == 0 and symbol.fixed is not None:
                found.append(_cell(symbol.c_name, symbol.fixed.inside, symbol.fixed.elsewhere))
            elif symbol.rank == 0:
                found.append(_object(symbol))
            elif symbol.rank == 1 and isinstance(item, c.Member):
                memory = Memory(c.Unary("*", c.Name(symbol.c_name)))
                name = f"*{symbol.c_name}"
                found.append(_Object(name, memory, True, is_restricted(symbol), name))
            else:
                raise refused(f"polyc cannot tell where '{parameter.name}' lies in memory")
    return found


def _read_as_pointers(region: Region, after: After, arrays: dict[str, Array]) -> list[_Object]:
    """The pointers in memory that lead to the region's arrays and sizes, where somebody else can reach them."""
    found: list[_Object] = []
    used = {p.expr.name for p in region.parameters.values() if isinstance(p.expr, c.Name)}
    for symbol in region.scope.symbols.values():
        fixed, root = symbol.fixed, None if symbol.fixed is None else region.symbol(symbol.fixed.root)
        if fixed is None or root is None or not (symbol.key in arrays or symbol.c_name in used):
            continue
        own = [(symbol.c_name, fixed.inside, fixed.elsewhere)] if symbol.is_pointer else []
        for cell, inside, elsewhere in (*fixed.cells, *own):
            if elsewhere or after.is_exposed(root):
                found.append(_cell(cell, inside, elsewhere))
    return found


def _places(expr: c.Expr) -> list[c.Expr]:
    """The variables and members that an expression reads."""
    if isinstance(expr, (c.Name, c.Member, c.Subscript)) or (isinstance(expr, c.Unary) and expr.op == "*"):
        return [expr]
    return [place for child in c.children(expr) for place in _places(child)]  # type: ignore[arg-type]


def is_restricted(symbol: Symbol) -> bool:
    """Whether C promises that nothing else leads to what a pointer points to."""
    node = symbol.node.type if symbol.node is not None else None
    match node:
        case c_ast.PtrDecl():
            return "restrict" in (node.quals or ())
        case c_ast.ArrayDecl():
            return "restrict" in (node.dim_quals or ())
    return False
