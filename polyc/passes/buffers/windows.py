"""Slide through strips: rows that the block before has made are kept in a circular buffer instead of made again."""

from __future__ import annotations

import re

import islpy as isl

from polyc.analysis.alive import alive_together
from polyc.model.program import Buffer, Program
from polyc.model.relations import pw_affs_of
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import values
from polyc.poly import affine_of, empty_map, greatest_of, maps, out_name, reaching, set_name, sets
from polyc.records import dataclass, replace

STAGE = "windows"


def slide_windows(program: Program) -> Program:
    """Let a tile's fused producers make only what is new beside the tile before it, in strips of tiles.

    rewrite:  parallel for it: make rows it .. it + T + 1 of A_tile; use them
              -> parallel for strips: for it in the strip: make rows it + 2 .. it + T + 1 of A_tile[.. mod M]; use them
    tree:     band(it, jt) - allocate A - extension(e) - x
              -> band(strip, jt) - allocate A - band(it) - extension(e') - x, with A's rows at x mod M
    math:     e'(strip, it) = e(it) without e(it - T), if it - T is in the strip; all of e(it) in its first tile.
              M is the extent of the tile's box: what is alive in one tile lies in it
    requires: final loops, and buffers at their last depth
    ensures:  `verify/places/windows.py` shows that no row is overwritten before it is read for the last time
    source:   PolyMage and Halide call it sliding windows and storage folding
    """
    sliding = _Sliding(program)
    child = sliding.below(program.tree.child, ())
    return replace(sliding.program, tree=Domain(program.tree.domain, child))


def in_strips(mark: Mark) -> bool:
    """Whether the tiles of a group slide: a loop over the tiles of a strip is below the one over strips."""
    node, bands = mark.child, 0
    while isinstance(node, Band | Mark):
        bands += isinstance(node, Band)
        node = node.child
    return bands > 1


@dataclass(frozen=True, slots=True, eq=False)
class _Tiles:
    """The tiles of one group, in the form that can slide."""

    band: Band
    outer: tuple[Member, ...]
    """Those above the band."""
    names: tuple[str, ...]
    """The buffers that are declared right below."""
    extension: Extension
    steps: tuple[Filter, ...]

    @property
    def above(self) -> int:
        return len(self.outer)

    @property
    def depth(self) -> int:
        return self.above + len(self.band.members)


