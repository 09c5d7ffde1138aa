"""Loops that count: their variable, its values, and what their bodies change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.frontend.c.ctype import Shape
from polyc.frontend.c.functions import PURE
from polyc.frontend.text.trees import walk
from polyc.records import dataclass
from polyc.replay.translate.values import Value, Variable, summand

if TYPE_CHECKING:
    from polyc.replay.translate.expressions import Expressions

_COMPARE = {"<": 0, "<=": 1, ">": 0, ">=": -1}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Head:
    """What a loop that counts goes through."""

    name: str
    shape: Shape
    values: str
    """A range of Python."""
    variable: Variable | None
    """The one that counts; None where the loop declares it."""
    large: bool
    """Whether it may begin so high that a sum with it leaves the range of its type."""


def head_of(e: Expressions, node: c_ast.For) -> Head | None:
    """The head of a loop that counts; None for another loop."""
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=start, type=declared)]) if start is not None:
            variable, shape = None, e.known.types.shape(declared)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start) if (
            not isinstance(start, c_ast.Assignment) and (variable := e.find(name)) is not None
        ):
            shape = variable.shape
        case _:
            return None
    if shape.dims or shape.element.kind != "int" or (variable is not None and (variable.is_array or variable.lanes)):
        return None
    step, (op, end) = step_of(e, node.next, name), end_of(node.cond, name)
    if not step or end is None or (step > 0) != (op in ("<", "<=")):
        return None
    changed = changed_names(node.stmt)
    mentioned = {n.name for n in walk(end) if isinstance(n, c_ast.ID)}
    arrays = {f"{other}[]" for other in mentioned if (known := e.find(other)) is not None and known.is_array}
    if name in changed | mentioned or changed & (mentioned | arrays):
        return None
    first, last = e.arithmetic.converted(e.value(start), shape.element), e.value(end)
    if last.type.kind != "int":
        return None
    common = e.arithmetic.common(Value("", shape.element), last)
    if not common.signed and (shape.element.signed or step < 0):
        return None
    last = e.arithmetic.converted(last, common)
    offset = _COMPARE[op]
    stop = f"{summand(last.code)}{offset:+d}" if offset else last.code
    if last.constant is not None:
        stop = str(int(last.constant) + offset)
    return Head(name, shape, f"range({first.code}, {stop}, {step})", variable, first.large and not shape.element.signed)


def end_of(node: c_ast.Node | None, name: str) -> tuple[str, c_ast.Node | None]:
    """What a variable is compared with, and how, the variable on the left."""
    match node:
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=compared), right=end) if compared == name and op in _COMPARE:
            return op, end
        case c_ast.BinaryOp(op=op, left=end, right=c_ast.ID(name=compared)) if compared == name and op in _COMPARE:
            return _TURNED[op], end
    return "", None


def step_of(e: Expressions, node: c_ast.Node | None, name: str) -> int:
    """What a variable changes by; 0 where that is no constant."""
    match node:
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=c_ast.ID(name=stepped)) if stepped == name:
            return 1 if op[-1] == "+" else -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=stepped), rvalue=by) if stepped == name:
            pass
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=stepped),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=again), right=by),
        ) if stepped == again == name:
            pass
        case _:
            return 0
    size = e.known.types.constant(by) or 0
    return size if op[0] == "+" else -size


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


def of_one_iteration(body: c_ast.Node, counter: str) -> set[str]:
    """Names that a loop's body mentions in one iteration only: below conditions that the counter has one and the same
    value."""
    changed = changed_names(body) | {counter}
    around: dict[str, list[frozenset[str]]] = {}

    def descend(node: c_ast.Node, values: frozenset[str]) -> None:
        if isinstance(node, c_ast.ID):
            around.setdefault(node.name, []).append(values)
        for name, child in node.children():
            inside = isinstance(node, c_ast.If) and name == "iftrue"
            descend(child, values | frozenset(_values_of(node.cond, counter, changed)) if inside else values)

    descend(body, frozenset())
    return {name for name, found in around.items() if frozenset.intersection(*found)}


def _values_of(condition: c_ast.Node, counter: str, changed: set[str]) -> Iterator[str]:
    """What a counter has to be for a condition to hold, as far as no iteration changes that: k - 1 of `i + 1 == k`."""
    match condition:
        case c_ast.BinaryOp(op="&&", left=left, right=right):
            yield from _values_of(left, counter, changed)
            yield from _values_of(right, counter, changed)
        case c_ast.BinaryOp(op="==", left=left, right=right):
            factor, terms = 0, Counter[str]()
            for term, sign in (*_terms(left, 1), *_terms(right, -1)):
                if isinstance(term, c_ast.ID) and term.name == counter:
                    factor += sign
                elif isinstance(term, c_ast.Constant) and term.value.isdecimal() and term.value[0] != "0":
                    terms["1"] += sign * int(term.value)
                elif _is_the_same(term, changed):
                    terms[CGenerator().visit(term)] += sign
                else:
                    return
            if abs(factor) == 1:
                yield str(sorted((text, factor * times) for text, times in terms.items() if times))


def _terms(node: c_ast.Node, sign: int) -> Iterator[tuple[c_ast.Node, int]]:
    """The terms of a sum, each with 1 or -1."""
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if node.op == "+" else -sign)
    else:
        yield node, sign


def _is_the_same(value: c_ast.Node, changed: set[str]) -> bool:
    """Whether a value is the same in all iterations."""
    parts = list(walk(value))
    plain = all(isinstance(part, c_ast.Constant | c_ast.ID | c_ast.BinaryOp) for part in parts)
    return plain and changed.isdisjoint(part.name for part in parts if isinstance(part, c_ast.ID))


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
