"""`polyc man`: the manual page, from what `--help` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from polyc import __version__
from polyc.cli import output
from polyc.cli.failure import Command


@click.command("man", cls=Command, short_help="Print the manual page.")
def command() -> None:
    """Print the manual page in roff: `polyc man | man -l -`. It says what `--help` says of every command."""
    output.write(output.STDOUT, page())


def page() -> str:
    """The page of all commands, with one line end after each line."""
    from polyc.cli.main import cli

    top = click.Context(cli, info_name="polyc", **cli.context_settings)
    lines = [
        '.\\" Made by `polyc man`.',
        f'.TH POLYC 1 "" "polyc {__version__}" "User Commands"',
        ".SH NAME",
        "polyc \\- a polyhedral compiler for C",
        ".SH SYNOPSIS",
    ]
    commands = list(of_group(cli, top))
    for number, (context, one) in enumerate(commands):
        usage = " ".join([*context.command_path.split(), *one.collect_usage_pieces(context)])
        lines += [*([".br"] if number else []), f".B {escaped(usage)}"]
    lines += [".SH DESCRIPTION", *described(cli.help), *options(cli, top)]
    for context, one in commands:
        lines += [f'.SH "{escaped(context.command_path.upper())}"', *described(one.help), *options(one, context)]
    return "\n".join(lines) + "\n"


def of_group(group: click.Group, context: click.Context) -> Iterator[tuple[click.Context, click.Command]]:
    """Every command, those of groups of commands one by one."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        inner = click.Context(found, info_name=name, parent=context)
        if isinstance(found, click.Group):
            yield from of_group(found, inner)
        else:
            yield inner, found


def described(help_text: str | None) -> Iterator[str]:
    """Paragraphs filled, those after `\\b` line by line as they stand."""
    for paragraph in re.split(r"\n{2,}", re.sub(r" +$", "", help_text or "", flags=re.MULTILINE).strip("\n")):
        lines = paragraph.split("\n")
        yield ".PP"
        if lines[0].strip() == "\b":
            yield from (".nf", *(escaped(line) for line in lines[1:]), ".fi")
        else:
            yield from (escaped(line.strip()) for line in lines)


def options(one: click.Command, context: click.Context) -> Iterator[str]:
    """Each option with what the help says of it."""
    # click keeps the first help option that it makes for a command, whatever the context was that it made it in.
    helps = click.Option(context.help_option_names, is_flag=True, help="Show this message and exit.")
    for parameter in (*one.params, helps) if one.add_help_option else one.params:
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            yield from (".TP", f".B {escaped(record[0])}", escaped(" ".join(record[1].split())))


def escaped(text: str) -> str:
    """A line of text that roff takes for nothing else."""
    found = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    )
    found = found.replace('"', "\\(dq").replace("~", "\\(ti")
    return "\\&" + found if found.startswith((".", "'")) else found
