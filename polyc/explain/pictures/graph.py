"""The statements of a region, the flow between them and the groups that they were fused into, as SVG.

Groups stand below each other in the order in which they run, each in a box of its own. In a box, a statement stands
below those that it reads from, as in a layered drawing of Sugiyama's kind.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from polyc.analysis.loop_facts import original_nests
from polyc.explain.facts.statements import text_of
from polyc.model import relations as r
from polyc.model.program import Compiled, Program
from polyc.model.scop import AccessKind
from polyc.model.tree import paths
from polyc.records import dataclass

MOST_STATEMENTS = 16
"""Of a region of which each statement gets a node of its own; in larger ones a nest has one."""
MOST_LABELS = 24
"""Edges up to which their arrays are written beside them; further ones tell them when they are pointed at."""
CHARACTER, NODE_HEIGHT, LAYER = 7.2, 40, 84
GAP, PADDING, HEAD = 22, 16, 24
SWEEPS = 4

STYLE = """
  .box { fill: #8881; stroke: #8888; rx: 6px; }
  .node rect { fill: #fff; stroke: #2f6fde; rx: 4px; }
  .node.fused rect { stroke: #e0812b; stroke-dasharray: 5 2; }
  .edge { fill: none; stroke: #888; }
  .edge.back { stroke-dasharray: 3 3; }
  .arrow { fill: #888; }
  text { font: 12px ui-monospace, monospace; fill: #222; }
  .small { font-size: 10.5px; fill: #666; }
  .title { font: 600 12px system-ui, sans-serif; }
  @media (prefers-color-scheme: dark) { text { fill: #eee; } .node rect { fill: #222; } .small { fill: #aaa; } }
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """A node: a statement, or those of one nest that have the same home."""

    names: tuple[str, ...]
    line: int
    arrays: tuple[str, ...]
    """That it writes."""
    group: int | None
    """Position in `Program.groups`; None where it is in no group."""
    fused: bool
    """It runs in the tiles of the group's outputs."""

    @property
    def label(self) -> str:
        if len(self.names) > 3:
            return f"{self.names[0]} … {self.names[-1]}"
        return ", ".join(self.names)

    @property
    def writes(self) -> str:
        shown = ", ".join(self.arrays[:2]) + (", …" if len(self.arrays) > 2 else "")
        return f"line {self.line} → {shown}" if shown else f"line {self.line}"

    @property
    def width(self) -> float:
        return CHARACTER * max(len(self.label), 0.9 * len(self.writes)) + 2 * 10


@dataclass(frozen=True, slots=True)
class Edge:
    source: int
    sink: int
    arrays: tuple[str, ...]


@dataclass(slots=True)
class Place:
    x: float = 0.0
    y: float = 0.0


def units_of(program: Program) -> list[Unit]:
    """The nodes in source order."""
    scop = program.scop
    homes: dict[str, tuple[int | None, bool]] = dict.fromkeys(scop.statements, (None, False))
    for k, group in enumerate(program.groups):
        homes |= {name: (k, False) for name in (*group.statements, *group.outputs) if name in homes}
        homes |= {name: (k, True) for name in group.fused if name in homes}
    nests = [names for _, names in original_nests(scop)] if len(scop.statements) > MOST_STATEMENTS else []
    together = {name: number for number, names in enumerate(nests) for name in names}
    found: dict[object, list[str]] = {}
    for name in scop.statements:
        found.setdefault((together.get(name, name), homes[name]), []).append(name)
    answer = []
    for names in found.values():
        written = (a.array for n in names for a in scop.statements[n].accesses if a.kind is not AccessKind.READ)
        arrays = tuple(dict.fromkeys(scop.arrays[array].c_name for array in written if array in scop.arrays))
        answer.append(Unit(tuple(names), scop.statements[names[0]].span.line, arrays, *homes[names[0]]))
    return answer


def edges_of(program: Program, units: list[Unit]) -> list[Edge]:
    """Which unit reads what another one makes, with the arrays."""
    homes = {name: k for k, unit in enumerate(units) for name in unit.names}
    found: dict[tuple[int, int], list[str]] = {}
    for array, relation in sorted(program.dependences.flow_by_array.items()):
        for piece in r.maps_of(relation):
            ends = [homes.get(r.tuple_name(piece, side)) for side in (r.IN, r.OUT)]
            if ends[0] is not None and ends[1] is not None:
                name = program.scop.arrays[array].c_name if array in program.scop.arrays else array
                found.setdefault((ends[0], ends[1]), []).append(name)
    return [Edge(*ends, tuple(dict.fromkeys(arrays))) for ends, arrays in sorted(found.items())]


def graph_svg(compiled: Compiled, style: str = STYLE) -> str:
    """The graph of one region as a whole SVG; `style`: "" where the page around it has one."""
    program = compiled.program
    units = units_of(program)
    edges = edges_of(program, units)
    drawing = _Drawing(program, units, edges)
    parts = drawing.parts()
    label = f"Flow between the statements of {program.scop.function}()"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" '
        f'width="{drawing.width:.0f}" height="{drawing.height:.0f}" role="img" aria-label={quoteattr(label)}>'
        f"<style>{style}</style>{''.join(parts)}</svg>\n"
    )


class _Drawing:
    def __init__(self, program: Program, units: list[Unit], edges: list[Edge]) -> None:
        self.program = program
        self.units = units
        self.edges = edges
        self.places = [Place() for _ in units]
        self.boxes = _blocks(program, units)
        self.layers = [_layers(block, edges) for block in self.boxes]
        self.width = max([240.0, *(self.row(layer) for layers in self.layers for layer in layers)]) + 4 * PADDING
        self.height = float(PADDING)
        self.frames: list[tuple[float, float, str]] = []
        for block, layers in zip(self.boxes, self.layers, strict=True):
            self.place(block, layers)

    def row(self, layer: list[int]) -> float:
        return sum(self.units[k].width for k in layer) + GAP * (len(layer) - 1)

    def place(self, block: list[int], layers: list[list[int]]) -> None:
        """Put a block below what there is."""
        top = self.height
        for depth, layer in enumerate(layers):
            x = (self.width - self.row(layer)) / 2
            for k in layer:
                self.places[k] = Place(x, top + HEAD + 8 + depth * LAYER)
                x += self.units[k].width + GAP
        height = HEAD + 8 + (len(layers) - 1) * LAYER + NODE_HEIGHT + PADDING
        self.frames.append((top, height, self.heading(block)))
        self.height = top + height + PADDING + 14

    def heading(self, block: list[int]) -> str:
        number = self.units[block[0]].group
        if number is None:
            return "in no group"
        group = self.program.groups[number]
        words = [f"group {number + 1}"]
        words.append(f"tiles {' x '.join(map(str, group.tile_sizes))}" if group.tile_sizes else "not tiled")
        words += ["parallel"] if group.parallel else []
        return ", ".join(words)

    def parts(self) -> list[str]:
        width = self.width - 2 * PADDING
        arrow = '<path class="arrow" d="M0 0 8 4 0 8z"/>'
        found = [
            f'<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="8" refY="4" orient="auto">{arrow}'
            "</marker></defs>"
        ]
        for top, height, heading in self.frames:
            found.append(f'<rect class="box" x="{PADDING}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>')
            found.append(f'<text class="title" x="{PADDING + 10}" y="{top + 17:.1f}">{escape(heading)}</text>')
        found += [self.edge(edge) for edge in self.edges]
        found += [self.node(k, unit) for k, unit in enumerate(self.units)]
        return found

    def node(self, k: int, unit: Unit) -> str:
        at = self.places[k]
        texts = "; ".join(f"{name}: {text_of(self.program.scop.statements[name])}" for name in unit.names)
        return (
            f'<g class="node{" fused" if unit.fused else ""}" data-line="{unit.line}"><title>{escape(texts)}</title>'
            f'<rect x="{at.x:.1f}" y="{at.y:.1f}" width="{unit.width:.1f}" height="{NODE_HEIGHT}"/>'
            f'<text x="{at.x + 10:.1f}" y="{at.y + 17:.1f}">{escape(unit.label)}</text>'
            f'<text class="small" x="{at.x + 10:.1f}" y="{at.y + 32:.1f}">{escape(unit.writes)}</text></g>'
        )

    def edge(self, edge: Edge) -> str:
        """A curve downwards; one that leads up, or to its own node, goes round on the right."""
        one, two = self.places[edge.source], self.places[edge.sink]
        arrays = ", ".join(edge.arrays)
        wide, far = self.units[edge.source].width, self.units[edge.sink].width
        if two.y > one.y:
            x0, y0, x1, y1 = one.x + wide / 2, one.y + NODE_HEIGHT, two.x + far / 2, two.y
            half = (y1 - y0) / 2
            path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + half:.1f} {x1:.1f} {y1 - half:.1f} {x1:.1f} {y1:.1f}"
            kind, label = "edge", ((x0 + x1) / 2 + 4, (y0 + y1) / 2 + 4)
        else:
            x0, y0, x1, y1 = one.x + wide, one.y + NODE_HEIGHT * 0.7, two.x + far, two.y + NODE_HEIGHT * 0.3
            out = max(x0, x1) + 20
            path = f"M{x0:.1f} {y0:.1f}C{out:.1f} {y0:.1f} {out:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
            kind, label = "edge back", (out - 2, (y0 + y1) / 2 + 4)
        shown = ""
        if len(self.edges) <= MOST_LABELS:
            text = arrays if len(arrays) <= 24 else arrays[:23] + "…"
            shown = f'<text class="small" x="{label[0]:.1f}" y="{label[1]:.1f}">{escape(text)}</text>'
        title = (
            f"<title>{escape(self.units[edge.source].label)} → {escape(self.units[edge.sink].label)}: {escape(arrays)}"
        )
        return f'<g>{title}</title><path class="{kind}" d="{path}" marker-end="url(#arrow)"/>{shown}</g>'


def _blocks(program: Program, units: list[Unit]) -> list[list[int]]:
    """The units of each group, in the order in which the groups run; each run of others by itself."""
    order: dict[str, int] = {}
    for position, path in enumerate(paths(program.tree)):
        for piece in r.sets_of(path.instances):
            if path.extension is None:
                order.setdefault(r.tuple_name(piece, r.SET), position)
    found: dict[object, list[int]] = {}
    for k, unit in enumerate(units):
        found.setdefault(unit.group, []).append(k)
    last = len(order)

    def first(block: list[int]) -> int:
        return min((order.get(n, last) for k in block if not units[k].fused for n in units[k].names), default=last)

    return sorted(found.values(), key=first)


def _layers(block: list[int], edges: list[Edge]) -> list[list[int]]:
    """Each unit below those that it reads from; in a layer, near to what it has to do with."""
    inside = [(e.source, e.sink) for e in edges if e.source in block and e.sink in block and e.source < e.sink]
    depth = dict.fromkeys(block, 0)
    for k in sorted(block):
        depth[k] = max((depth[source] + 1 for source, sink in inside if sink == k), default=0)
    layers: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for k in block:
        layers[depth[k]].append(k)
    for sweep in range(SWEEPS):
        place = {k: position - len(layer) / 2 for layer in layers for position, k in enumerate(layer)}
        for layer in layers:
            wanted = {}
            for k in layer:
                ends = [(a, b) if sweep % 2 else (b, a) for a, b in inside]
                near = [place[b] for a, b in ends if a == k]
                wanted[k] = sum(near) / len(near) if near else place[k]
            layer.sort(key=lambda k: (wanted[k], k))
            place |= {k: position - len(layer) / 2 for position, k in enumerate(layer)}
    return layers


__all__ = ["Edge", "Unit", "edges_of", "graph_svg", "units_of"]
