"""Double buffering: while a panel is used, the next one is on its way."""

from __future__ import annotations

from collections.abc import Callable

from polyc.codegen.gpu.dialect import Dialect
from polyc.codegen.loops.instances import block_of
from polyc.codegen.text.printer import UNROLL
from polyc.codegen.text.tidy import simpler
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.records import dataclass, replace

FETCH_16 = "polyc_fetch16"
"""The same for 16 bytes."""
FETCH = "polyc_fetch"
"""Starts to copy one element into shared memory, or a zero: `polyc_fetch(&to, &from, inside)`."""

SMALLEST_FETCH = 4
"""Bytes that `cp.async` copies at least."""


@dataclass(frozen=True, slots=True)
class Stages:
    """A loop whose iterations copy panels and then use them, with two places for each panel.

    rewrite:  for (kt) { barrier; copy(kt); barrier; use }
              -> barrier; copy(start) into place 0;
                 for (kt) { wait; barrier; if (kt + step < end) copy(kt + step) into the other place; use; swap }
    requires: the copies read nothing that the loop writes (`verify/gpu/stages.py` looks); what they do depends on the
              iteration through its variable alone
    source:   Ding et al. 2023 (Hidet), Section 3.1 and Figure 5: double buffering
    """

    dialect: Dialect
    panels: frozenset[str]
    """Names of the shared arrays."""
    stage: str
    """A name for the variable that counts places."""
    small: frozenset[str] = frozenset()
    """Panels whose elements have fewer bytes than `cp.async` copies: they go through registers."""

    def of(self, loop: c.For) -> c.Stmt:
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
        copies, uses = self.parts(body)
        following = simpler(c.Binary("+", c.Name(name), step))
        ahead = self.copied(copies, name, following, c.Binary("-", c.Literal("1"), c.Name(self.stage)))
        limit = condition.right
        first = self.copied(copies, name, start, c.Literal("0"))
        stage = c.Name(self.stage)
        swap = c.ExprStmt(c.Assign("=", stage, c.Binary("-", c.Literal("1"), stage)))
        inside = (
            *self.dialect.waits,
            self.dialect.barrier,
            c.If(c.Binary("<", following, limit), block_of(tuple(ahead))),
            *self.dialect.commits,
            *(self.placed(item, stage) for item in uses),
            swap,
        )
        prologue = c.If(c.Binary("<", start, limit), block_of(tuple(first)))
        zero = c.Decl("int", self.stage, (), c.Literal("0"))
        after = replace(loop, body=c.Block(inside))
        return c.Block((self.dialect.barrier, prologue, *self.dialect.commits, zero, after))

    def parts(self, body: tuple[c.Stmt, ...]) -> tuple[list[c.Stmt], list[c.Stmt]]:
        """What copies, and what uses the copies: a barrier stands before each."""
        items: list[c.Stmt] = [item for item in body if not isinstance(item, c.Note)]
        barriers = [k for k, item in enumerate(items) if item == self.dialect.barrier]
        if len(barriers) != 2 or barriers[0] != 0:
            raise InternalError("a loop over panels has its barriers elsewhere")
        return items[1 : barriers[1]], items[barriers[1] + 1 :]

    def copied(self, copies: list[c.Stmt], name: str, value: c.Expr, place: c.Expr) -> list[c.Stmt]:
        """The copies for another iteration, into one of the places."""

        def change(node: c.Node) -> c.Node | None:
            match node:
                case c.Name(name=found) if found == name:
                    return value
                case c.For(init=c.Decl(name=index), pragmas=(pragma,), body=body) if (
                    pragma == UNROLL and self.dialect.fetches and (whole := self.vector(body, index, change))
                ):
                    return whole
                case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array) as target, value=source)) if (
                    array in self.panels - self.small and self.dialect.fetches and _is_element(source)
                ):
                    moved = [c.rewrite(part, change) for part in (target, source)]
                    return c.ExprStmt(self.fetch(*moved))
                case c.ArrayRef(array=array, subscripts=subscripts) if array in self.panels:
                    return replace(node, subscripts=(place, *(c.rewrite(s, change) for s in subscripts)))
            return None

        return [simpler(c.rewrite(item, change)) for item in copies]

    def vector(self, body: c.Stmt, index: str, change: Callable[[c.Node], c.Node | None]) -> c.Stmt | None:
        """One copy of 16 bytes for a loop over their elements; None for another loop."""
        items = body.body if isinstance(body, c.Block) else (body,)
        steps = [item for item in items if not isinstance(item, c.Note)]
        match steps[0] if len(steps) == 1 else body:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array), value=source)) if (
                array in self.panels and _is_element(source)
            ):
                first = c.rewrite(steps[0], lambda n: c.Literal("0") if n == c.Name(index) else None)
                assert isinstance(first, c.ExprStmt)
                assert isinstance(first.expr, c.Assign)
                copy = self.fetch(*(c.rewrite(part, change) for part in (first.expr.target, first.expr.value)))
                return c.ExprStmt(replace(copy, function=FETCH_16))
            case _:
                return None

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


def _is_element(source: c.Expr) -> bool:
    """Whether a panel is filled with elements as they are, or zeros."""
    return isinstance(source.then if isinstance(source, c.Ternary) else source, c.ArrayRef)
