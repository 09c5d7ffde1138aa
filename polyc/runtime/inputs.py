"""Random arrays for a run: the same seed gives the same ones."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from polyc.model.scop import CType, Struct
from polyc.runtime.layout import Shape

Data = NDArray[np.generic]
MANY = 1 << 20
"""Elements from which on numbers of twice the size would take longer to draw than the run."""


def dtype_of(element: CType, size_bytes: int) -> np.dtype[np.generic]:
    """NumPy's type for an element; plain bytes for structs and whatever else NumPy has no type for."""
    if element.kind == "float" and size_bytes in (2, 4, 8):
        return np.dtype(f"f{size_bytes}")
    if element.kind == "float" and size_bytes == np.dtype(np.longdouble).itemsize:
        return np.dtype(np.longdouble)
    if element.kind == "int" and size_bytes in (1, 2, 4, 8):
        return np.dtype(f"{'i' if element.signed else 'u'}{size_bytes}")
    return np.dtype((np.void, size_bytes))


def random_array(
    shape: Shape, element: CType, size_bytes: int, rng: np.random.Generator, layout: Struct | str = ""
) -> Data:
    """Floats from 0.5 to 1.5, with a heavy diagonal where the array is square (so that factorisations stay
    finite); integers from the shape's range; anything else small bytes, and zeros between
    the members of a struct, which no copy has to keep."""
    dtype = dtype_of(element, size_bytes)
    extents = shape.extents
    if dtype.kind == "f":
        if dtype.itemsize == 4 and prod(extents) > MANY:
            values = rng.random(extents, dtype=np.float32) + np.float32(0.5)
        else:
            values = rng.uniform(0.5, 1.5, extents)
        if len(extents) >= 2 and extents[-1] == extents[-2]:
            diagonal = np.arange(extents[-1])
            values[..., diagonal, diagonal] += 2.0 * extents[-1]
        return np.asarray(values, dtype=dtype, order="C")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)  # type: ignore[type-var]
        low = max(shape.contents.low or 0, int(limits.min))
        high = min(shape.contents.high or 0, int(limits.max), 1 if element.text == "_Bool" else 1 << 62)
        drawn = rng.integers(min(low, high), high, extents, endpoint=True)
        if shape.sorted:
            drawn = np.sort(drawn, axis=-1)
        return np.asarray(drawn, dtype=dtype, order="C")
    raw = rng.integers(0, 0x3F, (*extents, size_bytes), dtype=np.uint8)
    if isinstance(layout, Struct):
        kept = np.zeros(size_bytes, np.uint8)
        for begin, length in _numbers(layout)[2]:
            kept[begin : begin + length] = 1
        raw *= kept
    return raw.view(dtype).reshape(extents)


def _numbers(kind: CType | Struct) -> tuple[int, int, list[tuple[int, int]]]:
    """Size and alignment of a type, and where the numbers in it begin, with their sizes."""
    if not isinstance(kind, Struct):
        return kind.size_bytes, kind.size_bytes, [(0, kind.size_bytes)]
    end, alignment, found = 0, 1, list[tuple[int, int]]()
    for _, inner, extents in kind.members:
        size, align, parts = _numbers(inner)
        start = -(-end // align) * align
        found += [(start + k * size + begin, length) for k in range(prod(extents)) for begin, length in parts]
        end, alignment = start + prod(extents) * size, max(alignment, align)
    return -(-end // alignment) * alignment, alignment, found
