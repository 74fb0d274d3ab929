"""The commands `datasets` and `completion`."""

from __future__ import annotations

import csv
import inspect
import io
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from bahsic.cli.arguments import parsers
from bahsic.cli.messages import WRONG_USAGE, CommandError, say
from bahsic.names import suggestion
from bahsic.whole import appearing

# Those that come with scikit-learn: what to call the target, and what they are.
_EMBEDDED = {
    "breast_cancer": ("diagnosis", "569 tumours, 30 measurements, benign or malignant"),
    "diabetes": ("progression", "442 patients, 10 measurements, progression of the disease"),
    "digits": ("digit", "1797 images of 8 x 8 pixels, ten digits"),
    "iris": ("species", "150 flowers, 4 measurements, three species"),
    "wine": ("grower", "178 wines, 13 measurements, three growers"),
}
_TARGET = "label"  # of the generators


def datasets(options: Namespace) -> None:
    """Print the list of data sets, or one of them as CSV."""
    if options.name is None:
        rows = [("name", "target", "description")]
        rows += [(name, target, text) for name, (target, text) in _EMBEDDED.items()]
        for name, function in _generators().items():
            first_line = (inspect.getdoc(function) or "").splitlines()[0]
            rows.append((name, _TARGET, first_line.rstrip(".").replace("*", "")))  # emphasis is for the site
        sys.stdout.write("".join(f"{name:<22} {target:<12} {text}\n" for name, target, text in rows))
        return
    known = [*_EMBEDDED, *_generators()]
    if options.name not in known:
        hint = suggestion(options.name, known, len(known))
        raise CommandError(f"no data set is called {options.name!r}; {hint}", WRONG_USAGE)
    text = table(options.name, options.random_state)
    if options.output is None:
        sys.stdout.write(text)
        return
    with appearing(options.output) as draft:
        draft.write_text(text, encoding="utf-8", newline="")
    if not options.quiet:
        say(f"wrote {options.output}")


def _generators() -> dict[str, Callable[..., Any]]:
    from bahsic import datasets as ours

    functions = inspect.getmembers(ours, inspect.isfunction)
    return {name.removeprefix("make_"): function for name, function in functions if name.startswith("make_")}


def table(name: str, seed: int) -> str:
    """Return a data set as CSV, the target in the last column."""
    from sklearn import datasets as theirs

    if name in _EMBEDDED:
        data, target = getattr(theirs, f"load_{name}")(), _EMBEDDED[name][0]
        X, y, names = data.data, data.target, list(data.feature_names)
        classes = getattr(data, "target_names", None)
        y = y if classes is None else [str(classes[label]) for label in y]
    else:
        X, y = _generators()[name](random_state=seed)[:2]
        target = _TARGET
        names = [f"x{j}" for j in range(X.shape[1])]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*names, target])
    rows.writerows([*row.tolist(), label] for row, label in zip(X, y, strict=True))
    return text.getvalue()


def completion(options: Namespace) -> None:
    """Print the completion of a shell."""
    try:
        import shtab
    except ImportError:
        raise CommandError('completion needs shtab: pip install "bahsic[completion]"', 1) from None
    sys.stdout.write(shtab.complete(parsers()[0], options.shell) + "\n")
