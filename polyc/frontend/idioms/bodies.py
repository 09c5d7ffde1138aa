"""Functions of a few statements, put in the place of their calls.

What `helpers.py` has no expression for: functions that write memory, such that read what nobody else says of them, and
such with loops over arrays that they are given: these know which elements they read.

rewrite:  put(m, x + 1, y, e);            ->  { int x_2 = x + 1; int y_2 = y; float v = e; d[y_2 * m.w + x_2] = v; }
          t = f(a, k);                    ->  R f_result; { int k_2 = k; s; f_result = e; } t = f_result;
requires: the call is a statement, or is evaluated whenever its statement is, or the condition of a branch, which has no
          other side effect but its assignment, and reads nothing that the function writes; the arguments have no side
          effects; a return in a loop stands in no inner one; what is called inside has no effects that nobody follows;
          a struct is given by its name, and the function does not write to it
ensures:  each argument is evaluated once, and converted as C does, by declarations of the parameters; names of the
          file mean the same at both places
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pycparser import c_ast

from polyc.analysis.expressions.facts import assigned_scalars, base_key, base_name, lvalues, mentions, writes
from polyc.errors import Span, UserError
from polyc.frontend.c.convert import RETURN, Converter
from polyc.frontend.c.ctype import Types
from polyc.frontend.c.effects import Effect, is_readable
from polyc.frontend.c.parse import IDENTIFIER, LONGEST_HELPER, parse_function
from polyc.frontend.c.references import inner_rank, links
from polyc.frontend.c.symbols import Scope, Symbol, scope_before
from polyc.frontend.idioms.helpers import (
    Helpers,
    Unclear,
    constant,
    is_address,
    is_arithmetic,
    is_global,
    is_same_array,
)
from polyc.frontend.idioms.sums import Excluded, Values
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace

LARGEST = 300
"""Nodes of a function that is put in the place of a call."""
SMALL = 60
"""Nodes of one that computes a value without loops."""
_BRANCH = re.compile(r"\bif\b|\?")
_LEAVES = (c_ast.Goto, c_ast.Label, c_ast.Switch, c_ast.Typedef, c_ast.FuncDef)


@dataclass(frozen=True, slots=True)
class Body:
    """A function as statements."""

    scope: Scope
    parameters: tuple[Symbol, ...]
    block: c.Block
    result: c.Expr | None
    """What it returns."""
    type: c_ast.Node
    """Of that."""
    lines: tuple[int, int] = (0, 0)
    """The first and the last of it."""


@dataclass(slots=True)
class Bodies:
    """The functions of a file."""

    helpers: Helpers
    effects: Callable[[str], Effect]
    known: dict[str, Body | None] = field(default_factory=dict)
    iterations: dict[str, Body] = field(default_factory=dict)
    """Those that iterate on variables alone, `escape(x, y)`: they stay calls unless strips are made of the loops."""
    opened: bool = False
    """Whether these stand in the places of their calls, too."""

    def is_known(self, name: str) -> bool:
        """Whether a function's text may stand in the place of a call."""
        return self.helpers.of(name) is not None or self.of(name) is not None

    def of(self, name: str) -> Body | None:
        """The function; None for one that stays a call."""
        if name not in self.known:
            self.known[name] = None  # while it is looked into: it calls itself
            effect = self.effects(name)
            looks = effect.anything or effect.written or name in self.helpers.chunks.looping_functions
            body = self.found(name) if looks or self.branches(name) else None
            if effect.anything or effect.written or (body is not None and pays(body)):
                self.known[name] = body
            elif body is not None and c.has_loops(body.block):
                self.iterations[name] = body
        return self.known[name] or (self.iterations.get(name) if self.opened else None)

    def branches(self, name: str) -> bool:
        """Whether a function's text has a branch: others are not worth reading."""
        chunks = self.helpers.chunks
        own = (n for n in chunks.mentions.get(name, ()) if chunks.items[n].function_name == name)
        return any(chunks.items[n].is_function and _BRANCH.search(chunks.code_of(n)) for n in own)

    def found(self, name: str) -> Body | None:
        chunks, places = self.helpers.chunks, self.helpers.places
        number = chunks.body_of(name)
        if number is None:
            return None
        item, text = chunks.items[number], chunks.code_of(number)
        if len(text) > LONGEST_HELPER or not is_readable(text):
            return None
        try:
            parsed = parse_function(chunks, number, [(item.start, item.end)], places)
            types = Types()
            types.add_all(parsed.tree)
            scope = scope_before(types, parsed.tree, parsed.function, [])
            body = self.read(Converter(parsed, places, scope, expanded=self.helpers.expanded), scope)
            opened = parsed.original(parsed.offset(parsed.function.body.coord))  # the chunk may begin in a header
            first, last = (places.span(at, at + 1).line for at in (opened, item.end - 1))
            return replace(body, lines=(first, last))
        except (UserError, Unclear, RecursionError):
            return None

    def read(self, converter: Converter, scope: Scope) -> Body:
        """The function's body. Raises Unclear."""
        function = converter.parsed.function
        items = list(function.body.block_items or [])
        if any(isinstance(node, _LEAVES) for item in items for node in walk(item)):
            raise Unclear
        scope.blocks.append({})
        found = replace(converter, returns=True).statements(items)
        scope.blocks.pop()
        found, result = ended(found, scope, function.decl)
        block = c.rewrite(with_bodies(c.Block(found), scope, self), lambda node: sized(node, scope))
        nodes = [*c.walk(block), *(c.walk(result) if result is not None else ())]
        if converter.problems or len(nodes) > LARGEST or next(lvalues(result or c.Literal("0")), None) is not None:
            raise Unclear
        parameters: list[Symbol] = []
        arguments = function.decl.type.args
        for one in arguments.params if arguments is not None else ():
            if isinstance(one, c_ast.Typename) and scope.types.shape(one.type).element.text == "void":
                continue
            symbol = scope.find(one.name) if isinstance(one, c_ast.Decl) and one.name else None
            if symbol is None:
                raise Unclear
            parameters.append(symbol)
        for node in nodes:
            self.check(node, scope)
        return Body(scope, tuple(parameters), block, result, function.decl.type)

    def check(self, node: c.Node, scope: Scope) -> None:
        """What means the same at the place of a call, and is followed there. Raises Unclear."""
        match node:
            case c.Name(name=name):
                symbol = scope.symbols.get(name)
                if symbol is None:
                    if name not in scope.types.constants:
                        raise Unclear
                elif symbol.volatile or (symbol.storage is Storage.GLOBAL and not is_global(symbol.c_name, scope)):
                    raise Unclear
            case c.Call(function=name):
                effect = self.effects(name)
                if name.startswith("*") or effect.anything or effect.ordered:
                    raise Unclear
            case c.SizeOf(text=text):
                if any(symbol.c_name in IDENTIFIER.findall(text) for symbol in scope.symbols.values()):
                    raise Unclear
            case c.Unary(op="&"):
                raise Unclear


