"""Faults of the front end: which temporaries are taken for private to all iterations but the last one, what may wait
for the end of a loop, and what may run before it."""

from __future__ import annotations

from typing import Any

import islpy as isl

import polyc.frontend.statements.fission as fission
import polyc.frontend.statements.lastprivate as lastprivate
import polyc.frontend.statements.varying as varying
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def always(_original: Any) -> Any:
    return lambda *_arguments, **_others: True


def no_final(_original: Any) -> Any:
    """Nobody reads what is left."""
    return lambda accesses, _order: isl.UnionMap.empty(accesses.writes.get_space())


add("lastprivate", "values may cross iterations", "", patched(lastprivate._Parts, "stays", always))
add("lastprivate", "any temporary is private", "", patched(lastprivate._Search, "is_private", always))
add("lastprivate", "earlier iterations leave no value", "", patched(lastprivate, "last_writers", no_final))


def no_kept(_original: Any) -> Any:
    """No array is read that a later iteration writes."""
    return lambda *_arguments: True


add("fission", "what waits reads what is overwritten", "", patched(fission._Search, "stay_there", no_kept))
add("fission", "statements wait that do more", "", patched(fission._Search, "may_wait", no_kept))


def never(_original: Any) -> Any:
    return lambda *_arguments: False


add("fission", "what is added waits for nothing", "", patched(fission._Nest, "waits", never))


def one_fewer(original: Any) -> Any:
    """A value changes with fewer loops."""
    return lambda self, node, draft, own="": frozenset(sorted(original(self, node, draft, own))[1:])


add("invariants", "values change with fewer loops", "", patched(varying.Nest, "mentioned", one_fewer))
add("invariants", "bounds change nothing", "", patched(varying.Nest, "is_product", always))
add("invariants", "nothing that is read is written", "", patched(varying.Nest, "is_steady", always))
