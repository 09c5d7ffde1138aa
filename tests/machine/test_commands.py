"""`polyc machine`, and the options that name a machine or override what is chosen for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from polyc.cli.main import cli
from polyc.machine import known, shipped
from polyc.machine.shipped import FOLDERS

TEXT = """
void scale(int n, int m, float in[n][m], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = 2 * in[i][j];
#pragma endscop
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.c").write_text(TEXT)
    return tmp_path


def polyc(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="polyc", catch_exceptions=False)


def test_list() -> None:
    result = polyc("machine", "list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == [*shipped("gpu"), *shipped("cpu"), "host"]
    assert (
        "  h100             NVIDIA H100 SXM5: compute capability 9.0, 132 multiprocessors, "
        "3350 GB/s, 66900 GFLOP/s float\n" in result.output
    )
    assert (
        "  zen3             AMD EPYC 7763 (Zen 3): x86-64-v3, 64 cores, 160 GB/s, 3072 GFLOP/s double\n"
        in result.output
    )


def test_show(folder: Path) -> None:
    text = polyc("machine", "show", "v100", "--toml").output
    (folder / "own.toml").write_text(text.replace("NVIDIA V100", "MY V100"))
    assert "MY V100" in polyc("machine", "show", "own.toml").output
    assert polyc("machine", "show", "own.toml", "--toml").output == (folder / "own.toml").read_text()
    (folder / "host.toml").write_text(polyc("machine", "show", "host", "--toml").output)
    assert polyc("machine", "show", "host.toml").output == polyc("machine", "show", "host").output
    result = polyc("machine", "show", "v100")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.output.splitlines()]
    assert lines[:3] == [["kind", "gpu"], ["name", "NVIDIA V100 SXM2"], ["compute_capability", "7.0"]]
    assert ["shared_bytes_per_block_optin", "98304  (96 KB)"] in lines
    assert ["l2_bytes", "6291456  (6 MB)"] in lines
    (folder / "mine.toml").write_text((FOLDERS["gpu"] / "v100.toml").read_text())
    assert polyc("machine", "show", "mine.toml").output == result.output


def test_a_wrong_file_is_shown_with_its_line(folder: Path) -> None:
    (folder / "mine.toml").write_text('kind = "gpu"\nwarp_size = "many"\n')
    for words in (["machine", "show", "mine.toml"], ["compile", "t.c", "--target", "cuda", "--machine", "mine.toml"]):
        result = polyc(*words)
        assert result.exit_code == 1
        assert (
            "mine.toml:2:1: error: 'warp_size' has to be a whole number, and is 'many' [bad-machine]\n"
            '    2 | warp_size = "many"\n'
            "      | ^\n"
            "    hint: numbers stand without quotes\n"
        ) in result.stderr
    assert not (folder / "t.polyc.c").exists()


def test_a_file_of_the_other_kind_is_shown_with_its_line(folder: Path) -> None:
    (folder / "mine.toml").write_text((FOLDERS["gpu"] / "v100.toml").read_text())
    result = polyc("compile", "t.c", "--machine", "mine.toml")
    assert result.exit_code == 1
    assert result.stderr == (
        "mine.toml:6:1: error: 'mine.toml' is a GPU, and the target runs on a CPU [bad-machine]\n"
        '    6 | kind = "gpu"\n'
        "      | ^\n"
        f"    hint: name one of {', '.join(known('cpu'))}, or choose --target cuda or opencl\n"
    )
    (folder / "mine.toml").write_text((FOLDERS["cpu"] / "zen3.toml").read_text())
    result = polyc("compile", "t.c", "--target", "opencl", "--machine", "mine.toml")
    assert result.exit_code == 1
    assert "mine.toml:6:1: error: 'mine.toml' is a CPU, and the target runs on a GPU [bad-machine]" in result.stderr
    assert not list(folder.glob("t.*.*"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("machine", ["generic", "x86-64-v4", "Graviton3", "host"])
def test_code_for_another_machine(machine: str) -> None:
    result = polyc("compile", "t.c", "-o", "-", "--machine", machine)
    assert result.exit_code == 0, result.stderr
    assert "#pragma omp parallel for" in result.stdout


MISTAKES = {
    "--machine h100 --target openmp": "--machine: 'h100' is a GPU, and the target openmp runs on a CPU: name one of "
    f"{', '.join(known('cpu'))}, or choose --target cuda or opencl",
    "--machine zen3 --target cuda": "--machine: 'zen3' is a CPU, and the target cuda runs on a GPU: name one of "
    "a100, generic, h100, h200, v100, or choose --target openmp or c",
    "--machine host --target opencl": "--machine: 'host' is a CPU, and the target opencl runs on a GPU: name one of "
    "a100, generic, h100, h200, v100, or choose --target openmp or c",
    "--machine zen33 --target c": f"there is no machine 'zen33': there are {', '.join(known('cpu'))}; "
    "a file's name ends in .toml",
    "--grid 4 --target c": "--grid is for a GPU: the target is c, not cuda or opencl",
    "--block 64 --target c": "--block is for a GPU: the target is c, not cuda or opencl",
    "--allow-tf32 --target c": "--allow-tf32 is for CUDA's tensor cores: the target is c, not cuda",
    "--machine h300 --target cuda": "there is no machine 'h300': there are a100, generic, h100, h200, v100; "
    "a file's name ends in .toml",
    "--block 32,8,2 --target cuda": "--block: kernels use threads along x and y only: leave out the third number",
    "--block 64,32 --target cuda": "--block: 2048 threads are too many: a block of generic has at most 1024",
    "--block 20,5 --target opencl": "--block: 100 threads are no multiple of 32, those that generic runs in step",
    "--block 0 --target cuda": "Invalid value for '--block': there are 1 to 1024 threads along x, not 0",
    "--block 2048 --target cuda": "Invalid value for '--block': there are 1 to 1024 threads along x, not 2048",
    "--block 1,2,3,4 --target cuda": "Invalid value for '--block': '1,2,3,4' is not one to three numbers of threads "
    "such as '32,8'",
    "--grid many --target cuda": "Invalid value for '--grid': 'many' is not one to three numbers of blocks "
    "such as '32,8'",
    "--grid 1,65536 --target cuda": "Invalid value for '--grid': there are 1 to 65535 blocks along y, not 65536",
    "--grid= --target cuda": "Invalid value for '--grid': '' is not one to three numbers of blocks such as '32,8'",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_usage(words: str, folder: Path) -> None:
    result = polyc("compile", "t.c", *words.split(" "))
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {MISTAKES[words]}")
    assert not (folder / "t.polyc.c").exists()


def kernels(*words: str) -> str:
    result = polyc("compile", "t.c", "-o", "-", "--target", "cuda", *words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.usefixtures("folder")
def test_grid_and_block() -> None:
    chosen = kernels()
    assert "dim3(32, 8)" in chosen
    assert "dim3 grid(polyc_blocks((m + 31L) / 32, 2147483647), polyc_blocks((n + 31L) / 32, 65535))" in chosen
    blocks = kernels("--grid", "60,1")
    assert "dim3 grid(polyc_blocks(60, 2147483647));" in blocks
    assert "it += 32L * gridDim.y" in blocks
    threads = kernels("--block", "128,2,1")
    assert "__launch_bounds__(256, 4)" in threads
    assert "dim3(128, 2)" in threads
    row = kernels("--block", "64", "--tile-sizes", "8")
    assert "dim3(64, 1)" in row


@pytest.mark.usefixtures("folder")
def test_the_machine_decides() -> None:
    sizes = ("--param", "n=64,m=4095")
    assert kernels(*sizes, "--machine", "generic") != kernels(*sizes, "--machine", "h200")
    assert kernels("--machine", "generic") == kernels()
