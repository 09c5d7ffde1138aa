"""Six image pipelines on the CPU: plain nests beside polyc's output, values compared, with and without page faults.

    python -m benchmarks.pipelines                          # all that are there, at full size
    python -m benchmarks.pipelines harris --form arrays     # one pipeline in one form
    python -m benchmarks.pipelines --dataset MINI           # small, to see that all works

What each pipeline computes stands at the head of arrays/NAME.c; README.md tells what polyc does with them.
"""
