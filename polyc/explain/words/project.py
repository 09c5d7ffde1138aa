"""The report of a project as text: its files, what stands in the way, and what would free most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from polyc.explain.facts.changes import changes
from polyc.explain.facts.translation_unit import UnitRecord, home_of, kind_of, short
from polyc.explain.words.summary import counted

MOST_REASONS = 15


def render(units: Sequence[UnitRecord], profile: dict[str, float]) -> str:
    """The whole report."""
    home = home_of(units)
    rows: list[tuple[str, ...]] = [("file", "for loops", "in nests", "share", "parallel", "seconds")]
    rows += [_row(short(unit.path, home), [unit]) for unit in units if unit.loops or unit.untouched]
    rows.append(_row(counted(len(units), "file"), units))
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(_placed(cell, widths[n], n) for n, cell in enumerate(row)).rstrip() for row in rows]
    lines += [f"{short(unit.path, home)}: compiled untouched: {unit.untouched}" for unit in units if unit.untouched]
    reasons = Counter(kind_of(one.reason) for unit in units for one in unit.loops if one.is_left)
    if reasons:
        lines += ["", "Why for loops stay as they are"]
        lines += [f"  {count:>5}  {reason}" for reason, count in reasons.most_common(MOST_REASONS)]
    wanted = changes(units, profile)
    if wanted:
        lines += ["", "What would free most"]
        for one in wanted:
            hot = f", {one.hot:.1f} % of the profile" if one.hot else ""
            lines.append(
                f"  {counted(len(one.loops), 'loop')}{hot}: {one.what.replace('`', '').replace(home + '/', '')}"
            )
    return "\n".join(lines) + "\n"


def _placed(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def _row(name: str, units: Sequence[UnitRecord]) -> tuple[str, ...]:
    """The counts of one file, or of all."""
    loops = [one for each in units for one in each.counted]
    inside = [one for one in loops if one.compiled]
    parallel = sum("parallel" in one.done for one in inside)
    share = f"{len(inside) / len(loops):.0%}" if loops else "-"
    return name, str(len(loops)), str(len(inside)), share, str(parallel), f"{sum(each.seconds for each in units):.1f}"
