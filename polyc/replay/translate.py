"""Functions of C as functions of Python: what each statement does, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType
from typing import Any

from pycparser import c_ast

from polyc.frontend.ctype import Shape, Types
from polyc.frontend.functions import PURE
from polyc.frontend.liveness import walk
from polyc.replay.expressions import ADDRESS, Expressions, Known
from polyc.replay.memory import FAR, THREADS, Kind, Machine
from polyc.replay.operations import operations
from polyc.replay.reading import LABEL, NotUnderstood, Read
from polyc.replay.values import INT, Arithmetic, Target, Value, Variable, closed, kind_of, number, summand

ARGUMENTS = "polyc_args"
LINE = 160
"""Characters of a statement of Python that costs as much as a plain one."""
_CLAUSE = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_COMPARE = {"<": 0, "<=": 1, ">": 0, ">=": -1}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line of Python comes from."""

    text: str
    """The function."""
    line: int
    counters: tuple[tuple[str, str], ...]
    """Loop variables around it: in Python, and in C."""
    around: tuple[int, ...] = ()
    """Lines of the loops and branches around a block, the outermost one first."""


@dataclass(slots=True, eq=False)
class Translation:
    """Both texts as one module of Python."""

    code: CodeType
    source: str
    lines: dict[int, Line]
    blocks: dict[int, Line]
    """Bodies of loops and branches: what `covered` speaks of."""
    kinds: dict[str, Kind]
    unset: dict[str, tuple[str, str]]
    constants: dict[str, Fraction]
    shared: tuple[tuple[int, str], ...]
    """What loops with pragmas do that is wrong by itself: the line, and what. They write variables from outside, or
    combine values otherwise than their clause says."""
    weights: dict[int, int]
    """What an iteration of a loop costs, without the loops inside of it: in plain statements."""

    def functions(self, machine: Machine) -> dict[str, Any]:
        """The module for one run."""
        machine.weights = self.weights
        found = operations(machine)
        found |= self.kinds
        found |= {name: found["F"][value] for name, value in self.constants.items()}
        found |= {name: machine.unset(self.kinds[kind], what) for name, (kind, what) in self.unset.items()}
        exec(self.code, found)
        return found


@dataclass(slots=True)
class Loop:
    """A loop around a statement."""

    again: list[str]
    """What runs before its next iteration."""


@dataclass(slots=True)
class Pragma:
    """A loop with a pragma around a statement."""

    start: int
    """Variables with smaller numbers were declared outside of it."""
    own: frozenset[str]
    line: int


def translated(
    read: Read,
    types: Types,
    names: tuple[str, ...],
    mode: str,
    aliased: frozenset[str],
    kinds: dict[str, bool],
    checked: tuple[str, ...] = (),
) -> Translation:
    """Translate functions whose data are arguments. Raises NotUnderstood.

    aliased: arrays that may begin inside of others; kinds: the arrays of whole numbers in which only small ones stand
    checked: texts of which each subscript is compared with its extent
    """
    bodies = {name: f for name, f in read.functions.items() if name not in names}
    declared = [item for item in read.tree.ext if isinstance(item, c_ast.Decl) and item.name]
    prototypes = {d.name: d for d in declared if isinstance(d.type, c_ast.FuncDecl)}
    others = {d.name: d for d in declared if d.name not in prototypes}
    known = Known(types, Arithmetic(mode), read.vectors, bodies, prototypes, others, read.pragmas)
    module = _Module(known)
    for name in names:
        function = _Function(known, module, name, read.first_lines[name], aliased, kinds)
        function.checked = name in checked
        function.region(read.functions[name])
    done = 0
    while done < len(known.wanted):
        name = known.wanted[done]
        _Function(known, module, name, 0, frozenset(), {}).users(bodies[name])
        done += 1
    source = "\n".join(module.lines)
    try:
        code = compile(source, "<replay>", "exec")
    except (SyntaxError, RecursionError, MemoryError) as problem:
        raise NotUnderstood(f"too deep ({problem})") from None
    return Translation(
        code,
        source,
        module.places,
        module.blocks,
        {name: kind for kind, name in known.kinds.items()},
        {name: what for what, name in known.unset.items()},
        {name: value for value, name in known.arithmetic.constants.items()},
        tuple(module.shared),
        module.weights,
    )


