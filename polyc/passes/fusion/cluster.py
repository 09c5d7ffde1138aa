"""What Algorithms 2 and 4 grow: output nests that share a tile band, and the producers that are pulled into it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import islpy as isl

from polyc.cost.time import Estimate
from polyc.model.tree import Band, Member
from polyc.model.witness import Finder
from polyc.nests.nest import Nest
from polyc.passes.buffers.promotion import DataTile
from polyc.records import dataclass, field

MOST_PIECES = 2
"""Of a relation between tiles and instances or cells, where it is regular."""


@dataclass(frozen=True, slots=True, eq=False)
class Producer:
    """An intermediate iteration space that runs inside the tiles."""

    nest: Nest
    extension: isl.UnionMap
    """(17): `{ [outer, tile] -> S[i] }`."""
    reserved: isl.UnionSet
    """(20): what still has to run where it was."""
    estimate: Estimate
    guard: isl.Set | None = None
    """Sizes at which nothing is reserved, where only degenerate ones would need it: the rest runs as written."""


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Output nests that share a tile band, and the producers pulled into it."""

    position: int
    outputs: tuple[Nest, ...]
    tile: tuple[Member, ...]
    """The coincident tile members."""
    sizes: tuple[int, ...]
    """Tile sizes of all members of the first output's band."""
    innermost: int | None
    """The member of that band whose tile loop goes inside of the others; None: they are in the band's order."""
    tile_of: isl.UnionMap
    """(11): `{ S[i] -> [outer, tile] }` for the outputs and, multi-valued, the producers."""
    producers: tuple[Producer, ...] = ()
    data: tuple[DataTile, ...] = ()
    """Arrays whose values stay in the tile."""
    known: isl.UnionSet | None = None
    """The domain of `tile_of`, where it was found already: it is asked for with each nest that may join."""

    @property
    def instances(self) -> isl.UnionSet:
        return self.tile_of.domain() if self.known is None else self.known


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a nest was not pulled into a cluster."""

    code: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)
    dependence: Finder | None = None
    """Finds two iterations that show it, where a dependence is the reason."""


def output_band(nest: Nest) -> Band | None:
    """The band that is tiled, if the nest can be an output: permutable, with a parallel loop."""
    band = nest.band
    if band is None or not band.permutable or band.coincident_prefix == 0:
        return None
    return band


@lru_cache(maxsize=1000)
def dropped_of(producer: Producer) -> isl.UnionSet | None:
    """The instances of a producer that nobody needs, None where there are none."""
    found = producer.nest.instances.subtract(producer.extension.range()).subtract(producer.reserved)
    return None if found.is_empty() else found
