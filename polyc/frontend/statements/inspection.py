"""Questions that only the data answer: whether subscripts that they decide stay in their rows.

C lets an index leave the row of a flat array. Where it is computed from what the region only reads, it is computed once
before the loops: in all iterations, which the region would do as well, so that this is defined where the region is.
What asks is a region of its own, with a statement for each index, and one for each row that it has to stay in:

    for y for x { at = (int)(in[y][x] * levels); inside &= (0 <= at) & (at < Z); }

source: inspectors: Saltz, Mirchandaney, Crowley, Run-Time Parallelization and Scheduling of Loops (IEEE ToC 1991)
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.facts import mentions
from polyc.errors import Span
from polyc.frontend.c.ctype import INT, Shape
from polyc.frontend.c.state import Env, Region, Wanted, lifted_set
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.statements.build import grounded_set
from polyc.frontend.statements.extract import Draft, Extractor, Item, LoopItem
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.poly import project
from polyc.records import dataclass, replace

FEW = 1 << 20
"""Rows are shorter where an index may be another one by rounding: then it is another one by less than 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """The region that asks, before its statements have names."""

    items: tuple[Item, ...]
    answer: str
    """The variable that says at the end whether all indices are in their rows."""
    own: tuple[str, ...]
    """Its other variables."""


@dataclass(slots=True)
class _Nest:
    """Indices that are computed in the same iterations."""

    env: Env
    domain: isl.Set
    drafts: list[Item]
    at: dict[c.Expr, str]
    """The variables that have their values."""
    rows: set[tuple[str, c.Expr, int]]
    """What is asked of them: the row, and how far they stay from its ends."""


def asking(region: Region, taken: frozenset[str]) -> Asking | None:
    """What asks all that is wanted of a region. Nothing new is assumed for it: what it accesses, the region does."""
    if not region.wanted:
        return None
    before, region.strict, notes = region.strict, True, list(region.notes)
    try:
        return _Builder(region, taken).built()
    finally:
        region.strict, region.notes = before, notes


class _Builder:
    def __init__(self, region: Region, taken: frozenset[str]) -> None:
        self.region = region
        self.taken = set(taken) | set(region.scope.symbols)
        self.nests: list[_Nest] = []
        self.own: list[str] = []
        self.answer = self.variable("inside", INT, Storage.LOCAL)

    def built(self) -> Asking:
        for one in self.region.wanted:
            self.add(one)
        items = tuple(item for nest in self.nests for item in _in_loops(nest.env.dims, tuple(nest.drafts)))
        return Asking(items, self.answer, tuple(self.own))

    def variable(self, name: str, type_: CType, storage: Storage) -> str:
        key, count = name, 1
        while key in self.taken:
            count += 1
            key = f"{name}{count}"
        self.taken.add(key)
        self.region.scope.symbols[key] = Symbol(key, key, Shape(type_), storage, None)
        return key

    def add(self, one: Wanted) -> None:
        """A statement for the index, if there is none yet, and one for its row."""
        used = mentions(one.index)
        dims = tuple(d for d in one.env.dims if d in used)
        domain = project(one.env.domain, tuple(d for d in one.env.dims if d not in used)).coalesce()
        nest = self.nest(dims, domain)
        renamed = dict(zip(dims, nest.env.dims, strict=True))
        index = c.renamed(one.index, renamed)
        if index not in nest.at:
            name = self.variable("index", one.type, Storage.REGION)
            self.own.append(name)
            nest.at[index] = name
            nest.drafts += self.statement(c.Assign("=", c.Name(name), index), nest.env, one.span)
        if (nest.at[index], one.extent, one.spare) in nest.rows:
            return
        nest.rows.add((nest.at[index], one.extent, one.spare))
        at = c.Name(nest.at[index])
        most = one.extent if not one.spare else c.Binary("-", one.extent, c.Literal(str(one.spare)))
        holds = c.Binary("&", c.Binary("<=", c.Literal(str(one.spare)), at), c.Binary("<", at, most))
        if one.spare:
            holds = c.Binary("&", holds, c.Binary("<", one.extent, c.Literal(str(FEW))))
        nest.drafts += self.statement(c.Assign("&=", c.Name(self.answer), holds), nest.env, one.span)

    def statement(self, expr: c.Expr, env: Env, span: Span | None) -> list[Item]:
        found = Extractor(self.region, frozenset()).expression(c.ExprStmt(expr, span), env)
        return [replace(item, text="") if isinstance(item, Draft) else item for item in found]

    def nest(self, dims: tuple[str, ...], domain: isl.Set) -> _Nest:
        """The nest with these iterations, whatever its loops are called."""
        types = [self.region.scope.symbols[d].shape.element for d in dims]
        points = grounded_set(domain, dims, "S")
        for nest in self.nests:
            same = [self.region.scope.symbols[d].shape.element for d in nest.env.dims] == types
            if same and points.is_equal(nest.domain):
                return nest
        self.nests.append(_Nest(Env(lifted_set(points, dims), dims), points, [], {}, set()))
        return self.nests[-1]


def _in_loops(dims: tuple[str, ...], items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items in a loop for each variable."""
    for key in reversed(dims):
        items = (LoopItem(key, 1, items),)
    return items
