"""What every command that compiles does first: read the file, and send each region through the pipeline."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyc.cli import options as o

if TYPE_CHECKING:
    from polyc.model.program import Compiled, InputOptions, Options
    from polyc.model.scop import Source


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


def compile_file(path: str, values: dict[str, Any], default_cc: str = "cc", *, text: str | None = None) -> Run:
    """Read and compile. Raises UserError with all the problems of the file.

    `text`: what stands in the place of a file; `path` is what messages call it then.
    """
    watch = Stopwatch()
    with watch.stage("start"):
        from polyc import frontend
        from polyc.pipeline import compile_region

        given, wanted = o.input_options(values, default_cc), o.transform_options(values)
    with watch.stage("read"):
        source = frontend.read(path, given, text=text)
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


@contextmanager
def shown_within_budget(run: Run) -> Iterator[None]:
    """Showing relations takes isl operations too. Raises UserError where they are used up."""
    from polyc.errors import UserError
    from polyc.poly import OverBudget, budget

    if not run.compiled:
        yield
        return
    context = run.compiled[0].program.scop.domain.get_ctx()
    try:
        with budget(context, run.input.budget):
            yield
    except OverBudget:
        message = "showing what was done takes more isl operations than the budget allows"
        raise UserError.of("too-large", message, hint="allow more with --budget; 0 is no bound") from None
