"""`polyc profile`: text, JSON, and what cannot be profiled. The counters themselves: tests/gpu/test_counters.py."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from polyc.machine import load_gpu
from polyc.profile import Resources, predict
from polyc.profile.ptxas import architectures, parsed
from polyc.runtime.cuda_shim import Launch
from tests.docs.pages import ROOT

Polyc = Callable[..., Result]
NO_NVCC = shutil.which("nvcc") is None
DOCS = (ROOT / "docs" / "cli.md").read_text()
TURN = DOCS.partition("<!-- file: turn.c -->\n```c\n")[2].partition("```")[0]
PRINTED = DOCS.partition("$ polyc profile turn.c --target cuda --machine h200\n")[2].partition("```")[0]
MATMUL = """
void matmul(int n, float C[n][n], const float A[n][n], const float B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
PTXAS = """\
ptxas info    : Compiling entry function '_Z3twoPf' for 'sm_90'
ptxas info    : Function properties for _Z3twoPf
    64 bytes stack frame, 60 bytes spill stores, 72 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 64 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Compiling entry function '_ZL9k_12two_1PKf' for 'sm_90'
ptxas info    : Function properties for _ZL9k_12two_1PKf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers, 376 bytes cmem[0]
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("gcc", "g++", "addr2line", "objdump")), reason="the shim is built here"
    ),
]


@pytest.fixture
def without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    which = shutil.which
    monkeypatch.setattr("shutil.which", lambda name: None if name == "nvcc" else which(name))


def kernels(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert list(found) == ["kernels"]
    return list(found["kernels"])


def exact(text: str) -> str:
    """The lines that depend on the text of the kernels alone."""
    return re.sub(r"(?m)^    (?:\d+ registers|predicted ).*$", "", text)


@pytest.mark.skipif(NO_NVCC, reason="nvcc is not there")
def test_the_page_has_what_is_printed(polyc: Polyc, tmp_path: Path) -> None:
    """Registers, and so times, are those of one version of nvcc; all else is the same anywhere."""
    (tmp_path / "turn.c").write_text(TURN)
    result = polyc("profile", "turn.c", "--target", "cuda", "--machine", "h200")
    assert result.exit_code == 0, result.output
    assert exact(result.stdout) == exact(PRINTED)
    assert re.search(
        r"^    \d+ registers; occupancy [\d.]+ %: \d+ blocks a multiprocessor", result.stdout, re.MULTILINE
    )
    assert "predicted " in result.stdout


def test_json_is_a_contract(polyc: Polyc, tmp_path: Path, without_nvcc: None) -> None:
    (tmp_path / "turn.c").write_text(TURN)
    (kernel,) = kernels(polyc("profile", "turn.c", "--machine", "h200", "--param", "n=1024", "--format", "json"))
    assert (kernel["name"], kernel["grid"], kernel["block"]) == ("turn_3_1", [64, 1, 1], [256, 1, 1])
    assert (kernel["launches"], kernel["blocks_run"]) == (1, 24)
    assert (kernel["registers"], kernel["spills"], kernel["shared_bytes"]) == (None, None, 0)
    assert 0 < kernel["occupancy"] <= 1
    assert kernel["global"] == {
        "load_requests": 512,
        "load_sectors": 8192,
        "load_sectors_least": 2048,
        "store_requests": 512,
        "store_sectors": 2048,
        "store_sectors_least": 2048,
        "bytes": 32 * (8192 + 2048),
        "bytes_compulsory": 2 * 4 * 16 * 1024,
    }
    assert kernel["shared"] == {"requests": 0, "wavefronts": 0, "wavefronts_least": 0}
    assert (kernel["active_lanes"], kernel["barriers"], kernel["divergent_requests"]) == (1.0, 0, 0)
    assert kernel["bound"] in {"memory", "L2", "shared memory", "arithmetic", "latency", "parallelism"}
    assert kernel["seconds"] > 0
    assert 0 < kernel["share_of_limit"] <= 1
    (line,) = (one for one in kernel["lines"] if one["requests"])
    assert line["text"] == "B[i][c] = A[c][i];"
    assert line["global"]["load_sectors"] == 8192


def test_some_blocks_stand_for_all(polyc: Polyc, tmp_path: Path, without_nvcc: None) -> None:
    """A product with borders: panels that rows and columns of blocks share, edges where lanes sit out."""
    (tmp_path / "matmul.c").write_text(MATMUL)
    words = ("profile", "matmul.c", "--machine", "a100", "--param", "n=200", "--format", "json")
    (part,), (whole,) = kernels(polyc(*words)), kernels(polyc(*words, "--blocks", "all"))
    assert part["blocks_run"] < whole["blocks_run"]
    part["blocks_run"] = whole["blocks_run"]
    assert part == whole
    assert whole["global"]["bytes_compulsory"] == 4 * 4 * 200 * 200
    assert whole["shared"]["requests"] > 0
    assert whole["copies"] > 0


@pytest.mark.parametrize(
    ("file", "size"),
    [("docs/example/blur.c", 300), ("polybench/kernels/trmm.c", 250), ("polybench/kernels/gemm.c", 333)],
)
def test_requests_of_some_blocks_are_those_of_all(polyc: Polyc, file: str, size: int, without_nvcc: None) -> None:
    """Rows that are no multiple of a sector. Sectors that the end of a row shares with the beginning of
    the next one are of blocks that are no neighbours: compulsory bytes are a bit more."""
    words = ("profile", ROOT / file, "-I", ROOT / "polybench" / "harness", "-D", "MINI_DATASET", "--format", "json")
    some, every = (kernels(polyc(*words, "--size", size, "--blocks", blocks)) for blocks in (24, "all"))
    assert any(one["blocks_run"] < two["blocks_run"] for one, two in zip(some, every, strict=True))
    for one, two in zip(some, every, strict=True):
        compulsory = [kernel["global"].pop("bytes_compulsory") for kernel in (one, two)]
        assert compulsory[0] == pytest.approx(compulsory[1], rel=0.03)
        for name in ("name", "grid", "global", "shared", "requests", "active_lanes", "divergent_requests", "barriers"):
            assert one[name] == two[name]


def test_writes_a_file(polyc: Polyc, tmp_path: Path, without_nvcc: None) -> None:
    (tmp_path / "turn.c").write_text(TURN)
    result = polyc("profile", "turn.c", "--size", "64", "-o", ".")
    assert (result.exit_code, result.output) == (0, "")
    text = (tmp_path / "turn.profile.txt").read_text()
    assert text.startswith("turn.c:3: region in turn(): 1 kernel on generic, n = 64 assumed\n")
    assert "registers unknown" in text
    assert text.endswith("nvcc is not there: registers and spills are unknown\n")
    result = polyc("profile", "turn.c", "-o", "turn.c")
    assert result.exit_code == 2
    assert "'turn.c' is an input" in result.output


@pytest.mark.parametrize(
    ("target", "message"),
    [("opencl", "profile runs CUDA text, and cannot read OpenCL's"), ("c", "--target c has none: use --target cuda")],
)
def test_other_targets(polyc: Polyc, tmp_path: Path, target: str, message: str) -> None:
    (tmp_path / "turn.c").write_text(TURN)
    result = polyc("profile", "turn.c", "--target", target)
    assert result.exit_code == 2
    assert message in result.output


def test_regions_without_kernels(polyc: Polyc, tmp_path: Path, without_nvcc: None) -> None:
    (tmp_path / "t.c").write_text("void f(long double *a)\n{\n#pragma scop\n  for (int i = 0; i < 9; i++)\n"
                                  "    a[i] = 1;\n#pragma endscop\n}\n")  # fmt: skip
    result = polyc("profile", "t.c")
    assert result.exit_code == 1
    assert "t.c:3:1: error: the region has no kernels: " in result.output
    assert "long double" in result.output
    assert "[not-profiled]" in result.output


@pytest.mark.skipif(NO_NVCC, reason="nvcc is not there")
def test_registers(polyc: Polyc, tmp_path: Path) -> None:
    assert architectures(shutil.which("nvcc") or "")
    (tmp_path / "turn.c").write_text(TURN)
    (kernel,) = kernels(polyc("profile", "turn.c", "--machine", "a100", "--param", "n=64", "--format", "json"))
    assert 0 < kernel["registers"] <= 255
    assert kernel["spills"] == 0


def test_what_ptxas_prints() -> None:
    """A name within another one is no match: kernels' names are told with their length."""
    found = parsed(PTXAS)
    assert found == {"_Z3twoPf": Resources(64, 132, 2048), "_ZL9k_12two_1PKf": Resources(12, 0, 0)}


def test_what_binds() -> None:
    """A copy of a gigabyte is bound by memory; the same for one block, by the lack of others."""
    machine = load_gpu("h200")
    copy = Launch("copy", (1 << 20, 1, 1), (256, 1, 1), 0, compulsory=(1 << 25, 1 << 25))
    copy.of_rows = copy.of_blocks = copy.compulsory
    copy.total.load_sectors = copy.total.store_sectors = 1 << 25
    copy.chains = 1 << 23
    found = predict(copy, Resources(32, 0, 0), machine)
    assert (found.bound, found.limit, found.blocks_per_multiprocessor) == ("memory", "memory", 8)
    assert found.seconds >= 2**31 / (machine.memory_gb_per_s * 1e9)
    assert 0.5 < found.share_of_limit < 1
    assert predict(copy, Resources(128, 0, 0), machine).occupancy == 0.25
    copy.grid = (1, 1, 1)
    assert predict(copy, Resources(32, 0, 0), machine).bound == "parallelism"


@pytest.mark.skipif(NO_NVCC, reason="nvcc is not there")
def test_loads_are_those_that_nvcc_makes(polyc: Polyc, tmp_path: Path) -> None:
    """Loads from shared memory for each multiply-add of a product: 16 bytes at once where nvcc has them so, too."""
    (tmp_path / "matmul.c").write_text(MATMUL)
    words = ("matmul.c", "--target", "cuda", "--machine", "h200", "--param", "n=1024")
    assert polyc("compile", *words, "-o", "matmul.polyc.c").exit_code == 0
    subprocess.run(["nvcc", "-ptx", "-arch=sm_90", "matmul.polyc.cu", "-o", "matmul.ptx"], check=True)
    ptx = (tmp_path / "matmul.ptx").read_text()
    loads, sums = len(re.findall(r"ld\.shared", ptx)), len(re.findall(r"fma\.rn\.f32", ptx))
    (kernel,) = kernels(polyc("profile", *words, "--format", "json", "--blocks", "1"))
    inner = max(kernel["lines"], key=lambda line: line["shared"]["requests"])
    assert inner["active_lanes"] == 1
    assert inner["shared"]["requests"] * 32 * sums == 1024**3 * loads
