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
from polyc.records import dataclass
from polyc.reread.loaded import without_loaded
from polyc.reread.parts import NotComparable, Refused
from polyc.reread.search import Unseen, behind_search

APART = "polyc_apart"
PAY = {"polyc_pays", "polyc_threads", "polyc_several", "polyc_many", "polyc_tiles"}
"""Let fewer sizes through, for the time that they take: nothing is shown by them."""


def guard_faults(scop: Scop, rendered: Rendered) -> list[Fault]:
    """What the condition does not ask. Raises NotComparable."""
    reader = Reader({p.expr: p.name for p in scop.parameters}, {}, parameter_space(scop).add_unnamed_tuple_ui(0))
    needed = rendered.needed if rendered.text else rendered.guard
    asked = [part for part in _parts(needed) if not (isinstance(part, c.Call) and part.function in PAY)]
    given = [one.asked for one in scop.walked if one.asked is not None] if rendered.text else []
    if lost := [one for one in given if one not in asked]:
        return [Fault("text", "the condition around the text does not ask what a pointer is", str(lost[0]))]
    asked = [part for part in asked if part not in given]
    weak = _sizes(scop, reader, [part for part in asked if not _is_apart(part)])
    if weak is not None:
        return [Fault("text", "the condition around the text is too weak", weak)]
    early = _early(scop, reader, asked)
    if early is not None:
        return [Fault("text", "the condition around the text may read what is not there", str(early))]
    if not rendered.text:
        return []
    calls = [part for part in asked if isinstance(part, c.Call) and _is_apart(part)]
    sizes = scop.context.intersect(scop.guard)  # that the condition lets no others through has just been shown
    try:
        behind = _behind(scop, rendered)
    except Unseen as what:
        return [Fault("text", "what is run before the region does not see all that it touches", str(what))]
    except Refused as refused:
        return [refused.fault]
    found = list(_found(behind, rendered))
    listed = _List(reader, sizes, behind, rendered)
    for pair in scop.apart:
        seen = any(_asks_found(reader, one, pair, sizes) for one in found)
        if not seen and not any(_asks(reader, call, pair, sizes) for call in calls) and not listed.asks(pair):
            message = "the condition around the text does not ask whether two arrays overlap"
            return [Fault("text", message, f"{pair.one.base}, {pair.two.base}")]
    if scop.inspection is None and _further(behind, len(found)):
        return [Fault("text", "something is run before the region that decides nothing", "")]
    names = tuple(c.Name(one.name) for one in rendered.heap)
    if names:
        right = tuple(_parts(rendered.condition)) == names
    elif rendered.question is not None:
        right = rendered.condition == c.Name(rendered.question.answer)
    else:
        right = rendered.condition == needed
    return [] if right else [Fault("text", "the condition around the text is another one than what is asked", "")]


def _behind(scop: Scop, rendered: Rendered) -> tuple[c.Stmt, ...]:
    """The statements of the question behind the search. Raises Unseen."""
    statements = () if rendered.question is None else rendered.question.body
    if scop.search is None:
        return statements
    floats = {array.c_name for array in scop.arrays.values() if array.element.kind != "int"}
    wholes = [one.expr for one in scop.parameters if one.type.kind == "int"]
    types: dict[str, set[str]] = {}
    for array in scop.arrays.values():  # counters that are read behind their loops
        if not array.rank:
            types.setdefault(array.c_name, set()).add(array.element.text)
    for one in scop.statements.values():
        for name, type_ in zip(one.loops, one.loop_types, strict=True):
            types.setdefault(name, set()).add(type_.text)
        for item in c.walk(one.body):  # counters of loops inside of it
            if isinstance(item, c.Decl) and not item.extents:
                types.setdefault(item.name, set()).add(item.type)
    return behind_search(scop.search, _without_loaded(scop, statements), floats, wholes, types)


