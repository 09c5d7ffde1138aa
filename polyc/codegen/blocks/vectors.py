"""Loops over the lanes of a vector as operations on vectors, in the vector types of gcc and clang.

`for (j = 0; j < 8; ++j) s[i][8 * v + j] += a[k][i] * b[k][8 * v + j];` is what the tree says, and what the check of
the text reads. It is printed as `polyc_double8(s[i][8 * v]) += a[k][i] * polyc_double8(b[k][8 * v]);`: an element that
is the same for all lanes stays a scalar, which these types allow beside a vector. Compilers find the first form hard
to see through; the second one says which registers there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from polyc.analysis.expressions.facts import mentions
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.records import dataclass, field, replace

_OPERATORS = ("+", "-", "*", "/")
_DIGITS = r"(\d+\.\d*|\.\d+)([eE][-+]?\d+)?"
_FLOATING = {"double": re.compile(_DIGITS), "float": re.compile(_DIGITS + "[fF]")}
_NEVER = re.compile(r"(?!)")
SIMD = "omp simd"


@dataclass(slots=True)
class VectorTypes:
    """The vector types that a region's text uses."""

    found: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """Name -> element type, lanes, bytes of an element."""
    lookups: set[str] = field(default_factory=set)
    """Those of rows in which elements are looked up."""
    bytes: set[tuple[str, int]] = field(default_factory=set)
    """The same for rows of bytes, with how many elements of one are read."""

    def name(self, element: str, lanes: int, size_bytes: int) -> str:
        name = f"polyc_{element.replace(' ', '_')}{lanes}"
        self.found[name] = element, lanes, size_bytes
        return name

    def macros(self) -> list[str]:
        """What makes a vector of the elements that start at one."""
        vectors = [f"#define {name}(x) (*({name} *)&(x))" for name in sorted(self.found)]
        vectors += [_lookup(name, self.found[name][1]) for name in sorted(self.lookups)]
        return vectors + [_byte_lookup(name, count) for name, count in sorted(self.bytes)]

    def types(self) -> list[str]:
        """Their declarations: for elements at any address, which other pointers may name too."""
        return [
            f"typedef {element} {name} __attribute__((vector_size({lanes * size}), aligned({size}), may_alias));"
            for name, (element, lanes, size) in sorted(self.found.items())
        ]


def _lookup(vector: str, lanes: int) -> str:
    """What finds the elements k of a row of n in two vectors, which overlap where n is less than twice their lanes.

    clang has no permutation by a vector that is known at run time only: it loads the elements.
    """
    head = f"#define polyc_lookup_{vector.removeprefix('polyc_')}(row, n, k)"
    moved = f"(k) + (((k) > {lanes - 1}) & ({2 * lanes} - (int)(n)))"
    loads = ", ".join(f"(row)[(k)[{lane}]]" for lane in range(lanes))
    lines = (
        "#if defined(__GNUC__) && !defined(__clang__)",
        f"{head} __builtin_shuffle({vector}(*(row)), {vector}((row)[(n) - {lanes}]), {moved})",
        "#else",
        f"{head} (({vector}){{{loads}}})",
        "#endif",
    )
    return "\n".join(lines)


def _byte_lookup(vector: str, count: int) -> str:
    """What finds elements of a row of so many bytes: number k of its part p, where a part is 128 elements in two
    vectors.

    Without AVX-512 VBMI there is no permutation of so many bytes: the elements are loaded.
    """
    short = vector.removeprefix("polyc_")
    pair, either = f"polyc_pair_{short}", f"polyc_either_{short}"
    part = f"({vector})(((p) & (bit)) != 0)"
    steps = [f"#define {pair}(row, k, p) __builtin_shuffle({vector}(*(row)), {vector}((row)[64]), k)"]
    steps += [f"#define {either}(p, bit, one, other) (({part} & (one)) | (~{part} & (other)))"] * (count > 128)
    name = pair
    for size in (256, 512, 1024):
        if size <= count:
            half = size // 2
            halves = f"{name}((row) + {half}, k, p), {name}(row, k, p)"
            name = f"polyc_lookup{size}_{short}"
            steps.append(f"#define {name}(row, k, p) {either}(p, {half // 128}, {halves})")
    if count == 128:
        steps.append(f"#define polyc_lookup128_{short}(row, k, p) {pair}(row, k, p)")
    loads = f"{vector} polyc_v; for (int polyc_l = 0; polyc_l < 64; polyc_l++) "
    loads += "polyc_v[polyc_l] = (row)[(k)[polyc_l] % 128 + 128 * (p)[polyc_l]]; polyc_v;"
    lines = (
        "#if defined(__AVX512VBMI__) && !defined(__clang__)",
        *reversed(steps),
        "#else",
        f"#define polyc_lookup{count}_{short}(row, k, p) __extension__({{ {loads} }})",
        "#endif",
    )
    return "\n".join(lines)


