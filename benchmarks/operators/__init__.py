"""Twenty sub-graphs of deep learning on the CPU: gcc, polyc, PyTorch eager and torch.compile, values compared, in turn.

    python -m benchmarks.operators                      # all, at full shapes
    python -m benchmarks.operators indep cadd           # some
    python -m benchmarks.operators --small --rounds 1   # small shapes, to see that all works
    python -m benchmarks.operators --torch PYTHON       # PyTorch is another Python's

`../gpu` runs the same operators on a GPU.
"""
