"""Print the C tree as text that a person would have written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from polyc.analysis.expressions.facts import mentions
from polyc.codegen.text.macros import FLOORD, OUTER_SIMD, PLAIN_SIMD, SIMD
from polyc.errors import Span
from polyc.model import ctree as c
from polyc.records import dataclass, replace

INDENT = "  "
WIDTH = 120
"""Columns that conditions are broken at."""

_BINARY = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4,
}  # fmt: skip
_TERNARY, _ASSIGN, _COMMA, _UNARY, _POSTFIX, _PRIMARY = 3, 2, 1, 14, 15, 16
# gcc -Wall warns about these without parentheses, and people misread them.
_MIXED = {("&&", "||"), ("+", "<<"), ("-", "<<"), ("+", ">>"), ("-", ">>")}
_BITS = {"&", "^", "|"}


def expression(expr: c.Expr) -> str:
    """One expression as C text."""
    return _expr(expr)[0]


def conjunction(conditions: Iterable[c.Expr]) -> c.Expr | None:
    """All of some conditions; None for no condition."""
    found: c.Expr | None = None
    for condition in conditions:
        found = condition if found is None else c.Binary("&&", found, condition)
    return found


def broken(expr: c.Expr, column: int) -> str:
    """An expression that begins at a column: the parts of a conjunction on lines of their own where it is too wide."""
    text = expression(expr)
    if column + len(text) <= WIDTH or not (isinstance(expr, c.Binary) and expr.op == "&&"):
        return text
    parts: list[str] = []
    while isinstance(expr, c.Binary) and expr.op == "&&":
        parts.append(_at_least(expr.right, _BINARY["&&"] + 1))
        expr = expr.left
    return f"\n{INDENT * 3}&& ".join([_operand(expr, "&&"), *reversed(parts)])


def brackets(extents: Iterable[c.Expr]) -> str:
    """`[n][m + 1]`; `[(*n + 1)]`, as pycparser takes `[*` for a length that is not given."""
    texts = map(expression, extents)
    return "".join(f"[({text})]" if text.startswith("*") else f"[{text}]" for text in texts)


def _expr(expr: c.Expr) -> tuple[str, int]:
    """The text and its precedence."""
    match expr:
        case c.Literal(text=text):
            return text, _UNARY if text.startswith("-") else _PRIMARY
        case c.Name(name=name) | c.ArrayRef(array=name, subscripts=()):
            return name, _UNARY if name[0] == "*" else _PRIMARY
        case c.ArrayRef(array=array, subscripts=subscripts):
            return array + "".join(f"[{expression(subscript)}]" for subscript in subscripts), _POSTFIX
        case c.Subscript(base=base, index=index):
            return f"{_at_least(base, _POSTFIX)}[{expression(index)}]", _POSTFIX
        case c.Member(base=base, field=name, arrow=arrow):
            return f"{_at_least(base, _POSTFIX)}{'->' if arrow else '.'}{name}", _POSTFIX
        case c.Call(function=function, arguments=arguments):
            return f"{function}({', '.join(_at_least(a, _ASSIGN) for a in arguments)})", _POSTFIX
        case c.Postfix(op=op, operand=operand):
            return f"{_at_least(operand, _POSTFIX)}{op}", _POSTFIX
        case c.Unary(op=op, operand=operand):
            text = _at_least(operand, _UNARY)
            space = " " if text.startswith(op[-1]) and op in ("-", "+", "&", "--", "++") else ""
            return f"{op}{space}{text}", _UNARY
        case c.Cast(type=type_, operand=operand):
            return f"({type_}){_at_least(operand, _UNARY)}", _UNARY
        case c.SizeOf(text=text):
            return f"sizeof({text})", _PRIMARY
        case c.Binary():
            return _binary(expr)
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            text = f"{_at_least(condition, _TERNARY + 1)} ? {_at_least(then, _TERNARY)} : "
            return text + _at_least(otherwise, _TERNARY), _TERNARY
        case c.Assign(op=op, target=target, value=value):
            return f"{_at_least(target, _UNARY)} {op} {_at_least(value, _ASSIGN)}", _ASSIGN
        case c.Comma(items=items):
            return ", ".join(_at_least(i, _ASSIGN) for i in items), _COMMA
        case c.InitList(items=items):
            return "{" + ", ".join(_at_least(i, _ASSIGN) for i in items) + "}", _PRIMARY
        case _:
            assert_never(expr)


def _binary(expr: c.Binary) -> tuple[str, int]:
    level = _BINARY[expr.op]
    right = expr.right
    plain = isinstance(right, c.Binary) and _confusing(right.op, expr.op)
    after = f"({expression(right)})" if plain else _at_least(right, level + 1)
    return f"{_operand(expr.left, expr.op)} {expr.op} {after}", level


def _operand(expr: c.Expr, op: str) -> str:
    """What stands left of an operator."""
    if isinstance(expr, c.Binary) and _confusing(expr.op, op):
        return f"({expression(expr)})"
    return _at_least(expr, _BINARY[op])


def _confusing(inner: str, outer: str) -> bool:
    comparisons = ("<", ">", "<=", ">=", "==", "!=")
    if inner == outer:
        return inner in comparisons
    return (
        (inner, outer) in _MIXED
        or outer in _BITS
        or (outer in comparisons and inner in comparisons)
        or (inner in _BITS and outer in comparisons)
    )


def _at_least(expr: c.Expr, level: int) -> str:
    text, precedence = _expr(expr)
    return text if precedence >= level else f"({text})"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of printed C, and the place in the user's source that it comes from."""

    text: str
    span: Span | None = None
    """None for what polyc adds: declarations, copies, pragmas."""
    loops: tuple[Span, ...] = ()
    """Of a loop: the places of the user's loops that it runs."""


