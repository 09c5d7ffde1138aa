"""`_Float16` in kernels: a type of memory. What is loaded becomes a float, and what is stored is rounded.

So does C where FLT_EVAL_METHOD is 0, as it is with gcc on x86-64: it computes in float, and rounds where a value is
assigned, or cast to the type. One operation rounds as it would in half precision; in an expression of several the
values in between are floats.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from polyc.codegen.gpu.device.words import HALF, NotMappable
from polyc.model import ctree as c
from polyc.records import dataclass, replace

_SUFFIX = re.compile(r"(.*[\d.])[fF](16|32|64)")
_FLOATING = re.compile(r"(?!0[xX]).*[.eE].*|0[xX].*[pP].*")
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?|0|[1-9]\d{0,4}")
_OVERFLOW = 65504.0
"""The largest half there is."""
_WHOLE, _FLOAT, _DOUBLE = range(3)
"""Of what kind a value is, the wider one last."""


@dataclass(frozen=True, slots=True)
class HalfWords:
    """How a dialect says it."""

    type: str
    """In memory."""
    loaded: str
    stored: str
    stored_double: str
    """Functions: a float of a half, a half of a float, of a double."""


def plain_literal(text: str) -> str | None:
    """`0.1f` for `0.1f16`: gcc takes such a constant as a float, too. None for a literal that names no width."""
    found = _SUFFIX.fullmatch(text)
    if found is None or not _FLOATING.fullmatch(found[1]):
        return None
    return found[1] + ("" if found[2] == "64" else "f")


def lowered(
    body: tuple[c.Stmt, ...], declared: Iterable[c.Decl], types: dict[str, str], words: HalfWords
) -> tuple[c.Stmt, ...]:
    """A kernel's statements with all loads and stores of half precision as calls of the dialect's functions.

    rewrite:  C[i] += A[i] * 0.1f -> C[i] = half(float(C[i]) + float(A[i]) * 0.1f)
    types: of the arrays and numbers that the kernel takes; declared: what stands at its top.
    Raises NotMappable.
    """
    inside = [node for item in body for node in c.walk(item) if isinstance(node, c.Decl)]
    known = {**types}
    for one in (*declared, *inside):
        if one.name in known and (HALF in one.type.split()) != (HALF in known[one.name].split()):
            raise NotMappable(f"{one.name} has half precision in one place, and another type in another")
        known[one.name] = one.type
    casts = any(isinstance(node, c.Cast) and node.type == HALF for item in body for node in c.walk(item))
    if not casts and not any(HALF in text.split() for text in known.values()):
        return body
    return tuple(c.rewrite(item, _Lowering(known, words).change) for item in body)


def spelled(declaration: c.Decl, words: HalfWords) -> c.Decl:
    """A declaration in the dialect's words."""
    return replace(declaration, type=" ".join(words.type if w == HALF else w for w in declaration.type.split(" ")))


