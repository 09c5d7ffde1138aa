"""Steps of isl that no count of operations bounds: run in a child process, with a limit of processor time.

The numbers of isl's linear programs can grow until a single operation takes milliseconds, so that a budget of
operations lasts for hours. No signal ends such a step, other than by ending its process.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
from collections.abc import Callable
from typing import Generic, TypeVar

import islpy as isl

from polyc.poly import OverBudget, budget

MOST_SECONDS = 20
"""Of processor time, for a step whose budget does not bound it."""

T = TypeVar("T")


class StepError(Exception):
    """The step raised an error in the child that this process does not know; the message is that of the error."""


class OutOfTime(Exception):
    """The step took more than its processor time."""


class Started(Generic[T]):
    """A step that runs in a copy of this process, beside it.

    The copy sees all that this process has (isl's objects too), and what it changes is lost; the answer is pickled.
    """

    def __init__(self, step: Callable[[], T], seconds: int, known: tuple[type[Exception], ...] = ()) -> None:
        self._seconds = seconds
        self._known = known
        source, sink = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(source)
            _run(step, sink, seconds)
        os.close(sink)
        self._pipe = os.fdopen(source, "rb")

    def answer(self) -> T:
        """Wait for the step, once. Raises OutOfTime, the errors that are `known` (by their message), StepError for
        others."""
        try:
            data = self._pipe.read()
        except BaseException:
            self.end()
            raise
        if self._ended() != 0:
            raise OutOfTime(f"it took more than {self._seconds} s")
        kind, answer = pickle.loads(data)
        if kind is None:
            return answer  # type: ignore[no-any-return]
        raise next((error for error in self._known if error.__name__ == kind), StepError)(answer)

    def end(self) -> None:
        """Stop the step, if nobody has waited for it."""
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            self._ended()

    def _ended(self) -> int:
        self._pipe.close()
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        return status


def in_child(step: Callable[[], T], seconds: int, known: tuple[type[Exception], ...] = ()) -> T:
    """What a step answers, run in a copy of this process: see Started."""
    return Started(step, seconds, known).answer()


def isl_started(step: Callable[[], T], known: tuple[type[Exception], ...] = ()) -> Started[T]:
    """A step of isl in a child process, for `isl_answer`."""
    return Started(step, MOST_SECONDS, (OverBudget, *known))


def isl_answer(started: Started[T]) -> T:
    """What it answers. Raises OverBudget, also where its time is over; isl.Error; the `known` ones."""
    try:
        return started.answer()
    except OutOfTime as error:
        raise OverBudget(str(error)) from None
    except StepError as error:
        raise isl.Error(str(error)) from None


def isl_in_child(step: Callable[[], T], known: tuple[type[Exception], ...] = ()) -> T:
    """A step of isl in a child process. Raises as `isl_answer`."""
    return isl_answer(isl_started(step, known))


def within(context: isl.Context, operations: int, step: Callable[[], T]) -> Callable[[], T]:
    """The step under a budget of its own."""

    def bounded() -> T:
        with budget(context, operations):
            return step()

    return bounded


def _run(step: Callable[[], T], sink: int, seconds: int) -> None:
    """The child's part: it never comes back."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        try:
            answer = pickle.dumps((None, step()))
        except Exception as error:
            name = type(error).__name__
            answer = pickle.dumps((name, str(error) or name))
        with os.fdopen(sink, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    except BaseException:
        os._exit(1)
