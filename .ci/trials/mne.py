"""Epochs from a file."""

import subprocess
import sys

import mne
import numpy as np

rng = np.random.default_rng(0)
X, codes = rng.standard_normal((40, 2, 100)), np.arange(40) % 2 + 1
X[codes == 2] *= 2
events = np.column_stack([np.arange(40), np.zeros(40, dtype=int), codes])
epochs = mne.EpochsArray(X, mne.create_info(2, 100.0, "eeg"), events, verbose="error")
epochs.save("trials-epo.fif", verbose="error")
words = ["rank", "trials-epo.fif", "--quiet"]
subprocess.run([sys.executable, "-m", "bahsic", *words], check=True, capture_output=True)
