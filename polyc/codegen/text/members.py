"""Members of arrays of structs, which are arrays of their own in the model, as C has them: `p[i].x`, `p[i].v[k]`."""

from __future__ import annotations

from dataclasses import replace

from polyc.codegen.text.arith import ZERO
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.scop import Scop


def with_members(body: tuple[c.Stmt, ...], scop: Scop) -> tuple[c.Stmt, ...]:
    """The statements with members of elements in the places of such arrays' elements."""
    parts = {array.printed_name: array for array in scop.arrays.values() if array.root}
    if not parts:
        return body

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ArrayRef) or node.array not in parts:
            return None
        array, subscripts = parts[node.array], tuple(c.rewrite(s, change) for s in node.subscripts)
        root = scop.arrays[array.root]
        found: c.Expr = replace(node, array=root.printed_name, subscripts=subscripts[: root.rank])
        for field in array.path:
            found = c.Member(found, field)
        if root.members[array.path].extents:
            for index in subscripts[root.rank :]:
                found = c.Subscript(found, index)
        elif subscripts[root.rank :] != (ZERO,):
            raise InternalError(f"{array.c_name} has one number in each element")
        return found

    return tuple(c.rewrite(item, change) for item in body)
