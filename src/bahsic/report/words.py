"""Sentences about a result, for pages and terminals; their numbers are plain data until here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scipy.stats import false_discovery_control

from bahsic.criteria.blocks import MOST_REGRESSIONS
from bahsic.data.roles import LEFT_OUT
from bahsic.report.headline import Outcome, few_samples_words, leak_words
from bahsic.report.svg import shown

DASH = "–"  # noqa: RUF001 - where there is no number
LEVEL = 0.05  # of p-values and false discovery rates
LEAST_TOGETHER = 0.01  # R2 from which on two features work together
MOST_PAIRED = 8  # selected features whose pairs are judged
_LEAST_PVALUE = 0.001  # that is written as a number
_NO_CHANGE = 0.0005  # of R2
_NAMED = 6  # names in a sentence

_CRITERIA = {"hsic": "dependence (HSIC)"}
_KINDS = {
    "binary": "two classes",
    "multiclass": "classes",
    "regression": "numbers",
    "multioutput": "several outputs",
    "survival": "survival times",
}
_PLURALS = {"number": "numbers", "category": "categories", "date": "dates"}

# Beginnings of sentences on columns that are left out because of what they contain.
_IDLE = {"constant": "Constant", "copy": "Duplicate", "uninformative": "Uninformative"}


def plural(n: int, noun: str) -> str:
    """Return a number with a noun.

    Examples
    --------
    >>> plural(1, "fold"), plural(5, "fold")
    ('1 fold', '5 folds')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def capitalized(words: str) -> str:
    """Return words with a capital letter at their beginning; the others stay."""
    return words[:1].upper() + words[1:]


def named(names: Sequence[str], n: int = _NAMED) -> str:
    """Return the first of some names, and how many more there are."""
    return ", ".join(names[:n]) + (f" and {len(names) - n} more" if len(names) > n else "")


def number(value: float | None, form: str = ".3f") -> str:
    """Return a number, or a dash where there is none."""
    return DASH if value is None else shown(value, form)


def worth_words(worth: float | None) -> str:
    """Return the worth of a feature in three decimals, or a dash where it was not measured."""
    return "< 0.001" if worth is not None and 0 < worth < _NO_CHANGE else number(worth)


def probability(p: float | None) -> str:
    """Return a p-value in three decimals."""
    return f"< {_LEAST_PVALUE}" if p is not None and p < _LEAST_PVALUE else number(p)


def equation(p: float) -> str:
    """Return a p-value with its letter.

    Examples
    --------
    >>> equation(0.0002), equation(0.02)
    ('p < 0.001', 'p = 0.020')
    """
    return f"p {probability(p)}" if p < _LEAST_PVALUE else f"p = {probability(p)}"


def warning_lines(result: Mapping[str, Any], outcome: Outcome, remedy: str = "") -> list[str]:
    """Return sentences on what makes a result doubtful, with a remedy for leaks."""
    leaks = f"{leak_words(result['leaks'])}{remedy}" if result["leaks"] else ""
    return [f"{words}." for words in (leaks, few_samples_words(outcome)) if words]


def kept_words(names: Sequence[str]) -> str:
    """Return a sentence on the features that are kept although nothing predicts the target."""
    return f"{named(names)} {'is' if len(names) == 1 else 'are'} kept so that pipelines still run."


def method_words(result: Mapping[str, Any]) -> str:
    """Return a sentence on criterion, kernel, target and judges.

    Examples
    --------
    >>> result = {"criterion": "prediction", "kernel": "linear", "parameters": {"kernel": "auto"}, "n_folds": 5}
    >>> method_words({**result, "input": {"target_kernel": "binary"}})
    'Criterion: prediction; kernel: linear (auto); target: two classes; 5 folds.'
    """
    given, n_folds, kind = result["parameters"].get("kernel", "gaussian"), result["n_folds"], _target_kind(result)
    parts = [f"Criterion: {_CRITERIA.get(result['criterion'], result['criterion'])}"]
    parts.append(f"kernel: {result.get('kernel', given)}{' (auto)' if given == 'auto' else ''}")
    parts += [f"target: {kind}"] if kind else []
    parts += ["judged on held-out samples" if n_folds == 1 else f"{n_folds} folds"] if n_folds else []
    return "; ".join(parts) + "."


