"""What calling a function may do to memory.

A function that the file defines is looked into: where it touches nothing but its own variables and what its arguments
point to, only that is accessed by a call. Of every other one polyc assumes that it touches all that it can reach: what
it is given, globals, memory behind pointers, variables whose address went somewhere. Calls that may print, read or keep
a state access a cell of their own, so that they stay in their order.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.errors import UserError
from polyc.frontend.c.ctype import Shape, Types
from polyc.frontend.c.functions import ENDS, HINTS, MEMORY, PURE, QUIET
from polyc.frontend.c.parse import SKIPPED, parse_function
from polyc.frontend.text.asserts import ASSERTED, asserted
from polyc.frontend.text.chunks import Chunks, drop_attributes
from polyc.frontend.text.named import with_plain_extrema
from polyc.frontend.text.places import Places
from polyc.frontend.text.trees import walk
from polyc.records import dataclass, field, replace

_UNREADABLE = re.compile(r"\(\s*\{|\b(?:asm|__asm__|__asm|volatile|__volatile__|_Atomic|longjmp)\b")
_VALUE = re.compile(r"__attribute__\s*\(\((?:[^()]*,)?\s*(?:const|__const__)\s*[,)]")
"""What tells compilers that a function computes a value of its arguments and of nothing else."""
_SIMPLE = (
    c_ast.BinaryOp,
    c_ast.Break,
    c_ast.Case,
    c_ast.Compound,
    c_ast.Constant,
    c_ast.Continue,
    c_ast.DeclList,
    c_ast.Default,
    c_ast.DoWhile,
    c_ast.EmptyStatement,
    c_ast.ExprList,
    c_ast.For,
    c_ast.Goto,
    c_ast.If,
    c_ast.InitList,
    c_ast.Label,
    c_ast.Pragma,
    c_ast.Return,
    c_ast.Switch,
    c_ast.TernaryOp,
    c_ast.While,
)
"""Nodes that do what their parts do."""


def is_readable(text: str) -> bool:
    """Whether a function's text has nothing that polyc does not follow."""
    return _UNREADABLE.search(with_plain_extrema(asserted(text))) is None


