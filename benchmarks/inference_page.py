"""Put rows of `inference`, `selection_bias` and `needed` into the pages on error rates, as tables and sentences."""

from pathlib import Path
from typing import Any

from marked import Line, placed_where_marked, read, table
from needed import settings, shares

_ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/appendix/error_rates.md", "docs/evidence/tests.md")
# What a test is called in the rows, and on the page.
_TESTS = {
    "permutation": "permutation, B = 199",
    "gamma": "gamma",
    "hsic_scores": "`hsic_scores` (gamma; x normal)",
    "conditional_test": "`conditional_test`, one split",
}
_WAYS = {
    "tested on the same samples": "`hsic_test` on the same samples",
    "selection_test": "`selection_test`",
    "any single feature, selection_test": "any single feature, `selection_test`",
}
# What problems and methods of `needed` are called on the page.
_PROBLEMS = {
    "noise": "noise",
    "xor": "XOR, 10% of the labels flipped",
    "weak": "two weak linear features",
    "friedman": "Friedman 1",
    "heavy tails": "heavy tails",
    "rare class": "10% positives",
    "mixed": "mixed columns",
}
_RATES = {
    "pairs": "2,500 samples, 50 columns, 20 in pairwise interactions",
    "wide": "500 samples, 500 columns, 40 linear",
}
_SENTENCES = (
    (
        "copy",
        "false",
        "A near-duplicate (correlation 0.95) of one of three needed features was called needed in {} draws.",
    ),
    (
        "pair",
        "found",
        "XOR among 30 columns, six features selected: its two features were the strongest pair in {} draws.",
    ),
)
_PEERS = {
    "importance": "hidimstat, conditional feature importance",
    "knockoffs": "hidimstat, model-X knockoffs (lasso)",
}


def filled(page: str) -> str:
    """The page with the tables of the committed rows."""
    rows, selected = read("inference"), read("selection_bias")
    parts = {"xor": _xor(rows), "band": _band(rows), "levels": _levels(rows), "coverage": _coverage(rows)}
    parts |= {"bias": _bias(selected), "power": _power(selected), "time": _time(rows), **_needed()}
    return placed_where_marked(page, parts)


def _xor(rows: list[Line]) -> str:
    both, alone = _only(rows, "power on XOR"), _only(rows, "XOR, one feature alone")
    return (
        f"With both features of an XOR the test rejects in {_counted(both['value'], both['n'])} data sets "
        f"(m = {both['m']}, level 5%), with one of them alone in {_counted(alone['rate'], alone['n'])}, as it should."
    )


def _band(rows: list[Line]) -> str:
    """What chance does to the rates of the table, which are of as many data sets each."""
    (band,) = {(row["n"], row["note"].partition("band ")[2]) for row in rows if row["labels"]}
    return f"Each rate is over {band[0]} data sets. At a true level of 5%, 99.9% of such rates are from {band[1]}."


def _power(rows: list[Line]) -> str:
    both, single = _only(rows, "both features, selection_test"), _only(rows, "a single feature, selection_test")
    return (
        f"On XOR with m = {both['m']} and d = {both['d']} it rejects in {_counted(both['value'], both['n_data_sets'])} "
        "data sets at 5%; with the marginal p-values of single features in "
        f"{_counted(single['value'], single['n_data_sets'])}, as each is independent of y by itself."
    )


def _needed() -> dict[str, str]:
    """What the draws of `needed` give: levels and power, false discovery rates, near-copies and interactions."""
    draws, peers = read("needed_draws"), read("needed_peers")
    found = {one: shares(one, draws) for one in settings()}
    found = {one: rates for one, rates in found.items() if rates["n_draws"]}
    return {
        "needed": table(
            ["problem", "samples", "columns", "splits", "draws", "any false feature", "true features found"],
            [
                [name, *map(str, one[1:4]), str(rates["n_draws"]), _percent(rates["false"]), _percent(rates["found"])]
                for name in _PROBLEMS.values()
                for one, rates in found.items()
                if _PROBLEMS.get(one.problem) == name
            ],
        ),
        "rates": table(
            ["problem", "method", "draws", "false discovery rate", "true features discovered"],
            [
                [name, *line]
                for problem, name in _RATES.items()
                for one, rates in found.items()
                if one.problem == problem
                for line in _rates(rates, [row for row in peers if row["problem"] == problem])
            ],
        ),
        **{
            one.problem: sentence.format(_counted(rates[kind], rates["n_draws"]))
            for one, rates in found.items()
            for problem, kind, sentence in _SENTENCES
            if one.problem == problem
        },
    }


def _rates(own: dict[str, Any], peers: list[Line]) -> list[list[str]]:
    """False discovery rate and power of ours and of the others."""
    lines = [["`discoveries(fdr=0.1)`, one split", str(own["n_draws"]), _percent(own["fdp"]), _percent(own["power"])]]
    for method, name in _PEERS.items():
        rows = [row for row in peers if row["method"] == method]
        if not rows:  # takes long: not measured
            continue
        means = [_percent(sum(float(row[kind]) for row in rows) / len(rows)) for kind in ("fdp", "power")]
        lines.append([name, str(len(rows)), *means])
    return lines


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f}%"


def _time(rows: list[Line]) -> str:
    """How long conditional p-values take."""
    ratios = [_only(rows, f"conditional / marginal p-values, {name}") for name in ("prediction", "hsic")]
    first, second = (f"{float(row['value']):.2f}" for row in ratios)
    return (
        "With ten selected features, 1,000 samples and 20 splits, `selection_test` takes (on one thread) "
        f'{first} (`criterion="prediction"`) and {second} (`"hsic"`) times as long as with marginal p-values.'
    )


def _only(rows: list[Line], words: str) -> Line:
    (row,) = [row for row in rows if words in row["what"]]
    return row


def _counted(rate: str | float, n: str | int) -> str:
    return f"{round(float(rate) * int(n))} of {n}"


def _levels(rows: list[Line]) -> str:
    """A line for each test and number of samples, the two kinds of labels side by side."""
    rates: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if row["labels"]:
            name = row["what"].split(", ")[1]
            rates.setdefault((_TESTS[name], row["m"]), {})[row["labels"]] = f"{float(row['rate']):.4f}"
    lines = [[name, m, found["continuous"], found["classes"]] for (name, m), found in rates.items()]
    (normal,) = [row for row in rows if "'normal' at the null" in row["what"]]
    lines.append(["normal: not a test", normal["what"].partition("m=")[2], f"{float(normal['value']):.4f}", ""])
    return table(["method", "m", "y continuous", "y classes"], lines)


def _coverage(rows: list[Line]) -> str:
    return table(
        ["m", "covered"], [[row["m"], f"{float(row['rate']):.4f}"] for row in rows if "coverage" in row["what"]]
    )


def _bias(rows: list[Line]) -> str:
    """A line for each level, a column for each way to test."""
    rates: dict[str, dict[str, str]] = {}
    for row in rows:
        data, _, way = row["what"].partition(": ")
        if data.startswith("noise"):
            rates.setdefault(row["level"], {})[way] = f"{float(row['value']):.3f}"
    lines = [[f"{float(level):.0%}", *(found[way] for way in _WAYS)] for level, found in rates.items()]
    return table(["level", *_WAYS.values()], lines)


if __name__ == "__main__":
    for path in (_ROOT / name for name in PAGES):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
