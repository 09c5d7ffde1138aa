"""Loop nests of a schedule tree: extents, strides, the sums that they compute, what the user asks of them.

From a Program to facts. Shared by the models of cost and by all passes; changes no tree and knows no machine's prices.
"""
