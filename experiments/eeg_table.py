"""Errors of the brain-computer interface as tables of Markdown: ours, the paper's, and what was chosen."""

from collections.abc import Sequence

import numpy as np

from experiments.baselines import Array
from experiments.eeg_methods import BAND, CONTROLS, METHODS, TITLES
from experiments.markdown import markdown
from experiments.paper_table import SUBJECTS as SUBJECTS_OF_PAPER
from experiments.paper_table import expected
from experiments.rows import Row

#: Errors of all folds by subject and method.
Errors = dict[tuple[str, str], Array]

# Where the paper expects the mu and the beta rhythm, and what is left of the band of manual filtering.
_RHYTHMS = {
    "below 8 Hz": (0.0, 8.0),
    "8 to 15 Hz": (8.0, 15.0),
    "15 to 30 Hz": (15.0, 30.0),
    "30 to 40 Hz": (30.0, 40.001),
    "above 40 Hz": (40.001, np.inf),
}


def errors(rows: list[Row], methods: Sequence[str] = tuple(METHODS)) -> str:
    """Mean and standard deviation over the folds, and the mean over those subjects that all methods have."""
    found = by_method(rows)
    summaries = {key: (values.mean(), values.std(ddof=1)) for key, values in found.items()}
    return _table(summaries, subjects(rows), methods)


def controls(rows: list[Row]) -> str:
    """Errors of filters that tell why, beside those that they are compared with."""
    return errors(rows, ("csp", "bahsic_in_band", *CONTROLS))


def of_paper() -> str:
    """The paper's table, with the mean over its subjects."""
    printed = {
        (row["subject"], row["method"]): (float(row["error"]), float(row["deviation"])) for row in expected("eeg")
    }
    return _table(printed, SUBJECTS_OF_PAPER, tuple(METHODS))


def _table(found: dict[tuple[str, str], tuple[float, float]], names: Sequence[str], wanted: Sequence[str]) -> str:
    methods = [method for method in wanted if any(other == method for _, other in found)]
    lines = []
    for subject in names:
        entries = [found.get((subject, method)) for method in methods]
        lines.append([subject, *(f"{entry[0]:.1f} ± {entry[1]:.1f}" if entry else "" for entry in entries)])
    complete = [subject for subject in names if all((subject, method) in found for method in methods)]
    if complete:
        means = [np.mean([found[subject, method][0] for subject in complete]) for method in methods]
        lines.append(["mean", *(f"{mean:.1f}" for mean in means)])
    return markdown(["subject", *(TITLES[method] for method in methods)], lines)


def subjects(rows: list[Row]) -> list[str]:
    """Those with rows, in their order."""
    return list(dict.fromkeys(row["subject"] for row in rows))


def by_method(rows: list[Row]) -> Errors:
    """Errors of all folds."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["subject"], row["method"]), []).append(float(row["error"]))
    return {key: np.array(values) for key, values in found.items()}


def differences(rows: list[Row], baseline: str = "csp") -> str:
    """Other methods minus CSP: mean and standard deviation over the repeats that both have."""
    repeated = _by_repeat(rows)
    methods = [method for method in METHODS if method != baseline]
    lines = []
    for subject in subjects(rows):
        base = repeated.get((subject, baseline), {})
        cells = [_difference(repeated.get((subject, method), {}), base) for method in methods]
        lines.append([subject, *cells])
    return markdown(["subject", *(TITLES[method] for method in methods)], lines)


def _by_repeat(rows: list[Row]) -> dict[tuple[str, str], dict[str, float]]:
    """Mean error of the two folds of each repeat."""
    folds: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        repeats = folds.setdefault((row["subject"], row["method"]), {})
        repeats.setdefault(row["repeat"], []).append(float(row["error"]))
    return {key: {repeat: float(np.mean(both)) for repeat, both in found.items()} for key, found in folds.items()}


def _difference(found: dict[str, float], base: dict[str, float]) -> str:
    values = [found[repeat] - base[repeat] for repeat in found if repeat in base]
    return f"{np.mean(values):+.1f} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""


def rhythms(rows: list[Row], method: str = "bahsic") -> str:
    """In percent, how many of the selected frequencies of all folds lie in which range."""
    lines = []
    for subject in subjects(rows):
        details = [row["detail"] for row in rows if (row["subject"], row["method"]) == (subject, method)]
        chosen = np.array([float(word) for detail in details for word in detail.split()[:-1]])
        if len(chosen):
            shares = [np.mean((chosen >= low) & (chosen < high)) for low, high in _RHYTHMS.values()]
            lines.append([subject, *(f"{100 * share:.0f}" for share in shares)])
    return markdown(["subject", *_RHYTHMS], lines)


def finding(rows: list[Row]) -> str:
    """Whether BAHSIC's filter is at least as good on average over subjects as the manual one, in a sentence."""
    found = by_method(rows)
    compared = [name for name in subjects(rows) if all((name, method) in found for method in METHODS)]
    if not compared:
        return "No subject has results of all methods yet."
    means = {method: np.mean([found[name, method].mean() for name in compared]) for method in METHODS}
    return " ".join(
        f"{TITLES[method]} errs {means[method]:.1f}% on average over {len(compared)} subjects, against "
        f"{means['csp']:.1f}% of CSP with the manual band of {BAND[0]:g} to {BAND[1]:g} Hz: "
        f"{'at least as good' if means[method] <= means['csp'] else 'worse'} on average, and better for "
        f"{sum(found[name, method].mean() < found[name, 'csp'].mean() for name in compared)} of them."
        for method in ("bahsic", "bahsic_in_band")
    )


def reason(rows: list[Row]) -> str:
    """What the controls say: whether the frequencies of BAHSIC are better than random ones, and more of them better."""
    found, wanted = by_method(rows), ("csp", "bahsic_in_band", *CONTROLS)
    compared = [name for name in subjects(rows) if all((name, method) in found for method in wanted)]
    if not compared:
        return "No subject has results of the controls yet."
    csp, five, drawn, fifteen = (np.mean([found[name, method].mean() for name in compared]) for method in wanted)
    return (
        f"On average five frequencies of BAHSIC err {five:.1f}%, five at random {drawn:.1f}%, so what BAHSIC selects "
        f"{'does matter' if five < drawn else 'is no better than chance'}. Fifteen of BAHSIC err {fifteen:.1f}% and "
        f"the whole band {csp:.1f}%: a wider filter is "
        f"{'better' if csp < fifteen < five else 'not always better'} here."
    )


def seconds(rows: list[Row]) -> str:
    """Median processor time of training and testing one fold, over that of CSP."""
    typical = {m: [float(row["seconds"]) for row in rows if row["method"] == m] for m in METHODS}
    lines = [
        [TITLES[method], f"{np.median(values):.2f}", f"{np.median(values) / np.median(typical['csp']):.0f}"]
        for method, values in typical.items()
        if values and typical["csp"]
    ]
    return markdown(["", "seconds", "over CSP's"], lines)
