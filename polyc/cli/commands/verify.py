"""`polyc verify`: run the original against the result on the same random input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, several
from polyc.cli import options as o
from polyc.errors import Diagnostic

if TYPE_CHECKING:
    from polyc.model.program import Compiled
    from polyc.runtime import Report


@click.command(
    "verify",
    cls=several.FilesCommand,
    doing="verifying",
    ending=lambda _: None,
    short_help="Run the original against the result, and compare.",
)
@several.FILES
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("gcc"),), diagnostics.OPTION)
@several.JOBS
@click.option("-q", "--quiet", is_flag=True, help="Print what was compared, and no progress or last line.")
def command(file: str, quiet: bool, **values: Any) -> None:
    """Build the regions of FILE and their results as functions, call both on the same random arrays at several
    sizes, and compare every array that is needed afterwards, bit by bit.

    This runs code of FILE, in a process of its own: do not verify files that you would not run. compile and
    explain run nothing of it.

    Exits with 1, and the first difference, where they differ or where nothing could be compared.
    """
    from polyc.cli.progress import Progress
    from polyc.cli.run import compile_file
    from polyc.errors import UserError
    from polyc.runtime import BuildError, compare
    from polyc.runtime.check import SIZES

    run = compile_file(file, values, "gcc")
    faults: list[Diagnostic] = []
    for region, compiled in zip(run.source.regions, run.compiled, strict=True):
        try:
            with Progress(f"verifying {region.scop.function}()", len(SIZES), quiet, lines=False) as progress:
                report = compare(region, compiled, cc=run.input.cc, step=progress.step)
        except BuildError as problem:
            raise UserError.of("no-compiler", str(problem), hint="name a C compiler with --cc") from None
        output.write(output.STDOUT, table(compiled, report))
        faults += [located(compiled, message) for message in problems(compiled, report)]
    form = values["diagnostics_format"]
    if form != "text":
        diagnostics.tell([*diagnostics.of_run(run), *faults], form, run.source)
    for fault in faults if form == "text" else ():
        click.echo(fault.render(), err=True)
    if faults:
        raise click.exceptions.Exit(1)
    if form == "text" and not quiet:
        click.echo(f"polyc: {file}: original and result agree", err=True)


def table(compiled: Compiled, report: Report) -> str:
    """What was compared, a line a run, and what was not."""
    from polyc.cli import messages

    scop = compiled.program.scop
    check = "static check passed" if compiled.verified else compiled.certificate.word
    lines = [f"{scop.span.file}:{scop.span.line}: region in {scop.function}(), {check}\n"]
    rows = [
        (
            ", ".join(f"{name} = {value}" for name, value in row.values.items()) or "fixed sizes",
            ", ".join(row.arrays) or "nothing",
            f"{row.elements} elements",
            ("equal" if not row.rounding else f"equal within {row.rounding:.2e} (tensor cores)")
            if not row.differences
            else "DIFFER",
        )
        for row in report.rows
    ]
    lines.append(messages.table(rows, right=(2,)))
    if compiled.program.options.gpu and not compiled.device:
        why = next((r.message for r in reversed(compiled.program.remarks) if r.code == "not-mapped"), "")
        lines.append(
            f"  no kernel was run: {why.partition(': ')[2] or 'the region stays on the CPU, as it was written'}\n"
        )
    lines += [f"  not run: {reason}\n" for reason in report.skipped]
    return "".join(lines)


def problems(compiled: Compiled, report: Report) -> list[str]:
    """Why the region does not count as verified: the first difference, or nothing to show."""
    if report.differences:
        return [report.differences[0].message]
    found = []
    if not report.rows:
        found.append("nothing could be run: the result is not verified")
    if not compiled.passed and compiled.program.options.verify:
        found.append("the static check was not passed")
    return found


def located(compiled: Compiled, message: str) -> Diagnostic:
    return Diagnostic("not-verified", message, compiled.program.scop.span)
