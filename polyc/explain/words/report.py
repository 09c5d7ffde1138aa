"""What `polyc explain` prints by default: a line a nest, short enough for a screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from itertools import groupby

import islpy as isl

from polyc.analysis.loop_facts import original_nests
from polyc.explain.facts.loops import Written, written
from polyc.explain.facts.nests import GIVEN_UP, Nest, Part, Reason, Reasons, nests
from polyc.explain.facts.values import again, buffer_bytes
from polyc.model.program import Buffer, Compiled, Group, Program
from polyc.nests.tiling import told_sizes
from polyc.poly import maps, names, out_name
from polyc.records import dataclass, replace

WIDTH = 100
"""Of the lines where no terminal says how wide it is."""
MOST_ROWS = 16
"""Nests of a file up to which each has a line of its own; of more, neighbours with one outcome share one."""
CODES = re.compile(r" \[[a-z-]+\]")
REPEATED = re.compile(r", (?:[\d.]+ (?:% repeated|times)|once in each strip)")
MOST_LINES = 40
"""Nests and groups that are shown at all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One nest, or neighbours with one outcome."""

    first_line: int
    last_line: int
    statements: tuple[str, ...]
    outcome: str
    """What was done, and what was not, with the codes of the reasons."""
    told: str
    """The same with the reasons in words, for lines that are wide enough."""
    count: int = 1

    @property
    def lines(self) -> str:
        one = self.first_line == self.last_line
        return f"line {self.first_line}" if one else f"lines {self.first_line}-{self.last_line}"

    @property
    def names(self) -> str:
        return ranges(self.statements) + (f" ({self.count} nests)" if self.count > 1 else "")


def render(path: str, compiled: list[Compiled], width: int = WIDTH) -> str:
    """All regions of a file; `width` is that of the terminal."""
    if not compiled:
        return f"{path}: no region, nothing to do\n"
    rows = [nest_rows(one) for one in compiled]
    if sum(map(len, rows)) > MOST_ROWS:
        rows = [merged(some) for some in rows]
    left = MOST_LINES
    lines: list[str] = []
    for one, some in zip(compiled, rows, strict=True):
        lines += folded(heading(one), width)
        lines += [part for line in refusal_lines(one.program) for part in folded(line, width)]
        about = [*group_lines(one.program), *stored_lines(one.initial)]
        shown = [*row_lines(some, width), *(part for line in about for part in folded(line, width))]
        lines += shown[:left] if shown else ["  no loop nest"]
        if len(shown) > left:
            lines.append(f"  and {len(shown) - left} lines more: --all-passes")
        left = max(left - len(shown), 2)
    return "\n".join([*lines, *hints(rows)]) + "\n"


def heading(compiled: Compiled) -> str:
    """`conv.c:13: region in convolve(): 3 nests, verified`."""
    scop = compiled.program.scop
    count = sum(bool(one.loops) for one in written(compiled))
    state = compiled.certificate.state
    return f"{scop.span.file}:{scop.span.line}: region in {scop.function}(): {count} {plural(count, 'nest')}, {state}"


def refusal_lines(program: Program) -> list[str]:
    """A line for each refusal of a check, and what was left out for it."""
    return [f"  {one.message} [{one.code}]" for one in program.remarks if "left_out" in one.data]


def nest_rows(compiled: Compiled) -> list[Row]:
    """A row for each nest as it was written."""
    reasons = Reasons(compiled.program)
    final = nests(compiled)
    found = []
    for one in written(compiled):
        if one.loops:
            nest = next((nest for nest in final if set(nest.statements) & set(one.statements)), None)
            texts = outcome(one, nest, reasons, compiled.program)
            found.append(Row(one.first_line, one.last_line, one.statements, *texts))
    return found


def outcome(one: Written, nest: Nest | None, reasons: Reasons, program: Program) -> tuple[str, str]:
    """`tiled 32 x 32, parallel (group 1); not fused [recompute-cost]`, and the same with the reason in words."""
    if nest is None:
        how = {m.code for m in program.remarks if set(m.statements) & set(one.statements)}
        words = "computed where its values are read" if "inlined" in how else "not needed any more"
        return words, words
    done: dict[str, list[str]] = {}
    for part in nest.parts:
        done.setdefault(part_text(part, program), []).extend(part.statements)
    words = next(iter(done))
    if len(done) > 1:
        words = ", ".join(f"{ranges(in_order(names))} {text}" for text, names in done.items())
    missing = together(refused(nest, reasons))
    codes = ", ".join(f"not {what} [{reason.code}]" for what, reason in missing)
    told = "; ".join(f"not {what}: {in_words(what, reason)}" for what, reason in missing)
    return "; ".join(filter(None, (words, codes))), "; ".join(filter(None, (words, told)))


def refused(nest: Nest, reasons: Reasons) -> list[tuple[str, Reason]]:
    """What was done with no part of a nest, and why."""
    inside = any(part.inside is not None for part in nest.parts)
    missing = {"tiled": not (nest.tiled or inside), "fused": not (nest.fused or inside), "parallel": not nest.parallel}
    found = [(what, reasons.why_not(what, nest.statements)) for what, holds in missing.items() if holds]
    return [(what, reason) for what, reason in found if reason is not None]


def together(missing: list[tuple[str, Reason]]) -> list[tuple[str, Reason]]:
    """What lacks for one refusal as one: `not tiled, not parallel [verification-failed]`."""
    found: list[tuple[str, Reason]] = []
    for what, reason in missing:
        if found and reason.code in GIVEN_UP and reason == found[-1][1]:
            found[-1] = f"{found[-1][0]}, not {what}", reason
        else:
            found.append((what, reason))
    return found


def in_words(what: str, reason: Reason) -> str:
    """The reason without what the row says already."""
    return reason.message.partition(f"not {what}: ")[2].partition("; its outer loop runs")[0] or reason.message


def part_text(part: Part, program: Program) -> str:
    """What was done with statements that have one fate."""
    if part.inside is not None:
        return f"in the tiles of group {part.inside + 1}{repeated(part.statements, program)}"
    own = program.groups[part.group] if part.group is not None else None
    words = []
    if part.tiled:
        words.append(f"tiled {told_sizes(own.tile_sizes)}" if own is not None and own.tile_sizes else "tiled")
    words += ["parallel"] if part.parallel else ["in vectors"] if part.vector else []
    numbered = own is not None and own in (group for _, group in shown_groups(program))
    return (", ".join(words) or "as it was") + (f" (group {(part.group or 0) + 1})" if numbered else "")


def repeated(statements: Iterable[str], program: Program) -> str:
    """`, 13.4 % repeated`: how many of the instances run again, in another tile; "" for none.

    Those of a sliding window run once in a strip of tiles, whatever the tiles alone would repeat.
    """
    sliding = {name for m in program.remarks if m.code == "sliding-window" for name in m.statements}
    if sliding & set(statements):
        return ", once in each strip"
    told = [
        m.data.get("recompute_percent", 0.0)
        for m in program.remarks
        if m.code == "fused" and set(m.statements) & set(statements)
    ]
    most = max(told, default=0.0)
    if most >= 1000:
        return f", {again(most / 100)}"
    return f", {again(most / 100)} repeated" if most else ""


def shown_groups(program: Program) -> list[tuple[int, Group]]:
    """The groups that hold producers, buffers, or statements of several nests, with their numbers."""
    return [
        (number, group)
        for number, group in enumerate(program.groups, 1)
        if group.fused or buffers_of(group, program) or is_joined(group, program)
    ]


def is_joined(group: Group, program: Program) -> bool:
    """Whether statements of several nests are in it."""
    members = {*group.statements, *group.outputs}
    return len(members) > 1 and sum(bool(members & set(names)) for _, names in original_nests(program.scop)) > 1


def buffers_of(group: Group, program: Program) -> list[Buffer]:
    """The buffers of a group's tiles."""
    members = {*group.statements, *group.outputs, *group.fused}
    every = program.buffers.values() if group.tile_sizes else ()
    return [b for b in every if {statement for statement, _ in b.accesses} & members]


