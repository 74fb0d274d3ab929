"""Tests of independence, confidence intervals, scores of single features, resampling and redundancy.

Imports the engine and the layers below it; selection, report and the command line use it.
"""
