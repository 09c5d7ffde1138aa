"""Programs that nobody marked: what `--detect` makes of them prints the same, whatever overlaps."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, assert_rest_unchanged, assert_verified, compiled_file, run

FOLDER = Path(__file__).parent / "detected"
REGIONS = {
    "fixed_places": {"stencil", "doubled", "counted", "members", "pointers", "updates", "beside"},
    "bare": {"transform", "branches"},
    "declared": {"weighted", "counted", "copied", "halves"},
    "layers": {"convolve", "erode", "normalise", "shift"},
    "rows_in_structs": {"smooth", "residual", "scaled"},
    "never_touched": {"f"},
    "pointer_sums": {"sums", "members", "rows", "planes"},
    "setters": {"scale", "product"},
    "one_line": {"zero", "fill", "between", "product", "main"},
}
"""The functions of each program that have a region."""
BUILDS = (
    ("-O2", "-fopenmp"),
    ("-O1", "-g", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)


@pytest.mark.parametrize("name", REGIONS)
def test_same_output(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without tiles, sums in variables stay there, and isl's scheduler takes too long for those of `layers`.
    options = Options(threads="always", tile_sizes="auto" if name == "layers" else None)
    source, regions, text = compiled_file(FOLDER / f"{name}.c", InputOptions(detect=True), options)
    assert_verified(regions)
    assert_rest_unchanged(source, regions, text)
    assert {region.program.scop.function for region in regions} >= REGIONS[name]
    assert not [r.message for one in regions for r in one.program.remarks if r.code == "text-not-checked"]
    (tmp_path / "printed.c").write_text(text)
    original = tmp_path / "original"
    run("gcc", *WARNINGS, ROUNDING, "-O1", FOLDER / f"{name}.c", "-o", original)
    expected = run(original)
    assert len(expected) > 40
    for flags in BUILDS:
        run("gcc", *WARNINGS, ROUNDING, *flags, tmp_path / "printed.c", "-o", tmp_path / "printed")
        for threads in ("1", "2"):
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
            assert run(tmp_path / "printed") == expected
