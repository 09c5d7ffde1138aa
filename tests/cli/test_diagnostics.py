"""Diagnostics for programs: gcc's JSON and SARIF 2.1.0, on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from polyc.cli import run as run_module

Polyc = Callable[..., Result]
SUM = """double total;
void f(int n, const double *a)
{
#pragma scop
    total = 0;
    for (int i = 0; i < n; i++)
        total += a[i];
#pragma endscop
}
"""


def told(result: Result, form: str) -> Any:
    """What stands on the last line of standard error, the only one."""
    assert result.stderr.count("\n") == 1
    value = json.loads(result.stderr)
    if form == "sarif":
        well_formed(value)
    return value


def well_formed(log: dict[str, Any]) -> None:
    """The properties that SARIF 2.1.0 requires, and its rules for those that are used (sections 3.13 to 3.30)."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "polyc"
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert all(isinstance(one["executionSuccessful"], bool) for one in run["invocations"])
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert rules[result["ruleIndex"]] == result["ruleId"]
        related = result.get("relatedLocations", [])
        assert [one["id"] for one in related] == list(range(1, len(related) + 1))
        for location in [*result.get("locations", []), *related]:
            place = location["physicalLocation"]
            assert re.fullmatch(r"[\w./%~+-]+", place["artifactLocation"]["uri"])
            region = place["region"]
            assert region["startLine"] >= 1
            assert 1 <= region["startColumn"] < region["endColumn"]


def test_errors_as_gcc_writes_them(polyc: Polyc, inputs: Path) -> None:
    result = polyc("compile", inputs / "bad.c", "--diagnostics-format", "json")
    assert (result.exit_code, result.stdout) == (1, "")
    first, *_ = told(result, "json")
    (location,) = first["locations"]
    assert (first["kind"], first["option"], first["column-origin"]) == ("error", "pointer-member", 1)
    assert location["caret"] == {
        "file": str(inputs / "bad.c"),
        "line": 7,
        "column": 16,
        "byte-column": 16,
        "display-column": 16,
    }
    assert location["finish"]["column"] == 24
    assert first["children"][0]["message"].startswith("hint: ")


def test_errors_as_sarif(polyc: Polyc, inputs: Path) -> None:
    for command in ("compile", "explain", "verify"):
        (run,) = told(polyc(command, inputs / "bad.c", "--diagnostics-format", "sarif"), "sarif")["runs"]
        assert run["invocations"] == [{"executionSuccessful": False}]
        assert [one["level"] for one in run["results"]] == ["error"] * 3
        assert {one["ruleId"] for one in run["results"]} == {"pointer-member", "goto"}


def test_decisions_are_notes_with_their_witness(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a b.c").write_text(SUM)
    result = polyc("compile", "a b.c", "-o", "x.c", "--diagnostics-format", "sarif")
    assert result.exit_code == 0
    (run,) = told(result, "sarif")["runs"]
    (found,) = (one for one in run["results"] if one["ruleId"] == "not-parallel")
    assert found["level"] == "note"
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.c"
    assert [one["message"]["text"] for one in found["relatedLocations"]] == [
        "S1[i=0] writes total",
        "S1[i=1] reads it",
    ]
    notes = told(polyc("explain", "a b.c", "--diagnostics-format", "json"), "json")
    assert {one["kind"] for one in notes} == {"note"}
    assert [one["option"] for one in notes] == [one["ruleId"] for one in run["results"]]


def test_columns_count_characters_and_bytes(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "void f(int n, double *a)\n{\n#pragma scop\n\tfor (int i = 0; i < n; i++)\n"
        "\t\t/* \u00e4\u00f6 */ a[i] = 0; goto end;\nend:;\n#pragma endscop\n}\n"
    )
    first = told(polyc("compile", "a.c", "--diagnostics-format", "json"), "json")[0]
    caret = first["locations"][0]["caret"]
    assert caret["byte-column"] == caret["column"] + 2 * (caret["line"] == 5)
    assert caret["display-column"] == caret["column"] + 14 * (caret["line"] == 5)


def test_verify_says_nothing_else(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SUM)
    result = polyc("verify", "a.c", "--diagnostics-format", "json")
    assert result.exit_code == 0
    assert "equal" in result.stdout
    assert all(one["kind"] == "note" for one in told(result, "json"))


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_fault_of_polyc_is_an_error(polyc: Polyc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    def fail(*_: object) -> None:
        raise ValueError("on purpose")

    (tmp_path / "a.c").write_text(SUM)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(run_module, "compile_file", fail)
    result = polyc("compile", "a.c", "--diagnostics-format", form)
    assert result.exit_code == 1
    assert "internal error: ValueError: on purpose" in json.dumps(told(result, form))
    assert list(tmp_path.glob("polyc-report-*.txt"))
