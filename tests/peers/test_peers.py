"""The script that compiles other people's suites, on a suite of our own."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from polyc.errors import Diagnostic, UserError
from tests.peers.__main__ import main
from tests.peers.fragments import complete
from tests.peers.one import refused
from tests.peers.outcome import BUG, Outcome, Settings
from tests.peers.whole import same_output

FILES = {
    "good/scale.c": """void scale(int n, double a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2 * a[i];
#pragma endscop
}
""",
    "leaves.c": """int first(int n, const int a[n])
{
#pragma scop
    if (n > 0)
        return a[0];
#pragma endscop
    return 0;
}
""",
    "no-header.c": """#include "sizes.h"
void clear(int a[SIZE])
{
#pragma scop
    for (int i = 0; i < SIZE; i++)
        a[i] = 0;
#pragma endscop
}
""",
    "fragment.c": """/* neither a function nor a declaration */
#pragma scop
for (i = 1; i < N; i++)
    A[i][0] = A[i - 1][k[i]] + c;
#pragma endscop
""",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Outcome]:
    return {one["file"]: Outcome(**one) for one in json.loads(capsys.readouterr().out)}


def test_each_file_is_of_one_kind(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(suite), "--json", "--jobs", "1", "--memory", "0"]) == 0
    found = told(capsys)
    assert {name: (one.kind, one.codes) for name, one in found.items()} == {
        "good/scale.c": ("compiled", []),
        "leaves.c": ("refused", ["return"]),
        "no-header.c": ("refused", ["preprocessor"]),
        "fragment.c": ("refused", ["pragma-outside-function"]),
    }
    assert (found["good/scale.c"].regions, found["good/scale.c"].changed) == (1, 1)
    assert found["leaves.c"].detail == "5: return would leave the region [return]"


def test_what_is_missing_is_declared(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = suite / "accepted.txt"
    accepted.write_text("fragment.c\nno-header.c\nleaves.c\n")
    words = [str(suite), "--complete", "--jobs", "2", "--memory", "0", "--accepted", str(accepted), "--cases"]
    assert main(words) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    rows = {name: value for name, _, value in (line.rpartition("  ") for line in lines)}
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    assert rows["compiled, and verified statically"] == "3"
    assert rows["with declarations that the fragment leaves out"] == "2"
    assert (rows["files that the peer accepts"], rows["compiled, percent"]) == ("3", "66.7")
    assert "* refused  leaves.c: 5: return would leave the region [return]" in lines


def test_a_fragment_becomes_a_function() -> None:
    problem = UserError([Diagnostic("pragma-outside-function", "a region has to stand inside a function")])
    text = complete("#define M 9\n" + FILES["fragment.c"], problem)
    assert text is not None
    declared = ["#define M 9", "double A[512][512];", "int N;", "double c;", "int k[512];", "void fragment(void)", "{"]
    assert text.splitlines()[: len(declared)] == declared
    assert "    A[i][0] = A[i - 1][k[i]] + c;" in text.splitlines()
    assert complete("int x;", UserError([Diagnostic("goto", "goto cannot stand in a region")])) is None


def test_a_refusal_without_a_place_is_a_bug() -> None:
    assert refused("a.c", [Diagnostic("goto", "goto cannot stand in a region")]).kind == BUG


@pytest.mark.slow
def test_regions_are_run(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(suite), "--json", "--verify", "--complete"]) == 0
    found = told(capsys)
    assert list(found["good/scale.c"].runs) == ["equal"]


@pytest.mark.slow
def test_what_runs_for_ever_is_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ever.c").write_text(
        "void ever(int *a) {\n#pragma scop\n    for (;;)\n        a[0] = a[0] + 1;\n#pragma endscop\n}\n"
    )
    assert main([str(tmp_path), "--json", "--verify", "--time", "5"]) == 0
    assert list(told(capsys)["ever.c"].runs) == ["not run: takes too long"]


@pytest.mark.slow
def test_what_the_suite_itself_holds_does_not_count(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As OpenCL's compiler does in a worker that ran its tests before."""
    with mmap.mmap(-1, 3 << 30):
        assert main([str(suite), "--json", "--complete"]) == 0
    assert told(capsys)["good/scale.c"].kind == "compiled"


PROGRAM = """#include <stdio.h>
#include "size.h"
double start(int);
int main(int count, char **words)
{
    double a[SIZE], b[SIZE];
    if (count < 2)
        return 1;
    fprintf(stderr, "%s\\n", words[1]);
    for (int i = 0; i < SIZE; i++)
        a[i] = start(i);
#pragma scop
    for (int i = 0; i < SIZE; i++)
        b[i] = FACTOR * a[i];
#pragma endscop
    for (int i = 0; i < SIZE; i++)
        fprintf(stderr, "%g\\n", b[i]);
    return 0;
}
"""


@pytest.fixture
def programs(tmp_path: Path) -> list[str]:
    """The words that run a folder with one program, whose header and second source are elsewhere."""
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "program.c").write_text(PROGRAM)
    (tmp_path / "suite" / "start.c").write_text("double start(int i) { return i / 4.0; }\n")
    (tmp_path / "suite" / "alone.c").write_text(FILES["good/scale.c"])
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "size.h").write_text("#define SIZE 40\n")
    words = [str(tmp_path / "suite"), "--run", "--with", str(tmp_path / "suite" / "start.c"), "--jobs", "1"]
    return [
        *words,
        "--memory",
        "0",
        "--include",
        str(tmp_path / "headers"),
        "--define",
        "FACTOR=2",
        "--argument",
        "all",
    ]


@pytest.mark.slow
def test_whole_programs_print_the_same(programs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*programs, "--modes", "default", "5,7,3", "--cases"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {name.strip(): value.strip() for name, _, value in (line.rpartition("  ") for line in lines)}
    assert rows["files, in 2 modes each"] == "4"
    assert (rows["programs that print the same"], rows["programs that cannot be run"]) == ("2", "2")
    assert any(line.startswith("  not run  alone.c (5,7,3): ") for line in lines)


@pytest.mark.slow
def test_a_program_that_prints_something_else_is_a_bug(
    programs: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.peers.one.same_output", partial(with_another_factor, same_output))
    assert main([*programs, "--json"]) == 1
    assert told(capsys)["program.c"].detail == "the result prints another line 3"


def with_another_factor(
    check: Callable[[Outcome, Path, str, Settings], Outcome],
    outcome: Outcome,
    file: Path,
    text: str,
    settings: Settings,
) -> Outcome:
    return check(outcome, file, text.replace('fprintf(stderr, "%g', 'b[i] *= 3, fprintf(stderr, "%g'), settings)
