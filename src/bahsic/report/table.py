"""The table of features, as columns that pages and terminals show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bahsic.report.words import DASH, frequencies, number, probability, worth_words


@dataclass(frozen=True)
class Column:
    """Column of the table, a cell for each feature."""

    heading: str
    cells: list[str]
    values: list[Any]  # the numbers behind the cells, None where there is none; empty for a column of text


def feature_columns(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return what is known of features, beside their ranks and names; columns without any entry are left out."""
    n_folds, stability = result.get("n_folds") or 0, result.get("stability")
    if has_worth(result):
        columns = [_column("worth", rows, "relevance", worth_words, DASH), _column("alone", rows, "alone", number)]
    elif not any("score" in row for row in rows):
        unit = "HSIC" if result.get("criterion") == "hsic" else "criterion"
        columns = [_column(f"{unit} lost without it", rows, "relevance", "{:.3g}".format)]
    else:
        # Unbiased estimates below zero mean none.
        best = max((row["score"] for row in result["ranking"] if row["score"] is not None), default=0.0)
        scores = [row["score"] for row in rows]
        parts = [None if score is None else 100 * max(0.0, score) / best if best > 0 else 0.0 for score in scores]
        columns = [Column("HSIC alone, %", [number(part, ".0f") for part in parts], parts)]
        columns.append(_column("p-value", rows, "pvalue", probability, DASH))
    if result.get("predicts") is not False:
        columns.append(_column("folds", rows, "frequency", lambda share: f"{round(share * n_folds)}/{n_folds}"))
        columns.append(_column("needed, p", rows, "needed", probability))
        pairs = [(row.get("partner"), row.get("together")) for row in rows]
        columns.append(Column("works with", ["" if name is None else f"{name} {r2:+.2f}" for name, r2 in pairs], []))
        frequency = frequencies(stability)
        shares = [frequency.get(row["feature"], 0.0) for row in rows] if stability else []
        columns.append(Column("resamples, %", [f"{100 * share:.0f}" for share in shares], shares))
    groups = ["" if row.get("group") is None else str(row["group"]) for row in rows]
    columns.append(Column("group", groups, []))
    return [column for column in columns if any(value not in (None, "") for value in column.values or column.cells)]


def has_worth(result: Mapping[str, Any]) -> bool:
    """Return whether features have a worth: what prediction would lose without them, or gain."""
    measured = any(row.get("relevance") is not None for row in result["ranking"])
    return measured and result.get("criterion") == "prediction" and result.get("predicts") is not False


def _column(
    heading: str, rows: Sequence[Mapping[str, Any]], key: str, written: Callable[[Any], str], unknown: str = ""
) -> Column:
    values = [row.get(key) for row in rows]
    return Column(heading, [unknown if value is None else written(value) for value in values], values)
