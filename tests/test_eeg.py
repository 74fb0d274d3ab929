"""Frequencies that the labels depend on: planted ones are found, what passes the filter is exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bahsic import BAHSIC, FOHSIC, hsic
from bahsic.eeg import FrequencySelector, band_hsic, power_spectra

RATE, N = 100.0, 300


def waves(n_trials=80, planted=(12.0, 22.0), seed=0):
    """Noise of a falling spectrum in five channels; waves of random phase where the label is 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    noise = np.fft.rfft(rng.standard_normal((n_trials, 5, N)))
    noise /= np.sqrt(1 + np.arange(noise.shape[-1]) / 10)
    X, time = np.fft.irfft(noise, n=N), np.arange(N) / RATE
    for frequency in planted:
        phase = rng.uniform(0, 2 * np.pi, (n_trials, 5, 1))
        X += 0.4 * y[:, None, None] * np.sin(2 * np.pi * frequency * time + phase)
    return X, y


def test_exactly_the_planted_frequencies_are_selected():
    for seed in range(3):
        X, y = waves(seed=seed)
        selector = FrequencySelector(RATE, n_frequencies=2).fit(X, y)
        assert_allclose(selector.frequencies_, [12, 22], atol=1e-9)


def test_spectra_by_definition():
    X, _ = waves(n_trials=3)
    spectra, frequencies = power_spectra(X, RATE, fmin=10, fmax=11)
    assert_allclose(frequencies, [10, 10 + 1 / 3, 10 + 2 / 3, 11])
    time = np.arange(N) / RATE
    for k, frequency in enumerate(frequencies):
        coefficient = (X * np.exp(-2j * np.pi * frequency * time)).sum(axis=-1)
        assert_allclose(spectra[:, k], (np.abs(coefficient) ** 2).mean(axis=1))
    assert power_spectra(X, RATE)[1][0] == pytest.approx(1 / 3)
    assert power_spectra(X, RATE, fmin=0)[1][0] == 0


def test_selector_sees_the_spectra():
    X, y = waves()
    found = FrequencySelector(RATE, selector=FOHSIC(step=2)).fit(X, y)
    expected = FOHSIC(5, step=2).fit(power_spectra(X, RATE)[0], y)
    assert_array_equal(found.selector_.support_, expected.support_)
    assert_array_equal(found.frequencies_, found.all_frequencies_[expected.support_])
    assert found.selector is not found.selector_


@pytest.mark.parametrize(("neighbours", "n"), [(0, 1), (2, 3), (4, 5)])
def test_filter_keeps_the_frequencies_and_their_neighbours(neighbours, n):
    X, y = waves()
    selector = FrequencySelector(RATE, n_frequencies=1, n_neighbours=neighbours).fit(X, y)
    filtered = selector.transform(X)
    assert filtered.shape == X.shape
    before, after = np.fft.rfft(X), np.fft.rfft(filtered)
    passing = np.abs(np.fft.rfftfreq(N, 1 / RATE) - selector.frequencies_[0]) < (neighbours // 2 + 0.5) * RATE / N
    assert passing.sum() == n
    assert_array_equal(selector.passing_, passing)
    assert_allclose(after[..., passing], before[..., passing], atol=1e-10)
    assert np.abs(after[..., ~passing]).max() < 1e-10


def test_neighbours_at_the_end_of_the_spectrum_are_those_that_there_are():
    time = np.arange(N) / RATE
    X, y = waves(planted=())
    X += 2 * y[:, None, None] * np.cos(2 * np.pi * 50 * time)
    selector = FrequencySelector(RATE, n_frequencies=1).fit(X, y)
    assert_allclose(selector.frequencies_, [50])
    assert_array_equal(np.flatnonzero(selector.passing_), np.arange(N // 2 - 4, N // 2 + 1))


def log_variance(X):
    return np.log(X.var(axis=-1))


def test_pipeline_and_no_leak():
    X, y = waves()
    frequencies = FrequencySelector(RATE, n_frequencies=2, fmin=5, fmax=40, selector=BAHSIC(step=0.5))
    model = make_pipeline(frequencies, FunctionTransformer(log_variance), LogisticRegression())
    assert cross_val_score(model, X, y, cv=4).mean() > 0.95
    shuffled = [cross_val_score(model, X, np.random.default_rng(seed).permutation(y), cv=4).mean() for seed in range(6)]
    assert 0.35 < np.mean(shuffled) < 0.65  # four standard deviations of 320 fair coins are 0.11


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


@pytest.mark.parametrize(("lower", "upper"), [("5", [10]), ([5], 10), ([5], [np.nan]), ([[5]], [10])])
def test_cut_offs_are_checked(lower, upper):
    wrong = "upper" if lower == [5] else "lower"
    with pytest.raises(ValueError, match=f"{wrong} is .*; accepted: a list of finite numbers, in Hz"):
        band_hsic(*waves(n_trials=8), RATE, lower, upper)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sfreq": 0}, r"sfreq is 0; accepted: a number above 0"),
        ({"n_frequencies": 151}, r"n_frequencies is 151; accepted: an int from 1 to 150"),
        ({"n_frequencies": 1.5}, r"n_frequencies is 1.5; accepted"),
        ({"n_neighbours": -1}, r"n_neighbours is -1; accepted: an int of at least 0"),
        ({"fmin": 60}, r"fmin is 60 and fmax None; accepted: an interval .* 0, 0.333333, ..., 50 Hz"),
        ({"X": np.ones((10, 1500))}, r"X has shape \(10, 1500\) and type float64; accepted: numbers of shape"),
        ({"X": np.where(np.arange(300) == 7, np.nan, np.ones((10, 5, 300)))}, "not finite in trial 0, channel 0"),
    ],
)
def test_wrong_parameters_and_signals(options, message):
    X, y = waves(n_trials=10)
    options = {"sfreq": RATE, **options}
    X = options.pop("X", X)
    with pytest.raises(ValueError, match=message):
        FrequencySelector(**options).fit(X, y)


def test_signals_must_be_as_long_as_in_fit():
    fitted = FrequencySelector(RATE).fit(*waves(n_trials=10))
    with pytest.raises(ValueError, match="X has 200 samples a trial; accepted: 300, as in fit"):
        fitted.transform(np.zeros((2, 5, 200)))


def test_clone_keeps_the_parameters():
    selector = FrequencySelector(RATE, n_frequencies=3, selector=BAHSIC(step=1))
    assert clone(selector).get_params()["selector__step"] == 1