class _Sliding:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.count = 0
        """How many tiles a strip has."""

    def below(self, node: Node, outer: tuple[Member, ...]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(step, child=self.below(step.child, outer)) for step in steps))
            case Mark(kind="group"):
                asked = self.program.options.strips
                self.count = node.strips if asked is None else asked
                tiles = _tiles_of(node, outer) if self.count > 1 else None
                changed = self.slid(node, tiles) if tiles is not None else None
                return changed or replace(node, child=self.below(node.child, outer))
            case Band():
                return replace(node, child=self.below(node.child, outer + node.members))
            case _:
                return replace(node, child=self.below(node.child, outer))

    def slid(self, mark: Mark, tiles: _Tiles) -> Mark | None:
        for k, member in enumerate(tiles.band.members):
            if not member.coincident or member.role is not Role.TILE:
                continue
            steps, windows = self.sliding(tiles, k)
            changed = self.rebuilt(mark, tiles, k, steps, windows) if steps else None
            if changed is not None:
                return changed
        own = {out_name(m) for m in maps(tiles.extension.relation)} - self.program.copies
        relation = reaching(tiles.extension.relation, own)
        if any(self.overlaps(relation, tiles, k) for k in range(len(tiles.band.members))):
            self.program = self.program.remark(
                "no-sliding-window",
                STAGE,
                "its tiles repeat work, and no loop over them moves all that a producer makes along one dimension of "
                "a buffer, and not the one along memory",
                tuple(sorted(own)),
            )
        return None

    # --- what can slide ----------------------------------------------------------------------------------------------

    def sliding(self, tiles: _Tiles, k: int) -> tuple[list[frozenset[str]], dict[str, int]]:
        """Producers whose tiles overlap along a loop, and the buffers with the dimension that the loop moves."""
        dimensions = {}
        for key in tiles.names:
            buffer = self.program.buffers[key]
            dimension = _moved(buffer, tiles.above + k)
            if dimension is not None and self.first_corner(buffer, dimension, tiles, k) is not None:
                dimensions[key] = dimension
        added = {out_name(m) for m in maps(tiles.extension.relation)} - self.program.copies
        steps = []
        for step in tiles.steps:
            here = frozenset(set_name(piece) for piece in sets(step.filter)) & added
            if here:
                steps.append(here)
        before = -1
        while before != len(steps) + len(dimensions):
            before = len(steps) + len(dimensions)
            steps = [step for step in steps if self.kept(step, tiles, dimensions)]
            inside = frozenset[str]().union(*steps)
            dimensions = {key: d for key, d in dimensions.items() if self.writers(key) and self.writers(key) <= inside}
        relation = reaching(tiles.extension.relation, frozenset[str]().union(*steps)) if dimensions else None
        if relation is None or not self.overlaps(relation, tiles, k):
            return [], {}
        return steps, dimensions

    def first_corner(self, buffer: Buffer, dimension: int, tiles: _Tiles, k: int) -> isl.MultiAff | None:
        """The corner that no cell of a strip lies before, as a function of the strip: that of its first tile where
        tiles move up, that of its last one where they move down; None where they do neither."""
        size = tiles.band.members[k].size
        assert buffer.corner is not None
        corner = buffer.corner

        def later(tile_count: int) -> isl.MultiAff:
            text = _move(corner.dim(isl.dim_type.in_), tiles.above + k, tile_count * size)
            return corner.pullback_multi_aff(isl.MultiAff.read_from_str(corner.get_ctx(), text))

        step = isl.PwAff.from_aff(later(1).get_aff(dimension).sub(corner.get_aff(dimension)))
        if step.min_val().is_nonneg():
            return corner
        return later(self.count - 1) if step.max_val().is_nonpos() else None

    def kept(self, step: frozenset[str], tiles: _Tiles, dimensions: dict[str, int]) -> bool:
        """Whether all that a producer makes stays in windows, or in variables of an iteration."""
        for name in step:
            for access in self.program.statements[name].accesses:
                if access.kind is AccessKind.READ:
                    continue
                keys = [b.key for b in self.program.buffers.values() if (name, access.ref) in b.accesses]
                if not keys or any(key in tiles.names and key not in dimensions for key in keys):
                    return False
        return True

    def writers(self, key: str) -> frozenset[str]:
        """The statements that make a buffer's values; copies into it only repeat what an array has."""
        buffer = self.program.buffers[key]
        return frozenset(
            name
            for name, ref in buffer.accesses
            if name not in self.program.copies
            for access in self.program.statements[name].accesses
            if access.ref == ref and access.array == buffer.array and access.kind is not AccessKind.READ
        )

    def overlaps(self, relation: isl.UnionMap, tiles: _Tiles, k: int) -> bool:
        size = tiles.band.members[k].size
        back = _moved_by(relation, tiles.depth, tiles.above + k, -size)
        return not relation.intersect(back.apply_range(relation)).is_empty()

    # --- the tree ----------------------------------------------------------------------------------------------------

    def rebuilt(
        self, mark: Mark, tiles: _Tiles, k: int, steps: list[frozenset[str]], windows: dict[str, int]
    ) -> Mark | None:
        """The group with strips along a loop of its tiles; None where it is not known how many rows are alive."""
        member = tiles.band.members[k]
        count = self.count
        strip, position = count * member.size, tiles.above + k
        schedule = _strips(member, strip)
        if schedule is None:
            return None
        sliding = frozenset[str]().union(*steps)
        copies = {name for key in windows for name, _ in self.program.buffers[key].accesses}
        new = sliding | {name for name in copies & self.program.copies if self.fills(name, windows)}
        whole = self.boxed(tiles, sliding)
        relation = _new_only(whole, new, tiles.depth, position, member.size, strip)
        instances = _instances(tiles, position, schedule, relation)
        rows = {key: self.rows(key, d, instances, tiles.depth) for key, d in windows.items()}
        if not all(rows.values()):
            return None
        node: Node = replace(tiles.extension, relation=relation)
        inner = tuple(name for name in tiles.names if name not in windows)
        if inner:
            node = Mark("allocate", node, names=inner)
        node = Band((replace(member, coincident=False),), True, node)
        if windows:
            node = Mark("allocate", node, names=tuple(name for name in tiles.names if name in windows))
        members = list(tiles.band.members)
        members[k] = replace(member, schedule=schedule, size=strip)
        self.move_buffers(tiles, k, windows, rows)
        arrays = [self.program.scop.arrays[self.program.buffers[key].array].c_name for key in rows]
        told = ", ".join(arrays)
        self.program = self.program.remark(
            "sliding-window",
            STAGE,
            f"strips of {count} tiles, each of which makes only what the one before has not made; "
            f"{told} {'is in a circular buffer' if len(arrays) == 1 else 'are in circular buffers'}",
            tuple(sorted(sliding)),
            tiles=count,
            rows=list(rows.values()),
        )
        text = _without_shares(mark.text, sliding)
        text += f"\nin strips of {count} tiles, which slide: what is in {told} is made once in each strip"
        return replace(mark, child=replace(tiles.band, members=tuple(members), child=node), text=text)

    def boxed(self, tiles: _Tiles, sliding: frozenset[str]) -> isl.UnionMap:
        """The extension with whole rows for what slides, so that what is new in a tile is a box as well.

        Readers of a row above and a column beside need no corners, and what a tile lacks of the one before would be
        rows and a few cells beside them. No rows are whole where a corner would read what tiles have from outside:
        nobody copies that for it.
        math: the product of the projections of e to each dimension; what the corners read of a box lies in the box
              where each subscript belongs to one dimension. The check shows whether it does
        """
        relation = tiles.extension.relation
        made, found = relation.range(), empty_map(relation)
        for piece in maps(relation):
            name = out_name(piece)
            if name not in sliding:
                found = found.union(isl.UnionMap.from_map(piece))
                continue
            box = isl.Map.from_domain_and_range(piece.domain(), self.program.statements[name].domain)
            for d in range(piece.dim(isl.dim_type.out)):
                box = box.intersect(_freed(piece, d))
            box = box.intersect_params(self.program.scop.known)
            if not self.reads_only(made, box.subtract(piece).range(), tiles):
                return relation
            found = found.union(isl.UnionMap.from_map(box.coalesce() if piece.is_subset(box) else piece))
        return found

    def reads_only(self, made: isl.UnionSet, readers: isl.Set, tiles: _Tiles) -> bool:
        """Whether all that some instances read of the arrays of which tiles have buffers comes from those in `made`."""
        known, arrays = self.program.dependences, {self.program.buffers[key].array for key in tiles.names}
        here = isl.UnionSet.from_set(readers)
        if any(out_name(cells) in arrays for cells in maps(known.live_in.intersect_domain(here))):
            return False
        flows = (known.flow_by_array[array] for array in sorted(arrays & known.flow_by_array.keys()))
        return all(flow.intersect_range(here).domain().is_subset(made) for flow in flows)

    def fills(self, name: str, windows: dict[str, int]) -> bool:
        """Whether a copy goes into a circular buffer."""
        write = next(a for a in self.program.statements[name].accesses if a.kind is not AccessKind.READ)
        return any((name, write.ref) in self.program.buffers[key].accesses for key in windows)

    def rows(self, key: str, dimension: int, instances: isl.UnionMap, depth: int) -> int:
        """How many places a circular buffer needs for what is alive at once; 0 if that is not known.

        instances: `{ [o, b] -> S[i] }` for all that a tile runs
        """
        buffer = self.program.buffers[key]
        touched: isl.Map | None = None
        for name, ref in sorted(buffer.accesses):
            for access in self.program.statements[name].accesses:
                if access.ref != ref or access.array != buffer.array:
                    continue
                cells = maps(reaching(instances, (name,)).apply_range(isl.UnionMap.from_map(access.relation)))
                for piece in cells:
                    rank = piece.dim(isl.dim_type.out)
                    one = piece.project_out(isl.dim_type.out, dimension + 1, rank - dimension - 1)
                    one = one.project_out(isl.dim_type.out, 0, dimension).intersect_params(self.program.scop.known)
                    touched = one if touched is None else touched.union(one)
        if touched is None:
            return 0
        most = greatest_of(alive_together(touched, depth).deltas(), 0)
        return most.to_python() + 1 if most.is_int() else 0

    def move_buffers(self, tiles: _Tiles, k: int, windows: dict[str, int], rows: dict[str, int]) -> None:
        """Buffers below the strips' loop have one loop more around them."""
        position = tiles.above + k
        buffers = dict(self.program.buffers)
        declared = {
            name
            for node in walk(tiles.extension)
            if isinstance(node, Mark) and node.kind == "allocate"
            for name in node.names
        }
        for key in declared | (set(tiles.names) - set(windows)):
            buffer = buffers[key]
            assert buffer.corner is not None
            corner = buffer.corner.pullback_multi_aff(_forget(buffer.corner, tiles.depth, position))
            buffers[key] = replace(buffer, corner=corner, depth=buffer.depth + 1)
        for key, dimension in windows.items():
            extents = list(buffers[key].extents)
            extents[dimension] = isl.PwAff.val_on_domain(
                extents[dimension].domain(), isl.Val.int_from_si(extents[dimension].get_ctx(), rows[key])
            )
            first = self.first_corner(buffers[key], dimension, tiles, k)
            buffers[key] = replace(buffers[key], corner=first, window=dimension, extents=tuple(extents))
        self.program = replace(self.program, buffers=buffers)


