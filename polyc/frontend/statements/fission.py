"""Sums over the iterations of a loop whose iterations do more than to add them up: a loop of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.straight import changes_nothing
from polyc.analysis.extents import text_of
from polyc.frontend.c.state import Env, Region, along, variable
from polyc.frontend.idioms.helpers import is_arithmetic, type_of
from polyc.frontend.sets.accesses import MAY, READ, WRITE, Raw, element_of
from polyc.frontend.statements.build import Placed, drafts, place, with_loop_as, without_empty
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.frontend.statements.flow import Flows, accesses_of, stays
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, CType
from polyc.poly import project
from polyc.records import dataclass, replace

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


def with_sums_apart(items: list[Item], region: Region, taken: frozenset[str]) -> list[Item]:
    """The items with what hands a scalar from one iteration of a loop to the next in a loop of its own, behind the
    rest of the iterations, where that carries nothing; the same list where there is no such loop.

    rewrite:  for i { s = 0; for j s += x[i][j]; y[i] = f(s); total += s * s; }
              -> for i { s = 0; for j s += x[i][j]; y[i] = f(s); e[i] = s * s; }  for i total += e[i];
    math:     with T the scalars that the loop's iterations hand on, A the statements that mention some of T, and R the
              others: A writes T alone, so that R may run before it; A reads of R what is kept for it, or what no later
              iteration of R overwrites; its own order stays
    requires: a loop in R, and no other flow from one iteration to another one
    source:   loop distribution with scalar expansion (Kennedy and McKinley 1990)

    taken: names that no new array may have
    """
    placed = place(items)
    for found in _Search(region, placed, Flows(placed)).nests(items):
        items = with_loop_as(items, found.loops[0], found.parted(taken))
    return items


@dataclass(frozen=True, slots=True, eq=False)
class _Nest:
    """Loops without anything between them, of which the innermost has statements of both kinds."""

    region: Region
    loops: tuple[LoopItem, ...]
    apart: tuple[Item, ...]
    """What has statements of A in the body of the innermost loop."""
    waiting: tuple[Draft, ...]
    """A."""
    carried: frozenset[str]
    """T."""
    kept: frozenset[str]
    """The scalars that R gives a value, and A reads."""
    ends: tuple[isl.PwAff, ...]
    """One more than the largest value of each loop."""

    def parted(self, taken: frozenset[str]) -> list[Item]:
        """The loops of R, and those of A."""
        first: list[Item] = []
        second: list[Item] = []
        names: list[str] = []
        for item in self.loops[-1].items:
            if item not in self.apart:
                first.append(item)
                continue
            stores, left, made = self.split(item, taken)
            first += [*stores, *without_empty([item], lambda draft: None if draft in self.waiting else draft)]
            second.append(left)
            names += made
        symbols = self.region.scope.symbols
        carried = ", ".join(f"'{symbols[key].c_name}'" for key in sorted(self.carried))
        loop = self.region.symbol(self.loops[0].key)
        each = f"each iteration of {loop.c_name if loop is not None else self.loops[0].key}"
        where = f"is kept in {', '.join(names)}, and " if names else ""
        message = f"what {each} has for {carried} {where}goes there in order behind the loop"
        self.region.note("sum-apart", message, self.waiting[0].span)
        return [self.around(first), self.around(second)]

    def around(self, items: list[Item]) -> LoopItem:
        inner = replace(self.loops[-1], items=tuple(items))
        return reduce(lambda inside, loop: replace(loop, items=(inside,)), reversed(self.loops[:-1]), inner)

    def split(self, item: Item, taken: frozenset[str]) -> tuple[list[Draft], Item, list[str]]:
        """What keeps the values that a statement or loop of A needs, in its place; what is left of it, and takes them;
        and their names."""
        if isinstance(item, Draft) and (parted := self.part(item, taken)) is not None:
            return parted
        stores: list[Draft] = []
        cells: dict[str, c.ArrayRef] = {}
        (mine,) = without_empty([item], lambda draft: draft if draft in self.waiting else None)
        for key in sorted(self.kept):
            users = [draft for draft in drafts((mine,)) if any(raw.array == key for raw in draft.accesses)]
            if users:
                name, cells[key] = self.array(f"{key}_each", self.region.scope.symbols[key].shape.element, taken)
                stores.append(self.store(users, key, name, cells[key]))

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array in cells:
                return replace(cells[node.array], ref=node.ref)
            return None

        def left(draft: Draft) -> Draft:
            accesses = tuple(
                replace(self.raw(draft.env, cells[raw.array].array, READ), ref=raw.ref) if raw.array in cells else raw
                for raw in draft.accesses
            )
            return replace(draft, accesses=accesses, body=c.rewrite(draft.body, change))

        (waiting,) = without_empty([mine], left)
        return stores, waiting, [cell.array for cell in cells.values()]

    def store(self, users: list[Draft], key: str, name: str, cell: c.ArrayRef) -> Draft:
        """A statement that keeps a scalar, as it is before a statement of A, or the loops around some."""
        env, read = users[0].env, next(raw for raw in users[0].accesses if raw.array == key)
        dims = env.dims[: env.dims.index(self.loops[-1].key) + 1]
        runs = (project(d.env.domain, tuple(n for n in d.env.variables if n not in dims)) for d in users)
        env = replace(env, domain=reduce(isl.Set.union, runs).coalesce(), dims=dims, inner=())
        body = c.ExprStmt(c.Assign("=", replace(cell, ref="e1"), c.ArrayRef(key, (), "e0")), users[0].span)
        accesses = (
            Raw("e0", key, READ, _whole(read.relation).intersect_params(env.domain.params()), True, ()),
            replace(self.raw(env, name, WRITE), ref="e1"),
        )
        return Draft(env, accesses, body, users[0].span, False)

    def part(self, draft: Draft, taken: frozenset[str]) -> tuple[list[Draft], Item, list[str]] | None:
        """The same for a sum of one array's element, where what is added is computed with the rest."""
        match draft.body:
            case c.ExprStmt(expr=c.Assign(op="+=" | "-=" | "*=", target=c.ArrayRef(array=own), value=value) as update):
                pass
            case _:
                return None
        element = type_in(self.region, value)
        alone = isinstance(value, c.ArrayRef) and not value.subscripts
        mine = {node.ref for node in c.walk(update.target) if isinstance(node, c.ArrayRef)}
        left = tuple(raw for raw in draft.accesses if raw.ref in mine)
        certain = all(raw.exact and raw.kind in (READ, WRITE) for raw in left)
        if element is None or alone or self.waits(value) or not certain or draft.opaque:
            return None  # of a statement that is kept whole, what it reads is not known well enough to store its value
        name, cell = self.array(f"{own}_part", element, taken)
        others = (raw for raw in draft.accesses if raw.ref not in mine)
        store = c.ExprStmt(c.Assign("=", cell, value), draft.span)
        kept = replace(draft, accesses=(*others, self.raw(draft.env, name, WRITE)), body=store)
        body = c.ExprStmt(replace(update, value=cell), draft.span)
        taking = replace(draft, accesses=(*left, self.raw(draft.env, name, READ)), body=body)
        return [kept], taking, [name]

    def waits(self, value: c.Expr) -> bool:
        """Whether what is added is known behind the rest only."""
        return any(c.mentions_array(value, key) for key in self.carried)

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(loop.key for loop in self.loops)

    def raw(self, env: Env, array: str, kind: AccessKind) -> Raw:
        """The access to the element of an iteration."""
        return element_of(array, [variable(key) for key in self.dims], env.domain, kind)

    def array(self, wish: str, element: CType, taken: frozenset[str]) -> tuple[str, c.ArrayRef]:
        """A new array with an element for each iteration."""
        texts = tuple(text_of(self.region.parameters.values(), end) for end in self.ends)
        name = self.region.make(wish, element, self.ends, texts, taken)
        return name, c.ArrayRef(name, tuple(c.Name(key) for key in self.dims), "e0")


