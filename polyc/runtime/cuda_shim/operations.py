"""Floating-point operations of each basic block, read from the library's machine code.

The kernels' C++ is compiled for the CPU without vectors and without contraction, so that each operation of the text
which is left after common subexpressions is one instruction. Known are x86-64 and 64-bit Arm.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from polyc.records import dataclass

MARK = "__sanitizer_cov_trace_pc"
"""The function that a basic block calls at its start."""
INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
X86 = re.compile(r"v?(add|sub|mul|div|sqrt|min|max)s([sd])")
ARM = re.compile(r"f(add|sub|mul|nmul|div|sqrt|min|max|minnm|maxnm|madd|msub|nmadd|nmsub)")
CALL = re.compile(r"<(\w+?)(?:@plt)?>")
FUNCTIONS = {
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sqrt", "cbrt"), "div"),
    **dict.fromkeys(("sin", "cos", "tan", "atan", "atan2", "sinh", "cosh", "tanh"), "div"),
    **{"fma": "madd", "fmax": "max", "fmin": "min"},
}
"""What functions of the math library count as, by their names without the `f` of float."""
SLOW = 8
"""Multiply-adds that a division, a square root or a function of the math library takes as long as, roughly."""


@dataclass(slots=True)
class Operations:
    """Operations of lanes."""

    float_adds: int = 0
    """Additions, subtractions, minima and maxima."""
    float_products: int = 0
    float_slow: int = 0
    """Divisions, square roots, functions of the math library."""
    double_adds: int = 0
    double_products: int = 0
    double_slow: int = 0
    tensor_half: int = 0
    """Multiplications and additions of tensor cores."""
    tensor_tf32: int = 0

    def add(self, other: Operations, times: int = 1) -> None:
        for name in Operations.__slots__:
            setattr(self, name, getattr(self, name) + times * getattr(other, name))

    def instructions(self, kind: str) -> int:
        """Instructions of lanes for `float` or `double`: an addition and a product are one, where there are both."""
        adds, products, slow = (getattr(self, f"{kind}_{what}") for what in ("adds", "products", "slow"))
        return int(max(adds, products) + SLOW * slow)

    def count(self, what: str, double: bool) -> None:
        """Count one operation of the machine code by its name."""
        kind = "double" if double else "float"
        if "mul" in what or "madd" in what or "msub" in what:
            group = ["products"] if "mul" in what else ["products", "adds"]
        else:
            group = ["slow" if what in ("div", "sqrt") else "adds"]
        for one in group:
            setattr(self, f"{kind}_{one}", getattr(self, f"{kind}_{one}") + 1)


def operations_of_blocks(library: Path) -> dict[int, Operations] | None:
    """The operations of each basic block, by the address behind its first call; None where nothing can be read."""
    tool = shutil.which("objdump")
    if tool is None:
        return None
    command = [tool, "-d", "--no-show-raw-insn", "-j", ".text", str(library)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
    blocks: dict[int, Operations] = {}
    current: Operations | None = None
    opened = False
    for line in done.stdout.splitlines():
        match = INSTRUCTION.match(line)
        if match is None:
            current = None if line.endswith(">:") else current
            continue
        if opened:
            current = blocks.setdefault(int(match[1], 16), Operations())
        callee = CALL.search(match[3]) if match[2] in ("call", "bl", "jmp", "b") else None
        opened = callee is not None and callee[1] == MARK
        if current is None:
            continue
        if callee is not None and callee[1].removesuffix("f") in FUNCTIONS:
            current.count(FUNCTIONS[callee[1].removesuffix("f")], not callee[1].endswith("f"))
        elif one := X86.fullmatch(match[2]):
            current.count(one[1], one[2] == "d")
        elif ARM.fullmatch(match[2]) and match[3][:1] in "sd":
            current.count(match[2][1:], match[3][0] == "d")
    return blocks or None
