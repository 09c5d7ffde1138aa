"""Faults of `basteln`: tile shapes, and Algorithms 2 to 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.fusion.basteln as basteln
import polyc.passes.fusion.fuser as clusters
import polyc.passes.fusion.hazards as hazards
import polyc.passes.fusion.neighbours as neighbours
import polyc.passes.fusion.shapes as shapes
import polyc.passes.fusion.tile_data as tile_data
from polyc.model.program import Program
from polyc.model.tree import Band, Member, Node, Role
from polyc.nests.nest import Nest
from polyc.passes.fusion.cluster import Cluster
from polyc.poly import empty_map, empty_set, maps, union_of
from tests.mutation import edits as e
from tests.mutation.faults.before_tiles import NO_PAIRS
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- basteln: tile shapes --------------------------------------------------------------------------------------------

SHAPES: list[tuple[str, str, e.Change]] = [
    ("extension dropped", "the producers are not added", e.extension_dropped),
    ("one statement not added", "a map of the extension is gone", e.extension_piece_dropped),
    ("extension of the next tile", "what the neighbour needs", e.extension_edit(e.other_tile(10))),
    ("extension of the tile before", "what the neighbour needs", e.extension_edit(e.other_tile(-6))),
    ("only the first tile's extension", "others add nothing", e.extension_edit(e.extension_only_first_tile)),
]
for dim_ in (0, 1):
    for distance_ in (-1, 1):
        SHAPES.append(
            (
                f"extension shifted by {distance_} in dimension {dim_}",
                "every map",
                e.extension_edit(e.range_shift(dim_, distance_)),
            )
        )
        SHAPES.append(
            (
                f"extension grown by {distance_} in dimension {dim_}",
                "repeats more than it needs",
                e.extension_edit(e.range_grown(dim_, distance_)),
            )
        )
    SHAPES += [
        (
            f"extension without the {'last' if end_ else 'first'} in dimension {dim_}",
            "every map",
            e.extension_edit(e.range_shrunk(dim_, end_)),
        )
        for end_ in (False, True)
    ]
SHAPES += [
    (
        f"extension's map {which_} without its last",
        "one of several statements",
        e.extension_edit(e.range_shrunk(0, True), which_),
    )
    for which_ in (0, 1)
]
for name_, what_, change_ in SHAPES:
    add("basteln", name_, what_, after_pass("basteln", e.nth(change_)))
add(
    "basteln",
    "extension adds the outputs too",
    "they run in every tile",
    after_pass("basteln", e.extension_adds_outputs),
)

TILES: list[tuple[str, str, Callable[[Band], Band | None]]] = [
    ("tile loops backwards", "the last tile first", e.tiles_backwards),
    ("tile corner moved", "one further than its first point", e.tile_corner_moved),
    ("tiles of another size", "than the extension believes", e.tile_of_another_size),
    ("outer tile loop dropped", "from the tile band", e.tile_loop_dropped),
    ("tile loops interchanged", "against the extension's coordinates", e.swapped_members),
]
for name_, what_, change__ in TILES:
    add("basteln", name_, what_, after_pass("basteln", e.everywhere(e.band_edit(change__, Role.TILE))))


# --- basteln: Algorithms 2 to 4 --------------------------------------------------------------------------------------


def first_piece_only(original: Any) -> Any:
    def joined_up(self: Any, cluster: Any, extension: isl.UnionMap) -> isl.UnionMap:
        kept = [isl.Map.from_basic_map(m.get_basic_map_list().get_at(0)) for m in maps(extension)]
        return original(self, cluster, union_of(kept, empty_map(extension)))  # type: ignore[no-any-return]

    return joined_up


def only_the_readers_row(original: Any) -> Any:
    """The halo is forgotten: each tile gets the instances that have its own coordinates."""

    def extension(self: Any, cluster: Any, nest: Nest) -> isl.UnionMap | None:
        found: isl.UnionMap | None = original(self, cluster, nest)
        if found is None or nest.band is None:
            return found
        own = clusters.values(
            self.outer.members + clusters.tile_members(nest.band.members, cluster.sizes[: len(nest.band.members)]),
            nest.instances,
        )
        return found.intersect(own.reverse()) if found is not None else None

    return extension


def extended_at_the_end(original: Any) -> Any:
    """Each new producer runs after the ones that read it."""

    def extend(self: Any, *args: Any) -> Any:
        found = original(self, *args)
        if not isinstance(found, Cluster):
            return found
        return replace(found, producers=(*found.producers[1:], found.producers[0]))

    return extend


def members_reversed(original: Any) -> Any:
    def members(self: Any, *args: Any) -> Any:
        steps, extension, declared = original(self, *args)
        return list(reversed(steps)), extension, declared

    return members


def members_without_copies(original: Any) -> Any:
    def members(self: Any, *args: Any) -> Any:
        steps, extension, declared = original(self, *args)
        kept = [s for s in steps if not any(n.startswith(("fill_", "store_")) for n in clusters.names(s.filter))]
        return kept, extension, declared

    return members


def data_undeclared(original: Any) -> Any:
    def members(self: Any, *args: Any) -> Any:
        steps, extension, _ = original(self, *args)
        return steps, extension, ()

    return members


def as_if_not_opaque(original: Any) -> Any:
    def extend(self: Any, *args: Any) -> Any:
        program: Program = self.program
        known = {n: replace(s, opaque=False) for n, s in program.statements.items()}
        self.program = replace(program, statements=known)
        try:
            return original(self, *args)
        finally:
            self.program = program

    return extend


def reserved_lost(original: Any) -> Any:
    def guarded(self: Any, reserved: isl.UnionSet) -> Any:
        return empty_set(original(self, reserved)[0]), None

    return guarded


def guard_lost(original: Any) -> Any:
    def guarded(self: Any, reserved: isl.UnionSet) -> Any:
        return original(self, reserved)[0], None

    return guarded


def reserved_short(original: Any) -> Any:
    def reserved(self: Any, *args: Any) -> isl.UnionSet:
        return e.without(original(self, *args), 0)

    return reserved


def nothing_dropped_yet(_original: Any) -> Any:
    """Every instance counts as one that nobody runs, so that nobody needs its values."""
    return lambda self, _cluster: self.program.scop.domain


def band_of_any(_original: Any) -> Any:
    def band(nest: Nest) -> Band | None:
        found = nest.band
        return None if found is None else e.all_coincident(found)

    return band


def rest_dropped(original: Any) -> Any:
    """Below the tile band the loops that were not tiled are forgotten."""

    def output(self: Any, nest: Nest, cluster: Any) -> Node:
        node: Node = original(self, nest, cluster)
        if isinstance(node, Band) and len(node.members) > 1:
            return replace(node, members=node.members[1:])
        return node

    return output


def coarse_tiles(original: Any) -> Any:
    """Corners as if tiles were one larger than they are said to be."""

    def tile_members(members: tuple[Member, ...], sizes: tuple[int, ...]) -> tuple[Member, ...]:
        wrong = original(members, tuple(s + 1 for s in sizes))
        return tuple(replace(m, size=s) for m, s in zip(wrong, sizes, strict=True))

    return tile_members


add(
    "basteln",
    "first piece of a tile shape",
    "where several are needed",
    patched(shapes.Shapes, "_joined_up", first_piece_only),
)
add(
    "basteln",
    "halo forgotten",
    "each tile makes its own part only",
    patched(shapes.Shapes, "extension", only_the_readers_row),
)
add("basteln", "producers after their readers", "in the tile", patched(clusters.Fuser, "extend", extended_at_the_end))
add("basteln", "tile's steps reversed", "outputs first", patched(basteln._Composer, "_members", members_reversed))
add(
    "basteln",
    "copies dropped",
    "fill and store are not run",
    patched(basteln._Composer, "_members", members_without_copies),
)
add("basteln", "buffers not declared", "the mark is missing", patched(basteln._Composer, "_members", data_undeclared))
add(
    "basteln",
    "left-over dropped",
    "(20): nothing stays in its place, no guard",
    patched(clusters.Fuser, "_guarded", reserved_lost),
)
add("basteln", "left-over's guard forgotten", "tiny sizes", patched(clusters.Fuser, "_guarded", guard_lost))
add("basteln", "left-over without its first row", "(20)", patched(clusters.Fuser, "_reserved", reserved_short))
add(
    "basteln",
    "left-over is nothing",
    "(20) answers the empty set",
    patched(clusters.Fuser, "_reserved", lambda o: lambda s, *a: empty_set(o(s, *a))),
)
add(
    "basteln",
    "earlier readers forgotten",
    "(21), (22) for nests in between",
    patched(clusters.Fuser, "_needed_before", lambda o: lambda s, *a: empty_set(o(s, *a))),
)
add("basteln", "later readers forgotten", "(21), (22) for nests after", always(clusters.Fuser, "_needed_later", False))
add("basteln", "in-place updates allowed", "old values are still read", always(hazards.Hazards, "in_place", None))
add("basteln", "hazards allowed", "inputs overwritten, writes reordered", always(hazards.Hazards, "moving", None))
add(
    "basteln",
    "hazards and in-place allowed",
    "both",
    together(always(hazards.Hazards, "moving", None), always(hazards.Hazards, "in_place", None)),
)
add("basteln", "tiles may clash", "writes of one cell by two tiles", always(hazards.Hazards, "_tiles_clash", False))
add(
    "basteln",
    "arrays stay inside",
    "everything looks private to its nest",
    always(neighbours.Neighbours, "stays_inside", True),
)
add("basteln", "no buffers planned", "overlapping tiles write the array", always(tile_data.TileData, "plan", None))
add(
    "basteln",
    "everything counts as dropped",
    "no value is needed outside",
    patched(clusters.Fuser, "dropped_with", nothing_dropped_yet),
)
add(
    "basteln",
    "opaque producers fused",
    "their accesses are approximations",
    patched(clusters.Fuser, "extend", as_if_not_opaque),
)
add("basteln", "outputs joined whatever", "(22) is not asked", always(basteln._Composer, "_shared_data", ["data"]))
add(
    "basteln",
    "outputs joined and pairs ignored",
    "(22), no dependence between them",
    together(always(basteln._Composer, "_shared_data", ["data"]), NO_PAIRS),
)
add(
    "basteln",
    "sequential nests tiled",
    "all loops taken as coincident",
    together(patched(basteln, "output_band", band_of_any)),
)
add(
    "basteln",
    "below the tiles a loop is lost",
    "in the point band",
    patched(basteln._Composer, "_output", rest_dropped),
)
add("basteln", "corners of larger tiles", "tile loops", patched(clusters, "tile_members", coarse_tiles))
add(
    "basteln",
    "outer iterations mixed up",
    "pairs of other iterations count",
    patched(shapes.Shapes, "_same_outer", lambda _o: lambda _s, x: x),
)
