"""What the threads of a block run together, in a kernel's text: loops of constant length, unrolled, since nvcc cannot
tell that each thread has as many turns; and barriers outside of branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby
from math import prod

from polyc.analysis.expressions.facts import with_value
from polyc.analysis.expressions.linear import Linear, linear
from polyc.codegen.loops.instances import block_of
from polyc.codegen.text.arith import ZERO, plus, times
from polyc.codegen.text.printer import UNROLL
from polyc.codegen.text.tidy import tidied
from polyc.model import ctree as c
from polyc.nests.naming import fresh
from polyc.records import dataclass, replace

MOST = 16
"""Turns of a thread that are unrolled, in all loops around a copy."""
MOST_UNEVEN = 12
"""The same where some threads have one more: the places of more would not fit into registers."""


@dataclass(frozen=True, slots=True)
class _Turns:
    """A loop of which each thread has a fixed number of turns."""

    count: int
    step: int
    last: c.Expr | None = None
    """Which threads have one turn more; None where none has."""


def in_turns(
    body: tuple[c.Stmt, ...], widths: Mapping[str, int], panels: Set[str], taken: Set[str]
) -> tuple[c.Stmt, ...]:
    """A kernel's statements with its loops over the cells of panels unrolled.

    widths: threads along an axis, by the names of their indices, x first; panels: arrays in shared memory; taken: names
            of the kernel
    rewrite:  for (x = xt + ty; x < xt + 35; x += 8) copy(x)
              -> for (q = 0; q < 4; q++) { x = xt + ty + 8 * q; copy(x); } if (ty < 3) { x = xt + ty + 32; copy(x); }
    math:     0 <= ty < 8: each thread has the 4 turns of 32, and 3 threads have one more
    """

    def turns(loop: c.For) -> _Turns | None:
        match loop:
            case c.For(
                init=c.Decl(init=start),
                condition=c.Binary(op="<", right=end),
                step=c.Assign(op="+=", value=c.Literal(text=text)),
                pragmas=(),
            ) if start is not None and text.isdigit():
                step = int(text)
            case _:
                return None
        rest = linear(end).plus(linear(start), -1)
        share = Linear((), 0).plus(Linear(rest.terms, 0), -1)
        left = rest.constant % step
        if (
            not is_share(share, step, widths)
            or not step <= rest.constant < (MOST_UNEVEN + 1 if left else MOST + 1) * step
        ):
            return None
        some = c.Binary("<", share.expr(widths.keys()), c.Literal(str(left))) if left else None
        return _Turns(rest.constant // step, step, some)

    def unrolled(item: c.Stmt, left: int, used: frozenset[str]) -> c.Stmt | None:
        """A loop that only moves cells, with its loops unrolled; None for another one. used: names of loops around."""
        if not isinstance(item, c.For) or not isinstance(item.init, c.Decl) or item.init.init is None:
            return None
        found = turns(item)
        if found is None or found.count > left or (found.count == 1 and left == MOST and found.last is None):
            return None
        inside = item.body.body if isinstance(item.body, c.Block) else (item.body,)
        *places, last = inside
        if not all(isinstance(place, c.Decl) for place in places):
            return None
        turn = fresh("q", used)
        inner = unrolled(last, left // found.count, used | {turn})
        if (inner is None and not is_copy(last, panels)) or (inner is not None and found.last is not None):
            return None
        steps = inner.body if isinstance(inner, c.Block) else (inner or last,)
        position = replace(item.init, type=f"const {item.init.type}")
        return turns_of(position, found.count, found.step, turn, (*places, *steps), found.last)

    def change(node: c.Node) -> c.Node | None:
        return unrolled(node, MOST, frozenset(taken)) if isinstance(node, c.For) else None

    return tidied(tuple(c.rewrite(item, change) for item in body))


def turns_of(
    position: c.Decl, count: int, step: int, turn: str, below: tuple[c.Stmt, ...], last: c.Expr | None = None
) -> c.Stmt:
    """What a thread does from a position on, so many times in steps: unrolled, and without a loop where it is once.

    last: which threads do it once more. Asking this in each turn would cost more: a convolution took 15 % longer.
    """
    start = position.init
    assert start is not None

    def at(number: c.Expr) -> c.Block:
        here = replace(position, init=plus(start, times(step, number)))
        return c.Block((here, *(with_value(item, turn, number) for item in below)))

    few = c.Binary("<", c.Name(turn), c.Literal(str(count)))
    first, following = c.Decl("int", turn, (), ZERO), c.Postfix("++", c.Name(turn))
    found = list[c.Stmt]()
    if count:
        found.append(c.For(first, few, following, at(c.Name(turn)), (UNROLL,)) if count > 1 else at(ZERO))
    if last is not None:
        found.append(c.If(last, at(c.Literal(str(count)))))
    return found[0] if len(found) == 1 else c.Block(tuple(found))


def is_share(index: Linear, step: int, widths: Mapping[str, int]) -> bool:
    """Whether threads count from different numbers below a step, one for each.

    widths: threads along an axis, by the names of their indices, x first
    """
    factors = {term.name: factor for term, factor in index.terms if isinstance(term, c.Name)}
    before, parts = 1, []
    for name, width in widths.items():
        if name in factors:
            parts.append((factors[name], before, width))
        before *= width
    if index.constant or len(factors) != len(index.terms) or not parts or len(parts) != len(factors):
        return False
    alone = len(parts) == 1 and parts[0][0] == 1
    return (alone or all(factor == weight for factor, weight, _ in parts)) and prod(w for *_, w in parts) == step


def is_copy(item: c.Stmt, panels: Set[str] = frozenset()) -> bool:
    """Whether a statement moves one element into shared memory or out of it, or fills one of these panels with what it
    makes of one or two."""
    match item:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array), value=value)) if array in panels:
            return sum(isinstance(n, c.ArrayRef) for n in c.walk(value)) in (1, 2)
        case c.ExprStmt(expr=c.Call(function=function)):
            return function.startswith("polyc_fetch")
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(), value=value)):
            return isinstance(value.then if isinstance(value, c.Ternary) else value, c.ArrayRef)
        case _:
            return False


def outside_of_branches(statements: tuple[c.Stmt, ...], barrier: c.Stmt) -> Iterator[c.Stmt]:
    """Statements that all threads of a block run: they take the same branch, and may as well meet in any case.

    rewrite:   if (n > t) { barrier; A; barrier; B }  ->  barrier; if (n > t) A; barrier; if (n > t) B
    why:       PoCL makes wrong code of barriers in branches inside of loops with barriers
    """
    for item in statements:
        sides = _sides(item) if isinstance(item, c.If) else []
        steps = [step for _, body in sides for step in body]
        if barrier not in steps or any(isinstance(step, c.Decl) for step in steps):
            yield item
            continue
        for condition, body in sides:
            for meets, group in groupby(body, key=lambda step: step == barrier):
                yield barrier if meets else c.If(condition, block_of(tuple(group)))


def _sides(branch: c.If) -> list[tuple[c.Expr, tuple[c.Stmt, ...]]]:
    """Each condition, and what runs where it holds."""
    found: list[tuple[c.Expr, tuple[c.Stmt, ...]]] = [(branch.condition, _steps(branch.then))]
    if branch.otherwise is not None:
        found.append((c.Unary("!", branch.condition), _steps(branch.otherwise)))
    return found


def _steps(body: c.Stmt) -> tuple[c.Stmt, ...]:
    return body.body if isinstance(body, c.Block) else (body,)
