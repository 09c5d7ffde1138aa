"""isl's AST expressions as C expressions, computed in 64 bits wherever 32 might overflow."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.reader import parameter_space
from polyc.codegen.text.macros import FLOORD, MAX, MIN
from polyc.model import ctree as c
from polyc.model.scop import CType, Parameter, Scop
from polyc.poly import kind_of, operation_of
from polyc.records import dataclass

_COMPARE = {"eq": "==", "le": "<=", "lt": "<", "ge": ">=", "gt": ">"}
_LOGIC = {"and_": "&&", "and_then": "&&", "or_": "||", "or_else": "||"}


@dataclass(frozen=True, slots=True)
class _Value:
    expr: c.Expr
    wide: bool
    """Computed in (at least) 64 signed bits."""
    narrow: frozenset[str] = frozenset()
    """Parameters in it that have 32 bits or fewer."""


def build_for(scop: Scop, sizes: isl.Set) -> isl.AstBuild:
    """isl's maker of expressions in the region's parameters, where `sizes` is what is known of them.

    The sizes name all parameters: else isl may leave one out of a remainder, as of `3 * floor((m - n) / 3) <= 3 - m`
    where nothing is known of m but something of n (islpy 2026.2.2).
    """
    return isl.AstBuild.from_context(sizes.align_params(parameter_space(scop)))


def expression(build: isl.AstBuild, value: isl.PwAff) -> isl.AstExpr:
    """A value as an expression of isl's AST.

    It gets all parameters of the build: else isl may fail, as for `n - (n + 1) % 2` in a build that has m before n
    (islpy 2026.2.2).
    """
    return build.expr_from_pw_aff(value.align_params(build.get_schedule_space()))


def condition(build: isl.AstBuild, holds: isl.Set) -> isl.AstExpr:
    """A set as a condition of isl's AST, with all parameters of the build: else isl fails at some disjunctions, as for
    `m >= 2 or d < m` in a build with another order of parameters."""
    return build.expr_from_set(holds.align_params(build.get_schedule_space()))


class ExprPrinter:
    """Converts expressions under one set of names for iterators and parameters."""

    def __init__(self, parameters: tuple[Parameter, ...], iterators: dict[str, c.Expr]) -> None:
        self._parameters = {p.name: p for p in parameters}
        self._answers = {p.expr for p in parameters if p.is_answer}
        self.iterators = iterators

    def convert(self, expr: isl.AstExpr) -> c.Expr:
        return self._value(expr).expr

    def exclusive(self, expr: isl.AstExpr) -> c.Expr:
        """`expr + 1`, pushed into minima and sums, so that `i <= N - 1` can be printed as `i < N`."""
        return self._plus_one(expr).expr

    def differences(self, one: list[isl.AstExpr], other: list[isl.AstExpr]) -> tuple[c.Expr, ...]:
        """Some expressions less others, term by term."""
        pairs = zip(one, other, strict=True)
        return tuple(_arithmetic("-", self._value(a), self._value(b)).expr for a, b in pairs)

    def _plus_one(self, expr: isl.AstExpr) -> _Value:
        if kind_of(expr) == "op":
            op = operation_of(expr)
            if op == "min":
                values = [self._plus_one(expr.op_get_arg(k)) for k in range(expr.op_get_n_arg())]
                return _nested(MIN, values)
        return _add_constant(self._value(expr), 1)

    def _value(self, expr: isl.AstExpr) -> _Value:
        kind = kind_of(expr)
        if kind == "int":
            return _literal(expr.get_val().to_python())
        if kind == "id":
            return self._identifier(str(expr.get_id().get_name()))
        op = operation_of(expr)
        arguments = [self._value(expr.op_get_arg(k)) for k in range(expr.op_get_n_arg())]
        return self._operation(op, arguments)

    def _identifier(self, name: str) -> _Value:
        if name in self.iterators:
            return _Value(self.iterators[name], True)
        parameter = self._parameters[name]
        if _is_long(parameter.type):
            return _Value(parameter.expr, True)
        if not parameter.type.signed and parameter.type.size_bytes >= 4:
            return _Value(c.Cast("long", parameter.expr), True)
        if isinstance(parameter.expr, c.Name):
            return _Value(parameter.expr, False, frozenset([parameter.expr.name]))
        return _Value(parameter.expr, False)

    def _operation(self, op: str, values: list[_Value]) -> _Value:
        if op == "minus":
            one = _widened(values[0])
            if isinstance(one.expr, c.Literal):
                return _literal(-int(one.expr.text.rstrip("L")))
            return _Value(c.Unary("-", one.expr), one.wide)
        if op in ("min", "max"):
            return _nested(MIN if op == "min" else MAX, values)
        if op in ("add", "sub", "mul"):
            return _arithmetic({"add": "+", "sub": "-", "mul": "*"}[op], values[0], values[1])
        if op in ("div", "pdiv_q"):
            return _Value(c.Binary("/", values[0].expr, values[1].expr), values[0].wide)
        if op in ("pdiv_r", "zdiv_r"):
            return _Value(c.Binary("%", values[0].expr, values[1].expr), values[0].wide)
        if op == "fdiv_q":
            numerator = _widened(values[0])
            return _Value(c.Call(FLOORD, (numerator.expr, values[1].expr)), True)
        if op in ("select", "cond"):
            wide = values[1].wide or values[2].wide
            return _Value(c.Ternary(values[0].expr, values[1].expr, values[2].expr), wide)
        if op in _COMPARE:
            answer = self._answer(_COMPARE[op], values[0].expr, values[1].expr)
            return _Value(
                answer if answer is not None else c.Binary(_COMPARE[op], values[0].expr, values[1].expr), False
            )
        if op in _LOGIC:
            left, right = (value.expr for value in values)
            if _LOGIC[op] == "&&" and TRUE in (left, right):
                return _Value(right if left == TRUE else left, False)
            return _Value(c.Binary(_LOGIC[op], left, right), False)
        raise AssertionError(f"isl printed an operation that polyc does not know: {op}")

    def _answer(self, op: str, one: c.Expr, other: c.Expr) -> c.Expr | None:
        """A parameter that is the answer of a comparison, 0 or 1, asked for one of these: `x == 0.0`, `!(x < y)`."""
        if not isinstance(one, c.Binary) or one not in self._answers or not isinstance(other, c.Literal):
            return None
        if (op, other.text) in (("==", "1"), (">=", "1"), (">", "0")):
            return one
        if (op, other.text) in (("==", "0"), ("<=", "0"), ("<", "1")):
            opposite = c.OPPOSITE.get(one.op)
            return c.Unary("!", one) if opposite is None else c.Binary(opposite, one.left, one.right)
        return TRUE if (op, other.text) in ((">=", "0"), ("<=", "1")) else None


TRUE = c.Literal("1")


def _is_long(ctype: CType) -> bool:
    return ctype.signed and ctype.size_bytes >= 8


def _literal(value: int) -> _Value:
    small = -(2**31) < value < 2**31
    return _Value(c.Literal(str(value) if small else f"{value}L"), not small)


def _constant(expr: c.Expr) -> int | None:
    return int(expr.text.rstrip("L")) if isinstance(expr, c.Literal) else None


def _widened(value: _Value) -> _Value:
    """The value in 64 bits: a cast on its first operand where it has only 32."""
    if value.wide or isinstance(value.expr, c.Literal):
        return value
    match value.expr:
        case c.Binary(op="+" | "-" | "*", left=left, right=right):
            widened = _widened(_Value(left, False)).expr
            return _Value(c.Binary(value.expr.op, widened, right), True)
        case _:
            return _Value(c.Cast("long", value.expr), True)


def _arithmetic(op: str, left: _Value, right: _Value) -> _Value:
    """A sum or product; where both sides have 32 bits one of them is widened first."""
    if op == "*":
        if not left.wide and not right.wide:
            if isinstance(left.expr, c.Literal) or isinstance(right.expr, c.Literal):
                left, right = _long_literal(left), _long_literal(right)
            else:
                left = _widened(left)
        return _Value(c.Binary("*", left.expr, right.expr), True)
    return _sum([*_terms(left, True), *_terms(right, op == "+")])


@dataclass(frozen=True, slots=True)
class _Term:
    positive: bool
    value: _Value


def _terms(value: _Value, positive: bool) -> list[_Term]:
    """The summands of an expression, without casts that only widened them."""
    match value.expr:
        case c.Binary(op="+" | "-" as op, left=left, right=right):
            second = positive if op == "+" else not positive
            return [*_terms(_leaf(left, value), positive), *_terms(_leaf(right, value), second)]
        case c.Unary(op="-", operand=operand):
            return _terms(_leaf(operand, value), not positive)
        case _:
            return [_Term(positive, value)]


def _leaf(expr: c.Expr, whole: _Value) -> _Value:
    """A part of a sum: as wide as it is by itself, which is known for constants, casts and parameters only."""
    match expr:
        case c.Literal(text=text):
            return _Value(c.Literal(text.rstrip("L")), False)
        case c.Cast(type="long", operand=c.Name() as operand) if whole.narrow and operand.name in whole.narrow:
            return _Value(operand, False, whole.narrow)
        case c.Name(name=name) if name in whole.narrow:
            return _Value(expr, False, whole.narrow)
        case c.Binary() | c.Unary():
            return _Value(expr, True, whole.narrow)
        case _:
            return _Value(expr, True)


def _sum(terms: list[_Term]) -> _Value:
    """A sum as people write it: positive terms first, one constant at the end, 64 bits from its first term on."""
    constant = 0
    rest: list[_Term] = []
    for term in terms:
        known = _constant(term.value.expr)
        if known is None:
            rest.append(term)
        else:
            constant += known if term.positive else -known
    for term in [t for t in rest if not t.positive]:
        same = next((t for t in rest if t.positive and t.value.expr == term.value.expr), None)
        if same is not None:
            rest = [t for t in rest if t is not same and t is not term]
    if not rest:
        return _literal(constant)
    rest.sort(key=lambda t: not t.positive)
    narrow = frozenset[str]().union(*(t.value.narrow for t in rest))
    if len(rest) == 1 and constant == 0 and rest[0].positive:
        return rest[0].value
    wide = rest[0].value.wide or (len(rest) > 1 and rest[1].value.wide)
    first = rest[0]
    literal = str(abs(constant))
    if not wide:
        if len(rest) == 1 and first.positive and constant:
            literal += "L"
        else:
            first = _Term(first.positive, _widened(first.value))
    expr = first.value.expr
    if not first.positive:
        if constant > 0:
            expr, constant = c.Binary("-", c.Literal(literal), expr), 0
        else:
            expr = c.Unary("-", expr)
    for term in rest[1:]:
        expr = c.Binary("+" if term.positive else "-", expr, term.value.expr)
    if constant:
        expr = c.Binary("+" if constant > 0 else "-", expr, c.Literal(literal))
    return _Value(expr, True, narrow)


def _long_literal(value: _Value) -> _Value:
    constant = _constant(value.expr)
    return value if constant is None else _Value(c.Literal(f"{constant}L"), True)


def _add_constant(value: _Value, amount: int) -> _Value:
    """`value + amount`, folded into a constant that the sum already has."""
    return _sum([*_terms(value, True), _Term(amount > 0, _Value(c.Literal(str(abs(amount))), False))])


def _nested(macro: str, values: list[_Value]) -> _Value:
    result = values[0]
    for value in (v for k, v in enumerate(values) if k > 0 and v not in values[:k]):
        result = _Value(c.Call(macro, (result.expr, value.expr)), result.wide or value.wide)
    return result