def _instances(tiles: _Tiles, position: int, schedule: isl.UnionPwAff, relation: isl.UnionMap) -> isl.UnionMap:
    """`{ [o, b] -> S[i] }` for all that tiles run: what the extension adds, and what comes from above."""
    members = list(tiles.band.members)
    last = members[position - tiles.above]
    members[position - tiles.above] = replace(last, schedule=schedule)
    outputs = values((*tiles.outer, *members, last), schedule.domain())
    return outputs.reverse().union(relation)


def _tiles_of(mark: Mark, outer: tuple[Member, ...]) -> _Tiles | None:
    """The form that `basteln` gives to a group with producers; None for any other."""
    band = mark.child
    if not isinstance(band, Band):
        return None
    names: tuple[str, ...] = ()
    node = band.child
    while isinstance(node, Mark) and node.kind == "allocate":
        names += node.names
        node = node.child
    if not isinstance(node, Extension) or node.whole or not isinstance(node.child, Sequence):
        return None
    return _Tiles(band, outer, names, node, node.child.children)


def _moved(buffer: Buffer, position: int) -> int | None:
    """The one dimension in which a tile loop moves a buffer, if that is not the one along memory, where vector loops
    would have remainders."""
    if buffer.corner is None or buffer.storage != "tile" or buffer.registers or buffer.places is not None:
        return None
    found = [
        d
        for d in range(buffer.corner.dim(isl.dim_type.out))
        if isl.Map.from_aff(buffer.corner.get_aff(d)).involves_dims(isl.dim_type.in_, position, 1)  # in divisions too
    ]
    last = buffer.order[-1] if buffer.order else buffer.corner.dim(isl.dim_type.out) - 1
    return found[0] if len(found) == 1 and found[0] != last else None


