"""What of C a kernel can say: types, functions and names that CUDA and OpenCL both have."""

from __future__ import annotations

from collections.abc import Iterable

from polyc.codegen.text.macros import MACROS
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Scop, Struct

STORE_16 = "polyc_store16"
"""Stores 16 bytes at once: `polyc_store16(&to, &row[0])`."""
STORED_BYTES = 16
HALF = "_Float16"
"""Half precision: a type of memory (`float16.py`). Each dialect spells it in its own way."""
STRUCT = "polyc_struct_"
"""Begins the names of structs in a region's kernels, until the region's own name stands there."""
_WORDS = {"unsigned", "signed", "char", "short", "int", "long", "float", "double"}
_ALIASES = {
    "size_t": "unsigned long", "ptrdiff_t": "long", "int8_t": "signed char", "uint8_t": "unsigned char",
    "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int",
    "int64_t": "long", "uint64_t": "unsigned long", "ssize_t": "long",
}  # fmt: skip
_ONE = {
    "sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "floor", "ceil", "fabs", "cbrt", "round", "trunc", "rint", "erf", "erfc", "expm1", "log1p",
}  # fmt: skip
_TWO = {"pow", "fmin", "fmax", "fmod", "hypot", "atan2", "copysign", "fdim"}
_INTEGER = {"abs": "int", "labs": "long", "llabs": "long"}
INFINITIES = {
    f"__builtin_{name}{suffix}": f"HUGE_VAL{suffix.upper()}" for name in ("inf", "huge_val") for suffix in ("", "f")
}
"""What C's headers have for them, which nvcc knows as well, and OpenCL's names."""
EXACT = {"sqrt", "floor", "ceil", "fabs", "round", "trunc", "rint", "fmin", "fmax", "fmod", "copysign", "fdim"}
"""Functions that IEEE 754 leaves no choice: every library gives the same bits."""


class NotMappable(Exception):
    """A kernel cannot say this; the message says what."""


class NoKernelForm(NotMappable):
    """A kernel cannot say it in the loops that passes and isl have made; others may do."""


def element_type(ctype: CType) -> str:
    """The built-in type of an array's elements. Raises NotMappable."""
    if ctype.kind == "float" and ctype.size_bytes in (2, 4, 8):
        return {2: HALF, 4: "float", 8: "double"}[ctype.size_bytes]
    if ctype.kind == "int" and ctype.size_bytes in (1, 2, 4, 8) and "ool" not in ctype.text:
        name = {1: "char", 2: "short", 4: "int", 8: "long"}[ctype.size_bytes]
        if ctype.signed:
            return "signed char" if name == "char" else name
        return f"unsigned {name}"
    if ctype.kind == "struct":
        return STRUCT + ctype.text.replace(" ", "_")
    raise NotMappable(f"elements of type {ctype.text} have no counterpart on a GPU")


def value_type(ctype: CType) -> str:
    """The type that its values have in expressions, and as numbers that kernels take. Raises NotMappable."""
    found = element_type(ctype)
    return "float" if found == HALF else found


class Words:
    """The types that one region's text may name in casts and declarations."""

    def __init__(self, scop: Scop) -> None:
        self.named: dict[str, CType] = {a.element.text: a.element for a in scop.arrays.values()}
        self.named |= {p.type.text: p.type for p in scop.parameters}
        for statement in scop.statements.values():
            self.named |= {t.text: t for t in statement.loop_types}
        whole = (a.layout for a in scop.arrays.values() if isinstance(a.layout, Struct))
        self.structs = {one.text: one for struct in whole for one in struct.inner}

    def type(self, text: str) -> str:
        """The built-in type that a type's name stands for. Raises NotMappable."""
        words = [w for w in text.split() if w not in ("const", "volatile", "register")]
        if words and set(words) <= _WORDS and words.count("long") < 3 and words != ["long", "double"]:
            return " ".join(words)
        bare = " ".join(words)
        if bare in _ALIASES:
            return _ALIASES[bare]
        if bare in (HALF, "__fp16"):
            return HALF
        if bare in self.named:
            return element_type(self.named[bare])
        if bare == "void" or bare.startswith(STRUCT):
            return bare
        raise NotMappable(f"the type {text} has no counterpart on a GPU")

    def members(self, text: str, count: int) -> list[str]:
        """The types of a struct's members, for a list that sets them: C++ converts nothing there. Raises NotMappable
        where the list may set less than all, or parts of a member."""
        members = self.structs[text].members if text in self.structs else ()
        kinds = [element_type(kind) for _, kind, extents in members if isinstance(kind, CType) and not extents]
        if not len(kinds) == len(members) == count:
            raise NotMappable(f"a list for {text} has not a number for each member")
        return kinds


