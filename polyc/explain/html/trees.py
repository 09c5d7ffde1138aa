"""The schedule tree after each pass, with what the pass changed: nodes are matched with those of the tree before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from polyc.explain.tree_text import Entry, entries
from polyc.model.program import Snapshot
from polyc.model.tree import Domain

FEW, SHORT = 8, 60
"""Parts of a node that stand below each other in any case, and the characters of one that may stand beside another."""

MOST_NODES = 3000
"""Of all trees of a region together, up to which each is shown as a whole."""

Key = tuple[str, str, tuple[str, ...] | None]


@dataclass(slots=True)
class TreeNode:
    """A node of a tree in the page."""

    kind: str
    head: str
    parts: list[tuple[str, bool]]
    """Its sets or functions, and whether the pass changed one."""
    state: str = "same"
    """`same`, `changed`, `new`, or `moved` where an equal one stood elsewhere."""
    was: str = ""
    """Of a changed one: its head before, where that was another."""
    gone: list[str] = field(default_factory=list)
    """Heads of nodes that stood behind it before, and are no more."""
    children: list[TreeNode] = field(default_factory=list)
    touched: bool = False
    """It, or something below it, is not as it was."""
    count: int = 1
    """Nodes, with all below."""
    as_after: str = ""
    """The pass whose tree shows what is left out below; "" where nothing is."""

    @property
    def many(self) -> bool:
        """Whether its parts are short enough to stand beside each other, and too many for one column."""
        return len(self.parts) > FEW and max(len(part) for part, _ in self.parts) <= SHORT


@dataclass(frozen=True, slots=True)
class Stage:
    """What the page says of one pass."""

    names: tuple[str, ...]
    """Of one pass; of several that left the tree as it was."""
    tree: TreeNode | None
    """None where they did."""
    changed: int = 0
    new: int = 0
    moved: int = 0
    gone: int = 0

    @property
    def name(self) -> str:
        return self.names[0]


def stages_of(snapshots: tuple[Snapshot, ...]) -> list[Stage]:
    """All passes in order. How long each took is left out: the same run is to give the same page."""
    before: list[Entry] = []
    answer: list[Stage] = []
    last: Domain | None = None
    for snapshot in snapshots:
        found = before if snapshot.tree is last else entries(snapshot.tree)
        last = snapshot.tree
        if list(map(_key, found)) == list(map(_key, before)) and snapshot.name != "final":
            if answer and answer[-1].tree is None:
                answer[-1] = replace(answer[-1], names=(*answer[-1].names, snapshot.name))
            else:
                answer.append(Stage((snapshot.name,), None))
            continue
        nodes = [TreeNode(e.kind, e.head, [(part, False) for part in e.parts or ()]) for e in found]
        if before:
            _compare(before, found, nodes)
        changed, new, moved = (sum(node.state == state for node in nodes) for state in ("changed", "new", "moved"))
        gone = sum(len(node.gone) for node in nodes)
        answer.append(Stage((snapshot.name,), _nested(found, nodes), changed, new, moved, gone))
        before = found
    if sum(stage.tree.count for stage in answer if stage.tree is not None) > MOST_NODES:
        _left_out(answer)
    return answer


def _left_out(stages: list[Stage]) -> None:
    """Leave out of each tree what stayed as it was, but for the first and the last one: the trees of a large region
    would take megabytes."""
    before = ""
    for stage in stages:
        if stage.tree is None:
            continue
        if before and stage.name != "final":
            _prune(stage.tree, before)
        before = stage.name


def _prune(node: TreeNode, before: str) -> None:
    if not node.touched and node.count > 1:
        node.as_after, node.parts, node.children = before, [], []
    if node.state == "same" and len(node.parts) > FEW:
        node.parts = [*node.parts[:FEW], (f"… and {len(node.parts) - FEW} more as before", False)]
    for child in node.children:
        _prune(child, before)


def _key(entry: Entry) -> Key:
    return entry.kind, entry.head, entry.parts


def _compare(before: list[Entry], after: list[Entry], nodes: list[TreeNode]) -> None:
    """Say of each node what the pass did to it: first what stayed in its order, then what moved, then what is left."""
    old, new = list(map(_key, before)), list(map(_key, after))
    edits = [edit for edit in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if edit[0] != "equal"]
    lost = {j for _, first, last, _, _ in edits for j in range(first, last)}
    made = [k for _, _, _, start, end in edits for k in range(start, end)]
    for k in made:
        twin = next((j for j in sorted(lost) if old[j] == new[k]), None)
        nodes[k].state = "new" if twin is None else "moved"
        lost -= {twin}
    for _, first, last, start, end in edits:
        left = [j for j in range(first, last) if j in lost]
        for k in (k for k in range(start, end) if nodes[k].state == "new"):
            twin = next((j for j in left if before[j].kind == after[k].kind), None)
            if twin is not None:
                left.remove(twin)
                _changed(before[twin], after[k], nodes[k])
        nodes[max(0, (end if end > start else start) - 1)].gone += [before[j].head for j in left]


def _changed(before: Entry, after: Entry, node: TreeNode) -> None:
    node.state = "changed"
    node.was = before.head if before.head != after.head else ""
    known = set(before.parts or ())
    node.parts = [(part, part not in known) for part, _ in node.parts]


def _nested(found: list[Entry], nodes: list[TreeNode]) -> TreeNode:
    """The nodes below each other."""
    above: list[TreeNode] = []
    for entry, node in zip(found, nodes, strict=True):
        del above[entry.level :]
        if above:
            above[-1].children.append(node)
        above.append(node)
    _count(nodes[0])
    return nodes[0]


def _count(node: TreeNode) -> None:
    for child in node.children:
        _count(child)
    node.count = 1 + sum(child.count for child in node.children)
    node.touched = node.state != "same" or bool(node.gone) or any(child.touched for child in node.children)


__all__ = ["Stage", "TreeNode", "stages_of"]
