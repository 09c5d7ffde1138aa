"""What pragmas ask for: tile sizes, and loops to be left apart or sequential."""

from __future__ import annotations

from polyc.frontend.c.state import Region
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.text.pragmas import Asked, following
from polyc.model import ctree as c
from polyc.model.scop import Scop, Wish


def asked_tile(at: Surroundings) -> tuple[int, ...] | str | None:
    """The tile sizes of the whole region; the last pragma counts."""
    return next((one.tile for one in reversed(at.marked.asked) if one.tile != "auto"), "auto")


def asked_loops(at: Surroundings, region: Region, body: c.Block) -> list[tuple[Asked, c.For]]:
    """The loops that pragmas stand before."""
    loops = {(n.span.line, n.span.column): n for n in c.walk(body) if isinstance(n, c.For) and n.span is not None}
    found: list[tuple[Asked, c.For]] = []
    for one in at.marked.asked_inside:
        start = following(at.chunks.text, one.offset)
        place = at.places.span(start, start + 1)
        loop = loops.get((place.line, place.column))
        if loop is not None:
            found.append((one, loop))
        else:
            hint = "put it on the line before a 'for'"
            region.refuse("bad-pragma", "no loop of the region follows it", one.span, hint)
    return found


def wishes(at: Surroundings, scop: Scop, body: c.Block, asked: list[tuple[Asked, c.For]]) -> dict[str, Wish]:
    """What is asked for each statement: for its region, and for each loop around it, from the outside on."""
    found: dict[str, Wish] = {}
    region = at.marked.asked
    if not all(one.fuse and one.parallel for one in region):
        for number, item in enumerate(body.body):
            wish = Wish(-1 - number, "auto", all(o.fuse for o in region), all(o.parallel for o in region))
            found |= dict.fromkeys(statements_below(scop, item), wish)
    for number, (one, loop) in enumerate(asked, 1):
        for name in statements_below(scop, loop):
            before = found.get(name, Wish(number))
            tile = before.tile if one.tile == "auto" else one.tile
            found[name] = Wish(number, tile, before.fuse and one.fuse, before.parallel and one.parallel)
    return found


def statements_below(scop: Scop, node: c.Node) -> list[str]:
    """The statements that come from a part of the region."""
    places = {(span.line, span.column) for n in c.walk(node) if (span := getattr(n, "span", None)) is not None}
    return [name for name, s in scop.statements.items() if (s.span.line, s.span.column) in places]
