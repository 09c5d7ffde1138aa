"""What commands say on standard error: warnings, remarks, findings, timings.

Most compiles say none of it: what it takes is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polyc.cli.run import REFUSED, Run, Stopwatch
from polyc.errors import Diagnostic, Severity
from polyc.frontend.text.report import render_all
from polyc.model.program import Compiled, Program, Remark


def fallbacks(run: Run) -> list[tuple[str, str]]:
    """A warning for each region of which a check refused a program, and what a report should hold."""
    found: dict[str, str] = {}
    for one in (*run.compiled, *run.refused):
        for remark in one.program.remarks:
            if remark.code == REFUSED:
                told = Diagnostic(REFUSED, remark.message, remark.span, severity=Severity.WARNING)
                found.setdefault(told.render(), details(one, remark))
    return list(found.items())


def details(compiled: Compiled, remark: Remark) -> str:
    """What the check found, the options, and the tree after every pass."""
    import json

    from polyc.explain.words.data import remark as remark_data
    from polyc.explain.words.data import stages
    from polyc.model.tree_text import render_tree

    parts = [remark.message, json.dumps(remark_data(remark, compiled)["data"], indent=2), str(compiled.program.options)]
    parts += [f"--- {one.name} ---\n{render_tree(one.tree)}" for one in stages(compiled)]
    return "\n".join(parts)


def remarks(compiled: list[Compiled], form: str, left: Sequence[Diagnostic] = ()) -> str:
    """All decisions, as text under the place of their region, or as one JSON list a line; notes come first.

    left: loops outside of regions that were looked at, and stay as they are
    """
    import json

    from polyc.explain.words.data import remark as remark_data
    from polyc.explain.words.overview import remark_lines

    alone = [Remark(note.code, "detect", note.message, note.span) for note in left]
    if form == "json":
        told = [remark_data(m, one) for one in compiled for m in decisions(one.program)]
        return json.dumps([*told, *(remark_data(m) for m in alone)]) + "\n"
    lines: list[str] = []
    for one in compiled:
        scop = one.program.scop
        lines.append(f"{scop.span.file}:{scop.span.line}: region in {scop.function}(): decisions")
        lines += [line for remark in decisions(one.program) for line in remark_lines(remark)]
    if alone and alone[0].span is not None:
        lines.append(f"{alone[0].span.file}: loops in no region")
        lines += [line for remark in alone for line in remark_lines(remark)]
    return "".join(line + "\n" for line in lines)


def decisions(program: Program) -> list[Remark]:
    """The frontend's notes, as remarks of its own stage, and the passes' remarks."""
    notes = [Remark(note.code, "read", note.message, note.span) for note in program.scop.notes]
    return [*notes, *program.remarks]


def findings(run: Run) -> str:
    """What the frontend found in each region, and its notes on what was approximated."""
    from polyc.explain.facts.statements import text_of

    lines = [] if run.config is None else [f"{run.config}: options of {run.source.path}"]
    for one in run.compiled:
        scop = one.initial.scop
        lines.append(f"{scop.span.file}:{scop.span.line}: region in {scop.function}()")
        lines.append("  parameters: " + listed(p.name for p in scop.parameters))
        lines.append("  live-out: " + listed(sorted(scop.live_out)))
        lines.append("  private: " + listed(sorted(scop.privatizable)))
        lines += [f"  {s.name} (line {s.span.line}): {text_of(s)}" for s in scop.statements.values()]
        if scop.notes:
            lines.append(render_all(scop.notes, {run.source.path: run.source.written}))
    if run.source.left:
        lines.append(render_all(run.source.left, {run.source.path: run.source.written}))
    return "".join(line + "\n" for line in lines)


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def timings(watch: Stopwatch) -> str:
    """A table of the stages with their milliseconds and shares."""
    total = sum(watch.seconds.values())
    rows = [
        (name, f"{1000 * seconds:.1f} ms", f"{100 * seconds / total if total else 0:.0f} %")
        for name, seconds in watch.seconds.items()
    ]
    return table([*rows, ("total", f"{1000 * total:.1f} ms", "")], right=(1, 2))


def table(rows: Sequence[Sequence[str]], right: tuple[int, ...] = ()) -> str:
    """Columns two spaces apart, those in `right` aligned to the right."""
    if not rows:
        return ""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = (
        "  ".join(
            f"{cell:>{w}}" if k in right else f"{cell:<{w}}"
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "".join("  " + line.rstrip() + "\n" for line in lines)