def pays(body: Body) -> bool:
    """Whether it is good to know what a function does that only computes a value: it runs through arrays, or branches
    on floating values, so that compilers jump where it stands in a loop."""
    nodes = [*c.walk(body.block), *c.walk(body.result or c.Literal("0"))]
    if any(isinstance(n, c.For | c.While) for n in nodes):
        return any(symbol.rank for symbol in body.parameters)
    floating = any(symbol.rank == 0 and symbol.shape.element.kind == "float" for symbol in body.parameters)
    return floating and len(nodes) <= SMALL and any(isinstance(n, c.If | c.Ternary) for n in nodes)


def sized(node: c.Node, scope: Scope) -> c.Node | None:
    """The bytes of a variable of the function, `sizeof x`."""
    size = scope.size_of(node.text) if isinstance(node, c.SizeOf) else None
    return None if size is None else c.Literal(f"{size}ul", getattr(node, "span", None))


def ended(items: tuple[c.Stmt, ...], scope: Scope, function: c_ast.Decl) -> tuple[tuple[c.Stmt, ...], c.Expr | None]:
    """The statements of a function without its returns, and its value. Raises Unclear.

    rewrite:  if (e) { S; return a; } T; return b;  ->  if (e) { S; r = a; } else { T; r = b; }
    """
    if not any(map(returns, items)):
        return items, None
    *before, last = items
    if not any(map(returns, before)):
        match last:
            case c.ExprStmt(expr=c.Call(function=name, arguments=arguments)) if name == RETURN:
                return tuple(before), arguments[0] if arguments else None
    if scope.types.shape(function.type.type).element.text == "void":
        return joined(items, None), None
    result = scope.fresh(named(function.type.type, f"{function.name}_value"))
    return (c.Decl(result.shape.element.text, result.key), *joined(items, result.key)), c.Name(result.key)


