"""C expressions of whole numbers as isl has them: bounds, conditions and subscripts of the printed text.

The reader knows C and nothing of how the text was made. Division and remainder are C's, which round towards zero.
Values are taken to fit their types: the printer computes in 64 bits (`codegen/loops/exprs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.poly import affine_of
from polyc.records import dataclass, field

MIN, MAX, FLOORD = "polyc_min", "polyc_max", "polyc_floord"
MOST_WHOLE = frozenset({"long", "int", "unsigned", "signed", "size_t", "ptrdiff_t", "const"})
"""Words of types that are taken to hold each value that the text computes."""
_COMPARE: dict[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}
_COMPARE_PLAIN: dict[str, Callable[[isl.Aff, isl.Aff], isl.Set]] = {
    "<": isl.Aff.lt_set,
    "<=": isl.Aff.le_set,
    ">": isl.Aff.gt_set,
    ">=": isl.Aff.ge_set,
    "==": isl.Aff.eq_set,
    "!=": isl.Aff.ne_set,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
Value = isl.Aff | isl.PwAff


class NotAffine(Exception):
    """The expression is no affine function of loops and parameters. The message is the expression's kind."""


def parameter_space(scop: Scop) -> isl.Space:
    """`[n] -> { : }` with all parameters of a region, those of its context too."""
    space = scop.known.get_space().align_params(scop.context.get_space())
    for parameter in scop.parameters:
        one = isl.Space.params_alloc(space.get_ctx(), 1)
        space = space.align_params(one.set_dim_name(isl.dim_type.param, 0, parameter.name))
    return space


