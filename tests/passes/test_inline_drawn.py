"""Drawn programs full of elementwise producers: whatever is inlined, the values stay, and all is checked.

The fuzzer draws few such programs. Here producers write a square in some order, readers take rows, columns, halves and
every other element of it, types differ, and some inputs are overwritten on the way.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of
from tests.turns import EVERYTHING

TYPES = ("float", "double", "int", "unsigned char", "short", "long", "unsigned")
FLOATING = ("float", "double")
INDICES = ("{0}", "2 * n - 1 - {0}", "2 * {0}", "2 * {0} + 1", "{0} + n", "n - 1 - {0}")
"""Of a row or column; {0} runs over half of it in all but the first two."""
WHOLE = INDICES[:2]
WIDTH = "for (int {0} = 0; {0} < {1}; {0}++)"
HEAD = "void drawn(int n, double A[2 * n][2 * n], float B[2 * n][2 * n], int I[2 * n][2 * n]"


def drawn(seed: int) -> str:
    """A program of 2 to 6 nests."""
    pick = random.Random(seed)
    types: dict[str, str] = {}
    outputs: dict[str, str] = {}
    nests: list[str] = []

    def leaf(row: str, column: str, floating: bool) -> str:
        names = ["I", *(name for name, kind in types.items() if kind not in FLOATING)]
        if floating:
            names += ["A", "B", *(name for name, kind in types.items() if kind in FLOATING)]
        name = pick.choice(names)
        if types and pick.random() < 0.6:
            name = pick.choice([x for x in names if x in types] or names)
        element = f"{name}[{row}][{column}]"
        return element if floating else f"({element} % 50)"

    def place(halved: bool) -> tuple[str, str]:
        row, column = (pick.choice(INDICES if halved else WHOLE).format(x) for x in "ij")
        return (column, row) if pick.random() < 0.5 else (row, column)

    def value(halved: bool, floating: bool) -> str:
        first, second = leaf(*place(halved), floating), leaf(*place(halved), floating)
        forms = [f"{first}", f"{first} + {second}", f"{first} * 3 - i", f"{first} - j * {second}"]
        forms.append(f"i > j ? {first} : {second} + 1")
        if floating:
            forms += [f"{first} / 3.0f + {second}", f"0.5 * {first}"]
        return pick.choice(forms)

    for number in range(pick.randint(2, 6)):
        kept = number > 0 and pick.random() < 0.4
        kind = pick.choice(TYPES)
        halved = kept and pick.random() < 0.7
        text = value(halved, kind in FLOATING)
        target = pick.choice(["A", "I"]) if pick.random() < 0.1 else f"{'C' if kept else 'T'}{number}"
        if target == "I":
            text = value(halved, False)
        row, column = ("i", "j") if kept else place(False)
        count = "n" if halved else "2 * n"
        loops = f"{WIDTH.format('i', count)}\n        {WIDTH.format('j', count)}"
        nests.append(f"    {loops}\n            {target}[{row}][{column}] = {text};")
        if target[0] == "T":
            types[target] = kind
        elif target[0] == "C":
            outputs[target] = kind
    if not outputs:
        outputs["C9"] = "double"
        loops = f"{WIDTH.format('i', 'n')}\n        {WIDTH.format('j', 'n')}"
        nests.append(f"    {loops}\n            C9[i][j] = {value(True, True)};")
    arguments = "".join(f", {kind} {name}[2 * n][2 * n]" for name, kind in outputs.items())
    declared = "".join(f"    {kind} {name}[2 * n][2 * n];\n" for name, kind in types.items())
    body = "\n".join(nests)
    return f"{HEAD}{arguments})\n{{\n{declared}#pragma scop\n{body}\n#pragma endscop\n}}\n"


def outcome(seed: int, folder: Path) -> tuple[Region, Compiled]:
    tiles = (None, "auto", (5, 7))[seed % 3]
    region = region_of(drawn(seed), folder)
    compiled = compile_region(region, Options(tile_sizes=tiles))
    assert compiled.verified
    said = {r.code for r in compiled.program.remarks}
    assert not said & {"verification-failed", "isl-failed", "not-printed"}
    assert check(region, compiled, sizes=(1, 2, 5, 12)) == []
    return region, compiled


def test_drawn_programs(tmp_path: Path) -> None:
    inlined = unread = 0
    for seed in range(10):
        _, compiled = outcome(seed, tmp_path)
        codes = [r.code for r in compiled.program.remarks]
        assert "budget" not in codes
        inlined += codes.count("inlined")
        unread += "text-not-checked" in codes and "inlined" in codes
    assert inlined >= 3
    assert unread == 0


@pytest.mark.long
@pytest.mark.slow
def test_more_drawn_programs(tmp_path: Path) -> None:
    """With POLYC_ALL_MODES=1, twenty times as many."""
    for seed in range(1000, 1300 if EVERYTHING else 1015):
        outcome(seed, tmp_path)
