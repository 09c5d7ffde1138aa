"""pycparser's expressions to polyc's own, with spans and names resolved."""

from __future__ import annotations

import re
from collections.abc import Callable

from pycparser import c_ast

from polyc.analysis.expressions.facts import base_key
from polyc.errors import Diagnostic, Span
from polyc.frontend.c.ctype import Shape
from polyc.frontend.c.parse import UNKNOWN, Parsed
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.text.literals import as_written
from polyc.frontend.text.places import Places
from polyc.frontend.text.source import TOKEN
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace

Ranged = tuple[c.Expr, int, int]
"""An expression with its first and last offset in the text that pycparser read."""


@dataclass(slots=True)
class Expressions:
    """State of one region's conversion, and how it converts expressions."""

    parsed: Parsed
    places: Places
    scope: Scope
    problems: list[Diagnostic] = field(default_factory=list)
    ranges: dict[Span, tuple[int, int]] = field(default_factory=dict)
    """Span of a statement -> its piece of the preprocessed text, for statements' texts."""
    end: int = 0
    """Where the statement that was converted last ends."""
    loops: int = 0
    """How many loops of the region stand around this place."""
    expanded: Callable[[c.Call, Scope, bool], c.Expr] = lambda call, scope, anywhere: call
    """The expression in the place of a call (`idioms/helpers.py`)."""
    subscripts: int = 0
    """How many subscripts this place is a part of."""

    # --- places

    def span(self, start: int, end: int) -> Span:
        return self.places.span(self.parsed.original(start), self.parsed.original(max(start, end - 1)) + 1)

    def refuse(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.problems.append(Diagnostic(code, message, span, hint))

    def token_end(self, start: int) -> int:
        match = TOKEN.match(self.parsed.text, start)
        return match.end() if match else start + 1

    def after(self, end: int, mark: str) -> int:
        """The offset after the next `mark` at or after `end`, closing parentheses skipped."""
        position = self.parsed.text.find(mark, end)
        return end if position < 0 else position + len(mark)

    def balance(self, start: int, end: int) -> tuple[int, int]:
        """The range with the parentheses that belong to it."""
        text = self.parsed.text
        depth = lowest = 0
        for mark in re.findall(r"[()]", text[start:end]):
            depth += 1 if mark == "(" else -1
            lowest = min(lowest, depth)
        for _ in range(-lowest):
            found = text.rfind("(", 0, start)
            start = found if found >= 0 else start
        for _ in range(depth - lowest):
            found = text.find(")", end)
            end = found + 1 if found >= 0 else end
        return start, end

    # --- expressions

    def expr(self, node: c_ast.Node) -> Ranged:
        """An expression, with its place in the text that pycparser read."""
        match node:
            case c_ast.ID():
                return self.name(node)
            case c_ast.Constant():
                start = self.parsed.offset(node.coord)
                text = as_written(self.places.pre.text, self.parsed.original(start), node.value)
                end = start + len(text)
                return c.Literal(text, self.span(start, end)), start, end
            case c_ast.ArrayRef():
                base, start, _ = self.expr(node.name)
                self.subscripts += 1
                index, _, end = self.expr(node.subscript)
                self.subscripts -= 1
                start, end = self.balance(start, self.after(end, "]"))
                base, index = self.offset(base, index)
                return c.Subscript(base, index, self.span(start, end)), start, end
            case c_ast.StructRef():
                base, start, end = self.expr(node.name)
                stop = self.parsed.offset(node.field.coord) + len(node.field.name)
                start, end = self.balance(start, max(end, stop))
                return c.Member(base, node.field.name, node.type == "->", self.span(start, end)), start, end
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp():
                left, start, _ = self.expr(node.left)
                right, _, end = self.expr(node.right)
                start, end = self.balance(start, end)
                if node.op in ("&&", "||"):
                    left, right = truth(left), truth(right)
                return c.Binary(node.op, left, right, self.span(start, end)), start, end
            case c_ast.Assignment():
                target, start, _ = self.expr(node.lvalue)
                value, _, end = self.expr(node.rvalue)
                start, end = self.balance(start, end)
                return c.Assign(node.op, target, value, self.span(start, end)), start, end
            case c_ast.TernaryOp():
                condition, start, _ = self.expr(node.cond)
                then = self.expr(node.iftrue)[0]
                otherwise, _, end = self.expr(node.iffalse)
                start, end = self.balance(start, end)
                whole = c.Ternary(condition, then, otherwise, self.span(start, end))
                return chosen(whole), start, end
            case c_ast.FuncCall():
                return self.call(node)
            case c_ast.Cast():
                inner, _, end = self.expr(node.expr)
                start = self.parsed.offset(node.coord)
                start, end = self.balance(start, end)
                self.check_type(self.type_text(node.to_type), self.span(start, end))
                return c.Cast(self.type_text(node.to_type), inner, self.span(start, end)), start, end
            case c_ast.ExprList() | c_ast.InitList():
                return self.list_of(node)
            case c_ast.CompoundLiteral():
                start = self.parsed.offset(node.coord)
                inner, _, end = self.initialiser(node.init, self.scope.types.shape(node.type))
                return c.Cast(self.type_text(node.type), inner, self.span(start, end)), start, end
        place = next((part.coord for part in walk(node) if part.coord), None)  # `.x = e` has none of its own
        start = self.parsed.offset(place) if place else 0
        end = self.token_end(start)
        self.refuse("unsupported-expression", "this expression cannot stand in a region", self.span(start, end))
        return c.Literal("0"), start, end

    def name(self, node: c_ast.ID) -> Ranged:
        start = self.parsed.offset(node.coord)
        end = start + len(node.name)
        span = self.span(start, end)
        symbol = self.scope.find(node.name)
        if symbol is None and node.name in ("__func__", "__FUNCTION__"):
            return c.Literal(f'"{self.parsed.function.decl.name}"', span), start, end
        if symbol is None:
            if node.name not in self.scope.types.constants:
                hint = "declare it before its use"
                self.refuse("undeclared", f"'{node.name}' is not declared", span, hint)
            return c.Name(node.name, span), start, end
        self.check_volatile(symbol, span)
        self.check_type(symbol.shape.element.text, span)
        return c.Name(symbol.key, span), start, end

    def check_volatile(self, symbol: Symbol, span: Span) -> None:
        if symbol.volatile:
            hint = "copy it to an ordinary variable outside of the region"
            self.refuse("volatile", f"'{symbol.c_name}' is volatile or atomic", span, hint)

    def check_type(self, text: str, span: Span) -> None:
        if re.search(rf"\b{UNKNOWN}\b", text):
            message = "its type is one that the compiler finds out ('typeof')"
            self.refuse("unsupported-declaration", message, span, "write the type itself")

    def unary(self, node: c_ast.UnaryOp) -> Ranged:
        start = self.parsed.offset(node.coord)
        if node.op == "sizeof" or node.op == "_Alignof":
            return self.size_of(node, start)
        self.subscripts += node.op == "*"
        inner, first, end = self.expr(node.expr)
        self.subscripts -= node.op == "*"
        if node.op in ("p++", "p--"):
            start, end = self.balance(min(start, first), self.after(end, node.op[1:]))
            return c.Postfix(node.op[1:], inner, self.span(start, end)), start, end
        start, end = self.balance(self.operator_start(first, node.op), end)
        if node.op == "*" and isinstance(inner, c.Binary) and inner.op in ("+", "-"):
            base, index = self.offset(inner)
            inner = c.Binary("+", base, index, inner.span) if base is not inner else inner
        return c.Unary(node.op, inner, self.span(start, end)), start, end

    def offset(self, pointer: c.Expr, more: c.Expr | None = None) -> tuple[c.Expr, c.Expr]:
        """`a + i * n + j` as `a` and `(long)(i * n) + j`: pointers are moved by each part of a sum, in 64 bits.

        more: what is added to the pointer besides; without, `a + i` stays what it is, and so does all that may be no
        pointer with whole numbers behind it
        """
        terms = [] if more is None else [("+", more)]
        base = pointer
        while isinstance(base, c.Binary) and base.op in ("+", "-"):
            terms.insert(0, (base.op, base.right))
            base = base.left
        if base is pointer or not (self.is_pointer(base) or all(self.is_number(term) for _, term in terms)):
            return pointer, more or c.Literal("0")
        sign, first = terms[0]
        if len(terms) == 1 and sign == "+":
            return base, first
        index: c.Expr = c.Cast("long", first, first.span)
        index = c.Unary("-", index, first.span) if sign == "-" else index
        for sign, term in terms[1:]:
            index = c.Binary(sign, index, term, term.span)
        return base, index

    def is_pointer(self, expr: c.Expr) -> bool:
        """Whether a name, or a member of what one leads to, is surely a pointer or an array."""
        key = base_key(expr)
        symbol = self.scope.symbols.get(key) if key is not None else None
        if symbol is None or isinstance(expr, c.Name):
            return symbol is not None and symbol.rank > 0
        if not isinstance(expr, c.Member) or any(isinstance(part, c.Member) for part in c.walk(expr.base)):
            return False
        shape = self.scope.types.field(symbol.shape.node, expr.field)
        return shape is not None and bool(shape.dims)

    def is_number(self, expr: c.Expr) -> bool:
        """Whether an expression is made of nothing but plain variables that are no pointers, and constants."""
        for part in c.walk(expr):
            symbol = self.scope.symbols.get(part.name) if isinstance(part, c.Name) else None
            if not isinstance(part, c.Name | c.Literal | c.Cast | c.Binary | c.Unary | c.SizeOf):
                return False
            if (symbol is not None and symbol.rank) or (isinstance(part, c.Unary) and part.op in ("*", "&")):
                return False
        return not any(isinstance(part, c.Name) and part.name not in self.scope.symbols for part in c.walk(expr))

    def operator_start(self, operand: int, op: str) -> int:
        """Where a prefix operator stands (pycparser may give the place of its operand)."""
        before = self.parsed.text.rfind(op, 0, operand)
        between = self.parsed.text[before + len(op) : operand] if before >= 0 else "x"
        return before if not between.strip(" \n\t(") else operand

    def size_of(self, node: c_ast.UnaryOp, start: int) -> Ranged:
        opening = self.parsed.text.find("(", start)
        if opening >= 0 and not self.parsed.text[start + len(node.op) : opening].strip():
            end = self.balance(opening, opening + 1)[1]
            text = self.parsed.text[opening + 1 : end - 1].strip()
        else:
            _, _, end = self.expr(node.expr)
            text = self.parsed.text[start + len(node.op) : end].strip()
        self.check_type(text, self.span(start, end))
        return c.SizeOf(re.sub(r"\s+", " ", text), self.span(start, end)), start, end

    def call(self, node: c_ast.FuncCall) -> Ranged:
        start = self.parsed.offset(node.coord)
        arguments = [self.expr(a) for a in (node.args.exprs if node.args is not None else ())]
        if isinstance(node.name, c_ast.ID):
            name, after = node.name.name, start + len(node.name.name)
            if self.scope.find(name) is not None:
                name = f"*{name}"
        else:
            _, start, after = self.expr(node.name)
            name = "*"
        end = self.after(arguments[-1][2] if arguments else after, ")")
        start, end = self.balance(start, end)
        found = c.Call(name, tuple(a for a, _, _ in arguments), self.span(start, end))
        return self.expanded(found, self.scope, self.subscripts > 0), start, end

    def initialiser(self, node: c_ast.Node, shape: Shape) -> Ranged:
        """What something of that shape is given: `{.n = 1, .x = 2}` in the order of its members, the others as zeros.
        Designators with several links are refused where they stand."""
        named = [item for item in getattr(node, "exprs", ()) if isinstance(item, c_ast.NamedInitializer)]
        parts = self.parts_of(shape) if named and isinstance(node, c_ast.InitList) else []
        given: dict[int, c_ast.Node] = {}
        place = 0
        for item in node.exprs if parts else ():
            if isinstance(item, c_ast.NamedInitializer):
                place = self.place_of(item.name, parts)
                item = item.expr
            if not 0 <= place < len(parts) or place in given or not self.is_given_whole(item, parts[place][1]):
                return self.expr(node)
            given[place] = item
            place += 1
        if not given:
            return self.expr(node)
        values = {at: self.initialiser(item, parts[at][1]) for at, item in given.items()}
        start = max(0, self.parsed.text.rfind("{", 0, min(first for _, first, _ in values.values()) + 1))
        end = self.after(max(last for _, _, last in values.values()), "}")
        span = self.span(start, end)
        count = len(parts) if parts[0][0] else max(values) + 1  # compilers warn of members without a value
        filled = (values[at][0] if at in values else self.zero(parts[at][1], span) for at in range(count))
        return c.InitList(tuple(filled), span), start, end

    def parts_of(self, shape: Shape) -> list[tuple[str, Shape]]:
        """The members of a struct with their names, or the elements of an array; none where they are not known."""
        if shape.dims:
            size = shape.dims[0].size if not shape.dims[0].pointer else None
            return [("", replace(shape, dims=shape.dims[1:]))] * (size or 0)
        members = shape.node.decls or () if isinstance(shape.node, c_ast.Struct) else ()
        if any(not isinstance(item, c_ast.Decl) or item.name is None for item in members):
            return []
        return [(item.name, self.scope.types.shape(item.type)) for item in members]

    def is_given_whole(self, item: c_ast.Node, shape: Shape) -> bool:
        """Whether an initialiser is for all of a part: C lets one leave out the braces of an inner list."""
        if isinstance(item, c_ast.InitList) or is_scalar(shape):
            return isinstance(item, c_ast.InitList) != is_scalar(shape)
        symbol = self.scope.find(item.name) if isinstance(item, c_ast.ID) else None
        return not shape.dims and symbol is not None and not symbol.rank and symbol.shape.node is shape.node

    def zero(self, shape: Shape, span: Span) -> c.Expr:
        """The value of a part that an initialiser leaves out, of each member of a struct."""
        parts = [] if is_scalar(shape) else self.parts_of(shape)[: 1 if shape.dims else None]
        inner = tuple(self.zero(part, span) for _, part in parts) or (c.Literal("0", span),)
        return inner[0] if is_scalar(shape) else c.InitList(inner, span)

    def place_of(self, links: list[c_ast.Node], parts: list[tuple[str, Shape]]) -> int:
        """Which of the parts a designator stands for; -1 for none."""
        match links:
            case [c_ast.ID(name=name)]:
                return next((at for at, (known, _) in enumerate(parts) if known == name), -1)
            case [c_ast.ArrayDesignator(expr=expr)] if not parts[0][0]:
                value = self.scope.types.constant(expr)
                return -1 if value is None else value
        return -1

    def list_of(self, node: c_ast.Node) -> Ranged:
        items = [self.expr(item) for item in node.exprs]
        start = items[0][1] if items else self.parsed.offset(node.coord)
        end = items[-1][2] if items else start + 1
        if isinstance(node, c_ast.InitList):
            start = max(0, self.parsed.text.rfind("{", 0, start + 1))
            end = self.after(end, "}")
            return c.InitList(tuple(i for i, _, _ in items), self.span(start, end)), start, end
        start, end = self.balance(start, end)
        return c.Comma(tuple(i for i, _, _ in items), self.span(start, end)), start, end

    def type_text(self, node: c_ast.Node) -> str:
        """A type name as C text."""
        shape = self.scope.types.shape(node)
        stars = "*" * sum(d.pointer for d in shape.dims)
        return f"{shape.element.text} {stars}" if stars else shape.element.text


def is_scalar(shape: Shape) -> bool:
    """Whether it is a number or a pointer."""
    return shape.dims[0].pointer if shape.dims else shape.node is None


def truth(expr: c.Expr) -> c.Expr:
    """A side of `&&` or `||`, and of `assert(i < n && "too large")` as well: a string is somewhere."""
    return c.Literal("1", expr.span) if isinstance(expr, c.Literal) and expr.text.endswith('"') else expr


def chosen(whole: c.Ternary) -> c.Expr:
    """`n < n ? n : n`, as a macro makes it of MIN(n, n), without the question: C compilers would smile at it."""
    changing = (c.Assign, c.Call, c.Postfix)
    if whole.then != whole.otherwise or any(
        isinstance(node, changing) or (isinstance(node, c.Unary) and node.op in ("++", "--"))
        for node in c.walk(whole.condition)
    ):
        return whole
    return whole.then
