"""Flat tiles that slide and stay in the first level of the caches: where they are chosen, and what they compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyc.attempt import Attempt
from polyc.model.program import Compiled, Options, Program
from polyc.pipeline import compile_region
from polyc.runtime.check import check as differences
from tests.programs import region_of

CORNERS = """
#define SUM(x, y) (ROW(x, y, i) + ROW(x, y, i + 1) + ROW(x, y, i + 2))
#define ROW(x, y, i) x[i][j] * y[i][j] + x[i][j + 1] * y[i][j + 1] + x[i][j + 2] * y[i][j + 2]
#define ACROSS(i) in[i][j + 2] - in[i][j]
#define DOWN(j) in[i + 2][j] - in[i][j]
void f(float in[ROWS + 4][COLS + 4], float out[ROWS][COLS])
{
    float gx[ROWS + 2][COLS + 2], gy[ROWS + 2][COLS + 2];
#pragma scop
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            gx[i][j] = ACROSS(i) + 2.0f * (ACROSS(i + 1)) + ACROSS(i + 2);
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            gy[i][j] = DOWN(j) + 2.0f * (DOWN(j + 1)) + DOWN(j + 2);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            out[i][j] = SUM(gx, gx) * SUM(gy, gy) - SUM(gx, gy) * SUM(gx, gy);
#pragma endscop
}
"""
BLURS = """
#define ROW(x, i) (0.1f * x[i][j] + 0.2f * x[i][j + 1] + 0.4f * x[i][j + 2] + 0.2f * x[i][j + 3])
#define WINDOW(x) ROW(x, i) + 2.0f * ROW(x, i + 1) + 3.0f * ROW(x, i + 2)
void f(float in[ROWS + 6][COLS + 9], float out[ROWS][COLS])
{
    float a[ROWS + 4][COLS + 6], b[ROWS + 2][COLS + 3];
#pragma scop
    for (int i = 0; i < ROWS + 4; i++)
        for (int j = 0; j < COLS + 6; j++)
            a[i][j] = WINDOW(in);
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 3; j++)
            b[i][j] = WINDOW(a);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            out[i][j] = WINDOW(b);
#pragma endscop
}
"""


def of(text: str, rows: int | str, columns: int) -> str:
    return f"#define ROWS {rows}\n#define COLS {columns}\n{text}"


def compiled(text: str, folder: Path, machine: str = "x86-64-v3", **options: Any) -> Compiled:
    result = compile_region(region_of(text, folder), Options(machine=machine, **options))
    assert result.verified
    assert "text-not-checked" not in {r.code for r in result.program.remarks}
    return result


def windows(program: Program) -> set[str]:
    return {buffer.array for buffer in program.buffers.values() if buffer.window is not None}


def sizes_told(program: Program) -> str:
    (remark,) = (r for r in program.remarks if r.code == "cpu-sizes")
    return remark.message


@pytest.mark.parametrize(
    ("text", "machine", "kept"),
    [(CORNERS, "x86-64-v3", {"gx", "gy"}), (BLURS, "aarch64", {"a", "b"})],
    ids=["corners", "blurs"],
)
@pytest.mark.parametrize(("rows", "columns"), [(1200, 700), (404, 1507)])
def test_rows_are_made_just_before_they_are_read(
    text: str, machine: str, kept: set[str], rows: int, columns: int, tmp_path: Path
) -> None:
    """Of two stages and of three; the last tile of a row is narrower than others, the last strip is shorter."""
    found = compiled(of(text, rows, columns), tmp_path, machine)
    assert windows(found.program) == kept
    assert "they slide in strips of" in sizes_told(found.program)
    if text is CORNERS:  # three stages may repeat so much in tiles by themselves that strips pay in any case
        assert "tiles of 4 x " in sizes_told(found.program)
        assert "a wider one does not fit L1" in sizes_told(found.program)
    assert "for (int r = 0; r < 4; r++)" in found.text
    assert differences(region_of(of(text, rows, columns), tmp_path), found, sizes=(1,)) == []


@pytest.mark.parametrize("rows", [1211, 3])
def test_tiles_stand_by_themselves_where_rows_are_left_over(rows: int, tmp_path: Path) -> None:
    found = compiled(of(CORNERS, rows, 600), tmp_path)
    assert "tiles of 4 x" not in sizes_told(found.program)


def test_strips_whose_text_takes_too_long_to_read_are_taken_back(tmp_path: Path, monkeypatch: Any) -> None:
    text = of(CORNERS, 404, 1507)
    plain = compiled(text, tmp_path, strips=0)
    real = Attempt.reread

    def reread(self: Any, program: Program, rendered: Any) -> tuple[Program, bool]:
        self.unread = bool(windows(program))
        return real(self, program, rendered)

    monkeypatch.setattr(Attempt, "reread", reread)
    found = compiled(text, tmp_path)
    assert "no-sliding-window" in {r.code for r in found.program.remarks}
    assert found.text == plain.text
