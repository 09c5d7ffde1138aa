"""What the printed code reads before a region, `p->n` and `s->data`, is there wherever it reads it.

Where the region's own loops do not run, a program may have no memory there: `for (i = 0; i < n; i++) y[i] = s->data[i]`
with n = 0 reads nothing of `s`. Of a region that polyc found by itself the printed code asks for that first.

math: with D(p) the sizes at which the region surely follows a pointer p: D(p), for each p that the printed code
      follows, in an order in which each D(p) is computed of what those before it allow to be read
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import islpy as isl

from polyc.errors import UserError
from polyc.frontend.c.state import EVERYTHING, Env, Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.sets.affine import Affine
from polyc.model import ctree as c
from polyc.model.scop import Apart, Array, Parameter, Statement, Storage, stores_characters
from polyc.poly import project

CODE = "may-overlap"


def note_reads(region: Region, expr: c.Expr, env: Env) -> None:
    """Note which pointers are followed where an expression is evaluated."""
    for one, domain in evaluated(region, expr, env):
        for place in followed(region, one):
            here = project(domain, env.variables)
            known = region.reads.get(place)
            region.reads[place] = here if known is None else known.union(here)


def evaluated(region: Region, expr: c.Expr, env: Env) -> Iterator[tuple[c.Expr, isl.Set]]:
    """The parts of an expression, and where they are surely evaluated."""
    yield expr, env.domain
    match expr:
        case c.Binary(op="&&" | "||" as op, left=left, right=right):
            yield from evaluated(region, left, env)
            holds = surely(region, left, env)
            if holds is not None:
                yield from evaluated(region, right, env.within(holds if op == "&&" else holds.complement()))
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            yield from evaluated(region, condition, env)
            holds = surely(region, condition, env)
            if holds is not None:
                yield from evaluated(region, then, env.within(holds))
                yield from evaluated(region, otherwise, env.within(holds.complement()))
        case _:
            for child in c.children(expr):
                yield from evaluated(region, child, env)  # type: ignore[arg-type]


def surely(region: Region, condition: c.Expr, env: Env) -> isl.Set | None:
    """Where a condition holds, if it is affine without more assumptions."""
    strict, region.strict = region.strict, True
    holds = Affine(region).condition(condition, env)
    region.strict = strict
    return holds


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


def bases_of(region: Region, pairs: Iterable[Apart]) -> list[c.Expr]:
    """What is evaluated before a region that polyc found by itself: its sizes, and where its arrays lie."""
    bases = [memory.base for pair in pairs for memory in (pair.one, pair.two)]
    return [*(parameter.expr for parameter in region.parameters.values()), *bases]


def reached(region: Region, exprs: Iterable[c.Expr], known: isl.Set) -> tuple[isl.Set, ...]:
    """The conditions `[n] -> { : … }` that have to be asked first, in order. Raises UserError where there is none.

    exprs: what the printed code evaluates before the loops; known: what holds of the parameters
    """
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


def reached_first(
    region: Region,
    bases: list[c.Expr],
    arrays: Mapping[str, Array],
    statements: Mapping[str, Statement],
    known: isl.Set,
) -> tuple[tuple[isl.Set, ...], frozenset[str]]:
    """`reached` for what is asked before the loops and what may be read there, and that; for the first alone, where
    polyc cannot tell whether the second is there. Raises UserError as it does."""
    loaded = loaded_first(region, arrays, statements)
    if loaded:
        try:
            return reached(region, [*bases, *loaded.values()], known), frozenset(loaded)
        except UserError:
            pass
    return reached(region, bases, known), frozenset()


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


def loaded_first(region: Region, arrays: Mapping[str, Array], statements: Mapping[str, Statement]) -> dict[str, c.Expr]:
    """Arrays of one dimension in C whose pointers lie in memory, and sizes that do, with what they are read from.

    Those of structs, since threads would get the struct's address, and C compilers would no longer know what is in it;
    all others of a region that stores characters: these may be a part of anything, as far as C compilers know.
    """
    characters = stores_characters(arrays, statements)
    found: dict[str, c.Expr] = {}
    for key, array in arrays.items():
        symbol = region.scope.symbols[key]
        pointer = bool(symbol.shape.dims) and symbol.shape.dims[0].pointer
        if (
            pointer
            and (_is_in_memory(symbol) if characters else symbol.fixed is not None)
            and array.element.kind in ("int", "float")
            and (array.flat or array.rank == 1)
        ):
            found[key] = c.Name(array.c_name)
    for parameter in region.parameters.values():
        if isinstance(parameter.expr, c.Member) or (characters and isinstance(parameter.expr, c.Subscript | c.Unary)):
            found[parameter.name] = parameter.expr
        elif characters and isinstance(parameter.expr, c.Name):
            symbol = region.symbol(parameter.expr.name) or by_text(region, parameter.expr.name)  # type: ignore[assignment]
            if symbol is not None and _is_in_memory(symbol):
                found[parameter.name] = parameter.expr
    return found


def _is_in_memory(symbol: Symbol) -> bool:
    """Whether a store through some pointer might change it, as far as C compilers know."""
    return symbol.fixed is not None or symbol.storage is Storage.GLOBAL
