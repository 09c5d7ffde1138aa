"""`polyc compile`: outputs, exit codes, dependency files, messages."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Polyc = Callable[..., Result]


def test_writes_the_default_output_and_a_summary(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    result = polyc("compile", inputs / "conv.c")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "3 nests in 1 region: 1 group, 3 tiled, 3 fused, 3 parallel; verified" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["conv.polyc.c"]
    original = (inputs / "conv.c").read_text()
    written = (tmp_path / "conv.polyc.c").read_text()
    assert written.startswith(original[: original.index("#pragma scop")])
    assert written.endswith(original[original.index("#pragma endscop\n") + len("#pragma endscop\n") :])


def test_dash_is_standard_output(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    polyc("compile", inputs / "conv.c", "-o", "x.c")
    result = polyc("compile", inputs / "conv.c", "-o", "-")
    assert result.stdout == (tmp_path / "x.c").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.c"]


def test_quiet_says_nothing(polyc: Polyc, inputs: Path) -> None:
    assert polyc("compile", inputs / "conv.c", "-q").output == ""


@pytest.mark.parametrize("words", [("--fuse", "min"), ("--fuse", "smart"), ("--fuse", "max"), ("--tile-sizes", "none"),
                                   ("--tile-sizes", "5,7,3"), ("--target", "c"), ("--param", "KH=3,KW=3"),
                                   ("--assume", "H >= 100"), ("--live-out", "A,C"), ("--max-recompute", "0"),
                                   ("--no-verify",), ("--reassociate",), ("--cc", "gcc")])  # fmt: skip
def test_accepts_every_option(polyc: Polyc, inputs: Path, words: tuple[str, ...]) -> None:
    result = polyc("compile", inputs / "conv.c", *words)
    assert result.exit_code == 0, result.stderr
    assert ("not verified (--no-verify)" if words == ("--no-verify",) else "; verified") in result.stderr


@pytest.mark.parametrize("words", [("--tile-sizes", "0"), ("--tile-sizes", "4,x"), ("--fuse", "all"), ("--param", "N"),
                                   ("--param", "N=x"), ("--live-out", "a b"), ("--target", "fpga"), ("--nonsense",),
                                   ("--max-recompute", "-1"), ("--emit", "asm"), ("-D", "1x")])  # fmt: skip
def test_wrong_usage_is_2(polyc: Polyc, inputs: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    result = polyc("compile", inputs / "conv.c", *words)
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_all_problems_are_located_and_nothing_is_written(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    result = polyc("compile", inputs / "bad.c", "-MD")
    assert result.exit_code == 1
    assert f"{inputs / 'bad.c'}:7:16: error: " in result.stderr
    assert f"{inputs / 'bad.c'}:9:13: error: " in result.stderr
    assert "            goto out;\n" in result.stderr
    assert "^~~~" in result.stderr
    assert list(tmp_path.iterdir()) == []


BAD = {
    "empty.c": b"",
    "binary.c": bytes(range(256)) * 20,
    "include.c": b'#include "nowhere.h"\n',
    "no_region.c": b"int x;\n",
    "unmatched.c": b"void f(void)\n{\n#pragma scop\n}\n",
    "syntax.c": b"void f(int n, int *a)\n{\n#pragma scop\n  for (int i = 0; i < n i++) a[i] = 0;\n#pragma endscop\n}\n",
}


@pytest.mark.parametrize("name", [*BAD, "missing.c", "folder.c"])
def test_bad_input_is_1(polyc: Polyc, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    (folder / "folder.c").mkdir(parents=True)
    if name in BAD:
        (folder / name).write_bytes(BAD[name])
    result = polyc("compile", folder / name)
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert "Traceback" not in result.output
    assert name in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_a_file_without_region_can_be_copied(polyc: Polyc, tmp_path: Path) -> None:
    text = b"int x; /* \xff\xfe */\r\n"
    (tmp_path / "a.c").write_bytes(text)
    result = polyc("compile", "a.c", "--allow-no-scop")
    assert result.exit_code == 0
    assert (tmp_path / "a.polyc.c").read_bytes() == text


def test_the_input_is_never_overwritten(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "a.h"\n')
    (tmp_path / "a.h").write_text("int x;\n")
    os.link(tmp_path / "a.c", tmp_path / "same.c")
    for words in (("-o", "a.c"), ("-o", "same.c"), ("-o", "a.h"), ("-MF", "a.c"), ("-o", "b.c", "-MF", "b.c")):
        result = polyc("compile", "--allow-no-scop", "a.c", *words)
        assert result.exit_code == 2
    assert (tmp_path / "a.c").read_text() == '#include "a.h"\n'
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.c", "a.h", "same.c"]


def test_dependencies_are_those_of_gcc(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "x$#.h").write_text("#include <stdio.h>\n")
    (tmp_path / "m n.c").write_text('#include "a b/x$#.h"\nint x;\n')
    subprocess.run(["gcc", "-MD", "-MF", "gcc.d", "-c", "m n.c", "-o", "out put.c"], check=True, cwd=tmp_path)
    result = polyc("compile", "--allow-no-scop", "m n.c", "-o", "out put.c", "-MD")
    assert result.exit_code == 0
    ours, theirs = ((tmp_path / name).read_text() for name in ("out put.d", "gcc.d"))
    assert ours.split("\\\n")[0].startswith("out\\ put.c: m\\ n.c ")
    assert "a\\ b/x$$\\#.h" in ours
    ours_split, theirs_split = (text.replace("\\\n", "").strip().split(" ") for text in (ours, theirs))
    assert set(theirs_split) <= set(ours_split)


def test_dependencies_of_standard_output_name_the_default_output(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    polyc("compile", inputs / "conv.c", "-o", "-", "-MFdeps")
    assert (tmp_path / "deps").read_text().startswith("conv.polyc.c: ")


def test_output_keeps_mode_and_links_and_takes_devices(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    (tmp_path / "real.c").write_text("old")
    (tmp_path / "real.c").chmod(0o640)
    (tmp_path / "link.c").symlink_to("real.c")
    assert polyc("compile", inputs / "conv.c", "-o", "link.c").exit_code == 0
    assert (tmp_path / "link.c").is_symlink()
    assert stat.S_IMODE((tmp_path / "real.c").stat().st_mode) == 0o640
    assert "omp parallel" in (tmp_path / "real.c").read_text()
    assert polyc("compile", inputs / "conv.c", "-o", "/dev/null").exit_code == 0


@pytest.mark.parametrize("target", ["nowhere/x.c", "folder"])
def test_an_output_that_cannot_be_written_is_1(polyc: Polyc, inputs: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "folder" / "conv.polyc.c").mkdir(parents=True)
    result = polyc("compile", inputs / "conv.c", "-o", target)
    assert result.exit_code == 1
    assert "[cannot-write]" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_remarks(polyc: Polyc, inputs: Path) -> None:
    text = polyc("compile", "--remarks", inputs / "conv.c").stderr
    assert "[fused, basteln]" in text
    lines = polyc("compile", inputs / "conv.c", "--remarks", "json").stderr.splitlines()
    remarks = json.loads(lines[0])
    asked = {"code", "pass", "line", "statements", "message", "data"}
    assert asked | {"title", "advice", "lines", "nests", "other", "witness"} == set(remarks[0])
    assert "fused" in [remark["code"] for remark in remarks]


def test_remarks_tell_what_was_approximated(polyc: Polyc, tmp_path: Path) -> None:
    file = tmp_path / "while.c"
    file.write_text(
        "void f(int n, int *a) {\n#pragma scop\n    while (a[0] < n)\n        a[0]++;\n#pragma endscop\n}\n"
    )
    text = polyc("compile", "--remarks", file).stderr
    assert "this loop is kept whole as one statement [while-loop, read]" in text
    (remarks, *_) = polyc("compile", file, "--remarks", "json").stderr.splitlines()
    assert ("while-loop", "read", 3) in [(r["code"], r["pass"], r["line"]) for r in json.loads(remarks)]


def test_emit(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    tree = polyc("compile", inputs / "conv.c", "--emit", "tree").stdout
    assert tree.startswith("domain [H, KH, KW, W] -> {")
    assert "extension { [h_t, w_t] -> S0[h, w] : " in tree
    assert "for (int " in polyc("compile", inputs / "conv.c", "--emit", "ast").stdout
    assert list(tmp_path.iterdir()) == []
    polyc("compile", inputs / "conv.c", "--emit", "tree", "-o", "t")
    assert (tmp_path / "t").read_text() == tree


def test_timings_and_verbose(polyc: Polyc, inputs: Path) -> None:
    told = polyc("compile", inputs / "conv.c", "--timings", "-v").stderr
    for word in ("read", "schedule", "verify", "codegen", "total", " ms", "S2 (line 18): C[h][w] += ", "live-out: C"):
        assert word in told


def test_own_failures_are_owned(polyc: Polyc, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise KeyError("the moon")

    monkeypatch.setattr("polyc.codegen.render_file", fail)
    result = polyc("compile", inputs / "conv.c")
    assert result.exit_code == 1
    assert "polyc: internal error: KeyError: 'the moon'" in result.stderr
    assert "polyc's fault" in result.stderr
    assert "Traceback" not in result.output
    (report,) = tmp_path.iterdir()
    assert str(report) in result.stderr
    assert "Traceback" in report.read_text()
    assert "a convolution" in report.read_text()


def test_interrupt_is_quiet(polyc: Polyc, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("polyc.codegen.render_file", interrupt)
    result = polyc("compile", inputs / "conv.c")
    assert (result.exit_code, result.output) == (130, "")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_check_is_told_with_a_report(
    polyc: Polyc, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from polyc.verify import Fault

    answers = iter([[Fault("flow", "S2 reads what S0 did not write", "")]])
    monkeypatch.setattr("polyc.fallback.check", lambda program, original: next(answers, []))
    result = polyc("compile", inputs / "conv.c")
    assert result.exit_code == 0
    assert "warning: " in result.stderr
    assert "[verification-failed]" in result.stderr
    (report,) = tmp_path.glob("polyc-report-*.txt")
    assert "--- schedule ---\ndomain " in report.read_text()


def test_help_is_fast_and_loads_nothing_heavy() -> None:
    code = "import sys; from polyc.cli.main import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"islpy", "numpy", "rich", "pycparser", "jinja2"} & set(done.stdout.split())
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "polyc", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    assert min(times) < 1  # 0.1 s on a quiet machine; the promise is 0.25 s


def test_version(polyc: Polyc) -> None:
    from polyc import __version__

    assert polyc("--version").output == f"polyc {__version__}\n"


@pytest.mark.parametrize("broken", ["tiles", "all"])
def test_what_cannot_be_printed_stays_as_it_was(
    polyc: Polyc, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """The pass whose programs cannot be printed is left out; where none can, the text of the region stays."""
    from polyc.attempt import Attempt
    from polyc.errors import InternalError
    from polyc.model.program import Program

    printed = Attempt.rendered  # render_region itself runs in a child process

    def failing(attempt: Attempt, program: Program, verified: bool) -> Any:
        if broken == "all" or any(group.tile_sizes for group in program.groups):
            raise InternalError("no such loop")
        return printed(attempt, program, verified)

    monkeypatch.setattr(Attempt, "rendered", failing)
    result = polyc("compile", "--remarks", inputs / "conv.c")
    assert result.exit_code == 0
    text = (tmp_path / "conv.polyc.c").read_text()
    assert "the optimised program could not be printed (no such loop); the " in result.stderr
    assert "3 not tiled (lines 12, 15, 22: not-printed)" in result.stderr
    assert ("; the pass basteln was left out [not-printed, codegen]" in result.stderr) == (broken == "tiles")
    assert ("#pragma omp" in text) == (broken == "tiles")
    assert ("conv: left as it was written" in text) == (broken == "all")
