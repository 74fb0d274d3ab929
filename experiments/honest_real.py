"""Real sets of up to 1,000 samples: R2 on the test part of five outer folds, and errors of two judges."""

from pathlib import Path

from experiments import real
from experiments.data import load
from experiments.evaluation import error, error_of, fold, splits
from experiments.frame import Cell
from experiments.honest_variants import VARIANTS, select
from experiments.judges import TRAINED
from experiments.kernel_ridge import r2
from experiments.rows import Row

FOLDS = 5
_MOST_SAMPLES = 1000
_GENES = {"colon": (62, 2000), "leukemia": (72, 7129), "lymphoma": (62, 4026)}

#: Samples and features of each set.
SIZES = {name: size for name, size in (real.SIZES | real.MORE | _GENES).items() if size[0] <= _MOST_SAMPLES}


def cells(quick: bool) -> list[Cell]:
    """Return sets, variants and folds, the small sets first."""
    names = ["wine"] if quick else sorted(SIZES, key=lambda name: (SIZES[name][0] + 500) * (SIZES[name][1] + 50))
    return [
        {"part": "real", "problem": name, "n_samples": SIZES[name][0], "n_noise": "", "variant": variant, "run": number}
        for name in names
        for variant in VARIANTS
        for number in range(1 if quick else FOLDS)
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Select in the training part of one fold, and predict its test part with the selected features."""
    data = load(cell["problem"], folder)
    part = fold(data, *splits(data, FOLDS)[cell["run"]])
    found = select(cell["variant"], part.X, part.y)
    chosen = found.features
    _, fresh = r2(part.X[:, chosen], part.y, part.X_test[:, chosen], part.y_test, found.kernel)
    forest = TRAINED["forest"](data.task, cell["run"])
    errors = {
        "svm": f"{error(part, chosen, data.task):.4f}",
        "forest": f"{error_of(forest, part, chosen, data.task):.4f}",
    }
    return [found.row | errors | {"n_features": len(part.columns), "fresh": f"{fresh:.4f}"}]
