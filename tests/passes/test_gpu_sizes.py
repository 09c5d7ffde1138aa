"""Sizes for a GPU are constructed from its description: aligned, within its limits, few, and the same each time."""

from __future__ import annotations

import pytest

from polyc.cost.gpu_sizes import PAD_BYTES, contraction_candidates
from polyc.machine import load_gpu, shipped

PRODUCTS = [
    (4096, 4096, 4096, 1),
    (2039, 2039, 2039, 1),
    (None, None, None, None),
    (128, 768, 768, 1),
    (512, 512, 64, 96),
    (1, 1, 1, 1),
    (3, 100000, 7, 2),
]
MACHINES = pytest.mark.parametrize("name", shipped("gpu"))
ELEMENTS = pytest.mark.parametrize("element_bytes", [2, 4, 8])


@MACHINES
@ELEMENTS
@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_contractions(name: str, element_bytes: int, product: tuple[int | None, ...]) -> None:
    machine = load_gpu(name)
    found = contraction_candidates(machine, *product, element_bytes)  # type: ignore[arg-type]
    assert 0 < len(found) < 200
    assert len({(s.block_m, s.block_n, s.block_k, s.thread_m, s.thread_n, s.stages, s.threads) for s in found}) == len(
        found
    )
    for size in found:
        assert size.threads_x * size.threads_y == size.threads
        assert size.threads % machine.warp_size == 0
        assert size.shared_bytes <= machine.shared_bytes_per_block
        assert size.shared_bytes == size.stages * size.block_k * element_bytes * (
            size.block_m + size.block_n + 2 * PAD_BYTES // element_bytes
        )
        assert size.block_k * (size.block_m + size.block_n) % size.threads == 0
        assert size.registers <= machine.registers_per_thread
        resident = size.blocks_per_multiprocessor
        assert 1 <= resident <= machine.blocks_per_multiprocessor
        assert resident * size.threads <= machine.threads_per_multiprocessor
        assert resident * size.threads * size.registers <= machine.registers_per_multiprocessor
        assert resident * size.shared_bytes <= machine.shared_bytes_per_multiprocessor
        assert 0 < size.score <= 1
    assert [s.score for s in found] == sorted((s.score for s in found), key=lambda x: -round(x, 4))
    assert found == contraction_candidates(machine, *product, element_bytes)  # type: ignore[arg-type]


def test_a_large_product_has_large_register_tiles() -> None:
    best = contraction_candidates(load_gpu("h100"), 4096, 4096, 4096, 1, 4)[0]
    assert (best.block_m, best.block_n) == (128, 128)
    assert (best.thread_m, best.thread_n) == (8, 8)
    assert best.stages == 2
    assert best.blocks_per_multiprocessor == 2
    odd = contraction_candidates(load_gpu("h100"), 2039, 2039, 2039, 1, 4)[0]
    assert (odd.block_m, odd.block_n, odd.thread_m, odd.thread_n) == (128, 128, 8, 8)
    assert odd.score == pytest.approx(
        contraction_candidates(load_gpu("h100"), 2048, 2048, 2048, 1, 4)[0].score, rel=0.05
    )


def test_a_small_product_has_tiles_for_all_multiprocessors() -> None:
    machine = load_gpu("v100")
    best = contraction_candidates(machine, 128, 768, 768, 1, 4)[0]
    tiles = -(-128 // best.block_m) * -(-768 // best.block_n)
    assert tiles >= machine.multiprocessors
    starved = contraction_candidates(load_gpu("h100"), 32, 32, 32, 1, 4)[0]
    assert "parallelism" in starved.reason


def test_more_shared_memory_allows_more_shapes() -> None:
    machine = load_gpu("h100")
    few = contraction_candidates(machine, None, None, None, 1, 8, shared_limit=16 * 1024)
    more = contraction_candidates(machine, None, None, None, 1, 8, shared_limit=machine.shared_bytes_per_block_optin)
    assert len(few) < len(more) < 200