def joined(items: tuple[c.Stmt, ...], result: str | None) -> tuple[c.Stmt, ...]:
    """Statements that end where they do without a return, with the value in a variable. Raises Unclear."""
    position = next((n for n, item in enumerate(items) if returns(item)), None)
    if position is None:
        if result is not None:  # who uses the value of such a call has none
            raise Unclear
        return items
    rest = items[position + 1 :]
    match items[position]:
        case c.ExprStmt(expr=c.Call(function=name, arguments=arguments), span=span) if name == RETURN:
            if result is None or not arguments:
                return items[:position]
            return (*items[:position], c.ExprStmt(c.Assign("=", c.Name(result), arguments[0]), span))
        case c.If(then=then, otherwise=otherwise) as branch:
            one, other = parts(then), parts(otherwise) if otherwise is not None else ()
            if ends(one):
                other = (*other, *rest)
            elif ends(other):
                one = (*one, *rest)
            else:
                raise Unclear
            both = replace(branch, then=c.Block(joined(one, result)), otherwise=c.Block(joined(other, result)))
            return (*items[:position], both)
        case c.Block(body=body):
            return joined((*items[:position], *body, *rest), result)
        case c.For() | c.While() as loop:
            return (*items[:position], *left_by_break(loop, joined(rest, result), result))
    raise Unclear


def left_by_break(loop: c.For | c.While, behind: tuple[c.Stmt, ...], result: str | None) -> tuple[c.Stmt, ...]:
    """A loop with returns in it, and what stands behind it. Raises Unclear.

    rewrite:  for (…) { if (e) return a; S } return b;  ->  r = b; for (…) { if (e) { r = a; break; } S }
    requires: what stands behind sets the value alone, by variables that the loop leaves as they are
    """
    match behind:
        case (c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)),) if name == result:
            pass
        case _:
            raise Unclear
    if mentions(value) & writes(loop) or not all(map(is_at_hand, c.walk(value))):
        raise Unclear

    def left(item: c.Stmt) -> c.Stmt:
        match item:
            case c.ExprStmt(expr=c.Call(function=function, arguments=(given,)), span=span) if function == RETURN:
                return c.Block((c.ExprStmt(c.Assign("=", c.Name(name), given), span), c.Jump("break", span)), span)
            case c.Block(body=items):
                return replace(item, body=tuple(part for one in items for part in opened(left(one))))
            case c.If(then=then, otherwise=otherwise):
                return replace(item, then=left(then), otherwise=None if otherwise is None else left(otherwise))
            case _ if returns(item):
                raise Unclear
        return item

    return (*behind, replace(loop, body=left(loop.body)))


def is_at_hand(node: c.Node) -> bool:
    """Whether a part of an expression may be computed where nobody asks for it: it loads nothing, and never fails."""
    plain = isinstance(node, c.Name | c.Literal) or (isinstance(node, c.Unary) and node.op in "+-")
    return plain or (isinstance(node, c.Binary) and node.op in ("+", "-", "*"))


