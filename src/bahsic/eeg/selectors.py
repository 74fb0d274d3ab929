"""Selectors of frequencies, by powers averaged over the channels or by all channels as a group, and of channels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bahsic.arrays import Array, Indices, Mask
from bahsic.eeg.signals import FEATURES, Bins, band_features, checked_signals, frequency_bins
from bahsic.inference.dependence import hsic
from bahsic.inference.predictability import predictability
from bahsic.kernels.labels.choice import chosen_name
from bahsic.parameters import check_choice, check_count, is_auto, is_count
from bahsic.selection.selectors import BAHSIC


class _SignalSelector(TransformerMixin, BaseEstimator):
    """A selector whose X are trials x channels x samples."""

    def fit(self, X: Any, y: Any) -> Self:
        """Select by the dependence of the labels on the signals.

        Parameters
        ----------
        X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
        y : array-like of shape (n_trials,)
            Classes, or whatever the selector takes.
        """
        signals = checked_signals(X, self.sfreq)
        self._fit(signals, y, frequency_bins(signals.shape[-1], self.sfreq, self.fmin, self.fmax, self.width))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


@dataclass(eq=False, repr=False)
class FrequencySelector(_SignalSelector):
    """Select frequencies by the dependence of the labels on them, and filter the signals to them.

    By default, as in the paper: each channel of a trial is Fourier transformed, the power spectra are averaged over the
    channels, and a selector picks the frequencies. The filtered signal consists of these and their neighbours; all
    other coefficients are zero. With other ``features``, each frequency is judged by all channels as a group, which
    detects frequencies whose power moves from one channel to another.

    Parameters
    ----------
    sfreq : float
        Samples a second.
    n_frequencies : int or "auto", default=5
        Number of frequencies or bins. With "auto" the selector chooses it, or with ``contiguous`` the criterion.
    n_neighbours : int, default=4
        How many of the nearest neighbours of a frequency pass with it, half of them below. Not used with ``width``.
    fmin, fmax : float or None, default=None
        Lowest and highest frequency to select from, in Hz; by default all but zero.
    selector : selector or None, default=None
        A selector whose `n_features_to_select` is set to `n_frequencies`; None means ``BAHSIC()``, or
        ``BAHSIC(kernel="linear", standardize=False)`` for the covariances.
    features : {"mean_power", "power", "relative_power", "covariance"}, default="mean_power"
        Columns by which a frequency is judged. With all but the first they are a group of the selector.

        - "mean_power": the power, averaged over the channels (the paper's).
        - "power": the logarithm of the power of each channel.
        - "relative_power": the same after common average reference, minus its mean over the channels.
        - "covariance": the logarithm of the covariance matrix of the channels, with the power of all their mixtures.
    width : float, array-like or None, default=None
        Bins of frequencies to select from: their width in Hz, or a list of their limits in Hz, which replaces ``fmin``
        and ``fmax``. None uses each Fourier coefficient by itself.
    contiguous : bool, default=False
        Whether to select one interval of frequencies, by its powers or covariances as a whole: one of those of the
        highest HSIC, or predictability for a selector with ``criterion="prediction"``. All intervals are tried.
    min_width : float, default=4.0
        Smallest width of the interval in Hz, with ``contiguous`` and the number "auto".
    averaged : float, default=0.05
        With ``contiguous``, the share of all intervals whose limits are averaged: those with the highest criterion that
        overlap with the best one. With few trials this varies less than the best one alone, which 0 selects.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies,)
        The selected frequencies in Hz, increasing; of bins the mean frequency.
    all_frequencies_ : ndarray of shape (n_bins,)
        The frequencies to select from, in Hz.
    passing_ : ndarray of bool of shape (n_samples // 2 + 1,)
        The Fourier coefficients that pass the filter.
    bands_ : ndarray of shape (n_bands, 2)
        Lowest and highest frequency of each interval that passes, in Hz.
    selector_ : selector
        Fitted to trials x frequencies; not with ``contiguous``.
    interval_scores_ : ndarray of shape (n_bins, n_bins)
        With ``contiguous``, the criterion of each interval by its first and last frequency; NaN where not judged.

    See Also
    --------
    ChannelSelector : Selects channels by their powers.
    power_spectra : The features that the selector gets by default.
    band_hsic : HSIC of all frequency bands.

    Notes
    -----
    An interval of "covariance" costs the cube of the number of channels for each trial.

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

    sfreq: float
    _: KW_ONLY
    n_frequencies: int | str = 5
    n_neighbours: int = 4
    fmin: float | None = None
    fmax: float | None = None
    selector: Any = None
    features: str = "mean_power"
    width: Any = None
    contiguous: bool = False
    min_width: float = 4.0
    averaged: float = 0.05

    def _fit(self, signals: Array, y: Any, bins: Bins) -> None:
        _check_number("n_frequencies", self.n_frequencies, len(bins))
        check_count("n_neighbours", self.n_neighbours, 0)
        check_choice("features", self.features, tuple(FEATURES))
        if not isinstance(self.min_width, Real) or not 0 <= self.min_width < np.inf:
            raise ValueError(f"min_width is {self.min_width!r}; accepted: a number of at least 0, in Hz")
        if not isinstance(self.averaged, Real) or not 0 <= self.averaged <= 1:
            raise ValueError(f"averaged is {self.averaged!r}; accepted: a number from 0 to 1")
        chosen = self._interval(signals, y, bins) if self.contiguous else self._selected(signals, y, bins)
        self.all_frequencies_: Array = bins.frequencies
        self.frequencies_: Array = self.all_frequencies_[chosen]
        self.passing_: Mask = self._passing(bins, chosen)
        self._n_samples: int = signals.shape[-1]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.passing_, [False]])))
        self.bands_: Array = bins.every[np.column_stack([edges[::2], edges[1::2] - 1])]

    def _unfitted_selector(self) -> Any:
        if self.selector is not None:
            return clone(self.selector)
        return BAHSIC(kernel="linear", standardize=False) if self.features == "covariance" else BAHSIC()

    def _selected(self, signals: Array, y: Any, bins: Bins) -> Indices:
        features = band_features(signals, self.features)
        parts = [features(bins.interval(place, place)) for place in range(len(bins))]
        if self.features == "mean_power":
            parts = [powers.sum(axis=1, keepdims=True) for powers in parts]
        groups = np.repeat(np.arange(len(bins)), [part.shape[1] for part in parts])
        selector = self._unfitted_selector().set_params(n_features_to_select=self.n_frequencies)
        if self.features != "mean_power":
            selector.set_params(feature_groups=groups)
        self.selector_ = selector.fit(np.concatenate(parts, axis=1), y)
        return np.unique(groups[self.selector_.get_support()])

    def _interval(self, signals: Array, y: Any, bins: Bins) -> Indices:
        """Return the bins of the best intervals, averaged."""
        if self.n_frequencies == "auto":
            widths = np.subtract.outer(bins.starts[1:], bins.starts[:-1]).T * bins.every[1]
            allowed = np.triu(widths >= self.min_width - 1e-9)
            allowed[0, -1] = True  # all there is, where that is narrow
        else:
            allowed = np.eye(len(bins), k=int(self.n_frequencies) - 1, dtype=bool)
        judge, columns = _criterion(self._unfitted_selector(), y), band_features(signals, self.features)
        values = np.array([judge(columns(bins.interval(*ends))) for ends in np.argwhere(allowed).tolist()])
        self.interval_scores_ = np.full(allowed.shape, np.nan)
        self.interval_scores_[allowed] = values
        first, last = np.nonzero(allowed)
        order = np.argsort(-values, kind="stable")[: max(1, math.ceil(self.averaged * len(values)))]
        first, last = first[order], last[order]
        near = (first <= last[0]) & (last >= first[0])  # those that overlap with the best one
        start, length = round(first[near].mean() + 1e-9), round((last - first)[near].mean() + 1e-9)
        start = min(start, len(bins) - 1 - length)
        return np.arange(start, start + length + 1)

    def _passing(self, bins: Bins, chosen: Indices) -> Mask:
        """Return a mask of the coefficients of the selected bins, or of frequencies and their nearest neighbours."""
        passing = np.zeros(len(bins.every), dtype=bool)
        for place in chosen:
            if self.width is None:  # of two neighbours at the same distance the lower one comes first
                nearest = np.argsort(np.abs(bins.every - bins.frequencies[place]), kind="stable")
                passing[nearest[: self.n_neighbours + 1]] = True
            else:
                passing[bins.interval(place, place)] = True
        return passing

    def transform(self, X: Any) -> Array:
        """Return X, as in `fit` and with as many samples, filtered to the frequencies that pass."""
        check_is_fitted(self, "passing_")
        signals = checked_signals(X, self.sfreq)
        if signals.shape[-1] != self._n_samples:
            raise ValueError(f"X has {signals.shape[-1]} samples a trial; accepted: {self._n_samples}, as in fit")
        coefficients = np.fft.rfft(signals, axis=-1)
        coefficients[..., ~self.passing_] = 0.0
        return np.asarray(np.fft.irfft(coefficients, n=signals.shape[-1], axis=-1))


