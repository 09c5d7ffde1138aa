"""C types as far as polyc has to know them: kind, size, sign, dimensions, fields of structs."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.analysis.expressions.constants import COMPARED, evaluated, literal_value
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.records import dataclass, field

_FLOATS = {"float": 4, "double": 8, "_Float16": 2, "__fp16": 2, "_Float32": 4, "_Float64": 8}
_LONG_FLOATS = {"_Float128": 16, "__float128": 16, "_Float64x": 16, "_Float32x": 8}
_BUILT_IN = {*_FLOATS, *_LONG_FLOATS, "__bf16"}
INT = CType("int", "int", 4)
UNSIGNED = CType("unsigned int", "int", 4, False)
LONG = CType("long", "int", 8)
UNSIGNED_LONG = CType("unsigned long", "int", 8, False)
UNKNOWN = CType("int", "other", 0)
POINTER_SIZE = 8
MOVING = frozenset(["volatile", "_Atomic"])
"""Qualifiers of what may change by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Dim:
    """One level of an array type or of a pointer."""

    extent: c_ast.Node | None
    """The size as written, None for `[]` and for a pointer."""
    pointer: bool
    size: int | None = None
    """The size where it is a constant."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a declarator says: `double (*A)[10]` is two dimensions of double."""

    element: CType
    dims: tuple[Dim, ...] = ()
    node: c_ast.Node | None = None
    """The element's struct or union, with its fields."""
    qualifiers: frozenset[str] = frozenset()
    is_function: bool = False

    @property
    def size_bytes(self) -> int:
        """Size of an object of this type, 0 where unknown."""
        total = self.element.size_bytes
        for dim in self.dims:
            if dim.pointer:
                return POINTER_SIZE if dim is self.dims[0] else 0
        for dim in self.dims:
            total *= dim.size or 0
        return total


