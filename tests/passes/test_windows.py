"""Tiles that slide through strips: what is printed is right, and the checks see when it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from polyc import fallback
from polyc.codegen import render_region
from polyc.model.program import Buffer, Options, Program
from polyc.model.scop import Region, Scop
from polyc.model.tree import Band, Extension, Mark, Node, Role, rewrite, walk
from polyc.pipeline import compile_region
from polyc.poly import maps, out_name
from polyc.reread import text_faults
from polyc.runtime.check import check as differences
from polyc.verify import Fault, check
from tests.programs import after, region_in, region_of

CHAIN = """
#define STAGE(k, statement) for (int i = k; i < n - k; i++) for (int j = k; j < n - k; j++) statement;
#define AROUND(x) x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
void f(int n, float in[n][n], float out[n][n])
{
    float a[n][n], b[n][n], c[n][n];
#pragma scop
    STAGE(0, a[i][j] = in[i][j] * 2.0f + 1.0f)
    STAGE(1, b[i][j] = AROUND(a))
    STAGE(2, c[i][j] = AROUND(b))
    STAGE(3, out[i][j] = AROUND(c))
#pragma endscop
}
"""
PYRAMID = """
void f(int n, float in[2 * n + 4][2 * n + 4], float out[2 * n][2 * n])
{
    float down[n + 2][n + 2], up[2 * n][n + 2];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            down[i][j] = in[2 * i][2 * j] + in[2 * i + 1][2 * j] + in[2 * i][2 * j + 1];
    for (int i = 0; i < 2 * n; i++)
        for (int j = 0; j < n + 2; j++)
            up[i][j] = down[i / 2][j] + 2.0f * down[i / 2 + 1][j];
    for (int i = 0; i < 2 * n; i++)
        for (int j = 0; j < 2 * n; j++)
            out[i][j] = up[i][j / 2] + up[i][j / 2 + 1] - in[i][j];
#pragma endscop
}
"""
BORDER = """
void border(int m, float a[m + 2][m]);
void f(int n, int m, float in[m + 2][m], float out[m][m])
{
    float a[m + 2][m], b[m + 2][m];
    border(m, a);
#pragma scop
    for (int i = 0; i < m + 2; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = 2.0f * in[i][j];
    for (int i = 0; i < m + 2; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = a[i][j] + 1.0f;
    for (int i = 0; i < m; i++)
        for (int j = 1; j < m; j++)
            out[i][j] = b[i + 2][j - 1] + b[i][j];
#pragma endscop
}
"""
"""Columns of `a` from n on are set before the region: tiles copy those that they read, and none for a box's corners."""
OPTIONS: dict[str, Any] = {"tile_sizes": (4, 32), "max_recompute": 1e6, "strips": 3, "machine": "zen3"}


def windows(program: Program) -> dict[str, Buffer]:
    return {buffer.array: buffer for buffer in program.buffers.values() if buffer.window is not None}


@pytest.fixture
def region(tmp_path: Path) -> Region:
    return region_of(CHAIN, tmp_path)


@pytest.mark.parametrize("text", [CHAIN, PYRAMID], ids=["chain", "pyramid"])
@pytest.mark.parametrize("tiles", [(4, 32), (1, 16), (3, 7), (16,)], ids=str)
def test_strips_are_right(text: str, tiles: tuple[int, ...], tmp_path: Path) -> None:
    region = region_of(text, tmp_path)
    options = Options(tile_sizes=tiles, max_recompute=1e6, strips=5)
    result = compile_region(region, options)
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "sliding-window" in codes
    assert not codes & {"verification-failed", "text-not-checked", "not-printed"}
    assert "%" in result.text
    assert differences(region, result, sizes=(1, 6, 7, 40, 61)) == []


def test_strips_beside_what_was_set_before(tmp_path: Path) -> None:
    program = after(region_of(BORDER, tmp_path), "windows", **OPTIONS | {"tile_sizes": (2, 2), "inline": False})
    assert set(windows(program)) == {"a", "b"}
    assert check(program) == []


def test_what_slides_and_what_does_not(region: Region) -> None:
    program = after(region, "windows", **OPTIONS)
    assert set(windows(program)) == {"a", "b", "c"}
    assert not windows(after(region, "windows", **(OPTIONS | {"strips": 0})))
    assert check(program) == []


def test_each_row_is_made_once_in_a_strip(tmp_path: Path) -> None:
    chosen = OPTIONS | {"tile_sizes": (4, 16)}
    region = region_of(CHAIN, tmp_path)
    program, plain = (after(region, last, **chosen) for last in ("windows", "basteln"))
    # Output rows 3 to 34, in tiles from rows 0, 4, ..., 32, and strips from rows 0, 12, 24: c is read one row around.
    assert rows_made(plain, "S2") == 34 + 8 * 2
    assert rows_made(program, "S2") == 34 + 2 * 2


def test_the_comment_tells_of_strips_and_not_of_single_tiles(tmp_path: Path) -> None:
    chosen = OPTIONS | {"tile_sizes": (4, 16)}
    region = region_of(CHAIN, tmp_path)
    texts = [
        mark.text
        for last in ("basteln", "windows")
        for mark in walk(after(region, last, **chosen).tree.child)
        if isinstance(mark, Mark) and mark.kind == "group"
    ]
    assert "% repeated" in texts[0]
    assert "% repeated" not in texts[1]
    assert "made once in each strip" in texts[1]


def rows_made(program: Program, statement: str) -> int:
    """How many rows of a statement's instances all tiles with column 8 make, together."""
    (extension,) = (node for node in walk(program.tree.child) if isinstance(node, Extension))
    (piece,) = (m for m in maps(extension.relation) if out_name(m) == statement)
    size = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n = 38 }")
    rows = piece.fix_val(isl.dim_type.out, 1, isl.Val.int_from_si(piece.get_ctx(), 8)).intersect_params(size)
    made = rows.fix_val(isl.dim_type.in_, 1, isl.Val.zero(piece.get_ctx())).wrap()
    return int(made.project_out_all_params().count_val().to_python())


# --- broken on purpose -----------------------------------------------------------------------------------------------


def with_buffer(program: Program, array: str, change: Callable[[Buffer], Buffer]) -> Program:
    buffer = windows(program)[array]
    return replace(program, buffers=program.buffers | {buffer.key: change(buffer)})


def with_rows(buffer: Buffer, more: int) -> Buffer:
    """As many places more."""
    assert buffer.window is not None
    extents = list(buffer.extents)
    extents[buffer.window] = extents[buffer.window].add(
        isl.PwAff.val_on_domain(
            extents[buffer.window].domain(), isl.Val.int_from_si(extents[buffer.window].get_ctx(), more)
        )
    )
    return replace(buffer, extents=tuple(extents))


def edited(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=replace(program.tree, child=rewrite(program.tree.child, change)))


def kinds(program: Program) -> set[str]:
    return {fault.kind for fault in check(program)}


def text_kinds(program: Program, region: Region, printed: Program | None = None) -> set[str]:
    """What is wrong with the text of a program, or with that of another one in its place."""
    rendered = render_region(printed or program, region, True)
    return {fault.kind for fault in text_faults(program, region, rendered)}


@pytest.mark.parametrize("array", ["a", "b", "c"])
def test_a_row_too_few(array: str, region: Region) -> None:
    program = after(region, "windows", **OPTIONS)
    assert text_kinds(program, region) == set()
    less = with_buffer(program, array, lambda b: with_rows(b, -1))
    assert kinds(less) == {"window"}
    assert text_kinds(program, region, less) == {"text"}
    more = with_buffer(program, array, lambda b: with_rows(b, 1))
    assert kinds(more) == set()
    assert text_kinds(more, region) == set()


def test_another_dimension_or_none(region: Region) -> None:
    program = after(region, "windows", **OPTIONS)
    for window in (1, None):
        broken = with_buffer(program, "b", lambda b, window=window: replace(b, window=window))  # type: ignore[misc]
        assert "buffer-bounds" in kinds(broken)
        assert text_kinds(program, region, broken) == {"text"}


def test_no_first_rows(region: Region) -> None:
    """Only what is new, in the first tile of a strip as well."""

    def without(node: Node) -> Node:
        if not isinstance(node, Extension):
            return node
        late = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ [s, x, t] : t > s }")
        first = node.relation.subtract_domain(isl.UnionSet.from_set(late))
        lower = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ [s, x, t] -> S1[i, j] : i < t + 2 }")
        return replace(node, relation=node.relation.subtract(first.intersect(lower)))

    broken = edited(after(region, "windows", **OPTIONS), without)
    assert "flow" in kinds(broken)


