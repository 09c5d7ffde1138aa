"""Edits that break kernels: how loops are dealt out to blocks and threads, and where threads meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyc.model.program import Buffer, Program
from polyc.model.tree import (
    ALL_THREADS,
    THREAD_AXES,
    Band,
    Filter,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    deals_to_threads,
    rewrite,
    walk,
)
from tests.mutation.edits import Change, Edit, everywhere, extent_changed, with_child


def in_kernels(edit: Edit) -> Edit:
    """The edit for each kernel by itself: what runs on the host stays as it is."""

    def at(program: Program) -> Program:
        def change(node: Node) -> Node | None:
            if isinstance(node, Mark) and node.kind == "kernel":
                return replace(node, child=edit(with_child(program, node.child)).tree.child)
            return None

        return everywhere(change)(program)

    return at


def is_kernel(node: Node) -> bool:
    return isinstance(node, Mark) and node.kind == "kernel"


# --- barriers --------------------------------------------------------------------------------------------------------


def steps_edit(change: Callable[[tuple[Filter, ...]], tuple[Filter, ...] | None]) -> Change:
    def at(node: Node) -> Node | None:
        steps = change(node.children) if isinstance(node, Sequence) else None
        return None if steps is None else Sequence(steps)

    return at


def barrier_dropped(which: int) -> Change:
    """The barrier of one step of a sequence, counted among those that have one."""

    def change(steps: tuple[Filter, ...]) -> tuple[Filter, ...] | None:
        found = [k for k, step in enumerate(steps) if step.barrier]
        if not -len(found) <= which < len(found):
            return None
        return tuple(replace(s, barrier=s.barrier and k != found[which]) for k, s in enumerate(steps))

    return steps_edit(change)


def barriers_moved(distance: int) -> Change:
    """Each barrier of a sequence stands one step earlier or later."""

    def change(steps: tuple[Filter, ...]) -> tuple[Filter, ...] | None:
        if not any(step.barrier for step in steps):
            return None
        at = [k for k, step in enumerate(steps) if step.barrier]
        moved = {k + distance for k in at}
        return tuple(replace(s, barrier=k in moved) for k, s in enumerate(steps))

    return steps_edit(change)


def step_barriers_dropped(node: Node) -> Node | None:
    return steps_edit(lambda steps: tuple(replace(s, barrier=False) for s in steps))(node)


def loop_barriers_dropped(node: Node) -> Node | None:
    if not isinstance(node, Band) or not any(m.barrier for m in node.members):
        return None
    return replace(node, members=tuple(replace(m, barrier=False) for m in node.members))


def loop_barrier_moved_out(node: Node) -> Node | None:
    """The threads meet in each iteration of the outermost loop of a band, not of the innermost."""
    if not isinstance(node, Band) or len(node.members) < 2 or not node.members[-1].barrier:
        return None
    first, *rest = node.members
    return replace(node, members=(replace(first, barrier=True), *(replace(m, barrier=False) for m in rest)))


def barrier_in_every_step(node: Node) -> Node | None:
    return steps_edit(lambda steps: tuple(replace(s, barrier=True) for s in steps))(node)


def barrier_in_every_loop(node: Node) -> Node | None:
    if not isinstance(node, Band):
        return None
    return replace(node, members=(*node.members[:-1], replace(node.members[-1], barrier=True)))


def barrier_among_single_threads(node: Node) -> Node | None:
    """In each iteration of a loop that is dealt out to threads: some come to it more often than others."""
    if not isinstance(node, Band) or not any(deals_to_threads(m) for m in node.members):
        return None
    return replace(node, members=tuple(replace(m, barrier=deals_to_threads(m)) for m in node.members))


def barriers_on_the_host(program: Program) -> Program:
    """In the loops around kernels."""

    def at(node: Node) -> Node:
        match node:
            case Mark(kind="kernel"):
                return node
            case Mark():
                return replace(node, child=at(node.child))
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=at(s.child), barrier=True) for s in steps))
            case Band():
                return replace(
                    node, child=at(node.child), members=tuple(replace(m, barrier=True) for m in node.members)
                )
            case _:
                return node

    return with_child(program, at(program.tree.child))


def last_extent_changed(distance: int) -> Callable[[Buffer], Buffer | None]:
    """Shared memory for fewer elements, along the dimension that is consecutive."""
    return lambda buffer: extent_changed(len(buffer.extents) - 1, distance)(buffer) if buffer.extents else None


# --- what is dealt out -----------------------------------------------------------------------------------------------


def members_edit(change: Callable[[Member], Member | None]) -> Change:
    """Change each member of a band that the change applies to."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Band):
            return None
        found = [change(m) for m in node.members]
        if all(m is None for m in found):
            return None
        return replace(node, members=tuple(new or old for new, old in zip(found, node.members, strict=True)))

    return at


def axes_renamed(names: dict[str, str]) -> Change:
    """Loops on some axes are dealt out along others; "": to nobody."""

    def change(member: Member) -> Member | None:
        return replace(member, mapped=names[member.mapped]) if member.mapped in names else None

    return members_edit(change)


SWAPPED = {"block.x": "block.y", "block.y": "block.x", "thread.x": "thread.y", "thread.y": "thread.x"}


def sequential_loop_mapped(axis: str) -> Change:
    """A loop that is not coincident is dealt out."""

    def change(member: Member) -> Member | None:
        return replace(member, mapped=axis) if not member.coincident and not member.mapped else None

    return members_edit(change)


def last_step_edit(change: Change) -> Change:
    """Change the bands of the last step of a sequence only."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Sequence):
            return None
        *rest, last = node.children
        if not any(isinstance(n, Band) and any(m.mapped for m in n.members) for n in walk(last.child)):
            return None
        return Sequence((*rest, replace(last, child=rewrite(last.child, lambda n: change(n) or n))))

    return at


def once_around_threads(node: Node) -> Node | None:
    """One thread runs a loop that is dealt out to all of them."""
    return Mark("once", node) if isinstance(node, Band) and any(deals_to_threads(m) for m in node.members) else None


def once_instead_of_threads(node: Node) -> Node | None:
    """One thread runs the whole loop: slow, and right."""
    unmapped = nobody(node)
    return None if unmapped is None else Mark("once", unmapped)


def once_around_steps(node: Node) -> Node | None:
    if not isinstance(node, Sequence):
        return None
    bands = [n for n in walk(node) if isinstance(n, Band)]
    return Mark("once", node) if any(deals_to_threads(m) for b in bands for m in b.members) else None


def nobody(node: Node) -> Node | None:
    """A loop of the threads that each of them runs as a whole."""
    return axes_renamed(dict.fromkeys((*THREAD_AXES, ALL_THREADS), ""))(node)


def threads_above_blocks(node: Node) -> Node | None:
    """Tiles are dealt out to threads, their points to blocks."""
    if not isinstance(node, Band) or not any(m.mapped for m in node.members):
        return None
    tile = node.members[0].role is Role.TILE
    axes = iter(("thread.y", "thread.x") if tile else ("block.y", "block.x"))
    return replace(node, members=tuple(replace(m, mapped=next(axes)) if m.mapped else m for m in node.members))


# --- kernels ---------------------------------------------------------------------------------------------------------


def kernel_edit(change: Callable[[Mark], Node | None]) -> Change:
    return lambda node: change(node) if isinstance(node, Mark) and node.kind == "kernel" else None


def kernel_of(*sizes: int) -> Change:
    """A block of other threads than the loops are dealt out to."""
    return kernel_edit(lambda mark: replace(mark, sizes=sizes) if mark.sizes != sizes else None)


def kernel_dropped(node: Node) -> Node | None:
    return node.child if is_kernel(node) else None


def kernel_twice(node: Node) -> Node | None:
    """A kernel in a kernel."""
    return replace(node, child=node) if isinstance(node, Mark) and is_kernel(node) else None


def kernel_below_its_first_loop(node: Node) -> Node | None:
    """The tile loop stays on the host."""
    return _below_a_band(node, keep=True)


def kernel_below_its_first_loop_unmapped(node: Node) -> Node | None:
    """The tile loop stays on the host, as an ordinary loop."""
    return _below_a_band(node, keep=False)


def _below_a_band(node: Node, keep: bool) -> Node | None:
    if not isinstance(node, Mark) or not is_kernel(node):
        return None

    def at(below: Node) -> Node | None:
        match below:
            case Mark():
                inner = at(below.child)
                return None if inner is None else replace(below, child=inner)
            case Band(members=(first, *rest)):
                outside = first if keep else replace(first, mapped="", parallel=False, barrier=False)
                child = replace(below, members=tuple(rest)) if rest else below.child
                return replace(below, members=(outside,), child=replace(node, child=child))
            case _:
                return None

    return at(node.child)


def kernel_around_the_host_loop(node: Node) -> Node | None:
    """A sequential loop of the host and the kernel in it become one kernel."""
    if isinstance(node, Band) and isinstance(node.child, Mark) and is_kernel(node.child):
        return replace(node.child, child=replace(node, child=node.child.child))
    return None


def kernels_made_one(node: Node) -> Node | None:
    """The kernels of a sequence become one, which its blocks run from start to end."""
    if not isinstance(node, Sequence):
        return None
    kernels = [s.child for s in node.children if isinstance(s.child, Mark) and is_kernel(s.child)]
    if len(kernels) < len(node.children) or len({k.sizes for k in kernels}) > 1:
        return None
    steps = tuple(replace(s, child=k.child) for s, k in zip(node.children, kernels, strict=True))
    return replace(kernels[0], child=Sequence(steps))


def kernels_made_one_with_barriers(node: Node) -> Node | None:
    """The same, and the threads of each block meet between the steps."""
    found = kernels_made_one(node)
    if not isinstance(found, Mark) or not isinstance(found.child, Sequence):
        return None
    return replace(found, child=barrier_in_every_step(found.child) or found.child)


def kernel_into_steps(node: Node) -> Node | None:
    """Each step of a tile becomes a kernel of its own, below the tile's loops."""
    if not isinstance(node, Mark) or not is_kernel(node):
        return None
    seen = False

    def change(inner: Node) -> Node:
        nonlocal seen
        if isinstance(inner, Sequence) and not seen:
            seen = True
            return Sequence(tuple(replace(s, child=replace(node, child=s.child)) for s in inner.children))
        return inner

    child = rewrite(node.child, change)
    return child if seen else None
