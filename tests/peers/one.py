"""One file through polyc: what became of it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from polyc.codegen import render_file
from polyc.codegen.render import on_lines
from polyc.errors import Diagnostic, UserError
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions
from polyc.model.scop import Source
from polyc.model.tree import Band, Extension, walk
from polyc.pipeline import compile_region
from polyc.runtime import BuildError, compare
from tests.modes import MODES
from tests.peers.fragments import complete
from tests.peers.outcome import BUG, COMPILED, REFUSED, Outcome, Settings
from tests.peers.whole import same_output

NOWHERE = frozenset({"empty-file", "no-scop", "preprocessor", "binary-file"})
"""Codes that speak of the whole file: a place in it would say nothing."""
FALLBACKS = frozenset({"verification-failed", "not-printed", "text-not-checked"})
NUMBER = re.compile(r"\b\w+ = -?\d+(?:, \w+ = -?\d+)*: ")


def compile_file(file: Path, name: str, settings: Settings, tell: Callable[[Outcome], None]) -> None:
    """Compile and check one file; `tell` hears the outcome, and others after its regions, or all of it, were run."""
    inputs = InputOptions(include_dirs=settings.include_dirs, defines=settings.defines, cc="gcc")
    with tempfile.TemporaryDirectory(prefix="polyc-peers-") as folder:
        try:
            source = read_whole(file, inputs, Path(folder)) if settings.complete else read(str(file), inputs)
            options = MODES[settings.mode]
            compiled = [compile_region(region, options) for region in source.regions]
            text = render_file(source, compiled)
            outcome = judged(name, source, compiled, text, inputs, file)
            outcome = replace(outcome, completed=source.path != str(file), mode=settings.mode)
        except UserError as problem:
            tell(replace(refused(name, problem.diagnostics), mode=settings.mode))
            return
        except Exception as problem:
            last = traceback.extract_tb(problem.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            detail = f"{type(problem).__name__} at {place}: {first_line(problem)}"
            tell(Outcome(name, BUG, detail, mode=settings.mode))
            return
        tell(outcome)
        if settings.verify and outcome.kind == COMPILED:
            outcome = run(outcome, source, compiled)
            tell(outcome)
        if settings.run and outcome.kind == COMPILED and not outcome.completed:
            tell(same_output(outcome, file, text, settings))


def read_whole(file: Path, inputs: InputOptions, folder: Path) -> Source:
    """The file, or a copy of it in which what is missing is declared."""
    beside = replace(inputs, include_dirs=(*inputs.include_dirs, str(file.parent)))
    path, text = file, file.read_text(encoding="utf-8", errors="surrogateescape")
    while True:
        try:
            return read(str(path), inputs if path == file else beside)
        except UserError as problem:
            more = complete(text, problem)
            if more is None or more == text:
                raise
            path, text = folder / file.name, more
            path.write_text(text, encoding="utf-8", errors="surrogateescape")


def refused(name: str, found: list[Diagnostic]) -> Outcome:
    first = found[0]
    codes = tuple(d.code for d in found)
    if any(d.span is None and d.code not in NOWHERE for d in found):
        return Outcome(name, BUG, f"refused without a place: {first.message}", codes)
    line = f"{first.span.line}: " if first.span is not None else ""
    return Outcome(name, REFUSED, f"{line}{first.message} [{first.code}]", codes)


def judged(name: str, source: Source, compiled: list[Compiled], text: str, inputs: InputOptions, file: Path) -> Outcome:
    """The outcome of a file that polyc printed."""
    outcome = Outcome(name, COMPILED, regions=len(compiled), changed=sum(is_changed(one) for one in compiled))
    outcome = replace(outcome, budget=sum(any(r.code == "budget" for r in one.program.remarks) for one in compiled))
    if not keeps_the_rest(source, compiled, text):
        return replace(outcome, kind=BUG, detail="what stands around the regions was changed")
    for one in compiled:
        fallen = [r for r in one.program.remarks if r.code in FALLBACKS]
        if fallen or not one.verified:
            reason = fallen[0].message if fallen else "not verified"
            return replace(outcome, kind=BUG, detail=f"{one.program.scop.span.line}: {reason}")
    folders = (str(file.parent), *inputs.include_dirs)
    errors, warnings = complaints(text, folders, inputs.defines)
    before = complaints(source.text, folders, inputs.defines) if errors or warnings else ((), ())
    new = [message for message in errors if message not in before[0]]
    if new:
        return replace(outcome, kind=BUG, detail=f"gcc refuses the output: {new[0]}")
    return replace(outcome, warnings=tuple(sorted(set(warnings) - set(before[1]))))


def keeps_the_rest(source: Source, compiled: list[Compiled], text: str) -> bool:
    """Whether every byte outside of the regions is the user's."""
    expected, before = "", 0
    for region, result in zip(source.regions, compiled, strict=True):
        expected += source.text[before : region.start] + on_lines(source.text, region, result.in_file)
        before = region.end
    return text == expected + source.text[before:]


def is_changed(compiled: Compiled) -> bool:
    """Whether a loop was tiled or fused, or runs in parallel or in vectors."""
    nodes = list(walk(compiled.program.tree.child))
    members = [member for node in nodes if isinstance(node, Band) for member in node.members]
    fused = any(isinstance(node, Extension) for node in nodes)
    return fused or any(m.parallel or m.vector or m.size > 1 for m in members)


def complaints(
    text: str, folders: tuple[str, ...], defines: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """gcc's errors and warnings on a text, without their places."""
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wno-unknown-pragmas", "-fopenmp", "-x", "c", "-"]
    command += [f"-I{folder}" for folder in folders] + [f"-D{name}" for name in defines]
    data = text.encode("utf-8", "surrogateescape")
    done = subprocess.run(command, input=data, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    errors = tuple(line.partition("error: ")[2] for line in lines if "error: " in line)
    return errors, tuple(line.partition("warning: ")[2] for line in lines if "warning: " in line)


def run(outcome: Outcome, source: Source, compiled: list[Compiled]) -> Outcome:
    """The outcome after every region and its result ran on the same input."""
    runs: list[str] = []
    for region, one in zip(source.regions, compiled, strict=True):
        if not region.scop.statements:
            runs.append("not run: the region does nothing")
            continue
        try:
            report = compare(region, one)
        except BuildError as problem:
            runs.append(f"not run: {first_line(problem)}")
            continue
        if report.differences:
            return replace(outcome, kind=BUG, detail=f"{region.scop.span.line}: {report.differences[0].message}")
        if any(row.elements for row in report.rows):
            runs.append("equal")
        elif report.rows:
            runs.append("not run: nothing is needed after the region")
        else:
            runs.append(f"not run: {NUMBER.sub('', report.skipped[0]) if report.skipped else 'no size to run'}")
    return replace(outcome, runs=tuple(runs))


def first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [""])[0]
