"""Records: a cell that keeps the first or the last of the largest values, and the cells that go with it.

`if (x[i] > m) { m = x[i]; at = i; }` may be one statement, or two: `at = x[i] > m ? i : at`, `m = x[i] > m ? x[i] : m`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from polyc.analysis.expressions.elementwise import keeps_type
from polyc.analysis.expressions.reductions import has_type
from polyc.model import ctree as c
from polyc.model.scop import Array, Statement
from polyc.records import dataclass

TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
WITH = "with:"
"""Before the name of the record that a cell goes with, as an operator."""
_ABSOLUTE = {"fabs": "double", "fabsf": "float"}


@dataclass(frozen=True, slots=True)
class _Choice:
    """`if (guards && test) targets = values`."""

    test: c.Binary
    guards: tuple[c.Expr, ...]
    values: Mapping[c.ArrayRef, c.Expr]


def records_of(statements: Iterable[Statement], arrays: Mapping[str, Array]) -> dict[str, tuple[str, Statement]]:
    """For each array of a record its operator, and the statement that changes it: `>` of the cell that keeps the
    largest value, as it is compared with it, and `with:m` of what changes with the record in `m`.

    math: values are compared by a total order (what is no number is never taken), and the value that is compared is the
          one that is stored. So the record is the first (`>`, `<`) or the last (`>=`, `<=`) of the extreme values in
          the order of the iterations, or what was there before; the other cells have what belongs to that iteration.
          The better of two parts' records is that of both, where the iteration decides among equals.
    requires: of the caller, that all these statements run in the same iterations, the record's own last, and that each
              array has one cell
    """
    listed = [s for s in statements if isinstance(s.body, c.If | c.ExprStmt)]
    choices = {s.name: choice for s in listed if (choice := _choice(s.body)) is not None}
    found: dict[str, tuple[str, Statement]] = {}
    for own in listed:
        for target, operator in _kept(choices.get(own.name), arrays):
            users = [s for s in listed if c.mentions_array(s.body, target.array)]
            if all(s.name in choices and _same_test(choices[s.name], choices[own.name]) for s in users):
                changed = {one.array: s for s in users for one in choices[s.name].values}
                if _is_alone(changed, users, listed, choices):
                    found |= {array: (f"{WITH}{target.array}", s) for array, s in changed.items()}
                    found[target.array] = operator, own
    return found


def record_of(array: str, operator: str) -> str:
    """The array of the record that an array belongs to."""
    return operator.removeprefix(WITH) if operator.startswith(WITH) else array


def _is_alone(
    changed: Mapping[str, Statement], users: list[Statement], listed: list[Statement], choices: Mapping[str, _Choice]
) -> bool:
    """Whether each cell is changed by one statement, and no value and no other statement reads it."""
    if sum(len(choices[s.name].values) for s in users) > len(changed):
        return False
    inside = [e for s in users for e in (*choices[s.name].values.values(), *choices[s.name].guards)]
    outside = [s.body for s in listed if s not in users]
    if any(c.mentions_array(part, array) for part in (*inside, *outside) for array in changed):
        return False
    return all(a.exact for s in users for a in s.accesses if a.array in changed)


def _same_test(one: _Choice, other: _Choice) -> bool:
    return (one.test, one.guards) == (other.test, other.guards)


def _choice(body: c.Stmt) -> _Choice | None:
    match c.unlabelled(body):
        case c.ExprStmt(
            expr=c.Assign(
                op="=",
                target=c.ArrayRef() as target,
                value=c.Ternary(condition=c.Binary() as test, then=value, otherwise=kept),
            )
        ) if kept == target:
            return _Choice(test, (), {target: value})
        case c.If(condition=condition, then=then, otherwise=None):
            *guards, last = c.conjuncts(condition)
            items = then.body if isinstance(then, c.Block) else (then,)
            assigned = [i.expr for i in items if isinstance(i, c.ExprStmt) and isinstance(i.expr, c.Assign)]
            values = {a.target: a.value for a in assigned if a.op == "=" and isinstance(a.target, c.ArrayRef)}
            if isinstance(last, c.Binary) and len(values) == len(items):
                return _Choice(last, tuple(guards), values)
    return None


def _kept(choice: _Choice | None, arrays: Mapping[str, Array]) -> Iterator[tuple[c.ArrayRef, str]]:
    """The cells that keep the value that is compared with them, and how it is compared."""
    if choice is None or choice.test.op not in TURNED:
        return
    left, right, op = choice.test.left, choice.test.right, choice.test.op
    for target, value in choice.values.items():
        if holds_value(value, arrays[target.array], arrays):
            if (left, right) == (value, target):
                yield target, op
            elif (right, left) == (value, target):
                yield target, TURNED[op]


def holds_value(value: c.Expr, array: Array, arrays: Mapping[str, Array]) -> bool:
    """Whether a cell compares with a value, and keeps it, as it is."""
    element = array.element
    if element.kind == "int":
        return "ool" not in element.text and has_type(value, element, arrays)
    if isinstance(value, c.Call) and _ABSOLUTE.get(value.function) == element.text:
        return True
    if isinstance(value, c.ArrayRef) and element.size_bytes == 8 and arrays[value.array].element.size_bytes < 8:
        return True
    return element.size_bytes in (4, 8) and keeps_type(value, element, dict(arrays), ())
