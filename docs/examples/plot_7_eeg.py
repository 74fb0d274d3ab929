"""
EEG: frequency bands
====================

Which rhythms differ between two mental states? The signals are simulated: eight channels, a rhythm of 12 Hz that is
weaker in one state, as the mu rhythm is when a movement is imagined, and a weaker one of 22 Hz.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from bahsic.eeg import FrequencySelector, band_hsic, power_spectra
from bahsic.plotting import plot_bands

random = np.random.default_rng(0)
n_trials, n_channels, sfreq = 120, 8, 100
time = np.arange(300) / sfreq
y = np.arange(n_trials) % 2


def rhythm(frequency, strength):
    """A wave with a random phase in each trial, as strong as given in each of them."""
    phase = random.uniform(0, 2 * np.pi, (n_trials, 1, 1))
    channels = random.uniform(0.3, 1, (1, n_channels, 1))
    return strength[:, None, None] * channels * np.sin(2 * np.pi * frequency * time + phase)


X = random.standard_normal((n_trials, n_channels, len(time)))
X += rhythm(12, np.where(y == 1, 0.25, 0.5)) + rhythm(22, np.where(y == 1, 0.2, 0.35))

# %%
# Mean power of each frequency in the two states:

spectra, frequencies = power_spectra(X, sfreq, fmin=5, fmax=40)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for label, style in enumerate(("-", "--")):
    axes.plot(frequencies, spectra[y == label].mean(axis=0), style, label=f"state {label}")
axes.set(xlabel="Hz", ylabel="power")
axes.legend()

# %%
# HSIC of every band with the state, by its two limits. It is highest where a band contains one of the two rhythms and
# little else.

lower, upper = np.arange(5, 30), np.arange(7, 40)
plot_bands(band_hsic(X, y, sfreq, lower, upper), lower, upper)

# %%
# `FrequencySelector` finds the frequencies and filters the signals to them:

selector = FrequencySelector(sfreq, n_frequencies=2, n_neighbours=2, fmin=5, fmax=40).fit(X, y)
print("selected:", selector.frequencies_, "Hz")

# %%
# In a pipeline, it sees the training part alone. After it, the power of each channel is enough for a classifier:

power = FunctionTransformer(lambda signals: np.log(np.square(signals).mean(axis=-1)))
print("all frequencies:     ", cross_val_score(make_pipeline(power, PCA(4), SVC()), X, y, cv=5).mean().round(2))
print(
    "selected frequencies:", cross_val_score(make_pipeline(selector, power, PCA(4), SVC()), X, y, cv=5).mean().round(2)
)
