"""The faults: what each pass could do wrong, by patching one of its functions or editing what it answers."""

from tests.mutation.faults import (
    basteln,
    before_tiles,
    blocking,
    chosen,
    coalesce,
    codegen,
    cpu_registers,
    data_dependent,
    every_pass,
    fed,
    gpu_reductions,
    inline,
    inspection,
    joined_rows,
    kernels,
    loops,
    overlapped,
    owned,
    past_caches,
    private,
    promotion,
    registers,
    requests,
    rows,
    several_rows,
    sharing,
    streams,
    temporaries,
    tensor,
    time_tiles,
    windows,
)
from tests.mutation.runner import Fault

FAULTS: list[Fault] = [
    fault
    for module in (
        *(
            before_tiles,
            blocking,
            time_tiles,
            every_pass,
            basteln,
            promotion,
            loops,
            inline,
            chosen,
            temporaries,
            private,
        ),
        *(
            codegen,
            streams,
            registers,
            cpu_registers,
            tensor,
            coalesce,
            gpu_reductions,
            kernels,
            overlapped,
            owned,
            sharing,
            rows,
            requests,
            fed,
            windows,
            past_caches,
            data_dependent,
            several_rows,
            joined_rows,
            inspection,
        ),
    )
    for fault in module.FAULTS
]
assert len({fault.name for fault in FAULTS}) == len(FAULTS), "two faults of one name"
