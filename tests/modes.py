"""The modes in which programs are compiled: how nests are fused, and how they are tiled."""

from __future__ import annotations

from polyc.model.program import Options

MODES: dict[str, Options] = {
    "default": Options(),
    "min": Options(fuse="min", threads="always"),
    "smart": Options(fuse="smart", threads="always"),
    "max": Options(fuse="max", threads="always"),
    "none": Options(tile_sizes=None, threads="always"),
    "5,7,3": Options(tile_sizes=(5, 7, 3), threads="always"),
}
"""With threads at small sizes as well, but in the default mode, which is what people get."""
