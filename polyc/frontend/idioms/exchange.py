"""Pointers that change places in a region: `t = a; a = b; b = t;` at each step of a loop over time, or by a choice.

rewrite:  for (t = lo; t < hi; t++) { s(a, b); x = a; a = b; b = x; }
          -> for (t = lo; t < hi; t++) if ((t - lo) % 2 == 0) s(a, b); else s(b, a);
          and behind the region's loops, where the number of steps is odd: a and b exchanged
          { p = t % 2 ? b : a; s(p); }  ->  if (t % 2) { p = b; s(p); } else { p = a; s(p); }
requires: the loop stands in no other one, and the pointers are what they were after at most MOST steps
          of a choice: its condition has no side effects, and mentions none of the pointers
ensures:  each name stands for one array in all of the region; conditions on steps are affine
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyc.analysis.expressions.facts import has_jump, induction, mentions
from polyc.errors import Span
from polyc.frontend.c.checks import EXCHANGE
from polyc.frontend.c.state import CTX, Env, Region, number, variable
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.sets.loops import NotAffine, analyse
from polyc.model import ctree as c
from polyc.model.scop import Exchange, Storage
from polyc.poly import project
from polyc.records import dataclass, replace

MOST = 4
"""Steps after which the pointers have to be what they were: two buffers take two, three of a wave equation three."""
MOST_CHOICES = 2
"""Of a block: with each of them there is twice as much of what follows."""
Names = dict[str, str]
"""For each pointer the one whose array it has, by their keys."""


@dataclass(frozen=True, slots=True, eq=False)
class Turning:
    """A loop in which pointers change places."""

    loop: c.For
    """As it is modelled."""
    states: tuple[Names, ...]
    """After 1, 2, … steps; the last one is as before the first step, but for temporaries."""
    span: Span | None
    """Of the first assignment."""


def with_choices_apart(body: c.Block, scope: Scope, most: int = MOST_CHOICES) -> c.Block:
    """The region with what follows in its block in both branches of a choice that gives pointers their values."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        found = _parted(node, scope) if most else None
        return None if found is None else with_choices_apart(found, scope, most - 1)

    return c.rewrite(body, change)


def _parted(block: c.Block, scope: Scope) -> c.Block | None:
    items = block.body
    for first, item in enumerate(items):
        choice = _choice_of(item, scope)
        if choice is None:
            continue
        last, ways = first + 1, [_ways(item, False)]
        while last < len(items) and (turned := _is_turned(choice, _choice_of(items[last], scope))) is not None:
            ways.append(_ways(items[last], turned))
            last += 1
        rest, given = items[last:], [one for way in ways for branch in way for one in branch]
        pointers = {key for one in given for key in _assigned(one)}
        moved = any(key in mentions(_value(one)) for one in given for key in pointers)  # `p = c ? p + n : p`
        if moved or pointers & mentions(choice) or not any(pointers & mentions(one) for one in rest):
            continue
        one, other = ([s for way in ways for s in way[branch]] + list(rest) for branch in (0, 1))
        names: Names = {}
        copies = tuple(copied(scope, s, names, True) for s in other)
        both = c.If(choice, c.Block(tuple(one)), c.Block(copies), getattr(item, "span", None))
        return replace(block, body=(*items[:first], both))
    return None


def _choice_of(item: c.Stmt, scope: Scope) -> c.Expr | None:
    """The condition by which a statement gives pointers their values, if it does nothing else."""
    found: c.Expr | None = None
    match item:
        case c.Decl(init=c.Ternary(condition=found)):
            pass
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(), value=c.Ternary(condition=found))):
            pass
        case c.If(condition=found, otherwise=otherwise) if otherwise is not None:
            pass
    if found is None or _has_effect(found):
        return None
    keys = [key for way in _ways(item, False) for one in way for key in _assigned(one) or [""]]
    pointers = [scope.symbols.get(key) for key in keys]
    return found if keys and all(one is not None and is_pointer(one) for one in pointers) else None


def _ways(item: c.Stmt, turned: bool) -> tuple[tuple[c.Stmt, ...], tuple[c.Stmt, ...]]:
    """The statements of both branches, the other way round where the condition is the opposite."""
    one: tuple[c.Stmt, ...] = (item,)
    two: tuple[c.Stmt, ...] = (item,)
    match item:
        case c.Decl(init=c.Ternary(then=then, otherwise=other)):
            one, two = (replace(item, init=then),), (replace(item, init=other),)
        case c.ExprStmt(expr=c.Assign(value=c.Ternary(then=then, otherwise=other)) as whole):
            one = (replace(item, expr=replace(whole, value=then)),)
            two = (replace(item, expr=replace(whole, value=other)),)
        case c.If(then=first, otherwise=second) if second is not None:
            one, two = c.items(first), c.items(second)
    return (two, one) if turned else (one, two)


