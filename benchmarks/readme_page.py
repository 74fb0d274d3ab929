"""Put figures from committed rows into README.md and docs/guide/criterion.md, between comments.

The rows are those of `benchmarks/results` and `experiments/results`; `python benchmarks/readme_page.py` writes both
pages.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median

import numpy as np
from marked import Line, placed, read, table
from together import SELECTORS

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from experiments.comparison import Summaries  # noqa: E402 - after the folder that it is in is known
from experiments.frame import experiment_named  # noqa: E402
from experiments.judges import JUDGES, SVM  # noqa: E402
from experiments.judges_table import FIXED_ON, SCALED_ON, by_judge  # noqa: E402
from experiments.real import BINARY, SIZES, STOPPED  # noqa: E402
from experiments.rows import Row  # noqa: E402

PREDICTION, HSIC = "prediction", "bahsic"
_COPY = 0.8  # similarity from which on a feature counts as a near-copy
_LARGE = "gisette"  # 1000 features

# Options that are compared on docs/guide/criterion.md: a choice, and methods of the experiments that differ in it.
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
        "bahsic_optimise": '`Gaussian("optimise")`',
    },
    "step": {HSIC: "`step=0.1`", "bahsic_step1": "`step=1`"},
    "number": {"prediction_auto": '`"auto"`', PREDICTION: "5", "all": "all features"},
}
# What the page says about them: the first errs no more than the second, or by half a point at most.
_SAID = (
    ("criterion", PREDICTION, HSIC, 0.0),
    ("scale", HSIC, "bahsic_median", 0.5),
    ("scale", HSIC, "bahsic_optimise", 0.0),
    ("step", HSIC, "bahsic_step1", 0.5),
    ("number", "prediction_auto", "all", 0.5),
    ("number", "prediction_auto", PREDICTION, 0.0),
)
_OTHERS = [name for name in SELECTORS if name not in (PREDICTION, HSIC)]
_ADVANTAGES = """\
- **It finds features that matter only together.** Two features among 22 decide the label by XOR: bahsic finds both
  in {found} draws, RFE, Boruta, mRMR and SelectKBest in none (RELIEF, a method of nearest neighbours, finds them too).
- **It avoids redundant features.** Of five features chosen by prediction from 30 measurements of tumours, on average
  {copies} have a near-copy among the others; with SelectKBest, mRMR and Boruta {more_copies}.
- **It is exact and fast.** 1000 features of {samples} samples are ranked in {quick} s by dependence and in {thorough} s
  by prediction, on two cores; the order is that of brute force in {same} of {tried} random cases."""
_WITHOUT = """\
Much of the difference in error is due to one set, madelon, whose features were made to matter only together. Without it
bahsic errs by {prediction:.1f} and {bahsic:.1f} %, the others by {least:.1f} to {most:.1f} %."""


def readme(page: str) -> str:
    """The README with the advantages and the comparison of selectors."""
    return placed(page, {"advantages": _advantages(), "comparison": _comparison()})


def criterion(page: str) -> str:
    """The page on choices with what was measured for each."""
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


def _found() -> dict[str, Line]:
    return {row["method"]: row for row in read("together")}


def _unseen() -> list[str]:
    """The data sets of two classes on which nothing was decided about the criterion prediction."""
    return _sets(SELECTORS, JUDGES, [name for name in BINARY if name not in (*FIXED_ON, *SCALED_ON)])


def _comparison() -> str:
    datasets, found = _unseen(), _found()
    n_samples, n_features = SIZES[_LARGE]
    head = [
        "",
        "XOR found",
        "near-copies among 5",
        f"error, {len(datasets)} data sets",
        f"seconds, {n_samples} x {n_features}",
    ]
    lines = [
        [
            _titled(title),
            f"{found[name]['value']} {found[name]['note']}",
            f"{_copies(name):.1f}",
            f"{_error(name, JUDGES, datasets):.1f} %",
            _short(_seconds(name, _LARGE)),
        ]
        for name, title in SELECTORS.items()
    ]
    return f"{table(head, lines)}\n\n{_without(datasets)}"


def _without(datasets: Sequence[str]) -> str:
    """How much of the difference is due to the one data set that was made of interactions."""
    rest = [name for name in datasets if name != "madelon"]
    ours = {name: _error(name, JUDGES, rest) for name in (PREDICTION, HSIC)}
    others = [_error(name, JUDGES, rest) for name in _OTHERS]
    return _WITHOUT.replace("\n", " ").format(**ours, least=min(others), most=max(others))


def _short(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 0.05 else "< 0.1"


def _titled(title: str) -> str:
    name, comma, rest = title.partition(", ")
    ours = name == "BAHSIC"
    return f"**bahsic**, `{rest}`" if ours else f"{name}{comma}{rest}"


def _advantages() -> str:
    """Three reasons, a figure each."""
    found = _found()
    if {found[name]["value"] for name in _OTHERS} != {"0"}:
        raise ValueError("another selector finds XOR too: the sentence has to change")
    exact = [row for row in read("exactness") if "order of brute force" in row["what"]]
    (quick,) = (row for row in read("naive") if row["d"] == "1000")
    (thorough,) = (row for row in read("prediction") if row["d"] == "1000" and "/ hsic" in row["what"])
    return _ADVANTAGES.replace("\n  ", " ").format(
        found=f"{found[PREDICTION]['value']} {found[PREDICTION]['note']}",
        copies=f"{_copies(PREDICTION):.1f}",
        more_copies=_range(_copies, [name for name in _OTHERS if name != "rfe"]),
        samples=quick["m"],
        quick=f"{float(quick['fit_seconds']):.0f}",
        thorough=f"{float(thorough['seconds']):.0f}",
        same=sum(int(float(row["value"])) for row in exact),
        tried=sum(int(row["note"].removeprefix("of ")) for row in exact),
    )


def _range(figure: Callable[[str], float], methods: Sequence[str]) -> str:
    values = sorted({f"{figure(name):.1f}" for name in methods}, key=float)
    return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"


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
    for path, made in {_ROOT / "README.md": readme, _ROOT / "docs" / "guide" / "criterion.md": criterion}.items():
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
