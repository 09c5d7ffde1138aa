"""C's integer expressions as isl's piecewise affine ones, wherever C's semantics allow it.

An expression of unsigned type stands for its mathematical value modulo 2^bits until somebody looks at it (compares,
divides, widens, subscripts). Then it has to lie in its type's range: known, or assumed of the parameters, or it is not
affine. Signed arithmetic does not overflow in a C program that has a meaning.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import base_key, mentions
from polyc.analysis.expressions.reader import bits_of, piecewise
from polyc.frontend.c.ctype import INT, UNSIGNED, Shape, basic, common, is_narrow, promote
from polyc.frontend.c.references import tested_pointer
from polyc.frontend.c.state import CTX, EVERYTHING, Env, Region, limits, number, variable
from polyc.frontend.text.asserts import ASSERTED
from polyc.model import ctree as c
from polyc.model.scop import CType, Storage
from polyc.poly import affine_of, project
from polyc.records import dataclass

_WORDS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq"}
_COMPARE = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}
SIZE = CType("unsigned long", "int", 8, False)
Value = tuple[isl.PwAff, CType]


@dataclass(frozen=True, slots=True)
class Affine:
    """Answers None where an expression is not affine."""

    region: Region

    def observed(self, expr: c.Expr, env: Env) -> isl.PwAff | None:
        """The value of an integer expression."""
        value = self.value(expr, env)
        return None if value is None else self.observe(value, env)

    def observe(self, value: Value, env: Env) -> isl.PwAff | None:
        """The value, once it is certain that it lies in its type's range."""
        affine, type_ = value
        if type_.signed and type_.size_bytes >= 4:
            return affine
        return affine if self.fits(affine, type_, env) else None

    def fits(self, affine: isl.PwAff, type_: CType, env: Env) -> bool:
        low, high = limits(type_)
        wrong = affine.lt_set(number(low))
        if type_.size_bytes < 8 or type_.signed:
            wrong = wrong.union(affine.gt_set(number(high)))
        return self.region.holds(wrong, env)

    def converted(self, value: Value, target: CType, env: Env) -> isl.PwAff | None:
        """The value after a conversion to an integer type (which may wrap to an unsigned or narrow one)."""
        affine, source = value
        if source.size_bytes < target.size_bytes and self.observe(value, env) is None:
            return None
        low, high = limits(target)
        source_low, source_high = limits(source)
        if low <= source_low and source_high <= high and (source.signed or source.size_bytes < target.size_bytes):
            return affine
        return affine if self.fits(affine, target, env) else None

    # --- values

    def value(self, expr: c.Expr, env: Env) -> Value | None:
        """The value modulo 2^bits of its type, with that type."""
        match expr:
            case c.Literal(text=text):
                return self.literal(text)
            case c.Name(name=name):
                return self.name(expr, name, env)
            case c.Member():
                return self.member(expr, env)
            case c.Unary(op="-" | "+" as op, operand=inner):
                operand = self.value(inner, env)
                if operand is None:
                    return None
                return (operand[0].neg() if op == "-" else operand[0]), promote(operand[1])
            case c.Binary(op="+" | "-" | "*" as op, left=left, right=right):
                return self.arithmetic(expr, op, left, right, env)
            case c.Binary(op="/" | "%" | "<<" | ">>" | "&" | "|" | "^" as op, left=left, right=right):
                forms = (expr, where_positive(expr, right))
                known = any(self.region.has_parameter(form) for form in forms)  # found out once
                found = None if known else self.division(op, left, right, env)
                return found or self.invariant(expr, op, left, right, env)
            case c.Unary(op="~", operand=inner):
                operand = self.value(inner, env)
                return None if operand is None else (number(-1) - operand[0], promote(operand[1]))
            case c.Unary(op="!") | c.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"):
                return self.truth(expr, env)
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                return self.quotient(expr, env) or self.choice(condition, then, otherwise, env)
            case c.Cast(type=text, operand=inner):
                return self.cast(text, inner, env)
            case c.SizeOf(text=text):
                return self.size_of(text)
            case c.Call(function="abs", arguments=(inner,)):
                whole = c.Cast("int", inner)
                return self.choice(c.Binary("<", whole, c.Literal("0")), c.Unary("-", whole), whole, env)
            case c.Call(function=name, arguments=(condition, inner)) if name == ASSERTED:
                return self.value(inner, env) if self.asserts(condition, env) else None
        return None

    def truth(self, expr: c.Expr, env: Env) -> Value | None:
        """1 where a condition on loops and sizes holds, else 0, as in `int inside = 0 <= x && x < w;`."""
        strict, self.region.strict = self.region.strict, True
        holds = self.condition(expr, env)
        self.region.strict = strict
        return None if holds is None else (holds.indicator_function(), INT)

    def asserts(self, condition: c.Expr, env: Env) -> bool:
        """Whether a condition holds wherever it is asked: it is known to, or is assumed of the parameters."""
        strict, self.region.strict = self.region.strict, False
        holds = self.condition(condition, env)
        found = holds is not None and self.region.holds(holds.complement(), env)
        self.region.strict = strict
        return found

    def literal(self, text: str) -> Value | None:
        value = literal_value(text)
        if value is None or value >= 1 << 63:
            return None
        suffix = text.lower().lstrip("0123456789abcdefx")
        unsigned = "u" in suffix
        if "l" in suffix or value >= 1 << 32 or (value >= 1 << 31 and not unsigned and text.isdigit()):
            return number(value), basic("unsigned long" if unsigned else "long", "long")
        if unsigned or value >= 1 << 31:
            return number(value), basic("unsigned int", "unsigned int")
        return number(value), INT

    def name(self, expr: c.Name, name: str, env: Env) -> Value | None:
        symbol = self.region.symbol(name)
        if symbol is None:
            constant = self.region.scope.types.constants.get(name)
            return None if constant is None else (number(constant), INT)
        if not symbol.is_integer:
            return None
        type_ = symbol.shape.element
        if name in env.variables:
            return variable(name), type_
        if name in env.values:
            return env.values[name], type_
        if name in self.region.written:
            return None
        fixed = self.region.fixed(name)
        if fixed is not None:
            return number(fixed), type_
        base, factor = self.region.multiples.get(name, (name, 1))
        if base != name:
            return self.region.parameter(base, type_, c.Name(base)) * number(factor), type_
        return self.region.parameter(name, type_, expr), type_

    def member(self, expr: c.Member, env: Env) -> Value | None:
        """`p->n` and `s.n` of a struct that the region does not write are parameters."""
        type_ = self.member_type(expr)
        return None if type_ is None else (self.region.parameter(label(expr), type_, expr), type_)

    def member_type(self, expr: c.Member) -> CType | None:
        """The type of such a member that is a whole number."""
        shape = self.steady(expr)
        return None if shape is None or shape.element.kind != "int" else shape.element

    def is_size(self, expr: c.Member) -> bool:
        shape = self.steady(expr)
        return shape is not None and shape.element.kind == "int" and shape.node is None

    def steady(self, expr: c.Member) -> Shape | None:
        """The type of a member that is a number, of a struct that the region does not write."""
        names: list[str] = []
        inner: c.Expr = expr
        arrows = 0
        while isinstance(inner, c.Member):
            names.append(inner.field)
            arrows += inner.arrow
            inner = inner.base
        if not isinstance(inner, c.Name) or inner.name in self.region.written:
            return None
        symbol = self.region.symbol(inner.name)
        if symbol is None or symbol.rank != arrows or (arrows and not expr_arrow_first(expr)):
            return None
        node = symbol.shape.node
        shape = None
        for field_name in reversed(names):
            shape = self.region.scope.types.field(node, field_name)
            if shape is None or shape.dims or "volatile" in shape.qualifiers:
                return None
            node = shape.node
        return shape

    def size_of(self, text: str) -> Value | None:
        """`sizeof(double)`, `sizeof(A)`, `sizeof A[0]`."""
        size = self.region.scope.size_of(text)
        return (number(size), SIZE) if size else None

    def arithmetic(self, expr: c.Expr, op: str, left: c.Expr, right: c.Expr, env: Env) -> Value | None:
        first, second = self.value(left, env), self.value(right, env)
        if first is None or second is None:
            return None
        type_ = common(first[1], second[1])
        a, b = self.widened(first, type_, env), self.widened(second, type_, env)
        if a is None or b is None:
            return None
        if op == "+":
            return a + b, type_
        if op == "-":
            return a - b, type_
        if is_constant(a) or is_constant(b):
            return a * b, type_
        if mentions(expr) & set(env.variables) or mentions(expr) & set(env.values):
            return None
        if first[1].size_bytes < 4 or second[1].size_bytes < 4:
            return None
        if is_narrow(type_) and not self.stays_narrow(a, right, b):
            return None
        return self.region.parameter(label(expr), type_, expr), type_  # `n * m`, a parameter of its own

    def stays_narrow(self, size: isl.PwAff, other: c.Expr, value: isl.PwAff) -> bool:
        """Whether an unsigned product of two sizes does not wrap: that is asked before."""
        most = self.observed(positive_quotient(c.Literal(str(limits(UNSIGNED)[1])), other), Env())
        return most is not None and self.region.holds(size.gt_set(most).union(value.lt_set(number(0))), Env())

    def invariant(self, expr: c.Expr, op: str, left: c.Expr, right: c.Expr, env: Env) -> Value | None:
        """`n / s`, `n % s`, `1 << level`, `n & ~7` of sizes is a parameter of its own.

        Its value is asked for before the region, where the program may not get as far: of a divisor it is asked first
        whether it is positive, unless the region divides by it in any case.
        """
        first, second = self.value(left, env), self.value(right, env)
        if first is None or second is None or mentions(expr) & {*env.variables, *env.values}:
            return None
        type_ = promote(first[1]) if op in ("<<", ">>") else common(first[1], second[1])
        if op in ("/", "%") and not is_constant(second[0]) and not self.is_reached(env):
            wrong = second[0].le_set(number(0))
            if op == "%" or not self.region.holds(wrong, env):
                return None
            if not self.region.has_parameter(expr):
                expr = where_positive(expr, right)
        found = self.region.parameter(label(expr), type_, expr)
        return found, type_

    def is_reached(self, env: Env) -> bool:
        """Whether a place is, wherever the region runs."""
        known = self.region.context.intersect(self.region.assumed)
        return bool(known.is_subset(project(env.domain, env.variables)))

    def quotient(self, expr: c.Ternary, env: Env) -> Value | None:
        """`m > 0 ? n / m : 0` of two sizes is a parameter of its own."""
        match expr:
            case c.Ternary(
                condition=c.Binary(op=">", left=tested, right=c.Literal(text="0")),
                then=c.Binary(op="/", left=above, right=below) as plain,
                otherwise=c.Literal(text="0"),
            ) if tested == below and not mentions(expr) & {*env.variables, *env.values}:
                first, second = self.value(above, env), self.value(below, env)
                if first is None or second is None or is_constant(second[0]):
                    return None
                type_ = common(first[1], second[1])
                exact = type_.signed or (type_.size_bytes == 8 and not first[1].signed and not second[1].signed)
                if not exact:
                    return None  # a conversion may change a value
                known = env.domain.intersect(self.region.context).intersect(self.region.assumed)
                if self.region.has_parameter(plain) and known.is_subset(second[0].gt_set(number(0))):
                    return self.region.parameter(label(plain), type_, plain), type_
                return self.region.parameter(label(expr), type_, expr), type_
        return None

    def widened(self, value: Value, type_: CType, env: Env) -> isl.PwAff | None:
        """An operand in the common type: sign or zero extension needs the operand's own value."""
        if value[1].size_bytes < type_.size_bytes:
            return self.observe(value, env)
        return value[0]

    def division(self, op: str, left: c.Expr, right: c.Expr, env: Env) -> Value | None:
        """`/` and `%` truncate toward zero; shifts, and masks of neighbouring bits, are divisions and remainders too.

        math: x | m = x + m - (x & m), and x ^ m = x + m - 2 (x & m)
        """
        first, second = self.value(left, env), self.value(right, env)
        if first is None or second is None:
            return None
        if op in ("/", "%"):
            found = self.wrapped(op, first, second, env)
            if found is not None or not is_constant(second[0]):
                return found
        if op in ("&", "|", "^") and is_constant(first[0]):
            first, second = second, first
        if not is_constant(second[0]):
            return None
        type_ = promote(first[1]) if op in ("<<", ">>") else common(first[1], second[1])
        operand = self.converted(first, type_, env)
        amount = constant_of(second[0])
        if operand is None:
            return None
        if op in ("<<", ">>"):
            if not 0 <= amount < 31:
                return None
            amount = 1 << amount
            if op == "<<":
                return operand * number(amount), type_
            return operand.div(number(amount)).floor(), type_
        if op in ("&", "|", "^"):
            mask = amount if second[1].signed else amount % (1 << 8 * second[1].size_bytes)
            some = bits_of(operand, mask)
            if some is None:
                return None
            bits = piecewise(some)
            return bits if op == "&" else operand + number(mask) - bits * number(1 + (op == "^")), type_
        if amount == 0 or (amount < 0 and not type_.signed):
            return None
        return self.truncated(op, operand, amount, env), type_

    def wrapped(self, op: str, first: Value, second: Value, env: Env) -> Value | None:
        """A division of a value that stays near its divisor, one piece for each quotient: `(j + 1) % n` is j + 1, or 0.

        Small sizes are excluded by an assumption where more than one turn would be possible: `(j + 3) % n` for n < 3.

        math: a % n = a - q n where q n <= a < (q + 1) n, and a + q n where -(q + 1) n < a <= -q n < 0
        """
        type_, before = common(first[1], second[1]), self.region.assumed
        operand, size = self.converted(first, type_, env), self.converted(second, type_, env)
        if operand is None or size is None:
            return None
        value = self.constant_turns(op, operand, size, env) if is_constant(size) else self.near(op, operand, size, env)
        if value is None:
            self.region.assumed = before
        return None if value is None else (value, type_)

    def constant_turns(self, op: str, operand: isl.PwAff, size: isl.PwAff, env: Env) -> isl.PwAff | None:
        if constant_of(size) <= 0:
            return None
        value, wrong = self.turns(op, operand, size, 1, env)
        return value if wrong.is_empty() else None

    def near(self, op: str, operand: isl.PwAff, size: isl.PwAff, env: Env) -> isl.PwAff | None:
        if not self.region.holds(size.le_set(number(0)), env):
            return None
        value, wrong = self.turns(op, operand, size, 1, env)
        if wrong.is_empty():
            return value
        few = wrong.is_subset(size.le_set(number(FEW_TURNS)))
        if few and not self.region.strict and self.region.holds(wrong, env):
            return value
        value, wrong = self.turns(op, operand, size, MOST_TURNS, env)
        return value if wrong.is_empty() else None

    def turns(self, op: str, operand: isl.PwAff, size: isl.PwAff, most: int, env: Env) -> tuple[isl.PwAff, isl.Set]:
        """The remainder or quotient up to a quotient, and where it is larger."""
        known = env.domain.intersect(self.region.context).intersect(self.region.types(env))
        known = known.intersect(self.region.assumed)
        value = isl.PwAff.empty(operand.get_space())
        for sign in (1, -1):
            absolute = operand if sign > 0 else operand.neg()
            for turn in range(most + 1):
                low = size * number(turn)
                here = absolute.ge_set(low).intersect(absolute.lt_set(low + size))
                here = here if sign > 0 else here.intersect(absolute.gt_set(number(0)))
                if here.intersect(known).is_empty():
                    continue
                rest = absolute - low if op == "%" else number(turn)
                value = value.union_add((rest if sign > 0 else rest.neg()).intersect_domain(here))
                known = known.subtract(here)
        return value.coalesce(), known

    def truncated(self, op: str, operand: isl.PwAff, amount: int, env: Env) -> isl.PwAff:
        size = abs(amount)
        negative = operand.lt_set(number(0)).intersect(env.domain).intersect(self.region.context)
        if negative.is_empty():
            quotient = operand.div(number(size)).floor()
            remainder = operand.mod_val(isl.Val.int_from_si(CTX, size))
        else:
            quotient, remainder = operand.tdiv_q(number(size)), operand.tdiv_r(number(size))
        if op == "%":
            return remainder
        return quotient if amount > 0 else quotient.neg()

    def choice(self, condition: c.Expr, then: c.Expr, otherwise: c.Expr, env: Env) -> Value | None:
        when = self.condition(condition, env)
        if when is None:
            return None
        first = self.value(then, env.within(when))
        second = self.value(otherwise, env.within(when.complement()))
        if first is None or second is None:
            return None
        type_ = common(first[1], second[1])
        a, b = self.widened(first, type_, env), self.widened(second, type_, env)
        if a is None or b is None:
            return None
        chosen = a.intersect_domain(when), b.intersect_domain(when.complement())
        return same_everywhere(*chosen) or chosen[0].union_add(chosen[1]).coalesce(), type_

    def cast(self, text: str, inner: c.Expr, env: Env) -> Value | None:
        type_ = self.named_type(text)
        value = self.value(inner, env)
        if type_ is None or type_.kind != "int" or value is None:
            return None
        converted = self.converted(value, type_, env)
        return None if converted is None else (converted, type_)

    def named_type(self, text: str) -> CType | None:
        return self.region.scope.types.named(text)

    # --- conditions

    def condition(self, expr: c.Expr, env: Env) -> isl.Set | None:
        """The places where a condition holds: `[n, i] -> { [] : … }`."""
        match expr:
            case c.Binary(op="&&", left=left, right=right):
                first = self.condition(left, env)
                second = self.condition(right, env.within(first)) if first is not None else None
                return None if first is None or second is None else first.intersect(second)
            case c.Binary(op="||", left=left, right=right):
                first = self.condition(left, env)
                second = self.condition(right, env.within(first.complement())) if first is not None else None
                return None if first is None or second is None else first.union(second).coalesce()
            case c.Unary(op="!", operand=inner):
                inside = self.condition(inner, env)
                return None if inside is None else inside.complement()
            case c.Name() | c.Binary(op="==" | "!=") if (found := self.leads(expr)) is not None:
                return found
            case c.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left, right=right):
                holds = self.comparison(op, left, right, env)
                return self.answer(expr, env) if holds is None else holds
            case c.Ternary(condition=test, then=then, otherwise=otherwise):
                return self.conditional(test, then, otherwise, env)
        value = self.observed(expr, env)
        return None if value is None else value.ne_set(number(0))

    def conditional(self, test: c.Expr, then: c.Expr, otherwise: c.Expr, env: Env) -> isl.Set | None:
        when = self.condition(test, env)
        if when is None:
            return None
        first = self.condition(then, env.within(when))
        second = self.condition(otherwise, env.within(when.complement()))
        if first is None or second is None:
            return None
        return when.intersect(first).union(when.complement().intersect(second)).coalesce()

    def answer(self, expr: c.Binary, env: Env) -> isl.Set | None:
        """A comparison of numbers that the region does not change, as `beta == 0.0`: a parameter that is 0 or 1.

        Neither side is computed, so that it comes out the same wherever it is evaluated.
        """
        if self.region.strict or not (self.is_still(expr.left, env) and self.is_still(expr.right, env)):
            return None
        op = "==" if expr.op == "!=" else expr.op
        name = f"{label(expr.left)}_{_WORDS[op]}_{label(expr.right)}"
        return self.yes(name, c.Binary(op, expr.left, expr.right), expr.op != "!=")

    def leads(self, expr: c.Expr) -> isl.Set | None:
        """A question whether a pointer leads anywhere, `p`, `p == NULL`: a parameter that is 0 or 1."""
        found = tested_pointer(self.region.scope, self.region.assigned, expr)
        if found is None:
            return None
        return self.yes(f"{label(found[0])}_given", c.Binary("!=", found[0], c.Literal("0")), found[1])

    def yes(self, name: str, asked: c.Binary, expected: bool) -> isl.Set:
        """Where a question about what the region does not change is answered as expected."""
        value = self.region.parameter(name, INT, asked)
        self.region.context = self.region.context.intersect(value.ge_set(number(0))).intersect(value.le_set(number(1)))
        return value.eq_set(number(int(expected)))

    def is_still(self, expr: c.Expr, env: Env) -> bool:
        """Whether an operand is a constant, or a number of the program that the region does not change."""
        match expr:
            case c.Literal() | c.Unary(op="-" | "+", operand=c.Literal()):
                return True
            case c.Name(name=name):
                symbol = self.region.symbol(name)
                if symbol is None or symbol.rank or symbol.shape.node is not None or symbol.storage is Storage.REGION:
                    return False
                return not {name} & {*self.region.written, *env.variables, *env.values}
            case c.Member():
                shape = self.steady(expr)
                return shape is not None and shape.node is None
        return False

    def comparison(self, op: str, left: c.Expr, right: c.Expr, env: Env) -> isl.Set | None:
        first, second = self.value(left, env), self.value(right, env)
        if first is None or second is None:
            return None
        type_ = common(first[1], second[1])
        a, b = self.converted(first, type_, env), self.converted(second, type_, env)
        if a is None or b is None:
            return None
        return compared(a, op, b)


