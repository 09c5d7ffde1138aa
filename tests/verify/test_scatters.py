"""Loops that scatter: the race check takes sums in any order, and nothing else that looks like them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model.program import Options, Program
from polyc.model.tree import Band, Domain, Node
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.pipeline import initial_program
from polyc.verify.order.races import race_faults
from tests.programs import region_of

HEAD = (
    "void f(int n, const int *b, const int *w, const double *x, int *far)\n{\n    int h[64], s[n];\n    double d[64];\n"
)


def program(update: str, folder: Path, reassociate: bool = False) -> Program:
    text = (
        f"{HEAD}#pragma polyc live-out(h, s, d, far)\n#pragma scop\n    for (int i = 0; i < n; i++)\n        {update}\n"
    )
    return initial_program(region_of(f"{text}#pragma endscop\n}}\n", folder).scop, Options(reassociate=reassociate))


def marked(before: Program, **pairs: tuple[tuple[str, str], ...]) -> Program:
    """The program with its loop parallel, and these pairs of operators and arrays."""
    band = before.tree.child
    while not isinstance(band, Band):
        band = band.child  # type: ignore[union-attr]
    parallel: Node = replace(band, members=(replace(band.members[0], parallel=True, **pairs),))
    return place_private_arrays(replace(before, tree=Domain(before.tree.domain, parallel)))


@pytest.mark.parametrize(
    "update",
    [
        "h[b[i]]++;",
        "h[b[i]] -= w[i];",
        "h[b[i]] = h[b[i]] + w[i] * i;",
        "--h[b[i] % 64];",
        "if (x[i] > 0) h[b[i]]++;",
        "if (x[i] > 0) { int k = (int)x[i]; h[k] += k; if (k > 9) h[b[i]]--; }",
        "for (int k = b[i]; k < b[i + 1]; k++) h[w[k]]++;",
    ],
)
def test_sums_of_whole_numbers(update: str, tmp_path: Path) -> None:
    before = program(update, tmp_path)
    assert race_faults(marked(before))
    assert not race_faults(marked(before, reductions=(("+", "h"),)))
    assert not race_faults(marked(before, atomics=(("+", "h"),)))


@pytest.mark.parametrize(
    "update",
    [
        "h[b[i]] += x[i];",  # cut to a whole number at each step
        "h[b[i]] = h[b[i] + 1] + w[i];",  # another cell
        "h[b[i]] += h[i % 64];",  # what is added is a sum of the moment
        "h[h[i % 64] % 64]++;",  # which cell is, too
        "h[b[i]] *= 2;",  # another operator than the one that is named
        "h[b[i]] = w[i];",  # the last one stays
        "{ h[b[i]]++; far[i] = h[i % 64]; }",  # others see the sums of the moment
        "if (h[b[i]] < 9) h[b[i]]++;",
        "if (x[i] > 0) { double k = x[i]; h[b[i]] += k; }",  # cut to a whole number, too
        "if (x[i] > 0) { h[b[i]]++; h[b[i + 1]] *= 2; }",
        "if (x[i] > 0) { int k = h[b[i]]++; far[i] = k; }",
        "if (x[i] > 0) h[h[i % 64] % 64]++;",
        "while (h[b[i]] < w[i]) h[b[i]]++;",
    ],
)
def test_what_is_no_sum(update: str, tmp_path: Path) -> None:
    before = program(update, tmp_path, reassociate=True)
    assert race_faults(marked(before, reductions=(("+", "h"),)))
    assert race_faults(marked(before, atomics=(("+", "h"),)))


def test_floating_point_needs_permission(tmp_path: Path) -> None:
    for allowed in (False, True):
        before = program("d[b[i]] += x[i];", tmp_path, allowed)
        assert bool(race_faults(marked(before, reductions=(("+", "d"),)))) != allowed
        assert bool(race_faults(marked(before, atomics=(("+", "d"),)))) != allowed


@pytest.mark.parametrize("array", ["far", "s"])
def test_copies_need_a_size_that_is_there(array: str, tmp_path: Path) -> None:
    before = program(f"{array}[b[i]]++;", tmp_path)
    assert race_faults(marked(before, reductions=(("+", array),)))
    assert not race_faults(marked(before, atomics=(("+", array),)))


@pytest.mark.parametrize(("kind", "wrong"), [("double", True), ("int", False)])
def test_a_fraction_is_cut_off_at_each_step(kind: str, wrong: bool, tmp_path: Path) -> None:
    """A variable of the statement's own may be one."""
    text = f"""void f(int n, const double *x, int *restrict y, int *out)
{{
    int sum = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {{ {kind} k = x[i]; y[i] = k; sum += k; }}
#pragma endscop
    *out = sum;
}}
"""
    before = initial_program(region_of(text, tmp_path).scop, Options())
    assert bool(race_faults(marked(before, reductions=(("+", "sum"),)))) == wrong
