"""What a tree does not say, and the printed text would: each of these was accepted once, and computed other values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.analysis.expressions.updates import only_combines
from polyc.model.program import Program
from polyc.model.tree import Band, Node
from polyc.verify import check
from tests.mutation import edits as e
from tests.mutation.runner import options_for, region_of
from tests.programs import after, compiled

Edit = Callable[[Program], Program]


def transformed(name: str) -> Program:
    chosen = options_for(name)
    return after(
        region_of(name),
        "privatize",
        tile_sizes=chosen.tile_sizes,
        max_recompute=chosen.max_recompute,
        reassociate=chosen.reassociate,
    )


CASES: list[tuple[str, Edit, str]] = [
    ("conv_relu", e.extension_adds_outputs, "another value"),
    ("conv_relu", e.buffer_edit(e.extent_lost), "dimensions"),
    ("conv_relu", e.corner_forgotten, "corner"),
    ("conv_relu", e.buffer_edit(e.depth_changed(-1)), "declared inside"),
    ("conv_relu", e.everywhere(e.allocation_above_the_band), "declared inside"),
    ("conv_relu", e.everywhere(e.allocation_into_each_step), "declared twice"),
    ("conv_relu", e.named_like_another_array, "hidden"),
    ("stencil_chain", e.buffers_share_a_name, "both called"),
    ("stencil_chain", e.statement_edit(e.value_plus_one, True), "no copy"),
    ("stencil_chain", e.everything_is_a_copy, "not the region's"),
    ("stencil_chain", e.nth(e.first_step_twice), "twice in one place"),
    ("conv_relu", e.statement_edit(e.value_plus_one, False), "not the region's"),
]


@pytest.mark.parametrize(("name", "edit", "words"), CASES)
def test_not_well_formed(name: str, edit: Edit, words: str) -> None:
    program = transformed(name)
    assert check(program, region_of(name).scop) == []
    faults = check(edit(program), region_of(name).scop)
    assert faults
    assert any(words in fault.message for fault in faults), faults


REGION: list[tuple[str, Edit, str]] = [
    ("conv_relu", e.context_narrowed, "context"),
    ("private", e.nothing_live_out, "live-out"),
    ("may_write", e.original_tree_replaced, "order"),
]


@pytest.mark.parametrize(("name", "edit", "words"), REGION)
def test_no_pass_changes_the_region(name: str, edit: Edit, words: str) -> None:
    program = edit(transformed(name))
    assert words in " ".join(fault.message for fault in check(program, region_of(name).scop))


def test_more_may_be_assumed_and_never_less() -> None:
    program = transformed("stencil_chain")
    original = region_of("stencil_chain").scop
    assert check(e.too_much_assumed(program), original) == []
    stricter = replace(original, assumed=program.scop.assumed)
    forgotten = e.nothing_assumed(program)
    assert any("guard" in fault.message for fault in check(forgotten, stricter))


def test_a_private_copy_hides_the_array_from_all_accesses() -> None:
    """An access that is not listed goes to the copy as well, since the copy has the array's name."""
    program = transformed("private")
    assert check(e.buffer_edit(e.access_lost(0), "private")(program)) == []


def test_only_combines() -> None:
    scop = region_of("reduction").scop

    def found(operator: str, array: str) -> list[bool]:
        return [only_combines(s, operator, array, scop.arrays) for s in scop.statements.values()]

    assert found("+", "s") == [True, False, False]
    assert not any(found("+", "x"))
    assert not any(found("*", "s"))


def test_whole_numbers_combine_whole_numbers() -> None:
    scop = region_of("sums").scop
    fractions = [s for s in scop.statements.values() if "0.3" in s.text]
    assert fractions
    assert not any(only_combines(s, "+", "total", scop.arrays) for s in fractions)


def test_possible_writes_keep_their_order() -> None:
    """Two writes of one cell that may happen, the other way round."""
    program = transformed("may_write")
    faults = check(e.everywhere(e.reversed_steps)(program))
    assert any(f.kind == "order" for f in faults)


def test_what_a_tile_left_in_its_buffer_is_gone() -> None:
    """The producer runs for the first tile of a row only: the others would have to find its values in the buffer."""
    program = transformed("conv_relu")
    kept = e.extension_edit(e.extension_only_first_tile)
    broken = e.buffer_edit(e.corner_of_everything)(e.nth(kept)(program))
    assert any(f.kind in ("flow", "live-in") for f in check(broken))


def test_a_declaration_right_above_a_statement(tmp_path: Path) -> None:
    """isl wants something below a mark: this was an internal error."""
    text = """
void f(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double x;
        x = a[i];
    }
    for (int i = 0; i < n; i++)
        b[i] = a[i];
#pragma endscop
}
"""
    done = compiled(text, tmp_path)
    assert done.verified
    assert "double x;" in done.text


def test_loops_that_have_no_value_for_some_instances() -> None:
    """They would have no place in the order that is compared."""
    program = transformed("may_write")

    def change(node: Node) -> Node | None:
        if not isinstance(node, Band):
            return None
        last = node.members[-1]
        fewer = last.schedule.intersect_domain(e.without(last.schedule.domain(), 5))
        return replace(node, members=(*node.members[:-1], replace(last, schedule=fewer)))

    assert check(program) == []
    assert any("has no value" in f.message for f in check(e.nth(change)(program)))
