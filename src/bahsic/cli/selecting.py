"""The commands `select` and `report`."""

from __future__ import annotations

import json
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn import config_context
from sklearn.base import clone

from bahsic.cli import inputs
from bahsic.cli.messages import WRONG_USAGE, CommandError, say, text_of
from bahsic.cli.terminal import selection_text, style_of
from bahsic.data.prepared import Prepared
from bahsic.files import check_writing, write_table
from bahsic.inference.resampling import selection_frequencies, selection_test
from bahsic.names import one_line
from bahsic.options import flag_of, options_of
from bahsic.report import check_report, table_beside, write_report
from bahsic.report.result import as_json, input_record, selection_result
from bahsic.report.schema import SCHEMA
from bahsic.selection.problem import prepared_for
from bahsic.selection.selectors import BAHSIC, FOHSIC
from bahsic.whole import check_place

_SUBSAMPLE = 0.5  # share of the samples in each selection of --stability


def select(options: Namespace) -> None:
    """Read, select, write the files that were asked for, and print."""
    _check_places(options)
    source, selector, result = selection(options)
    text = as_json(result) if options.json else selection_text(result, style_of(sys.stdout), options.top)
    try:
        _write_files(options, source, selector, result)  # before printing, which may fail too
    except OSError:  # a full disk must not lose what the search has found
        sys.stdout.write(text)
        raise
    sys.stdout.write(text)


def _write_files(options: Namespace, source: inputs.Input, selector: Any, result: dict[str, Any]) -> None:
    if options.output is not None:
        with inputs.data_errors():
            columns, escape = source.positions(result["selected"] or result["kept"]), options.escape_formulas
            write_table(options.output, source.data, columns, selector.ranking_, escape_formulas=escape)
        if not options.quiet:
            say(f"wrote {options.output}")
    if options.report is not None:
        write_report_file(result, options.report, quiet=options.quiet)


def selection(options: Namespace) -> tuple[inputs.Input, Any, dict[str, Any]]:
    """Return the data, the fitted selector, and the result with its times."""
    start, source = time.perf_counter(), inputs.read_input(options)
    read = time.perf_counter()
    groups = inputs.feature_groups(options.feature_groups, source)
    options.keep = inputs.listed_names(options.keep, source, flag_of("keep"))
    selector = _selector(options, source, groups)
    with inputs.data_errors(), config_context(**({} if options.memory is None else {"working_memory": options.memory})):
        data = prepared_for(selector, source.data.X)
        _fit(selector, data, source.data.y, options)
    fitted = time.perf_counter()
    with inputs.data_errors():
        result = _result(options, source, data, selector, groups)
    seconds = {"read": read - start, "fit": fitted - read, "total": time.perf_counter() - start}
    return source, selector, result | {"timing": {f"{name}_seconds": round(s, 3) for name, s in seconds.items()}}


