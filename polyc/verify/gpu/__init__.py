"""GPUs: mapped loops, barriers, layouts of shared memory, fragments.

Kernels -> faults. Knows no pass.
"""
