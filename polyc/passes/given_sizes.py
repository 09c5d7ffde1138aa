"""Sizes that the user gives for one kind of tiles, in the place of the constructed ones (`--sizes KIND=N,...`).

Which nests are cut, and how, stays as it is: `--tile-sizes` asks for plain tiles instead. A person who knows better
than the model tries out one number, and `benchmarks/cpu/sweep.py` all of a grid.
"""

from __future__ import annotations

from polyc.model.program import Program
from polyc.passes.tiling import WHOLE

TILES, REGISTER_TILES = "tiles", "register-tiles"
ROW_BLOCKS, BLOCKS, TIME_TILES = "row-blocks", "blocks", "time-tiles"
CODES = {
    TILES: "cpu-sizes",
    REGISTER_TILES: "register-tile",
    ROW_BLOCKS: "row-blocks",
    BLOCKS: "blocked",
    TIME_TILES: "time-tiled",
}
"""Each kind, and the remark that says that a nest has tiles of this kind."""
ASKED = "as --sizes asks"


def given_tile(program: Program, kind: str, tile: tuple[int, ...]) -> tuple[int, ...]:
    """The user's sizes in the place of `tile`, the last one repeated; `tile` where there are none.

    One number means the loops that are cut; several mean all loops, from the outermost on.
    """
    given = program.options.given(kind)
    if given is None or not tile:
        return tile
    if len(given) == 1:
        return tuple(size if size == WHOLE else given[0] for size in tile)
    return (*given, *given[-1:] * len(tile))[: len(tile)]


def rounded(size: int, step: int) -> int:
    """The multiple of `step` that is not less than `size`."""
    return -(-size // step) * step


def tell_unused(program: Program) -> Program:
    """A remark for each kind of sizes that no nest of the region has a use for."""
    told = {remark.code for remark in program.remarks}
    for kind, sizes in program.options.sizes:
        if CODES[kind] not in told:
            words = ",".join(map(str, sizes))
            program = program.remark("sizes-unused", "sizes", f"--sizes {kind}={words}: no nest has {kind} to resize")
    return program


__all__ = [
    "ASKED",
    "BLOCKS",
    "CODES",
    "REGISTER_TILES",
    "ROW_BLOCKS",
    "TILES",
    "TIME_TILES",
    "given_tile",
    "rounded",
    "tell_unused",
]
