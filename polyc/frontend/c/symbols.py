"""Names and what they stand for at a place in a function."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.frontend.c.ctype import POINTER_SIZE, Dim, Shape, Types
from polyc.frontend.text.trees import changed_names, walk
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace

_ISL = """
and or not exists implies mod floor ceil min max floord ceild rat true false infty NaN nan all domain schedule filter
sequence set band mark child coincident permutable options context extension contraction expansion
"""
_OBJECT = re.compile(r"(?P<before>(?:\*\s*)*)(?P<name>[A-Za-z_]\w*)\s*(?P<behind>(?:\[[^\[\]]*\]\s*)*)")
ISL_WORDS = frozenset(_ISL.split())
FEW_BYTES = 4096
"""An array that each thread may have a copy of, whatever it is for."""
PRIVATE_BYTES = 1 << 16
"""What copies of local arrays may take on the stack of each thread, all together. musl gives it 128 KB, others more."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """How a place is reached that does not move while the region runs, `s->atoms->f` (`idioms/fixed.py`)."""

    root: str
    """The key of the variable that it begins with."""
    inside: str
    """The object that it lies in: `s`; `*s->atoms`, behind a pointer."""
    elsewhere: bool = False
    """Behind a pointer, or at a subscript that is no constant: other names might lead to the same memory."""
    cells: tuple[tuple[str, str, bool], ...] = ()
    """The pointers in memory on the way, `s->atoms`, with the objects that these lie in, and whether elsewhere."""
    follows: tuple[str, ...] = ()
    """What has to exist for that: the pointers to objects, and elements whose subscripts might leave their array."""


@dataclass(slots=True, eq=False)
class Symbol:
    """One declaration."""

    key: str
    """Unique in the region; the C name wherever that is possible."""
    c_name: str
    shape: Shape
    storage: Storage
    node: c_ast.Decl | None
    static: bool = False
    is_loop: bool = False
    """Declared in the head of a for loop of the region."""
    conflicts: bool = False
    fixed: Fixed | None = None
    """Of a place in memory that is a variable of its own; its C name is the text that leads there."""

    @property
    def rank(self) -> int:
        return len(self.shape.dims)

    @property
    def is_pointer(self) -> bool:
        """Whether it is one, not an array: an argument is always."""
        outer = self.shape.dims[:1]
        return bool(outer) and (outer[0].pointer or self.storage is Storage.ARGUMENT)

    @property
    def is_integer(self) -> bool:
        return self.rank == 0 and self.shape.element.kind == "int"

    @property
    def constant(self) -> bool:
        return "const" in self.shape.qualifiers

    @property
    def volatile(self) -> bool:
        return bool(self.shape.qualifiers & {"volatile", "_Atomic"})


@dataclass(slots=True)
class Scope:
    """Blocks inside each other; the innermost declaration of a name counts."""

    types: Types
    blocks: list[dict[str, Symbol]] = field(default_factory=lambda: [{}])
    moved: frozenset[str] = frozenset()
    """Names that the function declares twice, gives another value, or takes the address of."""
    symbols: dict[str, Symbol] = field(default_factory=dict)
    """By key."""

    def __post_init__(self) -> None:
        self.types = replace(self.types, size_of=self.size_of)

    def find(self, name: str) -> Symbol | None:
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return None

    def size_of(self, text: str) -> int | None:
        """The bytes of what `sizeof` is asked about, `double`, `A`, `A[0]` or `*p`; None where they are not known."""
        match = _OBJECT.fullmatch(text.strip())
        symbol = self.find(match["name"]) if match is not None else None
        if match is not None and symbol is None:  # of a block of the region, if there is one of that name
            named = [one for one in self.symbols.values() if one.c_name == match["name"]]
            symbol = named[0] if len(named) == 1 else None
        if match is not None and symbol is not None:
            links = match["behind"].count("[") + match["before"].count("*")
            if symbol.storage is Storage.ARGUMENT and symbol.rank and not links:
                return POINTER_SIZE
            return replace(symbol.shape, dims=symbol.shape.dims[links:]).size_bytes or None
        type_ = self.types.named(text.strip())
        return type_.size_bytes or None if type_ is not None else None

    def is_same_extent(self, one: Dim, other: Dim) -> bool:
        """Whether two declarations of the function say the same of a level of their types."""
        if one.pointer or other.pointer or one.extent is None or other.extent is None:
            return one.pointer and other.pointer
        if one.size is not None or other.size is not None:
            return one.size == other.size
        used = {part.name for part in walk(one.extent) if isinstance(part, c_ast.ID)}
        known = [self.find(name) for name in used]
        still = all(s is not None and s.is_integer and s.storage is not Storage.GLOBAL and not s.static for s in known)
        return still and not used & self.moved and CGenerator().visit(one.extent) == CGenerator().visit(other.extent)

    def declare(self, node: c_ast.Decl, storage: Storage, is_loop: bool = False) -> Symbol:
        """Enter a declaration into the innermost block."""
        shape = _counted(self.types.shape(node.type), node.init)
        static = "static" in (node.storage or ()) or "extern" in (node.storage or ())
        if storage is Storage.LOCAL and static:
            storage = Storage.GLOBAL
        symbol = Symbol("", node.name, shape, storage, node, static, is_loop)
        key = self.free_key(node.name, symbol)
        symbol.key = key
        symbol = self.symbols.setdefault(key, symbol)
        self.blocks[-1][node.name] = symbol
        return symbol

    def fresh(self, node: c_ast.Decl) -> Symbol:
        """Enter a new variable of the region that no block sees: also of a loop, since one around it may have its
        name."""
        self.blocks.append({})
        found = self.declare(node, Storage.REGION)
        self.blocks.pop()
        return found

    def number(self, name: str, type_: str) -> Symbol:
        """A new variable of the region, of a type by its name in C."""
        declared = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(type_.split()))
        return self.fresh(c_ast.Decl(name, [], [], [], [], declared, None, None, None))

    def like(self, symbol: Symbol, name: str) -> Symbol:
        """A new variable of the region, of the type of another one."""
        old = symbol.node
        assert old is not None
        return self.fresh(type(old)(name, old.quals, [], [], [], old.type, None, None, old.coord))

    def free_key(self, name: str, symbol: Symbol) -> str:
        """A key that nothing else has, no constant of an enum either; loops side by side may share the one of their
        variable."""
        base = f"{name}_" if name in ISL_WORDS or (name[0] == "S" and name[1:].isdigit()) else name
        key, number = base, 1
        constants = self.types.constants if symbol.storage is Storage.REGION else ()
        while key in self.symbols or key in constants:
            if key not in constants:
                old = self.symbols[key]
                hidden = all(old not in block.values() for block in self.blocks)
                same = old.shape.element == symbol.shape.element
                if symbol.is_loop and old.is_loop and hidden and same and old.c_name == name:
                    return key
                if symbol.storage is not Storage.REGION and old.storage is not Storage.REGION:
                    # Outside of the region an inner declaration hides the outer one for good.
                    del self.symbols[key]
                    return key
            number += 1
            key = f"{base}_{number}"
        return key


def scope_before(
    types: Types, tree: c_ast.FileAST, function: c_ast.FuncDef, path: list[tuple[c_ast.Node, int]]
) -> Scope:
    """What is visible at a place: file level, parameters, and the blocks on the way to it."""
    scope = Scope(types, moved=_moved(function))
    for item in tree.ext:
        if isinstance(item, c_ast.Decl) and item.name and not isinstance(item.type, c_ast.FuncDecl):
            scope.declare(item, Storage.GLOBAL)
    scope.blocks.append({})
    arguments = function.decl.type.args
    for item in arguments.params if arguments is not None else ():
        if isinstance(item, c_ast.Decl) and item.name:
            scope.declare(item, Storage.ARGUMENT)
    for node, position in path:
        scope.blocks.append({})
        for item in declarations_in(node, position):
            scope.declare(item, Storage.LOCAL)
    return scope


@lru_cache(maxsize=8)
def _moved(function: c_ast.FuncDef) -> frozenset[str]:
    times = Counter(node.name for node in walk(function) if isinstance(node, c_ast.Decl))
    twice = {name for name, count in times.items() if count > 1}
    return frozenset(twice | {target.name for target in changed_names(function)})


def declarations_in(node: c_ast.Node, position: int) -> list[c_ast.Decl]:
    """The declarations of a block before its item `position`, or of a for loop's head."""
    if isinstance(node, c_ast.For):
        return list(node.init.decls) if isinstance(node.init, c_ast.DeclList) else []
    items = (node.block_items or [])[:position] if isinstance(node, c_ast.Compound) else []
    return [i for i in items if isinstance(i, c_ast.Decl) and i.name and not isinstance(i.type, c_ast.FuncDecl)]


def _counted(shape: Shape, init: c_ast.Node | None) -> Shape:
    """The shape of `double t[] = {1, 2, 3}`, which is as long as its initialiser."""
    if (
        not shape.dims
        or shape.dims[0].extent is not None
        or shape.dims[0].pointer
        or not isinstance(init, c_ast.InitList)
    ):
        return shape
    rows = len(shape.dims) > 1 or shape.node is not None
    if any(
        isinstance(item, c_ast.InitList) is not rows or isinstance(item, c_ast.NamedInitializer) for item in init.exprs
    ):
        return shape
    first = replace(shape.dims[0], extent=c_ast.Constant("int", str(len(init.exprs))), size=len(init.exprs))
    return replace(shape, dims=(first, *shape.dims[1:]))