def declares(header: str, name: str) -> bool:
    """Whether a declaration with attributes is that of a function."""
    return re.match(rf"[\w\s*]*\b{re.escape(name)}\s*\(", drop_attributes(header)) is not None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call may do."""

    anything: bool = False
    """Touches memory that is not given to it."""
    ordered: bool = False
    """May print, read or keep a state: the order of such calls matters."""
    written: frozenset[int] | None = frozenset()
    """Arguments behind which it may write; None: all."""
    returns: bool = True
    """Whether the caller may go on: what a function that ends the program changes, the caller does not read."""

    def writes(self, position: int) -> bool:
        return self.written is None or position in self.written


NOTHING = Effect()
"""Reads its arguments, and what they point to, and computes a value."""
ANYTHING = Effect(True, True, None)


class _Unclear(Exception):
    """A function does something that is not followed."""


@dataclass(slots=True)
class Effects:
    """The functions of a file."""

    chunks: Chunks
    places: Places
    pure: frozenset[str]
    """Those of which the user says that they are, by a pragma or by an attribute."""
    known: dict[str, Effect] = field(default_factory=dict)

    def of(self, name: str) -> Effect:
        if name not in self.known:
            self.known[name] = ANYTHING  # while it is looked into: it calls itself
            self.known[name] = self.found(name)
        return self.known[name]

    def found(self, name: str) -> Effect:
        if name in self.pure or name in HINTS:
            return NOTHING
        body = self.chunks.body_of(name)
        if body is None and name in PURE:
            return NOTHING
        if body is None and name in ENDS:
            return replace(ANYTHING, returns=False)
        if body is None and name in MEMORY:
            return Effect(written=None)
        if body is None and name in QUIET:
            return Effect(ordered=True, written=None)
        headers = [self.chunks.items[n].header for n in self.chunks.mentions.get(name, ())]
        if any(_VALUE.search(header) and declares(header, name) for header in headers):
            self.pure |= {name}
            return NOTHING
        if body is None or not is_readable(self.chunks.text_of(body)):
            return ANYTHING
        item = self.chunks.items[body]
        try:
            parsed = parse_function(self.chunks, body, [(item.start, item.end)], self.places)
            return _Reader(self, parsed.tree, parsed.function).effect()
        except (UserError, _Unclear, RecursionError):
            return ANYTHING


@dataclass(slots=True)
class _Reader:
    """Reads one function's body. Raises _Unclear."""

    effects: Effects
    tree: c_ast.FileAST
    function: c_ast.FuncDef
    types: Types = field(default_factory=Types)
    own: dict[str, Shape] = field(default_factory=dict)
    """Parameters and local variables."""
    positions: dict[str, int] = field(default_factory=dict)
    """Parameters that point to something."""
    constants: set[str] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    ordered: bool = False

    def effect(self) -> Effect:
        self.types.add_all(self.tree)
        if self.types.shape(self.function.decl.type).dims:
            raise _Unclear  # it answers a pointer
        declared = {n.name: n for n in self.tree.ext if isinstance(n, c_ast.Decl) and n.name}
        arguments = self.function.decl.type.args
        for position, item in enumerate(arguments.params if arguments is not None else ()):
            if isinstance(item, c_ast.Decl) and item.name:
                self.own[item.name] = self.plain(self.types.shape(item.type))
                if self.own[item.name].dims:
                    self.positions[item.name] = position
        for node in walk(self.function.body):
            if isinstance(node, c_ast.Decl) and node.name:
                self.local(node, declared)
        self.constants = {name for name, node in declared.items() if self.is_constant(node)}
        self.visit(self.function.body)
        return Effect(False, self.ordered, frozenset(self.written))

    def plain(self, shape: Shape) -> Shape:
        if shape.qualifiers & {"volatile", "_Atomic"}:
            raise _Unclear
        return shape

    def local(self, node: c_ast.Decl, declared: dict[str, c_ast.Decl]) -> None:
        shape = self.plain(self.types.shape(node.type))
        # Names are not followed through blocks: one that stands for two things is not followed at all.
        twice = node.name in declared or (node.name in self.own and (self.own[node.name].dims or shape.dims))
        if twice or shape.is_function or node.storage or any(d.pointer for d in shape.dims):
            raise _Unclear
        self.own[node.name] = shape

    def is_constant(self, node: c_ast.Decl) -> bool:
        shape = self.types.shape(node.type)
        return "const" in self.plain(shape).qualifiers and not any(d.pointer for d in shape.dims)

    def visit(self, node: c_ast.Node | None) -> None:
        """A statement, or an expression that is evaluated."""
        match node:
            case None:
                return
            case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef():
                self.reference(node, False)
            case c_ast.UnaryOp(op="*"):
                self.reference(node, False)
            case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
                return
            case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--"):
                if not self.is_argument(node.expr):
                    self.assigned(node.expr)
            case c_ast.UnaryOp(op="+" | "-" | "!" | "~"):
                self.visit(node.expr)
            case c_ast.Assignment(op="+=" | "-=") if self.is_argument(node.lvalue):
                self.visit(node.rvalue)  # it still leads to what the function was given
            case c_ast.Assignment():
                self.assigned(node.lvalue)
                self.visit(node.rvalue)
            case c_ast.FuncCall():
                self.call(node)
            case c_ast.Cast():
                if self.types.shape(node.to_type).dims:
                    raise _Unclear
                self.visit(node.expr)
            case c_ast.CompoundLiteral():
                if self.plain(self.types.shape(node.type)).dims:
                    raise _Unclear
                self.visit(node.init)
            case c_ast.NamedInitializer():
                self.visit(node.expr)
            case c_ast.Decl():
                self.visit(node.init)
            case _ if isinstance(node, _SIMPLE):
                for child in node:
                    self.visit(child)
            case _:
                raise _Unclear

    def is_argument(self, node: c_ast.Node) -> bool:
        """Whether it is a pointer that the function was given."""
        return isinstance(node, c_ast.ID) and node.name in self.positions

    def assigned(self, target: c_ast.Node) -> None:
        """Something that is written; a pointer is left to point where it points."""
        if isinstance(target, c_ast.ID) and target.name in self.own and not self.own[target.name].dims:
            return
        self.reference(target, True)

    def reference(self, node: c_ast.Node, write: bool) -> None:
        """`p[i].x`, `*p`, `p->x`: one whole element of an array, or a member that lies in it."""
        links = 0
        members: list[str] = []
        while not isinstance(node, c_ast.ID):
            match node:
                case c_ast.ArrayRef():
                    self.visit(node.subscript)
                    links, node = links + 1, node.name
                case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+" | "-")):
                    self.visit(node.expr.right)
                    links, node = links + 1, node.expr.left
                case c_ast.UnaryOp(op="*", expr=c_ast.UnaryOp(op="p++" | "p--" | "++" | "--", expr=inner)):
                    if not self.is_argument(inner):
                        raise _Unclear
                    links, node = links + 1, inner
                case c_ast.UnaryOp(op="*"):
                    links, node = links + 1, node.expr
                case c_ast.StructRef() if links == 0:
                    members.append(node.field.name)
                    links, node = int(node.type == "->"), node.name
                case c_ast.FuncCall() | c_ast.CompoundLiteral() if links == 0 and not write:
                    self.visit(node)  # a member of a whole struct
                    return
                case _:
                    raise _Unclear
        if node.name in self.types.constants and not links:
            return
        if node.name in self.constants and not write:
            return
        shape = self.own.get(node.name)
        if shape is None or len(shape.dims) != links:
            raise _Unclear
        if write and node.name in self.positions:
            self.written.add(self.positions[node.name])
        if members:
            self.member(shape, members)

    def member(self, shape: Shape, members: list[str]) -> None:
        """A member has to hold its data itself."""
        found: Shape | None = shape
        for name in reversed(members):
            found = self.types.field(found.node, name) if found is not None else None
        if found is None or found.dims:
            raise _Unclear

    def call(self, node: c_ast.FuncCall) -> None:
        if not isinstance(node.name, c_ast.ID) or node.name.name in self.own or node.name.name == SKIPPED:
            raise _Unclear
        effect = self.effects.of(node.name.name)
        if effect.anything:
            raise _Unclear
        self.ordered = self.ordered or effect.ordered or node.name.name == ASSERTED
        for position, argument in enumerate(node.args.exprs if node.args is not None else ()):
            self.argument(argument, effect.writes(position))

    def argument(self, node: c_ast.Node, write: bool) -> None:
        """A value, or a place that the function called may write to."""
        address = isinstance(node, c_ast.UnaryOp) and node.op == "&"
        base = node.expr if address else node
        subscripts: list[c_ast.Node] = []
        while isinstance(base, c_ast.ArrayRef):
            subscripts.append(base.subscript)
            base = base.name
        shape = self.own.get(base.name) if isinstance(base, c_ast.ID) else None
        if isinstance(node, c_ast.FuncCall) and self.effects.of(getattr(node.name, "name", "")).written is None:
            raise _Unclear  # memcpy and the like answer a pointer
        if shape is None or not (address or len(subscripts) < len(shape.dims)):
            self.visit(node)
            return
        if address and not subscripts and base.name in self.positions:
            raise _Unclear
        for subscript in subscripts:
            self.visit(subscript)
        if write and base.name in self.positions:
            self.written.add(self.positions[base.name])
