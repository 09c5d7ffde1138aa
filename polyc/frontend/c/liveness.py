"""What the function does with a variable after a region: a conservative walk over pycparser's tree."""

from __future__ import annotations

from functools import lru_cache

from pycparser import c_ast

from polyc.frontend.c.first_use import Use, in_sequence, joined, maybe
from polyc.frontend.c.functions import HARMLESS
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.text.trees import walk
from polyc.model.scop import Storage
from polyc.records import dataclass, field

Path = list[tuple[c_ast.Node, int]]
"""From the function's body to the region's block: each node and the position in it that leads on."""
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


class Pointee(str):
    """The name of a pointer, for the memory that it points to: `free(p)` ends it, and `!p` or `p == NULL` does not read
    it."""

    __slots__ = ()


def jumped_to(body: c_ast.Node) -> frozenset[str]:
    """The labels that a goto in some statements names."""
    return frozenset(node.name for node in walk(body) if isinstance(node, c_ast.Goto))


@lru_cache(maxsize=32)
def has_jumps(body: c_ast.Node) -> bool:
    """Whether a function has a goto or a switch: what follows one of its statements is not told by its place."""
    return any(isinstance(node, (c_ast.Goto, c_ast.Switch)) for node in walk(body))


@lru_cache(maxsize=32)
def addresses_taken(body: c_ast.Node) -> frozenset[str]:
    """The names of which a function takes the address: `&x`."""
    taken = (node.expr for node in walk(body) if isinstance(node, c_ast.UnaryOp) and node.op == "&")
    return frozenset(one.name for one in taken if isinstance(one, c_ast.ID))


def read_after(name: str, path: Path, function: c_ast.FuncDef) -> bool:
    """Whether a variable's value may be read after the region that ends at the end of `path`."""
    if has_jumps(function.body):
        return True
    for node, position in reversed(path):
        if isinstance(node, c_ast.Compound):
            items = node.block_items or []
            use = sequence(items[position + 1 :], name)
            if use is not Use.NONE:
                return use is Use.READ
            if any(declares(item, name) for item in items[:position]):
                return False
        elif isinstance(node, _LOOPS):
            if isinstance(node, c_ast.For) and declares(node.init, name):
                return False
            again = in_sequence([use_in(getattr(node, "next", None), name), use_in(node.cond, name)])
            if again is not Use.NONE:
                return again is Use.READ
            if use_in(node.stmt, name) is Use.READ:
                return True
    return False


def is_own_static(symbol: Symbol, function: c_ast.FuncDef) -> bool:
    """Whether it is a static scalar of a function that does not take its address: nobody else has it."""
    if symbol.rank or not is_static_of(symbol, function):
        return False
    taken = (node.expr for node in walk(function.body) if isinstance(node, c_ast.UnaryOp) and node.op == "&")
    return symbol.c_name not in {part.name for one in taken for part in walk(one) if isinstance(part, c_ast.ID)}


def is_static_of(symbol: Symbol, function: c_ast.FuncDef) -> bool:
    """Whether it is a static variable that a function declares."""
    if symbol.node is None or "static" not in (symbol.node.storage or ()):
        return False
    return id(symbol.node) in _declared_in(function)


@lru_cache(maxsize=8)
def _declared_in(function: c_ast.FuncDef) -> frozenset[int]:
    """The declarations in a function, by identity; it keeps the function, and so them."""
    return frozenset(id(node) for node in walk(function.body) if isinstance(node, c_ast.Decl))


def is_static_of_file(symbol: Symbol) -> bool:
    """Whether it is a static variable that stands outside of functions."""
    return symbol.storage is Storage.GLOBAL and symbol.node is not None and "static" in (symbol.node.storage or ())


def is_like_local(symbol: Symbol, function: c_ast.FuncDef) -> bool:
    """Whether a static scalar of the function hands no value from one call of it to another one: from its declaration
    on it is written before it is read, and behind its first use nobody is called who might call this function."""
    return symbol.node is not None and is_own_static(symbol, function) and not kept_for_calls(symbol.node, function)