@dataclass(slots=True, eq=False)
class _Module:
    """The module so far."""

    known: Known
    lines: list[str] = field(default_factory=list)
    places: dict[int, Line] = field(default_factory=dict)
    blocks: dict[int, Line] = field(default_factory=dict)
    shared: list[tuple[int, str]] = field(default_factory=list)
    weights: dict[int, int] = field(default_factory=dict)
    inner: int = 0
    """Characters of the loops inside of the one that is translated."""


@dataclass(slots=True, eq=False)
class _Function(Expressions):
    """The translation of one function."""

    module: _Module = field(default=None)  # type: ignore[assignment]
    name: str = ""
    first_line: int = 0
    aliased: frozenset[str] = frozenset()
    few: dict[str, bool] = field(default_factory=dict)
    depth: int = 1
    line: int = 0
    declared: int = 0
    loops: list[Loop] = field(default_factory=list)
    counters: list[tuple[str, str]] = field(default_factory=list)
    pragmas: list[Pragma] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    """Lines of the loops and branches around this place."""

    def __init__(
        self, known: Known, module: _Module, name: str, first_line: int, aliased: frozenset[str], few: dict[str, bool]
    ) -> None:
        Expressions.__init__(self, known)
        self.module, self.name, self.first_line, self.aliased, self.few = module, name, first_line, aliased, few
        self.depth, self.line, self.declared = 1, 0, 0
        self.loops, self.counters, self.pragmas, self.heads = [], [], [], []
        self.written = self.stored_into

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

    # --- functions ---------------------------------------------------------------------------------------------------

    def region(self, function: c_ast.FuncDef) -> None:
        """A text: its arrays and variables are in a dictionary, and what its variables are in the end is returned."""
        self.module.lines.append(f"def {self.name}(S):")
        scalars: list[Variable] = []
        names: list[str] = []
        self.unknown(function)
        for item in function.body.block_items or []:
            if isinstance(item, c_ast.Decl) and self.is_argument(item):
                variable = self.argument(item)
                if not variable.is_array:
                    scalars.append(variable)
                    names.append(item.name)
            else:
                self.statement(item)
        pairs = ", ".join(f"{name!r}: {v.code}" for name, v in zip(names, scalars, strict=True))
        self.emit(f"return {{{pairs}}}")

    def unknown(self, function: c_ast.FuncDef) -> None:
        """Names that nobody declares: the model has no use for them, so that what runs should have none either."""
        inside = list(walk(function.body))
        declared = {item.name for item in function.body.block_items or [] if isinstance(item, c_ast.Decl)}
        declared |= {*self.known.types.constants}
        declared |= {name for name, node in self.known.globals.items() if self.is_constant(node)}
        called = {n.name.name for n in inside if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)}
        ranks: dict[str, int] = {}
        for node in inside:
            rank, base = 0, node
            while isinstance(base, c_ast.ArrayRef):
                rank, base = rank + 1, base.name
            if isinstance(base, c_ast.ID) and base.name not in declared | called | {ARGUMENTS}:
                ranks[base.name] = max(ranks.get(base.name, 0), rank)
        for name, rank in ranks.items():
            known = self.known.globals.get(name)
            written = known.type if known is not None else c_ast.IdentifierType(["long" if rank else "int"])
            shape = self.known.types.shape(written)
            variable = self.variable(name, shape)
            variable.is_array = rank > 0
            variable.extents = (str(FAR),) * rank if known is None else self.extents(written, variable.code)
            kind = self.known.kind(kind_of(shape, self.known.types, rank == 0))
            self.emit(f"{variable.code} = unknown({name!r}, {kind}, {rank > 0})")

    def is_constant(self, node: c_ast.Decl) -> bool:
        shape = self.known.types.shape(node.type)
        return not shape.dims and node.init is not None and "const" in shape.qualifiers

    def is_argument(self, node: c_ast.Decl) -> bool:
        return node.init is not None and any(isinstance(n, c_ast.ID) and n.name == ARGUMENTS for n in walk(node.init))

    def argument(self, node: c_ast.Decl) -> Variable:
        shape = self.known.types.shape(node.type)
        variable = self.variable(node.name, shape)
        self.emit(f"{variable.code} = S[{node.name!r}]")
        if shape.dims:
            variable.is_array = True
            variable.extents = self.extents(node.type, variable.code)
            if len(variable.extents) > 1:
                self.emit(f"{variable.code}.rows = ({', '.join(variable.extents[1:])},)")
            if not shape.dims[0].pointer and shape.dims[0].extent is not None:
                self.emit(f"{variable.code}.size = {'*'.join(closed(extent) for extent in variable.extents)}")
            if node.name in self.aliased:
                variable.offset = f"{variable.code}_o"
                self.emit(f"{variable.offset} = S[{node.name + ' from'!r}]")
        else:
            variable.data = shape.element.kind != "int" or node.name in self.few
        return variable

    def users(self, function: c_ast.FuncDef) -> None:
        """A function of the user's; pointers are cells and a place."""
        arguments: list[str] = []
        shapes: list[tuple[c_ast.Decl, Variable]] = []
        declared = function.decl.type.args
        for item in declared.params if declared is not None else ():
            if not isinstance(item, c_ast.Decl) or not item.name:
                continue
            shape = self.known.types.shape(item.type)
            variable = self.variable(item.name, shape)
            arguments.append(variable.code)
            if shape.dims:
                variable.is_array, variable.offset = True, f"{variable.code}_o"
                arguments.append(variable.offset)
            shapes.append((item, variable))
        self.module.lines.append(f"def f_{self.name}({', '.join(arguments)}):")
        for item, variable in shapes:
            if variable.is_array:
                variable.extents = self.extents(item.type, variable.code)
        self.result = self.known.types.shape(function.decl.type).element
        self.statement(function.body)
        self.emit("return 0")

    result: Any = None

    def variable(self, name: str, shape: Shape) -> Variable:
        if shape.element.kind == "other" and shape.element.text != "void":
            raise NotUnderstood(f"the type {shape.element.text}")
        self.declared += 1
        found = Variable(self.fresh(f"v_{name}"), shape, self.declared)
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

    # --- statements --------------------------------------------------------------------------------------------------

    def statement(self, node: c_ast.Node | None) -> None:
        if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Typedef | c_ast.Pragma):
            return
        self.at(node)
        match node:
            case c_ast.Compound():
                with self.block():
                    for item in node.block_items or []:
                        self.statement(item)
            case c_ast.Decl():
                self.declaration(node)
            case c_ast.DeclList():
                for item in node.decls:
                    self.declaration(item)
            case c_ast.If():
                self.branch(node)
            case c_ast.For():
                self.for_loop(node, "")
            case c_ast.While():
                with self.block():
                    self.general_loop(node.cond, None, node.stmt)
            case c_ast.DoWhile():
                self.do_loop(node)
            case c_ast.Label(name=name) if name.startswith(LABEL):
                self.with_pragma(self.known.pragmas[int(name.removeprefix(LABEL))], node.stmt)
            case c_ast.Label():
                self.statement(node.stmt)
            case c_ast.Break():
                self.emit("break")
            case c_ast.Continue():
                for line in self.loops[-1].again:
                    self.emit(line)
                self.emit("continue")
            case c_ast.Return():
                if self.first_line:
                    raise NotUnderstood("a return")
                found = "0" if node.expr is None else self.stored(self.value(node.expr), self.result)
                self.emit(f"return {found}")
            case c_ast.Assignment():
                self.assignment(node)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self.assignment(c_ast.Assignment(f"{node.op[-1]}=", node.expr, c_ast.Constant("int", "1")))
            case c_ast.Cast(to_type=to) if self.known.types.shape(to).element.text == "void":
                pass
            case c_ast.ExprList():
                for item in node.exprs:
                    self.statement(item)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in ("__builtin_free", "free", "__builtin_prefetch"):
                pass
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in ("__builtin_memcpy", "memcpy"):
                to, source = self.pointer(node.args.exprs[0]), self.pointer(node.args.exprs[1])
                size = to.shape.element.size_bytes
                if to.shape.element != source.shape.element or to.shape.element.kind == "struct" or not size:
                    raise NotUnderstood("a copy of memory")
                count = f"{closed(self.value(node.args.exprs[2]).code)}//{size}"
                self.emit(f"stream({to.cells}, {to.place}, {source.cells}, {source.place}, {count})")
            case c_ast.StaticAssert():
                pass
            case c_ast.Goto() | c_ast.Switch() | c_ast.FuncDef():
                raise NotUnderstood(f"a statement ({type(node).__name__})")
            case _:
                self.emit(self.value(node).code or "pass")

    def stored(self, value: Value, to: Any) -> str:
        code = self.arithmetic.converted(value, to).code
        return f"{code}.copied()" if to.kind == "struct" else code

    def declaration(self, node: c_ast.Decl) -> None:
        self.at(node)
        if isinstance(node.type, c_ast.FuncDecl) or not node.name:
            return
        if set(node.storage or ()) & {"static", "extern", "_Thread_local"}:
            raise NotUnderstood(f"'{node.name}' is {node.storage[0]}")
        shape, lanes = self.known.types.shape(node.type), self.known.lanes(node.type)
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
        code = self.fresh(f"v_{node.name}")
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

    def filled(self, node: c_ast.Decl, shape: Shape, code: str) -> None:
        """An array of one dimension with a list of values, and zeros after them."""
        items = node.init.exprs if isinstance(node.init, c_ast.InitList) else [node.init]
        plain = not any(isinstance(item, c_ast.InitList | c_ast.NamedInitializer) for item in items)
        if not plain or len(shape.dims) != 1 or shape.dims[0].size is None or shape.element.kind == "struct":
            raise NotUnderstood(f"the values of '{node.name}'")
        values = [self.arithmetic.converted(self.value(item), shape.element).code for item in items]
        values += ["0"] * (shape.dims[0].size - len(values))
        for place, value in enumerate(values):
            self.emit(f"{code}[{place}] = {value}")

    def pointer_variable(self, node: c_ast.Decl, shape: Shape, code: str, extents: tuple[str, ...]) -> None:
        """A pointer to somewhere in an array, or to memory on the heap."""
        init, condition = node.init, ""
        if isinstance(init, c_ast.TernaryOp):
            condition, init = f" if {self.arithmetic.condition(self.value(init.cond))} else None", init.iftrue
        match init:
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_malloc")):
                bytes_found = self.value(init.args.exprs[0]).code
                kind = self.known.kind(kind_of(shape, self.known.types))
                size = f"{closed(bytes_found)}//{shape.element.size_bytes}"
                self.emit(f"{code} = allocated({node.name!r}, {size}, {kind}){condition}")
                offset = "0"
            case None:
                raise NotUnderstood(f"the pointer '{node.name}'")
            case _:
                found = self.pointer(init)
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

    def assignment(self, node: c_ast.Assignment) -> None:
        lanes = self.vector(node.lvalue)
        if lanes:
            self.vector_assignment(node, lanes)
            return
        if isinstance(node.rvalue, c_ast.Assignment):
            self.assignment(node.rvalue)
            node = c_ast.Assignment(node.op, node.lvalue, node.rvalue.lvalue, node.coord)
        target = self.target(node.lvalue)
        value = self.value(node.rvalue)
        if target.type == ADDRESS:
            if target.variable is None or target.variable.offset == "0" or value.pointer is None or node.op != "=":
                raise NotUnderstood("an assignment of a pointer")
            self.emit(f"{target.code}, {target.variable.offset} = {value.pointer.cells}, {value.pointer.place}")
            return
        if target.variable is not None:
            self.stored_into(target.variable)
        if node.op != "=" and target.key and not re.fullmatch(r"\w+", target.key):
            key = self.fresh("k")
            self.hoisted.append(f"{key} = {target.key}")
            target = Target(target.code, key, target.type, target.node, target.pointer, target.variable)
        value = self.combined(node.op, target, value)
        self.emit(
            f"{target.read} = {value.code}.copied()"
            if target.type.kind == "struct"
            else f"{target.read} = {value.code}"
        )

    def vector_assignment(self, node: c_ast.Assignment, lanes: int) -> None:
        """All elements are computed before the first one is stored."""
        with self.in_lane("lane"):
            target = self.target(node.lvalue)
            value = self.combined(node.op, target, self.value(node.rvalue))
        name = self.fresh("row")
        self.emit(f"{name} = []")
        self.emit_one(f"for lane in range({lanes}): {name}.append({value.code})")
        self.emit_one(f"for lane in range({lanes}): {target.code}[{target.key}] = {name}[lane]")

    def stored_into(self, variable: Variable) -> None:
        """A variable is written: no other iteration of a loop with a pragma may have it."""
        for pragma in self.pragmas:
            if variable.number <= pragma.start and variable.code not in pragma.own:
                name = variable.code.split("_", 1)[1].rsplit("_", 1)[0]
                self.module.shared.append((self.line, f"iterations of a parallel loop share '{name}'"))

    # --- control -----------------------------------------------------------------------------------------------------

    def branch(self, node: c_ast.If) -> None:
        condition = self.arithmetic.condition(self.value(node.cond))
        self.emit(f"if {condition}:")
        then = self.new_block()
        otherwise = self.new_block() if node.iffalse is not None else 0
        line = self.line
        self.branch_body(node.iftrue, then)
        self.line = line
        if node.iffalse is not None:
            self.emit_one("else:")
            self.branch_body(node.iffalse, otherwise)

    def branch_body(self, node: c_ast.Node | None, number_of_block: int) -> None:
        with self.inside(), self.block():
            self.emit(f"covered({number_of_block})")
            self.statement(node)

    def with_pragma(self, pragma: str, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Label) and node.name.startswith(LABEL):
            raise NotUnderstood("two pragmas")
        words = pragma.split()[:3]
        if isinstance(node, c_ast.For) and (words[:3] == ["omp", "parallel", "for"] or words[:2] == ["omp", "simd"]):
            self.at(node)
            self.for_loop(node, pragma)
        elif words[:2] == ["omp", "atomic"]:
            self.emit("atomic(True)")
            self.statement(node)
            self.emit("atomic(False)")
        elif words[:2] == ["omp", "parallel"]:
            self.emit(f"for thread in range({THREADS}):")
            with self.inside():
                self.statement(node)
        else:
            raise NotUnderstood(f"the pragma {pragma}")

    def for_loop(self, node: c_ast.For, pragma: str) -> None:
        with self.block():
            before = None if isinstance(node.init, c_ast.DeclList) else node.init
            head = self.head(node)
            if head is None:
                if pragma:
                    raise NotUnderstood("a loop with a pragma that does not count")
                self.statement(node.init)
                self.general_loop(node.cond, node.next, node.stmt)
                return
            name, values, declared = head
            if declared is not None:
                assert isinstance(node.init, c_ast.DeclList)
                variable = self.variable(name, self.known.types.shape(node.init.decls[0].type))
            else:
                found = self.find(name)
                assert found is not None
                variable = found
                self.stored_into(variable)
            self.counted(node, variable, name, values, pragma, before is not None or declared is None)

    def counted(self, node: c_ast.For, variable: Variable, name: str, values: str, pragma: str, outer: bool) -> None:
        """A loop whose iterations are known when it begins."""
        kept, variable.data = variable.data, False
        self.counters.append((variable.code, name))
        block = self.new_block()
        number_found = f"rounds({values}, {block})"
        own = self.own_of(pragma)
        if outer:
            counted = self.fresh("r")
            self.emit(f"{counted} = {values}")
            self.emit(f"{variable.code} = {counted}.start")
            number_found = f"rounds({counted}, {block})"
        if pragma:
            self.check_reductions(pragma, node.stmt)
            reduced = [v.code for v in self.reduced(pragma) if v.is_array]
            arrays = "".join(f"{code}, " for code in reduced)
            number_found = f"parallel({number_found}, {block}, ({arrays}))"
            self.pragmas.append(Pragma(self.declared, own | {variable.code}, self.line))
        self.emit(f"for {variable.code} in {number_found}:")
        self.loops.append(Loop([]))
        before, inner = len(self.module.lines), self.module.inner
        self.module.inner = 0
        with self.inside(), self.block():
            self.statement(node.stmt)
        self.loops.pop()
        size = sum(len(line) + 80 * line.count("f_") for line in self.module.lines[before:])
        self.module.weights[block] = 1 + (size - self.module.inner) // LINE
        self.module.inner = inner + size
        if outer:
            self.emit_one("else:")
            self.emit_one(f"\t{variable.code} = {counted}.start + len({counted})*{counted}.step")
        if pragma:
            self.pragmas.pop()
        self.counters.pop()
        variable.data = kept and outer

    def own_of(self, pragma: str) -> frozenset[str]:
        """Variables that clauses give to each iteration, or combine."""
        found: set[str] = set()
        for match in _CLAUSE.finditer(pragma):
            if match[1] in ("private", "firstprivate", "lastprivate", "linear", "reduction"):
                for name in re.findall(r"\w+", match[2].split(":", 1)[-1] if match[1] == "reduction" else match[2]):
                    variable = self.find(name)
                    found |= {variable.code} if variable is not None else set()
        return frozenset(found)

    def check_reductions(self, pragma: str, body: c_ast.Node) -> None:
        """Whether a loop's body combines values as its clause says."""
        for match in _CLAUSE.finditer(pragma):
            operator, _, names = match[2].partition(":")
            if match[1] != "reduction" or operator.strip() in ("min", "max"):
                continue
            reduced = {*re.findall(r"[A-Za-z_]\w*", names)}
            allowed = {"+": ("+", "-"), "-": ("+", "-")}.get(operator.strip(), (operator.strip(),))
            for inner in walk(body):
                if not isinstance(inner, c_ast.Assignment) or not base_names(inner.lvalue) & reduced:
                    continue
                used = inner.op[:-1]
                if inner.op == "=" and isinstance(inner.rvalue, c_ast.BinaryOp):
                    used = inner.rvalue.op
                if used not in allowed:
                    message = f"a reduction with {operator.strip()} combines values with {used or '='}"
                    self.module.shared.append((self.line, message))

    def reduced(self, pragma: str) -> list[Variable]:
        found: list[Variable] = []
        for match in _CLAUSE.finditer(pragma):
            if match[1] == "reduction":
                for part in re.findall(r"[A-Za-z_]\w*", match[2].split(":", 1)[-1]):
                    variable = self.find(part)
                    found += [variable] if variable is not None else []
        return found

    def head(self, node: c_ast.For) -> tuple[str, str, c_ast.Decl | None] | None:
        """The variable of a loop that counts, its values as a range, and its declaration; None for another loop."""
        declared: c_ast.Decl | None = None
        match node.init:
            case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=start) as declared]) if start is not None:
                pass
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start) if not isinstance(
                start, c_ast.Assignment
            ):
                pass
            case _:
                return None
        step = self.step_of(node.next, name)
        match node.cond:
            case c_ast.BinaryOp(op=op, left=c_ast.ID(name=compared), right=end) if compared == name and op in _COMPARE:
                pass
            case c_ast.BinaryOp(op=turned, left=end, right=c_ast.ID(name=compared)) if (
                compared == name and turned in _COMPARE
            ):
                op = _TURNED[turned]
            case _:
                return None
        if step is None or (step > 0) != (op in ("<", "<=")):
            return None
        changed = changed_names(node.stmt)
        mentioned = {n.name for n in walk(end) if isinstance(n, c_ast.ID)}
        arrays = {f"{other}[]" for other in mentioned if (known := self.find(other)) is not None and known.is_array}
        if name in changed | mentioned or changed & (mentioned | arrays):
            return None
        variable = None if declared is not None else self.find(name)
        if declared is None and variable is None:
            return None
        shape = self.known.types.shape(declared.type) if declared is not None else variable.shape  # type: ignore[union-attr]
        if (
            shape.dims
            or shape.element.kind != "int"
            or (variable is not None and (variable.is_array or variable.lanes))
        ):
            return None
        first = self.arithmetic.converted(self.value(start), shape.element)
        last = self.value(end)
        if last.type.kind != "int":
            return None
        common = self.arithmetic.common(Value("", shape.element), last)
        if not common.signed and (shape.element.signed or step < 0):
            return None
        last = self.arithmetic.converted(last, common)
        offset = _COMPARE[op]
        stop = f"{summand(last.code)}{offset:+d}" if offset else last.code
        if last.constant is not None:
            stop = str(int(last.constant) + offset)
        return name, f"range({first.code}, {stop}, {step})", declared

    def step_of(self, node: c_ast.Node | None, name: str) -> int | None:
        match node:
            case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=stepped)) if stepped == name:
                return 1
            case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=stepped)) if stepped == name:
                return -1
            case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=stepped), rvalue=by) if stepped == name:
                sign = 1 if op == "+=" else -1
            case c_ast.Assignment(
                op="=",
                lvalue=c_ast.ID(name=stepped),
                rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=again), right=by),
            ) if stepped == again == name:
                sign = 1 if op == "+" else -1
            case _:
                return None
        size = self.known.types.constant(by)
        return None if not size else sign * size

    def general_loop(self, condition: c_ast.Node | None, step: c_ast.Node | None, body: c_ast.Node) -> None:
        """Any other loop."""
        again = self.lines_of(step)
        tested = "" if condition is None else f" and {closed(self.arithmetic.condition(self.value(condition)))}"
        self.emit(f"while step(){tested}:")
        self.loops.append(Loop(again))
        with self.inside(), self.block():
            self.emit(f"covered({self.new_block()})")
            self.statement(body)
            for line in again:
                self.emit(line)
        self.loops.pop()

    def do_loop(self, node: c_ast.DoWhile) -> None:
        tested = f"if not {closed(self.arithmetic.condition(self.value(node.cond)))}: break"
        self.emit("while step():")
        self.loops.append(Loop([tested]))
        with self.inside(), self.block():
            self.statement(node.stmt)
            self.emit(tested)
        self.loops.pop()

    def lines_of(self, node: c_ast.Node | None) -> list[str]:
        """A statement as lines that can be repeated."""
        start, depth = len(self.module.lines), self.depth
        self.depth = 0
        self.statement(node)
        self.depth = depth
        found = self.module.lines[start:]
        del self.module.lines[start:]
        for number_found in range(start, start + len(found)):
            self.module.places.pop(number_found + 1, None)
        return found


