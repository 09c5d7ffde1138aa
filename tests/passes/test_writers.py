"""Arrays with several writers, parity guards, steps of two: fused tile by tile, one buffer an array, in vectors."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Compiled, Options
from polyc.passes.fusion.boxed import is_ragged, is_simpler
from polyc.pipeline import compile_region
from polyc.poly import constant_of
from polyc.runtime.check import check
from tests.programs import after, region_in, region_of

FOLDER = Path(__file__).parent / "writers"
FILES = sorted(FOLDER.glob("*.c"))
WRONG = {"verification-failed", "budget", "not-printed", "isl-failed"}
LONG = {"bayer_guards", "bayer_nests", "upsample4"}
"""Arrays with a writer for each of four places: to compare the text takes twice the operations that it may."""
SIZES = (1, 2, 3, 4, 5, 8, 9, 18, 33)

KEPT = {
    "bayer_guards": {"cut", "red", "green", "blue"},
    "bayer_nests": {"cut", "red", "green", "blue"},
    "block": {"one", "two"},
    "border": {"mid"},
    "checkerboard": {"mixed"},
    "ordered": {"mid"},
    "padding": {"pad"},
    "rows": {"full"},
    "table": {"tone"},
    "upsample": {"wide", "large"},
    "upsample4": {"large"},
}
"""The arrays of each program that live in a tile's buffer, one each."""


@cache
def result_of(file: Path, tile: tuple[int, ...] | str = "auto", target: str = "openmp") -> Compiled:
    return compile_region(region_in(file), Options(tile_sizes=tile, target=target))


def test_each_program_is_here() -> None:
    assert {file.stem for file in FILES} == set(KEPT)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_one_group_with_a_buffer_for_each_array(file: Path) -> None:
    """All writers of an array are in the tiles of its reader; what they make is nowhere else."""
    result = result_of(file)
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert not codes & (WRONG | {"not-fused", "not-tiled"})
    assert "text-not-checked" not in codes or file.stem in LONG
    (group,) = result.program.groups
    assert set(group.statements) == set(result.program.scop.statements)
    kept = [b.array for b in result.program.buffers.values() if b.storage == "tile"]
    assert sorted(kept) == sorted(KEPT[file.stem])
    assert not {"fill", "store"} & {name.split("_")[0] for name in result.program.copies}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, in tiles that are small enough for several of them."""
    result = result_of(file, (8, 16), target)
    assert not {remark.code for remark in result.program.remarks} & WRONG
    assert check(region_in(file), result, sizes=SIZES) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_values_in_its_own_tiles(file: Path) -> None:
    assert check(region_in(file), result_of(file), sizes=(7, 40)) == []


@pytest.mark.skipif(platform.machine() != "x86_64" or shutil.which("gcc") is None, reason="asks gcc for x86 vectors")
@pytest.mark.parametrize("level", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_each_loop_along_the_rows_has_vectors(file: Path, level: str, tmp_path: Path) -> None:
    text = file.read_text()
    start, end = text.index("#pragma polyc"), text.index("#pragma endscop")
    made = tmp_path / "made.c"
    made.write_text(text[:start] + result_of(file).text + text[end + len("#pragma endscop") :])
    flags = ("-O3", f"-march={level}", "-fopenmp", "-fno-tree-loop-distribute-patterns", "-fopt-info-vec-optimized")
    command = ("gcc", *flags, "-c", str(made), "-o", str(tmp_path / "made.o"))
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    vectors = {int(line) for line in re.findall(r"made\.c:(\d+):\d+: optimized:\s+loop vectorized", told.stderr)}
    loops = list(vector_loops(made.read_text()))
    assert loops
    assert [loop for loop in loops if vectors.isdisjoint(loop)] == []


def vector_loops(text: str) -> Iterator[range]:
    """The lines, from 1, of the loops over x that are marked as vector loops: gcc names one inside."""
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if "for (long x =" in line and lines[k - 1].strip().endswith("_simd"):
            indent = len(line) - len(line.lstrip())
            inside = (n for n in range(k + 1, len(lines)) if len(lines[n]) - len(lines[n].lstrip()) <= indent)
            yield range(k + 1, next(inside) + 1)


# --- writers between each other's elements --------------------------------------------------------------------------


def writers(first: str, second: str, reader: str = "b[x] = a[x] + a[x + 1] + a[x - 1];") -> str:
    return f"""
