"""Variables are declared where they get their first value; the check refuses others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.reread.steps import Step, _faults
from tests.reread.test_text_is_program import messages, printed

TEXT = """
void f(int n, const float x[n][16], float y[n], int z[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int place = 0;
        float best = -1, last;
        for (int j = 0; j < 16; j++) {
            float t = x[i][j] * 2;
            last = t;
            if (t > best) {
                best = t;
                place = j;
            }
        }
        y[i] = best + last;
        z[i] = place;
    }
#pragma endscop
}
"""


def test_declarations_have_values(tmp_path: Path) -> None:
    found = printed(TEXT, tmp_path, target="c")
    lines = [line.strip() for line in found[2].text.split("\n")]
    assert "float best = -1;" in lines, found[2].text
    assert "float t = x[i][j] * 2;" in lines
    assert "float last;" in lines, found[2].text
    assert messages(found) == []


def test_what_is_refused(tmp_path: Path) -> None:
    program, _, rendered = printed(TEXT, tmp_path, target="c")
    name, before, after = next(step for step in rendered.steps if step[0] == "first values")

    def faults(items: tuple[c.Stmt, ...]) -> list[str]:
        return [fault.message for fault in _faults(program, Step(name, before, items), {})]

    def late(node: c.Node) -> c.Node | None:
        match node:
            case c.Block(body=(first, *rest)) if isinstance(first, c.Decl) and first.name == "t":
                return c.Block((*rest, first))
        return None

    def other(node: c.Node) -> c.Node | None:
        return replace(node, init=c.Literal("7")) if isinstance(node, c.Decl) and node.name == "t" else None

    def whole(node: c.Node) -> c.Node | None:
        return replace(node, type="int") if isinstance(node, c.Decl) and node.name == "best" else None

    assert faults(after) == []
    assert faults(tuple(c.rewrite(item, late) for item in after)) == [
        "first values: t is declared behind what mentions it"
    ]
    assert faults(tuple(c.rewrite(item, other) for item in after)) == ["first values: it has another statement"]
    assert faults(tuple(c.rewrite(item, whole) for item in after)) == ["first values: other variables are declared"]


@pytest.mark.parametrize("word", ["static float", "const float"])
def test_other_lives(word: str, tmp_path: Path) -> None:
    program, _, rendered = printed(TEXT, tmp_path, target="c")
    name, before, after = rendered.steps[-1]

    def longer(node: c.Node) -> c.Node | None:
        return replace(node, type=word) if isinstance(node, c.Decl) and node.name == "t" else None

    changed = tuple(c.rewrite(item, longer) for item in after)
    assert _faults(program, Step(name, before, changed), {})
