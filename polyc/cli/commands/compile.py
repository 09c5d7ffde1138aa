"""`polyc compile`: a C file in, the same file with its regions transformed out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, several
from polyc.cli import options as o
from polyc.cli.failure import write_report

if TYPE_CHECKING:
    from polyc.cli.run import Run


ENDINGS = {"source": output.SOURCE, "tree": ".tree", "ast": ".ast"}


@click.command(
    "compile",
    cls=several.FilesCommand,
    doing="compiling",
    ending=lambda values: ENDINGS[values["emit"]],
    short_help="Write files with their loop nests transformed.",
)
@several.FILES
@click.option(
    "-o",
    "target_file",
    metavar="OUT",
    help="Where to write: a file, a folder for STEM.polyc.c, or '-' for standard output. A GPU's kernels go to a "
    "file beside it, with another ending.  [default: the current folder]",
)
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),), diagnostics.OPTION)
@click.option(
    "--emit",
    type=click.Choice(["source", "tree", "ast"]),
    default="source",
    show_default=True,
    help="What to write: the C file, or the schedule trees or isl's ASTs (to standard output without -o).",
)
@click.option(
    "--remarks",
    type=click.Choice(["text", "json"]),
    metavar="[text|json]",
    help="Print every decision on standard error; as text where no form is named.",
)
@click.option("-MD", "dependencies", is_flag=True, help="Write a Makefile rule with what the output depends on.")
@click.option(
    "-MF",
    "dependency_file",
    metavar="FILE",
    help="Where to write that rule (implies -MD).  [default: OUT with .d]",
)
@click.option("--timings", is_flag=True, help="Print the milliseconds of each stage on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Print what was found in each region, and what was approximated.")
@several.JOBS
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary line.")
def command(file: str, **values: Any) -> None:
    """Compile FILE: its regions come back tiled, fused and parallel, the rest of it byte for byte.

    Of several FILEs each is compiled for itself: where one is refused, the others are still written, and the exit
    code is 1.
    """
    target = chosen_output(file, values)
    rule_file = chosen_rule_file(file, target, values)
    for name in filter(None, (target, rule_file)):
        output.refuse_input(name, [file])
    if rule_file is not None and target != output.STDOUT and output.same_file(rule_file, target):
        raise click.UsageError(f"'{target}' cannot hold both the output and its dependencies")

    from polyc.cli.run import compile_file

    run = compile_file(file, values)
    for name in filter(None, (target, rule_file)):
        output.refuse_input(name, run.source.dependencies)
    with run.watch.stage("print"):
        files = [(target, emitted(run, values["emit"])), *other_files(run, target, values["emit"])]
    for name, _ in files[1:]:
        output.refuse_input(name, [file, *run.source.dependencies])
    if rule_file is not None:
        rule_target = target if target != output.STDOUT else output.default_output(file)
        files.insert(0, (rule_file, output.dependency_file(rule_target, run.source.dependencies)))
    output.write_all(files)
    tell(file, run, values)


def chosen_output(file: str, values: dict[str, Any]) -> str:
    if values["target_file"] is None and values["emit"] != "source":
        return output.STDOUT
    return output.placed(values["target_file"], file, ENDINGS[values["emit"]])


def chosen_rule_file(file: str, target: str, values: dict[str, Any]) -> str | None:
    """The dependency file, named after the output as gcc does: `out.polyc.c` gives `out.polyc.d`."""
    if values["dependency_file"] is not None:
        return str(values["dependency_file"])
    if not values["dependencies"]:
        return None
    return str(Path(output.default_output(file) if target == output.STDOUT else target).with_suffix(".d"))


def emitted(run: Run, emit: str) -> str:
    """The text of the output."""
    if emit == "source":
        from polyc import codegen

        return codegen.render_file(run.source, run.compiled)
    if emit == "ast":
        return "\n".join(one.ast.rstrip("\n") + "\n" for one in run.compiled)
    from polyc.model.tree_text import render_tree

    return "\n".join(render_tree(one.program.tree) for one in run.compiled)


def other_files(run: Run, target: str, emit: str) -> list[tuple[str, str]]:
    """A GPU's kernels, and what runs them: beside the C file with another ending, or after it on standard output."""
    if emit != "source":
        return []
    from polyc import codegen

    stem = target.removesuffix(".c")
    found = codegen.render_other_files(run.source, run.compiled, run.options)
    return [(target if target == output.STDOUT else stem + ending, text) for ending, text in found.items()]


def tell(file: str, run: Run, values: dict[str, Any]) -> None:
    """Everything on standard error after a compile: warnings, remarks, timings, the summary or the diagnostics."""
    from polyc.cli import messages
    from polyc.explain.words.summary import summary

    form = values["diagnostics_format"]
    for warning, details in messages.fallbacks(run):
        if form == "text":
            click.echo(warning, err=True)
        with contextlib.suppress(OSError):
            click.echo(f"polyc: a report is in {write_report(details, file)}", err=True)
    if values["verbose"]:
        click.echo(messages.findings(run), err=True, nl=False)
    if values["remarks"] is not None:
        click.echo(messages.remarks(run.compiled, values["remarks"], run.source.left), err=True, nl=False)
    if values["timings"]:
        click.echo(messages.timings(run.watch), err=True, nl=False)
    if form != "text":
        found = [*diagnostics.of_run(run), *run.source.left]
        diagnostics.tell(found, form, run.source)
    elif not values["quiet"]:
        click.echo(summary(file, run.compiled, run.source.left), err=True)
