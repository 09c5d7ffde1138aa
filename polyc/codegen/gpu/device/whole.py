"""Tiles that no bound cuts off, in a kernel's text: their threads have a fixed number of turns each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Set
from math import prod

from polyc.analysis.expressions.facts import step_of
from polyc.analysis.expressions.linear import Linear, linear
from polyc.codegen.gpu.device.turns import is_copy, is_share, turns_of
from polyc.codegen.text.arith import ZERO, plus
from polyc.codegen.text.macros import MAX, MIN
from polyc.codegen.text.printer import conjunction
from polyc.model import ctree as c
from polyc.nests.naming import fresh
from polyc.records import dataclass, replace

MOST_TURNS = 8
"""Turns of a thread that are unrolled."""
MOST_WINDOW = 16
"""Iterations of a loop in a turn that has as many in each whole tile."""
MOST_ACCESSES = 160
"""Accesses of all turns: more would only wait for registers."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop that in whole tiles runs from `base` in steps, so many times."""

    start: c.Expr
    base: Linear
    count: int
    step: int


class _Unknown(Exception):
    """It is not known where a bound cuts nothing off."""


def whole_tiles(
    body: tuple[c.Stmt, ...],
    widths: Mapping[str, int],
    sizes: Mapping[str, bool],
    panels: Container[str],
    taken: Set[str],
) -> tuple[c.Stmt, ...]:
    """A kernel's statements, the points of tiles printed twice: for whole tiles without bounds, and for others.

    widths: threads along an axis, by the names of their indices, x first; sizes: its whole numbers that
    no statement changes, and whether they have a sign; panels: arrays that a block shares; taken: names of the kernel
    rewrite:  for (i = it + ty; i < min(n, it + 32); i += 8) A(i)
              -> if (it + 32 <= n) for (q = 0; q < 4; q++) A(it + ty + 8 * q); else as before
    math:     where it + 32 <= n, min(n, it + 32) = it + 32, and each of 8 threads has 4 turns
    why:      the loads of all turns are on their way before the first one is waited for; nvcc cannot tell how many
              turns there are, and moves no load over a condition
    """

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For):
            return None
        try:
            return _Nest(widths, sizes, panels, taken).twice(node)
        except _Unknown:
            return None

    return tuple(c.rewrite(item, change) for item in body)


