"""Steps of isl that no count of operations bounds: run in a child process, with a limit of processor time."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable

FAILED = "!"


class StepError(Exception):
    """The step raised an error in the child; the message is that of the error."""


def text_in_child(step: Callable[[], str], seconds: int) -> str | None:
    """What a step answers, run in a copy of this process; None where it takes more than its processor time.

    The copy sees all that this process has (isl's objects too), and what it changes is lost. Raises StepError.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _run(step, sink, seconds)
    os.close(sink)
    try:
        with os.fdopen(source, encoding="utf-8") as pipe:
            answer = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if status != 0:
        return None
    if answer.startswith(FAILED):
        raise StepError(answer[len(FAILED) :])
    return answer


def _run(step: Callable[[], str], sink: int, seconds: int) -> None:
    """The child's part: it never comes back."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        try:
            answer = step()
        except Exception as error:
            answer = f"{FAILED}{error}"
        with os.fdopen(sink, "w", encoding="utf-8") as pipe:
            pipe.write(answer)
        os._exit(0)
    except BaseException:
        os._exit(1)
