"""Sizes that are parts of others: `const int W = cols / 2` before the region, and `cols` and `W` in it.

With rows of `cols` and of `W` elements, what fits depends on whether `cols` is even. The region is modelled for sizes
that are: all are multiples of the smallest one. The initialiser only says what to ask for; that it is so is assumed of
the sizes, and asked for by the guard. A size that is a sum of others is known to be one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set

import islpy as isl
from pycparser import c_ast

from polyc.analysis.expressions.facts import constant, mentions
from polyc.frontend.c.liveness import has_jumps
from polyc.frontend.c.state import Env, Region, variable
from polyc.frontend.sets.affine import Affine, label
from polyc.frontend.text.trees import changed_names, walk
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A size that is another one divided by a number."""

    whole: str
    divisor: int


def parts_of(region: Region) -> dict[str, Part]:
    """The sizes that are declared as parts, by key."""
    found: dict[str, Part] = {}
    for key, symbol in region.scope.symbols.items():
        init = symbol.node.init if symbol.node is not None else None
        if symbol.storage is not Storage.LOCAL or not symbol.is_integer or key in region.written:
            continue
        if not isinstance(init, c_ast.BinaryOp) or not isinstance(init.left, c_ast.ID) or init.op not in ("/", ">>"):
            continue
        amount = region.scope.types.constant(init.right)
        whole = region.symbol(init.left.name)
        if whole is None or whole.shape.element != symbol.shape.element or whole.key in region.written:
            continue
        if amount is not None and 0 < amount < (31 if init.op == ">>" else 1 << 31):
            found[key] = Part(whole.key, 1 << amount if init.op == ">>" else amount)
    for key, part in list(found.items()):
        seen = {key}
        while part.whole in found and part.whole not in seen:
            seen.add(part.whole)
            above = found[part.whole]
            part = Part(above.whole, above.divisor * part.divisor)
        found[key] = part
    return found


def products_of(region: Region) -> dict[str, c.Expr]:
    """The sizes that are products of others, by key: `C` as `NH * hs` where `int hs = C / NH` is declared before the
    region, and `C3` as `3 * (NH * hs)` where `int C3 = 3 * C` is. That it is so is asked for by the guard, too."""
    found: dict[str, c.Expr] = {}
    factors: dict[str, tuple[c.Expr, c.Expr]] = {}
    for key, symbol in region.scope.symbols.items():
        init = symbol.node.init if symbol.node is not None else None
        if symbol.storage is not Storage.LOCAL or not is_size(region, key) or not isinstance(init, c_ast.BinaryOp):
            continue
        left, right = side_of(region, init.left), side_of(region, init.right)
        if init.op == "/" and isinstance(left, c.Name) and isinstance(right, c.Name):
            found.setdefault(left.name, c.Binary("*", right, c.Name(key)))
        elif init.op == "*" and left is not None and right is not None:
            factors[key] = left, right
    for key, both in factors.items() if found else ():  # in the order of their declarations
        sides = [found.get(side.name, side) if isinstance(side, c.Name) else side for side in both]
        if key not in found and sides != list(both):
            first, second = sorted(sides, key=lambda side: isinstance(side, c.Literal))
            found[key] = c.Binary("*", first, second)
    return found


def told_sizes(region: Region, function: c_ast.FuncDef, names: Set[str]) -> Iterator[isl.Set]:
    """What sizes are by the sums that they are declared as: `{ : n = 2 h }` for `const int n = 2 * h;`.

    requires: neither the size nor what it is made of changes in the function; a signed sum that overflows has no value
    names: those that the region mentions
    """
    if has_jumps(function.body):
        return
    changed = {target.name for target in changed_names(function.body)}
    times = Counter(node.name for node in walk(function) if isinstance(node, c_ast.Decl))

    def stays(key: str) -> bool:
        symbol = region.symbol(key)
        if symbol is None or symbol.static or symbol.volatile or symbol.storage is Storage.GLOBAL:
            return False
        alone = symbol.key == key and key in names and key not in changed and times[key] == 1
        return alone and is_size(region, key)

    def sum_of(node: c_ast.Node) -> c.Expr | None:
        match node:
            case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                one, other = sum_of(left), sum_of(right)
                return c.Binary(op, one, other) if one is not None and other is not None else None
            case c_ast.ID(name=name) if not stays(name):
                return None
        return side_of(region, node)

    for key, symbol in list(region.scope.symbols.items()):
        init = symbol.node.init if symbol.node is not None and symbol.storage is Storage.LOCAL else None
        if not isinstance(init, c_ast.BinaryOp) or not stays(key):
            continue
        value = sum_of(init)
        found = Affine(region).value(value, Env()) if value is not None and mentions(value) else None
        if found is not None and found[1].signed and found[1].size_bytes <= symbol.shape.element.size_bytes:
            yield variable(key).eq_set(found[0])


