"""The command `predictability`: how well given columns predict the labels, and what each of them adds."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import Any

from bahsic.cli.inputs import (
    Input,
    categorical_columns,
    data_errors,
    listed_names,
    read_input,
    reading_options,
)
from bahsic.cli.terminal import Style, style_of
from bahsic.cli.text import display_width, fitted
from bahsic.data.prepared import prepared
from bahsic.data.tables import columns_of
from bahsic.inference.predictability import predictability as r2
from bahsic.kernels import Gaussian, label_kernel
from bahsic.names import for_terminal
from bahsic.options import options_of
from bahsic.report.result import as_json, input_record, result_heading

_WIDEST_NAME = 40


def predictability(options: Namespace) -> None:
    """Print the leave-one-out R2 of columns, of all columns, and what is lost without each."""
    start = time.perf_counter()
    source = read_input(options, needs_target=True)
    with data_errors():
        left_out = prepared(source.data.X, Gaussian()).table.left_out
        everything = [j for j in range(len(source.names)) if j not in left_out]
        names = listed_names(options.x, source, "--x")
        x = everything if names is None else source.positions(names) or []
        kernel = label_kernel(source.data.y, options.target_kernel).name
        given = _predictability(options, source, x, kernel)
        whole = given if sorted(x) == everything else _predictability(options, source, everything, kernel)
        without = [_predictability(options, source, [i for i in x if i != j], kernel) for j in x]
        alone = [_predictability(options, source, [j], kernel) if len(x) > 1 else given for j in x]
    columns: list[dict[str, Any]] = [
        {"feature": source.names[j], "column": j, "alone": single, "lost_without": given - rest}
        for j, single, rest in zip(x, alone, without, strict=True)
    ]
    record = input_record(source.data, source.sha256, kernel, reading_options(options))
    result = {
        **result_heading(options.command, input=record, parameters=_parameters(options), seed=options.random_state),
        "predictability": given,
        "predictability_of_all": whole,
        "n_of_all": len(everything),
        "columns": sorted(columns, key=lambda column: -column["lost_without"]),
        "timing": {"total_seconds": round(time.perf_counter() - start, 3)},
    }
    sys.stdout.write(as_json(result) if options.json else _text(result, style_of(sys.stdout)))


def _predictability(options: Namespace, source: Input, x: list[int], kernel: str) -> float:
    if not x:
        return 0.0  # of the mean
    wanted = categorical_columns(options.categorical_features, source)
    categorical = wanted
    if not isinstance(wanted, str):
        categorical = ["from_dtype", *(i for i, j in enumerate(x) if j in wanted)]
    return r2(
        columns_of(source.data.X, x),
        source.data.y,
        kernel=options.kernel,
        target_kernel=kernel,
        ridge=options.ridge,
        categorical_features=categorical,
        block_size=None if options.block_size == "none" else options.block_size,
        random_state=options.random_state,
    )


def _parameters(options: Namespace) -> dict[str, Any]:
    return {option.name: getattr(options, option.name) for option in options_of(options.command) if option.recorded}


def _text(result: dict[str, Any], style: Style) -> str:
    columns, all_columns = result["columns"], result["n_of_all"]
    names = [for_terminal(column["feature"], style.encoding) for column in columns]
    width = min(_WIDEST_NAME, max(len("feature"), *(display_width(name) for name in names)))
    lines = [f"{'feature':{width}}  {'R2 alone':>9}  {'R2 lost without it':>18}"]
    lines += [
        f"{fitted(name, width)}  {column['alone']:9.3f}  {column['lost_without']:18.3f}"
        for name, column in zip(names, columns, strict=True)
    ]
    beside = f" (all {all_columns}: {result['predictability_of_all']:.3f})" if len(columns) < all_columns else ""
    several = f"{len(columns)} feature{'s' if len(columns) > 1 else ''}"
    lines += ["", f"{several} together: leave-one-out R2 {result['predictability']:.3f}{beside}"]
    return "".join(f"{line}\n" for line in lines)
