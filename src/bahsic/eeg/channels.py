"""Selection of channels by the powers of all frequencies as a group."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bahsic.eeg.features import BandFeatures
from bahsic.eeg.signals import Array, checked_signals, frequency_bins
from bahsic.parameters import is_count
from bahsic.selection.selectors import BAHSIC

_NAMES = ("power", "relative_power")


class ChannelSelector(TransformerMixin, BaseEstimator):
    """Select channels by the dependence of the labels on their power spectra.

    The columns of a channel are the logarithms of its power in bins of frequencies; they enter and leave the selection
    as a group.

    Parameters
    ----------
    sfreq : float
        Samples a second.
    n_channels : int or "auto", default="auto"
        Number of channels to select; "auto" takes the smallest number that predicts the labels as well as any.
    fmin, fmax : float or None, default=None
        Lowest and highest frequency to look at, in Hz; by default all but zero.
    width : float, array-like or None, default=4.0
        Bins of frequencies: their width in Hz, or a list of their limits in Hz; None takes each Fourier coefficient by
        itself.
    features : {"power", "relative_power"}, default="power"
        Columns of a channel: the logarithm of its power in each bin, or the same after common average reference, minus
        its mean over the channels. The latter is better for EEG of many channels, where neighbours share much.
    selector : selector or None, default=None
        A `BAHSIC` or `FOHSIC`, of either criterion, whose number and groups are set; None means ``BAHSIC()``.

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

    def __init__(
        self,
        sfreq: float,
        *,
        n_channels: int | str = "auto",
        fmin: float | None = None,
        fmax: float | None = None,
        width: Any = 4.0,
        features: str = "power",
        selector: Any = None,
    ) -> None:
        self.sfreq = sfreq
        self.n_channels = n_channels
        self.fmin = fmin
        self.fmax = fmax
        self.width = width
        self.features = features
        self.selector = selector

    def fit(self, X: Any, y: Any) -> Self:
        """Select the channels.

        Parameters
        ----------
        X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
        y : array-like of shape (n_trials,)
            Classes, or whatever the selector takes.

        Returns
        -------
        self
        """
        signals = checked_signals(X, self.sfreq)
        n, number = signals.shape[1], self.n_channels
        if not (isinstance(number, str) and number == "auto") and (not is_count(number) or int(number) > n):
            raise ValueError(f"n_channels is {number!r}; accepted: an int from 1 to {n}, or 'auto'")
        bins = frequency_bins(signals.shape[-1], self.sfreq, self.fmin, self.fmax, self.width)
        if self.features not in _NAMES:
            raise ValueError(f"features is {self.features!r}; accepted: {', '.join(map(repr, _NAMES))}")
        columns = BandFeatures(signals, self.features)
        powers = [columns(bins.interval(place, place)) for place in range(len(bins))]
        selector = BAHSIC() if self.selector is None else clone(self.selector)
        selector.set_params(n_features_to_select=number, feature_groups=np.tile(np.arange(n), len(bins)))
        self.selector_ = selector.fit(np.concatenate(powers, axis=1), y)
        self.channels_ = np.flatnonzero(self.selector_.get_support()[:n])
        self.order_ = np.asarray(self.selector_.group_order_)
        self.frequencies_ = bins.frequencies
        return self

    def transform(self, X: Any) -> Array:
        """Signals of the selected channels.

        Parameters
        ----------
        X : array-like of shape (n_trials, n_channels, n_samples), or mne.Epochs
            With as many channels as in `fit`.

        Returns
        -------
        ndarray of shape (n_trials, n_selected, n_samples)
        """
        check_is_fitted(self, "channels_")
        signals = checked_signals(X, self.sfreq)
        if signals.shape[1] != len(self.order_):
            raise ValueError(f"X has {signals.shape[1]} channels; accepted: {len(self.order_)}, as in fit")
        return signals[:, self.channels_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags
