"""The text's local arrays are the program's buffers: as large, of their type, and one for each of their lives.

math: the program has a buffer for each value u of the band members above its mark, and loses what is in it after that.
      For the uses t of a buffer, let u(t) be that value, and d(t) the declaration that the text uses: where it stands,
      and the iteration of the loops around it. Shown is that u(t) -> d(t) is a one-to-one function: two uses share a
      variable of the text just where they share the program's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, agree_plainly, piecewise, substitution
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Storage
from polyc.poly import at_sizes
from polyc.reread.bodies import Use
from polyc.reread.parts import Declared, NotComparable


def storage_faults(program: Program, uses: Sequence[Use], declared: Sequence[Declared]) -> list[Fault]:
    """Buffers that are too small, of another type, or that live longer or shorter than the program's."""
    by_buffer: dict[str, list[Use]] = {}
    for use in uses:
        mine = by_buffer.setdefault(use.buffer.key, [])
        if not any(u.image is use.image and u.declared is use.declared for u in mine):
            mine.append(use)
    found: list[Fault] = []
    checked: set[tuple[int, str]] = set()
    for mine in by_buffer.values():
        for use in mine:
            key = id(use.declared), use.buffer.key
            if key not in checked:
                checked.add(key)
                found += _declaration_faults(program, use.buffer, use.declared)
        found += _life_faults(program, mine)
    return found + [fault for one in declared for fault in _region_faults(program, one)]


def _region_faults(program: Program, declared: Declared) -> list[Fault]:
    """Arrays that the region declares itself, where the text has them at its top."""
    for array in program.scop.arrays.values():
        if array.storage is Storage.REGION and array.name == declared.node.name and not declared.place.loops:
            named = [b for b in program.buffers.values() if b.name == array.name]
            extents = tuple(e for e in array.extents_c if e is not None)
            if not named and (declared.node.type, declared.node.extents) != (array.element.text, extents):
                return [Fault("text", f"{array.name} is declared in another way", declared.node.type)]
    return []


def _declaration_faults(program: Program, buffer: Buffer, declared: Declared) -> list[Fault]:
    node, array = declared.node, program.scop.arrays[buffer.array]
    if node.type != array.element.text:
        return [Fault("text", f"{node.name} is of another type", node.type)]
    if buffer.storage == "private" and None not in array.extents_c:
        if node.extents != tuple(e for e in array.extents_c if e is not None):
            return [Fault("text", f"{node.name} has other extents than its array", "")]
        return []
    if buffer.is_single:
        return [Fault("text", f"{node.name} has dimensions", "")] if node.extents else []
    order = buffer.order or tuple(range(len(buffer.extents)))
    if len(node.extents) != len(order):
        return [Fault("text", f"{node.name} has another number of dimensions", "")]
    place = declared.place
    for position, (d, extent) in enumerate(zip(order, node.extents, strict=True)):
        wanted = place.reader.of_parameters(buffer.extents[d])
        if position == len(order) - 1 and buffer.pad:
            wanted = piecewise(wanted).add(piecewise(place.reader.constant(buffer.pad)))
        try:
            found = place.reader.value(extent)
        except NotAffine:
            raise NotComparable(f"the size of {node.name} is not affine") from None
        if agree_plainly(wanted, found):
            continue
        small = at_sizes(place.domain, program.scop.known).subtract(piecewise(found).ge_set(piecewise(wanted)))
        if not small.is_empty() or d == buffer.window:
            return [Fault("text", f"{node.name} is too small", str(small.sample_point()))]
    return []


# --- lives


def _life_faults(program: Program, uses: list[Use]) -> list[Fault]:
    if not any(_is_read(program, use.buffer) for use in uses):
        return []  # values that nobody reads may end at any time
    for use in uses:
        if not _is_plain(use):
            fault = _not_one_to_one(use, _pairs(use, program.scop.known))
            if fault is not None:
                return [fault]
    known = program.scop.known
    lives: dict[int, isl.Set] = {}
    for one, two in combinations(uses, 2):
        if one.declared is two.declared:
            if not _is_plain(one) or not _is_plain(two):
                fault = _not_one_to_one(one, _pairs(one, known).union(_pairs(two, known)))
                if fault is not None:
                    return [fault]
            continue
        mine, other = (lives.setdefault(id(u), _life(u, known)) for u in (one, two))
        if not mine.is_disjoint(other):
            message = f"{one.buffer.name} is declared anew while its values are needed"
            return [Fault("text", message, str(mine.intersect(other).sample_point()))]
    return []


def _is_read(program: Program, buffer: Buffer) -> bool:
    """Whether a statement reads a buffer."""
    return any(
        access.ref == ref and access.kind is AccessKind.READ
        for name, ref in buffer.accesses
        for access in program.statements[name].accesses
    )


def _is_plain(use: Use) -> bool:
    """Whether the values of the band members above the buffer are the loops around the declaration, one by one, and
    constants beside them; False says nothing."""
    around = len(use.declared.place.loops)
    seen: set[int] = set()
    for value in use.image.loops[: use.buffer.depth]:
        if not isinstance(value, isl.Aff):
            return False
        if value.is_cst():
            continue
        at = [d for d in range(around) if agree_plainly(value, use.image.reader.loop(d))]
        if not at:
            return False
        seen.add(at[0])
    return len(seen) == around


def _life(use: Use, known: isl.Set) -> isl.Set:
    """`{ [u] }`."""
    image = use.image
    return at_sizes(image.domain, known).apply(substitution(image.reader, image.loops[: use.buffer.depth]).relation())


def _pairs(use: Use, known: isl.Set) -> isl.Map:
    """`{ [loops around the declaration] -> [u] }`."""
    image, around = use.image, len(use.declared.place.loops)
    relation = (
        substitution(image.reader, image.loops[: use.buffer.depth])
        .relation()
        .intersect_domain(at_sizes(image.domain, known))
    )
    return relation.project_out(isl.dim_type.in_, around, relation.dim(isl.dim_type.in_) - around)


def _not_one_to_one(use: Use, pairs: isl.Map) -> Fault | None:
    if not pairs.is_single_valued():
        return Fault("text", f"{use.buffer.name} outlives its tile", str(pairs.sample()))
    if not pairs.is_injective():
        return Fault("text", f"{use.buffer.name} is declared anew while its values are needed", str(pairs.sample()))
    return None
