"""The shapes of a group's tiles at concrete tiles: what the output's tile is, what each producer runs for it, what the
neighbours run as well. `panel.py` draws them.

source: Zhao et al. 2024, Figures 5 and 6: the tile of the reduction space, the footprint (13) in the data space, and
        the extension (15) or (17) in the space of the producer
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

import islpy as isl

from polyc.cost.cpu_sizes import modest_parameters
from polyc.model import relations as r
from polyc.model.program import Buffer, Group, Program
from polyc.model.tree import Member, Path, Role, partial_schedule, paths
from polyc.model.tree_text import band_value_name, distinct
from polyc.nests.samples import middle_tile
from polyc.poly import constant_of, greatest_of, least_of, maps
from polyc.records import dataclass, field, replace

MOST_POSITIONS = 5
"""Tiles along one loop that are shown: all, or those at both ends and one in the middle."""
MOST_ROWS = 24
"""Of a shape that is no box: how many of its rows are measured."""

Shape = tuple[int, ...]
"""A box `(y, x, end of y, end of x)`; or the corners of an outline, `(y, x, y, x, …)`. Ends are exclusive, and so cells
are squares between whole numbers."""
Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What one tile has in one space."""

    own: Shape
    neighbours: tuple[Shape, ...]
    """Of the tiles before and behind it along each loop, as far as there are any."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One space, with the part of it that a tile takes."""

    names: tuple[str, ...]
    """Statements, or arrays."""
    kind: str
    """`output`, `footprint` (cells that are read, and made in the tile) or `extension`."""
    axes: tuple[str, str]
    """The names of what is drawn downwards and to the right; "" where there is no such dimension."""
    left_out: tuple[str, ...]
    """Dimensions that are not drawn: the shape is what is seen along them."""
    frames: dict[Index, Frame]
    """For each tile, by its positions in `Tiles.positions`; tiles that run nothing here are not there."""

    def looks_like(self, other: Panel) -> bool:
        return (self.kind, self.axes, self.frames) == (other.kind, other.axes, other.frames)


@dataclass(frozen=True, slots=True)
class Cells:
    """What a tile in the middle touches of one array: the smallest box around it."""

    array: str
    extents: tuple[int, ...]
    bytes: int
    buffer: str = ""
    """What holds them instead of the array: buffers of the tile, or of parts of it; "" where nothing does."""
    held: int = 0
    """Its bytes; 0 where they are not constant."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The shapes of one group's tiles."""

    loops: tuple[str, ...]
    """The tile loops that move: at most two, the last ones."""
    positions: tuple[tuple[int, ...], ...]
    """For each of them, the values that are shown: the corners of tiles."""
    middle: Index
    """Where a picture starts."""
    panels: tuple[Panel, ...]
    """The outputs first, then the cells that they read, then producers."""
    cells: tuple[Cells, ...]
    notes: tuple[str, ...] = field(default=())
    """What is fixed, and what is not drawn."""

    @property
    def bytes(self) -> int:
        """What a tile has in the caches: arrays as far as it touches them, and buffers in the place of others, of which
        those that are never in use at once share a name."""
        buffers: dict[str, int] = {}
        for cells in self.cells:
            if cells.buffer:
                buffers[cells.buffer] = max(buffers.get(cells.buffer, 0), cells.held or cells.bytes)
        return sum(cells.bytes for cells in self.cells if not cells.buffer) + sum(buffers.values())


def tiles_of(program: Program, group: Group) -> Tiles | None:
    """The shapes of a group's tiles at the sizes that the model of the machine takes; None where it has no tiles.

    Raises OverBudget, isl.Error.
    """
    found = _Paths.of(program, group) if group.tile_sizes else None
    return None if found is None else _Shapes(program, group, found).tiles()


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """The tile band of a group, and what runs below it."""

    members: tuple[Member, ...]
    """From the outermost loop to the last tile loop."""
    moving: tuple[int, ...]
    """The positions of the tile loops in them."""
    outputs: tuple[Path, ...]
    producers: tuple[Path, ...]

    @staticmethod
    def of(program: Program, group: Group) -> _Paths | None:
        below: list[Path] = []
        members: tuple[Member, ...] = ()
        for path in paths(program.tree):
            own = tuple(step for step in path.steps if isinstance(step, Member))
            tiles = [k for k, member in enumerate(own) if member.role is Role.TILE][: len(group.tile_sizes)]
            names = {r.tuple_name(piece, r.SET) for piece in r.sets_of(path.instances)}
            if not tiles or not names & {*group.statements, *group.outputs, *group.fused}:
                continue
            if not members and names & set(group.outputs) and (path.extension is None or path.tiles is not None):
                members = own[: tiles[-1] + 1]
            below.append(path)
        if not members:
            return None
        inside = [p for p in below if _members(p)[: len(members)] == members]
        moving = tuple(k for k, member in enumerate(members) if member.role is Role.TILE)
        added = [p for p in inside if p.extension is not None and p.depth_of_extension >= len(members)]
        return _Paths(
            members,
            moving,
            tuple(p for p in inside if p.extension is None or (p in added and p.tiles is not None)),
            tuple(p for p in added if p.tiles is None),
        )


