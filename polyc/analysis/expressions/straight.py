"""Straight-line code: what a scalar is at one point of it, and which references run whatever the data are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polyc.model import ctree as c
from polyc.records import dataclass, field

ABSOLUTE = frozenset({"abs", "labs", "llabs", "fabs", "fabsf"})
_PLAIN = c.Literal | c.Name | c.ArrayRef | c.Binary | c.Cast | c.Ternary


@dataclass(slots=True)
class Scalars:
    """The values of scalars, in terms of what there was before the code that was run so far.

    types: the C type of a scalar that the code may set, None for all else
    """

    types: Callable[[str], str | None]
    values: dict[str, c.Expr] = field(default_factory=dict)

    def run(self, node: c.Stmt) -> bool:
        """Go on behind a statement; False where it is more than assignments."""
        match node:
            case c.Block(body=body):
                plain = [self.run(item) for item in body]  # all of them run, whatever the first ones say
                return all(plain)
            case c.Decl(extents=(), init=None) | c.Note() | c.Comment() | c.Empty():
                return True
            case c.Decl(name=name, extents=(), init=init, type=kind) if init is not None:
                return self._set(name, kind, init)
            case c.Decl():
                return node.init is None
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef(array=name, subscripts=()), value=value)):
                known = self.types(name)
                if known is not None and op == "=":
                    return self._set(name, known, value)
                self.values.pop(name, None)
                return changes_nothing(value)
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(subscripts=subscripts), value=value)):
                return all(changes_nothing(part) for part in (*subscripts, value))
            case _:
                return False

    def forget(self, body: c.Stmt) -> None:
        """Go into a loop with this body, or out of it: what it sets may be another value each time."""
        for node in c.walk(body):
            if isinstance(node, c.Decl):
                self.values.pop(node.name, None)
            elif isinstance(node, c.Assign) and isinstance(node.target, c.ArrayRef):
                self.values.pop(node.target.array, None)

    def _set(self, name: str, kind: str, value: c.Expr) -> bool:
        settled = self.settled(value)
        cast = isinstance(settled, c.Cast) and settled.type == kind
        self.values[name] = settled if cast else c.Cast(kind, settled)
        return changes_nothing(value)

    def settled(self, expr: c.Expr) -> c.Expr:
        """The expression with the values of scalars in their places."""

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and not node.subscripts:
                return self.values.get(node.array)
            return None

        return c.rewrite(expr, change)


def changes_nothing(expr: c.Expr) -> bool:
    """Whether an expression only computes a value."""
    return not any(
        isinstance(n, c.Assign | c.Postfix | c.Comma) or (isinstance(n, c.Unary) and n.op in ("++", "--", "&", "*"))
        for n in c.walk(expr)
    )


def is_plain(expr: c.Expr) -> bool:
    """Whether an expression is made of operators, elements and absolute values alone: it has the same value again as
    long as nothing is stored. Subscripts may be choices."""
    inner = {id(n) for ref in c.walk(expr) if isinstance(ref, c.ArrayRef) for s in ref.subscripts for n in c.walk(s)}
    return all(
        isinstance(n, c.ArrayRef | c.Name | c.Literal | c.Binary | c.Cast)
        or (isinstance(n, c.Ternary) and id(n) in inner)
        or (isinstance(n, c.Unary) and n.op in ("+", "-", "~", "!"))
        or (isinstance(n, c.Call) and n.function in ABSOLUTE)
        for n in c.walk(expr)
    )


def is_repeatable(expr: c.Expr) -> bool:
    """Whether computing an expression once more costs little and has no effect: no calls, no pointers."""
    return all(isinstance(n, _PLAIN) or (isinstance(n, c.Unary) and n.op in "+-~") for n in c.walk(expr))


def unconditional(
    expr: c.Node, inside: bool = False, settled: Callable[[c.Expr], bool] = lambda condition: False
) -> Iterator[c.ArrayRef]:
    """The references that an expression, or a statement, evaluates whatever the data are; `inside`: also those in the
    subscripts of others; `settled`: conditions that count as none."""
    match expr:
        case c.If(condition=first) | c.Ternary(condition=first) if settled(first):
            for child in c.children(expr):
                yield from unconditional(child, inside, settled)
        case c.ArrayRef(subscripts=subscripts):
            yield expr
            for subscript in subscripts if inside else ():
                yield from unconditional(subscript, inside, settled)
        case c.If(condition=first) | c.Ternary(condition=first) | c.Binary(op="&&" | "||", left=first):
            yield from unconditional(first, inside, settled)
        case c.For() | c.While():
            return  # it may have no iteration
        case c.Block(body=items):
            for item in items:
                yield from unconditional(item, inside, settled)
                if any(isinstance(node, c.Jump) for node in c.walk(item)):
                    return
        case _:
            for child in c.children(expr):
                yield from unconditional(child, inside, settled)


def either(expr: c.Node) -> Iterator[tuple[c.ArrayRef, c.ArrayRef]]:
    """Two references to one array, of which an expression, or a statement, evaluates at least one: in both branches of
    what it decides whatever the data are."""
    match expr:
        case (
            c.If(condition=first, then=then, otherwise=otherwise)
            | c.Ternary(condition=first, then=then, otherwise=otherwise)
        ):
            yield from either(first)
            for one in unconditional(then, inside=True):
                for other in unconditional(otherwise, inside=True) if otherwise is not None else ():
                    if one.array == other.array:
                        yield one, other
        case c.Binary(op="&&" | "||", left=first):
            yield from either(first)
        case c.For() | c.While():
            return
        case c.Block(body=items):
            for item in items:
                yield from either(item)
                if any(isinstance(node, c.Jump) for node in c.walk(item)):
                    return
        case _:
            for child in c.children(expr):
                yield from either(child)


__all__ = ["Scalars", "changes_nothing", "either", "is_plain", "is_repeatable", "unconditional"]
