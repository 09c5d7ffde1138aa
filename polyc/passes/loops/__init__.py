"""The final loops of a CPU: their order, vectors, unrolling, threads.

Bands -> marked bands. Knows which loops carry dependences, and nothing of tiles' shapes.
"""
