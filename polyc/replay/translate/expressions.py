"""Expressions of C as text of Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pycparser import c_ast

from polyc.frontend.c.ctype import INT, Shape
from polyc.records import dataclass, field, replace
from polyc.replay.machine.memory import number_of
from polyc.replay.machine.reading import ROW, NotUnderstood
from polyc.replay.translate.arithmetic import Arithmetic, fitted, literal
from polyc.replay.translate.calls import call
from polyc.replay.translate.module import Known
from polyc.replay.translate.values import (
    ADDRESS,
    LONG,
    SIZE,
    Pointer,
    Target,
    Value,
    Variable,
    closed,
    extents_of,
    kind_of,
    number,
)


@dataclass(slots=True, eq=False)
class Expressions:
    """The state of the translation of one function."""

    known: Known
    blocks: list[dict[str, Variable]] = field(default_factory=lambda: [{}])
    taken: dict[str, int] = field(default_factory=dict)
    lane: str = ""
    """Which element of vectors is being computed."""
    hoisted: list[str] = field(default_factory=list)
    """Statements that have to run before the expression."""
    checked: bool = False
    """Whether each subscript is compared with its extent."""

    @property
    def arithmetic(self) -> Arithmetic:
        return self.known.arithmetic

    def find(self, name: str) -> Variable | None:
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return None

    def fresh(self, name: str) -> str:
        self.taken[name] = self.taken.get(name, 0) + 1
        return f"{name}_{self.taken[name]}"

    @contextmanager
    def in_lane(self, lane: str) -> Iterator[None]:
        before, self.lane = self.lane, lane
        try:
            yield
        finally:
            self.lane = before

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, node: c_ast.Node) -> Value:
        match node:
            case c_ast.Constant():
                return self.constant(node)
            case c_ast.ID():
                return self.named(node.name)
            case c_ast.ArrayRef() if self.vector(node.name):
                with self.in_lane(self.value(node.subscript).code):
                    return self.value(node.name)
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                return self.of_target(self.target(node))
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp():
                return self.binary(node)
            case c_ast.TernaryOp():
                return self.ternary(node)
            case c_ast.Assignment():
                return self.assigned(node)
            case c_ast.Cast():
                return self.cast(node)
            case c_ast.CompoundLiteral() if self.known.lanes(node.type) and self.lane:
                name = self.fresh("row")
                lane, self.lane = self.lane, ""
                element = self.known.types.shape(node.type).element
                items = [self.arithmetic.converted(self.value(item), element).code for item in node.init.exprs]
                self.lane = lane
                self.hoisted.append(f"{name} = [{', '.join(items)}]")
                return Value(f"{name}[{lane}]", element, True)
            case c_ast.CompoundLiteral():
                return self.record(self.known.types.shape(node.type), node.init)
            case c_ast.FuncCall():
                return call(self, node)
            case c_ast.ExprList():
                values = [self.value(item) for item in node.exprs]
                code = f"({', '.join(value.code for value in values)})[-1]"
                return replace(values[-1], code=code, constant=None)
        raise NotUnderstood(f"'{type(node).__name__}' in the text")

    def record(self, shape: Shape, init: c_ast.Node) -> Value:
        """A struct from the values of its members."""
        if shape.element.kind != "struct" or shape.dims or shape.node is None or not isinstance(init, c_ast.InitList):
            raise NotUnderstood("a list of values")
        kind = kind_of(shape, self.known.types)
        names = [name for name, _, _ in kind.fields]
        if len(names) < len(shape.node.decls or ()):
            raise NotUnderstood("a list of values of a struct with pointers")
        pairs: list[str] = []
        for name, value in self.in_order(init, names):
            member = self.known.types.field(shape.node, name)
            assert member is not None
            pairs.append(f"{name!r}: {self.part(member, value)}")
        code = f"record({self.known.kind(kind)}, {{{', '.join(pairs)}}})"
        return Value(code, shape.element, True, node=shape.node)

    def in_order(self, init: c_ast.InitList, names: list[str]) -> Iterator[tuple[str, c_ast.Node]]:
        """The values of a list, each with the name of its part; behind a designator with those that follow it."""
        place = 0
        for item in init.exprs:
            value = item
            if isinstance(item, c_ast.NamedInitializer):
                match item.name:
                    case [c_ast.ID(name=name)] if name in names:
                        place = names.index(name)
                    case [c_ast.ArrayDesignator(expr=c_ast.Constant(value=number))] if number.isdigit():
                        place = int(number)
                    case _:
                        raise NotUnderstood("a list of values")
                value = item.expr
            if place >= len(names):
                raise NotUnderstood("a list of values")
            yield names[place], value
            place += 1

    def part(self, shape: Shape, value: c_ast.Node) -> str:
        """The value of a part of a list."""
        if shape.dims:
            if len(shape.dims) != 1 or not shape.dims[0].size or not isinstance(value, c_ast.InitList):
                raise NotUnderstood("a list of values")
            inner = Shape(shape.element, (), shape.node)
            places = [str(place) for place in range(shape.dims[0].size)]
            return f"{{{', '.join(f'{k}: {self.part(inner, one)}' for k, one in self.in_order(value, places))}}}"
        if shape.element.kind == "struct":
            return self.record(shape, value).code
        if isinstance(value, c_ast.InitList):
            raise NotUnderstood("a list of values")
        return self.arithmetic.converted(self.value(value), shape.element).code

    def constant(self, node: c_ast.Constant) -> Value:
        if node.type == "string":
            return Value(str(number_of(node.value)), ADDRESS)
        return literal(node.value, self.arithmetic)

    def named(self, name: str) -> Value:
        variable = self.find(name)
        if variable is None:
            if name in self.known.types.constants:
                return number(self.known.types.constants[name])
            constant = self.known.globals.get(name)
            if constant is None or constant.init is None or self.known.types.shape(constant.type).dims:
                raise NotUnderstood(f"the name {name}")
            return self.arithmetic.converted(self.value(constant.init), self.known.types.shape(constant.type).element)
        if variable.is_array:
            return Value(variable.code, ADDRESS, pointer=self.pointer_of(variable))
        if variable.lanes:
            return Value(f"{variable.code}[{self.lane}]", variable.shape.element, True)
        return Value(variable.code, variable.shape.element, variable.large, node=variable.shape.node)

    def pointer_of(self, variable: Variable) -> Pointer:
        shape = Shape(variable.shape.element, (), variable.shape.node)
        return Pointer(variable.code, variable.offset, "", variable.extents, shape, checked=self.checked)

    def of_target(self, target: Target) -> Value:
        if target.pointer is not None and (target.pointer.extents or not target.key):
            return Value("", ADDRESS, pointer=target.pointer)
        return Value(target.read, target.type, True, node=target.node)

    def pointer(self, node: c_ast.Node) -> Pointer:
        """An expression whose value is an address."""
        match node:
            case c_ast.UnaryOp(op="&"):
                return self.place(node.expr).address()
            case c_ast.Cast():
                inner = self.pointer(node.expr)
                shape, lanes = self.known.types.shape(node.to_type), self.known.lanes(node.to_type)
                if shape.element.size_bytes not in (0, inner.shape.element.size_bytes) and shape.element.text != "void":
                    raise NotUnderstood(f"a pointer to {shape.element.text}")
                return replace(inner, lanes=lanes)
            case c_ast.BinaryOp(op="+" | "-"):
                left = self.value(node.left)
                if left.pointer is None:
                    return self.pointer(node.right).moved(left.code)
                by = self.value(node.right)
                return left.pointer.moved(by.code if node.op == "+" else f"-{closed(by.code)}")
        found = self.value(node).pointer
        if found is None:
            raise NotUnderstood("a pointer")
        return found

    def place(self, node: c_ast.Node) -> Pointer:
        """An element or row in memory."""
        match node:
            case c_ast.ArrayRef():
                return self.pointer(node.name).at(self.value(node.subscript).code)
            case c_ast.UnaryOp(op="*"):
                return self.pointer(node.expr).at("0")
            case c_ast.ID():
                variable = self.find(node.name)
                if variable is not None and variable.is_array:
                    return self.pointer_of(variable)
            case c_ast.StructRef():
                found = self.target(node).pointer
                if found is not None:
                    return found
        raise NotUnderstood("the address of a variable")

    def target(self, node: c_ast.Node) -> Target:
        """What stands on the left of an assignment."""
        match node:
            case c_ast.ID():
                variable = self.find(node.name)
                if variable is None:
                    raise NotUnderstood(f"the name {node.name}")
                if variable.is_array:
                    return Target(variable.code, "", ADDRESS, pointer=self.pointer_of(variable), variable=variable)
                key = self.lane if variable.lanes else ""
                return Target(variable.code, key, variable.shape.element, variable.shape.node, variable=variable)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith(ROW):
                return self.element(self.place(node.args.exprs[0]).address(), self.lane or "0")
            case c_ast.ArrayRef():
                return self.element(self.pointer(node.name), self.value(node.subscript).code)
            case c_ast.UnaryOp(op="*"):
                found = self.pointer(node.expr)
                return self.element(found, self.lane if found.lanes and self.lane else "0")
            case c_ast.StructRef():
                return self.member(node)
            case c_ast.Cast():
                return self.target(node.expr)
        raise NotUnderstood("what is assigned to")

    def element(self, pointer: Pointer, index: str) -> Target:
        found = pointer.at(index)
        return Target(found.cells, found.place, found.shape.element, found.shape.node, pointer=found)

    def member(self, node: c_ast.StructRef) -> Target:
        if node.type == "." and isinstance(node.name, c_ast.ID):
            name = f"{node.name.name}.{node.field.name}"
            if self.find(name) is not None:  # of a struct with pointers in it
                return self.target(c_ast.ID(name, node.coord))
        base = self.target(c_ast.UnaryOp("*", node.name)) if node.type == "->" else self.target(node.name)
        shape = self.known.types.field(base.node, node.field.name)
        if shape is None or any(d.pointer or d.size is None for d in shape.dims):
            raise NotUnderstood(f"the member {node.field.name}")
        if shape.dims:
            cells = f"{base.read}[{node.field.name!r}]"
            pointer = Pointer(cells, "0", "", extents_of(shape), Shape(shape.element, (), shape.node))
            return Target(cells, "", ADDRESS, pointer=pointer)
        return Target(base.read, repr(node.field.name), shape.element, shape.node, variable=base.variable)

    def vector(self, node: c_ast.Node) -> int:
        """How many elements the value of an expression has; 0 for no vector."""
        match node:
            case c_ast.ID():
                variable = self.find(node.name)
                return variable.lanes if variable is not None else 0
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith(ROW):
                element, size = self.known.vectors[name.removeprefix(ROW)]
                return size // self.element_bytes(element)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith("polyc_lookup"):
                element, size = self.known.vectors[f"polyc_{name.split('_', 2)[2]}"]
                return size // self.element_bytes(element)
            case c_ast.UnaryOp(op="*", expr=c_ast.Cast(to_type=to)):
                return self.known.lanes(to)
            case c_ast.UnaryOp(op="-" | "+" | "~", expr=inner):
                return self.vector(inner)
            case c_ast.BinaryOp(left=left, right=right):
                return max(self.vector(left), self.vector(right))
            case c_ast.Cast(to_type=to) | c_ast.CompoundLiteral(type=to):
                return self.known.lanes(to)
        return 0

    def element_bytes(self, name: str) -> int:
        shape = self.known.types.shape(c_ast.IdentifierType(name.split()))
        return shape.element.size_bytes

    # --- operators ---------------------------------------------------------------------------------------------------

    def unary(self, node: c_ast.UnaryOp) -> Value:
        if node.op in ("++", "--", "p++", "p--"):
            return self.stepped(node)
        if node.op == "sizeof":
            return Value(self.size_of(node.expr), SIZE)
        if node.op == "&":
            try:
                return Value("", ADDRESS, pointer=self.pointer(node))
            except NotUnderstood:
                return Value("None", ADDRESS)
        inner = self.value(node.expr)
        if node.op == "!":
            return Value(f"(not {closed(self.arithmetic.condition(inner))})", INT, truth=True)
        inner = self.arithmetic.converted(inner, self.arithmetic.common(inner, inner))
        if node.op == "-":
            return self.arithmetic.negated(inner)
        if node.op == "~":
            if inner.floating:
                raise NotUnderstood("~ of a floating value")
            return self.arithmetic.integer("^", inner, number(fitted(-1, inner.type), inner.type))
        return inner

    def size_of(self, node: c_ast.Node) -> str:
        """Bytes of a type or an expression."""
        if isinstance(node, c_ast.Typename):
            sizes: list[str] = []
            inner = node.type
            while isinstance(inner, c_ast.ArrayDecl):
                sizes.append(closed(self.value(inner.dim).code))
                inner = inner.type
            if isinstance(inner, c_ast.PtrDecl):
                raise NotUnderstood("the size of a pointer")
            return "*".join([str(self.known.types.shape(inner).element.size_bytes), *sizes])
        value = self.value(node)
        if value.pointer is not None and value.pointer.extents[:1] != ("0",):
            raise NotUnderstood("the size of an array")
        return str(value.type.size_bytes)

    def binary(self, node: c_ast.BinaryOp) -> Value:
        one, other = self.value(node.left), self.value(node.right)
        if one.pointer is None and other.pointer is None:
            return self.arithmetic.binary(node.op, one, other)
        if node.op in ("&&", "||"):
            return self.arithmetic.binary(node.op, one, other)
        if one.pointer is not None and other.pointer is not None:
            here, there = one.pointer, other.pointer
            if node.op == "-" and len(here.extents) == 1 and here.cells == there.cells:
                return Value(f"({here.place}) - ({there.place})", LONG)
            raise NotUnderstood("two pointers compared")
        return Value("", ADDRESS, pointer=self.pointer(node))

    def ternary(self, node: c_ast.TernaryOp, in_vain: bool = False) -> Value:
        """A choice; `in_vain`: the value that is not chosen is computed as well."""
        condition = self.arithmetic.condition(self.value(node.cond))
        one, other = self.value(node.iftrue), self.value(node.iffalse)
        if one.type.kind == "struct":
            return replace(one, code=f"({one.code} if {condition} else {other.code})")
        if one.pointer is not None or other.pointer is not None:
            return Value("", ADDRESS, pointer=self.chosen_pointer(condition, one.pointer, other.pointer))
        ctype = self.arithmetic.common(one, other)
        one, other = self.arithmetic.converted(one, ctype), self.arithmetic.converted(other, ctype)
        code = f"({one.code} if {condition} else {other.code})"
        if in_vain:
            code = f"({other.code}, {one.code})[bool({condition})]"
        return Value(code, ctype, one.large or other.large)

    def chosen_pointer(self, condition: str, one: Pointer | None, other: Pointer | None) -> Pointer:
        """One of two pointers to elements alike."""
        if one is None or other is None or one.extents[1:] != other.extents[1:] or one.lanes != other.lanes:
            raise NotUnderstood("a pointer that is chosen")
        if (one.shape.element, one.shape.node) != (other.shape.element, other.shape.node):
            raise NotUnderstood("a pointer to elements of two types")
        cells = f"({one.cells} if {condition} else {other.cells})"
        return replace(one, cells=cells, base=f"({one.place} if {condition} else {other.place})", index="")

    def cast(self, node: c_ast.Cast) -> Value:
        lanes = self.known.lanes(node.to_type)
        if lanes and not isinstance(node.to_type.type, c_ast.PtrDecl):
            return self.arithmetic.converted(self.value(node.expr), self.known.types.shape(node.to_type).element)
        shape = self.known.types.shape(node.to_type)
        if shape.dims:
            return Value("", ADDRESS, pointer=self.pointer(node))
        found = self.value(node.expr)
        if found.pointer is not None or found.type.kind == "pointer":
            if shape.element.kind != "int" or found.pointer is None:
                return found
            return Value(self.address(found.pointer), shape.element)
        return self.arithmetic.converted(found, shape.element)

    def address(self, pointer: Pointer) -> str:
        """Where it points to, in bytes."""
        return f"{pointer.cells}.base + {pointer.shape.element.size_bytes}*({pointer.place})"

    # --- effects -----------------------------------------------------------------------------------------------------

    def written(self, variable: Variable) -> None:
        """Note that a variable gets another value."""

    def combined(self, op: str, target: Target, value: Value) -> Value:
        """What `target op= value` stores."""
        if op == "=":
            return self.arithmetic.converted(value, target.type)
        old = Value(target.read, target.type, target.variable is None or target.variable.large, node=target.node)
        return self.arithmetic.converted(self.arithmetic.binary(op[:-1], old, value), target.type)

    def assigned(self, node: c_ast.Assignment) -> Value:
        """An assignment whose value is used."""
        target = self.target(node.lvalue)
        value = self.combined(node.op, target, self.value(node.rvalue))
        if target.variable is not None:
            self.written(target.variable)
        if value.pointer is not None or value.type.kind == "struct":
            raise NotUnderstood("an assignment of a pointer or a record in an expression")
        code = f"put({target.code}, {target.key}, {value.code})" if target.key else f"({target.code} := {value.code})"
        return Value(code, target.type, True)

    def stepped_pointer(self, target: Target, op: str, by: str) -> str:
        """`p += n` of a pointer, as an expression whose value is the new place."""
        if target.variable is None or target.pointer is None or target.variable.offset == "0":
            raise NotUnderstood("an assignment of a pointer")
        row = "".join(f"*{closed(extent)}" for extent in target.pointer.extents[1:])
        place = target.variable.offset
        return f"({place} := {place} {op[0]} {closed(by)}{row})"

    def stepped(self, node: c_ast.UnaryOp) -> Value:
        """`i++` and its kin in an expression."""
        target = self.target(node.expr)
        op = node.op[-1]
        if target.type == ADDRESS and target.pointer is not None:
            stepped = f"({self.stepped_pointer(target, f'{op}=', '1')})"
            row = "*".join(closed(extent) for extent in target.pointer.extents[1:]) or "1"
            before_it = f"{stepped} {'-' if op == '+' else '+'} {row}" if node.op[0] == "p" else stepped
            return Value("", ADDRESS, pointer=replace(target.pointer, base=before_it))
        after = self.combined(f"{op}=", target, number(1))
        if target.variable is not None:
            self.written(target.variable)
        code = f"put({target.code}, {target.key}, {after.code})" if target.key else f"({target.code} := {after.code})"
        stored = Value(code, target.type, True)
        if node.op[0] != "p":
            return stored
        if target.type.text == "_Bool":
            raise NotUnderstood(f"a _Bool before '{node.op[1:]}'")
        before = self.arithmetic.binary("-" if op == "+" else "+", stored, number(1))
        return self.arithmetic.converted(before, target.type)
