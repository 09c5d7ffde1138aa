"""Questions about values that only dataflow answers: what may live in a thread, which final values somebody reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.straight import unconditional
from polyc.analysis.extents import elements
from polyc.flow import Accesses, Flow, compute_flow
from polyc.frontend.c.state import CTX, EVERYTHING, Region, lifted_set
from polyc.frontend.sets.accesses import MAY, READ, WRITE, Raw
from polyc.frontend.statements.build import Placed, drafts, order_map, place, without_empty
from polyc.frontend.statements.extract import Draft, Item
from polyc.model.scop import AccessKind, Array
from polyc.poly import OverBudget, budget, in_name, maps, out_name, project, set_name, sets
from polyc.records import dataclass, field, replace

MOST_OPERATIONS = 500_000
"""isl operations for what is good to know of an array, half a second."""


def accesses_of(placed: list[Placed], arrays: frozenset[str], kind: AccessKind) -> isl.UnionMap:
    """The reads, the writes that happen in any case, or the others, of some arrays: `{ S[i] -> A[x] }`."""
    whole = isl.UnionMap.empty(isl.Space.params_alloc(CTX, 0))
    for item in placed:
        for raw in item.draft.accesses:
            if raw.kind is kind and raw.array in arrays:
                whole = whole.union(isl.UnionMap.from_map(item.access(raw)))
    return whole


def written_first(placed: list[Placed], arrays: frozenset[str], context: isl.Set) -> frozenset[str]:
    """The arrays none of whose reads may see a value from before the region."""
    return arrays - read_first(placed, arrays, context).keys()


def read_first(placed: list[Placed], arrays: frozenset[str], context: isl.Set) -> dict[str, isl.Set]:
    """The elements that may be read before the region writes them, of the arrays that have such.

    math: may_no_source(flow(reads, must-writes))
    """
    reads: dict[str, isl.UnionMap] = {}
    for one, raw in _uncovered(placed, arrays):
        read = isl.UnionMap.from_map(one.access(raw))
        reads[raw.array] = reads[raw.array].union(read) if raw.array in reads else read
    if not reads:
        return {}
    order = order_map(placed)
    found: dict[str, isl.Set] = {}
    for array, read in sorted(reads.items()):
        read = read.intersect_params(context.params())
        try:
            with budget(CTX, MOST_OPERATIONS):
                exposed = flow_of(read, accesses_of(placed, frozenset([array]), WRITE), order).live_in.range()
        except OverBudget:
            exposed = read.range()  # perhaps all of it
        found |= {set_name(piece): piece for piece in sets(exposed) if not piece.is_empty()}
    return found


def _uncovered(placed: list[Placed], arrays: frozenset[str]) -> Iterator[tuple[Placed, Raw]]:
    """The reads of some arrays but those of a cell that a statement before, in the same block or one around it, has
    written in any case: of straight-line code with its temporaries, these are most."""
    written: dict[tuple[str, tuple[int | str, ...]], list[Raw]] = {}
    for one in placed:
        for raw in one.draft.accesses:
            if raw.kind is not READ or raw.array not in arrays:
                continue
            blocks = (one.order[:depth] for depth in range(len(one.order)))
            before = (write for block in blocks for write in written.get((raw.array, block), ()))
            if not any(raw.relation.is_subset(write.relation) for write in before):
                yield one, raw
        if one.draft.exit_of:
            continue  # its accesses are restricted later
        for raw in one.draft.accesses:
            if raw.kind is WRITE and raw.array in arrays:
                written.setdefault((raw.array, one.order[:-1]), []).append(raw)


def inside_rows(placed: list[Placed], arrays: Iterable[Array]) -> isl.Set:
    """`[n] -> { : … }`: the parameters for which what is accessed in any case stays inside of some local arrays, or
    memory that the function has from malloc.

    C gives no meaning to an access before the first element, or behind the last one where the length is known. In a
    row of a larger array, what is behind its end may be the next row: there, only the last row has an end.
    """
    rows = {array.name: array for array in arrays}
    found = EVERYTHING.params()
    for one in placed:
        certain = set() if one.draft.opaque else {node.ref for node in unconditional(one.draft.body)}
        for raw in one.draft.accesses:
            if raw.array in rows and raw.exact and raw.ref in certain:
                cells = one.access(raw).range()
                array = rows[raw.array]
                there = elements(
                    replace(array, extents=(*array.extents[:1], *[None] * (array.rank - 1))), cells.get_space()
                )
                there = there.lower_bound_val(isl.dim_type.set, 0, isl.Val.zero(CTX))
                for d in range(array.rank if array.rank > 1 else 0):  # else it may be in a row before
                    cells = cells.lower_bound_val(isl.dim_type.set, d, isl.Val.zero(CTX))
                found = found.subtract(cells.subtract(there).params())
    return found.coalesce()


def length_of(array: str, placed: list[Placed], known: isl.Set) -> tuple[isl.PwAff, isl.Set] | None:
    """`[n] -> { [(x)] }`: one more than the last element of a row that is accessed, and the sizes for which it is that:
    all, or those at which its loops run. None where the last one is not at the end of a loop, where the first one may
    be before the begin of the row, and where data decide it and nothing bounds them."""
    raws = [(one, raw) for one in placed for raw in one.draft.accesses if raw.array == array]
    cells = reduce(isl.Set.union, (one.access(raw).range() for one, raw in raws)).intersect_params(known.params())
    if (
        cells.is_empty()
        or not cells.is_bounded()
        or not cells.lower_bound_val(isl.dim_type.set, 0, isl.Val.zero(CTX)).is_equal(cells)
    ):
        return None
    last = cells.dim_max(0)
    ends: list[isl.PwAff] = []
    last.foreach_piece(lambda _domain, aff: ends.append(isl.PwAff.from_aff(aff)))
    runs = last.domain().params()
    covered = [(end, end.ge_set(last).params().intersect(runs).coalesce()) for end in ends]
    whole = [(end, sizes) for end, sizes in covered if runs.is_subset(sizes)]
    grows = [(end, sizes) for end, sizes in covered if not end.is_cst() and sizes.n_basic_set() == 1]
    found = next(iter(whole or grows), None)
    return None if found is None else (found[0].add_constant_val(isl.Val.int_from_si(CTX, 1)), found[1].gist(runs))


def is_made_again(array: str, placed: list[Placed]) -> bool:
    """Whether iterations of an outermost loop write the same elements of an array, which no other nest uses.

    math: with i that loop and W = { i -> A[x] } the elements that are written, W is not injective
    """
    users = [(one, raw) for one in placed for raw in one.draft.accesses if raw.array == array]
    if len({(one.order[0], one.draft.env.dims[:1]) for one, _ in users}) != 1 or not users[0][0].draft.env.dims:
        return False
    for one, raw in users:
        written = one.access(raw)
        inner = written.dim(isl.dim_type.in_) - 1
        if raw.kind is not READ and not written.project_out(isl.dim_type.in_, 1, inner).is_injective():
            return True
    return False


def flow_of(reads: isl.UnionMap, writes: isl.UnionMap, order: isl.UnionMap) -> Flow:
    return compute_flow(Accesses(reads, writes, isl.UnionMap.empty(reads.get_space())), order)


@dataclass(slots=True, eq=False)
class Flows:
    """The flow of each array of a region that is asked for, in the order as written."""

    placed: list[Placed]
    order: isl.UnionMap = field(init=False)
    _known: dict[str, Flow] = field(default_factory=dict, init=False)
    _kept: dict[str, isl.UnionMap] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.order = order_map(self.placed)

    def of(self, key: str) -> Flow:
        """By what is written in any case."""
        if key not in self._known:
            one = frozenset([key])
            reads, writes = (accesses_of(self.placed, one, kind) for kind in (READ, WRITE))
            self._known[key] = flow_of(reads, writes, self.order)
        return self._known[key]

    def kept(self, key: str) -> isl.UnionMap:
        """The flow of an array of which data may decide what is written: that may be read, and it keeps what was there
        before."""
        if key not in self._kept:
            reads, writes, maybe = (accesses_of(self.placed, frozenset([key]), kind) for kind in (READ, WRITE, MAY))
            chosen = Accesses(reads.union(maybe), writes, maybe)
            found = self.of(key) if maybe.is_empty() else compute_flow(chosen, self.order)
            self._kept[key] = found.dependence
        return self._kept[key]


def stays(pairs: isl.UnionMap, inside: set[str], depth: int, outer: bool = False) -> bool:
    """Whether pairs of instances are of one iteration of the loops down to a depth.

    inside: the statements in these loops
    outer:  of those pairs that are in these statements, and in one iteration of all of these loops but the innermost
    """
    for piece in maps(pairs):
        if in_name(piece) not in inside or out_name(piece) not in inside:
            if outer:
                continue
            return False
        left = piece
        for k in range(depth - 1 if outer else 0):
            left = left.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        same = left
        for k in range(depth):
            same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        if not left.is_subset(same):
            return False
    return True


def without_unread(items: list[Item]) -> list[Item]:
    """The items without variables of the region that nobody reads: `int k = i + 1;` where all there is of `k` stands
    in subscripts and conditions, which have its value instead."""
    before = drafts(tuple(items))
    read = {raw.array for draft in before for raw in draft.accesses if raw.kind is READ}
    unread = {id(draft) for draft in before if draft.value_of and draft.value_of not in read}
    if not unread:
        return items
    return without_unread(without_empty(items, lambda draft: None if id(draft) in unread else draft))


def without_dead(items: list[Item], region: Region) -> list[Item]:
    """The items with each variable that an iteration declares computed only where it is used: `float v = f(a[i]); if
    (i < m) b[i] = v;` needs no `v` from m on.

    math: with D(x) the iterations that use x, projected onto the loops around its declaration: what writes x alone runs
          in D(x); what reads x there and writes y alone uses it in D(y)
    """
    before = drafts(tuple(items))
    writers = {id(draft): key for draft in before if (key := _only_written(draft, region)) is not None}
    if not writers:
        return items
    used = {key: EVERYTHING.complement() for key in set(writers.values())}

    def lived(draft: Draft) -> isl.Set:
        whole = draft.env.domain
        needed = whole.intersect(used[writers[id(draft)]]).coalesce() if id(draft) in writers else whole
        # Without one iteration in the middle, `j != i`, or at a corner, a loop has a branch, and no vectors.
        scattered = needed.n_basic_set() > max(1, whole.n_basic_set())
        return whole if scattered or _is_one(whole.subtract(needed), len(draft.env.dims)) else needed

    for _ in range(len(used) + 1):
        known = dict(used)
        for draft in before:
            for key in {raw.array for raw in draft.accesses if raw.kind is READ} & used.keys():
                around = region.declared[key]
                inner = tuple(name for name in draft.env.variables if name not in around)
                used[key] = used[key].union(project(lived(draft), inner)).coalesce()
        if all(used[key].is_equal(known[key]) for key in used):
            break
    else:
        return items

    def keep(draft: Draft) -> Draft | None:
        domain = lived(draft)
        if domain.is_equal(draft.env.domain):
            return draft
        if domain.is_empty():
            return None
        accesses = tuple(replace(a, relation=a.relation.intersect_params(domain.params())) for a in draft.accesses)
        return replace(draft, env=replace(draft.env, domain=domain), accesses=accesses)

    return without_empty(items, keep)


def _is_one(left: isl.Set, depth: int) -> bool:
    """Whether what is left of some loops is a single iteration of them all, where they are several."""
    hull = left.affine_hull()
    return depth > 1 and sum(one.is_equality() for one in hull.get_constraints()) >= depth and not left.is_empty()


def _only_written(draft: Draft, region: Region) -> str | None:
    """The variable that is all that a statement writes, if it is one that an iteration declares and sets there."""
    written = {raw.array for raw in draft.accesses if raw.kind is not READ}
    key = next(iter(written)) if len(written) == 1 else ""
    around = region.declared.get(key)
    if not around or draft.exit_of or draft.env.dims[: len(around)] != around or region.rank(region.scope.symbols[key]):
        return None
    return key


def needed_exits(items: list[Item], region: Region, live: frozenset[str]) -> list[Item]:
    """Restrict the final values of loop variables to the instances that somebody reads, and drop the rest.

    A read sees the last instance before it; after the region the last one of all is seen.
    """
    placed = place(items)
    exits = {p.draft.exit_of for p in placed if p.draft.exit_of}
    if not exits:
        return items
    arrays = frozenset(exits)
    order = order_map(placed)
    depth = max((len(p.order) for p in placed), default=1)
    reads = accesses_of(placed, arrays, READ)
    after = isl.UnionMap.empty(isl.Space.params_alloc(CTX, 0))
    for key in exits & live:
        after = after.union(isl.UnionMap.read_from_str(CTX, f"{{ END_[] -> {key}[] }}"))
    last = [str(len(items) + 1), *(["0"] * (depth - 1))]
    order = order.union(isl.UnionMap.read_from_str(CTX, f"{{ END_[] -> [{', '.join(last)}] }}"))
    writes = accesses_of(placed, arrays, WRITE)
    used = flow_of(reads.union(after), writes, order).dependence.domain()
    names = {id(p.draft): p for p in placed}

    def keep(draft: Draft) -> Draft | None:
        if not draft.exit_of:
            return draft
        here = names[id(draft)]
        left = used.extract_set(here.domain.get_space()).intersect(here.domain).coalesce()
        if left.is_empty():
            return None
        domain = lifted_set(left, draft.env.dims)
        return replace(draft, env=replace(draft.env, domain=domain))

    return without_empty(items, keep)
