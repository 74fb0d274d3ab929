"""Is a dependence real, and which features say the same: tests, intervals, scores, resampling, redundancy.

Imports the engine and what is below it; selection, report and the command line use it.
"""
