"""What the printed code reads before a region, `p->n` and `s->data`, is there wherever it reads it.

Where the region's own loops do not run, a program may have no memory there: `for (i = 0; i < n; i++) y[i] = s->data[i]`
with n = 0 reads nothing of `s`. Of a region that polyc found by itself the printed code asks for that first.

math: with D(p) the sizes at which the region surely follows a pointer p: D(p), for each p that the printed code
      follows, in an order in which each D(p) is computed of what those before it allow to be read
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polyc.errors import UserError
from polyc.frontend.c.state import EVERYTHING, Env, Region
from polyc.frontend.c.symbols import Symbol
from polyc.model import ctree as c
from polyc.model.scop import Apart, Parameter
from polyc.poly import project

CODE = "may-overlap"


def note_reads(region: Region, expr: c.Expr, env: Env) -> None:
    """Note which pointers are followed where an expression is evaluated."""
    for one in evaluated(expr):
        for place in followed(region, one):
            here = project(env.domain, env.variables)
            known = region.reads.get(place)
            region.reads[place] = here if known is None else known.union(here)


def evaluated(expr: c.Expr) -> Iterator[c.Expr]:
    """The parts of an expression that are evaluated whenever it is."""
    yield expr
    match expr:
        case c.Binary(op="&&" | "||", left=left):
            yield from evaluated(left)
        case c.Ternary(condition=condition):
            yield from evaluated(condition)
        case _:
            for child in c.children(expr):
                yield from evaluated(child)  # type: ignore[arg-type]


def followed(region: Region, place: c.Node) -> tuple[str, ...]:
    """The pointers that lead to a variable or a member, as texts."""
    match place:
        case c.Name(name=name):
            symbol = region.symbol(name) or by_text(region, name)
            return () if symbol is None or symbol.fixed is None else symbol.fixed.follows
        case c.Member(base=c.Name(name=name), arrow=True):
            symbol = region.symbol(name) or by_text(region, name)
            return () if symbol is None else (symbol.c_name,)
    return ()


def by_text(region: Region, name: str) -> Symbol | None:
    return next((symbol for symbol in region.scope.symbols.values() if symbol.c_name == name), None)


def reached(region: Region, pairs: Iterable[Apart], known: isl.Set) -> tuple[isl.Set, ...]:
    """The conditions `[n] -> { : … }` that have to be asked first, in order. Raises UserError where there is none.

    known: what holds of the parameters
    """
    bases = [memory.base for pair in pairs for memory in (pair.one, pair.two)]
    exprs = [*(parameter.expr for parameter in region.parameters.values()), *bases]
    waiting = dict.fromkeys(place for expr in exprs for one in c.walk(expr) for place in followed(region, one))
    allowed: set[str] = set()
    found: list[isl.Set] = []
    while waiting:
        asked = {place: region.reads.get(place, isl.Set.empty(EVERYTHING.get_space())) for place in waiting}
        ready = [
            place
            for place, where in asked.items()
            if all(set(needs) <= allowed for needs in needed(region, condition(where, known)))
        ]
        if not ready:
            message = f"'{next(iter(waiting))}' may lead nowhere where the region does not run"
            raise UserError.of(CODE, message, None, "copy what is read there to variables before the loops")
        for place in ready:
            where = condition(asked[place], known)
            if where.is_empty():
                message = f"polyc cannot tell where '{place}' is read for sure"
                raise UserError.of(CODE, message, None, "copy what is read there to variables before the loops")
            if not where.plain_is_universe():
                found.append(where)
                known = known.intersect(where)
            del waiting[place]
            allowed.add(place)
    return tuple(found)


def condition(where: isl.Set, known: isl.Set) -> isl.Set:
    """What is left to ask."""
    if known.params().is_subset(where.params()):
        return isl.Set.universe(isl.Space.params_alloc(where.get_ctx(), 0))
    return where.params().coalesce().gist(known.params())


def needed(region: Region, where: isl.Set) -> list[tuple[str, ...]]:
    """The pointers that lead to the sizes in a condition."""
    names = {where.get_dim_name(isl.dim_type.param, k) for k in range(where.dim(isl.dim_type.param))}
    used = [p for p in region.parameters.values() if p.name in names and involves(where, p)]
    return [followed(region, one) for parameter in used for one in c.walk(parameter.expr)]


def involves(where: isl.Set, parameter: Parameter) -> bool:
    place = where.find_dim_by_name(isl.dim_type.param, parameter.name)
    return place >= 0 and bool(where.involves_dims(isl.dim_type.param, place, 1))
