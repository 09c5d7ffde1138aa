"""Sizes that the user gives for one kind of tiles, in the place of the constructed ones (`--sizes KIND=N,...`).

Which nests are cut, and how, stays as it is: `--tile-sizes` asks for plain tiles instead. A person who knows better
than the model tries out one number, and `benchmarks/cpu/sweep.py` all of a grid.
"""

from __future__ import annotations

from collections.abc import Iterable

from polyc.model.program import Program
from polyc.passes.tiling import WHOLE
from polyc.passes.wishes import options_for

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


def given_tile(program: Program, kind: str, tile: tuple[int, ...], statements: Iterable[str] = ()) -> tuple[int, ...]:
    """The user's sizes in the place of `tile`, the last one repeated; `tile` where there are none.

    statements: of the nest, which may have sizes of its own

    One number means the loops that are cut; several mean all loops, from the outermost on.
    """
    given = options_for(program, statements).given(kind)
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
    asked = [pair for wish in program.scop.wishes.values() for pair in wish.sizes]
    for kind, sizes in dict.fromkeys([*program.options.sizes, *asked]):
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
