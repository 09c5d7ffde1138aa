"""Comparing what two programs left in an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyc.records import dataclass
from polyc.runtime import csource
from polyc.runtime.call import Setting
from polyc.runtime.inputs import Data, dtype_of
from polyc.runtime.layout import Shape

TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-9, 16: 1e-9}
"""Relative, by bytes of the element, where `--reassociate` allows another order of additions."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the result's value is not the original's."""

    message: str
    """One sentence with all of the below."""
    values: dict[str, int]
    """Of the parameters."""
    array: str = ""
    index: tuple[int, ...] = ()
    original: str = ""
    result: str = ""


def first_difference(
    setting: Setting, shape: Shape, values: dict[str, int], rounding: float = 0.0
) -> Difference | None:
    """The first element of an array that the two programs leave with different values; `rounding`: how far floats may
    be off, relative to themselves, beside what `--reassociate` allows."""
    name = shape.name
    array = setting.scop.arrays[name]
    dtype = dtype_of(array.element, setting.element_bytes[name])
    extents = shape.extents
    original, result = (
        np.fromfile(setting.folder / f"array-{name}.{function}", dtype=dtype).reshape(extents)
        for function in (csource.ORIGINAL, csource.RESULT)
    )
    unlike = differing(original, result, setting.reassociated, rounding)
    if not unlike.any():
        return None
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(unlike)), extents)) if extents else ()
    before, after = shown(original[index]), shown(result[index])
    index = tuple(k + low for k, low in zip(index, shape.corner, strict=True))
    subscript = "".join(f"[{k}]" for k in index)
    given = ", ".join(f"{key} = {value}" for key, value in values.items())
    message = f"{array.c_name}{subscript} is {after} and was {before} in the original"
    message += f", with {given}" if given else ""
    message += f" ({int(unlike.sum())} of {unlike.size} elements differ)"
    return Difference(message, values, array.c_name, index, before, after)


def differing(
    original: Data, result: Data, reassociated: bool, rounding: float = 0.0
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays differ: in any bit, but all NaNs are alike."""
    if original.dtype.kind == "f":
        bits = np.dtype(f"u{original.dtype.itemsize}") if original.dtype.itemsize in (2, 4, 8) else None
        if bits is not None and np.array_equal(original.view(bits), result.view(bits)):
            return np.zeros(original.shape, dtype=bool)
        both_nan = np.isnan(original) & np.isnan(result)
        if reassociated or rounding:
            allowed = TOLERANCE.get(original.dtype.itemsize, 1e-4) if reassociated else 0.0
            close = np.isclose(result, original, rtol=allowed + rounding, atol=0)
            return np.asarray(~(close | both_nan))
        same_sign = np.signbit(original) == np.signbit(result)
        return np.asarray(~((original == result) & same_sign | both_nan))
    if original.dtype.kind == "V":
        width = original.dtype.itemsize
        pairs = (one.reshape(-1).view(np.uint8).reshape(*one.shape, width) for one in (original, result))
        first, second = pairs
        return np.asarray((first != second).any(axis=-1))
    return np.asarray(original != result)


def shown(value: Any) -> str:
    """A value with all its digits; bytes in hexadecimal."""
    if isinstance(value, np.void):
        return "0x" + value.tobytes().hex()
    return str(value.item()) if not isinstance(value, np.longdouble) else str(value)
