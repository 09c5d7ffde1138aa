"""Machines are data: those that polyc ships are whole and plausible, and mistakes in a file are told with the line."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.machine import Gpu, load, shipped
from polyc.machine.shipped import FOLDERS

V100 = (FOLDERS["gpu"] / "v100.toml").read_text()
NAMES = pytest.mark.parametrize("name", shipped("gpu"))


def test_what_is_shipped() -> None:
    assert shipped("gpu") == ["a100", "generic", "h100", "h200", "v100"]


@NAMES
def test_figures_are_plausible(name: str) -> None:
    gpu = load(name)
    cores = gpu.operations_per_cycle(4)  # of a multiprocessor: 64 or 128
    assert min(abs(cores - 64), abs(cores - 128)) < 0.5
    assert gpu.double_gflops <= gpu.float_gflops / 1.9
    assert gpu.half_gflops == pytest.approx(gpu.float_gflops * (4 if name == "a100" else 2), rel=0.01)
    assert gpu.tensor_half_gflops > gpu.half_gflops
    assert gpu.shared_bytes_per_block == 48 * 1024
    assert gpu.threads_per_multiprocessor % gpu.warp_size == 0
    assert gpu.registers_per_multiprocessor == 65536
    assert 100 < gpu.memory_gb_per_s < 10_000


@NAMES
def test_each_figure_has_its_source(name: str) -> None:
    head = (FOLDERS["gpu"] / f"{name}.toml").read_text().partition("\nkind =")[0]
    assert all(line.startswith("#") for line in head.splitlines() if line)
    assert "data sheet" in head
    assert "7.0" in head or "Programming Guide" in head


def test_generic_fits_on_all() -> None:
    generic = load("generic")
    limits = [
        f.name for f in fields(Gpu) if f.name.startswith(("threads_", "blocks_", "registers_", "shared_bytes_per"))
    ]
    for name in shipped("gpu"):
        for limit in limits:
            assert getattr(generic, limit) <= getattr(load(name), limit), limit


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(V100)
    assert load(str(file)) == load("v100")
    file.write_text(V100.replace("= 900.0", "= 901"))
    assert load(str(file)).memory_gb_per_s == 901.0
    assert tomllib.loads(V100)["kind"] == "gpu"


MISTAKES = {
    "kind = 5": ("6:1", "'kind' is 5, which polyc does not know", 'write: kind = "gpu" or "cpu"'),
    'kind = "tpu"': ("6:1", "'kind' is 'tpu', which polyc does not know", 'write: kind = "gpu" or "cpu"'),
    "kind =": ("6:7", "this is not TOML: Invalid value", "a line is: key = value, and text stands in quotes"),
    "colour = 1": ("6:1", "unknown key 'colour'", "the keys are kind, name,"),
    "warp_sizes = 1": ("6:1", "unknown key 'warp_sizes'", "did you mean 'warp_size'?"),
    'warp_size = "32"': ("6:1", "'warp_size' has to be a whole number, and is '32'", "numbers stand without quotes"),
    "warp_size = 32.0": ("6:1", "'warp_size' has to be a whole number, and is 32.0", ""),
    "warp_size = true": ("6:1", "'warp_size' has to be a whole number, and is True", ""),
    "warp_size = 0": ("6:1", "'warp_size' has to be positive, and is 0", "look at the data sheet"),
    "warp_size = -32": ("6:1", "'warp_size' has to be positive, and is -32", ""),
    "warp_size = 48": ("13:1", "'threads_per_block' is no multiple of 'warp_size'", ""),
    "warp_size = 4096": ("6:1", "'warp_size' is larger than 'threads_per_block'", "compare with the files"),
    "float_gflops = nan": ("6:1", "'float_gflops' has to be positive, and is nan", ""),
    "float_gflops = inf": ("6:1", "'float_gflops' is too large: inf", "the unit stands in the key's name"),
    "tensor_half_gflops = -1": ("6:1", "'tensor_half_gflops' has to be at least 0, and is -1", ""),
    "name = 100": ("6:1", "'name' has to be a text", 'write: name = "100"'),
    "": ("1:1", "'kind' is missing", 'write: kind = "gpu" or "cpu"'),
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_are_located(line: str, tmp_path: Path) -> None:
    """The line stands sixth, for the one that the file had of this key."""
    key = line.partition(" ")[0] or "kind"
    kept = [one for one in V100.splitlines() if not one.startswith((f"{key} ", "#"))]
    kept[:0] = [*"#####", line]
    file = tmp_path / "mine.toml"
    file.write_text("\n".join(kept))
    place, message, hint = MISTAKES[line]
    with pytest.raises(UserError) as caught:
        load(str(file))
    (problem, *_) = caught.value.diagnostics
    assert problem.code == "bad-machine"
    assert problem.message.startswith(message)
    assert problem.hint.startswith(hint)
    assert problem.hint
    assert problem.span is not None
    assert (problem.span.file, f"{problem.span.line}:{problem.span.column}") == (str(file), place)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(V100.replace("warp_size = 32", "warp_size = 0").replace("multiprocessors = 80\n", "clock = 1\n"))
    with pytest.raises(UserError) as caught:
        load(str(file))
    messages = [problem.message for problem in caught.value.diagnostics]
    assert messages == [
        "the key 'multiprocessors' is missing",
        "unknown key 'clock'",
        "'warp_size' has to be positive, and is 0",
    ]


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"[" * 10_000, b"name = " + b"1" * 9_000, b"#" * 200_000, None, b"kind = 1\nkind = 2"]
)
def test_what_is_no_machine(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load(str(file))
    assert {problem.code for problem in caught.value.diagnostics} == {"bad-machine"}
    assert all(problem.hint for problem in caught.value.diagnostics)


@pytest.mark.parametrize("name", ["", "v101", "v100.toml", "./v100", "../machine/gpus/v100", "/dev/null", "a\0.toml"])
def test_names_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        load(name)
    assert caught.value.diagnostics[0].code == "bad-machine"


def test_blocks_at_once() -> None:
    """By hand, for the V100: 2048 threads, 32 blocks, 65536 registers and 96 KB a multiprocessor."""
    gpu = load("v100")

    def resident(threads: int, registers: int, shared: int) -> tuple[int, str]:
        found = gpu.resident(threads, registers, shared)
        return found.blocks, found.bound

    assert resident(256, 32, 0) == (8, "threads")
    assert resident(32, 32, 0) == (32, "blocks")
    assert resident(256, 128, 0) == (2, "registers")
    assert resident(256, 33, 0) == (6, "registers")  # 40 are handed out
    assert resident(256, 32, 48 * 1024) == (2, "shared memory")
    assert resident(33, 64, 0) == (16, "registers")  # two warps
    assert resident(2048, 32, 0) == (0, "threads")
    assert resident(256, 256, 0) == (0, "registers")
    assert resident(1024, 128, 0) == (0, "registers")
    assert resident(256, 32, 97 * 1024) == (0, "shared memory")
    assert load("a100").resident(128, 16, 48 * 1024).blocks == 3  # 1 KB of each is the system's
