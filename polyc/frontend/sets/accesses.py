"""Accesses of a statement: `[n] -> { S[i] -> A[x] }`, and its body with a labelled reference for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import base_key, mentions
from polyc.analysis.expressions.ranges import bounds_of
from polyc.errors import Span
from polyc.frontend.c.ctype import INT, Shape
from polyc.frontend.c.references import place_of, resolve
from polyc.frontend.c.state import CTX, Env, Region, number, variable
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.sets.affine import Affine
from polyc.frontend.text.asserts import ASSERTED
from polyc.model import ctree as c
from polyc.model.scop import CALLS, AccessKind, Storage
from polyc.records import dataclass, field, replace

READ, WRITE, MAY = AccessKind.READ, AccessKind.WRITE, AccessKind.MAY_WRITE


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """An access before its statement has a name."""

    ref: str
    array: str
    kind: AccessKind
    relation: isl.Map
    """`[n, i] -> { [] -> A[x] }`."""
    exact: bool
    loose: tuple[int, ...]
    clamped: tuple[int, ...] = ()
    """As in `Access`."""


def union(sets: Iterable[isl.Set]) -> isl.Set:
    """All of some sets, of which there is one."""
    return reduce(isl.Set.union, sets)


def element_of(array: str, values: Collection[isl.PwAff], domain: isl.Set, kind: AccessKind, ref: str = "e0") -> Raw:
    """The access to the element that has some values for subscripts."""
    parts = isl.PwAffList.alloc(CTX, len(values))
    space = isl.Space.alloc(CTX, 0, 0, len(values))
    for value in values:
        parts, space = parts.add(value), space.align_params(value.get_space())
    found = isl.Map.from_multi_pw_aff(isl.MultiPwAff.from_pw_aff_list(space, parts))
    relation = found.set_tuple_name(isl.dim_type.out, array).intersect_params(domain.params())
    return Raw(ref, array, kind, relation, True, ())


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The elements of an array that subscripts stand for."""

    relation: isl.Map
    """`[n, i] -> { [] -> A[x] }`."""
    known: bool
    """All subscripts are affine."""
    exact: bool
    """The same, of variables of the loops around the statement only."""
    loose: tuple[int, ...]
    clamped: tuple[int, ...]
    """As in `Access`."""


