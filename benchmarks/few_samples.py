"""Few samples, many features: against scikit-learn's mutual information, on the same data, in turn."""

from sklearn.feature_selection import mutual_info_classif
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC
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
        for name in list(tasks)[1:]
    ]