def statement(node: c.Stmt, depth: int = 0) -> list[str]:
    """One statement as lines, indented by `depth` levels."""
    return [line.text for line in lines_of(node, depth)]


def tested(condition: c.Expr) -> str:
    """A condition; an assignment with parentheses, without which C compilers take it for a slip."""
    text = expression(condition)
    return f"({text})" if isinstance(condition, c.Assign) else text


def lines_of(node: c.Stmt, depth: int = 0) -> list[Line]:
    """The same lines, each with where it comes from."""
    pad = INDENT * depth
    match node:
        case c.ExprStmt(expr=expr, pragmas=pragmas, span=span):
            return [*_pragmas(pragmas, node.worth, pad), Line(f"{pad}{expression(expr)};", span)]
        case c.Decl(span=span):
            return [Line(f"{pad}{declaration(node)};", span)]
        case c.Block(body=body):
            inner = [line for item in body for line in lines_of(item, depth + 1)]
            return [Line(f"{pad}{{"), *inner, Line(f"{pad}}}")]
        case c.If(condition=condition, then=then, otherwise=otherwise, span=span):
            head = Line(f"{pad}if ({tested(condition)})", span)
            lines = _headed(head, then, depth, force=otherwise is not None)
            if otherwise is not None:
                rest = _otherwise(otherwise, depth)
                joined = lines[-1].text.strip() == "}"
                first = replace(rest[0], text=f"{pad}}} {rest[0].text.strip()}")
                lines = [*lines[:-1], first, *rest[1:]] if joined else lines + rest
            return lines
        case c.For(init=init, condition=condition, step=step, body=body, pragmas=pragmas, span=span, runs=runs):
            text = f"{pad}for ({_for_part(init)}; {_for_part(condition)}; {_for_part(step)})"
            vectors = _vector_macro(node) if pragmas == (VECTORS,) else ""
            return [*_pragmas(pragmas, node.worth, pad, vectors), *_headed(Line(text, span, runs), body, depth)]
        case c.While(condition=condition, body=body, do_first=True, span=span):
            lines = _headed(Line(f"{pad}do", span), body, depth, force=True)
            return [*lines[:-1], Line(f"{pad}}} while ({tested(condition)});", span)]
        case c.While(condition=condition, body=body, span=span):
            return _headed(Line(f"{pad}while ({tested(condition)})", span), body, depth)
        case c.Jump(kind=kind, span=span):
            return [Line(f"{pad}{kind};", span)]
        case c.Comment(text=text):
            parts = text.replace("*/", "* /").splitlines() or [""]
            if len(parts) == 1:
                return [Line(f"{pad}/* {parts[0]} */")]
            middle = [f"{pad}   {part}".rstrip() for part in parts[1:]]
            return [Line(text) for text in (f"{pad}/* {parts[0]}", *middle[:-1], f"{middle[-1]} */")]
        case c.Note():
            return []
        case c.Empty():
            return [Line(f"{pad};")]
        case _:
            assert_never(node)


