"""Fusion by extension nodes: when it happens, what it keeps in the tile, when it declines, and that it runs right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of


def function(arguments: str, before: str, body: str, pragma: str = "") -> str:
    return f"void f({arguments})\n{{\n    {before}\n{pragma}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def compiled_and_run(text: str, folder: Path, **options: Any) -> Compiled:
    """Compile, see that the check accepted what the passes made, and that it computes the same."""
    region = region_of(text, folder)
    result = compile_region(region, Options(**options))
    assert result.verified
    assert "verification-failed" not in {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 5, 19, 66)) == []
    return result


def fused(result: Compiled) -> set[str]:
    return {s for g in result.program.groups for s in g.fused}


def reasons(result: Compiled) -> dict[str, str]:
    """Why each producer was not fused, by its first statement."""
    return {r.statements[0]: r.data["reason"] for r in result.program.remarks if r.code == "not-fused"}


LIVE_OUT = function(
    "int n, float In[n][n], float A[n][n], float Out[n][n]",
    "",
    """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = In[i][j] * In[i][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            Out[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
""",
)


def test_a_live_out_intermediate_is_written_back_by_its_owner(tmp_path: Path) -> None:
    result = compiled_and_run(LIVE_OUT, tmp_path, tile_sizes=(8, 16))
    assert fused(result) == {"S0"}
    assert any(name.startswith("store_") for name in result.program.copies)


TWO_WRITERS = function(
    "int n, float In[n][n], float Out[n][n]",
    "float A[n][n];",
    """
    for (int i = 0; i < n; i++)
        A[i][0] = 1.0f;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            A[i][j] = In[i][j] * 2.0f;
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            Out[i][j] = A[i][j] + A[i][j - 1] + A[i - 1][j];
""",
)


@pytest.mark.parametrize("limit", [None, 100.0])
def test_two_producers_of_one_array_share_its_data_tile(tmp_path: Path, limit: float | None) -> None:
    result = compiled_and_run(TWO_WRITERS, tmp_path, tile_sizes=(8, 8), max_recompute=limit)
    assert len([b for b in result.program.buffers.values() if b.storage == "tile"]) <= 1


PARTLY_FROM_OUTSIDE = function(
    "int n, float In[n], float A[n], float Out[n]",
    "",
    """
    for (int i = 1; i < n - 1; i++)
        A[i] = In[i] * 2.0f;
    for (int i = 1; i < n - 1; i++)
        Out[i] = A[i - 1] + A[i + 1];
""",
    "#pragma polyc live-out(Out)",
)


def test_cells_from_outside_are_copied_into_the_tile(tmp_path: Path) -> None:
    result = compiled_and_run(PARTLY_FROM_OUTSIDE, tmp_path, tile_sizes=(16,))
    assert fused(result) == {"S0"}
    assert any(name.startswith("fill_") for name in result.program.copies)


OVERWRITTEN = function(
    "int n, float In[n], float Out[n]",
    "float A[n];",
    """
    for (int i = 0; i < n; i++)
        A[i] = In[i] * 2.0f;
    for (int i = 0; i < n; i++)
        In[i] = 0.0f;
    for (int i = 1; i < n - 1; i++)
        Out[i] = A[i - 1] + A[i + 1];
""",
)


def test_at_promised_sizes_nothing_is_copied_for_others(tmp_path: Path) -> None:
    """Of an image of two rows, mirrored subscripts would lead outside."""
    text = """
void f(int h, int w, const int *restrict in, int *restrict a, int *restrict out)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            a[y * w + x] = in[y * w + x] * 3;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y * w + x] = a[(y < 2 ? 2 - y : y - 2) * w + x] + a[(y >= h - 2 ? 2 * h - 4 - y : y + 2) * w + x];
#pragma endscop
}
"""
    region = region_of(text, tmp_path, params=(("h", 720), ("w", 960)))
    result = compile_region(region, Options())
    assert result.verified
    assert "fused" in {remark.code for remark in result.program.remarks}
    assert check(region, result) == []


def test_a_producer_whose_input_is_overwritten_stays(tmp_path: Path) -> None:
    result = compiled_and_run(OVERWRITTEN, tmp_path, tile_sizes=(16,))
    assert "S0" not in fused(result)
    assert reasons(result)["S0"] == "input-overwritten"


CONSUMER_OVERWRITES = function(
    "int n, float In[n], float Out[n]",
    "float A[n];",
    """
    for (int i = 0; i < n; i++)
        A[i] = In[i] * 2.0f;
    for (int i = 1; i < n - 1; i++)
        In[i] = A[i - 1] + A[i + 1];
