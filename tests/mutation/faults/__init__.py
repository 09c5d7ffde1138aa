"""The faults: what each pass could do wrong, by patching one of its functions or editing what it answers."""

from tests.mutation.faults import (
    basteln,
    before_tiles,
    coalesce,
    codegen,
    every_pass,
    gpu_reductions,
    inline,
    kernels,
    loops,
    overlapped,
    private,
    promotion,
    registers,
    streams,
    temporaries,
    tensor,
)
from tests.mutation.runner import Fault

FAULTS: list[Fault] = [
    fault
    for module in (
        *(before_tiles, every_pass, basteln, promotion, loops, inline, temporaries, private, codegen),
        *(streams, registers, tensor, coalesce, gpu_reductions, kernels),
        overlapped,
    )
    for fault in module.FAULTS
]
assert len({fault.name for fault in FAULTS}) == len(FAULTS), "two faults of one name"