@dataclass(slots=True)
class Types:
    """The typedefs, tags and enum constants that a function sees."""

    typedefs: dict[str, c_ast.Node] = field(default_factory=dict)
    tags: dict[str, c_ast.Node] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    enums: dict[str, c_ast.Node] = field(default_factory=dict)
    layouts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """id of a struct's node -> size and alignment."""
    size_of: Callable[[str], int | None] = lambda text: None
    """The bytes of an object, `A` or `A[0]`, where some are known (`symbols.py`)."""

    def add_all(self, node: c_ast.Node) -> None:
        """Take up every typedef, struct, union and enum below a node."""
        for one in walk(node):
            if isinstance(one, c_ast.Typedef) and not _stands_in(one):
                self.typedefs[one.name] = one.type
            if isinstance(one, (c_ast.Struct, c_ast.Union)) and one.decls is not None and one.name:
                self.tags[one.name] = one
            if isinstance(one, c_ast.Enum) and one.values is not None:
                self._add_enum(one)

    def _add_enum(self, node: c_ast.Enum) -> None:
        if node.name:
            self.enums[node.name] = node
        following = 0
        for item in node.values.enumerators:
            value = self.constant(item.value) if item.value is not None else following
            if value is not None:
                self.constants[item.name] = value
                following = value + 1

    def shape(self, node: c_ast.Node) -> Shape:
        """Element type and dimensions of a declarator, typedefs looked through."""
        dims: list[Dim] = []
        qualifiers: set[str] = set()
        is_function = False
        spelled = ""
        while True:
            if isinstance(node, c_ast.ArrayDecl):
                dims.append(Dim(node.dim, False, self.constant(node.dim) if node.dim is not None else None))
                node = node.type
            elif isinstance(node, c_ast.PtrDecl):
                dims.append(Dim(None, True))
                node = node.type
            elif isinstance(node, c_ast.FuncDecl):
                is_function = True
                node = node.type
            elif isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
                qualifiers |= set(getattr(node, "quals", None) or ())
                node = node.type
            elif isinstance(node, c_ast.IdentifierType):
                name = " ".join(node.names)
                if len(node.names) == 1 and name in self.typedefs:
                    spelled = spelled or name
                    node = self.typedefs[name]
                    if dims_of(node):
                        spelled = ""
                    continue
                return Shape(basic(name, spelled or name), tuple(dims), None, frozenset(qualifiers), is_function)
            else:
                return Shape(*self._tagged(node, spelled, tuple(dims), frozenset(qualifiers)), is_function)

    def _tagged(
        self, node: c_ast.Node, spelled: str, dims: tuple[Dim, ...], qualifiers: frozenset[str]
    ) -> tuple[CType, tuple[Dim, ...], c_ast.Node | None, frozenset[str]]:
        if isinstance(node, c_ast.Enum):
            return self._enum(node, spelled or (f"enum {node.name}" if node.name else "")), dims, None, qualifiers
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            word = "struct" if isinstance(node, c_ast.Struct) else "union"
            whole = node if node.decls is not None else self.tags.get(node.name)
            size = self._layout(whole)[0] if whole is not None else 0
            return CType(spelled or f"{word} {node.name}", "struct", size), dims, whole, qualifiers
        return UNKNOWN, dims, None, qualifiers

    def _enum(self, node: c_ast.Enum, text: str) -> CType:
        """The type of a variable: gcc and clang take `unsigned int` where no constant is negative, and that of the
        constants, `int`, else. Of an enum that is not known, or has larger constants, nobody can tell here.

        text: "" where it has no name; then it is the whole number that it is
        """
        whole = node if node.values is not None else self.enums.get(node.name)
        constants = [] if whole is None else [self.constants.get(item.name) for item in whole.values.enumerators]
        known = [value for value in constants if value is not None]
        if not known or len(known) < len(constants):
            return CType(text, "other", 0)
        signed = min(known) < 0
        low, high = (-(1 << 31), 1 << 31) if signed else (0, 1 << 32)
        fits = low <= min(known) and max(known) < high
        if not fits:
            return CType(text, "other", 0)
        return CType(text or ("int" if signed else "unsigned int"), "int", 4, signed)

    def _layout(self, node: c_ast.Node) -> tuple[int, int]:
        """Size and alignment of a struct or union; (0, 1) where unknown."""
        if id(node) not in self.layouts:
            self.layouts[id(node)] = 0, 1
            self.layouts[id(node)] = self._compute_layout(node)
        return self.layouts[id(node)]

    def _compute_layout(self, node: c_ast.Node) -> tuple[int, int]:
        size, alignment = 0, 1
        for item in node.decls or ():
            if not isinstance(item, c_ast.Decl) or item.bitsize is not None:
                return 0, 1
            shape = self.shape(item.type)
            bytes_ = shape.size_bytes
            align = self._layout(shape.node)[1] if shape.node is not None and not shape.dims else 0
            if shape.dims and shape.dims[0].pointer:
                align = POINTER_SIZE
            align = align or min(shape.element.size_bytes, 16) or 1
            if bytes_ == 0:
                return 0, 1
            alignment = max(alignment, align)
            start = 0 if isinstance(node, c_ast.Union) else (size + align - 1) // align * align
            size = max(size, start + bytes_)
        return (size + alignment - 1) // alignment * alignment, alignment

    def named(self, text: str) -> CType | None:
        """The type of a name in C: a typedef, or C's own words; None for a pointer or an array."""
        node = self.typedefs.get(text)
        if node is None:
            return basic(text, text)
        shape = self.shape(node)
        return shape.element if not shape.dims else None

    def field(self, node: c_ast.Node | None, name: str) -> Shape | None:
        """The type of a struct's field."""
        for item in getattr(node, "decls", None) or ():
            if isinstance(item, c_ast.Decl) and item.name == name:
                return self.shape(item.type)
            if isinstance(item, c_ast.Decl) and item.name is None:
                inner = self.field(item.type, name)
                if inner is not None:
                    return inner
        return None

    def constant(self, node: c_ast.Node) -> int | None:
        """The value of an integer constant expression, None where it is none."""
        found = self.typed(node)
        return None if found is None else found[0]

    def typed(self, node: c_ast.Node) -> tuple[int, CType] | None:
        """The value and the type of an integer constant expression."""
        match node:
            case c_ast.Constant(value=text):
                value = literal_value(text)
                return None if value is None else (value, literal_type(text, value))
            case c_ast.ID(name=name):
                value = self.constants.get(name)
                return None if value is None else (value, literal_type("", value))
            case c_ast.Cast(to_type=to, expr=operand):
                found, shape = self.typed(operand), self.shape(to)
                return None if found is None or shape.dims else stored(found[0], shape.element)
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.Typename() as type_):
                size = self.shape(type_).size_bytes
                return (size, UNSIGNED_LONG) if size else None
            case c_ast.UnaryOp(op="sizeof", expr=operand):
                size = self.size_of(CGenerator().visit(operand)) or 0
                return (size, UNSIGNED_LONG) if size else None
            case c_ast.UnaryOp(op="+" | "-" | "~" | "!" as op, expr=operand):
                found = self.typed(operand)
                if found is None or op == "!":
                    return None if found is None else (int(not found[0]), INT)
                value = {"+": found[0], "-": -found[0], "~": ~found[0]}[op]
                return computed(value, promote(found[1]))
            case c_ast.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise):
                asked, one, other = self.typed(condition), self.typed(then), self.typed(otherwise)
                if asked is None or one is None or other is None:
                    return None
                return stored((one if asked[0] else other)[0], common(one[1], other[1]))
            case c_ast.BinaryOp(op=op, left=left, right=right):
                one, other = self.typed(left), self.typed(right)
                return None if one is None or other is None else combined(op, one, other)
        return None


