"""`polyc machine`: the machines that code can be made for, and what this one is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import options as o
from polyc.cli import output, terminal
from polyc.cli.failure import Command

if TYPE_CHECKING:
    from polyc.machine import Cpu, Gpu, Machine


class Group(click.Group):
    """Its commands treat failures as the others do."""

    command_class = Command


@click.group("machine", cls=Group, short_help="Show or measure the machines that code is made for.")
def command() -> None:
    """The machines that polyc knows, what a file says of another one, and what this one is."""


@command.command("list", short_help="Name the machines that polyc knows.")
def list_() -> None:
    """Name the machines that polyc knows, for --machine: first GPUs, then CPUs."""
    from polyc.cli.messages import table
    from polyc.machine import HOST, load, shipped

    rows = [(name, told(load(name))) for kind in ("gpu", "cpu") for name in shipped(kind)]
    terminal.show(table([*rows, (HOST, f"this machine: {told(load(HOST))}")]))


@command.command("show", short_help="Show the description of one machine.")
@click.argument("machine", metavar="host|NAME|FILE")
@click.option("--toml", is_flag=True, help="As the text of a file for --machine, to write one of your own from it.")
def show(machine: str, toml: bool) -> None:
    """Show what is known of a machine: this one, one of 'polyc machine list', or that a TOML file describes."""
    from polyc.machine import load
    from polyc.machine.load import text_of

    o.known_name(machine, None)
    if toml:
        output.write(output.STDOUT, text_of(machine))
    else:
        terminal.show(figures(load(machine)))


@command.command("detect", short_help="Measure this machine, and keep what was found.")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Write the description here.  [default: the user's cache]"
)
@click.option(
    "--cc",
    metavar="COMMAND",
    help="The C compiler, with its options, that builds the benchmark.  [default: $CC, gcc, cc or clang]",
)
def detect(target: str | None, cc: str | None) -> None:
    """Measure this machine's CPU, and write its description for --machine host.

    Builds a benchmark in C that polyc brings, and runs it for some seconds. Without a C compiler the description has
    what the system tells, and typical figures of a CPU that is like it.
    """
    from polyc.machine.host import as_toml, host_file, nearest, quick_host
    from polyc.machine.system import this_system
    from polyc.runtime.measure import MeasureError, measure

    cpu = quick_host()
    try:
        measured = measure(cpu, cc)
    except MeasureError as problem:
        how = f"Not measured: what the system tells, and typical figures of '{nearest(this_system())}'."
        click.echo(f"polyc: warning: {problem}", err=True)
    else:
        cpu, how = measured.cpu, f"Measured by 'polyc machine detect', with {measured.command}."
        for remark in measured.remarks:
            click.echo(f"polyc: warning: {remark}", err=True)
    file = str(host_file()) if target is None else target
    if target is None:
        make_folder(os.path.dirname(file))
    output.write(file, as_toml(cpu, how))
    if file != output.STDOUT:
        terminal.show(figures(cpu))
        use = "host" if target is None else file
        click.echo(f"polyc: {how}\npolyc: written to {file}; --machine {use} takes it", err=True)


def make_folder(folder: str) -> None:
    """The folder and those above it, for this user alone where they are new. Raises UserError."""
    from polyc.errors import UserError

    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as problem:
        hint = "XDG_CACHE_HOME names another folder, --output another file"
        raise UserError.of("cannot-write", f"'{folder}' cannot be made: {problem.strerror}", None, hint) from None


# --- text for people --------------------------------------------------------------------------------------------------


def told(machine: Machine) -> str:
    """One line on a machine."""
    from polyc.machine import Gpu

    return told_gpu(machine) if isinstance(machine, Gpu) else told_cpu(machine)


def told_gpu(gpu: Gpu) -> str:
    version = f"compute capability {gpu.compute_capability}, " if gpu.compute_capability else ""
    return (
        f"{gpu.name}: {version}{gpu.multiprocessors} multiprocessors, "
        f"{gpu.memory_gb_per_s:g} GB/s, {gpu.float_gflops:g} GFLOP/s float"
    )


def told_cpu(cpu: Cpu) -> str:
    cores = "1 core" if cpu.cores == 1 else f"{cpu.cores} cores"
    return f"{cpu.name}: {cpu.isa}, {cores}, {cpu.memory.all_gb_per_s:g} GB/s, {cpu.all_gflops(8):.0f} GFLOP/s double"


def figures(machine: Machine) -> str:
    """All of a machine, under the names of its file: a table, and one for the levels and the memory of a CPU."""
    from dataclasses import fields

    from polyc.cli.messages import table
    from polyc.machine import Gpu

    kind = "gpu" if isinstance(machine, Gpu) else "cpu"
    simple = [f.name for f in fields(machine) if f.name not in ("levels", "memory")]
    shown = table([("kind", kind), *((name, amount(name, getattr(machine, name))) for name in simple)])
    if isinstance(machine, Gpu):
        return shown
    return f"{shown}\n{table(columns([*machine.levels]))}\n{table(columns([machine.memory]))}"


def columns(parts: list[Any]) -> list[list[str]]:
    """A row for each key, a column for each of the dataclasses; the memory has no name of its own."""
    from dataclasses import fields

    names = [f.name for f in fields(parts[0])]
    head = [] if "name" in names else [["name", "memory"]]
    return head + [[name, *(amount(name, getattr(part, name)) for part in parts)] for name in names]


def amount(key: str, value: object) -> str:
    """A figure for people: large sizes in KB or MB as well."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and "bytes" in key and value >= 1024:
        whole, unit = (value // 1024, "KB") if value < 1 << 20 or value % (1 << 20) else (value >> 20, "MB")
        return f"{value}  ({whole} {unit})"
    return str(value)
