"""Steps of isl that no count of operations bounds: run in a child process, with a limit of processor time.

The numbers of isl's linear programs can grow until a single operation takes milliseconds, so that a budget of
operations lasts for hours. No signal ends such a step, other than by ending its process.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import islpy as isl

from polyc.poly import OverBudget, budget

MOST_SECONDS = 20
"""Of processor time, for a step whose budget does not bound it."""
MOST_BYTES = 2 << 30
"""Of memory beyond what this process has, for such a step: operations on sets of many pieces take gigabytes in
seconds."""
QUICK = 1_000_000
"""isl operations that a step may take before its processor time is asked about: 1 to 10 seconds."""

T = TypeVar("T")
FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT, signal.SIGILL)
_careful = False
_inside = False
"""Whether this process is a copy: it may be stopped at any time, and what it started with it."""
_USED_UP = 3
"""The status of a copy whose step raised OverBudget."""
_PR_SET_PDEATHSIG = 1
"""Of Linux: a signal for when the parent ends."""


class StepError(Exception):
    """The step raised an error in the child that this process does not know; the message is that of the error."""


class OutOfTime(Exception):
    """The step took more than its processor time."""


class Faulted(OutOfTime):
    """The step ended the child by a fault of memory."""


class FaultOfMemory(OverBudget):
    """The same of a step of isl, for whoever can have it done more carefully."""


class Started(Generic[T]):
    """Steps that run in a copy of this process, one after the other, beside it.

    The copy sees all that this process has (isl's objects too), and what it changes is lost, but for later steps of its
    own; the answers are pickled.
    """

    def __init__(self, steps: Sequence[Callable[[], T]], seconds: int, known: tuple[type[Exception], ...] = ()) -> None:
        """seconds: of processor time, for each step."""
        self._left = len(steps)
        self._seconds = seconds
        self._known = known
        source, sink = os.pipe()
        parent = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            os.close(source)
            if _inside:
                _end_with(parent)
            _run(steps, sink, seconds)
        os.close(sink)
        self._pipe = os.fdopen(source, "rb")

    def answer(self) -> T:
        """Wait for the next step, once for each. Raises OutOfTime, the errors that are `known` (by their message),
        StepError for others; after one of them there is no further step."""
        try:
            kind, answer = pickle.load(self._pipe)
        except (EOFError, pickle.UnpicklingError):  # it was killed
            if is_fault(self._ended()):
                raise Faulted("it ended with a fault of memory") from None
            raise OutOfTime(f"it took more than {self._seconds} s") from None
        except BaseException:
            self.end()
            raise
        self._left -= 1
        if kind is None and self._left:
            return answer  # type: ignore[no-any-return]
        self._ended()
        if kind is None:
            return answer  # type: ignore[no-any-return]
        raise next((error for error in self._known if error.__name__ == kind), StepError)(answer)

    def end(self) -> None:
        """Stop the steps, if nobody has waited for the last one."""
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            self._ended()

    def _ended(self) -> int:
        """Its status, as of `os.waitpid`."""
        self._pipe.close()
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        return status


def in_child(step: Callable[[], T], seconds: int, known: tuple[type[Exception], ...] = ()) -> T:
    """What a step answers, run in a copy of this process: see Started."""
    return Started([step], seconds, known).answer()


def isl_started(
    *steps: Callable[[], T], known: tuple[type[Exception], ...] = (), seconds: int | None = None
) -> Started[T]:
    """Steps of isl in a child process, for `isl_answer`. `seconds`: of processor time, MOST_SECONDS unless told."""
    return Started(steps, MOST_SECONDS if seconds is None else seconds, (OverBudget, *known))


def isl_answer(started: Started[T]) -> T:
    """What the next one answers. Raises OverBudget, also where its time is over; isl.Error; the `known` ones."""
    try:
        return started.answer()
    except Faulted as error:
        raise FaultOfMemory(str(error)) from None
    except OutOfTime as error:
        raise OverBudget(str(error)) from None
    except StepError as error:
        raise isl.Error(str(error)) from None


def isl_in_child(step: Callable[[], T], known: tuple[type[Exception], ...] = (), seconds: int | None = None) -> T:
    """A step of isl in a child process. Raises as `isl_answer`."""
    return isl_answer(isl_started(step, known=known, seconds=seconds))


def survived(step: Callable[[], object]) -> bool:
    """Whether a copy of this process survives a step: isl can make faults of memory, which nothing catches.

    In a copy it is not asked, unless one has ended before (`careful`). Raises OverBudget where the step does,
    which needs not be done again for that, or takes too long.
    """
    if _inside and not _careful:
        return True
    parent, child = os.getpid(), os.fork()
    if child == 0:
        _tried(step, parent)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and not is_fault(status):
        raise OverBudget(f"it took more than {MOST_SECONDS} s")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _USED_UP:
        raise OverBudget("the budget of isl operations is used up")
    return not is_fault(status)


def processor_seconds() -> float:
    """What this process and its children have used."""
    return sum(os.times()[:4])


def within_time(
    context: isl.Context, operations: int, step: Callable[[], T], done: Callable[[], int] = int, hard: bool = False
) -> T:
    """What a step answers under a budget, for an answer that cannot come from a copy of this process.

    A step of more than QUICK operations is done by a copy first, which has a limit of processor time: of linear forms
    with large coefficients, `E[3060 * l + 204 * k + 17 * j + i]`, an operation takes ever longer. Raises OverBudget.
    done: how many of its parts a step has done and keeps. While each try adds to them, the next one goes on from there.
    hard: fewer operations than QUICK may take minutes: a copy does the step first, in any case.
    """
    if operations <= QUICK:
        return within(context, operations, step)()
    end = time.process_time() + MOST_SECONDS
    quick = max(QUICK, operations // 3)  # many statements have more, and parts of their own that need more
    for left in () if hard else range(operations // quick, -1, -1):  # one more: what a try has begun last is lost
        before = done()
        try:
            return within(context, quick, step)()
        except OverBudget:
            if done() == before:
                break
            if not left or time.process_time() > end:
                raise
    bounded = within(context, operations, step)
    with careful():
        survived(bounded)  # a fault of memory is left to the step itself, which asks before what may end it
    return bounded()


@contextmanager
def careful() -> Iterator[None]:
    """Let copies of this process have copies for what may end them: after a FaultOfMemory, to do the same again."""
    global _careful
    _careful = True
    try:
        yield
    finally:
        _careful = False


def is_fault(status: int) -> bool:
    """Whether a process ended so, by its status."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in FAULTS


def within(context: isl.Context, operations: int, step: Callable[[], T]) -> Callable[[], T]:
    """The step under a budget of its own."""

    def bounded() -> T:
        with budget(context, operations):
            return step()

    return bounded


def _end_with(parent: int) -> None:
    """Let this process end with its parent, where the system can: otherwise its processor time ends it."""
    import ctypes

    call = getattr(ctypes.CDLL(None), "prctl", None)
    if call is not None:
        call(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _run(steps: Sequence[Callable[[], T]], sink: int, seconds: int) -> None:
    """The child's part: it never comes back."""
    global _inside
    _inside = True
    try:
        _prepare()
        with os.fdopen(sink, "wb") as pipe:
            for step in steps:
                limit = int(time.process_time()) + seconds
                resource.setrlimit(resource.RLIMIT_CPU, (limit, seconds * len(steps) + 1))
                answer, failed = _answered(step)
                pipe.write(answer)
                pipe.flush()
                if failed:
                    break
        os._exit(0)
    except BaseException:
        os._exit(1)


def _prepare() -> None:
    """What a copy does first: it has no handlers of its own, and its end is looked at by the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    limit_memory()


def limit_memory() -> None:
    """Let allocations fail from MOST_BYTES more on, where the system says how much there is."""
    try:
        limit = addresses() + MOST_BYTES
    except OSError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or limit < most:
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def addresses() -> int:
    """Bytes of the address space that this process has mapped. Raises OSError where the system does not say."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _tried(step: Callable[[], object], parent: int) -> None:
    """What a copy does that only has to survive."""
    try:
        _prepare()
        if _inside:
            _end_with(parent)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        limit = int(time.process_time()) + MOST_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
        step()
    except OverBudget:
        os._exit(_USED_UP)
    finally:
        os._exit(0)


def _answered(step: Callable[[], T]) -> tuple[bytes, bool]:
    """The step's answer or error, pickled, and which of both."""
    try:
        return pickle.dumps((None, step())), False
    except Exception as error:
        name = type(error).__name__
        return pickle.dumps((name, str(error) or name)), True
