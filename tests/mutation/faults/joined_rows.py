"""Faults of writers between each other's elements, of boxes of what is read, and of rows that are run at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.codegen.loops.loops as loops
import polyc.passes.fusion.boxed as boxed
import polyc.passes.fusion.interlaced as interlaced
import polyc.passes.fusion.shapes as shapes
import polyc.passes.loops.unroll as unroll
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, Node
from polyc.poly import maps, union_of
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- interlaced ------------------------------------------------------------------------------------------------------


def moved_by(change: Callable[[int], int]) -> Install:
    return patched(interlaced, "_shifted", lambda o: lambda nest, shift: o(nest, change(shift)))


add("interlaced", "one further", "each is moved by one more", moved_by(lambda by: by + 1))
add("interlaced", "the other way", "each is moved by as much the other way", moved_by(lambda by: -by))
add("interlaced", "far away", "", moved_by(lambda by: by + 40))
add("interlaced", "twice as far", "", moved_by(lambda by: 2 * by))
add("interlaced", "whatever they write", "", always(interlaced, "_beside", True))
add("interlaced", "however long they are", "", always(interlaced, "_alike", True))
add("interlaced", "any step", "", always(interlaced, "_step", 1))
add(
    "interlaced",
    "anything",
    "neither what they write nor how long they are",
    together(always(interlaced, "_beside", True), always(interlaced, "_alike", True)),
)

# --- boxed -----------------------------------------------------------------------------------------------------------


def boxes(change: Callable[[isl.Map], isl.Map]) -> Install:
    """Another box of the cells, or of the iterations that write them."""

    def make(original: Any) -> Any:
        def box(pieces: list[isl.Map]) -> isl.Map | None:
            found = original(pieces)
            return None if found is None else change(found)

        return box

    return patched(boxed, "_box", make)


def wanted(change: Callable[[isl.Map], isl.Map]) -> Install:
    """The instances, with others."""

    def make(original: Any) -> Any:
        def by_cells(*arguments: Any) -> isl.UnionMap:
            found = original(*arguments)
            return union_of([change(one) for one in maps(found)], isl.UnionMap.empty(found.get_space()))

        return by_cells

    return patched(shapes, "by_cells", make)


def first_of(original: Any) -> Any:
    """Only the first reference is looked at."""
    return lambda *arguments: list(original(*arguments))[:1]


add("boxed", "one row up", "", boxes(e.range_shift(0, -1)))
add("boxed", "one column on", "", boxes(e.range_shift(1, 1)))
add("boxed", "one row less", "", boxes(e.range_shrunk(0, True)))
add("boxed", "one column less", "", boxes(e.range_shrunk(1, False)))
add("boxed", "instances one column on", "", wanted(e.range_shift(1, 1)))
add("boxed", "instances of a row less", "", wanted(e.range_shrunk(0, False)))
add("boxed", "instances of a column less", "", wanted(e.range_shrunk(1, True)))
add("boxed", "instances of two tiles", "", wanted(e.other_tile(10)))
add("boxed", "the first reader", "", patched(boxed, "_cells_read", first_of))
add("boxed", "the first writer", "", patched(boxed, "_box", lambda o: lambda pieces: o(pieces[:1])))
add("boxed", "however much more", "", always(shapes.Shapes, "_little_more", True))

# --- rows at once ----------------------------------------------------------------------------------------------------


def cuts(change: Callable[[unroll.Cut], unroll.Cut]) -> Install:
    """The loops are cut otherwise than where they are whole is asked for."""

    def install(patch: Any) -> None:
        original = unroll.cut_members
        patch.setattr(unroll, "cut_members", lambda members, wish: original(members, change(wish)))

    return install


def where_whole(change: Callable[[isl.Set], isl.Set]) -> Install:
    return patched(unroll, "asked_inside", lambda o: lambda band, place, whole: o(band, place, change(whole)))


def _unrolled(change: Callable[[Band], Band]) -> Install:
    def at(node: Node) -> Node | None:
        return change(node) if isinstance(node, Band) and node.whole is not None else None

    return after_pass("unroll", e.everywhere(at))


def _nothing_left(program: Program) -> Program:
    """Parts that are not whole are not run: the band's loops have the whole ones' iterations alone."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Band) or node.whole is None:
            return None
        return replace(node, members=node.members[:-1]) if len(node.members) > 1 else node.child

    return e.everywhere(at)(program)


