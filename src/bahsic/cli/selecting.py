"""The commands `select` and `report`."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bahsic.cli.inputs import Input, categorical_columns, data_errors, feature_groups, read_input, reading_options
from bahsic.cli.messages import WRONG_USAGE, CommandError, appearing, say
from bahsic.cli.progress_bar import with_progress
from bahsic.cli.terminal import selection_text, style_of
from bahsic.files import check_place, write_table
from bahsic.resampling import selection_test
from bahsic.results import SCHEMA, as_json, input_record, selection_result
from bahsic.selectors import BAHSIC, FOHSIC


def select(options: Namespace) -> None:
    """Read, select, print, and write what was asked for."""
    _check_places(options)
    clock: dict[str, float] = {}
    with _timed(clock, "total_seconds"):
        with _timed(clock, "read_seconds"):
            source = read_input(options, needs_target=True)
        groups = feature_groups(options.groups, source)
        selector = _selector(options, source, groups)
        with _timed(clock, "fit_seconds"), data_errors(), _working_memory(options.memory):
            _fit(selector, source, options)
        result = _result(options, source, selector, groups)
    result["timing"] = {name: clock[name] for name in ("read_seconds", "fit_seconds", "total_seconds")}
    text = as_json(result) if options.json else selection_text(result, style_of(sys.stdout), options.top)
    sys.stdout.write(text)
    sys.stdout.flush()
    _write_files(options, source, selector, result)


def report(options: Namespace) -> None:
    """Make the report of a result that an earlier `select --json` printed."""
    path = options.output or options.result.with_suffix(".html")
    _check_place(path, options.result)
    try:
        write_report_file(_read_result(options.result), path, quiet=options.quiet)
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # of a file that was changed by hand
        raise CommandError(
            f"{options.result}: no complete result ({error}); make it by bahsic select --json"
        ) from error


def write_report_file(result: dict[str, Any], path: Path, *, quiet: bool) -> None:
    """Write the report of a result, whole or not at all."""
    from bahsic.report import write_report

    with appearing(path) as draft:
        write_report(result, draft)
    if not quiet:
        say(f"wrote {path}")


def _selector(options: Namespace, source: Input, groups: list[str] | None) -> Any:
    steps = {} if options.step is None else {"step": options.step}
    kind = BAHSIC if options.method == "backward" else FOHSIC
    return kind(
        options.n_features,
        kernel=options.kernel,
        categorical_features=categorical_columns(options.categorical, source),
        missing=options.missing,
        feature_groups=groups,
        keep=source.positions(options.keep),
        standard_errors=options.standard_errors,
        n_jobs=options.jobs,
        block_size=options.block_size,
        random_state=options.seed,
        checkpoint=options.checkpoint,
        **steps,
    )


def _fit(selector: Any, source: Input, options: Namespace) -> None:
    try:
        with_progress(selector, quiet=options.quiet).fit(source.data.X, source.data.y)
    except KeyboardInterrupt:
        if options.checkpoint is not None and not options.quiet:
            say(f"finished rounds are in {options.checkpoint}; the same command goes on from them")
        raise


def _result(options: Namespace, source: Input, selector: Any, groups: list[str] | None) -> dict[str, Any]:
    data = source.data
    with data_errors():
        test = _tested(options, source, selector) if options.test else None
        return selection_result(
            selector,
            data.X,
            data.y,
            source.names,
            groups=groups,
            test=test,
            input=input_record(options.data, data.X, data.target, selector.target_kernel_, reading_options(options)),
            parameters=_parameters(options, source, selector),
            seed=options.seed,
        )


def _tested(options: Namespace, source: Input, selector: Any) -> Any:
    from sklearn.base import clone

    fresh = clone(selector).set_params(checkpoint=None)
    if hasattr(fresh, "set_callbacks"):
        fresh.set_callbacks()  # twenty fits in threads would draw twenty bars
    return selection_test(fresh, source.data.X, source.data.y, random_state=options.seed, n_jobs=options.jobs)


def _parameters(options: Namespace, source: Input, selector: Any) -> dict[str, Any]:
    """The parameters by the selectors' names, columns by their own."""
    categorical = selector.categorical_features
    return {
        "n_features_to_select": options.n_features,
        "method": options.method,
        "kernel": options.kernel,
        "step": selector.step,
        "categorical_features": categorical if isinstance(categorical, str) else [source.names[j] for j in categorical],
        "missing": options.missing,
        "feature_groups": options.groups if options.groups is None else Path(options.groups).name,
        "keep": options.keep,
        "standard_errors": options.standard_errors,
        "block_size": options.block_size,
    }


def _write_files(options: Namespace, source: Input, selector: Any, result: dict[str, Any]) -> None:
    if options.output is not None:
        position = {name: j for j, name in enumerate(source.names)}
        with data_errors():
            columns = [position[name] for name in result["selected"]]
            write_table(options.output, source.data, columns, ranking=selector.ranking_)
        if not options.quiet:
            say(f"wrote {options.output}")
    if options.report is not None:
        write_report_file(result, options.report, quiet=options.quiet)


def _check_places(options: Namespace) -> None:
    """Refuse, before any work, what cannot be written in the end."""
    for path in (options.output, options.report):
        _check_place(path, options.data)
    if options.output is not None:
        with data_errors(WRONG_USAGE):
            check_place(options.output, options.data)
    if options.report is not None:
        from bahsic.report import check_report

        check_report()


def _check_place(path: Path | None, source: Path) -> None:
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path}: cannot be written; give a file name in a folder that exists", WRONG_USAGE)
    if path.exists() and source.exists() and path.samefile(source):
        raise CommandError(f"{path}: is what is read; give another name", WRONG_USAGE)


def _read_result(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise CommandError(f"{path}: no JSON; give what bahsic select --json printed") from None
    if not isinstance(result, dict) or (result.get("schema"), result.get("kind")) != (SCHEMA, "select"):
        raise CommandError(f"{path}: no result of schema {SCHEMA}, kind select; make it by bahsic select --json")
    return result


@contextmanager
def _working_memory(mebibytes: int | None) -> Iterator[None]:
    from sklearn import config_context

    with config_context(**({} if mebibytes is None else {"working_memory": mebibytes})):
        yield


@contextmanager
def _timed(clock: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    clock[name] = round(time.perf_counter() - start, 3)
