"""`polyc explain`: what was done with each loop nest, what was not, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, terminal
from polyc.cli import options as o
from polyc.cli.failure import Command

if TYPE_CHECKING:
    from polyc.cli.run import Run
    from polyc.model.program import Compiled, Snapshot


@click.command("explain", cls=Command, short_help="Show what was done with each nest, and why.")
@click.argument("file")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "html", "json", "svg", "dot", "isl"]),
    default="text",
    show_default=True,
    help="For people in a terminal or in a browser, for scripts, as pictures, for Graphviz, for isl.",
)
@click.option(
    "--what",
    type=click.Choice(["all", "tree", "graph"]),
    default="all",
    show_default=True,
    help="With svg and dot: the schedule tree, the statement graph, or both.",
)
@click.option(
    "-o",
    "target_file",
    metavar="OUT",
    default=output.STDOUT,
    help="Where to write, for all forms but text.  [default: standard output]",
)
@click.option("--pass", "wanted", metavar="NAME", help="Show the tree after this pass, not the final one.")
@click.option("--all-passes", is_flag=True, help="Show all that is known, with the tree after every pass.")
@click.option("--why", "line", metavar="LINE", type=click.IntRange(min=1), help="Answer for the nest at this line.")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),), diagnostics.OPTION)
def command(
    file: str,
    form: str,
    what: str,
    target_file: str,
    wanted: str | None,
    all_passes: bool,
    line: int | None,
    **values: Any,
) -> None:
    """Explain what `polyc compile FILE` does with the same options. Writes no file but OUT.

    The report has a line for each loop nest. --why LINE answers for one of them, --all-passes shows everything.
    """
    if wanted is not None and all_passes:
        raise click.UsageError("--pass and --all-passes exclude each other")
    if line is not None and (wanted is not None or all_passes or form != "text"):
        raise click.UsageError("--why is a report of its own: leave --pass, --all-passes and --format out")
    if what != "all" and form not in ("svg", "dot"):
        raise click.UsageError(f"--what {what} needs --format svg or dot")
    if target_file != output.STDOUT and form == "text":
        raise click.UsageError("-o needs a --format for files: html, json, svg, dot or isl")
    output.refuse_input(target_file, [file])

    from polyc.cli.run import compile_file

    run = compile_file(file, values)
    output.refuse_input(target_file, run.source.dependencies)
    text = explanation(run, form, wanted, all_passes, line, what)
    if form == "text":
        terminal.show(text)
    else:
        output.write(target_file, text)
    if values["diagnostics_format"] != "text":
        diagnostics.tell(diagnostics.of_run(run.compiled), values["diagnostics_format"], run.source)


def explanation(
    run: Run, form: str, wanted: str | None, all_passes: bool, line: int | None = None, what: str = "all"
) -> str:
    """The whole output. Raises click.UsageError where there is no such pass or nest, UserError where it takes too
    much."""
    from polyc.cli.run import shown_within_budget

    compiled = run.compiled
    shown = [chosen(one, wanted, all_passes) for one in compiled]
    if wanted is not None and compiled and not any(shown):
        from polyc.explain.data import stages

        known = ", ".join(dict.fromkeys(s.name for one in compiled for s in stages(one)))
        raise click.UsageError(f"there is no pass '{wanted}' in this run; there are: {known}")
    with shown_within_budget(run):
        if line is not None:
            return answer(run, line)
        if form == "html":
            from polyc.explain import html

            return html.render(run.source, compiled, run.options)
        return rendered(compiled, shown, form, what, wanted, all_passes, run.source.path)


def chosen(compiled: Compiled, wanted: str | None, all_passes: bool) -> tuple[Snapshot, ...]:
    """The snapshots to show: every one, that of one pass, or the final one."""
    from polyc.explain.data import stages

    passes = stages(compiled)
    if all_passes:
        return passes
    return tuple(one for one in passes if one.name == (wanted or "final"))


def answer(run: Run, line: int) -> str:
    """Why the nest at a line is as it is. Raises click.UsageError where no nest is there."""
    from polyc.explain import why

    text = why.why(run.compiled, line, run.source.text.split("\n"), terminal.width())
    if text is None:
        raise click.UsageError(f"there is no loop nest at line {line}: {why.nest_lines(run.compiled)}")
    return text


def rendered(
    compiled: list[Compiled],
    shown: list[tuple[Snapshot, ...]],
    form: str,
    what: str,
    wanted: str | None,
    all_passes: bool,
    path: str,
) -> str:
    """The whole output in one of the forms, but for the page, which shows all passes always."""
    if form == "json":
        from polyc.explain import data

        answer = data.scops(compiled)
        if wanted is not None:
            for scop in answer["scops"]:
                scop["passes"] = [one for one in scop["passes"] if one["name"] == wanted]
        return json.dumps(answer, indent=2) + "\n"
    if form == "dot":
        from polyc.explain import dot

        return dot.render(compiled, shown, what)
    if form == "svg":
        from polyc.explain import svg

        return svg.render(compiled, shown, what)
    if form == "isl":
        from polyc.explain import isl_form

        return "\n".join(isl_form.render(one, trees) for one, trees in zip(compiled, shown, strict=True))
    from polyc.explain import report, text

    if not all_passes and wanted is None:
        return report.render(path, compiled, terminal.width())
    parts = [text.render(one, trees, all_passes) for one, trees in zip(compiled, shown, strict=True)]
    return "\n".join(parts)
