"""Frequencies and channels that the labels depend on: planted ones are found, what passes the filter is exact."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import logm, sqrtm
from sklearn.base import clone

from bahsic import BAHSIC, FOHSIC, hsic, predictability
from bahsic.eeg import ChannelSelector, FrequencySelector, band_hsic, power_spectra

RATE, N = 100.0, 300
TIME = np.arange(N) / RATE
CRITERIA = pytest.mark.parametrize("criterion", ["hsic", "prediction"])
BINS = {"n_frequencies": "auto", "fmin": 4, "fmax": 40, "width": 2}


def waves(n_trials=80, planted=(12.0, 22.0), seed=0):
    """Noise of a falling spectrum in five channels; waves of random phase where the label is 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    noise = np.fft.rfft(rng.standard_normal((n_trials, 5, N)))
    X = np.fft.irfft(noise / np.sqrt(1 + np.arange(noise.shape[-1]) / 10), n=N)
    for frequency in planted:
        phase = rng.uniform(0, 2 * np.pi, (n_trials, 5, 1))
        X += 0.4 * y[:, None, None] * np.sin(2 * np.pi * frequency * TIME + phase)
    return X, y


def moving(n_trials=60, frequency=12.5, seed=0, n_channels=6):
    """Noise with a wave of random phase, in channel 1 where the label is 0 and in channel 4 where it is 1.

    The power that is averaged over the channels is the same for both labels.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    X = rng.standard_normal((n_trials, n_channels, N))
    wave = np.sin(2 * np.pi * frequency * TIME + rng.uniform(0, 2 * np.pi, (n_trials, 1)))
    X[np.arange(n_trials), np.where(y == 1, 4, 1)] += 0.5 * wave
    return X, y


def selector_for(features, criterion):
    options = {"kernel": "linear", "standardize": False} if features == "covariance" else {}
    return BAHSIC(criterion=criterion, step=1, **options)


# --- frequencies ---


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_planted_frequencies_are_selected(seed):
    assert_allclose(FrequencySelector(RATE, n_frequencies=2).fit(*waves(seed=seed)).frequencies_, [12, 22], atol=1e-9)


def test_spectra_by_definition():
    X, _ = waves(n_trials=3)
    spectra, frequencies = power_spectra(X, RATE, fmin=10, fmax=11)
    assert_allclose(frequencies, [10, 10 + 1 / 3, 10 + 2 / 3, 11])
    for k, frequency in enumerate(frequencies):
        coefficient = (X * np.exp(-2j * np.pi * frequency * TIME)).sum(axis=-1)
        assert_allclose(spectra[:, k], (np.abs(coefficient) ** 2).mean(axis=1))
    assert power_spectra(X, RATE)[1][0] == pytest.approx(1 / 3)
    assert power_spectra(X, RATE, fmin=0)[1][0] == 0


def test_selector_sees_the_spectra():
    X, y = waves()
    found = clone(FrequencySelector(RATE, selector=FOHSIC(step=2))).fit(X, y)
    expected = FOHSIC(5, step=2).fit(power_spectra(X, RATE)[0], y)
    assert_array_equal(found.selector_.support_, expected.support_)
    assert_array_equal(found.frequencies_, found.all_frequencies_[expected.support_])
    assert found.selector is not found.selector_


@pytest.mark.parametrize(("neighbours", "n"), [(0, 1), (2, 3), (4, 5)])
def test_filter_keeps_the_frequencies_and_their_neighbours(neighbours, n):
    X, y = waves()
    selector = FrequencySelector(RATE, n_frequencies=1, n_neighbours=neighbours).fit(X, y)
    passing = np.abs(np.fft.rfftfreq(N, 1 / RATE) - selector.frequencies_[0]) < (neighbours // 2 + 0.5) * RATE / N
    assert passing.sum() == n
    assert_array_equal(selector.passing_, passing)
    assert_filtered(selector, X)


def assert_filtered(selector, X):
    before, after = np.fft.rfft(X), np.fft.rfft(selector.transform(X))
    assert_allclose(after, np.where(selector.passing_, before, 0), atol=1e-10)


def test_neighbours_at_the_end_of_the_spectrum_are_those_that_there_are():
    X, y = waves(planted=())
    X += 2 * y[:, None, None] * np.cos(2 * np.pi * 50 * TIME)
    selector = FrequencySelector(RATE, n_frequencies=1).fit(X, y)
    assert_allclose(selector.frequencies_, [50])
    assert_array_equal(np.flatnonzero(selector.passing_), np.arange(N // 2 - 4, N // 2 + 1))


def test_bands_by_definition():
    X, y = waves(n_trials=30)
    lower, upper = [5, 11, 20], [8, 13, 25]
    values = band_hsic(X, y, RATE, lower, upper, target_kernel="delta")
    spectra, frequencies = power_spectra(X, RATE)
    standard = (spectra - spectra.mean(axis=0)) / spectra.std(axis=0)
    for i, low in enumerate(lower):
        for j, high in enumerate(upper):
            if low >= high:
                assert np.isnan(values[i, j])
            else:
                inside = (frequencies >= low) & (frequencies <= high)
                assert values[i, j] == hsic(standard[:, inside], y, target_kernel="delta", standardize=False)
    assert np.nanargmax(values) == 4  # 11 to 13 Hz


def test_epochs_of_mne():
    mne = pytest.importorskip("mne", reason="epochs are made by mne")
    X, y = waves(n_trials=20)
    info = mne.create_info(5, RATE, "eeg", verbose="error")
    epochs = mne.EpochsArray(X, info, verbose="error")
    assert_array_equal(
        FrequencySelector(RATE).fit(epochs, y).transform(epochs), FrequencySelector(RATE).fit_transform(X, y)
    )
    fitted = FrequencySelector(250).fit(X, y)
    for refused in (lambda: FrequencySelector(250).fit(epochs, y), lambda: fitted.transform(epochs)):
        with pytest.raises(ValueError, match="sfreq is 250, X has 100 samples a second; accepted: that of X"):
            refused()


# --- groups of channels ---


@CRITERIA
@pytest.mark.parametrize("features", ["power", "relative_power", "covariance"])
def test_power_that_moves_between_channels_is_found_by_groups(features, criterion):
    X, y = moving()
    options = {"features": features, "selector": selector_for(features, criterion)}
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 1}, **options).fit(X, y)
    assert_allclose(found.bands_, [[12, 13 + 2 / 3]])
    assert_allclose(found.frequencies_, [12 + 5 / 6])
    ((low, high),) = (
        FrequencySelector(RATE, **{**BINS, "fmax": 24}, contiguous=True, averaged=0, **options).fit(X, y).bands_
    )
    assert low <= 12
    assert 13 < high < low + 6


def test_bins_pass_whole_and_without_neighbours():
    X, y = moving()
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 2}, features="power", n_neighbours=8).fit(X, y)
    assert found.passing_.sum() == 2 * 6  # six coefficients in 2 Hz
    assert_filtered(found, X)


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


DEFINITIONS = {
    "mean_power": lambda X, inside: np.square(np.abs(np.fft.rfft(X)[..., inside])).mean(axis=1),
    "power": log_powers,
    "relative_power": relative_log_powers,
    "covariance": tangents,
}


@pytest.mark.parametrize("features", DEFINITIONS)
@CRITERIA
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


@pytest.mark.parametrize("features", ["power", "relative_power", "covariance"])
def test_silent_channels_have_scores(features):
    X, y = moving(n_trials=30)
    X[:, 2], X[3] = 0.0, 0.0
    options = {"fmin": 10, "fmax": 20, "width": 2, "contiguous": True, "n_frequencies": 3, "features": features}
    assert np.isfinite(FrequencySelector(RATE, **options).fit(X, y).interval_scores_).sum() == 3


def test_interval_of_a_given_number_of_bins_or_of_all_there_are():
    X, y = moving()
    found = FrequencySelector(RATE, **{**BINS, "n_frequencies": 3}, features="power", contiguous=True).fit(X, y)
    assert len(found.frequencies_) == 3
    assert np.isfinite(found.interval_scores_).sum() == 18 - 2
    assert found.bands_[0, 0] <= 12
    assert found.bands_[0, 1] > 13
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


@CRITERIA
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


# --- errors ---


FREQUENCY, CHANNEL, INTERVAL = FrequencySelector, ChannelSelector, {"contiguous": True, "width": 10}


@pytest.mark.parametrize(
    ("selector", "options", "message"),
    [
        (FREQUENCY, {"sfreq": 0}, r"sfreq is 0; accepted: a number above 0"),
        (FREQUENCY, {"n_frequencies": 151}, r"n_frequencies is 151; accepted: an int from 1 to 150"),
        (FREQUENCY, {"n_frequencies": "all"}, r"n_frequencies is 'all'; accepted: an int from 1 to 150, or"),
        (FREQUENCY, {"n_neighbours": -1}, r"n_neighbours is -1; accepted: an int of at least 0"),
        (FREQUENCY, {"fmin": 60}, r"fmin is 60 and fmax None; accepted: an interval .* 0, 0.333333, ..., 50 Hz"),
        (
            FREQUENCY,
            {"X": np.ones((10, 1500))},
            r"X has shape \(10, 1500\) and type float64; accepted: numbers of shape",
        ),
        (FREQUENCY, {"X": np.where(np.arange(N) == 7, np.nan, 1) * np.ones((10, 5, 1))}, "in trial 0, channel 0"),
        (FREQUENCY, {"features": "phase"}, r"features is 'phase'; accepted: 'mean_power', 'power', 'relative_"),
        (FREQUENCY, {"width": 0}, r"width is 0; accepted: None, a number above 0, or increasing limits, in Hz"),
        (FREQUENCY, {"width": [8, 8.1, 8.2, 9]}, r"accepted: limits with a multiple of 0.333333 Hz"),
        (FREQUENCY, {"min_width": -1}, r"min_width is -1; accepted: a number of at least 0, in Hz"),
        (FREQUENCY, {"averaged": 2}, r"averaged is 2; accepted: a number from 0 to 1"),
        (FREQUENCY, {"features": "relative_power"}, r"X has 2 channels; accepted for features='relative_power'"),
        (FREQUENCY, {**INTERVAL, "selector": BAHSIC(criterion="guess")}, r"criterion is 'guess'; accepted"),
        (FREQUENCY, {**INTERVAL, "selector": FrequencySelector(1)}, r"selector has no parameter 'criterion'"),
        (CHANNEL, {"n_channels": 7}, r"n_channels is 7; accepted: an int from 1 to 2, or 'auto'"),
        (CHANNEL, {"features": "covariance"}, r"features is 'covariance'; accepted: 'power', 'relative_power'"),
    ],
)
def test_wrong_parameters_and_signals(selector, options, message):
    X, y = moving(n_trials=10)
    options = {"sfreq": RATE, "X": X[:, :2], **options}
    X = options.pop("X")
    with pytest.raises(ValueError, match=message):
        selector(**options).fit(X, y)


@pytest.mark.parametrize(("lower", "upper"), [("5", [10]), ([5], 10), ([5], [np.nan]), ([[5]], [10])])
def test_cut_offs_are_checked(lower, upper):
    wrong = "upper" if lower == [5] else "lower"
    with pytest.raises(ValueError, match=f"{wrong} is .*; accepted: a list of finite numbers, in Hz"):
        band_hsic(*waves(n_trials=8), RATE, lower, upper)


def test_signals_must_be_as_in_fit():
    X, y = moving(n_trials=12)
    with pytest.raises(ValueError, match="X has 200 samples a trial; accepted: 300, as in fit"):
        FrequencySelector(RATE).fit(X, y).transform(X[..., :200])
    with pytest.raises(ValueError, match="X has 5 channels; accepted: 6, as in fit"):
        ChannelSelector(RATE, n_channels=2).fit(X, y).transform(X[:, :5])
