"""C's integer expressions as polynomials in what they are made of."""

from __future__ import annotations

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import mentions
from polyc.frontend.c.ctype import INT, common, is_narrow, promote
from polyc.frontend.c.references import resolve
from polyc.frontend.c.state import Env, Region
from polyc.frontend.sets.affine import Affine, label
from polyc.frontend.sets.polynomial import Monomial, Poly, added, is_number, multiplied, rank_of
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.records import dataclass, field

Typed = tuple[Poly, CType | None]


@dataclass(slots=True)
class Atoms:
    """The parts of a region's subscripts that are no sum or product: variables, sizes, `x / 2`, `k[i]`."""

    region: Region
    exprs: list[c.Expr] = field(default_factory=list)
    numbers: dict[c.Expr, int] = field(default_factory=dict)
    known: dict[c.Expr, Poly] = field(default_factory=dict)
    products: dict[str, c.Expr] = field(default_factory=dict)
    """Sizes that are taken for products of others, by key."""
    used: set[str] = field(default_factory=set)
    """Those of them that a subscript has."""
    narrow: dict[c.Expr, tuple[Poly, ...]] = field(default_factory=dict)
    """By subscript, what is computed modulo 2^32: it is the polynomial where each of these lies below that."""
    modulo: list[Poly] = field(default_factory=list)
    """The same of the subscript that is being read."""

    def polynomial(self, expr: c.Expr) -> Poly:
        """The value of a subscript, modulo 2^64 at most, as addresses are.

        A sum or product in C is one here if it cannot wrap, as signed ones cannot, or has 64 bits; or is unsigned, and
        noted in `narrow`. Else it is an atom.
        """
        if expr not in self.known:
            before, self.modulo = self.modulo, []  # a size that is taken for a product is read in between
            poly, type_ = self.typed(expr)
            self.known[expr] = self.in_range(poly, type_)
            self.narrow[expr], self.modulo = tuple(self.modulo), before
        return self.known[expr]

    def in_range(self, poly: Poly, type_: CType | None) -> Poly:
        """A value that is looked at: one that was computed modulo 2^32 has to lie below that."""
        if type_ is not None and is_narrow(type_) and not is_atom(poly):
            self.modulo.append(poly)
        return poly

    def typed(self, expr: c.Expr) -> Typed:
        """The polynomial with the type that C computes it in; None where that is not known."""
        match expr:
            case c.Literal(text=text):
                value = literal_value(text)
                known = Affine(self.region).literal(text)
                if value is not None and known is not None:
                    return ({(): value} if value else {}), known[1]
            case c.Unary(op="-" | "+" as op, operand=inner):
                poly, type_ = self.typed(inner)
                if type_ is not None and is_computed(promote(type_)):
                    return (added({}, poly, -1) if op == "-" else poly), promote(type_)
            case c.Binary(op="+" | "-" | "*" as op, left=left, right=right):
                return self.arithmetic(expr, op, left, right)
            case c.Binary(op="/" | "%" as op, left=left, right=right):
                return self.division(expr, op, left, right)
            case c.Cast(type=text, operand=inner):
                target = Affine(self.region).named_type(text)
                return self.converted(expr, inner, target), target
            case c.Name(name=name) if name in self.products:
                self.used.add(name)
                return self.polynomial(self.products[name]), self.type_of(expr)
            case c.Name(name=name) if name in self.region.named:
                target = self.region.scope.symbols[name].shape.element
                return self.converted(expr, self.region.values[name], target), target
            case c.Name(name=name):
                number = self.region.fixed(name) if self.region.symbol(name) else None
                number = self.region.scope.types.constants.get(name) if self.region.symbol(name) is None else number
                if number is not None:
                    return ({(): number} if number else {}), INT
        return self.atom(expr), self.type_of(expr)

    def converted(self, expr: c.Expr, inner: c.Expr, target: CType | None) -> Poly:
        """The value of `inner` in a type, which `expr` has."""
        poly, source = self.typed(inner)
        if target is None or target.kind != "int" or source is None:
            return self.atom(expr)
        if is_narrow(target):
            return poly if source.size_bytes <= target.size_bytes else self.atom(expr)
        if is_narrow(source) and target.size_bytes == 8:
            return self.in_range(poly, source)
        if is_narrow(source) and not is_atom(poly):
            return self.atom(expr)
        return poly if target.size_bytes >= max(4, source.size_bytes) and exact(target) else self.atom(expr)

    def arithmetic(self, expr: c.Expr, op: str, left: c.Expr, right: c.Expr) -> Typed:
        (first, one), (second, other) = self.typed(left), self.typed(right)
        if one is None or other is None:
            return self.atom(expr), None
        type_ = common(one, other)
        if not is_computed(type_):
            return self.atom(expr), type_
        if not is_narrow(type_):
            self.in_range(first, one)
            self.in_range(second, other)
        if op == "*":
            return multiplied(first, second), type_
        return added(first, second, 1 if op == "+" else -1), type_

    def division(self, expr: c.Expr, op: str, left: c.Expr, right: c.Expr) -> Typed:
        """A quotient or remainder: of constants that are not negative, as in the size of an output `(H + 2 * P - K) / S
        + 1`, a number."""
        (first, one), (second, other) = self.typed(left), self.typed(right)
        type_ = None if one is None or other is None else common(one, other)
        value, by = first.get((), 0), second.get((), 0)
        if type_ is None or not (is_number(first) and is_number(second)) or value < 0 or by <= 0:
            return self.atom(expr), self.type_of(expr)
        number = value // by if op == "/" else value % by
        return ({(): number} if number else {}), type_

    def atom(self, expr: c.Expr) -> Poly:
        number = self.numbers.setdefault(expr, len(self.exprs))
        if number == len(self.exprs):
            self.exprs.append(expr)
        return {(number,): 1}

    def type_of(self, expr: c.Expr) -> CType | None:
        """The type of an expression that is no sum or product."""
        match expr:
            case c.Name(name=name):
                symbol = self.region.symbol(name)
                return symbol.shape.element if symbol is not None and symbol.is_integer else None
            case c.Binary(op="/" | "%" | "&" | "|" | "^", left=left, right=right):
                one, other = self.typed(left)[1], self.typed(right)[1]
                return None if one is None or other is None else common(one, other)
            case c.Binary(op="<<" | ">>", left=left):
                one = self.typed(left)[1]
                return None if one is None else promote(one)
            case c.Ternary(then=then, otherwise=otherwise):
                one, other = self.typed(then)[1], self.typed(otherwise)[1]
                return None if one is None or other is None else common(one, other)
            case c.Member() if (value := Affine(self.region).member(expr, Env())) is not None:
                return value[1]
            case c.Subscript():
                found = resolve(self.region.scope, expr)
                if found is not None and not found.rest and found.symbol.shape.element.kind == "int":
                    return found.symbol.shape.element
        return None

    def varies(self, atom: int) -> bool:
        """Whether an atom may change in the region."""
        expr = self.exprs[atom]
        if mentions(expr) & self.region.written:
            return True
        return any(isinstance(n, c.Subscript | c.Call | c.ArrayRef) or is_load(n) for n in c.walk(expr))

    def factors(self, poly: Poly) -> dict[Monomial, Poly]:
        """What each product of variables is multiplied with; `()` has what does not vary."""
        found: dict[Monomial, Poly] = {}
        for monomial, value in poly.items():
            moving = tuple(atom for atom in monomial if self.varies(atom))
            rest = tuple(atom for atom in monomial if atom not in moving)
            found.setdefault(moving, {})[rest] = value
        return found

    def words(self, poly: Poly) -> str:
        """The polynomial for a message."""
        total = ""
        for monomial in sorted(poly, key=rank_of, reverse=True):
            value = poly[monomial]
            factors = [label(self.region.in_c(self.exprs[atom])) for atom in monomial]
            if abs(value) != 1 or not factors:
                factors.insert(0, str(abs(value)))
            sign = (" + " if value > 0 else " - ") if total else ("" if value > 0 else "-")
            total += sign + " * ".join(factors)
        return total or "0"

    def expression(self, poly: Poly) -> c.Expr:
        """The polynomial as C, its constant last."""
        total: c.Expr | None = None
        ordered = sorted((m for m in poly if m), key=rank_of, reverse=True)
        ordered.sort(key=lambda m: poly[m] < 0)
        for monomial in ordered:
            value = poly[monomial]
            term = self.exprs[monomial[0]]
            for atom in monomial[1:]:
                term = c.Binary("*", term, self.exprs[atom])
            if abs(value) != 1:
                term = c.Binary("*", c.Literal(str(abs(value))), term)
            if total is None:
                total = term if value > 0 else c.Unary("-", term)
            else:
                total = c.Binary("+" if value > 0 else "-", total, term)
        constant = poly.get((), 0)
        if total is None:
            return c.Literal(str(constant)) if constant >= 0 else c.Unary("-", c.Literal(str(-constant)))
        if not constant:
            return total
        return c.Binary("+" if constant > 0 else "-", total, c.Literal(str(abs(constant))))


def exact(type_: CType) -> bool:
    """Whether sums and products of this type are those of whole numbers, modulo 2^64 at most."""
    return type_.kind == "int" and (type_.size_bytes == 8 or (type_.signed and type_.size_bytes == 4))


def is_computed(type_: CType) -> bool:
    """Whether sums and products of this type are polynomials: exact, or modulo 2^32 and to be looked at."""
    return exact(type_) or is_narrow(type_)


def is_atom(poly: Poly) -> bool:
    """Whether a value is a constant, or something that is no sum or product."""
    return is_number(poly) or (list(poly.values()) == [1] and max(map(len, poly)) == 1)


def is_load(node: c.Node) -> bool:
    return isinstance(node, c.Unary) and node.op == "*"
