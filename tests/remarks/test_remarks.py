"""Each decision that polyc tells of, by a minimal file and everything that is said about it.

`<folder>/<code>.c` is the input, `<code>.expected` the whole output of `polyc compile --remarks -v`, with the options
that the input's first line names. `pytest --update-golden` writes the expected ones anew.

    remarks    codes of remarks
    not-fused  reasons of `not-fused`
    not-tiled  reasons of `not-tiled`
    notes      what the frontend approximates
    summary    reasons in the summary line of which no pass had to decide anything
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli
from polyc.explain import nests
from polyc.frontend.codes import NOTES
from tests.docs.pages import ROOT
from tests.docs.test_language import codes_of

FOLDER = Path(__file__).parent
PASSES = [*(ROOT / "polyc" / "passes").glob("*.py"), ROOT / "polyc" / "pipeline.py"]
NOT_SHOWN = {
    "isl-failed": "an error of isl that is known would be met before the pass",
    "not-printed": "an order that the printer cannot write would be a fault of polyc",
    "not-scheduled": "isl's scheduler gives up on few generated programs only; see test_budget.py",
    "schedule-budget": "whether the scheduler stops and not another step is up to isl's version; see test_budget.py",
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
    result = CliRunner().invoke(cli, words, prog_name="polyc", catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    golden((FOLDER / case).with_suffix(".expected"), result.stderr)
    assert said(case, result.stderr)
    assert not set(NOT_SHOWN) & set(re.findall(r"\[([\w-]+), \w+\]", result.stderr))


def said(case: Path, text: str) -> bool:
    """Whether the code that the file stands for is told of, in the place for its kind."""
    name = re.escape(case.stem)
    forms = {
        "remarks": rf"\[{name}, \w+\]",
        "not-fused": rf"\[not-fused, \w+\]\n      reason {name},",
        "not-tiled": rf"\[not-tiled, \w+\]\n      reason {name}$",
        "notes": rf" note: .* \[{name}\]",
        "summary": rf"^polyc: .*\(.*: {name}\)",
    }
    return re.search(forms[case.parent.name], text, flags=re.MULTILINE) is not None


def test_every_code_has_its_file() -> None:
    assert codes("remarks") == codes_of("remark", PASSES) - set(NOT_SHOWN)
    assert codes("not-fused") == codes_of("Declined", PASSES)
    assert codes("not-tiled") == codes_of("NotTiled", PASSES)
    assert codes("notes") == set(NOTES)
    assert codes("summary") == codes_of("Reason", [Path(nests.__file__)])
    assert set(NOT_SHOWN) <= codes_of("remark", PASSES)


def codes(folder: str) -> set[str]:
    return {case.stem for case in CASES if case.parent.name == folder}
