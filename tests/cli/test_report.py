"""The report that fits a screen, and the answer for one nest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import Result

from polyc.explain.words.why import why
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

ROOT = Path(__file__).parents[2]
Polyc = Callable[..., Result]
RECURRENCE = """void f(int n, double a[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] * 2;
#pragma endscop
}
"""


def chain(stages: int) -> str:
    """A pipeline of stencils, each of which reads the one before it."""
    names = ["in", *(f"t{k}" for k in range(1, stages)), "out"]
    nests = [
        f"    for (int i = {k}; i < n - {k}; i++)\n        {made}[i] = {read}[i - 1] + {read}[i + 1];\n"
        for k, (read, made) in enumerate(pairwise(names), 1)
    ]
    local = "".join(f"    float {name}[n];\n" for name in names[1:-1])
    return f"void f(int n, float in[n], float out[n])\n{{\n{local}#pragma scop\n{''.join(nests)}#pragma endscop\n}}\n"


def test_a_line_a_nest(polyc: Polyc, inputs: Path) -> None:
    shutil.copy(inputs / "conv.c", ".")
    wanted = """conv.c:9: region in conv(): 3 nests, verified
  lines 10-12  S0      in the tiles of group 1, 30 % repeated
  lines 13-18  S1, S2  tiled 16 x 256, parallel (group 1)
  lines 20-22  S3      tiled 16 x 256, parallel (group 1)
  group 1: S1-S3, tiles 16 x 256, with S0 inside, 217728 bytes of buffers
Why: add --why 10, or another line. Everything: --all-passes
"""
    assert polyc("explain", "conv.c").stdout == wanted


def test_a_long_pipeline_fits_a_screen(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "chain.c").write_text(chain(30))
    shown = polyc("explain", "chain.c").stdout.splitlines()
    assert len(shown) <= 24
    assert "S0-S28 (29 nests)" in shown[1]
    apart = polyc("explain", "chain.c", "--fuse", "min", "--tile-sizes", "none").stdout
    assert "S0-S29 (30 nests)" in apart


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_lines_fit_the_terminal(polyc: Polyc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    (tmp_path / "a.c").write_text(RECURRENCE)
    (tmp_path / "chain.c").write_text(chain(3))
    for words in (["a.c"], ["a.c", "--why", "5"], ["chain.c"], ["chain.c", "--why", "8"]):
        assert max(map(len, polyc("explain", *words).stdout.splitlines())) <= columns
    wide = polyc("explain", "a.c").stdout
    assert ("not parallel: each of its loops carries a dependence" in wide) == (columns == 140)


def test_why_answers_for_a_nest(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(RECURRENCE)
    for line in (4, 5, 6):
        assert (
            polyc("explain", "a.c", "--why", str(line)).stdout
            == """a.c:4: the nest at lines 4-5 in f()
    4    |     for (int i = 1; i < n; i++)
    5 S0 |         a[i] = a[i - 1] * 2;

  What was done
    S0: runs as it was written.

  What was not done, and why
    Not tiled: no two of its loops can be interchanged [no-band]
    Not parallel: each of its loops carries a dependence [carried-dependence]
      Since S0[i=1] writes a[1], and S0[i=2] reads it (n = 3).
      To do: Look at the witness. A sum: `--reassociate` lets it run in another order. A temporary
      that all iterations share: declare it inside of the loop. A recurrence: it is your method.

  Its loops
    loop i (line 4) carries a dependence: S0[i=1] writes a[1], and S0[i=2] reads it (n = 3).

  Its label in a polyc.toml: f:4
"""
        )


SEVERAL = """void f(int n, double a[n][n], double b[n])
{
    double s;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        for (int j = 1; j < n; j++)
            a[i][j] = a[i][j - 1] * s;
        b[i] = s;
    }
