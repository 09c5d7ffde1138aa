"""Which tile sizes a band gets: the user's, the usual ones, or those that a GPU's description proposes."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band
from polyc.passes.cost import sample_parameters
from polyc.passes.gpu_tiles import TileSize, tile_candidates
from polyc.passes.nests import Outer
from polyc.passes.registers import contraction_size, contraction_sizes, tile_of
from polyc.passes.sums import streams, sum_nest, tile_of_sums
from polyc.passes.tiling import sizes_for
from polyc.poly import budget, is_over_budget, share

SMALLEST_TILE = 8
"""Rows below which a tile is not halved any more to make its data fit."""


class Sizes:
    """Proposes tiles for the bands of one program; what it constructed it remembers."""

    def __init__(self) -> None:
        self.known: dict[Band, list[TileSize]] = {}
        self.failed: dict[Band, str] = {}
        """Bands for which nothing could be constructed, and why."""
        self.typical: isl.Set | None = None

    def first(self, program: Program, band: Band, outer: Outer) -> tuple[int, ...]:
        """The tile size of each member of a band."""
        tiles = self.tiles(program, band, outer)
        return tiles[0] if tiles else sizes_for(program.options, band)

    def smaller(self, program: Program, band: Band, outer: Outer, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        """The next sizes to try where the data of a tile did not fit; None where there are none."""
        if program.options.tile_sizes != "auto":
            return None
        tiles = self.tiles(program, band, outer)
        if tiles:
            return next((tile for tile in tiles if prod(tile) < prod(sizes)), None)
        return (max(sizes[0] // 2, 1), *sizes[1:]) if sizes[0] > SMALLEST_TILE else None

    def tiles(self, program: Program, band: Band, outer: Outer) -> list[tuple[int, ...]]:
        """Tiles of a band, the best first: for registers where it is a sum, else those that a GPU's description
        proposes."""
        contraction, sizes = contraction_sizes(program, band)
        if contraction is not None and sizes:
            return list(dict.fromkeys(tile_of(contraction, size, len(band.members)) for size in sizes))
        sums = sum_nest(program, band) if streams(program.options) else None
        if sums is not None:
            return [(*[1] * len(sums.outer), tile_of_sums(program, sums))]
        return [s.tile for s in self.shapes(program, band, outer)]

    def shapes(self, program: Program, band: Band, outer: Outer) -> list[TileSize]:
        """What a GPU's description proposes, the best first; none where something else decides."""
        options = program.options
        if not options.gpu or options.tile_sizes != "auto" or not band.coincident_prefix:
            return []
        if band not in self.known:
            self.known[band] = self.constructed(program, band, outer)
        return self.known[band]

    def constructed(self, program: Program, band: Band, outer: Outer) -> list[TileSize]:
        try:
            with budget(program.scop.domain.get_ctx(), share(program.options.budget, 5)):
                if self.typical is None:
                    self.typical = sample_parameters(program)
                return tile_candidates(program, band, outer, self.typical)
        except isl.Error as error:  # the usual sizes are right as well
            over = "measuring the data of its tiles took more isl operations than the budget allows"
            self.failed[band] = over if is_over_budget(error) else f"isl failed ({str(error).splitlines()[0]})"
            return []

    def block(
        self, program: Program, band: Band, outer: Outer, sizes: tuple[int, ...], statements: tuple[str, ...]
    ) -> tuple[Program, tuple[int, ...]]:
        """The threads for a band's tiles, and a remark that says why; () where nothing was constructed, or registers
        decide (`registers.py`)."""
        if contraction_size(program, band, sizes) is not None:
            return program, ()
        shapes = self.shapes(program, band, outer)
        chosen = next((s for s in shapes if s.tile == sizes), None)
        what, machine = ", ".join(statements), program.options.machine
        if chosen is None:
            why = self.failed.get(band)
            message = f"the usual tiles for {what}: {why}"
            return (program if why is None else program.remark("gpu-sizes", "basteln", message, statements)), ()
        tile, block = (" x ".join(map(str, values)) for values in (chosen.tile, chosen.block))
        among = f"the best of {len(shapes)} shapes" if len(shapes) > 1 else "the only shape"
        message = (
            f"tiles of {tile} for {what}, on blocks of {block} threads: bound by {chosen.bound}; "
            f"{among} for the machine {machine}"
        )
        data = chosen.data() | {"candidates": len(shapes)}
        return program.remark("gpu-sizes", "basteln", message, statements, **data), chosen.block