def declaration(node: c.Decl) -> str:
    """`type name[e] = init`, without the semicolon."""
    space = "" if node.type.endswith("*") else " "
    text = f"{node.type}{space}{node.name}" + brackets(node.extents)
    if node.aligned:
        text += f" __attribute__((aligned({node.aligned})))"
    return text if node.init is None else f"{text} = {_at_least(node.init, _ASSIGN)}"


def allocation(node: c.Decl, condition: c.Expr | None) -> str:
    """A pointer to what would be too large for the stack, used like the array; null where there is no memory, and where
    a condition does not hold."""
    rows = brackets(node.row)
    pointer = f"(*{node.name}){rows}" if rows else f"*{node.name}"
    size = c.SizeOf(f"{node.type}{brackets(node.extents)}")
    found: c.Expr = c.Call("__builtin_malloc", (size,))
    if condition is not None:
        found = c.Ternary(condition, found, c.Literal("0"))
    text = f"{INDENT}{node.type} {pointer} = "
    if isinstance(found, c.Ternary) and len(text) + len(expression(found)) > WIDTH:
        return f"{text}{broken(found.condition, WIDTH)} ? {expression(found.then)} : 0;".lstrip()
    return f"{text}{expression(found)};".lstrip()


def _for_part(part: c.Decl | c.Expr | None) -> str:
    if part is None:
        return ""
    return declaration(part) if isinstance(part, c.Decl) else expression(part)


UNROLL = "unroll"
"""What nvcc and the compilers of OpenCL call it."""
UNROLL_ON_CPU = "GCC unroll"
"""What gcc and clang call it."""

VECTORS = "omp simd"
"""What other builds have words for, too (`macros.py`); but not where values are summed up."""
FEW = 32
"""Iterations, at most, of a loop that compilers may write out."""
ATOMIC = "omp atomic"
WITHOUT_OPENMP = ("#elif defined(__GNUC__) && !defined(__clang__)", "#pragma GCC ivdep")
"""What other builds are told of a parallel loop in vectors."""
_WITH_CONDITION = re.compile(r"omp parallel(?: for)?( simd)?")
"""Directives of OpenMP that polyc prints with an `if` clause, which stands first."""


def _pragmas(pragmas: tuple[str, ...], worth: c.Expr | None, pad: str, vectors: str = "") -> list[Line]:
    """OpenMP's pragmas, hidden from compilers that are run without it (they would warn), and those of kernels.

    vectors: the macro of a vector loop
    """
    if not pragmas:
        return []
    if worth is not None:
        directive = _WITH_CONDITION.match(pragmas[0])
        assert directive is not None, pragmas[0]
        of = "parallel: " if directive[1] else ""
        clause = f"{directive[0]} if ({of}{expression(worth)}){pragmas[0][directive.end() :]}"
        pragmas = (clause, *pragmas[1:])
    if pragmas[0].startswith((UNROLL, UNROLL_ON_CPU)):
        return [Line(f"#pragma {pragmas[0]}")]
    if vectors:
        return [Line(f"{pad}{vectors}")]
    others = WITHOUT_OPENMP if pragmas[0].startswith("omp parallel for simd") else ()
    return [Line(text) for text in ("#ifdef _OPENMP", *(f"#pragma {text}" for text in pragmas), *others, "#endif")]


