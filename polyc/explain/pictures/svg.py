"""A region's schedule tree and its statement graph as an SVG file."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from polyc.explain.pictures.graph import graph_svg
from polyc.model.program import Compiled, Snapshot
from polyc.model.tree_text import entries

ROW, INDENT, PADDING, CHARACTER = 19, 22, 14, 7.3
LONGEST = 130
"""Characters of a line."""
STYLE = """
  .line { stroke: #8888; fill: none; }
  text { font: 12px ui-monospace, monospace; fill: #222; white-space: pre; }
  .part { fill: #666; } .title { font: 600 13px system-ui, sans-serif; }
  @media (prefers-color-scheme: dark) { text { fill: #eee; } .part { fill: #aaa; } }
"""


def render(compiled: list[Compiled], snapshots: list[tuple[Snapshot, ...]], what: str) -> str:
    """One SVG below the other in one file.

    what: `graph`, `tree` (of each snapshot) or `all`
    """
    parts: list[str] = []
    for one, trees in zip(compiled, snapshots, strict=True):
        parts += [graph_svg(one)] if what in ("all", "graph") else []
        parts += [tree_svg(snapshot) for snapshot in trees] if what in ("all", "tree") else []
    if len(parts) == 1:
        return parts[0]
    return stacked(parts)


def stacked(parts: list[str]) -> str:
    """Whole SVGs as one, from the top to the bottom."""
    width, y = 0, 0
    placed = []
    for part in parts:
        own = [int(part.split(f' {side}="', 1)[1].split('"', 1)[0]) for side in ("width", "height")]
        placed.append(part.replace("<svg ", f'<svg y="{y}" ', 1).rstrip("\n"))
        width, y = max(width, own[0]), y + own[1]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}">'
    return head + "".join(placed) + "</svg>\n"


def tree_svg(snapshot: Snapshot) -> str:
    """A schedule tree: each node on a line, its sets and functions below it, lines from parents to children."""
    y, longest = PADDING + 16, len(snapshot.name)
    parts = [f'<text class="title" x="{PADDING}" y="{y}">{escape(snapshot.name)}</text>']
    above: list[int] = []
    for entry in entries(snapshot.tree):
        y += ROW + 3
        x = PADDING + entry.level * INDENT
        del above[entry.level :]
        if above:
            parts.append(f'<path class="line" d="M{x - INDENT + 4} {above[-1] + 4}V{y - 4}H{x - 3}"/>')
        above.append(y)
        longest = max(longest, len(entry.head) + 3 * entry.level)
        parts.append(f'<text x="{x}" y="{y}">{escape(entry.head)}</text>')
        for part in entry.parts or ():
            y += ROW - 3
            shown = part if len(part) <= LONGEST else part[: LONGEST - 1] + "…"
            title = f"<title>{escape(part)}</title>" if shown != part else ""
            longest = max(longest, len(shown) + 3 * entry.level + 3)
            parts.append(f'<text class="part" x="{x + INDENT}" y="{y}">{title}{escape(shown)}</text>')
    width, height = round(2 * PADDING + longest * CHARACTER), y + PADDING
    label = quoteattr(f"Schedule tree: {snapshot.name}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label={label}><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


__all__ = ["render", "tree_svg"]