#pragma endscop
}
"""


def test_why_answers_for_a_line_of_a_nest(polyc: Polyc, tmp_path: Path) -> None:
    """Of a line inside of a nest, what that line runs, and the loops around it."""
    (tmp_path / "a.c").write_text(SEVERAL)
    whole = polyc("explain", "a.c", "--why", "5").stdout
    assert whole.startswith("a.c:5: the nest at lines 5-11 in f()\n")
    assert "    8 S1 |             s += a[i][j];\n" in whole
    assert whole.count("loop j (line ") == 2
    for line in (9, 10):  # the loop, and its statement
        told = polyc("explain", "a.c", "--why", str(line)).stdout
        assert told.startswith(f"a.c:5: the nest at lines 5-11 in f(), line {line}: S2\n")
        assert "loop j (line 9) carries a dependence: S2[i=0, j=1] writes a[0][1]" in told
        assert "loop j (line 7)" not in told


@pytest.mark.parametrize("name", ["lu", "durbin", "gramschmidt"])
def test_why_is_short(name: str) -> None:
    """A screen for each loop; a line that has a loop has an answer."""
    file = ROOT / "polybench" / "kernels" / f"{name}.c"
    options = InputOptions(include_dirs=(str(ROOT / "polybench" / "harness"),))
    regions = read(str(file), options).regions
    compiled = [compile_region(region, Options()) for region in regions]
    source = file.read_text().split("\n")
    inside = range(regions[0].scop.span.line, regions[0].scop.end_line)
    for line in (k for k in inside if source[k - 1].lstrip().startswith("for (")):
        told = why(compiled, line, source)
        assert told is not None
        assert len(told.splitlines()) <= 50


def test_why_tells_of_a_reduction_what_came_of_it(polyc: Polyc, tmp_path: Path) -> None:
    text = "    s = 0;\n    for (int i = 0; i < n; i++)\n        s += a[i];\n"
    (tmp_path / "a.c").write_text(
        f"double s;\nvoid f(int n, double a[n])\n{{\n#pragma scop\n{text}#pragma endscop\n}}\n"
    )
    assert "[not-parallel]" in polyc("explain", "a.c", "--why", "6").stdout
    told = polyc("explain", "a.c", "--why", "6", "--reassociate").stdout
    assert "[reduction]" in told
    assert "[not-parallel]" not in told


def test_why_tells_a_nest_that_was_inlined(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "void f(int n, const double a[n], double out[n])\n{\n    double t[n];\n#pragma scop\n"
        "    for (int i = 0; i < n; i++)\n        t[i] = 2 * a[i];\n"
        "    for (int i = 0; i < n; i++)\n        out[i] = t[n - 1 - i];\n#pragma endscop\n}\n"
    )
    assert "lines 5-6  S0  computed where its values are read" in polyc("explain", "a.c").stdout
    told = polyc("explain", "a.c", "--why", "5").stdout
    assert "[inlined]" in told
    assert "runs as it was written" not in told


@pytest.mark.parametrize("line", [1, 3, 7, 1000])
def test_a_line_without_a_nest_names_those_that_have_one(polyc: Polyc, tmp_path: Path, line: int) -> None:
    (tmp_path / "a.c").write_text(RECURRENCE)
    result = polyc("explain", "a.c", "--why", str(line))
    assert result.exit_code == 2
    assert f"Error: there is no loop nest at line {line}: the nests are at lines 4-5\n" in result.stderr


@pytest.mark.parametrize("words", [["--all-passes"], ["--pass", "schedule"], ["--format", "json"]])
def test_why_stands_alone(polyc: Polyc, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a.c").write_text(RECURRENCE)
    result = polyc("explain", "a.c", "--why", "4", *words)
    assert result.exit_code == 2
    assert "--why is a report of its own" in result.stderr


def test_the_witness_is_in_the_json_and_in_the_remarks(polyc: Polyc, tmp_path: Path) -> None:
    text = "    s = 0;\n    for (int i = 0; i < n; i++)\n        s += a[i];\n"
    (tmp_path / "a.c").write_text(
        f"double s;\nvoid f(int n, double a[n])\n{{\n#pragma scop\n{text}#pragma endscop\n}}\n"
    )
    (scop,) = json.loads(polyc("explain", "a.c", "--format", "json").stdout)["scops"]
    (remark,) = (one for one in scop["remarks"] if one["code"] == "not-parallel")
    assert remark["witness"] == {
        "first": {"statement": "S1", "line": 7, "iteration": {"i": 0}, "access": "write"},
        "second": {"statement": "S1", "line": 7, "iteration": {"i": 1}, "access": "read"},
        "array": "s",
        "cell": [],
        "element": "s",
        "parameters": {"n": 2},
        "text": "S1[i=0] writes s, and S1[i=1] reads it (n = 2)",
    }
    assert (remark["lines"], remark["nests"], remark["other"]) == ([7], [7], None)
    told = polyc("compile", "a.c", "--remarks", "-o", "x.c").stderr
    assert "      because S1[i=0] writes s, and S1[i=1] reads it (n = 2)\n" in told


def test_why_of_a_loop_that_was_left_alone(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "double total(int n, const double *a)\n{\n    double s = 0;\n    for (int i = 0; i < n; i++)\n    {\n"
        "        s += a[i];\n    }\n    return s;\n}\n"
    )
    for line in (4, 6):
        answer = polyc("explain", "--detect", "a.c", "--why", line)
        assert answer.exit_code == 0
        assert answer.stdout.startswith("a.c:4: a loop in no region\n    4 |     for (int i = 0; i < n; i++)\n\n")
        assert "nothing would be gained: " in answer.stdout
        assert "[left-alone]\n      To do: " in answer.stdout
    assert polyc("explain", "--detect", "a.c", "--why", 8).exit_code == 2
    report = polyc("explain", "--detect", "a.c").stdout
    assert max(map(len, report.splitlines())) <= 100


def test_codes_go_where_there_is_no_room(polyc: Polyc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.c").write_text(
        "void f(int n, double s[n], double t[n], double a[n])\n{\n#pragma scop\n  for (int i = 1; i < n; i++)\n"
        "    s[i] = s[i - 1] * 2 + a[i];\n  for (int i = 0; i < n; i++)\n    t[i] = s[i] + 1;\n#pragma endscop\n}\n"
    )
    monkeypatch.setenv("COLUMNS", "66")
    text = polyc("explain", "a.c").stdout
    assert max(map(len, text.splitlines())) <= 66
    assert "..." not in text


ASKED = """void f(int n, float a[n], float b[n])
{
#pragma polyc live-out(b)
#pragma scop
#pragma polyc fuse(no) parallel(no)
    for (int i = 0; i < n; i++)
        a[i] = 2;
    for (int i = 1; i < n - 1; i++)
        b[i] = a[i - 1] + a[i] + a[i + 1];
#pragma endscop
}
"""


def test_why_tells_each_thing_that_was_asked_for(polyc: Polyc, tmp_path: Path) -> None:
    """Not fused and not parallel have one code here, and neither stands for the other."""
    (tmp_path / "a.c").write_text(ASKED)
    told = polyc("explain", "a.c", "--why", "6", "--fuse", "basteln").stdout
    assert "[not-fused, asked]" in told
    assert "parallel(no) asks for that [asked]" in told
    assert "or what polyc.toml says of the nest" in " ".join(told.split())


TOGETHER = """void f(int n, float a[n][n], float b[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = 2 * b[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = a[i][j] + 1;
#pragma endscop
}
"""


def test_nests_that_share_their_loops_are_a_group(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(TOGETHER)
    lines = polyc("explain", "a.c").stdout.splitlines()
    assert all("(group 1)" in line for line in lines[1:3])
    assert lines[3].startswith("  group 1: S0, S1, in one loop nest")
