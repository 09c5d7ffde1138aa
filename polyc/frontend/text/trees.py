"""pycparser's trees, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast


class _Backwards(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that its iterator visits, the last one first."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names: tuple[str, ...] = kind.__iter__.__code__.co_names  # type: ignore[attr-defined]
        self[kind] = names[::-1]
        return self[kind]


_BACKWARDS = _Backwards()


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:  # as `reversed(list(one))`, in half the time: a file with headers has many nodes
        one = waiting.pop()
        yield one
        for name in _BACKWARDS[type(one)]:
            value = getattr(one, name)
            if type(value) is list:
                waiting += value[::-1]
            elif value is not None:
                waiting.append(value)


def changed_names(node: c_ast.Node) -> Iterator[c_ast.ID]:
    """Where a tree gives a variable another value, or takes its address."""
    for one in walk(node):
        match one:
            case (
                c_ast.Assignment(lvalue=c_ast.ID() as target)
                | c_ast.UnaryOp(op="&" | "++" | "--" | "p++" | "p--", expr=c_ast.ID() as target)
            ):
                yield target


def free_names(items: Iterable[c_ast.Node], own: frozenset[str] = frozenset()) -> set[str]:
    """The names that statements of one block mention and do not declare themselves.

    own: names that the block has declared so far
    """
    found: set[str] = set()
    for item in items:
        if isinstance(item, c_ast.Decl) and item.name:
            found |= free_names([one for one in (item.type, item.init) if one is not None], own)
            own |= {item.name}
        elif isinstance(item, c_ast.ID):
            found |= {item.name} - own
        elif isinstance(item, c_ast.DeclList):
            found |= free_names(item.decls, own)
            own |= {one.name for one in item.decls}
        else:
            found |= free_names(list(item), own)
    return found
