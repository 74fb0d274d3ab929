"""Curves of the published problems: share of the relevant features by number of features."""

from pathlib import Path

from experiments.figures import pyplot
from experiments.methods import METHODS
from experiments.ring import PROBLEMS, SAMPLES, means, sizes
from experiments.rows import Row

_STYLES = {
    "prediction_laplacian": ("tab:red", "s"),
    "prediction_kernel": ("tab:orange", "D"),
    "bahsic_laplacian": ("black", "o"),
    "forest": ("tab:green", "<"),
    "relief": ("tab:blue", "v"),
    "mutual_information": ("tab:purple", "."),
    "mrmr_of_bins": ("tab:cyan", "x"),
}


def ring_figure(rows: list[Row], folder: Path) -> Path:
    """A panel for each number of samples and problem, a curve for each of some methods."""
    plt = pyplot()
    found = means(rows)
    figure, axes = plt.subplots(len(SAMPLES), len(PROBLEMS), figsize=(13, 9), layout="constrained", squeeze=False)
    for line, n in zip(axes, SAMPLES, strict=True):
        for panel, problem in zip(line, PROBLEMS, strict=True):
            for method, (colour, mark) in _STYLES.items():
                there = [d for d in sizes(problem) if (n, problem, method, d) in found]
                values = [found[n, problem, method, d] for d in there]
                panel.plot(there, values, color=colour, marker=mark, label=METHODS[method].title, fillstyle="none")
            panel.set(title=f"{problem}, {n} samples", xscale="log", xlim=(1.6, 2600), ylim=(-3, 103))
            panel.set_xticks([2, 16, 128, 1024], ["2", "16", "128", "1024"])
            panel.minorticks_off()
        line[0].set_ylabel("relevant among the first p, %")
    for panel in axes[-1]:
        panel.set_xlabel("features")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    path = folder / "ring.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path
