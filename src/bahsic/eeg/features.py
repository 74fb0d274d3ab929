"""Columns by which a set of frequencies is judged, of all channels: powers, or covariances between channels."""

from __future__ import annotations

import numpy as np

from bahsic.eeg.signals import Array

# Part of each covariance matrix that is replaced by the identity with the same trace.
_SHRINKAGE = 0.05


def log_powers(coefficients: Array) -> Array:
    """Return the logarithm of the power of each channel, from real and imaginary parts (n_trials, n_channels, n).

    A power below 1e-12 of the channels' mean counts as that, so that silent channels have a logarithm.
    """
    power = np.square(coefficients).sum(axis=-1)
    least = 1e-12 * power.mean(axis=1, keepdims=True)
    return np.asarray(np.log(np.maximum(power, np.where(least > 0, least, 1.0))))


def relative_log_powers(coefficients: Array) -> Array:
    """Return the logarithm of the power of each channel after common average reference, minus its mean over channels.

    What all channels share is left out: the electrode of reference, and how strong a trial is as a whole.
    """
    powers = log_powers(coefficients - coefficients.mean(axis=1, keepdims=True))
    return np.asarray(powers - powers.mean(axis=1, keepdims=True))


def log_covariances(covariances: Array) -> Array:
    r"""Return logarithms of the covariance matrices between channels, relative to their mean (tangent vectors).

    .. math:: \log(V^\top C_i V), \quad V^\top M V = I, \quad M = \frac{1}{m} \sum_i C_i,

    where C_i is divided by its trace and 5% of it is replaced by the identity, and the columns of V are the principal
    components of M, scaled to variance one. The linear kernel of these vectors sees what common spatial patterns
    look for: powers of mixtures of channels.

    The result is the upper triangle, with factor root 2 off the diagonal; it has zero mean, and mean squared length 1.
    Cost O(n_trials n_channels^3).
    """
    n = covariances.shape[1]
    traces = np.trace(covariances, axis1=1, axis2=2)
    weights = (1 - _SHRINKAGE) / np.where(traces > 0, traces, 1.0)
    white_part = _SHRINKAGE / n
    values, vectors = np.linalg.eigh(np.tensordot(weights / len(weights), covariances, 1) + white_part * np.eye(n))
    white = vectors / np.sqrt(values)
    seen = weights[:, None, None] * (white.T @ covariances @ white) + white_part * (white.T @ white)
    values, vectors = np.linalg.eigh(seen)
    logarithms = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
    rows, columns = np.triu_indices(n)
    tangent = logarithms[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    tangent -= tangent.mean(axis=0)
    length = np.sqrt(np.square(tangent).sum(axis=1).mean())
    return np.asarray(tangent / length if length > 0 else tangent)


#: By the name that a user gives, the fewest channels that the columns need.
FEWEST_CHANNELS = {"mean_power": 1, "power": 1, "relative_power": 3, "covariance": 2}


class BandFeatures:
    """Columns of any interval of Fourier coefficients, one row a trial, by the name in `FEWEST_CHANNELS`."""

    def __init__(self, signals: Array, name: str) -> None:
        fewest = FEWEST_CHANNELS[name]
        if signals.shape[1] < fewest:
            raise ValueError(f"X has {signals.shape[1]} channels; accepted for features={name!r}: at least {fewest}")
        coefficients = np.fft.rfft(signals, axis=-1)
        self._name, self._parts = name, np.stack([coefficients.real, coefficients.imag], axis=-1)
        self._sum, self._summed = np.zeros(()), slice(0, 0)

    def __call__(self, frequencies: slice) -> Array:
        if self._name == "mean_power":  # the paper's columns: one of each coefficient
            return np.asarray(np.square(self._parts[:, :, frequencies]).sum(axis=-1).mean(axis=1))
        if self._name == "covariance":
            return log_covariances(self._covariances(frequencies))
        return (log_powers if self._name == "power" else relative_log_powers)(self._inside(frequencies))

    def _inside(self, frequencies: slice) -> Array:
        inside = self._parts[:, :, frequencies]
        return inside.reshape(*inside.shape[:2], -1)

    def _covariances(self, frequencies: slice) -> Array:
        """Return sums of products of channels; an interval that begins as the last one did adds to its sums."""
        before = self._summed
        longer = before.start == frequencies.start and before.stop <= frequencies.stop
        added = self._inside(slice(before.stop, frequencies.stop) if longer else frequencies)
        products = added @ added.transpose(0, 2, 1)
        self._sum, self._summed = self._sum + products if longer else products, frequencies
        return self._sum
