"""Every sentence about a result, and the table of its features; its numbers are plain data until here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy.stats import false_discovery_control

from bahsic.criteria.blocks import MOST_REGRESSIONS
from bahsic.data.entries import LEFT_OUT
from bahsic.report.schema import HELD_OUT, LEAST_TOGETHER, SOMETHING, Curve, n_candidates

DASH = "–"  # noqa: RUF001 - where there is no number
LEVEL = 0.05  # of p-values and false discovery rates
_NOTHING, _WEAK = 0.005, 0.02  # R2 up to which a regression is no better than the mean, and hardly better
_NEARLY, _FAR_FEWER = 0.98, 2 / 3  # share of R2 that fewer features have to reach, and how many of them at most
_LEAST_PVALUE = 0.001  # that is written as a number
_NO_CHANGE = 0.0005  # of R2
_FEW_SAMPLES = 20  # with fewer, chance can look like anything
_NAMED = 6  # names in a sentence
_WITH_REASONS = 2  # columns in a sentence
_LONGEST_NAME = 40
_ASCII = str.maketrans({"²": "2", "±": "+/-", "−": "-", "–": "-"})  # noqa: RUF001 - a minus and a dash

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


def ascii_text(text: str) -> str:
    """Return a sentence with ASCII in place of the symbols that this package writes."""
    return text.translate(_ASCII)


def plural(n: int, noun: str) -> str:
    """Return a number with a noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def capitalized(words: str) -> str:
    """Return words with a capital letter at their beginning; the others stay."""
    return words[:1].upper() + words[1:]


def listed(parts: Sequence[str]) -> str:
    """Return the first few parts, and how many more there are."""
    return ", ".join(parts[:_NAMED]) + (f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else "")


