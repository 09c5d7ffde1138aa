"""What is read before the loops, `const unsigned char *const im_pix_at = im->pix;`: the check of that step."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.records import replace
from polyc.reread.steps import Step, _faults
from tests.reread.test_text_is_program import printed

TEXT = """
typedef struct { int w; unsigned char *pix, *other; } image;
void shift(int h, const image *im, unsigned char *q, long sums[h])
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < im->w; x++)
            q[y * im->w + x] = im->pix[y * im->w + x] >> im->other[x] % 3;
    for (int y = 0; y < h; y++)
        sums[y] = sums[y] + y;
#pragma endscop
}
"""


def step_of(tmp_path: Path):  # type: ignore[no-untyped-def]
    program, _, rendered = printed(TEXT, tmp_path, target="c")
    step = next(Step(*step) for step in rendered.steps if step[0] == "loaded")
    return program, step


def test_what_is_read_first(tmp_path: Path) -> None:
    program, step = step_of(tmp_path)
    declared = {item.name: item.type for item in step.after if isinstance(item, c.Decl)}
    assert declared == {
        "im_other_at": "const unsigned char *const",
        "im_pix_at": "const unsigned char *const",
        "im_w_at": "const int",
    }
    assert _faults(program, step, {}) == []


def changed(step: Step, which: str, **fields: object) -> Step:
    items = tuple(
        replace(item, **fields) if isinstance(item, c.Decl) and item.name == which else item for item in step.after
    )
    assert items != step.after
    return replace(step, after=items)


WRONG = {
    "another array": ("im_pix_at", {"init": c.Name("im->other")}),
    "what the region writes": ("im_w_at", {"init": c.Name("sums")}),
    "another size": ("im_w_at", {"init": c.Name("h")}),
    "a narrower size": ("im_w_at", {"type": "const short"}),
    "a pointer that may be written through": ("im_pix_at", {"type": "unsigned char *const"}),
    "a name that means something": ("im_pix_at", {"name": "q"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    program, step = step_of(tmp_path)
    name, fields = WRONG[case]
    assert _faults(program, changed(step, name, **fields), {})


def test_a_reference_that_another_variable_has(tmp_path: Path) -> None:
    program, step = step_of(tmp_path)

    def change(node: c.Node) -> c.Node | None:
        return (
            replace(node, array="im_other_at") if isinstance(node, c.ArrayRef) and node.array == "im_pix_at" else None
        )

    wrong = tuple(c.rewrite(item, change) for item in step.after)
    assert wrong != step.after
    assert _faults(program, replace(step, after=wrong), {})
