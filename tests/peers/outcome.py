"""How files are compiled, and what becomes of one."""

from __future__ import annotations

from dataclasses import dataclass

COMPILED, REFUSED, BUG = "compiled", "refused", "bug"


@dataclass(frozen=True, slots=True)
class Settings:
    """How the files are compiled."""

    seconds: float = 60
    memory_mib: int = 2048
    verify: bool = False
    complete: bool = False
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """C files that each program is linked with."""
    run: bool = False
    """Whether whole programs are built and run."""
    arguments: tuple[str, ...] = ()
    """Words on the command line of whole programs."""
    mode: str = "default"
    """One of MODES."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file."""

    file: str
    kind: str
    """`compiled`, `refused` or `bug`."""
    detail: str = ""
    """The first diagnostic, or what is wrong."""
    codes: tuple[str, ...] = ()
    """Of the errors of a refused file, in source order."""
    regions: int = 0
    changed: int = 0
    """Regions with a tiled, fused, parallel or vector loop."""
    completed: bool = False
    """Declarations were added to the file before it was compiled."""
    warnings: tuple[str, ...] = ()
    """What gcc -Wall says of the output and not of the input."""
    runs: tuple[str, ...] = ()
    """One a region: `equal`, or `not run: why`."""
    seconds: float = 0.0
    mode: str = "default"
    budget: int = 0
    """Regions for which a pass or a check took more isl operations than its budget."""
    output: str = ""
    """Of the whole program: `equal`, or `not run: why`."""
