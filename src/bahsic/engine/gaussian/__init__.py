"""The fast path for the Gaussian kernel: score changes by a separable expansion, with error bounds.

Used by the engine alone; ARCHITECTURE.md derives the formulas.
"""
