"""What every command that compiles does first: read the file, and send each region through the pipeline."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import options as o
from polyc.errors import Diagnostic, Severity
from polyc.records import dataclass, field, replace

if TYPE_CHECKING:
    from polyc.cli.config import Config
    from polyc.model.program import Compiled, InputOptions, Options, Remark
    from polyc.model.scop import Region, Scop, Source


REFUSED = "verification-failed"
"""The remark that a check refused a program: a fault of polyc, and a warning."""


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

    def put_second(self, name: str, seconds: float) -> None:
        """A stage that was measured around others, in its place after the first one."""
        first, *rest = self.seconds.items()
        self.seconds = dict([first, (name, seconds), *rest])


@dataclass(slots=True)
class Run:
    """A file that went through the compiler."""

    config: str | None = field(default=None, kw_only=True)
    """The polyc.toml that was read."""

    source: Source
    compiled: list[Compiled]
    input: InputOptions
    options: Options
    watch: Stopwatch
    refused: list[Compiled] = field(default_factory=list, kw_only=True)
    """Regions that nobody marked, and that stay as they are since a check refused what polyc made of them."""


def compile_file(path: str, values: dict[str, Any], default_cc: str = "cc", *, text: str | None = None) -> Run:
    """Read and compile. Raises UserError with all the problems of the file.

    `text`: what stands in the place of a file; `path` is what messages call it then.
    """
    watch = Stopwatch()
    with watch.stage("start"):
        from polyc import frontend
        from polyc.analysis.coincident import is_serial
        from polyc.analysis.loop_facts import hides_loops
        from polyc.fallback import is_finished
        from polyc.frontend.detect import Apart, Everywhere, Unfinished
        from polyc.pipeline import compile_region

        given, wanted = o.input_options(values, default_cc), o.transform_options(values)
    config: Config | None = values.get("config")
    done: dict[Region, Compiled] = {}

    def compiled(region: Region) -> Compiled:
        if region in done:
            return done[region]
        start = time.perf_counter()
        done[region] = compile_region(*asked_of(region, wanted, config))
        spent = time.perf_counter() - start
        for stage, seconds in done[region].timings:
            watch.add(stage, seconds)
        watch.add("other", max(0.0, spent - sum(seconds for _, seconds in done[region].timings)))
        return done[region]

    def judged(region: Region) -> str | None:
        found = compiled(region)
        reason = no_gain(found)
        if reason is None and hides_loops(region.scop, gained):
            return "a function which it calls has loops that are a region by themselves, and are none in here"
        if reason is None:
            gained.append(region.scop)
            return None
        if any(remark.code == REFUSED for remark in found.program.remarks):
            refused[region] = found
        if wanted.gpu and not found.device:
            return Apart(reason)
        if not is_finished(found.program):
            return Unfinished(reason)
        return Everywhere(reason) if is_serial(found.initial) else reason

    refused: dict[Region, Compiled] = {}
    gained: list[Scop] = []
    before = time.perf_counter()
    source = frontend.read(path, given, judged, text=text)
    spent = sum(watch.seconds.values()) - watch.seconds["start"]
    watch.put_second("read", time.perf_counter() - before - spent)
    if config is not None:
        source = replace(source, dependencies=(*source.dependencies, config.path))
        for told in unknown_labels(source, config):
            click.echo(told.render(), err=True)
    answer = [kept(source, one, compiled(one)) for one in source.regions]
    named = config.path if config is not None else None
    left = [one for region, one in refused.items() if region not in source.regions]
    return Run(source, answer, given, wanted, watch, config=named, refused=left)


def kept(source: Source, region: Region, compiled: Compiled) -> Compiled:
    """A marked region's result; its own loops where nothing is gained by others, which the C compiler may like less."""
    from polyc.codegen import render_as_it_stands, render_as_written
    from polyc.model.certificate import WRITTEN

    if compiled.program.options.gpu or no_gain(compiled) is None:
        return compiled
    text, in_file = render_as_written(region), render_as_it_stands(source.text, region)
    return replace(compiled, text=text, special=in_file, ast="", origins=(), certificate=WRITTEN)


