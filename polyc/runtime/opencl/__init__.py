"""OpenCL on this machine: what a C program needs to be built with it, and the C text that programs share.

Knows no kernels.
"""

from polyc.runtime.opencl.kernel_text import runtime_text
from polyc.runtime.opencl.search import Device, Support, missing, support

__all__ = ["Device", "Support", "missing", "runtime_text", "support"]
