"""Building and running a region and its result from Python, to compare what they compute.

What runs code is imported when it is asked for: the check of the printed text needs `csource` only, and a compile need
not wait for NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyc.runtime.check import Report, compare
    from polyc.runtime.differences import Difference
    from polyc.runtime.process.build import BuildError

_PLACES = {"BuildError": "process.build", "Difference": "differences"}

__all__ = ["BuildError", "Difference", "Report", "compare"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'check')}"), name)
