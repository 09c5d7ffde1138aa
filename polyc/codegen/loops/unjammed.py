"""Loops that gcc would jam at the cost of their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from polyc.analysis.expressions.facts import mentions
from polyc.codegen.text.macros import UNJAMMED
from polyc.model import ctree as c

_STEPS = ("/", "%", ">>")
"""Operations of which gcc's analysis of subscripts knows nothing."""


def without_jam(block: c.Stmt, loop: str) -> c.Stmt:
    """The body of a loop with a word that keeps gcc from unrolling it and jamming the vector loop inside.

    rewrite:  for (p) for (b) s[b] += a[p % n][b];  ->  for (p) { polyc_unjammed(); for (b) s[b] += a[p % n][b]; }
    requires: the block is one vector loop; another iteration touches some of its rows again; one is no sum of products
              of the loop's variable, and none is below a branch
    ensures:  vectors. gcc 12 computes the second row inside of the jammed loop, where it finds no vectors then: five
              times as long, or ten, of floats
    """
    items = [item for item in c.items(block) if not isinstance(item, c.Note)]
    loops = [item for item in items if not isinstance(item, c.Decl)]
    match loops:
        case [c.For(init=c.Decl(name=inner), body=body, pragmas=pragmas, nontemporal=())] if "omp simd" in pragmas:
            nodes = list(c.walk(body))
        case _:
            return block
    if any(isinstance(one, c.For) for one in nodes):
        return block
    met = {c.unlabelled(one) for one in nodes if isinstance(one, c.ArrayRef)}
    values = dict(value for one in (*items, *nodes) for value in _values(one))
    steps = {one: [step for row in _rows(one, values) for step in _steps(row, loop, inner)] for one in met}
    if any(isinstance(step, c.Ternary) and not _is_extremum(step) for found in steps.values() for step in found):
        return block
    even = {one for one in met if not steps[one] and inner in mentions(one)}
    if not any(steps.values()) or not _is_met_again(even, loop):
        return block
    return c.Block((c.ExprStmt(c.Call(UNJAMMED, ())), *c.items(block)))


def _rows(cell: c.ArrayRef, values: Mapping[str, c.Expr]) -> list[c.Expr]:
    """The subscripts of an element, and the values of the variables in them."""
    read = {name for row in cell.subscripts for part in c.walk(row) for name in _variable(part)}
    return [*cell.subscripts, *(values[name] for name in read if name in values)]


def _variable(node: c.Node) -> Iterator[str]:
    match node:
        case c.Name(name=name) | c.ArrayRef(array=name, subscripts=()):
            yield name


def _values(node: c.Node) -> Iterator[tuple[str, c.Expr]]:
    """A variable, and what is set to it."""
    match node:
        case c.Decl(name=name, init=value) if value is not None:
            yield name, value
        case c.Assign(op="=", target=target, value=value):
            yield from ((name, value) for name in _variable(target))


def _is_met_again(cells: Set[c.ArrayRef], loop: str) -> bool:
    """Whether another iteration of a loop touches the same elements, as far as gcc sees: such that do not change with
    it, or two rows of one array."""
    rows = {(cell.array, tuple(one for one in cell.subscripts if loop in mentions(one))) for cell in cells}
    return len({array for array, _ in rows}) < len(rows) or any(not changing for _, changing in rows)


def _steps(row: c.Expr, loop: str, inner: str) -> Iterator[c.Expr]:
    """The parts of a subscript that depend on a loop, and not on the one inside, and are no sums of products."""
    for node in c.walk(row):
        if isinstance(node, c.Ternary | c.Call | c.ArrayRef) or (isinstance(node, c.Binary) and node.op in _STEPS):
            met = mentions(node)
            if loop in met and inner not in met:
                yield node


def _is_extremum(choice: c.Ternary) -> bool:
    """Whether gcc makes a minimum or a maximum of a choice, and no branch, around which it jams nothing."""
    match choice.condition:
        case c.Binary(op="<" | "<=" | ">" | ">=", left=left, right=right):
            return bool({left, right} & {choice.then, choice.otherwise})
    return False


__all__ = ["without_jam"]