def merged(rows: list[Row]) -> list[Row]:
    """Neighbours with one outcome as one row, however much of each is repeated."""
    found = []
    for outcome, some in groupby(rows, key=lambda row: REPEATED.sub("", row.outcome)):
        first, *others = some
        for row in others:
            same = row.outcome == first.outcome
            first = replace(
                first,
                last_line=row.last_line,
                statements=first.statements + row.statements,
                outcome=first.outcome if same else outcome,
                told=first.told if same else REPEATED.sub("", first.told),
                count=first.count + row.count,
            )
        found.append(first)
    return found


def row_lines(rows: list[Row], width: int) -> list[str]:
    first = max((len(row.lines) for row in rows), default=0)
    second = min(max((len(row.names) for row in rows), default=0), 28)
    lines = []
    for row in rows:
        start = f"  {row.lines:<{first}}  {clipped(row.names, second):<{second}}  "
        forms = (row.told, row.outcome, CODES.sub("", row.outcome))
        fitting = next((form for form in forms if len(start + form) <= width), forms[-1])
        lines.append(clipped(start + fitting, width))
    return lines


def group_lines(program: Program) -> list[str]:
    """A line for each group that `shown_groups` has."""
    lines = []
    for number, group in shown_groups(program):
        sizes = [buffer_bytes(b, program) for b in buffers_of(group, program)]
        together = not group.fused and is_joined(group, program)
        words = ["in one loop nest"] if together else []
        words += [f"tiles {told_sizes(group.tile_sizes)}"] if group.tile_sizes else [] if together else ["not tiled"]
        words += [f"with {ranges(in_order(group.fused))} inside"] if group.fused else []
        known = [size for size in sizes if size is not None]
        words += [f"{sum(known)} bytes of buffers"] if known and len(known) == len(sizes) else []
        lines.append(f"  group {number}: {ranges(group.outputs or group.statements)}, {', '.join(words)}")
    return lines


