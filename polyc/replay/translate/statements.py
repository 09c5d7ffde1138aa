"""Statements of C as text of Python: what each one does, cell by cell."""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.frontend.c.ctype import INT
from polyc.model.scop import CType
from polyc.records import dataclass, field
from polyc.replay.machine.memory import THREADS
from polyc.replay.machine.reading import LABEL, NotUnderstood
from polyc.replay.translate.declarations import Declarations
from polyc.replay.translate.loops import PARALLEL, Pragma, collapsed, do_loop, for_loop, general_loop
from polyc.replay.translate.values import ADDRESS, Target, Variable, closed, number


@dataclass(slots=True, eq=False, kw_only=True)
class Statements(Declarations):
    """The translation of one function's body."""

    loops: list[list[str]] = field(default_factory=list)
    """Of each loop around this place, what runs before its next iteration."""
    pragmas: list[Pragma] = field(default_factory=list)
    together: set[int] = field(default_factory=set)
    """Loops, by identity, that share the threads of the loop around them."""
    result: CType = INT
    """What a function of the user's returns."""

    def statement(self, node: c_ast.Node | None) -> None:
        if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Typedef | c_ast.Pragma | c_ast.StaticAssert):
            return
        self.at(node)
        match node:
            case c_ast.Compound():
                with self.block():
                    for item in node.block_items or []:
                        self.statement(item)
            case c_ast.Decl():
                self.declaration(node)
            case c_ast.DeclList(decls=items) | c_ast.ExprList(exprs=items):
                for item in items:
                    self.statement(item)
            case c_ast.If():
                self.branch(node)
            case c_ast.For():
                for_loop(self, node, PARALLEL if id(node) in self.together else "")
            case c_ast.While():
                with self.block():
                    general_loop(self, node.cond, None, node.stmt)
            case c_ast.DoWhile():
                do_loop(self, node)
            case c_ast.Label(name=name) if name.startswith(LABEL):
                self.with_pragma(self.known.pragmas[int(name.removeprefix(LABEL))], node.stmt)
            case c_ast.Label():
                self.statement(node.stmt)
            case c_ast.Break():
                self.emit("break")
            case c_ast.Continue():
                for line in self.loops[-1]:
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
            case c_ast.Cast(to_type=to, expr=inner) if self.known.types.shape(to).element.text == "void":
                if isinstance(inner, c_ast.FuncCall):
                    self.statement(inner)
            case c_ast.FuncCall(name=c_ast.ID(name="polyc_all_apart")):
                (answer,) = node.args.exprs
                self.assignment(c_ast.Assignment("&=", answer, c_ast.FuncCall(node.name, None)))
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in ("__builtin_free", "free", "__builtin_prefetch"):
                pass
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if self.moves_memory(name):
                self.memory(name.removeprefix("__builtin_"), node.args.exprs)
            case _:
                self.emit(self.value(node).code or "pass")

    def moves_memory(self, name: str) -> bool:
        return name.removeprefix("__builtin_") in ("memcpy", "memmove", "memset") and name not in self.known.bodies

    def memory(self, name: str, arguments: list[c_ast.Node]) -> None:
        """A call of `memcpy`, `memmove` or `memset`, of elements of one type."""
        to = self.pointer(arguments[0])
        element = to.shape.element
        size = element.size_bytes
        if not size:
            raise NotUnderstood(f"a call of {name}")
        count = f"{closed(self.value(arguments[2]).code)}//{size}"
        if name == "memset":
            value = self.value(arguments[1]).constant
            if value is None or element.kind not in ("int", "float") or element.text == "_Bool":
                raise NotUnderstood("memory that is set")
            if value and element.kind == "float":
                raise NotUnderstood("memory that is set")
            repeated = int.from_bytes(bytes([int(value) % 256]) * size, "little", signed=element.signed)
            self.emit(f"fill({to.cells}, {to.place}, {count}, {self.stored(number(repeated), element)})")
            return
        source = self.pointer(arguments[1])
        if element != source.shape.element:
            raise NotUnderstood("a copy of memory")
        self.emit(f"stream({to.cells}, {to.place}, {source.cells}, {source.place}, {count})")

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
        if target.type == ADDRESS and node.op in ("+=", "-="):
            self.emit(self.stepped_pointer(target, node.op, value.code))
            return
        if target.type == ADDRESS:
            if target.variable is None or target.variable.offset == "0" or value.pointer is None or node.op != "=":
                raise NotUnderstood("an assignment of a pointer")
            self.emit(f"{target.code}, {target.variable.offset} = {value.pointer.cells}, {value.pointer.place}")
            return
        if target.variable is not None:
            self.written(target.variable)
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

    def written(self, variable: Variable) -> None:
        """A variable is written: no other iteration of a loop with a pragma may have it. Where nothing else uses it, a
        run shows whether it is one iteration alone that has something to add to it."""
        for pragma in self.pragmas:
            if variable.number <= pragma.start and variable.code not in pragma.own:
                name = variable.code.split("_", 1)[1].rsplit("_", 1)[0]
                if pragma.changes_only(name):
                    begin = self.module.lines[pragma.line]
                    self.module.lines[pragma.line] = begin.replace("pass", f"{pragma.seen} = {{}}")
                    self.emit(f"alone({pragma.seen}, {name!r}, {pragma.counter})")
                else:
                    self.module.shared.append((self.line, f"iterations of a parallel loop share '{name}'"))

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
            self.together |= {id(inner) for inner in collapsed(node, pragma)}
            for_loop(self, node, pragma)
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
