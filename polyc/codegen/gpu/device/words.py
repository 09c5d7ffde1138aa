"""What of C a kernel can say: types, functions and names that CUDA and OpenCL both have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from polyc.codegen.text.macros import MACROS
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Scop, Struct
from polyc.records import dataclass, replace

STORE_16 = "polyc_store16"
"""Stores 16 bytes at once: `polyc_store16(&to, &row[0])`."""
STORED_BYTES = 16
AT_ONCE_BYTES = (4, 8, STORED_BYTES)
"""What a thread loads or stores at once, and `cp.async` copies: other sizes trap."""
HALF = "_Float16"
"""Half precision: a type of memory (`float16.py`). Each dialect spells it in its own way."""
STRUCT = "polyc_struct_"
"""Begins the names of structs in a region's kernels, until the region's own name stands there."""
_STRUCT_NAME = re.compile(rf"\b{STRUCT}\w+")
_WORDS = {"unsigned", "signed", "char", "short", "int", "long", "float", "double"}
KEYWORDS = _WORDS | {"_Bool", "_Complex", "void"}
"""Of C, for types."""
ALIASES = {
    "size_t": "unsigned long", "ptrdiff_t": "long", "int8_t": "signed char", "uint8_t": "unsigned char",
    "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int",
    "int64_t": "long", "uint64_t": "unsigned long", "ssize_t": "long",
}  # fmt: skip
_ONE = {
    "sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "floor", "ceil", "fabs", "cbrt", "round", "trunc", "rint", "nearbyint", "erf", "erfc", "expm1", "log1p", "asinh",
    "acosh", "atanh", "lgamma", "tgamma", "logb",
}  # fmt: skip
_TWO = {"pow", "fmin", "fmax", "fmod", "hypot", "atan2", "copysign", "fdim", "remainder", "nextafter"}
_TO_INTEGER = {"lrint": "rint", "llrint": "rint", "lround": "round", "llround": "round"}
_CLASSES = ("isnan", "isfinite", "signbit")
_GCC = {f"{name}{end}" for name in ("popcount", "clz") for end in ("", "l", "ll")}
"""Functions that are the compiler's only with `__builtin_` before their names."""
INFINITIES = {
    f"__builtin_{name}{suffix}": f"HUGE_VAL{suffix.upper()}" for name in ("inf", "huge_val") for suffix in ("", "f")
}
"""What C's headers have for them, which nvcc knows as well, and OpenCL's names."""


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
        self.named |= {name: kind for name, kind in scop.named.items() if isinstance(kind, CType)}
        whole = (a.layout for a in scop.arrays.values() if isinstance(a.layout, Struct))
        self.structs = {one.text: one for struct in whole for one in struct.inner}
        by_members = {one.members: one for one in reversed(self.structs.values())}
        for name, kind in scop.named.items():  # `struct v3` is `v3`, if an array has it
            if isinstance(kind, Struct):
                self.structs.setdefault(name, by_members.setdefault(kind.members, kind))
        self.enumerators = {name: n for name, n in scop.enumerators.items() if -(2**31) < n < 2**31}

    def type(self, text: str) -> str:
        """The built-in type that a type's name stands for. Raises NotMappable."""
        words = [w for w in text.split() if w not in ("const", "volatile", "register")]
        if words and set(words) <= _WORDS and words.count("long") < 3 and words != ["long", "double"]:
            return " ".join(words)
        bare = " ".join(words)
        if bare in ALIASES:
            return ALIASES[bare]
        if bare in (HALF, "__fp16"):
            return HALF
        if bare in self.structs:
            return struct_name(self.structs[bare])
        if bare in self.named:
            return element_type(self.named[bare])
        if bare == "void" or bare.startswith(STRUCT):
            return bare
        raise NotMappable(f"the type {text} has no counterpart on a GPU")

    def members(self, text: str, count: int) -> dict[str, str]:
        """A struct's members and their types, for a list that sets them: C++ converts nothing there. Raises NotMappable
        where the list may set less than all, or parts of a member."""
        members = self.structs[text].members if text in self.structs else ()
        kinds = {name: element_type(kind) for name, kind, extents in members if isinstance(kind, CType) and not extents}
        if not len(kinds) == len(members) == count:
            raise NotMappable(f"a list for {text} has not a number for each member")
        return kinds

    def listed(self, text: str, given: c.Expr, rank: int, change: Callable[[c.Expr], c.Expr]) -> c.Expr:
        """What a list gives to a variable, or to an array of so many dimensions: each number in the type of its place.
        Raises NotMappable."""
        if not isinstance(given, c.InitList):
            return c.Cast(self.type(text), change(given)) if text not in self.structs else change(given)
        if rank or text not in self.structs:
            return c.InitList(tuple(self.listed(text, item, max(rank - 1, 0), change) for item in given.items))
        if given.items == (c.Literal("0"),):
            return given
        kinds = self.members(text, len(given.items)).values()
        return c.InitList(tuple(c.Cast(k, change(item)) for k, item in zip(kinds, given.items, strict=True)))

    def mentioned(self, texts: Iterable[str]) -> list[Struct]:
        """The structs of which a text has the names."""
        words = {word for text in texts for word in _STRUCT_NAME.findall(text)}
        return [one for one in dict.fromkeys(self.structs.values()) if struct_name(one) in words]