def report(options: Namespace) -> None:
    """Make the report of a result that an earlier `select --json` printed."""
    try:
        result = json.loads(text_of(options.result))
    except OSError as error:
        raise CommandError(f"{options.result}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise CommandError(f"{options.result}: not JSON; give the output of bahsic select --json") from None
    if not isinstance(result, dict) or (result.get("schema"), result.get("kind")) != (SCHEMA, "select"):
        message = f"not a result of schema {SCHEMA}, kind select; make it with bahsic select --json"
        raise CommandError(f"{options.result}: {message}")
    path = options.output or options.result.with_name(f"{options.result.stem}.html")
    check_report_place(path)
    _check_different(_report_files(path), [options.result])
    try:
        write_report_file(result, path, quiet=options.quiet)
    except (OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # a file that was changed by hand, or by somebody else, may hold anything
        raise CommandError(
            f"{options.result}: incomplete result ({one_line(str(error)) or type(error).__name__}); "
            "make it with bahsic select --json"
        ) from error


def write_report_file(result: dict[str, Any], path: Path, *, quiet: bool) -> None:
    """Write the report of a result, whole or not at all."""
    page, table = write_report(result, path)
    if not quiet:
        say(f"wrote {page} and {table}")


def _selector(options: Namespace, source: inputs.Input, groups: list[str] | None) -> Any:
    values = [(option, getattr(options, option.name)) for option in options_of("select")]
    values = [(o, o.command_default(options.method) if o.depends_on_method and v is None else v) for o, v in values]
    given: dict[str, Any] = {o.name: None if value == o.none else value for o, value in values if value is not None}
    given["categorical_features"] = inputs.categorical_columns(options.categorical_features, source)
    given["feature_groups"] = groups
    given["keep"] = None if options.keep is None else source.positions(options.keep)
    kind = BAHSIC if options.method == "backward" else FOHSIC
    return kind(**given, verbose=int(not options.quiet and sys.stderr is not None and sys.stderr.isatty()))


def _fit(selector: Any, data: Prepared, y: Any, options: Namespace) -> None:
    try:
        with warnings.catch_warnings():
            for message in (".*are ignored", "no subset of", ".*looks? like .*leak"):  # the result says so
                warnings.filterwarnings("ignore", message=message)
            selector.fit(data, y)
    except KeyboardInterrupt:
        if options.checkpoint is not None and not options.quiet:
            say(f"finished rounds are in {options.checkpoint}; the same command resumes from them")
        raise


def _result(
    options: Namespace, source: inputs.Input, data: Prepared, selector: Any, groups: list[str] | None
) -> dict[str, Any]:
    y, recorded = source.data.y, [option.name for option in options_of("select") if option.recorded]
    fresh = clone(selector).set_params(checkpoint=None)  # without the folder of the one that was fitted
    how: dict[str, Any] = {"random_state": options.random_state, "n_jobs": options.n_jobs}
    stability: dict[str, Any] | None = None
    if options.stability is not None:
        stability = {"n_resamples": options.stability, "subsample": _SUBSAMPLE}
        stability["frequencies"] = selection_frequencies(fresh, source.data.X, y, **stability, **how)
    rule = options.feature_groups  # or a file, which is named without its folder
    parameters = {"method": options.method, **{name: getattr(selector, name) for name in recorded}} | {
        "categorical_features": source.names_of(selector.categorical_features),  # columns by their names
        "feature_groups": rule if rule is None or rule.startswith("prefix:") else Path(rule).name,
        "keep": options.keep,
    }
    return selection_result(
        selector,
        data,
        y,
        source.names,
        groups=groups,
        test=selection_test(fresh, data, y, **how) if options.test else None,
        stability=stability,
        input=input_record(source.data, source.sha256, selector.target_kernel_, inputs.reading_options(options)),
        parameters=parameters,
        seed=options.random_state,
    )


def _check_places(options: Namespace) -> None:
    """Refuse, before any work, files that cannot be written in the end."""
    if options.output is not None:
        with inputs.data_errors(WRONG_USAGE):
            several = len(options.target or ()) > 1 or options.event is not None
            check_writing(options.output, options.data, several=several)
    if options.report is not None:
        check_report_place(options.report)
    written = [options.output, *_report_files(options.report)]
    _check_different(written, [options.data, options.feature_groups, *(options.keep or [])])


def _report_files(page: Path | None) -> list[Path]:
    return [] if page is None else [page, table_beside(page)]


def check_report_place(page: Path) -> None:
    """Refuse, before any work, a report that cannot be written in the end."""
    check_report()
    if page.suffix.lower() not in (".html", ".htm"):
        raise CommandError(f"{page}: a report is a page; give a name that ends in .html", WRONG_USAGE)
    for path in _report_files(page):
        check_place(path)


def _check_different(written: Sequence[Path | None], read: Sequence[Any]) -> None:
    """Refuse to write a file twice, or over one that is read."""
    seen = {Path(path).resolve() for path in read if path is not None and Path(path).exists()}
    for path in filter(None, written):
        if path.resolve() in seen:
            raise CommandError(f"{path}: is read, or written twice; give another name", WRONG_USAGE)
        seen.add(path.resolve())
