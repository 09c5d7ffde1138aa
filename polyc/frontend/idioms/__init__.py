"""Idioms: what C programmers write for a subscript, a border or two buffers, in the plain form that the model has.

C trees -> C trees that compute the same. Knows no statements of the model.
"""