def named(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    return listed([short(name) for name in names])


def short(name: str) -> str:
    """Return a name, without its middle if it is too long for a sentence."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}...{name[3 - _LONGEST_NAME // 2 :]}"


def shown(value: float, form: str = "g") -> str:
    """Return a number with a minus instead of a hyphen, and none before zero."""
    return f"{value:z{form}}".replace("-", "−")  # noqa: RUF001 - a minus


def number(value: float | None, form: str = ".3f") -> str:
    """Return a number, or a dash where there is none."""
    return DASH if value is None else shown(value, form)


def probability(p: float | None) -> str:
    """Return a p-value in three decimals."""
    return f"< {_LEAST_PVALUE}" if p is not None and p < _LEAST_PVALUE else number(p)


def equation(p: float) -> str:
    """Return a p-value with its letter."""
    return f"p {probability(p)}" if p < _LEAST_PVALUE else f"p = {probability(p)}"


class Headline(NamedTuple):
    """A sentence around the name of the target, which may be any text."""

    before: str
    target: str
    after: str = ""

    @property
    def ascii(self) -> str:
        """The whole sentence, in ASCII but for the target."""
        return f"{self.before}{self.target}{ascii_text(self.after)}"


def headline_of(result: Mapping[str, Any], target: str = "the target") -> Headline:
    """Return the sentence about a result, or about what `bahsic.report.selector.measured` returns."""
    n, predicts, best = result["n_features"], result["predicts"], result
    if predicts is False:
        best = max(result["path"], key=lambda step: float(step["predictability"]))
    r2, error = best["predictability"], best["predictability_error"]
    count, one = f"{n} of {plural(n_candidates(result), 'feature')}", n == 1
    if r2 is None:
        return Headline(f"{count} selected for ", target)
    score = f"{HELD_OUT.name} {r2_text(r2, error)}"
    if predicts is False:
        clearly = "clearly " if r2 >= SOMETHING else ""
        return Headline(f"Nothing in this table {clearly}predicts ", target, f": {score} at best")
    if result["score"] is not None and result["score_name"] != "R2":
        score = f"{result['score_name']} {result['score']:.2f}, {score}"
    verb = "predicts" if one else "predict"
    if predicts or r2 > max(_NOTHING, 2 * (error or 0.0)):
        return Headline(f"{count} {verb} ", target, f"{' weakly' if r2 < _WEAK else ''}: {score}")
    if r2 > _NOTHING:
        return Headline(f"{count} may predict ", target, f": {score}")
    return Headline(f"{count} selected, without evidence that {'it' if one else 'they'} {verb} ", target, f": {score}")


def r2_text(r2: float, error: float | None) -> str:
    """Return R2 with its standard error, such as "0.70 ± 0.02"; errors below 0.001 are shown as 0.001."""
    digits = ".2f" if error is None or error >= 0.005 else ".3f"
    return shown(r2, digits) + ("" if error is None else f" ± {max(error, 0.001):{digits}}")


def leak_words(names: Sequence[str]) -> str:
    """Return a sentence on features that look like leaks."""
    what, which = ("looks like a leak", "alone it") if len(names) == 1 else ("look like leaks", "each alone")
    return f"{', '.join(names)} {what}: {which} predicts the target nearly perfectly"


def warning_lines(result: Mapping[str, Any], remedy: str = "") -> list[str]:
    """Return sentences on what makes a result doubtful, with a remedy for leaks."""
    lines, n = [f"{leak_words(result['leaks'])}{remedy}."] if result["leaks"] else [], result["n_judged"]
    if result["predictability"] is not None and n is not None and n < _FEW_SAMPLES:
        lines.append(f"Only {n} samples were predicted: these scores may be due to chance.")
    return lines


def kept_words(names: Sequence[str]) -> str:
    """Return a sentence on the features that are kept although nothing predicts the target; empty without any."""
    return f"{named(names)} {'is' if len(names) == 1 else 'are'} kept so that pipelines still run." if names else ""


def number_words(result: Mapping[str, Any], curve: Curve | None) -> str:
    """Return sentences on why this many features were selected."""
    if result["predicts"] is False:
        return ""
    automatic = result["parameters"].get("n_features_to_select") == "auto" and result["n_folds"]
    if not automatic or curve is None:
        reason = str(result["reason"])[:600].strip().rstrip(".")
        return capitalized(reason) + "." if reason else ""
    best, n_best = max(zip(curve.values, curve.sizes, strict=True), key=lambda point: (point[0], -point[1]))
    others = [f"{plural(n_best, 'feature')}: R² {shown(best, '.2f')}"] if n_best != curve.selected else []
    lower = "below the best" if others else "lower"
    if curve.value_of_all is not None and n_best != curve.n_candidates:
        others.append(f"all {curve.n_candidates}: {'' if others else 'R² '}{shown(curve.value_of_all, '.2f')}")
    # With a single split it is the standard error of the difference, which is smaller than that of a score.
    clearly = "more than one standard error" if result["n_folds"] > 1 else "clearly"
    beside = f" ({'; '.join(others)})" if others else ""
    why = f"Smaller sets score {clearly} {lower}{beside}." if curve.selected > 1 else ""
    # Far fewer features that predict nearly as well.
    r2 = curve.selected_value or 0.0
    enough = (point for point in zip(curve.sizes, curve.values, strict=True) if point[1] >= _NEARLY * r2 > 0)
    n, value = next(enough, (curve.selected, r2))
    fewer = f"{plural(n, 'feature')} reach{'es' if n == 1 else ''} R² {value:.2f}."
    return f"{why} {fewer if n <= _FAR_FEWER * curve.selected else ''}".strip()


def judged_words(result: Mapping[str, Any]) -> str:
    """Return the data and the samples that judged the selection, in a few words."""
    data, n_folds = result["input"], result["n_folds"]
    parts = [str(data["name"]) if data["name"] else "", f"{data['n_samples']:,} samples" if "n_samples" in data else ""]
    parts += [f"judged on held-out samples{f' in {n_folds} folds' if n_folds > 1 else ''}"] if n_folds else []
    return ", ".join(filter(None, parts))


def evidence_lines(result: Mapping[str, Any]) -> list[str]:
    """Return sentences on how sure and how stable a selection is."""
    rows = [row for row in result["ranking"] if row["selected"]]
    lines = [_fold_words(rows, result["n_folds"]), *_test_lines(rows, result["test"])]
    best = next(iter(result["interactions"]), None)
    if best is not None and best["together"] >= LEAST_TOGETHER:
        names = " and ".join(map(short, best["features"]))
        lines.append(f"Strongest interaction: {names}, worth {best['together']:.2f} more R² together than apart.")
    if result["stability"] and rows:
        frequency = frequencies(result["stability"])
        shares = [f"{short(row['feature'])} {100 * frequency.get(row['feature'], 0.0):.0f}%" for row in rows]
        n = result["stability"]["n_resamples"]
        lines.append(f"Selected again in {n} random halves of the samples: {listed(shares)}.")
    return [line for line in lines if line]


def _fold_words(rows: Sequence[Mapping[str, Any]], n_folds: int | None) -> str:
    shares = [row["frequency"] for row in rows if row.get("frequency") is not None]
    if not shares or not n_folds:
        return ""
    n_always = sum(share >= 1 for share in shares)
    folds = "both folds" if n_folds == 2 else f"all {n_folds} folds"
    if len(shares) == 1:
        folds = folds if n_always else f"{round(shares[0] * n_folds)} of {n_folds} folds"
        return f"The selected feature was chosen in {folds}."
    count = "All" if n_always == len(shares) else f"{n_always} of"
    return f"{count} {len(shares)} selected features were chosen in {folds}."


def _test_lines(rows: Sequence[Mapping[str, Any]], test: Mapping[str, Any] | None) -> list[str]:
    if not test:
        return []
    splits = plural(len(test.get("split_pvalues") or ()), "random split")
    lines = [f"Test on samples not used for the selection: {equation(test['pvalue'])} ({splits})."]
    pvalues = {row["feature"]: row["needed"] for row in rows if row.get("needed") is not None}
    if pvalues:
        needed = [name for name, p in pvalues.items() if p <= LEVEL]
        lines.append(f"Needed beyond the other selected features, at {LEVEL:.0%}: {named(needed) or 'none'}.")
    return lines


def frequencies(stability: Mapping[str, Any] | None) -> dict[str, float]:
    """Return how often each feature was selected in resamples, of those that were."""
    return {entry["feature"]: entry["frequency"] for entry in stability["features"]} if stability else {}


def feature_facts(row: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return sentences on a selected feature: its loss, its partner, its p-value."""
    facts, p = [_loss_words(row, result)], row.get("needed")
    if row.get("partner") is not None:
        facts.append(f"With {short(row['partner'])}: worth {row['together']:.2f} more R² together than apart.")
    if p is not None:
        verdict = "Needed" if p <= LEVEL else "Not shown to be needed"
        facts.append(f"{verdict} beyond the other selected features: {equation(p)}.")
    return [fact for fact in facts if fact]


def _loss_words(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    worth = row.get("relevance")
    if worth is None:
        return ""
    change = "falls" if worth >= 0 else "rises"
    if result["criterion"] == "prediction":
        return f"Without it, R² {'stays the same' if abs(worth) < _NO_CHANGE else f'{change} by {abs(worth):.3f}'}."
    whole = next((step.get("hsic") for step in result["path"] if step["n_features"] == result["n_features"]), None)
    return f"Without it, HSIC {change} by {abs(100 * worth / whole):.0f}%." if whole else ""


def significance_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a sentence on how many features depend on the target by themselves; empty if none was tested."""
    known = [row for row in rows if row["pvalue"] is not None]
    if not known:
        return ""
    significant = false_discovery_control([row["pvalue"] for row in known]) <= LEVEL
    others = [row["feature"] for row, yes in zip(known, significant, strict=True) if not yes]
    n, features = len(known) - len(others), plural(len(known), "feature")
    count = f"{'All' if not others else f'{n} of' if n else 'None of the'} {features}"
    exceptions = f" (not {named(others)})" if n and 0 < len(others) <= _NAMED else ""
    verb = "depends" if n <= 1 and others else "depend"
    return f"{count} {verb} on the target individually{exceptions}, at a false discovery rate of {LEVEL:.0%}."


def method_words(result: Mapping[str, Any]) -> str:
    """Return a sentence on criterion, kernel, target and judges."""
    given, n_folds = result["parameters"].get("kernel", "gaussian"), result["n_folds"]
    target = str(result["input"].get("target_kernel") or "")
    criterion = "dependence (HSIC)" if result["criterion"] == "hsic" else result["criterion"]
    parts = [f"Criterion: {criterion}", f"kernel: {result.get('kernel', given)}{' (auto)' if given == 'auto' else ''}"]
    parts += [f"target: {_KINDS.get(target, target)}"] if target else []
    parts += ["judged on held-out samples" if n_folds == 1 else f"{n_folds} folds"] if n_folds else []
    return "; ".join(parts) + "."


def block_words(result: Mapping[str, Any]) -> str:
    """Return a sentence on the blocks of samples; empty if all samples were used at once."""
    size = result["block_size"]
    if size is None:
        return ""
    samples = f"{result['input']['n_samples']:,} samples"
    if result["criterion"] != "prediction":
        return f"{samples}: HSIC over random blocks of {size:,}."
    limit = f"up to {MOST_REGRESSIONS} " if result["parameters"].get("block_size") == "auto" else ""
    return f"{samples}: regressions on {limit}random blocks of {size:,}."


def column_lines(columns: Sequence[Mapping[str, Any]], n_samples: int, remedy: str = "--identifiers use") -> list[str]:
    """Return sentences on the columns of a table: how many of each kind, those ignored, and missing values."""
    counts = Counter(column["role"] for column in columns)
    left_out = [column for column in columns if column["role"] in LEFT_OUT]
    gaps = [f"{short(column['name'])} {column['n_missing']}" for column in columns if column.get("n_missing")]
    if not (left_out or gaps) and set(counts) <= {"number"}:
        return []
    kinds = [f"{n} {role if n == 1 else words}" for role, words in _PLURALS.items() if (n := counts[role])]
    lines = [f"Columns used: {', '.join(kinds)}."]
    identifying = [column for column in left_out if column["role"] not in _IDLE]
    if identifying:
        them = "it" if len(identifying) == 1 else "them"
        lines.append(f"Ignored: {_with_reasons(identifying)}; {remedy} keeps {them}.")
    for role, words in _IDLE.items():
        idle = [column for column in left_out if column["role"] == role]
        lines += [f"{words}: {_with_reasons(idle, shown=role != 'constant')}."] if idle else []
    return lines + ([f"Missing values in {n_samples:,} rows: {listed(gaps)}."] if gaps else [])


def _with_reasons(columns: Sequence[Mapping[str, Any]], *, shown: bool = True) -> str:
    """Return the names of columns, with their reasons where there are only a few."""
    if not shown or len(columns) > _WITH_REASONS:
        return named([column["name"] for column in columns])
    return ", ".join(f"{short(column['name'])} ({column['reason']})" for column in columns)


def treatment(role: str, *, standardized: bool = True) -> str:
    """Return what is done with columns of a role."""
    scaled = "mean 0, variance 1" if standardized else "as it is"
    used = {"number": scaled, "date": f"in days, {scaled}", "category": "all categories equally distant"}
    return used.get(role, "ignored")


@dataclass(frozen=True)
class Column:
    """Column of the table of features, a cell for each."""

    heading: str
    cells: list[str]
    values: list[Any]  # the numbers behind the cells, None where there is none; empty for a column of text


def feature_columns(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return what is known of features, beside their ranks and names; columns without any entry are left out."""
    n_folds, stability = result.get("n_folds") or 0, result.get("stability")
    if has_worth(result):
        worth = _column("worth", rows, "relevance", lambda r2: "< 0.001" if 0 < r2 < _NO_CHANGE else number(r2), DASH)
        columns = [worth, _column("alone", rows, "alone", number)]
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
