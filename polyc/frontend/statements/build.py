"""Drafts to statements and the schedule tree of the original order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

import islpy as isl

from polyc.errors import Span
from polyc.frontend.c.state import CTX, Region, number, variable
from polyc.frontend.c.symbols import ISL_WORDS
from polyc.frontend.sets.accesses import Raw
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.model import ctree as c
from polyc.model import tree as t
from polyc.model.scop import Access, Ending, Statement, Storage
from polyc.records import dataclass, replace

_PARAM, _SET, _IN = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_


def grounded_set(domain: isl.Set, dims: tuple[str, ...], name: str) -> isl.Set:
    """`[n, i] -> { [] : … }` as `[n] -> { S[i] : … }`."""
    for position, key in enumerate(dims):
        place = domain.find_dim_by_name(_PARAM, key)
        if place < 0:
            domain = domain.insert_dims(_SET, position, 1).set_dim_name(_SET, position, key)
        else:
            domain = domain.move_dims(_SET, position, _PARAM, place, 1)
    return domain.set_tuple_name(name)


def grounded_map(relation: isl.Map, dims: tuple[str, ...], name: str) -> isl.Map:
    """`[n, i] -> { [] -> A[x] }` as `[n] -> { S[i] -> A[x] }`."""
    for position, key in enumerate(dims):
        place = relation.find_dim_by_name(_PARAM, key)
        if place < 0:
            relation = relation.insert_dims(_IN, position, 1).set_dim_name(_IN, position, key)
        else:
            relation = relation.move_dims(_IN, position, _PARAM, place, 1)
    return relation.set_tuple_name(_IN, name)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A draft with its name and its place in the original order."""

    name: str
    draft: Draft
    order: tuple[int | str, ...]
    """Positions in sequences, and loops: `+i` or `-i`."""

    @property
    def domain(self) -> isl.Set:
        return grounded_set(self.draft.env.domain, self.draft.env.dims, self.name)

    def access(self, raw: Raw) -> isl.Map:
        """`[n] -> { S[i] -> A[x] }`; the collector has restricted it already, but for the domains that shrank since."""
        relation = raw.relation
        if self.draft.exit_of:
            relation = relation.intersect_params(self.draft.env.domain.params()).coalesce()
        return grounded_map(relation, self.draft.env.dims, self.name)


def place(items: list[Item]) -> list[Placed]:
    """All drafts in order, named S0, S1, …"""
    found: list[Placed] = []

    def visit(steps: tuple[Item, ...], order: tuple[int | str, ...]) -> None:
        for position, item in enumerate(steps):
            here = (*order, position)
            if isinstance(item, LoopItem):
                visit(item.items, (*here, f"{'+' if item.step > 0 else '-'}{item.key}"))
            else:
                found.append(Placed(f"S{len(found)}", item, here))

    visit(tuple(items), ())
    return found


def order_map(placed: list[Placed]) -> isl.UnionMap:
    """`{ S[i, j] -> [0, i, 1, -j, 0] }`: the original order as one relation."""
    length = max((len(p.order) for p in placed), default=0)
    whole = isl.UnionMap.empty(isl.Space.params_alloc(CTX, 0))
    for item in placed:
        values = [number(0)] * length
        for position, step in enumerate(item.order):
            if isinstance(step, int):
                values[position] = number(step)
            else:
                values[position] = variable(step[1:]) if step[0] == "+" else variable(step[1:]).neg()
        parts = isl.PwAffList.alloc(CTX, length)
        space = isl.Space.alloc(CTX, 0, 0, length)
        for value in values:
            parts = parts.add(value)
            space = space.align_params(value.get_space())
        relation = isl.Map.from_multi_pw_aff(isl.MultiPwAff.from_pw_aff_list(space, parts))
        whole = whole.union(isl.UnionMap.from_map(grounded_map(relation, item.draft.env.dims, item.name)))
    return whole.intersect_domain(union_domain(placed))


def union_domain(placed: list[Placed]) -> isl.UnionSet:
    whole = isl.UnionSet.empty(isl.Space.params_alloc(CTX, 0))
    for item in placed:
        whole = whole.union(isl.UnionSet.from_set(item.domain))
    return whole


