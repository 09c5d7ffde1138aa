"""Passes: Program -> Program. Each room holds the passes of one concern and the helpers that only they need.

No pass imports verify, codegen or explain; `polyc/pipeline.py` has their order.
"""
