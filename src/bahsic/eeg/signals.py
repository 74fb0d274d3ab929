"""Signals of trials: power spectra, HSIC of bands, bins of frequencies, and the columns by which a bin is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.inference.dependence import hsic
from bahsic.kernels.labels.choice import chosen_name

# Part of each covariance matrix that is replaced by the identity with the same trace.
_SHRINKAGE = 0.05


def power_spectra(X: Any, sfreq: float, fmin: float | None = None, fmax: float | None = None) -> tuple[Array, Array]:
    """Compute the power of each frequency in each trial, averaged over the channels.

    Parameters
    ----------
    X, sfreq, fmin, fmax
        As for `FrequencySelector` and its `fit`.

    Returns
    -------
    spectra : ndarray of shape (n_trials, n_bins)
        Squared magnitudes of the Fourier coefficients.
    frequencies : ndarray of shape (n_bins,)
        In Hz: multiples of sfreq / n_samples.

    Examples
    --------
    >>> wave = np.cos(2 * np.pi * 10 * np.arange(50) / 50)
    >>> spectra, frequencies = power_spectra(wave[None, None], sfreq=50)
    >>> float(frequencies[spectra[0].argmax()])
    10.0
    """
    signals = checked_signals(X, sfreq)
    bins = frequency_bins(signals.shape[-1], sfreq, fmin, fmax)
    return band_features(signals, "mean_power")(bins.interval(0, len(bins) - 1)), bins.frequencies


def band_hsic(X: Any, y: Any, sfreq: float, lower: Any, upper: Any, **options: Any) -> Array:
    """Compute HSIC between the labels and the power spectrum in each frequency band (the paper's figure fg:bci).

    Parameters
    ----------
    X, y, sfreq
        As for `FrequencySelector` and its `fit`.
    lower, upper : array-like of shape (n_lower,) and (n_upper,)
        Cut-offs in Hz.
    **options
        Options of `bahsic.hsic`, such as kernel and target_kernel.

    Returns
    -------
    ndarray of shape (n_lower, n_upper)
        HSIC of the standardised powers from ``lower[i]`` to ``upper[j]``, both included; NaN where ``lower[i]`` is not
        below ``upper[j]`` or no frequency lies between. For `bahsic.plotting.plot_bands`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 3, 100)), np.arange(60) % 2
    >>> X[y == 1] += np.sin(2 * np.pi * 12 * np.arange(100) / 100)
    >>> values = band_hsic(X, y, 100, lower=[5, 11, 20], upper=[13, 30])
    >>> [int(i) for i in np.unravel_index(np.nanargmax(values), values.shape)]
    [1, 0]
    """
    lows, highs = _cut_offs("lower", lower), _cut_offs("upper", upper)
    spectra, frequencies = power_spectra(X, sfreq)
    deviations = spectra.std(axis=0)
    standard = (spectra - spectra.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    options["target_kernel"] = chosen_name(y, options.get("target_kernel", "auto"), warn=True)  # not for each band
    values = np.full((len(lows), len(highs)), np.nan)
    for i, j in np.argwhere(lows[:, None] < highs):
        band = (frequencies >= lows[i]) & (frequencies <= highs[j])
        if band.any():
            values[i, j] = hsic(standard[:, band], y, **{"standardize": False, **options})
    return values


def _cut_offs(argument: str, values: Any) -> Array:
    cut_offs = np.asarray(values)
    if cut_offs.ndim != 1 or cut_offs.dtype.kind not in "iuf" or not np.isfinite(cut_offs).all():
        raise ValueError(f"{argument} is {values!r}; accepted: a list of finite numbers, in Hz")
    return cut_offs.astype(np.float64)


@dataclass(frozen=True)
class Bins:
    """Neighbouring sets of Fourier coefficients."""

    starts: Indices  # first coefficient of each bin, and the one behind the last bin
    every: Array  # frequency of every coefficient, in Hz

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def frequencies(self) -> Array:
        """Mean frequency of each bin, in Hz."""
        sums = np.add.reduceat(self.every[: self.starts[-1]], self.starts[:-1])
        return np.asarray(sums / np.diff(self.starts))

    def interval(self, first: int, last: int) -> slice:
        """Return the coefficients of the bins from the first to the last, both included."""
        return slice(int(self.starts[first]), int(self.starts[last + 1]))


def frequency_bins(n_samples: int, sfreq: float, fmin: float | None, fmax: float | None, width: Any = None) -> Bins:
    """Return the bins of `FrequencySelector`; a last one of less than half the width joins the one before."""
    step = sfreq / n_samples
    every = np.arange(n_samples // 2 + 1, dtype=np.float64) * step
    near = 1e-6 * step  # so that 10 Hz, which may be computed as 9.999..., is 10 Hz
    limits = None if width is None else np.asarray(width)
    if limits is not None and not _are_widths(limits):
        raise ValueError(f"width is {width!r}; accepted: None, a number above 0, or increasing limits, in Hz")
    if limits is not None and limits.ndim:
        starts = np.append(np.searchsorted(every, limits[:-1] - near), np.searchsorted(every, limits[-1] + near))
        if (np.diff(starts) < 1).any():
            raise ValueError(f"width is {width!r}; accepted: limits with a multiple of {step:g} Hz between them")
        return Bins(starts, every)
    low, high = step if fmin is None else fmin, np.inf if fmax is None else fmax
    members = np.flatnonzero((every >= low) & (every <= high))
    if not len(members):
        raise ValueError(
            f"fmin is {fmin!r} and fmax {fmax!r}; accepted: an interval with one of the frequencies "
            f"0, {step:g}, ..., {every[-1]:g} Hz"
        )
    starts, end = members, members[-1] + 1
    if limits is not None:
        number = np.floor((every[members] - every[members[0]] + near) / width)
        starts = members[np.flatnonzero(np.diff(number, prepend=-1))]
        if len(starts) > 1 and (end - starts[-1]) * step < width / 2:
            starts = starts[:-1]
    return Bins(np.append(starts, end), every)


def _are_widths(limits: Any) -> bool:
    if limits.dtype.kind not in "iuf" or limits.ndim > 1:
        return False
    return bool((np.diff(limits) > 0).all()) and len(limits) > 1 if limits.ndim else 0 < float(limits) < np.inf


def band_features(signals: Array, name: str) -> Callable[[slice], Array]:
    """Return a function that computes the columns of an interval of Fourier coefficients, one row per trial."""
    columns, fewest = FEATURES[name]
    if signals.shape[1] < fewest:
        raise ValueError(f"X has {signals.shape[1]} channels; accepted for features={name!r}: at least {fewest}")
    coefficients = np.fft.rfft(signals, axis=-1)
    parts = np.stack([coefficients.real, coefficients.imag], axis=-1)
    return lambda frequencies: columns(parts[:, :, frequencies])


def _mean_powers(coefficients: Array) -> Array:
    """Return the power of each coefficient, averaged over the channels: the paper's columns."""
    return np.asarray(np.square(coefficients).sum(axis=-1).mean(axis=1))


