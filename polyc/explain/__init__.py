"""The same run, shown: text, JSON, DOT and isl's own notation.

Called, it is `polyc.explain` of the Python API (`polyc.api`), which has the name of this package.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Callable(ModuleType):
    """Importing a module of this package puts the package in the place of any function of that name in `polyc`."""

    def __call__(self, *args: object, **options: object) -> str:
        from polyc.api.calls import explain

        return explain(*args, **options)  # type: ignore[arg-type]


sys.modules[__name__].__class__ = _Callable