@dataclass(slots=True, eq=False)
class Reader:
    """Expressions at one place of the text, as functions on `[n] -> { [x0, x1, …] }`, the loops around the place."""

    parameters: Mapping[c.Expr, str]
    """What is printed for each parameter -> its name."""
    names: Mapping[str, int | c.Expr]
    """A loop variable -> the position of its loop; a constant of the text -> its value."""
    space: isl.Space
    domain: isl.Set | None = None
    """Where the expressions are evaluated, as far as that is known: there a division may need no case for its sign."""
    _local: isl.LocalSpace = field(init=False)
    _read: dict[c.Expr, Value] = field(default_factory=dict, init=False)
    _products: dict[c.Expr, list[c.Expr]] = field(default_factory=dict, init=False)
    """A parameter's expression without its casts -> those of all parameters that differ from it in casts only."""

    def __post_init__(self) -> None:
        self._local = isl.LocalSpace.from_space(self.space)
        for expr in self.parameters:
            if isinstance(expr, c.Binary):
                self._products.setdefault(_without_casts(expr), []).append(expr)

    # --- values

    def value(self, expr: c.Expr) -> Value:
        """The expression's value; an `isl.Aff` where it is one expression everywhere. Raises NotAffine."""
        found = self._read.get(expr)
        if found is None:
            found = self._read[expr] = self._value(expr)
        return found

    def _value(self, expr: c.Expr) -> Value:
        name = self.parameters.get(expr)
        if name is None and isinstance(expr, c.Binary):  # a product of sizes, computed in 64 bits
            name = self._computed_wider(expr)
        if name is not None and not (isinstance(expr, c.Name) and expr.name in self.names):
            position = self.space.find_dim_by_name(isl.dim_type.param, name)
            return isl.Aff.var_on_domain(self._local, isl.dim_type.param, position)
        match expr:
            case c.Literal(text=text):
                return self.constant(_number(text))
            case c.Name(name=name):
                return self._named(name)
            case c.Cast(type=kind, operand=operand) if set(kind.split()) <= MOST_WHOLE:
                return self.value(operand)
            case c.Unary(op="-", operand=operand):
                return self.value(operand).neg()
            case c.Unary(op="+", operand=operand):
                return self.value(operand)
            case c.Binary(op="+", left=left, right=right):
                return _sum(self.value(left), self.value(right))
            case c.Binary(op="-", left=left, right=right):
                return _sum(self.value(left), self.value(right).neg())
            case c.Binary(op="*", left=left, right=right):
                return self._product(self.value(left), self.value(right))
            case c.Binary(op="/" | "%" as op, left=left, right=right):
                return self._divided(op, left, right)
            case c.Binary(op="&" | ">>" as op, left=left, right=c.Literal(text=text)):
                return _bits(op, self.value(left), _number(text))
            case c.Call(function=function, arguments=(one, two)) if function == FLOORD:
                return self.value(one).scale_down_val(self._divisor(two)).floor()
            case c.Call(function=function, arguments=(one, two)) if function in (MIN, MAX):
                first, second = piecewise(self.value(one)), piecewise(self.value(two))
                return first.min(second) if function == MIN else first.max(second)
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                inside = self.condition(condition)
                one_, two_ = piecewise(self.value(then)), piecewise(self.value(otherwise))
                return one_.intersect_domain(inside).union_add(two_.intersect_domain(inside.complement()))
        raise NotAffine(type(expr).__name__)

    def _computed_wider(self, expr: c.Binary) -> str | None:
        """The parameter of which an expression is the value, with more casts than it was written with."""
        written = self._products.get(_without_casts(expr), []) if self._products else []
        found = [one for one in written if _adds_casts(expr, one)]
        return self.parameters[found[0]] if len(found) == 1 else None

    def constant(self, value: int) -> isl.Aff:
        return isl.Aff.val_on_domain(self._local, isl.Val.read_from_str(self.space.get_ctx(), str(value)))

    def loop(self, position: int) -> isl.Aff:
        """The variable of the loop at a position."""
        return isl.Aff.var_on_domain(self._local, isl.dim_type.set, position)

    def of_parameters(self, value: isl.PwAff) -> Value:
        """A value that parameters decide, such as a size, at this place."""
        plain = value if value.get_space().is_set() else value.project_domain_on_params()
        wide = plain.insert_domain(self.space.align_params(plain.get_space().params())).align_params(
            self.space.params()
        )
        return wide if not wide.domain().plain_is_universe() else affine_of(wide) or wide

    def _named(self, name: str) -> Value:
        found = self.names.get(name)
        if found is None:
            raise NotAffine(name)
        return self.loop(found) if isinstance(found, int) else self.value(found)

    def _product(self, left: Value, right: Value) -> Value:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, isl.Aff) and one.is_cst():
                return other.scale_val(one.get_constant_val())
        raise NotAffine("product")

    def _divisor(self, expr: c.Expr) -> isl.Val:
        value = self.value(expr)
        if not (isinstance(value, isl.Aff) and value.is_cst()) or not value.get_constant_val().is_pos():
            raise NotAffine("division")
        return value.get_constant_val()

    def _divided(self, op: str, left: c.Expr, right: c.Expr) -> Value:
        divisor, whole = self._divisor(right), self.value(left)
        if isinstance(whole, isl.Aff) and self.domain is not None:
            least = isl.Aff.zero_on_domain(self._local)
            if self.domain.is_subset(whole.ge_set(least)):
                return whole.scale_down_val(divisor).floor() if op == "/" else whole.mod_val(divisor)
        number = piecewise(whole)
        by = piecewise(isl.Aff.val_on_domain(self._local, divisor))
        return number.tdiv_q(by) if op == "/" else number.tdiv_r(by)

    # --- conditions

    def condition(self, expr: c.Expr) -> isl.Set:
        """Where the condition holds. Raises NotAffine."""
        match expr:
            case c.Binary(op="&&", left=left, right=right):
                return self.condition(left).intersect(self.condition(right))
            case c.Binary(op="||", left=left, right=right):
                return self.condition(left).union(self.condition(right))
            case c.Unary(op="!", operand=operand):
                return self.condition(operand).complement()
            case c.Binary(op=op, left=left, right=right) if op in _COMPARE and expr not in self.parameters:
                if op in c.OPPOSITE and (opposite := c.Binary(c.OPPOSITE[op], left, right)) in self.parameters:
                    return self.condition(opposite).complement()
                return self._compared(op, left, right)
        return piecewise(self.value(expr)).non_zero_set()

    def _compared(self, op: str, left: c.Expr, right: c.Expr) -> isl.Set:
        """Minima and maxima that are bounds become several conditions: sets stay convex."""
        parts = _bounds(op, right)
        if parts is not None:
            return self._compared(op, left, parts[0]).intersect(self._compared(op, left, parts[1]))
        parts = _bounds(_TURNED[op], left)
        if parts is not None:
            return self._compared(op, parts[0], right).intersect(self._compared(op, parts[1], right))
        one, two = self.value(left), self.value(right)
        if isinstance(one, isl.Aff) and isinstance(two, isl.Aff):
            return _COMPARE_PLAIN[op](one, two)
        return _COMPARE[op](piecewise(one), piecewise(two))


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """`{ [x] -> S[values] }`: values at a place of the text in the place of a set's dimensions."""

    function: isl.MultiAff | isl.MultiPwAff
    parameters: isl.Space

    def of(self, value: isl.PwAff) -> Value:
        """`S[i] -> [v]` as a function of x. The domain of one that is a single expression is left out."""
        value = value.align_params(self.parameters)
        single = affine_of(value)
        if isinstance(self.function, isl.MultiPwAff):
            return value.pullback_multi_pw_aff(self.function)
        return value.pullback_multi_aff(self.function) if single is None else single.pullback_multi_aff(self.function)

    def relation(self) -> isl.Map:
        """The function as a map."""
        if isinstance(self.function, isl.MultiPwAff):
            return isl.Map.from_multi_pw_aff(self.function)
        return isl.Map.from_multi_aff(self.function)


