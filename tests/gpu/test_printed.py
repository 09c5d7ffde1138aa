"""What is printed for a GPU: files beside the C file, text that compilers take without a word."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli
from polyc.codegen.gpu.device.dialect import CUDA
from polyc.codegen.gpu.device.turns import outside_of_branches
from polyc.codegen.text.printer import statement
from polyc.model import ctree as c
from polyc.runtime.opencl import missing, support

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "differential" / "programs"


def compiled(file: Path, folder: Path, *options: str) -> Path:
    """The C file; the others stand beside it."""
    target = folder / f"{file.stem}.polyc.c"
    words = ["compile", str(file), "-o", str(target), "-I", str(PROGRAMS), "-I", str(ROOT / "polybench" / "harness")]
    result = CliRunner().invoke(cli, [*words, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return target


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_files(target: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    """Golden: the fused convolution, in one kernel, its intermediate in shared memory. The sizes are given, so that
    the text is the same for all machines."""
    file = compiled(PROGRAMS / "conv_constant.c", tmp_path, "--target", target, "--tile-sizes", "32")
    names = {"cuda": {".cu"}, "opencl": {".cl", ".opencl.c"}}[target]
    assert {p.name for p in tmp_path.iterdir()} == {file.name} | {f"conv_constant.polyc{n}" for n in names}
    assert "polyc_conv_constant_conv_12(" in file.read_text()
    ending = {"cuda": ".cu", "opencl": ".cl"}[target]
    text = file.with_suffix(ending).read_text()
    assert text.count("A_tile[34][34]") == 1
    golden(Path(__file__).parent / "golden" / f"conv_constant{ending}", text)


def test_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["compile", str(PROGRAMS / "blur.c"), "-o", "-", "--target", "cuda", "-I", str(PROGRAMS)]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "int main(void)" in result.stdout
    assert "__global__" in result.stdout
    assert not list(tmp_path.iterdir())


def test_subscripts_have_64_bits(tmp_path: Path) -> None:
    """`n * m` of two int would overflow where the array has more than 2^31 elements."""
    file = tmp_path / "t.c"
    file.write_text(
        "void last_row(int n, int m, float a[n + 1][m])\n{\n#pragma scop\n    for (int j = 0; j < m; j++)\n"
        "        a[n][j] = 0;\n#pragma endscop\n}\n"
    )
    text = compiled(file, tmp_path, "--target", "cuda").with_suffix(".cu").read_text()
    assert "a[(index)n * m + j] = 0;" in text


def test_barriers_leave_branches() -> None:
    one, two, three = (c.ExprStmt(c.Call(name, ())) for name in ("one", "two", "three"))
    branch = c.If(c.Name("n"), c.Block((CUDA.barrier, one, CUDA.barrier, two)), three)
    plain = c.If(c.Name("n"), one)
    found = outside_of_branches((branch, plain), CUDA.barrier)
    assert [line.strip() for item in found for line in statement(item, 0)] == [
        *("__syncthreads();", "if (n)", "one();", "__syncthreads();", "if (n)", "two();", "if (!n)", "three();"),
        *("if (n)", "one();"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_c_compilers_take_it(target: str, tmp_path: Path) -> None:
    """The user's file, and OpenCL's loader, without a warning."""
    file = compiled(PROGRAMS / "conv_constant.c", tmp_path, "--target", target)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", f"-I{PROGRAMS}"]
    run_quiet(["gcc", *flags, "-c", str(file), "-o", str(tmp_path / "x.o")])
    if target == "opencl":
        found = support()
        if found is None:
            pytest.skip(missing())
        loader = file.with_suffix(".opencl.c")
        run_quiet(["gcc", *flags, *found.include_flags, "-c", str(loader), "-o", str(tmp_path / "y.o")])


def run_quiet(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr
