"""Data types: regions, programs, schedule trees and their text, C trees, buffers, certificates.

Immutable, and knows nothing else of polyc.
"""
