"""Kernels and the functions that run them, for CUDA and OpenCL. Loaded for these targets only."""
