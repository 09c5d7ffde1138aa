"""The report of a project as a page: counts, what would free most, files and loops to sort, and the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from polyc import __version__
from polyc.explain.facts.changes import changes
from polyc.explain.facts.translation_unit import LoopRecord, UnitRecord, home_of, kind_of, short
from polyc.explain.html.listing import readable
from polyc.explain.html.page import asset, digest, environment

MOST_LINKS = 12


def render(units: Sequence[UnitRecord], profile: dict[str, float]) -> str:
    """The page, as text. `profile`: the share of each function in percent."""
    style, script = asset("page.css") + asset("project.css"), asset("project.js")
    home = home_of(units)
    places = {unit.path: f"f{number}" for number, unit in enumerate(units)}
    loops = [one for unit in units for one in unit.counted]
    reasons = Counter(kind_of(one.reason) for one in loops if one.is_left)
    text = (
        environment()
        .get_template("project.j2")
        .render(
            version=__version__,
            home=readable(home or "."),
            files=[_file(unit, places[unit.path], home, profile) for unit in units],
            loops=[_loop(one, unit, places[unit.path], home, profile) for unit in units for one in unit.loops],
            total=len(loops),
            compiled=sum(one.compiled for one in loops),
            parallel=sum("parallel" in one.done for one in loops),
            reasons=reasons.most_common(),
            changes=[_change(one, places, home) for one in changes(units, profile)],
            profiled=bool(profile),
            style=Markup(style),
            script=Markup(script),
            style_hash=digest(style),
            script_hash=digest(script),
        )
    )
    return text.rstrip("\n") + "\n"


def _file(unit: UnitRecord, place: str, home: str, profile: dict[str, float]) -> dict[str, Any]:
    loops = unit.counted
    reasons = Counter(kind_of(one.reason) for one in loops if one.is_left)
    return {
        "id": place,
        "name": readable(short(unit.path, home)),
        "loops": len(loops),
        "compiled": sum(one.compiled for one in loops),
        "parallel": sum("parallel" in one.done for one in loops),
        "tiled": sum("tiled" in one.done for one in loops),
        "reason": unit.untouched or (reasons.most_common(1)[0][0] if reasons else ""),
        "seconds": unit.seconds,
        "hot": sum(profile.get(name, 0.0) for name in {one.loop.function for one in unit.loops}),
        "lines": _listing(unit, place),
    }


def _loop(one: LoopRecord, unit: UnitRecord, place: str, home: str, profile: dict[str, float]) -> dict[str, Any]:
    return {
        "to": f"{place}l{one.loop.line}",
        "file": readable(short(unit.path, home)),
        "line": one.loop.line,
        "function": one.loop.function,
        "kind": one.loop.kind,
        "depth": one.loop.depth + 1,
        "state": ", ".join(one.done) or ("kept in order" if one.compiled else "as written"),
        "compiled": one.compiled,
        "reason": one.reason,
        "hot": profile.get(one.loop.function, 0.0),
    }


def _listing(unit: UnitRecord, place: str) -> Markup:
    """The source, with an anchor and the fate of each loop."""
    by_line = {one.loop.line: one for one in unit.loops}
    lines: list[str] = []
    for number, text in enumerate(unit.source.split("\n"), 1):
        one = by_line.get(number)
        kind = "" if one is None else ' class="done"' if one.compiled else ' class="left"'
        told = "" if one is None else str(escape(", ".join(one.done) if one.compiled else one.reason))
        anchor = f' id="{place}l{number}"' if one is not None else ""
        title = f' title="{told}"' if told else ""
        lines.append(f"<p{anchor}{kind}{title}><b>{number}</b>{escape(readable(text))}</p>")
    return Markup("\n".join(lines))


def _change(one: Any, places: dict[str, str], home: str) -> dict[str, Any]:
    return {
        "what": Markup(_code(one.what.replace(home + "/", "") if home else one.what)),
        "count": len(one.loops),
        "hot": one.hot,
        "links": [(f"{places[path]}l{loop.loop.line}", f"{readable(short(path, home))}:{loop.loop.line}")
                  for path, loop in one.loops[:MOST_LINKS]],
        "more": max(0, len(one.loops) - MOST_LINKS),
    }  # fmt: skip


def _code(text: str) -> str:
    """Markdown's `code` as HTML."""
    parts = str(escape(text)).split("`")
    return "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
