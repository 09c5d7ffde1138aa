"""Operators, constants and conversions of C as text of Python."""

from __future__ import annotations

import re
from fractions import Fraction

from polyc.analysis.expressions.constants import literal_value
from polyc.frontend.c.ctype import INT
from polyc.model.scop import CType
from polyc.records import dataclass, field, replace
from polyc.replay.machine.operations import narrowed, quotient, remainder
from polyc.replay.machine.reading import NotUnderstood
from polyc.replay.translate.values import DOUBLE, FLOAT, LONG, SIZE, UNSIGNED, Value, closed, number

OPERATIONS = {"+": 3, "-": 4, "*": 5, "/": 6}
PLAIN, ZEROS, RESIDUES = "plain", "zeros", "residues"
"""How floating values are computed: as they are written; the same where sums of zeros add nothing; in any order."""
_FLOATING = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?|0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][-+]?\d+")


def literal(text: str, arithmetic: Arithmetic) -> Value:
    """A constant of C."""
    floating = _FLOATING.match(text)
    if floating is not None:
        digits, suffix = floating[0], text[floating.end() :].lower()
        exact = Fraction(float.fromhex(digits)) if digits[:2] in ("0x", "0X") else Fraction(float(digits))
        ctype = FLOAT if suffix.startswith("f") else CType("long double", "float", 16) if suffix == "l" else DOUBLE
        exact = narrowed(exact, ctype.size_bytes)
        return arithmetic.constant(exact, ctype)
    found = literal_value(text)
    if found is None:
        raise NotUnderstood(f"the constant {text}")
    suffix = "" if text.startswith("'") else text[len(text.rstrip("uUlL")) :].lower()
    may_be_unsigned = "u" in suffix or text[0] == "0"
    if "l" in suffix or found >> (32 if may_be_unsigned else 31):
        return number(found, SIZE if "u" in suffix or found >> 63 else LONG)
    return number(found, UNSIGNED if "u" in suffix or found >> 31 else INT)


def wrapped(code: str, ctype: CType) -> str:
    """A whole number in the range of a type."""
    bits = 8 * ctype.size_bytes
    if ctype.text == "_Bool":
        return f"{closed(code)} != 0"
    mask = (1 << bits) - 1
    if not ctype.signed:
        return f"{closed(code)} & {mask}"
    half = 1 << (bits - 1)
    return f"({closed(code)} + {half} & {mask}) - {half}"


