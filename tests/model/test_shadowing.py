"""No comprehension's variable has the name of a function of its module: Python 3.12 takes one for the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import polyc

ROOT = Path(polyc.__file__).parent


def shadowing(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, name) of what Python 3.12.1 answers an UnboundLocalError for, where a function uses both."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
            targets = (name for loop in node.generators for name in ast.walk(loop.target))
            yield from ((node.lineno, n.id) for n in targets if isinstance(n, ast.Name) and n.id in functions)


def test_it_is_found() -> None:
    text = "def size(x):\n    return x\n\ndef f(xs):\n    return [size for size in xs], size(1)\n"
    assert list(shadowing(ast.parse(text))) == [(5, "size")]


def test_no_module_has_one() -> None:
    found = [(file, *one) for file in sorted(ROOT.rglob("*.py")) for one in shadowing(ast.parse(file.read_text()))]
    assert found == []
