"""`polyc explain`: what was done with each loop nest, what was not, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, several, terminal
from polyc.cli import options as o
from polyc.records import dataclass

if TYPE_CHECKING:
    from polyc.cli.run import Run
    from polyc.model.program import Compiled, Snapshot


@click.command(
    "explain",
    cls=several.FilesCommand,
    doing="explaining",
    ending=lambda values: f".{values['form']}",
    lines=False,
    short_help="Show what was done with each nest, and why.",
)
@several.FILES
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
    help="A file to write, or a folder for STEM.FORMAT, for all forms but text.  [default: standard output]",
)
@click.option("--pass", "wanted", metavar="NAME", help="Show the tree after this pass, not the final one.")
@click.option("--all-passes", is_flag=True, help="Show all that is known, with the tree after every pass.")
@click.option("--why", "line", metavar="LINE", type=o.Whole(min=1), help="Answer for the nest at this line.")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),), diagnostics.OPTION)
@several.JOBS
def command(file: str, target_file: str, **values: Any) -> None:
    """Explain what `polyc compile FILE` does with the same options. Writes no file but OUT.

    The report has a line for each loop nest. --why LINE answers for one of them, --all-passes shows everything.
    """
    wish = Wish.of(values)
    if target_file != output.STDOUT and wish.form == "text":
        raise click.UsageError("-o needs a --format for files: html, json, svg, dot or isl")
    target_file = output.placed(target_file, file, f".{wish.form}")
    output.refuse_input(target_file, [file])

    from polyc.cli.run import compile_file

    run = compile_file(file, values)
    output.refuse_input(target_file, run.source.dependencies)
    text = explanation(run, wish)
    if wish.form == "text":
        terminal.show(text)
    else:
        output.write(target_file, text)
    if values["diagnostics_format"] != "text":
        told = [*diagnostics.of_run(run), *run.source.left]
        diagnostics.tell(told, values["diagnostics_format"], run.source)


@dataclass(frozen=True, slots=True)
class Wish:
    """What to show, and how."""

    form: str
    what: str
    wanted: str | None
    """The name of a pass."""
    all_passes: bool
    line: int | None

    @staticmethod
    def of(values: dict[str, Any]) -> Wish:
        """The command's options, taken out of `values`. Raises click.UsageError where two exclude each other."""
        wish = Wish(*(values.pop(name) for name in ("form", "what", "wanted", "all_passes", "line")))
        if wish.wanted is not None and wish.all_passes:
            raise click.UsageError("--pass and --all-passes exclude each other")
        if wish.what != "all" and wish.form not in ("svg", "dot"):
            raise click.UsageError(f"--what {wish.what} needs --format svg or dot")
        if wish.line is not None and (wish.wanted is not None or wish.all_passes or wish.form != "text"):
            raise click.UsageError("--why is a report of its own: leave --pass, --all-passes and --format out")
        return wish


def explanation(run: Run, wish: Wish) -> str:
    """The whole output. Raises click.UsageError where there is no such pass or nest, UserError where it takes too
    much."""
    from polyc.cli.run import shown_within_budget

    compiled = run.compiled
    shown = [chosen(one, wish) for one in compiled]
    if wish.wanted is not None and compiled and not any(shown):
        from polyc.explain.words.data import stages

        known = ", ".join(dict.fromkeys(s.name for one in compiled for s in stages(one)))
        raise click.UsageError(f"there is no pass '{wish.wanted}' in this run; there are: {known}")
    with shown_within_budget(run):
        if wish.line is not None:
            return answer(run, wish.line)
        return rendered(run, shown, wish)


def chosen(compiled: Compiled, wish: Wish) -> tuple[Snapshot, ...]:
    """The snapshots to show: every one, that of one pass, or the final one."""
    from polyc.explain.words.data import stages

    passes = stages(compiled)
    if wish.all_passes:
        return passes
    return tuple(one for one in passes if one.name == (wish.wanted or "final"))


def answer(run: Run, line: int) -> str:
    """Why the nest at a line is as it is. Raises click.UsageError where no nest is there."""
    from polyc.explain.words import alone, why

    lines = run.source.text.split("\n")
    text = why.why(run.compiled, line, lines, terminal.width())
    if text is None:
        text = alone.why_left(run.source.left, line, lines, terminal.width())
    if text is None:
        raise click.UsageError(f"there is no loop nest at line {line}: {why.nest_lines(run.compiled)}")
    return text


def rendered(run: Run, shown: list[tuple[Snapshot, ...]], wish: Wish) -> str:
    """All regions in one of the forms; the page always shows all passes."""
    compiled = run.compiled
    match wish.form:
        case "html":
            from polyc.explain import html

            return html.render(run.source, compiled, run.options)
        case "json":
            from polyc.explain.words import data

            answer = data.scops(compiled)
            if wish.wanted is not None:
                for scop in answer["scops"]:
                    scop["passes"] = [one for one in scop["passes"] if one["name"] == wish.wanted]
            return json.dumps(answer, indent=2) + "\n"
        case "dot":
            from polyc.explain.pictures import dot

            return dot.render(compiled, shown, wish.what)
        case "svg":
            from polyc.explain.pictures import svg

            return svg.render(compiled, shown, wish.what)
        case "isl":
            from polyc.explain.pictures import isl_form

            return "\n".join(isl_form.render(one, trees) for one, trees in zip(compiled, shown, strict=True))
    return in_words(run, shown, wish)


def in_words(run: Run, shown: list[tuple[Snapshot, ...]], wish: Wish) -> str:
    """The report, or all that is known; and what was left alone outside of regions."""
    from polyc.explain.words import alone, report
    from polyc.explain.words import overview as text

    if not wish.all_passes and wish.wanted is None:
        told = report.render(run.source.path, run.compiled, terminal.width())
    else:
        pairs = zip(run.compiled, shown, strict=True)
        told = "\n".join(text.render(one, trees, wish.all_passes) for one, trees in pairs)
    if run.source.left:
        told += ("\n" if told else "") + alone.left_lines(run.source.left, terminal.width())
    return told
