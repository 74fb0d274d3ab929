"""Frequencies selected by all channels as a group, and channels by all frequencies, which the paper does not have."""

import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bahsic import BAHSIC
from bahsic.eeg import ChannelSelector
from experiments.eeg_lags import band_passed, lag_covariances
from experiments.eeg_methods import BAND, Decoded, Trials, predicted, with_frequencies

#: Limits of the bins of frequencies that are selected from, in Hz: more than the manual band.
LIMITS = (4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 36.0, 40.0)
#: Numbers of channels of the curve.
N_CHANNELS = (4, 8, 16, 32)
#: Repeats of the curve.
CHANNEL_REPEATS = 5


def _bands(trials: Trials, **options: Any) -> Decoded:
    """Common spatial patterns of the signals in the bands that are selected, as many as "auto" takes."""
    return with_frequencies(trials, n_frequencies="auto", width=LIMITS, **options)


def band_prediction(trials: Trials) -> Decoded:
    """The band from whose covariances the classes are predicted best."""
    selector = BAHSIC(criterion="prediction", kernel="linear", standardize=False)
    return _bands(trials, features="covariance", contiguous=True, selector=selector)


def band_hsic(trials: Trials) -> Decoded:
    """The band whose relative powers have the highest HSIC."""
    return _bands(trials, features="relative_power", contiguous=True)


def bins(trials: Trials, criterion: str) -> Decoded:
    """Bins of frequencies, each a group of the relative powers of all channels, which BAHSIC selects."""
    return _bands(trials, features="relative_power", selector=BAHSIC(criterion=criterion, kernel="linear", step=1))


def selected_channels(trials: Trials, n_channels: int, criterion: str) -> Decoded:
    """Common spatial patterns of some channels from 8 to 40 Hz, which BAHSIC selects by their powers there."""
    low, high = BAND
    number = min(n_channels, trials.X.shape[1])
    options: dict[str, Any] = {"features": "relative_power", "selector": BAHSIC(criterion=criterion)}
    selector = ChannelSelector(trials.sfreq, n_channels=number, fmin=low, fmax=high, **options)
    return _with_channels(trials, selector.fit(trials.X, trials.y).channels_)


def random_channels(trials: Trials, n_channels: int) -> Decoded:
    """The same with channels drawn at random, others for other labels."""
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(trials.y, dtype="<i8").tobytes()))
    every = trials.X.shape[1]
    return _with_channels(trials, np.sort(rng.choice(every, min(n_channels, every), replace=False)))


def _with_channels(trials: Trials, channels: Any) -> Decoded:
    train, test = (
        lag_covariances(band_passed(X[:, channels], trials.sfreq, *BAND))[:, 0] for X in (trials.X, trials.X_test)
    )
    return Decoded(predicted(train, trials.y, test), "channels " + " ".join(map(str, channels)))


def _with_number(way: Callable[[Trials, int], Decoded], number: int) -> Callable[[Trials], Decoded]:
    return lambda trials: way(trials, number)


#: Frequencies judged by all channels.
OPTIONS: dict[str, Callable[[Trials], Decoded]] = {
    "band_prediction": band_prediction,
    "band_hsic": band_hsic,
    "bins_prediction": partial(bins, criterion="prediction"),
    "bins_hsic": partial(bins, criterion="hsic"),
}
#: Ways to choose channels, by the first part of the name of a method; the second part is the number.
WAYS: dict[str, Callable[[Trials, int], Decoded]] = {
    "channels_hsic": partial(selected_channels, criterion="hsic"),
    "channels_prediction": partial(selected_channels, criterion="prediction"),
    "channels_random": random_channels,
}
CHANNELS: dict[str, Callable[[Trials], Decoded]] = {
    f"{name}_{number}": _with_number(way, number) for name, way in WAYS.items() for number in N_CHANNELS
}
