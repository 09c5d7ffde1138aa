"""Whether pieces of memory overlap, as conditions and statements before a region."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.text.macros import ALL_APART, APART, PAYS, RANGE, RANGES
from polyc.model import ctree as c
from polyc.model.printed import Question
from polyc.model.program import Program
from polyc.model.scop import Memory, Scop
from polyc.nests.samples import sample_parameters
from polyc.poly import box_extents, box_volume

ANSWER = "polyc_is_apart"
"""The variable of the answer where nothing else is asked."""
ROW = "polyc_row"
Bound = Callable[[isl.PwAff], c.Expr]


def compared(scop: Scop) -> list[c.Expr]:
    """What has to be apart in memory, two by two, as conditions."""
    if not scop.apart or scop.sorts_memories:
        return []
    bound = _bounds(scop)
    return [c.Call(APART, (*_ends(pair.one, bound), *_ends(pair.two, bound))) for pair in scop.apart]


def asked_first(scop: Scop, question: Question | None) -> Question | None:
    """What is asked before a region: `question` of its data, and whether its pieces of memory are apart, all at once.

    rewrite:  polyc_ranges(count); polyc_range(from, to, written); ... polyc_all_apart(answer);
    math:     count >= the sum over all pieces of memory of max(0, rows), or 1
    """
    if not scop.sorts_memories:
        return question
    bound = _bounds(scop)
    answer = ANSWER if question is None else question.answer
    statements: list[c.Stmt] = [c.ExprStmt(c.Call(RANGES, (bound(_places(scop)),)))]
    statements += [_listed(scop, one, bound) for one in scop.memories]
    statements.append(c.ExprStmt(c.Call(ALL_APART, (c.Name(answer),))))
    return Question(answer, (*statements, *(() if question is None else question.body)))


def worth_it(program: Program) -> list[c.Expr]:
    """Whether enough is done for such a list, as a condition: for little work the original loops are faster."""
    scop = program.scop
    if not scop.sorts_memories:
        return []
    at = sample_parameters(program)
    for domain in sorted(
        (statement.domain for statement in scop.statements.values()),
        key=lambda domain: -box_volume(domain.intersect_params(at)),
    ):
        extents = box_extents(domain, scop.known)
        if extents is not None:
            bound = _bounds(scop)
            work: c.Expr = c.Literal("1.0")
            for extent in extents:
                work = c.Binary("*", work, bound(extent))
            return [c.Call(PAYS, (work, bound(_places(scop))))]
    return []


def _places(scop: Scop) -> isl.PwAff:
    """How many ranges the list holds."""
    memories = scop.memories
    places = isl.PwAff.val_on_domain(
        isl.Set.universe(isl.Space.params_alloc(scop.domain.get_ctx(), 0)),
        isl.Val.int_from_si(scop.domain.get_ctx(), sum(one.inside is None for one in memories)),
    )
    for one in memories:
        if one.inside is not None and one.low is not None and one.high is not None:
            places = places.add(_or_none(_behind(one.high).sub(one.low))).coalesce()
    return places.gist(scop.known)


def _bounds(scop: Scop) -> Bound:
    build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
    return lambda value: printer.convert(expression(build, value))


def _listed(scop: Scop, memory: Memory, bound: Bound) -> c.Stmt:
    """The statement that enters a piece of memory, or each of its rows, into the list."""
    written = c.Literal(str(int(memory.written)))
    if memory.inside is None or memory.low is None or memory.high is None:
        return c.ExprStmt(c.Call(RANGE, (*_ends(memory, bound), written)))
    row = c.Subscript(memory.base, c.Name(ROW))
    first, last = memory.inside
    ends = _moved(row, bound(first)), _moved(row, bound(_behind(last)))
    loop = c.For(
        c.Decl("long", ROW, (), bound(memory.low)),
        c.Binary("<", c.Name(ROW), bound(_behind(memory.high))),
        c.Postfix("++", c.Name(ROW)),
        c.ExprStmt(c.Call(RANGE, (*ends, written))),
    )
    touched = memory.low.domain().gist(scop.known)
    if touched.plain_is_universe():
        return loop
    build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
    return c.If(printer.convert(build.expr_from_set(touched)), loop)


def _ends(memory: Memory, bound: Bound) -> tuple[c.Expr, c.Expr]:
    """Where a piece of memory begins, and what is behind it."""
    if memory.low is None or memory.high is None:
        start = _address(memory.base)
        return start, c.Binary("+", start, c.Literal("1"))
    ends = [bound(memory.low), bound(_behind(memory.high))]
    if memory.row is not None:
        row = memory.row
        ends = [one if one == c.Literal("0") else c.Binary("*", one, row) for one in ends]
    return _moved(memory.base, ends[0]), _moved(memory.base, ends[1])


def _moved(base: c.Expr, by: c.Expr) -> c.Expr:
    return base if by == c.Literal("0") else c.Binary("+", base, by)


def _address(place: c.Expr) -> c.Expr:
    """`&x`; `p` of `*p`."""
    return place.operand if isinstance(place, c.Unary) and place.op == "*" else c.Unary("&", place)


def _or_none(count: isl.PwAff) -> isl.PwAff:
    """A number; 0 where it is not defined."""
    elsewhere = isl.Set.universe(count.domain().get_space()).subtract(count.domain())
    return count.union_add(isl.PwAff.val_on_domain(elsewhere, isl.Val.zero(count.get_ctx())))


def _behind(last: isl.PwAff) -> isl.PwAff:
    """One more than a function, where that is defined."""
    return last.add(isl.PwAff.val_on_domain(last.domain(), isl.Val.one(last.get_ctx())))


__all__ = ["ANSWER", "asked_first", "compared", "worth_it"]