def test_rows_of_the_tile_before_the_last(region: Region) -> None:
    """What two tiles of a strip share comes from the one before, not from the one before that."""

    def later(node: Node) -> Node:
        if not isinstance(node, Extension):
            return node
        gone = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ [s, x, t] -> S2[i, j] : t > s and i = t + 3 }")
        return replace(node, relation=node.relation.subtract(gone))

    assert "flow" in kinds(edited(after(region, "windows", **OPTIONS), later))


@pytest.mark.parametrize("mark", ["parallel", "vector"])
def test_the_loop_that_slides_runs_in_order(mark: str, region: Region) -> None:
    program = after(region, "windows", **OPTIONS)

    def at_once(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].role is Role.TILE and not node.members[0].coincident:
            return replace(node, members=(replace(node.members[0], **{mark: True}), *node.members[1:]))
        return node

    assert kinds(edited(program, at_once)) & {"window", "race"}


def test_no_two_buffers_of_one_name(region: Region) -> None:
    program = after(region, "windows", **OPTIONS)
    for one, two in combinations(windows(program).values(), 2):
        size = tuple(a if a.max_val().gt(b.max_val()) else b for a, b in zip(one.extents, two.extents, strict=True))
        both = {b.key: replace(b, name="both", extents=size) for b in (one, two)}
        assert kinds(replace(program, buffers=program.buffers | both)) & {"storage", "form"}


