"""What the static check answers."""

from __future__ import annotations

from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that the check found, with a witness in isl's notation."""

    kind: str
    message: str
    witness: str
