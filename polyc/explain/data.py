"""The run as JSON values: what `polyc explain --format json` prints, and scripts read."""

from __future__ import annotations

from typing import Any

import islpy as isl

from polyc.explain import relations as r
from polyc.explain.records import record
from polyc.explain.tree_text import render_tree
from polyc.model.program import Buffer, Compiled, Group, Program, Remark, Snapshot


def scops(compiled: list[Compiled]) -> dict[str, Any]:
    """`{"scops": [...]}`, one entry a region in source order."""
    return {"scops": [scop(one) for one in compiled]}


def stages(compiled: Compiled) -> tuple[Snapshot, ...]:
    """The trees of a run in order: `initial`, one after each pass, and `final`, which is the one that was printed."""
    return (*compiled.passes, Snapshot("final", compiled.program.tree, 0.0))


def scop(compiled: Compiled) -> dict[str, Any]:
    program = compiled.program
    found = program.scop
    return {
        "function": found.function,
        "line": found.span.line,
        "parameters": [parameter.name for parameter in found.parameters],
        "statements": [{"name": s.name, "line": s.span.line, "text": s.text} for s in found.statements.values()],
        "groups": [group(program, one) for one in program.groups],
        "buffers": [buffer(one) for one in program.buffers.values()],
        "remarks": [remark(one, compiled) for one in program.remarks],
        "passes": [
            {"name": s.name, "tree": render_tree(s.tree), "seconds": round(s.seconds, 6)} for s in stages(compiled)
        ],
        "verified": compiled.verified,
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


def extent(size: isl.PwAff | int) -> int | str:
    """A number where the size is constant, otherwise an expression in the parameters."""
    text = r.expression(size) if isinstance(size, isl.PwAff) else str(size)
    return int(text) if text.isdigit() else text


def remark(found: Remark, compiled: Compiled) -> dict[str, Any]:
    """A decision of a region, with its places, its witness and advice."""
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