def test_tiles_whose_values_cross_no_border_do_not_slide(tmp_path: Path) -> None:
    text = CHAIN.replace("x[i - 1][j] + x[i + 1][j] + ", "")
    program = after(region_of(text, tmp_path), "windows", **OPTIONS)
    assert not windows(program)  # along memory they do, and there is no remainder for that
    assert "no-sliding-window" in {remark.code for remark in program.remarks}


# --- chosen by the model ---------------------------------------------------------------------------------------------

TWO = """
#define N 2048
#define ROW(x, i) (0.1f * x[i][j] + 0.2f * x[i][j + 1] + 0.4f * x[i][j + 2] + 0.2f * x[i][j + 3] + 0.1f * x[i][j + 4])
#define WINDOW(x) ROW(x, i) + 2.0f * ROW(x, i + 1) + 3.0f * ROW(x, i + 2) + 2.0f * ROW(x, i + 3) + ROW(x, i + 4)
void f(float in[N + 8][N + 8], float out[N][N])
{
    float a[N + 4][N + 4];
#pragma scop
    for (int i = 0; i < N + 4; i++) for (int j = 0; j < N + 4; j++) a[i][j] = WINDOW(in);
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) out[i][j] = WINDOW(a);
#pragma endscop
}
"""
SMALL = TWO.replace("#define N 2048", "#define N 96")
ROWS_OF_THREE = """
#define N 96
#define ROW(x, i) x[i][j] + 2.0f * x[i][j + 1] + x[i][j + 2]
#define WINDOW(x) ROW(x, i) + ROW(x, i + 1) + ROW(x, i + 2)
void f(float in[N + 4][N + 4], float out[N][N])
{
    float a[N + 2][N + 2];
#pragma scop
    for (int i = 0; i < N + 2; i++) for (int j = 0; j < N + 2; j++) a[i][j] = WINDOW(in);
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) out[i][j] = WINDOW(a);
#pragma endscop
}
"""


