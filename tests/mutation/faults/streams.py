"""Faults of `rowblocks`, `pack`, `jam` and `spread`: rows in blocks, layouts, sums in registers or side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.analysis.readable as readable
import polyc.codegen.loops.instances as instances
import polyc.codegen.loops.loops as loops
import polyc.nests.sums as sums
import polyc.passes.blocks.one_pass as one_pass
import polyc.passes.blocks.solves as solves
import polyc.passes.loops.columns as columns
import polyc.passes.loops.edges as edges
import polyc.passes.loops.spread as spread
import polyc.passes.loops.strips as strips
import polyc.passes.products.jam as jam
from polyc.analysis.expressions.promoted import ROOTS, ROUNDED, VECTOR_EXTREMA
from polyc.analysis.expressions.selects import SELECTS, WHOLE_SELECT, is_both
from polyc.model import ctree as c
from polyc.model.program import Buffer
from polyc.model.tree import Band, Filter, Member, Node, Role, Sequence
from polyc.poly import maps
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def in_place(_: Callable[..., Any]) -> Callable[..., Any]:
    """Each place of a block is where an instance lies."""
    return lambda _member, _size, _place, space: isl.Map.identity(space.map_from_set())


def of_blocks(change: Callable[[Member], Member]) -> Install:
    """Change the loops over blocks of rows."""

    def at(node: Node) -> Node | None:
        match node:
            case Band(members=(*others, block)) if block.role is Role.TILE and not block.coincident:
                return replace(node, members=(*others, change(block)))
            case _:
                return None

    return after_pass("rowblocks", e.everywhere(at))


# --- rowblocks -------------------------------------------------------------------------------------------------------

add("rowblocks", "blocks backwards", "the last one first", of_blocks(lambda m: replace(m, schedule=m.schedule.neg())))
add("rowblocks", "blocks coincident", "they run in parallel", of_blocks(lambda m: replace(m, coincident=True)))
add("rowblocks", "steps of a block reversed", "", after_pass("rowblocks", e.everywhere(e.reversed_steps)))
add("rowblocks", "first steps dropped", "", after_pass("rowblocks", e.everywhere(e.first_step_dropped)))
add("rowblocks", "first steps twice", "", after_pass("rowblocks", e.everywhere(e.first_step_twice)))
add("rowblocks", "a row lost", "in last steps", after_pass("rowblocks", e.everywhere(e.filter_loses_a_row)))
add("rowblocks", "rows in any order", "dependences not looked at", always(one_pass, "_related", True))
add("rowblocks", "all is ahead", "of its block", patched(solves, "_ahead", lambda _o: lambda _p, _s, _c, own, _i: own))
add("rowblocks", "what is late not seen", "", patched(solves, "among", lambda _o: lambda r, _i: r.subtract(r)))
add(
    "rowblocks",
    "loops coincident",
    "all of each band",
    after_pass("rowblocks", e.everywhere(e.band_edit(e.all_coincident))),
)

# --- jam -------------------------------------------------------------------------------------------------------------


def digit_of(weight: int, size: int) -> Callable[[Any], Any]:
    """Another digit of a loop's value in registers."""

    def make(original: Any) -> Any:
        return lambda self, of, w, s, whole: original(self, of, max(w, weight), s + size, whole)

    return make


def register_loops(change: Callable[[Member], Member]) -> Install:
    def at(node: Node) -> Node | None:
        match node:
            case Band(members=members) if any(m.role is Role.REGISTER for m in members):
                return replace(node, members=tuple(change(m) if m.role is Role.REGISTER else m for m in members))
            case _:
                return None

    return after_pass("jam", e.everywhere(at))


def rest_first(node: Node) -> Node | None:
    match node:
        case Sequence(children=(Filter() as whole, *rest)) if rest and "fill" not in str(whole.filter):
            return Sequence((*rest, whole))
        case _:
            return None


