"""Gathers what the page of a run shows, and writes it: one file with its style, its script and its data."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any

import islpy as isl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from polyc import __version__
from polyc.codegen import render_other_files
from polyc.explain.codes import Code
from polyc.explain.facts.nests import Reasons, nests
from polyc.explain.facts.remark_records import Record, records
from polyc.explain.html.listing import linked, printed_lines, readable, source_lines
from polyc.explain.html.numbers import numbers_of
from polyc.explain.html.trees import stages_of
from polyc.explain.pictures import panel as pictures
from polyc.explain.pictures.graph import graph_svg
from polyc.explain.pictures.tiles import Shape, Tiles, tiles_of
from polyc.explain.words.data import plain, stages
from polyc.explain.words.overview import because, buffer_text, dependence_lines, done, group_lines
from polyc.explain.words.report import in_order, ranges
from polyc.explain.words.summary import summary
from polyc.model.program import Compiled, Group, Options, Origins, Program
from polyc.model.scop import Source, Statement
from polyc.poly import OverBudget, budget

BEFORE, BEHIND = 12, 4
"""Lines of the source that are shown around a region."""
LONGEST = 20
"""Lines of a statement behind its first one that are looked at for its end."""
WIDE = 1800
"""Pixels of a graph that is not made smaller to fit on a screen."""


def render(source: Source, compiled: list[Compiled], options: Options) -> str:
    """The page, as text. isl's operations for each picture are bounded as those of the check are."""
    style, script = asset("page.css"), asset("page.js")
    text = (
        environment()
        .get_template("page.j2")
        .render(
            version=__version__,
            file=readable(PurePath(source.path).name),
            path=readable(source.path),
            options=_told(options),
            regions=[_region(source, one, number) for number, one in enumerate(compiled)],
            summary=summary(source.path, compiled).removeprefix(f"polyc: {source.path}: "),
            others=[
                (ending, readable(other)) for ending, other in render_other_files(source, compiled, options).items()
            ],
            style=Markup(style),
            script=Markup(script),
            style_hash=digest(style),
            script_hash=digest(script),
            kinds=pictures.KINDS,
        )
    )
    return text.rstrip("\n") + "\n"