def opened(item: c.Stmt) -> tuple[c.Stmt, ...]:
    """The statements of a block that declares nothing, or one statement."""
    inside = isinstance(item, c.Block) and not any(isinstance(part, c.Decl) for part in item.body)
    return parts(item) if inside else (item,)


def returns(node: c.Stmt) -> bool:
    return any(isinstance(inner, c.Call) and inner.function == RETURN for inner in c.walk(node))


def parts(node: c.Stmt) -> tuple[c.Stmt, ...]:
    return node.body if isinstance(node, c.Block) else (node,)


def ends(items: tuple[c.Stmt, ...]) -> bool:
    """Whether nothing behind these statements is reached."""
    if not items:
        return False
    match items[-1]:
        case c.ExprStmt(expr=c.Call(function=name)):
            return name == RETURN
        case c.Block(body=body):
            return ends(body)
        case c.If(then=then, otherwise=otherwise):
            return otherwise is not None and ends(parts(then)) and ends(parts(otherwise))
    return False


def with_bodies(body: c.Block, scope: Scope, bodies: Bodies) -> c.Block:
    """The region with the statements of functions in the places of their calls."""

    def visit(node: c.Stmt) -> list[c.Stmt]:
        match node:
            case c.Block(body=items):
                return [replace(node, body=tuple(found for item in items for found in visit(item)))]
            case c.For(body=inner) | c.While(body=inner):
                return [replace(node, body=one(visit(inner)))]
            case c.If(then=then, otherwise=otherwise):
                other = None if otherwise is None else one(visit(otherwise))
                branch = replace(node, then=one(visit(then)), otherwise=other)
                return Place(branch, scope, bodies).tested(branch)
            case c.ExprStmt() | c.Decl():
                return Place(node, scope, bodies).found()
        return [node]

    if not any(isinstance(node, c.Call) and bodies.of(node.function) is not None for node in c.walk(body)):
        return body
    return replace(body, body=tuple(found for item in body.body for found in visit(item)))


def one(items: Sequence[c.Stmt]) -> c.Stmt:
    return items[0] if len(items) == 1 and not isinstance(items[0], c.Decl) else c.Block(tuple(items))