@dataclass(slots=True, eq=False)
class _Search:
    region: Region
    placed: list[Placed]
    flows: Flows

    def nests(self, items: Iterable[Item], around: tuple[LoopItem, ...] = ()) -> Iterator[_Nest]:
        """Outer loops first; none inside of a loop whose iterations run at once anyway."""
        for item in items:
            if isinstance(item, LoopItem):
                found = self.nest(item, len(around))
                if found is None:
                    yield from self.nests(item.items, (*around, item))
                elif all(self.carries(loop, depth + 1) for depth, loop in enumerate(around)):
                    yield found

    def carries(self, loop: LoopItem, depth: int) -> bool:
        """Whether values go from one iteration of a loop to another one, but for sums that threads add up anyway."""
        inside = self.inside(loop.items)
        carried = self.carried(inside, depth)
        users = [p.draft for p in inside if not carried.isdisjoint(raw.array for raw in p.draft.accesses)]
        cells = (node for draft in users for node in c.walk(draft.body) if isinstance(node, c.ArrayRef))
        single = all(isinstance(s, c.Literal) for node in cells if node.array in carried for s in node.subscripts)
        return not (single and all(self.counts(draft) for draft in users))

    def inside(self, items: Iterable[Item]) -> list[Placed]:
        """The statements of some items."""
        below = {id(draft) for draft in drafts(tuple(items))}
        return [p for p in self.placed if id(p.draft) in below]

    def carried(self, inside: list[Placed], depth: int, among: set[str] | None = None) -> set[str]:
        """What goes from one iteration to another one of the loop at a depth around some statements. among: of these"""
        written = {raw.array for p in inside for raw in p.draft.accesses if raw.kind is not READ}
        names = {p.name for p in inside}
        asked = written if among is None else among
        return {key for key in asked if not stays(self.flows.kept(key), names, depth, outer=True)}

    def nest(self, outermost: LoopItem, around: int) -> _Nest | None:
        loops = [outermost]
        while len(loops[-1].items) == 1 and isinstance(loops[-1].items[0], LoopItem):
            loops.append(loops[-1].items[0])
        body = loops[-1].items
        if len(body) < 2 or not any(_has_loop(item) for item in body):
            return None
        inside, symbols = self.inside(body), self.region.scope.symbols
        updated = {key for p in inside for key in _updated(p.draft, outermost.key)}
        if not self.carried(inside, around + 1, updated):
            return None
        carried = self.carried(inside, around + 1)
        maybe = {raw.array for p in inside for raw in p.draft.accesses if raw.kind is MAY}
        while True:  # what is changed if data say so waits with what changes it
            items = tuple(item for item in body if {raw.array for d in drafts((item,)) for raw in d.accesses} & carried)
            apart = tuple(d for d in drafts(items) if {raw.array for raw in d.accesses} & carried)
            more = {raw.array for d in apart for raw in d.accesses if raw.kind is not READ} & maybe - carried
            if not more:
                break
            carried |= more
        rest = [p for p in inside if p.draft not in apart]
        if not any(len(p.draft.env.dims) > around + len(loops) or _has_loop(p.draft) for p in rest):
            return None
        if not all(self.may_wait(draft, carried) for draft in apart):
            return None
        if maybe - carried and all(self.counts(draft) for draft in apart):
            return None  # what an iteration chooses is its own, and threads may count where they stand
        given = {raw.array for p in rest for raw in p.draft.accesses if raw.kind is not READ}
        read = {raw.array for draft in apart for raw in draft.accesses} - carried
        kept = frozenset(key for key in read & given if not symbols[key].rank)
        if any(_read(item, apart) & _set_beside(item, apart) & kept for item in items):
            return None
        if not self.stay_there([p for p in inside if p.draft in apart], rest, read & given - kept):
            return None
        if any(not is_arithmetic(symbols[key].shape.element, self.region.scope.types) for key in kept):
            return None
        ends = _ends(self.region, tuple(loops))
        if ends is None or self.hidden & (carried | kept):
            return None
        return _Nest(self.region, tuple(loops), items, apart, frozenset(carried), kept, ends)

    @property
    def hidden(self) -> frozenset[str]:
        return self.region.exposed | self.region.hidden

    def may_wait(self, draft: Draft, carried: set[str]) -> bool:
        """Whether a statement writes what is handed on, and does nothing else."""
        calls = [node for node in c.walk(draft.body) if isinstance(node, c.Call)]
        plain = all(changes_nothing(call) for call in calls) and not draft.exit_of
        return plain and all(raw.kind is READ or raw.array in carried for raw in draft.accesses)

    def counts(self, draft: Draft) -> bool:
        """Whether a statement adds up whole numbers, which threads may do in any order where they stand."""
        written = {raw.array for raw in draft.accesses if raw.kind is not READ}
        whole = all(self.region.scope.symbols[key].shape.element.kind == "int" for key in written)
        stores = (node for node in c.walk(draft.body) if isinstance(node, c.Assign))
        return whole and all(store.op in ("+=", "-=") for store in stores)

    def stay_there(self, later: list[Placed], rest: list[Placed], arrays: set[str]) -> bool:
        """Whether nothing that waits reads what is written behind it."""
        if not arrays:
            return True
        reads = accesses_of(later, frozenset(arrays), READ)
        writes = reduce(
            isl.UnionMap.union,
            (isl.UnionMap.from_map(p.access(raw)) for p in rest for raw in p.draft.accesses
             if raw.array in arrays and raw.kind is not READ),
        )  # fmt: skip
        order = self.flows.order
        first, second = order.intersect_domain(reads.domain()), order.intersect_domain(writes.domain())
        return bool(reads.apply_range(writes.reverse()).intersect(first.lex_lt_union_map(second)).is_empty())


