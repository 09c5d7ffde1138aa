"""Whether tiles of a group can slide through strips, as far as boxes tell: what `windows.py` will find."""

from __future__ import annotations

from polyc.cost.cpu_model import TiledNest, TileModel
from polyc.cost.footprints import ArrayFootprint, Box


def sliding_along(model: TileModel) -> int | None:
    """The first loop along which tiles overlap, if each can keep what the one before has made; None otherwise.

    math: rows x .. x + h - 1 of a producer belong to a tile of one row: h > 1 where they overlap. What it makes is in
          buffers of the tile, moved along one dimension, by a row for each row of the tile, and not along memory
    """
    if len(model.nests) < 2:
        return None
    for along in range(model.parallel):
        overlapping = [nest for nest in model.nests[:-1] if _overlaps(nest, along)]
        if not overlapping:
            continue
        whole = all(nest.inner != along for nest in model.nests)
        return along if whole and all(_rows(nest, along, model.kept) for nest in overlapping) else None
    return None


def _overlaps(nest: TiledNest, along: int) -> bool:
    return any(
        slope > 0 and base > 1
        for _, work in nest.prints.work
        for slope, base in zip(work.slopes[along], work.base, strict=True)
    )


def _rows(nest: TiledNest, along: int, kept: frozenset[str]) -> bool:
    return all(a.array in kept and _by_rows(a, along) for a in nest.prints.arrays if a.written)


def _by_rows(array: ArrayFootprint, along: int) -> bool:
    boxes: tuple[Box, ...] = array.boxes if array.hull is None else (array.hull,)
    for box in boxes:
        moved = [d for d, slope in enumerate(box.slopes[along]) if slope > 0]
        if len(moved) != 1 or moved[0] == len(box.base) - 1 or box.slopes[along][moved[0]] != 1:
            return False
    return True


__all__ = ["sliding_along"]
