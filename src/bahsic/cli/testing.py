"""The commands `rank`, `test` and `predictability`, which select nothing."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from bahsic.cli import inputs
from bahsic.cli.messages import WRONG_USAGE, CommandError
from bahsic.cli.terminal import Style, display_width, fitted, paragraphs, ranking_table, style_of
from bahsic.data.prepared import prepared
from bahsic.data.tables import columns_of
from bahsic.inference.independence import hsic_test
from bahsic.inference.predictability import predictability as r2
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import Gaussian, kernel_from_name, label_kernel
from bahsic.names import for_terminal
from bahsic.options import options_of
from bahsic.report.result import as_json, column_records, input_record, result_heading
from bahsic.report.schema import candidates
from bahsic.report.words import column_lines, plural

_OWN_TARGETS = (".h5ad", ".fif", ".npz", ".mat")
_WIDEST_NAME = 40
_MOST_LEFT_OUT = 5000  # columns of `predictability`; more would take hours


def rank(options: Namespace) -> None:
    """Print the dependence of each feature alone."""
    start, source = time.perf_counter(), inputs.read_input(options)
    y, names = source.data.y, source.names
    categorical = inputs.categorical_columns(options.categorical_features, source)
    reading = {"categorical_features": categorical, "missing": options.missing, "identifiers": options.identifiers}
    with inputs.data_errors():
        table = prepared(source.data.X, kernel_from_name(options.kernel), **reading, whole=True)
        scores, pvalues = hsic_scores(table, y, **(reading | _common(options)))
        roles = table.table.roles(table.constant, options.missing)
    result = {
        **_heading(options, source, source.data.target, label_kernel(y, options.target_kernel).name),
        "columns": column_records(roles, names, table.table),
        "ranking": [
            {"feature": names[j], "column": j, "rank": place, "score": float(scores[j]), "pvalue": float(pvalues[j])}
            for place, j in enumerate(np.argsort(-scores, kind="stable").tolist(), start=1)
        ],
    }
    style, top = style_of(sys.stdout), 20 if options.top is None else options.top
    lines = [*column_lines(result["columns"], result["input"]["n_samples"]), f"Kernel: {options.kernel}."]
    table_text = ranking_table(result, candidates(result), style, top)
    _print(options, result, start, f"{paragraphs(lines, style)}\n{table_text}")


def test(options: Namespace) -> None:
    """Print whether columns x are independent of columns y."""
    start, source = time.perf_counter(), _test_input(options)
    options.x = inputs.listed_names(options.x, source, "--x")
    if set(options.x) & set(options.y):
        raise CommandError("--x and --y share a column; accepted: different ones", WRONG_USAGE)
    with inputs.data_errors():
        x = source.positions(options.x)
        # The target of a file that says which one it is goes by its name too.
        own = source.data.y is not None and options.y == [source.data.target]
        y = source.data.y if own else inputs.plain_columns(source, source.positions(options.y))
        categorical = inputs.categorical_columns(options.categorical_features, source, x)
        tested = hsic_test(columns_of(source.data.X, x), y, categorical_features=categorical, **_common(options))
    result = {
        **_heading(options, source, ",".join(options.y), label_kernel(y, options.target_kernel).name),
        "x": options.x,
        "y": options.y,
        "statistic": tested.statistic,
        "pvalue": tested.pvalue,
    }
    verdict = "dependence shown" if tested.pvalue <= 0.05 else "no dependence shown"
    columns, pvalue = f"{', '.join(options.x)} ~ {', '.join(options.y)}", f"p = {tested.pvalue:.3g}"
    line = f"{columns}: HSIC {tested.statistic:.4g}, {pvalue} ({options.pvalues}); {verdict} at level 0.05"
    _print(options, result, start, for_terminal(line, sys.stdout.encoding) + "\n")


def _test_input(options: Namespace) -> inputs.Input:
    """Read the data; in a format whose targets are no columns, y may be one of them."""
    options.target = None
    if options.data.name.lower().removesuffix(".gz").endswith(_OWN_TARGETS) and len(options.y) == 1:
        with suppress(CommandError):  # then it is a column, or the message below is the better one
            return inputs.read_input(Namespace(**{**vars(options), "target": options.y[0]}), needs_target=False)
    return inputs.read_input(options, needs_target=False)


def _common(options: Namespace) -> dict[str, Any]:
    """Return the options of `hsic_test` and `hsic_scores`."""
    names = ("kernel", "target_kernel", "missing", "random_state", "n_jobs")
    given = {name: getattr(options, name) for name in names}
    return given | {"method": options.pvalues, "n_permutations": options.permutations}


def _heading(
    options: Namespace, source: inputs.Input, target: str | list[str] | None, used: str, **parameters: Any
) -> dict[str, Any]:
    """Return the beginning of a result; parameters have the names of the functions' arguments."""
    categorical = inputs.categorical_columns(options.categorical_features, source)
    parameters = parameters or {
        "kernel": options.kernel,
        "categorical_features": source.names_of(categorical),
        "missing": options.missing,
        "method": options.pvalues,
        "n_permutations": options.permutations if options.pvalues == "permutation" else None,
    }
    record = input_record(replace(source.data, target=target), source.sha256, used, inputs.reading_options(options))
    return result_heading(options.command, input=record, parameters=parameters, seed=options.random_state)