@dataclass(slots=True)
class Place:
    """A statement with calls."""

    node: c.ExprStmt | c.Decl | c.If
    scope: Scope
    bodies: Bodies
    before: list[c.Stmt] = field(default_factory=list)

    def found(self) -> list[c.Stmt]:
        """The statement, after those of the functions that it calls."""
        node = self.node
        if isinstance(node, c.ExprStmt) and isinstance(node.expr, c.Call):
            whole = self.expanded(node.expr, None)
            return [node] if whole is None else [whole]
        assert not isinstance(node, c.If)
        expr = node.expr if isinstance(node, c.ExprStmt) else node.init
        if expr is None or sum(1 for _ in lvalues(expr)) > isinstance(expr, c.Assign) or self.depends(expr):
            return [node]
        found = c.rewrite(node, self.change)
        return [*self.before, found]

    def tested(self, node: c.If) -> list[c.Stmt]:
        """A branch, after the statements of the functions that its condition calls."""
        if next(lvalues(node.condition), None) is not None or self.depends(node.condition):
            return [node]
        found = replace(node, condition=c.rewrite(node.condition, self.change))
        return [*self.before, found]

    def depends(self, expr: c.Expr) -> bool:
        """Whether a function writes what the statement reads besides: C does not say what comes first."""
        calls = [
            part for part in c.walk(expr) if isinstance(part, c.Call) and self.bodies.of(part.function) is not None
        ]
        inside = {id(part) for call in calls for part in c.walk(call)}
        if isinstance(expr, c.Assign) and expr.op == "=":
            inside.add(id(base_name(expr.target)))
        read = {part.name for part in c.walk(expr) if isinstance(part, c.Name) and id(part) not in inside}
        changed: list[set[str]] = []
        for call in calls:
            body = self.bodies.of(call.function)
            assert body is not None
            symbols = body.scope.symbols
            written = {symbols[key] for key in writes(body.block) if key in symbols}
            if any(symbol.storage is Storage.REGION and symbol.rank for symbol in written):  # it may lead anywhere
                written |= {symbols[key] for key in mentions(body.block) if key in symbols} | set(body.parameters)
            shared = {symbol.c_name for symbol in written if symbol.storage is Storage.GLOBAL}
            given = [a for a, s in zip(call.arguments, body.parameters, strict=False) if s in written and s.rank]
            changed.append(shared.union(*map(self.reached, given)))
        used = [mentions(call) | names for call, names in zip(calls, changed, strict=True)]
        others = [read.union(*(used[k] for k in range(len(calls)) if k != n)) for n in range(len(calls))]
        return any(names & other for names, other in zip(changed, others, strict=True))

    def reached(self, argument: c.Expr) -> set[str]:
        """The names of what a function may write to by an argument: not those of subscripts."""
        symbols = self.scope.symbols
        addresses = {
            key for n in c.walk(argument) if isinstance(n, c.Unary) and n.op == "&" and (key := base_key(n.operand))
        }
        return addresses | {name for name in mentions(argument) if name not in symbols or symbols[name].rank}

    def change(self, node: c.Node) -> c.Node | None:
        """A call as the variable that has its value; nothing where it may not be evaluated."""
        match node:
            case c.Call():
                body = self.bodies.of(node.function)
                if body is None or body.result is None:
                    return None
                symbol = self.scope.fresh(named(body.type.type, f"{node.function}_result"))
                inlined = self.expanded(node, symbol)
                if inlined is None:
                    return None
                self.before += [c.Decl(symbol.shape.element.text, symbol.key, (), None, self.node.span), inlined]
                return c.Name(symbol.key, node.span)
            case c.Binary(op="&&" | "||", left=left):
                return replace(node, left=c.rewrite(left, self.change))
            case c.Ternary(condition=condition):
                return replace(node, condition=c.rewrite(condition, self.change))
        return None

    def expanded(self, call: c.Call, result: Symbol | None) -> c.Block | None:
        """The function's statements; None where the call stays."""
        body = self.bodies.of(call.function)
        if body is None or len(body.parameters) != len(call.arguments):
            return None
        if not all(self.bodies.helpers.is_pure(argument) for argument in call.arguments):
            return None
        before = dict(self.scope.symbols)
        try:
            return self.block(body, call, result)
        except (Unclear, Excluded):
            self.scope.symbols.clear()
            self.scope.symbols.update(before)
            return None

    def block(self, body: Body, call: c.Call, result: Symbol | None) -> c.Block:
        """Raises Unclear."""
        if result is not None and not is_arithmetic(result.shape.element, self.scope.types):
            raise Unclear
        names: dict[str, c.Expr] = {}
        statements: list[c.Stmt] = []
        written = changed(body)
        for symbol, argument in zip(body.parameters, call.arguments, strict=True):
            moves = self.moves(body, symbol, argument)
            names[symbol.key] = self.argument(symbol, argument, symbol.key in written, moves, statements)
        inside = [part for part in (body.block, body.result) if part is not None]
        for node in (node for part in inside for node in c.walk(part)):
            name = node.name if isinstance(node, c.Name | c.Decl) else None
            if name is not None and name not in names:
                names[name] = self.name(name, body.scope)
        found = [moved(item, names, self.node.span) for item in body.block.body]
        if result is not None:
            assert body.result is not None
            value = moved(body.result, names, self.node.span)
            found.append(c.ExprStmt(c.Assign("=", c.Name(result.key), value), self.node.span))
        return c.Block((*statements, *found))

    def moves(self, body: Body, symbol: Symbol, argument: c.Expr) -> bool:
        """Whether a function may make a pointer parameter, or the variable that it is given, lead elsewhere."""
        given = self.scope.symbols.get(argument.name) if isinstance(argument, c.Name) else None
        inside = given is not None and given.storage in (Storage.LOCAL, Storage.ARGUMENT, Storage.REGION)
        written = [body.scope.symbols[key] for key in writes(body.block) if key in body.scope.symbols]
        pointers = any(len(one.shape.dims) > 1 for one in written)
        return not inside or pointers or symbol.key in assigned_scalars(body.block)

    def name(self, name: str, inner: Scope) -> c.Expr:
        """What a name of the function is called here."""
        symbol = inner.symbols.get(name)
        if symbol is None:
            if constant(name, self.scope) != inner.types.constants[name]:
                raise Unclear
            return c.Name(name)
        if symbol.storage is Storage.GLOBAL:
            if not is_global(symbol.c_name, self.scope):
                raise Unclear
            return c.Name(self.scope.blocks[0][symbol.c_name].key)
        if symbol.node is None or any(dim.size is None for dim in symbol.shape.dims if not dim.pointer):
            raise Unclear
        return c.Name(self.scope.fresh(symbol.node).key)

    def argument(
        self, symbol: Symbol, argument: c.Expr, written: bool, moves: bool, statements: list[c.Stmt]
    ) -> c.Expr:
        """What a parameter is called here; its declaration is added. moves: whether the function makes it, or what it
        is given, lead elsewhere"""
        shape = symbol.shape
        assert symbol.node is not None
        if shape.element.kind == "struct" and len(shape.dims) <= 1:
            plain = isinstance(argument, c.Name) and is_same_array(argument, shape, self.scope)
            if written and not shape.dims:
                raise Unclear
            if is_address(argument, shape, self.scope) or (plain and (not shape.dims or not moves)):
                return argument
        if shape.dims:
            node = symbol.node
            if any(dim.size is None for dim in shape.dims[1:] if not dim.pointer):
                raise Unclear
            kind = c_ast.PtrDecl([], node.type.type) if isinstance(node.type, c_ast.ArrayDecl) else node.type
            new = self.scope.fresh(c_ast.Decl(node.name, [], [], [], [], kind, None, None, node.coord))
            Values(self.scope, set(), {}).pointer(new, argument)
        elif is_arithmetic(shape.element, self.scope.types):
            new = self.scope.fresh(symbol.node)
        else:
            raise Unclear
        statements.append(c.Decl(shape.element.text, new.key, (), argument, self.node.span))
        return c.Name(new.key)


