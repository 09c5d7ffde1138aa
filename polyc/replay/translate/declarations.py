"""Declarations of C as text of Python, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pycparser import c_ast

from polyc.frontend.c.ctype import Shape
from polyc.model.scop import CType
from polyc.records import dataclass, field
from polyc.replay.machine.reading import NotUnderstood
from polyc.replay.translate.expressions import Expressions
from polyc.replay.translate.module import Line, Module
from polyc.replay.translate.values import Value, Variable, closed, kind_of


@dataclass(slots=True, eq=False, kw_only=True)
class Declarations(Expressions):
    """The lines of one function, and its variables."""

    module: Module
    name: str
    first_line: int = 0
    aliased: frozenset[str] = frozenset()
    """Arrays that may begin inside of others."""
    few: dict[str, bool] = field(default_factory=dict)
    """Of arrays of whole numbers, whether only small ones stand in them."""
    depth: int = 1
    line: int = 0
    declared: int = 0
    counters: list[tuple[str, str]] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    """Lines of the loops and branches around this place."""

    # --- lines -------------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        for before in self.hoisted:
            self.emit_one(before)
        self.hoisted.clear()
        self.emit_one(text)

    def emit_one(self, text: str) -> None:
        self.module.lines.append("\t" * self.depth + text)
        self.module.places[len(self.module.lines)] = Line(self.name, self.line, tuple(self.counters))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A block of Python, which is never empty."""
        self.depth += 1
        self.heads.append(self.line)
        before = len(self.module.lines)
        yield
        if len(self.module.lines) == before:
            self.emit("pass")
        self.heads.pop()
        self.depth -= 1

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block of C."""
        self.blocks.append({})
        yield
        self.blocks.pop()

    def at(self, node: c_ast.Node) -> None:
        coord = getattr(node, "coord", None)
        if coord is not None and coord.line:
            self.line = coord.line - self.first_line

    def new_block(self) -> int:
        found = len(self.module.blocks)
        self.module.blocks[found] = Line(self.name, self.line, (), tuple(self.heads))
        return found

    # --- variables ---------------------------------------------------------------------------------------------------

    def variable(self, name: str, shape: Shape) -> Variable:
        if shape.element.kind == "other" and shape.element.text != "void":
            raise NotUnderstood(f"the type {shape.element.text}")
        self.declared += 1
        found = Variable(self.fresh(f"v_{name.replace('.', '_')}"), shape, self.declared)
        self.blocks[-1][name] = found
        return found

    def extents(self, node: c_ast.Node, code: str) -> tuple[str, ...]:
        """The extents of an array's dimensions, from the second one on in variables where they are no constants."""
        found: list[str] = []
        shape = self.known.types.shape(node)
        for position, dim in enumerate(shape.dims):
            if position == 0 and (dim.pointer or dim.extent is None):
                found.append("0")
            elif dim.pointer:
                found.append(str(1 << 20))
            elif dim.size is not None:
                found.append(str(dim.size))
            else:
                name = f"{code}_{position}"
                assert dim.extent is not None
                self.emit(f"{name} = {self.value(dim.extent).code}")
                found.append(name)
        return tuple(found)

    def declaration(self, node: c_ast.Decl) -> None:
        self.at(node)
        if isinstance(node.type, c_ast.FuncDecl) or not node.name:
            return
        if set(node.storage or ()) & {"static", "extern", "_Thread_local"}:
            raise NotUnderstood(f"'{node.name}' is {node.storage[0]}")
        shape, lanes = self.known.types.shape(node.type), self.known.lanes(node.type)
        if not shape.dims and self.in_parts(node, shape):
            return
        if not shape.dims:
            init = None
            if isinstance(node.init, c_ast.InitList):
                init = self.record(shape, node.init).code
            elif node.init is not None and not lanes:
                init = self.stored(self.value(node.init), shape.element)
            variable = self.variable(node.name, shape)
            variable.lanes = lanes
            if lanes:
                self.vector_of(node.init, lanes, variable)
            elif init is not None:
                self.emit(f"{variable.code} = {init}")
            elif shape.element.kind == "struct":
                kind = self.known.kind(kind_of(shape, self.known.types))
                self.emit(f"{variable.code} = unset({kind}, {node.name!r})")
            else:
                kind_found = kind_of(shape, self.known.types)
                self.emit(f"{variable.code} = {self.known.unset_value(kind_found, node.name)}")
            return
        code = self.fresh(f"v_{node.name.replace('.', '_')}")
        extents = self.extents(node.type, code)
        if any(dim.pointer for dim in shape.dims[1:]):
            raise NotUnderstood(f"the type of '{node.name}'")
        if shape.dims[0].pointer:
            self.pointer_variable(node, shape, code, extents)
            return
        kind = self.known.kind(kind_of(shape, self.known.types, self.few.get(node.name, False)))
        size = "*".join(closed(extent) for extent in extents)
        self.emit(f"{code} = buffer({node.name!r}, {size}, {kind})")
        variable = self.variable(node.name, shape)
        variable.code, variable.is_array, variable.extents = code, True, extents
        if node.init is not None:
            self.filled(node, shape, code)

    def in_parts(self, node: c_ast.Decl, shape: Shape) -> bool:
        """Declare a struct with pointers in it as a variable for each member, `v.at`; False for others."""
        members = getattr(shape.node, "decls", None) or [] if isinstance(shape.node, c_ast.Struct) else []
        shapes = [self.known.types.shape(item.type) if isinstance(item, c_ast.Decl) else None for item in members]
        plain = all(one is not None and (one.dims[:1] or one.node is None) for one in shapes)
        pointers = [one is not None and bool(one.dims) and one.dims[0].pointer for one in shapes]
        if not plain or not any(pointers) or not (node.init is None or isinstance(node.init, c_ast.InitList)):
            return False
        names = [item.name for item in members]
        given = dict(self.in_order(node.init, names)) if node.init is not None else {}
        zero = None if node.init is None else c_ast.Constant("int", "0")
        for item, pointer in zip(members, pointers, strict=True):
            init = given.get(item.name, None if pointer else zero)  # nobody follows a pointer without a value
            part = f"{node.name}.{item.name}"
            self.declaration(c_ast.Decl(part, [], [], [], [], item.type, init, None, node.coord))
        return True

    def filled(self, node: c_ast.Decl, shape: Shape, code: str) -> None:
        """An array of one dimension with a list of values, and zeros after them."""
        sized = len(shape.dims) == 1 and shape.dims[0].size is not None and shape.element.kind != "struct"
        if not isinstance(node.init, c_ast.InitList) or not sized:
            raise NotUnderstood(f"the values of '{node.name}'")
        places = [str(place) for place in range(shape.dims[0].size or 0)]
        values = dict.fromkeys(places, "0")
        for place, item in self.in_order(node.init, places):
            if isinstance(item, c_ast.InitList):
                raise NotUnderstood(f"the values of '{node.name}'")
            values[place] = self.arithmetic.converted(self.value(item), shape.element).code
        for place, value in values.items():
            self.emit(f"{code}[{place}] = {value}")

    def pointer_variable(self, node: c_ast.Decl, shape: Shape, code: str, extents: tuple[str, ...]) -> None:
        """A pointer to somewhere in an array, or to memory on the heap."""
        init, condition = node.init, ""
        if isinstance(init, c_ast.TernaryOp) and isinstance(init.iffalse, c_ast.Constant):  # `enough ? malloc(n) : 0`
            condition, init = f" if {self.arithmetic.condition(self.value(init.cond))} else None", init.iftrue
        match init:
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_malloc")):
                bytes_found = self.value(init.args.exprs[0]).code
                kind = self.known.kind(kind_of(shape, self.known.types))
                size = f"{closed(bytes_found)}//{shape.element.size_bytes}"
                self.emit(f"{code} = allocated({node.name!r}, {size}, {kind}){condition}")
                offset = "0"
            case None:
                offset = f"{code}_o"
                self.emit(f"{code}, {offset} = None, 0")
            case _:
                found = self.pointer(init)
                if shape.element.text == "void":  # it carries a pointer of any type
                    shape, extents = found.shape, found.extents
                if found.shape.element != shape.element:
                    raise NotUnderstood(f"the pointer '{node.name}'")
                offset = f"{code}_o"
                self.emit(f"{code}, {offset} = {found.cells}, {found.place}")
        variable = self.variable(node.name, shape)
        variable.code, variable.is_array, variable.extents, variable.offset = code, True, extents, offset

    def vector_of(self, init: c_ast.Node | None, lanes: int, variable: Variable) -> None:
        """A variable that has a vector."""
        if init is None:
            raise NotUnderstood("a vector without a value")
        self.emit(f"{variable.code} = []")
        with self.in_lane("lane"):
            value = self.arithmetic.converted(self.value(init), variable.shape.element)
        for before in self.hoisted:
            self.emit_one(before)
        self.hoisted.clear()
        self.emit(f"for lane in range({lanes}): {variable.code}.append({value.code})")

    def stored(self, value: Value, to: CType) -> str:
        code = self.arithmetic.converted(value, to).code
        return f"{code}.copied()" if to.kind == "struct" else code
