"""The commands `test` and `rank`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from dataclasses import replace
from typing import Any

import numpy as np

from bahsic.cli.inputs import (
    Input,
    categorical_columns,
    data_errors,
    listed_names,
    plain_columns,
    read_input,
    reading_options,
)
from bahsic.cli.messages import WRONG_USAGE, CommandError
from bahsic.cli.terminal import Style, paragraphs, ranking_table, style_of
from bahsic.data.prepared import prepared
from bahsic.data.tables import columns_of
from bahsic.inference.independence import hsic_test
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import kernel_from_name, label_kernel
from bahsic.names import for_terminal
from bahsic.report.result import as_json, column_records, input_record, ranked, result_heading
from bahsic.report.schema import candidates
from bahsic.report.words import column_lines

_OWN_TARGETS = (".h5ad", ".fif", ".npz", ".mat")


def rank(options: Namespace) -> None:
    """Print the dependence of each feature alone."""
    start = time.perf_counter()
    source = read_input(options, needs_target=True)
    data = source.data
    reading = {
        "categorical_features": categorical_columns(options.categorical_features, source),
        "missing": options.missing,
        "identifiers": options.identifiers,
    }
    with data_errors():
        table = prepared(data.X, kernel_from_name(options.kernel), **reading, whole=True)
        scores, pvalues = hsic_scores(table, data.y, **(reading | _common(options)))
        roles = table.table.roles(table.constant, options.missing)
    result = {
        **_heading(options, source, data.target, label_kernel(data.y, options.target_kernel).name),
        "columns": column_records(roles, source.names, table.table),
        "ranking": ranked(scores, pvalues, source.names, np.argsort(-scores, kind="stable")),
        "timing": {"total_seconds": round(time.perf_counter() - start, 3)},
    }
    sys.stdout.write(as_json(result) if options.json else _rank_text(result, style_of(sys.stdout), options.top))


def _rank_text(result: dict[str, Any], style: Style, top: int) -> str:
    lines = column_lines(result["columns"], result["input"]["n_samples"])
    return (
        paragraphs([*lines, f"Kernel: {result['parameters']['kernel']}."], style)
        + "\n"
        + ranking_table(result, candidates(result), style, 20 if top is None else top)
    )


def test(options: Namespace) -> None:
    """Print whether columns x are independent of columns y."""
    start = time.perf_counter()
    _check_different(options)
    source = _test_input(options)
    options.x = listed_names(options.x, source, "--x")
    _check_different(options)
    with data_errors():
        x, y = source.positions(options.x) or [], _labels(options.y, source)
    with data_errors():
        wanted = categorical_columns(options.categorical_features, source)
        categorical = wanted
        if not isinstance(wanted, str):
            categorical = ["from_dtype", *(i for i, j in enumerate(x) if j in wanted)]
        found = hsic_test(columns_of(source.data.X, x), y, categorical_features=categorical, **_common(options))
    result = {
        **_heading(options, source, ",".join(options.y), label_kernel(y, options.target_kernel).name),
        "x": options.x,
        "y": options.y,
        "statistic": found.statistic,
        "pvalue": found.pvalue,
        "timing": {"total_seconds": round(time.perf_counter() - start, 3)},
    }
    sys.stdout.write(as_json(result) if options.json else _test_text(result))


def _check_different(options: Namespace) -> None:
    if set(options.x) & set(options.y):
        raise CommandError("--x and --y share a column; accepted: different ones", WRONG_USAGE)


def _test_input(options: Namespace) -> Input:
    """The data; in a format whose targets are no columns, y may be one of them."""
    options.target = None
    if options.data.name.lower().removesuffix(".gz").endswith(_OWN_TARGETS) and len(options.y) == 1:
        try:
            return read_input(Namespace(**{**vars(options), "target": options.y[0]}), needs_target=False)
        except CommandError:  # then it is a column, or the message below is the better one
            pass
    return read_input(options, needs_target=False)


def _labels(names: list[str], source: Input) -> Any:
    """The columns y; the target of a file that says which one it is goes by its name too."""
    if source.data.y is not None and names == [source.data.target]:
        return source.data.y
    return plain_columns(source, source.positions(names) or [])


def _common(options: Namespace) -> dict[str, Any]:
    """Options of `hsic_test` and `hsic_scores`."""
    return {
        "kernel": options.kernel,
        "target_kernel": options.target_kernel,
        "missing": options.missing,
        "method": options.pvalues,
        "n_permutations": options.permutations,
        "random_state": options.random_state,
        "n_jobs": options.n_jobs,
    }


def _heading(options: Namespace, source: Input, target: str | list[str] | None, used: str) -> dict[str, Any]:
    """The beginning of a result; parameters have the names of the functions' arguments."""
    parameters = {
        "kernel": options.kernel,
        "categorical_features": source.names_of(categorical_columns(options.categorical_features, source)),
        "missing": options.missing,
        "method": options.pvalues,
        "n_permutations": options.permutations if options.pvalues == "permutation" else None,
    }
    record = input_record(replace(source.data, target=target), source.sha256, used, reading_options(options))
    return result_heading(options.command, input=record, parameters=parameters, seed=options.random_state)


def _test_text(result: dict[str, Any]) -> str:
    x, y = ", ".join(result["x"]), ", ".join(result["y"])
    verdict = "depend" if result["pvalue"] <= 0.05 else "no dependence shown"
    how = result["parameters"]["method"]
    line = f"{x} ~ {y}: HSIC {result['statistic']:.4g}, p = {result['pvalue']:.3g} ({how}); {verdict} at level 0.05"
    return for_terminal(line, sys.stdout.encoding) + "\n"
