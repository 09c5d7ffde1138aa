"""polyc: a polyhedral source-to-source compiler for C.

    import polyc

    result = polyc.compile("blur.c", target="openmp")     what `polyc compile blur.c` prints, and what it decided
    print(polyc.explain("blur.c"))                        what `polyc explain blur.c` prints
    blur = polyc.load("blur.c")                           the function, built, to call on NumPy arrays

docs/api.md describes them. The names are imported when they are asked for: the command line needs none of them.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # the real one would load the module typing
if TYPE_CHECKING:
    from polyc.api.calls import compile, explain, load
    from polyc.api.kernel import Kernel, Parameter
    from polyc.api.options import CompileOptions
    from polyc.api.result import Buffer, Group, Result
    from polyc.errors import Diagnostic, InternalError, Span, UserError
    from polyc.model.program import Remark

_PLACES = {
    "compile": "api.calls",
    "load": "api.calls",
    "Kernel": "api.kernel",
    "Parameter": "api.kernel",
    "CompileOptions": "api.options",
    "Buffer": "api.result",
    "Group": "api.result",
    "Result": "api.result",
    "Diagnostic": "errors",
    "InternalError": "errors",
    "Span": "errors",
    "UserError": "errors",
    "Remark": "model.program",
}

__all__ = [
    "Buffer",
    "CompileOptions",
    "Diagnostic",
    "Group",
    "InternalError",
    "Kernel",
    "Parameter",
    "Remark",
    "Result",
    "Span",
    "UserError",
    "__version__",
    "compile",
    "explain",
    "load",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "explain":  # a folder has this name too: it can be called
        return import_module("polyc.explain")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
