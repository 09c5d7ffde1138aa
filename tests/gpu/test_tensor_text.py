"""Tensor cores in the printed text: a golden kernel, and nvcc's word on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gpu.test_nvcc import command, in_one_text
from tests.gpu.test_printed import compiled, run_quiet
from tests.half import compilers, needs_half
from tests.passes.test_tensor_cores import HALF_ODD, HALVES, ODD, PROGRAMS
from tests.turns import turn


def test_golden(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    """A product of odd sizes: panels with zeros behind their ends, fragments, results under guard."""
    file = tmp_path / "odd.c"
    file.write_text(ODD)
    text = compiled(file, tmp_path, "--target", "cuda", "--allow-tf32", "--machine", "a100").with_suffix(".cu")
    golden(Path(__file__).parent / "golden" / "tensor_cores.cu", text.read_text())


def test_golden_halves(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    """The same product of halves, which another order of additions permits."""
    needs_half()
    file = tmp_path / "odd.c"
    file.write_text(HALF_ODD)
    text = compiled(file, tmp_path, "--target", "cuda", "--reassociate", "--machine", "a100").with_suffix(".cu")
    golden(Path(__file__).parent / "golden" / "tensor_cores_half.cu", text.read_text())


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("machine", turn(("generic", "h100"), 1))
def test_nvcc_takes_it(machine: str, tmp_path: Path) -> None:
    """Without a warning and without a spilled register, also below sm_80, where shuffles stand for tensor cores."""
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not there")
    texts = []
    halves = HALVES if compilers().get("gcc") else {}
    for name, text in (PROGRAMS | halves).items():
        file = tmp_path / f"{name}.c"
        file.write_text(text)
        made = compiled(file, tmp_path, "--target", "cuda", "--allow-tf32", "--machine", machine)
        texts.append(made.with_suffix(".cu"))
    (tmp_path / "all.cu").write_text(in_one_text(texts))
    run_quiet(command(tmp_path / "all.cu"))