class _Nest:
    """The points of one tile, as a block's threads share them."""

    def __init__(
        self, widths: Mapping[str, int], sizes: Mapping[str, bool], panels: Container[str], taken: Set[str]
    ) -> None:
        self.widths = widths
        self.sizes = sizes
        self.panels = panels
        self.taken = set(taken)
        self.conditions: dict[frozenset[tuple[c.Expr, int]], Linear] = {}
        """What is not negative in whole tiles, by its terms."""
        self.ranges: dict[str, tuple[Linear, Linear]] = {}
        """The first and the last value of the loops around, in names of the tile."""
        self.turns = 1
        self.shared = False

    def twice(self, loop: c.For) -> c.Stmt:
        """The nest for whole tiles, else as it is. Raises _Unknown where that would gain nothing."""
        whole = self.of(loop)
        accesses = sum(isinstance(n, c.ArrayRef) and n.subscripts != () for n in c.walk(whole))
        windows = prod(self.window_counts(whole))
        if not self.shared or (self.turns == 1 and windows == 1) or accesses * self.turns * windows > MOST_ACCESSES:
            raise _Unknown
        whole = whole if isinstance(whole, c.Block) else c.Block((whole,))
        condition = conjunction(map(_condition, self.conditions.values()))
        return whole if condition is None else c.If(condition, whole, c.Block((loop,)))

    def window_counts(self, whole: c.Stmt) -> Iterator[int]:
        for node in c.walk(whole):
            match node:
                case c.For(pragmas=(), init=c.Decl(init=start), condition=c.Binary(right=end)) if start is not None:
                    yield linear(end).plus(linear(start), -1).constant

    def of(self, item: c.Stmt) -> c.Stmt:
        """A statement in a whole tile."""
        match item:
            case c.Block(body=body):
                return replace(item, body=tuple(self.of(one) for one in body))
            case c.For() as loop:
                return self.loop(loop)
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array), value=c.Ternary())) if (
                array in self.panels and is_copy(item)
            ):
                raise _Unknown  # it brings zeros from beyond the border, in loops of constant length
            case c.Decl(extents=()) | c.ExprStmt(expr=c.Assign()):
                return c.rewrite(item, self.chosen)
            case c.If(condition=condition, then=then, otherwise=otherwise):
                side = self.side(condition)
                if side is not None:
                    left = then if side else otherwise
                    return c.Block(()) if left is None else self.of(left)
                return replace(item, then=self.of(then), otherwise=None if otherwise is None else self.of(otherwise))
            case _:
                raise _Unknown

    def chosen(self, node: c.Node) -> c.Node | None:
        """The value that a choice has away from borders; None for others."""
        if not isinstance(node, c.Ternary):
            return None
        side = self.side(node.condition)
        if side is None:
            return None
        return c.rewrite(node.then if side else node.otherwise, self.chosen)

    def side(self, condition: c.Expr) -> bool | None:
        """Whether a condition holds for all points of tiles away from borders; None where that is not asked."""
        match condition:
            case c.Binary(op="&&" | "||" as op, left=left, right=right):
                sides = (self.side(left), self.side(right))
                if (op == "||") in sides:
                    return op == "||"
                return None if None in sides else op == "&&"
            case c.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left, right=right):
                mentioned = {n.name for n in c.walk(condition) if isinstance(n, c.Name)}
                if not mentioned & self.ranges.keys() or not all(self.sizes.get(name, True) for name in mentioned):
                    return None  # what has no sign may wrap around
                more = linear(right).plus(linear(left), -1)
                positive = _in_the_middle(more, self.ranges.keys())
                difference = Linear((), 0).plus(more, 1 if positive else -1)
                strict = op not in (("<=", ">") if positive else ("<", ">="))
                if not self.holds(difference.plus(Linear((), -1)) if strict else difference):
                    return None
                return op == "!=" or op in (("<", "<=") if positive else (">", ">="))
            case _:
                return None

    def loop(self, loop: c.For) -> c.Stmt:
        found = self.counted(loop)
        share = is_share(linear(found.start).plus(found.base, -1), found.step, self.widths)
        if not share and found.step > 1:
            raise _Unknown
        last = found.base.plus(Linear((), found.count * found.step - 1))
        assert isinstance(loop.init, c.Decl)
        self.ranges[loop.init.name] = (found.base, last)
        if not share:  # all iterations are one thread's
            if found.count > MOST_WINDOW:
                raise _Unknown
            end = plus(found.start, c.Literal(str(found.count)))
            if isinstance(found.start, c.Literal):
                end = c.Literal(str(linear(found.start).constant + found.count))
            inside = self.of(loop.body)
            bounds = c.Binary("<", c.Name(loop.init.name), end)
            return replace(loop, init=replace(loop.init, init=found.start), condition=bounds, body=inside)
        self.shared = True
        self.turns *= found.count
        if self.turns > MOST_TURNS:
            raise _Unknown
        turn = fresh("q", self.taken)
        self.taken.add(turn)
        inside = self.of(loop.body)
        below = inside.body if isinstance(inside, c.Block) else (inside,)
        position = replace(loop.init, type="const long", init=found.start)
        return turns_of(position, found.count, found.step, turn, below)

    def counted(self, loop: c.For) -> _Loop:
        """How often the loop runs in a whole tile. Raises _Unknown."""
        match loop:
            case c.For(init=c.Decl(name=name, init=start), condition=c.Binary(op="<", right=end), pragmas=()) if (
                start is not None
            ):
                step = step_of(loop.step, name) or 0
            case _:
                raise _Unknown
        if step <= 0:
            raise _Unknown
        starts, ends = list(_alternatives(start)), _arguments(end, MIN)
        for first in starts:
            base = _without(linear(first), self.widths)
            for last in ends:
                length = linear(last).plus(base, -1)
                if length.terms or length.constant <= 0 or length.constant % step:
                    continue
                lows = [_without(linear(other), self.widths) for other in starts if other is not first]
                highs = [linear(other) for other in ends if other is not last]
                end_here = base.plus(length)
                differences = [base.plus(low, -1) for low in lows] + [high.plus(end_here, -1) for high in highs]
                if not all(self.holds(d) for d in differences):
                    raise _Unknown
                return _Loop(first, base, length.constant // step, step)
        raise _Unknown

    def holds(self, difference: Linear) -> bool:
        """Ask for whole tiles that a difference is not negative in any thread; False where that cannot be asked."""
        for name, (low, high) in reversed(self.ranges.items()):
            factor = difference.factor(name)
            if factor:
                without = difference.plus(linear(c.Name(name)), -factor)
                difference = without.plus(low if factor > 0 else high, factor)
        fixed = self.sizes.keys() - self.ranges.keys()
        if not all(_is_of(term, fixed) for term, _ in difference.terms):
            return False
        if difference.terms:
            key = frozenset(difference.terms)
            weaker = self.conditions.get(key, difference)
            self.conditions[key] = min(difference, weaker, key=lambda d: d.constant)
        return bool(difference.terms) or difference.constant >= 0


def _is_of(term: c.Expr, names: Container[str]) -> bool:
    """Whether a term is a number that only these names decide."""
    return all(
        n.name in names if isinstance(n, c.Name) else isinstance(n, c.Binary | c.Unary | c.Literal | c.Call | c.Cast)
        for n in c.walk(term)
    )


def _condition(difference: Linear) -> c.Expr:
    """That a difference is not negative, without subtractions, in 64 bits."""
    less = Linear(tuple((t, -f) for t, f in difference.terms if f < 0), max(0, -difference.constant))
    more = Linear(tuple((t, f) for t, f in difference.terms if f > 0), max(0, difference.constant))
    return c.Binary("<=", _long(less), _long(more))


def _in_the_middle(value: Linear, points: Set[str]) -> bool:
    """Whether a sum is positive far from the ends of its loops: sizes count for more than the places of points, and
    these for more than small numbers."""
    sizes = [f for t, f in value.terms if not any(isinstance(n, c.Name) and n.name in points for n in c.walk(t))]
    if not sizes and abs(value.constant) > MOST_WINDOW:
        return value.constant > 0
    return sum(sizes or (f for _, f in value.terms)) > 0


def _long(value: Linear) -> c.Expr:
    """A sum in 64 bits."""
    if not value.terms:
        return c.Literal(str(value.constant))
    found = Linear(value.terms, 0).expr()
    return c.Binary("+", found, c.Literal(f"{value.constant}L")) if value.constant else found


def _arguments(value: c.Expr, macro: str) -> list[c.Expr]:
    """What an extremum is one of."""
    match value:
        case c.Call(function=function, arguments=arguments) if function == macro:
            return [one for argument in arguments for one in _arguments(argument, macro)]
        case _:
            return [value]


def _alternatives(start: c.Expr) -> Iterator[c.Expr]:
    """The values that a start may have: one for each argument of the maximum in it."""
    calls = [t for t, factor in linear(start).terms if factor == 1 and isinstance(t, c.Call) and t.function == MAX]
    if not calls:
        yield start
        return
    for argument in _arguments(calls[0], MAX):
        chosen = c.rewrite(start, lambda n, argument=argument: argument if n == calls[0] else None)  # type: ignore[misc]
        yield chosen.right if isinstance(chosen, c.Binary) and chosen.op == "+" and chosen.left == ZERO else chosen


def _without(value: Linear, names: Mapping[str, int]) -> Linear:
    """A sum without the indices of threads."""
    return Linear(
        tuple((t, f) for t, f in value.terms if not (isinstance(t, c.Name) and t.name in names)), value.constant
    )
