"""Frequencies in a pipeline of pyriemann."""

import numpy as np
from pyriemann.estimation import Covariances
from sklearn.pipeline import make_pipeline

from bahsic.eeg import FrequencySelector

rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 3, 100)), np.arange(60) % 2
X[y == 1] += np.sin(2 * np.pi * 12 * np.arange(100) / 100)
pipeline = make_pipeline(FrequencySelector(100, n_frequencies=1, n_neighbours=2), Covariances()).fit(X, y)
assert pipeline[0].frequencies_.tolist() == [12.0]
assert pipeline.transform(X).shape == (60, 3, 3)