def build_tree(items: list[Item], placed: list[Placed], region: Region) -> t.Domain:
    """The schedule tree of the original order: a band a loop, a sequence a block."""
    names = {id(p.draft): p for p in placed}

    def node(steps: tuple[Item, ...], depth: int) -> tuple[isl.UnionSet, t.Node]:
        parts = [one(step, depth) for step in steps]
        domain = parts[0][0]
        for inside, _ in parts[1:]:
            domain = domain.union(inside)
        return domain, t.sequence_of(parts) if len(parts) > 1 else parts[0][1]

    def one(item: Item, depth: int) -> tuple[isl.UnionSet, t.Node]:
        if isinstance(item, Draft):
            return isl.UnionSet.from_set(names[id(item)].domain), t.LEAF
        domain, child = node(item.items, depth + 1)
        schedule = isl.UnionPwAff.empty(isl.Space.params_alloc(CTX, 0))
        for inside in drafts(item.items):
            schedule = schedule.union_add(loop_value(names[id(inside)], depth, item.step > 0))
        symbol = region.symbol(item.key)
        member = t.Member(schedule, name=symbol.c_name if symbol is not None else item.key, line=item.line)
        return domain, t.Band((member,), False, child)

    if not placed:
        return t.Domain(union_domain(placed), t.LEAF)
    domain, child = node(tuple(items), 0)
    return t.Domain(domain, child)


def drafts(items: tuple[Item, ...]) -> list[Draft]:
    """All drafts below, in order."""
    found: list[Draft] = []
    for item in items:
        found += drafts(item.items) if isinstance(item, LoopItem) else [item]
    return found


def endings(items: Iterable[Item], names: dict[int, str], depth: int = 0) -> Iterator[Ending]:
    """The loops that a flag ends. names: of drafts, by their identity"""
    for item in items:
        if isinstance(item, LoopItem):
            if item.until:
                yield Ending(item.until, frozenset(names[id(draft)] for draft in drafts(item.items)), depth)
            yield from endings(item.items, names, depth + 1)


def loop_value(placed: Placed, depth: int, up: bool) -> isl.UnionPwAff:
    """`{ S[i, j] -> [(j)] }`, negated for a loop that counts down."""
    dims = placed.draft.env.dims
    space = isl.Space.set_alloc(CTX, 0, len(dims)).set_tuple_name(_SET, placed.name)
    for position, key in enumerate(dims):
        space = space.set_dim_name(_SET, position, key)
    value = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, depth)
    return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(value if up else value.neg()))


def finish(placed: Placed, region: Region, text: Callable[[Span], str], parameters: frozenset[str]) -> Statement:
    """The statement of a draft; invariants that turned out to be parameters are no accesses."""
    draft = placed.draft
    symbols = [region.scope.symbols[key] for key in draft.env.dims]
    accesses = tuple(
        Access(raw.ref, raw.array, raw.kind, placed.access(raw), raw.exact, raw.loose, raw.clamped)
        for raw in draft.accesses
        if raw.array not in parameters
    )

    def plain(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef) and node.array in parameters:
            return c.Name(region.scope.symbols[node.array].c_name, node.span)
        symbol = region.scope.symbols.get(node.name) if isinstance(node, c.Name) else None
        if symbol is not None and symbol.storage is not Storage.REGION and symbol.c_name != symbol.key:
            return c.Name(symbol.c_name, node.span)  # a constant of the file
        return None

    span = draft.span or Span("", 1)
    return Statement(
        placed.name,
        placed.domain,
        draft.env.dims,
        tuple(s.shape.element for s in symbols),
        accesses,
        c.rewrite(draft.body, plain),
        draft.text if draft.text is not None else text(span),
        span,
        draft.opaque,
    )


def without_empty(items: list[Item], keep: Callable[[Draft], Draft | None]) -> list[Item]:
    """The items with each draft replaced or dropped, and no empty loops."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, LoopItem):
            inside = without_empty(list(item.items), keep)
            if inside:
                found.append(replace(item, items=tuple(inside)))
        else:
            kept = keep(item)
            if kept is not None:
                found.append(kept)
    return found


def with_loop_as(items: Iterable[Item], loop: LoopItem, instead: list[Item]) -> list[Item]:
    """The items with others in the place of one loop; what does not have it stays the same object."""
    found: list[Item] = []
    for item in items:
        if item is loop:
            found += instead
            continue
        if isinstance(item, LoopItem):
            inside = with_loop_as(item.items, loop, instead)
            if any(new is not old for new, old in zip_longest(inside, item.items)):
                item = replace(item, items=tuple(inside))
        found.append(item)
    return found


def isl_name(key: str) -> str:
    return f"{key}_" if key in ISL_WORDS else key
