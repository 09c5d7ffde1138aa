"""Tables for what is computed inside of statements that are kept whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyc.analysis.expressions.straight import changes_nothing
from polyc.analysis.inside import Bounds, Counted, given, is_total, with_changes, without_unread, written_out
from polyc.frontend.c.functions import real_type
from polyc.frontend.c.state import along
from polyc.frontend.sets.accesses import READ, WRITE, Raw
from polyc.frontend.sets.affine import Affine
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.frontend.statements.fission import type_in
from polyc.frontend.statements.tables import Table
from polyc.frontend.statements.varying import is_dear
from polyc.model import ctree as c
from polyc.poly import greatest_of, least_of, project
from polyc.records import replace

if TYPE_CHECKING:
    from polyc.frontend.statements.invariants import Apart


def with_tables_inside(apart: Apart, draft: Draft) -> Draft:
    """A statement that is kept whole with tables in the places of expressions that take long, of loops around it
    and inside of it: data decide how often they are computed, if at all."""
    values = given(draft.body, apart.nest.is_steady, draft.env.dims)
    added: list[Raw] = []

    def change(expr: c.Expr, loops: tuple[Counted, ...]) -> c.Expr:
        if not is_dear(expr):
            return expr
        found = _cell_inside(apart, written_out(expr, values), loops, draft)
        if found is not None:
            added.append(found[1])
            return found[0]
        inner = {id(part): change(part, loops) for part in c.children(expr)}  # type: ignore[arg-type]
        return c.rewrite(expr, lambda node: inner.get(id(node)))

    body = with_changes(draft.body, change)
    if not added:
        return draft
    body = without_unread(body, values)
    refs = {node.ref for node in c.walk(draft.body) if isinstance(node, c.ArrayRef)}
    gone = refs - {node.ref for node in c.walk(body) if isinstance(node, c.ArrayRef)}
    accesses = tuple(raw for raw in draft.accesses if raw.ref not in gone)
    apart.note(draft)
    return replace(draft, body=body, accesses=(*added, *accesses))


def _cell_inside(apart: Apart, expr: c.Expr, loops: tuple[Counted, ...], draft: Draft) -> tuple[c.ArrayRef, Raw] | None:
    """The element of a table for an expression inside of a statement, and its access; None where there is none."""
    if not isinstance(expr, c.Call | c.Binary | c.Unary) or not changes_nothing(expr):
        return None
    inner = {loop.key: loop for loop in loops}
    names = {node.name for node in c.walk(expr) if isinstance(node, c.Name)}
    read = [node for node in c.walk(expr) if isinstance(node, c.ArrayRef)]
    if not names <= inner.keys() | set(draft.env.dims) or any(node.subscripts for node in read):
        return None
    if not all(apart.nest.is_steady(node.array) for node in read):
        return None
    around = tuple(loop for loop in draft.env.dims if loop in names)
    keys = (*around, *(key for key in inner if key in names))
    domain = _reached(apart, draft, loops)
    if domain is None or len(around) == len(draft.env.dims):
        return None
    found = _table_inside(apart, expr, draft, keys, project(domain, (apart.nest.around | inner.keys()) - set(keys)))
    if found is None:
        return None
    ref = apart.label(draft)
    raw = found.raw(domain, READ, ref)
    relation = project(raw.relation, inner)
    loose = tuple(k for k, key in enumerate(keys) if key not in around)
    exact = not loose
    return c.ArrayRef(found.name, found.subscripts, ref), replace(raw, relation=relation, exact=exact, loose=loose)


def _reached(apart: Apart, draft: Draft, loops: tuple[Counted, ...]) -> isl.Set | None:
    """Where a place inside of a statement may be reached, `[n, i, t] -> { [] : … }`; None where nobody knows."""
    affine, region, domain = Affine(apart.region), apart.region, draft.env.domain
    env, before = draft.env, region.strict
    region.strict = True
    try:
        for loop in loops:
            env = replace(env, inner=(*env.inner, loop.key))
            for bound in loop.bounds:
                holds = affine.condition(c.rewrite(bound, _named), env)
                if holds is None:
                    return None
                domain = domain.intersect(holds)
            env = replace(env, domain=domain)
    finally:
        region.strict = before
    return domain.coalesce()


def _table_inside(apart: Apart, expr: c.Expr, draft: Draft, keys: tuple[str, ...], domain: isl.Set) -> Table | None:
    """The table of an expression inside of a statement, filled before the nest."""
    region, plain = apart.region, c.unlabelled(expr)
    for known, where, filled in apart.expressions:
        if known == plain and filled.loops == keys and domain.is_subset(where):
            return filled
    element = type_in(region, expr)
    if element is None:
        return None
    assumed = region.assumed
    table = apart.room.made("table", element, keys, [domain], frozenset(), draft)
    if table is None or not _is_total(apart, expr, keys, domain):
        region.assumed = assumed
        return None
    needed = {node.ref for node in c.walk(expr) if isinstance(node, c.ArrayRef)}
    first: dict[str, Raw] = {}
    for raw in draft.accesses:
        if raw.ref in needed:
            first.setdefault(raw.ref, raw)
    space = [key for key in draft.env.variables if key not in keys]
    accesses = tuple(replace(raw, relation=project(raw.relation, space)) for raw in first.values())
    store = c.ExprStmt(c.Assign("=", c.ArrayRef(table.name, table.subscripts, "e0"), expr), draft.span)
    made = replace(
        draft,
        env=replace(draft.env, domain=domain, dims=keys, inner=()),
        body=store,
        accesses=(*accesses, table.raw(domain, WRITE, "e0")),
        opaque=False,
    )
    apart.expressions.append((plain, domain, table))
    item: Item = made
    for key in reversed(keys):
        item = LoopItem(key, 1, (item,))
    apart.before.append(item)
    return table


def _is_total(apart: Apart, expr: c.Expr, keys: tuple[str, ...], domain: isl.Set) -> bool:
    """Whether an expression may be computed for all values of some loops, as those of data that never come."""
    region = apart.region
    bounds: dict[str, Bounds] = {}
    for key in keys:
        own = along(project(domain, set(keys) - {key}), key).intersect_params(apart.nest.known)
        least, most = least_of(own, 0), greatest_of(own, 0)
        if not (least.is_int() and most.is_int()):
            return False
        bounds[key] = int(least.to_python()), int(most.to_python())

    def is_real(name: str) -> bool | None:
        element = region.element(name)
        return None if element is None or element.kind not in ("int", "float") else element.kind == "float"

    return is_total(expr, bounds, is_real, lambda name: real_type(name) is not None)


def _named(node: c.Node) -> c.Node | None:
    """Variables as names, as they are written."""
    return c.Name(node.array, node.span) if isinstance(node, c.ArrayRef) and not node.subscripts else None