def changed_names(node: c_ast.Node) -> set[str]:
    """Names that a statement may change; `A[]` for an array that a call may change."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case c_ast.Assignment(lvalue=target) | c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=target):
                found |= base_names(target)
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=args) if args is not None and not harmless(name):
                found |= {f"{n.name}[]" for a in args.exprs for n in walk(a) if isinstance(n, c_ast.ID)}
                inside = [n for a in args.exprs for n in walk(a) if isinstance(n, c_ast.UnaryOp) and n.op == "&"]
                found |= {base for address in inside for base in base_names(address.expr)}
            case _:
                pass
    return found


def harmless(function: str) -> bool:
    """Whether a call changes nothing that has a name."""
    return (
        function in PURE
        or function == "__builtin_prefetch"
        or (function[:6] == "polyc_" and function != "polyc_stream")
    )


def base_names(node: c_ast.Node) -> set[str]:
    """The array or variable of something that is assigned to."""
    while not isinstance(node, c_ast.ID):
        match node:
            case c_ast.ArrayRef() | c_ast.StructRef():
                node = node.name
            case c_ast.FuncCall(args=args) if args is not None:
                node = args.exprs[0]
            case c_ast.UnaryOp() | c_ast.Cast():
                node = node.expr
            case c_ast.BinaryOp():
                return base_names(node.left) | base_names(node.right)
            case _:
                return set()
    return {node.name}


__all__ = ["INT", "Line", "Translation", "number", "translated"]