@dataclass(slots=True)
class Collector:
    """Rebuilds a statement's body and collects what it accesses, in C's order of evaluation."""

    region: Region
    whole: Env
    """Where the statement stands."""
    internal: frozenset[str] = frozenset()
    """Names that belong to an opaque statement: its own declarations and loop variables."""
    accesses: list[Raw] = field(default_factory=list)
    labels: int = 0
    certain: bool = True
    """What is evaluated here is evaluated in every instance."""
    inexact: bool = False

    def label(self) -> str:
        self.labels += 1
        return f"r{self.labels - 1}"

    # --- expressions

    def read(self, expr: c.Expr, env: Env) -> c.Expr:
        """An expression that is evaluated for its value."""
        match expr:
            case c.Name() | c.Subscript() | c.Member() | c.Unary(op="*"):
                return self.reference(expr, env, (READ,))
            case c.Literal() | c.SizeOf() | c.ArrayRef():
                return expr
            case c.Unary(op="++" | "--", operand=inner) | c.Postfix(operand=inner):
                return replace(expr, operand=self.reference(inner, env, (READ, WRITE)))
            case c.Unary(operand=inner) | c.Cast(operand=inner):
                return replace(expr, operand=self.read(inner, env))
            case c.Assign():
                return self.assign(expr, env)
            case c.Binary(op="&&" | "||" as op, left=left, right=right):
                first = self.read(left, env)
                holds = self.known(left, env)
                inside = self.where(holds if op == "&&" or holds is None else holds.complement(), env)
                return replace(expr, left=first, right=self.maybe(right, inside, holds is None))
            case c.Binary(left=left, right=right):
                return replace(expr, left=self.read(left, env), right=self.read(right, env))
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                test = self.read(condition, env)
                holds = self.known(condition, env)
                first = self.maybe(then, self.where(holds, env), holds is None)
                inverse = holds.complement() if holds is not None else None
                second = self.maybe(otherwise, self.where(inverse, env), holds is None)
                return replace(expr, condition=test, then=first, otherwise=second)
            case c.Call():
                return self.call(expr, env)
            case c.Comma(items=items) | c.InitList(items=items):
                return replace(expr, items=tuple(self.read(i, env) for i in items))

    def known(self, condition: c.Expr, env: Env) -> isl.Set | None:
        """Where a condition inside an expression holds; nothing is assumed for the sake of precision."""
        before, self.region.strict = self.region.strict, True
        holds = Affine(self.region).condition(condition, env)
        self.region.strict = before
        return holds

    def where(self, holds: isl.Set | None, env: Env) -> Env:
        return env if holds is None else env.within(holds)

    def maybe(self, expr: c.Expr, env: Env, uncertain: bool) -> c.Expr:
        """An operand that is evaluated under a condition only."""
        before = self.certain
        self.certain = before and not uncertain
        found = self.read(expr, env)
        self.certain = before
        return found

    def assign(self, expr: c.Assign, env: Env) -> c.Expr:
        value = self.read(expr.value, env)
        kinds = (WRITE,) if expr.op == "=" else (READ, WRITE)
        return replace(expr, value=value, target=self.reference(expr.target, env, kinds))

    # --- calls

    def call(self, expr: c.Call, env: Env) -> c.Expr:
        """A call, with all that the function may touch. What is asserted holds, and is not printed."""
        if expr.function == ASSERTED:
            if not Affine(self.region).asserts(expr.arguments[0], env):
                hint = "move it out of the loops, or compile with -DNDEBUG"
                self.region.refuse(
                    "asserted", "nobody knows before the loops run whether what is asserted holds", expr.span, hint
                )
            return self.read(expr.arguments[1], env) if len(expr.arguments) > 1 else c.Literal("0")
        effect = self.region.effects(expr.function)
        arguments = tuple(self.argument(a, env, effect.writes(k)) for k, a in enumerate(expr.arguments))
        if effect.anything:
            for key in sorted(self.region.exposed - self.internal - set(env.variables)):
                symbol = self.region.scope.symbols[key]
                self.access(symbol, (None,) * self.region.rank(symbol), env, (READ, MAY), expr)
        if effect.ordered:
            self.access(self.world(), (), env, (READ, WRITE), expr)
        return replace(expr, arguments=arguments)

    def world(self) -> Symbol:
        """The scalar that keeps calls in order."""
        return self.region.scope.symbols.setdefault(CALLS, Symbol(CALLS, CALLS, Shape(INT), Storage.GLOBAL, None))

    def argument(self, expr: c.Expr, env: Env, writes: bool) -> c.Expr:
        """An argument: a value, or a place in an array, of which the function may touch all that lies behind it."""
        place = place_of(self.region.scope, expr)
        if place is None or place.symbol.key in self.internal or place.symbol.key in env.variables:
            return self.pointed(expr, env, "") if place is not None else self.read(expr, env)
        symbol = place.symbol
        fixed = () if symbol.key in self.region.flat else place.fixed
        unknown = (None,) * (self.region.rank(symbol) - len(fixed))
        kinds = (READ, MAY) if writes else (READ,)
        return self.pointed(expr, env, self.access(symbol, (*fixed, *unknown), env, kinds, expr))

    def pointed(self, expr: c.Expr, env: Env, ref: str) -> c.Expr:
        """The argument's expression; nothing of it but subscripts is evaluated."""
        match expr:
            case c.Cast(operand=inner) | c.Unary(op="&", operand=inner):
                return replace(expr, operand=self.pointed(inner, env, ref))
            case c.Binary(left=left, right=right):
                return replace(expr, left=self.pointed(left, env, ref), right=self.read(right, env))
            case c.Subscript(base=base, index=index):
                return replace(expr, base=self.pointed(base, env, ref), index=self.read(index, env))
            case c.Member(base=base):
                return replace(expr, base=self.pointed(base, env, ref))
            case c.Unary(op="*", operand=inner):
                return replace(expr, operand=self.pointed(inner, env, ref))
            case c.Name(name=name) if ref:
                return c.ArrayRef(name, (), ref, expr.span)
        return expr

    # --- references

    def reference(self, expr: c.Expr, env: Env, kinds: tuple[AccessKind, ...]) -> c.Expr:
        """A name, an element, a member: the array reference that it is a part of becomes an access."""
        if kinds == (READ,) and isinstance(expr, c.Name) and expr.name in env.values.keys() & self.region.placing:
            chosen = self.resolved(expr, env)
            if isinstance(chosen, c.Ternary):  # printed below its name, where that is known
                return self.read(chosen, env)
        key = base_key(expr)
        found = resolve(self.region.scope, expr)
        if found is None or key is None or key in self.internal or key in env.variables:
            return self.inside(expr, env)
        if self.region.fixed(key) is not None:
            return expr
        symbol, rest = found.symbol, found.rest
        subscripts: tuple[c.Expr | None, ...] = found.subscripts
        if rest and kinds != (READ,):
            kinds = (READ, MAY)
        written: tuple[c.Expr | None, ...] = subscripts
        if symbol.key in self.region.flat:
            divided = self.region.divide(symbol.key, found.subscripts[0], env, self.certain)
            subscripts = divided or (None,) * self.region.rank(symbol)
            if None not in subscripts:
                written = subscripts
        cells = self.cells(symbol, subscripts, env, expr)
        if cells.exact:  # printed from the relation, in which values that are known stand for their variables
            written = tuple(self.resolved(s, env) if s is not None else None for s in written)
        inner = tuple(self.read(s, env) for s in written if s is not None)
        ref = self.record(symbol, cells, kinds)
        result: c.Expr = c.ArrayRef(symbol.key, inner, ref, expr.span)
        for link in rest:
            match link:
                case c.Member():
                    result = c.Member(result, link.field, False, link.span)
                case c.Subscript(index=index):
                    result = c.Subscript(result, self.read(index, env), link.span)
        return result

    def inside(self, expr: c.Expr, env: Env) -> c.Expr:
        """A reference to something that is no array of the model: only its subscripts are evaluated."""
        match expr:
            case c.Subscript(base=base, index=index):
                return replace(expr, base=self.inside(base, env), index=self.read(index, env))
            case c.Member(base=base):
                return replace(expr, base=self.inside(base, env))
            case c.Unary(op="*", operand=inner):
                return replace(expr, operand=self.inside(inner, env))
            case c.Name():
                return expr
        return self.read(expr, env)

    def resolved(self, expr: c.Expr, env: Env) -> c.Expr:
        """The expression with what they are given for the region's variables whose values are known."""

        def change(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Name) or node.name not in env.values:
                return None
            value, symbol = self.region.values[node.name], self.region.scope.symbols[node.name]
            typed, type_ = Affine(self.region).value(value, env), symbol.shape.element
            found = self.resolved(value, env)
            if isinstance(found, c.Ternary):
                self.region.spelled[found] = symbol.c_name
            return found if typed is not None and typed[1] == type_ else c.Cast(type_.text, found, node.span)

        return c.rewrite(expr, change)

    # --- relations

    def access(
        self,
        symbol: Symbol,
        subscripts: tuple[c.Expr | None, ...],
        env: Env,
        kinds: tuple[AccessKind, ...],
        expr: c.Expr,
    ) -> str:
        """Record an access of every kind with one label; the label."""
        return self.record(symbol, self.cells(symbol, subscripts, env, expr), kinds)

    def cells(self, symbol: Symbol, subscripts: tuple[c.Expr | None, ...], env: Env, expr: c.Expr) -> Cells:
        """What subscripts of an array stand for."""
        relation, free, clamped = self.relation(symbol, subscripts, env, expr.span)
        if env.domain is not self.whole.domain and relation.is_empty():
            # What is never evaluated still stands in the body, and needs its place.
            relation, free, clamped = self.relation(symbol, subscripts, self.whole, expr.span)
        exact = not free
        # What loops inside of the statement decide is known by its range alone, too, and printed as it was written.
        inner = [k for k, s in enumerate(subscripts) if s is not None and mentions(s) & set(env.inner)]
        printable = all(subscripts[position] is not None for position in free)
        loose = tuple(sorted({*free, *inner})) if printable else ()
        return Cells(relation, exact, exact and not inner, loose, tuple(k for k in clamped if k in loose))

    def record(self, symbol: Symbol, cells: Cells, kinds: tuple[AccessKind, ...]) -> str:
        """Record an access of every kind with one label; the label."""
        ref = self.label()
        for kind in kinds:
            actual = MAY if kind is WRITE and not (self.certain and cells.known) else kind
            self.accesses.append(Raw(ref, symbol.key, actual, cells.relation, cells.exact, cells.loose, cells.clamped))
        self.inexact = self.inexact or not cells.known
        return ref

    def relation(
        self, symbol: Symbol, subscripts: tuple[c.Expr | None, ...], env: Env, span: Span | None
    ) -> tuple[isl.Map, tuple[int, ...], tuple[int, ...]]:
        """`[n, i] -> { [] -> A[x] }`; which subscripts may be anything: it is exact where there are none; and those of
        them that clamps and conditions keep between two sizes.

        A subscript that is None or not affine may be anything from 0 to its dimension's size, where that is certain,
        and between the bounds that its expression has (`ranges.py`, `intervals.py`).
        """
        affine = Affine(self.region)
        free, clamped = list[int](), list[int]()
        items = isl.PwAffList.alloc(CTX, len(subscripts))
        unknown: list[str] = []
        bounds = env.domain.params()
        for position, subscript in enumerate(subscripts):
            value = affine.value(subscript, env) if subscript is not None else None
            # That the parts of a divided subscript are those of whole numbers was seen to when it was divided.
            exact = value is not None and (value[1].size_bytes == 8 or symbol.key in self.region.flat)
            index = value[0] if exact and value is not None else value and affine.observe(value, env)
            if index is None:
                free.append(position)
                unknown.append(f"{symbol.key}'{position}")
                index = variable(unknown[-1])
                size = self.region.sizes(symbol, position)
                if subscript is not None and position and symbol.key in self.region.flat:  # that much is certain
                    size = affine.observed(self.region.flat[symbol.key].extents[position - 1], Env())
                if size is not None and not (position == 0 and symbol.storage is Storage.ARGUMENT):
                    inside = index.ge_set(number(0)).intersect(index.lt_set(size))
                    bounds = bounds.intersect(inside.params())
                if subscript is None:
                    items = items.add(index)
                    continue
                # Of a table that is made here, without a declared size, each tile would make all that the bounds allow.
                told = size is not None or len(subscripts) > 1 or symbol.key not in self.region.written
                low, high = bounds_of(subscript, self.region.value, self.region.element) if told else (None, None)
                if low is not None:
                    bounds = bounds.intersect(index.ge_set(number(low)).params())
                if high is not None:
                    bounds = bounds.intersect(index.le_set(number(high)).params())
                lows, highs = self.region.around(subscript, env) if told else ([], [])
                clamped += [position] if lows and highs else []
                if lows:
                    bounds = bounds.intersect(union(index.ge_set(one).params() for one in lows))
                if highs:
                    bounds = bounds.intersect(union(index.le_set(one).params() for one in highs))
                message = f"this subscript of '{symbol.c_name}' is not affine: any element may be accessed"
                self.region.note("non-affine-index", message, subscript.span or span)
            items = items.add(index)
        space = isl.Space.alloc(CTX, 0, 0, len(subscripts)).set_tuple_name(isl.dim_type.out, symbol.key)
        for position in range(items.n_pw_aff()):
            space = space.align_params(items.get_at(position).get_space())
        relation = isl.Map.from_multi_pw_aff(isl.MultiPwAff.from_pw_aff_list(space, items))
        relation = relation.intersect_params(bounds)
        for name in (*unknown, *env.inner):
            place = relation.find_dim_by_name(isl.dim_type.param, name)
            if place >= 0:
                relation = relation.project_out(isl.dim_type.param, place, 1)
        return relation, tuple(free), tuple(clamped)
