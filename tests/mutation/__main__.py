"""`python -m tests.mutation [words]`: every fault against every program, and the share that is caught."""

from __future__ import annotations

import sys
import time

from tests.mutation.faults import FAULTS
from tests.mutation.runner import PROGRAMS, Outcome, Verdict, outcome_of


def main(words: list[str]) -> int:
    start = time.perf_counter()
    totals = dict.fromkeys(Verdict, 0)
    for fault in FAULTS:
        if words and not all(w in fault.name for w in words):
            continue
        t = time.perf_counter()
        found: dict[str, Outcome] = {name: outcome_of(fault, name) for name in PROGRAMS}
        for one in found.values():
            totals[one.verdict] += 1
        print(f"{fault.name} ({fault.what}) {time.perf_counter() - t:.1f}")
        for verdict in Verdict:
            these = [f"{n} [{o.why}]" if o.why else n for n, o in found.items() if o.verdict is verdict]
            if these and verdict is not Verdict.NOT_APPLICABLE:
                print(f"    {verdict.value}: {'; '.join(these)}", flush=True)
    caught, missed = totals[Verdict.CAUGHT] + totals[Verdict.REFUSED], totals[Verdict.MISSED]
    print(totals, f"{time.perf_counter() - start:.0f} s")
    print(f"caught {caught} of {caught + missed} pairs that change a result")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
