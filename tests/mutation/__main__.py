"""`python -m tests.mutation [--all] [--replay] [--only=CHECK] [words]`: what became of each fault's programs.

Each fault is tried on the programs of its pass, or on all of them with `--all`. Words choose faults by their names.
With `--replay`, neither check is asked: what a replay of the printed text at small sizes alone would find.
With `--only=tree`, `text` or `run` one of the checks alone is asked.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from tests.mutation.faults import FAULTS
from tests.mutation.reasons import reason_for
from tests.mutation.runner import CHECKS, PROGRAMS, Verdict, outcome_of, outcome_of_replay, programs_for

TITLES = {Verdict.CAUGHT: "caught", Verdict.REFUSED: "refused", Verdict.HARMLESS: "harmless", Verdict.MISSED: "MISSED"}


def main(arguments: list[str]) -> int:
    words = [a for a in arguments if not a.startswith("--")]
    only = next((a.removeprefix("--only=") for a in arguments if a.startswith("--only=")), "")
    if only not in ("", *CHECKS):
        print(f"--only={'|'.join(CHECKS)}")
        return 2
    judge = outcome_of_replay if "--replay" in arguments else partial(outcome_of, only=only)
    start = time.perf_counter()
    by_stage: dict[str, dict[Verdict, int]] = {}
    for fault in FAULTS:
        if not all(w in fault.name for w in words):
            continue
        counted = by_stage.setdefault(fault.stage, dict.fromkeys(Verdict, 0))
        found = {n: judge(fault, n) for n in (PROGRAMS if "--all" in arguments else programs_for(fault))}
        print(f"{fault.name} ({fault.what})")
        for verdict, title in TITLES.items():
            these = [f"{n} [{o.why}]" if o.why else n for n, o in found.items() if o.verdict is verdict]
            counted[verdict] += len(these)
            if these:
                print(f"    {title}: {', '.join(these)}")
                if verdict is Verdict.HARMLESS and judge is not outcome_of_replay and not only:
                    print(f"        since {reason_for(fault)}")
        if all(o.verdict is Verdict.NOT_APPLICABLE for o in found.values()):
            print("    not applicable")
        sys.stdout.flush()
    print()
    missed = 0
    print(f"{'pass':<14}{'caught':>8}{'refused':>9}{'harmless':>10}{'missed':>8}{'share':>8}")
    for stage, counted in by_stage.items():
        caught = counted[Verdict.CAUGHT] + counted[Verdict.REFUSED]
        lost = counted[Verdict.MISSED]
        share = f"{100 * caught / (caught + lost):.0f} %" if caught + lost else "-"
        numbers = [counted[v] for v in (Verdict.CAUGHT, Verdict.REFUSED, Verdict.HARMLESS, Verdict.MISSED)]
        print(f"{stage:<14}{numbers[0]:>8}{numbers[1]:>9}{numbers[2]:>10}{numbers[3]:>8}{share:>8}")
        missed += lost
    print(f"{time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
