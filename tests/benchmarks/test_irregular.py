"""benchmarks/irregular, small: polyc gives the values of the nests to the last bit, and runs at once what may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.irregular.cli import HERE, NAMES, main
from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, compiled_file, run

HARNESS = HERE.parents[1] / "polybench" / "harness"
INCLUDES = (str(HARNESS), str(HERE / "harness"))

TOLD = {"non-affine-index", "not-fused", "not-tiled", "not-time-tiled"}

TODAY: dict[str, tuple[int, set[str]]] = {
    "equake": (1, {"while-loop", "pretiling-fused", "not-tiled", "contracted", "prefetched", "known-sizes"}),
    "csr": (1, {"non-affine-loop", "known-sizes", "pretiling-fused", "not-tiled", "contracted"}),
    "histogram": (6, TOLD | {"not-inlined", "not-parallel", "scatter", "scatter-fed"}),
    "mesh": (5, TOLD | {"pretiling-fused", "contracted", "scatter-owned", "asked-ahead", "known-sizes"}),
}
"""For each program: the groups that its nests end up in, and what is told of them."""


def built(text: Path, folder: Path) -> Path:
    """The program of a text that dumps what it computes."""
    program = folder / text.name.replace(".", "-")
    flags = (*WARNINGS, "-O2", ROUNDING, "-fopenmp", "-DDUMP", "-DMINI_DATASET", *(f"-I{path}" for path in INCLUDES))
    run("gcc", *flags, text, HARNESS / "harness.c", "-lm", "-o", program)
    return program


@pytest.mark.parametrize("name", NAMES)
def test_irregular(name: str, tmp_path: Path) -> None:
    source = HERE / "nests" / f"{name}.c"
    inputs = InputOptions(include_dirs=INCLUDES, defines=("MINI_DATASET",))
    _, (region,), text = compiled_file(source, inputs, Options(threads="always"))
    assert region.verified
    made = tmp_path / f"{name}.polyc.c"
    made.write_text(text)
    assert run(built(made, tmp_path)) == run(built(source, tmp_path))
    codes = {told.code for told in (*region.program.scop.notes, *region.program.remarks)}
    assert (len(region.program.groups), codes) == TODAY[name]


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["generic", "skylake-sp"])
def test_scattered_sums_in_another_order(machine: str, tmp_path: Path) -> None:
    """With --reassociate, many cores update cells atomically; few stay with one thread."""
    source = HERE / "nests" / "mesh.c"
    inputs = InputOptions(include_dirs=INCLUDES, defines=("MINI_DATASET",))
    _, (region,), text = compiled_file(source, inputs, Options(reassociate=True, machine=machine, threads="always"))
    assert region.verified
    assert ("#pragma omp atomic" in text) == (machine == "skylake-sp")
    made = tmp_path / "mesh.polyc.c"
    made.write_text(text)
    found, wanted = (run(built(file, tmp_path)).split()[4:] for file in (made, source))
    assert [float(x) for x in found] == pytest.approx([float(x) for x in wanted], rel=1e-12)


def test_every_program_is_in_the_table() -> None:
    assert {file.stem for file in (HERE / "nests").glob("*.c")} == set(NAMES) == set(TODAY)


@pytest.mark.slow
def test_the_driver_compares_and_times(tmp_path: Path) -> None:
    words = ["csr", "--dataset", "MINI", "--rounds", "1", "--threads", "1,2", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    (program,) = json.loads((tmp_path / "irregular-MINI.json").read_text())["irregular"]
    entries = [entry for entry in program["entries"] if not entry["status"].startswith("blank")]
    assert {(entry["contestant"], entry["threads"]) for entry in entries} >= {("gcc", 1), ("polyc", 1), ("polyc", 2)}
    assert all(entry["status"] == "ok" and entry["bits"] and set(entry["seconds"]) == {"kept"} for entry in entries)
