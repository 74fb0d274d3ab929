"""Mean ranks of the artificial problems as a table of Markdown."""

from collections.abc import Sequence

from experiments.artificial import N_RUNS, PROBLEMS, SHOWN, means
from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.rows import Row


def table(
    rows: list[Row], n_runs: int = N_RUNS, sizes: Sequence[int] | None = None, methods: Sequence[str] = SHOWN
) -> str:
    """A line for each problem and method, a column for each size."""
    found = means(rows, n_runs)
    sizes = sizes or sorted({m for _, _, m in found})
    lines = [
        [problem, METHODS[method].title, *(f"{found[problem, method, m]:.1f}" for m in sizes)]
        for problem in PROBLEMS
        for method in methods
        if all((problem, method, m) in found for m in sizes)
    ]
    return markdown(["problem", "method", *(f"m = {m}" for m in sizes)], lines)
