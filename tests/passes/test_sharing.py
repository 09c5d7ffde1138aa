"""Buffers of a tile that follow each other share a place, and the checks see when they do not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.codegen import render_region
from polyc.cost.storage import Life, bytes_for, places_for
from polyc.model.program import Options, Program
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.reread import text_faults
from polyc.runtime.check import check as differences
from polyc.verify import check
from tests.programs import after, region_of

CHAIN = """
#define STAGE(k, statement) for (int i = k; i < n - k; i++) for (int j = k; j < n - k; j++) statement;
#define AROUND(x) x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
void f(int n, float in[n][n], float out[n][n])
{
    float a[n][n], b[n][n], c[n][n], d[n][n];
#pragma scop
    STAGE(0, a[i][j] = in[i][j] * 2.0f + 1.0f)
    STAGE(1, b[i][j] = AROUND(a))
    STAGE(2, c[i][j] = AROUND(b))
    STAGE(3, d[i][j] = AROUND(c))
    STAGE(4, out[i][j] = AROUND(d))
#pragma endscop
}
"""
TILES = {"tile_sizes": (16, 64), "max_recompute": 1e6}


def life(key: str, first: int, last: int, *extents: int, kind: str = "float") -> Life:
    return Life(key, (kind,), 4, extents, first, last)


def test_a_place_is_taken_again_where_it_is_free() -> None:
    found = places_for([life("a", 0, 1, 10, 20), life("b", 1, 2, 8, 22), life("c", 2, 3, 8, 22), life("d", 3, 3, 4, 4)])
    assert [[one.key for one in place.lives] for place in found] == [["a", "c"], ["b", "d"]]
    assert [place.extents for place in found] == [(10, 22), (8, 22)]


@pytest.mark.parametrize(
    "second",
    [
        life("b", 1, 2, 10, 20),  # used in the step that uses a for the last time
        life("b", 2, 2, 10, 20, kind="double"),
        life("b", 2, 2, 200),
        life("b", 2, 2, 1, 400),  # as a part of one array both would take more than apart
    ],
)
def test_a_place_of_its_own(second: Life) -> None:
    lives = [life("a", 0, 1, 10, 20), second]
    assert len(places_for(lives)) == 2
    assert bytes_for(lives) == sum(place.size_bytes for place in places_for(lives))


@pytest.fixture
def region(tmp_path: Path) -> Region:
    return region_of(CHAIN, tmp_path)


def test_a_chain_takes_two_places(region: Region) -> None:
    result = compile_region(region, Options(**TILES))  # type: ignore[arg-type]
    assert result.verified
    codes = [r.code for r in result.program.remarks]
    assert "storage-shared" in codes
    assert not set(codes) & {"verification-failed", "budget", "text-not-checked"}
    assert re.findall(r"float (\w+)\[\d+\]\[\d+\];", result.text) == ["tile", "tile2"]
    assert "tile is for a, then c\n" in result.text
    assert "tile2 is for b, then d" in result.text
    assert differences(region, result, sizes=(1, 9, 33, 150)) == []


def sharing(program: Program, *arrays: str) -> Program:
    """The buffers of some arrays in one place, whether that is right or not."""
    chosen = {key: b for key, b in program.buffers.items() if b.array in arrays}
    sizes = [max(int(b.extents[d].max_val().to_python()) for b in chosen.values()) for d in range(2)]
    params = program.scop.context.get_space().params()
    extents = tuple(
        isl.PwAff.val_on_domain(isl.Set.universe(params), isl.Val.int_from_si(params.get_ctx(), size)) for size in sizes
    )
    changed = {key: replace(b, name="both", extents=extents) for key, b in chosen.items()}
    return replace(program, buffers=program.buffers | changed)


def text_kinds(program: Program, region: Region, printed: Program | None = None) -> set[str]:
    """What is wrong with the text of a program, or with that of another one in its place."""
    rendered = render_region(printed or program, region, True)
    return {fault.kind for fault in text_faults(program, region, rendered)}


def test_buffers_in_use_at_once_are_refused(region: Region) -> None:
    program = after(region, "contract", **TILES)
    assert check(program) == []
    for arrays in (("a", "c"), ("b", "d"), ("a", "d")):
        assert check(sharing(program, *arrays)) == []
        assert text_kinds(sharing(program, *arrays), region) == set()
    for arrays in (("a", "b"), ("b", "c"), ("a", "b", "c")):
        assert {fault.kind for fault in check(sharing(program, *arrays))} == {"storage"}
        assert "text" in text_kinds(program, region, sharing(program, *arrays))


def test_one_place_has_one_size_and_one_layout(region: Region) -> None:
    program = sharing(after(region, "contract", **TILES), "a", "c")
    (key,) = (key for key, b in program.buffers.items() if b.array == "c")
    one = program.buffers[key]
    for other in (
        replace(one, order=(1, 0)),
        replace(one, pad=1),
        replace(one, extents=(one.extents[1], one.extents[0])),
    ):
        assert "form" in {fault.kind for fault in check(replace(program, buffers=program.buffers | {key: other}))}
