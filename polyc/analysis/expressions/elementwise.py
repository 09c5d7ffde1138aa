"""Which statements are elementwise, which references can have an expression in their place, and of what type it is."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from polyc.model import ctree as c
from polyc.model.scop import Access, AccessKind, Array, CType, Scop, Statement
from polyc.poly import coalesced, subscript

_FLOAT = re.compile(r"(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?([fF]?)")
_INTEGER = "some integer"
"""Stands for any integer type, which adds nothing to a floating one."""


def assigned(statement: Statement) -> c.Assign | None:
    """The assignment of a statement that is one, and that writes one element and does nothing else.

    What it reads may depend on data: then its accesses are approximations, and all else holds.
    """
    match statement.body:
        case c.ExprStmt(expr=c.Assign(target=c.ArrayRef() as target) as assign):
            pass
        case _:
            return None
    writes = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    if len(writes) != 1 or writes[0].ref != target.ref or writes[0].array != target.array or not target.ref:
        return None
    inside = (*target.subscripts, assign.value)
    return assign if all(_harmless(node) for part in inside for node in c.walk(part)) else None


def elementwise(scop: Scop, statement: Statement, scalars: bool = False) -> Access | None:
    """The write of a statement that computes an element of an array from others, and nothing else: `A[x] = f(B[y])`.

    None for all other statements: sums, updates in place, what writes where data say, and variables without subscripts
    unless `scalars`.
    """
    assign = assigned(statement)
    if assign is None or assign.op != "=":
        return None
    (write,) = (a for a in statement.accesses if a.kind is not AccessKind.READ)
    array = scop.arrays[write.array]
    if write.kind is not AccessKind.WRITE or not write.exact or not (array.rank or scalars):
        return None
    assert isinstance(assign.target, c.ArrayRef)
    if len(assign.target.subscripts) != array.rank or array.element.kind not in ("int", "float"):
        return None
    reads = [a for a in statement.accesses if a.kind is AccessKind.READ]
    return None if any(a.array == array.name or not a.ref for a in reads) else write


def replaceable(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether the reference of a read is a value in a statement that `assigned` knows: an expression can be there."""
    return access.exact and operand(scop, statement, access)


def operand(scop: Scop, statement: Statement, access: Access) -> bool:
    """The same, of a reference that may have subscripts which depend on data, all of them as they are in C."""
    assign = assigned(statement)
    if assign is None or not access.ref or not access.placed or access.kind is not AccessKind.READ:
        return False
    if sum(a.ref == access.ref for a in statement.accesses) != 1:
        return False
    found = [node for node in _values(assign.value) if node.ref == access.ref]
    everywhere = [node for node in c.walk(statement.body) if isinstance(node, c.ArrayRef) and node.ref == access.ref]
    return len(found) == len(everywhere) == 1 and len(found[0].subscripts) == scop.arrays[access.array].rank


def at_instances(access: Access, m: isl.Map) -> Access:
    """A read of a producer's, as one of the instances that read its values.

    m: `{ C[i] -> P[j] }`, whose values they read; of several, data choose one, and so the element
    """
    relation = coalesced(m.apply_range(access.relation))
    if relation.is_single_valued():
        return replace(access, relation=relation)
    if not access.placed:
        return replace(access, relation=relation, exact=False)
    rank = relation.dim(isl.dim_type.out)
    free = [d for d in range(rank) if d not in access.loose and not subscript(relation, d).is_single_valued()]
    return replace(access, relation=relation, exact=False, loose=tuple(sorted({*access.loose, *free})))


def _values(expr: c.Expr) -> list[c.ArrayRef]:
    """References that are operands: no subscripts, and nothing whose address or member is asked for."""
    match expr:
        case c.ArrayRef():
            return [expr]
        case c.Unary(op="-" | "+" | "!" | "~", operand=inner) | c.Cast(operand=inner):
            return _values(inner)
        case c.Binary(left=left, right=right):
            return _values(left) + _values(right)
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            return _values(condition) + _values(then) + _values(otherwise)
        case c.Call(arguments=arguments):
            return [node for argument in arguments for node in _values(argument)]
        case _:
            return []