def _vector_macro(loop: c.For) -> str:
    """What stands before a vector loop."""
    inner = (node.condition for node in c.walk(loop.body) if isinstance(node, c.For))
    if any(not (isinstance(end, c.Binary) and isinstance(end.right, c.Literal)) for end in inner):
        return OUTER_SIMD  # others are short, and written out before
    return PLAIN_SIMD if _is_plain(loop) else SIMD


def _is_plain(loop: c.For) -> bool:
    """Whether clang makes vectors of a loop whose iterations do not depend on each other: it is no short one, ends
    where sums and products say, and has nothing but sums, differences, products and quotients of neighbouring
    elements."""
    match loop:
        case c.For(init=c.Decl(name=name, init=start), condition=c.Binary(right=end)) if start is not None:
            pass
        case _:
            return False
    begins = mentions(start)
    near = [end, *(end.arguments if isinstance(end, c.Call) else ())]
    if any(isinstance(node, c.Call) and node.function == FLOORD for node in c.walk(end)):
        return False  # clang finds no number of iterations
    return not any(_is_near(one, begins) for one in near) and _is_arithmetic(loop.body, name)


def _is_near(end: c.Expr, begins: set[str]) -> bool:
    """Whether a loop that ends there, or earlier, has few iterations: compilers write it out."""
    match end:
        case c.Binary(op="+", left=c.Name(name=name), right=more):
            return name in begins and isinstance(more, c.Literal) and _is_near(more, begins)
        case c.Literal(text=text):
            return not text.isdigit() or int(text) <= FEW
    return False


def _is_arithmetic(node: c.Stmt, loop: str) -> bool:
    def plain(expr: c.Expr) -> bool:
        match expr:
            case c.Literal() | c.Name():
                return True
            case c.ArrayRef(subscripts=subscripts):
                *outer, last = subscripts or (c.Literal("0"),)
                steps = not any(loop in mentions(one) for one in outer)
                return steps and all(isinstance(n, c.Name | c.Literal) or _adds(n) for n in c.walk(last))
            case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                return plain(left) and plain(right)
            case c.Unary(op="-", operand=operand):
                return plain(operand)
        return False

    match node:
        case c.Block(body=items):
            return all(_is_arithmetic(item, loop) for item in items if not isinstance(item, c.Comment))
        case c.Decl(type="float" | "double", extents=(), init=init) if init is not None:
            return plain(init)
        case c.ExprStmt(expr=c.Assign(op="=" | "+=" | "-=" | "*=", target=target, value=value)):
            return plain(target) and plain(value)
    return False


def _adds(node: c.Node) -> bool:
    return isinstance(node, c.Binary) and node.op in "+-"


def _headed(head: Line, body: c.Stmt, depth: int, force: bool = False) -> list[Line]:
    """A loop or branch with its body; braces where the body is more than one simple statement."""
    if isinstance(body, c.Block) and len(body.body) == 1 and _needs_no_braces(body.body[0]) and not force:
        body = body.body[0]
    if isinstance(body, c.Block) or force or not _needs_no_braces(body):
        block = body if isinstance(body, c.Block) else c.Block((body,))
        lines = lines_of(block, depth)
        return [replace(head, text=f"{head.text} {{"), *lines[1:]]
    return [head, *lines_of(body, depth + 1)]


def _otherwise(body: c.Stmt, depth: int) -> list[Line]:
    """The other branch of an `if`: `else if` where it is one by itself."""
    only = body.body[0] if isinstance(body, c.Block) and len(body.body) == 1 else body
    if not isinstance(only, c.If):
        return _headed(Line(f"{INDENT * depth}else"), body, depth)
    first, *rest = lines_of(only, depth)
    return [replace(first, text=f"{INDENT * depth}else {first.text.strip()}"), *rest]


def _needs_no_braces(node: c.Stmt) -> bool:
    """Whether the statement reads well (and parses) as the only one under a head, without braces."""
    match node:
        case c.For(pragmas=pragmas, body=body):
            return not pragmas and (_needs_no_braces(body) or isinstance(body, c.Block))
        case c.If(then=then, otherwise=None):
            return _needs_no_braces(then) and not isinstance(then, c.If)
        case c.ExprStmt() | c.Empty() | c.Jump():
            return True
        case _:
            return False
