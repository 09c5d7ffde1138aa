"""Register tiles of contractions and of streaming sums, on CPUs and GPUs, and the panels that they read.

Point bands -> register loops, packed operands, fragments of tensor cores. Knows no fusion.
"""