def function(name: str) -> tuple[str, str] | None:
    """A function of C's library as (OpenCL's name, the type of its arguments); None for one that kernels lack."""
    if name in _INTEGER:
        return "abs", _INTEGER[name]
    if name in _ONE | _TWO:
        return name, "double"
    if name[-1:] == "f" and name[:-1] in _ONE | _TWO:
        return name[:-1], "float"
    return None


def check_words(scop: Scop) -> None:
    """Raises NotMappable where a region's types and expressions, its calls apart, are none that a GPU has."""
    words = Words(scop)
    for array in scop.arrays.values():
        _check_array(array)
    for parameter in scop.parameters:
        words.type(parameter.type.text)
    for statement in scop.statements.values():
        for node in c.walk(statement.body):
            _check_node(node, words)


def _check_array(array: Array) -> None:
    element_type(array.element)
    if array.element.kind == "struct" and not array.root:
        text = array.element.text
        if isinstance(array.layout, str):
            raise NotMappable(f"elements of type {text} have no counterpart on a GPU: they have {array.layout}")
        if not array.layout.text:
            raise NotMappable(f"the struct of {array.c_name} has no name")
        definitions((array,), "")
    if any(extent is None for extent in array.extents[1:]):
        raise NotMappable(f"the rows of {array.c_name} have no affine length")


def called(scop: Scop) -> set[str]:
    """The functions that a region calls, other than those that kernels have."""
    nodes = (node for statement in scop.statements.values() for node in c.walk(statement.body))
    names = {node.function for node in nodes if isinstance(node, c.Call)}
    return {name for name in names if name not in MACROS and name not in INFINITIES and function(name) is None}


def _check_node(node: c.Node, words: Words) -> None:
    match node:
        case c.Cast(type=text, operand=c.InitList(items=items)) if items != (c.Literal("0"),):
            words.members(text, len(items))
        case c.Cast(type=text) | c.Decl(type=text):
            words.type(text)
        case c.Member() | c.Subscript() if not isinstance(cell_of(node), c.ArrayRef):
            raise NotMappable("it uses structs or pointers beside its arrays")
        case c.Unary(op="*" | "&"):
            raise NotMappable("it uses pointers beside its arrays")
        case c.Literal(text=text) if text.startswith('"') or (text[-1:] in "lL" and "." in text):
            raise NotMappable(f"a kernel has no literal {text}")
        case _:
            pass


def cell_of(expr: c.Expr) -> c.Expr:
    """What a member is a part of: `p[i]` of `p[i].at[2].x`."""
    while isinstance(expr, c.Subscript) or (isinstance(expr, c.Member) and not expr.arrow):
        expr = expr.base
    return expr


def definitions(arrays: Iterable[Array], aligned: str) -> list[str]:
    """The structs of some arrays' elements, and those in them, each once and behind what it needs.

    aligned: how a dialect begins one of 16 bytes. Elements of 4, 8 or 16 bytes are moved at once.
    Raises NotMappable where a member has a type that kernels lack.
    """
    whole = {a.layout: a.element.size_bytes for a in arrays if isinstance(a.layout, Struct)}
    inside = {one for struct in whole for one in struct.inner if one is not struct}
    found: dict[str, str] = {}
    for struct, size in whole.items():
        for one in struct.inner:
            wide = one not in inside and size in (4, 8, STORED_BYTES)
            before = f"{aligned.replace(str(STORED_BYTES), str(size))} " if wide else ""
            name = STRUCT + one.text.replace(" ", "_")
            found.setdefault(one.text, f"typedef struct {before}{_members(one)} {name};")
    return list(found.values())


def _members(struct: Struct) -> str:
    """`{ float x; int tag[3]; }`."""
    found = []
    for name, kind, extents in struct.members:
        if isinstance(kind, Struct):
            text = STRUCT + kind.text.replace(" ", "_") if kind.text else f"struct {_members(kind)}"
        elif (text := element_type(kind)) == HALF:
            raise NotMappable("a struct has a member of half precision")
        found.append(f"{text} {name}{''.join(f'[{size}]' for size in extents)};")
    return f"{{ {' '.join(found)} }}"


def is_by_value(array: Array, scop: Scop) -> bool:
    """Whether a scalar goes to the kernels as a number: nobody writes it."""
    if array.rank or array.element.kind == "struct":
        return False
    return not any(
        a.array == array.name and a.kind.value != "read" for s in scop.statements.values() for a in s.accesses
    )
