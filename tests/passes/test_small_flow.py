"""The dependences at small sizes, by running the region's accesses: isl's are the same, or they are refused."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc import flow
from polyc.analysis.dependences import compute_dependences
from polyc.analysis.small_flow import WrongFlow, check_at_small_sizes
from polyc.model.program import Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from tests.programs import region_of

LAST_OF_THREE = """
double b[99][99];
void f(int n) {
#pragma scop
  for (int i = 1; i < n; i++)
    if (i % 2 == 0)
      b[i / 2 + 2][i / 2 + 1] = 3;
  for (int i = 0; i < n + 2; i += 3)
    for (int j = i; j < n + 2; j += 2)
      b[i + j + 2][j / 2 + 1] = 4;
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n + 2; j += 2)
      b[i][j % 2 + 1] = 6;
#pragma endscop
}
"""
UPDATES = """
double a[99], b[99];
void f(int n) {
#pragma scop
  for (int i = 0; i < n; i += 2) {
    a[i] += b[i];
    if (b[i] > 0)
      b[i + 1] = a[i / 2];
  }
  for (int i = 0; i < n; i++)
    a[i] = b[i];
#pragma endscop
}
"""

CHOSEN = """
double a[99], b[99][32];
void f(int n, const int *seen) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = b[i][seen[0] & 31];
#pragma endscop
}
"""


def scop_of(text: str, folder: Path) -> Scop:
    return region_of(text, folder).scop


@pytest.mark.parametrize("text", [LAST_OF_THREE, UPDATES, CHOSEN])
def test_isl_agrees(text: str, tmp_path: Path) -> None:
    compute_dependences(scop_of(text, tmp_path))


def test_a_wrong_maximum_of_isl_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The region stays as it was, and the remark says that isl is at fault."""
    monkeypatch.setattr(flow, "_is_last", lambda *_: True)
    read = "  for (int i = 2; i < n; i++)\n    for (int j = 2; j < n; j++)\n      c[i][j] = b[i][j];\n#pragma endscop"
    text = LAST_OF_THREE.replace("b[99][99];", "b[99][99], c[99][99];").replace("#pragma endscop", read)
    region = region_of(text, tmp_path)
    with pytest.raises(WrongFlow):
        compute_dependences(region.scop)
    result = compile_region(region, Options())
    assert result.program.tree is region.scop.tree
    assert [remark.code for remark in result.program.remarks] == ["isl-failed"]
    assert "the values read from b" in result.program.remarks[0].message


@pytest.mark.parametrize("part", ["flow", "live_in", "last_writer", "lasting_false"])
def test_a_dependence_that_is_missing(part: str, tmp_path: Path) -> None:
    scop = scop_of(UPDATES, tmp_path)
    found = compute_dependences(scop)
    if part == "flow":
        lost = replace(found, flow_by_array={name: without_one(one) for name, one in found.flow_by_array.items()})
    else:
        lost = replace(found, **{part: without_one(getattr(found, part))})
    with pytest.raises(WrongFlow):
        check_at_small_sizes(scop, lost)


def without_one(relation: isl.UnionMap) -> isl.UnionMap:
    """The relation without one pair, at the size that is looked at."""
    here = relation.intersect_params(isl.Set("[n] -> { : n = 7 }"))
    return relation.subtract(here.sample())


@pytest.mark.parametrize("seed", sorted({*range(30)} - {3, 9, 13}))  # of these isl takes long
def test_drawn_regions(seed: int, tmp_path: Path) -> None:
    """Steps, remainders, conditions on halves and negative coefficients, in nests that share their arrays."""
    compute_dependences(scop_of(drawn_text(random.Random(seed)), tmp_path))


def drawn_text(draw: random.Random) -> str:
    nests = "".join(drawn_nest(draw) for _ in range(draw.randint(2, 3)))
    return f"int a[99][99], b[99][99];\nvoid f(int n) {{\n#pragma scop\n{nests}#pragma endscop\n}}\n"


def drawn_nest(draw: random.Random) -> str:
    names = ["i", "j"][: draw.choice((1, 2, 2))]
    text = ""
    for name in names:
        low, high = draw.choice("0012"), draw.choice(("n", "n + 4", *("2 * i + 1" for _ in text[:1])))
        text += f"for (int {name} = {low}; {name} < {high}; {name} += {draw.choice((1, 1, 2, 2, 3))})\n"
    if draw.random() < 0.4:
        return f"{text}if ({drawn_condition(draw, names)}) {drawn_assignment(draw, names)}" + (
            f"else {drawn_assignment(draw, names)}" if draw.random() < 0.5 else ""
        )
    return text + drawn_assignment(draw, names)


def drawn_assignment(draw: random.Random, names: list[str]) -> str:
    read, other = drawn_reference(draw, names), drawn_reference(draw, names)
    return f"{drawn_reference(draw, names)} {draw.choice(('=', '=', '+='))} {read} * 2 + {other};\n"


def drawn_reference(draw: random.Random, names: list[str]) -> str:
    return f"{draw.choice('ab')}[{drawn_subscript(draw, names)}][{drawn_subscript(draw, names)}]"


def drawn_subscript(draw: random.Random, names: list[str]) -> str:
    name, near = draw.choice(names), draw.randint(0, 3)
    forms = (f"{name} % 2", f"{name} % 3", f"{name} / 2", f"2 * {name}", f"n + 4 - {name}", f"{names[0]} + {names[-1]}")
    return f"{name if draw.random() < 0.5 else draw.choice(forms)} + {near}"


def drawn_condition(draw: random.Random, names: list[str]) -> str:
    name = draw.choice(names)
    forms = (f"{name} + {name} < n", f"{name} % 2 == 1", f"{name} % 3 != 0", f"{names[0]} + {names[-1]} < n")
    return draw.choice(forms)
