"""Kernels and their launches, in CUDA and OpenCL.

Mapped bands -> C trees, through Jinja templates. Decides nothing.
"""
