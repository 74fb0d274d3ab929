"""Selection of frequencies of EEG, or of other multichannel signals (the paper's third experiment)."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bahsic.inference.dependence import hsic
from bahsic.kernels.labels.choice import chosen_name
from bahsic.parameters import is_count
from bahsic.selection.selectors import BAHSIC

Array = NDArray[np.float64]


class FrequencySelector(TransformerMixin, BaseEstimator):
    """Select frequencies by HSIC of the power spectrum with the labels, and filter the signals to them.

    Each channel of a trial is Fourier transformed, the power spectra are averaged over the channels, and a selector
    picks the frequencies. The filtered signal consists of these and their neighbours; all other coefficients are
    zero.

    Parameters
    ----------
    sfreq : float
        Samples a second.
    n_frequencies : int, default=5
        Number of frequencies to select.
    n_neighbours : int, default=4
        Number of neighbours of each selected frequency that pass the filter with it: the nearest ones, half of them
        below and half above.
    fmin, fmax : float or None, default=None
        Lowest and highest frequency to select from, in Hz; by default all but zero.
    selector : selector or None, default=None
        A `BAHSIC`, `FOHSIC` or any other selector with `n_features_to_select`, which is set to `n_frequencies`; None
        means ``BAHSIC()``.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies,)
        The selected frequencies in Hz, increasing.
    all_frequencies_ : ndarray of shape (n_bins,)
        The frequencies to select from, in Hz.
    passing_ : ndarray of bool of shape (n_samples // 2 + 1,)
        The Fourier coefficients that pass the filter.
    selector_ : selector
        Fitted to the power spectra, trials x frequencies.

    See Also
    --------
    power_spectra : The features that the selector gets.
    band_hsic : HSIC of all frequency bands.

    Examples
    --------
    A wave of 12 Hz in half of the trials:

    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 3, 100)), np.arange(60) % 2
    >>> X[y == 1] += np.sin(2 * np.pi * 12 * np.arange(100) / 100)
    >>> selector = FrequencySelector(sfreq=100, n_frequencies=1, n_neighbours=2).fit(X, y)
    >>> selector.frequencies_
    array([12.])
    >>> selector.transform(X).shape
    (60, 3, 100)
    """

    def __init__(
        self,
        sfreq: float,
        *,
        n_frequencies: int = 5,
        n_neighbours: int = 4,
        fmin: float | None = None,
        fmax: float | None = None,
        selector: Any = None,
    ) -> None:
        self.sfreq = sfreq
        self.n_frequencies = n_frequencies
        self.n_neighbours = n_neighbours
        self.fmin = fmin
        self.fmax = fmax
        self.selector = selector

    def fit(self, X: Any, y: Any) -> Self:
        """Select the frequencies.

        Parameters
        ----------
        X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
        y : array-like of shape (n_trials,)
            Classes, or whatever the selector takes.

        Returns
        -------
        self
        """
        signals = _signals(X, self.sfreq)
        spectra, frequencies = power_spectra(signals, self.sfreq, self.fmin, self.fmax)
        self._check_numbers(len(frequencies))
        selector = BAHSIC() if self.selector is None else clone(self.selector)
        selector.set_params(n_features_to_select=self.n_frequencies)
        self.selector_ = selector.fit(spectra, y)
        chosen = self.selector_.get_support()
        self.frequencies_, self.all_frequencies_ = frequencies[chosen], frequencies
        self._n_samples = signals.shape[-1]
        self.passing_ = self._passing()
        return self

    def _check_numbers(self, n_bins: int) -> None:
        if not is_count(self.n_frequencies) or self.n_frequencies > n_bins:
            raise ValueError(f"n_frequencies is {self.n_frequencies!r}; accepted: an int from 1 to {n_bins}")
        if not is_count(self.n_neighbours, 0):
            raise ValueError(f"n_neighbours is {self.n_neighbours!r}; accepted: an int of at least 0")

    def _passing(self) -> NDArray[np.bool_]:
        """Mask of the selected frequencies and their nearest neighbours, among all coefficients."""
        every = _frequencies(self._n_samples, self.sfreq)
        passing = np.zeros(len(every), dtype=bool)
        for frequency in self.frequencies_:
            # Of two neighbours at the same distance the lower one comes first.
            nearest = np.argsort(np.abs(every - frequency), kind="stable")
            passing[nearest[: self.n_neighbours + 1]] = True
        return passing

    def transform(self, X: Any) -> Array:
        """Filter the signals to the frequencies that pass.

        Parameters
        ----------
        X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
            With as many samples as in `fit`.

        Returns
        -------
        ndarray of shape (n_trials, n_channels, n_samples)
        """
        check_is_fitted(self, "passing_")
        signals = _signals(X, self.sfreq)
        if signals.shape[-1] != self._n_samples:
            raise ValueError(f"X has {signals.shape[-1]} samples a trial; accepted: {self._n_samples}, as in fit")
        coefficients = np.fft.rfft(signals, axis=-1)
        coefficients[..., ~self.passing_] = 0.0
        filtered: Array = np.fft.irfft(coefficients, n=self._n_samples, axis=-1)
        return filtered

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


def power_spectra(X: Any, sfreq: float, fmin: float | None = None, fmax: float | None = None) -> tuple[Array, Array]:
    """Power of each frequency in each trial, averaged over the channels.

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
    signals = _signals(X, sfreq)
    every = _frequencies(signals.shape[-1], sfreq)
    inside = every > 0 if fmin is None else every >= fmin
    inside &= every <= (np.inf if fmax is None else fmax)
    if not inside.any():
        raise ValueError(
            f"fmin is {fmin!r} and fmax {fmax!r}; accepted: an interval with one of the frequencies "
            f"0, {every[1]:g}, ..., {every[-1]:g} Hz"
        )
    power = np.square(np.abs(np.fft.rfft(signals, axis=-1)[..., inside])).mean(axis=1)
    return power, every[inside]


def band_hsic(X: Any, y: Any, sfreq: float, lower: Any, upper: Any, **options: Any) -> Array:
    """HSIC between the labels and the power spectrum in each frequency band (the paper's figure fg:bci).

    Parameters
    ----------
    X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
    y : array-like of shape (n_trials,)
    sfreq : float
        Samples a second.
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
    target_kernel = chosen_name(y, options.get("target_kernel", "auto"), warn=True)  # here, and not for each band
    given = {"standardize": False, **options, "target_kernel": target_kernel}
    values = np.full((len(lows), len(highs)), np.nan)
    for i, j in np.argwhere(lows[:, None] < highs):
        band = (frequencies >= lows[i]) & (frequencies <= highs[j])
        if band.any():
            values[i, j] = hsic(standard[:, band], y, **given)
    return values


def _cut_offs(argument: str, values: Any) -> Array:
    found = np.asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise ValueError(f"{argument} is {values!r}; accepted: a list of finite numbers, in Hz")
    return found.astype(np.float64)


def _frequencies(n_samples: int, sfreq: float) -> Array:
    """Frequencies of all Fourier coefficients, in Hz."""
    return np.arange(n_samples // 2 + 1, dtype=np.float64) * (sfreq / n_samples)


def _signals(X: Any, sfreq: float) -> Array:
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