def stored_lines(program: Program) -> list[str]:
    """Intermediate arrays that go to memory since somebody may read them after the region: what users forget to tell.

    Intermediate: values of it that are there at the end are read in the region, by another statement. Arrays of which
    that is true are not told where all live-out arrays are like that.
    """
    scop, found = program.scop, []
    for key in sorted(scop.live_out, key=lambda key: scop.arrays[key].c_name):
        flow = program.dependences.flow_by_array.get(key)
        writers = [m.domain() for m in maps(program.dependences.last_writer) if out_name(m) == key]
        if flow is None or not writers or not scop.arrays[key].rank:
            continue
        last = isl.UnionSet.from_set(writers[0])
        for other in writers[1:]:
            last = last.union(isl.UnionSet.from_set(other))
        if set(names(flow.intersect_domain(last).range())) - set(names(last)):
            found.append(scop.arrays[key].c_name)
    if not found or len(found) == len(scop.live_out):
        return []
    return [f"  stored for later, unless --live-out leaves them out: {', '.join(found)}"]


def hints(rows: list[list[Row]]) -> list[str]:
    """What to ask next: of a nest that misses something, or of the first one."""
    every = [row for some in rows for row in some]
    if not every:
        return []
    odd = [row for word in ("not parallel", "not ") for row in every if word in row.outcome]
    line = (odd or every)[0].first_line
    return [f"Why: add --why {line}, or another line. Everything: --all-passes"]


def ranges(names: Iterable[str]) -> str:
    """`S0-S3, S7` for S0, S1, S2, S3, S7."""
    found: list[list[str]] = []
    for name in names:
        last = found[-1][-1] if found else ""
        if _number(last) is not None and _number(name) == (_number(last) or 0) + 1:
            found[-1].append(name)
        else:
            found.append([name])
    return ", ".join(text for run in found for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run))


def in_order(names: Iterable[str]) -> list[str]:
    """As they stand in the file."""
    return sorted(names, key=_order)


def _order(name: str) -> tuple[int, str]:
    return _number(name) or 0, name


def _number(name: str) -> int | None:
    match = re.fullmatch(r"S(\d+)", name)
    return int(match.group(1)) if match else None


def plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def folded(line: str, width: int) -> list[str]:
    """The line, and what has no room in it below."""
    return textwrap.wrap(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def clipped(line: str, width: int) -> str:
    """The line, or as much of it as there is room for."""
    return line if len(line) <= width else line[: width - 3].rstrip(", ") + "..."
