"""Pictures of a group's tiles as SVG: for each space the part that a tile takes, and what its neighbours take as well.

The page of `polyc explain --format html` moves them from tile to tile (`html/page.js` draws the same); on their own
they are whole SVG files, in light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from polyc.explain.pictures.tiles import Frame, Index, Panel, Shape, Tiles
from polyc.records import dataclass

WIDTH, HEIGHT = 300, 190
"""Of a panel."""
LEFT, RIGHT, TOP, BOTTOM = 58, 10, 8, 34
"""Around the drawing in it: places for numbers."""
INNER = f'x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"'
MARGIN = 0.4
"""Of the tile's extents: how much around it is seen."""
COLUMNS = 3
"""Of panels in a picture."""
TITLE = 22
CAPTION = 34
KINDS = {"output": "output", "footprint": "cells that it needs", "extension": "runs in the tile"}

STYLE = """
  .panel { fill: none; stroke: #8886; }
  .own { fill: #2f6fde55; stroke: #2f6fde; stroke-width: 1.5; }
  .near { fill: none; stroke: #888; stroke-dasharray: 4 3; }
  .both { fill: #e0812b88; stroke: #e0812b; stroke-width: 2.5; }
  .both.bare { stroke: none; }
  text { font: 11px system-ui, sans-serif; fill: #333; }
  .x1, .y0, .y1 { text-anchor: end; } .xn { text-anchor: middle; }
  .title { font-weight: 600; font-size: 12px; }
  @media (prefers-color-scheme: dark) { text { fill: #ddd; } }
"""


def tile_picture(tiles: Tiles, index: Index | None = None) -> str:
    """One SVG with all panels of a tile; of the one in the middle where none is named.

    index: a tile by its positions in `tiles.positions`.
    """
    at = tiles.middle if index is None else index
    shown = [panel for panel in tiles.panels if at in panel.frames]
    columns = max(1, min(COLUMNS, len(shown)))
    rows = -(-len(shown) // columns)
    width, height = columns * WIDTH, rows * (HEIGHT + TITLE + CAPTION)
    parts = []
    for k, panel in enumerate(shown):
        where, again = caption(panel, at)
        x, y = k % columns * WIDTH, k // columns * (HEIGHT + TITLE + CAPTION)
        parts.append(
            f'<g transform="translate({x} {y})"><text class="title" x="{LEFT}" y="16">{escape(title(panel))}</text>'
            f'<g transform="translate(0 {TITLE})">{drawing(panel, at, f"p{k}", "seen")}</g>'
            f'<text x="{LEFT}" y="{TITLE + HEIGHT + 6}">{escape(where)}</text>'
            f'<text x="{LEFT}" y="{TITLE + HEIGHT + 21}">{escape(again)}</text></g>'
        )
    label = "Tiles: " + "; ".join(title(panel) for panel in shown)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label={quoteattr(label)}><style>{STYLE}</style>{window("seen")}{"".join(parts)}</svg>\n'
    )


def title(panel: Panel) -> str:
    """`S0, S1: the output's tile`."""
    names = ", ".join(panel.names[:4]) + (f", … ({len(panel.names)})" if len(panel.names) > 4 else "")
    return f"{names}: {KINDS[panel.kind]}"


def caption(panel: Panel, index: Index) -> tuple[str, str]:
    """`h 0 to 35 (36), w 0 to 515 (516)`, and what others have too: `shared with neighbours: 4 x 516, 36 x 4`."""
    frame = panel.frames[index]
    top, left, bottom, right = bounds([frame.own])
    ends = zip(panel.axes, (top, left), (bottom, right), strict=True)
    again = dict.fromkeys(f"{y} x {x}" for y, x in overlaps(frame.own, frame.neighbours))
    where = ", ".join(span(name, low, high) for name, low, high in ends if name)
    return where, f"shared with neighbours: {', '.join(again)}" if again else ""


def span(name: str, low: int, high: int) -> str:
    return f"{name} {low}" if high - low == 1 else f"{name} {low} to {high - 1} ({high - low})"


