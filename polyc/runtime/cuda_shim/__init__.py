"""Generated CUDA programs on a CPU: real barriers, and a check of each access for races and bounds.

The shim's own C++ lies beside this file; `shim.h` says which part does what.
"""

from polyc.runtime.cuda_shim.counters import BLOCKS, Counts, Launch, read_counters
from polyc.runtime.cuda_shim.launches import RewriteError
from polyc.runtime.cuda_shim.library import build, report
from polyc.runtime.cuda_shim.operations import Operations

__all__ = ["BLOCKS", "Counts", "Launch", "Operations", "RewriteError", "build", "read_counters", "report"]
