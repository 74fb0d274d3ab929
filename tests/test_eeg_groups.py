"""Frequencies judged by all channels as a group, and channels by all frequencies: planted ones are found."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import logm, sqrtm

from bahsic import BAHSIC, FOHSIC, hsic, predictability
from bahsic.eeg import ChannelSelector, FrequencySelector

RATE, N = 100.0, 300
FEATURES = ("power", "relative_power", "covariance")
CRITERIA = ("hsic", "prediction")
BINS = {"n_frequencies": "auto", "fmin": 4, "fmax": 40, "width": 2}


def moving(n_trials=60, frequency=12.5, seed=0, n_channels=6):
    """Noise with a wave of random phase, in channel 1 where the label is 0 and in channel 4 where it is 1.

    The power that is averaged over the channels is the same for both labels.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    X, time = rng.standard_normal((n_trials, n_channels, N)), np.arange(N) / RATE
    wave = np.sin(2 * np.pi * frequency * time + rng.uniform(0, 2 * np.pi, (n_trials, 1)))
    X[np.arange(n_trials), np.where(y == 1, 4, 1)] += 0.5 * wave
    return X, y


def selector_for(features, criterion):
    options = {"kernel": "linear", "standardize": False} if features == "covariance" else {}
    return BAHSIC(criterion=criterion, step=1, **options)


# --- frequencies ---


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("features", FEATURES)
def test_power_that_moves_between_channels_is_found_by_groups(features, criterion):
    X, y = moving()
    options = {"features": features, "selector": selector_for(features, criterion)}
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 1}, **options).fit(X, y)
    assert_allclose(found.bands_, [[12, 13 + 2 / 3]])
    assert_allclose(found.frequencies_, [12 + 5 / 6])
    band = FrequencySelector(RATE, **{**BINS, "fmax": 24}, contiguous=True, averaged=0, **options).fit(X, y).bands_
    assert len(band) == 1
    assert band[0, 0] <= 12
    assert band[0, 1] > 13
    assert band[0, 1] - band[0, 0] < 6


@pytest.mark.parametrize("seed", range(3))
def test_average_over_channels_does_not_see_it(seed):
    X, y = moving(seed=seed)
    for options in ({"n_frequencies": 1}, {**BINS, "n_frequencies": 1}):
        alone = FrequencySelector(RATE, **options).fit(X, y)
        assert abs(alone.frequencies_[0] - 12.5) > 3
    groups = FrequencySelector(RATE, n_frequencies=1, fmin=4, fmax=40, features="power").fit(X, y)
    assert abs(groups.frequencies_[0] - 12.5) < 0.5


@pytest.mark.parametrize("criterion", CRITERIA)
def test_number_of_bins_is_chosen(criterion):
    X, y = moving(n_trials=80)
    X += moving(n_trials=80, frequency=24.5, seed=1)[0]
    found = FrequencySelector(RATE, **BINS, features="power", selector=selector_for("power", criterion)).fit(X, y)
    assert {12, 24} & set(found.bands_[:, 0])
    assert len(found.frequencies_) <= 3
    assert found.selector_.n_features_ == 6 * len(found.frequencies_)


def test_bins_pass_whole_and_without_neighbours():
    X, y = moving()
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 2}, features="power", n_neighbours=8).fit(X, y)
    assert found.passing_.sum() == 2 * 6  # six coefficients in 2 Hz
    after = np.fft.rfft(found.transform(X))
    assert np.abs(after[..., ~found.passing_]).max() < 1e-10
    assert_allclose(after[..., found.passing_], np.fft.rfft(X)[..., found.passing_], atol=1e-10)


def test_forward_selection_takes_groups_too():
    X, y = moving()
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 1}, features="power", selector=FOHSIC()).fit(X, y)
    assert_allclose(found.bands_, [[12, 13 + 2 / 3]])


# --- intervals ---


