"""python -m tests.fuzz --count N --seed S --jobs J: a long run, its failures minimised and stored, and a summary."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fuzz.case import Case, Outcome, command, numbered_case
from tests.fuzz.gpu import FAULTS
from tests.fuzz.minimise import minimised
from tests.fuzz.run import BATCH, Worker, key, outcomes_of, stored

KEPT_A_CAUSE = 2
"""Failures that are minimised, of those that look alike."""

SILENT = ("wrong-result", "address-sanitizer", "thread-sanitizer", "data-race", "crash", *FAULTS)
"""Faults that do not say what they come from."""

PLAINER: dict[str, dict[str, Any]] = {
    "threads": {"target": "c"},
    "tiles": {"tile_sizes": None},
    "fusion in tiles": {"max_recompute": 0.0},
    "this order of fusion": {"fuse": "min"},
    "reassociation": {"reassociate": False},
}

PROOF = ("verification-failed", "text-not-checked", "not-printed", "budget")
"""Remarks that say what polyc's checks did not show."""

DOUBTFUL = ("budget", "schedule-budget")
"""Remarks that are not wrong, but worth a look."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("build/fuzz"), help="folder for what fails")
    parser.add_argument("--minimise", type=float, default=60, metavar="SECONDS", help="for each failure; 0: not at all")
    parser.add_argument(
        "--targets", choices=("cpu", "gpu", "all"), default="cpu", help="gpu: CUDA in the shim and OpenCL, in turn"
    )
    parser.add_argument("--show", action="store_true", help="print the programs instead of checking them")
    given = parser.parse_args()
    if given.show:
        for number in range(given.first, given.first + given.count):
            case = numbered_case(given.seed, number, BATCH, given.targets)
            print(stored(case, Outcome(case.name)))
        return 0
    start = time.monotonic()
    outcomes, failed = [], []
    for outcome in outcomes_of(given.seed, given.first, given.count, given.jobs, given.targets):
        outcomes.append(outcome)
        if outcome.faults:
            failed.append(outcome)
            print(f"{outcome.name}: {key(outcome.faults[0])}", flush=True)
        if len(outcomes) % 500 == 0:
            print(f"{len(outcomes)} programs, {len(failed)} failed, {time.monotonic() - start:.0f} s", flush=True)
    print(summary(outcomes, time.monotonic() - start))
    store(given.seed, failed, given.store, given.minimise, given.targets)
    return 1 if failed else 0


def store(seed: int, failed: list[Outcome], folder: Path, seconds: float, targets: str) -> None:
    """Write the failing programs, the first ones of each cause minimised."""
    kept: Counter[str] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    worker = Worker()
    for outcome in failed:
        cause = key(outcome.faults[0])
        case = numbered_case(seed, int(outcome.name.split(":")[1]), BATCH, targets)
        need = needed(case, cause, worker) if outcome.faults[0][0] in SILENT and seconds else ""
        kept[cause + need] += 1
        name = outcome.name.replace(":", "_")
        (folder / f"{name}.c").write_text(stored(case, outcome))
        if kept[cause + need] > KEPT_A_CAUSE or not seconds:
            continue

        def fails(smaller: Case, cause: str = cause) -> bool:
            return any(key(fault) == cause for fault in worker.check([smaller])[0].faults)

        if not fails(case):
            print(f"{outcome.name}: does not fail alone")
            continue
        smallest = minimised(case, fails, seconds)
        text = stored(smallest, worker.check([smallest])[0])
        (folder / f"{name}.small.c").write_text(text)
        print(f"--- {folder / f'{name}.small.c'}: {cause}{need}\n    {command(smallest)}", flush=True)
    worker.stop()


def needed(case: Case, cause: str, worker: Worker) -> str:
    """The options without which a case does not fail: they tell faults apart that look alike."""
    found = []
    for name, plainer in PLAINER.items():
        smaller = replace(case, options=replace(case.options, **plainer))
        if smaller.options != case.options:
            (outcome,) = worker.check([smaller])
            if not any(key(fault) == cause for fault in outcome.faults):
                found.append(name)
    return f", only with {' and '.join(found)}" if found else ""


def summary(outcomes: list[Outcome], seconds: float) -> str:
    """Causes of failures, what the checks of polyc said, remarks, features, and how long and how large polyc was."""
    total = len(outcomes)
    if not total:
        return "no programs"
    lines = [f"{len(outcomes)} programs in {seconds:.0f} s, {sum(1 for o in outcomes if o.faults)} failed"]
    names = Counter(name for o in outcomes for name in o.remarks)
    for title, counter in (
        ("failures", Counter(cause for o in outcomes for cause in {key(fault) for fault in o.faults})),
        ("verification", verification(outcomes)),
        ("programs with the remark", Counter({n: c for n, c in names.items() if not n.startswith(PROOF)})),
        ("programs with", Counter(name for o in outcomes for name in o.features if o.features[name])),
    ):
        lines.append(f"{title}:")
        lines += [f"  {count:6} {count / total:6.1%}  {name}" for name, count in counter.most_common()]
    doubtful = [(o.name, name) for o in outcomes for name in o.remarks if name.startswith(DOUBTFUL)]
    lines += ["look at:", *(f"  {number} {name[:150]}" for number, name in doubtful[:40])] if doubtful else []
    for title, values, unit in (
        ("seconds of a compile", sorted(o.seconds for o in outcomes), 1.0),
        ("peak MiB of a compile", sorted(o.peak_bytes for o in outcomes), float(1 << 20)),
    ):
        points = [
            (share, values[min(len(values) - 1, int(share * len(values)))] / unit) for share in (0.5, 0.9, 0.99, 1)
        ]
        lines.append(f"{title}: " + ", ".join(f"{share:.0%} below {value:.2f}" for share, value in points))
    return "\n".join(lines)


def verification(outcomes: list[Outcome]) -> Counter[str]:
    """Programs by what polyc's own checks said of them, and by what came of them otherwise."""
    found: Counter[str] = Counter()
    for outcome in outcomes:
        told = {name for name in outcome.remarks if name.startswith(PROOF)}
        kinds = {kind for kind, _ in outcome.faults}
        found.update(told)
        found.update({name.partition(":")[0] for name in told if ":" in name})
        found.update(f"{kind}" for kind in kinds if not kind.startswith(PROOF))
        found["tree and text accepted"] += bool(outcome.regions) and not told and not kinds
        found["no region"] += not outcome.regions and not kinds
    return +found


if __name__ == "__main__":
    sys.exit(main())
