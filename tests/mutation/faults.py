"""The faults: what each pass could do wrong, by patching one of its functions or editing what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.codegen.loops as loops
import polyc.codegen.printer as printer
import polyc.codegen.render as render
import polyc.passes.basteln as basteln
import polyc.passes.clusters as clusters
import polyc.passes.contract as contract
import polyc.passes.parallel as parallel
import polyc.passes.pretiling as pretiling
import polyc.passes.privatize as privatize
import polyc.passes.promotion as promotion
import polyc.passes.reductions as reductions
import polyc.passes.schedule as schedule
import polyc.passes.vectorize as vectorize
import polyc.pipeline as pipeline
from polyc.analysis import reductions as recognised
from polyc.codegen.exprs import ExprPrinter
from polyc.codegen.to_isl import Annotated
from polyc.model import ctree as c
from polyc.model.program import Dependences, Program
from polyc.model.scop import Scop, Statement
from polyc.model.tree import Band, Domain, Member, Node, Role, Sequence, rewrite
from polyc.passes.boxes import Box
from polyc.passes.nests import Nest, Outer
from polyc.poly import empty_map, empty_set, maps, union_of
from tests.mutation import edits as e
from tests.mutation.gpu_faults import GPU_FAULTS
from tests.mutation.inlining import INLINING
from tests.mutation.install import Install, always, patched, together
from tests.mutation.runner import Fault, after_pass
from tests.mutation.tensor_faults import TENSOR_FAULTS

FAULTS: list[Fault] = []


def add(stage: str, name: str, what: str, install: Install, *programs: str) -> None:
    FAULTS.append(Fault(f"{stage}: {name}", stage, what, install, programs))


# --- analysis: dependences that the passes rely on -------------------------------------------------------------------


def dependences(change: Callable[[Dependences, Scop], Dependences]) -> Install:
    return patched(pipeline, "compute_dependences", lambda original: lambda scop: change(original(scop), scop))


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

# --- every pass: edits of the tree that it answers -------------------------------------------------------------------

TREE: list[tuple[str, str, e.Edit]] = [
    ("steps reversed", "every sequence backwards", e.everywhere(e.reversed_steps)),
    ("inner steps reversed", "the innermost sequence backwards", e.nth(e.reversed_steps)),
    ("last two steps swapped", "of one sequence", e.nth(e.swapped_last_steps)),
    ("first step dropped", "of one sequence", e.nth(e.first_step_dropped)),
    ("last step dropped", "of one sequence", e.nth(e.last_step_dropped)),
    ("first step twice", "the filter stands there twice", e.nth(e.first_step_twice)),
    ("first step again at the end", "in every sequence", e.everywhere(e.first_step_again_at_the_end)),
    ("filter loses a row", "instances with 5 in front", e.nth(e.filter_loses_a_row)),
    ("domain loses a row", "instances with 3 in front", e.domain_without_a_row),
    ("inner loop backwards", "the innermost band's last loop", e.nth(e.band_edit(e.reversed_last))),
    ("outer loops backwards", "every band's first loop", e.everywhere(e.band_edit(e.reversed_first))),
    ("second band backwards", "its last loop", e.nth(e.band_edit(e.reversed_last), 1)),
    ("loops interchanged", "in every band", e.everywhere(e.band_edit(e.swapped_members))),
    ("inner loop lost", "of every band with several", e.everywhere(e.band_edit(e.lost_last))),
    ("statement one iteration late", "in the last loop", e.everywhere(e.band_edit(e.shifted_statement))),
    ("statement seven iterations late", "in the first loop", e.everywhere(e.band_edit(e.delayed_statement))),
    ("even iterations first", "in the innermost loop", e.nth(e.band_edit(e.strip_of_all_at_once))),
    ("all loops coincident", "as isl never said", e.everywhere(e.band_edit(e.all_coincident))),
    (
        "all loops coincident and permutable",
        "as isl never said",
        e.everywhere(e.band_edit(lambda b: e.all_coincident(replace(b, permutable=True)))),
    ),
    ("all bands permutable", "as isl never said", e.everywhere(e.band_edit(e.all_permutable))),
]
for stage_ in ("schedule", "pretiling", "basteln", "vectorize", "privatize"):
    for name_, what_, edit_ in TREE:
        if (stage_ == "privatize" and "coincident" in name_) or (stage_ == "privatize" and "permutable" in name_):
            continue  # nobody reads them any more
        if stage_ == "vectorize" and "permutable" in name_:
            continue
        add(stage_, name_, what_, after_pass(stage_, edit_))

# --- schedule --------------------------------------------------------------------------------------------------------

add("schedule", "source order whatever depends", "_depends says no", always(schedule, "_depends", False))


# --- pretiling -------------------------------------------------------------------------------------------------------


def joined_whatever(_original: Any) -> Any:
    def joined(_self: Any, group: list[Nest], nest: Nest, _outer: Outer) -> list[Nest] | None:
        bands = [n.band for n in (*group, nest)]
        return None if any(b is None for b in bands) else [*group, nest]

    return joined


def group_reversed(original: Any) -> Any:
    def group_nest(self: Any, group: list[Nest]) -> Nest:
        nest: Nest = original(self, group)
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
    always(pretiling._Merger, "quasi_identity", True),
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
add("pretiling", "joined with a shift", "by one iteration", patched(pretiling, "_joined_member", shifted_join))
add("pretiling", "outer iterations mixed up", "no pair is in one iteration", NO_PAIRS)
add("pretiling", "all pairs in one iteration", "outer loops ignored", ALL_PAIRS)
add("pretiling", "every value constant", "_constant says yes", always(pretiling, "_constant", True))

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
        if not isinstance(found, clusters.Cluster):
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
    patched(clusters.Fuser, "_joined_up", first_piece_only),
)
add(
    "basteln",
    "halo forgotten",
    "each tile makes its own part only",
    patched(clusters.Fuser, "extension", only_the_readers_row),
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
add("basteln", "in-place updates allowed", "old values are still read", always(clusters.Fuser, "_in_place", None))
add("basteln", "hazards allowed", "inputs overwritten, writes reordered", always(clusters.Fuser, "_hazard", None))
add(
    "basteln",
    "hazards and in-place allowed",
    "both",
    together(always(clusters.Fuser, "_hazard", None), always(clusters.Fuser, "_in_place", None)),
)
add("basteln", "tiles may clash", "writes of one cell by two tiles", always(clusters.Fuser, "_tiles_clash", False))
add(
    "basteln",
    "arrays stay inside",
    "everything looks private to its nest",
    always(clusters.Fuser, "_stays_inside", True),
)
add("basteln", "no buffers planned", "overlapping tiles write the array", always(clusters.Fuser, "_plan", None))
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
    patched(clusters.Fuser, "_same_outer", lambda _o: lambda _s, x: x),
)


# --- promotion and boxes ---------------------------------------------------------------------------------------------


def box_changed(change: Callable[[Box], Box]) -> Install:
    def make(original: Any) -> Any:
        def bounding_box(*args: Any) -> Box | None:
            found = original(*args)
            return None if found is None else change(found)

        return bounding_box

    return patched(promotion, "bounding_box", make)


def corner(dimension: int, distance: int) -> Callable[[Box], Box]:
    def change(box: Box) -> Box:
        if box.corner.dim(isl.dim_type.out) <= dimension:
            return box
        one = box.corner.get_at(dimension)
        moved = one.add_constant_val(isl.Val.int_from_si(one.get_ctx(), distance))
        return replace(box, corner=box.corner.set_at(dimension, moved))

    return change


def extent(dimension: int, distance: int) -> Callable[[Box], Box]:
    def change(box: Box) -> Box:
        if len(box.extents) <= dimension:
            return box
        old = box.extents[dimension]
        more = isl.PwAff.val_on_domain(old.domain(), isl.Val.int_from_si(old.get_ctx(), distance))
        return replace(box, extents=(*box.extents[:dimension], old.add(more), *box.extents[dimension + 1 :]))

    return change


def plan(change: Callable[[promotion.DataTile], promotion.DataTile]) -> Install:
    def make(original: Any) -> Any:
        def plan_buffer(*args: Any) -> Any:
            found = original(*args)
            return change(found) if isinstance(found, promotion.DataTile) else found

        return plan_buffer

    return patched(clusters, "plan_buffer", make)


def every_tile_stores(original: Any) -> Any:
    """A cell has no owner: each tile that made it stores it."""

    def copy_out(*args: Any) -> Any:
        program, tile, nest, moved, array, _outer, _dropped = args
        found = original(*args)
        if not isinstance(found, isl.Map):
            return found
        writes = empty_map(tile)
        for name in nest.statements:
            for access in program.statements[name].accesses:
                if access.array == array and access.kind.value != "read":
                    writes = writes.union(isl.UnionMap.from_map(access.relation))
        (every,) = maps(tile.reverse().apply_range(writes.intersect_domain(moved)).coalesce())
        return every

    return copy_out


def owner_is_last(original: Any) -> Any:
    def copy_out(*args: Any) -> Any:
        found = every_tile_stores(original)(*args)
        if not isinstance(found, isl.Map):
            return found
        return found.reverse().lexmax().reverse().coalesce()

    return copy_out


def fill_cells(change: Callable[[isl.Map], isl.Map | None]) -> Install:
    return plan(lambda d: replace(d, fill=None if d.fill is None else change(d.fill)))


def store_cells(change: Callable[[isl.Map], isl.Map | None]) -> Install:
    return plan(lambda d: replace(d, copy_out=None if d.copy_out is None else change(d.copy_out)))


def copies_flipped(original: Any) -> Any:
    return lambda program, array, prefix, to_buffer: original(program, array, prefix, not to_buffer)


for dim_ in (0, 1):
    for distance_ in (-1, 1):
        add(
            "promotion",
            f"corner {distance_:+d} in dimension {dim_}",
            "of the box",
            box_changed(corner(dim_, distance_)),
        )
        add(
            "promotion",
            f"extent {distance_:+d} in dimension {dim_}",
            "of the box",
            box_changed(extent(dim_, distance_)),
        )
        add(
            "promotion",
            f"buffer's corner {distance_:+d} in dimension {dim_}",
            "of the buffer, after basteln",
            after_pass("basteln", e.buffer_edit(e.corner_moved(dim_, distance_))),
        )
add(
    "promotion",
    "buffer one too small",
    "its last extent",
    after_pass("basteln", e.buffer_edit(e.extent_changed(0, -1))),
)
add("promotion", "extent lost", "one dimension fewer", after_pass("basteln", e.buffer_edit(e.extent_lost)))
add(
    "promotion",
    "corner of the first tile",
    "for all tiles",
    after_pass("basteln", e.buffer_edit(e.corner_of_everything)),
)
add("promotion", "corner forgotten", "the array's own subscripts", after_pass("basteln", e.corner_forgotten))
for distance_ in (-1, 1):
    add(
        "promotion",
        f"depth {distance_:+d}",
        "of the buffer",
        after_pass("basteln", e.buffer_edit(e.depth_changed(distance_))),
    )
for position_ in (0, -1, 1):
    add(
        "promotion",
        f"access {position_} not redirected",
        "it stays on the array",
        after_pass("basteln", e.buffer_edit(e.access_lost(position_))),
    )
add("promotion", "fill forgotten", "old values are not there", fill_cells(lambda _m: None))
add("promotion", "fill without its last column", "of cells", fill_cells(e.range_shrunk(1, True)))
add("promotion", "fill shifted", "by a column", fill_cells(e.range_shift(1, 1)))
add("promotion", "store forgotten", "values needed outside stay in the tile", store_cells(lambda _m: None))
add("promotion", "store without its first row", "of cells", store_cells(e.range_shrunk(0, False)))
add("promotion", "store shifted", "by a row", store_cells(e.range_shift(0, 1)))
add("promotion", "every tile stores", "cells have no owner", patched(promotion, "_copy_out", every_tile_stores))
add("promotion", "the last tile owns", "instead of the first", patched(promotion, "_copy_out", owner_is_last))
add("promotion", "copies flipped", "fill stores, store fills", patched(basteln, "copy_statement", copies_flipped))
add(
    "promotion",
    "copies turned round",
    "after basteln",
    after_pass("basteln", e.statement_edit(e.copies_turned_round, True)),
)
add(
    "promotion",
    "copies add one",
    "the text is no copy",
    after_pass("basteln", e.statement_edit(e.value_plus_one, True)),
)
add(
    "promotion",
    "copies take the neighbour",
    "one cell to the next",
    after_pass("basteln", e.statement_edit(e.copy_of_the_neighbour, True)),
)
add("promotion", "copies are not known as such", "`copies` is empty", after_pass("basteln", e.no_copy_is_known))
add("promotion", "everything is a copy", "`copies` has all statements", after_pass("privatize", e.everything_is_a_copy))
add(
    "promotion",
    "sizes without a guard",
    "parametric extents",
    patched(promotion, "_sizes", lambda o: lambda *a: None if o(*a) is None else (o(*a)[0], None)),
)
add(
    "promotion",
    "sizes without slack",
    "ten where the samples say more",
    patched(
        promotion,
        "_sizes",
        lambda o: lambda *a: None if o(*a) is None else (tuple(min(x, 10) for x in o(*a)[0]), o(*a)[1]),
    ),
)
add(
    "promotion",
    "guard twice as wide",
    "the limit of parametric extents",
    patched(promotion, "_fits", lambda o: lambda x, limit, t: o(x, 2 * limit, t)),
)
add("promotion", "named like another array", "which the tile reads", after_pass("basteln", e.named_like_another_array))
add("promotion", "two buffers of one name", "in one tile", after_pass("basteln", e.buffers_share_a_name))
add(
    "promotion",
    "values from before forgotten",
    "RefFlow knows no live-in",
    patched(promotion.RefFlow, "of", lambda o: lambda s, *a: replace(o(s, *a), live_in=empty_map(o(s, *a).live_in))),
)
add(
    "promotion",
    "declared above the tiles",
    "one buffer for all tiles",
    after_pass("basteln", e.everywhere(e.allocation_above_the_band)),
)
add(
    "promotion",
    "declared below",
    "anew in each step's loop",
    after_pass("basteln", e.everywhere(e.allocation_below_the_next_band)),
)
add(
    "promotion",
    "declared in each step",
    "each has its own",
    after_pass("basteln", e.everywhere(e.allocation_into_each_step)),
)
add("promotion", "declared nowhere", "the mark is dropped", after_pass("basteln", e.everywhere(e.allocation_dropped)))


# --- vectorize -------------------------------------------------------------------------------------------------------


def any_loop_sinks(original: Any) -> Any:
    def sunk(band: Band, program: Program) -> Node:
        everything = e.all_coincident(band)
        assert everything is not None
        return original(everything, program)  # type: ignore[no-any-return]

    return sunk


def first_loop_sinks(_original: Any) -> Any:
    """The outermost loop goes innermost, whatever it carries."""

    def sunk(band: Band, _program: Program) -> Node:
        below = vectorize._sink(band.members[0], band.child)
        return replace(band, members=band.members[1:], child=below) if len(band.members) > 1 else below

    return sunk


add("vectorize", "loops that carry sink", "all count as coincident", patched(vectorize, "_sunk", any_loop_sinks))
add("vectorize", "first loop sinks", "whatever it carries", patched(vectorize, "_sunk", first_loop_sinks))
add("vectorize", "private values cross", "_private_across says no", always(vectorize, "_private_across", False))
add(
    "vectorize",
    "private values cross, first loop sinks",
    "both",
    together(always(vectorize, "_private_across", False), patched(vectorize, "_sunk", any_loop_sinks)),
)
add("vectorize", "windows are not unrolled", "unrolled_below says no", always(vectorize, "unrolled_below", False))
add(
    "vectorize",
    "sunk members not restricted",
    "to their step",
    patched(vectorize, "_restricted", lambda _o: lambda m, _i: m),
)
add(
    "vectorize",
    "strides mistaken",
    "every loop looks consecutive",
    always(vectorize, "_strides", vectorize._Strides(3, 0, 0)),
)

# --- parallel --------------------------------------------------------------------------------------------------------


def marked(change: Callable[[Band], Band | None], position: int | None = None) -> Install:
    at = e.band_edit(change)
    return after_pass("parallel", e.everywhere(at) if position is None else e.nth(at, position))


def all_coincident_before(original: Any) -> Any:
    def mark_loops(program: Program) -> Program:
        return original(e.everywhere(e.band_edit(e.all_coincident))(program))  # type: ignore[no-any-return]

    return mark_loops


add("parallel", "every first loop parallel", "of each band", marked(e.parallel_first))
add("parallel", "every last loop parallel", "of each band", marked(e.parallel_last))
add("parallel", "every last loop a vector loop", "of each band", marked(e.vector_last))
for position_ in (0, 1, 2):
    add("parallel", f"first loop of band {position_} parallel", "from the inside", marked(e.parallel_first, position_))
    add("parallel", f"last loop of band {position_} parallel", "from the inside", marked(e.parallel_last, position_))
    add("parallel", f"last loop of band {position_} vector", "from the inside", marked(e.vector_last, position_))
add(
    "parallel",
    "coincidence not read",
    "the outermost loop is parallel",
    patched(pipeline, "mark_loops", all_coincident_before),
)
add("parallel", "loops below not seen", "has_loops says no", always(parallel, "has_loops", False))

# --- reductions ------------------------------------------------------------------------------------------------------


def any_update(original: Any) -> Any:
    def reduction_of(statement: Statement) -> tuple[str, str] | None:
        match statement.body:
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array))):
                return "+", array
            case _:
                return original(statement)  # type: ignore[no-any-return]

    return reduction_of


def product_as_sum(original: Any) -> Any:
    def reduction_of(statement: Statement) -> tuple[str, str] | None:
        found = original(statement)
        return None if found is None else ("*" if found[0] == "+" else "+", found[1])

    return reduction_of


def without_asking(original: Any) -> Any:
    def mark_reductions(program: Program) -> Program:
        allowed = replace(program, options=replace(program.options, reassociate=True))
        return replace(original(allowed), options=program.options)

    return mark_reductions


def clause_lost(node: Node) -> Node | None:
    if not isinstance(node, Band) or not any(m.reductions for m in node.members):
        return None
    return replace(node, members=tuple(replace(m, reductions=()) for m in node.members))


def operator_wrong(node: Node) -> Node | None:
    if not isinstance(node, Band) or not any(m.reductions for m in node.members):
        return None
    return replace(
        node,
        members=tuple(replace(m, reductions=tuple(("*", a) for _, a in m.reductions)) for m in node.members),
    )


def reduction_of_anything(program: Program) -> Program:
    """Every sequential loop is parallel, with a reduction of each array that is written below."""
    written = {a.array for s in program.statements.values() for a in s.accesses if a.kind.value != "read"}

    def change(node: Node) -> Node | None:
        if not isinstance(node, Band) or node.members[0].coincident:
            return None
        clause = tuple(("+", a) for a in sorted(written))
        return replace(node, members=(replace(node.members[0], parallel=True, reductions=clause), *node.members[1:]))

    return e.everywhere(change)(program)


NO_RACES: Install = always(reductions, "race_faults", [])
add(
    "reductions",
    "a false associative reduction",
    "x = 3 * x + a counts as a sum",
    together(patched(reductions, "reduction_of", any_update), NO_RACES),
)
add(
    "reductions",
    "a false associative reduction in the analysis",
    "which the check reads as well",
    together(
        patched(reductions, "reduction_of", any_update),
        patched(recognised, "reduction_of", any_update),
        NO_RACES,
        lambda patch: patch.setattr(
            "polyc.verify.races.reduction_of", any_update(recognised.reduction_of), raising=False
        ),
    ),
)
add(
    "reductions",
    "a sum as a product",
    "the wrong operator",
    together(patched(reductions, "reduction_of", product_as_sum), NO_RACES),
)
add(
    "reductions",
    "without --reassociate",
    "in any program",
    together(patched(pipeline, "mark_reductions", without_asking), NO_RACES),
)
add(
    "reductions",
    "clause lost",
    "parallel without a reduction clause",
    after_pass("reductions", e.everywhere(clause_lost)),
)
add("reductions", "wrong operator", "after the pass", after_pass("reductions", e.everywhere(operator_wrong)))
add("reductions", "anything reduced", "all sequential loops", after_pass("reductions", reduction_of_anything))
add("reductions", "races not asked", "every candidate is taken", NO_RACES)


# --- inline ----------------------------------------------------------------------------------------------------------

for name_, what_, install_ in INLINING:
    add("inline", name_, what_, install_)

# --- contract --------------------------------------------------------------------------------------------------------


def declared_around(node: Node) -> Node | None:
    return e.allocation_above_the_band(node)


def every_array_contracted(program: Program) -> list[str]:
    """Also what is needed afterwards, or has a value from before."""
    kept = {b.array for b in program.buffers.values()}
    return [name for name, array in program.scop.arrays.items() if array.rank and name not in kept]


def only_written(original: Any) -> Any:
    """The reads go to the array, the writes to the variable."""

    def whole(program: Program, array: str) -> Any:
        found = original(program, array)
        writes = {(s.name, a.ref) for s in program.statements.values() for a in s.accesses if a.kind.value != "read"}
        return replace(found, accesses=found.accesses & writes)

    return whole


add(
    "contract",
    "every array",
    "needed afterwards or not",
    patched(contract, "_unbuffered", lambda _o: every_array_contracted),
)
add("contract", "reads forgotten", "they see the array", patched(contract, "_whole", only_written))
CONTRACT: list[tuple[str, str, e.Edit]] = [
    ("declared above the loop", "one for all iterations", e.everywhere(declared_around)),
    ("declared in each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
    ("declared nowhere", "marks dropped", e.everywhere(e.allocation_dropped)),
    ("corner moved", "by one", e.buffer_edit(e.corner_moved(0, 1))),
    ("extent one less", "no element at all", e.buffer_edit(e.extent_changed(0, -1))),
    ("depth -1", "of the variables", e.buffer_edit(e.depth_changed(-1))),
    ("an access is not redirected", "it stays on the array", e.buffer_edit(e.access_lost(0))),
    ("two of one name", "in one iteration", e.buffers_share_a_name),
]
for name_, what_, edit_ in CONTRACT:
    add("contract", name_, what_, after_pass("contract", edit_))

# --- privatize -------------------------------------------------------------------------------------------------------


def everything_private(original: Any) -> Any:
    """Every scalar that is written counts as private, also where its value is needed afterwards."""

    def place(program: Program) -> Program:
        scalars = {n for n, a in program.scop.arrays.items() if a.rank == 0 and n in program.dependences.flow_by_array}
        scop = program.scop
        wide = replace(program, scop=replace(scop, privatizable=scop.privatizable | scalars))
        return replace(original(wide), scop=scop)

    return place


add("privatize", "no copies", "scalars are shared", patched(pipeline, "place_private_arrays", lambda _o: lambda p: p))
add(
    "privatize",
    "declared as deep as can be",
    "values do not stay in an iteration",
    always(privatize._Placing, "_stays", True),
)
add(
    "privatize",
    "declared at the outermost loop",
    "no loop keeps its values inside",
    always(privatize._Placing, "_stays", False),
)
add("privatize", "steps not connected", "each declares its own", always(privatize._Placing, "_connected", False))
add(
    "privatize",
    "private though live-out",
    "scalars that are needed afterwards",
    together(dependences(no_false), patched(pipeline, "place_private_arrays", everything_private)),
    "last_value",
    "private",
)
add("privatize", "declared above the loop", "marks moved out", after_pass("privatize", e.everywhere(declared_around)))
add(
    "privatize",
    "declared below the next band",
    "marks moved in",
    after_pass("privatize", e.everywhere(e.allocation_below_the_next_band)),
)
add(
    "privatize",
    "declared in each step",
    "marks moved in",
    after_pass("privatize", e.everywhere(e.allocation_into_each_step)),
)
add("privatize", "declared nowhere", "marks dropped", after_pass("privatize", e.everywhere(e.allocation_dropped)))
for distance_ in (-1, 1):
    add(
        "privatize",
        f"depth {distance_:+d}",
        "of the copies",
        after_pass("privatize", e.buffer_edit(e.depth_changed(distance_), "private")),
    )
add(
    "privatize",
    "an access is not redirected",
    "it stays on the shared one",
    after_pass("privatize", e.buffer_edit(e.access_lost(0), "private")),
)

# --- what no pass may change -----------------------------------------------------------------------------------------

SCOP: list[tuple[str, str, str, e.Edit]] = [
    ("basteln", "guard forgotten", "nothing is assumed", e.nothing_assumed),
    ("basteln", "too much assumed", "larger sizes only", e.too_much_assumed),
    ("basteln", "context narrowed", "sizes taken for known", e.context_narrowed),
    ("privatize", "nothing live-out", "and the last nest dropped", e.nothing_live_out),
    ("privatize", "original order replaced", "by a wrong one", e.original_tree_replaced),
    ("privatize", "statements add one", "their text is changed", e.statement_edit(e.value_plus_one, False)),
    ("dependences", "writes forgotten", "in the statements", e.statement_edit(e.write_forgotten, False)),
    ("schedule", "reads forgotten", "in the statements", e.statement_edit(e.reads_forgotten, False)),
    ("schedule", "may-writes as writes", "in the statements", e.statement_edit(e.may_write_as_must, False)),
]
for stage_, name_, what_, edit_ in SCOP:
    add(
        stage_ if stage_ != "dependences" else "schedule",
        name_,
        what_,
        after_pass(stage_ if stage_ != "dependences" else "schedule", edit_),
    )


# --- codegen ---------------------------------------------------------------------------------------------------------


def printed_tree(change: Callable[[Domain], Domain]) -> Install:
    """The tree that isl gets is not the one that was checked."""

    def make(original: Any) -> Any:
        def wrong(tree: Domain) -> Annotated:
            return original(change(tree))  # type: ignore[no-any-return]

        return wrong

    return patched(loops, "to_isl", make)


def node_edit(change: e.Change, position: int | None = 0) -> Callable[[Domain], Domain]:
    def edit(tree: Domain) -> Domain:
        seen = 0

        def visit(node: Node) -> Node:
            nonlocal seen
            changed = change(node)
            if changed is None:
                return node
            seen += 1
            return changed if position is None or seen == position + 1 else node

        return Domain(tree.domain, rewrite(tree.child, visit))

    return edit


def shift_wrong(original: Any) -> Any:
    def shift(buffer: Any) -> isl.Map:
        changed = e.corner_moved(len(buffer.extents) - 1, 1)(buffer)
        return original(changed or buffer)  # type: ignore[no-any-return]

    return shift


def division_truncates(original: Any) -> Any:
    def operation(self: Any, op: str, values: list[Any]) -> Any:
        return original(self, "div" if op == "fdiv_q" else op, values)

    return operation


def minimum_as_maximum(original: Any) -> Any:
    def operation(self: Any, op: str, values: list[Any]) -> Any:
        return original(self, {"min": "max", "max": "min"}.get(op, op), values)

    return operation


def subscripts_reversed(original: Any) -> Any:
    return lambda self, access: tuple(reversed(original(self, access)))


def first_branch_only(_original: Any) -> Any:
    def branch(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        return loops.block_of(self.statements(node.if_get_then_node(), scope))

    return branch


def else_lost(_original: Any) -> Any:
    def branch(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        condition = self.printer(scope).convert(node.if_get_cond())
        return c.If(condition, loops.block_of(self.statements(node.if_get_then_node(), scope)))

    return branch


def step_lost(original: Any) -> Any:
    def loop(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        found = original(self, node, scope)
        if isinstance(found, c.For) and isinstance(found.step, c.Assign):
            assert isinstance(found.init, c.Decl)
            return replace(found, step=c.Postfix("++", c.Name(found.init.name)))
        return found  # type: ignore[no-any-return]

    return loop


def pragma_everywhere(_original: Any) -> Any:
    def pragmas(self: Any, member: Member | None, condition: c.Expr, body: c.Stmt) -> tuple[str, ...]:
        del self, condition, body
        return () if member is None else ("omp parallel for",)

    return pragmas


def clause_not_printed(_original: Any) -> Any:
    return lambda _self, _member: ""


def declared(change: Callable[[c.Decl], c.Decl]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def declare(self: Any, buffer: Any) -> tuple[c.Stmt, ...]:
            first, *notes = original(self, buffer)
            return (change(first), *notes)

        return declare

    return make


def short(found: c.Decl) -> c.Decl:
    if not found.extents or not isinstance(found.extents[0], c.Literal):
        return found
    return replace(found, extents=(c.Literal("2"), *found.extents[1:]))


def loops_renamed(original: Any) -> Any:
    """A loop variable is printed as its neighbour."""

    def found(self: Any) -> dict[str, c.Expr]:
        known = original(self)
        return dict(zip(known, reversed(list(known.values())), strict=True))

    return found


def iterator_one_late(original: Any) -> Any:
    def loop(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        found = original(self, node, scope)
        if isinstance(found, c.For) and isinstance(found.init, c.Decl) and found.init.init is not None:
            late = replace(found.init, init=c.Binary("+", found.init.init, c.Literal("1")))
            return replace(found, init=late)
        return found  # type: ignore[no-any-return]

    return loop


def no_parentheses(original: Any) -> Any:
    return lambda expr, _level: original(expr)[0]


def braces_lost(_original: Any) -> Any:
    return lambda _node: True


CODEGEN: list[tuple[str, str, Install]] = [
    ("filter loses a row", "instances with 5 in front", printed_tree(node_edit(e.filter_loses_a_row))),
    ("steps reversed", "the innermost sequence", printed_tree(node_edit(e.reversed_steps))),
    ("all steps reversed", "every sequence", printed_tree(node_edit(e.reversed_steps, None))),
    ("first step dropped", "of a sequence", printed_tree(node_edit(e.first_step_dropped))),
    ("inner loop backwards", "the innermost band", printed_tree(node_edit(e.band_edit(e.reversed_last)))),
    ("loops interchanged", "in every band", printed_tree(node_edit(e.band_edit(e.swapped_members), None))),
    ("extension shrunk", "without its last row", printed_tree(node_edit(e.extension_edit(e.range_shrunk(0, True))))),
    ("extension shifted", "by one", printed_tree(node_edit(e.extension_edit(e.range_shift(0, 1))))),
    ("tile corner moved", "by one", printed_tree(node_edit(e.band_edit(e.tile_corner_moved, Role.TILE)))),
    ("guard not printed", "of the region", always(render, "_guard", None)),
    ("buffer's subscripts shifted", "by one", patched(loops, "shift", shift_wrong)),
    ("buffers not used", "the array instead", always(loops.InstancePrinter, "_buffer", None)),
    ("division truncates", "instead of rounding down", patched(ExprPrinter, "_operation", division_truncates)),
    ("min as max", "and max as min", patched(ExprPrinter, "_operation", minimum_as_maximum)),
    ("upper bounds one short", "< for <=", patched(ExprPrinter, "exclusive", lambda _o: ExprPrinter.convert)),
    ("subscripts reversed", "of every access", patched(ExprPrinter, "subscripts", subscripts_reversed)),
    ("conditions dropped", "of branches", patched(loops.LoopPrinter, "branch", first_branch_only)),
    ("else dropped", "of branches", patched(loops.LoopPrinter, "branch", else_lost)),
    ("steps of one", "in tile loops", patched(loops.LoopPrinter, "loop", step_lost)),
    ("loops start late", "by one", patched(loops.LoopPrinter, "loop", iterator_one_late)),
    ("every loop parallel", "pragmas", patched(loops.LoopPrinter, "pragmas", pragma_everywhere)),
    ("reduction clause not printed", "pragmas", patched(loops.LoopPrinter, "reductions", clause_not_printed)),
    (
        "buffers static",
        "shared by the threads",
        patched(loops.LoopPrinter, "declare", declared(lambda d: replace(d, type=f"static {d.type}"))),
    ),
    ("buffers short", "two elements", patched(loops.LoopPrinter, "declare", declared(short))),
    ("loop variables mixed up", "in statements", patched(loops.InstancePrinter, "_loops", loops_renamed)),
    ("no parentheses", "in expressions", patched(printer, "_at_least", lambda _o: lambda x, _l: printer._expr(x)[0])),
    ("braces lost", "around several statements", patched(printer, "_needs_no_braces", braces_lost)),
]
for name_, what_, install_ in CODEGEN:
    add("codegen", name_, what_, install_)

FAULTS += GPU_FAULTS + TENSOR_FAULTS
assert len({fault.name for fault in FAULTS}) == len(FAULTS), "two faults of one name"
