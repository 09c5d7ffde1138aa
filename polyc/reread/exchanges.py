"""Pointers that change places in a region have the right arrays behind it."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.printed import Rendered
from polyc.model.scop import Scop
from polyc.reread.parts import NotComparable


def exchange_faults(scop: Scop, rendered: Rendered) -> list[Fault]:
    """What the statements behind the region's do to pointers, compared with the model. Raises NotComparable.

    math: for each exchange of the model, the condition C of its block and the sizes S at which it happens are the same
          where the text runs, and no block is left over
    """
    reader = Reader({p.expr: p.name for p in scop.parameters}, {}, parameter_space(scop).add_unnamed_tuple_ui(0))
    known = isl.Set.universe(reader.space).intersect_params(scop.context).intersect_params(scop.guard)
    left = list(rendered.after)
    for one in scop.exchanges:
        wanted = known.intersect_params(one.when)
        if wanted.is_empty():
            continue
        if not left:
            return [Fault("text", "pointers do not change places as in the region", str(one.moves))]
        try:
            condition, block = _parts(left.pop(0))
            found = known if condition is None else known.intersect(reader.condition(condition))
        except NotAffine as what:
            raise NotComparable(f"where pointers change places is not affine ({what})") from None
        if _moves(block) != one.moves or not found.is_equal(wanted):
            return [Fault("text", "pointers change places in another way than in the region", str(one.moves))]
    return [Fault("text", "pointers change places though they do not in the region", "")] if left else []


def _parts(node: c.Stmt) -> tuple[c.Expr | None, c.Stmt]:
    match node:
        case c.If(condition=condition, then=then, otherwise=None):
            return condition, then
    return None, node


def _moves(block: c.Stmt) -> tuple[tuple[str, str], ...] | None:
    """What `{ void *x = a, *y = b; a = y; b = x; }` does: the pointers, and whose arrays they get."""
    saved: dict[str, str] = {}
    moves: list[tuple[str, str]] = []
    for item in block.body if isinstance(block, c.Block) else ():
        match item:
            case c.Decl(type="void *", name=name, extents=(), init=c.Name(name=source)) if not moves:
                saved[name] = source
            case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=target), value=c.Name(name=value))):
                if value not in saved or target in saved:
                    return None
                moves.append((target, saved[value]))
            case _:
                return None
    return tuple(moves)
