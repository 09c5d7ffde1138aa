"""The text of a schedule tree: what golden files hold, and what `polyc explain` and `--emit tree` print.

    domain [n] -> { S[t, i] : 0 <= t < n and 0 < i <= -2 + n }
      band[c-] permutable tile(32, 32) parallel(0) { S[t, i] -> [floor(t/32), floor((t + i)/32)] }
        band[c-] permutable point { S[t, i] -> [t, t + i] }

`c` stands for a coincident member of a band. Sets and maps are sorted by name, what is known from further up
is not said again, and leaves are not printed.

The exact text has every field of a node beside that, and `tree_parser.py` reads it again:

      band[c-] for(t, i) permutable tile(32, 32) parallel(0) worth(n > 400, -) { S[t, i] -> … }

A buffer is a line before the tree:

    buffer A_tile tile array(A) extents(34, 66) corner({ [t, i] -> A[t, i] }) accesses(S0.r1)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import assert_never

import islpy as isl

from polyc.model import relations as r
from polyc.model.program import Buffer
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Leaf,
    Lookups,
    Mark,
    Member,
    Node,
    PastCaches,
    Role,
    Sequence,
    Worth,
)
from polyc.records import dataclass

WIDTH = 110
ROLES = {
    Role.POINT: "point",
    Role.REGISTER: "register",
    Role.UNROLLED: "unrolled",
    Role.WRITTEN_OUT: "written-out",
}
"""The words of a band for what its loops are for. They hold for all members but those in tiles, or for positions."""
FLAGS = ("parallel", "vector", "uneven", "undivided", "barrier", "spans")
"""Fields of members that are words of a band, with positions: `parallel(0)`."""
VALUES = ("size", "worth", "reductions", "atomics", "owned", "stages", "unroll", "lanes", "until", "digit", "line")
"""Fields of members that only the exact text has, with a value for each member: `lanes(-, 8)`; `-` is the default."""
MARK = ("text", "names", "sizes", "blocks", "strips", "region")
BUFFER = ("array", "extents", "depth", "corner", "name", "registers", "order", "pad", "window", "places", "accesses")
"""Fields of marks and buffers that are words of their lines, where they are not as they are by default."""
SIZE = re.compile(r"\{ \[\(([^*:]+)\)\] \}")
"""A function of the parameters without a condition: `{ [(-1 + n)] }` is written as `-1 + n`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A node of a tree, as it is shown."""

    level: int
    """How deep it stands; 0 for the root."""
    kind: str
    """`domain`, `band`, `mark`, `extension`, `sequence` or `filter`."""
    head: str
    """`band[c-] permutable tile(32, 32)`."""
    parts: tuple[str, ...] | None
    """Its sets, maps or functions, one for each statement; None for a node that has none."""

    def text(self) -> str:
        if self.parts is None:
            return "  " * self.level + self.head
        return r.braces(list(self.parts), "  " * self.level + self.head + " ", WIDTH)


def render_tree(tree: Domain, exact: bool = False) -> str:
    """The whole tree, one node a line, two spaces a level, with a newline at the end."""
    return "\n".join(entry.text() for entry in entries(tree, exact)) + "\n"


def entries(tree: Domain, exact: bool = False) -> list[Entry]:
    """The nodes of a tree, parents before their children, without leaves."""
    head = f"domain {r.parameters(tree.domain, in_order=exact)}".rstrip()
    root = Entry(0, "domain", head, tuple(r.union_set_text(tree.domain)))
    return [root, *below(tree.child, 1, tree.domain, (), r.dim_names(tree.domain), tree.domain, exact)]


def below(
    node: Node,
    level: int,
    known: isl.UnionSet,
    outer: tuple[str, ...],
    names: dict[str, tuple[str, ...]],
    root: isl.UnionSet,
    exact: bool = False,
) -> Iterator[Entry]:
    """The nodes of a subtree.

    known: what reaches the node, so that it need not be printed again.
    outer: names for the values of the bands above.
    root: the whole domain, which extensions need not repeat.
    """
    match node:
        case Leaf():
            return
        case Band():
            values = (*outer, *(band_value_name(m) for m in node.members))
            yield Entry(level, "band", band_head(node, exact), tuple(band_parts(node, known, names)))
            yield from below(node.child, level + 1, known, values, names, root, exact)
        case Mark():
            words = words_of(node, MARK) if exact else mark_words(node)
            yield Entry(level, "mark", f'mark "{node.kind}"{words}', None)
            yield from below(node.child, level + 1, known, outer, names, root, exact)
        case Extension():
            added = node.relation.range()
            names = {**r.dim_names(added), **names}
            beyond = exact and not added.intersect(root.universe()).is_subset(root)
            relation = node.relation if beyond else r.gist_range(node.relation, root)
            head = " ".join(["extension", *["whole"] * (exact and node.whole), *["beyond"] * beyond])
            parts = r.union_map_text(relation, {**names, "": distinct(outer)})
            yield Entry(level, "extension", head, tuple(parts))
            yield from below(node.child, level + 1, known.union(added).coalesce(), outer, names, root, exact)
        case Sequence():
            yield Entry(level, "sequence", "sequence", None)
            for step in node.children:
                parts = r.union_set_text(r.gist_sets(step.filter, known), names)
                yield Entry(level + 1, "filter", "filter barrier" if step.barrier else "filter", tuple(parts))
                yield from below(step.child, level + 2, known.intersect(step.filter), outer, names, root, exact)
        case _:
            assert_never(node)


def mark_words(mark: Mark) -> str:
    """The text and names of a mark on one line, with a space before them."""
    unit = "products" if mark.kind == "mma" else "threads"
    threads = f"{' x '.join(map(str, mark.sizes))} {unit}" if mark.sizes else ""
    blocks = f"at most {mark.blocks} blocks" if mark.blocks else ""
    return "".join(f" {word}" for word in (threads, blocks, mark.text.replace("\n", "; "), *mark.names) if word)


def band_head(band: Band, exact: bool = False) -> str:
    """`band[c-] permutable tile(32, 8) parallel(0) vector(1) mapped(block.y, block.x) barrier`: parallel and vector
    with positions, mapped with a GPU's index for each loop, barrier where threads meet in each iteration."""
    members, last = band.members, band.members[-1]
    words = ["band[" + "".join("c" if m.coincident else "-" for m in members) + "]"]
    if exact:
        words.append(f"for({listed(m.name for m in members)})")
    if band.permutable:
        words.append("permutable")
    if any(m.role is Role.TILE for m in members):
        words.append(f"tile({listed(m.size if m.role is Role.TILE else '-' for m in members)})")
    for role, word in ROLES.items():
        positions = [k for k, m in enumerate(members) if m.role is role]
        apart = exact and any(m.role not in (role, Role.TILE) for m in members)
        words += [f"{word}({listed(positions)})" if apart else word] * bool(positions)
    if band.whole is not None:
        words.append(f"whole({told(band.whole)})" if exact else "whole")
    for flag in FLAGS if exact else FLAGS[:2]:
        positions = [k for k, m in enumerate(members) if getattr(m, flag) and (exact or not m.mapped)]
        words += [f"{flag}({listed(positions)})"] * bool(positions)
    if (stored := last.past_caches) is not None:
        words.append(f"past_caches({told(stored) if exact else listed(stored.arrays)})")
    if (lookups := last.lookups) is not None:
        words.append(f"lookups({told(lookups) if exact else lookups.width})")
    if any(m.mapped for m in members):
        words.append(f"mapped({listed(m.mapped or '-' for m in members)})")
    if last.barrier and not exact:
        words.append("barrier")
    for name in VALUES if exact else ():
        values = [told(getattr(m, name), " ") if is_told(m, name) else "-" for m in members]
        words += [f"{name}({listed(values)})"] * (set(values) != {"-"})
    return " ".join(words)


