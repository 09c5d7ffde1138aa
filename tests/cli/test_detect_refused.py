"""What a check refuses of a region that nobody marked is told as for marked ones: it carries no dependence."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc import fallback
from polyc.verify import Fault
from tests.cli.conftest import Polyc

TEXT = """
void scale(int n, double a[n][n], double b[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = 2.0 * a[i][j];
}
"""


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "check", lambda *_: [Fault("flow", "it is not so", "")])


@pytest.mark.usefixtures("refusing")
def test_a_refusal_of_a_region_that_nobody_marked(polyc: Polyc, tmp_path: Path) -> None:
    file = tmp_path / "scale.c"
    file.write_text(TEXT)
    result = polyc("compile", "--detect", file)
    assert result.exit_code == 0
    assert result.stderr.count("warning: the static check refused the optimised program (it is not so)") == 1
    assert "[verification-failed]" in result.stderr
    assert list(tmp_path.glob("polyc-report-*.txt"))
    assert (tmp_path / "scale.polyc.c").read_text().endswith(TEXT)
    shown = polyc("explain", "--detect", file)
    assert "stays as it is: the static check refused the optimised program (it is not so)" in " ".join(
        shown.stdout.split()
    )
    assert "carried-dependence" not in shown.stdout
    told = polyc("compile", "--detect", "--diagnostics-format", "json", file)
    assert '"option": "verification-failed"' in told.stderr


@pytest.mark.usefixtures("refusing")
def test_a_refusal_in_a_build(polyc: Polyc, tmp_path: Path) -> None:
    file = tmp_path / "scale.c"
    file.write_text(TEXT)
    result = polyc("cc", "-c", file, "-o", tmp_path / "scale.o")
    assert result.exit_code == 0
    assert "warning: the static check refused the optimised program (it is not so)" in result.stderr
    assert list(tmp_path.glob("polyc-report-*.txt"))
