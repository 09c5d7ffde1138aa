"""Faults of the front end: of the rows of flat arrays, and of conditions with names."""

from __future__ import annotations

from typing import Any

import polyc.frontend.sets.affine as affine
import polyc.frontend.sets.delinear as delinear
from polyc.frontend.sets.polynomial import ONE, added
from tests.mutation.install import adding_to, always, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def a_row_on(original: Any) -> Any:
    """The row is another one where the place in it was moved."""

    def carried(self: Any, form: Any, pieces: Any, env: Any) -> Any:
        found = original(self, form, pieces, env)
        return found if found == pieces else [*found[:-2], added(found[-2], ONE), found[-1]]

    return carried


def the_other_answer(original: Any) -> Any:
    def truth(self: Any, expr: Any, env: Any) -> Any:
        found = original(self, expr, env)
        return None if found is None else (1 - found[0], found[1])

    return truth


add("flat rows", "a row on", "where its subscript was moved", patched(delinear.Splitter, "carried", a_row_on))
add("flat rows", "rows of any length", "whatever leaves them", always(delinear.Splitter, "never", True))
add("flat rows", "named conditions negated", "", patched(affine.Affine, "truth", the_other_answer))
