"""Loops that are run with values, and while loops that count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyc.analysis.expressions.facts import has_jump, induction, lvalues, mentions
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.idioms.helpers import type_of
from polyc.frontend.idioms.sums import (
    Changes,
    Excluded,
    State,
    Sum,
    Trips,
    constant,
    difference,
    iterations_before,
    literal,
    product,
    trips,
    without_common,
)
from polyc.frontend.sets.loops import bound_of
from polyc.frontend.walks.steps import COMPARED, is_step, may_fail, single, starts_with, stepped
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace

if TYPE_CHECKING:
    from polyc.frontend.walks.walk import Walk


@dataclass(frozen=True, slots=True)
class _Test:
    """The condition of a while loop: `key op bound`, and what the condition adds to the variable."""

    key: str
    op: str
    bound: c.Expr
    before: tuple[c.Expr, ...] = ()
    """Before it is compared."""
    after: tuple[c.Expr, ...] = ()
    """After it is compared, also where the loop ends."""


@dataclass(slots=True)
class Loops:
    """One loop that is run with values."""

    walk: Walk
    node: c.For | c.While
    state: State
    body: tuple[c.Stmt, ...] = ()
    before: list[c.Stmt] = field(default_factory=list)
    """Statements that come before it."""

    def found(self) -> list[c.Stmt]:
        """The loop with values, and `state` behind it."""
        node = self.node
        if not mentions(node) & self.walk.chosen and not self.declares(node):
            return [self.walk.other(node, self.state)]
        self.body = node.body.body if isinstance(node.body, c.Block) else (node.body,)
        if isinstance(node, c.For):
            node = self.node = self.plain_head(node)
        head = induction(node) if isinstance(node, c.For) else None
        if head is not None:
            return [*self.before, self.counted()]
        counting = self.as_counting()
        return [*self.before, counting if counting is not None else self.unknown()]

    def declares(self, node: c.Node) -> bool:
        return any(isinstance(item, c.Decl) and item.name in self.walk.chosen for item in c.walk(node))

    def plain_head(self, node: c.For) -> c.For:
        """`for (i = 0, j = 1; i < n; i++, j += 2)` with `j` out of the head."""
        if isinstance(node.init, c.Comma) or (isinstance(node.step, c.Comma) and not has_jump(node.body)):
            keys = mentions(node.condition) if node.condition is not None else set()
            first = node.init.items if isinstance(node.init, c.Comma) else (node.init,) if node.init else ()
            then = node.step.items if isinstance(node.step, c.Comma) else (node.step,) if node.step else ()
            steps = [item for item in then if (step := stepped(item)) is not None and step[0] in keys]
            # Of `i < j; i++, j--` the first one counts, the other one is what it was and what was added. It stays in
            # its type where the condition is asked about values of the first one that are never reached, too.
            if len(steps) == 2 and (first_step := self.amount(steps[0])) == -self.amount(steps[1]) != 0:
                steps = steps[:1] if first_step > 0 else steps[1:]
            if has_jump(node.body) or len(steps) != 1:
                return node
            key = stepped(steps[0])
            assert key is not None
            starts = [item for item in first if starts_with(item, key[0])]
            others = [i for i in first if i not in starts]
            if len(starts) > 1 or any(isinstance(item, c.Decl) or key[0] in mentions(item) for item in others):
                return node
            found = replace(node, init=starts[0] if starts else node.init if not others else None, step=steps[0])
            head = induction(found)
            if head is not None and head.key in self.walk.chosen:
                raise Excluded(head.key)  # it is the loop's own
            for item in others:
                if not isinstance(item, c.Decl):
                    self.before += self.walk.statement(c.ExprStmt(item, node.span), self.state)
            self.body += tuple(c.ExprStmt(item, node.span) for item in then if item not in steps)
            return found
        return node

    def amount(self, step: c.Expr) -> int:
        """What a step adds to an integer; 0 where that is no constant, or it is no integer."""
        found = stepped(step)
        symbol = self.walk.scope.symbols.get(found[0]) if found is not None else None
        added = constant(found[1]) if found is not None else None
        return added if added is not None and symbol is not None and symbol.is_integer else 0

    # --- what is known of it

    @property
    def changes(self) -> Changes:
        """What the loop writes."""
        inside: list[c.Node | None] = [*self.body]
        if isinstance(self.node, c.For):
            inside += [self.node.init, self.node.step]
        found = [self.walk.changes(part) for part in inside if part is not None]
        nothing = frozenset[str]()
        return Changes(nothing.union(*(one.all for one in found)), nothing.union(*(one.whole for one in found)))

    def moving(self) -> set[str]:
        return self.walk.chosen & self.changes.whole

    def steps(self, more: Sequence[c.Stmt] = ()) -> dict[str, tuple[c.Expr, ...]]:
        """What an iteration adds to variables, of those that only get more."""
        moving, written = self.moving(), self.changes.all
        if not moving or any(has_jump(item) for item in self.body):
            return {}  # the body is not run once more for nothing, in each of the loops around it
        probe = self.inside({}, moving)
        for key in moving:
            probe.pop(key, None)
        dropped = set(self.walk.dropped)
        self.walk.block((*self.body, *more), probe)
        self.walk.dropped = dropped
        found: dict[str, tuple[c.Expr, ...]] = {}
        for key in moving:
            end = probe.get(key)
            if end is None or end.base != c.Name(key):
                continue
            if not {name for part in end.added for name in mentions(part)} & written:
                found[key] = end.added
        return found

    def inside(self, values: State, moving: set[str]) -> State:
        """The values when an iteration begins."""
        changes = self.changes.without(self.walk.chosen)
        found: State = {k: v if v is not None and v.is_kept(changes) else None for k, v in self.state.items()}
        return {**found, **dict.fromkeys(moving, None), **values}

    def run(self, known: Trips | None, steps: dict[str, tuple[c.Expr, ...]], counter: State) -> tuple[c.Stmt, State]:
        """The body with values, and the values when an iteration begins."""
        changes = self.changes.without(self.walk.chosen)
        values: State = {}
        for key, parts in steps.items():
            start = self.state.get(key, Sum(c.Name(key)))
            if known is not None and start is not None and start.is_kept(changes):
                values[key] = start.plus(*(known.times(part) for part in parts))
        entry = self.inside({**values, **counter}, self.moving())
        if known is not None:
            entry = {key: None if value is None else known.inside(value) for key, value in entry.items()}
        running = dict(entry)
        return c.Block(tuple(self.walk.block(self.body, running))), entry

    def behind(self, known: Trips | None, steps: dict[str, tuple[c.Expr, ...]], more: State) -> None:
        """The values after it."""
        moving, old = self.moving(), dict(self.state)
        after = self.inside({}, moving)
        for key, parts in steps.items():
            start = old.get(key, Sum(c.Name(key)))
            if known is not None and start is not None and (known.some or not any(map(may_fail, parts))):
                value = start.plus(*(known.whole(part) for part in parts))
                after[key] = value if value.is_kept(self.changes.without(self.walk.chosen)) else None
        self.state.clear()
        self.state.update({**after, **more})

    # --- its kinds

    def counted(self) -> c.Stmt:
        """A for loop that counts."""
        node = self.node
        assert isinstance(node, c.For)
        head = induction(node)
        assert head is not None
        values = self.walk.values(self.state)
        start = self.walk.other(head.start, dict(self.state))
        init = c.rewrite(node.init, lambda part: start if part is head.start else None) if node.init else None
        steps = self.steps()
        known = None
        op, bound = bound_of(node.condition, head.key) if node.condition is not None else ("", None)
        own = {head.key} & {t.name for item in self.body for t in lvalues(item) if isinstance(t, c.Name)}
        if bound is not None and not own and not (mentions(bound) | mentions(head.start)) & self.changes.all:
            bound = values.of(bound)
            if self.fits(start, head.key) and self.fits(bound, head.key):
                known = trips(start, op, bound, head.step, head.key)
        begun = known
        if known is None and not own and not mentions(head.start) & self.changes.all and self.fits(start, head.key):
            symbol = self.walk.scope.symbols.get(head.key)
            if symbol is not None and symbol.shape.element.signed and symbol.shape.element.size_bytes >= 4:
                begun = iterations_before(start, head.step, head.key)
        body, entry = self.run(begun, steps, {})
        condition = self.walk.other(node.condition, dict(entry)) if node.condition is not None else None
        self.behind(known, steps, {})
        return replace(node, init=init, condition=condition, body=body)

    def fits(self, expr: c.Expr, key: str) -> bool:
        """Whether a bound is compared with a variable as the numbers that they are."""
        symbol = self.walk.scope.symbols.get(key)
        value, type_ = constant(expr), type_of(expr, self.walk.scope)
        signed = symbol is not None and symbol.is_integer and symbol.shape.element.signed
        if value is not None:
            return (-(1 << 31) + 1 if signed else 0) <= value < 1 << 31
        if symbol is None or not symbol.is_integer or type_ is None or type_.kind != "int":
            return False
        element = symbol.shape.element
        return type_.signed == element.signed or (type_.size_bytes == 8 and element.size_bytes == 4)

    def as_counting(self) -> c.Stmt | None:
        """A while loop as a for loop: `while (i < n) { …; i++; }`."""
        test = self.test()
        node, walk = self.node, self.walk
        if test is None or (isinstance(node, c.While) and node.do_first):
            return None
        if isinstance(node, c.For):
            if isinstance(node.init, c.Decl):
                self.before += walk.statement(node.init, self.state)
            elif node.init is not None:
                self.before += walk.statement(c.ExprStmt(node.init, node.span), self.state)
            self.body += (c.ExprStmt(node.step, node.span),) if node.step is not None else ()
        span = node.span
        self.node = c.While(node.condition or c.Literal("1"), node.body, span=span)
        leaves = any(has_jump(item) for item in self.body)
        walk.steps(list(test.before), self.state)
        first = tuple(c.ExprStmt(expr, span) for expr in test.after)
        last = tuple(c.ExprStmt(expr, span) for expr in test.before)
        self.body = (*first, *self.body, *last)
        steps = self.step_of_head(node, test) if leaves else self.steps()
        amounts = [constant(part) for part in steps.get(test.key, (c.Literal("0"),))]
        amount = sum(value for value in amounts if value is not None)
        if walk.scope.symbols[test.key].rank:
            return self.along_elements(test, amount if None not in amounts else 0, steps, leaves)
        if None in amounts or not amount or mentions(test.bound) & self.changes.all:
            raise Excluded(test.key)
        values = walk.values(self.state)
        start, bound = values.use(c.Name(test.key, span), False), values.of(test.bound)
        if mentions(start) & self.changes.without(walk.chosen).all:
            raise Excluded(test.key)
        # In larger steps a variable meets its end, or passes it: then one with a sign overflows. One that wraps goes
        # on, and nothing is known of what is added meanwhile.
        element = walk.scope.symbols[test.key].shape.element
        meets = test.op == "!=" and abs(amount) > 1
        op = test.op if not meets else "<" if amount > 0 else ">"
        known = trips(start, op, bound, amount, test.key)
        if known is None or not self.fits(bound, test.key):
            raise Excluded(test.key)
        used = any(test.key in mentions(item) for item in self.body if not is_step(item, test.key))
        if amount < 0 and not used:  # a loop that only counts: pointers go up in it
            return self.going_up(test, known, steps)
        counter = self.counter(walk.scope.symbols[test.key].c_name, start, test.key)
        own = trips(start, op, bound, amount, counter.key)
        if meets and not (element.signed and element.size_bytes >= 4):
            own = None
        body, _ = self.run(own, steps, {test.key: Sum(c.Name(counter.key))})
        self.behind(own, steps, {})
        walk.steps(list(test.after), self.state)
        name = c.Name(counter.key, span)
        step = c.Postfix("++" if amount > 0 else "--", name) if abs(amount) == 1 else None
        return c.For(
            c.Decl(counter.shape.element.text, counter.key, (), start, span),
            c.Binary(test.op, name, bound, span),
            step or c.Assign("+=" if amount > 0 else "-=", name, c.Literal(str(abs(amount)))),
            body,
            span=span,
        )

    def step_of_head(self, node: c.For | c.While, test: _Test) -> dict[str, tuple[c.Expr, ...]]:
        """What a loop that a `break` or a `continue` leaves adds to its pointer: the constant of its head, which alone
        moves it. Nothing is known of the others."""
        found = stepped(node.step) if isinstance(node, c.For) and node.step is not None else None
        moved = test.before or test.after or test.key in self.walk.changes(node.body).whole
        if found is None or found[0] != test.key or moved or not self.walk.scope.symbols[test.key].rank:
            raise Excluded(test.key)
        if constant(found[1]) is None:
            raise Excluded(test.key)
        return {test.key: (found[1],)}

    def along_elements(self, test: _Test, amount: int, steps: dict[str, tuple[c.Expr, ...]], leaves: bool) -> c.Stmt:
        """`while (q < end) { …; q++; }` as `for (long k = 0; k < end - q; k++)`, of pointers into one array.

        amount: what is added in each iteration; 0 where that is no constant, but a size
        leaves: a `break` may end it
        """
        values, span = self.walk.values(self.state), self.node.span
        start, bound = values.known_place(c.Name(test.key)), values.known_place(test.bound)
        parts, kept = steps.get(test.key, ()), self.changes.without(self.walk.chosen)
        moves = bool(mentions(test.bound) & self.changes.whole) or not (start.is_kept(kept) and bound.is_kept(kept))
        if start.base != bound.base or test.after or not parts or moves:
            raise Excluded(test.key)
        distance = difference(*map(values.total, without_common(bound.added, start.added)))
        type_ = type_of(distance, self.walk.scope)
        if type_ is not None and type_.kind == "int" and not type_.signed and type_.size_bytes == 8:
            distance = c.Cast("long", distance)  # `p + (n - 3)` with n of type size_t goes down where n is 2
        # A pointer that misses its end leaves the array at some time.
        op = ("<" if amount > 0 else ">") if test.op == "!=" and amount else test.op
        counter = self.walk.scope.number("k", "long")
        own = trips(c.Literal("0"), op, distance, amount, counter.key) if amount else None
        changing = {name for part in parts for name in mentions(part)} & kept.all
        if changing or (own is None if amount else op == "!="):
            raise Excluded(test.key)
        name = c.Name(counter.key, span)
        start_ = c.Decl("long", counter.key, (), c.Literal("0"), span)
        size = values.total(parts)
        turns = None if amount or op != "<" else _other_factor(distance, size)
        if turns is not None:  # along rows: each iteration adds what it adds to other pointers, too
            own = trips(c.Literal("0"), op, turns, 1, counter.key)
            body, _ = self.run(own, steps, {test.key: start.plus(product(name, size))})
            self.behind(None, {}, {})
            loop = c.For(start_, c.Binary(op, name, turns, span), c.Postfix("++", name), body, span=span)
            return c.If(c.Binary(">", size, c.Literal("0")), loop, None, span)
        body, _ = self.run(own, steps if own is not None else {}, {test.key: start.plus(name)})
        self.behind(None if leaves else own, steps, {})
        step: c.Expr = c.Assign("-=" if amount < 0 else "+=", name, literal(abs(amount)) if amount else size)
        if abs(amount) == 1:
            step = c.Postfix("++" if amount > 0 else "--", name)
        return c.For(start_, c.Binary(op, name, distance, span), step, body, span=span)

    def going_up(self, test: _Test, known: Trips, steps: dict[str, tuple[c.Expr, ...]]) -> c.Stmt:
        """`while (n--)` as `for (i = 0; i < n; i++)`."""
        counter = self.counter("i", c.Name(test.key), test.key)
        name = c.Name(counter.key, self.node.span)
        own = Trips(name, 1, known.count, known.positive)
        body, _ = self.run(own, steps, {})
        self.behind(own, steps, {})
        self.walk.steps(list(test.after), self.state)
        start = c.Decl(counter.shape.element.text, counter.key, (), c.Literal("0"), self.node.span)
        condition = c.Binary("<", name, known.positive, self.node.span)
        return c.For(start, condition, c.Postfix("++", name), body, span=self.node.span)

    def test(self) -> _Test | None:
        """The condition, where it compares a variable that is followed with something else."""
        condition = self.node.condition
        zero = c.Literal("0")
        match condition:
            case c.Binary(op=op, left=c.Postfix(operand=c.Name(name=key)) as tested, right=bound) if op in COMPARED:
                found = _Test(key, op, bound, after=(tested,))
            case c.Binary(op=op, left=c.Unary(op="++" | "--", operand=c.Name(name=key)) as tested, right=bound):
                found = _Test(key, op, bound, before=(tested,))
            case c.Postfix(operand=c.Name(name=key)):
                found = _Test(key, "!=", zero, after=(condition,))
            case c.Unary(op="++" | "--", operand=c.Name(name=key)):
                found = _Test(key, "!=", zero, before=(condition,))
            case c.Name(name=key):
                found = _Test(key, "!=", zero)
            case c.Binary():
                keys = [item.name for item in c.walk(condition) if isinstance(item, c.Name)]
                tests = [_Test(key, *test) for key in keys if (test := bound_of(condition, key))[1] is not None]  # type: ignore[arg-type]
                found = next((test for test in tests if test.key in self.moving()), _Test("", "", zero))
            case _:
                return None
        symbol = self.walk.scope.symbols.get(found.key)
        compares = symbol is not None and (not symbol.rank or (symbol.is_pointer and found.bound != zero))
        fits = found.key in self.walk.chosen and compares
        return found if fits and not any(True for _ in lvalues(found.bound)) else None

    def counter(self, name: str, start: c.Expr, typed: str) -> Symbol:
        """The variable of the new loop, of another one's type: of that name, unless its first value mentions it."""
        scope = self.walk.scope
        symbol = scope.symbols[typed]
        if any(scope.symbols[key].c_name == name for key in mentions(start) if key in scope.symbols):
            name = f"{name}_left"
        return scope.like(symbol, name)

    def unknown(self) -> c.Stmt:
        """A loop of which nobody knows how often it runs."""
        entry = self.inside({}, self.moving())
        node = self.node
        body = single(self.walk.block(self.body, dict(entry)))
        condition = self.walk.other(node.condition, dict(entry)) if node.condition is not None else None
        if isinstance(node, c.For):
            init = self.walk.other(node.init, dict(self.state)) if node.init is not None else None
            step = self.walk.other(node.step, dict(entry)) if node.step is not None else None
            found: c.Stmt = replace(node, init=init, condition=condition, step=step, body=body)
        else:
            assert condition is not None
            found = replace(node, condition=condition, body=body)
        self.behind(None, {}, {})
        return found


def _other_factor(whole: c.Expr, one: c.Expr) -> c.Expr | None:
    """`n` of `n * m` and `m`."""
    match whole:
        case c.Binary(op="*", left=left, right=right) if one in (left, right):
            return left if right == one else right
    return None
