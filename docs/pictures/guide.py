"""Pictures of the start page and the user guide, drawn from the data of the examples there."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from style import ACCENT, DARK, LIGHT, drawn

_RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def _start(figure: Any) -> None:
    """Wines: predictability along the path, and two of the selected measurements."""
    from sklearn.datasets import load_wine

    from bahsic import BAHSIC
    from bahsic.plotting import plot_path

    wine = load_wine()
    left, right = figure.subplots(1, 2)
    plot_path(BAHSIC("auto", criterion="prediction").fit(wine.data, wine.target), ax=left)
    left.set_title("Five of 13 measurements are enough")
    pair = [wine.feature_names.index(name) for name in ("flavanoids", "proline")]
    for grower, (marker, colour) in enumerate(zip("os^", (DARK, LIGHT, ACCENT), strict=True)):
        right.plot(
            *wine.data[wine.target == grower][:, pair].T, marker, color=colour, label=f"grower {grower}", markersize=4
        )
    right.set(xlabel="flavanoids", ylabel="proline", title="Two of them, and the three growers")
    right.legend(loc="upper left", handletextpad=0.1)


def _criterion(figure: Any) -> None:
    """Redundancy of five features of the breast cancer data by each criterion."""
    from sklearn.datasets import load_breast_cancer

    from bahsic import BAHSIC, redundancy

    cells = load_breast_cancer()
    X, names = cells.data, cells.feature_names
    panels = figure.subplots(1, 2)
    for axes, criterion in zip(panels, ("hsic", "prediction"), strict=True):
        support = BAHSIC(5, criterion=criterion).fit(X, cells.target).support_
        similar = redundancy(X, support)
        image = axes.imshow(similar, vmin=0, vmax=1, cmap="cividis")
        axes.set_xticks([])  # in the order of the lines
        axes.set_yticks(range(5), names[support])
        axes.set_title(f'criterion="{criterion}"')
        axes.spines[:].set_visible(False)
        for (row, column), value in np.ndenumerate(similar):
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if value < 0.6 else "black")
    figure.colorbar(image, ax=panels, label="similarity (1: copies)", shrink=0.8)


def _number(figure: Any) -> None:
    """Held-out R2 along the path of XOR, and of noise, where nothing predicts."""
    from bahsic import BAHSIC
    from bahsic.datasets import make_xor
    from bahsic.plotting import plot_path

    X, y, _ = make_xor(n_samples=200, n_features=12, random_state=0)
    random = np.random.default_rng(0)
    random.standard_normal(300 * 7)  # the page draws other data before
    noise, labels = random.standard_normal((100, 200)), np.arange(100) % 2
    left, right = figure.subplots(1, 2)
    plot_path(BAHSIC("auto").fit(X, y), ax=left)
    plot_path(BAHSIC("auto").fit(noise, labels), ax=right)
    left.set_title("XOR of 2 among 12 features")
    right.set_title("200 features of noise: nothing predicts")


def _kernels(figure: Any) -> None:
    """The kernels as functions of the difference of one standardised feature, and two functions they suit."""
    from bahsic.kernels import Gaussian, Laplacian

    left, right = figure.subplots(1, 2)
    distance = np.linspace(-4, 4, 401)
    for kernel, colour, style in ((Gaussian(0.5), DARK, "-"), (Laplacian(0.5), ACCENT, "--")):
        left.plot(
            distance,
            kernel(distance[:, None], np.zeros((1, 1)))[:, 0],
            style,
            color=colour,
            label=type(kernel).__name__,
        )
    left.set(xlabel="difference of two values", ylabel="k", title='The two kernels of "auto"')
    left.legend()
    x = np.linspace(-1, 1, 400)
    right.plot(x, np.sin(3 * x), color=DARK, label="smooth: Gaussian")
    right.plot(x, np.sign(np.sin(6 * x)), "--", color=ACCENT, label="steps: Laplacian")
    right.set(xlabel="x", ylabel="y", ylim=(-1.1, 2), yticks=[-1, 0, 1], title="What each is good at")
    right.legend(loc="upper left")


def _significance(figure: Any) -> None:
    """How often noise is called significant, from the rows of benchmarks/selection_bias.py."""
    from marked import read

    rows = [row for row in read("selection_bias") if row["what"].startswith("noise")]
    axes = figure.subplots()
    levels = sorted({float(row["level"]) for row in rows})
    kinds = {
        "tested on the same samples": (ACCENT, "hsic_test on the same samples"),
        "selection_test": (DARK, "selection_test"),
    }
    for shift, (kind, (colour, label)) in zip((-0.2, 0.2), kinds.items(), strict=True):
        values = [
            float(row["value"])
            for level in levels
            for row in rows
            if row["what"].endswith(f": {kind}") and float(row["level"]) == level
        ]
        bars = axes.bar(np.arange(len(levels)) + shift, values, 0.38, color=colour, label=label)
        axes.bar_label(bars, [f"{100 * value:.1f} %" for value in values])
    axes.set_xticks(range(len(levels)), [f"level {100 * level:.0f} %" for level in levels])
    axes.set(ylabel="share of data sets", ylim=(0, 1.45), yticks=[0, 0.5, 1], title="Pure noise called significant")
    axes.legend(loc="upper left")


def _panels(figure: Any) -> None:
    """R2 of a panel of three measurements of wine, and as others join it."""
    from sklearn.datasets import load_wine

    from bahsic import FOHSIC, predictability

    wine = load_wine()
    names, X, y = np.array(wine.feature_names), wine.data, wine.target
    panel = np.flatnonzero(np.isin(names, ["alcohol", "hue", "ash"]))
    path = FOHSIC(6, keep=panel, criterion="prediction", cv=5).fit(X, y).path_
    labels = ["alcohol, ash, hue", *(f"+ {names[step.features[-1]]}" for step in path)]
    values = [predictability(X[:, panel], y), *(step.predictability for step in path)]
    axes = figure.subplots()
    bars = axes.barh(labels[::-1], values[::-1], color=[DARK] * len(path) + [LIGHT], height=0.6)
    axes.bar_label(bars, [f"{value:.2f}" for value in values[::-1]], padding=-40, color="white", weight="bold")
    everything = predictability(X, y)
    axes.axvline(everything, color=ACCENT, linestyle=":")
    axes.set(xlim=(0, 1.02), title="A panel, and what joins it")
    axes.set_xlabel(f"held-out R²; dotted line: all 13 measurements, {everything:.2f}")


def _genes(figure: Any) -> None:
    """How often each gene is selected from halves of the samples; ten of 2000 genes differ."""
    from bahsic import BAHSIC, selection_frequencies

    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 2000)), np.arange(60) % 2
    X[y == 1, :10] += 1.3
    frequencies = selection_frequencies(BAHSIC(10, step=0.5), X, y, n_resamples=10, random_state=0)
    shown = np.argsort(-frequencies, kind="stable")[:20]
    axes = figure.subplots()
    axes.bar(range(20), frequencies[shown], color=[ACCENT if j < 10 else LIGHT for j in shown])
    axes.set_xticks(range(20), shown, rotation=90)
    axes.set(xlabel="gene (the ten orange ones differ between the classes)", ylabel="share of halves", ylim=(0, 1.05))
    axes.set_title("The 20 genes selected most often, of 2000")


def _labels(figure: Any) -> None:
    """Kernel matrices of 60 labels of three kinds, sorted."""
    from bahsic.kernels import Delta, Gaussian

    kinds = {
        "two classes": (Delta(), np.repeat([0, 1], 30)),
        "four classes": (Delta(), np.repeat([0, 1, 2, 3], 15)),
        "numbers": (Gaussian(2.0), np.linspace(-1.7, 1.7, 60)),
    }
    panels = figure.subplots(1, 3)
    for axes, (title, (kernel, y)) in zip(panels, kinds.items(), strict=True):
        image = axes.imshow(kernel(y[:, None], y[:, None]), cmap="cividis", vmin=0, vmax=1)
        axes.set(title=title, xticks=[], yticks=[], xlabel="60 samples, sorted by their label")
    figure.colorbar(image, ax=panels, label="similarity of labels", shrink=0.8)


def _eeg(figure: Any) -> None:
    """HSIC of frequency bands; half of the trials have a wave of 12 Hz."""
    from bahsic.eeg import band_hsic
    from bahsic.plotting import plot_bands

    X, y = np.random.default_rng(0).standard_normal((80, 3, 200)), np.arange(80) % 2
    X[y == 1] += 0.8 * np.sin(2 * np.pi * 12 * np.arange(200) / 100)
    lower, upper = np.arange(5, 30), np.arange(6, 31)
    plot_bands(band_hsic(X, y, 100, lower, upper), lower, upper, ax=figure.subplots())


_FIGURES: dict[str, tuple[Callable[[Any], None], int, int, *tuple[Path, ...]]] = {
    "start.png": (_start, 1300, 520),
    "criterion.png": (_criterion, 1400, 520),
    "number.png": (_number, 1300, 500),
    "kernels.png": (_kernels, 1300, 480),
    "significance.png": (_significance, 920, 500, _RESULTS / "selection_bias.csv"),
    "panels.png": (_panels, 1000, 420),
    "genes.png": (_genes, 1000, 480),
    "labels.png": (_labels, 1300, 460),
    "eeg.png": (_eeg, 900, 620),
}


def _draw(path: Path, draw: Callable[[Any], None], width: int, height: int) -> None:
    drawn(path, width, height, draw)


PICTURES = {
    name: (partial(_draw, draw=draw, width=width, height=height), width, height, *sources)
    for name, (draw, width, height, *sources) in _FIGURES.items()
}
