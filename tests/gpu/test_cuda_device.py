"""`POLYC_CUDA_DEVICE`: kernels on a GPU of this machine in the place of the shim."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime import cuda
from polyc.runtime.check import compare
from tests.programs import region_of

SCALE = "void f(int n, float a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] *= 2;\n#pragma endscop\n}\n"


def test_without_nvcc_nothing_is_said_of_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    region = region_of(SCALE, tmp_path)
    monkeypatch.setenv("POLYC_CUDA_DEVICE", "0")
    monkeypatch.setattr(cuda.shutil, "which", lambda _name: None)
    report = compare(region, compile_region(region, Options(target="cuda")))
    assert not report.rows
    assert not report.differences
    assert report.skipped == ["POLYC_CUDA_DEVICE is set, and nvcc is not in PATH; it comes with the CUDA toolkit"]


def test_nvcc_rounds_as_the_c_compiler_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three commands: kernels, host, library; each operation is rounded by itself in both texts."""
    called: list[list[str]] = []
    monkeypatch.setattr(cuda.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(cuda, "run_compiler", lambda command, _folder: called.append(command))
    (tmp_path / "host.c").write_text("")
    assert cuda.build("", tmp_path / "host.c", tmp_path, "gcc") == tmp_path / "region.so"
    kernels, host, library = called
    assert "-fmad=false" in kernels
    assert "-ffp-contract=off" in host
    assert "-shared" in library


@pytest.mark.parametrize(("value", "device"), [("1", "1"), ("", None)])
def test_device(value: str, device: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYC_CUDA_DEVICE", value)
    assert cuda.device() == device
