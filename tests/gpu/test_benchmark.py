"""benchmarks/gpu without a GPU: what is generated, how the functions are called, what is said where something lacks."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from polyc.runtime import cuda_shim

FOLDER = Path(__file__).parents[2] / "benchmarks" / "gpu"
OPERATORS = {file.stem for file in (FOLDER.parent / "operators").glob("*.c")}
MEMORY = """
#include <stddef.h>
extern int polyc_shim_malloc(void **address, size_t size_bytes);
extern int cudaMemcpy(void *to, const void *from, size_t size_bytes, int kind);
void *device_memory(size_t size_bytes)
{
    void *found = NULL;
    return polyc_shim_malloc(&found, size_bytes) ? NULL : found;
}
int to_device(void *to, const void *from, size_t size_bytes) { return cudaMemcpy(to, from, size_bytes, 1); }
int to_host(void *to, const void *from, size_t size_bytes) { return cudaMemcpy(to, from, size_bytes, 2); }
"""
"""For the shim: the addresses of arrays on its device, as PyTorch has them of a GPU's."""


@pytest.fixture(scope="module")
def records() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("records")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def references(records: ModuleType) -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("references")
    finally:
        sys.path.remove(str(FOLDER))


def script(name: str, *words: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"PATH": path} if path is not None else {})}
    command = [sys.executable, str(FOLDER / name), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def generated(folder: Path, *names: str) -> dict[str, Any]:
    only = [word for name in names for word in ("--only", name)]
    done = script("generate.py", folder, "--small", *only)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two operators: one that fuses its intermediate away, one whose input and output differ in type."""
    place = tmp_path_factory.mktemp("generated")
    generated(place, "conv1", "cadd")
    return place


def test_manifest(folder: Path, records: ModuleType) -> None:
    conv, cadd = records.load(folder)
    assert [(a.name, a.dtype, a.shape, a.role) for a in conv.arguments] == [
        ("in", "float32", (1, 3, 7, 7), "in"),
        ("out", "float32", (1, 4, 7, 7), "out"),
        ("shift", "float32", (3,), "in"),
        ("w", "float32", (4, 3, 3, 3), "in"),
    ]
    assert conv.title.startswith("add + conv + relu")
    assert conv.kernels == (folder / conv.file).read_text().count("__global__") == 1
    products = 4 * 7 * 7 * 3 * 3 * 3
    assert conv.flops == 2 * products + 3 * 9 * 9
    assert conv.bytes == 4 * (3 * 7 * 7 + 4 * 7 * 7 + 3 + 4 * 3 * 3 * 3)
    assert [(a.name, a.dtype) for a in cadd.arguments] == [("out", "float32"), ("x", "float64"), ("y", "float32")]


def test_every_operator_has_a_form_in_pytorch(references: ModuleType) -> None:
    assert set(references.REFERENCES) == OPERATORS | {file.stem for file in FOLDER.glob("*.c")}


def test_table(records: ModuleType, references: ModuleType) -> None:
    """The plain product is in the table, and not in the means."""
    sys.path.insert(0, str(FOLDER))
    try:
        run = importlib.import_module("run")
    finally:
        sys.path.remove(str(FOLDER))
    rows = [
        run.Row("add2", 1.0, 2.0, 1.5, 0.95, 1e-7),
        run.Row("csn", 1.0, 8.0, None, 0.1, 0.5),
        run.Row("matmul", 1.0, 0.5, 0.5, 0.5, 1e-6),
    ]
    assert run.means(rows) == "geometric means over 2 operators: 4.00 against eager, 1.50 against torch.compile (1)"
    assert run.line(rows[0]).split() == ["add2", "1.0000", "2.0000", "1.5000", "2.00", "1.50", "95%", "1.0e-07"]
    assert run.line(rows[1]).split()[3:] == ["-", "8.00", "-", "10%", "5.0e-01", "WRONG"]


class Tensor:
    """What the marshalling asks of a tensor, with memory on the shim's device."""

    def __init__(self, library: Any, values: np.ndarray[Any, Any]) -> None:
        self.library, self.values = library, values
        self.place = library.device_memory(values.nbytes)
        assert self.place
        assert library.to_device(self.place, values.ctypes.data, values.nbytes) == 0
        self.shape, self.dtype = values.shape, f"torch.{values.dtype}"

    def data_ptr(self) -> int:
        return int(self.place)

    def is_contiguous(self) -> bool:
        return bool(self.values.flags.c_contiguous)

    def back(self) -> np.ndarray[Any, Any]:
        assert self.library.to_host(self.values.ctypes.data, self.place, self.values.nbytes) == 0
        return self.values


def device(operator: Any, folder: Path, work: Path, records: ModuleType) -> tuple[Any, Any]:
    """The operator's function in the shim, and the library that has the device's memory."""
    import ctypes

    # The shim's types are hidden from other libraries, and so is a function that takes one.
    count = len(operator.arguments) + 1
    types, names = ", ".join(["void *"] * count), [f"p{k}" for k in range(count)]
    declared = ", ".join(f"void *{name}" for name in names)
    call = f"int called({declared}) {{ return {operator.entry}({', '.join(names)}); }}\n"
    (work / "memory.c").write_text(f"{MEMORY}extern int {operator.entry}({types});\n{call}")
    built = cuda_shim.build((folder / operator.file).read_text(), [work / "memory.c"], work)
    library = ctypes.CDLL(str(built))
    library.device_memory.restype = ctypes.c_void_p
    library.device_memory.argtypes = [ctypes.c_size_t]
    library.to_device.argtypes = library.to_host.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    return records.DeviceFunction(built, replace(operator, entry="called")), library


@pytest.mark.slow
def test_marshalling(folder: Path, records: ModuleType, tmp_path: Path) -> None:
    """The function gets the arrays in its own order, whatever order they are found in."""
    _, cadd = records.load(folder)
    function, library = device(cadd, folder, tmp_path, records)
    rng = np.random.default_rng(0)
    values = {a.name: rng.random(a.shape).astype(a.dtype) for a in reversed(cadd.arguments)}
    tensors = {name: Tensor(library, value.copy()) for name, value in values.items()}
    function(records.addresses_of(cadd, tensors), 0)
    assert cuda_shim.report(tmp_path / "region.so") == []
    assert np.array_equal(tensors["out"].back(), values["x"].astype("float32") + values["y"])

    with pytest.raises(records.Problem, match="no tensor for y"):
        records.addresses_of(cadd, {n: t for n, t in tensors.items() if n != "y"})
    tensors["x"] = Tensor(library, values["y"])
    with pytest.raises(records.Problem, match=r"x has to be contiguous, float64 of \(20, 300\), and is float32"):
        records.addresses_of(cadd, tensors)


@pytest.mark.slow
def test_forms_in_pytorch(references: ModuleType, records: ModuleType, tmp_path: Path) -> None:
    """Where PyTorch is there: its form of each operator computes what the kernels do."""
    pytest.importorskip("torch")
    generated(tmp_path)
    for operator in records.load(tmp_path):
        work = tmp_path / f"build_{operator.name}"
        work.mkdir()
        function, library = device(operator, tmp_path, work, records)
        tensors = references.inputs(operator, "cpu")
        expected = references.reference_of(operator, tensors, references.REFERENCES[operator.name])()
        places = {name: Tensor(library, tensor.numpy()) for name, tensor in tensors.items()}
        function(records.addresses_of(operator, places), 0)
        for argument in operator.arguments:
            if argument.role == "out":
                places[argument.name].back()
                error = references.difference(argument, tensors[argument.name], expected[argument.name])
                assert error <= 1e-5, (operator.name, argument.name, error)
                assert math.prod(argument.shape) == tensors[argument.name].numel()


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    """No GPU here, and perhaps no PyTorch; a PATH without nvcc; a folder without the texts."""
    done = script("run.py", folder, "--dry-run", path="/nowhere")
    assert done.returncode == 1
    assert "nvcc is not in PATH" in done.stderr
    assert "PyTorch" in done.stderr
    assert script("run.py", folder).returncode == 1
    empty = script("run.py", tmp_path)
    assert empty.returncode == 1
    assert "generate.py" in empty.stderr
    assert "Traceback" not in done.stderr + empty.stderr
    (tmp_path / "manifest.json").write_text((folder / "manifest.json").read_text())
    assert "conv1.cu is missing; run generate.py again" in script("run.py", tmp_path, "--dry-run").stderr
    assert "no operator conv9; there are conv1, cadd" in script("run.py", folder, "--only", "conv9").stderr
