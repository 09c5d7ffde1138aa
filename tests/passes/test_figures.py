"""The paper's figures: what happens to each, as a tree, as text, and run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.model.tree_text import render_tree
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_in

GIVEN_SIZES = {"attention": (16, 128), "figure_1a": (32, 128), "figure_9": (32, 128, 32)}
"""Products, whose tiles would be those of their registers (`test_micro.py`): these figures show fusion. And a tile
whose relations are looked at."""
FIGURES = sorted((Path(__file__).parent / "figures").glob("*.c"))


def compiled(file: Path) -> Compiled:
    return compile_region(region_in(file), Options(tile_sizes=GIVEN_SIZES.get(file.stem, "auto")))


def report(result: Compiled) -> str:
    """Decisions, the tree after fusion, and the printed code."""
    tree = next(s.tree for s in result.passes if s.name == "basteln")
    lines = ["# decisions"]
    lines += [f"{remark.code}: {remark.message}" for remark in result.program.remarks]
    lines += ["", "# tree after basteln", render_tree(tree), "# printed", result.text]
    return "\n".join(lines)


@pytest.mark.parametrize("file", FIGURES, ids=lambda f: f.stem)
def test_figure(file: Path, golden: Callable[[Path, str], None]) -> None:
    result = compiled(file)
    assert result.verified
    assert "verification-failed" not in {r.code for r in result.program.remarks}
    golden(file.with_suffix(".golden"), report(result))


@pytest.mark.parametrize("file", FIGURES, ids=lambda f: f.stem)
def test_figure_runs_right(file: Path) -> None:
    region = region_in(file)
    for options in (Options(), Options(tile_sizes=(5, 7, 3)), Options(max_recompute=100.0, tile_sizes=(4, 6))):
        assert check(region, compile_region(region, options), sizes=(1, 6, 23, 70)) == []


def group_of(name: str) -> tuple[Compiled, dict[str, set[str]]]:
    result = compiled(Path(__file__).parent / "figures" / f"{name}.c")
    return result, {" ".join(g.outputs): set(g.fused) for g in result.program.groups}


def test_convolution_is_one_group_with_its_buffer() -> None:
    result, groups = group_of("figure_1a")
    assert groups == {"S1 S2 S3": {"S0"}}
    (buffer,) = [b for b in result.program.buffers.values() if b.storage == "tile"]
    assert buffer.array == "A"
    (extension,) = result.program.groups[0].extensions
    relation = str(extension.relation)  # relation (15) for tiles of 32 x 128 and a window of 3 x 3
    assert extension.statement == "S0"
    assert "mod 32 = 0" in relation
    assert "mod 128 = 0" in relation
    assert "A[h][w]" not in result.text
    assert "A_tile[34][130]" in result.text


def test_both_statements_of_an_in_place_producer_move() -> None:
    assert group_of("figure_7")[1] == {"S2 S3": {"S0", "S1"}}


def test_stages_are_visited_in_reverse_topological_order() -> None:
    assert group_of("figure_8")[1] == {"S3": {"S0", "S1", "S2"}}


def test_products_are_not_fused_by_overlapping_tiles() -> None:
    result, groups = group_of("figure_9")
    assert groups == {"S0 S1": set(), "S2": set()}
    (remark,) = [r for r in result.program.remarks if r.code == "not-fused"]
    assert remark.data["reason"] == "recompute-cost"


def test_shared_producer_by_21() -> None:
    assert group_of("figure_11_disjoint")[1] == {"S1": {"S0"}, "S2": {"S0"}}


def test_shared_producer_by_22() -> None:
    assert group_of("figure_11_equal")[1] == {"S1 S2": {"S0"}}


def test_shared_producer_that_overlaps_is_computed_by_each_reader() -> None:
    assert group_of("figure_11_overlap")[1] == {"S1": {"S0"}, "S2": {"S0"}}


def test_attention_is_one_group() -> None:
    assert group_of("attention")[1] == {"S1 S2 S3 S4 S5 S6": {"S0"}}
