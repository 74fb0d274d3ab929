"""What is compared: filters in frequency before or inside of common spatial patterns, and a linear machine."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from bahsic.eeg import FrequencySelector
from experiments.baselines import Array
from experiments.eeg_csssp import N_TAPS, best_filter
from experiments.eeg_lags import band_passed, delayed, filtered, lag_covariances, symmetric
from experiments.eeg_recordings import INSTALL, Labels

#: The band of manual filtering, in Hz.
BAND = (8.0, 40.0)
N_PATTERNS = 6
INNER_FOLDS = 5
DELAYS = tuple(range(1, N_TAPS))
#: From the simplest filter on, which wins ties.
PENALTIES = (5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.01, 0.0)


@dataclass(frozen=True)
class Trials:
    """What a method may see: signals and classes of the training trials, and signals of the test trials."""

    X: Array
    y: Labels
    X_test: Array
    sfreq: float


@dataclass(frozen=True)
class Decoded:
    """Classes of the test trials, and what the method chose."""

    y: Labels
    detail: str


def csp(trials: Trials) -> Decoded:
    """Common spatial patterns of the signals from 8 to 40 Hz."""
    train, test = (lag_covariances(X)[:, 0] for X in _in_band(trials))
    return Decoded(predicted(train, trials.y, test), f"{BAND[0]:g} to {BAND[1]:g} Hz")


def bahsic(trials: Trials) -> Decoded:
    """Common spatial patterns of the signals at five frequencies that BAHSIC selects, and their four neighbours."""
    return with_frequencies(trials)


def bahsic_in_band(trials: Trials) -> Decoded:
    """The same, but only frequencies from 8 to 40 Hz are selected."""
    return with_frequencies(trials, fmin=BAND[0], fmax=BAND[1])


def random_in_band(trials: Trials) -> Decoded:
    """The same with five frequencies drawn at random."""
    return with_frequencies(trials, fmin=BAND[0], fmax=BAND[1], selector=_Drawn())


def bahsic_15_in_band(trials: Trials) -> Decoded:
    """The same with 15 frequencies."""
    return with_frequencies(trials, fmin=BAND[0], fmax=BAND[1], n_frequencies=15)


def with_frequencies(trials: Trials, **options: Any) -> Decoded:
    """Common spatial patterns of the signals at the frequencies that `FrequencySelector` selects."""
    selector = FrequencySelector(trials.sfreq, **options).fit(trials.X, trials.y)
    train, test = (lag_covariances(selector.transform(X))[:, 0] for X in (trials.X, trials.X_test))
    if selector.width is None:
        chosen = " ".join(f"{frequency:.4g}" for frequency in selector.frequencies_)
    else:
        chosen = " ".join(f"{low:.4g}-{high:.4g}" for low, high in selector.bands_)
    return Decoded(predicted(train, trials.y, test), f"{chosen} Hz")


class _Drawn(SelectorMixin, BaseEstimator):
    """Features drawn at random, others for other labels."""

    def __init__(self, n_features_to_select: int = 1) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Array, y: Labels) -> Self:
        """Draw."""
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(y, dtype="<i8").tobytes()))
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[rng.choice(X.shape[1], self.n_features_to_select, replace=False)] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_


def cssp(trials: Trials) -> Decoded:
    """Common spatio-spectral patterns: the delay of the copies is chosen by cross-validation in the training trials."""
    train, test = (lag_covariances(X, N_TAPS) for X in _in_band(trials))

    def delayed_prediction(delay: float, X: Array, y: Labels, X_test: Array) -> Labels:
        return predicted(delayed(X, int(delay)), y, delayed(X_test, int(delay)))

    delay = _chosen(DELAYS, delayed_prediction, train, trials.y)
    return Decoded(delayed_prediction(delay, train, trials.y, test), f"delay {delay:g}")


def csssp(trials: Trials) -> Decoded:
    """Common sparse spectral spatial patterns: the penalty is chosen by cross-validation in the training trials."""
    train, test = (symmetric(lag_covariances(X, N_TAPS)) for X in _in_band(trials))

    def sparse_prediction(penalty: float, X: Array, y: Labels, X_test: Array) -> Labels:
        taps = _taps(penalty, X, y)
        return predicted(filtered(X, taps), y, filtered(X_test, taps))

    penalty = _chosen(PENALTIES, sparse_prediction, train, trials.y)
    taps = " ".join(f"{tap:.3g}" for tap in _taps(penalty, train, trials.y) + 0.0)  # no -0
    return Decoded(sparse_prediction(penalty, train, trials.y, test), f"penalty {penalty:g} taps {taps}")


def _taps(penalty: float, X: Array, y: Labels) -> Array:
    return best_filter(np.array([X[y == label].mean(axis=0) for label in np.unique(y)]), penalty).taps


def _in_band(trials: Trials) -> tuple[Array, Array]:
    return band_passed(trials.X, trials.sfreq, *BAND), band_passed(trials.X_test, trials.sfreq, *BAND)


def _chosen(
    options: Sequence[float], prediction: Callable[[float, Array, Labels, Array], Labels], X: Array, y: Labels
) -> float:
    """The option with the fewest errors in a cross-validation, the first one of equals."""
    from sklearn.model_selection import StratifiedKFold

    errors = np.zeros(len(options), dtype=int)
    for train, test in StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0).split(X, y):
        for k, option in enumerate(options):
            errors[k] += np.sum(prediction(option, X[train], y[train], X[test]) != y[test])
    return options[int(np.argmin(errors))]


def predicted(X: Array, y: Labels, X_test: Array) -> Labels:
    """Classes of test trials by `machine`, from covariances."""
    found: Labels = machine().fit(X, y).predict(X_test)
    return found


def machine() -> Any:
    """Log-variances of the six most extreme common spatial patterns of covariances, and a linear SVM."""
    try:
        from pyriemann.spatialfilters import CSP
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"pyriemann is needed for this experiment: {INSTALL}", name="pyriemann") from error
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(CSP(N_PATTERNS, metric="euclid", log=True), StandardScaler(), SVC(kernel="linear"))


METHODS: dict[str, Callable[[Trials], Decoded]] = {
    "csp": csp,
    "cssp": cssp,
    "csssp": csssp,
    "bahsic": bahsic,
    "bahsic_in_band": bahsic_in_band,
}
#: What tells why: narrow filters that know nothing of the labels, and wider ones.
CONTROLS: dict[str, Callable[[Trials], Decoded]] = {
    "random_in_band": random_in_band,
    "bahsic_15_in_band": bahsic_15_in_band,
}
TITLES = {
    "csp": "CSP",
    "cssp": "CSSP",
    "csssp": "CSSSP",
    "bahsic": "BAHSIC",
    "bahsic_in_band": "BAHSIC, 8 to 40 Hz",
    "random_in_band": "5 at random, 8 to 40 Hz",
    "bahsic_15_in_band": "BAHSIC, 15 from 8 to 40 Hz",
    "band_prediction": "one band, prediction",
    "band_hsic": "one band, HSIC",
    "bins_prediction": "bands, prediction",
    "bins_hsic": "bands, HSIC",
}