@dataclass(eq=False, repr=False)
class ChannelSelector(_SignalSelector):
    """Select channels by the dependence of the labels on their power spectra.

    The columns of a channel are the logarithms of its power in bins of frequencies. They are selected as a group.

    Parameters
    ----------
    sfreq, fmin, fmax, width
        Samples a second, frequencies to use, and their bins, as for `FrequencySelector`.
    n_channels : int or "auto", default="auto"
        Number of channels to select; "auto" takes the smallest number that predicts about as well as the best one.
    features : {"power", "relative_power"}, default="power"
        Columns of a channel, as for `FrequencySelector`; "relative_power" is better for EEG of many channels, where
        neighbours are correlated.
    selector : selector or None, default=None
        A `BAHSIC` or `FOHSIC`, whose number and groups are set here; None means ``BAHSIC()``.

    Attributes
    ----------
    channels_ : ndarray of int of shape (n_channels,)
        The selected channels, increasing.
    order_ : ndarray of int
        All channels, the most relevant first.
    frequencies_ : ndarray of shape (n_bins,)
        Mean frequency of each bin, in Hz.
    selector_ : selector
        Fitted to trials x (channels and frequencies).

    See Also
    --------
    FrequencySelector : Selects frequencies, by all channels as a group.

    Examples
    --------
    A wave in half of the trials, in the second of three channels:

    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 3, 100)), np.arange(60) % 2
    >>> X[y == 1, 1] += np.sin(2 * np.pi * 12 * np.arange(100) / 100)
    >>> selector = ChannelSelector(sfreq=100).fit(X, y)
    >>> selector.channels_
    array([1])
    >>> selector.transform(X).shape
    (60, 1, 100)
    """

    sfreq: float
    _: KW_ONLY
    n_channels: int | str = "auto"
    fmin: float | None = None
    fmax: float | None = None
    width: Any = 4.0
    features: str = "power"
    selector: Any = None

    def _fit(self, signals: Array, y: Any, bins: Bins) -> None:
        n = signals.shape[1]
        _check_number("n_channels", self.n_channels, n)
        check_choice("features", self.features, ("power", "relative_power"))
        columns = band_features(signals, self.features)
        powers = [columns(bins.interval(place, place)) for place in range(len(bins))]
        selector = BAHSIC() if self.selector is None else clone(self.selector)
        selector.set_params(n_features_to_select=self.n_channels, feature_groups=np.tile(np.arange(n), len(bins)))
        self.selector_ = selector.fit(np.concatenate(powers, axis=1), y)
        self.channels_ = np.flatnonzero(self.selector_.get_support()[:n])
        self.order_ = np.asarray(self.selector_.group_order_)
        self.frequencies_ = bins.frequencies

    def transform(self, X: Any) -> Array:
        """Return the signals of the selected channels of X, as in `fit` and with as many channels."""
        check_is_fitted(self, "channels_")
        signals = checked_signals(X, self.sfreq)
        if signals.shape[1] != len(self.order_):
            raise ValueError(f"X has {signals.shape[1]} channels; accepted: {len(self.order_)}, as in fit")
        return signals[:, self.channels_]


