"""Texts that are checked in two halves: what these show is what the whole text shows, however it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import polyc.attempt as attempt
from polyc.codegen import Rendered, cut_of, generate, render_later, render_region
from polyc.model import ctree as c
from polyc.model.program import Options, Program
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.reread import NotComparable, shown_in_halves, text_faults
from polyc.reread.halves import begin_with
from polyc.verify.fault import Fault
from tests.programs import region_of
from tests.turns import turn

NESTS = """
void f(int n, float in[n][n], float a[n][n], float b[n][n], float m[n], float r[n]) {
  float s[n][n], t[n][n];
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) m[j] += in[i][j];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s[i][j] = in[i][j] * 3.0f;
  for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) a[i][j] = s[i - 1][j] - s[i + 1][j] + m[j];
  for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) r[i] += a[i][j];
  for (int i = n - 2; i > 0; i--) for (int j = 0; j < n; j++) t[i][j] = a[i][j] + r[j];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) b[i][j] = t[i][j - 1] + t[i][j + 1] - s[i][j];
#pragma endscop
}
"""
"""`a` and `r` are used in both halves, and so is `s`, which the first one keeps in tiles."""

OPTIONS = Options(tile_sizes=(8, 16), max_recompute=1e6)
Printed = tuple[Program, Region, Rendered]
Text = tuple[c.Stmt, ...]
Broken = tuple[str, Text]


def shown(printed: Printed, body: Text, told: Text | None = None) -> bool:
    """What the halves of a body show. `told`: the second half as the other process has it, if that is another one."""
    program, region, text = printed
    halves = body[: text.later], body[text.later :]
    second = halves[1] if told is None else told
    begun = begin_with(program, region, (run_by(halves[0]), run_by(second)), lambda: (second, text.guard))
    return begun is not None and shown_in_halves(program, region, halves, text.guard, begun)


def run_by(half: Text) -> frozenset[str]:
    nodes = (node for item in half for node in c.walk(item))
    return frozenset(node.name for node in nodes if isinstance(node, c.Note) and node.kind == "at")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    region = region_of(NESTS, tmp_path_factory.mktemp("halves"))
    program = compile_region(region, OPTIONS).program
    made = generate(program)
    text = render_region(program, region, True, None, made, cut_of(made, 1))
    assert [type(item) for item in text.halves[0]] == [c.Comment, c.For, c.If]
    return program, region, text


def nth(body: Text, number: int, change: Callable[[c.Node], c.Node | None]) -> Text | None:
    """The text with the change at the place of this number, of all that it has."""
    seen = -1

    def changed(node: c.Node) -> c.Node | None:
        nonlocal seen
        answer = change(node)
        if answer is None:
            return None
        seen += 1
        return answer if seen == number else None

    found = tuple(c.rewrite(item, changed) for item in body)
    return found if seen >= number else None


def one_more(node: c.Node) -> c.Node | None:
    return c.Literal(str(int(node.text) + 1)) if isinstance(node, c.Literal) and node.text.isdigit() else None


def turned(node: c.Node) -> c.Node | None:
    """Two subscripts the other way round, or a sum as a difference."""
    match node:
        case c.ArrayRef(subscripts=(one, two)) if one != two:
            return replace(node, subscripts=(two, one))
        case c.Binary(op="+" | "-" as op):
            return replace(node, op="-" if op == "+" else "+")
    return None


def without(node: c.Node) -> c.Node | None:
    return c.Empty() if isinstance(node, c.For | c.ExprStmt) else None


def other_array(node: c.Node) -> c.Node | None:
    others = {"a": "b", "b": "a", "in": "a", "s_tile": "t_tile", "t_tile": "s_tile"}
    return replace(node, array=others[node.array]) if isinstance(node, c.ArrayRef) and node.array in others else None


def broken(body: Text) -> Iterator[Broken]:
    for change in (one_more, turned, without, other_array):
        number = 0
        while (text := nth(body, number, change)) is not None:
            yield f"{change.__name__} {number}", text
            number += 1
    nests = [k for k, item in enumerate(body) if isinstance(item, c.For)]
    for one, two in pairwise(nests):
        moved = list(body)
        moved[one], moved[two] = moved[two], moved[one]
        yield f"{one} and {two} change places", tuple(moved)
    for one in nests:
        yield f"{one} twice", (*body[:one], body[one], *body[one:])
        yield f"{one} again at the end", (*body, body[one])


def test_a_right_text_is_shown_in_halves(printed: Printed) -> None:
    program, _, text = printed
    assert shown(printed, text.body)
    assert any(buffer.array == "s" for buffer in program.buffers.values())


def test_the_second_half_is_printed_by_itself(printed: Printed) -> None:
    program, _, text = printed
    made = generate(program)
    cut = cut_of(made, 1)
    assert cut is not None
    assert render_later(program, made, cut) == (text.halves[1], text.guard)
    assert cut.statements == (run_by(text.halves[0]), run_by(text.halves[1]))


def test_what_is_wrong_is_not_shown(printed: Printed) -> None:
    program, region, text = printed
    wrong = 0
    for what, body in turn(list(broken(text.body)), 3, 10):
        try:
            faults = bool(text_faults(program, region, body, text.guard))
        except NotComparable:
            faults = True
        wrong += faults
        assert not (faults and shown(printed, body)), what
    assert wrong > 8


def test_nothing_is_shown_where_one_half_may_change_the_other(printed: Printed) -> None:
    *_, text = printed
    first, *rest = text.body
    changed = c.Assign("=", c.Name("n"), c.Literal("3"))
    for item in (
        c.Block((c.ExprStmt(changed),)),
        c.Decl("float", "x"),
        c.For(changed, None, None, c.Block(())),
        c.If(c.Name("n"), c.Jump("return")),
    ):
        assert not shown(printed, (item, *rest)), item
    assert shown(printed, (first, *rest))


def test_what_is_printed_is_what_was_read(printed: Printed) -> None:
    *_, text = printed
    wrong = nth(text.body, 3, turned)
    assert wrong is not None
    assert wrong[text.later :] == text.halves[1]  # it is in the first one
    later = tuple(c.rewrite(item, turned) for item in text.halves[1])
    assert not shown(printed, (*text.halves[0], *later), text.halves[1])


def test_a_fault_says_the_same_as_without_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def less(program: Program, *rest: Any) -> Rendered:
        text = render_region(program, *rest)
        return text if not program.groups else replace(text, body=text.body[:-2])

    monkeypatch.setattr(attempt, "render_region", less)
    found = []
    for fewest in (1, 1000):
        monkeypatch.setattr(attempt, "FEWEST_STATEMENTS", fewest)
        compiled = compile_region(region_of(NESTS, tmp_path), OPTIONS)
        found.append([(r.code, r.message) for r in compiled.program.remarks])
    assert found[0] == found[1]
    assert "verification-failed" in {code for code, _ in found[0]}


def test_a_whole_compile_in_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bool] = []
    monkeypatch.setattr(attempt, "text_faults", lambda *_: [Fault("text", "read as a whole", "")])
    for fewest in (1, 1000):
        monkeypatch.setattr(attempt, "FEWEST_STATEMENTS", fewest)
        compiled = compile_region(region_of(NESTS, tmp_path), OPTIONS)
        read.append("verification-failed" in {r.code for r in compiled.program.remarks})
    assert read == [False, True]