def _members(path: Path) -> tuple[Member, ...]:
    return tuple(step for step in path.steps if isinstance(step, Member))


class _Shapes:
    def __init__(self, program: Program, group: Group, found: _Paths) -> None:
        self.program = program
        self.group = group
        self.found = found
        self.at = modest_parameters(program)
        self.names = distinct(tuple(band_value_name(m) for m in found.members))
        self.outputs = self.relations(found.outputs)
        self.producers = self.relations(found.producers)

    def relations(self, found: Iterable[Path]) -> dict[str, isl.Map]:
        """`{ [tile] -> S[i] }` at the sample sizes, for each statement."""
        depth = len(self.found.members)
        answer: dict[str, isl.Map] = {}
        for path in found:
            if path.extension is None:
                tile = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(self.found.members))
                runs = tile.intersect_domain(path.instances).reverse()
            else:
                runs = path.extension.intersect_range(path.instances)
            for piece in maps(runs.intersect_params(self.at)):
                name = r.tuple_name(piece, r.OUT)
                inner = piece.dim(r.IN) - depth
                piece = piece.project_out(r.IN, depth, inner) if inner else piece
                answer[name] = answer[name].union(piece) if name in answer else piece
        return answer

    def tiles(self) -> Tiles | None:
        every: isl.Set | None = None
        for relation in self.outputs.values():
            every = relation.domain() if every is None else every.union(relation.domain())
        if every is None or every.is_empty():
            return None
        middle = middle_tile(every)
        if middle is None:
            return None
        start = [int(least_of(middle, d).to_python()) for d in range(len(self.names))]
        walk = _Walk(every.coalesce(), start)
        moving = self.found.moving[-2:]
        positions = [walk.positions(d) for d in moving]
        at = tuple(line.index(start[d]) for line, d in zip(positions, moving, strict=True))
        panels = tuple(self.panels(walk, moving, positions, at))
        if not panels:
            return None
        loops = tuple(self.names[d].removesuffix("_t") + "t" for d in moving)
        told = tuple(map(tuple, positions))
        return Tiles(loops, told, at, panels, tuple(self.cells(start)), self.notes(start, moving))

    def notes(self, start: list[int], moving: tuple[int, ...]) -> tuple[str, ...]:
        sizes = [
            f"{self.at.get_dim_name(r.PARAM, k)} = {self.at.plain_get_val_if_fixed(r.PARAM, k)}"
            for k in range(self.at.dim(r.PARAM))
            if self.at.plain_get_val_if_fixed(r.PARAM, k).is_int()
        ]
        fixed = [f"{name} = {start[d]}" for d, name in enumerate(self.names) if d not in moving]
        found = [f"drawn for {', '.join(sizes)}"] if sizes else []
        found += [f"of more than two loops the last two move; the others stay at {', '.join(fixed)}"] if fixed else []
        return tuple(found)

    # --- panels --------------------------------------------------------------------------------------------------

    def panels(self, walk: _Walk, moving: tuple[int, ...], positions: list[list[int]], at: Index) -> Iterator[Panel]:
        spaces = [("output", name, relation) for name, relation in self.outputs.items()]
        spaces += [
            ("footprint", r.tuple_name(relation, r.OUT), relation.intersect_params(self.at))
            for relation in self.group.footprints()
            if relation.dim(r.IN) == len(self.names) and relation.dim(r.OUT)
        ]
        spaces += [("extension", name, relation) for name, relation in self.producers.items()]
        joined: list[Panel] = []
        for kind, name, relation in spaces:
            panel = self.panel(kind, name, relation.coalesce(), walk, moving, positions, at)
            if panel is None:
                continue
            twin = next((k for k, p in enumerate(joined) if p.looks_like(panel)), None)
            if twin is None:
                joined.append(panel)
            else:
                left_out = tuple(dict.fromkeys((*joined[twin].left_out, *panel.left_out)))
                joined[twin] = replace(joined[twin], names=(*joined[twin].names, name), left_out=left_out)
        yield from joined

    def panel(
        self,
        kind: str,
        name: str,
        relation: isl.Map,
        walk: _Walk,
        moving: tuple[int, ...],
        positions: list[list[int]],
        at: Index,
    ) -> Panel | None:
        count = relation.dim(r.OUT)
        if count == 0:
            return None
        start = list(walk.start)
        chosen = _drawn(relation, walk, moving)
        shapes: dict[tuple[int, ...], Shape | None] = {}

        def shape(tile: list[int]) -> Shape | None:
            key = tuple(tile)
            if key not in shapes:
                shapes[key] = _shape(_image(relation, tile), chosen)
            return shapes[key]

        frames: dict[Index, Frame] = {}
        for index in product(*(range(len(line)) for line in positions)):
            tile = list(start)
            for d, line, k in zip(moving, positions, index, strict=True):
                tile[d] = line[k]
            own = shape(tile)
            if own is None:
                continue
            around = []
            for d in moving:
                for forward in (False, True):
                    other = walk.next(tile, d, forward)
                    found = None if other is None else shape(other)
                    if found is not None and found != own:
                        around.append(found)
            frames[index] = Frame(own, tuple(around))
        if not frames:
            return None
        names = self.dimension_names(kind, name, count)
        axes = ("" if chosen[0] is None else names[chosen[0]], names[chosen[1]])
        return Panel((name,), kind, axes, tuple(n for d, n in enumerate(names) if d not in chosen), frames)

    def dimension_names(self, kind: str, name: str, count: int) -> tuple[str, ...]:
        if kind == "footprint":
            return tuple(f"[{k}]" for k in range(count)) if count > 2 else ("row", "column")[2 - count :]
        return self.program.statements[name].loops

    # --- cells ---------------------------------------------------------------------------------------------------

    def cells(self, tile: list[int]) -> Iterator[Cells]:
        """What a tile touches, array by array."""
        touched: dict[str, isl.Set] = {}
        for name, relation in (*self.outputs.items(), *self.producers.items()):
            instances = _image(relation, tile)
            for access in self.program.statements[name].accesses:
                if not access.placed or access.relation.dim(r.OUT) == 0:
                    continue
                found = access.relation.intersect_domain(instances).range()
                touched[access.array] = touched[access.array].union(found) if access.array in touched else found
        members = {*self.outputs, *self.producers}
        buffers: dict[str, dict[str, Buffer]] = {}
        for buffer in self.program.buffers.values():
            if buffer.storage != "heap" and {statement for statement, _ in buffer.accesses} & members:
                buffers.setdefault(buffer.array, {})[buffer.name] = buffer
        for array, found in touched.items():
            ends = [(least_of(found, d), greatest_of(found, d)) for d in range(found.dim(r.SET))]
            if found.is_empty() or not all(low.is_int() and high.is_int() for low, high in ends):
                continue
            extents = tuple(int(high.to_python() - low.to_python()) + 1 for low, high in ends)
            size = self.program.scop.arrays[array].element.size_bytes
            own = buffers.get(array, {})
            held = sum(size * prod(constant_of(e) or 0 for e in buffer.extents) for buffer in own.values())
            yield Cells(array, extents, prod(extents) * size, ", ".join(own), held)


