"""The user's functions that kernels call: those that compute a number from numbers, as functions of the device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pycparser import c_ast, c_generator, c_parser

from polyc.codegen.gpu.device.dialect import DIALECTS, Dialect
from polyc.codegen.gpu.device.words import ALIASES, KEYWORDS, NotMappable, Words, called, check_words, function
from polyc.model.scop import Region

_BEFORE = re.compile(
    r"\b(?:static|inline|extern|__inline__|__inline|__extension__|_Noreturn)\b|__attribute__\s*\(\(.*?\)\)"
)
_PLAIN = (
    c_ast.Compound, c_ast.Return, c_ast.If, c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Assignment, c_ast.BinaryOp,
    c_ast.TernaryOp, c_ast.ID, c_ast.ExprList, c_ast.DeclList, c_ast.Cast, c_ast.EmptyStatement, c_ast.Break,
    c_ast.Continue, c_ast.Typename, c_ast.ParamList, c_ast.InitList,
)  # fmt: skip
"""What a device has as C has it."""


def obstacle(region: Region, target: str) -> str | None:
    """Why a region cannot run on a GPU as a whole, None if nothing stands against it."""
    scop = region.scop
    try:
        check_words(scop)
        device_functions(region.preamble, sorted(called(scop)), Words(scop), DIALECTS[target], {})
    except NotMappable as reason:
        return str(reason)
    return None


def device_functions(
    preamble: str, names: Iterable[str], words: Words, dialect: Dialect, others: Mapping[str, str]
) -> dict[str, str]:
    """The text of the functions of these names, and of those that they call, each after what it calls.

    preamble: preprocessed declarations of the file, as `Region.preamble`
    others: names for variables and members in the place of those that mean something else on a device

    Raises NotMappable, naming the function, where one does something else than to compute a number, or a struct of
    numbers: with pointers, arrays, static variables or variables of the file, or where it calls itself.
    """
    found: dict[str, str] = {}
    waiting: list[str] = []
    known = {*words.structs, *words.named, *ALIASES} - KEYWORDS
    aliases = "".join(f"typedef int {one}; " for one in known if one.isidentifier())

    def add(name: str) -> None:
        if name in found:
            return
        if name in waiting:
            raise NotMappable(f"a kernel cannot call {name}(), which calls itself")
        waiting.append(name)
        text = _text_of(preamble, name)
        if text is None:
            raise NotMappable(f"a kernel cannot call {name}()")
        try:
            tree = c_parser.CParser().parse(aliases + text)
        except c_parser.ParseError:
            raise NotMappable(f"a kernel cannot call {name}()") from None
        *_, definition = tree.ext
        for other in _Function(name, definition, words, dialect, others).checked():
            add(other)
        printed = c_generator.CGenerator().visit(definition).rstrip()
        found[name] = f"static {dialect.device}{printed}"

    for name in names:
        add(name)
    return found


def _text_of(preamble: str, name: str) -> str | None:
    """The definition of a function, without the words before its type; None where there is none."""
    for match in re.finditer(rf"\b{name}\s*\(", preamble):
        start = max(preamble.rfind(mark, 0, match.start()) for mark in ";}\n") + 1
        head = _closed(preamble, match.end() - 1, "()")
        opened = re.compile(r"\s*\{").match(preamble, head) if head is not None else None
        if opened is None:
            continue
        end = _closed(preamble, opened.end() - 1, "{}")
        text = _BEFORE.sub("", preamble[start:head]) + preamble[head:end]
        return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    return None


def _closed(text: str, start: int, pair: str) -> int | None:
    """The place behind the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if not depth:
            return place + 1
    return None