@cache
def environment() -> Environment:
    return Environment(
        loader=PackageLoader("polyc.explain.html", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )


@cache
def asset(name: str) -> str:
    return (files("polyc.explain.html") / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """As a policy names what may run: nothing else does."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _told(options: Options) -> list[tuple[str, str]]:
    found = [("target", options.target), ("machine", options.machine), ("fusion", options.fuse)]
    if options.tile_sizes is None or isinstance(options.tile_sizes, tuple):
        found.append(("tile sizes", " x ".join(map(str, options.tile_sizes or ())) or "none"))
    return found


def _region(source: Source, compiled: Compiled, number: int) -> dict[str, Any]:
    program, scop = compiled.program, compiled.program.scop
    name = f"r{number}"
    graph = graph_svg(compiled, "")
    return {
        "id": name,
        "function": scop.function,
        "line": scop.span.line,
        "verified": compiled.verified,
        "state": compiled.certificate.state,
        "notes": _notes(compiled, name, source.text.split("\n")),
        **_listings(source, compiled, name),
        "groups": [_group(compiled, group, k, name) for k, group in enumerate(program.groups)],
        "graph": _embedded(graph),
        "wide": int(graph.split(' width="', 1)[1].split('"', 1)[0]) > WIDE,
        "stages": stages_of(stages(compiled), name),
        "buffers": [buffer_text(one, program) for one in program.buffers.values()],
        "decisions": _decisions(compiled),
        "dependences": [line.strip() for line in dependence_lines(program)[1:]],
    }


# --- the source and what was printed of it ---------------------------------------------------------------------------


def _notes(compiled: Compiled, region: str, source: list[str]) -> dict[int, list[dict[str, Any]]]:
    """What became of the nests, by the line below which it stands: the end of the first statement with one fate."""
    reasons, statements = Reasons(compiled.program), compiled.program.scop.statements
    found: dict[int, list[dict[str, Any]]] = {}
    for nest in nests(compiled):
        for part in nest.parts:
            missing = {"tiled": part.tiled, "fused": nest.fused or part.inside is not None, "parallel": part.parallel}
            whys = [(w, reasons.why_not(w, part.statements)) for w, holds in missing.items() if not holds]
            kind = "fused" if part.inside is not None else "done" if part.tiled or part.parallel else "plain"
            home = part.inside if part.inside is not None else part.group
            first = min((statements[name] for name in part.statements), key=lambda statement: statement.span.line)
            found.setdefault(_last_line(first, source), []).append(
                {
                    "statements": ranges(part.statements),
                    "kind": kind,
                    "what": done(part, compiled.program),
                    "group": f"{region}g{home}" if home is not None else "",
                    "why": [because(what, reason) for what, reason in whys if reason is not None],
                }
            )
    return found


def _last_line(statement: Statement, source: list[str]) -> int:
    """Where the statement ends, as far as its lines have no macros or comments; else the line where it begins."""
    wanted, line = "".join(statement.text.split()), statement.span.line
    text = source[line - 1][statement.span.column - 1 :] if line <= len(source) else ""
    for number in range(line, min(line + LONGEST, len(source)) + 1):
        text = "".join((text + source[number - 1] if number > line else text).split())
        if text.startswith(wanted):
            return number
        if not wanted.startswith(text):
            break
    return line


def _listings(source: Source, compiled: Compiled, name: str) -> dict[str, Any]:
    """The region and the texts that were printed of it, with the links between their lines."""
    scop = compiled.program.scop
    texts = [("C", compiled.text), *((f"device {k}", text) for k, text in enumerate(compiled.device, 1))]
    if len(texts) == 2:
        texts[1] = ("device", texts[1][1])
    lines = source.text.split("\n")
    first, last = max(1, scop.span.line - BEFORE), min(len(lines), scop.end_line + BEHIND)
    pairs: list[tuple[int, str]] = []
    printed = []
    for k, (label, text) in enumerate(texts):
        origins: Origins = compiled.origins[k] if k < len(compiled.origins) else ()
        here = [(n, span.line) for n, span in origins if span.file == scop.span.file and first <= span.line <= last]
        ids = f"{name}c{k}-"
        pairs += [(line, f"{ids}{n}") for n, line in here]
        printed.append({"label": label, "lines": printed_lines(text.rstrip("\n"), ids, name, linked(here))})
    begin = linked((s.span.line, s.name) for s in compiled.initial.scop.statements.values())
    told = {line: ranges(names) for line, names in begin.items()}
    shown = source_lines("\n".join(lines[first - 1 : last]), first, name, linked(pairs), told)
    return {"source": shown, "printed": printed}


# --- groups ----------------------------------------------------------------------------------------------------------


def _group(compiled: Compiled, group: Group, number: int, region: str) -> dict[str, Any]:
    program = compiled.program
    tiles, why = _tiles(program, group)
    _, facts, *relations = group_lines(number + 1, group, program)
    inside = f", with {ranges(in_order(group.fused))} in its tiles" if group.fused else ""
    return {
        "id": f"{region}g{number}",
        "title": f"group {number + 1}: {ranges(group.outputs or group.statements)}{inside}",
        "facts": facts.strip(),
        "relations": "\n".join(line.removeprefix("    ") for line in relations),
        "numbers": numbers_of(program, group, tiles),
        "tiles": tiles,
        "panels": [] if tiles is None else _panels(tiles, f"{region}g{number}"),
        "window": Markup(pictures.window(f"{region}g{number}w")),
        "data": None if tiles is None else _json(_moves(tiles)),
        "why": why,
    }


PICTURE_SHARE = 5
"""Of a pass's isl operations, for the pictures of one group: as many as the check may take."""


def _tiles(program: Program, group: Group) -> tuple[Tiles | None, str]:
    """The shapes of a group's tiles; why there is no picture of them."""
    if not group.tile_sizes:
        return None, "it is not tiled"
    try:
        with budget(program.scop.domain.get_ctx(), PICTURE_SHARE * program.operations):
            found = tiles_of(program, group)
    except OverBudget:
        return None, "measuring its tiles takes more isl operations than the budget allows (--budget)"
    except isl.Error as error:
        return None, f"isl failed in measuring its tiles ({(str(error) or type(error).__name__).splitlines()[0]})"
    return found, "" if found is not None else "its tiles have no bounds at the sample sizes"


def _panels(tiles: Tiles, group: str) -> list[dict[str, Any]]:
    """The drawings at the tile in the middle; the script moves them."""
    answer = []
    for k, panel in enumerate(tiles.panels):
        at = tiles.middle if tiles.middle in panel.frames else next(iter(panel.frames))
        where, again = pictures.caption(panel, at)
        answer.append(
            {
                "title": pictures.title(panel),
                "names": ", ".join(panel.names),
                "left_out": ", ".join(panel.left_out),
                "drawing": Markup(pictures.drawing(panel, at, f"{group}p{k}", f"{group}w")),
                "where": where,
                "again": again,
            }
        )
    return answer


def _moves(tiles: Tiles) -> dict[str, Any]:
    """What the script needs to draw another tile as `panel.py` does. Each shape stands there once: a neighbour's is
    another tile's own."""
    box = {"width": pictures.WIDTH, "height": pictures.HEIGHT, "left": pictures.LEFT, "right": pictures.RIGHT}
    box |= {"top": pictures.TOP, "bottom": pictures.BOTTOM}
    shapes: dict[Shape, int] = {}
    panels = []
    for panel in tiles.panels:
        frames = {
            " ".join(map(str, at)): [shapes.setdefault(one, len(shapes)) for one in (frame.own, *frame.neighbours)]
            for at, frame in panel.frames.items()
        }
        panels.append({"axes": panel.axes, "frames": frames})
    moves = {"box": box, "margin": pictures.MARGIN, "positions": tiles.positions, "at": tiles.middle}
    return {**moves, "shapes": list(shapes), "panels": panels}


def _json(data: object) -> Markup:
    """JSON that may stand in a script element: nothing in it ends that."""
    text = json.dumps(data, separators=(",", ":"), sort_keys=True)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


# --- decisions -------------------------------------------------------------------------------------------------------


SAID = ("reason", "into", "array")
"""Of a remark's numbers, what its message names."""


def _decisions(compiled: Compiled) -> list[dict[str, Any]]:
    """The decisions with one code and reason together, in the order in which the first of them was made."""
    found: dict[tuple[str, str], list[Record]] = {}
    for one in records(compiled):
        found.setdefault((one.code, one.reason), []).append(one)
    return [
        {
            "code": f"{code}, {reason}" if reason else code,
            "title": some[0].entry.title if some[0].entry is not None else code,
            "advice": _advice(some[0].entry),
            "records": [_decision(one) for one in some],
        }
        for (code, reason), some in found.items()
    ]


def _advice(entry: Code | None) -> Markup:
    advice = "" if entry is None or entry.advice.startswith("Nothing") else entry.advice
    return _marked(readable(advice))


def _decision(record: Record) -> dict[str, Any]:
    remark, witness = record.remark, record.witness
    data = {key: value for key, value in plain(remark.data).items() if key not in SAID}
    return {
        "stage": remark.stage,
        "line": remark.span.line if remark.span is not None else None,
        "statements": ranges(remark.statements),
        "message": readable(remark.message),
        "data": [(key.replace("_", " "), readable(_value(value))) for key, value in data.items()],
        "witness": "" if witness is None else readable(witness.text),
    }


def _marked(text: str) -> Markup:
    """Words between backquotes as code."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(p) if k % 2 else escape(p) for k, p in enumerate(parts))


def _value(value: Any) -> str:
    match value:
        case float():
            return f"{value:.4g}"
        case dict():
            return ", ".join(f"{key}: {_value(item)}" for key, item in value.items())
        case list():
            return ", ".join(map(_value, value))
        case _:
            return str(value)


def _embedded(svg: str) -> Markup:
    """An SVG as a part of HTML, which knows its names without a namespace."""
    return Markup(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "").replace("<style></style>", ""))


__all__ = ["render"]
