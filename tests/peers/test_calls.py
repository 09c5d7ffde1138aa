"""The script that calls the functions of other people's files, on a file of our own."""

from __future__ import annotations

import sys
from pathlib import Path

from polyc.model.program import InputOptions
from tests.peers.calls import Settings, differing

FILE = """#include <stdlib.h>
struct part { int n; const double *values; double at[3]; };
static double table[40];
static double scaled(double x) { return x * 3; }
void shift(int n, double *a, const double *b)
{
    for (int i = 1; i < n; i++)
        a[i] = b[i - 1] + scaled(a[i]);
}
void of_struct(struct part *p, struct part q, double *sum)
{
    for (int i = 0; i < p->n; i++)
        sum[i] = p->values[i] * 0.5 + q.at[1];
}
void filled(int n, int (*rows)[4])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            table[i] += rows[i][j];
}
int main(int count, char **words) { return atoi(words[count - 1]); }
"""
FAULTY = """
import sys
from polyc.cli.main import main
sys.argv[0] = "polyc"
try:
    main()
finally:
    if sys.argv[1] == "compile":
        text = open(sys.argv[-1]).read()
        open(sys.argv[-1], "w").write(text.replace("0.5", "0.75").replace("table[i] += ", "table[i] -= "))
"""
OPTIONS = InputOptions(detect=True, allow_no_scop=True)


def told(folder: Path, settings: Settings) -> tuple[list[str], int]:
    file = folder / "own.c"
    file.write_text(FILE)
    (folder / "built").mkdir()
    lines, compared = differing(file, settings, folder / "built")
    return [line.removeprefix(str(file)) for line in lines], compared


def test_a_right_file(tmp_path: Path) -> None:
    lines, compared = told(tmp_path, Settings(OPTIONS, (), "compile", words=("--threads", "always")))
    assert not lines
    assert compared > 40


def test_wrong_values_are_found(tmp_path: Path) -> None:
    script = tmp_path / "faulty.py"
    script.write_text(FAULTY)
    words = ("--threads", "always")
    lines, _ = told(tmp_path, Settings(OPTIONS, (), "compile", words=words, polyc=(sys.executable, str(script))))
    assert [line.split("in trials")[0] for line in lines] == [
        ": of_struct (1): another value ",
        ": filled (2): another value ",
    ]