def _print(options: Namespace, result: dict[str, Any], start: float, text: str) -> None:
    result["timing"] = {"total_seconds": round(time.perf_counter() - start, 3)}
    sys.stdout.write(as_json(result) if options.json else text)


def predictability(options: Namespace) -> None:
    """Print the leave-one-out R2 of columns, of all columns, and what is lost without each."""
    start, source = time.perf_counter(), inputs.read_input(options)
    parameters = {o.name: getattr(options, o.name) for o in options_of(options.command) if o.recorded}
    with inputs.data_errors():
        left_out = prepared(source.data.X, Gaussian()).table.left_out
        everything = [j for j in range(len(source.names)) if j not in left_out]
        names = inputs.listed_names(options.x, source, "--x")
        x = everything if names is None else source.positions(names)
        if len(x) > _MOST_LEFT_OUT:
            what = f"{len(x)} columns, each left out in turn, take too many regressions"
            raise CommandError(f"--x: {what}; accepted: up to {_MOST_LEFT_OUT}, such as the selected ones", WRONG_USAGE)
        options.target_kernel = label_kernel(source.data.y, options.target_kernel).name
        given = _predictability(options, source, x)
        whole = given if sorted(x) == everything else _predictability(options, source, everything)
        without = [_predictability(options, source, [i for i in x if i != j]) for j in x]
        alone = [_predictability(options, source, [j]) if len(x) > 1 else given for j in x]
    columns: list[dict[str, Any]] = [
        {"feature": source.names[j], "column": j, "alone": single, "lost_without": given - rest}
        for j, single, rest in zip(x, alone, without, strict=True)
    ]
    result = {
        **_heading(options, source, source.data.target, options.target_kernel, **parameters),
        "predictability": given,
        "predictability_of_all": whole,
        "n_of_all": len(everything),
        "columns": sorted(columns, key=lambda column: -column["lost_without"]),
    }
    _print(options, result, start, _predictability_text(result, style_of(sys.stdout)))


def _predictability(options: Namespace, source: inputs.Input, x: Sequence[int]) -> float:
    if not x:
        return 0.0  # of the mean
    return r2(
        columns_of(source.data.X, list(x)),
        source.data.y,
        kernel=options.kernel,
        target_kernel=options.target_kernel,
        ridge=options.ridge,
        categorical_features=inputs.categorical_columns(options.categorical_features, source, x),
        block_size=None if options.block_size == "none" else options.block_size,
        random_state=options.random_state,
    )


def _predictability_text(result: dict[str, Any], style: Style) -> str:
    columns, n_all = result["columns"], result["n_of_all"]
    names = [for_terminal(column["feature"], style.encoding) for column in columns]
    width = min(_WIDEST_NAME, max(len("feature"), *map(display_width, names)))
    lines = [f"{'feature':{width}}  {'R2 alone':>9}  {'R2 lost without it':>18}"]
    for name, column in zip(names, columns, strict=True):
        lines.append(f"{fitted(name, width)}  {column['alone']:9.3f}  {column['lost_without']:18.3f}")
    beside = f" (all {n_all}: {result['predictability_of_all']:.3f})" if len(columns) < n_all else ""
    together = f"{plural(len(columns), 'feature')} together: leave-one-out R2 {result['predictability']:.3f}{beside}"
    return "\n".join([*lines, "", together, ""])
