"""The printed statements of a region as a program of their own, read by the frontend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyc.codegen.exprs import FLOORD, MAX, MIN
from polyc.codegen.instances import NOTED
from polyc.codegen.loops import taken_names
from polyc.codegen.printer import statement
from polyc.errors import UserError
from polyc.frontend.read import read_text
from polyc.frontend.region import FlatShape, Given
from polyc.model import ctree as c
from polyc.model.program import InputOptions, Program
from polyc.model.scop import Region, Scop, Storage
from polyc.runtime.csource import Unrunnable, declarations, is_rows, plain_name, with_names


class NotComparable(Exception):
    """The text cannot be compared: nothing is known to be wrong with it. The message says why."""


class Undeclared(Exception):
    """The text names what nobody declares, and what the region as it was written does not name."""


def read_again(program: Program, region: Region, body: tuple[c.Stmt, ...], guard: c.Expr | None) -> Scop:
    """The printed statements as the frontend sees them, notes and all. Raises NotComparable, Undeclared."""
    lines = as_it_is_read(body, guard)
    scop = program.scop
    try:
        arrays = tuple(name for name, array in scop.arrays.items() if array.storage is not Storage.REGION)
        rows = tuple(name for name in arrays if is_rows(scop.arrays[name]))
        opening, _ = declarations(scop, tuple(p.name for p in scop.parameters), arrays, rows)
    except Unrunnable as reason:
        raise NotComparable(str(reason)) from None
    text = "\n".join(
        [
            region.preamble,
            *_note_variables(program),
            f"void polyc_text(void **polyc_args)\n{{\n{opening}",
            "#pragma scop",
            with_names(lines, scop.parameters),
            "#pragma endscop\n}\n",
        ]
    )
    try:
        options = InputOptions(budget=program.operations, inspect=False, private=False)
        names = {plain_name(p): p.name for p in scop.parameters if not isinstance(p.expr, c.Name)}
        given = Given(_flat_arrays(scop), names, _multiples(scop), _loose(scop))
        return read_text(text, options, given).regions[0].scop
    except UserError as problem:
        first = problem.diagnostics[0]
        if first.code == "undeclared" and not any(f"'{name}'" in first.message for name in taken_names(program)):
            raise Undeclared(first.message) from None
        raise NotComparable(f"the frontend does not read it: {first.message}") from None


def as_it_is_read(body: tuple[c.Stmt, ...], guard: c.Expr | None) -> str:
    """The printed statements with their notes, as text for the frontend."""
    noted = c.with_notes(body, True)
    if guard is not None:
        noted = (c.If(guard, c.Block(noted)),)
    plain = [c.rewrite(item, _plain) for item in noted]
    return "\n".join(line for item in plain for line in statement(_without_pragmas(item), 1))


def _flat_arrays(scop: Scop) -> dict[str, FlatShape]:
    """The shapes of arrays with linearised subscripts, in the names of the text."""
    names: dict[c.Node, c.Node] = {p.expr: c.Name(plain_name(p)) for p in scop.parameters if p.expr != c.Name(p.name)}

    def renamed(node: c.Node) -> c.Node | None:
        return names.get(node)

    return {
        array.c_name: FlatShape(
            tuple(c.rewrite(extent, renamed) for extent in array.extents_c if extent is not None),
            tuple(c.rewrite(stride, renamed) for stride in array.strides_c),
        )
        for array in scop.arrays.values()
        if array.flat
    }


def _loose(scop: Scop) -> frozenset[str]:
    """Flat arrays of which data decide subscripts that stay in their rows: the region's model says so."""
    found = (a.array for s in scop.statements.values() for a in s.accesses if any(k > 0 for k in a.loose))
    return frozenset(scop.arrays[name].c_name for name in found if scop.arrays[name].flat)


def _multiples(scop: Scop) -> dict[str, tuple[str, int]]:
    names = {parameter.name: plain_name(parameter) for parameter in scop.parameters}
    return {names[tie.name]: (names[tie.base], tie.factor) for tie in scop.ties}


def _note_variables(program: Program) -> Iterator[str]:
    yield from (f"char {NOTED}{name};" for name in ("parallel", "vector", "reduced", "declared"))
    for name, item in program.statements.items():
        yield f"char {NOTED}at_{name}{'[1]' * (len(item.loops) + len(item.values))};"
        yield f"char {NOTED}end_{name};"


def _without_pragmas(item: c.Stmt) -> c.Stmt:
    """The statement without pragmas: a note says in the body what they say."""

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and node.pragmas:
            return c.rewrite(replace(node, pragmas=()), change)
        return None

    return c.rewrite(item, change)


def _plain(node: c.Node) -> c.Node | None:
    """Without polyc's macros, and without what only keeps compilers from complaining."""
    if isinstance(node, c.ExprStmt) and isinstance(node.expr, c.Cast) and node.expr.type == "void":
        return c.Empty()
    if isinstance(node, c.ExprStmt) and c.is_request(node):
        return c.Empty()
    if isinstance(node, c.Decl) and (node.aligned or node.heap):
        return replace(node, aligned=0, heap=False)
    if not isinstance(node, c.Call) or node.function not in (MIN, MAX, FLOORD):
        return None
    first, second = (c.rewrite(argument, _plain) for argument in node.arguments)
    if node.function == FLOORD:
        up = c.Binary("-", c.Binary("+", c.Unary("-", first), second), c.Literal("1"))
        down = c.Unary("-", c.Binary("/", up, second))
        return c.Ternary(c.Binary("<", first, c.Literal("0")), down, c.Binary("/", first, second))
    return c.Ternary(c.Binary("<" if node.function == MIN else ">", first, second), first, second)
