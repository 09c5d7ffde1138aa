"""`polyc explain`: what was done with each loop nest, what was not, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import options as o
from polyc.cli import output, terminal
from polyc.cli.failure import Command

if TYPE_CHECKING:
    from polyc.cli.run import Run
    from polyc.model.program import Compiled, Snapshot


@click.command("explain", cls=Command, short_help="Show what was done with each nest, and why.")
@click.argument("file", shell_complete=o.files)
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
@click.option("--all-passes", is_flag=True, help="Show the dependences, and the tree after every pass.")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),))
def command(
    file: str, form: str, what: str, target_file: str, wanted: str | None, all_passes: bool, **values: Any
) -> None:
    """Explain what `polyc compile FILE` does with the same options. Writes no file but OUT."""
    if wanted is not None and all_passes:
        raise click.UsageError("--pass and --all-passes exclude each other")
    if what != "all" and form not in ("svg", "dot"):
        raise click.UsageError(f"--what {what} needs --format svg or dot")
    if target_file != output.STDOUT and form == "text":
        raise click.UsageError("-o needs a --format for files: html, json, svg, dot or isl")
    output.refuse_input(target_file, [file])

    from polyc.cli.run import compile_file

    run = compile_file(file, values)
    output.refuse_input(target_file, run.source.dependencies)
    text = explanation(run, form, wanted, all_passes, what)
    if form == "text":
        if run.source.left:
            from polyc.explain.text import left_lines

            text += ("\n" if text else "") + left_lines(run.source.left)
        terminal.show(text)
    else:
        output.write(target_file, text)


def explanation(run: Run, form: str, wanted: str | None, all_passes: bool, what: str = "all") -> str:
    """The whole output. Raises click.UsageError where there is no such pass, UserError where it takes too much."""
    from polyc.cli.run import shown_within_budget

    compiled = run.compiled
    shown = [chosen(one, wanted, all_passes) for one in compiled]
    if wanted is not None and compiled and not any(shown):
        from polyc.explain.data import stages

        known = ", ".join(dict.fromkeys(s.name for one in compiled for s in stages(one)))
        raise click.UsageError(f"there is no pass '{wanted}' in this run; there are: {known}")
    with shown_within_budget(run):
        if form == "html":
            from polyc.explain import html

            return html.render(run.source, compiled, run.options)
        return rendered(compiled, shown, form, what, wanted, all_passes)


def chosen(compiled: Compiled, wanted: str | None, all_passes: bool) -> tuple[Snapshot, ...]:
    """The snapshots to show: every one, that of one pass, or the final one."""
    from polyc.explain.data import stages

    passes = stages(compiled)
    if all_passes:
        return passes
    return tuple(one for one in passes if one.name == (wanted or "final"))


def rendered(
    compiled: list[Compiled],
    shown: list[tuple[Snapshot, ...]],
    form: str,
    what: str,
    wanted: str | None,
    all_passes: bool,
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
    from polyc.explain import text

    parts = [text.render(one, trees, all_passes) for one, trees in zip(compiled, shown, strict=True)]
    return "\n".join(parts)