def changed(body: Body) -> set[str]:
    """Keys of the names that a function writes; not of a struct of which it writes what a pointer in it leads to."""
    found: set[str] = set()
    for target in lvalues(body.block):
        key, chain = base_key(target), links(target)
        symbol = None if key is None else body.scope.symbols.get(key)
        is_struct = symbol is not None and symbol.shape.element.kind == "struct" and not symbol.shape.dims
        outside = is_struct and symbol is not None and chain and inner_rank(body.scope, symbol, chain) is None
        if key is not None and not outside:
            found.add(key)
    return found


def named(type_: c_ast.Node, name: str) -> c_ast.Decl:
    """A declaration of a type."""
    return c_ast.Decl(name, [], [], [], [], type_, None, None, None)


def moved(node: c.N, names: dict[str, c.Expr], span: Span | None) -> c.N:
    """A part of a function at the place of its call. Its loops keep their places, by which they are told apart."""

    def change(part: c.Node) -> c.Node | None:
        match part:
            case c.Name(name=name):
                return names[name]
            case c.Member(base=c.Name(name=name), field=member, arrow=True):
                given = names[name]
                return c.Member(given.operand, member) if isinstance(given, c.Unary) else None
            case c.Decl(name=name, init=init, extents=extents):
                new = names[name]
                assert isinstance(new, c.Name)
                sizes = tuple(c.rewrite(size, change) for size in extents)
                return replace(part, name=new.name, init=c.rewrite(init, change) if init else None, extents=sizes)
        return None

    return c.placed(c.rewrite(node, change), span, c.For)
