"""Names in what codegen prints, and fresh ones."""

from __future__ import annotations

import re
from collections.abc import Set

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Namer:
    """Makes names that do not clash with those that are taken."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = set(taken)

    def fresh(self, wish: str, in_scope: Set[str] = frozenset()) -> str:
        """The wish, or the wish with the first number that makes it free; it may be reused in another scope."""
        name, number = wish, 2
        while name in self._taken or name in in_scope:
            name = f"{wish}{number}"
            number += 1
        return name

    def take(self, wish: str) -> str:
        """A fresh name that nobody else gets any more."""
        name = self.fresh(wish)
        self._taken.add(name)
        return name