def _has_loop(item: Item) -> bool:
    """Whether it is a loop, or a statement that is kept whole with one in it: a ray that ends where it is dark."""
    return not isinstance(item, Draft) or c.has_loops(item.body)


def _updated(draft: Draft, loop: str) -> set[str]:
    """What a statement reads and writes by subscripts without a loop's variable."""
    read, written = ({raw.array for raw in draft.accesses if (raw.kind is READ) is which} for which in (True, False))
    nodes = [node for node in c.walk(draft.body) if isinstance(node, c.ArrayRef) and node.array in read & written]
    return {node.array for node in nodes if not any(n == c.Name(loop) for one in node.subscripts for n in c.walk(one))}


def _read(item: Item, apart: tuple[Draft, ...]) -> set[str]:
    """What statements of A access that are, or are in, one item of the body."""
    return {raw.array for draft in drafts((item,)) if draft in apart for raw in draft.accesses}


def _set_beside(item: Item, apart: tuple[Draft, ...]) -> set[str]:
    """What statements write that share a loop of the body with some of A."""
    others = [draft for draft in drafts((item,)) if draft not in apart]
    return {raw.array for draft in others for raw in draft.accesses if raw.kind is not READ}


def _ends(region: Region, loops: tuple[LoopItem, ...]) -> tuple[isl.PwAff, ...] | None:
    """One more than the largest value of each loop; None where some may be negative, or have no end, or several."""
    found: list[isl.PwAff] = []
    whole = reduce(isl.Set.union, (draft.env.domain for draft in drafts(loops[-1].items)))
    known = region.context.intersect(region.assumed)
    inner = drafts(loops[-1].items)
    for loop in loops:
        names = {name for draft in inner for name in draft.env.variables if name != loop.key}
        own = along(project(whole, tuple(names)), loop.key).intersect_params(known.params()).coalesce()
        if own.is_empty() or not own.lower_bound_val(_SET, 0, isl.Val.zero(own.get_ctx())).is_equal(own):
            return None
        if not own.dim_has_upper_bound(_SET, 0):
            return None
        end = own.dim_max(0).add_constant_val(isl.Val.one(own.get_ctx()))
        if text_of(region.parameters.values(), end) is None:
            return None
        found.append(end)
    return tuple(found)


def type_in(region: Region, expr: c.Expr) -> CType | None:
    """The type of an expression of a statement; None where it is not known."""

    def plain(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef):
            symbol = region.scope.symbols[node.array]
            whole = len(node.subscripts) == symbol.rank or node.array in region.flat
            return c.Cast(symbol.shape.element.text if whole else "?", c.Literal("0"))
        return None

    found = type_of(c.rewrite(expr, plain), region.scope)
    return found if found is not None and is_arithmetic(found, region.scope.types) else None


def _whole(relation: isl.Map) -> isl.Map:
    """An access to a scalar, wherever it runs."""
    space = relation.get_space()
    return isl.Map.universe(space.drop_dims(_PARAM, 0, space.dim(_PARAM)))


__all__ = ["type_in", "with_sums_apart"]
