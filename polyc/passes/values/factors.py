"""Variables that are a factor or a term of sums over pairs of rows and columns: `t = alpha * b[l][j]; for i c[j][i] +=
t * a[l][i];`, `t = a[i][k] - b[j][k]; s += t * t;`."""

from __future__ import annotations

from polyc.analysis.expressions.elementwise import assigned, elementwise
from polyc.model import ctree as c
from polyc.model.scop import Scop, Statement


def scaled_factors(scop: Scop) -> list[str]:
    """The statements `t = f(B[l][j])` whose values one sum of products multiplies, and nobody else reads.

    rewrite:  for j for l { t = alpha * B[l][j]; for i C[j][i] += t * A[l][i]; }
              -> for j for l for i C[j][i] += alpha * B[l][j] * A[l][i];
    math:     l moves B and A and not C, i moves C and A and not B, j moves C and B and not A: a contraction. Its panel
              of B holds the values of f, so that each is computed once for many i
    requires: t has no subscripts; the sum has one loop more than t's statement; no quotient of two operands that move,
              and no call, which panels do not hold
    source:   the reference dgemm of BLAS, which is written so
    """
    found, users = list[str](), _users(scop)
    for name, producer in scop.statements.items():
        write = elementwise(scop, producer, scalars=True)
        if write is None or scop.arrays[write.array].rank or not _operands(producer) or _is_dear(producer):
            continue
        readers = users.get(write.array, [])
        if len(readers) == 1 and _multiplies(readers[0], write.array, producer):
            found.append(name)
    return found


MOST_OPERATORS = 3
"""Of a term that stands in a sum several times, as one that compilers compute once."""


def terms_of_sums(scop: Scop) -> list[str]:
    """The statements `t = f(A[i][k], B[j][k])` whose value the same iteration of sums over k takes, and nobody else.

    rewrite:  for i for j { s = 0; for k { t = A[i][k] - B[j][k]; s += t * t; } … }
              -> for i for j { s = 0; for k s += (A[i][k] - B[j][k]) * (A[i][k] - B[j][k]); … }
    math:     some operand of each sum, or of what it takes, moves with i and not with j, and another one with j and not
              with i: contractions, which may have tiles in registers
    requires: t has no subscripts, and is cheap where sums have it several times: a compiler computes it once
    """
    terms: dict[str, list[str]] = {}
    readers_of: dict[str, list[Statement]] = {}
    users = _users(scop)
    for name, producer in scop.statements.items():
        write = elementwise(scop, producer, scalars=True)
        if write is None or scop.arrays[write.array].rank or len(producer.loops) < 3:
            continue
        readers = users.get(write.array, [])
        if not readers or not all(s.loops == producer.loops and _is_sum(s) for s in readers):
            continue
        value = assigned(producer)
        assert value is not None
        uses = sum(ref.array == write.array for s in readers for ref in _operands(s))
        nodes = list(c.walk(value.value))
        dear = sum(isinstance(n, c.Binary | c.Unary) for n in nodes) > MOST_OPERATORS
        if uses > 1 and (dear or any(isinstance(n, c.Call | c.Ternary) for n in nodes)):
            continue
        readers_of[name] = readers
        for reader in readers:
            terms.setdefault(reader.name, []).append(name)
    sums = {reader for reader, names in terms.items() if _is_contraction(scop, reader, names)}
    return [name for name, readers in readers_of.items() if all(s.name in sums for s in readers)]


def _is_sum(statement: Statement) -> bool:
    """Whether a statement adds something to an element, or subtracts it, that stays the same in the innermost loop."""
    assign = assigned(statement)
    if assign is None or assign.op not in ("+=", "-=") or not isinstance(assign.target, c.ArrayRef):
        return False
    return statement.loops[-1] not in _loops(assign.target, statement)


def _is_contraction(scop: Scop, reader: str, terms: list[str]) -> bool:
    """Whether a sum over its innermost loop takes, by its terms, what one loop moves and another one does not, and the
    other way round."""
    statements = [scop.statements[name] for name in (reader, *terms)]
    summed = statements[0].loops[-1]
    moved = [_loops(ref, statement) for statement in statements for ref in _operands(statement)]
    along = [loops - {summed} for loops in moved if summed in loops]
    return any(one - other and other - one for one in along for other in along)


def _is_dear(statement: Statement) -> bool:
    """Whether a value is a quotient of two operands that move, or made of a call."""
    moving = [ref for ref in _operands(statement) if _loops(ref, statement)]
    assign = assigned(statement)
    nodes = list(c.walk(assign.value)) if assign is not None else []
    divides = any(isinstance(n, c.Binary) and n.op == "/" for n in nodes)
    return (divides and len(moving) > 1) or any(isinstance(n, c.Call) for n in nodes)


def _users(scop: Scop) -> dict[str, list[Statement]]:
    """The statements whose values are made of each array's elements."""
    found: dict[str, list[Statement]] = {}
    for statement in scop.statements.values():
        for array in {ref.array for ref in _operands(statement)}:
            found.setdefault(array, []).append(statement)
    return found


def _operands(statement: Statement) -> list[c.ArrayRef]:
    """The references that a statement's value is made of."""
    assign = assigned(statement)
    if assign is None:
        return [node for node in c.walk(statement.body) if isinstance(node, c.ArrayRef)]
    return [node for node in c.walk(assign.value) if isinstance(node, c.ArrayRef)]


def _multiplies(reader: Statement, variable: str, producer: Statement) -> bool:
    """Whether a statement sums up products of the variable and of what other loops move."""
    assign = assigned(reader)
    if assign is None or assign.op not in ("+=", "-=") or not isinstance(assign.target, c.ArrayRef):
        return False
    factors = list(_factors(assign.value))
    others = [f for f in factors if isinstance(f, c.ArrayRef) and f.array != variable]
    if len(others) != 1 or sum(isinstance(f, c.ArrayRef) and f.array == variable for f in factors) != 1:
        return False
    if reader.loops[:-1] != producer.loops or len(reader.loops) < 3:
        return False
    target, other = _loops(assign.target, reader), _loops(others[0], reader)
    own = {loop for ref in _operands(producer) for loop in _loops(ref, producer)}
    return reader.loops[-1] in target & other and bool((own & other) - target) and bool((own & target) - other)


def _factors(value: c.Expr) -> list[c.Expr]:
    match value:
        case c.Binary(op="*", left=left, right=right):
            return [*_factors(left), *_factors(right)]
    return [value]


def _loops(ref: c.ArrayRef, statement: Statement) -> set[str]:
    """The loops whose variables a reference's subscripts mention."""
    names = {node.name for subscript in ref.subscripts for node in c.walk(subscript) if isinstance(node, c.Name)}
    return names & set(statement.loops)


__all__ = ["scaled_factors", "terms_of_sums"]