MOST_PIECES = 8
FEW_TURNS = 16
"""Sizes that may be excluded so that a value goes round them once at most."""
MOST_TURNS = 3
"""The largest quotient by a parameter that gets a piece of its own."""


MOST_PARTS = 12
"""Convex pieces of the iterations in which a condition holds: the flow of a variable that is changed in more of them
takes isl minutes to find."""


def is_scattered(holds: isl.Set) -> bool:
    """Whether a condition holds in so many pieces that the region is better off without what it says."""
    return int(holds.n_basic_set()) > MOST_PARTS and int(holds.coalesce().n_basic_set()) > MOST_PARTS


def compared(first: isl.PwAff, op: str, second: isl.PwAff) -> isl.Set:
    """Where a comparison holds; `i >= max(a, b)` as `i >= a and i >= b`.

    isl compares each piece of a function by itself, and does not see that all pieces together are one polyhedron. A
    nest of loops that start and end at maxima and minima would have hundreds.
    """
    found: isl.Set = getattr(first, _COMPARE[op])(second)
    if op not in ("<", "<=", ">", ">=") or not 1 < max(first.n_piece(), second.n_piece()) <= MOST_PIECES:
        return found
    difference = first.sub(second)
    pieces: list[isl.Aff] = []
    difference.foreach_piece(lambda _domain, aff: pieces.append(aff))
    zero = number(0)
    every = isl.Set.universe(found.get_space())
    for aff in pieces:
        every = every.intersect(getattr(isl.PwAff.from_aff(aff), _COMPARE[op])(zero))
    return every if every.n_basic_set() < found.n_basic_set() and every.is_equal(found) else found


