"""Keep a fused producer's values in a small array of the tile."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.dependences import accesses_of
from polyc.analysis.extents import elements
from polyc.analysis.order import order_of
from polyc.flow import Accesses, Flow, compute_flow
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, CType, Statement, Storage
from polyc.model.tree import LEAF, Band, Member
from polyc.nests.boxes import Box, bounding_box
from polyc.nests.nest import Nest, Outer
from polyc.nests.samples import LARGE
from polyc.poly import at_sizes, constant_of, empty_map, in_name, maps, names, out_name, sets, union_of
from polyc.records import dataclass, replace

PARAMETRIC_SLACK = 64
"""How far a parametric extent may exceed its value at the sample sizes; beyond that the original code runs."""
LARGEST_PARAMETRIC = LARGE // 2
"""An extent that is more at the sample sizes is an image's, not a window's: a condition on it would be a guess."""


@dataclass(frozen=True, slots=True, eq=False)
class DataTile:
    """The part of one array that a tile keeps for itself."""

    array: str
    box: Box
    extents: tuple[int, ...]
    """Constant sizes of the buffer."""
    accesses: frozenset[tuple[str, str]]
    fill: isl.Map | None
    """`{ [outer, tile] -> A[x] }`: cells that the tile reads and that its producer does not make."""
    copy_out: isl.Map | None
    """`{ [outer, tile] -> A[x] }`: cells that are needed outside, each in one tile, its owner."""
    guard: isl.Set | None
    """What the parameters must satisfy for `extents` to be enough."""
    size_bytes: int


class RefFlow:
    """Where each read's values come from, reference by reference (computed once, kept)."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._order = order_of(program.scop.tree)
        self._known: dict[tuple[str, Access], Flow] = {}

    def of(self, statement: str, access: Access) -> Flow:
        key = (statement, access)
        if key not in self._known:
            self._known[key] = self._from_the_whole(statement, access) or self._computed(access)
        return self._known[key]

    def _computed(self, access: Access) -> Flow:
        every = accesses_of(self._program.scop, frozenset([access.array]))
        one = Accesses(isl.UnionMap.from_map(access.relation), every.writes, every.may_writes)
        return compute_flow(one, self._order, checked=False)

    def _from_the_whole(self, statement: str, access: Access) -> Flow | None:
        """What is known of the array says it at once where the statement has no other reference that reads it."""
        scop, known = self._program.scop, self._program.dependences
        flow = known.flow_by_array.get(access.array)
        reads = [
            a for a in scop.statements[statement].accesses if a.array == access.array and a.kind is AccessKind.READ
        ]
        if flow is None or len(reads) != 1 or reads[0] is not access:
            return None
        here = isl.UnionSet.from_set(scop.statements[statement].domain)
        cells = isl.UnionSet.from_set(isl.Set.universe(access.relation.get_space().range()))
        return Flow(flow.intersect_range(here), known.live_in.intersect_domain(here).intersect_range(cells))

    def all_from(self, moved: isl.UnionSet, readers: isl.UnionSet, statement: Statement, array: str) -> bool:
        """Whether all that a statement's instances read of an array are values that `moved` ones make: then no
        reference has to be asked for by itself."""
        known = self._program.dependences
        if self._program.scop.statements.get(statement.name) is not statement or array not in known.flow_by_array:
            return False
        here = readers.intersect(isl.UnionSet.from_set(statement.domain))
        if any(out_name(cells) == array for cells in maps(known.live_in.intersect_domain(here))):
            return False
        return bool(known.flow_by_array[array].intersect_range(here).subtract_domain(moved).is_empty())

    def reads_own_values(self, nest: Nest, array: str) -> bool:
        """Whether the nest reads nothing of the array but what it wrote itself."""
        for name in nest.statements:
            for access in self._program.statements[name].accesses:
                if access.array != array or access.kind is not AccessKind.READ:
                    continue
                flow = self.of(name, access)
                if not flow.live_in.is_empty() or not flow.dependence.subtract_domain(nest.instances).is_empty():
                    return False
        return True


