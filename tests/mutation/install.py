"""Ways to put a fault into polyc for a while: another function in place of one, or of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.mutation.runner import Fault, Patch

Install = Callable[[Patch], None]


def patched(target: Any, name: str, make: Callable[[Any], Any]) -> Install:
    """Put another function in place of one, made from it."""

    def install(patch: Patch) -> None:
        patch.setattr(target, name, make(getattr(target, name)))

    return install


def always(target: Any, name: str, value: Any) -> Install:
    return patched(target, name, lambda _original: lambda *_args, **_named: value)


def together(*installs: Install) -> Install:
    def install(patch: Patch) -> None:
        for one in installs:
            one(patch)

    return install


def adding_to(faults: list[Fault]) -> Callable[..., None]:
    """A function that adds a fault of a stage to a list: its name, what it does, how, and programs of its own."""

    def add(stage: str, name: str, what: str, install: Install, *programs: str) -> None:
        faults.append(Fault(f"{stage}: {name}", stage, what, install, programs))

    return add
