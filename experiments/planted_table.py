"""Shares of the relevant features among the first of a ranking, for problems that others set."""

import numpy as np

from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.planted import OURS, PROBLEMS, THEIRS
from experiments.rows import Row

#: Published for the causal features of one graph: percent among the first p and 2p (Passemiers et al., 2024).
PUBLISHED = {"TreeSHAP": (28.6, 42.9), "random forest": (21.4, 40.5), "mRMR": (16.7, 19.0)}


def _shares(rows: list[Row]) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return the shares of all draws by problem and method; of those that took too long nothing is known."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row["best_p"]:
            found.setdefault((row["problem"], row["method"]), []).append((float(row["best_p"]), float(row["best_2p"])))
    return {key: each for key, each in found.items() if len(each) == PROBLEMS[key[0]].n_draws}


def table(rows: list[Row]) -> str:
    """A line for each problem but the graphs, a column for each method: mean share among the first p."""
    found = _shares(rows)
    methods = [name for name in (*OURS, *THEIRS) if any(key[1] == name for key in found)]
    lines = []
    for problem, planted in PROBLEMS.items():
        means = {m: np.mean(found[problem, m], axis=0)[0] for m in methods if (problem, m) in found}
        if means and problem != "dag":
            cells = [f"{means[m]:.0f}" if m in means else "" for m in methods]
            best = f"{max(means.values()):.0f}"
            lines.append([planted.title, *(f"**{cell}**" if cell == best else cell for cell in cells)])
    return markdown(["percent among the first p", *(METHODS[m].title for m in methods)], lines)


def graphs(rows: list[Row]) -> str:
    """A line for each method, with the spread over graphs, and the published figures of one graph below."""
    found = _shares(rows)
    lines = []
    for method in (*OURS, *THEIRS):
        if each := found.get(("dag", method)):
            mean, deviation = np.mean(each, axis=0), np.std(each, axis=0, ddof=1)
            cells = (f"{mean[i]:.1f} ± {deviation[i] / np.sqrt(len(each)):.1f}" for i in range(2))
            lines.append([METHODS[method].title, *cells])
    lines += [[f"published: {name}", *(f"{share:.1f}" for share in shares)] for name, shares in PUBLISHED.items()]
    return markdown(["", "first p", "first 2p"], lines)