""",
)


def test_a_consumer_that_overwrites_the_input_keeps_its_producer_out(tmp_path: Path) -> None:
    result = compiled_and_run(CONSUMER_OVERWRITES, tmp_path, tile_sizes=(16,))
    assert fused(result) == set()
    assert reasons(result)["S0"] == "input-overwritten"


IN_A_TIME_LOOP = function(
    "int t, int n, float X[n], float Y[n]",
    "float A[n];",
    """
    for (int s = 0; s < t; s++) {
        for (int i = 0; i < n; i++)
            A[i] = X[i] * s;
        for (int i = 1; i < n - 1; i++)
            Y[i] += A[i - 1] + A[i + 1];
    }
""",
)


def test_fusion_inside_a_sequential_loop(tmp_path: Path) -> None:
    result = compiled_and_run(IN_A_TIME_LOOP, tmp_path, tile_sizes=(16,))
    assert "S0" in fused(result)


LATER_READER = function(
    "int n, float In[n], float X[n], float Y[n]",
    "float A[n];",
    """
    for (int i = 0; i < n; i++)
        A[i] = In[i] * 2.0f;
    for (int i = 1; i < n - 1; i++)
        X[i] = A[i - 1] + A[i + 1];
    for (int i = 2; i < n - 2; i++)
        Y[i] = A[i - 2] * A[i + 2];
""",
)


def test_threshold_for_shared_producers(tmp_path: Path) -> None:
    assert "shared-producer" in reasons(compiled_and_run(LATER_READER, tmp_path, tile_sizes=(16,))).values()
    assert "S0" in fused(compiled_and_run(LATER_READER, tmp_path, tile_sizes=(16,), max_recompute=100.0))


READ_TWICE = function(
    "int n, float In[n][n], float X[n][n], float Y[n][n]",
    "float A[n][n];",
    """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = In[i][j] * 3.0f;
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            X[i][j] = A[i - 1][j] + A[i + 1][j];
    for (int i = 0; i < n; i++)
        for (int j = 2; j < n - 2; j++)
            Y[i][j] = A[i][j - 2] + A[i][j + 2];
""",
)
SMALL_SOURCE = (
    READ_TWICE.replace("float A[n][n];", "float A[n][n], T[64];")
    .replace("In[i][j] * 3.0f", "In[i][j] + T[i % 64]")
    .replace("#pragma scop", "#pragma scop\n    for (int j = 0; j < 64; j++)\n        T[j] = j * 0.5f;")
)


def tiles_with(result: Compiled, statement: str) -> int:
    return sum(statement in g.fused for g in result.program.groups)


def test_each_reader_computes_what_is_cheaper_than_to_store_it(tmp_path: Path) -> None:
    result = compiled_and_run(READ_TWICE, tmp_path)
    assert tiles_with(result, "S0") == 2
    assert "shared-producer" not in reasons(result).values()


def test_copies_read_what_is_stored_for_them(tmp_path: Path) -> None:
    assert tiles_with(compiled_and_run(SMALL_SOURCE, tmp_path), "S1") == 2


def test_what_is_needed_afterwards_is_stored_once(tmp_path: Path) -> None:
    text = READ_TWICE.replace("float Y[n][n]", "float Y[n][n], float A[n][n]").replace("float A[n][n];", "")
    result = compiled_and_run(text, tmp_path)
    assert tiles_with(result, "S0") < 2
    assert "shared-producer" in reasons(result).values()


def test_threshold_of_zero_allows_no_repetition(tmp_path: Path) -> None:
    result = compiled_and_run(LIVE_OUT, tmp_path, tile_sizes=(8, 8), max_recompute=0.0)
    assert fused(result) == set()
    assert set(reasons(result).values()) == {"recompute-limit"}


BATCH_NORMALISATION = function(
    "int n, int m, float X[n][m], float Sum[n], float Square[n]",
    "",
    """
    for (int i = 0; i < n; i++) {
        Sum[i] = 0;
        for (int j = 0; j < m; j++)
            Sum[i] += X[i][j];
    }
    for (int i = 0; i < n; i++) {
        Square[i] = 0;
        for (int j = 0; j < m; j++)
            Square[i] += X[i][j] * X[i][j];
    }
""",
)


def test_independent_groups_that_read_one_input_share_their_tiles(tmp_path: Path) -> None:
    result = compiled_and_run(BATCH_NORMALISATION, tmp_path)
    assert "outputs-joined" in {r.code for r in result.program.remarks}


TWO_STREAMS = function(
    "int n, double In[n][n], float One[n][n], float Two[n][n]",
    "",
    """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            One[i][j] = (float)In[i][j] + 1.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            Two[i][j] = (float)In[i][j] * 0.5f;
