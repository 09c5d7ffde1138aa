"""Are a contestant's live-out arrays right?

An element may differ from the reference's by

    |x - r| <= tolerance * (|r| + mean |r| over the array)

The mean keeps elements near zero, where a sum cancels, from asking for more than the arithmetic has. The tolerance is
1e-9 in double and 1e-3 in single precision: timed programs may contract a * b + c, and libraries add in another order.
Integers have to be equal.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TOLERANCE = {"double": 1e-9, "float": 1e-3}
TYPES: dict[str, type[np.generic]] = {"double": np.float64, "float": np.float32, "int": np.int32}

Arrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """right: within the tolerance. error: the largest relative error, as above. bits: equal to the last bit."""

    right: bool
    error: float
    bits: bool
    worst: str = ""


def read(dump: Path) -> Arrays:
    """The arrays of a dump, by name."""
    data = dump.read_bytes()
    arrays: Arrays = {}
    place = 0
    while place < len(data):
        end = data.index(b"\n", place)
        _, name, kind, rows, cols = data[place:end].decode().split()
        count = int(rows) * int(cols)
        found = np.frombuffer(data, TYPES[kind], count, end + 1)
        arrays[name] = found.reshape(int(rows), int(cols))
        place = end + 1 + found.nbytes
    return arrays


def digest(arrays: Arrays) -> str:
    """A hash of all bits."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return total.hexdigest()[:16]


def compare(kernel: str, found: Arrays, reference: Arrays) -> Comparison:
    """Hold the arrays of a contestant against the reference's."""
    if found.keys() != reference.keys():
        return Comparison(False, float("inf"), False, f"arrays {', '.join(found)}")
    worst, where, right = 0.0, "", True
    parts = defined(kernel, found)
    for name, expected in defined(kernel, reference).items():
        got = parts[name]
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return Comparison(False, float("inf"), False, name)
        error = largest(got, expected)
        if not error <= worst:
            worst, where = error, name
        right = right and error <= TOLERANCE.get("float" if got.dtype == np.float32 else "double", 0.0)
    return Comparison(right, worst, digest(found) == digest(reference), where)


def largest(found: NDArray[np.generic], reference: NDArray[np.generic]) -> float:
    """The largest relative error; infinite for a NaN that the reference has not, and for unequal integers."""
    if np.array_equal(found.view(np.uint8), reference.view(np.uint8)):
        return 0.0
    if np.issubdtype(reference.dtype, np.integer):
        return float("inf")
    x, r = found.astype(np.float64), reference.astype(np.float64)
    if not np.array_equal(np.isfinite(x), np.isfinite(r)):
        return float("inf")
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.abs(r) + np.mean(np.abs(r))
        errors = np.where(x == r, 0.0, np.abs(x - r) / scale)
    return float(np.nanmax(errors))


def defined(kernel: str, arrays: Arrays) -> Arrays:
    """The parts of the arrays that the mathematics defines.

    gramschmidt has more columns (n) than rows (m): from the m-th column on, Q is normalised rounding noise, and A and
    the rows of R are what that noise leaves and projects. What stands before is compared.
    """
    if kernel != "gramschmidt":
        return arrays
    m = arrays["Q"].shape[0]
    parts = {"A": arrays["A"][:, :m], "Q": arrays["Q"][:, :m], "R": arrays["R"][:m, :]}
    return {name: np.ascontiguousarray(part) for name, part in parts.items()}