def _harmless(node: c.Node) -> bool:
    """Whether an expression has no effect at this place, and no text that only its own place gives a meaning."""
    match node:
        case c.Assign() | c.Postfix() | c.SizeOf() | c.InitList() | c.Comma():
            return False
        case c.Unary(op=op):
            return op in ("-", "+", "!", "~")
        case _:
            return True


def in_type(expr: c.Expr, loop: CType, arrays: dict[str, Array]) -> c.Expr:
    """An integer expression whose value a loop variable has, in the variable's type."""
    return expr if _is_of(expr, loop.text, arrays) else c.Cast(loop.text, expr)


def _is_of(expr: c.Expr, text: str, arrays: dict[str, Array]) -> bool:
    """Whether C surely computes an expression in an integer type of at least the size of `int`."""
    match expr:
        case c.Literal(text=digits):
            return text == "int" and digits.isdigit() and int(digits) < 1 << 31 and (digits == "0" or digits[0] != "0")
        case c.ArrayRef(array=name, subscripts=subscripts):
            element = arrays[name].element
            return element.text == text and element.size_bytes >= 4 and len(subscripts) == arrays[name].rank
        case c.Cast(type=name):
            return name == text
        case c.Binary(op="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", left=left, right=right):
            return _is_of(left, text, arrays) and _is_of(right, text, arrays)
        case c.Ternary(then=then, otherwise=otherwise):
            return _is_of(then, text, arrays) and _is_of(otherwise, text, arrays)
        case _:
            return False


def keeps_type(expr: c.Expr, element: CType, arrays: dict[str, Array], loops: tuple[str, ...]) -> bool:
    """Whether an expression surely has the type of the elements that it is assigned to: nothing is converted."""
    return _type(expr, arrays, frozenset(loops)) == element.text


def _type(expr: c.Expr, arrays: dict[str, Array], loops: frozenset[str]) -> str | None:
    """How C spells the type, `_INTEGER` for some integer type, None where it is not known."""
    match expr:
        case c.Literal(text=text):
            match = _FLOAT.fullmatch(text)
            if match is not None:
                return "float" if match.group(3) else "double"
            return _INTEGER if text.isdigit() else None
        case c.Name(name=name):
            return _INTEGER if name in loops else None
        case c.ArrayRef(array=name, subscripts=subscripts):
            element = arrays[name].element
            known = len(subscripts) == arrays[name].rank and element.size_bytes >= 4  # smaller ones are promoted
            return element.text if known and element.kind in ("int", "float") else None
        case c.Cast(type=text):
            return text
        case c.Unary(op="-" | "+", operand=operand):
            return _type(operand, arrays, loops)
        case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
            return _common(_type(left, arrays, loops), _type(right, arrays, loops), arrays)
        case c.Ternary(then=then, otherwise=otherwise):
            return _common(_type(then, arrays, loops), _type(otherwise, arrays, loops), arrays)
        case _:
            return None


def _common(one: str | None, other: str | None, arrays: dict[str, Array]) -> str | None:
    """C's usual conversions, as far as they are certain."""
    if one is None or other is None:
        return None
    if {one, other} == {"float", "double"}:
        return "double"
    if one == other:
        return one if one in _PLAIN or _is_wide(one, arrays) else None
    floating = [name for name in (one, other) if name in ("float", "double")]
    return floating[0] if floating and _INTEGER in (one, other) else None


_PLAIN = ("float", "double", _INTEGER)


def _is_wide(text: str, arrays: dict[str, Array]) -> bool:
    """Whether the name is that of an array's elements, whose arithmetic stays in their type."""
    return any(a.element.text == text and a.element.size_bytes >= 4 for a in arrays.values())
