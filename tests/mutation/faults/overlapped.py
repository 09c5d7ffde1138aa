"""Faults of overlapped time tiles: too small a halo, values that go to the wrong place, or at the wrong time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.nests.skew as skew
import polyc.passes.timetiles.overlapped as overlapped
from polyc.model.program import Program
from polyc.model.tree import Extension, Mark, Node
from polyc.poly import empty_map
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
STAGE = "overlapped"
MAKER = overlapped._Maker


def plane(**other: int) -> Install:
    """Hyperplanes of another slope, or with another shift."""

    def make(original: Any) -> Any:
        def hyperplane(*args: Any) -> Any:
            found = original(*args)
            return found and replace(found, **{name: getattr(found, name) + by for name, by in other.items()})

        return hyperplane

    return patched(skew, "hyperplane", make)


def one_side(sign: int, by: int) -> Install:
    def make(original: Any) -> Any:
        def hyperplane(steps: Any, dimension: int, to: int = 1) -> Any:
            found = original(steps, dimension, to)
            return replace(found, slope=found.slope + by) if found and to == sign else found

        return hyperplane

    return patched(skew, "hyperplane", make)


def words(name: str, change: Callable[[str], str]) -> Install:
    """Another text of a bound."""
    return patched(MAKER, name, lambda original: property(lambda self: change(original.fget(self))))


def moved(name: str, dimension: int, by: int) -> Install:
    """A relation of tiles and cells, with the cells shifted."""

    def shifted(relation: isl.Map) -> isl.Map:
        space = relation.get_space().range()
        cells = isl.MultiAff.identity_on_domain_space(space)
        one = cells.get_at(dimension)
        return relation.apply_range(
            isl.Map.from_multi_aff(cells.set_at(dimension, one.add_constant_val(isl.Val(by, relation.get_ctx()))))
        )

    def make(original: Any) -> Any:
        def changed(*args: Any) -> Any:
            found = original(*args)
            if isinstance(found, isl.Map):
                return shifted(found)
            union = empty_map(found)
            for piece in overlapped.maps(found):
                union = union.union(isl.UnionMap.from_map(shifted(piece)))
            return union

        return changed

    return patched(MAKER, name, make)


def box(lower: int, size: int) -> Install:
    def make(original: Any) -> Any:
        def changed(*args: Any) -> Any:
            low, extents = original(*args)
            return tuple(n + lower for n in low), tuple(n + size for n in extents)

        return changed

    return patched(MAKER, "box", make)


def hull(low: int, high: int) -> Install:
    """A region of tiles that ends elsewhere."""

    def make(original: Any) -> Any:
        def hull_of(ran: list[isl.Set], a: int, b: int) -> isl.Set:
            in_region = a < 0
            return original(ran, a + low, b + high) if in_region else original(ran, a, b)

        return hull_of

    return patched(overlapped, "hull_of", make)


def halves_swapped(original: Any) -> Any:
    return lambda self, relation, half: original(self, relation, 1 - half)


def first_half_always(original: Any) -> Any:
    return lambda self, relation, half: original(self, relation, 0)


def store_everything(original: Any) -> Any:
    """What each block makes of an array goes back, whoever needs it."""

    def final(self: Any, array: str) -> isl.UnionMap:
        own = isl.UnionMap.from_map(self.own().set_tuple_name(isl.dim_type.out, array))
        return own.intersect_range(self.access(array, overlapped.AccessKind.WRITE).range())

    return final


def in_tiles(change: Callable[[Node], Node | None]) -> Install:
    return after_pass("timetiles", e.nth(change))


def in_place(program: Program) -> Program:
    """Copies go to the array itself, where they should go to the second one."""
    unused = {k: replace(b, accesses=frozenset()) for k, b in program.buffers.items() if b.storage == "heap"}
    return replace(program, buffers=program.buffers | unused)


def not_whole(node: Node) -> Node | None:
    return replace(node, whole=False) if isinstance(node, Extension) and node.whole else None


def without_tiles(node: Node) -> Node | None:
    return node.child if isinstance(node, Mark) and node.kind == "tiles" else None


def no_second_declared(node: Node) -> Node | None:
    if isinstance(node, Mark) and node.kind == "allocate" and any(name.endswith("_next") for name in node.names):
        return node.child
    return None


add(STAGE, "flatter to both sides", "values travel farther than the halo", plane(slope=-1))
add(STAGE, "steeper to both sides", "more is repeated than needed", plane(slope=1))
add(STAGE, "flatter to the right", "slope - 1", one_side(1, -1))
add(STAGE, "flatter to the left", "slope - 1", one_side(-1, -1))
add(STAGE, "smaller shift", "the last step's own halo is one cell short", plane(shift=-1))
add(STAGE, "one step more in a block", "steps run twice", words("last_step", lambda text: f"{text} + 1"))
add(STAGE, "one step less in a block", "a step is left out", words("last_step", lambda text: f"{text} - 1"))
add(STAGE, "blocks begin late", "their first step is left out", words("first_step", lambda text: f"{text} + 1"))
add(STAGE, "all arrays stay in place", "neighbours read what tiles overwrite", after_pass("timetiles", in_place))
add(STAGE, "own cells shifted", "a tile puts its neighbour's cells back", moved("own", 0, 1))
add(STAGE, "halo shifted", "cells are copied from one farther", moved("around", 0, 1))
add(STAGE, "buffers begin later", "their first cell has no place", box(1, 0))
add(STAGE, "buffers shorter", "their last cell has no place", box(0, -1))
add(STAGE, "buffers longer", "nothing is wrong with that", box(0, 3))
add(STAGE, "borders not copied", "`sides` finds none", always(MAKER, "sides", []))
add(STAGE, "regions begin late", "tiles are left out", hull(7, 7))
add(STAGE, "regions end early", "tiles are left out", hull(0, -3))
add(STAGE, "halves swapped", "the first one reads what nobody wrote", patched(MAKER, "in_half", halves_swapped))
add(STAGE, "copies in the first half only", "the second one has none", patched(MAKER, "in_half", first_half_always))
add(STAGE, "everything put back", "after each block", patched(MAKER, "final", store_everything))
add(STAGE, "nothing put back", "of what each step makes anew", always(MAKER, "final", isl.UnionMap("{ }")))
add(STAGE, "steps reversed", "copies out come first", in_tiles(e.reversed_steps))
add(STAGE, "last steps swapped", "copies out of one array and another", in_tiles(e.swapped_last_steps))
add(STAGE, "own instances run as well", "the extension adds to them", in_tiles(not_whole))
add(STAGE, "no tiles", "the mark is lost", in_tiles(without_tiles))
add(STAGE, "second arrays not declared", "their mark is lost", in_tiles(no_second_declared))
