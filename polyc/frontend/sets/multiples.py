"""Sizes that are parts of others: `const int W = cols / 2` before the region, and `cols` and `W` in it.

With rows of `cols` and of `W` elements, what fits depends on whether `cols` is even. The region is modelled for sizes
that are: all are multiples of the smallest one. The initialiser only says what to ask for; that it is so is assumed of
the sizes, and asked for by the guard.
"""

from __future__ import annotations

from pycparser import c_ast

from polyc.analysis.expressions.facts import constant, mentions
from polyc.frontend.c.state import Region
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
