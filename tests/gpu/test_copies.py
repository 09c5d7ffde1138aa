"""How panels in shared memory are filled, and results stored: by all threads of a block, 16 bytes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_kernels import assert_same
from tests.programs import region_of

CONV = """
void conv(float in[32][5][9][9], float w[65][5][3][3], float out[32][65][7][7])
{
#pragma scop
    for (int b = 0; b < 32; b++)
        for (int f = 0; f < 65; f++)
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 7; x++) {
                    out[b][f][y][x] = 0;
                    for (int c = 0; c < 5; c++)
                        for (int u = 0; u < 3; u++)
                            for (int v = 0; v < 3; v++)
                                out[b][f][y][x] += in[b][c][y + u][x + v] * w[f][c][u][v];
                }
#pragma endscop
}
"""
MADE = """
    static float in[32][5][9][9];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < 32; b++)
        for (int c = 0; c < 5; c++)
            for (int y = 0; y < 9; y++)
                for (int x = 0; x < 9; x++)
                    in[b][c][y][x] = y < 1 ? 0.0f : from[b][c][y][x] * scale[c];"""
"""A producer of what the convolution reads."""
PRODUCT = """
void product(int n, float A[n][48], float B[48][{columns}], float C[n][{columns}])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < {columns}; j++) {{
            C[i][j] = 0;
            for (int k = 0; k < 48; k++)
                C[i][j] += A[i][k] * B[k][j];
        }}
