"""Irregular codes on the CPU: sparse products, histograms and meshes between affine nests, plain and through polyc.

    python -m benchmarks.irregular                     # all, at full size
    python -m benchmarks.irregular equake              # one
    python -m benchmarks.irregular --dataset MINI      # small, to see that all works

What each program computes stands at the head of nests/NAME.c; README.md tells what polyc does with them.
"""
