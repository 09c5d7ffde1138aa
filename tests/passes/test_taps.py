"""Products are multiplied where windows sum them up, if the windows go over fewer arrays then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

LOOPS = "for (int i = 0; i < n + 2; i++) for (int j = 0; j < n + 2; j++)"
WINDOW = "x[i][j] + x[i][j + 1] - x[i + 1][j] + x[i + 2][j + 2]"


def program(
    products: dict[str, str], before: str = "", between: str = "", sums: str = WINDOW, kind: str = "float"
) -> str:
    """Products of a and b, and a window of each."""
    made = "\n".join(f"    {LOOPS} {name}[i][j] = {value};" for name, value in products.items())
    read = "\n".join(
        f"    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s{name}[i][j] = {sums.replace('x[', name + '[')};"
        for name in products
    )
    arrays = ", ".join(f"{name}[n + 2][n + 2]" for name in products)
    outputs = ", ".join(f"float s{name}[n][n]" for name in products)
    return f"""
void f(int n, float a[n + 2][n + 2], float b[n + 2][n + 2], {outputs})
{{
    {kind} {arrays};
    {before}
#pragma scop
{made}
    {between}
{read}
#pragma endscop
}}
"""


THREE = {"aa": "a[i][j] * a[i][j]", "ab": "a[i][j] * b[i][j]", "bb": "b[i][j] * b[i][j]"}
OTHERS = {
    "as many arrays": program({"aa": "a[i][j] * a[i][j]", "bb": "b[i][j] * b[i][j]"}),
    "one of one": program({"aa": "a[i][j] * a[i][j]"}),
    "another type": program(THREE, kind="double"),
    "other elements": program(THREE | {"ab": "a[i][j] * b[j][i]"}),
    "no products": program({name: value.replace("*", "+") for name, value in THREE.items()}),
    "more than a product": program({name: value + " * 2.0f" for name, value in THREE.items()}),
    "no sums": program(THREE, sums="x[i][j] * x[i][j + 1] + x[i + 1][j]"),
    "factors of sums": program(THREE, sums="0.5f * x[i][j] + 0.25f * x[i][j + 1]"),
    "overwritten": program(THREE, between=f"{LOOPS} a[i][j] = 1.0f;"),
    "an update": program(THREE, between=f"{LOOPS} aa[i][j] += 1.0f;"),
}


def compiled(text: str, folder: Path, **options: object) -> Compiled:
    region = region_of(text, folder)
    found = compile_region(region, Options(**options))  # type: ignore[arg-type]
    assert found.verified
    assert not {r.code for r in found.program.remarks} & {"verification-failed", "text-not-checked", "budget"}
    assert check(region, found, sizes=(1, 2, 5, 37)) == []
    return found


def inlined(found: Compiled) -> set[str]:
    return {str(r.data["array"]) for r in found.program.remarks if r.code == "inlined"}


@pytest.mark.parametrize("strips", [None, 3], ids=["tiles", "strips"])
def test_three_products_of_two_arrays(strips: int | None, tmp_path: Path) -> None:
    found = compiled(program(THREE), tmp_path, strips=strips)
    assert inlined(found) == {"aa", "ab", "bb"}
    assert "a[i][j] * b[i][j] + a[i][j + 1] * b[i][j + 1] - a[i + 1][j] * b[i + 1][j]" in found.text
    assert not re.search(r"\b(aa|ab|bb)\[", found.text)


@pytest.mark.parametrize("name", OTHERS)
def test_products_stay(name: str, tmp_path: Path) -> None:
    assert inlined(compiled(OTHERS[name], tmp_path)) == set()


@pytest.mark.parametrize("options", [{"inline": False}, {"target": "cuda"}], ids=str)
def test_not_asked_for(options: dict[str, object], tmp_path: Path) -> None:
    found = compile_region(region_of(program(THREE), tmp_path), Options(**options))  # type: ignore[arg-type]
    assert inlined(found) == set()


def test_products_that_are_needed_afterwards(tmp_path: Path) -> None:
    """One of them has to stay: so do all, since the windows would go over no fewer arrays."""
    text = program(THREE).replace("float sab[n][n]", "float sab[n][n], float ab[n + 2][n + 2]")
    text = text.replace("float aa[n + 2][n + 2], ab[n + 2][n + 2], bb", "float aa[n + 2][n + 2], bb")
    assert inlined(compiled(text, tmp_path)) == set()
