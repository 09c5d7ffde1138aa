"""The schedule tree after each pass, with what the pass changed: nodes are matched with those of the tree before.

The first tree and the last one are shown as a whole. Of the others, a part that the pass left as it was, and that is
shown elsewhere, is a reference to that place: the trees of a large region would take megabytes.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from polyc.model.program import Snapshot
from polyc.model.tree import Domain
from polyc.model.tree_text import Entry, entries
from polyc.records import dataclass, field, replace

FEW, SHORT = 8, 60
"""Parts of a node that stand below each other in any case, and the characters of one that may stand beside another."""
INLINE = 80
"""Characters of a part that stands beside the head."""
LONG = 100
"""Characters of a part that a pass left as it was."""
LEAST_SHARED = 3
"""Nodes of a part of a tree that may stand elsewhere."""
WHOLE = ("initial", "final")

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
    like: TreeNode | None = None
    """An equal node elsewhere in the page, which shows the parts and what is below; None where this one does."""
    number: int = -1
    """The same for nodes that are equal with all below; -1 where none was given."""
    id: str = ""
    """Unique in the page, for a node that others are like."""

    @property
    def inline(self) -> str:
        """Its only part, where that is short: it stands beside the head."""
        return self.parts[0][0] if len(self.parts) == 1 and len(self.parts[0][0]) <= INLINE else ""

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


def stages_of(snapshots: tuple[Snapshot, ...], region: str) -> list[Stage]:
    """All passes in order. How long each took is left out: the same run is to give the same page.

    region: what the ids of nodes begin with
    """
    before: list[Entry] = []
    answer: list[Stage] = []
    last: Domain | None = None
    for snapshot in snapshots:
        found = before if snapshot.tree is last else entries(snapshot.tree)
        last = snapshot.tree
        if list(map(_key, found)) == list(map(_key, before)) and snapshot.name not in WHOLE:
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
    shown = _Shown(f"{region}t")
    for stage in answer:
        if stage.tree is not None and stage.name in WHOLE:
            shown.whole(stage.tree)
    for stage in answer:
        if stage.tree is not None and stage.name not in WHOLE:
            shown.share(stage.tree)
    return answer


class _Shown:
    """What the page shows of trees so far."""

    def __init__(self, ids: str) -> None:
        self.ids = ids
        self.numbers: dict[object, int] = {}
        self.places: dict[int, TreeNode] = {}
        self.named = 0

    def number(self, node: TreeNode) -> int:
        """The same for equal subtrees, whatever a pass did to them."""
        if node.number < 0:
            below = tuple(map(self.number, node.children))
            key = (node.head, tuple(part for part, _ in node.parts), below)
            node.number = self.numbers.setdefault(key, len(self.numbers))
        return node.number

    def whole(self, node: TreeNode) -> None:
        """All of a tree is shown."""
        self.places.setdefault(self.number(node), node)
        for child in node.children:
            self.whole(child)

    def share(self, node: TreeNode) -> None:
        """Leave out of a tree what is shown elsewhere, of the parts that a pass did not change."""
        place = self.places.get(self.number(node))
        if place is not None and node.count >= LEAST_SHARED and _as_a_whole(node):
            if not place.id:
                self.named += 1
                place.id = f"{self.ids}{self.named}"
            node.like, node.parts, node.children = place, [], []
            return
        for child in node.children:
            self.share(child)
        if all(child.like is None for child in node.children):
            self.places.setdefault(node.number, node)
        _shorten(node)


def _as_a_whole(node: TreeNode) -> bool:
    """Whether a pass left all of a subtree as it was, or moved all of it."""
    if node.state not in ("same", "moved") or node.gone:
        return False
    return all(child.state == node.state and _as_a_whole(child) for child in node.children)


def _shorten(node: TreeNode) -> None:
    """What is another one as a whole; of the rest some, and the beginnings of long ones."""
    if node.state == "new":
        return
    if node.state != "changed" and len(node.head) > LONG:
        node.head = f"{node.head[:LONG]}… as before"
    kept = [one for k, one in enumerate(node.parts) if one[1] or k < FEW]
    left = len(node.parts) - len(kept)
    kept = kept if left > 1 else node.parts
    node.parts = [(part if hit or len(part) <= LONG else f"{part[:LONG]}… as before", hit) for part, hit in kept]
    node.parts += [(f"… and {left} more as before", False)] if left > 1 else []


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
