"""Small expressions of indices and counts, with what is known left out."""

from __future__ import annotations

from polyc.codegen.text.macros import MAX, MIN
from polyc.model import ctree as c

ZERO, ONE = c.Literal("0"), c.Literal("1")


def in_64_bits(value: c.Expr, sizes: set[str]) -> c.Expr:
    """A subscript in 64 bits: loop variables have them already, sizes need not."""
    match value:
        case c.Literal(text=text) if text.isdigit():
            return c.Literal(text if text == "0" else f"{text}L")
        case c.Name(name=name) | c.Binary(op="+" | "-", left=c.Name(name=name)) if name not in sizes:
            return value
        case _:
            return c.Cast("long", value)


def divided(value: c.Expr, count: c.Expr) -> c.Expr:
    return value if count == ONE else c.Binary("/", value, count)


def product(left: c.Expr, right: c.Expr) -> c.Expr:
    return left if left == ZERO else c.Binary("*", left, right)


def product_of(counts: list[c.Expr]) -> c.Expr:
    """The product of all, in 64 bits; 1 of none."""
    if not counts:
        return ONE
    found: c.Expr = counts[0] if _is_wide(counts[0]) else c.Cast("long", counts[0])
    for count in counts[1:]:
        found = c.Binary("*", found, count)
    return found


def _is_wide(value: c.Expr) -> bool:
    """Whether a sum or product has an operand in 64 bits."""
    match value:
        case c.Cast(type="long"):
            return True
        case c.Literal(text=text):
            return text.endswith("L")
        case c.Binary(op="+" | "-" | "*", left=left, right=right):
            return _is_wide(left) or _is_wide(right)
        case _:
            return False


def plus(left: c.Expr, right: c.Expr) -> c.Expr:
    if left == ZERO:
        return right
    return left if right == ZERO else c.Binary("+", left, right)


def times(factor: int, value: c.Expr) -> c.Expr:
    if factor == 1:
        return value
    if isinstance(value, c.Literal):
        return c.Literal(str(factor * int(value.text)))
    if isinstance(value, c.Name) and "." in value.name:  # gridDim.x has 32 bits without a sign
        return c.Binary("*", c.Literal(f"{factor}L"), value)
    return c.Binary("*", c.Literal(str(factor)), value)


def trips_of(start: c.Expr, end: c.Expr, step: int) -> c.Expr:
    """How many values there are from `start` below `end` in steps."""
    width = end if start == ZERO else c.Binary("-", c.Cast("long", end), start)
    if isinstance(width, c.Literal):
        return c.Literal(str(max(0, -(-int(width.text.rstrip("L")) // step))))
    if step == 1:
        return width
    return c.Binary("/", c.Binary("+", width, c.Literal(f"{step - 1}L")), c.Literal(str(step)))


def most_of(counts: list[c.Expr]) -> c.Expr:
    """The largest of some counts."""
    found = list(dict.fromkeys(counts))
    answer = found[0]
    for other in found[1:]:
        answer = c.Call(MAX, (answer, other))
    return answer


def at_most(grid: tuple[c.Expr, ...], most: int, folded: bool) -> tuple[c.Expr, ...]:
    """A grid of at most so many blocks in all: fewer along its last axis, where each block takes several tiles.

    folded: several loops share x, so that its blocks cannot be any number.
    """
    last = max((k for k, count in enumerate(grid) if count != ONE), default=0)
    if folded and last == 0:
        return grid
    inner = [count for count in grid[:last] if count != ONE]
    if all(isinstance(count, c.Literal) for count in (*inner, grid[last])):
        numbers = [int(count.text) for count in (*inner, grid[last]) if isinstance(count, c.Literal)]
        room = most
        for number in numbers[:-1]:
            room //= max(number, 1)
        limited: c.Expr = c.Literal(str(min(numbers[-1], max(room, 1))))
    else:
        rest: c.Expr = c.Literal(str(most))
        if inner:
            rest = c.Call(MAX, (c.Binary("/", rest, c.Call(MAX, (product_of(inner), ONE))), ONE))
        limited = c.Call(MIN, (grid[last], rest))
    return (*grid[:last], limited, *grid[last + 1 :])
