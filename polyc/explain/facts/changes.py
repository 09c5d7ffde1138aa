"""Changes to the source that would free loops: what to write, by what stands in the way most often."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from polyc.explain.facts.source_loops import defined_functions
from polyc.explain.facts.translation_unit import LoopRecord, UnitRecord
from polyc.records import dataclass

_CALL = "`#pragma polyc pure({name})` where it only computes a value; otherwise a call outside of the loops"
_WAYS: tuple[tuple[str, str], ...] = (
    (r"which elements of '(?P<name>[^']+)' are touched depends on data", "`restrict` on {names} in {place}"),
    (r"'(?P<name>[^']+)' .*may overlap", "`restrict` on {names} in {place}"),
    (r"the rows of '(?P<name>[^']+)' are pointers", "one block of memory, `double (*a)[m]`, for {names} in {place}"),
    (r"'(?P<name>[^']+)' is called, which may have side effects", _CALL),
    (r"its function has pragmas of its own \('#pragma omp", "without `#pragma omp` in {place}: polyc looks for "
     "parallel loops by itself"),
    (r"goto stands in it|label stands in it", "a loop without `goto` in {place}"),
    (r"it stands between the labels of a switch", "a block of its own for loops below `case` in {place}"),
    (r"a function is called through a pointer", "a call by its name, not through a pointer, in {place}"),
    (r"polyc cannot read a statement", "the statement that polyc cannot read in {place}"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """A change to the source, and the loops that it might free."""

    what: str
    """Markdown."""
    loops: tuple[tuple[str, LoopRecord], ...]
    """Each with the path of its file."""
    hot: float
    """The share of the profile that their functions have, in percent."""


def changes(units: Iterable[UnitRecord], profile: dict[str, float], most: int = 5) -> list[Change]:
    """The changes that would free most: by the profile where there is one, else by the number of loops."""
    found: dict[tuple[str, str], list[tuple[str, LoopRecord, str]]] = {}
    units = list(units)
    own = {name for unit in units for name in defined_functions(unit.source)}
    for unit in units:
        for one in unit.loops:
            for way, name in _stands_in_the_way(one):
                if way == _CALL and name not in own:
                    continue  # nobody can promise anything of printf
                key = (way, name) if way == _CALL else (way, unit.path)
                found.setdefault(key, []).append((unit.path, one, name))
    answer = [_change(way, rows, profile) for (way, _), rows in found.items()]
    return sorted(answer, key=lambda change: (-change.hot, -len(change.loops), change.what))[:most]


def _stands_in_the_way(record: LoopRecord) -> Iterator[tuple[str, str]]:
    """What would have to change for a loop, and the name that its reason is about."""
    if not record.is_left:
        return
    for pattern, way in _WAYS:
        match = re.search(pattern, record.reason)
        if match is not None:
            yield way, match.groupdict().get("name", "")
            return


def _change(way: str, rows: list[tuple[str, LoopRecord, str]], profile: dict[str, float]) -> Change:
    names = sorted({name for _, _, name in rows})
    some = ", ".join(f"`{name}`" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    files = {path for path, _, _ in rows}
    what = way.format(names=some, name=names[0], place=f"`{min(files)}`")
    functions = {one.loop.function for _, one, _ in rows}
    return Change(what, tuple((path, one) for path, one, _ in rows), sum(profile.get(name, 0.0) for name in functions))
