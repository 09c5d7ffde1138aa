"""C: pycparser's tree as polyc's, with types, symbols, effects of functions and liveness of variables.

Chunks -> a C tree and the scratch state of its region. Knows no sets.
"""