add("unroll", "first one later", "parts begin one later than is asked", cuts(lambda w: replace(w, first=w.first + 1)))
add("unroll", "first asked one later", "", patched(unroll._Unroller, "first", lambda o: lambda *a: o(*a) + 1))
add("unroll", "parts of one more", "", cuts(lambda w: replace(w, count=w.count + 1)))
add("unroll", "parts of one less", "", cuts(lambda w: replace(w, count=w.count - 1)))
add("unroll", "another loop", "", cuts(lambda w: replace(w, position=0 if w.position else 1)))
add("unroll", "all parts whole", "", where_whole(lambda s: isl.Set.universe(s.get_space())))
add("unroll", "no part whole", "", where_whole(lambda s: isl.Set.empty(s.get_space())))
add("unroll", "one part more whole", "", where_whole(lambda s: s.union(e_shifted(s))))
add(
    "unroll", "whole above", "all parts whole, of one band", _unrolled(lambda b: replace(b, whole=b.whole.complement()))
)
add("unroll", "loops below lost", "", after_pass("unroll", _nothing_left))
add("unroll", "rows backwards", "", after_pass("unroll", e.everywhere(e.band_edit(e.reversed_first))))
add("unroll", "a loop lost", "", after_pass("unroll", e.everywhere(e.band_edit(e.lost_last))))


def e_shifted(whole: isl.Set) -> isl.Set:
    """The set one part later in each dimension but the last."""
    last = whole.dim(isl.dim_type.set) - 1
    moved = isl.MultiAff.identity_on_domain_space(whole.get_space())
    for d in range(last):
        moved = moved.set_aff(d, moved.get_aff(d).add_constant_val(isl.Val.int_from_si(whole.get_ctx(), -4)))
    return whole.preimage_multi_aff(moved)


# --- how they are printed --------------------------------------------------------------------------------------------


def by_rows(change: Callable[[c.Stmt], c.Stmt]) -> Install:
    def make(original: Any) -> Any:
        def rows(body: c.Stmt, name: str, around: Any) -> c.Stmt | None:
            found = original(body, name, around)
            return None if found is None else change(found)

        return rows

    return patched(loops, "by_rows", make)


def _without_around(original: Any) -> Any:
    """The vector loop stands around the last of the loops alone."""

    def rows(body: c.Stmt, name: str, around: Any) -> c.Stmt | None:
        seen = []

        def once(inside: c.Stmt) -> c.Stmt:
            seen.append(inside)
            return around(inside) if len(seen) == 1 else inside

        return original(body, name, once)  # type: ignore[no-any-return]

    return rows


def _longer(node: c.Stmt) -> c.Stmt:
    """The loops over rows run one more."""
    match node:
        case c.For(condition=c.Binary(op="<", left=left, right=right)):
            return replace(node, condition=c.Binary("<=", left, right))
        case c.Block(body=items):
            return c.Block(tuple(_longer(item) for item in items))
        case c.If():
            return replace(node, then=_longer(node.then))
    return node


def _once(node: c.Stmt) -> c.Stmt:
    """Of several loops the first one alone."""
    match node:
        case c.Block(body=items) if len(items) > 1:
            return c.Block(items[:1])
        case c.If(otherwise=c.Stmt()):
            return replace(node, otherwise=None)
        case c.For():
            return node.body
    return node


add("unroll", "one row more", "of those left over", by_rows(_longer))
add("unroll", "a loop not printed", "", by_rows(_once))
add("unroll", "columns of one loop alone", "", patched(loops, "by_rows", _without_around))
