"""Variables for pointers and sizes that lie in memory: taken out of the text again."""

from __future__ import annotations

from collections.abc import Set

from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import replace
from polyc.reread.parts import Refused


def without_loaded(scop: Scop, statements: tuple[c.Stmt, ...], count: int, taken: Set[str]) -> tuple[c.Stmt, ...]:
    """The statements behind the first `count` ones, which declare variables, with what these are read from in their
    places. Raises Refused where something may change that they have the value of.

    taken: names that mean something else
    """
    pointers = {array.c_name: array for key, array in scop.arrays.items() if key in scop.loaded}
    sizes = [p for p in scop.parameters if p.name in scop.loaded]
    written = scop.written
    values: dict[str, c.Expr] = {}
    for item in statements[:count]:
        if not isinstance(item, c.Decl) or item.extents or item.heap or item.name in taken | values.keys():
            raise Refused("something else than a new variable is declared before the loops")
        size = next((p for p in sizes if p.expr == item.init and item.type == f"const {p.type.text}"), None)
        array = pointers.get(item.init.name) if isinstance(item.init, c.Name) else None
        if array is not None and size is None:
            constant = "" if array.name in written else "const "
            if item.type != f"{constant}{array.element.text} *const":
                raise Refused(f"{item.name} has another type than what it is read from")
        elif size is None:
            raise Refused(f"{item.name} is read from what may change")
        assert item.init is not None
        values[item.name] = item.init

    def back(node: c.Node) -> c.Node | None:
        match node:
            case c.ArrayRef(array=name, subscripts=subscripts) if name in values:
                value = values[name]
                array = value.name if isinstance(value, c.Name) else ""
                return replace(node, array=array, subscripts=tuple(c.rewrite(s, back) for s in subscripts))
            case c.Name(name=name):
                return values.get(name)
        return None

    return tuple(c.rewrite(item, back) for item in statements[count:])