""",
)


def test_streams_that_read_the_same_elements_are_one_nest(tmp_path: Path) -> None:
    result = compiled_and_run(TWO_STREAMS, tmp_path)
    assert [r.statements for r in result.program.remarks if r.code == "pretiling-fused"] == [("S0", "S1")]
    assert result.text.count("for (") == 2
    shifted = compiled_and_run(TWO_STREAMS.replace("In[i][j] * 0.5f", "In[j][i] * 0.5f"), tmp_path)
    assert "pretiling-fused" not in {r.code for r in shifted.program.remarks}


EQUAKE = function(
    "int n, int m, const int *from, const double *v, double A[n][m], double B[n][m]",
    "double s[n][m];",
    """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i][j] = 0;
    for (int i = 0; i < n; i++) {
        int k = from[i];
        while (k < from[i] + 3) {
            for (int j = 0; j < m; j++)
                s[i][j] += v[k % 5] * A[i][j];
            k++;
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[i][j] = 2 * s[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = B[i][j] + A[i][j];
""",
)


def joined_around(text: str, folder: Path) -> list[tuple[str, ...]]:
    """The statements that share the loops around a black box."""
    region = region_of(text, folder)
    result = compile_region(region, Options())
    assert result.verified
    assert not {r.code for r in result.program.remarks} & {"verification-failed", "text-not-checked"}
    return [r.statements for r in result.program.remarks if "a loop on data" in r.message]


def test_a_loop_on_data_joins_the_nests_around_it(tmp_path: Path) -> None:
    """Section 7.1.2: what goes before it and after it shares its rows, and nothing is permuted by hand."""
    assert joined_around(EQUAKE, tmp_path) == [("S0", "S1", "S2", "S3", "S4")]


def test_a_loop_on_data_stays_apart_where_rows_depend_on_each_other(tmp_path: Path) -> None:
    """The black box may read any row of what the last nest changes."""
    told = joined_around(EQUAKE.replace("v[k % 5] * A[i][j]", "v[k % 5] * A[k % n][j]"), tmp_path)
    assert told == [("S0", "S1", "S2", "S3")]
    shifted = EQUAKE.replace("2 * s[i][j]", "2 * s[n - 1 - i][j]")
    assert joined_around(shifted, tmp_path) == [("S0", "S1", "S2")]


def test_no_fusion_without_tiles(tmp_path: Path) -> None:
    assert fused(compiled_and_run(LIVE_OUT, tmp_path, tile_sizes=None)) == set()


@pytest.mark.parametrize("heuristic", ["min", "smart", "max"])
def test_heuristics_of_isl(tmp_path: Path, heuristic: str) -> None:
    for text in (LIVE_OUT, TWO_WRITERS, IN_A_TIME_LOOP, BATCH_NORMALISATION):
        assert fused(compiled_and_run(text, tmp_path, fuse=heuristic, tile_sizes=(5, 7))) == set()


@pytest.mark.parametrize("sizes", ["auto", (400, 8), (8, 400), (7, 3), (400, 400)])
def test_a_tile_that_covers_a_whole_dimension(tmp_path: Path, sizes: Any) -> None:
    """isl prints no loop for a single tile, and the buffer's corner must not be taken from the next loop."""
    text = function(
        "float In[20][300], float Out[20][300]",
        "float A[20][300];",
        """
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 300; j++)
            A[i][j] = 0.5f * In[i][j];
    for (int i = 0; i < 18; i++)
        for (int j = 0; j < 298; j++)
            Out[i][j] = A[i][j] + A[i + 2][j + 2];
""",
    )
    assert fused(compiled_and_run(text, tmp_path, tile_sizes=sizes)) == {"S0"}


MEMBERS = """
struct pair { double x, y; };
void f(int n, const double *restrict a, double *restrict out)
{
    struct pair p[n + 31];
    BEFORE
#pragma scop
    for (int i = 0; i < n + 31; i++) {
        p[i].x = a[i] * 0.25;
        p[i].y = p[i].x * 0.75;
    }
    for (int i = 0; i < 38; i++)
        out[i] = p[i + 1].x + 0.9 * p[i].x + p[i + 1].y;
#pragma endscop
}
"""


@pytest.mark.parametrize(("before", "copied"), [("", False), ("p[n].x = n;", True)])
def test_a_tile_is_not_filled_with_what_was_never_set(tmp_path: Path, before: str, copied: bool) -> None:
    """gcc warns where it is: `p is used uninitialized`."""
    result = compiled_and_run(MEMBERS.replace("BEFORE", before), tmp_path, max_recompute=1e6)
    assert fused(result) == {"S0", "S1"}
    assert any(name.startswith("fill_") for name in result.program.copies) is copied


BESIDE = function(
    "int n, double B1[n + 54], double B4[n + 9]",
    "double B2[n + 9], B3[n + 6];",
    """
    for (int i = 0; i < n + 9; i++)
        B2[i] = B1[i];
    for (int i = 0; i < n + 6; i++)
        B3[i] = B2[i] + B2[i + 3];
    for (int i = 2; i < 5; i++)
        B4[i] = B3[i] + B3[i + 2];
    for (int i = 3; i < n - 1; i++)
        B4[i] = B4[i - 1] + B4[i + 2] + B3[i + 3];
""",
)


def test_tiles_beside_each_other_run_the_same_instances(tmp_path: Path) -> None:
    """isl writes two tiles of the third nest one after the other, without a loop: an instance of the second nest does
    not say in which of them it runs, all that stand in one place do."""
    region = region_of(BESIDE, tmp_path)
    result = compile_region(region, Options(tile_sizes=(4, 8), max_recompute=100.0))
    assert fused(result) == {"S0", "S1"}
    assert not {"not-printed", "verification-failed"} & {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 5, 19, 42)) == []


SCALAR_BETWEEN = function(
    "int n, int In[n], int C[n], int Out[n]",
    "int s = 1;",
    """
    s = In[0];
    for (int i = 0; i < n; i++)
        C[i] = In[i] + s;
    for (int i = 0; i < n; i++)
        s = In[i] - s;
    for (int i = 0; i < n; i++)
        Out[i] = C[i] + s;
""",
)


def test_a_scalar_that_changes_on_the_way_keeps_its_reader_where_it_is(tmp_path: Path) -> None:
    """The producer writes no `s`, so that nothing of `s` leaves it, but what it reads comes from outside."""
    result = compiled_and_run(SCALAR_BETWEEN, tmp_path, max_recompute=1e6)
    assert reasons(result)["S1"] == "input-overwritten"


def test_more_producers_than_the_model_looks_at_together_keep_the_tiles_of_those_that_it_does(tmp_path: Path) -> None:
    """Ten stages of which the model judges eight: the others are fused as well, and no other sizes are tried for it."""
    arrays = "float in[2048][2048], float a10[2048][2048]"
    names = ["in", *(f"a{k}" for k in range(1, 11))]
    stages = "".join(
        f"    for (int i = {k}; i < {2048 - k}; i++)\n        for (int j = 0; j < 2048; j++)\n"
        f"            {names[k]}[i][j] = {names[k - 1]}[i - 1][j] + {names[k - 1]}[i + 1][j];\n"
        for k in range(1, 11)
    )
    local = ", ".join(f"a{k}[2048][2048]" for k in range(1, 10))
    result = compile_region(region_of(function(arrays, f"float {local};", stages), tmp_path), Options())
    assert result.verified
    (group,) = result.program.groups
    assert len(group.fused) == 9


def test_a_box_of_tiles_in_many_pieces(tmp_path: Path) -> None:
    """isl ended the process: it was to join hundreds of pieces, one for each of the tiles of two readers."""
    text = function(
        "double In[49][56], double B[41], double D[30][33], double Out[40]",
        "double A[46][55], C[42][53], E[12][12];",
        """for (int i = 0; i < 46; i++) for (int j = 0; j < 55; j++) A[i][j] = In[i + 1][j] + In[i + 3][j + 1];
        for (int i = 0; i < 42; i++) for (int j = 0; j < 53; j++) C[i][j] = A[i + 4][j + 2] + A[i][j + 2];
        for (int i = 0; i < 12; i++) for (int j = 2; j < 12; j++) E[i][j] = C[i + 5][j + 41];
        for (int i = 0; i < 12; i++)
            for (int j = 2; j < 12; j++) D[i][j] = C[i + 2][j + 38] + C[i][j + 39] + C[i + 4][j + 39];
        for (int i = 3; i < 30; i += 4) Out[i] = D[2][i + 1] + D[i][i + 3];
        for (int i = 0; i < 40; i++) Out[i] = C[i + 2][-i + 39] * B[i + 1];""",
    )
    result = compile_region(region_of(text, tmp_path), Options(tile_sizes=(3, 7), threads="always"))
    assert result.verified
    assert "verification-failed" not in {r.code for r in result.program.remarks}


def test_no_write_is_overtaken_by_one_that_no_tile_needs(tmp_path: Path) -> None:
    """Of n = 33 a tile's cells have one more row than is read, of which only the first writers have room in `in`."""
    text = function(
        "int n, float in[26][33], float T[52][33], float out[n]",
        "",
        """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 33; j++)
            for (int k = 0; k < n + 1; k++)
                T[i + k][j] = in[i][j] + in[i][i + 2];
    for (int i = 0; i <= n - 1; i++)
        out[i] = 4 * T[(i < 1 ? 0 : i - 1)][n - 1];
""",
    )
    region = region_of(text, tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert reasons(result)["S0"] == "order-of-writes"
    assert check(region, result, sizes=(1, 5, 19, 26)) == []