def asked_of(region: Region, options: Options, config: Config | None) -> tuple[Region, Options]:
    """A region, and its options, with what polyc.toml says of its function and of its nests.

    What a pragma asks for counts more.
    """
    from polyc.explain.facts.nests import labelled_nests
    from polyc.model.scop import Wish

    scop = region.scop
    wishes = dict(scop.wishes)
    nests = dict(labelled_nests(scop))
    for kernel in config.kernels if config is not None else ():
        if kernel.function != scop.function:
            continue
        if kernel.line is None:
            options = replace(options, **dict(settled(name, value) for name, value in kernel.values.items()))
            continue
        for name in nests.get(kernel.line, ()):
            before = wishes.get(name, Wish(1000 + kernel.line))
            tile = kernel.values.get("tile_sizes", "auto") if before.tile == "auto" else before.tile
            wishes[name] = replace(
                before,
                tile=tile,
                fuse=before.fuse and kernel.values.get("fuse", True),
                parallel=before.parallel and kernel.values.get("parallel", True),
                sizes=tuple(dict(kernel.values.get("resized", ())).items()),
            )
    if scop.whole is not None:
        inner, _ = asked_of(replace(region, scop=scop.whole), options, config)
        scop = scop if inner.scop is scop.whole else replace(scop, whole=inner.scop)
    changed = (
        region if scop is region.scop and wishes == scop.wishes else replace(region, scop=replace(scop, wishes=wishes))
    )
    return changed, options


def settled(name: str, value: Any) -> tuple[str, Any]:
    """An option as the pipeline takes it: its name there, and its value."""
    match name:
        case "resized":
            return "sizes", tuple(dict(value).items())
        case "no_inline":
            return "inline", not value
    return name, value


def unknown_labels(source: Source, config: Config) -> list[Diagnostic]:
    """A warning for each label of a nest that is not there, though its function has a region."""
    from polyc.explain.facts.nests import labelled_nests

    found = []
    for kernel in config.kernels:
        lines = [
            line for r in source.regions if r.scop.function == kernel.function for line, _ in labelled_nests(r.scop)
        ]
        if kernel.line is not None and lines and kernel.line not in lines:
            labels = ", ".join(f"{kernel.function}:{line}" for line in lines)
            message = f"no nest of {source.path} is called '{kernel.function}:{kernel.line}'"
            found.append(Diagnostic("bad-config", message, kernel.span, f"there are {labels}", Severity.WARNING))
    return found


NOT_EQUAL = re.compile(r"\bfor\s*\([^;{}]*;[^;{}]*!=[^;{}]*;")
"""A loop's head that ends where two values meet."""


def refusal_of(compiled: Compiled) -> Remark | None:
    """The refusal of a program, for which passes were left out; None where nothing was refused."""
    return next((remark for remark in compiled.program.remarks if "left_out" in remark.data), None)


def no_gain(compiled: Compiled) -> str | None:
    """Why a region is better left as it is; None where something was gained."""
    from polyc.analysis.loop_facts import gains_vectors, only_in_functions
    from polyc.codegen.text.macros import IN_VECTORS, SEVERAL
    from polyc.explain.codes import REMARKS
    from polyc.explain.facts.nests import Reasons, nests

    found = nests(compiled)
    if compiled.program.scop.shared and compiled.program.options.target != "c":
        alone = [nest for nest in found if not nest.parallel]
        if alone:
            reason = Reasons(compiled.program).why_not("parallel", alone[0].statements)
            told = "" if reason is None else f": {reason.message} [{reason.code}]"
            return f"it would not run in parallel any more, as its pragma says{told}"
    if compiled.program.scop.in_place and only_in_functions(compiled.program):
        return "nothing would be gained that the functions which it calls do not have by themselves"
    more = gains_vectors(compiled.program) or any(REMARKS[one.code].gain for one in compiled.program.remarks)
    more = more or any(f"{macro}(" in compiled.text for macro in IN_VECTORS)
    once = bool(compiled.ast) and compiled.program.scop.computes_once
    if any(nest.tiled or nest.fused for nest in found) or more or once:
        return None
    if any(nest.parallel for nest in found):
        # gcc 12 makes no vectors of the loops as written below that question, if it has to find out that they end.
        slower = f"{SEVERAL}()" in compiled.text and NOT_EQUAL.search(compiled.text)
        return "only threads would be gained, and vectors lost: its head has '!=' (write '<')" if slower else None
    refusal = refusal_of(compiled)
    if refusal is not None:
        return f"{refusal.message} [{refusal.code}]"
    reasons = Reasons(compiled.program)
    for nest in found:
        for what in ("parallel", "tiled"):
            reason = reasons.why_not(what, nest.statements)
            if reason is not None:
                return f"nothing would be gained: {reason.message} [{reason.code}]"
    return "nothing would be gained"


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