def tangents(X, inside):
    """Logarithms of covariance matrices relative to their mean, as rows."""
    Z = np.fft.rfft(X)[..., inside]
    C = np.real(Z @ Z.conj().transpose(0, 2, 1))
    n = X.shape[1]
    C = 0.95 * C / np.trace(C, axis1=1, axis2=2)[:, None, None] + 0.05 * np.eye(n) / n
    root = np.linalg.inv(np.real(sqrtm(C.mean(axis=0))))
    rows = np.array([logm(root @ covariance @ root).ravel() for covariance in C])
    rows -= rows.mean(axis=0)
    return rows / np.sqrt(np.square(rows).sum(axis=1).mean())


def log_powers(X, inside):
    return np.log(np.square(np.abs(np.fft.rfft(X)[..., inside])).sum(axis=-1))


def relative_log_powers(X, inside):
    powers = log_powers(X - X.mean(axis=1, keepdims=True), inside)
    return powers - powers.mean(axis=1, keepdims=True)


def mean_powers(X, inside):
    return np.square(np.abs(np.fft.rfft(X)[..., inside])).mean(axis=1)


DEFINITIONS = {
    "mean_power": mean_powers, "power": log_powers, "relative_power": relative_log_powers, "covariance": tangents
}  # fmt: skip


@pytest.mark.parametrize("features", DEFINITIONS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_scores_of_intervals_by_definition(features, criterion):
    X, y = moving(n_trials=30)
    options = {"fmin": 10, "fmax": 20, "width": 2, "contiguous": True, "n_frequencies": "auto", "features": features}
    found = FrequencySelector(RATE, **options, selector=selector_for(features, criterion)).fit(X, y)
    judged = ~np.isnan(found.interval_scores_)
    assert_array_equal(judged, np.triu(np.ones((5, 5)), 1) > 0)  # at least 4 Hz
    judge = hsic if criterion == "hsic" else predictability
    kernel = {"kernel": "linear", "standardize": False} if features == "covariance" else {}
    for first, last in ((1, 2), (1, 3), (2, 3)):
        inside = slice(30 + 6 * first, 36 + 6 * last)  # from 10 Hz, in thirds of a hertz
        expected = judge(DEFINITIONS[features](X, inside), y, **kernel)
        assert found.interval_scores_[first, last] == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_silent_channels_have_scores():
    X, y = moving(n_trials=30)
    X[:, 2], X[3] = 0.0, 0.0
    options = {"fmin": 10, "fmax": 20, "width": 2, "contiguous": True, "n_frequencies": 3}
    for features in FEATURES:
        scores = FrequencySelector(RATE, **options, features=features).fit(X, y).interval_scores_
        assert np.isfinite(scores).sum() == 3


def test_interval_of_a_given_number_of_bins():
    X, y = moving()
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 3}, features="power", contiguous=True).fit(X, y)
    assert len(found.frequencies_) == 3
    assert np.isfinite(found.interval_scores_).sum() == 18 - 2
    assert found.bands_[0, 0] <= 12
    assert found.bands_[0, 1] > 13


def test_interval_is_the_whole_range_where_that_is_narrow():
    X, y = moving(n_trials=20)
    found = FrequencySelector(RATE, n_frequencies="auto", fmin=10, fmax=12, contiguous=True, n_neighbours=0).fit(X, y)
    assert_allclose(found.bands_, [[10, 12]])