def plan_buffer(
    program: Program,
    refs: RefFlow,
    tile_of: isl.UnionMap,
    nest: Nest,
    extension: isl.UnionMap,
    array: str,
    outer: Outer,
    typical: isl.Set,
    dropped: isl.UnionSet,
    elsewhere: isl.UnionSet | None = None,
    only_inside: bool = False,
    whatever: bool = False,
) -> DataTile | str:
    """A data tile for what `nest` writes to `array` inside the tiles, or why there can be none.

    requires: `tile_of` for the consumers, `extension` for the nest, `dropped` instances that nobody runs, `elsewhere`
              instances of the nest that run outside of the tiles as well, for all others; `only_inside` where one with
              values that are needed outside is none; `whatever` the sizes are, no tile may only read what nobody sets
    ensures:  every access listed sees the same values in the buffer as it would in the array (the static check
              shows it again)
    source:   Zhao et al. 2024, Section 6.4; the box instead of the exact footprint, as there
    """
    scop = program.scop
    # Only what touches the array is asked about: a large group has many other members.
    tile = _using(program, tile_of, array).union(_using(program, extension.reverse(), array))
    moved = extension.range()
    needed = _needed(program, tile, moved if elsewhere is None else moved.subtract(elsewhere), array, outer, dropped)
    if only_inside and not needed.is_empty():
        return "its values are needed outside the tile"
    touched = _touched(program, refs, tile, moved, nest, array, outer, scop.known if whatever else typical)
    if isinstance(touched, str):
        return touched
    pieces = maps(touched.cells)
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.out) == 0:
        return "it is a scalar"
    context = scop.known
    box = bounding_box(pieces[0], context, typical)
    if box is None:
        return "no bounded box holds its tile"
    if not all(starts_at_zero(box, d) for d in touched.loose):
        return "it is read where data say, and a tile has a part of that dimension"
    may_guess = program.options.gpu or isinstance(program.options.tile_sizes, tuple)
    sized = _sizes(box, typical, may_guess)
    if sized is None:
        return "its tile has no bounded size"
    extents, guard = sized
    copy_out = _copy_out(program, tile, nest, needed, array, outer)
    if isinstance(copy_out, str):
        return copy_out
    promised = scop.context
    fill = maps(touched.foreign.intersect_params(promised).coalesce().gist_params(promised))
    if any(_leaves(at_sizes(piece, context).range(), scop.arrays[array]) for piece in fill):
        return "it is read outside of its bounds"
    if not _is_there(program, touched.guessed.range(), scop.arrays[array]):
        return "data say whether it is read, maybe where it has no elements"
    size = scop.arrays[array].element.size_bytes or 8
    for extent in extents:
        size *= extent
    return DataTile(array, box, extents, touched.accesses, fill[0] if fill else None, copy_out, guard, size)


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """What tiles touch of an array."""

    accesses: frozenset[tuple[str, str]]
    """By statement and reference."""
    cells: isl.UnionMap
    """`{ tile -> A[a] }`."""
    foreign: isl.UnionMap
    """Those that it reads, and that others have set."""
    guessed: isl.UnionMap
    """Those of them that a black box may read."""
    loose: frozenset[int]
    """Dimensions in which some access depends on data."""


