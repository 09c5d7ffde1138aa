"""Where the text's instances run, and what they touch in the region's own arrays: (2) of `compare.py`."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.poly import at_sizes
from polyc.reread.twice.program import NotComparable
from polyc.reread.twice.text import Part, Places, Text
from polyc.verify.fault import Fault


def place_faults(text: Text, part: Part) -> list[Fault]:
    """Instances that the region does not have, or that run where the model does not hold."""
    scop, name = text.program.scop, part.statement.name
    to_instance = part.to_instance
    if not to_instance.is_single_valued():
        raise NotComparable(f"the instances of {name} are not affine")
    if not to_instance.domain().is_equal(part.run.instances):
        raise NotComparable(f"the instances of {name} are not affine everywhere")
    found: list[Fault] = []
    instances = at_sizes(part.run.instances, scop.known)
    if part.instance is None or not instances.is_subset(part.statement.domain.preimage_multi_aff(part.instance)):
        extra = at_sizes(to_instance, scop.known).subtract_range(part.statement.domain)
        if not extra.is_empty():
            found.append(Fault("text", f"the text runs an instance of {name} that is none", str(extra.sample())))
    outside = at_sizes(part.run.instances, scop.context).subtract(_at(scop.known, part.run.instances))
    if not outside.is_empty():
        found.append(Fault("text", "the condition around the text is too weak", str(outside.sample())))
    return found


def _at(sizes: isl.Set, like: isl.Set) -> isl.Set:
    """Everything at some sizes."""
    return isl.Set.universe(like.get_space()).intersect_params(sizes)


def value_faults(text: Text, part: Part) -> Iterator[Fault]:
    """The loop variables of what was inlined have the values that the text computes for them."""
    for value, printed in part.values():
        if not printed.is_single_valued():
            raise NotComparable(f"a value that {part.statement.name} computes is not affine")
        known = text.program.scop.known
        wanted = at_sizes(part.to_instance.apply_range(value.relation), known)
        if not wanted.is_subset(printed):
            message = f"a producer in {part.statement.name} is computed for another iteration"
            yield Fault("text", message, str(wanted.subtract(printed).sample()))


def reference_faults(text: Text, part: Part) -> Iterator[Fault]:
    """(2), for the references that go to the region's own arrays."""
    for reference in part.references:
        then, now = reference.then, reference.now
        if text.local_of(now) is not None:
            continue
        if text.program.scop.arrays[then.array].c_name != text.scop.arrays[now.array].c_name:
            yield Fault("text", f"{part.statement.name} uses {now.array} for {then.array}", "")
            continue
        places = text.places(reference)
        if places is None or places.loose or _same(places):
            continue  # as it was written, or by one expression
        wanted, printed = (relation.reset_tuple_id(isl.dim_type.out) for relation in (places.wanted, places.printed))
        if not wanted.is_subset(printed):
            message = f"a reference of {part.statement.name} to {then.array} touches another element"
            yield Fault("text", message, str(wanted.subtract(printed).sample()))


def _same(places: Places) -> bool:
    """Whether one expression gives both elements, which takes no inequality; False says nothing."""
    wanted, printed = places.wanted_function, places.printed_function
    if wanted is None or printed is None or not places.covered:
        return False
    return plain(wanted).plain_is_equal(plain(printed))


def plain(function: isl.MultiAff) -> isl.MultiAff:
    """The function without the name of its values."""
    return function.reset_tuple_id(isl.dim_type.out)