def sizes_told(program: Program) -> str:
    (remark,) = (r for r in program.remarks if r.code == "cpu-sizes")
    return remark.message


def test_the_model_chooses_strips_where_they_pay(tmp_path: Path) -> None:
    result = compile_region(region_of(TWO, tmp_path), Options(machine="zen4"))
    assert result.verified
    assert set(windows(result.program)) == {"a"}
    assert "they slide in strips of" in sizes_told(result.program)
    assert "by themselves, in tiles of" in sizes_told(result.program)
    assert not {r.code for r in result.program.remarks} & {"text-not-checked", "no-sliding-window"}


def test_the_model_leaves_strips_where_they_do_not_pay(tmp_path: Path) -> None:
    """Memory is what the same nests wait for on a machine with fewer operations for each byte of a cache."""
    result = compile_region(region_of(TWO, tmp_path), Options(machine="zen3"))
    assert result.verified
    assert not windows(result.program)
    assert "sliding windows do not pay" in sizes_told(result.program)


def test_strips_can_be_turned_off(tmp_path: Path) -> None:
    program = after(region_of(TWO, tmp_path), "windows", machine="zen4", strips=0)
    assert not windows(program)
    assert "slid" not in sizes_told(program)


@pytest.mark.parametrize("text", [SMALL, ROWS_OF_THREE], ids=["five", "three"])
def test_rows_at_once_begin_with_what_is_new(text: str, tmp_path: Path) -> None:
    """And with a window's first row: no rows are left over but in a strip's first tile."""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options(machine="zen4", sizes=(("tiles", (16, 96)),), strips=3))
    assert result.verified
    assert windows(result.program)
    assert "i + r + 1 - it) %" in result.text
    # The output's rows, those of a strip's first tile, and those of the other tiles; what the first has more.
    assert result.text.count("for (int r = 0; r < 4; r++)") == 3
    assert result.text.count("unroll") <= 4
    assert differences(region, result, sizes=(1,)) == []


@pytest.mark.parametrize("tile", [(16, 96), (8, 18)])
def test_rows_at_once_of_an_image_of_any_size(tile: tuple[int, ...]) -> None:
    """What is left over of them has conditions, which hold in one tile of a strip alone."""
    region = region_in(Path(__file__).parents[1] / "mutation" / "programs" / "sliding_rows.c")
    result = compile_region(region, Options(machine="zen4", sizes=(("tiles", tile),), strips=3, max_recompute=1e6))
    assert result.verified
    assert "verification-failed" not in {r.code for r in result.program.remarks}
    assert windows(result.program)
    assert "for (int r = 0; r < 4; r++)" in result.text
    assert differences(region, result, sizes=(1, 5, 9, 40)) == []


def test_what_was_chosen_and_cannot_slide_stands_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    region = region_of(TWO, tmp_path)
    plain = compile_region(region, Options(machine="zen4", strips=0))
    monkeypatch.setattr("polyc.pipeline.slide_windows", lambda program: program)
    result = compile_region(region, Options(machine="zen4"))
    assert result.verified
    assert "no-sliding-window" in {r.code for r in result.program.remarks}
    assert result.text == plain.text


def test_strips_that_cannot_be_checked_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    region = region_of(TWO, tmp_path)
    plain = compile_region(region, Options(machine="zen4", strips=0))
    real = fallback.check

    def checked(program: Program, original: Scop) -> list[Fault]:
        return [Fault(fallback.OVER_BUDGET, "", "")] if windows(program) else real(program, original)

    monkeypatch.setattr(fallback, "check", checked)
    result = compile_region(region, Options(machine="zen4"))
    assert result.verified
    assert "no-sliding-window" in {r.code for r in result.program.remarks}
    assert result.text == plain.text
