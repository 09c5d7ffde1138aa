"""How deep the code of a region may be nested.

Parser, model and printer call themselves for each level. The limits are far above what people write, and far below
what `polyc.stack` makes room for.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.errors import Diagnostic
from polyc.frontend.text.places import Places

DEEPEST_BRACKETS = 256
"""As in clang (`-fbracket-depth`); C promises 63."""
DEEPEST_TREE = 1000
"""Levels of the syntax tree: a sum of that many terms is one level each."""
DEEPEST_NEST = 32
"""Loops around each other: isl's sets have a dimension for each."""
HINT = "split it: name parts of it in variables, or in functions of their own"

_BRACKET = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[][(){}]""")


def deep_bracket(text: str) -> int | None:
    """Where the first bracket stands that is inside too many others."""
    depth = 0
    for match in _BRACKET.finditer(text):
        found = match.group()
        if found in "([{":
            depth += 1
            if depth > DEEPEST_BRACKETS:
                return match.start()
        elif found in ")]}":
            depth -= 1
    return None


def deep_node(tree: c_ast.Node) -> object | None:
    """The pycparser coordinate of the first node that is too deep in the tree, or inside of too many loops."""
    waiting: list[tuple[c_ast.Node, int, int, object]] = [(tree, 0, 0, None)]
    while waiting:
        node, depth, loops, above = waiting.pop()
        place = node.coord or above
        loops += isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile))
        if depth > DEEPEST_TREE or loops > DEEPEST_NEST:
            return place
        waiting += [(child, depth + 1, loops, place) for _, child in reversed(node.children())]
    return None


def too_deep(places: Places, offset: int) -> Diagnostic:
    return Diagnostic("too-large", "this is nested too deeply to be read", places.span(offset, offset + 1), HINT)
