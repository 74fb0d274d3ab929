"""The paper's experiments, re-measured with bahsic's public interface.

``python -m experiments run|table|figure|page NAME``; see docs/evidence for the results.
"""