class _Function:
    """One function, in the words of a device after `checked`."""

    def __init__(
        self, name: str, definition: c_ast.Node, words: Words, dialect: Dialect, others: Mapping[str, str]
    ) -> None:
        self.name = name
        self.definition = definition
        self.words = words
        self.dialect = dialect
        self.others = others
        self.own: set[str] = set()
        """Its parameters and variables."""
        self.calls: list[str] = []

    def checked(self) -> list[str]:
        """The other functions of the file that it calls. Raises NotMappable."""
        if not isinstance(self.definition, c_ast.FuncDef):
            raise self.refused()
        head = self.definition.decl.type
        for parameter in head.args.params if head.args is not None else ():
            if isinstance(parameter, c_ast.Decl):
                self.declare(parameter)
            elif not (isinstance(parameter, c_ast.Typename) and _type_words(parameter.type) == ["void"]):
                raise self.refused()
        self.typed(head.type)
        self.visit(self.definition.body)
        return self.calls

    def refused(self) -> NotMappable:
        return NotMappable(f"a kernel cannot call {self.name}(), which does more than to compute a number from numbers")

    def declare(self, node: c_ast.Decl) -> None:
        if node.storage or not isinstance(node.type, c_ast.TypeDecl):
            raise self.refused()
        text = " ".join(_type_words(node.type))
        self.typed(node.type)
        self.own.add(node.name)
        node.type.declname = self.others.get(node.name, node.name)
        if isinstance(node.init, c_ast.InitList):
            self.listed(text, node.init)
        elif node.init is not None:
            self.visit(node.init)

    def listed(self, struct: str, node: c_ast.InitList) -> None:
        """A list for a struct, each number in the type of its member: C++ converts nothing there."""
        self.visit(node)
        if struct in self.words.structs and not (len(node.exprs) == 1 and _is_zero(node.exprs[0])):
            kinds = self.words.members(struct, len(node.exprs)).values()
            node.exprs = [_cast(kind, value) for kind, value in zip(kinds, node.exprs, strict=True)]

    def typed(self, node: c_ast.Node) -> None:
        """Put the built-in type in the place of a type."""
        found = _type_words(node)
        if not found:
            raise self.refused()
        node.type = c_ast.IdentifierType(self.words.type(" ".join(found)).split())
        if "_Float16" in node.type.names:
            raise self.refused()

    def visit(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Decl():
                self.declare(node)
                return
            case c_ast.Typename():
                self.typed(node.type)
                return
            case c_ast.CompoundLiteral(type=c_ast.Typename(type=kind), init=c_ast.InitList() as init):
                text = " ".join(_type_words(kind))
                self.typed(kind)
                self.listed(text, init)
                return
            case c_ast.UnaryOp(op=op) if op in ("&", "*", "sizeof"):
                raise self.refused()
            case c_ast.Constant(type="string" | "long double"):
                raise self.refused()
            case c_ast.ID(name=name):
                if name in self.own:
                    node.name = self.others.get(name, name)
                elif name in self.words.enumerators:
                    node.name = f"({self.words.enumerators[name]})"
                else:
                    raise self.refused()
            case c_ast.StructRef(type="."):
                self.visit(node.name)
                node.field.name = self.others.get(node.field.name, node.field.name)
                return
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                self.call(node, name)
                return
            case c_ast.UnaryOp() | c_ast.Constant():
                pass
            case _ if not isinstance(node, _PLAIN):
                raise self.refused()
        for _, child in node.children():
            self.visit(child)

    def call(self, node: c_ast.FuncCall, name: str) -> None:
        """A call of C's library with arguments of the type that C converts them to, or of another function."""
        if node.args is not None:
            for argument in node.args.exprs:
                self.visit(argument)
        known = function(name)
        if known is None:
            self.calls.append(name)
            return
        pairs = zip(known.arguments, node.args.exprs, strict=True)
        node.args.exprs = [_cast(kind, argument) if kind else argument for kind, argument in pairs]
        node.name.name = known.text(self.dialect.name)


def _type_words(node: c_ast.Node) -> list[str]:
    """The words of a plain type, or of a struct's; none for another one."""
    match node:
        case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
            return list(names)
        case c_ast.TypeDecl(type=c_ast.Struct(name=name, decls=None)):
            return ["struct", name]
    return []


def _is_zero(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.value == "0"


def _cast(kind: str, value: c_ast.Node) -> c_ast.Cast:
    plain = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType([kind]))
    return c_ast.Cast(c_ast.Typename(None, [], None, plain), value)
