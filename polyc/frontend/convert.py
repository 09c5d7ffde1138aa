"""pycparser's tree of a region to polyc's own, with spans, names resolved and every refusal collected."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pycparser import c_ast

from polyc.errors import Diagnostic, Severity, Span
from polyc.frontend.parse import Parsed
from polyc.frontend.places import Places
from polyc.frontend.source import TOKEN
from polyc.frontend.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage

_SPACE = re.compile(r"\s*")
Ranged = tuple[c.Expr, int, int]
"""An expression with its first and last offset in the text that pycparser read."""


@dataclass(slots=True)
class Converter:
    """State of one region's conversion."""

    parsed: Parsed
    places: Places
    scope: Scope
    problems: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    ranges: dict[Span, tuple[int, int]] = field(default_factory=dict)
    """Span of a statement -> its piece of the preprocessed text, for statements' texts."""
    end: int = 0
    """Where the statement that was converted last ends."""
    loops: int = 0
    """How many loops of the region stand around this place."""

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

    # --- statements

    def block(self, items: list[c_ast.Node] | None) -> tuple[c.Stmt, ...]:
        """The statements of a block, in a scope of their own."""
        self.scope.blocks.append({})
        found = self.statements(items or [])
        self.scope.blocks.pop()
        return found

    def statements(self, items: list[c_ast.Node]) -> tuple[c.Stmt, ...]:
        found: list[c.Stmt] = []
        for item in items:
            found += self.statement(item)
        return tuple(found)

    def statement(self, node: c_ast.Node) -> list[c.Stmt]:
        """One statement; declarations of several names come out as several."""
        match node:
            case c_ast.Compound():
                return [self.compound(node)]
            case c_ast.For():
                return [self.for_loop(node)]
            case c_ast.While() | c_ast.DoWhile():
                return [self.while_loop(node)]
            case c_ast.If():
                return [self.branch(node)]
            case c_ast.Decl():
                return self.declaration(node, Storage.REGION)
            case c_ast.DeclList():
                return [s for d in node.decls for s in self.declaration(d, Storage.REGION)]
            case c_ast.EmptyStatement():
                self.end = self.parsed.offset(node.coord) + 1
                return []
            case c_ast.Break() | c_ast.Continue():
                return [self.jump(node)]
            case c_ast.Pragma():
                start = self.parsed.offset(node.coord)
                message = f"'#pragma {node.string}' inside the region is dropped"
                span = self.span(start, start + 1)
                self.notes.append(Diagnostic("ignored-pragma", message, span, severity=Severity.NOTE))
                return []
            case c_ast.Goto() | c_ast.Label() | c_ast.Return() | c_ast.Switch() | c_ast.Case() | c_ast.Default():
                self.refuse_jump(node)
                return []
            case c_ast.Typedef() | c_ast.StaticAssert() | c_ast.FuncDef():
                start = self.parsed.offset(node.coord)
                self.refuse(
                    "unsupported-declaration",
                    "this declaration cannot stand in a region",
                    self.span(start, self.token_end(start)),
                    "move it before '#pragma scop'",
                )
                return []
        expr, start, end = self.expr(node)
        self.end = self.after(end, ";")
        return [c.ExprStmt(expr, self.statement_span(start, end))]

    def compound(self, node: c_ast.Compound) -> c.Block:
        start = self.parsed.offset(node.coord)
        self.end = max(self.end, start + 1)
        body = self.block(node.block_items)
        self.end = self.after(self.end, "}")
        return c.Block(body)

    def statement_span(self, start: int, end: int) -> Span:
        """The place of a statement's head; its text goes to where the conversion is."""
        span = self.span(start, end)
        self.ranges[span] = (self.parsed.original(start), self.parsed.original(max(start, self.end - 1)) + 1)
        return span

    def refuse_jump(self, node: c_ast.Node) -> None:
        start = self.parsed.offset(node.coord)
        span = self.span(start, self.token_end(start))
        match node:
            case c_ast.Return():
                hint = "end the region with '#pragma endscop' before it"
                self.refuse("return", "return would leave the region", span, hint)
            case c_ast.Goto() | c_ast.Label():
                self.refuse(
                    "goto",
                    "goto and labels cannot stand in a region",
                    span,
                    "use loops and conditions instead",
                )
                if isinstance(node, c_ast.Label):
                    self.statement(node.stmt)
            case _:
                self.refuse("switch", "switch cannot stand in a region", span, "write it as if and else")

    def jump(self, node: c_ast.Node) -> c.Stmt:
        start = self.parsed.offset(node.coord)
        kind = "break" if isinstance(node, c_ast.Break) else "continue"
        span = self.span(start, start + len(kind))
        self.end = self.after(start, ";")
        if not self.loops:
            hint = "put the whole loop into the region"
            self.refuse("break", f"{kind} would leave the region", span, hint)
        return c.Jump(kind, span)

    def for_loop(self, node: c_ast.For) -> c.Stmt:
        start = self.parsed.offset(node.coord)
        self.scope.blocks.append({})
        init: c.Decl | c.Expr | None = None
        if isinstance(node.init, c_ast.DeclList):
            declared = [s for d in node.init.decls for s in self.declaration(d, Storage.REGION, True)]
            if len(declared) == 1 and isinstance(declared[0], c.Decl):
                init = declared[0]
            else:
                message = "a loop's head may declare one variable only"
                hint = "declare the others before the loop"
                self.refuse("unsupported-declaration", message, self.span(start, start + 3), hint)
        elif node.init is not None:
            init = self.expr(node.init)[0]
        condition = self.expr(node.cond)[0] if node.cond is not None else None
        step = self.expr(node.next)[0] if node.next is not None else None
        head_end = self.head_end(start)
        self.loops += 1
        body = self.single(node.stmt)
        self.loops -= 1
        self.scope.blocks.pop()
        return c.For(init, condition, step, body, span=self.statement_span(start, head_end))

    def head_end(self, start: int) -> int:
        """The offset after the parenthesis that closes a statement's head."""
        opening = self.parsed.text.find("(", start)
        return self.balance(opening, opening + 1)[1] if opening >= 0 else start + 1

    def while_loop(self, node: c_ast.Node) -> c.Stmt:
        start = self.parsed.offset(node.coord)
        condition = self.expr(node.cond)[0]
        self.loops += 1
        body = self.single(node.stmt)
        self.loops -= 1
        end = self.head_end(start) if isinstance(node, c_ast.While) else start + 2
        if isinstance(node, c_ast.DoWhile):
            self.end = self.after(self.end, ";")
        return c.While(condition, body, isinstance(node, c_ast.DoWhile), self.statement_span(start, end))

    def branch(self, node: c_ast.If) -> c.Stmt:
        start = self.parsed.offset(node.coord)
        condition = self.expr(node.cond)[0]
        end = self.head_end(start)
        then = self.single(node.iftrue) if node.iftrue is not None else c.Block(())
        otherwise = self.single(node.iffalse) if node.iffalse is not None else None
        return c.If(condition, then, otherwise, self.statement_span(start, end))

    def single(self, node: c_ast.Node) -> c.Stmt:
        """The body of a loop or branch."""
        if isinstance(node, c_ast.Compound):
            return self.compound(node)
        self.scope.blocks.append({})
        found = self.statement(node)
        self.scope.blocks.pop()
        return found[0] if len(found) == 1 else c.Block(tuple(found))

    def declaration(self, node: c_ast.Decl, storage: Storage, is_loop: bool = False) -> list[c.Stmt]:
        """A declaration inside the region: a new symbol, and its initialiser."""
        start = self.parsed.offset(node.coord)
        if not node.name:
            return []
        span = self.span(start, self.token_end(start))
        if isinstance(node.type, c_ast.FuncDecl):
            return []
        init_range = self.initialiser(node.init)
        symbol = self.scope.declare(node, storage, is_loop)
        if set(node.storage or ()) & {"static", "extern", "_Thread_local"}:
            hint = "declare it before '#pragma scop'"
            self.refuse("static-local", f"'{node.name}' is declared static inside the region", span, hint)
        extents = tuple(
            self.expr(d.extent)[0] if d.extent is not None else c.Literal("")
            for d in symbol.shape.dims
            if not d.pointer
        )
        end = init_range[2] if init_range else self.token_end(start)
        first = self.declaration_start(start)
        self.end = end if is_loop else self.after(end, ";")
        whole = self.statement_span(first, end)
        init = init_range[0] if init_range else None
        return [c.Decl(symbol.shape.element.text, symbol.key, extents, init, whole)]

    def declaration_start(self, name: int) -> int:
        """Where a declaration starts, given the offset of the name that it declares."""
        text = self.parsed.text
        before = max(text.rfind(mark, 0, name) for mark in (";", "{", "}", "(", "\n#"))
        if before >= 0 and text[before] == "\n":
            before = text.find("\n", before + 1)
        match = _SPACE.match(text, before + 1)
        return min(name, match.end() if match else name)

    def initialiser(self, node: c_ast.Node | None) -> Ranged | None:
        return None if node is None else self.expr(node)

    # --- expressions

    def expr(self, node: c_ast.Node) -> Ranged:
        """An expression, with its place in the text that pycparser read."""
        match node:
            case c_ast.ID():
                return self.name(node)
            case c_ast.Constant():
                start = self.parsed.offset(node.coord)
                end = start + len(node.value)
                return c.Literal(node.value, self.span(start, end)), start, end
            case c_ast.ArrayRef():
                base, start, _ = self.expr(node.name)
                index, _, end = self.expr(node.subscript)
                start, end = self.balance(start, self.after(end, "]"))
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
                return c.Ternary(condition, then, otherwise, self.span(start, end)), start, end
            case c_ast.FuncCall():
                return self.call(node)
            case c_ast.Cast():
                inner, _, end = self.expr(node.expr)
                start = self.parsed.offset(node.coord)
                start, end = self.balance(start, end)
                return c.Cast(self.type_text(node.to_type), inner, self.span(start, end)), start, end
            case c_ast.ExprList() | c_ast.InitList():
                return self.list_of(node)
            case c_ast.CompoundLiteral():
                start = self.parsed.offset(node.coord)
                inner, _, end = self.expr(node.init)
                return c.Cast(self.type_text(node.type), inner, self.span(start, end)), start, end
        start = self.parsed.offset(node.coord) if node.coord else 0
        end = self.token_end(start)
        self.refuse("unsupported-expression", "this expression cannot stand in a region", self.span(start, end))
        return c.Literal("0"), start, end

    def name(self, node: c_ast.ID) -> Ranged:
        start = self.parsed.offset(node.coord)
        end = start + len(node.name)
        span = self.span(start, end)
        symbol = self.scope.find(node.name)
        if symbol is None:
            if node.name not in self.scope.types.constants:
                hint = "declare it before its use"
                self.refuse("undeclared", f"'{node.name}' is not declared", span, hint)
            return c.Name(node.name, span), start, end
        self.check_volatile(symbol, span)
        return c.Name(symbol.key, span), start, end

    def check_volatile(self, symbol: Symbol, span: Span) -> None:
        if symbol.volatile:
            hint = "copy it to an ordinary variable outside of the region"
            self.refuse("volatile", f"'{symbol.c_name}' is volatile or atomic", span, hint)

    def unary(self, node: c_ast.UnaryOp) -> Ranged:
        start = self.parsed.offset(node.coord)
        if node.op == "sizeof" or node.op == "_Alignof":
            return self.size_of(node, start)
        inner, first, end = self.expr(node.expr)
        if node.op in ("p++", "p--"):
            start, end = self.balance(min(start, first), self.after(end, node.op[1:]))
            return c.Postfix(node.op[1:], inner, self.span(start, end)), start, end
        start, end = self.balance(self.operator_start(first, node.op), end)
        return c.Unary(node.op, inner, self.span(start, end)), start, end

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
        return c.Call(name, tuple(a for a, _, _ in arguments), self.span(start, end)), start, end

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
