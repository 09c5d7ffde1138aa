"""`polyc profile`: what a profiler would count of the CUDA kernels, without a GPU, and predicted times."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, terminal
from polyc.cli import options as o
from polyc.cli.failure import Command
from polyc.errors import Diagnostic

if TYPE_CHECKING:
    from polyc.cli.run import Run
    from polyc.profile import Profile


class Blocks(o.Parameter):
    """A number of blocks, or `all`: 0."""

    name = "blocks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "all" or isinstance(value, int):
            return 0 if value == "all" else value
        if not str(value).isdigit() or not 0 < int(value) < 10**12:
            self.fail(f"'{value}' is not 'all', or a number of blocks", param, ctx)
        return int(value)


@click.command("profile", cls=Command, short_help="Count what CUDA kernels ask of memory, without a GPU.")
@click.argument("file", metavar="FILE", shell_complete=o.files)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for scripts.",
)
@click.option("-o", "target_file", metavar="OUT", default=output.STDOUT,
              help="A file to write, or a folder for STEM.profile.FORMAT.  [default: standard output]")  # fmt: skip
@click.option("--blocks", metavar="N|all", type=Blocks(), default="24", show_default=True,
              help="Run at most about so many blocks of a launch, which stand for all.")  # fmt: skip
@click.option("--size", metavar="N", type=o.Whole(min=1), default=1024, show_default=True,
              help="About how large parameters are that --param gives no value.")  # fmt: skip
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("gcc"),), diagnostics.OPTION)
def command(file: str, form: str, target_file: str, blocks: int, size: int, **values: Any) -> None:
    """Compile FILE for CUDA, run its kernels on the CPU on random arrays, and count what they ask of memory.

    The counts are those of a profiler: sectors of global memory, wavefronts of shared memory, active lanes, each
    beside the least possible. Times are predicted from them, and from the description of the --machine.

    This runs code of FILE, in a process of its own: do not profile files that you would not run.
    """
    values["target"] = wanted_target(values["target"])
    target_file = output.placed(target_file, file, f".profile.{'txt' if form == 'text' else form}")
    output.refuse_input(target_file, [file])

    from polyc.cli.run import compile_file

    run = compile_file(file, values, "gcc")
    output.refuse_input(target_file, run.source.dependencies)
    found, problems = profiles(run, size, blocks)
    text = as_json(found) if form == "json" else as_text(run, found)
    if form == "text" and target_file == output.STDOUT:
        terminal.show(text)
    else:
        output.write(target_file, text)
    if values["diagnostics_format"] != "text":
        diagnostics.tell([*diagnostics.of_run(run), *problems], values["diagnostics_format"], run.source)
    else:
        for problem in problems:
            click.echo(problem.render(), err=True)
    if problems:
        raise click.exceptions.Exit(1)


def wanted_target(target: str) -> str:
    """CUDA, unless another target was asked for. Raises click.UsageError."""
    given = click.get_current_context().get_parameter_source("target") is click.core.ParameterSource.COMMANDLINE
    if target == "opencl" and given:
        raise click.UsageError(
            "profile runs CUDA text, and cannot read OpenCL's: the kernels for --target cuda have the same loops, "
            "blocks, threads and shared memory, so profile those"
        )
    if target != "cuda" and given:
        raise click.UsageError(f"profile counts what kernels do, and --target {target} has none: use --target cuda")
    return "cuda"


def profiles(run: Run, size: int, blocks: int) -> tuple[list[tuple[str, Profile]], list[Diagnostic]]:
    """The profile of each region with the region's place, and why there is none of others."""
    from polyc.cli.progress import Progress
    from polyc.profile import NotProfiled, profile

    found: list[tuple[str, Profile]] = []
    problems: list[Diagnostic] = []
    regions = list(zip(run.source.regions, run.compiled, strict=True))
    with Progress("profiling", len(regions), lines=False) as progress:
        for region, compiled in regions:
            scop = region.scop
            place = f"{scop.span.file}:{scop.span.line}: region in {scop.function}()"
            try:
                with progress.step(f"{scop.function}()"):
                    found.append((place, profile(region, compiled, size, blocks, run.input.cc)))
            except NotProfiled as problem:
                hint = "" if compiled.device else "'polyc explain --target cuda' says why nests stay on the CPU"
                problems.append(Diagnostic("not-profiled", str(problem), scop.span, hint))
    return found, problems


def as_json(found: list[tuple[str, Profile]]) -> str:
    """All kernels of the file."""
    from polyc.profile.data import profile_data

    return json.dumps({"kernels": [kernel for _, one in found for kernel in profile_data(one)]}, indent=2) + "\n"


def as_text(run: Run, found: list[tuple[str, Profile]]) -> str:
    """A part for each region."""
    from polyc.cli import profiles as words

    given = [name for name, _ in run.input.params]
    return "\n".join(words.header(place, one, given) + words.told(one, terminal.width()) for place, one in found)
