"""Which statements only add to (or multiply into, …) a location, or keep the larger or smaller of it and a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Statement

OPERATORS = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
TESTS = c.COMPARISONS | {"&&", "||"}
WHOLE = frozenset(["unsigned", "signed", "char", "short", "int", "long"])
"""C's words for types of whole numbers."""
MAX, MIN = "max", "min"
"""Operators without a sign of their own in C; OpenMP's names for them."""
FUNCTIONS = {"fmax": (MAX, 8), "fmin": (MIN, 8), "fmaxf": (MAX, 4), "fminf": (MIN, 4)}
"""What they keep, and the bytes of a number that they take as it is."""


def reduction_of(statement: Statement, arrays: Mapping[str, Array]) -> tuple[str, str] | None:
    """`(operator, array)` of a statement that combines the value of one cell of A with an expression e free of A:
    `A[f] op= e`, `A[f] = A[f] op e`, `A[f] = e op A[f]`, `A[f] = fmax(A[f], e)`, `A[f] = e > A[f] ? e : A[f]`.

    Where A has whole numbers, e is one: else each step would cut off a fraction, and parts of a sum other ones. For
    minima and maxima of whole numbers it has A's type, too: comparing numbers of two types is no order. A condition
    that data decide, and not A, leaves some of the values out.
    """
    body = statement.body
    if isinstance(body, c.If) and body.otherwise is None and statement.opaque:
        condition, body = body.condition, c.only(body.then)
    elif statement.opaque:
        return None
    else:
        condition = None
    if not isinstance(body, c.ExprStmt):
        return None
    found = _update(as_assignment(body.expr) if condition is not None else body.expr, arrays)
    if found is None:
        return None
    operator, array, value = found
    element = arrays[array].element
    if c.mentions_array(value, array) or (condition is not None and c.mentions_array(condition, array)):
        return None
    if condition is not None and not all(a.exact for a in statement.accesses if a.array == array):
        return None
    return (operator, array) if _loses_nothing(operator, value, element, arrays) else None


def reductions_of(statement: Statement, arrays: Mapping[str, Array]) -> dict[str, str]:
    """The scalars that a statement only combines with other values, with the operators: all that it mentions of one are
    updates by one operator, as in `if (label[i] != best) { label[i] = best; changed++; }`."""
    if not statement.opaque:
        found = reduction_of(statement, arrays)
        return {found[1]: found[0]} if found is not None and not arrays[found[1]].rank else {}
    return {array: operator for array, operator in _updated(statement, arrays).items() if not arrays[array].rank}


def scatters_of(statement: Statement, arrays: Mapping[str, Array]) -> dict[str, str]:
    """The arrays of which a statement combines cells that depend on data with other values, and does nothing else to
    them, with the operators; also where data say whether it does: `if (d < r) { int k = d * s; h[k]++; }`."""
    found = scatter_of(statement, arrays)
    if found is not None:
        return {found[1]: found[0]}
    chosen = {a.array for a in statement.accesses if not a.exact} if statement.opaque else set()
    updated = _updated(statement, arrays) if chosen else {}
    return {a: op for a, op in updated.items() if arrays[a].rank and a in chosen and op not in (MAX, MIN)}


def _updated(statement: Statement, arrays: Mapping[str, Array]) -> dict[str, str]:
    """What a statement mentions in updates by one operator alone, with these operators."""
    mentioned: Counter[str] = Counter(n.array for n in c.walk(statement.body) if isinstance(n, c.ArrayRef))
    updates: dict[str, set[str]] = {}
    fractions = fractions_of(statement.body)
    for node in c.walk(statement.body):
        if not isinstance(node, c.ExprStmt):
            continue
        update = as_assignment(node.expr)
        one = _update(update, arrays)
        if one is None or c.mentions_array(one[2], one[1]):
            continue
        operator, array, value = one
        if not _loses_nothing(operator, value, arrays[array].element, arrays, fractions):
            continue
        cells = [n for n in c.walk(update) if isinstance(n, c.ArrayRef) and n.array == array]
        if any(c.mentions_array(index, array) for cell in cells for index in cell.subscripts):
            continue
        mentioned[array] -= len(cells)
        updates.setdefault(array, set()).add(operator)
    return {array: operator for array, (operator, *more) in updates.items() if not more and not mentioned[array]}


def scatter_of(statement: Statement, arrays: Mapping[str, Array]) -> tuple[str, str] | None:
    """`(operator, array)` of a statement that combines a value into one cell of an array that depends on data, and does
    nothing else to the array: `h[b[i]]++`, `A[f] op= e`, `A[f] = A[f] op e`, e and f free of A."""
    if not statement.opaque or not isinstance(statement.body, c.ExprStmt):
        return None
    update = as_assignment(statement.body.expr)
    found = _update(update, arrays)
    if found is None or found[0] in (MAX, MIN) or not arrays[found[1]].rank:
        return None
    operator, array, value = found
    if not may_split(operator, arrays[array].element):
        return None
    if all(a.exact for a in statement.accesses if a.array == array):
        return None  # data decide about what is combined with it
    own = sum(isinstance(n, c.ArrayRef) and n.array == array for n in c.walk(update))
    compound = isinstance(update, c.Assign) and update.op != "="
    if own != (1 if compound else 2) or (arrays[array].element.kind != "float" and not _is_whole(value, arrays)):
        return None
    return operator, array


def as_assignment(expr: c.Expr) -> c.Expr:
    """`x += 1` for `x++`, where nobody uses its value."""
    match expr:
        case c.Unary(op="++" | "--" as op, operand=target) | c.Postfix(op="++" | "--" as op, operand=target):
            return c.Assign(f"{op[0]}=", target, c.Literal("1"), expr.span)
    return expr