def _target_kind(result: Mapping[str, Any]) -> str:
    kernel = str(result["input"].get("target_kernel") or "")
    return _KINDS.get(kernel, kernel)


def block_words(result: Mapping[str, Any]) -> str:
    """Return a sentence on the blocks of samples; empty if all samples were used at once.

    Examples
    --------
    >>> block_words({"block_size": 1000, "criterion": "hsic", "input": {"n_samples": 32561}})
    '32,561 samples: HSIC over random blocks of 1,000.'
    """
    size = result["block_size"]
    if size is None:
        return ""
    samples = f"{result['input']['n_samples']:,} samples"
    if result["criterion"] != "prediction":
        return f"{samples}: HSIC over random blocks of {size:,}."
    limit = f"up to {MOST_REGRESSIONS} " if result["parameters"].get("block_size") == "auto" else ""
    return f"{samples}: regressions on {limit}random blocks of {size:,}."


def number_words(result: Mapping[str, Any], knee: str) -> str:
    """Return a sentence on why this many features were selected."""
    automatic = result["parameters"].get("n_features_to_select") == "auto" and result["n_folds"]
    if result["predicts"] is False or not automatic:
        reason = str(result["reason"])[:600].strip().rstrip(".")
        return capitalized(reason) + "." if reason else ""
    why = "This is the smallest number of features whose score is within one standard error of the best."
    return f"{why} {knee}." if knee else why


def evidence_lines(result: Mapping[str, Any], show: Callable[[str], str] = str) -> list[str]:
    """Return sentences on how sure and how stable a selection is; ``show`` makes names fit for the place."""
    rows = [row for row in result["ranking"] if row["selected"]]
    return [
        *_fold_lines(rows, result["n_folds"]),
        *_test_lines(rows, result["test"], show),
        *_resampled(rows, result, show),
    ]


def _fold_lines(rows: Sequence[Mapping[str, Any]], n_folds: int | None) -> list[str]:
    shares = [row["frequency"] for row in rows if row.get("frequency") is not None]
    if not shares or not n_folds:
        return []
    if len(shares) == 1:
        return [f"The selected feature was chosen in {round(shares[0] * n_folds)} of {n_folds} folds."]
    n_always = sum(share >= 1 for share in shares)
    folds = "both folds" if n_folds == 2 else f"all {n_folds} folds"
    return [f"{n_always} of {len(shares)} selected features were chosen in {folds}."]


def _test_lines(
    rows: Sequence[Mapping[str, Any]], test: Mapping[str, Any] | None, show: Callable[[str], str]
) -> list[str]:
    if not test:
        return []
    splits = plural(len(test.get("split_pvalues") or ()), "random split")
    how = "Dependence on the target, tested on samples not used for the selection"
    lines = [f"{how}: {equation(test['pvalue'])} ({splits})."]
    if any(row.get("needed") is not None for row in rows):
        needed = [show(row["feature"]) for row in rows if row.get("needed") is not None and row["needed"] <= LEVEL]
        lines.append(f"Needed beyond the other selected features, at {LEVEL:.0%}: {named(needed) or 'none'}.")
    return lines


def _resampled(rows: Sequence[Mapping[str, Any]], result: Mapping[str, Any], show: Callable[[str], str]) -> list[str]:
    stability = result["stability"]
    if not stability or not rows:
        return []
    frequency = frequencies(stability)
    shares = [f"{show(row['feature'])} {100 * frequency.get(row['feature'], 0.0):.0f}%" for row in rows]
    return [f"Selected again in {stability['n_resamples']} random halves of the samples: {named(shares)}."]


def frequencies(stability: Mapping[str, Any] | None) -> dict[str, float]:
    """Return how often each feature was selected in resamples, of those that were."""
    return {entry["feature"]: entry["frequency"] for entry in stability["features"]} if stability else {}


