"""The templates of kernels."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def environment() -> Environment:
    """Jinja's environment over `polyc/codegen/templates`."""
    return Environment(
        loader=PackageLoader("polyc.codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def opencl_runtime() -> str:
    """polyc_cl.h: static functions that need CL/cl.h and the C library; they can stand in front of any C11 text."""
    return (files("polyc.codegen") / "templates" / "polyc_cl.h").read_text(encoding="utf-8")
