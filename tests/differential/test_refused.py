"""Regions that polyc once refused to print as it compiled them, though nothing was wrong with them, or because a pass
or the printer was at fault: what a generated program showed, made smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

FOLDER = Path(__file__).parent / "refused"
OPTIONS = {
    "unread": Options(fuse="max", threads="always"),
    "backwards": Options(tile_sizes=(8, 4), max_recompute=1e6, strips=2, threads="always"),
    "accumulator": Options(fuse="max", reassociate=True, threads="always"),
    "layers": Options(reassociate=True),
    "members": Options(tile_sizes=(2,), machine="x86-64-v3"),
    "shared": Options(strips=2),
    "lengths": Options(max_recompute=1000.0),
    "producers": Options(max_recompute=1000.0),
    "remainder": Options(max_recompute=100.0, threads="always"),
    "parts": Options(tile_sizes=(2, 8, 8), max_recompute=1e6, strips=2, threads="always"),
    "apart": Options(tile_sizes=(7,)),
    "short": Options(tile_sizes=(4,)),
    "behind_loop": Options(fuse="max"),
    "once": Options(fuse="smart"),
    "nothing": Options(max_recompute=1000.0, budget=300_000),
    "tiles": Options(tile_sizes=(32, 16, 16), max_recompute=1000.0, threads="always"),
    "large": Options(tile_sizes=(32,), threads="always", machine="x86-64-v3"),
    "pieces": Options(max_recompute=1000.0, threads="always", reassociate=True, strips=2, machine="x86-64-v3"),
    "counted": Options(fuse="max", max_recompute=1e6, threads="always", budget=300_000),
    "single": Options(fuse="max"),
    "latest": Options(fuse="max"),
    "unshared": Options(threads="always"),
    "iterations": Options(fuse="smart"),
    "partly": Options(threads="always"),
    "first_of_two": Options(fuse="max", threads="always"),
    "few_sizes": Options(tile_sizes=(3,), threads="always", max_recompute=0.0),
    "looked_up": Options(threads="always"),
    "added": Options(threads="always", max_recompute=1e6),
    "hulls": Options(tile_sizes=(4, 2), max_recompute=50.0),
    "reversed": Options(threads="always", max_recompute=100.0),
    "pointed": Options(tile_sizes=(32, 4, 16), threads="always"),
    "decided": Options(fuse="max", threads="always"),
    "quotients": Options(tile_sizes=(2, 5), threads="always", max_recompute=100.0),
    "heights": Options(threads="always", max_recompute=1e6),
    "skewed": Options(tile_sizes=(4, 3, 16), threads="always"),
    "skewed_once": Options(threads="always", max_recompute=10.0),
    "kept_back": Options(threads="always", max_recompute=50.0, strips=3),
    "separate": Options(fuse="max", threads="always", max_recompute=50.0),
}
ASSUMED = {"assumed": ("n >= -1",), "few_sizes": ("n >= 1",)}


FILES = [*sorted(FOLDER.glob("*.c")), FOLDER.parents[1] / "mutation" / "programs" / "webs.c"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_refused(file: Path) -> None:
    name = file.stem
    given = InputOptions(detect="#pragma scop" not in file.read_text(), assume=ASSUMED.get(name, ()))
    (region,) = read(str(file), given).regions
    remarks = compile_region(region, OPTIONS.get(name, Options())).program.remarks
    assert not [
        r.message
        for r in remarks
        if r.code in ("verification-failed", "not-printed", "text-not-checked", "pass-failed")
    ]