def pair_words(result: Mapping[str, Any], show: Callable[[str], str] = str, r2: str = "R²") -> str:
    """Return a sentence on the two features that work together best; empty if none do."""
    best = next(iter(result["interactions"]), None)
    if best is None or best["together"] < LEAST_TOGETHER:
        return ""
    names = " and ".join(map(show, best["features"]))
    return f"Strongest interaction: {names}, worth {best['together']:.2f} more {r2} together than apart."


def loss_words(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Return a sentence on what is lost without a selected feature; empty if it is not known."""
    worth = row.get("relevance")
    if worth is None:
        return ""
    change = "falls" if worth >= 0 else "rises"
    if result["criterion"] == "prediction":
        return f"Without it, R² {'stays the same' if abs(worth) < _NO_CHANGE else f'{change} by {abs(worth):.3f}'}."
    whole = next((step.get("hsic") for step in result["path"] if step["n_features"] == result["n_features"]), None)
    return f"Without it, HSIC {change} by {abs(100 * worth / whole):.0f}%." if whole else ""


def significance_words(rows: Iterable[Mapping[str, Any]], show: Callable[[str], str] = str) -> str:
    """Return a sentence on how many features depend on the target by themselves; empty if none was tested."""
    known = [row for row in rows if row["pvalue"] is not None]
    if not known:
        return ""
    significant = false_discovery_control([row["pvalue"] for row in known]) <= LEVEL
    others = [show(row["feature"]) for row, yes in zip(known, significant, strict=True) if not yes]
    exceptions = f" (not {', '.join(others)})" if 0 < len(others) <= min(_NAMED, len(known) - 1) else ""
    n = len(known) - len(others)
    return (
        f"{n} of {plural(len(known), 'feature')} depend{'s' if n == 1 else ''} on the target "
        f"individually, at a false discovery rate of {LEVEL:.0%}{exceptions}."
    )


def column_lines(columns: Sequence[Mapping[str, Any]], n_samples: int, remedy: str = "--identifiers use") -> list[str]:
    """Return sentences on the columns of a table: how many of each kind, those left out, and missing values.

    Examples
    --------
    >>> age = {"name": "age", "role": "number", "reason": "3 missing: neutral", "n_missing": 3}
    >>> for line in column_lines([age, {"name": "id", "role": "identifier", "reason": "counts the rows"}], 20):
    ...     print(line)
    Columns: 1 number; 1 left out.
    Left out: id (counts the rows); --identifiers use keeps them.
    Missing values: age 3 of 20 rows.
    """
    counts = Counter(column["role"] for column in columns)
    left_out = [column for column in columns if column["role"] in LEFT_OUT]
    gaps = [f"{column['name']} {column['n_missing']}" for column in columns if column.get("n_missing")]
    if not (left_out or gaps) and set(counts) <= {"number"}:
        return []
    kinds = [f"{n} {role if n == 1 else words}" for role, words in _PLURALS.items() if (n := counts[role])]
    lines = [f"Columns: {', '.join(kinds)}" + (f"; {len(left_out)} left out." if left_out else ".")]
    identifying = [_with_reason(column) for column in left_out if column["role"] not in _IDLE]
    lines += [f"Left out: {named(identifying)}; {remedy} keeps them."] if identifying else []
    for role, words in _IDLE.items():
        idle = [column for column in left_out if column["role"] == role]
        names = [column["name"] if role == "constant" else _with_reason(column) for column in idle]
        lines += [f"{words}: {named(names)}."] if idle else []
    return lines + ([f"Missing values: {named(gaps)} of {n_samples} rows."] if gaps else [])


def _with_reason(column: Mapping[str, Any]) -> str:
    return f"{column['name']} ({column['reason']})"


def treatment(role: str, *, standardized: bool = True) -> str:
    """Return what is done with columns of a role.

    Examples
    --------
    >>> treatment("number"), treatment("text")
    ('mean 0, variance 1', 'left out')
    """
    if role in LEFT_OUT:
        return "left out"
    if role == "category":
        return "all categories equally distant"
    scaled = "mean 0, variance 1" if standardized else "as it is"
    return f"in days, {scaled}" if role == "date" else scaled
