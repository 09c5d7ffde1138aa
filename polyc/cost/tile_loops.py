"""The order of the loops over tiles: which of them goes innermost."""

from __future__ import annotations

from math import ceil

from polyc.cost.cpu_model import FULL, Prediction, TileModel
from polyc.nests.tiling import WHOLE

PARTS_EACH = 8
"""Parts of the loop that becomes the outermost one, for each core: so few are left over at the end then."""
MOST = 0.5
"""Of the traffic of memory: what reading again has to be for that."""


def innermost(model: TileModel, best: Prediction) -> int | None:
    """The outermost tile loop, where the tiles along it read the same cells of what no cache holds; None otherwise.

    rewrite:  for k for yt for xt { a tile reads A[yt.., xt..] }  ->  for yt for xt for k { … }
    math:     tile loops are coincident, so that they may stand in any order. What a loop does not move is read once for
              each of its tiles, from memory if it does not fit the last level. Innermost it is found in the level
              before that, if all that a tile touches stays there
    source:   reuse tells the order of loops: McKinley, Carr, Tseng, "Improving data locality with loop
              transformations", TOPLAS 1996
    """
    box = model.box(best.tile)
    parts = [ceil(n / t) for n, t in zip(model.extents, box, strict=True)]
    cut = [k for k in range(model.parallel) if best.tile[k] != WHOLE and parts[k] > 1]
    levels = [FULL * model.machine.capacity(level, model.cores) for level in model.machine.levels]
    if best.strips or len(cut) < 2 or len(levels) < 2 or model.footprint(best.tile) > levels[-2]:
        return None
    first, second = cut[:2]
    if parts[second] < PARTS_EACH * model.cores:
        return None
    same = _unmoved_bytes(model, box, first)
    if same <= levels[-1] or (parts[first] - 1) * same < MOST * best.traffic[-1][1]:
        return None
    return first


def _unmoved_bytes(model: TileModel, box: tuple[int, ...], loop: int) -> float:
    """Of the arrays from beyond the tiles that are only read, and of which a loop over tiles moves nothing."""
    along = tuple(n if k == loop else t for k, (t, n) in enumerate(zip(box, model.extents, strict=True)))
    found: dict[str, float] = {}
    moved = set(model.kept)
    for nest in model.nests:
        for array, here, there in zip(nest.prints.arrays, nest.bytes_of(box), nest.bytes_of(along), strict=True):
            if array.written or there > here:
                moved.add(array.array)
            found[array.array] = max(found.get(array.array, 0.0), array.whole_bytes())
    return sum(size for name, size in found.items() if name not in moved)


__all__ = ["innermost"]