def is_size(region: Region, key: str) -> bool:
    """Whether a variable is a signed integer, of `int` or a wider type, that the region does not write."""
    symbol = region.symbol(key)
    if symbol is None or not symbol.is_integer or key in region.written:
        return False
    return symbol.shape.element.signed and symbol.shape.element.size_bytes >= 4


def side_of(region: Region, node: c_ast.Node) -> c.Expr | None:
    """A size, or a small constant."""
    if isinstance(node, c_ast.ID):
        symbol = region.symbol(node.name)
        return c.Name(symbol.key) if symbol is not None and is_size(region, symbol.key) else None
    amount = region.scope.types.constant(node)
    return c.Literal(str(amount)) if amount is not None and 0 < amount < 1 << 15 else None


def assume_products(region: Region, products: dict[str, c.Expr]) -> None:
    """Ask whether sizes are the products that they were taken for."""
    affine = Affine(region)
    for key, product in products.items():
        asked = c.Binary("==", c.Name(key), wide(product))
        region.assumed = region.assumed.intersect(affine.yes(f"{label(c.Name(key))}_is_product", asked, True))


def wide(product: c.Expr) -> c.Expr:
    """A product, of which a constant is no first factor, in 64 bits."""
    if isinstance(product, c.Binary):
        return c.Binary("*", wide(product.left), product.right)
    return c.Cast("long", product) if isinstance(product, c.Name) else product


def told(asked: c.Expr) -> str:
    """Such a question in words: `C3 == NH * hs * 3`."""
    match asked:
        case c.Binary(op=op, left=left, right=right):
            return f"{told(left)} {op} {told(right)}"
        case c.Cast(operand=operand):
            return told(operand)
        case c.Name(name=name):
            return name
        case c.Literal(text=text):
            return text
        case c.Member(base=base, field=field, arrow=arrow):
            return f"{told(base)}{'->' if arrow else '.'}{field}"
    raise AssertionError(f"no product of sizes: {asked}")


def with_parts(body: c.Block, region: Region, parts: dict[str, Part]) -> c.Block:
    """The region with `W` for `cols / 2`; notes what is a multiple of what, and assumes it."""
    names = {part: key for key, part in parts.items()}

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="/" | ">>" as op, left=c.Name(name=name), right=right):
                amount = constant(right)
                if amount is None or not 0 < amount < 31:
                    return None
                above = parts.get(name, Part(name, 1))
                amount = 1 << amount if op == ">>" else amount
                known = names.get(Part(above.whole, above.divisor * amount))
                return None if known is None else c.Name(known, node.span)
        return None

    body = c.rewrite(body, change)
    used = mentions(body)
    for whole in dict.fromkeys(part.whole for part in parts.values()):  # in a set, it would differ from run to run
        mine = {key: part.divisor for key, part in parts.items() if part.whole == whole and key in used}
        if whole in used:
            mine[whole] = 1
        if len(mine) > 1:
            relate(region, mine)
    return body


def relate(region: Region, divisors: dict[str, int]) -> None:
    """Take sizes for multiples of the one that has the largest divisor."""
    base = max(sorted(divisors), key=lambda key: divisors[key])
    for key, divisor in sorted(divisors.items()):
        factor, rest = divmod(divisors[base], divisor)
        if key == base or rest:
            continue
        region.tie(key, base, factor)
