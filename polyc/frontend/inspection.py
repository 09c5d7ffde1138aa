"""Questions that only the data answer: whether subscripts that they decide stay in their rows.

C lets an index leave the row of a flat array. Where it is computed from what the region only reads, it is computed once
before the loops: in all iterations, which the region would do as well, so that this is defined where the region is.
What asks is a region of its own, with a statement for each index, and one for each row that it has to stay in:

    for y for x { at = (int)(in[y][x] * levels); inside &= (0 <= at) & (at < Z); }

source: inspectors: Saltz, Mirchandaney, Crowley, Run-Time Parallelization and Scheduling of Loops (IEEE ToC 1991)
"""

from __future__ import annotations

import islpy as isl

from polyc.errors import Span
from polyc.frontend.build import grounded_set, lifted_set
from polyc.frontend.ctype import INT, Shape
from polyc.frontend.effects import Effect
from polyc.frontend.extract import Draft, Extractor, Item, LoopItem
from polyc.frontend.facts import mentions
from polyc.frontend.ranges import spare_of
from polyc.frontend.references import resolve
from polyc.frontend.region import Env, Region, Wanted, project
from polyc.frontend.symbols import Symbol
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.records import dataclass, replace

LONG = CType("long", "int", 8)
_PARTS = c.Name | c.Literal | c.SizeOf | c.Cast | c.Unary | c.Binary | c.Ternary | c.Subscript | c.Call
FEW = 1 << 20
"""Rows are shorter where an index may be another one by rounding: then it is another one by less than 1."""
_DEEP = 20
"""Variables that are given others' values are followed no further than this."""


def wanted(
    region: Region, key: str, position: int, piece: c.Expr, extent: c.Expr, type_: CType | None, env: Env
) -> Wanted | None:
    """The question whether a subscript stays in its row; None where it cannot be asked before the region runs."""
    if type_ is None or type_.kind != "int" or env.inner:
        return None
    index = with_values(region, piece, env)
    if index is None or not any(isinstance(node, c.Subscript) for node in c.walk(index)):
        return None  # a function of the loops alone: no question of the data
    if not all(_is_known(region, node, env) for node in c.walk(index)):
        return None
    spare = spare_of(index, lambda name: _is_float(region, name))
    if spare is None:
        return None
    wide = LONG if type_.size_bytes == 8 or (type_.size_bytes == 4 and not type_.signed) else INT
    return Wanted(key, position, index, extent, spare, wide, env, piece.span)


def with_values(region: Region, expr: c.Expr, env: Env, depth: int = 0) -> c.Expr | None:
    """The expression with the values of variables that are given one where they are declared, and never another; None
    where the loops around that are not known to be around this place."""
    lost: list[str] = []

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name) or node.name in env.dims or node.name not in region.written:
            return None
        symbol, value = region.symbol(node.name), region.values.get(node.name)
        around = region.declared.get(node.name)
        if symbol is None or value is None or around is None or node.name not in region.settled or depth > _DEEP:
            lost.append(node.name)
            return None
        inside = with_values(region, value, replace(env, dims=around), depth + 1)
        if inside is None or around != env.dims[: len(around)]:
            lost.append(node.name)
            return None
        text = symbol.shape.element.text
        return inside if isinstance(inside, c.Cast) and inside.type == text else c.Cast(text, inside)

    found = c.rewrite(expr, change)
    return None if lost else found


def _is_known(region: Region, node: c.Node, env: Env) -> bool:
    """Whether a part of an expression has the same value before the region, and computing it changes nothing."""
    match node:
        case c.Subscript():
            found = resolve(region.scope, node)
            return found is not None and not found.rest and found.symbol.key not in region.written
        case c.Name(name=name):
            symbol = region.symbol(name)
            return symbol is None or (not symbol.volatile and (name in env.dims or name not in region.written))
        case c.Call(function=name):
            return region.effects(name) == Effect()
        case c.Unary(op=op):
            return op in ("-", "+", "~", "!")
    return isinstance(node, _PARTS)


def _is_float(region: Region, name: str) -> bool:
    symbol = region.symbol(name)
    return symbol is None or symbol.shape.element.kind != "int"


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