def _touched(
    program: Program,
    refs: RefFlow,
    tile: isl.UnionMap,
    moved: isl.UnionSet,
    nest: Nest,
    array: str,
    outer: Outer,
    sizes: isl.Set,
) -> _Touched | str:
    """What tiles that run `moved` instances of a nest touch of an array, or why no buffer can stand for it.

    sizes: for all of which no tile may only read what nobody sets
    """
    scop, members, back, start = program.scop, tile.domain(), tile.reverse(), empty_map(tile)
    chosen: set[tuple[str, str]] = set()
    cells, foreign, guessed = start, start, start
    loose: set[int] = set()
    for name in names(members):
        in_nest, statement = name in nest.statements, program.statements[name]
        inner = not outer.members and refs.all_from(moved, members, statement, array)
        for access in statement.accesses:
            if access.array != array:
                continue
            relation = isl.UnionMap.from_map(access.relation).intersect_domain(members)
            if access.kind is not AccessKind.READ:
                if not in_nest:
                    return f"its consumer {name} writes it too"
            elif not inner or relation.is_empty():
                flow = refs.of(name, access)
                here = outer.same_iteration(flow.dependence.intersect_range(members))
                if here.intersect_domain(moved).is_empty() and not (in_nest and _is_written(program, name, access)):
                    continue
                inside = here.intersect_domain(moved)
                others = flow.dependence.intersect_range(members).subtract(inside).range()
                if array not in scop.unset:
                    others = others.union(flow.live_in.domain().intersect(members))
                elif not _is_written(program, name, access):
                    unset = flow.live_in.domain().intersect(members).subtract(flow.dependence.range())
                    if _is_alone(program, tile, array, unset, sizes):
                        return "it is read where nobody sets it"
                if not others.is_empty():
                    read = back.apply_range(relation.intersect_domain(others))
                    foreign = foreign.union(read)
                    guessed = guessed.union(read) if statement.opaque else guessed
            if not access.placed:
                return f"an access of {name} is not affine"
            loose.update(access.loose)
            chosen.add((name, access.ref))
            cells = cells.union(back.apply_range(relation))
    return _Touched(frozenset(chosen), cells, foreign, guessed, frozenset(loose))


def _using(program: Program, tile_of: isl.UnionMap, array: str) -> isl.UnionMap:
    """The part of a relation from instances that touch the array."""
    pieces = (m for m in maps(tile_of) if any(a.array == array for a in program.statements[in_name(m)].accesses))
    return union_of(pieces, empty_map(tile_of))


def starts_at_zero(box: Box, position: int) -> bool:
    """Whether a dimension's cells lie in the buffer as they lie in the array."""
    corner = box.corner.get_aff(position)
    return bool(corner.is_cst() and corner.get_constant_val().is_zero())


def _is_written(program: Program, statement: str, access: Access) -> bool:
    """Whether the reference is written too (`A[i] += …`): then its old value has to be in the buffer as well."""
    return any(
        other.ref == access.ref and other.kind is not AccessKind.READ
        for other in program.statements[statement].accesses
    )


def _is_alone(program: Program, tile: isl.UnionMap, array: str, unset: isl.UnionSet, sizes: isl.Set) -> bool:
    """Whether, at some sizes, a tile reads what nobody sets in an array, and sets nothing in it: the tile's copy would
    be read only."""
    if unset.is_empty():
        return False
    writing = [
        isl.UnionMap.from_map(access.relation).domain()
        for name in names(tile.domain())
        for access in program.statements[name].accesses
        if access.array == array and access.kind is not AccessKind.READ
    ]
    alone = unset.apply(tile)
    for instances in writing:
        alone = alone.subtract(instances.apply(tile))
    return not alone.intersect_params(sizes).is_empty()


def _leaves(cells: isl.Set, array: Array) -> bool:
    """Whether one of the pieces lies outside of the array: C compilers warn of what fills a tile from there."""
    bounds = [None if extent is None else constant_of(extent) for extent in array.extents]
    inside = isl.Set.universe(cells.get_space())
    for d, bound in enumerate(bounds):
        if bound is not None:
            inside = inside.upper_bound_val(isl.dim_type.set, d, isl.Val.int_from_si(cells.get_ctx(), bound - 1))
    pieces = cells.get_basic_set_list()
    every = (isl.Set.from_basic_set(pieces.get_at(k)) for k in range(pieces.n_basic_set()))
    return any(inside.is_disjoint(piece) and not piece.is_empty() for piece in every)


