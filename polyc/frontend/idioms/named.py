"""Names for subscripts: `int k = y * w + x;`, of which each use means the expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from polyc.analysis.expressions.facts import induction, lvalues, mentions, writes
from polyc.frontend.c.ctype import INT
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.records import dataclass, replace


def named_values(region: Region, body: c.Block, is_size: Callable[[c.Member], bool]) -> frozenset[str]:
    """The variables of the region in whose place the expression may stand that gives them their only value.

    requires: it is a sum or product of numbers, and of variables that do not change while the name can be used: those
              that the region does not write, other variables with one value, and the loops around the declaration

    is_size: whether a member is a whole number that the region does not change, `s->w`
    """
    counting = counters(body)

    def parts(node: c.Node) -> Iterator[c.Node]:
        yield node
        if not isinstance(node, c.Member):
            for child in c.children(node):
                yield from parts(child)

    def steady(node: c.Node, around: frozenset[str]) -> bool:
        match node:
            case c.Name(name=name):
                symbol = region.symbol(name)
                kept = name in around or name in region.settled or name not in region.written
                return kept and (symbol is None or symbol.is_integer)
            case c.Literal() | c.Cast() | c.Binary(op="+" | "-" | "*") | c.Unary(op="+" | "-"):
                return True
            case c.Member():
                return is_size(node)
        return False

    def found(node: c.Node, around: frozenset[str]) -> Iterator[str]:
        match node:
            case c.For():
                head = induction(node)
                around = around | {head.key} if head is not None and head.key in counting else around
                yield from found(node.body, around)
                return
            case c.Decl(name=name, init=init) if init is not None and region.value(name) is not None:
                if all(steady(part, around) for part in parts(init)):
                    yield name
        for child in c.children(node):
            yield from found(child, around)

    return frozenset(found(body, frozenset()))


MOST_STEPS = 64
"""A larger number is the length of a row."""


def counters(body: c.Node) -> set[str]:
    """The variables that nothing changes but the heads of loops, of which none stands in another one."""
    heads: Counter[str] = Counter()
    nested: set[str] = set()
    for node in c.walk(body):
        head = induction(node) if isinstance(node, c.For) else None
        if head is not None and isinstance(node, c.For):
            heads[head.key] += 1
            if any(isinstance(inner, c.Name) and inner.name == head.key for inner in lvalues(node.body)):
                nested.add(head.key)
    changed = Counter(target.name for target in lvalues(body) if isinstance(target, c.Name))
    return {key for key, times in heads.items() if changed[key] == 2 * times} - nested


def with_known_steps(
    body: c.Block, scope: Scope, before: Callable[[Symbol], int | None]
) -> tuple[c.Block, dict[str, int]]:
    """The region with numbers for the names of steps that do not change, and these names: `int bs = 32;` and `i += bs`.

    before: the value that a variable is known to have before the region
    """
    changed = writes(body)
    found: dict[str, int] = {}

    def number(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name):
            return None
        symbol = scope.symbols.get(node.name)
        if symbol is None and node.name in scope.types.constants:
            return c.Literal(str(scope.types.constants[node.name]))
        if symbol is None or symbol.rank or not symbol.is_integer or symbol.volatile or symbol.key in changed:
            return None
        if symbol.storage not in (Storage.LOCAL, Storage.GLOBAL) or (
            symbol.storage is Storage.GLOBAL and not symbol.constant
        ):
            return None
        init = symbol.node.init if symbol.constant and symbol.node is not None else None
        value = before(symbol) if init is None else scope.types.constant(init)
        if value is None:
            return None
        found[symbol.key] = value
        return c.Literal(str(value))

    def known(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not isinstance(node.step, c.Assign):
            return None
        step = replace(node.step, value=c.rewrite(node.step.value, number))
        inner = c.rewrite(node.body, known)
        return node if step == node.step and inner is node.body else replace(node, step=step, body=inner)

    return c.rewrite(body, known), found


@dataclass(frozen=True, slots=True)
class Factor:
    """A size that makes products of variables."""

    type: CType
    value: int | None
    """What each call of the file passes for it; None where that is not known."""
    strides: bool = False
    """Whether such a product is compared with something, or is a part of another product, `(y * stride + v) * w`: it is
    no place in an array's rows, of which the factor would be the length."""


