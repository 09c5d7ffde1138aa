"""benchmarks/cpu: what is missing is a blank, what is wrong is said, and the numbers are those of the samples."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.cpu import plots, results, rounds, summary, tools, values
from benchmarks.cpu.cli import main
from benchmarks.cpu.contestants import BLAS_KERNELS, Contestant, Job, compiled
from benchmarks.cpu.kernels import DATASETS, FOLDER, KERNELS, evaluate
from benchmarks.cpu.results import Entry, KernelResult, Rates, Results

PLAN = rounds.Plan("MINI", "double", (1,), 2, limit=20.0, build_limit=60.0, budget=60.0, contestants=())


@pytest.mark.slow
def test_a_missing_peer_is_a_blank_and_polyc_is_right_to_the_last_bit(tmp_path: Path) -> None:
    words = ["run", "gemm", "--dataset", "MINI", "--rounds", "2", "--threads", "1", "--only", "polyc,ppcg,openblas"]
    words += ["--without", ",".join(tools.OPTIONAL), "--flags=-ffp-contract=off", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "ppcg@1: left blank (left out)" in done.output
    (kernel,) = json.loads((tmp_path / "MINI-double.json").read_text())["kernels"]
    found = {entry["contestant"]: entry for entry in kernel["entries"]}
    assert {name: entry["status"].split(":")[0] for name, entry in found.items()} == {
        "gcc": "ok",
        "polyc": "ok",
        "ppcg": "blank",
        "openblas": "blank",
    }
    assert found["polyc"]["bits"]
    assert len(found["polyc"]["rounds"]) == 2
    assert set(found["polyc"]["build_seconds"]) == {"polyc", "cc", "link"}
    for name in ("speedup", "roofline"):
        ElementTree.parse(tmp_path / f"MINI-double-{name}-1.svg")
    again = CliRunner().invoke(main, ["report", str(tmp_path / "MINI-double.json")])
    assert again.exit_code == 0
    assert again.output.splitlines()[-2] == done.output.splitlines()[-2]


def spoilt(old: str, new: str) -> object:
    """A contestant's steps: gcc on the kernel's text with `old` replaced."""

    def steps(job: Job) -> list[object]:
        text = job.source.read_text()
        assert old in text
        job.transformed.write_text(text.replace(old, new, 1))
        return [*compiled(job, job.tools.gcc, job.transformed)]

    return steps


SPOILT = {
    "wrong values": ("C[i][j] *= beta;", "C[i][j] *= beta * 1.00001;"),
    "not C": ("int i, j, k;", "int i, j, k"),
    "endless": ("int i, j, k;", "int i, j, k; for (volatile int t = 1; t;) {}"),
    "crash": ("int i, j, k;", "int i, j, k; __builtin_trap();"),
    "nan": ("C[i][j] *= beta;", "C[i][j] = 0.0 / 0.0;"),
}


@pytest.mark.slow
def test_what_goes_wrong_is_told_and_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        Contestant(name, lambda t: t.gcc, spoilt(*change), parallel=False)  # type: ignore[arg-type]
        for name, change in SPOILT.items()
    ]
    monkeypatch.setattr(rounds, "CONTESTANTS", made)
    found = rounds.run(KERNELS["gemm"], replace(PLAN, limit=1.0), tools.find(without=tools.OPTIONAL), tmp_path, print)
    told = {entry.contestant: entry.status for entry in found.entries}
    assert told["wrong values"].startswith("wrong: C off by ")
    assert told["not C"].startswith("fails: cc: ")
    assert "error" in told["not C"]
    assert told["endless"] == "timeout 1 s"
    assert told["crash"].startswith("fails: run: SIG")
    assert told["nan"] == "wrong: C off by inf"
    assert all(found.seconds(entry.column) is None for entry in found.entries)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "element"), [*((name, "double") for name in BLAS_KERNELS), ("symm", "float")])
def test_openblas_computes_the_same(name: str, element: str, tmp_path: Path) -> None:
    there = tools.find(without=("clang", "polly", "pluto", "ppcg"))
    if there.openblas.missing:
        pytest.skip(there.openblas.missing)
    plan = replace(PLAN, element=element, rounds=1, contestants=("openblas",))
    found = rounds.run(KERNELS[name], plan, there, tmp_path, print)
    assert [entry.status for entry in found.entries] == ["ok"]


COPIES = """#!/bin/sh
test "$1" = --version && {{ echo "a {name} that changes nothing"; exit 0; }}
for word; do
    case "$last" in -o) output=$word;; esac
    case "$word" in *.c) input=${{input:-$word}};; esac
    last=$word
