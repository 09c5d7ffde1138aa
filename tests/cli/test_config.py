"""polyc.toml: where it is found, what it says, and what is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.docs.pages import ROOT, fences

Polyc = Callable[..., Result]

TEXT = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = A[i - 1][j] + A[i + 1][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            C[i][j] = B[i][j - 1] * 2 + B[i][j];
#pragma endscop
}
"""


@pytest.fixture
def folder(tmp_path: Path, polyc: Polyc) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "t.c").write_text(TEXT)
    return tmp_path


def compiled(polyc: Polyc, *options: str) -> str:
    result = polyc("compile", "src/t.c", "-o", "-", "-v", *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout + result.stderr


def test_the_nearest_one_counts(folder: Path, polyc: Polyc) -> None:
    assert "omp parallel" in compiled(polyc)
    (folder / "polyc.toml").write_text('[defaults]\ntarget = "c"\n')
    text = compiled(polyc)
    assert "omp parallel" not in text
    assert "polyc.toml: options of src/t.c\n" in text
    (folder / "src" / "polyc.toml").write_text("")
    assert "src/polyc.toml: options of src/t.c\n" in compiled(polyc)
    assert "omp parallel" in compiled(polyc)


def test_none_is_read_above_a_repository_or_where_that_is_asked(folder: Path, polyc: Polyc) -> None:
    (folder / "src" / ".git").write_text("gitdir: elsewhere")
    (folder / "polyc.toml").write_text("[nonsense]\n")
    assert "polyc.toml" not in compiled(polyc)
    (folder / "src" / "polyc.toml").write_text("[nonsense]\n")
    assert "polyc.toml" not in compiled(polyc, "--no-config")


def test_what_beats_what(folder: Path, polyc: Polyc) -> None:
    (folder / "polyc.toml").write_text(
        'defaults.tile-sizes = [8]\n[files."src/t.c"]\ntile-sizes = [16]\n[kernels.f]\ntile-sizes = "24,32"\n'
        '[files."t.c"]\ntile-sizes = 5\n'
    )
    assert "in tiles of 24 x 32" in compiled(polyc)
    assert "in tiles of 4 x 4" in compiled(polyc, "--tile-sizes", "4")
    config = (folder / "polyc.toml").read_text()
    (folder / "polyc.toml").write_text(config.replace("kernels.f", "kernels.g"))
    assert "in tiles of 16 x 16" in compiled(polyc)
    (folder / "polyc.toml").write_text("[defaults]\ntile-sizes = 8\n")
    assert "in tiles of 8 x 8" in compiled(polyc)


def test_single_nests(folder: Path, polyc: Polyc) -> None:
    explained = polyc("explain", "src/t.c", "--all-passes").stdout
    assert "\n  f:4  S0 " in explained
    assert "\n  f:7  S1 " in explained
    (folder / "polyc.toml").write_text(
        '[kernels."f:4"]\nfuse = false\ntile-sizes = [8, 24]\n[kernels."f:7"]\nparallel = false\n[kernels."f:5"]\n'
        '[kernels."g:7"]\n'
    )
    result = polyc("explain", "src/t.c", "--all-passes")
    assert "f:4  S0  tiled 8 x 24, parallel" in result.stdout
    assert "parallel(no) asks for that [asked]" in result.stdout
    assert result.stderr == (
        "polyc.toml:6:1: warning: no nest of src/t.c is called 'f:5' [bad-config]\n    hint: there are f:4, f:7\n"
    )


def test_a_rule_for_make_names_it(folder: Path, polyc: Polyc) -> None:
    (folder / "polyc.toml").write_text("")
    compiled(polyc, "-MF", "rule")
    assert " polyc.toml\n" in (folder / "rule").read_text()


def test_folders_are_those_beside_it(folder: Path, polyc: Polyc) -> None:
    (folder / "inc").mkdir()
    (folder / "inc" / "t.h").write_text("int unused;\n")
    (folder / "src" / "t.c").write_text('#include "t.h"\n#if N != 3\n#error N\n#endif\n' + TEXT)
    (folder / "polyc.toml").write_text('[defaults]\nI = ["inc"]\nD = { N = 3 }\nmachine = "inc/own.toml"\n')
    result = polyc("compile", "src/t.c", "-o", "-")
    assert "cannot read 'inc/own.toml'" in result.stderr
    (folder / "polyc.toml").write_text('[defaults]\nI = "inc"\nD = "N=3"\n')
    compiled(polyc)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[defaults]\n\n  targt = "c"\n', "3:3: error: unknown key 'targt' [bad-config]"),
        ("[what]\n", "1:1: error: unknown key 'what' [bad-config]"),
        ("defaults = 3\n", "1:1: error: 'defaults' has to be a table [bad-config]"),
        ("[defaults]\nno-verify = 1\n", "2:1: error: 'no-verify' has to be true or false [bad-config]"),
        ("[defaults]\nbudget = [[1]]\n", "2:1: error: 'budget' has to be a text, a number, or a list of them"),
        ('[files."a.c"]\nsizes = { tile = 3 }\n', "2:1: error: 'sizes': 'tile=3' is not tiles, register-tiles"),
        ('[files]\n"a.c".budget = -3\n', "2:1: error: 'budget': -3 is not in the range"),
        ("[files]\nx = 3\n", "2:1: error: 'x' has to be a table"),
        ("[kernels.f]\ntarget = 'c'\n", "2:1: error: unknown key 'target' [bad-config]"),
        ("[kernels.'f:3']\nfuse = 'min'\n", "2:1: error: 'fuse' of a nest has to be true or false"),
        ("[kernels.'f:x']\n", "1:1: error: 'f:x' is no label of a kernel"),
        ("[defaults\n", "1:10: error: this is not TOML"),
        ("[defaults]\nfuse = 'min'\nfuse = 'max'\n", "3:13: error: this is not TOML: Cannot overwrite a value"),
        ("\xff", "1:1: error: this is not TOML"),
    ],
)
def test_mistakes_have_a_place(text: str, expected: str, folder: Path, polyc: Polyc) -> None:
    (folder / "polyc.toml").write_text(text)
    result = polyc("compile", "src/t.c", "-o", "out.c")
    assert result.exit_code == 1
    assert f"polyc.toml:{expected}" in result.stderr
    assert "hint: " in result.stderr
    assert not (folder / "out.c").exists()


def test_all_mistakes_in_their_order(folder: Path, polyc: Polyc) -> None:
    (folder / "polyc.toml").write_text("[kernels.f]\nx = 1\n[defaults]\ny = 1\n[files.z]\nw = 1\n")
    lines = [line for line in polyc("compile", "src/t.c").stderr.splitlines() if ": error: " in line]
    assert [line.split(": ")[0] for line in lines] == ["polyc.toml:2:1", "polyc.toml:4:1", "polyc.toml:6:1"]


def test_it_is_no_output(folder: Path, polyc: Polyc) -> None:
    (folder / "polyc.toml").write_text("")
    assert polyc("compile", "src/t.c", "-o", "polyc.toml").exit_code == 2


def test_the_example_of_the_page(folder: Path, polyc: Polyc) -> None:
    (text,) = [fence.text for fence in fences(ROOT / "docs" / "cli.md") if fence.language == "toml"]
    assert set(tomllib.loads(text)) == {"defaults", "files", "kernels"}
    (folder / "polyc.toml").write_text(text)
    (folder / "include").mkdir()
    assert "polyc.toml: options of src/t.c" in compiled(polyc)
