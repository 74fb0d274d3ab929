"""The table of features, as columns that pages, terminals, notebooks and frames show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bahsic.report.words import frequencies, number, probability, worth_words


@dataclass(frozen=True)
class Column:
    """Column of the table, a cell for each feature."""

    heading: str
    cells: list[str]
    values: list[Any]  # the numbers behind the cells, None where there is none; empty for a column of text


def feature_columns(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return what is known of features, beside their ranks and names.

    With the criterion "prediction" these are worth and R2 alone; otherwise, and where nothing predicts the target, the
    dependence of single features. Columns without any entry are left out.
    """
    if not has_worth(result):
        columns = [_dependence(rows, result["ranking"]), _column("p-value", rows, "pvalue", probability)]
    else:
        columns = [_column("worth", rows, "relevance", worth_words), _column("alone", rows, "alone", _or_blank)]
    if result.get("predicts") is not False:
        columns += [_folds(rows, result.get("n_folds")), _column("needed, p", rows, "needed", _probability_or_blank)]
        columns += [_partners(rows), _resamples(rows, result.get("stability"))]
    columns.append(_text("group", ["" if row.get("group") is None else str(row["group"]) for row in rows]))
    return [column for column in columns if any(value not in (None, "") for value in column.values or column.cells)]


def has_worth(result: Mapping[str, Any]) -> bool:
    """Return whether features have a worth: what prediction would lose without them, or gain."""
    rows = result["ranking"]
    measured = any(row.get("relevance") is not None for row in rows)
    return measured and result.get("criterion") == "prediction" and result.get("predicts") is not False


def _column(heading: str, rows: Sequence[Mapping[str, Any]], key: str, written: Any) -> Column:
    values = [row.get(key) for row in rows]
    return Column(heading, [written(value) for value in values], values)


def _or_blank(value: float | None) -> str:
    return "" if value is None else number(value)


def _probability_or_blank(value: float | None) -> str:
    return "" if value is None else probability(value)


def _dependence(rows: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]]) -> Column:
    """Return the HSIC of single features in percent of the best; unbiased estimates below zero mean none."""
    best = max((row["score"] for row in ranking if row["score"] is not None), default=0.0)
    shares = [
        None if row["score"] is None else 100 * max(0.0, row["score"]) / best if best > 0 else 0.0 for row in rows
    ]
    return Column("HSIC alone, %", [number(share, ".0f") for share in shares], shares)


def _folds(rows: Sequence[Mapping[str, Any]], n_folds: int | None) -> Column:
    shares = [row.get("frequency") for row in rows]
    cells = ["" if share is None or not n_folds else f"{round(share * n_folds)}/{n_folds}" for share in shares]
    return Column("folds", cells, shares)


def _partners(rows: Sequence[Mapping[str, Any]]) -> Column:
    pairs = [(row.get("partner"), row.get("together")) for row in rows]
    return _text("works with", ["" if name is None else f"{name} {worth:+.2f}" for name, worth in pairs])


def _resamples(rows: Sequence[Mapping[str, Any]], stability: Mapping[str, Any] | None) -> Column:
    found = frequencies(stability)
    shares = [found.get(row["feature"], 0.0) for row in rows] if stability else []
    return Column("resamples, %", [f"{100 * share:.0f}" for share in shares], shares)


def _text(heading: str, cells: list[str]) -> Column:
    return Column(heading, cells, [])