done
cp "$input" "$output"
"""


@pytest.mark.slow
def test_source_to_source_peers_are_called_as_they_want_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("ppcg", "polycc"):
        script = tmp_path / "bin" / name
        script.write_text(COPIES.format(name=name))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    there = tools.find(without=("clang", "polly", "openblas"))
    assert there.versions()["ppcg"] == "a ppcg that changes nothing"
    plan = replace(PLAN, contestants=("ppcg", "pluto"), threads=(1, 2), rounds=1)
    found = rounds.run(KERNELS["trisolv"], plan, there, tmp_path / "work", print)
    told = {entry.column: entry.status for entry in found.entries}
    assert told == dict.fromkeys(("pluto@1", "pluto@2", "ppcg@1", "ppcg@2"), "ok")


@pytest.mark.long
@pytest.mark.slow
def test_a_sweep_tells_the_share_that_polycs_own_sizes_reach(tmp_path: Path) -> None:
    words = ["sweep", "mvt", "--dataset", "MINI", "--rounds", "2", "--threads", "1"]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "sweep-mvt-MINI-double-1.json").read_text())
    rows = (4, 8, 16, 32, 64, 128, 256)
    assert [c["sizes"] for c in found["candidates"]] == ["own", *(f"row-blocks={n}" for n in rows)]
    assert found["own_sizes"].keys() == {"row-blocks"}
    assert 0.0 < found["share"] <= 1.0
    assert f"share reached: {found['share']:.0%}" in done.output


def test_every_kernel_is_there_and_its_expressions_are_of_its_sizes() -> None:
    assert sorted(KERNELS) == sorted(file.stem for file in FOLDER.glob("*.c"))
    for kernel in KERNELS.values():
        for dataset in DATASETS:
            flops, traffic = kernel.operations(dataset), kernel.traffic_bytes(dataset, "double")
            assert flops is None or flops > 0
            assert traffic > 0
    assert KERNELS["gemm"].sizes("LARGE") == {"NI": 1000, "NJ": 1100, "NK": 1200}
    assert KERNELS["deriche"].traffic_bytes("MINI", "double") == KERNELS["deriche"].traffic_bytes("MINI", "float")
    assert KERNELS["mvt"].traffic_bytes("MINI", "double") == 2 * KERNELS["mvt"].traffic_bytes("MINI", "float")


def test_operations_are_those_of_the_loops() -> None:
    n = KERNELS["cholesky"].sizes("MINI")["N"]
    counted = sum(sum(2 * j + 1 for j in range(i)) + 2 * i + 1 for i in range(n))
    assert KERNELS["cholesky"].operations("MINI") == counted
    counted = sum(sum(2 * j + 1 for j in range(i)) + (n - i) * 2 * i for i in range(n))
    assert KERNELS["lu"].operations("MINI") == counted
    with pytest.raises(ValueError, match="not an expression of sizes"):
        evaluate("print(N)", {"N": 1})


def test_values_are_compared_against_the_size_of_the_array() -> None:
    reference: values.Arrays = {"A": np.array([[1.0, 1e-12], [2.0, 3.0]])}
    near: values.Arrays = {"A": np.array([[1.0, 2e-12], [2.0, 3.0]])}
    far: values.Arrays = {"A": np.array([[1.0, 1e-12], [2.0, 3.0 + 1e-7]])}
    assert values.compare("gemm", reference, reference) == values.Comparison(True, 0.0, True)
    assert values.compare("gemm", near, reference).right
    assert not values.compare("gemm", near, reference).bits
    assert not values.compare("gemm", far, reference).right
    assert not values.compare("gemm", {}, reference).right
    assert not values.compare("gemm", {"A": np.full((2, 2), np.nan)}, reference).right
    assert values.compare("gemm", {"A": reference["A"] * np.float32(1)}, reference).right
    integers: values.Arrays = {"A": np.array([[1, 2]], np.int32)}
    assert not values.compare("nussinov", {"A": np.array([[1, 3]], np.int32)}, integers).right


def test_gramschmidt_is_compared_where_it_is_defined() -> None:
    shapes = {"A": (2, 3), "Q": (2, 3), "R": (3, 3)}
    reference: values.Arrays = {name: np.ones(shape) for name, shape in shapes.items()}
    noisy: values.Arrays = {name: np.ones(shape) for name, shape in shapes.items()}
    noisy["Q"][:, 2] = -7.0
    noisy["R"][2, :] = -7.0
    assert values.compare("gramschmidt", noisy, reference).right
    noisy["Q"][:, 1] = -7.0
    assert not values.compare("gramschmidt", noisy, reference).right


def made_up() -> Results:
    """Two kernels; gcc takes 4 s and 1 s on one thread, polyc 1 s and 2 s on two, OpenBLAS half a second."""
    first = [
        Entry("gcc", 1, "ok", [[4.0], [4.0, 9.0, 4.0], [1.0]]),
        Entry("clang", 1, "ok", [[5.0]]),
        Entry("polyc", 2, "ok", [[1.0]], build_seconds={"polyc": 0.5, "cc": 11.0}),
        Entry("polly", 2, "wrong: C off by 1.0e+00", [[0.1]]),
        Entry("openblas", 2, "ok", [[0.5]]),
    ]
    second = [
        Entry("gcc", 1, "ok", [[1.0]]),
        Entry("clang", 1, "timeout 60 s"),
        Entry("polyc", 2, "ok", [[2.0]], build_seconds={"polyc": 0.7, "cc": 1.0}),
        Entry("polly", 2, "ok", [[0.5]]),
        Entry("openblas", 2, "blank: has no such kernel"),
    ]
    rates = [Rates(2, {"double": 10.0, "float": 20.0}, {"64": 16.0, "256": 8.0, "1024": 9.0})]
    kernels = [
        KernelResult("gemm", {"NI": 1}, 5.0, 4.0, "double", 0.0, first),
        KernelResult("mvt", {"N": 1}, 2.0, 200.0, "double", 0.0, second),
    ]
    return Results("LARGE", "double", {}, {}, {}, rates, kernels)


def test_the_summary_and_the_roofline_are_those_of_the_medians(tmp_path: Path) -> None:
    found = made_up()
    gemm, mvt = found.kernels
    assert gemm.seconds("gcc@1") == 4.0
    assert gemm.seconds("polly@2") is None
    assert found.share(gemm, "polyc@2") == pytest.approx(0.5)  # arithmetic binds: 5 operations at 10 a second
    assert found.share(mvt, "polyc@2") == pytest.approx(200 / 9 / 2)  # traffic binds
    assert summary.lines(found) == [
        "polyc@2: 1.41 x gcc -O3, 1.00 x the best peer of each kernel (geometric means)",
        "  below 0.95 of the faster of gcc and clang: mvt 0.50",
        "  of OpenBLAS: gemm 50%",
        "polyc: 0.60 s a kernel (median); the C compiler at most 11.0 s for its output (gemm), over 10 s",
    ]
    found.save(tmp_path / "r.json")
    assert results.load(tmp_path / "r.json") == found
    picture = next(path for path in plots.write(found, tmp_path) if path.name == "LARGE-double-speedup-2.svg")
    text = " ".join(node.text or "" for node in ElementTree.parse(picture).iter())
    for expected in ("4.00", "wrong", "timeout 60 s", "8.00", "geometric mean", "1.41"):
        assert expected in text


def test_an_unknown_kernel_or_contestant_is_an_error_that_names_those_there_are() -> None:
    done = CliRunner().invoke(main, ["run", "gem"])
    assert done.exit_code == 2
    assert "no such kernel: gem; there are 2mm, " in done.output
    done = CliRunner().invoke(main, ["run", "--only", "icc"])
    assert done.exit_code == 2
    assert "no such contestant: icc; there are gcc, " in done.output
    done = CliRunner().invoke(main, ["run", "--without", "gcc"])
    assert done.exit_code == 2
    assert "no such tool: gcc; there are clang, " in done.output
    done = CliRunner().invoke(main, ["run", "gemm", "--threads", "1,x"])
    assert done.exit_code == 2
    assert "not a list of positive numbers: '1,x'" in done.output
