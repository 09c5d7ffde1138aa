"""`polyc verify`, and the runtime below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.runtime import Report, compare
from polyc.runtime.check import check

Polyc = Callable[..., Result]
INPUTS = Path(__file__).parent / "inputs"


def regions(name: str) -> dict[str, Region]:
    return {region.scop.function: region for region in read(str(INPUTS / name), InputOptions()).regions}


@pytest.fixture(scope="module")
def conv() -> tuple[Region, Compiled]:
    region = regions("conv.c")["conv"]
    return region, compile_region(region, Options())


def test_prints_what_was_compared(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    result = polyc("verify", inputs / "conv.c")
    assert result.exit_code == 0
    assert "static check passed" in result.stdout
    assert "H = 140, W = 141, KH = 71, KW = 47  C  6650 elements  equal" in result.stdout
    assert "agree" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_data_dependent_subscripts_structs_rows_and_scalars_run(polyc: Polyc, inputs: Path) -> None:
    result = polyc("verify", inputs / "data.c")
    assert result.exit_code == 0, result.output
    assert "not run" not in result.stdout
    assert result.stdout.count("equal") == 6 * 5


def broken(conv: tuple[Region, Compiled], old: str, new: str) -> Report:
    region, compiled = conv
    assert old in compiled.text
    return compare(region, replace(compiled, text=compiled.text.replace(old, new)))


def test_finds_a_wrong_value(conv: tuple[Region, Compiled]) -> None:
    report = broken(conv, "C[h][w] = 0;", "C[h][w] = h == 1;")
    assert [row.differences for row in report.rows] == [0, 1, 1, 1, 1]
    first = report.differences[0]
    assert (first.array, first.index, first.values) == ("C", (1, 0), {"H": 5, "W": 6, "KH": 3, "KW": 2})
    assert float(first.result) == pytest.approx(float(first.original) + 1)
    assert first.message.startswith("C[1][0] is ")
    assert "with H = 5, W = 6, KH = 3, KW = 2" in first.message


def test_the_command_tells_the_first_difference(polyc: Polyc, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(region: Region, options: Options) -> Compiled:
        compiled = compile_region(region, options)
        return replace(compiled, text=compiled.text.replace("C[h][w] = 0;", "C[h][w] = 1;"))

    monkeypatch.setattr("polyc.pipeline.compile_region", wrong)
    result = polyc("verify", inputs / "conv.c")
    assert result.exit_code == 1
    assert "DIFFER" in result.stdout
    assert "conv.c:9:1: error: C[0][0] is " in result.stderr


def test_finds_writes_outside(conv: tuple[Region, Compiled]) -> None:
    report = broken(conv, "C[h][w] = 0;", "C[h][w - 1] = 0;")
    assert "writes outside of C" in report.differences[0].message


def test_survives_a_crash(conv: tuple[Region, Compiled]) -> None:
    report = broken(conv, "C[h][w] = 0;", "*(volatile int *)0 = 0;")
    assert "crashes (signal 11)" in report.differences[0].message


def test_ends_an_endless_loop(conv: tuple[Region, Compiled]) -> None:
    region, compiled = conv
    endless = replace(compiled, text="{ volatile int on = 1; while (on) { } }\n")
    report = compare(region, endless, wanted=(5,), limit_seconds=1)
    assert "did not end within 1 s" in report.differences[0].message


def test_tells_a_result_that_does_not_compile(conv: tuple[Region, Compiled]) -> None:
    report = broken(conv, "C[h][w] = 0;", "C[h][w] = nothing;")
    assert report.differences[0].message.startswith("the result does not compile: ")
    assert "nothing" in report.differences[0].message


def test_rounding_counts_unless_reassociated(conv: tuple[Region, Compiled]) -> None:
    region, compiled = conv
    text = compiled.text.replace("C[h][w] = 0;", "C[h][w] = 1e-13;")
    assert check(region, replace(compiled, text=text))
    options = replace(compiled.program.options, reassociate=True)
    loose = replace(compiled, text=text, program=replace(compiled.program, options=options))
    assert not check(region, loose)


def test_promises_are_kept(polyc: Polyc, inputs: Path) -> None:
    result = polyc("verify", inputs / "conv.c", "--param", "KH=3,KW=3", "--assume", "H >= 10")
    assert result.exit_code == 0
    for line in result.stdout.splitlines()[1:]:
        assert "KH = 3, KW = 3" in line
        assert int(line.split("H = ")[1].split(",")[0]) >= 10


def test_what_cannot_be_run_is_not_verified(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "void f(int n, double *y, double *x)\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
        "    x[(int)(1000 * y[i])] = i;\n#pragma endscop\n}\n"
    )
    result = polyc("verify", "a.c")
    assert result.exit_code == 1
    assert "not run: " in result.stdout
    assert "nothing could be run" in result.stderr


def test_an_unknown_compiler_is_1(polyc: Polyc, inputs: Path) -> None:
    result = polyc("verify", inputs / "conv.c", "--cc", "no-such-cc")
    assert result.exit_code == 1
    assert "no-such-cc" in result.stderr


def test_a_function_of_the_file_may_have_the_name_of_one_of_libc(polyc: Polyc, tmp_path: Path) -> None:
    text = """
int select(int n, int a[n], int i) { return a[i]; }
void f(int n, int a[n])
{
#pragma scop
    for (int i = 0; i + 1 < n; i++)
        a[i] = select(n, a, i) + select(n, a, i + 1);
#pragma endscop
}
"""
    (tmp_path / "select.c").write_text(text)
    result = polyc("verify", tmp_path / "select.c")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("equal") == 5


def test_members_that_are_arrays(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(
        "typedef struct { int w, h; float *y; } frame;\n"
        "void f(const frame *f, float *restrict out)\n{\n#pragma scop\n"
        "    for (int j = 0; j < f->h; j++)\n        for (int i = 0; i < f->w; i++)\n"
        "            out[j * f->w + i] = 2 * f->y[j * f->w + i];\n#pragma endscop\n}\n"
    )
    result = polyc("verify", "t.c")
    assert result.exit_code == 0, result.output
    assert "original and result agree" in result.stderr
