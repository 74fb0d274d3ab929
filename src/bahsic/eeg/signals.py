"""Signals of trials: checks, Fourier coefficients, power spectra, and bins of frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def power_spectra(X: Any, sfreq: float, fmin: float | None = None, fmax: float | None = None) -> tuple[Array, Array]:
    """Compute the power of each frequency in each trial, averaged over the channels.

    Parameters
    ----------
    X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
    sfreq : float
        Samples a second.
    fmin, fmax : float or None, default=None
        Lowest and highest frequency in Hz; by default all but zero.

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
    return mean_powers(signals, bins), bins.frequencies


@dataclass(frozen=True)
class Bins:
    """Neighbouring sets of Fourier coefficients."""

    starts: Indices  # first coefficient of each bin, and the one behind the last bin
    every: Array  # frequency of every coefficient, in Hz

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def inside(self) -> slice:
        """The coefficients of all bins."""
        return slice(int(self.starts[0]), int(self.starts[-1]))

    @property
    def frequencies(self) -> Array:
        """Mean frequency of each bin, in Hz."""
        sums = np.add.reduceat(self.every[self.inside], self.starts[:-1] - self.starts[0])
        return np.asarray(sums / np.diff(self.starts))

    def interval(self, first: int, last: int) -> slice:
        """Return the coefficients of the bins from the first to the last, both included."""
        return slice(int(self.starts[first]), int(self.starts[last + 1]))


def frequency_bins(n_samples: int, sfreq: float, fmin: float | None, fmax: float | None, width: Any = None) -> Bins:
    """Return the frequencies between two limits, each by itself (``width=None``) or in bins of a width in Hz.

    Bins are counted from the lowest frequency; a last one of less than half the width joins the one before. A list of
    limits in place of a width gives bins from each limit to below the next one; the last limit is inside.

    Examples
    --------
    >>> frequency_bins(100, 100, 8, 40, width=8).frequencies
    array([11.5, 19.5, 27.5, 36. ])
    >>> frequency_bins(100, 100, None, None, width=[8, 12, 20]).frequencies
    array([ 9.5, 16. ])
    """
    step = sfreq / n_samples
    every = np.arange(n_samples // 2 + 1, dtype=np.float64) * step
    near = 1e-6 * step  # so that 10 Hz, which may be computed as 9.999..., is 10 Hz
    if width is not None and not isinstance(width, Real):
        limits = np.asarray(width)
        if limits.ndim != 1 or len(limits) < 2 or limits.dtype.kind not in "iuf" or not (np.diff(limits) > 0).all():
            raise ValueError(f"width is {width!r}; accepted: None, a number above 0, or increasing limits, in Hz")
        starts = np.append(np.searchsorted(every, limits[:-1] - near), np.searchsorted(every, limits[-1] + near))
        if (np.diff(starts) < 1).any():
            raise ValueError(f"width is {width!r}; accepted: limits with a multiple of {step:g} Hz between them")
        return Bins(starts, every)
    inside = every > 0 if fmin is None else every >= fmin
    inside &= every <= (np.inf if fmax is None else fmax)
    if not inside.any():
        raise ValueError(
            f"fmin is {fmin!r} and fmax {fmax!r}; accepted: an interval with one of the frequencies "
            f"0, {step:g}, ..., {every[-1]:g} Hz"
        )
    members = np.flatnonzero(inside)
    if width is None:
        return Bins(np.append(members, members[-1] + 1), every)
    if isinstance(width, bool) or not 0 < float(width) < np.inf:
        raise ValueError(f"width is {width!r}; accepted: None, a number above 0, or increasing limits, in Hz")
    number = np.floor((every[members] - every[members[0]] + near) / width)
    starts = members[np.flatnonzero(np.diff(number, prepend=-1))]
    if len(starts) > 1 and (members[-1] + 1 - starts[-1]) * step < width / 2:
        starts = starts[:-1]
    return Bins(np.append(starts, members[-1] + 1), every)


def mean_powers(signals: Array, bins: Bins) -> Array:
    """Return the power of each bin in each trial, averaged over the channels."""
    power = np.square(np.abs(np.fft.rfft(signals, axis=-1)[..., bins.inside])).mean(axis=1)
    return np.asarray(np.add.reduceat(power, bins.starts[:-1] - bins.starts[0], axis=-1))


def filtered(signals: Array, passing: NDArray[np.bool_]) -> Array:
    """Return the signals without the Fourier coefficients that do not pass."""
    coefficients = np.fft.rfft(signals, axis=-1)
    coefficients[..., ~passing] = 0.0
    return np.asarray(np.fft.irfft(coefficients, n=signals.shape[-1], axis=-1))


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
