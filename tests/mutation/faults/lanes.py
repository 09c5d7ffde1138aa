"""Faults of loops over the lanes of vectors, printed as operations on vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.codegen.blocks.vectors as vectors
import polyc.codegen.render as render
from polyc.model import ctree as c
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

Change = Callable[[c.Node], c.Node | None]


def first_lane(change: Callable[[c.Expr, str], c.Expr]) -> Install:
    """Another subscript of the first lane. change: the subscript of a lane, and the lane"""
    return patched(vectors, "_without", lambda _original: change)


def offset_lost(node: c.Expr, lane: str) -> c.Expr:
    """`j` for `j + 8 * v`: the vector begins at the row's first element."""
    del node, lane
    return c.Literal("0")


def lane_kept(node: c.Expr, _lane: str) -> c.Expr:
    return node


def statements(change: Change) -> Install:
    """What is printed for a loop over lanes, each node of it changed."""

    def make(original: Any) -> Any:
        def statement(self: Any, node: c.Stmt, lane: str, lanes: int) -> c.Stmt:
            return c.rewrite(original(self, node, lane, lanes), change)

        return statement

    return patched(vectors._Vectors, "statement", make)


def operands(change: Callable[[c.Expr], c.Expr]) -> Install:
    """What a vector operation computes from."""

    def at(node: c.Node) -> c.Node | None:
        match node:
            case c.Assign(value=value):
                return replace(node, value=change(value))
        return None

    return statements(at)


def is_vector(node: c.Node) -> bool:
    return isinstance(node, c.Call) and node.function.startswith("polyc_")


def scalar(node: c.Expr) -> c.Expr:
    """The first element of each vector stands for all lanes."""
    return c.rewrite(node, lambda n: n.arguments[0] if isinstance(n, c.Call) and is_vector(n) else None)


def as_vector(node: c.Expr) -> c.Expr:
    """Vectors of neighbours where one element stands for all lanes."""
    names = [n.function for n in c.walk(node) if isinstance(n, c.Call) and is_vector(n)]

    def change(inner: c.Node) -> c.Node | None:
        if is_vector(inner):
            return inner
        return c.Call(names[0], (inner,)) if isinstance(inner, c.ArrayRef) and inner.subscripts else None

    return c.rewrite(node, change) if names else node


def turned(old: str, new: str) -> Change:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Assign(op=op) if op == f"{old}=":
                return replace(node, op=f"{new}=")
            case c.Binary(op=op) if op == old and any(is_vector(n) for n in c.walk(node)):
                return replace(node, op=new)
        return None

    return change


def next_elements(node: c.Node) -> c.Node | None:
    match node:
        case c.Call(arguments=(c.ArrayRef(subscripts=(*rest, last)) as first,)) if is_vector(node):
            moved = replace(first, subscripts=(*rest, c.Binary("+", last, c.Literal("1"))))
            return replace(node, arguments=(moved,))
    return None


def names(change: Callable[[Any, str, int, int], str]) -> Install:
    return patched(vectors.VectorTypes, "name", lambda original: change_of(original, change))


def change_of(original: Any, change: Callable[[Any, str, int, int], str]) -> Any:
    def name(self: Any, element: str, lanes: int, size: int) -> str:
        original(self, element, lanes, size)
        return change(self, element, lanes, size)

    return name


def half_as_wide(self: vectors.VectorTypes, element: str, lanes: int, size: int) -> str:
    """Vectors of half the lanes under the same name."""
    found = f"polyc_{element.replace(' ', '_')}{lanes}"
    self.found[found] = element, lanes // 2, size
    return found


def of_integers(self: vectors.VectorTypes, element: str, lanes: int, size: int) -> str:
    found = f"polyc_{element.replace(' ', '_')}{lanes}"
    self.found[found] = {8: "long", 4: "int"}.get(size, element), lanes, size
    return found


def of_larger_elements(self: vectors.VectorTypes, element: str, lanes: int, size: int) -> str:
    """Elements of twice their bytes: twice the lanes in what is declared."""
    found = f"polyc_{element.replace(' ', '_')}{lanes}"
    self.found[found] = element, lanes, 2 * size
    return found


def types(change: Callable[[str], str]) -> Install:
    """The declaration of a vector type changed."""
    return patched(vectors.VectorTypes, "types", lambda o: lambda self: [change(one) for one in o(self)])


def macros(change: Callable[[str], str]) -> Install:
    """What makes a vector of elements changed."""
    return patched(vectors.VectorTypes, "macros", lambda o: lambda self: [change(one) for one in o(self)])


def to_scalar(node: c.Node) -> c.Node | None:
    match node:
        case c.Assign(target=c.Call(arguments=(first,)) as target) if is_vector(target):
            return replace(node, target=first)
    return None


def twice(original: Any) -> Any:
    def change(self: Any, node: c.Node) -> c.Node | None:
        found = original(self, node)
        return replace(found, body=found.body * 2) if isinstance(found, c.Block) else found

    return change


def wider_vectors(original: Any) -> Any:
    """Vectors of twice as many lanes as their loops have iterations."""

    def change(body: Any, program: Any, found: Any) -> Any:
        def wider(node: c.Node) -> c.Node | None:
            return replace(node, lanes=2 * node.lanes) if isinstance(node, c.For) and node.lanes else None

        return original(tuple(c.rewrite(item, wider) for item in body), program, found)

    return change


MORE_LANES = patched(render, "with_vectors", wider_vectors)

for name_, what_, install_ in (
    ("offsets lost", "the row's first elements", first_lane(offset_lost)),
    ("lanes kept", "in subscripts", first_lane(lane_kept)),
    ("the next elements", "of each vector", statements(next_elements)),
    ("scalars for vectors", "the first lane's", operands(scalar)),
    ("vectors for scalars", "neighbours of what is one element", operands(as_vector)),
    ("stored in one element", "the first lane", statements(to_scalar)),
    ("- for +", "", statements(turned("+", "-"))),
    ("+ for *", "", statements(turned("*", "+"))),
    ("half as wide", "the type", names(half_as_wide)),
    ("of integers", "the type", names(of_integers)),
    ("of larger elements", "the type", names(of_larger_elements)),
    ("twice the lanes", "of each loop", together(always(vectors, "_runs", True), MORE_LANES)),
    ("types of other sizes", "half", types(lambda t: t.replace("vector_size(", "vector_size(2 * "))),
    ("no alias", "", types(lambda t: t.replace(", may_alias", ""))),
    ("aligned elements", "of whole vectors", types(lambda t: t.replace("aligned(", "aligned(8 * "))),
    ("from the next element", "the macro", macros(lambda m: m.replace("&(x))", "(&(x) + 1))"))),
    ("no statements", "in a loop over lanes", always(vectors, "_statements", ())),
    ("twice", "each operation", patched(vectors._Vectors, "change", twice)),
):
    add("vectors", name_, what_, install_)
