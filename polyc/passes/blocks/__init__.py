"""Sequential loops in blocks: factorisations, triangular solves, rows and columns of one array in one pass over it.

A band whose outer loop is sequential -> the same in blocks, with sums of products between them. Knows no registers.
"""
