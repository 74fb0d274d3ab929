"""Pictures of a selection: each function draws on matplotlib Axes and returns them.

They need matplotlib, ``pip install "bahsic[plot]"``. Without ``ax`` they make a new figure with a layout that fits the
names; for your own figure use ``plt.subplots(layout="constrained")``. Long names are shortened, and only as many as fit
are written. Characters that the font lacks are drawn as U+FFFD; another ``font.family`` of matplotlib may have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from scipy.stats import false_discovery_control

from bahsic.arrays import Array, Mask
from bahsic.parameters import check_count
from bahsic.plotting.axes import axes_or_new, has_room_in_cells, write_names, write_sizes, write_title
from bahsic.plotting.checks import band_values, check_fraction, checked_names, similarity_table, vector
from bahsic.report import selector as reading
from bahsic.report.schema import Curve, curve_of
from bahsic.report.words import headline_of, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bands", "plot_path", "plot_ranking", "plot_redundancy", "plot_scores", "plot_stability"]

# Dark and light, which differ in grey too; light bars and markers are also hatched or hollow.
_DARK, _LIGHT = "#1b3a5c", "#c9d3de"
_COLOURS = "cividis"  # its luminance rises evenly

_MOST_HATCHED = 60  # bars; with more, each is too thin for a hatch
_OPTIMALLY_ORDERED = 200  # features at most; the cost of it is cubic


def plot_path(selector: Any, *, ax: Axes | None = None) -> Axes:
    """Plot held-out R^2 or HSIC against the number of features along the search.

    Parameters
    ----------
    selector : BAHSIC, FOHSIC or BAHSICCV
        Fitted. If it was cross-fitted (``cv`` is given, or the number or the kernel is "auto"), the R^2 of held-out
        samples is drawn with a band of one standard error on both sides. Otherwise HSIC is drawn, with a band if it
        has ``standard_errors=True`` (equation varHSIC).
    ax : Axes, optional

    Returns
    -------
    Axes
        A dashed line marks the selected number of features. The title says how well they predict held-out samples, or
        that nothing predicts the target.

    Raises
    ------
    ValueError
        If neither was measured: with ``criterion="prediction"`` and without cross-fitting.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=100, n_features=8, random_state=0)
    >>> ax = plot_path(BAHSIC(2, standard_errors=True).fit(X, y))
    >>> ax.get_xlabel(), ax.texts[0].get_text()
    ('number of features', '2 features selected')
    """
    selector = reading.fitted(selector)
    curve = _curve(selector)
    ax = axes_or_new(ax, 6.4, 4.0)
    ax.plot(curve.sizes, curve.values, color=_DARK, marker=".")
    if curve.errors is not None:
        low, high = np.subtract(curve.values, curve.errors), np.add(curve.values, curve.errors)
        ax.fill_between(curve.sizes, low, high, color=_LIGHT, zorder=1, label="± one standard error")
        ax.legend(loc="best", fontsize="small")
    write_sizes(ax, curve.sizes)
    ax.margins(y=0.15)  # space for the text beside the dashed line
    ax.set(xlabel="number of features", ylabel=curve.quantity.name)
    if number := curve.selected:
        ax.axvline(number, color="black", linestyle="--", linewidth=1)
        if curve.selected_value is not None:
            ax.plot(number, curve.selected_value, "D", color="black", markersize=7)
        left, middle, right = ax.xaxis.get_transform().transform(np.array([ax.get_xlim()[0], number, ax.get_xlim()[1]]))
        side, gap = ("left", 5) if 2 * middle <= left + right else ("right", -5)
        words, top = f"{plural(number, 'feature')} selected", ax.get_xaxis_transform()
        ax.annotate(words, (number, 1), (gap, -4), top, "offset points", ha=side, va="top", fontsize="small")
    if curve.is_r2:
        words = "".join(headline_of(reading.measured(selector)))
        for part in (" ± ", "R² ", "held-out "):  # not at the end of a line
            words = words.replace(part, part.replace(" ", "\u00a0"))
        write_title(ax, words)
    return ax


def plot_ranking(selector: Any, *, n: int = 30, names: Any = None, ax: Axes | None = None) -> Axes:
    """Plot the best features in order, with the held-out R^2 or HSIC of each one and all better ones together.

    Parameters
    ----------
    selector : BAHSIC, FOHSIC or BAHSICCV
        Fitted.
    n : int, default=30
        Number of features to show.
    names : sequence of str of length n_features, optional
        By default the names seen in `fit`, or x0, x1, ...
    ax : Axes, optional

    Returns
    -------
    Axes
        The value is that of `plot_path`. Markers are filled for selected features and hollow for others. Features that
        left or entered in the same round share a value, and those that never entered have no marker. Numbers on the
        right say in how many folds each feature was selected.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bahsic import FOHSIC
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_ranking(FOHSIC(2, step=1).fit(X, y), names=["sepal l", "sepal w", "petal l", "petal w"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['petal l', 'petal w', 'sepal l', 'sepal w']
    """
    selector = reading.fitted(selector)
    check_count("n", n)
    order = reading.search_order(selector)
    order = order[reading.candidate_mask(selector)[order]][:n]
    curve = _curve(selector)
    # The value of the smallest subset on the path with the first 1, 2, ... features; NaN where there is none.
    values = np.append(curve.values, np.nan)[np.searchsorted(curve.sizes, np.arange(1, len(order) + 1))]
    labels = checked_names(reading.feature_names(selector) if names is None else names, len(selector.ranking_))
    ax = _axes_of_rows(ax, [labels[j] for j in order])
    ax.plot(values, np.arange(len(order)), color=_LIGHT, zorder=1)
    for chosen, label, face in ((True, "selected", _DARK), (False, "not selected", "white")):
        rows = np.flatnonzero((reading.selected_mask(selector)[order] == chosen) & np.isfinite(values))
        if len(rows):
            ax.plot(values[rows], rows, "o", color=_DARK, markerfacecolor=face, label=label)
    ax.grid(axis="y", color="0.92")
    shares = reading.fold_shares(selector)
    if shares is not None and reading.selected_mask(selector).any():
        right = ax.secondary_yaxis("right")
        write_names(right.yaxis, [f"{round(shares[j] * selector.n_folds_)}/{selector.n_folds_}" for j in order])
        right.set_ylabel("chosen in folds", fontsize="small")
    known = values[np.isfinite(values)]
    ax.set_xlabel(f"{curve.quantity.name} down to here", loc="left")  # on the right there may be an exponent
    ax.legend(loc="lower left" if known[0] < known[-1] else "lower right", fontsize="small")  # away from the markers
    return ax


def plot_scores(
    scores: Any, pvalues: Any = None, *, names: Any = None, n: int = 30, level: float = 0.05, ax: Axes | None = None
) -> Axes:
    """Plot the highest scores of features.

    Parameters
    ----------
    scores : array-like of shape (n_features,), or fitted BAHSIC, FOHSIC or BAHSICCV
        For example from `bahsic.hsic_scores`. Of a selector, its ``scores_``: what would be lost without a selected
        feature, or gained with another one. Bars are then solid for selected features and hatched for others; ignored
        columns and features whose score was not measured have none.
    pvalues : array-like of shape (n_features,), optional
        P-values of the scores. Bars are then solid for features that are significant by the method of Benjamini and
        Hochberg, among all features, and hatched for others.
    names, n, ax
        As for `plot_ranking`.
    level : float, default=0.05
        The false discovery rate.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bahsic import hsic_scores
    >>> ax = plot_scores(*hsic_scores(*load_iris(return_X_y=True)), n=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x2', 'x3']
    """
    selector = reading.fitted(scores) if hasattr(scores, "fit") else None
    values = vector("scores", scores if selector is None else np.nan_to_num(selector.scores_))
    check_count("n", n)
    check_fraction("level", level)
    solid, legend, meaning, drawn = None, ("", ""), "HSIC of one feature", np.arange(len(values))
    if selector is not None:
        drawn = np.flatnonzero(reading.candidate_mask(selector) & np.isfinite(selector.scores_))
        names = reading.feature_names(selector) if names is None else names
        solid, legend = reading.selected_mask(selector), ("selected", "not selected")
        unit = {"hsic": "HSIC", "prediction": "R²"}.get(str(selector.criterion), "Criterion")
        meaning = f"{unit} lost without the feature, or gained with it"
    if pvalues is not None:
        solid = false_discovery_control(vector("pvalues", pvalues, len(values), fractions=True)) <= level
        legend = f"significant ({level:g})", "not significant"
    labels = checked_names(names, len(values))
    ax = _bars(values[drawn], [labels[j] for j in drawn], n, None if solid is None else solid[drawn], legend, ax)
    ax.set_xlabel(meaning, loc="left")
    return ax


def plot_redundancy(table: Any, *, names: Any = None, ax: Axes | None = None) -> Axes:
    """Plot the redundancy of features as a heat map, with near-duplicates next to each other.

    Parameters
    ----------
    table : array-like of shape (k, k)
        From `bahsic.redundancy`: symmetric, between 0 and 1.
    names : sequence of str of length k, optional
        By default x0, x1, ...
    ax : Axes, optional
        Gives up some space to a colour bar.

    Returns
    -------
    Axes
        Rows and columns are in the order of an average-linkage clustering by 1 - table. Values are written in the cells
        if they fit.

    Examples
    --------
    >>> ax = plot_redundancy([[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1]])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x1', 'x2', 'x0']
    """
    values = similarity_table(table)
    labels, order = checked_names(names, len(values)), np.arange(len(values))
    if len(values) > 1:
        distances = squareform(np.clip(1 - values, 0, None), checks=False)
        order = leaves_list(linkage(distances, "average", optimal_ordering=len(values) <= _OPTIMALLY_ORDERED))
    values = values[np.ix_(order, order)]
    ax = axes_or_new(ax, 6.4, 5.6)
    image = ax.imshow(values, cmap=_COLOURS, vmin=0, vmax=1, interpolation="nearest")
    for axis in (ax.xaxis, ax.yaxis):
        write_names(axis, [labels[j] for j in order])
    ax.tick_params(axis="x", labelrotation=90)
    if has_room_in_cells(ax, len(values)):
        grey = image.cmap(values)[..., :3] @ [0.2126, 0.7152, 0.0722]
        for (i, j), value in np.ndenumerate(values):
            colour = "black" if grey[i, j] > 0.5 else "white"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize="small")
    ax.figure.colorbar(image, ax=ax, label="normalised HSIC")
    return ax


def plot_stability(
    frequencies: Any, *, names: Any = None, n: int = 30, threshold: float = 0.6, ax: Axes | None = None
) -> Axes:
    """Plot the selection frequencies of the most stable features.

    Parameters
    ----------
    frequencies : array-like of shape (n_features,)
        From `bahsic.selection_frequencies`.
    names, n, ax
        As for `plot_ranking`.
    threshold : float, default=0.6
        Bars of at least this length are solid, others hatched.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_stability([0.2, 1.0, 0.7])
    >>> [float(bar.get_width()) for bar in ax.patches]
    [1.0, 0.7, 0.2]
    """
    values = vector("frequencies", frequencies, fractions=True)
    check_count("n", n)
    check_fraction("threshold", threshold)
    legend = (f"in at least {threshold:g}", "in fewer")
    ax = _bars(values, checked_names(names, len(values)), n, values >= threshold, legend, ax)
    ax.axvline(threshold, color="black", linestyle="--", linewidth=1)
    ax.set(xlabel="fraction of parts", xlim=(0, 1))
    return ax


def plot_bands(hsic: Any, lower: Any, upper: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the HSIC of frequency bands against their cut-offs, as in the paper's figure fg:bci.

    Parameters
    ----------
    hsic : array-like of shape (n_lower, n_upper)
        ``hsic[i, j]`` is the HSIC of the band from ``lower[i]`` to ``upper[j]``. If ``lower[i] >= upper[j]``, there is
        no band and the value, such as NaN, is not drawn.
    lower : array-like of shape (n_lower,)
        Lower cut-offs in Hz, increasing.
    upper : array-like of shape (n_upper,)
        Upper cut-offs in Hz, increasing.
    ax : Axes, optional
        Gives up some space to a colour bar.

    Returns
    -------
    Axes
        A cross is at the highest HSIC.

    Examples
    --------
    >>> ax = plot_bands([[0.1, 0.3], [np.nan, 0.2]], lower=[8, 12], upper=[12, 16])
    >>> ax.texts[0].get_text()
    '8 to 16 Hz: HSIC 0.3'
    """
    values, lows, highs = band_values(hsic, lower, upper)
    ax = axes_or_new(ax, 5.6, 4.8)
    mesh = ax.pcolormesh(_edges(lows), _edges(highs), values.T, cmap=_COLOURS)
    ax.figure.colorbar(mesh, ax=ax, label="HSIC")
    i, j = np.unravel_index(np.argmax(values.filled(-np.inf)), values.shape)
    for size, colour in ((5, "black"), (2, "white")):  # visible on dark and on light
        ax.plot(lows[i], highs[j], "x", color=colour, markersize=9 + size / 2, markeredgewidth=size)
    best = f"{lows[i]:g} to {highs[j]:g} Hz: HSIC {values[i, j]:.3g}"
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    ax.text(0.97, 0.03, best, transform=ax.transAxes, ha="right", va="bottom", fontsize="small", bbox=box)
    ax.set(xlabel="lower cut-off (Hz)", ylabel="upper cut-off (Hz)")
    return ax


def _curve(selector: Any) -> Curve:
    """Return the curve of a fitted selector's path, or raise if it has measured nothing."""
    curve = curve_of(reading.measured(selector))
    if curve is None:
        what = "the selector has measured neither HSIC nor held-out R2 along its path"
        raise ValueError(f'{what}; accepted: one that was fitted with cv="auto", or with criterion="hsic"')
    return curve


def _edges(centres: Array) -> Array:
    """Return the limits of cells around increasing centres."""
    steps = np.diff(centres) if len(centres) > 1 else np.ones(1)
    return np.append(centres[0] - steps[0] / 2, centres + np.append(steps, steps[-1])[: len(centres)] / 2)


def _axes_of_rows(ax: Axes | None, labels: Sequence[Any]) -> Axes:
    """Return Axes with a named row for each label, the first on top."""
    ax = axes_or_new(ax, 6.4, min(12.0, 1.2 + 0.2 * max(5, len(labels))))
    write_names(ax.yaxis, labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    return ax


def _bars(
    values: Array, labels: Sequence[Any], n: int, solid: Mask | None, legend: tuple[str, str], ax: Axes | None
) -> Axes:
    """Draw the n greatest values as horizontal bars, the greatest on top, hatched unless solid."""
    order = np.argsort(-values, kind="stable")[:n]
    ax = _axes_of_rows(ax, [labels[j] for j in order])
    chosen = np.ones(len(order), dtype=bool) if solid is None else solid[order]
    hatch = "////" if len(order) <= _MOST_HATCHED else ""
    words = [legend[0] if kind else legend[1] for kind in chosen]
    ax.barh(
        np.arange(len(order)),
        values[order],
        color=np.where(chosen, _DARK, _LIGHT),
        edgecolor=_DARK,
        linewidth=0.6,
        hatch=np.where(chosen, "", hatch).tolist(),
        label=["_" if word in words[:i] else word for i, word in enumerate(words)],  # each word once
    )
    if solid is not None:
        ax.legend(loc="lower right", fontsize="small")
    return ax
