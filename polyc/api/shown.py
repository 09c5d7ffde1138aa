"""A compiled file in one of the forms of `polyc explain`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from polyc.api.options import ONE_AT_A_TIME, SHOWING, parsed, told

if TYPE_CHECKING:
    from polyc.cli.commands.explain import Wish
    from polyc.cli.run import Run


def shown_values(options: Mapping[str, object], allowed: frozenset[str] = SHOWING) -> Wish:
    """What `polyc explain` makes of the options for what is shown. Raises as `parsed`."""
    from polyc.cli.commands.explain import Wish, command

    values = dict(parsed("explain", command, options, allowed).params)
    with told():
        return Wish.of(values)


def explained(run: Run, wish: Wish) -> str:
    """A run in one of the forms of `polyc explain`."""
    from polyc.cli.commands.explain import explanation

    with ONE_AT_A_TIME, told():
        return explanation(run, wish)