def factors(
    body: c.Block, scope: Scope, values: Mapping[str, int | None], member: Callable[[c.Member], CType | None]
) -> dict[c.Expr, Factor]:
    """Sizes by which subscripts, conditions and whole numbers of the region multiply its variables, and in which its
    loops count; of those of which no value is known only such that bound nothing.

    values: by the names that the user gave them
    member: the type of a member that is a whole number and that the region does not change, `s->w`
    """
    changed = writes(body)
    found: dict[c.Expr, Factor] = {}

    def known(node: c.Expr) -> None:
        match node:
            case c.Member() if (type_ := member(node)) is not None:
                found[node] = Factor(type_, None)
            case c.Name(name=name) if name not in changed and is_whole(scope, name):
                symbol = scope.symbols[name]
                value = values.get(symbol.c_name)
                outside = symbol.key == symbol.c_name and symbol.storage is not Storage.REGION
                if outside and not symbol.constant and not symbol.volatile and 0 < (value or 1) <= MOST_STEPS:
                    found[node] = Factor(symbol.shape.element, value)

    def products(node: c.Node) -> set[c.Expr]:
        before, found_here = dict(found), set[c.Expr]()
        for one in outside_subscripts(node):
            match one:
                case c.Binary(op="*", left=left, right=right):
                    for factor, other in ((left, right), (right, left)):
                        if mentions(other) & changed:
                            known(factor)
                            found_here |= {factor} & found.keys()
                case c.Name(name=name):
                    found_here |= made.get(name, set())
        found.update({expr: replace(one, strides=True) for expr, one in before.items() if one.strides})
        return found_here

    def inside(node: c.Node) -> None:
        """Note the factors of products that are parts of others."""
        for one in c.walk(node):
            match one:
                case c.Binary(op="*", left=left, right=right):
                    for part, other in ((left, right), (right, left)):
                        if not isinstance(other, c.Literal) and any(isinstance(n, c.Binary) for n in c.walk(part)):
                            asked(part)

    def asked(node: c.Node) -> None:
        for expr in products(node):
            found[expr] = replace(found[expr], strides=True)

    bounds = {side for node in c.walk(body) for side in compared(node, changed)}
    made: dict[str, set[c.Expr]] = {}
    """The factors that variables are made with."""
    for node in c.walk(body):
        match node:
            case c.Subscript(index=index):
                products(index)
                inside(index)
            case c.Ternary(condition=condition) | c.If(condition=condition):
                asked(condition)
            case c.For(condition=condition, step=step):
                if condition is not None:
                    asked(condition)
                if isinstance(step, c.Assign) and step.op in ("+=", "-="):
                    known(step.value)
                    found |= {e: replace(found[e], strides=True) for e in (step.value,) if e in found}
            case c.Decl(name=name, init=value) if value is not None and is_whole(scope, name):
                made.setdefault(name, set()).update(products(value))
            case c.Assign(target=c.Name(name=name), value=value) if is_whole(scope, name):
                made.setdefault(name, set()).update(products(value))
    return {expr: factor for expr, factor in found.items() if factor.value is not None or expr not in bounds}


def outside_subscripts(node: c.Node) -> Iterator[c.Node]:
    """The parts of an expression but what chooses the elements that it reads."""
    yield node
    if not isinstance(node, c.Subscript):
        for child in c.children(node):
            yield from outside_subscripts(child)


def compared(node: c.Node, changed: Collection[str]) -> Iterator[c.Expr]:
    """The terms of what a comparison compares, and the factors of those that do not vary."""
    waiting = [node.left, node.right] if isinstance(node, c.Binary) and node.op in c.COMPARISONS else []
    while waiting:
        side = waiting.pop()
        yield side
        if isinstance(side, c.Binary) and (side.op in ("+", "-") or not mentions(side) & {*changed}):
            waiting += [side.left, side.right]


def is_whole(scope: Scope, name: str) -> bool:
    symbol = scope.symbols.get(name)
    return symbol is not None and symbol.is_integer and not symbol.rank


def with_numbers(body: c.Block, values: Mapping[c.Expr, tuple[int, CType]]) -> c.Block:
    """The region with numbers for sizes, in the types of these."""

    def number(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name | c.Member) or node not in values:
            return None
        value, type_ = values[node]
        text = c.Literal(str(value), node.span)
        return text if type_ == INT else c.Cast(type_.text, text, node.span)

    return c.rewrite(body, number) if values else body
