"""Loops of C as text of Python, and what their pragmas say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pycparser import c_ast

from polyc.frontend.text.trees import walk
from polyc.records import dataclass
from polyc.replay.machine.reading import NotUnderstood
from polyc.replay.translate.heads import Head, base_names, head_of, of_one_iteration
from polyc.replay.translate.values import Variable, closed

if TYPE_CHECKING:
    from polyc.replay.translate.statements import Statements

LINE = 160
"""Characters of a statement of Python that costs as much as a plain one."""
OWN = ("private", "firstprivate", "lastprivate", "linear")
"""Clauses that give each iteration a variable of its own."""
_CLAUSE = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
PARALLEL = "omp parallel for"
_COLLAPSE = re.compile(r"\bcollapse\s*\(\s*(\d+)\s*\)")


@dataclass(frozen=True, slots=True)
class Pragma:
    """A loop with a pragma around a statement."""

    start: int
    """Variables with smaller numbers were declared outside of it."""
    own: frozenset[str]
    """Variables that each iteration has for itself, that one iteration has, or that are combined."""
    body: c_ast.Node
    counter: str
    """The text's name of the variable that counts."""
    seen: str
    """The text's name of what is known, in a run of the loop, of the iterations that write variables."""
    line: int
    """Where the text may give that a value: the position of a line that does nothing."""

    def changes_only(self, name: str) -> bool:
        """Whether the loop mentions a variable just where it changes it."""
        nodes = list(walk(self.body))
        targets = [n.lvalue for n in nodes if isinstance(n, c_ast.Assignment)]
        changed = sum(isinstance(target, c_ast.ID) and target.name == name for target in targets)
        mentioned = sum(isinstance(n, c_ast.ID) and n.name == name for n in nodes)
        return bool(changed == mentioned)


def collapsed(node: c_ast.For, pragma: str) -> list[c_ast.For]:
    """The loops inside of one that share its threads."""
    found = _COLLAPSE.search(pragma)
    together = [node]
    while found is not None and len(together) < int(found[1]):
        body = together[-1].stmt
        items = list(body.block_items or []) if isinstance(body, c_ast.Compound) else [body]
        if len(items) != 1 or not isinstance(items[0], c_ast.For):
            raise NotUnderstood("a loop that shares the threads of what is not directly around it")
        together.append(items[0])
    return together[1:]


def for_loop(f: Statements, node: c_ast.For, pragma: str) -> None:
    with f.block():
        head = head_of(f, node)
        if head is not None:
            counted(f, node, head, pragma)
        elif pragma:
            raise NotUnderstood("a loop with a pragma that does not count")
        else:
            f.statement(node.init)
            general_loop(f, node.cond, node.next, node.stmt)


def counted(f: Statements, node: c_ast.For, head: Head, pragma: str) -> None:
    """A loop whose iterations are known when it begins."""
    variable, values = head.variable, head.values
    if variable is None:
        variable = f.variable(head.name, head.shape)
    else:  # it has a value afterwards
        f.written(variable)
        values = f.fresh("r")
        f.emit(f"{values} = {head.values}")
        f.emit(f"{variable.code} = {values}.start")
    kept, variable.large = variable.large, head.large
    f.counters.append((variable.code, head.name))
    block = f.new_block()
    rounds = f"rounds({values}, {block})"
    if pragma:
        combined = combined_by(f, pragma, node.stmt)
        arrays = "".join(f"{v.code}, " for v in combined if v.is_array)
        rounds = f"parallel({rounds}, {block}, ({arrays}))"
        own = [variable, *combined, *(v for word, _, found in clauses(f, pragma) if word in OWN for v in found)]
        once = [known for name in of_one_iteration(node.stmt, head.name) if (known := f.find(name)) is not None]
        f.emit("pass")
        seen, line = f.fresh("w"), len(f.module.lines) - 1
        owned = frozenset(v.code for v in (*own, *once))
        f.pragmas.append(Pragma(f.declared, owned, node.stmt, variable.code, seen, line))
    f.emit(f"for {variable.code} in {rounds}:")
    body(f, node.stmt, block)
    if pragma:
        f.pragmas.pop()
    f.counters.pop()
    variable.large = kept and head.variable is not None
    if head.variable is not None:
        f.emit_one("else:")
        f.emit_one(f"\t{variable.code} = {values}.start + len({values})*{values}.step")


def body(f: Statements, node: c_ast.Node, block: int) -> None:
    """What a loop that counts repeats, and what one iteration costs."""
    before, inner = len(f.module.lines), f.module.inner
    f.module.inner = 0
    f.loops.append([])
    with f.inside(), f.block():
        f.statement(node)
    f.loops.pop()
    size = sum(len(line) + 80 * line.count("f_") for line in f.module.lines[before:])
    f.module.weights[block] = 1 + (size - f.module.inner) // LINE
    f.module.inner = inner + size


def general_loop(f: Statements, condition: c_ast.Node | None, step: c_ast.Node | None, body: c_ast.Node) -> None:
    """Any other loop."""
    again = lines_of(f, step)
    tested = "" if condition is None else f" and {closed(f.arithmetic.condition(f.value(condition)))}"
    f.emit(f"while step(){tested}:")
    f.loops.append(again)
    with f.inside(), f.block():
        f.emit(f"covered({f.new_block()})")
        f.statement(body)
        for line in again:
            f.emit(line)
    f.loops.pop()


def do_loop(f: Statements, node: c_ast.DoWhile) -> None:
    tested = f"if not {closed(f.arithmetic.condition(f.value(node.cond)))}: break"
    f.emit("while step():")
    f.loops.append([tested])
    with f.inside(), f.block():
        f.statement(node.stmt)
        f.emit(tested)
    f.loops.pop()


def lines_of(f: Statements, node: c_ast.Node | None) -> list[str]:
    """A statement as lines that can be repeated."""
    start, depth = len(f.module.lines), f.depth
    f.depth = 0
    f.statement(node)
    f.depth = depth
    found = f.module.lines[start:]
    del f.module.lines[start:]
    for number_found in range(start, start + len(found)):
        f.module.places.pop(number_found + 1, None)
    return found


def clauses(f: Statements, pragma: str) -> Iterator[tuple[str, str, list[Variable]]]:
    """The clauses of a pragma: the word, the operator of a reduction, and the variables."""
    for match in _CLAUSE.finditer(pragma):
        operator, _, names = match[2].partition(":") if match[1] == "reduction" else ("", "", match[2])
        found = [f.find(name) for name in _NAME.findall(names)]
        yield match[1], operator.strip(), [variable for variable in found if variable is not None]


def combined_by(f: Statements, pragma: str, node: c_ast.Node) -> list[Variable]:
    """The variables of a loop's reductions; the body has to combine them as the clauses say."""
    stores = [inner for inner in walk(node) if isinstance(inner, c_ast.Assignment)]
    combined: list[Variable] = []
    for word, operator, variables in clauses(f, pragma):
        if word != "reduction":
            continue
        combined += variables
        allowed = {"+": ("+", "-"), "-": ("+", "-")}.get(operator, (operator,))
        for store in stores if operator not in ("min", "max") else ():
            if not any(f.find(name) in variables for name in base_names(store.lvalue)):
                continue
            is_sum = store.op == "=" and isinstance(store.rvalue, c_ast.BinaryOp)
            used = store.rvalue.op if is_sum else store.op[:-1]
            if used not in allowed:
                message = f"a reduction with {operator} combines values with {used or '='}"
                f.module.shared.append((f.line, message))
    return combined