def sum_into(expr: c.Expr) -> tuple[c.ArrayRef, c.Expr] | None:
    """The cell that an update adds to, and what it adds."""
    match as_assignment(expr):
        case c.Assign(op="+=", target=c.ArrayRef() as target, value=value):
            return target, value
        case c.Assign(op="-=", target=c.ArrayRef() as target, value=value):
            return target, c.Unary("-", value)
        case c.Assign(op="=", target=c.ArrayRef() as target, value=c.Binary(op="+", left=left, right=right)):
            if is_cell(left, target):
                return target, right
            return (target, left) if is_cell(right, target) else None
    return None


def _update(expr: c.Expr, arrays: Mapping[str, Array]) -> tuple[str, str, c.Expr] | None:
    """`(operator, array, e)`."""
    match expr:
        case c.Assign(op=op, target=c.ArrayRef(array=array), value=value) if op in OPERATORS:
            return OPERATORS[op], array, value
        case c.Assign(op="=", target=c.ArrayRef() as target, value=value):
            match _combined(value, arrays[target.array].element):
                case (operator, own, other) if is_cell(own, target):
                    return operator, target.array, other
                case (operator, other, own) if is_cell(own, target):
                    return operator, target.array, other
    return None


def _combined(value: c.Expr, element: CType) -> tuple[str, c.Expr, c.Expr] | None:
    """`(operator, one, other)` of `one op other`."""
    match value:
        case c.Binary(op="+" | "*" as op, left=left, right=right):
            return op, left, right
        case c.Call(function=name, arguments=(left, right)) if name in FUNCTIONS:
            operator, most = FUNCTIONS[name]
            return (operator, left, right) if element.kind == "float" and element.size_bytes <= most else None
        case c.Ternary(
            condition=c.Binary(op="<" | "<=" | ">" | ">=" as op, left=left, right=right), then=then, otherwise=otherwise
        ):
            left, right, then, otherwise = map(c.unlabelled, (left, right, then, otherwise))
            if (left, right) == (then, otherwise):
                return (MAX if op[0] == ">" else MIN), left, right
            if (left, right) == (otherwise, then):
                return (MIN if op[0] == ">" else MAX), left, right
    return None


def is_cell(node: c.Expr, target: c.ArrayRef) -> bool:
    """Whether an expression is a cell as another reference has it."""
    return isinstance(node, c.ArrayRef) and c.unlabelled(node) == c.unlabelled(target)


def fractions_of(body: c.Node) -> frozenset[str]:
    """The variables that a statement declares, and that may be no whole numbers."""
    return frozenset(n.name for n in c.walk(body) if isinstance(n, c.Decl) and not set(n.type.split()) <= WHOLE)


def _loses_nothing(
    operator: str,
    value: c.Expr,
    element: CType,
    arrays: Mapping[str, Array],
    fractions: frozenset[str] = frozenset(),
) -> bool:
    """Whether a value is combined as it is: nothing is cut off, and what is compared has one type.

    fractions: variables of the statement's own that may be no whole numbers
    """
    if element.kind == "float":
        read = () if isinstance(value, c.Cast) else (n for n in c.walk(value) if isinstance(n, c.ArrayRef))
        longer = any(arrays[n.array].element.size_bytes > element.size_bytes for n in read)
        return operator not in (MAX, MIN) or not longer
    same_type = operator not in (MAX, MIN) or has_type(value, element, arrays)
    return may_split(operator, element) and _is_whole(value, arrays, fractions) and same_type


def _is_whole(value: c.Expr, arrays: Mapping[str, Array], fractions: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is made of whole numbers alone, but for what it compares."""
    match value:
        case c.ArrayRef(array=array):
            return arrays[array].element.kind == "int"
        case c.Literal(text=text):
            return text.rstrip("uUlL").isdigit()
        case c.Name(name=name):
            return name not in fractions
        case c.Binary(op=op, left=left, right=right):
            return op in TESTS or (_is_whole(left, arrays, fractions) and _is_whole(right, arrays, fractions))
        case c.Cast(type=text):
            return set(text.split()) <= WHOLE
        case c.Unary(op=op, operand=operand):
            return op == "!" or _is_whole(operand, arrays, fractions)
        case c.Ternary(then=then, otherwise=otherwise):
            return _is_whole(then, arrays, fractions) and _is_whole(otherwise, arrays, fractions)
    return False


def may_split(operator: str, element: CType) -> bool:
    """Whether parts of what is combined into a cell may be combined first. Each step makes 0 or 1 of a truth value, so
    that sums and differences of some are other ones in another order: `b -= 1` turns it over, `b += 2` sets it."""
    return element.text != "_Bool" or operator not in ("+", "^")


def holds_all(element: CType, other: CType) -> bool:
    """Whether two whole numbers, one of each type, are compared as what they are, and stored as such in the first: the
    types are one, or the first one is at least an int, and has all values of the other."""
    if (other.size_bytes, other.signed) == (element.size_bytes, element.signed):
        return True
    wider = element.size_bytes >= 4 and element.size_bytes > other.size_bytes
    return wider and (element.signed or not other.signed)


def has_type(value: c.Expr, element: CType, arrays: Mapping[str, Array]) -> bool:
    """Whether an expression is an element of this type, or of one whose values this has, or a sum, difference or
    product of such and of plain numbers."""
    match value:
        case c.ArrayRef(array=array):
            other = arrays[array].element
            return other.kind == "int" and holds_all(element, other)
        case c.Literal(text=text) if element.size_bytes >= 4:
            return text.isdigit() and int(text) < 1 << 31
        case c.Binary(op="+" | "-" | "*", left=left, right=right) if element.size_bytes >= 4:
            return has_type(left, element, arrays) and has_type(right, element, arrays)
        case _:
            return False
