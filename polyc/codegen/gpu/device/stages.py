"""Double buffering: while a panel is used, the next one is on its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polyc.analysis.expressions.facts import mentions, with_value
from polyc.analysis.expressions.linear import linear
from polyc.codegen.gpu.device.dialect import Dialect
from polyc.codegen.gpu.device.turns import turns_of
from polyc.codegen.gpu.device.words import STORED_BYTES
from polyc.codegen.loops.instances import block_of
from polyc.codegen.text.printer import UNROLL
from polyc.codegen.text.tidy import simpler
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace

FETCH_16 = "polyc_fetch16"
"""The same for 16 bytes."""
LOAD_16 = "polyc_load16"
"""Loads 16 bytes into registers, or zeros: `polyc_load16(&to, &from, inside)`."""
FETCH = "polyc_fetch"
"""Starts to copy one element into shared memory, or a zero: `polyc_fetch(&to, &from, inside)`."""

MOST_AHEAD = 16
"""Turns of a thread whose loads are on their way, at most."""
FETCH_PIECES = {4: "polyc_fetch_pieces<float>", 8: "polyc_fetch_pieces<float2>", 16: "polyc_fetch_pieces<float4>"}
"""The same for an element of more bytes than are copied at once, in pieces of so many bytes."""


@dataclass(frozen=True, slots=True)
class Stages:
    """A loop whose iterations copy panels and then use them, with two places for each panel.

    rewrite:  for (kt) { barrier; copy(kt); barrier; use }
              -> barrier; copy(start) into place 0;
                 for (kt) { wait; barrier; if (kt + step < end) copy(kt + step) into the other place; use; swap }
    requires: the copies read nothing that the loop writes (`verify/gpu/stages.py` looks); what they do depends on the
              iteration through its variable alone
    source:   Ding et al. 2023 (Hidet), Section 3.1 and Figure 5: double buffering

    What lies together in the array and not in the panel, which has it in other rows, goes through registers: 16 bytes
    are loaded before what uses the place before, and stored after it. `cp.async` would copy 4 bytes at a time, and take
    shared memory as long for each row of the array as for one that lies together (measured on an H200). So does what a
    panel makes of an element: the threads would wait for it before they use the panel before.
    """

    dialect: Dialect
    panels: dict[str, str]
    """Names of the shared arrays, and the types of their elements."""
    stage: str
    """A name for the variable that counts places."""
    fresh: Callable[[str], str]
    """A name like a wish."""
    sources: Mapping[str, str]
    """Names of the kernel's arrays that have plain numbers, and their types."""
    small: frozenset[str] = frozenset()
    """Panels whose elements have fewer bytes than `cp.async` copies, or do not begin at multiples of that: they go
    through registers."""
    pieces: Mapping[str, int] = field(default_factory=dict)
    """Panels whose elements `cp.async` copies in pieces, and the bytes of one."""

    def of(self, loop: c.For) -> c.Block:
        """The statement for a loop as it is printed for one place. Raises InternalError."""
        match loop:
            case c.For(
                init=c.Decl(name=name, init=start),
                condition=c.Binary(op="<") as condition,
                step=c.Assign() | c.Postfix() as advance,
                body=c.Block(body=body),
            ) if start is not None:
                step = advance.value if isinstance(advance, c.Assign) else c.Literal("1")
            case _:
                raise InternalError("a loop over panels has another form than double buffering asks for")
        items, uses = self.parts(body)
        following = simpler(c.Binary("+", c.Name(name), step))
        other = c.Binary("-", c.Literal("1"), c.Name(self.stage))
        limit = condition.right
        copies, waiting = list[c.Stmt](), list[_Through]()
        for item in items:
            found = self.through(item)
            if found is None:
                copies.append(item)
            else:
                waiting.append(found)
        ahead = self.copied([*copies, *(one.load for one in waiting)], name, following, other)
        now = self.copied([one.store for one in waiting], name, start, c.Literal("0"), at_once=True)
        later = list[c.Stmt]()
        for one in waiting:
            # Where a cell has its place in a panel does not depend on the iteration, but what is made of it may.
            later += self.copied([one.store], name, following if one.makes else start, other, at_once=True)
        first = self.copied([*copies, *(one.load for one in waiting)], name, start, c.Literal("0")) + now
        stage = c.Name(self.stage)
        swap = c.ExprStmt(c.Assign("=", stage, c.Binary("-", c.Literal("1"), stage)))
        more = c.Binary("<", following, limit)
        inside = (
            *self.dialect.waits,
            self.dialect.barrier,
            c.If(more, block_of(tuple(ahead))),
            *self.dialect.commits,
            *(self.placed(item, stage) for item in uses),
            *((c.If(more, block_of(tuple(later))),) if later else ()),
            swap,
        )
        prologue, panels = tuple(first), linear(limit).plus(linear(start), -1)
        if panels.terms or panels.constant <= 0:
            prologue = (c.If(c.Binary("<", start, limit), block_of(prologue)),)
        zero = c.Decl("int", self.stage, (), c.Literal("0"))
        after = replace(loop, body=c.Block(inside))
        declared = (one.declared for one in waiting)
        return c.Block((*declared, self.dialect.barrier, *prologue, *self.dialect.commits, zero, after))

    def through(self, item: c.Stmt) -> _Through | None:
        """A copy that goes through registers; None for another one.

        rewrite:  for (c = t; c < n; c += threads) for (j < 4) panel[j][c] = A[c][j]
                  -> for (q < n / threads) load16(&next[q][0], &A[c][0]), c = t + threads q
                     … for (q < n / threads) for (j < 4) panel[j][c] = next[q][j]
                  for (c = t; c < n; c += threads) panel[c] = c < k ? 0 : A[c] + b
                  -> for (q < n / threads) next[q] = c < k ? 0 : A[c]
                     … for (q < n / threads) panel[c] = c < k ? 0 : next[q] + b
        """
        match item:
            case c.For(
                init=c.Decl(type="int", name=index, init=start),
                condition=c.Binary(op="<", right=c.Literal(text=total)),
                step=c.Assign(op="+=", value=c.Literal(text=threads)),
                body=c.Block(body=body),
            ) if start is not None and self.dialect.fetches:
                *places, last = (step for step in body if not isinstance(step, c.Note))
            case _:
                return None
        count, left = divmod(int(total), int(threads))
        if not all(isinstance(place, c.Decl) for place in places) or count + (left > 0) > MOST_AHEAD:
            return None
        turn = self.fresh("q")
        moved = self.moved(last, turn, count + (left > 0))
        if moved is None:
            return None

        def each(action: c.Stmt) -> c.Stmt:
            used = {n.name for n in c.walk(action) if isinstance(n, c.Name)}
            here = [p for p in places if isinstance(p, c.Decl) and p.name in used]
            some = c.Binary("<", start, c.Literal(str(left))) if left else None
            position = c.Decl("const int", index, (), start)
            return turns_of(position, count, int(threads), turn, (*here, action), some)

        return replace(moved, load=each(moved.load), store=each(moved.store))

    def moved(self, step: c.Stmt, turn: str, count: int) -> _Through | None:
        """One turn of a copy, in two steps; None where it has no need of a register."""
        match step:
            case c.For(init=c.Decl(name=lane), condition=c.Binary(right=c.Literal() as width), pragmas=(pragma,)) if (
                pragma == UNROLL
            ):
                return self.row_moved(step, lane, width, turn, count)
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=value)) if (
                target.array in self.panels and not _is_element(value)
            ):
                return self.made(_Step(target, value), turn, count)
            case _:
                return None

    def row_moved(self, inner: c.For, lane: str, width: c.Literal, turn: str, count: int) -> _Through | None:
        """What lies together in the array, and across in the panel: 16 bytes at once."""
        step = _only_step(inner.body)
        if step is None or not _is_element(step.value) or step.target.array not in {*self.panels} - self.small:
            return None
        source = step.value.then if isinstance(step.value, c.Ternary) else step.value
        assert isinstance(source, c.ArrayRef)
        if lane in mentions(step.target.subscripts[-1]) or lane not in mentions(source.subscripts[-1]):
            return None
        row = self.fresh(f"{step.target.array}_next")
        kept = c.ArrayRef(row, (c.Name(turn), c.Name(lane)))
        begin = c.ArrayRef(row, (c.Name(turn), c.Literal("0")))
        first = with_value(step.value, lane, c.Literal("0"))
        load = c.ExprStmt(replace(self.fetch(begin, first), function=LOAD_16))
        store = replace(inner, body=c.Block((c.ExprStmt(c.Assign("=", step.target, kept)),)))
        sizes = (c.Literal(str(count)), width)
        declared = c.Decl(self.panels[step.target.array], row, sizes, aligned=STORED_BYTES)
        return _Through(declared, load, store)

    def made(self, step: _Step, turn: str, count: int) -> _Through | None:
        """What is made of an element of an array: the element is loaded ahead. Others that it takes, with fewer
        subscripts, are in a cache."""
        sources = {n for n in c.walk(step.value) if isinstance(n, c.ArrayRef)}
        rank = max((len(source.subscripts) for source in sources), default=0)
        loaded = [source for source in sources if len(source.subscripts) == rank]
        if len(loaded) != 1 or loaded[0].array not in self.sources:
            return None
        (source,) = loaded
        row = self.fresh(f"{step.target.array}_next")
        kept = c.ArrayRef(row, (c.Name(turn),))

        def only(value: c.Expr) -> c.Expr | None:
            """The element where the value takes it, and a zero elsewhere; None where data decide."""
            match value:
                case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                    if any(isinstance(n, c.ArrayRef | c.Call) for n in c.walk(condition)):
                        return None
                    one, other = only(then), only(otherwise)
                    return None if one is None or other is None else replace(value, then=one, otherwise=other)
                case _ if any(isinstance(n, c.Ternary) or _may_skip(n) for n in c.walk(value)):
                    return None
                case _:
                    return source if source in c.walk(value) else c.Literal("0")

        ahead = only(step.value)
        if ahead is None:
            return None
        load = c.ExprStmt(c.Assign("=", kept, ahead))
        value = c.rewrite(step.value, lambda n: kept if n == source else None)
        declared = c.Decl(self.sources[source.array], row, (c.Literal(str(count)),))
        return _Through(declared, load, c.ExprStmt(c.Assign("=", step.target, value)), makes=True)

    def parts(self, body: tuple[c.Stmt, ...]) -> tuple[list[c.Stmt], list[c.Stmt]]:
        """What copies, and what uses the copies: a barrier stands before each, and there may be others in the uses."""
        items: list[c.Stmt] = [item for item in body if not isinstance(item, c.Note)]
        barriers = [k for k, item in enumerate(items) if item == self.dialect.barrier]
        if len(barriers) < 2 or barriers[0] != 0:
            raise InternalError("a loop over panels has its barriers elsewhere")
        return items[1 : barriers[1]], items[barriers[1] + 1 :]

    def copied(
        self, copies: list[c.Stmt], name: str, value: c.Expr, place: c.Expr, at_once: bool = False
    ) -> list[c.Stmt]:
        """The copies for another iteration, into one of the places; `at_once`: from registers, without a wait."""
        fetches = self.dialect.fetches and not at_once

        def change(node: c.Node) -> c.Node | None:
            match node:
                case c.Name(name=found) if found == name:
                    return value
                case c.For(init=c.Decl(name=index), pragmas=(pragma,), body=body) if (
                    pragma == UNROLL and fetches and (whole := self.vector(body, index, change))
                ):
                    return whole
                case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array) as target, value=source)) if (
                    array in self.panels and array not in self.small and fetches and _is_element(source)
                ):
                    copy = self.fetch(*(c.rewrite(part, change) for part in (target, source)))
                    return c.ExprStmt(
                        replace(copy, function=FETCH_PIECES[self.pieces[array]]) if array in self.pieces else copy
                    )
                case c.ArrayRef(array=array, subscripts=subscripts) if array in self.panels:
                    return replace(node, subscripts=(place, *(c.rewrite(s, change) for s in subscripts)))
            return None

        return [simpler(c.rewrite(item, change)) for item in copies]

    def vector(self, body: c.Stmt, index: str, change: Callable[[c.Node], c.Node | None]) -> c.Stmt | None:
        """One copy of 16 bytes for a loop over their elements; None for another loop."""
        step = _only_step(body)
        if step is None or step.target.array not in self.panels or not _is_element(step.value):
            return None
        if index not in mentions(step.target.subscripts[-1]):
            return None  # they do not lie together in the panel
        parts = [
            c.rewrite(p, lambda n: c.Literal("0") if n == c.Name(index) else None) for p in (step.target, step.value)
        ]
        copy = self.fetch(*(c.rewrite(part, change) for part in parts))
        return c.ExprStmt(replace(copy, function=FETCH_16))

    def placed(self, item: c.Stmt, place: c.Expr) -> c.Stmt:
        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array in self.panels:
                return replace(node, subscripts=(place, *(c.rewrite(s, change) for s in node.subscripts)))
            return None

        return c.rewrite(item, change)

    def fetch(self, target: c.Expr, source: c.Expr) -> c.Call:
        """`polyc_fetch(&to, &from, inside)`; outside of the array its first element stands for an address."""
        inside: c.Expr = c.Literal("1")
        if isinstance(source, c.Ternary):
            inside, source = source.condition, source.then
        if not isinstance(source, c.ArrayRef):
            raise InternalError("a panel is filled with something that is no element")
        address: c.Expr = c.Unary("&", source)
        if len(source.subscripts) > 1 and inside != c.Literal("1"):
            first = replace(source, subscripts=(c.Literal("0"),) * len(source.subscripts))
            address = c.Ternary(inside, address, c.Unary("&", first))
        return c.Call(FETCH, (c.Unary("&", target), address, inside))


@dataclass(frozen=True, slots=True)
class _Through:
    """A copy in two steps."""

    declared: c.Decl
    """The registers between them."""
    load: c.Stmt
    store: c.Stmt
    makes: bool = False
    """Whether what is stored is made of what was loaded."""


@dataclass(frozen=True, slots=True)
class _Step:
    """`target = value`, an element of a panel."""

    target: c.ArrayRef
    value: c.Expr


def _only_step(body: c.Stmt) -> _Step | None:
    """The one assignment of a loop's body."""
    match c.only(body):
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=value)):
            return _Step(target, value)
        case _:
            return None


def _may_skip(node: c.Node) -> bool:
    return isinstance(node, c.Binary) and node.op in ("&&", "||")


def _is_element(source: c.Expr) -> bool:
    """Whether a panel is filled with elements as they are, or zeros."""
    return isinstance(source.then if isinstance(source, c.Ternary) else source, c.ArrayRef)
