"""Schedule trees and the flow between statements as a graph for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.explain.facts.statements import text_of
from polyc.model import relations as r
from polyc.model.program import Compiled, Snapshot
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Node, Sequence
from polyc.model.tree_text import band_head, band_parts, band_value_name, distinct, mark_words

LONGEST_LINE = 90


def render(compiled: list[Compiled], snapshots: list[tuple[Snapshot, ...]], what: str = "all") -> str:
    """One digraph: a cluster for each region's flow, and one for each of its trees.

    what: `graph` for the first alone, `tree` for the others, or `all`
    """
    lines = ["digraph polyc {", '  node [shape=box, fontname="monospace", fontsize=10];']
    for number, (one, trees) in enumerate(zip(compiled, snapshots, strict=True)):
        lines += flow_cluster(one, f"r{number}") if what != "tree" else []
        for position, snapshot in enumerate(trees if what != "graph" else ()):
            lines += tree_cluster(snapshot, f"r{number}t{position}")
    return "\n".join([*lines, "}"]) + "\n"


def flow_cluster(compiled: Compiled, prefix: str) -> list[str]:
    """Statements, with an edge where one reads what the other wrote."""
    scop = compiled.program.scop
    lines = [f"  subgraph cluster_{prefix} {{", f"    label={label(f'flow in {scop.function}')};"]
    numbers = {name: f"{prefix}s{k}" for k, name in enumerate(scop.statements)}
    for name, statement in scop.statements.items():
        lines.append(f"    {numbers[name]} [label={label(f'{name}: {text_of(statement)}')}];")
    edges: dict[tuple[str, str], list[str]] = {}
    for array, relation in sorted(compiled.program.dependences.flow_by_array.items()):
        for piece in r.maps_of(relation):
            ends = (r.tuple_name(piece, r.IN), r.tuple_name(piece, r.OUT))
            edges.setdefault(ends, []).append(array)
    for (source, sink), arrays in sorted(edges.items()):
        if source in numbers and sink in numbers:
            lines.append(f"    {numbers[source]} -> {numbers[sink]} [label={label(', '.join(arrays))}];")
    return [*lines, "  }"]


def tree_cluster(snapshot: Snapshot, prefix: str) -> list[str]:
    """The nodes of one schedule tree, parents above their children."""
    lines = [f"  subgraph cluster_{prefix} {{", f"    label={label(snapshot.name)};"]
    tree = snapshot.tree
    domain = "domain\n" + "\n".join(r.union_set_text(tree.domain))
    lines.append(f"    {prefix}n0 [label={label(domain)}];")
    for number, parent, text in numbered(tree):
        lines.append(f"    {prefix}n{number} [label={label(text)}];")
        lines.append(f"    {prefix}n{parent} -> {prefix}n{number};")
    return [*lines, "  }"]


def numbered(tree: Domain) -> Iterator[tuple[int, int, str]]:
    """(number, number of the parent, text) of every node below the root, parents first."""
    names = r.dim_names(tree.domain)
    waiting: list[tuple[Node, int, tuple[str, ...]]] = [(tree.child, 0, ())]
    count = 0
    while waiting:
        node, parent, outer = waiting.pop(0)
        if isinstance(node, Leaf):
            continue
        count += 1
        own = count
        match node:
            case Band():
                parts = band_parts(node, tree.domain, names, strict=False)
                yield own, parent, "\n".join([band_head(node), *parts])
                values = (*outer, *(band_value_name(m) for m in node.members))
                waiting.append((node.child, own, values))
            case Mark():
                yield own, parent, node.kind + mark_words(node).replace("; ", "\n")
                waiting.append((node.child, own, outer))
            case Extension():
                names = {**r.dim_names(node.relation.range()), **names}
                parts = r.union_map_text(r.gist_range(node.relation, tree.domain), {**names, "": distinct(outer)})
                yield own, parent, "\n".join(["extension", *parts])
                waiting.append((node.child, own, outer))
            case Sequence():
                yield own, parent, "sequence"
                for step in node.children:
                    count += 1
                    filtered = r.union_set_text(r.gist_sets(step.filter, tree.domain), names)
                    yield count, own, "\n".join(["filter", *filtered])
                    waiting.append((step.child, count, outer))


def label(text: str) -> str:
    """A quoted label, lines to the left and not too long."""
    lines = [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in text.split("\n")]
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\l".join(escaped) + ('\\l"' if len(lines) > 1 else '"')
