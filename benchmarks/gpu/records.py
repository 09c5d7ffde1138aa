"""What `generate.py` writes and `run.py` reads: the operators, and how the functions of their CUDA text are called.

The standard library only: `run.py` has to work where polyc's packages are not installed.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
FORMAT = 1
DTYPES = {"float": "float32", "double": "float64", "int": "int32", "long": "int64"}
"""Names that PyTorch has for C's types."""


class Problem(Exception):
    """Something that is needed is not there, or not as it was written down; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An array that the function takes, in the order of its parameters."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    """`in`; `out`; `scratch`, room to work in that PyTorch's form of the operator does not have."""


@dataclass(frozen=True, slots=True)
class Operator:
    name: str
    title: str
    """What the C file says of itself."""
    file: str
    """The CUDA text, beside the manifest."""
    entry: str
    """The function that takes pointers to the device's memory and a stream."""
    arguments: tuple[Argument, ...]
    kernels: int
    flops: int
    """Additions, subtractions, multiplications and divisions of floating numbers."""
    bytes: int
    """At least so many are moved: each input read once, each output written once."""


def save(operators: list[Operator], folder: Path, **notes: Any) -> None:
    record = {"format": FORMAT, **notes, "operators": [asdict(operator) for operator in operators]}
    (folder / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def load(folder: Path) -> list[Operator]:
    """Raises Problem."""
    file = folder / MANIFEST
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{file}: {error.strerror}; `python benchmarks/gpu/generate.py {folder}` writes it") from None
    except ValueError as error:
        raise Problem(f"{file} is no JSON ({error}); run generate.py again") from None
    if record.get("format") != FORMAT:
        raise Problem(f"{file} is of another version of generate.py; run it again")
    return [operator_of(entry) for entry in record["operators"]]


def operator_of(entry: dict[str, Any]) -> Operator:
    arguments = tuple(Argument(a["name"], a["dtype"], tuple(a["shape"]), a["role"]) for a in entry["arguments"])
    return Operator(**{**entry, "arguments": arguments})


class DeviceFunction:
    """`polyc_FILE_FUNCTION_LINE_device` of a library that was built from the CUDA text."""

    def __init__(self, library: Path, operator: Operator) -> None:
        self.operator = operator
        try:
            self.function = getattr(ctypes.CDLL(str(library)), operator.entry)
        except (OSError, AttributeError) as error:
            raise Problem(f"{operator.name}: its library has no {operator.entry} ({error})") from None
        self.function.argtypes = [ctypes.c_void_p] * (len(operator.arguments) + 1)
        self.function.restype = ctypes.c_int

    def __call__(self, addresses: tuple[int, ...], stream: int) -> None:
        """Start the kernels. `addresses`: as `addresses_of` answers them; `stream`: a cudaStream_t. Raises Problem."""
        error = self.function(*addresses, stream)
        if error:
            raise Problem(f"{self.operator.name}: CUDA reports error {error} (cudaError_t) for its kernels")


def addresses_of(operator: Operator, tensors: dict[str, Any]) -> tuple[int, ...]:
    """The tensors' places in memory, in the order of the parameters. Raises Problem for one that is not as it has to
    be: rows one after another, and the shape and type of the C array."""
    found = []
    for argument in operator.arguments:
        tensor = tensors.get(argument.name)
        if tensor is None:
            raise Problem(f"{operator.name}: no tensor for {argument.name}")
        shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        if shape != argument.shape or dtype != argument.dtype or not tensor.is_contiguous():
            raise Problem(
                f"{operator.name}: {argument.name} has to be contiguous, {argument.dtype} of {argument.shape}, "
                f"and is {dtype} of {shape}"
            )
        found.append(int(tensor.data_ptr()))
    return tuple(found)
