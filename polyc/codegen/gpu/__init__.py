"""Kernels and the functions that run them, for CUDA and OpenCL."""

from polyc.codegen.gpu.memory import within_arrays
from polyc.codegen.gpu.render import RenderedKernels, render_device_files, render_kernels
from polyc.codegen.gpu.words import NotMappable, obstacle

__all__ = [
    "NotMappable",
    "RenderedKernels",
    "obstacle",
    "render_device_files",
    "render_kernels",
    "within_arrays",
]
