"""Variables for subscripts that are corrected by an `if`.

They become what the model follows, a variable of a block with one value:

rewrite:  int k = e; if (k < 0) k += n;     ->  int k = e < 0 ? e + n : e;
          int k; if (c) k = e; else k = f;  ->  int k = c ? e : f;
          int k = e; if (k < 0) k = -k; else if (k >= n) k = g;  ->  int k = e < 0 ? -e : e >= n ? g : e;
          int k = e; k = abs(k);            ->  int k = e < 0 ? -e : e;
requires: whole numbers without side effects and without loads; the value says where something is or what runs: of all
          others, a choice of choices would be computed again in each of its parts
"""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import mentions, writes
from polyc.frontend.c.ctype import INT, basic
from polyc.frontend.c.symbols import Scope
from polyc.frontend.idioms.helpers import converted, is_arithmetic, type_of
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.records import dataclass, replace

WHOLE_ABSOLUTE = {"abs": INT, "labs": basic("long", "long")}
"""C's own functions, with the types of their values."""
LARGEST = 64
"""Nodes of a value that is put together."""


def with_indices(body: c.Block, scope: Scope) -> c.Block:
    """The region with values that are put together where they are declared."""
    places = leading_to_places(body)

    def visit(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        parts: list[c.Stmt] = []
        for item in node.body:
            item = c.rewrite(item, visit)
            if not places.intersection(assigned(item)) or not into_declaration(item, parts, scope):
                parts.append(item)
        return replace(node, body=tuple(parts))

    return c.rewrite(body, visit)


def leading_to_places(body: c.Block) -> set[str]:
    """Variables that subscripts, bounds, conditions and functions are given, and those that these get their values
    from, unless they get some from memory."""
    found, sources = set[str](), list[tuple[str, c.Expr]]()
    for node in c.walk(body):
        match node:
            case c.Subscript(index=index):
                found |= mentions(index)
            case c.Unary(op="*", operand=address):
                found |= mentions(address)
            case c.For(init=init, condition=condition, step=step):
                found |= {name for part in (init, condition, step) if part is not None for name in mentions(part)}
            case c.While(condition=condition) | c.If(condition=condition) | c.Ternary(condition=condition):
                found |= mentions(condition)
            case c.Call(arguments=arguments):
                found |= {name for argument in arguments for name in mentions(argument)}
            case c.Decl(name=name, extents=extents, init=value):
                found |= {one for extent in extents for one in mentions(extent)}
                sources += [] if value is None else [(name, value)]
            case c.Assign(target=c.Name(name=name), value=value):
                sources.append((name, value))
            case _:
                pass
    loaded = {name for name, value in sources if any(isinstance(n, c.Subscript) for n in c.walk(value))}
    while True:
        more = {one for name, value in sources if name in found - loaded for one in mentions(value)} - found
        if not more:
            return found
        found |= more


def into_declaration(item: c.Stmt, before: list[c.Stmt], scope: Scope) -> bool:
    """Put what assigns one variable into its declaration, if there is one before it that it can join."""
    keys = set(assigned(item))
    key = next(iter(keys), None)
    if key is None or len(keys) != 1 or not (isinstance(item, c.If) or is_choice(item)):
        return False
    place = next((n for n, one in enumerate(before) if isinstance(one, c.Decl) and one.name == key), None)
    symbol = scope.symbols.get(key)
    if place is None or symbol is None or not symbol.is_integer or symbol.volatile or symbol.constant:
        return False
    declaration = before[place]
    assert isinstance(declaration, c.Decl)
    exprs = expressions(item)
    used = {name for expr in exprs for name in mentions(expr)}
    between = before[place + 1 :]
    changed = {name for one in between for name in writes(one) | ({one.name} if isinstance(one, c.Decl) else set())}
    start, element = declaration.init, symbol.shape.element
    if used & changed or any(key in mentions(one) for one in between) or not is_arithmetic(element, scope.types):
        return False
    if not all(is_plain(expr, scope) for expr in (*exprs, *([] if start is None else [start]))):
        return False
    if between and any(isinstance(part, c.Binary) and part.op in "/%" for expr in exprs for part in c.walk(expr)):
        return False  # it could stop the program where what stands between ends it first
    old = None if start is None else converted(start, element, type_of(start, scope))
    value = _Value(key, element, scope).after(item, old)
    if value is None or sum(1 for _ in c.walk(value)) > LARGEST:
        return False
    before[place] = replace(declaration, init=value)
    return True


def is_choice(node: c.Stmt) -> bool:
    """Whether a statement assigns one of several values."""
    return isinstance(node, c.ExprStmt) and any(
        isinstance(part, c.Ternary) or is_absolute(part) for part in c.walk(node.expr)
    )


def is_absolute(node: c.Node) -> bool:
    return isinstance(node, c.Call) and node.function in WHOLE_ABSOLUTE and len(node.arguments) == 1


def assigned(node: c.Stmt | None) -> Iterator[str | None]:
    """The variables that branches assign; None for whatever else they do."""
    match node:
        case None | c.Empty():
            pass
        case c.Block(body=body):
            for item in body:
                yield from assigned(item)
        case c.If(then=then, otherwise=otherwise):
            yield from assigned(then)
            yield from assigned(otherwise)
        case c.ExprStmt(expr=c.Assign(op="=" | "+=" | "-=", target=c.Name(name=name))):
            yield name
        case _:
            yield None


def expressions(node: c.Stmt | None) -> list[c.Expr]:
    """The conditions and values of what `assigned` looks at."""
    match node:
        case c.Block(body=body):
            return [expr for item in body for expr in expressions(item)]
        case c.If(condition=condition, then=then, otherwise=otherwise):
            return [condition, *expressions(then), *expressions(otherwise)]
        case c.ExprStmt(expr=c.Assign(value=value)):
            return [value]
    return []


@dataclass(frozen=True, slots=True)
class _Value:
    """The value of a variable, as an expression."""

    key: str
    element: CType
    scope: Scope

    def after(self, node: c.Stmt | None, old: c.Expr | None) -> c.Expr | None:
        """The value behind statements that assign nothing else; None where it is not known, or has none before that
        they would read. old: the value before them"""
        match node:
            case c.Block(body=body):
                for item in body:
                    old = self.after(item, old)
                return old
            case c.If(condition=condition, then=then, otherwise=otherwise):
                test, first, second = self.now(condition, old), self.after(then, old), self.after(otherwise, old)
                whole = test is not None and first is not None and second is not None
                return c.Ternary(test, first, second, node.span) if whole else None  # type: ignore[arg-type]
            case c.ExprStmt(expr=c.Assign(op=op, target=target, value=value)):
                expr = value if op == "=" else c.Binary(op[0], target, value, value.span)
                found = self.now(expr, old)
                return None if found is None else converted(found, self.element, type_of(found, self.scope))
        return old

    def now(self, expr: c.Expr, old: c.Expr | None) -> c.Expr | None:
        """An expression with the value in the place of the variable."""
        if old is None:
            return None if self.key in mentions(expr) else self.plain(expr)
        return self.plain(
            c.rewrite(expr, lambda node: old if isinstance(node, c.Name) and node.name == self.key else None)
        )

    def plain(self, expr: c.Expr) -> c.Expr | None:
        """The expression with choices in the place of `abs(e)`; None where that has another type than e."""

        def chosen(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Call):
                return None
            inner = c.rewrite(node.arguments[0], chosen)
            return c.Ternary(c.Binary("<", inner, c.Literal("0")), c.Unary("-", inner), inner, node.span)

        calls = [node for node in c.walk(expr) if isinstance(node, c.Call)]
        same = all(type_of(call.arguments[0], self.scope) == WHOLE_ABSOLUTE[call.function] for call in calls)
        return c.rewrite(expr, chosen) if same else None


def is_plain(expr: c.Expr, scope: Scope) -> bool:
    """Whether it is made of whole numbers, of variables and constants."""
    for node in c.walk(expr):
        match node:
            case c.Name(name=name):
                symbol = scope.symbols.get(name)
                if symbol is not None and not symbol.is_integer:
                    return False
            case c.Literal(text=text):
                if literal_value(text) is None:
                    return False
            case c.Binary() | c.Ternary() | c.Cast() | c.Unary(op="+" | "-" | "!"):
                pass
            case c.Call() if is_absolute(node):
                pass
            case _:
                return False
    return True
