"""The text of a schedule tree: what golden files hold, and what `polyc explain` and `--emit tree` print.

    domain [n] -> { S[t, i] : 0 <= t < n and 0 < i <= -2 + n }
      band[c-] permutable tile(32, 32) parallel(0) { S[t, i] -> [floor(t/32), floor((t + i)/32)] }
        band[c-] permutable point { S[t, i] -> [t, t + i] }

`c` stands for a coincident member of a band. Sets and maps are sorted by name, what is known from further up
is not said again, and leaves are not printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import islpy as isl

from polyc.explain import relations as r
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Role, Sequence
from polyc.records import dataclass

WIDTH = 110


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


def render_tree(tree: Domain) -> str:
    """The whole tree, one node a line, two spaces a level, with a newline at the end."""
    return "\n".join(entry.text() for entry in entries(tree)) + "\n"


def entries(tree: Domain) -> list[Entry]:
    """The nodes of a tree, parents before their children, without leaves."""
    head = f"domain {r.parameters(tree.domain)}".rstrip()
    root = Entry(0, "domain", head, tuple(r.union_set_text(tree.domain)))
    return [root, *below(tree.child, 1, tree.domain, (), r.dim_names(tree.domain), tree.domain)]


def below(
    node: Node,
    level: int,
    known: isl.UnionSet,
    outer: tuple[str, ...],
    names: dict[str, tuple[str, ...]],
    root: isl.UnionSet,
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
            yield Entry(level, "band", band_head(node), tuple(band_parts(node, known, names)))
            yield from below(node.child, level + 1, known, values, names, root)
        case Mark():
            yield Entry(level, "mark", f'mark "{node.kind}"' + mark_words(node), None)
            yield from below(node.child, level + 1, known, outer, names, root)
        case Extension():
            added = node.relation.range()
            names = {**r.dim_names(added), **names}
            parts = r.union_map_text(r.gist_range(node.relation, root), {**names, "": distinct(outer)})
            yield Entry(level, "extension", "extension", tuple(parts))
            yield from below(node.child, level + 1, known.union(added).coalesce(), outer, names, root)
        case Sequence():
            yield Entry(level, "sequence", "sequence", None)
            for step in node.children:
                parts = r.union_set_text(r.gist_sets(step.filter, known), names)
                yield Entry(level + 1, "filter", "filter barrier" if step.barrier else "filter", tuple(parts))
                yield from below(step.child, level + 2, known.intersect(step.filter), outer, names, root)
        case _:
            assert_never(node)


def mark_words(mark: Mark) -> str:
    """The text and names of a mark on one line, with a space before them."""
    unit = "products" if mark.kind == "mma" else "threads"
    threads = f"{' x '.join(map(str, mark.sizes))} {unit}" if mark.sizes else ""
    blocks = f"at most {mark.blocks} blocks" if mark.blocks else ""
    return "".join(f" {word}" for word in (threads, blocks, mark.text.replace("\n", "; "), *mark.names) if word)


def band_head(band: Band) -> str:
    """`band[c-] permutable tile(32, 8) parallel(0) vector(1) mapped(block.y, block.x) barrier`: parallel and vector
    with positions, mapped with a GPU's index for each loop, barrier where threads meet in each iteration."""
    words = ["band[" + "".join("c" if m.coincident else "-" for m in band.members) + "]"]
    if band.permutable:
        words.append("permutable")
    if any(m.role is Role.TILE for m in band.members):
        words.append("tile(" + ", ".join(str(m.size) if m.role is Role.TILE else "-" for m in band.members) + ")")
    if any(m.role is Role.POINT for m in band.members):
        words.append("point")
    if any(m.role is Role.REGISTER for m in band.members):
        words.append("register")
    if any(m.role is Role.UNROLLED for m in band.members):
        words.append("unrolled")
    if any(m.role is Role.WRITTEN_OUT for m in band.members):
        words.append("written-out")
    if band.whole is not None:
        words.append("whole")
    for flag, positions in (
        ("parallel", [k for k, m in enumerate(band.members) if m.parallel and not m.mapped]),
        ("vector", [k for k, m in enumerate(band.members) if m.vector]),
    ):
        if positions:
            words.append(f"{flag}({', '.join(map(str, positions))})")
    if band.members[-1].past_caches is not None:
        words.append(f"past_caches({', '.join(band.members[-1].past_caches.arrays)})")
    if band.members[-1].lookups is not None:
        words.append(f"lookups({band.members[-1].lookups.width})")
    if any(m.mapped for m in band.members):
        words.append("mapped(" + ", ".join(m.mapped or "-" for m in band.members) + ")")
    if band.members[-1].barrier:
        words.append("barrier")
    return " ".join(words)


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
