"""Members of arrays of structs that are arrays of their own (`Array.root`) stand for what the region accesses.

shown:    with `p[f].m` in the place of each element p_m[f, 0], and `p[f].v[k]` in that of p_v[f, k], the statements are
          those of the region, and so are the access relations without k, which is the value of the subscript; no other
          reference to p is left, each member is a number or an array of numbers in the struct, and no two are one
math:     members m != m' of one struct are apart in memory, and those of different elements are (C11 6.2.5, 6.7.2.1)
"""

from __future__ import annotations

from dataclasses import fields

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, Reader, agree, parameter_space
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement
from polyc.poly import constant_of

_OUT = isl.dim_type.out
_CHANGED = ("arrays", "statements", "live_out")


def member_faults(original: Scop, now: Scop) -> list[Fault]:
    """In what the region with such arrays is another one."""
    if now is original:
        return []
    other = [f.name for f in fields(original) if f.name not in _CHANGED]
    if any(getattr(original, name) is not getattr(now, name) for name in other):
        return [Fault("region", "more than arrays of structs changed where their members were taken apart", "")]
    parts = {key: array for key, array in now.arrays.items() if array.root}
    kept = {key: array for key, array in now.arrays.items() if not array.root}
    if kept.keys() != original.arrays.keys() or any(kept[key] is not original.arrays[key] for key in kept):
        return [Fault("region", "other arrays changed where members were taken apart", "")]
    roots = {array.root for array in parts.values()}
    wanted = original.live_out - roots | {key for key, array in parts.items() if array.root in original.live_out}
    if now.live_out != wanted or now.statements.keys() != original.statements.keys():
        return [Fault("region", "another value is read afterwards where members were taken apart", "")]
    faults = [
        Fault("region", f"{array.c_name} is no member of its struct", key)
        for key, array in parts.items()
        if array.name != key or not _is_member(array, original)
    ]
    if len({(array.root, array.path) for array in parts.values()}) < len(parts):
        faults.append(Fault("region", "one member has two arrays", ""))
    for name, statement in original.statements.items() if not faults else ():
        if what := _differs(statement, now.statements[name], parts, roots, now):
            faults.append(Fault("region", f"where members were taken apart, {name} {what}", statement.text))
    return faults


def _is_member(array: Array, original: Scop) -> bool:
    root = original.arrays.get(array.root)
    field = root.members.get(array.path) if root is not None else None
    if root is None or field is None or array.element != field.type or array.flat:
        return False
    same = all(one is other for one, other in zip(array.extents, root.extents, strict=False))
    sizes = [None if size is None else constant_of(size) for size in array.extents[root.rank :]]
    bytes_ = field.type.size_bytes
    for size in sizes:
        bytes_ *= size or 0
    rows = len(sizes) == max(1, len(field.extents)) and (*sizes[1:],) == field.extents[1:]
    return same and rows and bytes_ == root.element.size_bytes > 0


def _differs(was: Statement, now: Statement, parts: dict[str, Array], roots: set[str], scop: Scop) -> str:
    """How a statement is another one; "" where it is the same."""
    found: dict[str, tuple[c.Expr, ...]] = {}

    def back(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ArrayRef) or node.array not in parts:
            return None
        array = parts[node.array]
        root = scop.arrays[array.root]
        own = len(node.subscripts) - (array.rank - root.rank)
        subscripts = tuple(c.rewrite(s, back) for s in node.subscripts)
        found[node.ref] = subscripts[own:]
        expr: c.Expr = c.ArrayRef(root.name, subscripts[:own], node.ref)
        for field in array.path:
            expr = c.Member(expr, field)
        for index in subscripts[own:] if root.members[array.path].extents else ():
            expr = c.Subscript(expr, index)
        return expr

    if any(isinstance(n, c.ArrayRef) and n.array in roots for n in c.walk(now.body)):
        return "has the whole array beside its members"
    if c.rewrite(now.body, back) != was.body:
        return "computes something else"
    names = [f.name for f in fields(was) if f.name not in ("body", "accesses")]
    if any(getattr(was, name) is not getattr(now, name) for name in names):
        return "has other loops"
    accesses = list(now.accesses)
    for access in was.accesses:
        if access.array in roots and _is_dropped(was, access):
            continue
        one = accesses.pop(0) if accesses else None
        if one is None or (one is not access and not _is_same(access, one, was, parts, found, scop)):
            return "accesses other elements"
    return "accesses more elements" if accesses else ""


def _is_dropped(statement: Statement, access: Access) -> bool:
    """Whether a part of a struct only seems to be read, since all of it may be written."""
    return access.kind is AccessKind.READ and _sets(statement, access, ("=",))


def _sets(statement: Statement, access: Access, operators: tuple[str, ...]) -> bool:
    """Whether the statement is an assignment to the place of an access."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op=op, target=target)) if not statement.opaque:
            place: c.Expr = target
            while isinstance(place, c.Member | c.Subscript):
                place = place.base
            mine = isinstance(place, c.ArrayRef) and place.ref == access.ref
            return mine and (not operators or op in operators)
    return False


def _is_same(
    was: Access,
    now: Access,
    statement: Statement,
    parts: dict[str, Array],
    found: dict[str, tuple[c.Expr, ...]],
    scop: Scop,
) -> bool:
    array = parts.get(now.array)
    if array is None or array.root != was.array or was.ref != now.ref or now.ref not in found:
        return False
    if not was.exact or not now.exact or was.loose or now.loose:
        return False
    certain = was.kind is AccessKind.MAY_WRITE and now.kind is AccessKind.WRITE and _sets(statement, was, ())
    if not (certain or was.kind is now.kind):
        return False
    count = array.rank - scop.arrays[array.root].rank
    first = array.rank - count
    relation = now.relation.project_out(_OUT, first, count).set_tuple_id(_OUT, was.relation.get_tuple_id(_OUT))
    if now.relation.get_tuple_name(_OUT) != now.array or not relation.is_equal(was.relation):
        return False
    space = parameter_space(scop).add_unnamed_tuple_ui(len(statement.loops))
    reader = Reader({p.expr: p.name for p in scop.parameters}, {x: k for k, x in enumerate(statement.loops)}, space)
    pieces = isl.PwMultiAff.from_map(now.relation.reset_tuple_id(isl.dim_type.in_))
    inside = statement.domain.reset_tuple_id()
    for position, index in enumerate(found[now.ref] or (c.Literal("0"),)):
        try:
            value = reader.value(index)
        except NotAffine:
            return False
        if agree(pieces.get_pw_aff(first + position), value, inside) is not None:
            return False
    return True
