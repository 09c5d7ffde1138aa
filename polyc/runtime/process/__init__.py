"""Compilers and processes that polyc starts."""
