"""What a kernel computes in the words of a device: its types, functions, literals and numbers of enumerators."""

from __future__ import annotations

from collections.abc import Container, Mapping

from polyc.codegen.gpu.device.dialect import Dialect
from polyc.codegen.gpu.device.float16 import plain_literal
from polyc.codegen.gpu.device.words import INFINITIES, Words, function
from polyc.model import ctree as c
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    words: Words
    dialect: Dialect
    types: Mapping[str, str]
    """Of elements, by the names of arrays."""

    def of(self, body: tuple[c.Stmt, ...], own: Container[str]) -> tuple[c.Stmt, ...]:
        """Statements in words that a kernel has. Raises NotMappable.

        own: names that are no enumerators
        """

        def number(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Name) or node.name in own or node.name not in self.words.enumerators:
                return None
            value = self.words.enumerators[node.name]
            literal = c.Literal(str(abs(value)))
            return literal if value >= 0 else c.Unary("-", literal)

        return tuple(c.rewrite(c.rewrite(item, self.node), number) for item in body)

    def node(self, node: c.Node) -> c.Node | None:
        match node:
            case c.Cast(type=text, operand=c.InitList() as given):
                return c.Cast(self.words.type(text), self.words.listed(text, given, 0, self.inner))
            case c.Decl(type=text, init=c.InitList() as given, extents=extents):
                values = self.words.listed(text, given, len(extents), self.inner)
                return replace(node, type=self.words.type(text), init=values)
            case c.Cast(type=text, operand=operand):
                kind = self.words.type(text)
                return c.Cast(kind, self.inner(operand)) if kind != text else None
            case c.Decl(type=text, init=init) if not text.startswith(("const ", self.dialect.shared)):
                kind = self.words.type(text)
                changed = None if init is None else self.inner(init)
                return replace(node, type=kind, init=changed) if kind != text else None
            case c.Call(function=name) if name in INFINITIES and self.dialect.name == "opencl":
                return c.Literal(INFINITIES[name])
            case c.Call(function=name, arguments=arguments) if (known := function(name)) is not None:
                # These functions are overloaded in C++ and OpenCL: the type of the argument chooses, not the name.
                pairs = zip(known.arguments, map(self.inner, arguments), strict=True)
                cast = tuple(self.of_type(kind, value) if kind else value for kind, value in pairs)
                return c.Call(known.text(self.dialect.name), cast)
            case c.Literal(text=text) if (plain := plain_literal(text)) is not None:
                return c.Literal(plain)
            case _:
                return None

    def inner(self, value: c.Expr) -> c.Expr:
        return c.rewrite(value, self.node)

    def of_type(self, kind: str, value: c.Expr) -> c.Expr:
        return value if self.type_of(value) == kind else c.Cast(kind, value)

    def type_of(self, value: c.Expr) -> str | None:
        """The type of a value, where all that it is made of has this one; None where that is not clear."""
        match value:
            case c.ArrayRef(array=array):
                return self.types.get(array)
            case c.Literal(text=text) if text[:1].isdigit() and text[-1:] in "fF" and "x" not in text:
                return "float"
            case c.Unary(op="-", operand=operand):
                return self.type_of(operand)
            case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                kind = self.type_of(left)
                return kind if kind in ("float", "double") and kind == self.type_of(right) else None
            case c.Call(function=name) if (known := function(name)) is not None:
                return known.result
            case _:
                return None
