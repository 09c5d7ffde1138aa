"""Whether pieces of memory overlap, as conditions and statements before a region."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from polyc.analysis.expressions.facts import constant, induction, mentions
from polyc.codegen.blocks.threads import is_for_one_thread
from polyc.codegen.loops.exprs import ExprPrinter, build_for, condition, expression
from polyc.codegen.text.loaded import with_loaded
from polyc.codegen.text.macros import ALL_APART, APART, MANY, PAYS, RANGE, RANGES, SEVERAL, THREADS
from polyc.model import ctree as c
from polyc.model.printed import Question
from polyc.model.program import Program
from polyc.model.scop import Apart, Memory, Scop
from polyc.nests.samples import sample_parameters
from polyc.poly import box_extents, box_volume

ANSWER = "polyc_is_apart"
"""The variable of the answer where nothing else is asked."""
LIGHT, FREE, LENGTH = 2.0, 8.0, 32.0
"""How many times the work of a search the loops have to have for two threads to be worth it, and for one where the
loops were changed; the length of a loop."""
SEARCHED, MORE = 2000, 10
"""Iterations from which on a region is searched, and run in threads; how many times fewer where each of them may have
loops of its own, whose length the data say."""
MOST, LEAST = c.Literal("9223372036854775807L"), c.Binary("-", c.Literal("-9223372036854775807L"), c.Literal("1"))
"""The greatest and the least `long`."""
Bound = Callable[[isl.PwAff], c.Expr]


def compared(scop: Scop) -> list[c.Expr]:
    """What has to be apart in memory, two by two, as conditions."""
    if not scop.apart or scop.sorts_memories:
        return []
    bound = _bounds(scop)
    return [_is_apart(pair, bound) for pair in scop.apart if not _is_searched(pair)]


def _is_apart(pair: Apart, bound: Bound) -> c.Expr:
    """Whether two pieces of memory do not overlap. What a search has seen nothing of ends before it begins."""
    asked: c.Expr = c.Call(APART, (*_ends(pair.one, bound), *_ends(pair.two, bound)))
    for memory in (pair.two, pair.one):
        if memory.seen is not None:
            first, last = memory.seen
            asked = c.Binary("||", c.Binary(">", c.Name(first), c.Name(last)), asked)
    return asked


def _is_searched(pair: Apart) -> bool:
    return pair.one.seen is not None or pair.two.seen is not None


def searched(scop: Scop) -> list[c.Stmt]:
    """What finds out which elements the data choose: the variables of the ends, and the loops."""
    if scop.search is None:
        return []
    found: list[c.Stmt] = []
    for first, last in scop.search.ends.values():
        found += [c.Decl("long", first, (), MOST), c.Decl("long", last, (), LEAST)]
    return [*found, *with_loaded(scop.search.loops, scop)]


def asked_first(scop: Scop, question: Question | None, alone: str = ANSWER) -> Question | None:
    """What is asked before a region: `question` of its data, and whether its pieces of memory are apart, all at once.

    alone: the variable of the answer where `question` has none
    rewrite:  long x_first = LONG_MAX, x_last = LONG_MIN; for (...) ...; answer &= polyc_apart(x + x_first, ...);
              polyc_ranges(); polyc_range(from, to, written); ... polyc_all_apart(answer);
    """
    if not scop.sorts_memories and scop.search is None:
        return question
    bound = _bounds(scop)
    answer = alone if question is None else question.answer
    statements = searched(scop)
    if scop.sorts_memories:
        statements.append(c.ExprStmt(c.Call(RANGES, ())))
        statements += [_listed(scop, one, bound) for one in scop.memories]
        statements.append(c.ExprStmt(c.Call(ALL_APART, (c.Name(answer),))))
    else:
        asked = [_is_apart(pair, bound) for pair in scop.apart if _is_searched(pair)]
        statements += [c.ExprStmt(c.Assign("&=", c.Name(answer), one)) for one in asked]
    return Question(answer, (*statements, *(() if question is None else question.body)))


def worth_it(program: Program, asked: Sequence[c.Expr]) -> list[c.Expr]:
    """Whether enough is done for such a list or search, as conditions: for little work the original loops are faster.

    A search reads what the loops read. It is worth its time where several threads share it, and the loops; or where
    it is little beside loops that were changed, as those that find out about `b[i][seen[t]]` are in a product of t, i
    and j.

    asked: conditions on what is to be done that are there already
    """
    scop = program.scop
    if scop.search is not None and not program.options.gpu:
        inner = any(isinstance(node, c.For) for s in scop.statements.values() for node in c.walk(s.body))
        least = c.Literal(str(SEARCHED // MORE if inner else SEARCHED))
        has_threads = any(isinstance(one, c.Call) and one.function == THREADS for one in asked)
        work = None if has_threads else _work(program)
        threads: list[c.Expr] = (
            [] if work is None or not mentions(work) else [c.Call(THREADS, (c.Binary(">", work, least),))]
        )
        sizes = {one.name: one.value for one in scop.always}
        share = _work_in(scop.search.source, sizes) / max(_work_in(scop.search.loops, sizes), 1)
        if share > FREE and is_for_one_thread(program):
            return threads
        return [*threads, c.Call(SEVERAL if share > LIGHT else MANY, ())]
    work = _work(program) if scop.sorts_memories else None
    return [] if work is None else [c.Call(PAYS, (work, _places(scop)))]


def _work_in(statements: Sequence[c.Stmt], sizes: Mapping[str, int], times: float = 1.0) -> float:
    """Operations and accesses of some statements, whose loops of unknown length run a few times each."""
    found = 0.0
    for node in statements:
        if isinstance(node, c.For):
            found += _work_in((node.body,), sizes, _length(node, sizes) * times)
        elif isinstance(node, c.Block):
            found += _work_in(node.body, sizes, times)
        elif isinstance(node, c.If):
            found += _work_in(c.items(node.then) + c.items(node.otherwise), sizes, times)
        else:
            found += times * sum(isinstance(one, c.Binary | c.Subscript | c.Call | c.Assign) for one in c.walk(node))
    return found


def _length(loop: c.For, sizes: Mapping[str, int]) -> float:
    """How often a loop runs: as its head says, or as a usual one does."""

    def value(end: c.Expr) -> int | None:
        return sizes.get(end.name) if isinstance(end, c.Name) else constant(end)

    head = induction(loop)
    first = None if head is None else constant(head.start)
    match loop.condition:
        case c.Binary(op="<" | "<=" as op, right=end) if first is not None and (last := value(end)) is not None:
            return float(max(last - first + (op == "<="), 1))
    return LENGTH


def _work(program: Program) -> c.Expr | None:
    """How many instances the largest statement has of which its extents say so."""
    scop, at = program.scop, sample_parameters(program)
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
            return work
    return None


def _places(scop: Scop) -> c.Expr:
    """How many ranges the list holds, or nearly so."""
    bound, memories = _bounds(scop), scop.memories
    count: c.Expr = c.Literal(str(sum(not one.inside for one in memories)))
    for one in memories:
        if one.inside and one.low is not None and one.high is not None:
            rows: c.Expr = bound(_behind(one.high).sub(one.low).gist(scop.known))
            for low, high in one.inside[:-1]:
                rows = c.Binary(
                    "*", c.Binary("*", c.Literal("1.0"), rows), bound(_behind(high).sub(low).gist(scop.known))
                )
            count = rows if count == c.Literal("0") else c.Binary("+", count, rows)
    return count


def _bounds(scop: Scop) -> Bound:
    build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
    return lambda value: printer.convert(expression(build, value))


def _listed(scop: Scop, memory: Memory, bound: Bound) -> c.Stmt:
    """The statement that enters a piece of memory, or each of its rows, into the list."""
    written = c.Literal(str(int(memory.written)))
    if memory.seen is not None:
        begin, end = memory.seen
        entered = c.ExprStmt(c.Call(RANGE, (*_ends(memory, bound), written)))
        return c.If(c.Binary("<=", c.Name(begin), c.Name(end)), entered)
    if not memory.inside or memory.low is None or memory.high is None:
        return c.ExprStmt(c.Call(RANGE, (*_ends(memory, bound), written)))
    ranges = ((memory.low, memory.high), *memory.inside)
    row = memory.base
    for depth in range(len(ranges) - 1):
        row = c.Subscript(row, c.Name(_row_at(depth)))
    first, last = ranges[-1]
    loop: c.Stmt = c.ExprStmt(c.Call(RANGE, (_moved(row, bound(first)), _moved(row, bound(_behind(last))), written)))
    for depth, (first, last) in reversed(list(enumerate(ranges[:-1]))):
        name = c.Name(_row_at(depth))
        head = c.Decl("long", name.name, (), bound(first)), c.Binary("<", name, bound(_behind(last)))
        loop = c.For(*head, c.Postfix("++", name), loop)
    touched = memory.low.domain().gist(scop.known)
    if touched.plain_is_universe():
        return loop
    build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
    return c.If(printer.convert(condition(build, touched)), loop)


def _row_at(depth: int) -> str:
    """The variable that counts the rows of a pointer's pointers."""
    return f"polyc_row_{depth + 1}" if depth else "polyc_row"


def _ends(memory: Memory, bound: Bound) -> tuple[c.Expr, c.Expr]:
    """Where a piece of memory begins, and what is behind it."""
    if memory.seen is not None:
        first, last = (c.Name(name) for name in memory.seen)
        return _moved(memory.base, first), _moved(memory.base, c.Binary("+", last, c.Literal("1")))
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


def _behind(last: isl.PwAff) -> isl.PwAff:
    """One more than a function, where that is defined."""
    return last.add(isl.PwAff.val_on_domain(last.domain(), isl.Val.one(last.get_ctx())))


__all__ = ["ANSWER", "asked_first", "compared", "worth_it"]
