"""The kernels of polybench/ on the CPU: polyc beside gcc, clang, Polly, Pluto, PPCG and OpenBLAS.

`python -m benchmarks.cpu --help` in the repository's root; benchmarks/README.md says how to read the results.

    kernels.py      the thirty kernels: sizes, operations, compulsory traffic
    tools.py        which compilers and peers this machine has
    contestants.py  how each contestant is built
    execute.py      one process of a built program: its samples and its arrays
    values.py       are the arrays right?
    rounds.py       all contestants of a kernel, in turn
    results.py      what was found, as data and as JSON
    roofline.py     the rates of this machine, measured
    summary.py, table.py, plots.py   the same for people
    sweep.py        polyc's own tile sizes against all of a grid
"""
