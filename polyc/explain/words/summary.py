"""The one line that ends every compile: what was found, what was done, and why not more."""

from __future__ import annotations

from collections.abc import Sequence

from polyc.errors import Diagnostic
from polyc.explain.facts.nests import Nest, Reasons, nests
from polyc.model.certificate import NOT_SHOWN
from polyc.model.program import Compiled


def summary(path: str, compiled: list[Compiled], left: Sequence[Diagnostic] = ()) -> str:
    """`polyc: conv.c: 3 nests in 1 region: 1 group, 3 tiled, 3 fused, 3 parallel; verified`.

    left: loops that are in no region, and were looked at
    """
    alone = [f"{counted(len(left), 'loop')} left as {'it is' if len(left) == 1 else 'they are'}"] if left else []
    if not compiled:
        return f"polyc: {path}: no region, {alone[0] if alone else 'nothing to do'}"
    found: list[tuple[Nest, Reasons]] = []
    for one in compiled:
        reasons = Reasons(one.program)
        own = set(one.initial.scop.statements)  # passes may add some, which copy what is needed afterwards
        found += [(nest, reasons) for nest in nests(one) if own & set(nest.statements)]
    groups = sum(bool(group.tile_sizes) for one in compiled for group in one.program.groups)
    counts = [counted(groups, "group")] if groups else []
    counts += [f"{sum(getattr(nest, what) for nest, _ in found)} {what}" for what in ("tiled", "fused", "parallel")]
    head = f"polyc: {path}: {counted(len(found), 'nest')} in {counted(len(compiled), 'region')}"
    line = f"{head}: {', '.join(counts)}; {state(compiled)}"
    refused = [text for what in ("tiled", "fused", "parallel") if (text := refusals(found, what))]
    return "; ".join([line, *refused, *unused(compiled), *alone])


def unused(compiled: list[Compiled]) -> list[str]:
    """`--time-tile diamond not used`: options that no region had a use for."""
    told = [{str(r.data["option"]): None for r in one.program.remarks if "option" in r.data} for one in compiled]
    return [f"{option} not used" for option in told[0] if all(option in other for other in told)]


def state(compiled: list[Compiled]) -> str:
    checked = sum(one.verified for one in compiled)
    if checked == len(compiled):
        return "verified"
    asked = all(not one.program.options.verify for one in compiled)
    if asked:
        return "not verified (--no-verify)"
    trees = sum(one.certificate.tree != NOT_SHOWN for one in compiled)
    if trees == len(compiled):
        rest = "" if checked == 0 else f" of {counted(len(compiled) - checked, 'region')} of {len(compiled)}"
        return f"schedule verified, text{rest} NOT verified"
    return f"NOT verified: {counted(len(compiled) - checked, 'region')} of {len(compiled)}"


def refusals(found: list[tuple[Nest, Reasons]], what: str) -> str:
    """`1 not parallel (line 12: carried-dependence)`; nests that nobody tried to fuse are not told of."""
    rest = [(nest, reasons) for nest, reasons in found if not getattr(nest, what)]
    told: dict[str, list[int]] = {}
    for nest, reasons in rest:
        reason = reasons.why_not(what, nest.statements)
        if reason is not None:
            told.setdefault(reason.code, []).append(nest.line)
    if not rest or (what == "fused" and not told):
        return ""
    words = [f"{'line' if len(n) == 1 else 'lines'} {', '.join(map(str, n))}: {code}" for code, n in told.items()]
    count = sum(map(len, told.values())) if what == "fused" else len(rest)
    return f"{count} not {what}" + (f" ({'; '.join(words)})" if words else "")


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