def _log_powers(coefficients: Array) -> Array:
    """Return the logarithm of the power of each channel; silent channels count as 1e-12 of the channels' mean."""
    power = np.square(coefficients).sum(axis=(-2, -1))
    least = 1e-12 * power.mean(axis=1, keepdims=True)
    return np.asarray(np.log(np.maximum(power, np.where(least > 0, least, 1.0))))


def _relative_log_powers(coefficients: Array) -> Array:
    """Return log powers without what all channels share: the electrode of reference, and the strength of a trial."""
    powers = _log_powers(coefficients - coefficients.mean(axis=1, keepdims=True))
    return np.asarray(powers - powers.mean(axis=1, keepdims=True))


def _log_covariances(coefficients: Array) -> Array:
    r"""Return logarithms of the covariance matrices between channels, relative to their mean (tangent vectors).

    .. math:: \log(V^\top C_i V), \quad V^\top M V = I, \quad M = \frac{1}{m} \sum_i C_i,

    where C_i has trace 1 and is shrunk to the identity, and the columns of V are the principal components of M, scaled
    to variance one. The linear kernel of these vectors sees what common spatial patterns look for: powers of mixtures
    of channels. The result is the upper triangle, with factor root 2 off the diagonal, mean 0 and mean square length 1.
    """
    parts = coefficients.reshape(*coefficients.shape[:2], -1)
    C, n = parts @ parts.transpose(0, 2, 1), parts.shape[1]
    traces = np.trace(C, axis1=1, axis2=2)[:, None, None]
    C = (1 - _SHRINKAGE) * C / np.where(traces > 0, traces, 1.0) + _SHRINKAGE / n * np.eye(n)
    values, vectors = np.linalg.eigh(C.mean(axis=0))
    V = vectors / np.sqrt(values)
    values, vectors = np.linalg.eigh(V.T @ C @ V)
    logarithms = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
    rows, columns = np.triu_indices(n)
    tangents = logarithms[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    tangents -= tangents.mean(axis=0)
    length = np.sqrt(np.square(tangents).sum(axis=1).mean())
    return np.asarray(tangents / length if length > 0 else tangents)


#: The columns by the name that a user gives, and the fewest channels that they need.
FEATURES = {
    "mean_power": (_mean_powers, 1),
    "power": (_log_powers, 1),
    "relative_power": (_relative_log_powers, 3),
    "covariance": (_log_covariances, 2),
}


def checked_signals(X: Any, sfreq: float) -> Array:
    """Check an array or mne's Epochs of trials x channels x samples; the rate of Epochs must be ``sfreq``."""
    if not isinstance(sfreq, Real) or not 0 < sfreq < np.inf:
        raise ValueError(f"sfreq is {sfreq!r}; accepted: a number above 0, the samples a second")
    if hasattr(X, "get_data") and not np.isclose(X.info["sfreq"], float(sfreq)):
        raise ValueError(f"sfreq is {sfreq!r}, X has {X.info['sfreq']:g} samples a second; accepted: that of X")
    values = np.asarray(X.get_data() if hasattr(X, "get_data") else X)
    if values.ndim != 3 or values.dtype.kind not in "iuf" or 0 in values.shape:
        raise ValueError(
            f"X has shape {values.shape} and type {values.dtype}; "
            "accepted: numbers of shape (trials, channels, samples)"
        )
    if not np.isfinite(values).all():
        trial, channel, _ = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"X has a value that is not finite in trial {trial}, channel {channel}; accepted: finite ones")
    return values.astype(np.float64, copy=False)
