"""benchmarks/operators, small: the driver describes each operator, compares values, and does without PyTorch."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.operators import build
from benchmarks.operators.cli import main

WITHOUT = ["--torch", "no-such-python", "--small", "--rounds", "1", "--polyc-options", ""]


def test_each_operator_has_a_form_in_pytorch() -> None:
    tree = ast.parse((build.HERE.parent / "gpu" / "references.py").read_text())
    (table,) = (n.value for n in tree.body if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "REFERENCES")
    assert isinstance(table, ast.Dict)
    assert set(build.NAMES) < {key.value for key in table.keys if isinstance(key, ast.Constant)}
    assert len(build.NAMES) == 20


def test_shapes_come_from_the_text() -> None:
    found = build.described("conv4", small=False)
    shapes = {a.name: (a.dtype, a.shape, a.role) for a in found.arguments}
    assert shapes == {
        "in": ("float32", (16, 64, 224, 224), "in"),
        "shift": ("float32", (64,), "in"),
        "w": ("float32", (64, 64, 7, 7), "in"),
        "out": ("float32", (16, 64, 112, 112), "out"),
    }
    assert [a.name for a in found.arguments] == ["in", "shift", "w", "out"]
    assert found.bytes == 4 * (16 * 64 * 224 * 224 + 64 + 64 * 64 * 49 + 16 * 64 * 112 * 112)


@pytest.mark.slow
def test_the_driver_compares_and_times(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["madd", "maxmin", *WITHOUT, "--threads", "1,2", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "operators.json").read_text())
    assert found["torch"].startswith("none")
    rows = {(row["name"], row["threads"]): row for row in found["operators"]}
    assert set(rows) == {(name, count) for name in ("madd", "maxmin") for count in (1, 2)}
    for row in rows.values():
        assert not row["told"]
        assert set(row["ms"]) == set(row["errors"]) == {"gcc", "polyc"}
        assert row["errors"]["polyc"] <= 1e-6
        assert row["least_ms"] > 0


@pytest.mark.slow
def test_what_is_built_is_measured_later_and_added(tmp_path: Path) -> None:
    kept = [*WITHOUT, "--threads", "1", "--out", str(tmp_path), "--folder", str(tmp_path / "built")]
    assert CliRunner().invoke(main, ["madd", "maxmin", *kept, "--rounds", "0"]).exit_code == 0
    (tmp_path / "built" / "madd.polyc.c").write_text("not C")  # nobody builds it again
    for name in ("madd", "maxmin"):
        done = CliRunner().invoke(main, [name, *kept, "--rounds", "1", "--built", "--add"])
        assert done.exit_code == 0, done.output
    rows = json.loads((tmp_path / "operators.json").read_text())["operators"]
    assert [(row["name"], row["reference"], set(row["ms"])) for row in rows] == [
        ("madd", "gcc", {"gcc", "polyc"}),
        ("maxmin", "gcc", {"gcc", "polyc"}),
    ]


@pytest.mark.slow
def test_a_form_that_takes_too_long_is_left_out(tmp_path: Path) -> None:
    arguments = ["madd", *WITHOUT, "--threads", "1", "--gcc-limit", "0", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    (row,) = json.loads((tmp_path / "operators.json").read_text())["operators"]
    assert row["told"] == ["gcc: timeout 0 s"]
    assert row["reference"] == "polyc"
    assert set(row["ms"]) == {"polyc"}


def test_built_needs_a_folder() -> None:
    done = CliRunner().invoke(main, ["madd", *WITHOUT, "--built"])
    assert done.exit_code == 2
    assert "--built needs the --folder of an earlier run" in done.output


@pytest.mark.slow
def test_wrong_values_are_told_and_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "wrong.c"
    text = (build.HERE / "madd.c").read_text()
    wrong.write_text(text.replace("0.125f", "0.25f"))

    def transformed(name: str, small: bool, gcc: str, folder: Path, options: tuple[str, ...]) -> list[build.Step]:
        command = (gcc, *build.FLAGS, "-DSMALL", str(wrong), "-o", str(folder / f"{name}.polyc.so"))
        return [build.Step("polyc", (sys.executable, "-c", "")), build.Step("cc", command)]

    monkeypatch.setattr("benchmarks.operators.cli.transformed", transformed)
    done = CliRunner().invoke(main, ["madd", *WITHOUT, "--threads", "1", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "wrong values: madd" in done.output
    (row,) = json.loads((tmp_path / "operators.json").read_text())["operators"]
    assert set(row["ms"]) == {"gcc"}
