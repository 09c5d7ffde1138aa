"""The C runtime that printed programs carry with them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from polyc.codegen.gpu.render import opencl_runtime

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
"""Has a CL/cl.h of our own, with what polyc_cl.h uses."""


@cache
def runtime_text() -> str:
    """polyc_cl.h: static functions that need CL/cl.h and the C library; they can stand in front of any C11 text."""
    return opencl_runtime()
