"""`polyc machine`: the machines that sizes can be chosen for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from polyc.cli import options as o
from polyc.cli import terminal
from polyc.cli.failure import Command

if TYPE_CHECKING:
    from polyc.machine import Gpu


class Group(click.Group):
    """Its commands treat failures as the others do."""

    command_class = Command


@click.group("machine", cls=Group, short_help="Show the machines that sizes can be chosen for.")
def command() -> None:
    """The machines that polyc knows, and what a file says of another one."""


@command.command("list", short_help="Name the machines that polyc knows.")
def list_() -> None:
    """Name the machines that polyc knows, for --machine."""
    from polyc.cli.messages import table
    from polyc.machine import load_gpu, shipped

    terminal.show(table([(name, told(load_gpu(name))) for name in shipped("gpu")]))


@command.command("show", short_help="Show the description of one machine.")
@click.argument("machine", metavar="NAME|FILE")
def show(machine: str) -> None:
    """Show what is known of a machine: one of 'polyc machine list', or that a TOML file describes."""
    from dataclasses import fields

    from polyc.cli.messages import table

    gpu = o.gpu_of(machine)
    rows = [("kind", "gpu")]
    rows += [(f.name, amount(f.name, getattr(gpu, f.name))) for f in fields(gpu)]
    terminal.show(table(rows))


def told(gpu: Gpu) -> str:
    """One line on a GPU."""
    version = f"compute capability {gpu.compute_capability}, " if gpu.compute_capability else ""
    return (
        f"{gpu.name}: {version}{gpu.multiprocessors} multiprocessors, "
        f"{gpu.memory_gb_per_s:g} GB/s, {gpu.float_gflops:g} GFLOP/s float"
    )


def amount(key: str, value: object) -> str:
    """A figure for people: large sizes in KB or MB as well."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and "bytes" in key and value >= 1024:
        whole, unit = (value // 1024, "KB") if value < 1 << 20 or value % (1 << 20) else (value >> 20, "MB")
        return f"{value}  ({whole} {unit})"
    return str(value)
