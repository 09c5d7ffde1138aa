"""Numbers of macros that another build may change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import polyc
from polyc.frontend.text.numbers import chosen_numbers, number_of

FILE = """#ifdef SMALL
#define ROWS 4
#else
#define ROWS (1000 * SCALE)
#endif
#define COLUMNS 700 /* in all builds */
#define SCALE 2u
double a[ROWS][COLUMNS], b[ROWS][COLUMNS];
void f(void)
{
#pragma scop
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            a[i][j] = b[j % ROWS][i % COLUMNS] + ADDED;
#pragma endscop
}
"""


def test_a_build_with_other_numbers_ends(tmp_path: Path) -> None:
    """The text has numbers where macros were: with other arrays it would write behind them."""
    file = tmp_path / "t.c"
    file.write_text(polyc.compile(FILE, defines=["ADDED=3"]).text)
    assert '#if ADDED != 3 || ROWS != 2000\n#error "polyc compiled this region for ADDED = 3, ROWS = 2000"' in (
        file.read_text()
    )

    def built(*words: str) -> bool:
        command = ["gcc", "-w", "-c", str(file), "-o", str(tmp_path / "t.o"), *words]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert built("-DADDED=3")
    assert not built("-DADDED=3", "-DSMALL")
    assert not built("-DADDED=4")


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("20", 20),
        (" (4 * 5UL)", 20),
        (" (OTHER + 1) / 2", 21),
        (" -3", -3),
        (" 0x10", 16),
        ("(x) x", None),
        (" 1.5", None),
        (" sizeof(int)", None),
        (" n", None),
        (" NAME", None),
        (" (NAME + NAME + NAME)", None),
        ("", None),
    ],
)
def test_numbers(body: str, number: int | None) -> None:
    assert number_of("NAME", {"NAME": body, "OTHER": " 41"}) == number


def test_what_no_other_build_changes() -> None:
    code = "#define A 1\n#if X\n#define B 2\n# define C (B + 1)\n#endif\n#define D 4\n"
    macros = {"A": " 1", "B": " 2", "C": " (B + 1)", "D": " 4", "E": " 5", "F": " C"}
    assert chosen_numbers(code, "i < A + F; j < D", macros, ()) == (("B", 2), ("C", 3))
    assert chosen_numbers(code, "i < E", macros, ("-O2", "-DE=5")) == (("E", 5),)
