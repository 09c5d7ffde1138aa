"""Each decision that polyc tells of, by a minimal file and everything that is said about it.

`<folder>/<code>.c` is the input, `<code>.expected` the whole output of `polyc compile --remarks -v`, with the options
that the input's first line names. `pytest --update-golden` writes the expected ones anew.

    remarks    codes of remarks
    not-fused  reasons of `not-fused`
    not-tiled  reasons of `not-tiled`
    not-inlined, not-relocated  some reasons of theirs; tests of the passes have the others
    notes      what the frontend approximates
    summary    reasons in the summary line of which no pass had to decide anything
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import polyc.cli.run
from polyc.cli.main import cli
from polyc.cli.run import Run, compile_file
from polyc.explain.codes import OUTCOMES, REASONS, REMARKS
from polyc.explain.facts import nests
from polyc.explain.facts.loops import written
from polyc.explain.facts.remark_records import records
from polyc.frontend.text.codes import NOTES
from polyc.model.program import Compiled
from tests.docs.pages import ROOT
from tests.docs.test_language import codes_of
from tests.remarks.test_witnesses import shown

FOLDER = Path(__file__).parent
PASSES = [
    *(file for room in ("passes", "cost", "nests", "analysis") for file in (ROOT / "polyc" / room).rglob("*.py")),
    *(ROOT / "polyc").glob("*.py"),
]
NOT_SHOWN = {
    "isl-failed": "an error of isl that is known would be met before the pass",
    "pass-failed": "a pass that fails is a fault of polyc; see test_forms.py",
    "not-printed": "an order that the printer cannot write would be a fault of polyc",
    "not-scheduled": "isl's scheduler gives up on few generated programs only; see test_budget.py",
    "schedule-budget": "whether the scheduler stops and not another step is up to isl's version; see test_budget.py",
    "text-not-checked": "a text that cannot be compared would be a fault of polyc; see test_budget.py",
    "verification-failed": "an optimised program that is wrong would be a fault of polyc",
}
"""Remarks that no input shows for sure, and why; other tests force them."""
CASES = sorted(path.relative_to(FOLDER) for path in FOLDER.glob("*/*.c"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.with_suffix("")))
def test_what_is_said(case: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]) -> None:
    monkeypatch.chdir(FOLDER / case.parent)
    asked = re.match(r"/\* polyc compile (.*) \*/", (FOLDER / case).read_text())
    options = asked.group(1).split() if asked else []
    words = ["compile", "--remarks", "-v", "-o", "-", *options, case.name]
    runs: list[Run] = []

    def noted(*given: Any) -> Run:
        runs.append(compile_file(*given))
        return runs[-1]

    monkeypatch.setattr(polyc.cli.run, "compile_file", noted)
    result = CliRunner().invoke(cli, words, prog_name="polyc", catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    golden((FOLDER / case).with_suffix(".expected"), result.stderr)
    assert said(case, result.stderr)
    assert not set(NOT_SHOWN) & set(re.findall(r"\[([\w-]+), \w+\]", result.stderr))
    (run,) = runs
    for compiled in run.compiled:
        each_record_has_its_places(compiled)
    told = [witness for one in run.compiled for witness in shown(one)]
    assert set(re.findall(r"^      because (.*)$", result.stderr, flags=re.MULTILINE)) <= set(told)


def each_record_has_its_places(compiled: Compiled) -> None:
    """The lines of its statements, and the nest that they are in."""
    loops = {line for place in written(compiled) if place.loops for line in (place.first_line, place.last_line)}
    for one in records(compiled):
        assert one.entry is not None, one.code
        assert one.remark.span is not None
        assert bool(one.about.statements) == bool(one.about.lines)
        in_loops = any(
            compiled.initial.statements[s].loops for s in one.about.statements if s in compiled.initial.statements
        )
        assert bool(one.about.nests) == in_loops or not loops
        if one.code in ("fused", "not-fused", "outputs-joined"):
            assert one.other is not None or one.code != "not-fused"
        if one.other is not None:
            assert one.other.lines


def said(case: Path, text: str) -> bool:
    """Whether the code that the file stands for is told of, in the place for its kind."""
    name = re.escape(case.stem)
    forms = {
        "remarks": rf"\[{name}, [\w-]+\]",
        "not-fused": rf"\[not-fused, \w+\]\n      reason {name},",
        "not-tiled": rf"\[not-tiled, \w+\]\n      reason {name}$",
        "not-inlined": rf"\[not-inlined, \w+\]\n      reason {name},",
        "not-relocated": rf"\[not-relocated, \w+\]\n      reason {name}$",
        "notes": rf" note: .* \[{name}\]",
        "summary": rf"^polyc: .*\(.*: {name}\)",
    }
    return re.search(forms[case.parent.name], text, flags=re.MULTILINE) is not None


def test_every_code_has_its_file() -> None:
    assert codes("remarks") == codes_of("remark", PASSES) - set(NOT_SHOWN)
    assert codes("not-fused") == codes_of("Declined", PASSES)
    assert codes("not-tiled") == codes_of("NotTiled", PASSES)
    assert codes("not-inlined") <= codes_of("Obstacle", PASSES)
    assert codes("not-relocated") <= codes_of("Hindrance", PASSES)
    assert codes("notes") == set(NOTES)
    assert codes("summary") == codes_of("Reason", [Path(nests.__file__)])
    assert set(NOT_SHOWN) <= codes_of("remark", PASSES)


SHOWN = [("remarks", code) for code, entry in REMARKS.items() if entry.dependence]
SHOWN += [(folder, code) for folder, some in REASONS.items() for code, entry in some.items() if entry.dependence]


@pytest.mark.parametrize(("folder", "code"), SHOWN)
def test_a_dependence_that_is_the_reason_is_shown(folder: str, code: str) -> None:
    """Two iterations and the cell that they share, right below the decision."""
    lines = (FOLDER / folder / f"{code}.expected").read_text().splitlines()
    heads = [
        k
        for k, line in enumerate(lines)
        if (
            f"[{code}, " in line if folder == "remarks" else f"[{folder}, " in line and f"reason {code}" in lines[k + 1]
        )
    ]
    below = [next((k for k in range(head + 1, len(lines)) if not lines[k].startswith("      ")), 0) for head in heads]
    assert any(
        re.match(r"      because S\d+.* (reads|writes|may write) [\w\[\]]+, and S\d+", line)
        for head, end in zip(heads, below, strict=True)
        for line in lines[head + 1 : end]
    )


@pytest.mark.parametrize("code", [code for code, entry in OUTCOMES.items() if entry.dependence])
def test_a_reason_of_the_report_is_shown(code: str) -> None:
    words = ["explain", "--format", "json", str(FOLDER / "summary" / f"{code}.c")]
    result = CliRunner().invoke(cli, words, prog_name="polyc", catch_exceptions=False)
    found = [m for s in json.loads(result.stdout)["scops"] for nest in s["nests"] for m in nest["missing"]]
    assert any(one["code"] == code and one["witness"]["text"] for one in found)


def codes(folder: str) -> set[str]:
    return {case.stem for case in CASES if case.parent.name == folder}
