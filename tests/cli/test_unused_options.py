"""Options that no region has a use for are told of on the last line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli

COPY = """
void copy(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    "options", [["--time-tile", "diamond"], ["--time-tile", "skewed:4,8"], ["--strips", "8"], ["--sizes", "blocks=8"]]
)
def test_an_option_without_effect_is_told(options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "copy.c"
    file.write_text(COPY)
    done = CliRunner().invoke(cli, ["compile", str(file), *options, "-o", str(tmp_path / "out.c")])
    assert done.exit_code == 0
    assert f"{' '.join(options)} not used" in done.stderr


def test_others_are_not(tmp_path: Path) -> None:
    file = tmp_path / "copy.c"
    file.write_text(COPY)
    done = CliRunner().invoke(cli, ["compile", str(file), "--time-tile", "none", "-o", str(tmp_path / "out.c")])
    assert "not used" not in done.stderr
