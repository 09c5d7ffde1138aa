"""Faults of the dependences, and of the passes that come before tiles: `schedule` and `pretiling`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.nests.graph as graph
import polyc.passes.fusion.pretiling as pretiling
import polyc.pipeline as pipeline
from polyc.model.program import Dependences
from polyc.model.scop import Scop
from polyc.model.tree import Band, Member, Sequence
from polyc.nests.nest import Nest, Outer
from polyc.poly import empty_map, maps, union_of
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- analysis: dependences that the passes rely on -------------------------------------------------------------------


def dependences(change: Callable[[Dependences, Scop], Dependences]) -> Install:
    return patched(
        pipeline, "compute_dependences", lambda original: lambda scop, *known: change(original(scop, *known), scop)
    )


def no_flow_through(which: int) -> Callable[[Dependences, Scop], Dependences]:
    """The flow through one array is overlooked."""

    def change(d: Dependences, _scop: Scop) -> Dependences:
        arrays = sorted(d.flow_by_array)
        lost = arrays[which % len(arrays)]
        kept = {a: f for a, f in d.flow_by_array.items() if a != lost}
        flow = empty_map(d.flow)
        for one in kept.values():
            flow = flow.union(one)
        return replace(d, flow=flow, flow_by_array=kept)

    return change


def no_flow(d: Dependences, _scop: Scop) -> Dependences:
    return replace(d, flow=empty_map(d.flow), flow_by_array={})


def flow_without_itself(d: Dependences, _scop: Scop) -> Dependences:
    """Dependences of a statement on itself are overlooked: every loop looks parallel."""
    other = [m for m in maps(d.flow) if m.get_tuple_name(isl.dim_type.in_) != m.get_tuple_name(isl.dim_type.out)]
    false = [m for m in maps(d.false) if m.get_tuple_name(isl.dim_type.in_) != m.get_tuple_name(isl.dim_type.out)]
    return replace(d, flow=union_of(other, empty_map(d.flow)), false=union_of(false, empty_map(d.false)))


def no_false(d: Dependences, _scop: Scop) -> Dependences:
    return replace(d, false=empty_map(d.false))


def no_private_false(d: Dependences, _scop: Scop) -> Dependences:
    nothing = empty_map(d.false)
    return replace(d, private_false=nothing, tagged_private_false=nothing)


def no_last_writer(d: Dependences, _scop: Scop) -> Dependences:
    return replace(d, last_writer=empty_map(d.last_writer))


def flow_one_row_short(d: Dependences, _scop: Scop) -> Dependences:
    """Writers in the first iteration are overlooked."""
    lost = e.without(d.flow.domain(), 0)
    return replace(
        d,
        flow=d.flow.intersect_domain(lost),
        flow_by_array={a: f.intersect_domain(lost) for a, f in d.flow_by_array.items()},
    )


add("dependences", "one array's flow dropped", "the first array", dependences(no_flow_through(0)))
add("dependences", "another array's flow dropped", "the last array", dependences(no_flow_through(-1)))
add("dependences", "second array's flow dropped", "the second array", dependences(no_flow_through(1)))
add("dependences", "no flow at all", "flow is empty", dependences(no_flow))
add("dependences", "self-dependences dropped", "flow, anti and output", dependences(flow_without_itself))
add("dependences", "anti and output dropped", "`false` is empty", dependences(no_false))
add("dependences", "private anti and output dropped", "live ranges may cross", dependences(no_private_false))
add("dependences", "last writers dropped", "nothing looks live-out", dependences(no_last_writer))
add("dependences", "first row's flow dropped", "writers at 0", dependences(flow_one_row_short))

# --- schedule --------------------------------------------------------------------------------------------------------

add("schedule", "source order whatever depends", "_order_of finds no pair", always(graph, "_order_of", set()))


# --- pretiling -------------------------------------------------------------------------------------------------------


def joined_whatever(_original: Any) -> Any:
    def joined(_self: Any, group: list[Nest], others: list[Nest], _outer: Outer) -> list[Nest] | None:
        bands = [n.band for n in (*group, *others)]
        return None if any(b is None for b in bands) else [*group, *others]

    return joined


def group_reversed(original: Any) -> Any:
    def group_nest(self: Any, group: list[Nest], outer: Outer) -> Nest:
        nest: Nest = original(self, group, outer)
        band = nest.node
        assert isinstance(band, Band)
        assert isinstance(band.child, Sequence)
        return replace(nest, node=replace(band, child=Sequence(tuple(reversed(band.child.children)))))

    return group_nest


def shifted_join(original: Any) -> Any:
    """The second nest's loop is joined with a shift of one."""

    def joined(a: Member, b: Member) -> Member:
        pieces = {m.get_tuple_name(isl.dim_type.in_) for m in maps(isl.UnionMap.from_union_pw_aff(b.schedule))}
        return original(a, replace(b, schedule=e._moved(b.schedule, {str(p) for p in pieces}, -1)))  # type: ignore[no-any-return]

    return joined


NO_PAIRS: Install = patched(Outer, "same_iteration", lambda _o: lambda _self, relation: empty_map(relation))
ALL_PAIRS: Install = patched(Outer, "same_iteration", lambda _o: lambda _self, relation: relation)

add(
    "pretiling",
    "any dependence is quasi-identity",
    "Definition 4.1 is not asked",
    always(pretiling._Merger, "has_distance_0", True),
)
add(
    "pretiling",
    "neighbours joined whatever",
    "neither loops nor dependences asked",
    patched(pretiling._Merger, "joined", joined_whatever),
)
add(
    "pretiling",
    "group's steps reversed",
    "in the joined nest",
    patched(pretiling._Merger, "group_nest", group_reversed),
)
add("pretiling", "joined with a shift", "by one iteration", patched(pretiling, "joined_member", shifted_join))
add("pretiling", "outer iterations mixed up", "no pair is in one iteration", NO_PAIRS)
add("pretiling", "all pairs in one iteration", "outer loops ignored", ALL_PAIRS)
add("pretiling", "every value constant", "_constant says yes", always(pretiling, "_constant", True))