def _assigned(item: c.Stmt) -> list[str]:
    """The variable that a statement gives a value, and does nothing else."""
    match item:
        case c.Decl(name=name, init=init) if init is not None and not _has_effect(init):
            return [name]
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)) if not _has_effect(value):
            return [name]
    return []


def _value(item: c.Stmt) -> c.Node:
    """What it gives it."""
    match item:
        case c.Decl(init=init) if init is not None:
            return init
        case c.ExprStmt(expr=c.Assign(value=value)):
            return value
    return item


def _has_effect(expr: c.Node) -> bool:
    """Whether an expression calls a function, or changes something."""
    return any(
        isinstance(part, c.Call | c.Assign | c.Postfix) or (isinstance(part, c.Unary) and part.op in ("++", "--"))
        for part in c.walk(expr)
    )


def _is_turned(one: c.Expr, other: c.Expr | None) -> bool | None:
    """Whether a condition is the opposite of another one; None where it is neither that nor the same."""
    if other is None or one == other:
        return None if other is None else False
    match one, other:
        case (c.Unary(op="!", operand=inner), plain) | (plain, c.Unary(op="!", operand=inner)) if inner == plain:
            return True
        case c.Binary(op="==" | "!=" as op), c.Binary(op="==" | "!=" as opposite) if op != opposite:
            return True if (one.left, one.right) == (other.left, other.right) else None
    return None


@dataclass(slots=True)
class Exchanges:
    """The region without the exchanges, and what they come to."""

    scope: Scope
    body: c.Block
    turning: Turning | None = None

    @property
    def moved(self) -> tuple[str, ...]:
        """The names of all pointers from outside of the region that it assigns."""
        states = self.turning.states if self.turning is not None else ()
        symbols = [self.scope.symbols[key] for key in {key for state in states for key in state}]
        return tuple(sorted(symbol.c_name for symbol in symbols if symbol.storage is not Storage.REGION))

    def __post_init__(self) -> None:
        items = list(self.body.body)
        for position, item in enumerate(items):
            behind = {name for later in items[position + 1 :] for name in pointers_in(later, self.scope)}
            found = self.turned(item) if isinstance(item, c.For) else None
            if found is not None and not behind & set(found.states[0]):
                items[position] = found.loop
                self.body, self.turning = replace(self.body, body=tuple(items)), found
                return

    def turned(self, loop: c.For) -> Turning | None:
        """The loop with a copy of its body for each way in which the pointers stand."""
        head = induction(loop)
        items = loop.body.body if isinstance(loop.body, c.Block) else ()
        steps = [moves_of(item, self.scope) for item in items]
        moves = [move for step in steps for move in step or ()]
        if head is None or not moves or has_jump(loop.body):
            return None
        plain = [item for item, step in zip(items, steps, strict=True) if step is None]
        mentioned = {name for item in plain for name in pointers_in(item, self.scope)}
        kept = mentioned | read_first(moves)
        now: Names = {}
        states: list[Names] = []
        bodies: list[c.Stmt] = []
        while not states or any(now.get(name, name) != name for name in kept):
            if len(states) == MOST:
                return None
            parts: list[c.Stmt] = []
            for item, step in zip(items, steps, strict=True):
                for target, source in step or ():
                    now = now | {target: now.get(source, source)}
                if step is None:
                    parts.append(copied(self.scope, item, dict(now), bool(states)))
            states.append(now)
            bodies.append(c.Block(tuple(parts)))
        first = next(
            item.span for item, step in zip(items, steps, strict=True) if step is not None and hasattr(item, "span")
        )
        whole = replace(loop, body=chosen(loop, head.key, head.start, head.step, bodies))
        return Turning(whole, tuple(states), first)

    def finish(self, region: Region, live: set[str]) -> tuple[Exchange, ...]:
        """What the pointers are after the region, of those that somebody reads then. Refuses a loop that is not affine.

        math: with the loop's first value l and its last one u, and steps of s: after u there were k + 1 steps with
              (u - l) / s = k mod p
        """
        if self.turning is None:
            return ()
        loop, states = self.turning.loop, self.turning.states
        try:
            found = analyse(region, loop, Env())
        except NotAffine as reason:
            message = f"the pointers change places in a loop that is not affine: {reason}"
            region.refuse("pointer-assignment", message, self.turning.span, EXCHANGE)
            return ()
        head, key = found.head, found.head.key
        value = variable(key)
        last = found.domain.subtract(shifted(found.domain, key, -head.step)).coalesce()
        distance = (value - found.start) if head.step > 0 else (found.start - value)
        exchanges: list[Exchange] = []
        for count, state in enumerate(states):
            left = tuple(
                (region.scope.symbols[name].c_name, region.scope.symbols[other].c_name)
                for name, other in sorted(state.items())
                if name != other and name in live
            )
            period = isl.Val.int_from_si(CTX, len(states) * abs(head.step))
            when = last.intersect(distance.mod_val(period).eq_set(number(count * abs(head.step))))
            if left and not when.is_empty():
                exchanges.append(Exchange(project(when, (key,)).coalesce().params(), left))
        return tuple(exchanges)


