"""Products that windows sum up, and that are better multiplied in the sums: fewer arrays for the windows to go over."""

from __future__ import annotations

from polyc.analysis.expressions.elementwise import assigned, elementwise
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Scop, Statement


def products_at_taps(scop: Scop) -> list[tuple[str, ...]]:
    """The statements `P[x] = A[x] * B[x]`, in sets that are multiplied where windows sum them up, or not at all.

    rewrite:  P[i] = A[i] * A[i];  Q[i] = A[i] * B[i];  R[i] = B[i] * B[i];  S[i] = P[i] + P[i + 1]; …
              -> S[i] = A[i] * A[i] + A[i + 1] * A[i + 1]; …
    math:     a set is one of products that share factors, more of them than factors. The windows then go over fewer
              arrays: fewer loads, stores, and rows to keep in a tile. A product that is a term of a sum is one
              instruction with the addition (FMA), so that the sum takes as many as before
    requires: each reference to a product is a term of a sum of several; factors have the subscripts and the type of the
              product, so that nothing moves or is converted
    source:   compute_inline of Halide's schedule for Harris corners, with a count in the place of the schedule's author
    """
    found = {name: factors for name, s in scop.statements.items() if (factors := _factors(scop, s))}
    written = {name: _written(scop.statements[name]) for name in found}
    loose = {ref.array for s in scop.statements.values() for ref in _no_terms(s)}
    sets: list[tuple[list[str], frozenset[str]]] = []
    for name, factors in found.items():
        if written[name] in loose:
            continue
        names, arrays, apart = [name], factors, []
        for one in sets:
            if one[1] & factors:
                names, arrays = one[0] + names, one[1] | arrays
            else:
                apart.append(one)
        sets = [*apart, (names, arrays)]
    return [tuple(n for n in found if n in names) for names, arrays in sets if len(names) > len(arrays)]


def _written(statement: Statement) -> str:
    return next(a.array for a in statement.accesses if a.kind is not AccessKind.READ)


def _factors(scop: Scop, statement: Statement) -> frozenset[str]:
    """The arrays whose elements an elementwise statement multiplies at its own subscripts; none for any other."""
    assign = assigned(statement)
    if assign is None or elementwise(scop, statement) is None or not isinstance(assign.target, c.ArrayRef):
        return frozenset()
    match assign.value:
        case c.Binary(op="*", left=c.ArrayRef() as left, right=c.ArrayRef() as right):
            factors = (left, right)
        case _:
            return frozenset()
    element = scop.arrays[assign.target.array].element
    if (
        element.kind != "float"
        or element.size_bytes < 4
        or any(f.subscripts != assign.target.subscripts for f in factors)
    ):
        return frozenset()
    if any(scop.arrays[f.array].element != element for f in factors):
        return frozenset()
    return frozenset(f.array for f in factors)


def _no_terms(statement: Statement) -> list[c.ArrayRef]:
    """The references of a statement that are no terms of its value, a sum of several; its target is none either."""
    assign = assigned(statement)
    every = [node for node in c.walk(statement.body) if isinstance(node, c.ArrayRef)]
    if assign is None:
        return every
    terms = _terms(assign.value) if assign.op == "=" else []
    inside = {id(term) for term in terms if len(terms) > 1}
    return [node for node in every if id(node) not in inside and node is not assign.target]


def _terms(value: c.Expr) -> list[c.Expr]:
    match value:
        case c.Binary(op="+" | "-", left=left, right=right):
            return _terms(left) + _terms(right)
        case _:
            return [value]


__all__ = ["products_at_taps"]