def struct_name(struct: Struct) -> str:
    """In kernels, until the region's own name stands there."""
    return STRUCT + struct.text.replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of C's library, or of its compilers."""

    cuda: str
    opencl: str
    arguments: tuple[str, ...]
    """Their types, to which C converts them; "" for one that chooses the function."""
    result: str
    """The type of its value."""

    def text(self, dialect: str) -> str:
        """What is called: OpenCL has whole numbers as another type."""
        if dialect != "opencl":
            return self.cuda
        return self.opencl if self.result in ("float", "double") else f"({self.result}){self.opencl}"


def _functions() -> dict[str, Function]:
    found = {name: Function(name, "abs", (kind,), kind) for name, kind in (("abs", "int"), ("labs", "long"))}
    found["llabs"] = Function("llabs", "abs", ("long",), "long")
    found |= {name: Function(name, name, ("",), "int") for name in _CLASSES}
    for end, much, kind in (("", "", "unsigned int"), ("l", "ll", "unsigned long"), ("ll", "ll", "unsigned long")):
        found[f"popcount{end}"] = Function(f"__popc{much}", "popcount", (kind,), "int")
        found[f"clz{end}"] = Function(f"__clz{much}", "clz", (kind,), "int")
    for end, kind in (("", "double"), ("f", "float")):
        for names, count in ((_ONE, 1), (_TWO, 2), (("fma",), 3)):
            found |= {name + end: Function(name + end, name, (kind,) * count, kind) for name in names}
        found[f"nearbyint{end}"] = replace(found[f"nearbyint{end}"], opencl="rint")
        found |= {f"{n}{end}": Function(f"{n}{end}", "ldexp", (kind, "int"), kind) for n in ("ldexp", "scalbn")}
        found[f"ilogb{end}"] = Function(f"ilogb{end}", "ilogb", (kind,), "int")
        found |= {f"{n}{end}": Function(f"{n}{end}", own, (kind,), "long") for n, own in _TO_INTEGER.items()}
    return found


_FUNCTIONS = _functions()
FUNCTIONS = frozenset(one.opencl for one in _FUNCTIONS.values())
"""As OpenCL calls them, which has no others for floats."""


def function(name: str) -> Function | None:
    """A function of C's library that kernels have, or gcc's form of one; None for another one."""
    built_in = name.removeprefix("__builtin_")
    if built_in != name or name not in _GCC:
        return _FUNCTIONS.get(built_in)
    return None


