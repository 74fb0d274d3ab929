"""Dependence of the labels on frequency bands: HSIC of given bands, and the search for the best interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.eeg.signals import Array, Bins, power_spectra
from bahsic.inference.dependence import hsic
from bahsic.inference.predictability import predictability
from bahsic.kernels.labels.choice import chosen_name


def band_hsic(X: Any, y: Any, sfreq: float, lower: Any, upper: Any, **options: Any) -> Array:
    """Compute HSIC between the labels and the power spectrum in each frequency band (the paper's figure fg:bci).

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
    options["target_kernel"] = chosen_name(y, options.get("target_kernel", "auto"), warn=True)  # not for each band
    values = np.full((len(lows), len(highs)), np.nan)
    for i, j in np.argwhere(lows[:, None] < highs):
        band = (frequencies >= lows[i]) & (frequencies <= highs[j])
        if band.any():
            values[i, j] = hsic(standard[:, band], y, **{"standardize": False, **options})
    return values


def _cut_offs(argument: str, values: Any) -> Array:
    cut_offs = np.asarray(values)
    if cut_offs.ndim != 1 or cut_offs.dtype.kind not in "iuf" or not np.isfinite(cut_offs).all():
        raise ValueError(f"{argument} is {values!r}; accepted: a list of finite numbers, in Hz")
    return cut_offs.astype(np.float64)


def interval_scores(
    columns: Callable[[slice], Array], y: Any, bins: Bins, allowed: NDArray[np.bool_], selector: Any
) -> Array:
    """Return the criterion of a BAHSIC or FOHSIC for each allowed interval, by first and last bin; NaN for others.

    ``columns`` returns the features of an interval of Fourier coefficients.
    """
    parameters = selector.get_params(deep=False)
    missing = sorted({"criterion", "kernel", "target_kernel", "ridge", "statistic", "standardize"} - set(parameters))
    if missing:
        raise ValueError(f"selector has no parameter {missing[0]!r}; accepted with contiguous=True: BAHSIC or FOHSIC")
    if parameters["criterion"] not in ("hsic", "prediction"):
        raise ValueError(f"criterion is {parameters['criterion']!r}; accepted: 'hsic' or 'prediction'")
    judge: Callable[..., float]
    judge, own = (hsic, "statistic") if parameters["criterion"] == "hsic" else (predictability, "ridge")
    options = {name: parameters[name] for name in ("kernel", "standardize", own)}
    options["target_kernel"] = chosen_name(y, parameters["target_kernel"], warn=True)  # here, and not for each band
    values = np.full((len(bins), len(bins)), np.nan)
    for first, last in np.argwhere(allowed).tolist():
        values[first, last] = judge(columns(bins.interval(first, last)), y, **options)
    return values


def averaged_interval(scores: Array, share: float) -> tuple[int, int]:
    """Return first and last bin of the best interval, averaged over a share of the others that are nearly as good.

    Of these only the ones that overlap with the best one count. The mean first bin and the mean length are rounded.
    """
    first, last = np.nonzero(~np.isnan(scores))
    values = scores[first, last]
    order = np.argsort(-values, kind="stable")[: max(1, math.ceil(share * len(values)))]
    first, last = first[order], last[order]
    near = (first <= last[0]) & (last >= first[0])
    start, length = round(first[near].mean() + 1e-9), round((last - first)[near].mean() + 1e-9)
    start = min(start, len(scores) - 1 - length)
    return start, start + length