#pragma endscop
}}
"""


def lines_to(text: str, start: str) -> tuple[list[str], int]:
    """The lines of a text, and the first one that starts so."""
    lines = [line.strip() for line in text.splitlines()]
    return lines, next(k for k, line in enumerate(lines) if line.startswith(start))


@pytest.mark.slow
def test_boxes_are_dealt_out_by_one_index(tmp_path: Path) -> None:
    """A window of 3 x 3 for each filter: no two loops have work for a block of 32 x 4 threads, all together have. Each
    thread has two turns, and 64 of them a third one."""
    compiled = assert_same(region_of(CONV, tmp_path), Options(target="cuda", machine="h200"))
    lines, first = lines_to(compiled.device[0], "polyc_fetch(&w_panel[0]")
    place = [
        "const int x0 = c / 18 + ft;",
        "const int x1 = c / 9 % 2;",
        "const int x2 = c / 3 % 3;",
        "const int x3 = c % 3;",
    ]
    assert lines[first - 7 : first] == [
        "#pragma unroll",
        "for (int q = 0; q < 2; q++) {",
        "const int c = 32 * ty + tx + 256 * q;",
        *place,
    ]
    assert lines[first + 2 : first + 8] == [
        "if (32 * ty + tx < 64) {",
        "const int c = 32 * ty + tx + 512;",
        *place,
    ]


@pytest.mark.slow
def test_panels_made_of_elements_go_through_registers(tmp_path: Path) -> None:
    """The element is loaded before the panel in use is read, and what is made of it is stored after that."""
    made = CONV.replace("#pragma scop", MADE).replace("void conv(", "void made(float scale[5], ", 1)
    made = made.replace("float in[", "float from[", 1).replace("[5]", "[48]").replace("c < 5", "c < 48")
    compiled = assert_same(region_of(made, tmp_path), Options(target="cuda", machine="h200"))
    text = compiled.device[0]
    load, used, store = (
        text.rindex(part)
        for part in ("in_panel_next[q] = (int)x2", "out_sum[b][f] +=", "? 0.0f : in_panel_next[q] * scale[x1]")
    )
    assert load < used < store


@pytest.mark.slow
def test_results_are_stored_16_bytes_at_once(tmp_path: Path) -> None:
    """Four cells are stored together, or left out together where the last tile ends."""
    compiled = assert_same(region_of(PRODUCT.format(columns=1028), tmp_path), Options(target="cuda", machine="h200"))
    lines, first = lines_to(compiled.device[0], "polyc_store16")
    assert lines[first - 6 : first + 1] == [
        "for (int i2 = 0; i2 < 4; i2++) {",
        "if (it + 32 * ty + 4 * ly + 16 * i + i2 < n && jt + 4 * lx <= 1027) {",
        "float C_row[4] __attribute__((aligned(16)));",
        "#pragma unroll",
        "for (int j = 0; j < 4; j++)",
        "C_row[j] = C_sum[4 * i + i2][j];",
        "polyc_store16(&C[it + 32 * ty + 4 * ly + 16 * i + i2][jt + 4 * lx], &C_row[0]);",
    ]


@pytest.mark.slow
def test_rows_that_begin_anywhere_are_stored_one_by_one(tmp_path: Path) -> None:
    compiled = assert_same(region_of(PRODUCT.format(columns=50), tmp_path), Options(target="cuda", machine="h200"))
    assert "polyc_store16" not in compiled.device[0]


@pytest.mark.slow
def test_rows_of_any_length_are_asked_for_it(tmp_path: Path) -> None:
    text = PRODUCT.format(columns="m").replace("int n,", "int n, int m,")
    compiled = assert_same(region_of(text, tmp_path), Options(target="cuda", machine="h200"))
    lines, first = lines_to(compiled.device[0], "if (m % 4 == 0) {")
    (other,) = [k for k, line in enumerate(lines) if line == "} else {" and k > first]
    stores = [k for k, line in enumerate(lines) if line.startswith("polyc_store16")]
    assert [first < k < other for k in stores] == [True]
    assert next(line for line in lines[other:] if "] = C_sum" in line).startswith("C[(it + ")


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "through"), [(48, True), (50, False)])
def test_what_lies_across_goes_through_registers(rows: int, through: bool, tmp_path: Path) -> None:
    """A's rows lie along the sum, and its panel has them across: loaded before the products, stored after them."""
    text = PRODUCT.format(columns=1028).replace("[48]", f"[{rows}]").replace("k < 48", f"k < {rows}")
    compiled = assert_same(region_of(text, tmp_path), Options(target="cuda", machine="h200"))
    lines = [line.strip() for line in compiled.device[0].splitlines()]
    loads = [k for k, line in enumerate(lines) if line.startswith("polyc_load16(&A_panel_next[q][0]")]
    stores = [k for k, line in enumerate(lines) if line.endswith("= A_panel_next[q][x12];")]
    sums = next(k for k, line in enumerate(lines) if "] += A_panel[stage]" in line)
    assert len(loads) == len(stores) == (2 if through else 0)
    if through:
        assert loads[0] < stores[0] < loads[1] < sums < stores[1]


@pytest.mark.slow
def test_indices_of_32_bits(tmp_path: Path) -> None:
    """Where all sizes are known, and no index is a value; tiles need no loop where each block has one."""
    text = PRODUCT.format(columns=1028).replace("int n, float A[n]", "float A[96]").replace("C[n]", "C[96]")
    text = text.replace("i < n", "i < 96")
    known = assert_same(region_of(text, tmp_path), Options(target="cuda", machine="h200")).device[0]
    assert "const int by = blockIdx.y;" in known
    assert "  const int jt = 32 * bx;" in known
    assert "long" not in known[: known.index("static void start_")]
    given = assert_same(region_of(text, tmp_path), Options(target="cuda", machine="h200", grid=(2, 2))).device[0]
    assert "const long by = blockIdx.y;" in given
    assert "for (long jt = 32 * bx; jt < 1056; jt += 32L * gridDim.x)" in given
    value = "void f(float a[64][64]) {\n#pragma scop\nfor (long i = 0; i < 64; i++) for (long j = 0; j < 64; j++)\n"
    value += "a[i][j] = (float)(i * j * 3000000);\n#pragma endscop\n}\n"
    assert "const long by" in assert_same(region_of(value, tmp_path), Options(target="cuda")).device[0]
