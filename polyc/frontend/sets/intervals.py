"""Interval analysis: between which sizes whole numbers stay that data decide, as clamps and conditions say.

    float x = i - dt * u[i];                      x may be anything
    if (x < 0.5f) x = 0.5f;                       1/2 <= x
    if (x > n + 0.5f) x = n + 0.5f;               1/2 <= x <= n + 1/2
    int k = (int)x;                               0 <= k <= n
    if (u >= 0 && u < w) s += a[u];               0 <= u <= w - 1, in the branch

math: abstract interpretation (Cousot and Cousot, 1977) of the region's statements, in order. An interval lies between
      the least of some forms `sum of sizes + q` and the greatest of some. Each q is a multiple of 1/4, rounded
      outwards: with sizes of at most 2^21, floats of single precision hold such numbers, so that rounding, which is
      monotone, turns no two of them round. A loop's body may find any value in what it assigns. A NaN may be anywhere
      between two floats; it becomes no whole number, which C leaves undefined

Where a size is multiplied with a float that the region does not change, the ends are products that the text computes:

    float v = (x + 0.5f) * s - 0.5f;  int k = (int)v;                   x from 0 to m - 1, s >= 0
                                         (int)(0.5f * s - 0.75f) <= k <= (int)((m - 0.5f) * s - 0.25f)
math: such a number is one size, multiplied and divided in at most MOST_STEPS operations, each with an error of at most
      2^-24 of its result; what is added in the end is at most NEXT: two ways to compute one that is at most NEAR differ
      by less than 1/4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor

import islpy as isl

from polyc.analysis.ends import (
    QUARTERS,
    UNKNOWN,
    ZERO,
    Ends,
    Interval,
    as_c,
    as_fraction,
    as_wholes,
    either,
    exact,
    is_exact,
    is_real,
    mapped,
    plain,
    rounded,
    truncated,
)
from polyc.analysis.expressions.facts import assigned_scalars, base_key, constant, indices, induction
from polyc.analysis.expressions.linear import Linear
from polyc.analysis.expressions.ranges import MIRRORED
from polyc.frontend.c.ctype import INT
from polyc.frontend.c.functions import PURE, has_no_effect
from polyc.frontend.c.state import Env, Region, number
from polyc.frontend.sets.affine import Affine, label
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.poly import project
from polyc.records import dataclass, field, replace

MOST_SINGLE, MOST_DOUBLE = 1 << 21, 1 << 50
"""Sizes of which floats hold a quarter more or less."""
NEAR, NEAR_DOUBLE = 1 << 16, 1 << 30
"""What the text computes is no larger."""
MOST_STEPS = 8
"""Operations in such a product."""
_FLIPPED = MIRRORED | {"==": "=="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "=="}
_ROUNDED = {"floor": (0, 0), "ceil": (1, 1), "trunc": (0, 1), "round": (0, 1), "rint": (0, 1), "nearbyint": (0, 1)}
_ROUNDED |= dict.fromkeys(("lrint", "lround", "llrint", "llround"), (0, 1))
"""Functions that round: whether the least and the greatest value may be those above."""
State = dict[c.Expr, "Interval"]
"""What is known of variables, and inside of an expression of others that were compared."""


@dataclass(slots=True)
class Intervals:
    """What is known of a region's variables where subscripts are made of them."""

    region: Region
    body: c.Block
    type_of: Callable[[c.Expr], CType | None]
    used: State = field(default_factory=dict)
    """What lies around the values of a variable wherever a subscript may be made of it."""
    known: bool = False
    changed: frozenset[str] = field(init=False)
    """Variables whose addresses are taken."""

    def __post_init__(self) -> None:
        taken = (n.operand for n in c.walk(self.body) if isinstance(n, c.Unary) and n.op == "&")
        self.changed = frozenset(key for one in taken if (key := base_key(one)) is not None)

    # --- what others ask

    def around(self, subscript: c.Expr, env: Env) -> tuple[list[isl.PwAff], list[isl.PwAff]]:
        """The least of the first and the greatest of the second are bounds of a subscript; none where they are not
        known."""
        if not self.known:
            self.run(self.body, {})
            self.known = True
        found = self.value(subscript, self.used)
        lows, highs = rounded(found.low, True), rounded(found.high, False)
        return self.affine(found, lows, env), self.affine(found, highs, env)

    def affine(self, value: Interval, ends: Ends, env: Env) -> list[isl.PwAff]:
        """Forms as functions of the sizes; none where one of them is not affine."""
        found: list[isl.PwAff] = []
        most = MOST_SINGLE // value.weight if value.single else MOST_DOUBLE // value.weight if value.double else None
        # As of the rows of arrays: something is assumed in statements that are kept whole, too.
        strict, self.region.strict = self.region.strict, self.region.strict and not self.region.in_opaque
        if not all(self.is_so(asked) for asked in value.asked if ends is not None):
            ends = None
        for form in ends or ():
            total: isl.PwAff | None = number(form.constant // QUARTERS)
            for term, factor in form.terms:
                limit = most
                one: isl.PwAff | None
                if isinstance(term, c.Cast):
                    limit = NEAR if value.single else NEAR_DOUBLE
                    one = self.region.parameter(label(term.operand), INT, term, computed=True)
                else:
                    one = Affine(self.region).observed(term, Env())
                if one is None or total is None or (limit is not None and not self.is_near(one, limit, env)):
                    total = None
                    break
                total = total + one * number(factor // QUARTERS)
            found += [] if total is None else [total]
        self.region.strict = strict
        return found if len(found) == len(ends or ()) else []

    def is_so(self, asked: c.Expr) -> bool:
        known = self.region.parameters.keys()
        before = set(known)
        holds = Affine(self.region).condition(asked, Env())
        for name in known - before:
            one = self.region.parameters[name]
            self.region.parameters[name] = replace(one, computed=one.is_answer)
        return holds is not None and self.region.holds(holds.complement(), Env())

    def is_near(self, size: isl.PwAff, limit: int, env: Env) -> bool:
        """Whether a size lies between 0 and a limit, as far as it is used in iterations of the loops around."""
        below, above = size.lt_set(number(0)), size.gt_set(number(limit))
        known = project(env.domain.intersect(self.region.context), env.variables)
        return self.region.holds(above if below.intersect(known).is_empty() else above.union(below), Env())

    # --- statements

    def run(self, node: c.Stmt | None, state: State) -> State | None:
        """What holds behind a statement; None where nothing comes behind it."""
        match node:
            case c.Block(body=items):
                now: State | None = state
                for item in items:
                    if now is None:
                        break
                    now = self.run(item, now)
                return now
            case c.If(condition=condition, then=then, otherwise=otherwise):
                self.note(condition, state, False)
                state = self.without(state, assigned_scalars(condition))
                first = self.run(then, _of_variables(self.where(condition, state, True)))
                second = self.run(otherwise, _of_variables(self.where(condition, state, False)))
                return _joined(first, second)
            case c.For():
                return self.loop(node, state)
            case c.While(condition=condition, body=body):
                inside = self.without(state, assigned_scalars(node))
                self.note(condition, inside, False)
                self.run(body, inside)
                return inside
            case c.Decl(name=name, init=init, extents=extents):
                if init is None or extents:
                    return self.without(state, {name})
                return self.assigned(name, init, state)
            case c.ExprStmt(expr=c.Assign(op=op, target=c.Name(name=name), value=value)):
                if op != "=":
                    value = c.Binary(op.removesuffix("="), c.Name(name), value)
                return self.assigned(name, value, state)
            case c.ExprStmt(expr=c.Postfix(op=op, operand=c.Name(name=name))):
                return self.assigned(name, c.Binary(op[0], c.Name(name), c.Literal("1")), state)
            case c.ExprStmt(expr=expr):
                self.note(expr, state, False)
                return self.without(state, assigned_scalars(expr))
            case c.Jump():
                return None
        return state

    def assigned(self, name: str, value: c.Expr, state: State) -> State:
        self.note(value, state, name in self.region.settled)
        symbol = self.region.symbol(name)
        found = self.value(value, state)
        state = self.without(state, assigned_scalars(value) | {name})
        if symbol is None or not self.is_own(c.Name(name)):
            return state
        type_ = symbol.shape.element
        if type_.kind == "int":
            given = self.type_of(value)
            if not _is_number(type_) or given is None or _wraps(given, type_):
                return state
            found = truncated(found) if given.kind == "float" else found
        elif type_.kind != "float":
            return state
        return {**state, c.Name(name): found.with_precision(type_)}

    def loop(self, node: c.For, state: State) -> State | None:
        head = induction(node)
        changed = assigned_scalars(node) | ({head.key} if head is not None else set())
        inside = self.without(state, changed)
        for part in (node.init, node.condition, node.step):
            if part is not None:
                self.note(part, inside, False)
        if head is not None and node.condition is not None and head.key not in assigned_scalars(node.body):
            symbol = self.region.symbol(head.key)
            if symbol is not None and symbol.is_integer and symbol.shape.element.signed:
                begin = self.value(head.start, state)
                begin = replace(begin, high=None) if head.step > 0 else replace(begin, low=None)
                counted = self.where(node.condition, {**inside, c.Name(head.key): begin}, True)
                inside = _of_variables(counted)
        self.run(node.body, inside)
        return self.without(state, changed)

    def without(self, state: State, names: Iterable[str]) -> State:
        lost = {c.Name(name) for name in names}
        return {key: value for key, value in state.items() if key not in lost} if lost & state.keys() else state

    def note(self, expr: c.Node, state: State, settled: bool) -> None:
        """Keep what is known of the variables of which subscripts are made; of all of them in a value that stands for a
        variable in subscripts."""
        match expr:
            case c.Subscript(base=base) | c.Member(base=base):
                for index in indices(expr):
                    self.keep(index, state)
                    self.note(index, state, False)
                self.note(base, state, False)
            case c.Unary(op="*", operand=operand):
                self.keep(operand, state)
                self.note(operand, state, False)
            case c.Binary(op="&&" | "||" as op, left=left, right=right):
                self.note(left, state, settled)
                self.note(right, self.where(left, state, op == "&&"), settled)
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                self.note(condition, state, settled)
                self.note(then, self.where(condition, state, True), settled)
                self.note(otherwise, self.where(condition, state, False), settled)
            case c.Name() if settled:
                self.keep(expr, state)
            case c.Call() if expr.function not in PURE:
                for argument in expr.arguments:  # it may be given a place in an array
                    self.keep(argument, state)
                    self.note(argument, state, settled)
            case _:
                for child in c.children(expr):
                    self.note(child, state, settled)

    def keep(self, index: c.Node, state: State) -> None:
        names = {node.name for node in c.walk(index) if isinstance(node, c.Name)} & self.region.written
        for name in map(c.Name, names):
            value = state.get(name, UNKNOWN)
            self.used[name] = self.used[name].joined(value) if name in self.used else value

    # --- values

    def value(self, expr: c.Expr, state: State) -> Interval:
        known = constant(expr)
        if known is not None:
            return plain(known)
        type_ = self.type_of(expr)
        if type_ is None or type_.kind not in ("int", "float"):
            return UNKNOWN
        if not _is_number(type_) and not isinstance(expr, c.Name | c.Member):
            return UNKNOWN
        found = self.computed(expr, state, type_).with_precision(type_)
        if expr in state and not isinstance(expr, c.Name):
            found = found.within(state[expr])
        return found

    def computed(self, expr: c.Expr, state: State, type_: CType) -> Interval:
        match expr:
            case c.Literal(text=text) if type_.kind == "float":
                return exact(as_fraction(text))
            case c.Name() if expr in state:
                return state[expr]
            case c.Name() | c.Member() if type_.kind == "int" and base_key(expr) not in self.region.written:
                form = Linear(((expr, QUARTERS),), 0)
                return Interval((form,), (form,))
            case c.Unary(op="-", operand=operand):
                return self.times(-1, self.value(operand, state))
            case c.Unary(op="+", operand=operand):
                return self.value(operand, state)
            case c.Cast(operand=operand):
                given, one = self.type_of(operand), self.value(operand, state)
                if given is None or _wraps(given, type_):
                    return UNKNOWN
                return truncated(one) if type_.kind == "int" and given.kind == "float" else one
            case c.Binary(op="+" | "-" as op, left=left, right=right):
                one, two = self.value(left, state), self.value(right, state)
                least, most = (two.low, two.high) if op == "+" else (two.high, two.low)
                sign = 1 if op == "+" else -1
                found = Interval(mapped(one.low, (sign, least)), mapped(one.high, (sign, most)))
                return found.with_precision(one, two)
            case c.Binary(op="*", left=c.Literal(text=left), right=c.Literal(text=right)):
                return exact(as_fraction(left), as_fraction(right))
            case c.Binary(op="*", left=left, right=right):
                for factor, other in ((constant(left), right), (constant(right), left)):
                    if factor is not None:
                        return self.times(factor, self.value(other, state))
                for by, other in ((left, right), (right, left)) if type_.kind == "float" else ():
                    if (product := self.scaled("*", self.value(other, state), by, type_)) is not None:
                        return product
            case c.Binary(op="/", left=left, right=right) if type_.kind == "float":
                return self.scaled("/", self.value(left, state), right, type_) or UNKNOWN
            case c.Binary(op="%", left=left, right=right) if type_.kind == "int":
                return self.remainder(self.value(left, state), self.value(right, state))
            case c.Binary(op="&", left=left, right=right) if type_.kind == "int":
                masks = [mask for side in (left, right) if (mask := constant(side)) is not None and mask >= 0]
                return Interval(ZERO, plain(min(masks)).high) if masks else UNKNOWN
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                first = self.value(then, self.where(condition, state, True))
                return first.joined(self.value(otherwise, self.where(condition, state, False)))
            case c.Call(function=name, arguments=arguments):
                return self.called(name.removeprefix("__builtin_"), [self.value(one, state) for one in arguments])
        return UNKNOWN

    def times(self, factor: int, value: Interval) -> Interval:
        ends = [mapped(ZERO, (factor, end)) for end in (value.low, value.high)]
        low, high = ends if factor >= 0 else ends[::-1]
        return Interval(low, high).with_precision(value)

    def scaled(self, op: str, value: Interval, by: c.Expr, type_: CType) -> Interval | None:
        """A product with a number that the region does not change, or a quotient by it, if that is not negative."""
        names = {node.name for node in c.walk(by) if isinstance(node, c.Name)}
        simple = all(isinstance(n, c.Name | c.Literal | c.Member | c.Binary | c.Unary | c.Cast) for n in c.walk(by))
        if names & self.region.written or not simple or not has_no_effect(by):
            return None
        if value.low is None or value.high is None or isinstance(by, c.Unary):
            return None
        if any(is_real(term) for form in (*value.low, *value.high) if form.constant for term, _ in form.terms):
            return None  # what cancels, and then grows
        bare: c.Expr = by
        if isinstance(by, c.Cast):
            if "float" not in by.type and "double" not in by.type:
                return None
            bare = by.operand
        asked = [] if isinstance(by, c.Literal) else [c.Binary(">" if op == "/" else ">=", bare, c.Literal("0"))]

        def product(form: Linear, up: bool) -> Linear:
            known = as_fraction(by.text) if isinstance(by, c.Literal) and op == "*" and not form.terms else None
            if known is not None:
                return Linear((), (ceil if up else floor)(known * form.constant))
            real = c.Binary(op, as_c(form, type_.size_bytes < 8), by)
            return Linear(((real, QUARTERS),), 0) if form.terms or form.constant else form

        low, high = tuple(product(one, False) for one in value.low), tuple(product(one, True) for one in value.high)
        steps = (sum(isinstance(n, c.Binary) for t, _ in form.terms for n in c.walk(t)) for form in (*low, *high))
        if max(steps) > MOST_STEPS:
            return None
        return Interval(low, high, asked=frozenset(asked)).with_precision(value, type_)

    def remainder(self, value: Interval, by: Interval) -> Interval:
        """math: 0 <= a % n <= max(n - 1, -n - 1) for a >= 0"""
        if value.low is None or by.low is None or by.low != by.high:
            return UNKNOWN
        if any(one.terms or one.constant < 0 for one in value.low):
            return UNKNOWN
        one = (Linear((), QUARTERS),)
        high = either(mapped(by.high, (-1, one)), mapped(ZERO, (-1, by.low), (-1, one)), False)
        return Interval(ZERO, high).with_precision(value, by)

    def called(self, name: str, values: list[Interval]) -> Interval:
        base = name.removesuffix("f") if name.removesuffix("f") in (*_ROUNDED, "fmin", "fmax", "fabs") else name
        match base, values:
            case _, [one] if base in _ROUNDED:
                above = _ROUNDED[base]
                one = self.roughly(one)
                return replace(one, low=rounded(one.low, bool(above[0])), high=rounded(one.high, bool(above[1])))
            case (("fabs" | "abs" | "labs"), [one]):
                negative = mapped(ZERO, (-1, one.low))
                return replace(one, low=ZERO, high=either(one.high, negative, False))
            case "fmin", [one, two]:
                both, sure = one.joined(two), [v for v in (one, two) if is_exact(v)]
                return replace(both, high=sure[0].high) if sure else both
            case "fmax", [one, two]:
                both, sure = one.joined(two), [v for v in (one, two) if is_exact(v)]
                return replace(both, low=sure[0].low) if sure else both
        return UNKNOWN

    @staticmethod
    def roughly(value: Interval) -> Interval:
        """The whole numbers around what the text computes."""
        low, high = as_wholes(value.low, -1, value.single), as_wholes(value.high, 1, value.single)
        less, more = ((Linear((), sign * QUARTERS),) for sign in (-1, 1))
        low = low if low == value.low else mapped(low, (1, less))
        high = high if high == value.high else mapped(high, (1, more))
        return replace(value, low=low, high=high)

    # --- conditions

    def where(self, condition: c.Expr, state: State, holds: bool) -> State:
        """What is known where a condition holds, or does not."""
        match condition:
            case c.Binary(op="&&" | "||" as op, left=left, right=right) if (op == "&&") == holds:
                return self.where(right, self.where(left, state, holds), holds)
            case c.Unary(op="!", operand=operand):
                return self.where(operand, state, not holds)
            case c.Binary(op=op, left=left, right=right):
                sign = op if holds else _OPPOSITE.get(op, "")
                if sign in _FLIPPED:
                    state = self.compared(left, sign, right, state)
                    return self.compared(right, _FLIPPED[sign], left, state)
        return state

    def compared(self, this: c.Expr, op: str, other: c.Expr, state: State) -> State:
        """What is known of a variable that is compared."""
        mine, theirs = self.type_of(this), self.type_of(other)
        if mine is None or theirs is None or not (_is_number(mine) and _is_number(theirs)):
            return state
        if constant(this) is not None or not (self.is_own(this) if isinstance(this, c.Name) else has_no_effect(this)):
            return state
        now, limit = state.get(this, UNKNOWN), self.value(other, state)
        whole = mine.kind == theirs.kind == "int"
        less = Linear((), QUARTERS if whole and op in ("<", ">") else 0)
        high = mapped(limit.high, (-1, (less,))) if op in ("<", "<=", "==") else None
        low = mapped(limit.low, (1, (less,))) if op in (">", ">=", "==") else None
        found = now.within(Interval(low, high))
        kept = [*(now.low or () if found.low == now.low else ()), *(now.high or () if found.high == now.high else ())]
        if whole and not any(form.terms for form in kept):
            asked = limit.asked | now.asked if kept else limit.asked
            found = replace(found, single=limit.single, double=limit.double, asked=asked, weight=limit.weight)
            return {**state, this: found}
        return {**state, this: found.with_precision(limit, mine)}

    def is_own(self, name: c.Name) -> bool:
        """Whether a variable is one of the region's own, which nothing changes but assignments to its name."""
        symbol = self.region.symbol(name.name)
        own = symbol is not None and not symbol.rank and symbol.storage is Storage.REGION
        return own and name.name not in self.changed


def _is_number(type_: CType) -> bool:
    """Whether arithmetic of a type is that of numbers."""
    return type_.kind == "float" or (type_.kind == "int" and type_.signed and type_.size_bytes >= INT.size_bytes)


def _wraps(given: CType, type_: CType) -> bool:
    """Whether a conversion of whole numbers may change them."""
    return given.kind == type_.kind == "int" and given.size_bytes + (not given.signed) > type_.size_bytes


def _of_variables(state: State) -> State:
    """Without what is known of elements, which a statement may change."""
    return {key: value for key, value in state.items() if isinstance(key, c.Name)}


def _joined(first: State | None, second: State | None) -> State | None:
    if first is None or second is None:
        return second if first is None else first
    return {key: first[key].joined(second[key]) for key in first.keys() & second.keys()}
