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
from typing import TypeVar

import islpy as isl

from polyc.poly import OverBudget, budget

MOST_SECONDS = 20
"""Of processor time, for a step whose budget does not bound it."""
FEW_OPERATIONS = 300_000
"""Most checks need less. The slowest step that is known takes 3 s for so many, and 50 s for three times as many."""

T = TypeVar("T")


class StepError(Exception):
    """The step raised an error in the child that this process does not know; the message is that of the error."""


class OutOfTime(Exception):
    """The step took more than its processor time."""


def in_child(step: Callable[[], T], seconds: int, known: tuple[type[Exception], ...] = ()) -> T:
    """What a step answers, run in a copy of this process.

    The copy sees all that this process has (isl's objects too), and what it changes is lost; the answer is pickled.
    Raises OutOfTime, the errors that are `known` (by their message), StepError for others.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _run(step, sink, seconds)
    os.close(sink)
    try:
        with os.fdopen(source, "rb") as pipe:
            data = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if status != 0:
        raise OutOfTime(f"it took more than {seconds} s")
    kind, answer = pickle.loads(data)
    if kind is None:
        return answer  # type: ignore[no-any-return]
    raise next((error for error in known if error.__name__ == kind), StepError)(answer)


def isl_in_child(step: Callable[[], T], known: tuple[type[Exception], ...] = ()) -> T:
    """A step of isl in a child process. Raises OverBudget, also where its time is over; isl.Error; the `known` ones."""
    try:
        return in_child(step, MOST_SECONDS, (OverBudget, *known))
    except OutOfTime as error:
        raise OverBudget(str(error)) from None
    except StepError as error:
        raise isl.Error(str(error)) from None


def checked_by_isl(
    context: isl.Context, operations: int, step: Callable[[], T], known: tuple[type[Exception], ...] = ()
) -> T:
    """A step that may be repeated, under a budget: here as long as it is short, and again in a child otherwise.

    Raises OverBudget, isl.Error, and what the step raises; in the child only of the `known` ones.
    """

    def bounded(most: int) -> T:
        with budget(context, most):
            return step()

    if operations == 0:
        return bounded(0)
    try:
        return bounded(min(operations, FEW_OPERATIONS))
    except OverBudget:
        if operations <= FEW_OPERATIONS:
            raise
    return isl_in_child(lambda: bounded(operations), known)


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
