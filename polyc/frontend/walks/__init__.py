"""Walks: variables of which each value is known as a sum, and the region with these sums in the places of their uses.

C trees -> C trees that compute the same. Knows no statements of the model.
"""
