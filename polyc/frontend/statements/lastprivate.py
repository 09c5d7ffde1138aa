"""Temporaries that are needed after their loop: each iteration but the last one has its own. So has it of rows that are
somebody else's memory, though nobody reads them any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import islpy as isl

from polyc.analysis.dependences import last_writers
from polyc.errors import Span
from polyc.flow import Accesses
from polyc.frontend.c.state import CTX, EVERYTHING, Region, along, lifted_set
from polyc.frontend.c.symbols import PRIVATE_BYTES
from polyc.frontend.sets.accesses import READ, WRITE
from polyc.frontend.statements.build import Placed, drafts, place, with_loop_as, without_empty
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.frontend.statements.flow import Flows, accesses_of, stays
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.poly import greatest_of, least_of, project
from polyc.records import dataclass, replace

_PARAM = isl.dim_type.param
LEAST_ITERATIONS = 8
"""Of a loop: with fewer, what the last one takes by itself is a large part."""


def with_last_apart(items: list[Item], region: Region, live: frozenset[str], taken: frozenset[str]) -> list[Item]:
    """The items with the last iteration of a loop behind the others, which have new variables in the places of some
    whose values are needed after the region; the same list where there is no such loop.

    rewrite:  for i in [a, b) { w = f(i); r[i] = g(w); }
              -> for i in [a, b - 1) { v = f(i); r[i] = g(v); }  for i in [max(a, b - 1), b) { w = f(i); r[i] = g(w); }
    math:     with p the loops down to this one, M the instances of its statements that are in no last iteration, F the
              flow of w and L its last writers: F, where it meets M, relates instances of equal p; no read in M sees a
              value from before the region; L does not meet M. So reads in M see what v has, and w ends as it did.
              Nothing changes its place in the order.
    requires: no flow of another array goes from one iteration of the loop to another one of it: else there is nothing
              to be had from it
    of rows that nobody reads after the region: whatever L is
    source:   privatisation with a copy of the last value (OpenMP's lastprivate; Tu and Padua 1993)

    taken: names that no new variable may have
    """
    placed = place(items)
    search = _Search(region, placed, live, Flows(placed))
    candidates = search.candidates()
    for found in search.loops(items, candidates) if candidates else ():
        region.assumed = region.assumed.intersect_params(found.sizes)
        names = {key: _declared(region, key, taken) for key in sorted(found.keys)}
        region.note("last-private", found.message(names), found.span)
        items = with_loop_as(items, found.loop, found.parted(names))
    return items


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    region: Region
    loop: LoopItem
    keys: frozenset[str]
    last: isl.Set
    """`[n, p] -> { [] : … }`: the last iterations."""
    dead: bool
    """Nobody reads them after the region."""
    sizes: isl.Set
    """`[n] -> { : … }`: for which each iteration has its own."""

    @property
    def span(self) -> Span | None:
        return next((draft.span for draft in drafts(self.loop.items) if draft.span is not None), None)

    def message(self, names: dict[str, str]) -> str:
        symbols = self.region.scope.symbols
        old = ", ".join(f"'{symbols[key].c_name}'" for key in names)
        symbol = self.region.symbol(self.loop.key)
        loop = symbol.c_name if symbol is not None else self.loop.key
        why = "is memory that others know of" if self.dead else "may be read after the region"
        return (
            f"{old} {why}: each iteration of {loop} but the last one has "
            f"{'one of its own' if len(names) == 1 else 'its own'}, and the last one runs after them"
        )

    def parted(self, names: dict[str, str]) -> list[Item]:
        """The loop for all iterations but the last ones, and for these."""
        earlier = _changed(self.loop, lambda draft: _renamed(_without(draft, self.last), names))
        return [*earlier, *_changed(self.loop, lambda draft: _within(draft, self.last))]


@dataclass(slots=True, eq=False)
class _Search:
    """Looks for loops whose last iterations may run apart."""

    region: Region
    placed: list[Placed]
    live: frozenset[str]
    flows: Flows

    def loops(
        self, items: tuple[Item, ...] | list[Item], candidates: frozenset[str], around: tuple[str, ...] = ()
    ) -> Iterator[_Found]:
        """Those whose last iterations may run apart; of loops inside each other the outer one."""
        for item in items:
            if isinstance(item, LoopItem):
                dims = (*around, item.key)
                found = self.private(item, dims, candidates)
                if found is not None:
                    yield found
                else:
                    yield from self.loops(item.items, candidates, dims)

    def candidates(self) -> frozenset[str]:
        """Variables that are live, or rows that others may know of, and small or of one dimension, and both read and
        written by plain statements."""
        symbols, touched = self.region.scope.symbols, [raw for p in self.placed for raw in p.draft.accesses]
        opaque = {raw.array for p in self.placed for raw in p.draft.accesses if p.draft.opaque or not raw.exact}
        read, written = ({raw.array for raw in touched if raw.kind is kind} for kind in (READ, WRITE))
        partly = {raw.array for raw in touched if raw.kind not in (READ, WRITE)}
        hidden = self.region.exposed | self.region.hidden | set(self.region.flat) | opaque | partly
        found: set[str] = set()
        for key in (read & written) - hidden:
            symbol = symbols[key]
            pointer = any(d.pointer for d in symbol.shape.dims)
            if key not in self.live and symbol.storage is not Storage.ARGUMENT:
                continue  # it is private as it is, if it can be
            long = symbol.rank == 1 and symbol.shape.element.size_bytes > 0
            small = not pointer and 0 < symbol.shape.size_bytes <= PRIVATE_BYTES
            plain = symbol.fixed is None and not symbol.volatile
            if plain and (not symbol.rank or long or small) and not self.sums_up(key):
                found.add(key)
        return frozenset(found)

    def sums_up(self, key: str) -> bool:
        """Whether a statement adds something up into elements of an array, which `temporaries` expands, with a copy of
        the last values alone."""
        for p in self.placed:
            own = [p.access(raw) for raw in p.draft.accesses if raw.array == key]
            if len(own) > 1 and own[0].dim(isl.dim_type.out) and len(p.draft.env.dims) > 2 and own[0].is_equal(own[1]):
                mine = isl.UnionSet.from_set(p.domain)
                flow = self.flows.of(key).dependence.intersect_domain(mine).intersect_range(mine)
                return not flow.is_empty() and not _inner(own[0]).is_injective()
        return False

    def private(self, loop: LoopItem, dims: tuple[str, ...], candidates: frozenset[str]) -> _Found | None:
        """What becomes of one loop; None where it cannot be, or brings nothing."""
        below = {id(draft) for draft in drafts(loop.items)}
        inside = [p for p in self.placed if id(p.draft) in below]
        read, written = (
            {raw.array for p in inside for raw in p.draft.accesses if raw.kind is k} for k in (READ, WRITE)
        )
        keys = candidates & read & written
        if not keys or any(p.draft.opaque for p in inside):
            return None
        runs = EVERYTHING.complement()
        for p in inside:
            runs = runs.union(_iterations(p.draft, dims))
        runs = runs.coalesce()
        last = _last(runs, dims[-1], loop.step > 0)
        if _few(runs, dims[-1]):
            return None
        parts = _Parts(inside, dims, last)
        sizes = {key: found for key in keys if (found := self.written_first(key, parts)) is not None}
        own = frozenset(key for key in sizes if self.is_private(key, parts))
        if not own or not self.is_free(inside, parts, own):
            return None
        needed = reduce(isl.Set.intersect, (sizes[key] for key in sorted(own)))
        return _Found(self.region, loop, own, last, not own & self.live, needed)

    def written_first(self, key: str, parts: _Parts) -> isl.Set | None:
        """The sizes for which no iteration but the last one reads of a variable what stood there before the region:
        all, or those with which divisions leave nothing over; None where these are others.

        for j < m / 2 { w[j] = …; w[m / 2 + j] = …; } … for j < m … = w[j];  ->  m % 2 == 0
        """
        every = isl.Set.universe(EVERYTHING.get_space().params())
        exposed = self.flows.of(key).live_in.intersect_domain(parts.earlier)
        if exposed.is_empty():
            return every
        left_over = isl.Set.from_basic_set(exposed.domain().params().affine_hull())
        enough = every.subtract(left_over).coalesce()
        return enough if enough.n_basic_set() == 1 else None

    def is_private(self, key: str, parts: _Parts) -> bool:
        """The other conditions of `with_last_apart` on one variable."""
        found = self.flows.of(key)
        earlier = parts.earlier
        met = found.dependence.intersect_domain(earlier).union(found.dependence.intersect_range(earlier))
        if found.dependence.intersect_domain(earlier).is_empty() or not parts.stays(met):
            return False
        if key not in self.live:
            return True
        writes = accesses_of(self.placed, frozenset([key]), WRITE)
        final = last_writers(Accesses(writes, writes, isl.UnionMap.empty(writes.get_space())), self.flows.order)
        return bool(final.intersect_domain(earlier).is_empty())

    def is_free(self, inside: list[Placed], parts: _Parts, own: frozenset[str]) -> bool:
        """Whether no flow of another array goes from one iteration to another one."""
        written = {raw.array for p in inside for raw in p.draft.accesses if raw.kind is not READ}
        for key in sorted(written - own):
            between = self.flows.of(key).dependence.intersect_domain(parts.all).intersect_range(parts.all)
            if not parts.stays(between, outer=True):
                return False
        return True


@dataclass(slots=True, eq=False)
class _Parts:
    """The instances of a loop's statements, by its iterations."""

    inside: list[Placed]
    dims: tuple[str, ...]
    last: isl.Set

    @property
    def all(self) -> isl.UnionSet:
        return _union(p.domain for p in self.inside)

    @property
    def earlier(self) -> isl.UnionSet:
        """M."""
        return _union(Placed(p.name, _without(p.draft, self.last), p.order).domain for p in self.inside)

    def stays(self, pairs: isl.UnionMap, outer: bool = False) -> bool:
        return stays(pairs, {p.name for p in self.inside}, len(self.dims), outer)


def _inner(cells: isl.Map) -> isl.Map:
    """`{ [i, …, k] -> A[x] }` for one iteration of the outermost loop, as a parameter."""
    return cells.move_dims(_PARAM, cells.dim(_PARAM), isl.dim_type.in_, 0, 1)


def _iterations(draft: Draft, dims: tuple[str, ...]) -> isl.Set:
    """`[n, p] -> { [] : … }`: the iterations of some outer loops in which a statement runs."""
    return project(draft.env.domain, tuple(name for name in draft.env.variables if name not in dims))


def _last(runs: isl.Set, key: str, up: bool) -> isl.Set:
    """`[n, p] -> { [] : … }`: the last iterations of the innermost of some loops, for each of those around it."""
    own = along(runs, key)
    return lifted_set(own.lexmax() if up else own.lexmin(), (key,)).coalesce()


def _few(runs: isl.Set, key: str) -> bool:
    """Whether a loop is known to have few iterations."""
    own = along(runs, key)
    own = own.project_out(_PARAM, 0, own.dim(_PARAM))
    low, high = least_of(own, 0), greatest_of(own, 0)
    return bool(low.is_int() and high.is_int() and high.sub(low).to_python() < LEAST_ITERATIONS)


def _union(domains: Iterator[isl.Set]) -> isl.UnionSet:
    found = isl.UnionSet.empty(isl.Space.params_alloc(CTX, 0))
    for one in domains:
        found = found.union(isl.UnionSet.from_set(one))
    return found


def _changed(loop: LoopItem, change: Callable[[Draft], Draft]) -> list[Item]:
    """The loop with changed statements; [] where none of them runs."""

    def running(draft: Draft) -> Draft | None:
        changed = change(draft)
        return None if changed.env.domain.is_empty() else changed

    return without_empty([loop], running)


def _within(draft: Draft, iterations: isl.Set) -> Draft:
    env = draft.env.within(iterations)
    raws = (replace(raw, relation=raw.relation.intersect_params(iterations.params())) for raw in draft.accesses)
    return replace(draft, env=env, accesses=tuple(raws))


def _without(draft: Draft, last: isl.Set) -> Draft:
    """The same but for the last iterations."""
    return _within(draft, draft.env.domain.subtract(last))


def _renamed(draft: Draft, names: dict[str, str]) -> Draft:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef) and node.array in names:
            inside = tuple(c.rewrite(subscript, change) for subscript in node.subscripts)
            return replace(node, array=names[node.array], subscripts=inside)
        return None

    raws = tuple(
        replace(raw, array=names[raw.array], relation=raw.relation.set_tuple_name(isl.dim_type.out, names[raw.array]))
        if raw.array in names
        else raw
        for raw in draft.accesses
    )
    return replace(draft, accesses=raws, body=c.rewrite(draft.body, change))


def _declared(region: Region, key: str, taken: frozenset[str]) -> str:
    """The key, and name, of a new variable of the region in the place of another one."""
    old = region.scope.symbols[key]
    dims = tuple(replace(dim, pointer=False) for dim in old.shape.dims)
    shape = replace(old.shape, dims=dims, qualifiers=old.shape.qualifiers - {"restrict", "const"})
    name = region.declare(f"{old.c_name}_own", shape, taken)
    region.renamed |= {name}
    return name


__all__ = ["with_last_apart"]