def combined(op: str, one: tuple[int, CType], other: tuple[int, CType]) -> tuple[int, CType] | None:
    """The value and the type of two constants with an operator between them; None where C does not say."""
    if op in ("&&", "||"):
        return int((one[0] and other[0]) != 0 if op == "&&" else (one[0] or other[0]) != 0), INT
    type_ = promote(one[1]) if op in ("<<", ">>") else common(one[1], other[1])
    left = stored(one[0], type_)
    right = other if op in ("<<", ">>") else stored(other[0], type_)
    value = None if left is None or right is None else evaluated(op, left[0], right[0])
    if value is None:
        return None
    return (value, INT) if op in COMPARED else computed(value, type_)


def computed(value: int, type_: CType) -> tuple[int, CType] | None:
    """What C computes in a type: unsigned numbers wrap, others have no meaning beyond it."""
    found = stored(value, type_)
    return found if found is not None and (found[0] == value or not type_.signed) else None


def stored(value: int, type_: CType) -> tuple[int, CType] | None:
    """A whole number as another type has it."""
    if type_.kind != "int" or not type_.size_bytes:
        return None
    if type_.text == "_Bool":
        return int(value != 0), type_
    half = 1 << (8 * type_.size_bytes - 1)
    return ((value + half) % (2 * half) - half if type_.signed else value % (2 * half)), type_


def kept(value: int | None, type_: CType) -> int | None:
    """The value of a variable of a type that is given a constant; None where it is none, or the type has no numbers."""
    found = None if value is None else stored(value, type_)
    return None if found is None else found[0]


def is_narrower(type_: CType, other: CType) -> bool:
    """Whether another type of whole numbers is wider, and has each value of a type."""
    return type_.size_bytes < other.size_bytes and (other.signed or not type_.signed)


def literal_type(text: str, value: int) -> CType:
    """The type of an integer literal: the first that has its value, of those that its suffix and its base allow."""
    suffix = text.lower()[len(text.lower().rstrip("ul")) :]
    decimal = not text.startswith("0")
    for type_ in (INT, UNSIGNED, LONG, UNSIGNED_LONG):
        unsigned, wide = not type_.signed, type_.size_bytes == 8
        allowed = ("l" not in suffix or wide) and (unsigned or "u" not in suffix)
        if allowed and (not unsigned or "u" in suffix or not decimal) and stored(value, type_) == (value, type_):
            return type_
    return UNSIGNED_LONG


