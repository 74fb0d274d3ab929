"""Tests of independence, confidence intervals, scores of single features, resampling and redundancy."""
