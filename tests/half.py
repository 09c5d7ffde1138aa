"""Which C compilers have `_Float16`."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest


@cache
def compilers() -> dict[str, bool]:
    """The compilers that are here, and whether they have the type."""
    return {cc: _has_half(cc) for cc in ("gcc", "clang") if shutil.which(cc)}


def needs_half() -> None:
    """Skip where gcc has no `_Float16`: before 12 on x86, before 7 on Arm."""
    if not compilers().get("gcc"):
        pytest.skip("gcc has no _Float16 here")


def _has_half(cc: str) -> bool:
    command = [cc, "-x", "c", "-fsyntax-only", "-w", "-"]
    done = subprocess.run(command, input="_Float16 x = 0.5f16;\n", capture_output=True, text=True, check=False)
    return done.returncode == 0