def _without_loaded(scop: Scop, statements: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements without the variables for pointers and sizes that are declared in front of the search's loops."""
    first = next((k for k, item in enumerate(statements) if not isinstance(item, c.Decl)), 0)
    ends = 2 * len(scop.search.ends) if scop.search is not None else 0
    taken = scop.used_names | {item.name for item in statements[:ends] if isinstance(item, c.Decl)}
    return (*statements[:ends], *without_loaded(scop, statements[ends:], max(first - ends, 0), taken))


def _found(statements: tuple[c.Stmt, ...], rendered: Rendered) -> Iterator[c.Expr]:
    """What the answer is said to be, besides what is asked first: `answer &= …`."""
    for item in statements:
        match item:
            case c.ExprStmt(expr=c.Assign(op="&=", target=c.Name(name=name), value=value)):
                if rendered.question is None or name != rendered.question.answer:
                    return
                yield value
            case _:
                return


def _further(statements: tuple[c.Stmt, ...], found: int) -> tuple[c.Stmt, ...]:
    """What is run behind all that decides the answer: it might give another one."""
    for position, item in enumerate(statements):
        if isinstance(item, c.ExprStmt) and isinstance(item.expr, c.Call) and item.expr.function == "polyc_all_apart":
            return statements[position + 1 :]
    return statements[found:]


def _asks_found(reader: Reader, asked: c.Expr, pair: Apart, sizes: isl.Set) -> bool:
    """Whether two pieces are asked for, unless nothing was seen of one of them."""
    nothing = [c.Binary(">", c.Name(m.seen[0]), c.Name(m.seen[1])) for m in (pair.one, pair.two) if m.seen is not None]
    while isinstance(asked, c.Binary) and asked.op == "||" and asked.left in nothing:
        asked = asked.right
    return isinstance(asked, c.Call) and _is_apart(asked) and _asks(reader, asked, pair, sizes)


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


def _early(scop: Scop, reader: Reader, asked: list[c.Expr]) -> c.Expr | None:
    """A condition that is evaluated before it is known that the region follows the pointers in it."""
    inside, pending = scop.context.params(), [one.params() for one in scop.reached]
    for part in asked:
        while pending and inside.is_subset(pending[0]):
            pending.pop(0)
        if not pending:
            return None
        if isinstance(part, c.Call):
            return part
        here = reader.condition(part).params()
        if not _names(here) <= _names(pending[0]):
            return part
        inside = inside.intersect(here)
    return None


def _names(sizes: isl.Set) -> set[str]:
    """The parameters that a set depends on."""
    sizes = sizes.drop_unused_params()
    return {sizes.get_dim_name(isl.dim_type.param, k) or "" for k in range(sizes.dim(isl.dim_type.param))}


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
    if memory.seen is not None:
        begin, stop = (c.Name(name) for name in memory.seen)
        past = c.Binary("+", memory.base, c.Binary("+", stop, c.Literal("1")))
        return start == c.Binary("+", memory.base, begin) and end == past
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


@dataclass(slots=True)
class _List:
    """The pieces of memory that the text enters into a list, which it sorts to find out whether they overlap."""

    reader: Reader
    sizes: isl.Set
    statements: tuple[c.Stmt, ...]
    """What is run before the region, behind the search."""
    rendered: Rendered
    _entries: list[c.Stmt] | None = None

    def asks(self, pair: Apart) -> bool:
        """Whether both pieces are in the list, one of them as written."""
        found = [self.entered(memory) for memory in (pair.one, pair.two)]
        return all(one is not None for one in found) and any(found)

    def entered(self, memory: Memory) -> bool | None:
        """Whether a piece of memory is in the list as written; None where it is not there."""
        for entry in self.entries():
            match entry:
                case c.ExprStmt(expr=c.Call(arguments=(start, end, written))) if not memory.inside:
                    if _covers(self.reader, start, end, memory, self.where):
                        return written == c.Literal("1")
                case c.If() if memory.seen is not None and (call := _seen_entry(entry)) is not None:
                    ends = c.Binary("<=", c.Name(memory.seen[0]), c.Name(memory.seen[1]))
                    start, end, written = call.arguments
                    if entry.condition == ends and _covers(self.reader, start, end, memory, self.where):
                        return written == c.Literal("1")
                case _ if memory.inside:
                    said = self.rows_entered(entry, memory)
                    if said is not None:
                        return said == c.Literal("1")
        return None

    @property
    def where(self) -> isl.Set:
        return isl.Set.universe(self.reader.space).intersect_params(self.sizes)

    def entries(self) -> list[c.Stmt]:
        """What enters something, where the list decides the answer."""
        if self._entries is None:
            self._entries = self._read()
        return self._entries

    def _read(self) -> list[c.Stmt]:
        question = self.rendered.question
        match self.statements:
            case (c.ExprStmt(expr=c.Call(function="polyc_ranges", arguments=())), *rest) if question is not None:
                pass
            case _:
                return []
        entries: list[c.Stmt] = []
        for item in rest:
            match item:
                case c.ExprStmt(expr=c.Call(function="polyc_range", arguments=(_, _, _))):
                    pass
                case c.For() | c.If() if _seen_entry(item) is not None or _rows_of(item) is not None:
                    pass
                case c.ExprStmt(expr=c.Call(function="polyc_all_apart", arguments=(c.Name(name=name),))):
                    return entries if name == question.answer else []
                case _:
                    return []
            entries.append(item)
        return []

    def holds(self, rows: _Rows) -> isl.Set:
        """The sizes for which rows are entered."""
        if rows.condition is None:
            return isl.Set.universe(self.reader.space)
        return self.reader.condition(rows.condition)

    def rows_entered(self, entry: c.Stmt, memory: Memory) -> c.Expr | None:
        """What a loop over rows says of their being written, where it enters all of them, and reads no other pointers
        than those that the region reads."""
        rows = _rows_of(entry)
        if rows is None or not memory.inside or memory.low is None or memory.high is None:
            return None
        touched = isl.Set.universe(self.reader.space).intersect_params(memory.low.domain()).intersect(self.where)
        if not self.holds(rows).intersect(self.where).is_equal(touched):
            return None
        ranges = ((memory.low, memory.high), *memory.inside)
        if len(rows.loops) != len(ranges) - 1:
            return None
        one = isl.PwAff.val_on_domain(touched, isl.Val.one(touched.get_ctx()))
        base = memory.base
        for (name, first, behind), (low, high) in zip(rows.loops, ranges, strict=False):
            last = piecewise(self.reader.of_parameters(high)).add(one)
            right = (
                agree(piecewise(self.reader.of_parameters(low)), piecewise(self.reader.value(first)), touched) is None
            )
            if not right or agree(last, piecewise(self.reader.value(behind)), touched) is not None:
                return None
            base = c.Subscript(base, c.Name(name))
        start, end, written = rows.entered
        return written if _covers(self.reader, start, end, Memory(base, *ranges[-1]), touched) else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """`if (condition) for (long r = first; r < behind; r++) polyc_range(a[r] + ..., a[r] + ..., written);`, or with two
    such loops for `a[r][s]`."""

    condition: c.Expr | None
    loops: tuple[tuple[str, c.Expr, c.Expr], ...]
    """The variable of each, and what it begins and ends with."""
    entered: tuple[c.Expr, ...]


def _rows_of(item: c.Stmt, condition: c.Expr | None = None) -> _Rows | None:
    match item:
        case c.If(condition=asked, then=then, otherwise=None) if condition is None:
            return _rows_of(then, asked)
    loops: list[tuple[str, c.Expr, c.Expr]] = []
    while True:
        match item:
            case c.For(
                init=c.Decl(type="long", name=name, extents=(), init=first),
                condition=c.Binary(op="<", left=c.Name(name=compared), right=behind),
                step=c.Postfix(op="++", operand=c.Name(name=stepped)),
                body=body,
            ) if name == compared == stepped and first is not None:
                loops.append((name, first, behind))
                item = body
            case c.ExprStmt(expr=c.Call(function="polyc_range", arguments=(_, _, _) as entered)) if loops:
                return _Rows(condition, tuple(loops), entered)
            case _:
                return None


def _seen_entry(item: c.Stmt) -> c.Call | None:
    """`if (first <= last) polyc_range(a + first, a + (last + 1), written);`."""
    match item:
        case c.If(
            condition=c.Binary(op="<=", left=c.Name(), right=c.Name()),
            then=c.ExprStmt(expr=c.Call(function="polyc_range", arguments=(_, _, _)) as call),
            otherwise=None,
        ):
            return call
    return None


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
