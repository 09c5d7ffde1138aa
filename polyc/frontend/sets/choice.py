"""`if (x > m) m = x;`: a condition on data that only decides which of two values goes where."""

from __future__ import annotations

from polyc.analysis.expressions.facts import base_key, mentions
from polyc.frontend.c.references import resolve
from polyc.frontend.c.state import Region
from polyc.model import ctree as c
from polyc.records import replace

_COMPARES = ("<", "<=", ">", ">=")


def as_choice(node: c.If, region: Region) -> c.ExprStmt | None:
    """The statement as an assignment that always happens; None for one of another form.

    rewrite:  if (x > m) m = x;  ->  m = x > m ? x : m;
              if (v < low) v = low; else if (v > high) v = high;  ->  v = v < low ? low : v > high ? high : v;
    requires: the condition compares exactly the two values of the assignment, and reading m as one of the two values
              of `?:` does not change it: m is a floating-point number, or both are whole numbers
    ensures:  the same operations on the same values; where nothing was stored, m gets the value that it has
    """
    then = node.then.body[0] if isinstance(node.then, c.Block) and len(node.then.body) == 1 else node.then
    match node, then:
        case (
            c.If(condition=c.Binary(op=op, left=left, right=right) as test, otherwise=otherwise),
            c.ExprStmt(expr=c.Assign(op="=", target=target, value=value)),
        ) if op in _COMPARES and (left, right) in ((value, target), (target, value)):
            rest: c.Expr | None = target
            if otherwise is not None:
                rest = _other_choice(otherwise, target, region)
            if rest is None or not _keeps_its_value(target, value, region):
                return None
            choice = c.Ternary(test, value, rest, node.span)
            return c.ExprStmt(c.Assign("=", target, choice, node.span), node.span)
    return None


def _other_choice(otherwise: c.Stmt, target: c.Expr, region: Region) -> c.Expr | None:
    """What `else if (m > high) m = high;` leaves in the same place."""
    found = as_choice(otherwise, region) if isinstance(otherwise, c.If) else None
    match found:
        case c.ExprStmt(expr=c.Assign(target=place, value=value)) if place == target:
            return value
        case _:
            return None


def as_choices(node: c.If, region: Region, given: set[str]) -> c.Block | None:
    """The largest value so far and where it was, as assignments that always happen; None for another form.

    rewrite:  if (x > m) { m = x; at = i; }  ->  { at = x > m ? i : at; m = x > m ? x : m; }
    requires: as for `as_choice`; the others are scalars that had a value before in the region, and get sums of
              variables, of which none is assigned here
    given: the scalars that had a value before
    ensures:  the condition is evaluated on the same values each time: what it compares changes last
    """
    match node:
        case c.If(condition=c.Binary(op=op, left=left, right=right) as test, then=c.Block(body=body), otherwise=None):
            stores = [item.expr for item in body if isinstance(item, c.ExprStmt) and isinstance(item.expr, c.Assign)]
        case _:
            return None
    best = [s for s in stores if (left, right) in ((s.value, s.target), (s.target, s.value))]
    others = [s for s in stores if s not in best]
    if op not in _COMPARES or len(stores) < len(body) or len(best) != 1 or not others:
        return None
    keys = {base_key(s.target) for s in stores}
    if any(s.op != "=" or mentions(s.value) & keys for s in (*others, *best)) or len(keys) < len(stores):
        return None
    if not all(isinstance(s.target, c.Name) and s.target.name in given and _is_sum(s.value) for s in others):
        return None
    if not all(_keeps_its_value(s.target, s.value, region) for s in stores):
        return None
    chosen = (replace(s, value=c.Ternary(test, s.value, s.target, node.span)) for s in (*others, *best))
    return c.Block(tuple(c.ExprStmt(store, node.span) for store in chosen), node.span)


def _is_sum(value: c.Expr) -> bool:
    """Whether it may be evaluated anywhere: variables and numbers, added and multiplied."""
    return all(
        isinstance(n, c.Name | c.Literal) or (isinstance(n, c.Binary) and n.op in ("+", "-", "*"))
        for n in c.walk(value)
    )


def as_exchange(node: c.If, region: Region) -> c.Block | None:
    """Two elements in order, as assignments that always happen; None for a statement of another form.

    rewrite:  if (y < x) { T t = x; x = y; y = t; }  ->  { T t = x; x = y < x ? y : x; y = y < t ? t : y; }
    requires: the condition compares exactly the two elements, of one type; no subscript depends on what is stored
    ensures:  the same comparison of the same values; where nothing was exchanged, both get the values that they have.
              Where they are one element, both comparisons are of one value with itself
    """
    match node:
        case c.If(
            condition=c.Binary(op=op, left=left, right=right) as test,
            then=c.Block(
                body=(
                    c.Decl(init=one) as kept,
                    c.ExprStmt(expr=c.Assign(op="=", target=first, value=other)),
                    c.ExprStmt(expr=c.Assign(op="=", target=second, value=c.Name(name=name))),
                )
            ),
            otherwise=None,
        ) if op in _COMPARES and name == kept.name and one == first and other == second:
            pass
        case _:
            return None
    if (left, right) not in ((first, second), (second, first)):
        return None
    symbols = [resolve(region.scope, place) for place in (c.Name(name), first, second)]
    if any(s is None or s.rest or s.symbol.volatile or s.symbol.constant for s in symbols):
        return None
    shapes = {s.symbol.shape.element.text for s in symbols if s is not None}
    kinds = {s.symbol.shape.element.kind for s in symbols if s is not None}
    inside = [s for place in (first, second) for s in c.walk(place) if isinstance(s, c.Subscript)]
    stored = {name, base_key(first), base_key(second)}
    if len(shapes) > 1 or not kinds <= {"int", "float"} or any(mentions(s.index) & stored for s in inside):
        return None
    again = c.rewrite(test, lambda part: c.Name(name) if part == first else None)
    stores = (
        c.Assign("=", first, c.Ternary(test, second, first, node.span), node.span),
        c.Assign("=", second, c.Ternary(again, c.Name(name), second, node.span), node.span),
    )
    return c.Block((kept, *(c.ExprStmt(store, node.span) for store in stores)), node.span)


def _keeps_its_value(target: c.Expr, value: c.Expr, region: Region) -> bool:
    found = resolve(region.scope, target)
    if found is None or found.rest or found.symbol.volatile or found.symbol.constant:
        return False
    match found.symbol.shape.element.kind:
        case "float":
            return _is_pure(value, region)
        case "int":
            return _is_pure(value, region) and _is_whole(value, region)
        case _:
            return False


def _is_pure(value: c.Expr, region: Region) -> bool:
    """Whether evaluating it changes nothing."""
    for node in c.walk(value):
        match node:
            case c.Assign() | c.Postfix() | c.Unary(op="++" | "--"):
                return False
            case c.Call(function=name, arguments=arguments):
                effect = region.effects(name)
                if effect.anything or effect.ordered or any(effect.writes(k) for k in range(len(arguments))):
                    return False
            case _:
                pass
    return True


def _is_whole(value: c.Expr, region: Region) -> bool:
    """Whether it is made of whole numbers alone."""
    for node in c.walk(value):
        match node:
            case c.Name(name=name):
                found = region.scope.symbols.get(name)
                if found is None or found.shape.element.kind != "int":
                    return False
            case c.Literal(text=text):
                if not text.rstrip("uUlL").isdigit():
                    return False
            case c.Subscript() | c.Binary() | c.Unary(op="-" | "+" | "~"):
                pass
            case _:
                return False
    return True
