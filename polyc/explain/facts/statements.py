"""The text of a statement, as people are shown it."""

from __future__ import annotations

from polyc.codegen.text.printer import lines_of
from polyc.model.scop import Statement


def text_of(statement: Statement) -> str:
    """The user's own text, on one line; where a macro has a part of it, what the model has."""
    return statement.text or " ".join(line.text.strip() for line in lines_of(statement.body, 0))
