"""A function of a C file, to be called on NumPy arrays."""

from __future__ import annotations

import ctypes
import operator
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from polyc.api.options import ONE_AT_A_TIME
from polyc.api.result import Result
from polyc.errors import UserError
from polyc.runtime.library import Library, load
from polyc.runtime.process.build import BuildError, has_openmp
from polyc.runtime.prototype import Argument, Prototype, prototype

SCALARS: dict[str, Any] = {
    "?": ctypes.c_bool, "c": ctypes.c_char, "b": ctypes.c_byte, "B": ctypes.c_ubyte, "h": ctypes.c_short,
    "H": ctypes.c_ushort, "i": ctypes.c_int, "I": ctypes.c_uint, "l": ctypes.c_long, "L": ctypes.c_ulong,
    "q": ctypes.c_longlong, "Q": ctypes.c_ulonglong, "f": ctypes.c_float, "d": ctypes.c_double,
    "g": ctypes.c_longdouble,
}  # fmt: skip
FLOATS = "fdg"
_loaded: dict[tuple[object, ...], Library] = {}
"""Libraries of this process, by all that makes them what they are."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function that was loaded."""

    name: str
    declaration: str
    """As C has it: `float in[height][width]`."""
    dtype: np.dtype[Any] | None
    """Of the scalar, or of the array's elements; None for `void *`, which takes any."""
    shape: tuple[str | None, ...] | None
    """The extents of an array as C expressions, None for one that C does not tell; None for a scalar."""
    writable: bool
    """Whether the array has to be: it is not declared const."""
    letter: str
    """NumPy's letter of the type, `c` for C's char, `V` for a struct."""