def copies(change: Callable[[tuple[Filter, ...]], tuple[Filter, ...]]) -> Install:
    """Change the steps around a sum in registers: in, sum, out."""

    def at(node: Node) -> Node | None:
        match node:
            case Sequence(children=steps) if len(steps) == 3 and "fill" in str(steps[0].filter):
                return Sequence(change(steps))
            case _:
                return None

    return after_pass("jam", e.everywhere(at))


def all_of_it(place: int) -> Callable[[Any], Any]:
    """What is left over of sums: all of it before their whole blocks, or all of it after them."""

    def changed(_: Any) -> Any:
        def sides(_self: Any, rest: isl.Set, _whole: isl.Set, _around: int) -> tuple[isl.Set, isl.Set]:
            nothing = rest.subtract(rest)
            return (nothing, rest) if place else (rest, nothing)

        return sides

    return changed


add("jam", "not filled", "no copy in", copies(lambda s: s[1:]))
add("jam", "not written back", "no copy out", copies(lambda s: s[:2]))
add("jam", "filled after", "", copies(lambda s: (s[1], s[0], s[2])))
add("jam", "written back before", "", copies(lambda s: (s[0], s[2], s[1])))
add("jam", "written back twice", "", copies(lambda s: (*s, s[2])))
add("jam", "rest first", "what is left over of a sum", after_pass("jam", e.everywhere(rest_first)))
add("jam", "rest at the end", "of all loops", patched(jam._Jam, "sides", all_of_it(1)), "planes_of_triangles")
add("jam", "rest at the start", "of all loops", patched(jam._Jam, "sides", all_of_it(0)))
add("jam", "rows of a vector backwards", "", register_loops(lambda m: replace(m, schedule=m.schedule.neg())))
add("jam", "register loops as points", "", register_loops(lambda m: replace(m, role=Role.POINT)))
add("jam", "all lanes", "vectors of all register loops", register_loops(lambda m: replace(m, vector=True, lanes=8)))
add("jam", "half of the lanes", "", register_loops(lambda m: replace(m, lanes=m.lanes // 2)))
add("jam", "digits of more", "than there are", patched(jam._Jam, "digit", digit_of(1, 1)))
add("jam", "digits weigh two", "", patched(jam._Jam, "digit", digit_of(2, 0)))
add("jam", "buffers one place aside", "", after_pass("jam", e.buffer_edit(e.corner_moved(0, 1))))
add("jam", "buffers one place short", "", after_pass("jam", e.buffer_edit(e.extent_changed(0, -1))))
add("jam", "an access lost", "it stays on the array", after_pass("jam", e.buffer_edit(e.access_lost(0))))
add("jam", "another access lost", "it stays on the array", after_pass("jam", e.buffer_edit(e.access_lost(-1))))
add("jam", "nothing declared", "marks dropped", after_pass("jam", e.everywhere(e.allocation_dropped)))
add("jam", "declared above the blocks", "", after_pass("jam", e.everywhere(e.allocation_above_the_band)))
add("jam", "declared below the sum", "", after_pass("jam", e.everywhere(e.allocation_below_the_next_band)))
add("jam", "declared in each step", "", after_pass("jam", e.everywhere(e.allocation_into_each_step)))
add("jam", "loops coincident", "all of each band", after_pass("jam", e.everywhere(e.band_edit(e.all_coincident))))
add("jam", "last loops backwards", "", after_pass("jam", e.everywhere(e.band_edit(e.reversed_last))))
add("jam", "first loops backwards", "", after_pass("jam", e.everywhere(e.band_edit(e.reversed_first))))
add("jam", "loops interchanged", "", after_pass("jam", e.everywhere(e.band_edit(e.swapped_members))))
add("jam", "other cells of its own read", "not asked for", always(sums, "_keeps_to_itself", True))
add("jam", "parts not counted", "are_parts says yes", always(jam._Jam, "are_parts", True))
add("jam", "ends turned", "before and after", patched(jam._Jam, "beyond", lambda o: lambda s, i, m: o(s, i, m)[::-1]))

# --- spread ----------------------------------------------------------------------------------------------------------


def places_divided(by: int) -> Callable[[Buffer], Buffer | None]:
    """Several iterations share a place."""

    def change(buffer: Buffer) -> Buffer | None:
        assert buffer.places is not None
        size = isl.Val.int_from_si(buffer.places.get_ctx(), by)
        found = isl.UnionMap.empty(buffer.places.get_space())
        for piece in maps(buffer.places):
            value = isl.PwMultiAff.from_map(piece).get_pw_aff(0).scale_down_val(size).floor().scale_val(size)
            moved = isl.Map.from_pw_aff(value).set_tuple_id(isl.dim_type.out, piece.get_tuple_id(isl.dim_type.out))
            found = found.union(isl.UnionMap.from_map(moved))
        return replace(buffer, places=found)

    return change


def of_places(change: Callable[[Buffer], Buffer | None]) -> Install:
    return after_pass("spread", e.buffer_edit(change, "spread"))


def of_choices(change: Callable[[c.Assign], c.Assign]) -> Install:
    """What is printed for a value that stays or not."""

    def masked(original: Any) -> Any:
        def choice(self: Any, body: c.Stmt) -> c.Stmt:
            found = original(self, body)
            return found if found is body else replace(found, expr=change(found.expr))

        return choice

    return patched(instances.InstancePrinter, "_masked", masked)


def difference_of(change: Callable[[c.Expr], c.Expr]) -> Callable[[c.Assign], c.Assign]:
    def at(store: c.Assign) -> c.Assign:
        assert isinstance(store.value, c.Binary)
        assert isinstance(store.value.right, c.Binary)
        return replace(
            store, value=replace(store.value, right=replace(store.value.right, left=change(store.value.right.left)))
        )

    return at


def without_cast(value: c.Expr) -> c.Expr:
    assert isinstance(value, c.Cast)
    return value.operand


def of_branches(change: Callable[[c.If], c.Stmt]) -> Install:
    """What is printed for values that one comparison chooses."""

    def joined(original: Any) -> Any:
        def branches(node: c.Stmt, *rest: Any) -> c.Stmt:
            found = original(node, *rest)
            if not isinstance(found, c.Block):
                return found
            new = [i for i in found.body if isinstance(i, c.If) and i not in node.body]
            return replace(found, body=tuple(change(i) if i in new else i for i in found.body))

        return branches

    return patched(loops, "with_branches", joined)


def or_equal(node: c.If) -> c.Stmt:
    assert isinstance(node.condition, c.Binary)
    return replace(node, condition=replace(node.condition, op=node.condition.op.replace("=", "") + "="))


def last_always(node: c.If) -> c.Stmt:
    assert isinstance(node.then, c.Block)
    return c.Block((replace(node, then=c.Block(node.then.body[:3])), *node.then.body[3:]))


add("rejoin", "branch of equal values", "", of_branches(or_equal))
add("rejoin", "one of two chosen", "the other always", of_branches(last_always))
add("rejoin", "otherwise", "", of_branches(lambda node: c.If(node.condition, c.Block(()), node.then)))
add("rejoin", "loops backwards", "", after_pass("rejoin", e.everywhere(e.band_edit(e.reversed_last))))
add(
    "rejoin",
    "loops in parallel",
    "as if they carried nothing",
    after_pass("rejoin", e.everywhere(e.band_edit(e.all_coincident))),
)
add("rejoin", "steps turned", "", after_pass("rejoin", e.everywhere(e.reversed_steps)))
add("spread", "choice taken away", "", of_choices(lambda store: replace(store, op="-=")))
add("spread", "choice of the next value", "", of_choices(difference_of(lambda v: c.Binary("+", v, c.Literal("1")))))
add("spread", "choice that may overflow", "", of_choices(difference_of(without_cast)))


def of_parts(change: Callable[[list[Any]], list[Any]]) -> Install:
    """What runs of a strip before, in and behind the rows that have not all of their neighbours."""

    def changed(old: Callable[..., Any]) -> Callable[..., Any]:
        def parts(*args: Any) -> Any:
            found = old(*args)
            return None if found is None else change(found)

        return parts

    return patched(strips.Strips, "parts", changed)


add("spread", "parts of strips turned", "the last one first", of_parts(lambda found: found[::-1]))
add("spread", "first part of strips lost", "", of_parts(lambda found: found[1:]))
add("spread", "last part of strips twice", "", of_parts(lambda found: [*found, found[-1]]))
add("spread", "strips not whole", "nobody looks at their neighbours", patched(strips, "neighbour", in_place))
add("spread", "one place for two", "", of_places(places_divided(2)))
add("spread", "one place for all", "", of_places(places_divided(32)))
add("spread", "no places", "the scalar itself", of_places(lambda b: replace(b, places=None)))
add("spread", "one place short", "", of_places(e.extent_changed(0, -1)))
add("spread", "one place aside", "", of_places(e.corner_moved(0, 1)))
add("spread", "an access lost", "it stays on the scalar", of_places(e.access_lost(0)))
add("spread", "another access lost", "it stays on the scalar", of_places(e.access_lost(-1)))
add("spread", "nothing declared", "marks dropped", after_pass("spread", e.everywhere(e.allocation_dropped)))
add("spread", "declared above the strips", "", after_pass("spread", e.everywhere(e.allocation_above_the_band)))
add("spread", "declared in each step", "", after_pass("spread", e.everywhere(e.allocation_into_each_step)))
add("spread", "steps reversed", "", after_pass("spread", e.everywhere(e.reversed_steps)))
add("spread", "last loops backwards", "", after_pass("spread", e.everywhere(e.band_edit(e.reversed_last))))
add("spread", "loops coincident", "all of each band", after_pass("spread", e.everywhere(e.band_edit(e.all_coincident))))
add(
    "spread",
    "values that leave a column",
    "not looked at",
    patched(spread.Outer, "same_iteration", lambda _o: lambda _s, r: r),
)

add("spread", "one column short", "", after_pass("spread", e.buffer_edit(e.extent_changed(0, -1))))
add("spread", "columns of other iterations", "", after_pass("spread", e.buffer_edit(e.corner_moved(0, 1))))
add("spread", "one element short", "of each column", after_pass("spread", e.buffer_edit(e.extent_changed(1, -1))))
add("spread", "columns not filled", "a copy lost", after_pass("spread", e.buffer_edit(e.access_lost(-1))))
add("spread", "rows that are written", "copied before", patched(columns, "is_written", lambda _o: lambda *_: False))


def of_copies(change: Callable[[Buffer], Buffer | None]) -> Install:
    """Change the copies of whole arrays."""
    return after_pass("pack", e.buffer_edit(change, "heap"))


add("pack", "one row short", "", of_copies(e.extent_changed(0, -1)))
add("pack", "one column short", "", of_copies(e.extent_changed(1, -1)))
add("pack", "one row aside", "", of_copies(e.corner_moved(0, 1)))
add("pack", "not filled", "its copy's access lost", of_copies(e.access_lost(-1)))
add("pack", "read from the array", "an access lost", of_copies(e.access_lost(0)))
add("pack", "nothing declared", "marks dropped", after_pass("pack", e.everywhere(e.allocation_dropped)))
add("pack", "filled afterwards", "steps reversed", after_pass("pack", e.everywhere(e.reversed_steps)))
add("pack", "an array that is written", "", patched(columns, "is_written", lambda _o: lambda *_: False))


# --- edges, and the choices that they are for ------------------------------------------------------------------------


def of_selects(change: Callable[[c.Call], c.Expr]) -> Install:
    """Change what is printed where both branches are computed."""

    def at(node: c.Node) -> c.Node | None:
        known = isinstance(node, c.Call) and node.function in (*SELECTS.values(), WHOLE_SELECT)
        return change(node) if known and isinstance(node, c.Call) else None

    return patched(
        instances.InstancePrinter, "_selected", lambda original: lambda self, body: c.rewrite(original(self, body), at)
    )


def turned(call: c.Call) -> c.Expr:
    test, then, otherwise = call.arguments
    return replace(call, arguments=(test, otherwise, then))


def one_less_exact(call: c.Call) -> c.Expr:
    return replace(call, function=SELECTS["float"])


def of_tests(change: Callable[[c.Binary], c.Expr]) -> Install:
    """Change conditions of which both parts are computed."""

    def test_of(call: c.Call) -> c.Expr:
        test, *rest = call.arguments
        joined = isinstance(test, c.Binary) and test.op in ("&", "|")
        return replace(call, arguments=(change(test), *rest)) if joined and isinstance(test, c.Binary) else call

    return of_selects(test_of)


def of_calls(macros: Collection[str], change: Callable[[c.Call], c.Expr]) -> Install:
    """Change what is printed for square roots and extrema in vectors."""

    def at(node: c.Node) -> c.Node | None:
        return change(node) if isinstance(node, c.Call) and node.function in macros else None

    return patched(
        instances.InstancePrinter, "_whole", lambda original: lambda self, body: c.rewrite(original(self, body), at)
    )


def of_both(change: Callable[[c.Binary], c.Expr]) -> Install:
    """Change two comparisons of which both are made."""

    def at(node: c.Node) -> c.Node | None:
        return change(node) if isinstance(node, c.Binary) and is_both(node) else None

    return patched(
        instances.InstancePrinter, "_selected", lambda original: lambda self, body: c.rewrite(original(self, body), at)
    )


add("edges", "one of two comparisons", "", of_both(lambda node: node.right))
add("edges", "either comparison", "", of_both(lambda node: replace(node, op="|" if node.op == "&" else "&")))
add("edges", "the other of two conditions", "", of_tests(lambda test: replace(test, op="|" if test.op == "&" else "&")))
add("edges", "one of two conditions", "", of_tests(lambda test: test.left))


def one_more(call: c.Call) -> c.Expr:
    """A choice whose numbers are other ones."""
    test, *values = call.arguments
    return replace(call, arguments=(test, *(c.Literal("7") if isinstance(v, c.Literal) else v for v in values)))


def other_extremum(call: c.Call) -> c.Expr:
    name = call.function
    return replace(call, function=name.replace("max", "min") if "max" in name else name.replace("min", "max"))


def other_operand_first(call: c.Call) -> c.Expr:
    return replace(call, arguments=call.arguments[::-1])


def nothing_left_out(module: Any) -> Install:
    return patched(module, "left_out", lambda _original: lambda _scop, _access, ran: ran.subtract(ran))


_ROOTS, _EXTREMA, _ROUNDED = (tuple(macros.values()) for macros in (ROOTS, VECTOR_EXTREMA, ROUNDED))

add("edges", "another number", "of a choice", of_selects(one_more))
add("edges", "extrema turned", "a minimum for a maximum", of_calls(_EXTREMA, other_extremum))
add("edges", "operands of extrema turned", "", of_calls(_EXTREMA, other_operand_first))
add("edges", "an operand alone", "in the place of an extremum", of_calls(_EXTREMA, lambda call: call.arguments[0]))
add("edges", "elements that are left out", "read all the same", together(*map(nothing_left_out, (edges, readable))))
add("edges", "rounded the other way", "", of_calls(_ROUNDED, lambda call: replace(call, function=ROUNDED["ceilf"])))
add("edges", "not rounded", "the argument itself", of_calls(_ROUNDED, lambda call: call.arguments[0]))
add("edges", "roots in the other precision", "", of_calls(_ROOTS, lambda call: replace(call, function=ROOTS["sqrtf"])))
add("edges", "no roots", "the argument itself", of_calls(_ROOTS, lambda call: call.arguments[0]))
add("edges", "branches turned", "of a choice", of_selects(turned))
add("edges", "first branch alone", "whatever the condition says", of_selects(lambda call: call.arguments[1]))
add("edges", "doubles as floats", "the other macro", of_selects(one_less_exact))
add("edges", "first steps dropped", "", after_pass("edges", e.everywhere(e.first_step_dropped)))
add("edges", "first steps twice", "", after_pass("edges", e.everywhere(e.first_step_twice)))
add("edges", "a row lost", "", after_pass("edges", e.everywhere(e.filter_loses_a_row)))
