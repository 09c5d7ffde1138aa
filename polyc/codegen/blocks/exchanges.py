"""Pointers get the arrays that they have after the region: `{ void *polyc_a = a, …; a = polyc_b; … }`."""

from __future__ import annotations

import islpy as isl

from polyc.codegen.loops.exprs import ExprPrinter, condition
from polyc.model import ctree as c
from polyc.model.scop import Exchange, Scop


def exchanged(scop: Scop) -> tuple[c.Stmt, ...]:
    """The statements behind those of the region."""
    known = scop.context.intersect(scop.guard)
    build = isl.AstBuild.from_context(known.params())
    found: list[c.Stmt] = []
    for one in scop.exchanges:
        when = one.when.gist(known.params())
        if one.when.intersect(known.params()).is_empty():
            continue
        block = moved(one)
        if when.plain_is_universe():
            found.append(block)
        else:
            test = ExprPrinter(scop.parameters, {}).convert(condition(build, when))
            found.append(c.If(test, block))
    return tuple(found)


def moved(exchange: Exchange) -> c.Block:
    """All are read before the first one is written."""
    sources = dict.fromkeys(source for _, source in exchange.moves)
    before = [c.Decl("void *", f"polyc_{name}", (), c.Name(name)) for name in sources]
    after = [c.ExprStmt(c.Assign("=", c.Name(name), c.Name(f"polyc_{source}"))) for name, source in exchange.moves]
    return c.Block((*before, *after))
