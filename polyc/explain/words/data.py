"""The run as JSON values: what `polyc explain --format json` prints, and scripts read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from polyc.explain.codes import refusal
from polyc.explain.facts.loops import Loop, Written, written
from polyc.explain.facts.nests import Reason, Reasons, label, nests
from polyc.explain.facts.remark_records import record
from polyc.explain.facts.statements import text_of
from polyc.explain.facts.values import extent
from polyc.explain.words.report import outcome, refused
from polyc.model import relations as r
from polyc.model.program import Buffer, Compiled, Group, Program, Remark, Snapshot
from polyc.model.tree_text import render_tree


def scops(compiled: list[Compiled]) -> dict[str, Any]:
    """`{"scops": [...]}`, one entry a region in source order."""
    return {"scops": [scop(one) for one in compiled]}


def stages(compiled: Compiled) -> tuple[Snapshot, ...]:
    """The trees of a run in order: `initial`, one after each pass, and `final`, which is the one that was printed."""
    return (*compiled.passes, Snapshot("final", compiled.program.tree, 0.0))


def scop(compiled: Compiled) -> dict[str, Any]:
    program = compiled.program
    found = program.scop
    statements = compiled.initial.scop.statements | found.statements  # those that passes took away are in nests
    return {
        "file": found.span.file,
        "function": found.function,
        "line": found.span.line,
        "parameters": [parameter.name for parameter in found.parameters],
        "statements": [{"name": s.name, "line": s.span.line, "text": text_of(s)} for s in statements.values()],
        "nests": nest_data(compiled),
        "groups": [group(program, one) for one in program.groups],
        "buffers": [buffer(one) for one in program.buffers.values()],
        "remarks": [remark(one, compiled) for one in program.remarks],
        "passes": [
            {"name": s.name, "tree": render_tree(s.tree), "seconds": round(s.seconds, 6)} for s in stages(compiled)
        ],
        "verified": compiled.verified,
        "certificate": asdict(compiled.certificate),
    }


def nest_data(compiled: Compiled) -> list[dict[str, Any]]:
    """The nests as they were written: where, what became of them, what did not and why, and what each loop carries."""
    reasons, final = Reasons(compiled.program), nests(compiled)
    answer = []
    for place in written(compiled):
        if not place.loops:
            continue
        found = next((one for one in final if set(one.statements) & set(place.statements)), None)
        inside = found is not None and any(part.inside is not None for part in found.parts)
        answer.append(
            {
                "label": label(compiled.initial.scop, place.statements[0]),
                "line": place.first_line,
                "last_line": place.last_line,
                "statements": list(place.statements),
                "outcome": outcome(place, found, reasons, compiled.program)[0],
                "tiled": found is not None and (found.tiled or inside),
                "fused": found is not None and (found.fused or inside),
                "parallel": found is not None and found.parallel,
                "missing": [] if found is None else [missing(*one, place) for one in refused(found, reasons)],
                "loops": [loop_data(loop) for loop in place.loops],
            }
        )
    return answer


def missing(what: str, reason: Reason, place: Written) -> dict[str, Any]:
    """What was not done with a nest, and why; with a witness where a dependence is a reason that no pass told."""
    entry, witness = refusal(what, reason.code), place.shows(reason.code)
    return {
        "what": what,
        "code": reason.code,
        "message": reason.message,
        "title": entry.title if entry else "",
        "advice": entry.advice if entry else "",
        "witness": witness.data() if witness else None,
    }


def loop_data(loop: Loop) -> dict[str, Any]:
    """A loop, and a dependence that it carries: null where its iterations may run in any order."""
    witness = loop.carries()
    return {
        "name": loop.name,
        "line": loop.line or None,
        "depth": loop.depth,
        "carries": witness.data() if witness else None,
    }


def group(program: Program, found: Group) -> dict[str, Any]:
    names = r.dim_names(program.scop.domain)
    return {
        "statements": list(found.statements),
        "outputs": list(found.outputs),
        "fused": list(found.fused),
        "tile_sizes": list(found.tile_sizes),
        "parallel": found.parallel,
        "extensions": [
            {"statement": e.statement, "relation": r.relation_text(e.relation, names)} for e in found.extensions
        ],
        "recomputation": float(found.recomputation),
    }


def buffer(found: Buffer) -> dict[str, Any]:
    return {"array": found.array, "extents": [extent(one) for one in found.extents], "storage": found.storage}


def remark(found: Remark, compiled: Compiled | None = None) -> dict[str, Any]:
    """A decision with its witness and advice, and with its places where it is one of a region."""
    return {
        "code": found.code,
        "pass": found.stage,
        "line": found.span.line if found.span else None,
        "statements": list(found.statements),
        "message": found.message,
        "data": plain(found.data),
        **record(found, compiled).data(),
    }


def plain(value: Any) -> Any:
    """The value with everything that JSON does not know turned into text (isl's numbers into numbers)."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if hasattr(value, "to_python"):
        return value.to_python()
    return str(value)
