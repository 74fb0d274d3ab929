"""Figures, drawn with matplotlib from rows alone."""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.artificial import PROBLEMS, SHOWN, means
from experiments.baselines.recent import INSTALL
from experiments.methods import METHODS
from experiments.rows import Row

# Colours and marks of the paper's figure.
_STYLES = {
    "pearson": ("tab:blue", "o"),
    "relief": ("tab:green", "<"),
    "mutual_information": ("tab:purple", "v"),
    "fohsic": ("black", "^"),
    "bahsic": ("tab:red", "s"),
    "pearson_of_numbers": ("tab:cyan", "."),
}
_TITLES = {"xor": "Binary XOR", "multiclass": "Multiclass", "regression": "Nonlinear regression"}


def pyplot() -> Any:
    """matplotlib without a screen."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"matplotlib is needed for figures: {INSTALL}", name="matplotlib") from error
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def artificial_figure(rows: list[Row], folder: Path, n_runs: int) -> Path:
    """The paper's layout: on the left the two relevant features, on the right the mean median rank by sample size."""
    plt = pyplot()
    figure, axes = plt.subplots(len(PROBLEMS), 2, figsize=(10, 11), layout="constrained")
    found = means(rows, n_runs)
    for (left, right), problem in zip(axes, PROBLEMS, strict=True):
        _scatter(left, problem)
        _curves(right, problem, found)
    axes[0, 1].set_title(f"Rank of the relevant features, {n_runs} runs")
    axes[-1, 1].set_xlabel("samples")
    figure.legend(*axes[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    path = folder / f"artificial_{n_runs}_runs.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path


def _scatter(axes: Any, problem: str) -> None:
    """The first two features of a draw of 400 samples, coloured by the label."""
    make, task = PROBLEMS[problem]
    X, y, _ = make(400, 22, random_state=0)
    points = axes.scatter(X[:, 0], X[:, 1], c=y, s=10, cmap="viridis" if task == "regression" else "brg")
    if task == "regression":
        axes.figure.colorbar(points, ax=axes, label="y")
    axes.set(title=_TITLES[problem], xlabel="x1", ylabel="x2")


def _curves(axes: Any, problem: str, found: dict[tuple[str, str, int], float]) -> None:
    for method in SHOWN:
        sizes = sorted(m for p, other, m in found if (p, other) == (problem, method))
        if sizes:
            colour, mark = _STYLES[method]
            values = [found[problem, method, m] for m in sizes]
            axes.plot(sizes, values, color=colour, marker=mark, label=METHODS[method].title, fillstyle="none")
    axes.axhline(11.5, color="0.8", linestyle=":", zorder=0)  # of features in random order
    axes.set(ylabel="median rank", ylim=(0, 19), yticks=np.arange(1, 20, 2))
