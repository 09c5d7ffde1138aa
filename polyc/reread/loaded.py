"""Variables for pointers and sizes that lie in memory, and for elements that stay: taken out of the text again."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from polyc.analysis.steady import is_steady
from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import replace
from polyc.reread.parts import Refused


def without_steady(
    scop: Scop, before: tuple[c.Stmt, ...], after: tuple[c.Stmt, ...], taken: set[str]
) -> tuple[c.Stmt, ...]:
    """The statements after a step with elements in the places of the constants that have their values. Raises Refused
    where an element may not be there, or may change.

    taken: names that mean something else
    """
    types = {array.printed_name: array.element.text for array in scop.arrays.values()}

    def at(one: c.Stmt, other: c.Stmt, around: tuple[c.For, ...]) -> c.Stmt:
        match one, other:
            case c.For(), c.Block(body=(*declared, c.For() as loop)) if declared:
                return replace(loop, body=c.rewrite(loop.body, values_of(one, declared, around)))
            case c.For(body=body), c.For(body=now):
                return replace(other, body=at(body, now, (*around, one)))
            case c.Block(body=items), c.Block(body=now) if len(items) == len(now):
                return replace(other, body=tuple(at(a, b, around) for a, b in zip(items, now, strict=True)))
            case c.If(then=then, otherwise=rest), c.If(then=now, otherwise=behind):
                found = replace(other, then=at(then, now, around))
                return found if rest is None or behind is None else replace(found, otherwise=at(rest, behind, around))
        return other

    def values_of(
        loop: c.For, declared: Sequence[c.Stmt], around: tuple[c.For, ...]
    ) -> Callable[[c.Node], c.Node | None]:
        values: dict[str, c.ArrayRef] = {}
        for item in declared:
            if not isinstance(item, c.Decl) or not isinstance(item.init, c.ArrayRef) or item.extents or item.heap:
                raise Refused("something else than an element is read before a loop")
            if item.name in taken or item.type != f"const {types.get(item.init.array)}":
                raise Refused(f"{item.name} is no new constant of its element's type")
            if not is_steady(scop, around, loop, item.init):
                raise Refused(f"{item.name} is read before a loop that may change it, or where it may not be")
            taken.add(item.name)
            values[item.name] = item.init
        return lambda node: values.get(node.name) if isinstance(node, c.Name) else None

    return tuple(at(a, b, ()) for a, b in zip(before, after, strict=True)) if len(before) == len(after) else after


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