def words_of(record: Mark | Buffer, names: tuple[str, ...]) -> str:
    """` names(A_tile) strips(4)`: the fields of a record that are not as they are by default."""
    values = {name: getattr(record, name) for name in names if is_told(record, name)}
    return "".join(f" {name}({json.dumps(v) if name == 'text' else told(v)})" for name, v in values.items())


def is_told(record: Member | Mark | Buffer, name: str) -> bool:
    """Whether a field has a value that nobody knows without its word."""
    match record:
        case Member(role=Role.TILE) if name == "size":
            return False  # `tile(32)` says it
        case Buffer() if name == "name":
            return record.name != record.key
        case Buffer() if name in ("corner", "depth"):
            return name == ("depth" if record.corner is None else "corner")
    value, default = getattr(record, name), record.__dataclass_fields__[name].default
    return value is not None if default is None else bool(value != default)


def told(value: object, between: str = ", ") -> str:
    """A field as it stands in the brackets of its word."""
    match value:
        case tuple():
            return between.join(told(one, " ") for one in value)
        case frozenset():
            return listed(f"{statement}.{ref}" for statement, ref in sorted(value))
        case Worth(extents=extents, least=least, tiles=tiles):
            several = " or ".join(f"{told(extent)} > {size}" for extent, size in tiles)
            return f"{' * '.join(map(told, extents))} > {least}{' with ' if tiles else ''}{several}".lstrip()
        case Lookups(width=width, references=references, rows=rows):
            return listed([width, told(references), *(f"{array}:{count}" for array, count in rows)])
        case PastCaches(arrays=arrays, worth=worth):
            return listed([*arrays, *([] if worth is None else [told(worth)])])
        case str() | int():
            return str(value)
    text = r.after_parameters(value)
    plain = SIZE.fullmatch(text)
    return plain[1] if plain else text


def listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def buffer_text(buffer: Buffer) -> str:
    """The line of a buffer."""
    return f"buffer {buffer.key} {buffer.storage}{words_of(buffer, BUFFER)}"


def band_parts(band: Band, known: isl.UnionSet, names: dict[str, tuple[str, ...]], strict: bool = True) -> list[str]:
    """`S[i, j] -> [i, j]` for each statement below: the members' expressions side by side.

    strict: leave out statements of which nothing is in `known`.
    """
    domains = {r.tuple_name(s, r.SET): s for s in r.sets_of(known)}
    members = [r.pw_affs_of(m.schedule) for m in band.members]
    parts: list[str] = []
    for statement in sorted({name for functions in members for name in functions}):
        if strict and statement not in domains:
            continue  # a filter above leaves nothing of it
        dims = names.get(statement, ())
        values = [
            r.expression(functions[statement], domains.get(statement), dims) if statement in functions else "?"
            for functions in members
        ]
        parts.append(f"{statement}[{', '.join(dims)}] -> [{', '.join(values)}]")
    return parts


def band_value_name(member: Member) -> str:
    """A name for the value of a member that is not the name of the loop variable itself."""
    ends = {
        Role.TILE: "_t",
        Role.POINT: "_p",
        Role.LOOP: "_o",
        Role.REGISTER: "_r",
        Role.UNROLLED: "_u",
        Role.WRITTEN_OUT: "_u",
    }
    return member.name + ends[member.role]


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names with numbers where one occurs twice."""
    seen: dict[str, int] = {}
    answer: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        answer.append(name if seen[name] == 1 else f"{name}{seen[name]}")
    return tuple(answer)