def kept_for_calls(declaration: c_ast.Decl, function: c_ast.FuncDef) -> bool:
    """Whether a static variable of a function may hand a value from one call of it to another one.

    It does not where each path from its declaration on writes it first, and where no function is called behind its
    first use: one that calls this function again would change it.
    """
    nodes = list(walk(function.body))
    if any(isinstance(n, (c_ast.Goto, c_ast.Switch)) for n in nodes):
        return True
    blocks = (n.block_items or [] for n in nodes if isinstance(n, c_ast.Compound))
    behind = next((items[items.index(declaration) + 1 :] for items in blocks if declaration in items), None)
    if behind is None or sequence(behind, declaration.name) is Use.READ:
        return True
    named = [any(isinstance(n, c_ast.ID) and n.name == declaration.name for n in walk(item)) for item in behind]
    later = behind[named.index(True) :] if any(named) else []
    called = [n for item in later for n in walk(item) if isinstance(n, c_ast.FuncCall)]
    return any(not isinstance(n.name, c_ast.ID) or n.name.name not in HARMLESS for n in called)


def declared_on_the_way(name: str, path: Path, function: c_ast.FuncDef) -> bool:
    """Whether a path runs once each time that the declaration of a name is met: no loop around, no goto."""
    if has_jumps(function.body):
        return False
    for node, position in reversed(path):
        if isinstance(node, c_ast.Compound):
            if any(declares(item, name) for item in (node.block_items or [])[:position]):
                return True
        elif not isinstance(node, c_ast.If):
            return False
    return False


def given_before(name: str, path: Path, function: c_ast.FuncDef) -> c_ast.Node | None:
    """What a variable was given last before a place, on each way to it: in one statement of the blocks around it."""
    if has_jumps(function.body):
        return None
    for node, position in reversed(path):
        if isinstance(node, c_ast.Compound):
            for item in reversed((node.block_items or [])[:position]):
                match item:
                    case c_ast.Decl(name=declared, init=value) if declared == name:
                        return value
                    case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value) if target == name:
                        return value
                if any(isinstance(part, c_ast.ID) and part.name == name for part in walk(item)):
                    return None
        elif isinstance(node, _LOOPS) and any(isinstance(part, c_ast.ID) and part.name == name for part in walk(node)):
            return None
    return None


def declares(node: c_ast.Node | None, name: str) -> bool:
    if isinstance(node, c_ast.DeclList):
        return any(declares(item, name) for item in node.decls)
    return isinstance(node, c_ast.Decl) and node.name == name


def sequence(items: list[c_ast.Node], name: str) -> Use:
    """The first use in a block; a declaration of the name hides the variable."""
    for item in items:
        if declares(item, name):
            return Use.NONE
        use = use_in(item, name)
        if use is not Use.NONE:
            return use
    return Use.NONE


