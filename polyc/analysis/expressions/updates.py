"""Statements that only combine values into a cell, in any order.

The passes have their own answer (`analysis/expressions/reductions.py`); this one does not trust it.
"""

from __future__ import annotations

from collections.abc import Mapping

from polyc.analysis.expressions.magnitudes import keeps_magnitudes
from polyc.analysis.expressions.reductions import fractions_of, holds_all, is_cell, may_split
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Scop, Statement, Storage
from polyc.poly import constant_of

_UPDATES = {"+": ("+=", "-="), "*": ("*=",), "&": ("&=",), "|": ("|=",), "^": ("^=",), "max": (), "min": ()}
"""The assignments that a reduction with an operator may combine."""
_KEEPS = {"max": ("fmax", "fmaxf"), "min": ("fmin", "fminf")}
_LARGER = {">": True, ">=": True, "<": False, "<=": False}
"""Whether `a op b ? a : b` is the larger of the two."""


def only_combines(
    statement: Statement, operator: str, array: str, arrays: Mapping[str, Array], scattered: bool = False
) -> bool:
    """Whether all that a statement does to an array is to combine the value of one cell with another value by an
    operator, and parts of it can be combined without another error than rounding. `scattered`: also where data say
    which cell that is."""
    if not may_split(operator, arrays[array].element):
        return False
    if statement.opaque and (scattered or not arrays[array].rank):
        return _only_updates(statement.body, operator, array, arrays, fractions_of(statement.body))
    body, chosen = statement.body, False
    if isinstance(body, c.If) and body.otherwise is None and not c.mentions_array(body.condition, array):
        body, chosen = c.only(body.then), True  # what it leaves out would be combined with nothing
    if (statement.opaque and not (scattered or chosen)) or not isinstance(body, c.ExprStmt) or operator not in _UPDATES:
        return False
    if chosen and not scattered and not all(a.exact for a in statement.accesses if a.array == array):
        return False
    update = body.expr
    if (scattered or chosen) and isinstance(update, c.Postfix | c.Unary) and update.op in ("++", "--"):
        cell = update.operand
        once = sum(isinstance(n, c.ArrayRef) and n.array == array for n in c.walk(cell)) == 1
        return operator == "+" and once and isinstance(cell, c.ArrayRef) and cell.array == array
    return isinstance(update, c.Assign) and _is_update(update, operator, array, arrays)


def _is_update(
    update: c.Assign,
    operator: str,
    array: str,
    arrays: Mapping[str, Array],
    fractions: frozenset[str] = frozenset(),
) -> bool:
    """Whether an assignment combines the value of one cell with another value."""
    if operator not in _UPDATES or not isinstance(update.target, c.ArrayRef) or update.target.array != array:
        return False
    if arrays[array].element.kind != "float" and not _is_whole(update.value, arrays, fractions):
        return False
    mentions = sum(isinstance(n, c.ArrayRef) and n.array == array for n in c.walk(update))
    if update.op in _UPDATES[operator]:
        return mentions == 1
    match update.value:
        case c.Binary(op=op, left=left, right=right) if update.op == "=" and op == operator:
            return mentions == 2 and (is_cell(left, update.target) or is_cell(right, update.target))
        case c.Call(function=name, arguments=(left, right)) if update.op == "=" and name in _KEEPS.get(operator, ()):
            exact = arrays[array].element.size_bytes == 4 or not name.endswith("f")
            one_cell = is_cell(left, update.target) or is_cell(right, update.target)
            return mentions == 2 and one_cell and exact and arrays[array].element.kind == "float"
        case c.Ternary() as choice if update.op == "=" and operator in _KEEPS:
            return mentions == 3 and _chooses(choice, operator, update.target, arrays)
        case _:
            return False


def _only_updates(
    node: c.Node, operator: str, array: str, arrays: Mapping[str, Array], fractions: frozenset[str]
) -> bool:
    """Whether all that the statements of a block, of branches and of loops do to a scalar, or to cells of an array, is
    to combine it."""
    if not c.mentions_array(node, array):
        return True
    match node:
        case c.Block(body=items):
            return all(_only_updates(item, operator, array, arrays, fractions) for item in items)
        case c.If(condition=condition, then=then, otherwise=otherwise):
            branches = [then] if otherwise is None else [then, otherwise]
            return not c.mentions_array(condition, array) and all(
                _only_updates(b, operator, array, arrays, fractions) for b in branches
            )
        case c.For(init=init, condition=test, step=step, body=body):
            head = [part for part in (init, test, step) if part is not None]
            return not any(c.mentions_array(p, array) for p in head) and _only_updates(
                body, operator, array, arrays, fractions
            )
        case c.While(condition=test, body=body):
            return not c.mentions_array(test, array) and _only_updates(body, operator, array, arrays, fractions)
        case c.ExprStmt(expr=c.Postfix(op="++" | "--", operand=cell) | c.Unary(op="++" | "--", operand=cell)):
            once = isinstance(cell, c.ArrayRef) and not any(c.mentions_array(e, array) for e in cell.subscripts)
            return operator == "+" and once and isinstance(cell, c.ArrayRef) and cell.array == array
        case c.ExprStmt(expr=c.Assign() as update):
            return _is_update(update, operator, array, arrays, fractions)
    return False


def sums_wrap(operator: str, array: str, arrays: Mapping[str, Array]) -> bool:
    """Whether an array's cells are whole numbers that are combined modulo a power of two, so that any order leaves the
    same bits. A sum that passes its type's range on the way in another order comes back: nothing traps (trust.md)."""
    return arrays[array].rank > 0 and arrays[array].element.kind == "int" and operator in ("+", "*", "&", "|", "^")