class _NotAVector(Exception):
    """Why a loop over lanes stays a loop."""


def with_vectors(body: Iterable[c.Stmt], program: Program, types: VectorTypes) -> tuple[c.Stmt, ...]:
    """The statements with vector operations for loops over lanes; the types that these have are added."""
    printer = _Vectors(program, types)
    return tuple(c.rewrite(item, printer.change) for item in body)


class _Vectors:
    def __init__(self, program: Program, types: VectorTypes) -> None:
        self.program = program
        self.types = types
        arrays = program.scop.arrays
        self.elements = {a.c_name: a.element for a in arrays.values()} | {a.name: a.element for a in arrays.values()}
        self.elements |= {b.name: arrays[b.array].element for b in program.buffers.values()}

    def change(self, node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not node.lanes:
            return None
        assert isinstance(node.init, c.Decl)
        known = dict(self.types.found)
        try:
            if not _runs(node, node.init, node.lanes):
                raise _NotAVector("another number of iterations")
            return c.Block(tuple(self.statement(s, node.init.name, node.lanes) for s in _statements(node.body)))
        except _NotAVector:
            self.types.found = known  # compilers warn of a type that nothing has
            return replace(node, lanes=0, pragmas=(SIMD,) if self.program.options.target == "openmp" else ())

    def statement(self, node: c.Stmt, lane: str, lanes: int) -> c.Stmt:
        match node:
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef() as target, value=value)):
                if op != "=" and op.rstrip("=") not in _OPERATORS:
                    raise _NotAVector(op)
                element = self.elements[target.array]
                place, moved = self.operand(target, lane, lanes, element.text)
                result, vector = self.operand(value, lane, lanes, element.text)
                if not moved or not (vector or op != "="):
                    raise _NotAVector("a scalar")
                return replace(node, expr=c.Assign(op, place, result))
            case _:
                raise _NotAVector("no assignment")

    def operand(self, node: c.Expr, lane: str, lanes: int, element: str) -> tuple[c.Expr, bool]:
        """The expression for all lanes, and whether it is a vector."""
        match node:
            case c.ArrayRef(array=array, subscripts=subscripts):
                kind = self.elements.get(array)
                if kind is None or kind.text != element or not kind.size_bytes:
                    raise _NotAVector(array)
                if not any(lane in mentions(s) for s in subscripts):
                    return node, False
                if any(lane in mentions(s) for s in subscripts[:-1]):
                    raise _NotAVector(array)
                start = replace(node, subscripts=(*subscripts[:-1], _without(subscripts[-1], lane)))
                return c.Call(self.types.name(element, lanes, kind.size_bytes), (start,)), True
            case c.Binary(op=op, left=left, right=right) if op in _OPERATORS:
                one, first = self.operand(left, lane, lanes, element)
                two, second = self.operand(right, lane, lanes, element)
                return replace(node, left=one, right=two), first or second
            case c.Unary(op="-", operand=operand):
                inner, is_vector = self.operand(operand, lane, lanes, element)
                return replace(node, operand=inner), is_vector
            case c.Literal(text=text) if _FLOATING.get(element, _NEVER).fullmatch(text):
                return node, False
            case _:
                raise _NotAVector("an operation that vectors do not have")


def _runs(node: c.For, start: c.Decl, lanes: int) -> bool:
    """Whether the loop runs from 0 to the number of lanes, whatever the loops around it are at."""
    match start.init, node.condition, node.step:
        case (
            c.Literal(text="0"),
            c.Binary(op="<", left=c.Name(name=name), right=c.Literal(text=end)),
            c.Postfix(op="++"),
        ):
            return name == start.name and end == str(lanes)
        case _:
            return False


def _statements(body: c.Stmt) -> tuple[c.Stmt, ...]:
    items = body.body if isinstance(body, c.Block) else (body,)
    return tuple(item for item in items if not isinstance(item, c.Note))


def _without(node: c.Expr, lane: str) -> c.Expr:
    """The subscript in the first lane, where the lane is one summand of it."""
    match node:
        case c.Name(name=name) if name == lane:
            return c.Literal("0")
        case c.Binary(op="+", left=left, right=c.Name(name=name)) if name == lane and lane not in mentions(left):
            return left
        case c.Binary(op="+", left=c.Name(name=name), right=right) if name == lane and lane not in mentions(right):
            return right
        case c.Binary(op="+" | "-", left=left, right=right) if lane not in mentions(right):
            return replace(node, left=_without(left, lane))
        case c.Binary(op="+", left=left, right=right) if lane not in mentions(left):
            return replace(node, right=_without(right, lane))
        case _:
            raise _NotAVector("neighbours are no neighbours in memory")


__all__ = ["VectorTypes", "with_vectors"]