def overlaps(own: Shape, neighbours: Iterable[Shape]) -> list[tuple[int, int]]:
    """Rows and columns that a box shares with others; of outlines nothing is told."""
    found = []
    for other in neighbours:
        if len(own) == len(other) == 4:
            y, x = min(own[2], other[2]) - max(own[0], other[0]), min(own[3], other[3]) - max(own[1], other[1])
            found += [(y, x)] if y > 0 and x > 0 else []
    return found


def shared(frame: Frame) -> list[tuple[str, Shape]]:
    """The neighbours that have something of the tile, with the class of what is drawn of it. Of outlines it is not
    known: they get no border, which would be seen where they only touch."""
    found = []
    for other in frame.neighbours:
        if len(frame.own) != 4 or len(other) != 4:
            found.append(("both bare", other))
        elif overlaps(frame.own, [other]):
            found.append(("both", other))
    return found


def bounds(shapes: Iterable[Shape]) -> tuple[int, int, int, int]:
    """The least box around some shapes: top, left, bottom, right."""
    found = list(shapes)
    rows = [value for shape in found for value in shape[::2]]
    columns = [value for shape in found for value in shape[1::2]]
    return min(rows), min(columns), max(rows), max(columns)


@dataclass(frozen=True, slots=True)
class View:
    """The part of a space that is seen, and where its points are in the drawing."""

    top: float
    left: float
    bottom: float
    right: float

    @staticmethod
    def around(own: Shape, neighbours: Iterable[Shape]) -> View:
        """The tile, and what there is beside it as far as the margin reaches."""
        top, left, bottom, right = bounds([own])
        most = bounds([own, *neighbours])
        down, across = MARGIN * (bottom - top), MARGIN * (right - left)
        return View(
            max(most[0], top - down),
            max(most[1], left - across),
            min(most[2], bottom + down),
            min(most[3], right + across),
        )

    def points(self, shape: Shape) -> str:
        """A polygon's points."""
        if len(shape) == 4:
            top, left, bottom, right = shape
            shape = (top, left, top, right, bottom, right, bottom, left)
        pairs = zip(shape[1::2], shape[::2], strict=True)
        return " ".join(f"{number(self.x(x))},{number(self.y(y))}" for x, y in pairs)

    def x(self, value: float) -> float:
        return LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return TOP + (value - self.top) / (self.bottom - self.top) * (HEIGHT - TOP - BOTTOM)


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def window(name: str) -> str:
    """What of a space is seen, for the drawings that name it."""
    return f'<clipPath id="{name}"><rect {INNER}/></clipPath>'


def drawing(panel: Panel, index: Index, name: str, seen: str) -> str:
    """The inside of a panel's SVG.

    name: unique in the document; seen: the name of a window
    """
    frame = panel.frames[index]
    view = View.around(frame.own, frame.neighbours)
    own = view.points(frame.own)
    near = [view.points(other) for other in frame.neighbours]
    top, left, bottom, right = bounds([frame.own])
    down, across = panel.axes
    parts = [
        f'<clipPath id="{name}c"><use href="#{name}"/></clipPath>',
        f'<g clip-path="url(#{seen})"><polygon id="{name}" class="own" points="{own}"/>',
        f'<g clip-path="url(#{name}c)">',
        *(f'<polygon class="{kind}" points="{view.points(other)}"/>' for kind, other in shared(frame)),
        "</g>",
        *(f'<polygon class="near" points="{points}"/>' for points in near),
        f'</g><rect class="panel" {INNER}/>',
    ]
    labels: list[tuple[str, float, float, str]] = [("x0", view.x(left), HEIGHT - BOTTOM + 13, str(left))]
    labels.append(("x1", view.x(right), HEIGHT - BOTTOM + 13, str(right - 1)))
    if down:
        labels.append(("y0", LEFT - 5, view.y(top) + 9, str(top)))
        labels.append(("y1", LEFT - 5, view.y(bottom), str(bottom - 1)))
    labels.append(("xn", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, f"{across} →"))
    if down:
        labels.append(("yn", 4, (TOP + HEIGHT - BOTTOM) / 2 + 4, f"{down} ↓"))
    parts += [
        f'<text class="{kind}" x="{number(x)}" y="{number(y)}">{escape(text)}</text>' for kind, x, y, text in labels
    ]
    return "".join(parts)


__all__ = ["KINDS", "bounds", "caption", "drawing", "overlaps", "tile_picture", "title", "window"]