def substitution(reader: Reader, values: Sequence[Value], space: isl.Space | None = None) -> Substitution:
    """The values at a place for the dimensions of a set's space; of an anonymous one where it is None."""
    source = reader.space
    if space is None:
        target = source.params().add_unnamed_tuple_ui(len(values))
    else:
        target = space.align_params(source.params())
        source = source.align_params(target.params())
    between = source.map_from_domain_and_range(target)
    single = [value for value in values if isinstance(value, isl.Aff)]
    if len(single) == len(values):
        affs = isl.AffList.alloc(source.get_ctx(), len(single))
        for one in single:
            affs = affs.add(one.align_params(source.params()))
        return Substitution(isl.MultiAff.from_aff_list(between, affs), source.params())
    pieces = isl.PwAffList.alloc(source.get_ctx(), len(values))
    for value in values:
        pieces = pieces.add(piecewise(value).align_params(source.params()))
    return Substitution(isl.MultiPwAff.from_pw_aff_list(between, pieces), source.params())


def agree_plainly(one: Value, two: Value) -> bool:
    """Whether two values are the same expression; False says nothing."""
    if isinstance(one, isl.PwAff) and isinstance(two, isl.PwAff):
        return bool(one.plain_is_equal(two.align_params(one.get_space().params())))
    if isinstance(one, isl.Aff) and isinstance(two, isl.Aff):
        other = two.align_params(one.get_space().params())
        return bool(one.align_params(other.get_space().params()).plain_is_equal(other))
    return False


def agree(one: Value, two: Value, domain: isl.Set) -> isl.Set | None:
    """Where in a domain two values differ, of what the first one is defined for; None where they never do."""
    if agree_plainly(one, two):
        return None
    if isinstance(one, isl.Aff) and isinstance(two, isl.Aff):
        other = two.align_params(one.get_space().params())
        equal = one.align_params(other.get_space().params()).eq_set(other)
    else:
        domain = domain.intersect(piecewise(one).domain())
        equal = piecewise(one).eq_set(piecewise(two))
    return None if domain.is_subset(equal) else domain.subtract(equal)


