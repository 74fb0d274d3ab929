"""The fast path for the Gaussian kernel: score changes with error bounds, by a separable expansion.

Used by the engine alone; ARCHITECTURE.md derives the formulas.
"""