def check_words(scop: Scop) -> None:
    """Raises NotMappable where a region's types and expressions, its calls apart, are none that a GPU has."""
    words = Words(scop)
    for array in scop.arrays.values():
        _check_array(array)
    for parameter in scop.parameters:
        words.type(parameter.type.text)
    for statement in scop.statements.values():
        nodes = list(c.walk(statement.body))
        own = {node.name for node in nodes if isinstance(node, c.Decl)}
        for node in nodes:
            _check_node(node, words, own)


def _check_array(array: Array) -> None:
    element_type(array.element)
    if array.element.kind == "struct" and not array.root:
        text = array.element.text
        if isinstance(array.layout, str):
            raise NotMappable(f"elements of type {text} have no counterpart on a GPU: they have {array.layout}")
        if not array.layout.text:
            raise NotMappable(f"the struct of {array.c_name} has no name")
        definitions((array,), (), "")
    if any(extent is None for extent in array.extents[1:]):
        raise NotMappable(f"the rows of {array.c_name} have no affine length")


def called(scop: Scop) -> set[str]:
    """The functions that a region calls, other than those that kernels have."""
    nodes = (node for statement in scop.statements.values() for node in c.walk(statement.body))
    names = {node.function for node in nodes if isinstance(node, c.Call)}
    return {name for name in names if name not in MACROS and name not in INFINITIES and function(name) is None}


def _check_node(node: c.Node, words: Words, own: set[str]) -> None:
    """`own`: variables that the statement declares."""
    match node:
        case c.Cast(type=text, operand=c.InitList() as given):
            words.listed(text, given, 0, lambda value: value)
        case c.Decl(type=text, init=c.InitList() as given, extents=extents):
            words.listed(text, given, len(extents), lambda value: value)
        case c.Cast(type=text) | c.Decl(type=text):
            words.type(text)
        case c.Member() | c.Subscript() if not isinstance(cell := cell_of(node), c.ArrayRef) and not (
            isinstance(cell, c.Name) and cell.name in own
        ):
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


def alignments(arrays: Iterable[Array]) -> dict[str, int]:
    """The bytes of which the structs of some arrays' elements, and those in them, begin at multiples. Elements of 4, 8
    or 16 bytes are moved at once."""
    whole = {a.layout: a.element.size_bytes for a in arrays if isinstance(a.layout, Struct)}
    inside = {one for struct in whole for one in struct.inner if one is not struct}
    wide = {one.text: size for one, size in whole.items() if one not in inside and size in AT_ONCE_BYTES}
    return {one.text: wide.get(one.text, _alignment(one)) for struct in whole for one in struct.inner}


def _alignment(kind: CType | Struct) -> int:
    """What C aligns a member to."""
    if isinstance(kind, CType):
        return kind.size_bytes
    return max(_alignment(member) for _, member, _ in kind.members)


def definitions(arrays: Iterable[Array], others: Iterable[Struct], aligned: str) -> list[str]:
    """The structs of some arrays' elements, others, and those in them, each once and behind what it needs.

    aligned: how a dialect begins one of 16 bytes
    Raises NotMappable where a member has a type that kernels lack.
    """
    arrays = list(arrays)
    sizes = alignments(arrays)
    found: dict[str, str] = {}
    for struct in (*(a.layout for a in arrays if isinstance(a.layout, Struct)), *others):
        for one in struct.inner:
            wide = sizes.get(one.text, 0) > _alignment(one)
            before = f"{aligned.replace(str(STORED_BYTES), str(sizes[one.text]))} " if wide else ""
            found.setdefault(one.text, f"typedef struct {before}{_members(one)} {struct_name(one)};")
    return list(found.values())


def _members(struct: Struct) -> str:
    """`{ float x; int tag[3]; }`."""
    found = []
    for name, kind, extents in struct.members:
        if isinstance(kind, Struct):
            text = struct_name(kind) if kind.text else f"struct {_members(kind)}"
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