def literal_of(value: int, type_: CType) -> c.Expr:
    """A number of a type, once that is promoted: `3`, `-3L`, `3u`."""
    suffix = ("" if type_.signed else "u") + ("l" if type_.size_bytes == 8 else "") if type_.size_bytes >= 4 else ""
    return c.Literal(f"{value}{suffix}") if value >= 0 else c.Unary("-", c.Literal(f"{-value}{suffix}"))


def member_of(types: Types, node: c_ast.Node | None, name: str) -> Shape | None:
    """The type of a struct's member; None where it shares its memory with others, or has no address."""
    if not isinstance(node, c_ast.Struct):
        return None
    for item in node.decls or ():
        if isinstance(item, c_ast.Decl) and item.name == name:
            shape = types.shape(item.type)
            known = item.bitsize is None and not shape.is_function
            sized = all(dim.pointer or dim.size for dim in shape.dims[1:])
            first = not shape.dims or shape.dims[0].pointer or shape.dims[0].extent is None or shape.dims[0].size
            return shape if known and sized and first else None
    return None


def shared_member(types: Types, node: c_ast.Node | None, name: str) -> Shape | None:
    """The type of a number or a struct in a union, or in one without a name inside of a struct; None for others."""
    inside = [node] if isinstance(node, c_ast.Union) else []
    if isinstance(node, c_ast.Struct):
        inside = [i.type for i in node.decls or () if isinstance(i, c_ast.Decl) and i.name is None]
    for union in inside:
        for item in getattr(union, "decls", None) or ():
            if isinstance(item, c_ast.Decl) and item.name == name and item.bitsize is None:
                shape = types.shape(item.type)
                return None if shape.dims or shape.is_function else shape
    return None


def _stands_in(node: c_ast.Typedef) -> bool:
    """Whether a typedef is the parser's own, `typedef int _Float16;` in its first line: it says nothing of the type."""
    return node.name in _BUILT_IN and node.coord is not None and node.coord.line == 1


def dims_of(node: c_ast.Node) -> bool:
    """Whether a typedef's type is itself an array or a pointer."""
    return isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.FuncDecl))


def basic(name: str, spelled: str) -> CType:
    """The type of a list of C's own words: `unsigned long int`."""
    words = name.split()
    if name in _FLOATS or name in _LONG_FLOATS:
        return CType(spelled, "float", (_FLOATS | _LONG_FLOATS)[name])
    if name == "__bf16":  # two bytes, and no arithmetic that NumPy or a kernel has
        return CType(spelled, "other", 2)
    if "_Complex" in words or "void" in words:
        size = 1 if "void" in words else 32 if "long" in words else 16 if "double" in words else 8
        return CType(spelled, "other", size)
    if words == ["long", "double"]:
        return CType(spelled, "float", 16)
    if not set(words) <= {"char", "short", "int", "long", "signed", "unsigned", "_Bool", "__int128"}:
        return CType(spelled, "other", 0)
    if words == ["_Bool"]:  # under any name: its values, and what becomes one, are told by this word
        return CType("_Bool", "int", 1, False)
    signed = "unsigned" not in words
    if "char" in words:
        size = 1
    elif "short" in words:
        size = 2
    elif "__int128" in words:
        size = 16
    else:
        size = 8 if "long" in words else 4
    return CType(spelled, "int", size, signed)


def promote(type_: CType) -> CType:
    return type_ if type_.size_bytes >= 4 else INT


def common(first: CType, second: CType) -> CType:
    """C's usual arithmetic conversions."""
    first, second = promote(first), promote(second)
    if first.size_bytes != second.size_bytes:
        return first if first.size_bytes > second.size_bytes else second
    return second if first.signed else first


def is_narrow(type_: CType) -> bool:
    """Whether sums and products of this type are those of whole numbers modulo 2^32."""
    return type_.kind == "int" and type_.size_bytes == 4 and not type_.signed