@pytest.mark.parametrize("share", [0, 0.05, 0.2, 1])
def test_limits_are_averaged_over_intervals_that_overlap_with_the_best(share):
    X, y = moving()
    options = {**BINS, "fmax": 24, "features": "power", "contiguous": True, "averaged": share}
    found = FrequencySelector(RATE, **options).fit(X, y)
    scores, n = found.interval_scores_, len(found.all_frequencies_)
    intervals = [(i, j) for i in range(n) for j in range(i, n) if not np.isnan(scores[i, j])]
    best = sorted(intervals, key=lambda interval: -scores[interval])[: max(1, int(np.ceil(share * len(intervals))))]
    near = [(i, j) for i, j in best if i <= best[0][1] and j >= best[0][0]]
    start, length = round(np.mean([i for i, _ in near]) + 1e-9), round(np.mean([j - i for i, j in near]) + 1e-9)
    start = min(start, n - 1 - length)
    assert_array_equal(found.frequencies_, found.all_frequencies_[start : start + length + 1])


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({"fmin": 8, "fmax": 40, "width": 5}, [24, 39, 54, 69, 84, 99, 121]),  # the last 2 Hz join the sixth bin
        ({"fmin": 8, "fmax": 40.9, "width": 5}, [24, 39, 54, 69, 84, 99, 114, 123]),
        ({"width": [4, 6, 10, 16]}, [12, 18, 30, 49]),
        ({"fmin": 10, "fmax": 11}, [30, 31, 32, 33, 34]),
    ],
)
def test_bins_of_frequencies(options, limits):
    X, y = moving(n_trials=20)
    found = FrequencySelector(RATE, n_frequencies=1, **options).fit(X, y)
    assert_allclose(found.all_frequencies_, [(i + j - 1) / 6 for i, j in itertools.pairwise(limits)])


# --- channels ---


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("features", ["power", "relative_power"])
def test_planted_channels_are_selected(features, criterion):
    X, y = moving(n_channels=10)
    options = {"features": features, "fmin": 8, "fmax": 40, "selector": BAHSIC(criterion=criterion, step=1)}
    found = ChannelSelector(RATE, n_channels=2, **options).fit(X, y)
    assert_array_equal(found.channels_, [1, 4])
    assert set(found.order_[:2]) == {1, 4}
    assert_array_equal(np.sort(found.order_), np.arange(10))
    assert_array_equal(found.transform(X), X[:, [1, 4]])
    assert len(found.frequencies_) == 8
    automatic = ChannelSelector(RATE, **options).fit(X, y)
    assert set(automatic.channels_) & {1, 4}
    assert len(automatic.channels_) <= 3


# --- what is refused ---


INTERVAL = {"contiguous": True, "width": 10}


@pytest.mark.parametrize(
    ("selector", "options", "message"),
    [
        (FrequencySelector, {"features": "phase"}, r"features is 'phase'; accepted: 'mean_power', 'power', 'relative_"),
        (FrequencySelector, {"n_frequencies": "all"}, r"n_frequencies is 'all'; accepted: an int from 1 to 150, or"),
        (FrequencySelector, {"width": 0}, r"width is 0; accepted: None, a number above 0, or increasing limits, in Hz"),
        (FrequencySelector, {"width": [8, 8]}, r"width is \[8, 8\]; accepted: None, a number above 0, or increasing"),
        (FrequencySelector, {"width": [8, 8.1, 8.2, 9]}, r"accepted: limits with a multiple of 0.333333 Hz"),
        (FrequencySelector, {"min_width": -1}, r"min_width is -1; accepted: a number of at least 0, in Hz"),
        (FrequencySelector, {"averaged": 2}, r"averaged is 2; accepted: a number from 0 to 1"),
        (
            FrequencySelector,
            {"features": "relative_power"},
            r"X has 2 channels; accepted for features='relative_power'",
        ),
        (FrequencySelector, {**INTERVAL, "selector": BAHSIC(criterion="guess")}, r"criterion is 'guess'; accepted"),
        (FrequencySelector, {**INTERVAL, "selector": FrequencySelector(1)}, r"selector has no parameter 'criterion'"),
        (ChannelSelector, {"n_channels": 7}, r"n_channels is 7; accepted: an int from 1 to 2, or 'auto'"),
        (ChannelSelector, {"n_channels": "all"}, r"n_channels is 'all'; accepted"),
        (ChannelSelector, {"features": "covariance"}, r"features is 'covariance'; accepted: 'power', 'relative_power'"),
    ],
)
def test_wrong_parameters(selector, options, message):
    X, y = moving(n_trials=10)
    with pytest.raises(ValueError, match=message):
        selector(**{"sfreq": RATE, **options}).fit(X[:, :2], y)


def test_channels_must_be_as_many_as_in_fit():
    X, y = moving(n_trials=12)
    fitted = ChannelSelector(RATE, n_channels=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 5 channels; accepted: 6, as in fit"):
        fitted.transform(X[:, :5])