class Kernel:
    """A C function that was compiled by polyc and built: call it with scalars and NumPy arrays, by position or by name.

    Arrays are passed as they are, and written in place: never a copy. Each has to have the element type of its
    declaration, C order without gaps, and the declared extents, with the values of the scalars in them
    (`double A[n][m]`: float64 of shape (n, m)). For `float *a` and `float a[]` C tells no extent: any shape is taken,
    and there have to be as many elements as the function touches. Arrays that it writes may not overlap others: that
    is what polyc assumes of arrays with different names.

    Raises TypeError where an argument is missing, unknown, or of another type; ValueError where a scalar does not fit
    its type, or an array has another shape, has gaps, is read-only or overlaps.

    Several threads may call at once, as far as the function itself keeps nothing; the interpreter's lock is released
    meanwhile.
    """

    def __init__(
        self, head: Prototype, library: Library, source: _Source, num_threads: int | None, result: Result
    ) -> None:
        self._head = head
        self._source = source
        self._num_threads = num_threads
        self._original: Kernel | None = None
        self.result = result
        """What was compiled: code, groups, remarks."""
        self.__name__ = head.name
        self.parameters = tuple(map(parameter_of, head.arguments, library.elements))
        """What is taken, in order."""
        check_types(head, self.parameters, library.elements[-1][0])
        letter = library.elements[-1][0]
        types = [ctypes.c_void_p if p.shape is not None else SCALARS[p.letter] for p in self.parameters]
        self._function = ctypes.CFUNCTYPE(SCALARS[letter] if letter else None, *types)(library.address)
        self._extents = library.handle[f"polyc_extents_{head.name}"]
        self._extents.argtypes = [SCALARS[p.letter] for p in self.parameters if p.shape is None] + [ctypes.c_void_p]
        self._extents.restype = None
        self._told = sum(extent is not None for p in self.parameters for extent in p.shape or ())
        self._handle = library.handle

    @property
    def original(self) -> Kernel:
        """The same function of the file as it was written, built with the same flags."""
        if self._original is None:
            with ONE_AT_A_TIME:
                library = loaded(self._source.original, self._head, self._source)
                self._original = Kernel(self._head, library, self._source, self._num_threads, self.result)
        return self._original

    def __call__(self, *values: object, **named: object) -> Any:
        """Call the function. Answers what it returns: an int, a float, a bool, or None."""
        given = self._bound(values, named)
        scalars = [
            self._scalar(parameter, value)
            for parameter, value in zip(self.parameters, given, strict=True)
            if parameter.shape is None
        ]
        extents = (ctypes.c_long * max(1, self._told))()
        self._extents(*scalars, extents)
        wanted, rest = iter(extents), iter(scalars)
        passed: list[Any] = []
        arrays: list[tuple[Parameter, np.ndarray[Any, Any]]] = []
        for parameter, value in zip(self.parameters, given, strict=True):
            if parameter.shape is None:
                passed.append(next(rest))
                continue
            shape = tuple(None if text is None else int(next(wanted)) for text in parameter.shape)
            array = self._array(parameter, shape, value)
            passed.append(array.ctypes.data)
            arrays.append((parameter, array))
        self._check_apart(arrays)
        with threads(self._handle, self._num_threads):
            answer = self._function(*passed)
        return answer[0] if isinstance(answer, bytes) else answer

    def __repr__(self) -> str:
        return f"<polyc.Kernel {self._head.text}>"

    def _bound(self, values: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """A value for each parameter. Some names of C are words of Python: `kernel(**{"in": a})`."""
        names = [parameter.name for parameter in self.parameters]
        if len(values) > len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} arguments, not {len(values)}: {self._head.text}")
        found = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"{self.__name__}() has no parameter '{name}': {self._head.text}")
            if name in found:
                raise TypeError(f"{self.__name__}() got two values for '{name}'")
            found[name] = value
        missing = [name for name in names if name not in found]
        if missing:
            raise TypeError(f"{self.__name__}() lacks {', '.join(missing)}: {self._head.text}")
        return [found[name] for name in names]

    def _scalar(self, parameter: Parameter, value: object) -> Any:
        """The value as ctypes takes it."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if parameter.letter in FLOATS:
            if not isinstance(value, Real):
                raise self._wrong_type(parameter, "a real number", value)
            return SCALARS[parameter.letter](float(value))
        if not isinstance(value, (Integral, np.bool_)):
            raise self._wrong_type(parameter, "an integer", value)
        number = int(value) if isinstance(value, np.bool_) else operator.index(value)
        low, high = integers(parameter.letter)
        if not low <= number <= high:
            raise ValueError(
                f"{self.__name__}(): {parameter.name} is {number}: '{parameter.declaration}' holds {low} to {high}"
            )
        if parameter.letter == "c":
            return ctypes.c_char(number % 256)
        return SCALARS[parameter.letter](number)

    def _array(self, parameter: Parameter, shape: tuple[int | None, ...], value: object) -> np.ndarray[Any, Any]:
        """The array, if it is what the declaration says."""
        if not isinstance(value, np.ndarray):
            raise self._wrong_type(parameter, f"a NumPy array of {spelled(parameter)}", value)
        if not has_type(parameter, value.dtype):
            raise self._wrong_type(parameter, f"an array of {spelled(parameter)}", value)
        where = f"{self.__name__}(): {parameter.name}"
        if shape != (None,) and (
            value.ndim != len(shape)
            or any(size is not None and size != own for size, own in zip(shape, value.shape, strict=True))
        ):
            raise ValueError(
                f"{where} has shape {value.shape}: '{parameter.declaration}' is {shape_text(shape)}"
                + ("" if len(shape) == value.ndim else f", with {len(shape)} dimension{'s' * (len(shape) != 1)}")
            )
        if not value.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous in C order: pass np.ascontiguousarray({parameter.name})")
        if not value.flags.aligned:
            raise ValueError(f"{where} is not aligned for {value.dtype}: pass a copy of it")
        if parameter.writable and not value.flags.writeable:
            raise ValueError(f"{where} is read-only: '{parameter.declaration}' is not const")
        return value

    def _check_apart(self, arrays: Sequence[tuple[Parameter, np.ndarray[Any, Any]]]) -> None:
        """Arrays without gaps overlap where their bounds do."""
        for position, (one, array) in enumerate(arrays):
            for other, another in arrays[:position]:
                if (one.writable or other.writable) and np.may_share_memory(array, another):
                    raise ValueError(
                        f"{self.__name__}(): {other.name} and {one.name} overlap: polyc takes arrays with different "
                        "names for different memory"
                    )

    def _wrong_type(self, parameter: Parameter, wanted: str, value: object) -> TypeError:
        if isinstance(value, np.ndarray):
            records = f"records of {value.dtype.itemsize} bytes"
            kind = f"an array of {records if value.dtype.kind == 'V' else value.dtype}"
        else:
            kind = repr(value)
            kind = kind if len(kind) <= 60 else f"a {type(value).__name__}"
        return TypeError(f"{self.__name__}(): {parameter.name} is {kind}: '{parameter.declaration}' takes {wanted}")


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """What a kernel is built from, and how."""

    original: str
    cc: str
    flags: tuple[str, ...]
    openmp: bool


def kernel_of(
    result: Result, function: str | None, text: str | None, cflags: tuple[str, ...], num_threads: int | None
) -> Kernel:
    """Build a function of a file that was compiled. Raises UserError."""
    run = result._run
    if run.options.gpu:
        raise UserError.of(
            "cannot-load", f"load() runs on the CPU, and the target {result.target} on a GPU", hint="leave out target"
        )
    head = prototype(function or only_function(result), result.path, run.input, text)
    check_levels(head)
    openmp = result.target == "openmp" and has_openmp(run.input.cc)
    if result.target == "openmp" and not openmp:
        warnings.warn(f"'{run.input.cc}' builds nothing with OpenMP: one thread runs", RuntimeWarning, stacklevel=3)
    folder = os.path.dirname(os.path.abspath(result.path)) if text is None else os.getcwd()
    given = run.input
    words = [*("-I" + os.path.abspath(one) for one in given.include_dirs), *(f"-D{one}" for one in given.defines)]
    words += [f"-U{one}" for one in given.undefines]
    words += [] if re.search(r"\berrno\b", run.source.text) else ["-fno-math-errno"]
    source = _Source(run.source.text, given.cc, ("-iquote", folder, *words, *cflags), openmp)
    return Kernel(head, loaded(result.text, head, source), source, num_threads, result)


def only_function(result: Result) -> str:
    """The function that the regions of a file are in. Raises UserError where it is not one."""
    known = list(dict.fromkeys(region.scop.function for region in result._run.source.regions))
    if len(known) != 1:
        message = "the file has no region" if not known else f"there are regions in {', '.join(known)}"
        raise UserError.of("cannot-load", f"which function to load is not clear: {message}", hint="say function=NAME")
    return known[0]


def loaded(text: str, head: Prototype, source: _Source) -> Library:
    """A library of this process. Raises UserError, `cannot-build` with what the C compiler says."""
    key = (text, head.source, head.name, source.cc, source.flags, source.openmp)
    if key not in _loaded:
        try:
            _loaded[key] = load(text, head, source.cc, source.flags, source.openmp)
        except BuildError as problem:
            hint = "name a C compiler with cc"
            if "undefined reference" in str(problem):
                hint = "name the C files or libraries that the file needs with cflags"
            raise UserError.of("cannot-build", f"'{head.name}' was not built: {problem}", head.span, hint) from None
    return _loaded[key]


def check_levels(head: Prototype) -> None:
    """What cannot be passed, as far as the declaration tells. Raises UserError."""
    for argument in head.arguments:
        dims = argument.shape.dims
        if argument.shape.is_function or any(dim.pointer for dim in dims[1:]):
            raise UserError.of(
                "cannot-load",
                f"'{argument.text}' is more than an array of values: no NumPy array can be passed for it",
                head.span,
                "rows of known length can: double (*A)[m], double A[n][m]",
            )
    if head.returns.dims:
        raise UserError.of("cannot-load", f"'{head.name}' returns a pointer", head.span)


def check_types(head: Prototype, parameters: Sequence[Parameter], returned: str) -> None:
    """Scalars have to be numbers that ctypes knows. Raises UserError."""
    for parameter in parameters:
        if parameter.shape is None and parameter.letter not in SCALARS:
            message = f"'{parameter.declaration}' is no number that can be passed"
            raise UserError.of("cannot-load", message, head.span, "pass a pointer to it: it takes an array of one")
    if returned and returned not in SCALARS:
        raise UserError.of("cannot-load", f"'{head.name}' returns what is no number", head.span)


def parameter_of(argument: Argument, element: tuple[str, int]) -> Parameter:
    letter, size_bytes = element
    if letter == "V" and argument.shape.element.kind == "float" and size_bytes == 2:
        letter = "e"
    dtype = np.dtype((np.void, size_bytes)) if letter == "V" else np.dtype("i1" if letter == "c" else letter or "V1")
    dims = argument.shape.dims
    return Parameter(
        argument.name,
        argument.text,
        dtype if letter else None,
        argument.extents if dims else None,
        bool(dims) and not argument.constant,
        letter,
    )


def has_type(parameter: Parameter, dtype: np.dtype[Any]) -> bool:
    """Whether elements of a NumPy type are what C takes them for."""
    if parameter.dtype is None:
        return True
    if parameter.letter == "V":
        return dtype.kind == "V" and dtype.itemsize == parameter.dtype.itemsize
    if parameter.letter == "c":
        return dtype in (np.dtype("i1"), np.dtype("u1"))
    return dtype == parameter.dtype


def spelled(parameter: Parameter) -> str:
    if parameter.dtype is None:
        return "any type"
    if parameter.letter == "V":
        return f"records of {parameter.dtype.itemsize} bytes"
    return "int8 or uint8" if parameter.letter == "c" else str(parameter.dtype)


def shape_text(shape: Sequence[int | None]) -> str:
    words = ["any" if size is None else str(size) for size in shape]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def integers(letter: str) -> tuple[int, int]:
    """The least and the greatest value of a C type."""
    if letter == "?":
        return 0, 1
    if letter == "c":
        return -128, 255
    found = np.iinfo(letter)
    return int(found.min), int(found.max)


@contextmanager
def threads(handle: ctypes.CDLL, count: int | None) -> Iterator[None]:
    """OpenMP's number of threads inside: that of the thread that calls, which has its own again afterwards."""
    if count is None or not hasattr(handle, "omp_set_num_threads"):
        yield
        return
    before = handle.omp_get_max_threads()
    handle.omp_set_num_threads(count)
    try:
        yield
    finally:
        handle.omp_set_num_threads(before)