def _freed(relation: isl.Map, position: int) -> isl.Map:
    """The relation with one dimension of its range, whatever the others are."""
    count = relation.dim(isl.dim_type.out)
    own = relation.get_tuple_id(isl.dim_type.out)
    one = relation.project_out(isl.dim_type.out, position + 1, count - position - 1)
    one = one.project_out(isl.dim_type.out, 0, position)
    one = one.insert_dims(isl.dim_type.out, 0, position)
    one = one.insert_dims(isl.dim_type.out, position + 1, count - position - 1)
    return one.set_tuple_id(isl.dim_type.out, own)


def _names(count: int) -> list[str]:
    return [f"o{k}" for k in range(count)]


def _moved_by(like: isl.UnionMap, depth: int, position: int, step: int) -> isl.UnionMap:
    return isl.UnionMap.read_from_str(like.get_ctx(), _move(depth, position, step))


def _move(depth: int, position: int, step: int) -> str:
    """`{ [o] -> [o + step in one dimension] }`."""
    names = _names(depth)
    target = [f"{n} + {step}" if k == position else n for k, n in enumerate(names)]
    return f"{{ [{', '.join(names)}] -> [{', '.join(target)}] }}"


def _new_only(
    relation: isl.UnionMap, fresh: frozenset[str], depth: int, position: int, size: int, strip: int
) -> isl.UnionMap:
    """e' of `slide_windows`, for the statements in `fresh`; e for the others."""
    names = _names(depth)
    tile = [*names]
    tile[position] = "t"
    before = [*names]
    before[position] = f"t - {size}"
    here = ", ".join([*names, "t"])
    condition = f"{names[position]} = {strip} * floor(t / {strip})"
    context = relation.get_ctx()
    at = isl.UnionMap.read_from_str(context, f"{{ [{here}] -> [{', '.join(tile)}] : {condition} }}")
    last = isl.UnionMap.read_from_str(
        context, f"{{ [{here}] -> [{', '.join(before)}] : {condition} and t - {size} >= {names[position]} }}"
    )
    found = at.apply_range(relation)
    again = last.apply_range(reaching(relation, fresh))
    return found.subtract(again).coalesce()


