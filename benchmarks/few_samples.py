"""Few samples and many features, or many and few: against scikit-learn's selectors, on the same data, in turn."""

from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor

_SIZE = (100, 20_000)
_QUICK = (40, 300)


def rows(*, quick: bool) -> list[Row]:
    """Time of mutual_info_classif over that of a fit, with one process and with one for each core."""
    m, d = _QUICK if quick else _SIZE
    X, y, _ = make_xor(m, d, random_state=0)
    BAHSIC(2).fit(X[:, :20], y)  # the first fit of a process loads what it needs
    tasks = {"fit": lambda: seconds(lambda: BAHSIC(2).fit(X, y))} | {
        f"n_jobs={n_jobs}": lambda n_jobs=n_jobs: seconds(
            lambda: mutual_info_classif(X, y, n_jobs=n_jobs, random_state=0)
        )
        for n_jobs in (None, -1)
    }
    best = best_times(tasks, repeats=3)
    forward, size = _forward_ratio(quick=quick)
    return [
        row(f"FOHSIC(5) / BAHSIC(5), m={size[0]}, d={size[1]}", forward, "" if quick else "<= 1"),
        *_few_ratio(quick=quick),
        *_peer_rows(m, d, best, quick=quick),
    ]


def _peer_rows(m: int, d: int, best: dict[str, float], *, quick: bool) -> list[Row]:
    return [
        row(
            f"mutual_info_classif({name}) / fit, m={m}, d={d}",
            best[name] / best["fit"],
            "" if quick else ">= 1",
            note=f"fit {best['fit']:.3g} s, mutual_info_classif {best[name]:.3g} s",
            m=m,
            d=d,
            fit_seconds=best["fit"],
            peer_seconds=best[name],
        )
        for name in list(best)[1:]
    ]


def _forward_ratio(*, quick: bool) -> tuple[float, tuple[int, int]]:
    size = _QUICK if quick else (100, 10_000)
    X, y, _ = make_xor(*size, random_state=0)
    tasks = {kind.__name__: lambda kind=kind: seconds(lambda: kind(5).fit(X, y)) for kind in (FOHSIC, BAHSIC)}
    best = best_times(tasks, repeats=1 if quick else 5)
    return best["FOHSIC"] / best["BAHSIC"], size


def _few_ratio(*, quick: bool) -> list[Row]:
    """Many samples of few features, in blocks: beside a forest and mutual information with all cores."""
    m, d = (12_000, 5) if quick else (30_000, 50)
    X, y, _ = make_xor(m, d, random_state=0)
    peers = {
        "RandomForestClassifier(100, n_jobs=-1)": lambda: RandomForestClassifier(100, n_jobs=-1).fit(X, y),
        "mutual_info_classif(n_jobs=-1)": lambda: mutual_info_classif(X, y, n_jobs=-1),
    }
    tasks = {"fit": lambda: BAHSIC(2).fit(X, y), **peers}
    best = best_times(
        {name: lambda task=task: seconds(task) for name, task in tasks.items()}, repeats=1 if quick else 2
    )
    bars = dict(zip(peers, ("<= 0.5", "<= 1.5"), strict=True))
    return [
        row(
            f"fit / {name}, m={m}, d={d}, blocks",
            best["fit"] / best[name],
            "" if quick else bars[name],
            note=f"fit {best['fit']:.3g} s, the other {best[name]:.3g} s",
            m=m,
            d=d,
            fit_seconds=best["fit"],
            peer_seconds=best[name],
        )
        for name in peers
    ]
