"""Run the paper's experiments, and make figures and the pages of results from their rows."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.frame import NAMES, RESULTS, Cell, Experiment, experiment_named
from experiments.rows import VERSION
from experiments.runner import Run

_DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status is 1 where a cell failed or a page is out of date."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end, as for Ctrl-C
    try:
        return _ACTIONS[options.action](options)
    except KeyboardInterrupt:
        print("interrupted; the same command resumes from here", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    from experiments.data import data_folder

    folder = data_folder(options.data)
    n_failed = 0
    for experiment in _experiments(options):
        store = experiment.store(options.results)
        cells = _wanted(experiment, experiment.grid(options.quick, options.results), options.only)
        n_failed += Run(experiment, store, cells, folder, options.renew).finish(options.jobs)
    if n_failed:
        print(f"cells that failed: {n_failed}; the same command tries them again", file=sys.stderr)
    return int(n_failed > 0)


def _wanted(experiment: Experiment, cells: Sequence[Cell], only: Sequence[tuple[str, list[str]]]) -> Sequence[Cell]:
    """The cells with the values that were asked for."""
    for name, values in only:
        if name not in experiment.keys:
            raise SystemExit(f"--only names {name!r}; accepted for {experiment.name}: {', '.join(experiment.keys)}")
        cells = [cell for cell in cells if str(cell[name]) in values]
        if not cells:
            raise SystemExit(f"--only {name}={','.join(values)} leaves no cell of {experiment.name}")
    return cells


def _stale(options: argparse.Namespace) -> int:
    """Count the cells without rows, and those whose rows another version of the code made; 1 if there are any."""
    n_stale = 0
    for experiment in _experiments(options):
        store = experiment.store(options.results)
        cells = _wanted(experiment, experiment.grid(options.quick, options.results), options.only)
        versions = {store.key(row): row[VERSION] for row in store.read()}
        lacking = sum(store.key(cell) not in versions for cell in cells)
        ours = [cell for cell in cells if experiment.ours(cell) and store.key(cell) in versions]
        older = sum(versions[store.key(cell)] != experiment.version(cell) for cell in ours)
        n_stale += lacking + older
        print(f"{experiment.name}: of {len(cells)} cells {lacking} have no rows, {older} have rows of other code")
    return int(n_stale > 0)


def _figure(options: argparse.Namespace) -> int:
    for experiment in _experiments(options):
        for path in experiment.figure(experiment.store(options.results).read(), options.output):
            print(path)
    return 0


def _page(options: argparse.Namespace) -> int:
    from experiments.page import pages

    texts = pages(options.results)
    return max([_written(options.output / name, text, check=options.check) for name, text in texts.items()])


def _written(path: Path, text: str, *, check: bool) -> int:
    """Write a page, or only say whether it is up to date; 1 where it is not."""
    if check:
        current = path.exists() and path.read_text(encoding="utf-8") == text
        print(f"{path} is {'up to date' if current else 'out of date: python -m experiments page'}")
        return int(not current)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)
    return 0


_ACTIONS = {"run": _run, "stale": _stale, "figure": _figure, "page": _page}


def _experiments(options: argparse.Namespace) -> list[Experiment]:
    return [experiment_named(name) for name in options.names or NAMES]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("action", choices=_ACTIONS, help="what to do")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which experiments: {', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="the small grid, with rows in a folder of their own")
    parser.add_argument("--data", type=Path, help="folder of the data sets; default $BAHSIC_DATA or ../shared/data")
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="number of processes, default 1")
    parser.add_argument(
        "--only",
        type=_values,
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="run, stale: only cells with one of these values, as in dataset=wine,wdbc; may be given several times",
    )
    parser.add_argument(
        "--renew", action="store_true", help="run: also cells whose rows were made by another version of the code"
    )
    parser.add_argument("--results", type=Path, help="folder of the rows; default experiments/results")
    parser.add_argument("--output", type=Path, default=_DOCS, help="folder of the pages and figures; default docs")
    parser.add_argument("--check", action="store_true", help="page: only say whether the pages are up to date")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"NAME is {unknown[0]!r}; accepted: {', '.join(NAMES)}")
    options.results = options.results or (RESULTS / "quick" if options.quick else RESULTS)
    return options


def _values(text: str) -> tuple[str, list[str]]:
    name, sign, values = text.partition("=")
    if not sign or not values:
        raise argparse.ArgumentTypeError(f"is {text!r}; accepted: KEY=VALUE or KEY=VALUE,VALUE")
    return name, values.split(",")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"N is {text!r}; accepted: a number of at least 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