def truth(condition: c.Expr, number: Callable[[c.Expr], Value | None], domain: isl.Set) -> bool | None:
    """Whether a condition holds in all of a domain, or nowhere in it; None where neither is known.

    number: the value of an expression in the domain, None where it has none that is known
    """
    match condition:
        case c.Unary(op="!", operand=operand):
            held = truth(operand, number, domain)
            return None if held is None else not held
        case c.Binary(op="&&" | "||" | "&" | "|" as op, left=left, right=right):  # what is known is 0 or 1
            deciding = op in ("||", "|")
            both = truth(left, number, domain), truth(right, number, domain)
            return deciding if deciding in both else None if None in both else not deciding
        case c.Binary(op=op, left=left, right=right) if op in _COMPARE:
            one, two = number(left), number(right)
            if one is None or two is None:
                return None
            holds = _COMPARE[op](piecewise(one), piecewise(two))
            domain = domain.intersect(piecewise(one).domain()).intersect(piecewise(two).domain())
            return True if domain.is_subset(holds) else False if domain.is_disjoint(holds) else None
    return None


def _bounds(op: str, expr: c.Expr) -> tuple[c.Expr, c.Expr] | None:
    """The arguments of a minimum above, or of a maximum below, of which each is a bound."""
    if isinstance(expr, c.Call) and len(expr.arguments) == 2:
        one, two = expr.arguments
        if (op in ("<", "<=") and expr.function == MIN) or (op in (">", ">=") and expr.function == MAX):
            return one, two
    return None


def _sum(one: Value, two: Value) -> Value:
    if isinstance(one, isl.Aff) and isinstance(two, isl.Aff):
        return one.add(two)
    return piecewise(one).add(piecewise(two))


def _bits(op: str, value: Value, number: int) -> Value:
    """`x >> k` and `x & m`, with m of neighbouring bits. Raises NotAffine.

    math: x >> k = floor(x / 2^k), also of negative numbers, and `bits_of`
    """
    if op == ">>" and 0 <= number < 31:
        return value.scale_down_val(isl.Val.int_from_si(value.get_ctx(), 1 << number)).floor()
    found = bits_of(value, number) if op == "&" else None
    if found is None:
        raise NotAffine(op)
    return found


def bits_of(value: Value, mask: int) -> Value | None:
    """`x & m` for neighbouring bits m, or all from one on; None for other masks.

    math: x & 2^s (2^k - 1) = 2^s (floor(x / 2^s) mod 2^k), and x & -2^s = 2^s floor(x / 2^s)
    """
    ctx = value.get_ctx()
    if mask == 0:
        return value.scale_val(isl.Val.zero(ctx))
    lowest = isl.Val.int_from_si(ctx, mask & -mask)
    above, rest = mask // (mask & -mask), value.scale_down_val(lowest).floor()
    if above & (above + 1):
        return None
    return (rest if above < 0 else rest.mod_val(isl.Val.int_from_si(ctx, above + 1))).scale_val(lowest)


def piecewise(value: Value) -> isl.PwAff:
    """The value as a function in pieces."""
    return isl.PwAff.from_aff(value) if isinstance(value, isl.Aff) else value


def _without_casts(expr: c.Expr) -> c.Expr:
    """An expression without casts to types that hold its values."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Cast(type=kind, operand=operand) if set(kind.split()) <= MOST_WHOLE:
                return _without_casts(operand)
        return None

    return c.rewrite(expr, change)


def _adds_casts(expr: c.Expr, written: c.Expr) -> bool:
    """Whether an expression is another one with casts added to it, to types that hold its values.

    Of `(long)i * (int)(n + 20)`, where `i * (int)(n + 20)` was written, the cast to `int` stays: it is not added.
    """
    if expr == written:
        return True
    match expr, written:
        case c.Cast(type=kind, operand=operand), c.Cast(type=other, operand=inner) if kind == other:
            if _adds_casts(operand, inner):
                return True
        case c.Binary(op=op), c.Binary(op=other) if op == other:
            return _adds_casts(expr.left, written.left) and _adds_casts(expr.right, written.right)
        case c.Unary(op=op), c.Unary(op=other) if op == other:
            return _adds_casts(expr.operand, written.operand)
    return isinstance(expr, c.Cast) and set(expr.type.split()) <= MOST_WHOLE and _adds_casts(expr.operand, written)


def _number(text: str) -> int:
    try:
        return int(text.rstrip("uUlL"), 0)
    except ValueError:
        raise NotAffine(text) from None