def any_order(operator: str, array: str, scop: Scop) -> bool:
    """Whether numbers leave the same bits in any order that they are combined in: whole ones, which wrap, or of which
    one stays; of others the largest or smallest of magnitudes."""
    if scop.arrays[array].element.kind == "int":
        return operator in _UPDATES
    return keeps_magnitudes(scop, operator, array)


def has_parts(array: Array) -> bool:
    """Whether a thread can have a copy of it: a scalar, or an array whose every cell is there, so many as it says.

    An argument's first size is what the caller was told, and no object of that size.
    """
    sizes = [constant_of(extent) if extent is not None else None for extent in array.extents]
    return array.rank == 0 or (array.storage is not Storage.ARGUMENT and all(size is not None for size in sizes))


def _chooses(choice: c.Ternary, operator: str, target: c.ArrayRef, arrays: Mapping[str, Array]) -> bool:
    """Whether `a op b ? a : b`, or the same turned round, is the larger or the smaller one of a cell and a value.

    Of whole numbers both have to be of one type: -1 is larger than 1u.
    """
    test = choice.condition
    if not isinstance(test, c.Binary) or test.op not in _LARGER:
        return False
    first, second, then, otherwise = (c.unlabelled(e) for e in (test.left, test.right, choice.then, choice.otherwise))
    if (then, otherwise) not in ((first, second), (second, first)):
        return False
    larger = _LARGER[test.op] == ((then, otherwise) == (first, second))
    other = test.right if is_cell(test.left, target) else test.left
    if not (is_cell(test.left, target) or is_cell(test.right, target)) or larger != (operator == "max"):
        return False
    element = arrays[target.array].element
    if element.kind == "float":
        return True
    return _is_of_type(other, element, arrays)


def _is_of_type(value: c.Expr, wanted: CType, arrays: Mapping[str, Array]) -> bool:
    """Whether C computes a value in a type of so many bytes, signed or not: below that of int, only what is read."""
    match value:
        case c.ArrayRef(array=array):
            element = arrays[array].element
            return element.kind == "int" and holds_all(wanted, element)
        case c.Literal(text=text) if wanted.size_bytes >= 4:
            return text.isdigit() and int(text) <= 0x7FFFFFFF
        case c.Binary(op="+" | "-" | "*") if wanted.size_bytes >= 4:
            return all(_is_of_type(part, wanted, arrays) for part in (value.left, value.right))
        case c.Ternary(condition=test, then=then, otherwise=otherwise) if wanted.size_bytes >= 4:
            return _only_reads(test) and all(_is_of_type(part, wanted, arrays) for part in (then, otherwise))
        case _:
            return False


def _only_reads(value: c.Expr) -> bool:
    """Whether an expression has only the simplest parts, none of which does anything."""
    return all(isinstance(n, c.ArrayRef | c.Literal | c.Name | c.Binary | c.Ternary) for n in c.walk(value))


def _is_whole(value: c.Expr, arrays: Mapping[str, Array], fractions: frozenset[str]) -> bool:
    """Whether an expression is a whole number: a part of a sum is cut to one nowhere. What it compares, and what makes
    a choice, may be any number.

    fractions: variables of the statement's own that may be no whole numbers
    """
    whole: list[c.Expr] = [value]
    while whole:
        match whole.pop():
            case c.ArrayRef(array=array) if arrays[array].element.kind == "int":
                pass
            case c.Literal(text=text) if text.rstrip("uUlL").isdigit():
                pass
            case c.Cast(type=text) if all(
                word in ("unsigned", "char", "short", "int", "long") for word in text.split()
            ):
                pass
            case c.Name(name=name) if name not in fractions:
                pass
            case c.Unary(op="!") | c.Binary(op="<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||"):
                pass
            case c.Binary(left=left, right=right) | c.Ternary(then=left, otherwise=right):
                whole += [left, right]
            case c.Unary(operand=operand):
                whole.append(operand)
            case _:
                return False
    return True


def exact_update(statement: Statement, array: str, arrays: Mapping[str, Array]) -> tuple[str, frozenset[str]] | None:
    """`(operator, labels)` of a statement that combines a value into one cell of an array of whole numbers, such that
    the same values combined in any order leave the same bits; the labels are those of its references to that cell.

    The value may read other cells of the array. Sums are none of these: they may overflow in another order.
    """
    if statement.opaque or not isinstance(statement.body, c.ExprStmt) or arrays[array].element.kind != "int":
        return None
    update = statement.body.expr
    if not isinstance(update, c.Assign) or not isinstance(update.target, c.ArrayRef) or update.target.array != array:
        return None
    target, element = update.target, arrays[array].element
    match update.value:
        case c.Ternary(condition=c.Binary(left=left, right=right)) as choice if update.op == "=":
            operator = next((op for op in ("max", "min") if _chooses(choice, op, target, arrays)), "")
            value = right if is_cell(left, target) else left
        case value if update.op in ("&=", "|=", "^="):
            operator = update.op[0]
        case _:
            return None
    if not operator or not may_split(operator, element) or not _is_of_type(value, element, arrays):
        return None
    own = [n for n in c.walk(update) if isinstance(n, c.ArrayRef) and is_cell(n, target)]
    if any(is_cell(n, target) for n in c.walk(value) if isinstance(n, c.ArrayRef)) or not all(n.ref for n in own):
        return None
    return operator, frozenset(n.ref for n in own)
