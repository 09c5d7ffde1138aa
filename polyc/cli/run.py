"""What every command that compiles does first: read the file, and send each region through the pipeline."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyc.cli import options as o

if TYPE_CHECKING:
    from polyc.model.program import Compiled, InputOptions, Options
    from polyc.model.scop import Source

DEEPEST_NESTING = 20_000
"""Python's own limit of 1000 calls is less than what an expression of a few hundred brackets takes."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds by stage, in the order in which the stages ran."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


@dataclass(slots=True)
class Run:
    """A file that went through the compiler."""

    source: Source
    compiled: list[Compiled]
    input: InputOptions
    options: Options
    watch: Stopwatch


def compile_file(path: str, values: dict[str, Any], default_cc: str = "cc") -> Run:
    """Read and compile. Raises UserError with all the problems of the file."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST_NESTING))
    watch = Stopwatch()
    with watch.stage("start"):
        from polyc import frontend
        from polyc.pipeline import compile_region

        given, wanted = o.input_options(values, default_cc), o.transform_options(values)
    with watch.stage("read"):
        source = frontend.read(path, given)
    compiled = []
    for region in source.regions:
        start = time.perf_counter()
        done = compile_region(region, wanted)
        spent = time.perf_counter() - start
        for stage, seconds in done.timings:
            watch.add(stage, seconds)
        watch.add("other", max(0.0, spent - sum(seconds for _, seconds in done.timings)))
        compiled.append(done)
    return Run(source, compiled, given, wanted, watch)
