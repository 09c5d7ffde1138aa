"""Sizes that the user gives for one kind of tiles, in the place of the constructed ones (`--sizes KIND=N,...`).

Which nests are cut, and how, stays as it is: `--tile-sizes` asks for plain tiles instead. A person who knows better
than the model tries out one number, and `benchmarks/cpu/sweep.py` all of a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyc.model.program import Options, Program
from polyc.nests.tiling import WHOLE
from polyc.nests.wishes import options_for

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
    """A remark for each kind of sizes, and each option for tiles, that no nest of the region has a use for."""
    told = {remark.code for remark in program.remarks}
    asked = [pair for wish in program.scop.wishes.values() for pair in wish.sizes]
    for kind, sizes in dict.fromkeys([*program.options.sizes, *asked]):
        if CODES[kind] not in told:
            words = ",".join(map(str, sizes))
            text = f"--sizes {kind}={words}"
            message = f"{text}: no nest has {kind} to resize"
            program = program.remark("sizes-unused", "sizes", message, option=text)
    for text, code, why in _asked(program.options):
        if code not in told and not (code == "tile" and any(group.tile_sizes for group in program.groups)):
            reasons = [r.message for r in program.remarks if r.code == f"not-{code}"]
            message = f"{text}: {reasons[0] if reasons else why}"
            program = program.remark("option-unused", "sizes", message, option=text)
    return program


def _asked(options: Options) -> Iterator[tuple[str, str, str]]:
    """Options that ask for something which a nest may not have: in words, the code of what is done, why it is not."""
    kind, sizes = options.time_tile
    if kind not in ("auto", "none"):
        words = ":" + ",".join(map(str, sizes)) if sizes else ""
        yield f"--time-tile {kind}{words}", "time-tiled", "no loop over steps has other loops in it"
    if options.strips is not None and options.strips > 1:
        yield (
            f"--strips {options.strips}",
            "sliding-window",
            "no fused tiles have rows in common",
        )
    if isinstance(options.tile_sizes, tuple):
        yield f"--tile-sizes {','.join(map(str, options.tile_sizes))}", "tile", "no nest can be tiled"


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
