"""Every code that a decision can carry: what it means, and what a user can do about it.

`docs/remarks.md` is made from this, `polyc explain FILE --why LINE` reads it, and SARIF carries it as rules.
"""

from __future__ import annotations

from polyc.explain.codes.code import Code
from polyc.explain.codes.done import DONE
from polyc.explain.codes.left import LEFT
from polyc.explain.codes.reasons import OUTCOMES, REASONS

REMARKS: dict[str, Code] = {**DONE, **LEFT}


def lookup(code: str, reason: str = "") -> Code | None:
    """The entry of a remark, with its reason where it carries one; None for an unknown code."""
    return REASONS.get(code, {}).get(reason) or REMARKS.get(code)


def refusal(what: str, reason: str) -> Code | None:
    """The entry of a reason why a nest is not `tiled`, `fused` or `parallel`; None for an unknown one."""
    return REASONS.get(f"not-{what}", {}).get(reason) or OUTCOMES.get(reason) or REMARKS.get(reason)


__all__ = ["OUTCOMES", "REASONS", "REMARKS", "Code", "lookup", "refusal"]
