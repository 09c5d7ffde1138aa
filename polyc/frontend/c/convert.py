"""pycparser's tree of a region to polyc's own, with every refusal collected."""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.errors import Span
from polyc.frontend.c.expressions import Expressions
from polyc.frontend.c.liveness import jumped_to
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, replace

_SPACE = re.compile(r"\s*")
RETURN = "return"
"""No name in C."""


@dataclass(slots=True)
class Converter(Expressions):
    """Statements and declarations."""

    returns: bool = False
    """Whether it is all of a function: `return e;` is a call of RETURN then."""

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
            case c_ast.Pragma():
                return []
            case c_ast.EmptyStatement():
                self.end = self.parsed.offset(node.coord) + 1
                return []
            case c_ast.Break() | c_ast.Continue():
                return [self.jump(node)]
            case c_ast.Label() if node.name not in jumped_to(self.parsed.function.body):
                return self.statement(node.stmt)
            case c_ast.Return() if self.returns:
                return [self.returned(node)]
            case c_ast.Goto() | c_ast.Label() | c_ast.Return() | c_ast.Switch() | c_ast.Case() | c_ast.Default():
                self.refuse_jump(node)
                return []
            case c_ast.Typedef() | c_ast.StaticAssert() | c_ast.FuncDef():
                self.refuse_declaration(node)
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
                why = "a case runs into the next one, is left from inside, or declares something for the next ones"
                message = f"this switch is no chain of branches: {why}"
                self.refuse("switch", message, span, "end each case with one break, or write it as if and else")

    def refuse_declaration(self, node: c_ast.Node) -> None:
        start = self.parsed.offset(node.coord)
        self.refuse(
            "unsupported-declaration",
            "this declaration cannot stand in a region",
            self.span(start, self.token_end(start)),
            "move it before '#pragma scop'",
        )

    def returned(self, node: c_ast.Return) -> c.Stmt:
        start = self.parsed.offset(node.coord)
        value, _, end = self.expr(node.expr) if node.expr is not None else (None, start, self.token_end(start))
        self.end = self.after(end, ";")
        return c.ExprStmt(c.Call(RETURN, () if value is None else (value,)), self.statement_span(start, end))

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
        others: list[c.Stmt] = []
        if isinstance(node.init, c_ast.DeclList):
            first = counter_of(node)
            for item in node.init.decls:
                declared = self.declaration(item, Storage.REGION, item is first)
                if item is first and isinstance(declared[0], c.Decl):
                    init = declared[0]
                else:
                    others += declared
            if init is None:
                message = "a loop's head declares several variables, and none of them counts"
                hint = "declare the others before the loop"
                self.refuse("unsupported-declaration", message, self.span(start, start + 3), hint)
        elif isinstance(node.init, c_ast.ExprList) and all(
            isinstance(one, c_ast.Assignment) for one in node.init.exprs
        ):
            items = [self.expr(one) for one in node.init.exprs]  # `for (y[i] = 0, j = 0; …)`
            if counted_by(node, items[-1][0]):
                init = items.pop()[0]
                others = [c.ExprStmt(one, self.statement_span(a, b)) for one, a, b in items]
            else:
                init = self.expr(node.init)[0]
        elif node.init is not None:
            init = self.expr(node.init)[0]
        condition = self.expr(node.cond)[0] if node.cond is not None else None
        step = self.expr(node.next)[0] if node.next is not None else None
        head_end = self.head_end(start)
        self.loops += 1
        body = without_jump(self.single(node.stmt))
        self.loops -= 1
        self.scope.blocks.pop()
        loop = c.For(init, condition, step, body, span=self.statement_span(start, head_end))
        return c.Block((*others, loop)) if others else loop

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
            if condition == c.Literal("0") and not any(isinstance(item, c.Jump) for item in c.walk(body)):
                return body  # as macros of several statements have it
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
        if declares_type(node):
            self.refuse_declaration(node)
        if not node.name:
            return []
        span = self.span(start, self.token_end(start))
        if isinstance(node.type, c_ast.FuncDecl):
            return []
        given = node.init
        init_range = self.initialiser(given, self.scope.types.shape(node.type)) if given is not None else None
        symbol = self.scope.declare(node, storage, is_loop)
        self.check_type(symbol.shape.element.text, span)
        if isinstance(given, c_ast.InitList) and any(not d.pointer and d.size is None for d in symbol.shape.dims):
            message = f"how many elements '{node.name}' has is not known, of which the initialiser sets all"
            self.refuse("unsupported-declaration", message, span, "write its size as a number, or set it in a loop")
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


def declares_type(node: c_ast.Decl) -> bool:
    """Whether a declaration has the members of a struct, or the constants of an enum."""
    return any(
        (isinstance(part, c_ast.Struct | c_ast.Union) and part.decls is not None)
        or (isinstance(part, c_ast.Enum) and part.values is not None)
        for part in walk(node.type)
    )


def counter_of(node: c_ast.For) -> c_ast.Decl | None:
    """The variable of several in a loop's head that its condition asks for, and that the others are not made of."""
    declared: list[c_ast.Decl] = node.init.decls
    if len(declared) == 1:
        return declared[0]
    tested = {part.name for part in walk(node.cond) if isinstance(part, c_ast.ID)} if node.cond is not None else set()
    for item in declared:
        needed = any(isinstance(n, c_ast.ID) and n.name == item.name for d in declared for n in walk(d))
        if item.name in tested and not needed:
            return item
    return None


def counted_by(node: c_ast.For, init: c.Expr) -> bool:
    """Whether the condition of a loop asks for the variable that an assignment of its head begins with."""
    target = init.target if isinstance(init, c.Assign) else None
    asked = node.cond.left if isinstance(node.cond, c_ast.BinaryOp) else None
    return isinstance(target, c.Name) and isinstance(asked, c_ast.ID) and asked.name == target.name


def without_jump(body: c.Stmt, kind: str = "continue") -> c.Stmt:
    """A loop's body without `continue`, where a branch ends with it.

    rewrite:  if (e) { a; continue; } s;  ->  if (e) { a; } else { s; }
    kind:     `break` for a loop whose head has no iterations behind one that comes to it
    """
    items = body.body if isinstance(body, c.Block) else (body,)
    for position, item in enumerate(items):
        if not ends_with(item, kind):
            continue
        assert isinstance(item, c.If)
        then = item.then.body if isinstance(item.then, c.Block) else (item.then,)
        rest = without_jump(c.Block(items[position + 1 :]), kind)
        if len(then) == 1:
            branch = c.If(c.Unary("!", item.condition, item.condition.span), rest, None, item.span)
        else:
            branch = c.If(item.condition, c.Block(then[:-1]), rest, item.span)
        return c.Block((*items[:position], branch))
    if items and isinstance(last := items[-1], c.If):  # nothing stands behind its branches
        inner = without_jump(last.then, kind)
        other = None if last.otherwise is None else without_jump(last.otherwise, kind)
        if inner is not last.then or other is not last.otherwise:
            return c.Block((*items[:-1], replace(last, then=inner, otherwise=other)))
    return body


def ends_with(item: c.Stmt, kind: str) -> bool:
    """Whether a statement is a branch that ends with a `continue`, or a `break`."""
    if not isinstance(item, c.If) or item.otherwise is not None:
        return False
    then = item.then.body if isinstance(item.then, c.Block) else (item.then,)
    return bool(then) and isinstance(then[-1], c.Jump) and then[-1].kind == kind
