"""Ordinary small programs of many fields on the CPU, plain and through polyc, outputs compared, timed in turn.

    python -m benchmarks.ordinary                       # all
    python -m benchmarks.ordinary life lu               # some
    python -m benchmarks.ordinary --small --rounds 1    # small, to see that all works
    python -m benchmarks.ordinary --compiler clang      # another C compiler, of both

What each program computes stands at the head of NAME.c. None was written with polyc in mind.
"""

from .cli import main

main(prog_name="python -m benchmarks.ordinary")