def copied(scope: Scope, item: c.Stmt, names: Names, again: bool) -> c.Stmt:
    """A statement with the arrays that pointers have; `again`: its own variables get other keys, which `names` has
    for the statements behind it."""
    for node in c.walk(item) if again else ():
        symbol = scope.symbols.get(node.name) if isinstance(node, c.Decl) else None
        if symbol is not None and not symbol.is_loop and symbol.node is not None:
            names[symbol.key] = scope.fresh(symbol.node).key

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Name(name=name) if name in names:
                return replace(node, name=names[name])
            case c.Decl(name=name) if name in names:
                return replace(c.rewrite(replace(node, name=""), change), name=names[name])
        return None

    return c.rewrite(item, change)


def shifted(domain: isl.Set, key: str, step: int) -> isl.Set:
    """`{ key : key - step in domain }`."""
    place = domain.find_dim_by_name(isl.dim_type.param, key)
    if place < 0:
        return domain
    inner = domain.move_dims(isl.dim_type.set, 0, isl.dim_type.param, place, 1)
    space = inner.get_space()
    own = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, 0)
    moved = inner.apply(isl.Map.from_aff(own.add_constant_val(isl.Val.int_from_si(CTX, step))))
    count = moved.dim(isl.dim_type.param)
    return moved.move_dims(isl.dim_type.param, count, isl.dim_type.set, 0, 1).set_dim_name(
        isl.dim_type.param, count, key
    )


def chosen(loop: c.For, key: str, start: c.Expr, step: int, bodies: Sequence[c.Stmt]) -> c.Stmt:
    """`if ((t - lo) % 2 == 0) … else …`"""
    here: c.Expr = c.Name(key, loop.span)
    plain = isinstance(start, c.Literal) and start.text == "0"
    distance = here if plain and step > 0 else c.Binary("-", *((here, start) if step > 0 else (start, here)), loop.span)
    period = c.Literal(str(len(bodies) * abs(step)))
    found = bodies[-1]
    for count in reversed(range(len(bodies) - 1)):
        turn = c.Binary("%", distance, period, loop.span)
        test = c.Binary("==", turn, c.Literal(str(count * abs(step))), loop.span)
        found = c.If(test, bodies[count], found, loop.span)
    return found


def moves_of(item: c.Stmt | c.Expr, scope: Scope) -> list[tuple[str, str]] | None:
    """The assignments of pointers that a statement consists of; None for another one."""
    match item:
        case c.Decl(name=name, init=init):
            pointer = scope.symbols.get(name)
            if pointer is None or not is_pointer(pointer):
                return None
            return [] if init is None else moves_of(c.Assign("=", c.Name(name), init), scope)
        case c.ExprStmt(expr=expr):
            return moves_of(expr, scope)
        case c.Comma(items=items) | c.Block(body=items):
            found: list[tuple[str, str]] = []
            for part in items:
                moves = moves_of(part, scope)
                if moves is None:
                    return None
                found += moves
            return found if items else None
        case c.While(condition=c.Literal(text="0"), body=body, do_first=True):
            return moves_of(body, scope)
        case c.Assign(op="=", target=c.Name(name=name), value=value):
            while isinstance(value, c.Cast):
                value = value.operand
            one = scope.symbols.get(name)
            other = scope.symbols.get(value.name) if isinstance(value, c.Name) else None
            if one is None or other is None or not is_pointer(one) or not is_pointer(other) or not is_same(one, other):
                return None
            return [(one.key, other.key)]
    return None


def is_pointer(symbol: Symbol) -> bool:
    """Whether something can be made to point elsewhere."""
    return symbol.is_pointer and not symbol.volatile


def is_same(one: Symbol, other: Symbol) -> bool:
    """Whether two pointers have one type."""
    inner = zip(one.shape.dims[1:], other.shape.dims[1:], strict=False)
    element, plain = one.shape.element, other.shape.element
    same = (element.kind, element.size_bytes, element.signed) == (plain.kind, plain.size_bytes, plain.signed)
    return same and one.rank == other.rank and all(a.pointer == b.pointer and a.size == b.size for a, b in inner)


def pointers_in(item: c.Node, scope: Scope) -> Iterator[str]:
    for node in c.walk(item):
        symbol = scope.symbols.get(node.name) if isinstance(node, c.Name) else None
        if symbol is not None and symbol.rank:
            yield symbol.key


def read_first(moves: list[tuple[str, str]]) -> set[str]:
    """Pointers whose values from before a step it reads."""
    written: set[str] = set()
    found: set[str] = set()
    for target, source in moves:
        found |= {source} - written
        written.add(target)
    return found
