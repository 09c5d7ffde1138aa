"""`polyc completion`: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from polyc.cli import output
from polyc.cli.failure import Command


@click.command("completion", cls=Command, short_help="Print what a shell needs to complete polyc's words.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that completes commands, options, values and files.

    \b
    bash:  polyc completion bash >~/.local/share/bash-completion/completions/polyc
    zsh:   polyc completion zsh >~/.zfunc/_polyc      (a folder of $fpath; or: source <(polyc completion zsh))
    fish:  polyc completion fish >~/.config/fish/completions/polyc.fish
    """
    from polyc.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "polyc", "_POLYC_COMPLETE")
    output.write(output.STDOUT, script.source_template % script.source_vars() + "\n")