@dataclass(frozen=True, slots=True)
class _Lowering:
    types: dict[str, str]
    """By name."""
    words: HalfWords

    def change(self, node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(init=init):
                made = spelled(node, self.words)
                return made if init is None else replace(made, init=self.assigned(init, HALF in node.type.split()))
            case c.ExprStmt(expr=expr) if (effect := self.effect(expr)) is not None:
                return replace(node, expr=effect)
            case c.Unary(op="&", operand=operand) if self.is_half(operand):
                return replace(node, operand=self.place(operand))
            case c.Cast(type="float", operand=operand) if self.is_half(operand):
                return self.loaded(self.place(operand))
            case c.Cast(type=kind, operand=operand) if kind == HALF:
                return _rounded(operand) or self.loaded(self.stored(operand))
            case c.Postfix(operand=operand) if self.is_half(operand):
                raise NotMappable("the value of ++ or -- on half precision is used")
            case c.Assign() | c.Unary() if (effect := self.effect(node)) is not None:
                return self.loaded(effect)
            case c.ArrayRef() | c.Name() if self.is_half(node):
                return self.loaded(self.place(node))
            case _:
                return None

    def effect(self, expr: c.Expr) -> c.Expr | None:
        """An assignment to half precision, its value not loaded; None for anything else."""
        match expr:
            case c.Assign(op="=", target=target, value=value) if self.is_half(target):
                return replace(expr, target=self.place(target), value=self.assigned(value, True))
            case c.Assign(op=op, target=target, value=value) if self.is_half(target):
                return self.updated(target, c.Binary(op[:-1], target, value))
            case c.Unary(op="++" | "--" as op, operand=operand) | c.Postfix(op=op, operand=operand) if self.is_half(
                operand
            ):
                return self.updated(operand, c.Binary(op[0], operand, c.Literal("1")))
            case _:
                return None

    def updated(self, target: c.Expr, value: c.Expr) -> c.Expr:
        if any(isinstance(n, c.Assign | c.Postfix | c.Call) or _steps(n) for n in c.walk(target)):
            raise NotMappable("a subscript of half precision has an effect of its own")
        return c.Assign("=", self.place(target), self.stored(value))

    def assigned(self, value: c.Expr, half: bool) -> c.Expr:
        """What a place takes: a half as it is, anything else rounded."""
        if not half:
            return self.value(value)
        if isinstance(value, c.Ternary):
            then, otherwise = self.assigned(value.then, True), self.assigned(value.otherwise, True)
            return replace(value, condition=self.value(value.condition), then=then, otherwise=otherwise)
        return self.place(value) if self.is_half(value) else self.stored(value)

    def stored(self, value: c.Expr) -> c.Expr:
        """A value rounded to half precision: once, as C does with a double."""
        if isinstance(value, c.Cast) and value.type == HALF:
            return self.stored(value.operand)
        function = self.words.stored_double if self.kind(value) == _DOUBLE else self.words.stored
        return c.Call(function, (self.value(value),))

    def loaded(self, place: c.Expr) -> c.Expr:
        return c.Call(self.words.loaded, (place,))

    def place(self, node: c.Expr) -> c.Expr:
        """A reference to half precision as a place in memory."""
        if isinstance(node, c.ArrayRef):
            return replace(node, subscripts=tuple(self.value(s) for s in node.subscripts))
        return node

    def value(self, expr: c.Expr) -> c.Expr:
        return c.rewrite(expr, self.change)

    def is_half(self, node: c.Expr) -> bool:
        return HALF in self.type_of(node).split()

    def type_of(self, node: c.Expr) -> str:
        match node:
            case c.ArrayRef(array=name) | c.Name(name=name):
                return self.types.get(name, "long")
            case _:
                return ""

    def kind(self, expr: c.Expr) -> int:
        """Of what kind the value of an expression is."""
        match expr:
            case c.Literal(text=text):
                if not _FLOATING.fullmatch(text):
                    return _WHOLE
                return _FLOAT if text[-1] in "fF" else _DOUBLE
            case c.ArrayRef() | c.Name():
                return _kind_of(self.type_of(expr))
            case c.Cast(type=text):
                return _kind_of(text)
            case c.Unary(op="!") | c.Binary(op="<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||"):
                return _WHOLE
            case c.Unary(operand=operand) | c.Postfix(operand=operand):
                return self.kind(operand)
            case c.Binary(left=left, right=right):
                return max(self.kind(left), self.kind(right))
            case c.Ternary(then=then, otherwise=otherwise):
                return max(self.kind(then), self.kind(otherwise))
            case c.Call(arguments=arguments):  # their arguments have been cast to what the function takes
                return max((self.kind(a) for a in arguments), default=_WHOLE)
            case c.Assign(target=target):
                return self.kind(target)
            case c.Comma(items=items):
                return self.kind(items[-1])
            case _:
                return _WHOLE


def _rounded(expr: c.Expr) -> c.Expr | None:
    """A constant, rounded to half precision, as a float: no thread has to do it. None for anything else."""
    match expr:
        case c.Unary(op="-", operand=operand) if (inner := _rounded(operand)) is not None:
            return replace(expr, operand=inner)
        case c.Literal(text=text) if _DECIMAL.fullmatch(text):
            value = float(text.rstrip("fF"))
            if value >= _OVERFLOW:
                return None
            if text[-1] in "fF":
                (value,) = struct.unpack("f", struct.pack("f", value))
            return c.Literal(f"{struct.unpack('e', struct.pack('e', value))[0]!r}f")
        case _:
            return None


def _kind_of(text: str) -> int:
    words = text.split()
    if "double" in words:
        return _DOUBLE
    return _FLOAT if "float" in words or HALF in words else _WHOLE


def _steps(node: c.Node) -> bool:
    return isinstance(node, c.Unary) and node.op in ("++", "--")
