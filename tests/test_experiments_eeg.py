"""The brain-computer interface: recordings, CSP, CSSP and CSSSP with known answers, no leak from test trials."""

import numpy as np
import pytest
from experiments import eeg
from experiments.eeg_csssp import ascent, leading
from experiments.eeg_lags import SHRINKAGE, delayed, filtered, lag_covariances, symmetric
from experiments.eeg_methods import METHODS, Trials, machine
from experiments.eeg_options import OPTIONS
from experiments.eeg_recordings import load, others
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from scipy.linalg import eigh

RATE, N = 100.0, 300
TIME = np.arange(N) / RATE


def sources(n_trials=60, n_channels=5, planted=(12.0, 22.0), amplitude=1.0, seed=0):
    """White noise in sources, the first of which has waves of random phase in the trials of class 1, then mixed."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    X = rng.standard_normal((n_trials, n_channels, N))
    for frequency in planted:
        phase = rng.uniform(0, 2 * np.pi, (n_trials, 1))
        X[:, 0] += amplitude * y[:, None] * np.sin(2 * np.pi * frequency * TIME + phase)
    return rng.standard_normal((n_channels, n_channels)) @ X, y


def archive(folder, subject, X, y):
    """A file as the shared ones: from half a second before the cue, in units of 0.01."""
    (folder / "bci").mkdir(exist_ok=True)
    before = np.zeros((*X.shape[:2], 100))
    values = np.round(100 * np.concatenate([before, X, before[..., :50]], axis=-1)).astype(np.int16)
    np.savez(folder / "bci" / f"{subject}.npz", X=values, y=y.astype(np.int8), scale=0.01, sfreq=RATE, tmin=-0.5)


# --- recordings ---


def test_files_of_the_competition(tmp_path):
    """They have the structure of data set IVa: here six cues, four of them with known labels."""
    cnt = np.random.default_rng(0).integers(-999, 999, (3000, 4)).astype(np.int16)
    cues, true_y = np.array([101, 501, 901, 1401, 1901, 2651]), np.array([1, 2, 2, 1, 2, 1])
    known = np.where(np.arange(6) < 4, true_y, np.nan)
    mrk = {"pos": cues[None], "y": known[None], "className": np.array([["right", "foot"]], dtype=object)}
    nfo = {"name": "aa", "fs": 100, "clab": np.array([["Fpz", "C3", "Cz", "C4"]], dtype=object)}
    (tmp_path / "bci").mkdir()
    savemat(tmp_path / "bci" / "data_set_IVa_aa.mat", {"cnt": cnt, "mrk": mrk, "nfo": nfo})
    savemat(tmp_path / "bci" / "true_labels_aa.mat", {"true_y": true_y[None], "test_idx": np.array([[5, 6]])})
    found = load("aa", tmp_path)
    assert found.X.shape == (6, 4, 300)
    assert found.sfreq == 100
    assert_array_equal(found.y, true_y - 1)
    for trial, cue in zip(found.X, cues, strict=True):
        first = (cue - 1) + 50  # counted from zero, half a second later
        assert_allclose(trial, 0.1 * cnt[first : first + 300].T)
    assert others(tmp_path) == ["aa"]


# --- CSP, CSSP and CSSSP ---


def test_lag_covariances_are_those_of_filtered_and_delayed_signals():
    X, _ = sources(n_trials=2)
    lags = lag_covariances(X, 4)
    trace = np.trace(lags, axis1=-2, axis2=-1)[..., None, None]
    assert_allclose(trace[:, 0], 1)
    plain = (lags - SHRINKAGE * trace / 5 * np.eye(5)) / (1 - SHRINKAGE)
    taps = np.array([1.0, -0.5, 0.0, 2.0])
    for trial, found, copies in zip(X, filtered(symmetric(plain), taps), delayed(plain, 3), strict=True):
        total = np.square(trial).sum()
        signal = np.array([np.convolve(channel, taps) for channel in trial])
        assert_allclose(found, signal @ signal.T / total, atol=1e-12)
        both = np.concatenate([np.pad(trial, ((0, 0), (0, 3))), np.pad(trial, ((0, 0), (3, 0)))])
        assert_allclose(copies, both @ both.T / total, atol=1e-12)


def test_patterns_are_generalised_eigenvectors():
    pytest.importorskip("pyriemann")
    X, y = sources(n_channels=8)
    covariances = lag_covariances(X)[:, 0]
    zero, one = (covariances[y == label].mean(axis=0) for label in (0, 1))
    values, vectors = eigh(one, zero + one)
    extreme = vectors[:, np.argsort(-np.abs(values - 0.5))[:6]]
    wanted = np.log(np.einsum("ik,nij,jk->nk", extreme, covariances, extreme))
    assert_allclose(machine()[0].fit_transform(covariances, y), wanted, atol=1e-8)


def decoded(method, X, y):
    """Error in every other pair of trials after training on the others, and what was chosen."""
    train = np.arange(len(y)) % 4 < 2
    found = method(Trials(X[train], y[train], X[~train], RATE))
    return np.mean(found.y != y[~train]), found.detail


def test_delays_see_what_variances_cannot():
    """Two sources have the same power in both classes: at 12 Hz in the one class, at 28 Hz in the other."""
    pytest.importorskip("pyriemann")
    rng = np.random.default_rng(1)
    y, X = np.arange(80) % 2, rng.standard_normal((80, 4, N))
    frequency = np.where(y == 1, 12.0, 28.0)[:, None, None]
    X[:, :2] += np.sin(2 * np.pi * frequency * TIME + rng.uniform(0, 2 * np.pi, (80, 2, 1)))
    X = rng.standard_normal((4, 4)) @ X
    assert decoded(METHODS["csp"], X, y)[0] > 0.3
    assert decoded(METHODS["cssp"], X, y)[0] < 0.05
    assert decoded(METHODS["csssp"], X, y)[0] < 0.05


def class_means(X, y):
    both = symmetric(lag_covariances(X, 16))
    return np.array([both[y == label].mean(axis=0) for label in (0, 1)])


def test_gradient_is_that_of_the_leading_eigenvalue():
    one, other = class_means(*sources(n_trials=20))
    taps = np.random.default_rng(3).standard_normal(16)
    value, slope = leading(one, one + other, taps)
    assert value == pytest.approx(eigh(filtered(one, taps), filtered(one + other, taps))[0][-1])
    ends = [[leading(one, one + other, taps + step)[0] for step in sign * 1e-6 * np.eye(16)] for sign in (1, -1)]
    assert_allclose(slope, (np.array(ends[0]) - ends[1]) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 0.3])
def test_objective_never_falls_and_is_what_it_says(penalty):
    means = class_means(*sources(amplitude=0.5))
    found = ascent(means[1], means.sum(axis=0), penalty)
    assert len(found.objectives) > 3
    assert np.diff(found.objectives).min() >= 0
    value = leading(means[1], means.sum(axis=0), found.taps)[0]
    assert found.objectives[-1] == pytest.approx(value - penalty / 16 * np.abs(found.taps[1:]).sum())
    assert found.taps[0] == 1


# --- the whole way ---


@pytest.mark.parametrize("method", METHODS)
def test_shuffled_labels_stay_at_chance(method, tmp_path):
    pytest.importorskip("pyriemann")
    X, y = sources(n_trials=96, n_channels=4)

    def errors(subject, labels):
        archive(tmp_path, subject, X, labels)
        rows = eeg.rows({"method": method, "repeat": 0, "subject": subject}, tmp_path)
        return np.mean([float(row["error"]) for row in rows])

    assert errors("right", y) < 10
    shuffled = [errors(f"wrong{seed}", np.random.default_rng(seed).permutation(y)) for seed in range(2)]
    assert 36 < np.mean(shuffled) < 64  # four standard deviations of 192 fair coins are 14


@pytest.mark.parametrize("method", OPTIONS)
def test_band_in_which_power_moves_between_channels_is_selected(method):
    """A wave of 13 Hz is in channel 1 or, in the other class, in channel 3."""
    pytest.importorskip("pyriemann")
    rng = np.random.default_rng(0)
    y, X = np.arange(48) % 2, rng.standard_normal((48, 5, N))
    wave = np.sin(2 * np.pi * 13 * TIME + rng.uniform(0, 2 * np.pi, (48, 1)))
    X[np.arange(48), np.where(y == 1, 3, 1)] += 0.5 * wave
    error, detail = decoded(OPTIONS[method], X, y)
    assert error < 0.1
    bands = [[float(limit) for limit in word.split("-")] for word in detail.split()[:-1]]
    assert any(low <= 13 <= high for low, high in bands)
    assert len(bands) == 1 or not method.startswith("band_")


def test_halves_are_the_same_for_all_methods_and_others_for_each_repeat():
    y = np.arange(90) % 2
    (train, test), (again, other) = eeg.halves(y, "S007", 0)
    assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(90))
    assert_array_equal([train, test], [other, again])
    assert abs(y[train].sum() - y[test].sum()) <= 1
    assert_array_equal(eeg.halves(y, "S007", 0)[0][0], train)
    for subject, repeat in (("S007", 1), ("S042", 0)):
        assert not np.array_equal(eeg.halves(y, subject, repeat)[0][0], train)
