"""What Nsight Compute counts of polyc's kernels, to be set beside the shim's counts (`counters.py`).

python benchmarks/gpu/nsight.py OUT [--only NAME]... [--json FILE]

OUT is what `generate.py` wrote. Needs ncu, nvcc and PyTorch with CUDA, nothing of polyc.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from records import DeviceFunction, Problem, addresses_of, load
from references import inputs
from run import built, chosen

METRICS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "copy_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "dram_bytes": "dram__bytes.sum",
    "instructions": "smsp__inst_executed.sum",
    "lanes": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "fma_share": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "shared_share": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
    "issue_share": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "nanoseconds": "gpu__time_duration.sum",
}
KERNELS = r"regex:^\w+_[0-9]+_[0-9]+$"


def main() -> int:
    parser = argparse.ArgumentParser(prog="nsight.py", description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder that generate.py wrote")
    parser.add_argument("--only", action="append", help="this operator; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts there")
    parser.add_argument("--libraries", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        if given.libraries is not None:
            run_once(given.out, given.only, given.libraries)
            return 0
        found = counted(given.out, given.only)
    except Problem as problem:
        print(f"nsight.py: {problem}", file=sys.stderr)
        return 1
    for row in found:
        print(" ".join(f"{name}={value}" for name, value in row.items()))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def counted(folder: Path, only: list[str] | None) -> list[dict[str, float | str]]:
    """Metrics of each start of a kernel. Raises Problem."""
    operators = chosen(load(folder), only)
    with tempfile.TemporaryDirectory(prefix="polyc-nsight-") as name:
        libraries = Path(name)
        built(operators, folder, libraries)
        words = [w for operator in operators for w in ("--only", operator.name)]
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "all"]
        command += ["-k", KERNELS, "--metrics", ",".join(METRICS.values()), "--print-units", "base"]
        command += [sys.executable, __file__, str(folder), "--libraries", name, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or not rows:
        raise Problem(f"ncu does not count: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    table = csv.DictReader(io.StringIO("\n".join(rows)))
    return [values(row) for row in table if row["ID"]]


def values(row: dict[str, str]) -> dict[str, float | str]:
    found: dict[str, float | str] = {"kernel": row["Kernel Name"].split("(")[0]}
    for name, metric in METRICS.items():
        text = row.get(metric, "").replace(",", "")
        found[name] = float(text) if text else 0.0
    return found


def run_once(folder: Path, only: list[str] | None, libraries: Path) -> None:
    import torch

    for operator in chosen(load(folder), only):
        tensors = inputs(operator, "cuda")
        function = DeviceFunction(libraries / f"{Path(operator.file).stem}.so", operator)
        function(addresses_of(operator, tensors), torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()


if __name__ == "__main__":
    sys.exit(main())