def _is_there(program: Program, guessed: isl.UnionSet, array: Array) -> bool:
    """Whether cells that data may or may not have read are there: inside of all extents, if it is no parameter, whose
    declaration says nothing of its first one, or used in any case."""
    scop = program.scop
    for piece in sets(guessed.intersect_params(scop.known)):
        known = array.storage is not Storage.ARGUMENT and all(extent is not None for extent in array.extents)
        left = piece.subtract(elements(array, piece.get_space())) if known else piece
        for statement in scop.statements.values():
            for access in statement.accesses:
                if access.array == array.name and access.exact and not statement.opaque:
                    left = left.subtract(access.relation.range())
        if not left.is_empty():
            return False
    return True


def _sizes(box: Box, typical: isl.Set, may_guess: bool) -> tuple[tuple[int, ...], isl.Set | None] | None:
    """Constant sizes, and the condition on the parameters under which they are enough.

    may_guess: that an extent is no larger than at the sample sizes, even an image's. Where polyc chooses all by itself,
               a region would run as it was written for any image that is larger.
    """
    sizes: list[int] = []
    guard: isl.Set | None = None
    for extent in box.extents:
        known = constant_of(extent)
        if known is None:
            usual = extent.intersect_params(typical).max_val()
            if not usual.is_int():
                return None
            if usual.to_python() > LARGEST_PARAMETRIC and not may_guess:
                return None
            limit = usual.to_python() + PARAMETRIC_SLACK
            fits = _fits(extent, limit, typical)
            guard = fits if guard is None else guard.intersect(fits)
            known = limit
        sizes.append(known)
    return tuple(sizes), guard


def _fits(extent: isl.PwAff, limit: int, typical: isl.Set) -> isl.Set:
    """A simple condition on the parameters under which the extent is at most `limit`.

    The extent is a minimum of sizes (`KH + 31` or, for small images, `H`); the piece that holds at the sample
    sizes is enough wherever it bounds the others.
    """
    bound = isl.PwAff.val_on_domain(extent.domain(), isl.Val.int_from_si(extent.get_ctx(), limit))
    exact = extent.le_set(bound).params().union(extent.domain().params().complement())
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    extent.foreach_piece(lambda domain, aff: pieces.append((domain, aff)))
    for domain, aff in pieces:
        if domain.params().intersect(typical).is_empty():
            continue
        everywhere = isl.PwAff.from_aff(aff)
        limit_everywhere = isl.PwAff.val_on_domain(everywhere.domain(), isl.Val.int_from_si(aff.get_ctx(), limit))
        simple = everywhere.le_set(limit_everywhere).params()
        if simple.is_subset(exact):
            return simple
    return exact


def _needed(
    program: Program, tile: isl.UnionMap, moved: isl.UnionSet, array: str, outer: Outer, dropped: isl.UnionSet
) -> isl.UnionSet:
    """Those of some instances whose values of an array somebody outside of the tiles needs."""
    d = program.dependences
    flow = d.flow_by_array.get(array, empty_map(tile)).intersect_domain(moved)
    within = outer.same_iteration(flow.intersect_range(tile.domain()))
    needed = flow.subtract(within).subtract_range(dropped).domain()
    for piece in maps(d.last_writer):
        if str(piece.get_tuple_name(isl.dim_type.out)) == array:
            needed = needed.union(isl.UnionSet.from_set(piece.domain()))
    return needed.intersect(moved)


def _copy_out(
    program: Program, tile: isl.UnionMap, nest: Nest, needed: isl.UnionSet, array: str, outer: Outer
) -> isl.Map | str | None:
    """The cells that somebody outside needs, each given to the first of the tiles that have it."""
    if needed.is_empty():
        return None
    if outer.members:
        return "its values are needed outside the tile, and in other iterations of the loops around"
    writes = empty_map(tile)
    for name in nest.statements:
        for access in program.statements[name].accesses:
            if access.array == array and access.kind is not AccessKind.READ:
                writes = writes.union(isl.UnionMap.from_map(access.relation))
    per_tile = tile.reverse().apply_range(writes.intersect_domain(needed)).coalesce()
    (owner,) = maps(per_tile.reverse().lexmin())
    return owner.reverse().coalesce()


