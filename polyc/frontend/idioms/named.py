"""Names for subscripts: `int k = y * w + x;`, of which each use means the expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from polyc.analysis.expressions.facts import induction, lvalues, mentions, writes
from polyc.frontend.c.ctype import kept
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import replace


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


def placing_values(region: Region, body: c.Block) -> frozenset[str]:
    """The variables with one value in the subscripts of elements that loops and sizes alone choose."""
    counting = counters(body)

    def is_plain(node: c.Node) -> bool:
        match node:
            case c.Name(name=name) if name in region.written and name not in counting:
                value = region.value(name)
                return value is not None and name not in mentions(value) and is_plain(value)
            case c.Name() | c.Literal() | c.Binary() | c.Ternary() | c.Cast() | c.Unary(op="+" | "-" | "!" | "~"):
                return all(map(is_plain, c.children(node)))
        return False

    found = set[str]()
    inner = {id(node.base) for node in c.walk(body) if isinstance(node, c.Subscript)}
    for node in c.walk(body):
        if not isinstance(node, c.Subscript) or id(node) in inner:
            continue
        places: list[c.Expr] = []
        part: c.Expr = node
        while isinstance(part, c.Subscript):
            places.append(part.index)
            part = part.base
        if all(map(is_plain, places)):
            found |= {name for place in places for name in mentions(place)}
    return frozenset(name for name in found if region.value(name) is not None)


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
        value = kept(before(symbol) if init is None else scope.types.constant(init), symbol.shape.element)
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