def use_in(node: c_ast.Node | None, name: str) -> Use:
    """The first use of a variable in a tree; leaving a loop early may lead to anything."""
    match node:
        case None:
            return Use.NONE
        case c_ast.ID():
            return Use.READ if node.name == name else Use.NONE
        case c_ast.FuncCall(name=c_ast.ID(name="free"), args=c_ast.ExprList(exprs=[c_ast.ID(name=freed)])):
            return (Use.KILL if isinstance(name, Pointee) else Use.READ) if freed == name else Use.NONE
        case c_ast.UnaryOp(op="!", expr=c_ast.ID()) if isinstance(name, Pointee):
            return Use.NONE
        case c_ast.BinaryOp(op="==" | "!=", left=c_ast.ID(), right=other) if isinstance(name, Pointee):
            return use_in(other, name)
        case c_ast.Assignment() if node.op == "=" and isinstance(node.lvalue, c_ast.ID) and node.lvalue.name == name:
            return in_sequence([use_in(node.rvalue, name), Use.KILL])
        case c_ast.Compound():
            return sequence(node.block_items or [], name)
        case c_ast.If() | c_ast.TernaryOp():
            paths = joined([use_in(node.iftrue, name), use_in(node.iffalse, name)])
            return in_sequence([use_in(node.cond, name), paths])
        case c_ast.For():
            if declares(node.init, name):
                return Use.NONE
            around = [maybe(use_in(part, name)) for part in (node.stmt, node.next)]
            return in_sequence([use_in(node.init, name), use_in(node.cond, name), *around])
        case c_ast.While():
            return in_sequence([use_in(node.cond, name), maybe(use_in(node.stmt, name))])
        case c_ast.DoWhile():
            return in_sequence([maybe(use_in(node.stmt, name)), use_in(node.cond, name)])
        case c_ast.BinaryOp() if node.op in ("&&", "||"):
            return in_sequence([use_in(node.left, name), maybe(use_in(node.right, name))])
        case c_ast.Return():
            return in_sequence([use_in(node.expr, name), Use.KILL])
        case c_ast.Break() | c_ast.Continue():
            return Use.READ
        case c_ast.StructRef():
            return use_in(node.name, name)
    uses = [use_in(child, name) for child in node]
    return Use.READ if Use.READ in uses else in_sequence(uses)


@dataclass(slots=True)
class Escapes:
    """Where the address of a variable goes in a function."""

    to_call: set[str] = field(default_factory=set)
    """Passed to a function that may keep it."""
    to_pointer: set[str] = field(default_factory=set)
    """Kept in another variable, or returned."""


def escapes(function: c_ast.FuncDef, rank: int) -> Escapes:
    """Every variable whose address is taken, if it has `rank` dimensions."""
    found = Escapes()

    def visit(node: c_ast.Node, sink: set[str] | None) -> None:
        match node:
            case c_ast.FuncCall():
                name = node.name.name if isinstance(node.name, c_ast.ID) else ""
                for argument in node.args.exprs if node.args is not None else ():
                    visit(argument, None if name in HARMLESS else found.to_call)
                return
            case c_ast.UnaryOp() if node.op == "sizeof":
                return
            case c_ast.UnaryOp() if node.op == "&":
                taken(node.expr, sink, 0)
                return
            case c_ast.ID() | c_ast.ArrayRef():
                depth, base = 0, node
                while isinstance(base, c_ast.ArrayRef):
                    visit(base.subscript, None)
                    depth, base = depth + 1, base.name
                if isinstance(base, c_ast.ID):
                    if rank > depth and sink is not None:
                        sink.add(base.name)
                else:
                    visit(base, sink)
                return
            case c_ast.Assignment() | c_ast.Decl() | c_ast.Return():
                for child in node:
                    visit(child, found.to_pointer)
                return
            case c_ast.Cast() | c_ast.TernaryOp() | c_ast.BinaryOp() | c_ast.InitList() | c_ast.ExprList():
                for child in node:
                    visit(child, sink)
                return
        for child in node:
            visit(child, None)

    def taken(node: c_ast.Node, sink: set[str] | None, depth: int) -> None:
        base = node
        while not isinstance(base, c_ast.ID):
            following = getattr(base, "name", None) or getattr(base, "expr", None)
            if not isinstance(following, c_ast.Node):
                return
            base = following
        (found.to_pointer if sink is None else sink).add(base.name)

    visit(function.body, None)
    return found


def unknown_call_after(path: Path) -> bool:
    """Whether a function that polyc does not know runs after the region."""
    for node, position in path:
        if isinstance(node, c_ast.Compound):
            after: list[c_ast.Node] = (node.block_items or [])[position + 1 :]
        else:
            after = [node] if isinstance(node, _LOOPS) else []
        for item in after:
            for call in walk(item):
                known = isinstance(call, c_ast.FuncCall) and isinstance(call.name, c_ast.ID)
                if isinstance(call, c_ast.FuncCall) and not (known and call.name.name in HARMLESS):
                    return True
    return False
