"""OpenCL on this machine: what a C program needs to be built with it and run, and the C text that programs share."""

from polyc.runtime.opencl.search import Device, Support, missing, support
from polyc.runtime.opencl.text import runtime_text

__all__ = ["Device", "Support", "missing", "runtime_text", "support"]
