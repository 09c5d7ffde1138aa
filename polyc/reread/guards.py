"""The condition around the text is at least as strong as what the model takes for granted.

math: with C what is known of the sizes, G the sizes that the condition lets through, and A those that the model holds
      for, the intersection of C and G lies in A; and for each two pieces of memory that have to be apart, the condition
      asks whether they are, by the first element of each and the one behind its last.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, Reader, agree, parameter_space, piecewise
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.printed import Rendered
from polyc.model.scop import Apart, Memory, Scop
from polyc.reread.parts import NotComparable

APART = "polyc_apart"


def guard_faults(scop: Scop, rendered: Rendered) -> list[Fault]:
    """What the condition does not ask. Raises NotComparable."""
    reader = Reader({p.expr: p.name for p in scop.parameters}, {}, parameter_space(scop).add_unnamed_tuple_ui(0))
    needed = rendered.needed if rendered.text else rendered.guard
    asked = list(_parts(needed))
    weak = _sizes(scop, reader, [part for part in asked if not _is_apart(part)])
    if weak is not None:
        return [Fault("text", "the condition around the text is too weak", weak)]
    if not rendered.text:
        return []
    calls = [part for part in asked if isinstance(part, c.Call) and _is_apart(part)]
    sizes = scop.context.intersect(scop.guard)  # that the condition lets no others through has just been shown
    for pair in scop.apart:
        if not any(_asks(reader, call, pair, sizes) for call in calls):
            message = "the condition around the text does not ask whether two arrays overlap"
            return [Fault("text", message, f"{pair.one.base}, {pair.two.base}")]
    names = tuple(c.Name(one.name) for one in rendered.heap)
    if names:
        right = tuple(_parts(rendered.condition)) == names
    elif rendered.question is not None:
        right = rendered.condition == c.Name(rendered.question.answer)
    else:
        right = rendered.condition == needed
    return [] if right else [Fault("text", "the condition around the text is another one than what is asked", "")]


def _parts(condition: c.Expr | None) -> Iterator[c.Expr]:
    """The conditions of a conjunction."""
    match condition:
        case None:
            pass
        case c.Binary(op="&&", left=left, right=right):
            yield from _parts(left)
            yield from _parts(right)
        case _:
            yield condition


def _is_apart(part: c.Expr) -> bool:
    return isinstance(part, c.Call) and part.function == APART


def _sizes(scop: Scop, reader: Reader, conditions: list[c.Expr]) -> str | None:
    """Sizes that the conditions let through though the model does not hold; None where there are none."""
    inside = isl.Set.universe(reader.space).intersect_params(scop.context)
    try:
        for condition in conditions:
            inside = inside.intersect(reader.condition(condition))
    except NotAffine as what:
        raise NotComparable(f"the condition around the text is not affine ({what})") from None
    asking = [] if scop.inspection is None else [scop.inspection.scop.guard]
    for guard in (scop.guard, *asking):
        wrong = inside.subtract(isl.Set.universe(reader.space).intersect_params(guard))
        if not wrong.is_empty():
            return str(wrong.params().sample_point())
    return None


def _asks(reader: Reader, call: c.Call, pair: Apart, sizes: isl.Set) -> bool:
    """Whether a call asks for all of two pieces of memory."""
    if len(call.arguments) != 4:
        return False
    where = isl.Set.universe(reader.space).intersect_params(sizes)
    ends = (call.arguments[:2], pair.one), (call.arguments[2:], pair.two)
    return all(_covers(reader, start, end, memory, where) for (start, end), memory in ends)


def _covers(reader: Reader, start: c.Expr, end: c.Expr, memory: Memory, where: isl.Set) -> bool:
    if memory.low is None or memory.high is None:
        base = memory.base
        address = base.operand if isinstance(base, c.Unary) and base.op == "*" else c.Unary("&", base)
        return start == address and end == c.Binary("+", address, c.Literal("1"))
    one = isl.Val.one(reader.space.get_ctx())
    first, last = _offset(start, memory), _offset(end, memory)
    if first is None or last is None:
        return False
    try:
        low, behind = reader.value(first), reader.value(last)
    except NotAffine:
        return False
    wanted = [piecewise(reader.of_parameters(bound)) for bound in (memory.low, memory.high)]
    after = wanted[1].add(isl.PwAff.val_on_domain(wanted[1].domain(), one))
    return agree(wanted[0], low, where) is None and agree(after, behind, where) is None


def _offset(place: c.Expr, memory: Memory) -> c.Expr | None:
    """The outermost subscript of a place in the memory; None where it is none."""
    if place == memory.base:
        return c.Literal("0")
    match place:
        case c.Binary(op="+", left=base, right=c.Binary(op="*", left=element, right=row)) if memory.row is not None:
            return element if base == memory.base and row == memory.row else None
        case c.Binary(op="+", left=base, right=element) if memory.row is None:
            return element if base == memory.base else None
    return None
