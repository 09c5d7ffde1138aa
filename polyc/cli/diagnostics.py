"""Diagnostics for programs: as JSON in gcc's form, and as SARIF 2.1.0 for editors and CI.

Either is one line, the last one on standard error, where gcc writes them too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from polyc import __version__
from polyc.cli.run import REFUSED, Run
from polyc.errors import Diagnostic, Severity, Span, UserError

if TYPE_CHECKING:
    from polyc.model.program import Compiled, Remark
    from polyc.model.scop import Source

FORMS = ("text", "json", "sarif")
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
OPTION = (
    click.option(
        "--diagnostics-format",
        type=click.Choice(FORMS),
        default="text",
        show_default=True,
        help="How errors, warnings and notes are written to standard error: for people, as gcc's JSON, or as SARIF.",
    ),
)


class Sources:
    """The lines that diagnostics point to; files are read when one is asked for."""

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        self.lines = {path: text.split("\n") for path, text in (texts or {}).items()}

    def line(self, span: Span) -> str:
        if span.file not in self.lines:
            try:
                with open(span.file, encoding="utf-8", errors="replace") as file:
                    self.lines[span.file] = file.read().split("\n")
            except (OSError, ValueError):
                self.lines[span.file] = []
        found = self.lines[span.file]
        line = found[span.line - 1].rstrip("\r") if 0 < span.line <= len(found) else ""
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def of_run(run: Run) -> list[Diagnostic]:
    """What there is to say of regions that were compiled: the frontend's notes, and each decision of a pass; and of
    regions that stay since a check refused what came of them."""
    found: list[Diagnostic] = []
    for one in run.compiled:
        found += one.program.scop.notes
        found += [of_remark(remark, one) for remark in one.program.remarks]
    return [*found, *(of_remark(m, one) for one in run.refused for m in one.program.remarks if m.code == REFUSED)]


def of_remark(remark: Remark, compiled: Compiled) -> Diagnostic:
    """A decision as a note, a failed check as a warning; with its witness, and advice as the hint."""
    from polyc.explain.facts.remark_records import record

    known = record(remark, compiled)
    witness = known.witness
    related: list[tuple[Span, str]] = []
    if witness is not None:
        statements = {**compiled.program.statements, **compiled.initial.statements}
        for touch, text in zip((witness.first, witness.second), witness.halves, strict=True):
            if touch.statement in statements:
                related.append((statements[touch.statement].span, text))
    advice = known.entry.advice if known.entry is not None else ""
    severity = Severity.WARNING if remark.code == REFUSED else Severity.NOTE
    hint = "" if advice.startswith("Nothing:") else advice
    return Diagnostic(remark.code, remark.message, remark.span, hint, severity, tuple(related))


def tell(found: Iterable[Diagnostic], form: str, source: Source | None = None) -> None:
    """Write diagnostics to standard error, in one of the forms for programs."""
    import json

    sources = Sources({source.path: source.text} if source is not None else None)
    every = list(found)
    value = sarif(every, sources) if form == "sarif" else [gcc_json(one, sources) for one in every]
    click.echo(json.dumps(value), err=True)


def tell_errors(problem: UserError, form: str) -> None:
    """Write the errors of a file that cannot be compiled, in any form."""
    if form != "text":
        tell(problem.diagnostics, form)
        return
    from polyc.frontend.text.report import render_all

    click.echo(render_all(problem.diagnostics), err=True)


# --- gcc's JSON ------------------------------------------------------------------------------------------------------


def gcc_json(one: Diagnostic, sources: Sources) -> dict[str, Any]:
    """What `gcc -fdiagnostics-format=json` writes of a diagnostic; `option` is its code."""
    children = [_child(text, span, sources) for span, text in one.related]
    if one.hint:
        children.append(_child(f"hint: {one.hint}", None, sources))
    return {
        "kind": one.severity.value,
        "message": one.message,
        "option": one.code,
        "column-origin": 1,
        "escape-source": False,
        "locations": [] if one.span is None else [_location(one.span, sources)],
        "children": children,
    }


def _child(message: str, span: Span | None, sources: Sources) -> dict[str, Any]:
    locations = [] if span is None else [_location(span, sources)]
    return {"kind": "note", "message": message, "escape-source": False, "locations": locations}


def _location(span: Span, sources: Sources) -> dict[str, Any]:
    line = sources.line(span)
    ends = {"caret": span.column, "finish": span.column + max(span.length, 1) - 1}
    return {
        name: {
            "file": span.file,
            "line": span.line,
            "column": column,
            "byte-column": len(line[: column - 1].encode()) + 1 if line else column,
            "display-column": len(line[: column - 1].expandtabs(8)) + 1 if line else column,
        }
        for name, column in ends.items()
    }


# --- SARIF -----------------------------------------------------------------------------------------------------------


def sarif(found: list[Diagnostic], sources: Sources) -> dict[str, Any]:
    """A SARIF log of one run."""
    codes = list(dict.fromkeys(one.code for one in found))
    failed = any(one.severity is Severity.ERROR for one in found)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "polyc", "version": __version__, "rules": [_rule(code) for code in codes]}},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": not failed}],
                "results": [_result(one, codes.index(one.code), sources) for one in found],
            }
        ],
    }


def joined(logs: list[dict[str, Any]]) -> dict[str, Any]:
    """One log of one run, with the results of all."""
    answer = sarif([], Sources())
    (run,) = answer["runs"]
    rules: dict[str, Any] = {}
    for log in logs:
        (one,) = log["runs"]
        rules |= {rule["id"]: rule for rule in one["tool"]["driver"]["rules"] if rule["id"] not in rules}
        run["results"] += one["results"]
        run["invocations"][0]["executionSuccessful"] &= one["invocations"][0]["executionSuccessful"]
    for result in run["results"]:
        result["ruleIndex"] = list(rules).index(result["ruleId"])
    run["tool"]["driver"]["rules"] = list(rules.values())
    return answer


def _rule(code: str) -> dict[str, Any]:
    from polyc.explain.codes import REMARKS
    from polyc.frontend.text.codes import ERRORS, NOTES

    entry = REMARKS.get(code)
    if entry is None:
        text = ERRORS.get(code) or NOTES.get(code) or code
        return {"id": code, "shortDescription": {"text": text}}
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.meaning},
        "help": {"text": entry.advice, "markdown": entry.advice},
    }


def _result(one: Diagnostic, rule: int, sources: Sources) -> dict[str, Any]:
    message = one.message + (f"\nhint: {one.hint}" if one.hint else "")
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": one.severity.value,
        "message": {"text": message},
    }
    if one.span is not None:
        result["locations"] = [{"physicalLocation": _physical(one.span, sources)}]
    if one.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _physical(span, sources), "message": {"text": text}}
            for number, (span, text) in enumerate(one.related, 1)
        ]
    return result


def _physical(span: Span, sources: Sources) -> dict[str, Any]:
    from urllib.parse import quote

    region: dict[str, Any] = {
        "startLine": span.line,
        "startColumn": span.column,
        "endColumn": span.column + max(span.length, 1),
    }
    line = sources.line(span)
    if line:
        region["snippet"] = {"text": line}
    return {"artifactLocation": {"uri": quote(span.file, safe="/", errors="surrogateescape")}, "region": region}
