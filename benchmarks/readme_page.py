"""Put figures from committed rows into README.md and docs/evidence/choices.md, between comments.

The rows are those of `benchmarks/results` and `experiments/results`; `python benchmarks/readme_page.py` writes both
pages.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median

import numpy as np
from marked import placed, read, table
from together import SELECTORS

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from experiments.comparison import Summaries  # noqa: E402 - after the folder that it is in is known
from experiments.frame import experiment_named  # noqa: E402
from experiments.judges import SVM  # noqa: E402
from experiments.judges_table import by_judge  # noqa: E402
from experiments.real import SIZES, STOPPED  # noqa: E402
from experiments.rows import Row  # noqa: E402

PREDICTION, HSIC = "prediction", "bahsic"
_COPY = 0.8  # similarity from which on a feature counts as a near-copy
_LARGE = "gisette"  # 1,000 features

# Options that are compared on docs/evidence/choices.md: a choice, and methods of the experiments that differ in it.
_CHOICES = {
    "criterion": {PREDICTION: '`criterion="prediction"`', HSIC: '`criterion="hsic"`'},
    "kernel": {
        PREDICTION: '`"gaussian"`',
        "prediction_laplacian": '`"laplacian"`',
        "prediction_kernel": '`"auto"`',
    },
    "scale": {
        HSIC: '`Gaussian("dimension")`',
        "bahsic_median": '`Gaussian("median")`',
    },
    "step": {PREDICTION: "`step=0.1`", "prediction_step": "`step=0.2`"},
    "number": {"prediction_auto": '`"auto"`', PREDICTION: "5", "all": "all features"},
}
# What the page says about them: the first errs no more than the second, or by half a point at most.
_SAID = (
    ("criterion", PREDICTION, HSIC, 0.0),
    ("scale", HSIC, "bahsic_median", 0.5),
    ("step", "prediction_step", PREDICTION, 0.5),
    ("number", "prediction_auto", "all", 0.5),
    ("number", "prediction_auto", PREDICTION, 0.0),
)
# What a selector offers besides: a held-out score, and mixed tables as they are.
_OFFERS = {
    PREDICTION: ("yes", "as they are"),
    HSIC: ("with `cv=`", "as they are"),
    "rfe": ("`RFECV`", "encode first"),
}
_OTHERWISE = ("no", "encode first")


def readme(page: str) -> str:
    """Return the README with the comparison of selectors."""
    return placed(page, {"comparison": _comparison()})


def choices(page: str) -> str:
    """Return the page on choices with what was measured for each."""
    for choice, better, worse, margin in _SAID:
        datasets = _sets(_CHOICES[choice], [SVM], SIZES)
        if _error(better, [SVM], datasets) > _error(worse, [SVM], datasets) + margin:
            raise ValueError(
                f"{better} errs more than {worse}: the sentences below the table of choices have to change"
            )
    lines = [line for choice, options in _CHOICES.items() for line in _choice_lines(choice, options)]
    return placed(page, {"choices": table(["", "option", "sets", "mean error", "time"], lines)})


@cache
def _experiment(name: str) -> list[Row]:
    return experiment_named(name).store().read()


@cache
def _judged() -> dict[str, Summaries]:
    return by_judge(_experiment("real"), _experiment("judges"))


def _sets(methods: Iterable[str], judges: Sequence[str], datasets: Iterable[str]) -> list[str]:
    """The data sets with a complete result of every method by every judge."""
    keys = [(judge, method) for judge in judges for method in methods]
    found = {judge: {key for key, summary in _judged()[judge].items() if summary.finished} for judge in judges}
    return [dataset for dataset in datasets if all((dataset, method) in found[judge] for judge, method in keys)]


def _error(method: str, judges: Sequence[str], datasets: Sequence[str]) -> float:
    """The mean error over judges and data sets."""
    return mean(_judged()[judge][dataset, method].mean for judge in judges for dataset in datasets)


@cache
def _seconds(method: str, dataset: str) -> float:
    """The typical processor time of a selection."""
    rows = [row for row in _experiment("real") if (row["dataset"], row["method"]) == (dataset, method)]
    return median(float(row["seconds"]) for row in rows)


@cache
def _copies(method: str) -> float:
    """Mean number of features with a near-copy among the five that were chosen from the 30 of wdbc."""
    from sklearn.datasets import load_breast_cancer

    from bahsic import redundancy

    similar = redundancy(load_breast_cancer().data) - np.eye(30)
    rows = [row for row in _experiment("real") if (row["dataset"], row["method"]) == ("wdbc", method)]
    chosen = [[int(j) for j in row["features"].split()[:5]] for row in rows]
    return mean(int((similar[np.ix_(five, five)].max(axis=0) > _COPY).sum()) for five in chosen)


def _comparison() -> str:
    found = {row["method"]: row for row in read("together")}
    head = ["", "interactions", "near-duplicates", "held-out score", "mixed tables", "time"]
    lines = [
        [
            _titled(title),
            f"{found[name]['value']} {found[name]['note']}",
            f"{_copies(name):.1f} of 5",
            *_OFFERS.get(name, _OTHERWISE),
            "seconds" if _seconds(name, _LARGE) >= 1 else "under a second",
        ]
        for name, title in SELECTORS.items()
    ]
    return table(head, lines)


def _titled(title: str) -> str:
    name, comma, rest = title.partition(", ")
    ours = name == "BAHSIC"
    return f"**bahsic**, `{rest}`" if ours else f"{name}{comma}{rest}"


def _choice_lines(choice: str, options: dict[str, str]) -> list[list[str]]:
    """A line for each option, on the data sets with a result of all; the lowest error is bold."""
    datasets = _sets(options, [SVM], SIZES)
    errors = {name: f"{_error(name, [SVM], datasets):.1f} %" for name in options}
    first, least = next(iter(options)), min(errors.values(), key=lambda error: float(error.split()[0]))
    return [
        [
            choice if name == first else "",
            title,
            str(len(datasets)) if name == first else "",
            (f"**{errors[name]}**" if errors[name] == least else errors[name]) + _share(name, datasets),
            _ratio(name, first, datasets),
        ]
        for name, title in options.items()
    ]


def _share(method: str, datasets: Sequence[str]) -> str:
    """For a rule of the number: the share of the features that it keeps."""
    if not method.endswith("_auto"):
        return ""
    rows = [
        r
        for r in _experiment("real")
        if r["method"] == method and r["dataset"] in datasets and r["features"] != STOPPED
    ]
    share = mean(len(row["features"].split()) / SIZES[row["dataset"]][1] for row in rows)
    return f" with {100 * share:.0f} % of the features"


def _ratio(method: str, first: str, datasets: Sequence[str]) -> str:
    if "all" in (method, first):
        return ""
    ratio = median(_seconds(method, name) / max(_seconds(first, name), 1e-3) for name in datasets)
    return f"{ratio:.1f}"


if __name__ == "__main__":
    for path, made in {_ROOT / "README.md": readme, _ROOT / "docs" / "evidence" / "choices.md": choices}.items():
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