def _loop_names(program: Program, array: Array) -> tuple[str, ...]:
    """Names for the loops over an array's cells: those of a nest that runs over them, if there is one."""
    for statement in program.scop.statements.values():
        for access in statement.accesses:
            if access.array == array.name and len(statement.loops) == array.rank:
                return statement.loops
    return tuple(f"x{d}" for d in range(array.rank))


def copy_statement(program: Program, array: Array, prefix: str, to_buffer: bool) -> Statement:
    """`A[x] = A[x]` for one cell, one side of which goes to the buffer: moves data in or out."""
    name = f"{prefix}_{array.name}"
    loops = _loop_names(program, array)
    ctx = program.scop.domain.get_ctx()
    space = program.scop.context.get_space().params()
    source = isl.Set.universe(space.add_named_tuple_id_ui(isl.Id.read_from_str(ctx, name), array.rank))
    cell = isl.Set.universe(space.add_named_tuple_id_ui(isl.Id.read_from_str(ctx, array.name), array.rank))
    relation = isl.Map.from_domain_and_range(source, cell)
    for d in range(array.rank):
        relation = relation.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    subscripts = tuple(c.Name(loop) for loop in loops)
    inside, outside = "inside", "outside"
    target, value = (inside, outside) if to_buffer else (outside, inside)
    accesses = (
        Access(value, array.name, AccessKind.READ, relation, True),
        Access(target, array.name, AccessKind.WRITE, relation, True),
    )
    body = c.ExprStmt(
        c.Assign("=", c.ArrayRef(array.name, subscripts, target), c.ArrayRef(array.name, subscripts, value))
    )
    first = next(iter(program.scop.statements.values()))
    long = first.loop_types[0] if first.loop_types else array.element
    text = f"copy of {array.c_name} {'into' if to_buffer else 'out of'} the tile"
    return Statement(name, source, loops, (long,) * array.rank, accesses, body, text, program.scop.span)


def prefetch_statement(program: Program, array: Array, name: str, written: bool = True) -> Statement:
    """`__builtin_prefetch(&A[x], 1)`: asks for the line of a cell that is read and written soon (0: that is read). It
    touches nothing."""
    copy = copy_statement(program, array, name, True)
    cell = c.ArrayRef(array.name, tuple(c.Name(loop) for loop in copy.loops), "outside")
    body = c.ExprStmt(c.Call(c.PREFETCH, (c.Unary("&", cell), c.Literal(str(int(written))))))
    domain, long = _called(copy.domain, name), (CType("long", "int", 8),) * array.rank
    text = f"prefetch of {array.c_name}"
    return replace(copy, name=name, domain=domain, loop_types=long, accesses=(), body=body, text=text)


def _called(cells: isl.Set, name: str) -> isl.Set:
    return cells.set_tuple_id(isl.Id.read_from_str(cells.get_ctx(), name))


def loops_over(names_: tuple[str, ...], cells: isl.Set, coincident: bool = True) -> Band:
    """A band that visits the cells of an array in order, for copies; `coincident`: they may get pragmas."""
    space = cells.get_space()
    local = isl.LocalSpace.from_space(space)
    members = tuple(
        Member(
            isl.UnionPwAff.from_pw_aff(
                isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, d)).intersect_domain(cells)
            ),
            coincident=coincident,
            name=name,
        )
        for d, name in enumerate(names_)
    )
    return Band(members, True, LEAF)


__all__ = ["DataTile", "RefFlow", "copy_statement", "in_name", "loops_over", "plan_buffer"]
