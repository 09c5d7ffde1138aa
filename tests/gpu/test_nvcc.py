"""nvcc takes the CUDA text of all kernels and operators: without a warning, and no register is spilled.

For the oldest architecture that this nvcc compiles for, and for those of the A100 and the H100. With POLYC_ALL_NVCC=1
(`make nvcc`) also at the sizes that they have without any `-D`, which nvcc unrolls in other ways.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.gpu.test_printed import compiled, run_quiet

ROOT = Path(__file__).parents[2]
KERNELS = sorted((ROOT / "polybench" / "kernels").glob("*.c"))
OPERATORS = sorted((ROOT / "benchmarks" / "operators").glob("*.c"))
NEWER = (80, 90)
"""sm_80 and sm_90: the A100, the H100."""
AT_ONCE = 10
"""Files of one call of nvcc. It reads its own headers once for all of them, and for all architectures at once."""
SIZES = ("small", "full") if os.environ.get("POLYC_ALL_NVCC") else ("small",)

SPILLS = """
__global__ void __launch_bounds__(1024, 1) k(float *a)
{
  float x[120];
#pragma unroll
  for (int i = 0; i < 120; i++)
    x[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 120; i++)
    a[i * 1024 + threadIdx.x] = x[i] * x[119 - i] + x[(i * 7) % 120];
}
"""


def groups(files: list[Path]) -> list[list[Path]]:
    return [files[k : k + AT_ONCE] for k in range(0, len(files), AT_ONCE)]


@cache
def architectures() -> tuple[int, ...]:
    """The oldest that nvcc has, and the newer ones."""
    done = subprocess.run(["nvcc", "--list-gpu-arch"], capture_output=True, text=True, check=True)
    known = sorted(int(number) for number in re.findall(r"compute_(\d+)", done.stdout))
    assert set(NEWER) <= set(known), done.stdout
    return tuple(dict.fromkeys((known[0], *NEWER)))


def in_one_text(files: list[Path]) -> str:
    """A CUDA text with all of the files, each in a namespace: they have static functions of the same names."""
    names = ("cuda_fp16.h", "cuda_pipeline.h", "cuda_runtime.h", "stdio.h", "stdlib.h")
    head = "".join(f"#include <{name}>\n" for name in names)
    spaces = (f'namespace file{number} {{\n#include "{file.name}"\n}}\n' for number, file in enumerate(files))
    return head + "".join(spaces)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("files", [*groups(KERNELS), *groups(OPERATORS)], ids=lambda g: f"{g[0].stem}...{g[-1].stem}")
def test_nvcc_takes_it(files: list[Path], size: str, tmp_path: Path) -> None:
    assert_taken(files, size, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("files", groups(OPERATORS), ids=lambda g: f"{g[0].stem}...{g[-1].stem}")
def test_nvcc_takes_half_precision(files: list[Path], size: str, tmp_path: Path) -> None:
    assert_taken(files, size, tmp_path, "-D", "HALF")


def assert_taken(files: list[Path], size: str, tmp_path: Path, *more: str) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not there")
    texts = []
    for file in files:
        small = "MINI_DATASET" if file in KERNELS else "SMALL"
        options = ("-D", small) if size == "small" else ()
        texts.append(compiled(file, tmp_path, "--target", "cuda", *options, *more).with_suffix(".cu"))
    (tmp_path / "all.cu").write_text(in_one_text(texts))
    run_quiet(command(tmp_path / "all.cu"))


def command(text: Path) -> list[str]:
    targets = [word for a in architectures() for word in ("-gencode", f"arch=compute_{a},code=sm_{a}")]
    strict = ["-Werror", "all-warnings", "-Wno-deprecated-gpu-targets", "-Xptxas", "-warn-spills"]
    return ["nvcc", *targets, *strict, "-c", str(text), "-o", str(text.with_suffix(".o"))]


@pytest.mark.slow
def test_a_spill_is_an_error(tmp_path: Path) -> None:
    """The test above can fail: 120 values at once do not fit into 64 registers."""
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not there")
    text = tmp_path / "spills.cu"
    text.write_text(SPILLS)
    done = subprocess.run(command(text), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "spill" in done.stderr
