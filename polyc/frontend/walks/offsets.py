"""Pointers that move as the data decide: the array that each leads into, and an offset that is a variable.

rewrite:  double *p = a;  for (…) if (x[i] > 0) *p++ = e;     ->  long p_at = 0;  for (…) if (x[i] > 0) a[p_at++] = e;
          double *row = a + k[i] * m;  k[i] = 0;  s(row[j]);  ->  long row_at = k[i] * m;  k[i] = 0;  s(a[row_at + j]);
requires: the region declares the pointer, and makes it of one array, which it does not move
ensures:  the same elements: offsets have 64 bits, as C adds them to a pointer
"""

from __future__ import annotations

from collections.abc import Callable

from polyc.analysis.expressions.facts import assigned_scalars
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.helpers import Unclear
from polyc.frontend.idioms.sums import Excluded, Sum, Values
from polyc.frontend.walks.steps import stepped
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, replace


def with_offsets(body: c.Block, scope: Scope, left: set[str], stays: Callable[[Symbol], bool]) -> c.Block:
    """The region with offsets in the places of such pointers, of those that are left and of others into their arrays;
    the region itself where it has none, or uses one in another way.

    stays: somebody else sees a variable, or needs its declaration
    """
    every = _bases(body, scope, stays)
    arrays = {base for key, base in every.items() if key in left}
    bases = {key: base for key, base in every.items() if base in arrays}
    if not bases:
        return body
    offsets = {key: scope.number(f"{scope.symbols[key].c_name}_at", "long").key for key in bases}
    sums = {key: Sum(c.Name(base), (c.Name(offsets[key]),)) for key, base in bases.items()}
    moves = _Moves(bases, offsets, Values(scope, set(bases), dict(sums)))
    try:
        found = c.rewrite(body, moves.change)
        left = assigned_scalars(found) & bases.keys()
        return body if left else moves.values.of(found)
    except (Excluded, Unclear):
        return body


def _bases(body: c.Block, scope: Scope, stays: Callable[[Symbol], bool]) -> dict[str, str]:
    """The pointers that a region declares, by their keys, and the arrays that they lead into."""
    declared = {node.name for node in c.walk(body) if isinstance(node, c.Decl)}
    pointers = {key for key in declared if _is_plain(scope.symbols.get(key)) and not stays(scope.symbols[key])}
    values = Values(scope, pointers, {})
    given: dict[str, set[str]] = {key: set() for key in pointers}
    for node in c.walk(body) if pointers else ():
        match node:
            case c.Decl(name=name, init=value) | c.Assign(op="=", target=c.Name(name=name), value=value):
                if name not in pointers or value is None or stepped(node) is not None:
                    continue
                try:
                    base = values.pointer(scope.symbols[name], value).base
                except Unclear:
                    base = None
                given[name].add(base.name if isinstance(base, c.Name) else "")
    while more := {key: set().union(*(given.get(one, {one}) for one in those)) for key, those in given.items()}:
        if more == given:
            break
        given = more
    moved = assigned_scalars(body)
    found = {key: those - pointers for key, those in given.items()}
    return {
        key: base
        for key, those in sorted(found.items())
        for base in those
        if len(those) == 1 and base not in moved | {""}
    }


def _is_plain(symbol: Symbol | None) -> bool:
    """Whether it is a pointer of the region to elements."""
    if symbol is None or symbol.storage is not Storage.REGION or symbol.static or symbol.volatile:
        return False
    return symbol.rank == 1 and symbol.is_pointer


@dataclass(frozen=True, slots=True)
class _Moves:
    """What gives pointers their values, as what gives offsets theirs. Its methods raise Unclear and Excluded."""

    bases: dict[str, str]
    offsets: dict[str, str]
    values: Values

    def change(self, node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(name=name, init=init, span=span) if name in self.bases:
                given = None if init is None else self.offset(init)
                return c.Decl("long", self.offsets[name], (), given, span)
            case c.ExprStmt(expr=expr):
                return replace(node, expr=self.effect(expr))
            case c.For(init=init, condition=condition, step=step, body=body):
                return replace(
                    node,
                    init=self.effect(init) if init is not None else None,
                    condition=c.rewrite(condition, self.change) if condition is not None else None,
                    step=self.effect(step) if step is not None else None,
                    body=c.rewrite(body, self.change),
                )
            case c.Unary(op="*", operand=c.Postfix() | c.Unary(op="++" | "--") as step, span=span):
                name = step.operand.name if isinstance(step.operand, c.Name) else ""
                if name in self.bases:
                    place = replace(step, operand=c.Name(self.offsets[name]))
                    return c.Subscript(c.Name(self.bases[name], span), place, span)
        return None

    def effect(self, node: c.N) -> c.N:
        """An expression of which nobody uses the value."""
        if isinstance(node, c.Comma):
            return replace(node, items=tuple(map(self.effect, node.items)))
        target = node.target if isinstance(node, c.Assign) else getattr(node, "operand", None)
        if not isinstance(target, c.Name) or target.name not in self.bases:
            return c.rewrite(node, self.change)
        offset = c.Name(self.offsets[target.name], target.span)
        match node:
            case c.Assign(op="=", value=value):
                return replace(node, target=offset, value=self.offset(value))
            case c.Assign(op="+=" | "-=", value=value):
                return replace(node, target=offset, value=c.rewrite(value, self.change))
            case c.Postfix() | c.Unary(op="++" | "--"):
                return replace(node, operand=offset)
        raise Unclear

    def offset(self, value: c.Expr) -> c.Expr:
        """How far a pointer with some value is from the begin of its array."""
        place = self.values.place(c.rewrite(value, self.change))
        return self.values.total(place.added, value.span)


__all__ = ["with_offsets"]