def _forget(corner: isl.MultiAff, depth: int, position: int) -> isl.MultiAff:
    """`{ [o0, …, s, …, t, p…] -> [o0, …, t, …, p…] }`: the values of a tree without strips."""
    count = corner.dim(isl.dim_type.in_)
    names = _names(count)
    outer = [*names[:depth], "t", *names[depth:]]
    inner = [*names]
    inner[position] = "t"
    text = f"{{ [{', '.join(outer)}] -> [{', '.join(inner)}] }}"
    return isl.MultiAff.read_from_str(corner.get_ctx(), text)


def _without_shares(comment: str, sliding: frozenset[str]) -> str:
    """A group's comment without what its tiles alone would repeat of the statements that slide: strips do not."""
    lines = comment.split("\n")
    own = [bool(sliding & set(line.partition(" computed")[0].split(", "))) for line in lines]
    kept = (re.sub(r", \d+ % repeated$", "", line) if one else line for line, one in zip(lines, own, strict=True))
    return "\n".join(kept)


def _strips(member: Member, strip: int) -> isl.UnionPwAff | None:
    """`{ S[i] -> [strip * floor(i / strip)] }` of a tile loop `size * floor(i / size)`."""
    context = member.schedule.get_ctx()
    found: isl.UnionPwAff | None = None
    for piece in pw_affs_of(member.schedule).values():
        aff = affine_of(piece)
        if aff is None or aff.dim(isl.dim_type.div) != (member.size > 1):
            return None
        value = isl.Val.int_from_si(context, strip)
        row = aff.get_div(0).scale_val(isl.Val.int_from_si(context, member.size)) if member.size > 1 else aff
        inner = row.scale_down_val(value)
        one = isl.UnionPwAff.from_pw_aff(isl.PwAff.alloc(piece.domain(), inner.floor().scale_val(value)))
        found = one if found is None else found.union_add(one)
    return found


__all__ = ["in_strips", "slide_windows"]