class _Walk:
    """The tiles that there are, and the way from one to the next."""

    def __init__(self, every: isl.Set, start: list[int]) -> None:
        self.every = every
        self.start = tuple(start)
        self.lines: dict[tuple[tuple[int, ...], int], isl.Set] = {}

    def line(self, tile: list[int], d: int) -> isl.Set:
        """`{ [v] }`: the tiles that differ from this one along a loop only."""
        key = (tuple(0 if k == d else v for k, v in enumerate(tile)), d)
        if key not in self.lines:
            found = self.every
            for k, value in enumerate(tile):
                found = found if k == d else found.fix_val(r.SET, k, _val(found, value))
            found = found.project_out(r.SET, d + 1, len(tile) - d - 1).project_out(r.SET, 0, d)
            self.lines[key] = found.coalesce()
        return self.lines[key]

    def next(self, tile: list[int], d: int, forward: bool) -> list[int] | None:
        line = self.line(tile, d)
        if forward:
            beyond = line.lower_bound_val(r.SET, 0, _val(line, tile[d] + 1))
        else:
            beyond = line.upper_bound_val(r.SET, 0, _val(line, tile[d] - 1))
        if beyond.is_empty():
            return None
        value = least_of(beyond, 0) if forward else greatest_of(beyond, 0)
        return [int(value.to_python()) if k == d else v for k, v in enumerate(tile)]

    def positions(self, d: int) -> list[int]:
        """Values of one loop: all where they are few, otherwise some at both ends and the one to start with."""
        tile = list(self.start)
        found = {tile[d]}
        for forward in (False, True):
            line = self.line(tile, d)
            end = greatest_of(line, 0) if forward else least_of(line, 0)
            here: list[int] | None = [int(end.to_python()) if k == d else v for k, v in enumerate(tile)]
            for _ in range(MOST_POSITIONS // 2):
                if here is not None:
                    found.add(here[d])
                    here = self.next(here, d, not forward)
        return sorted(found)


def _val(thing: isl.Set | isl.Map, value: int) -> isl.Val:
    return isl.Val.int_from_si(thing.get_ctx(), value)


def _image(relation: isl.Map, tile: list[int]) -> isl.Set:
    for d, value in enumerate(tile):
        relation = relation.fix_val(r.IN, d, _val(relation, value))
    return relation.range()


def _drawn(relation: isl.Map, walk: _Walk, moving: tuple[int, ...]) -> tuple[int | None, int]:
    """The dimensions that are drawn downwards and to the right: those that the last two tile loops move along."""
    count = relation.dim(r.OUT)
    here = _image(relation, list(walk.start))
    found: list[int | None] = []
    for d in moving:
        other = walk.next(list(walk.start), d, True) or walk.next(list(walk.start), d, False)
        there = None if other is None else _image(relation, other)
        moved = [] if there is None or there.is_empty() or here.is_empty() else _moved(here, there)
        found.append(next((k for k in moved if k not in found), None))
    left = [k for k in range(count) if k not in found]
    across = found[-1] if found[-1] is not None else left.pop() if left else 0
    down = found[0] if len(found) > 1 and found[0] is not None else None
    if down is None:
        down = next((k for k in left if k != across), None)
    return (down, across) if down is None or down < across else (across, down)


def _moved(here: isl.Set, there: isl.Set) -> list[int]:
    """Dimensions in which one box is not where the other one is."""
    count = here.dim(r.SET)
    ends = [[(least_of(s, k), greatest_of(s, k)) for k in range(count)] for s in (here, there)]
    return [k for k in range(count) if not all(a.eq(b) for a, b in zip(ends[0][k], ends[1][k], strict=True))]


def _shape(points: isl.Set, drawn: tuple[int | None, int]) -> Shape | None:
    """The outline of a set in the plane of two of its dimensions; None where it is empty, or has no end."""
    down, across = drawn
    kept = [d for d in (down, across) if d is not None]
    plane = points
    for d in reversed(range(points.dim(r.SET))):
        plane = plane if d in kept else plane.project_out(r.SET, d, 1)
    if plane.is_empty():
        return None
    order = [sorted(kept).index(d) for d in kept]
    ends = [(least_of(plane, k), greatest_of(plane, k)) for k in order]
    if not all(low.is_int() and high.is_int() for low, high in ends):
        return None
    bounds = [(int(low.to_python()), int(high.to_python())) for low, high in ends]
    if down is None:
        ((left, right),) = bounds
        return (0, left, 1, right + 1)
    (top, bottom), (left, right) = bounds
    box = isl.Set.universe(plane.get_space())
    for k, (low, high) in zip(order, bounds, strict=True):
        box = box.lower_bound_val(r.SET, k, _val(box, low)).upper_bound_val(r.SET, k, _val(box, high))
    if box.intersect_params(plane.params()).is_subset(plane):
        return (top, left, bottom + 1, right + 1)
    return _outline(plane, order, top, bottom)


def _outline(plane: isl.Set, order: list[int], top: int, bottom: int) -> Shape:
    """The corners of a shape that is no box: down along the starts of its rows, and up along their ends."""
    step = -(-(bottom - top + 1) // MOST_ROWS)
    rows: list[tuple[int, int, int]] = []
    for y in sorted({*range(top, bottom + 1, step), bottom}):
        row = plane.fix_val(r.SET, order[0], _val(plane, y))
        if not row.is_empty():
            ends = least_of(row, order[1]), greatest_of(row, order[1])
            rows.append((y, int(ends[0].to_python()), int(ends[1].to_python()) + 1))
    # Of each row both edges, or a line from row to row where some were left out.
    edges = {y: (y, y + 1) if step == 1 or y == bottom else (y,) for y, _, _ in rows}
    down = [(edge, left) for y, left, _ in rows for edge in edges[y]]
    up = [(edge, right) for y, _, right in reversed(rows) for edge in reversed(edges[y])]
    return tuple(value for corner in _corners([*down, *up]) for value in corner)


def _corners(line: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A closed line without the points that lie on the way between their neighbours."""
    line = [point for k, point in enumerate(line) if point != line[k - 1]]
    for k, (y, x) in enumerate(line):
        (y0, x0), (y1, x1) = line[k - 1], line[(k + 1) % len(line)]
        if (y - y0) * (x1 - x) != (y1 - y) * (x - x0):
            yield y, x


__all__ = ["Cells", "Frame", "Index", "Panel", "Shape", "Tiles", "tiles_of"]
