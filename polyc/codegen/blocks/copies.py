"""How much a GPU's copies of arrays hold, where the data say how far the region reaches: its own loops find out first.

rewrite:  for (i = 0; i < n; i++)
            for (j = 0; j < m; j++) y[i * m + j] = x[idx[i] * m + j];
          ->
          long x_first = 0, x_last = -1;
          for (int i = 0; i < n; i++)
            if (0 < m) { x_first = min(x_first, idx[i] * m); … x_last = max(x_last, idx[i] * m + (m - 1)); }
          if (x_first >= 0) f(n, m, x_last, …); else …
requires: `frontend/memory/search.py` has made the loops; copies begin at an array's first element, and end at the last
          that is used, which is what the wrapper is told
"""

from __future__ import annotations

from polyc.codegen.blocks.ranges import ANSWER, asked_first
from polyc.codegen.text.arith import ZERO
from polyc.model import ctree as c
from polyc.model.printed import Question
from polyc.model.scop import Scop
from polyc.records import replace

INSIDE = "polyc_is_inside"
"""The variable of the answer where nothing is asked about memory that may overlap."""


def ends(scop: Scop) -> list[c.Stmt]:
    """The variables that the search sets, for the question and for the call behind it: nothing is used at first."""
    pairs = () if scop.search is None else scop.search.ends.values()
    starts = [(name, start) for both in pairs for name, start in zip(both, ("0", "-1"), strict=True)]
    return [c.Decl("long", name, (), c.Literal(start)) for name, start in starts]


def asked_of_copies(scop: Scop, question: Question | None) -> Question | None:
    """As `asked_first`, for a GPU: behind `ends`, and by one thread; no array may be used before its start."""
    found = asked_first(scop, question, ANSWER if scop.apart else INSIDE)
    if found is None or scop.search is None:
        return found
    body = tuple(c.rewrite(item, _alone) for item in found.body[2 * len(scop.search.ends) :])
    starts = (c.Binary(">=", c.Name(first), ZERO) for first, _ in scop.search.ends.values())
    return replace(found, body=(*body, *(c.ExprStmt(c.Assign("&=", c.Name(found.answer), one)) for one in starts)))


def _alone(node: c.Node) -> c.Node | None:
    """A loop of the search without threads."""
    return c.rewrite(replace(node, pragmas=()), _alone) if isinstance(node, c.For) and node.pragmas else None


__all__ = ["asked_of_copies", "ends"]