def _criterion(selector: Any, y: Any) -> Callable[[Array], float]:
    """Return the criterion of a BAHSIC or FOHSIC as a function of columns."""
    parameters = selector.get_params(deep=False)
    missing = sorted({"criterion", "kernel", "target_kernel", "ridge", "statistic", "standardize"} - set(parameters))
    if missing:
        raise ValueError(f"selector has no parameter {missing[0]!r}; accepted with contiguous=True: BAHSIC or FOHSIC")
    if parameters["criterion"] not in ("hsic", "prediction"):
        raise ValueError(f"criterion is {parameters['criterion']!r}; accepted: 'hsic' or 'prediction'")
    judge: Callable[..., float]
    judge, own = (hsic, "statistic") if parameters["criterion"] == "hsic" else (predictability, "ridge")
    options = {name: parameters[name] for name in ("kernel", "standardize", own)}
    options["target_kernel"] = chosen_name(y, parameters["target_kernel"], warn=True)  # here, and not for each interval
    return lambda columns: judge(columns, y, **options)


def _check_number(argument: str, number: Any, limit: int) -> None:
    if not is_auto(number) and (not is_count(number) or int(number) > limit):
        raise ValueError(f"{argument} is {number!r}; accepted: an int from 1 to {limit}, or 'auto'")