void f(int n, const float in[4 * n + 8], float a[4 * n + 8], float b[4 * n + 8])
{{
#pragma polyc live-out(b)
#pragma scop
    {first}
    {second}
    for (int x = 4; x < n - 4; x++)
        {reader}
#pragma endscop
}}
"""


BETWEEN = "each writes between the elements of a row that the others write"

TOGETHER = {
    "odd and even": (
        "for (int x = 0; x < n; x += 2) a[x] = in[x];",
        "for (int x = 1; x < n; x += 2) a[x] = in[x - 1];",
    ),
    "even and odd": (
        "for (int x = 1; x < n; x += 2) a[x] = in[x];",
        "for (int x = 0; x < n; x += 2) a[x] = in[x + 1];",
    ),
    "pairs": ("for (int x = 0; x < n; x++) a[2 * x + 1] = in[x];", "for (int x = 0; x < n; x++) a[2 * x] = in[x + 1];"),
    "one less": (
        "for (int x = 0; x < n; x++) a[2 * x] = in[x];",
        "for (int x = 1; x < n - 1; x++) a[2 * x + 1] = in[x];",
    ),
    "guards": (
        "for (int x = 0; x < n; x++) if (x % 2 == 0) a[x] = in[x];",
        "for (int x = 1; x < n; x++) if (x % 2 != 0) a[x] = in[x + 1];",
    ),
}
APART = {
    "other steps": (
        "for (int x = 0; x < n; x += 2) a[x] = in[x];",
        "for (int x = 0; x < n; x++) a[4 * x + 1] = in[x];",
    ),
    "parts of a row": (
        "for (int x = 0; x < n; x++) a[x] = in[x];",
        "for (int x = n; x < 2 * n; x++) a[x] = in[x + 1];",
    ),
    "the same elements": (
        "for (int x = 0; x < n; x++) a[2 * x] = in[x];",
        "for (int x = 0; x < n; x++) a[2 * x] = in[x + 1];",
    ),
    "far away": (
        "for (int x = 0; x < n; x++) a[2 * x] = in[x];",
        "for (int x = 0; x < n; x++) a[2 * x + 5] = in[x + 1];",
    ),
    "half as long": (
        "for (int x = 0; x < n; x += 2) a[x] = in[x];",
        "for (int x = 1; 2 * x < n; x += 2) a[x] = in[x - 1];",
    ),
    "a value of the other": (
        "for (int x = 0; x < n; x += 2) a[x] = in[x];",
        "for (int x = 1; x < n; x += 2) a[x] = a[x - 1] + a[x + 1];",
    ),
    "data": (
        "for (int x = 0; x < n; x++) a[2 * x] = in[x];",
        "for (int x = 0; x < n; x++) a[2 * x + 1 + 0 * (int)in[x]] = 1;",
    ),
}


@pytest.mark.parametrize("name", [*TOGETHER, *APART])
def test_between_each_other(name: str, tmp_path: Path) -> None:
    text = writers(*(TOGETHER | APART)[name])
    region = region_of(text, tmp_path)
    told = [r.message for r in after(region, "pretiling").remarks]
    assert any(BETWEEN in message for message in told) == (name in TOGETHER)
    result = compile_region(region, Options())
    assert not {remark.code for remark in result.program.remarks} & WRONG
    assert check(region, result, sizes=SIZES) == []


def test_readers_of_one_writer_alone_keep_them_apart(tmp_path: Path) -> None:
    """Who reads one of them would have to wait for, and compute, both."""
    text = writers(*TOGETHER["pairs"], reader="b[x] = a[2 * x];")
    told = [r.message for r in after(region_of(text, tmp_path), "pretiling").remarks]
    assert not any(BETWEEN in message for message in told)


def test_a_loop_of_their_own_where_all_run() -> None:
    """No condition stands in the vector loop of writers that begin and end apart."""
    result = result_of(FOLDER / "checkerboard.c")
    assert any(r.code == "unrolled" and "where all of them run" in r.message for r in result.program.remarks)
    loops = re.findall(r"_simd\n *for \(long x.*\n *(.*)", result.text)
    assert loops
    assert not any(line.startswith("if") for line in loops)


# --- the box of what a tile reads -----------------------------------------------------------------------------------


def test_the_buffer_of_a_checkerboard_is_the_box_of_what_a_stencil_reads() -> None:
    result = result_of(FOLDER / "checkerboard.c", (16, 64))
    (buffer,) = result.program.buffers.values()
    height, width = (constant_of(extent) for extent in buffer.extents)
    assert height == 18
    assert width in (66, 67, 68)  # a cell of the other colour in the iteration at either end


def test_zeros_are_written_at_the_border_alone() -> None:
    """What the image overwrites needs no zeros: the frame of the exact extension (15), not its box."""
    result = result_of(FOLDER / "padding.c")
    (extension,) = (e.relation for g in result.program.groups for e in g.extensions if e.statement == "S0")
    inside = isl.Set.read_from_str(extension.get_ctx(), "[m, n] -> { S0[y, x] : 0 < y <= n and 0 < x <= m }")
    assert extension.range().intersect(inside).is_empty()


def test_a_writer_that_cannot_come_along_keeps_the_others_out(tmp_path: Path) -> None:
    """The border is a recurrence: no tile can have it, and to copy it into each is not worth it."""
    text = (
        (FOLDER / "border.c")
        .read_text()
        .replace("mid[0][x] = in[0][x];", "mid[0][x] = in[0][x] + (x > 0 ? mid[0][x - 1] : 0.0f);")
    )
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert not {remark.code for remark in result.program.remarks} & WRONG
    assert check(region, result, sizes=(3, 9, 40)) == []


def test_remainders_that_isl_has_not_worked_out_have_a_shape() -> None:
    """isl lists no constraints of a piece with such a remainder; laplacian has some, and lost all of its tiles."""
    unknown = isl.Map("{ A[i] -> B[j] : exists e, f: 2i <= 3e + 7f <= 2i + 1 and 5e - f <= j <= 5e + f }")
    with pytest.raises(isl.Error, match="unknown divs"):
        unknown.get_basic_map_list().get_at(0).get_constraint_list()
    plain = isl.UnionMap("{ A[i] -> B[i] }")
    assert is_ragged(isl.UnionMap.from_map(unknown))
    assert not is_ragged(plain)
    assert is_simpler(plain, isl.UnionMap.from_map(unknown))
