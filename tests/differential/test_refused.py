"""Regions that polyc refuses to print as it compiled them, though nothing is wrong with them, and those whose text is
rightly refused because a pass or the printer is at fault: what a generated program showed, made smaller.

A file that is not refused any more loses its line here, and its test then holds it to that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

FOLDER = Path(__file__).parent / "refused"
OPTIONS = {
    "accumulator": Options(fuse="max", reassociate=True, threads="always"),
    "layers": Options(reassociate=True),
    "members": Options(tile_sizes=(2,), machine="x86-64-v3"),
    "shared": Options(strips=2),
    "producers": Options(max_recompute=1000.0),
    "remainder": Options(max_recompute=100.0, threads="always"),
    "parts": Options(tile_sizes=(2, 8, 8), max_recompute=1e6, strips=2, threads="always"),
    "skewed": Options(tile_sizes=(4, 3, 16), threads="always"),
}
REFUSED = {
    "transposed": "the optimised program could not be printed (isl took a step out of the tile",
}
"""How the remark on a file begins."""


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.c")))
def test_refused(name: str) -> None:
    file = FOLDER / f"{name}.c"
    (region,) = read(str(file), InputOptions(detect="#pragma scop" not in file.read_text())).regions
    remarks = compile_region(region, OPTIONS.get(name, Options())).program.remarks
    found = [r.message for r in remarks if r.code in ("verification-failed", "not-printed")]
    assert [message.startswith(REFUSED.get(name, "?")) for message in found] == [True] * (name in REFUSED)
