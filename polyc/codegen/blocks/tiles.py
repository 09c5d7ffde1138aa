"""Sums in tiles of registers: run as they were written where so little of a tile is used that this is faster.

Tiles at the border run whole, panels are filled, and results fetched and stored, however few rows, columns and steps
there are: eight columns of four steps took three times as long as the loops as they were written.

rewrite:  tiles of C[i][j] += A[i][k] * B[k][j];
          ->
          if (polyc_tiles(8.4 * n * m * l, (n + 24.0) * (m + 24.0) * (l + 24.0))) tiles of …; else …
math:     with r, c and s the rows, columns and steps of a sum, R and C those of a tile, its tiles take as long as
          (r + 3 R) (c + C) (s + 24) multiply-adds of whole ones, w r c s the loops as written (`cost/micro_sizes.py`);
          of an extent that is known, what its tiles are. Other statements in as many loops count as gained
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from math import prod

import islpy as isl

from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.text.macros import TILES
from polyc.cost.micro_sizes import STEPS_AROUND, TILES_AROUND, more_than_whole
from polyc.model import ctree as c
from polyc.model.program import Program, RegisterTile
from polyc.model.scop import Statement
from polyc.poly import box_extents, constant_of

MOST = 3
"""Sums that are asked about: those of the most loops, in their order."""
GAINED = 2.0
"""Multiply-adds of a tile that an instance of another statement gains, about."""

Term = tuple[float, tuple[c.Expr, ...]]
"""A number and what it is multiplied with."""


def asked_of_tiles(program: Program) -> list[c.Expr]:
    """The condition on the sizes; none where it holds for all that are known."""
    options = program.options
    if options.gpu or options.threads != "auto":
        return []
    tiles = {tile.statement: tile for tile in program.register_tiles}
    tiles = {name: tile for name, tile in tiles.items() if name in program.scop.statements}
    depth = max((_depth(program.scop.statements[name]) for name in tiles), default=0)
    deep = [s for s in program.scop.statements.values() if _depth(s) >= depth]
    work = [one for s in deep if (one := _Work.of(program, s, tiles.get(s.name))) is not None]
    asked = [one for one in work if one.tile is not None]
    if not asked or len(asked) < sum(s.name in tiles for s in deep) or len(asked) > MOST:
        return []
    if all(one.holds for one in asked):
        return []
    unit = min(one.tiled[0] for one in asked)  # what all have in common, as the steps of a loop around them
    return [c.Call(TILES, (_sum((one.written for one in work), unit), _sum((one.tiled for one in asked), unit)))]


def _depth(statement: Statement) -> int:
    return statement.domain.dim(isl.dim_type.set)


@dataclass
class _Work:
    """What a statement does, by its extents."""

    extents: list[isl.PwAff]
    tile: RegisterTile | None
    least: list[int]
    """Of each extent."""
    convert: Callable[[isl.PwAff], c.Expr]

    @staticmethod
    def of(program: Program, statement: Statement, tile: RegisterTile | None) -> _Work | None:
        """None where the extents are not known."""
        scop = program.scop
        extents = box_extents(statement.domain, scop.known)
        if extents is None:
            return None
        build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
        least = [one.intersect_params(scop.known).min_val() for one in extents]
        known = [max(1, int(one.to_python())) if one.is_int() else 1 for one in least]
        return _Work(extents, tile, known, lambda one: printer.convert(expression(build, one)))

    @property
    def parts(self) -> list[tuple[tuple[int, ...], float, int]]:
        """Rows, columns and steps: the dimensions, what is added to them, and the tiles that run whole; 0: none."""
        assert self.tile is not None
        rows, columns = self.tile.shape
        return [
            (self.tile.rows, TILES_AROUND * rows, rows),
            (self.tile.columns, columns, columns),
            (self.tile.steps, STEPS_AROUND, 0),
        ]

    @property
    def holds(self) -> bool:
        """Whether tiles are faster whatever the sizes are."""
        assert self.tile is not None
        shares = (self.share(prod(self.least[k] for k in at), more) for at, more, _ in self.parts)
        return self.tile.written >= prod(shares)

    def share(self, extent: int, more: float) -> float:
        return (extent + more) / extent

    @property
    def written(self) -> Term:
        """`9.6 * n * m * l`"""
        gain = GAINED if self.tile is None else self.tile.written
        return _product(gain, map(self.factor, range(len(self.extents))))

    @property
    def tiled(self) -> Term:
        """`(n + 24.0) * (m + 24.0) * (l + 24.0)`"""
        number, factors = 1.0, list[Term]()
        used: set[int] = set()
        for at, more, tile in self.parts:
            used |= set(at)
            value, exprs = _product(1.0, map(self.factor, at))
            if exprs:
                factors.append((1.0, (c.Binary("+", _expr(value, exprs), _number(more)),)))
            else:
                number *= value * (more_than_whole(int(value), tile) if tile else self.share(int(value), more))
        rest = [self.factor(k) for k in range(len(self.extents)) if k not in used]
        return _product(number, [*factors, *rest])

    def factor(self, k: int) -> Term:
        known = constant_of(self.extents[k])
        return (1.0, (self.convert(self.extents[k]),)) if known is None else (float(known), ())


def _product(number: float, terms: Iterable[Term]) -> Term:
    exprs: tuple[c.Expr, ...] = ()
    for value, more in terms:
        number, exprs = number * value, exprs + more
    return number, exprs


def _sum(terms: Iterable[Term], unit: float) -> c.Expr:
    """The sum of some terms, those of the same factors taken together."""
    found: dict[tuple[c.Expr, ...], float] = {}
    for number, exprs in terms:
        found[exprs] = found.get(exprs, 0.0) + number / unit
    return reduce(lambda left, right: c.Binary("+", left, right), (_expr(n, exprs) for exprs, n in found.items()))


def _expr(number: float, exprs: tuple[c.Expr, ...]) -> c.Expr:
    first = () if number == 1.0 and exprs else (_number(number),)
    product: c.Expr = reduce(lambda left, right: c.Binary("*", left, right), (*first, *exprs))
    return product


def _number(value: float) -> c.Expr:
    text = f"{value:.4g}"
    return c.Literal(text if "." in text or "e" in text else f"{text}.0")


__all__ = ["asked_of_tiles"]
