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
    type=click.Choice(["text", "json", "dot", "isl"]),
    default="text",
    show_default=True,
    help="For people, for scripts, for Graphviz, for isl.",
)
@click.option("--pass", "wanted", metavar="NAME", help="Show the tree after this pass, not the final one.")
@click.option("--all-passes", is_flag=True, help="Show the dependences, and the tree after every pass.")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),))
def command(file: str, **values: Any) -> None:
    """Explain what `polyc compile FILE` does with the same options. Writes no file."""
    refuse(values)
    from polyc.cli.run import compile_file

    text = explanation(compile_file(file, values), values)
    if values["form"] == "text":
        terminal.show(text)
    else:
        output.write(output.STDOUT, text)


def refuse(values: dict[str, Any]) -> None:
    """Raise click.UsageError for options of this command that contradict each other."""
    if values["wanted"] is not None and values["all_passes"]:
        raise click.UsageError("--pass and --all-passes exclude each other")


def explanation(run: Run, values: dict[str, Any]) -> str:
    """The whole output. Raises click.UsageError where there is no such pass, UserError where it takes too much."""
    from polyc.cli.run import shown_within_budget

    wanted, all_passes = values["wanted"], values["all_passes"]
    compiled = run.compiled
    shown = [chosen(one, wanted, all_passes) for one in compiled]
    if wanted is not None and compiled and not any(shown):
        from polyc.explain.data import stages

        known = ", ".join(dict.fromkeys(s.name for one in compiled for s in stages(one)))
        raise click.UsageError(f"there is no pass '{wanted}' in this run; there are: {known}")
    with shown_within_budget(run):
        return rendered(compiled, shown, values["form"], wanted, all_passes)


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
    wanted: str | None,
    all_passes: bool,
) -> str:
    """The whole output in one of the four forms."""
    if form == "json":
        from polyc.explain import data

        answer = data.scops(compiled)
        if wanted is not None:
            for scop in answer["scops"]:
                scop["passes"] = [one for one in scop["passes"] if one["name"] == wanted]
        return json.dumps(answer, indent=2) + "\n"
    if form == "dot":
        from polyc.explain import dot

        return dot.render(compiled, shown)
    if form == "isl":
        from polyc.explain import isl_form

        return "\n".join(isl_form.render(one, trees) for one, trees in zip(compiled, shown, strict=True))
    from polyc.explain import text

    parts = [text.render(one, trees, all_passes) for one, trees in zip(compiled, shown, strict=True)]
    return "\n".join(parts)
