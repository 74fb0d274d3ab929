"""Columns by which a set of frequencies is judged, of all channels: powers, or covariances between channels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bahsic.eeg.signals import Array

# Part of each covariance matrix that is replaced by the identity with the same trace.
_SHRINKAGE = 0.05

# Number of principal components of the channels whose covariances are looked at: few, since a logarithm costs their
# third power and single trials tell little of more.
_N_COMPONENTS = 16


def log_powers(coefficients: Array) -> Array:
    """Logarithm of the power of each channel.

    Parameters
    ----------
    coefficients : ndarray of shape (n_trials, n_channels, 2 * n_frequencies)
        Real and imaginary parts, see `parts`.

    Returns
    -------
    ndarray of shape (n_trials, n_channels)
        A power below 1e-12 of the channels' mean counts as that, so that silent channels have a logarithm.
    """
    power = np.square(coefficients).sum(axis=-1)
    least = 1e-12 * power.mean(axis=1, keepdims=True)
    logarithms: Array = np.log(np.maximum(power, np.where(least > 0, least, 1.0)))
    return logarithms


def relative_log_powers(coefficients: Array) -> Array:
    """Logarithm of the power of each channel, minus its mean over the channels, after common average reference.

    The average of all channels is subtracted from each of them, so what all channels share is left out: the electrode
    of reference, and how strong a trial is as a whole.
    """
    powers = log_powers(coefficients - coefficients.mean(axis=1, keepdims=True))
    relative: Array = powers - powers.mean(axis=1, keepdims=True)
    return relative


def log_covariances(coefficients: Array) -> Array:
    r"""Logarithms of the covariance matrices between channels, relative to their mean (tangent vectors).

    .. math:: \log(V^\top C_i V), \quad V^\top M V = I, \quad M = \frac{1}{m} \sum_i C_i,

    where C_i has trace one and 5% of it is replaced by the identity, and V are the 16 leading principal components
    of M (all, for fewer channels), scaled to variance one. The linear kernel of these vectors sees what common
    spatial patterns look for: powers of mixtures of channels.

    Returns
    -------
    ndarray of shape (n_trials, p * (p + 1) / 2), where p is the number of components
        The upper triangle, with factor root 2 off the diagonal; zero mean, and mean squared length 1.
    """
    n = coefficients.shape[1]
    covariances = coefficients @ coefficients.transpose(0, 2, 1)
    traces = np.trace(covariances, axis1=1, axis2=2)[:, None, None]
    covariances = (1 - _SHRINKAGE) * covariances / np.where(traces > 0, traces, 1.0) + _SHRINKAGE / n * np.eye(n)
    values, vectors = np.linalg.eigh(covariances.mean(axis=0))
    white = (vectors / np.sqrt(values))[:, -_N_COMPONENTS:]
    values, vectors = np.linalg.eigh(white.T @ covariances @ white)
    logarithms = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
    rows, columns = np.triu_indices(white.shape[1])
    tangent = logarithms[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    tangent -= tangent.mean(axis=0)
    length = np.sqrt(np.square(tangent).sum(axis=1).mean())
    scaled: Array = tangent / length if length > 0 else tangent
    return scaled


def parts(signals: Array) -> Array:
    """Real and imaginary parts of the Fourier coefficients, of shape (n_trials, n_channels, n_frequencies, 2)."""
    coefficients = np.fft.rfft(signals, axis=-1)
    return np.stack([coefficients.real, coefficients.imag], axis=-1)


#: By the name that a user gives: the columns, and the fewest channels that they need.
FEATURES: dict[str, tuple[Callable[[Array], Array], int]] = {
    "power": (log_powers, 1),
    "relative_power": (relative_log_powers, 3),
    "covariance": (log_covariances, 2),
}


class BandFeatures:
    """Columns of any interval of Fourier coefficients.

    Parameters
    ----------
    signals : ndarray of shape (n_trials, n_channels, n_samples)
    name : {"power", "relative_power", "covariance"}
    """

    def __init__(self, signals: Array, name: str) -> None:
        self._columns, fewest = FEATURES[name]
        if signals.shape[1] < fewest:
            raise ValueError(f"X has {signals.shape[1]} channels; accepted for features={name!r}: at least {fewest}")
        self._parts = parts(signals)

    def __call__(self, frequencies: slice) -> Array:
        """Columns of an interval, one row a trial."""
        inside = self._parts[:, :, frequencies]
        return self._columns(inside.reshape(*inside.shape[:2], -1))
