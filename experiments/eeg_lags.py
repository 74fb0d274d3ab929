"""Covariances between channels at different times, which CSP, CSSP and CSSSP are made of."""

import numpy as np

from experiments.baselines import Array

#: Part of the identity in each covariance matrix.
SHRINKAGE = 0.05


def band_passed(X: Array, sfreq: float, low: float, high: float) -> Array:
    """The signals without the Fourier coefficients outside of a band, whose limits are inside.

    Examples
    --------
    >>> time = np.arange(100) / 100
    >>> slow, fast = (np.sin(2 * np.pi * frequency * time) for frequency in (5, 10))
    >>> bool(np.allclose(band_passed(slow + fast, 100, 8, 40), fast))
    True
    """
    frequencies = np.fft.rfftfreq(X.shape[-1], 1 / sfreq)
    coefficients = np.fft.rfft(X, axis=-1)
    coefficients[..., (frequencies < low) | (frequencies > high)] = 0.0
    passed: Array = np.fft.irfft(coefficients, n=X.shape[-1], axis=-1)
    return passed


def lag_covariances(X: Array, n_lags: int = 1) -> Array:
    r"""Covariances of the channels of each trial with themselves some samples before.

    .. math:: C_\tau = \sum_t x(t) x(t - \tau)^\top / \sum_t |x(t)|^2, \quad x(t) = 0 \text{ outside of the trial},

    so each trial has the same weight, and any filter of the signal is a sum of these. A part `SHRINKAGE` of each is
    replaced by the identity with the same trace: of signals that are equal in all channels and independent.

    Parameters
    ----------
    X : ndarray of shape (n_trials, n_channels, n_samples)
    n_lags : int, default=1
        For tau from 0 to n_lags - 1.

    Returns
    -------
    ndarray of shape (n_trials, n_lags, n_channels, n_channels)
    """
    n_trials, n_channels, n_samples = X.shape
    lags = np.empty((n_trials, n_lags, n_channels, n_channels))
    for lag in range(n_lags):
        lags[:, lag] = X[..., lag:] @ X[..., : n_samples - lag].transpose(0, 2, 1)
    lags /= np.trace(lags[:, :1], axis1=2, axis2=3)[..., None, None]
    white = np.trace(lags, axis1=2, axis2=3)[..., None, None] / n_channels * np.eye(n_channels)
    shrunk: Array = (1 - SHRINKAGE) * lags + SHRINKAGE * white
    return shrunk


def delayed(lags: Array, delay: int) -> Array:
    r"""Covariances of the channels and their delayed copies (Lemm et al., 2005), twice as many.

    .. math:: \begin{pmatrix} C_0 & C_\tau \\ C_\tau^\top & C_0 \end{pmatrix}

    A spatial filter of these is one of the form w x(t) + v x(t - tau): an FIR filter of two taps for each channel.
    """
    now, other = lags[:, 0], lags[:, delay]
    return np.block([[now, other], [other.transpose(0, 2, 1), now]])


def symmetric(lags: Array) -> Array:
    """The lag zero, and the sum of the lags tau and -tau for each other one."""
    both = lags + lags.swapaxes(-1, -2)
    both[..., 0, :, :] /= 2
    return both


def filtered(both: Array, taps: Array) -> Array:
    r"""Covariances of the signals after the same FIR filter for all channels (Dornhege et al., 2005).

    .. math:: \sum_\tau \Big(\sum_j b_j b_{j+\tau}\Big) S_\tau, \quad S_0 = C_0,\; S_\tau = C_\tau + C_\tau^\top

    Parameters
    ----------
    both : ndarray of shape (..., n_taps, n_channels, n_channels)
        The S, see `symmetric`.
    taps : ndarray of shape (n_taps,)
        The b.
    """
    summed: Array = np.einsum("t,...tij->...ij", autocorrelation(taps), both)
    return summed


def autocorrelation(taps: Array) -> Array:
    """Sum of products of the taps that are 0, 1, ... apart.

    Examples
    --------
    >>> autocorrelation(np.array([1.0, 2.0, 3.0]))
    array([14.,  8.,  3.])
    """
    return np.correlate(taps, taps, "full")[len(taps) - 1 :]
