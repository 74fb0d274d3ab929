"""The brain-computer interface: recordings, CSP, CSSP and CSSSP with known answers, and no leak from test trials."""

import numpy as np
import pytest
from experiments import eeg
from experiments.eeg_csssp import ascent, leading
from experiments.eeg_lags import SHRINKAGE, autocorrelation, band_passed, delayed, filtered, lag_covariances, symmetric
from experiments.eeg_methods import CONTROLS, METHODS, Trials, machine
from experiments.eeg_options import OPTIONS
from experiments.eeg_recordings import load, others
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from scipy.linalg import eigh

RATE, N = 100.0, 300
QUICK = [*METHODS, *CONTROLS, *OPTIONS, "channels_hsic_4", "channels_prediction_4", "channels_random_4"]


def sources(n_trials=60, n_channels=5, planted=(12.0, 22.0), amplitude=1.0, seed=0):
    """White noise in sources, the first of which has waves of random phase in the trials of class 1, then mixed."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_trials) % 2
    X, time = rng.standard_normal((n_trials, n_channels, N)), np.arange(N) / RATE
    for frequency in planted:
        phase = rng.uniform(0, 2 * np.pi, (n_trials, 1))
        X[:, 0] += amplitude * y[:, None] * np.sin(2 * np.pi * frequency * time + phase)
    return rng.standard_normal((n_channels, n_channels)) @ X, y


def archive(folder, subject, X, y):
    """A file as the shared ones: from half a second before the cue, in units of 0.01."""
    (folder / "bci").mkdir(exist_ok=True)
    before = np.zeros((*X.shape[:2], 100))
    values = np.round(100 * np.concatenate([before, X, before[..., :50]], axis=-1)).astype(np.int16)
    np.savez(folder / "bci" / f"{subject}.npz", X=values, y=y.astype(np.int8), scale=0.01, sfreq=RATE, tmin=-0.5)


# --- recordings ---


@pytest.fixture
def competition(tmp_path):
    """Files of the structure of data set IVa: six cues, four of them with known labels."""
    rng = np.random.default_rng(0)
    cnt = rng.integers(-999, 999, (3000, 4)).astype(np.int16)
    cues, true_y = np.array([101, 501, 901, 1401, 1901, 2651]), np.array([1, 2, 2, 1, 2, 1])
    known = true_y.astype(float)
    known[4:] = np.nan
    names = np.array([["right", "foot"]], dtype=object)
    mrk = {"pos": cues[None], "y": known[None], "className": names}
    nfo = {"name": "aa", "fs": 100, "clab": np.array([["Fpz", "C3", "Cz", "C4"]], dtype=object)}
    (tmp_path / "bci").mkdir()
    path = tmp_path / "bci" / "data_set_IVa_aa.mat"
    savemat(path, {"cnt": cnt, "mrk": mrk, "nfo": nfo})
    savemat(tmp_path / "bci" / "true_labels_aa.mat", {"true_y": true_y[None], "test_idx": np.array([[5, 6]])})
    return path, cnt, cues, true_y


def test_files_of_the_competition(competition):
    path, cnt, cues, true_y = competition
    found = load("aa", path.parents[1])
    assert found.X.shape == (6, 4, 300)
    assert found.sfreq == 100
    assert_array_equal(found.y, true_y - 1)
    for trial, cue in zip(found.X, cues, strict=True):
        first = (cue - 1) + 50  # counted from zero, half a second later
        assert_allclose(trial, 0.1 * cnt[first : first + 300].T)
    assert others(path.parents[1]) == ["aa"]


def test_shared_recordings(data_folder):
    if not (data_folder / "bci").is_dir():
        pytest.skip("no recordings in the folder of the data sets")
    for subject in eeg.SUBJECTS:
        found, file = load(subject, data_folder), np.load(data_folder / "bci" / f"{subject}.npz")
        assert found.X.shape == (90, 64, 300)
        assert_array_equal(found.X, 0.25 * file["X"][..., 100:400])  # as the description of the files has it
        assert_array_equal(found.y, file["y"])


# --- covariances ---


def without_shrinkage(lags):
    trace = np.trace(lags, axis1=-2, axis2=-1)[..., None, None]
    return (lags - SHRINKAGE * trace / lags.shape[-1] * np.eye(lags.shape[-1])) / (1 - SHRINKAGE)


def test_band_keeps_its_limits():
    X, _ = sources(n_trials=2)
    before, after = np.fft.rfft(X), np.fft.rfft(band_passed(X, RATE, 8, 40))
    inside = np.zeros(151, dtype=bool)
    inside[24:121] = True  # steps of a third of a hertz
    assert_allclose(after[..., inside], before[..., inside], atol=1e-9)
    assert np.abs(after[..., ~inside]).max() < 1e-9


def test_lag_covariances_are_those_of_filtered_and_delayed_signals():
    X, _ = sources(n_trials=2)
    lags = lag_covariances(X, 4)
    assert_allclose(np.trace(lags[:, 0], axis1=1, axis2=2), 1)
    plain = without_shrinkage(lags)
    taps = np.array([1.0, -0.5, 0.0, 2.0])
    for trial, found, copies in zip(X, filtered(symmetric(plain), taps), delayed(plain, 3), strict=True):
        total = np.square(trial).sum()
        signal = np.array([np.convolve(channel, taps) for channel in trial])
        assert_allclose(found, signal @ signal.T / total, atol=1e-12)
        now, before = np.pad(trial, ((0, 0), (0, 3))), np.pad(trial, ((0, 0), (3, 0)))
        both = np.concatenate([now, before])
        assert_allclose(copies, both @ both.T / total, atol=1e-12)


def test_patterns_are_generalised_eigenvectors():
    pytest.importorskip("pyriemann")
    X, y = sources(n_channels=8)
    covariances = lag_covariances(X)[:, 0]
    zero, one = (covariances[y == label].mean(axis=0) for label in (0, 1))
    values, vectors = eigh(one, zero + one)
    extreme = vectors[:, np.argsort(-np.abs(values - 0.5))[:6]]
    expected = np.log(np.einsum("ik,nij,jk->nk", extreme, covariances, extreme))
    assert_allclose(machine()[0].fit_transform(covariances, y), expected, atol=1e-8)


# --- CSSP and CSSSP ---


def decoded(method, X, y):
    """Error in every other pair of trials after training on the others, and what was chosen."""
    train = np.arange(len(y)) % 4 < 2
    found = METHODS[method](Trials(X[train], y[train], X[~train], RATE))
    return np.mean(found.y != y[~train]), found


@pytest.fixture(scope="module")
def spectral():
    """Two sources of the same power in both classes: at 12 Hz in the one class, at 28 Hz in the other."""
    rng = np.random.default_rng(1)
    y, time = np.arange(80) % 2, np.arange(N) / RATE
    X = rng.standard_normal((80, 4, N))
    frequency = np.where(y == 1, 12.0, 28.0)[:, None, None]
    X[:, :2] += np.sin(2 * np.pi * frequency * time + rng.uniform(0, 2 * np.pi, (80, 2, 1)))
    return rng.standard_normal((4, 4)) @ X, y


def test_delays_see_what_variances_cannot(spectral):
    pytest.importorskip("pyriemann")
    X, y = spectral
    assert decoded("csp", X, y)[0] > 0.3
    assert decoded("cssp", X, y)[0] < 0.05
    assert decoded("csssp", X, y)[0] < 0.05


def class_means(X, y, n_taps=16):
    both = symmetric(lag_covariances(X, n_taps))
    return np.array([both[y == label].mean(axis=0) for label in (0, 1)])


def test_gradient_is_that_of_the_leading_eigenvalue():
    one, other = class_means(*sources(n_trials=20))
    taps = np.random.default_rng(3).standard_normal(16)
    value, slope = leading(one, one + other, taps)
    assert value == pytest.approx(eigh(filtered(one, taps), filtered(one + other, taps))[0][-1])
    steps = 1e-6 * np.eye(16)
    ends = [[leading(one, one + other, taps + sign * step)[0] for step in steps] for sign in (1, -1)]
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


def test_autocorrelation_by_definition():
    taps = np.random.default_rng(0).standard_normal(5)
    expected = [sum(taps[j] * taps[j + lag] for j in range(5 - lag)) for lag in range(5)]
    assert_allclose(autocorrelation(taps), expected)


# --- the whole way ---


@pytest.mark.parametrize("method", METHODS)
def test_shuffled_labels_stay_at_chance(method, tmp_path):
    pytest.importorskip("pyriemann")
    X, y = sources(n_trials=96, n_channels=4)
    archive(tmp_path, "right", X, y)
    cell = {"method": method, "repeat": 0}
    assert np.mean([float(row["error"]) for row in eeg.rows({**cell, "subject": "right"}, tmp_path)]) < 10
    errors = []
    for seed in range(2):
        archive(tmp_path, f"wrong{seed}", X, np.random.default_rng(seed).permutation(y))
        errors += [float(row["error"]) for row in eeg.rows({**cell, "subject": f"wrong{seed}"}, tmp_path)]
    assert 36 < np.mean(errors) < 64  # four standard deviations of 192 fair coins are 14


def test_controls_know_nothing_of_the_labels_or_select_more():
    pytest.importorskip("pyriemann")
    X, y = sources(n_trials=48, n_channels=4)
    drawn = [CONTROLS["random_in_band"](Trials(X, labels, X, RATE)).detail for labels in (y, y, 1 - y)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0].split()) == 5 + 1
    assert all(8 <= float(word) <= 40 for word in drawn[0].split()[:-1])
    assert len(CONTROLS["bahsic_15_in_band"](Trials(X, y, X, RATE)).detail.split()) == 15 + 1


@pytest.fixture(scope="module")
def moving():
    """Noise in five channels; a wave of 13 Hz in channel 1 or, in the other class, in channel 3."""
    rng = np.random.default_rng(0)
    y, time = np.arange(48) % 2, np.arange(N) / RATE
    X = rng.standard_normal((48, 5, N))
    wave = np.sin(2 * np.pi * 13 * time + rng.uniform(0, 2 * np.pi, (48, 1)))
    X[np.arange(48), np.where(y == 1, 3, 1)] += 0.5 * wave
    return X, y


@pytest.mark.parametrize("method", OPTIONS)
def test_band_in_which_power_moves_between_channels_is_selected(method, moving):
    pytest.importorskip("pyriemann")
    X, y = moving
    train = np.arange(48) % 4 < 2
    found = OPTIONS[method](Trials(X[train], y[train], X[~train], RATE))
    assert np.mean(found.y != y[~train]) < 0.1
    bands = [[float(limit) for limit in word.split("-")] for word in found.detail.split()[:-1]]
    assert any(low <= 13 <= high for low, high in bands)
    assert len(bands) == 1 or not method.startswith("band_")


def test_halves_are_the_same_for_all_methods_and_others_for_each_repeat():
    y = np.arange(90) % 2
    (train, test), (again, other) = eeg.halves(y, "S007", 0)
    assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(90))
    assert_array_equal(train, other)
    assert_array_equal(test, again)
    assert abs(y[train].sum() - y[test].sum()) <= 1
    assert_array_equal(eeg.halves(y, "S007", 0)[0][0], train)
    for subject, repeat in (("S007", 1), ("S042", 0)):
        assert not np.array_equal(eeg.halves(y, subject, repeat)[0][0], train)