@dataclass(slots=True)
class Arithmetic:
    """What C's operators are in Python."""

    mode: str
    constants: dict[Fraction, str] = field(default_factory=dict)
    """Names of floating constants."""

    def constant(self, exact: Fraction, ctype: CType) -> Value:
        name = self.constants.setdefault(exact, f"C{len(self.constants)}") if exact else "0"
        return Value(name, ctype, constant=exact)

    def converted(self, value: Value, to: CType) -> Value:
        """A value in another type, as an assignment or a cast makes it."""
        of = value.type
        if value.pointer is not None or of.kind == "pointer":
            return value
        if "other" in (of.kind, to.kind) or (of.kind == "struct") != (to.kind == "struct"):
            if to.text == "void":
                return value
            raise NotUnderstood(f"a value of type {of.text} as {to.text}")
        if of.kind == "struct":
            return value
        if to.kind == "int":
            return self.whole(value, to)
        if of.kind == "int":
            if value.constant is not None:
                return self.constant(narrowed(value.constant, to.size_bytes), to)
            return Value(f"F[{value.code}]", to, True)
        if to.size_bytes == of.size_bytes or (to.size_bytes > of.size_bytes and self.mode == RESIDUES):
            return replace(value, type=to)
        if to.size_bytes > of.size_bytes:
            return replace(value, type=to, code=value.code if value.constant is not None else f"widened({value.code})")
        if value.constant is not None:
            return self.constant(narrowed(value.constant, to.size_bytes), to)
        if self.mode == RESIDUES:
            return replace(value, type=to)
        return Value(f"rounded({to.size_bytes}, {value.code})", to, True)

    def whole(self, value: Value, to: CType) -> Value:
        of = value.type
        if of.kind == "float":
            if to.text == "_Bool":
                return Value(f"({closed(value.code)} != 0)", to, truth=True)
            if value.constant is not None:
                return self.converted(number(int(value.constant)), to)
            return Value(wrapped(f"whole({value.code})", to), to, True)
        if to.text == "_Bool" or (value.constant is not None and of != to):
            if value.constant is not None:
                return number(fitted(int(value.constant), to), to)
            return replace(value, type=to) if value.truth else Value(f"({closed(value.code)} != 0)", to, truth=True)
        widened = to.size_bytes > of.size_bytes and (to.signed or not of.signed)
        same = to.size_bytes == of.size_bytes and to.signed == of.signed
        if widened or same or value.truth:
            return replace(value, type=to)
        if to.signed and not value.large and to.size_bytes >= 4:
            return replace(value, type=to)  # a counter, in an int
        return Value(wrapped(value.code, to), to, value.large or (not to.signed and to.size_bytes >= 4))

    def common(self, one: Value, other: Value) -> CType:
        """The type of a sum."""
        if one.floating or other.floating:
            types = [v.type for v in (one, other) if v.floating]
            return max(types, key=lambda t: t.size_bytes)
        a, b = promoted(one.type), promoted(other.type)
        if a.size_bytes != b.size_bytes:
            return a if a.size_bytes > b.size_bytes else b
        return a if not a.signed else b

    def negated(self, value: Value) -> Value:
        if value.constant is not None and value.floating:
            return self.constant(-value.constant, value.type)
        if value.floating:
            if self.mode == RESIDUES:
                return Value(f"-{closed(value.code)} % P", value.type, True)
            return Value(f"negated({value.code})", value.type, True)
        return self.integer("-", number(0), value)

    def binary(self, op: str, one: Value, other: Value) -> Value:
        if op in ("&&", "||"):
            word = "and" if op == "&&" else "or"
            code = f"({self.condition(one)} {word} {self.condition(other)})"
            return Value(code if one.truth and other.truth else f"bool{code}", INT, truth=True)
        if one.type.kind == "struct" or other.type.kind == "struct":
            raise NotUnderstood("arithmetic with records")
        if op in ("<<", ">>"):
            return self.integer(op, self.converted(one, promoted(one.type)), self.count(other, promoted(one.type)))
        ctype = self.common(one, other)
        one, other = self.converted(one, ctype), self.converted(other, ctype)
        if op in ("<", ">", "<=", ">=", "==", "!="):
            left, right = one.code, other.code
            if one.floating and self.mode == RESIDUES and op not in ("==", "!="):
                left, right = f"centred({left})", f"centred({right})"
            return Value(f"({closed(left)} {op} {closed(right)})", INT, truth=True)
        return self.floating(op, one, other) if ctype.kind == "float" else self.integer(op, one, other)

    def floating(self, op: str, one: Value, other: Value) -> Value:
        if op not in OPERATIONS:
            raise NotUnderstood(f"{op} of floating values")
        kind = OPERATIONS[op] + 16 * one.type.size_bytes
        if self.mode == RESIDUES and op in "+-*":
            code = f"({closed(one.code)} {op} {closed(other.code)}) % P"
        elif self.mode == RESIDUES:
            code = f"H(({kind}, {one.code}, {other.code})) % P"
        elif self.mode == ZEROS and op != "/":
            name = {"+": "add", "-": "subtract", "*": "multiply"}[op]
            code = f"{name}({kind}, {one.code}, {other.code})"
        else:
            code = f"H(({kind}, {one.code}, {other.code}))"
        return Value(code, one.type, True)

    def count(self, value: Value, shifted: CType) -> Value:
        """How far to shift: as machines do where C has no meaning for it."""
        if value.type.kind != "int":
            raise NotUnderstood("a shift by what is no whole number")
        most = 8 * shifted.size_bytes - 1
        return (
            Value(f"{closed(value.code)} & {most}", shifted)
            if value.constant is None
            else number(int(value.constant) & most)
        )

    def integer(self, op: str, one: Value, other: Value) -> Value:
        """Whole numbers of one type (but for shifts)."""
        ctype, large = one.type, one.large or other.large
        if op == "-" and one.constant == 0:
            ctype = promoted(other.type)
        if one.constant is not None and other.constant is not None:
            folded = fold(op, int(one.constant), int(other.constant))
            if folded is not None:
                return number(fitted(folded, ctype), ctype)
        left, right = closed(one.code), closed(other.code)
        if op in ("/", "%"):
            if not ctype.signed and other.constant:
                return Value(f"{left} {'//' if op == '/' else '%'} {right}", ctype, large)
            name = "quotient" if op == "/" else "remainder"
            return Value(f"{name}({one.code}, {other.code})", ctype, large)
        if op not in ("+", "-", "*", "&", "|", "^", "<<", ">>"):
            raise NotUnderstood(f"the operator {op}")
        code = f"-{right}" if op == "-" and one.constant == 0 else f"{left} {op} {right}"
        large |= op == "<<" or (not ctype.signed and (op == "-" or (op == "*" and ctype.size_bytes < 8)))
        return Value(wrapped(code, ctype) if large and op in ("+", "-", "*", "<<") else code, ctype, large)

    def condition(self, value: Value) -> str:
        """The value as a condition of Python."""
        if value.pointer is not None:
            return f"{value.pointer.cells} is not None"
        if value.type.kind not in ("int", "float"):
            raise NotUnderstood("a condition that is no number")
        return value.code


def fold(op: str, one: int, other: int) -> int | None:
    if op in ("/", "%"):
        return None if not other else quotient(one, other) if op == "/" else remainder(one, other)
    if op in ("<<", ">>"):
        return None if not 0 <= other < 64 else one << other if op == "<<" else one >> other
    known = {"+": one + other, "-": one - other, "*": one * other, "&": one & other, "|": one | other, "^": one ^ other}
    return known.get(op)


def fitted(value: int, ctype: CType) -> int:
    if ctype.text == "_Bool":
        return int(value != 0)
    bits = 8 * ctype.size_bytes
    value &= (1 << bits) - 1
    return value - (1 << bits) if ctype.signed and value >> (bits - 1) else value


def promoted(ctype: CType) -> CType:
    return INT if ctype.kind == "int" and ctype.size_bytes < 4 else ctype