def outside(value: isl.PwAff, type_: CType) -> isl.Set:
    """Where a value is none of its type."""
    low, high = limits(type_)
    return value.lt_set(number(low)).union(value.gt_set(number(high)))


def same_everywhere(first: isl.PwAff, second: isl.PwAff) -> isl.PwAff | None:
    """Two functions on different domains as one, where one expression is both: `n < 0 ? -((-n + 7) / 8) : n / 8`, the
    quotient that is rounded down, is one floor. isl would go on with two pieces, and a region has many of these."""
    if first.n_piece() != 1 or second.n_piece() != 1:
        return None
    one = affine_of(second)
    if one is None or one.dim(isl.dim_type.div) == 0:
        return None
    everywhere = isl.PwAff.from_aff(one)
    if not everywhere.intersect_domain(first.domain()).is_equal(first):
        return None
    return everywhere.intersect_domain(first.domain().union(second.domain()).coalesce())


def label(expr: c.Expr) -> str:
    """A name for the value of an invariant expression: `n_m` for `n * m`, `p_n` for `p->n`."""
    match expr:
        case c.Name(name=name):
            return name
        case c.Member(base=base, field=field):
            return f"{label(base)}_{field}"
        case c.Binary(left=left, right=right):
            return f"{label(left)}_{label(right)}"
        case c.Literal(text=text) if c.as_word(text):
            return c.as_word(text)
        case c.Unary(op="-", operand=operand):
            return f"minus_{label(operand)}"
        case c.Ternary(then=c.Binary(op="/", left=left, right=right)):
            return f"{label(left)}_per_{label(right)}"
    return "v"


def expr_arrow_first(expr: c.Member) -> bool:
    """Whether only the innermost member is reached by `->`."""
    inner: c.Expr = expr
    while isinstance(inner, c.Member):
        if inner.arrow and isinstance(inner.base, c.Member):
            return False
        inner = inner.base
    return base_key(expr) is not None


def positive_quotient(above: c.Expr, below: c.Expr) -> c.Expr:
    """`m > 0 ? n / m : 0`."""
    return where_positive(c.Binary("/", above, below), below)


def where_positive(divided: c.Expr, below: c.Expr) -> c.Expr:
    """A quotient or remainder, or 0 where the divisor is not positive."""
    zero = c.Literal("0")
    return c.Ternary(c.Binary(">", below, zero), divided, zero)


def is_constant(affine: isl.PwAff) -> bool:
    return affine.n_piece() == 1 and bool(affine.is_cst()) and affine.domain().plain_is_universe()


def constant_of(affine: isl.PwAff) -> int:
    """The value of an affine expression that is a constant."""
    return int(affine.max_val().to_python()) if affine.domain().is_equal(EVERYTHING) else 0
