"""A device's C: the words of CUDA and OpenCL, and loops over panels and registers in the form that devices run fastest.

C trees -> C trees. Knows no schedule tree.
"""
