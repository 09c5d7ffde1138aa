"""A C file as a shared library in this process, with one of its functions to be called.

What C knows of the function's types and sizes is asked of C itself, by what is appended to the file:

    const unsigned long polyc_types_blur[] = { sizeof(float), 'f', ... };          element sizes, NumPy's letters
    void polyc_extents_blur(int height, int width, long *polyc_out) { ... }        the extents of its arrays
    void *const polyc_entry_blur = (void *)blur;                                   also where it is static
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polyc.records import dataclass
from polyc.runtime.process.build import run_compiler
from polyc.runtime.prototype import Prototype

FLAGS = ("-std=gnu11", "-fPIC", "-shared", "-w", "-Wl,-z,defs", "-Wl,-Bsymbolic")
KINDS = {
    "_Bool": "?", "char": "c", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H",
    "int": "i", "unsigned": "I", "long": "l", "unsigned long": "L", "long long": "q", "unsigned long long": "Q",
    "float": "f", "double": "d", "long double": "g",
    "float _Complex": "F", "double _Complex": "D", "long double _Complex": "G",
}  # fmt: skip
"""NumPy's letter of each type; `c` is C's char, of which the sign depends on the machine."""


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """A function that was loaded. The library stays as long as the process: other threads may be in it."""

    handle: ctypes.CDLL
    address: int
    elements: tuple[tuple[str, int], ...]
    """Of each parameter, and then of what is returned: NumPy's letter (`V` for a struct and whatever it has no letter
    for), and bytes; `("", 0)` for void."""


def load(text: str, prototype: Prototype, cc: str, flags: Sequence[str], openmp: bool) -> Library:
    """Build the text with what is appended, and load it. Raises BuildError.

    The folder of the build is gone afterwards: the library is in memory.
    """
    with tempfile.TemporaryDirectory(prefix="polyc-load-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, library = folder / "kernel.c", folder / "kernel.so"
        source.write_text(f"{text}\n{appended(prototype)}", encoding="utf-8", errors="surrogateescape")
        command = [cc, *FLAGS, *(["-fopenmp"] if openmp else []), str(source), "-o", str(library), *flags, "-lm"]
        run_compiler(command, folder)
        handle = ctypes.CDLL(str(library))
    shapes = [*(one.shape for one in prototype.arguments), prototype.returns]
    numbers = (ctypes.c_ulong * (2 * len(shapes))).in_dll(handle, f"polyc_types_{prototype.name}")
    elements = tuple(
        (chr(numbers[2 * k + 1]) if numbers[2 * k + 1] else "V" if numbers[2 * k] else "", numbers[2 * k])
        for k in range(len(shapes))
    )
    address = ctypes.c_void_p.in_dll(handle, f"polyc_entry_{prototype.name}").value
    assert address is not None
    return Library(handle, address, elements)


def appended(prototype: Prototype) -> str:
    """The C text that tells of a function."""
    name = prototype.name
    kinds = ", ".join(f"{c}: '{letter}'" for c, letter in KINDS.items())
    shapes = [*(one.shape for one in prototype.arguments), prototype.returns]
    pairs = [
        f"sizeof({s.element.text}), _Generic(*({s.element.text} *)0, {kinds}, default: 0)"
        if s.element.text != "void"
        else "0, 0"
        for s in shapes
    ]
    scalars = [f"{one.shape.element.text} {one.name}" for one in prototype.arguments if not one.shape.dims]
    extents = [text for one in prototype.arguments for text in one.extents if text is not None]
    assigned = " ".join(f"polyc_out[{k}] = {text};" for k, text in enumerate(extents))
    return (
        f"const unsigned long polyc_types_{name}[] = {{ {', '.join(pairs)} }};\n"
        f"void polyc_extents_{name}({', '.join([*scalars, 'long *polyc_out'])}) {{ {assigned} }}\n"
        f"void *const polyc_entry_{name} = (void *){name};\n"
    )
