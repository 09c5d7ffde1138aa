"""GPUs: tiles to blocks, points to threads, reductions over a block, barriers.

Tile and point bands -> mapped bands and kernels. Knows no CUDA or OpenCL text.
"""
