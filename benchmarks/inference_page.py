"""Put rows of `inference`, `selection_bias` and `needed` into docs/inference.md, as tables and sentences."""

from pathlib import Path

from marked import Line, placed, read, table
from needed import settings, shares

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "inference.md"
# What a test is called in the rows, and on the page.
_TESTS = {"permutation": "permutation, B = 199", "gamma": "gamma", "hsic_scores": "`hsic_scores` (gamma; x normal)"}
_WAYS = {
    "tested on the same samples": "`hsic_test` on the same samples",
    "selection_test": "`selection_test`",
    "any single feature, selection_test": "any single feature, `selection_test`",
}


def filled(page: str) -> str:
    """The page with the tables of the committed rows."""
    rows, selected = read("inference"), read("selection_bias")
    parts = {"xor": _xor(rows), "band": _band(rows), "levels": _levels(rows), "coverage": _coverage(rows)}
    return placed(page, {**parts, "bias": _bias(selected), "power": _power(selected), "needed": _needed()})


def _xor(rows: list[Line]) -> str:
    both, alone = _only(rows, "power on XOR"), _only(rows, "XOR, one feature alone")
    return (
        f"With both features of an XOR the test rejects in {_counted(both['value'], both['n'])} data sets "
        f"(m = {both['m']}, level 5%), with one of them alone in {_counted(alone['rate'], alone['n'])}, as it should."
    )


def _band(rows: list[Line]) -> str:
    """What chance does to the rates of the table, which are of as many data sets each."""
    (band,) = {(row["n"], row["note"].partition("band ")[2]) for row in rows if row["labels"]}
    return f"A rate is of {band[0]} data sets; if the level is 5%, 99.9% of such rates are from {band[1]}."


def _power(rows: list[Line]) -> str:
    both, single = _only(rows, "both features, selection_test"), _only(rows, "a single feature, selection_test")
    return (
        f"On XOR with m = {both['m']} and d = {both['d']} it rejects in {_counted(both['value'], both['n_data_sets'])} "
        "data sets at 5%; with the marginal p-values of single features in "
        f"{_counted(single['value'], single['n_data_sets'])}, as each is independent of y by itself."
    )


def _needed() -> str:
    """A line for each setting that was drawn at least once."""
    draws = read("needed_draws")
    lines = []
    for one in settings():
        found = shares(one, draws)
        if found["n_draws"]:
            cells = [
                f"{100 * found[name]:.1f}%" if found[name] is not None else ""
                for name in ("false", "found", "fdp", "power")
            ]
            lines.append([one.problem, str(one.m), str(one.d), str(one.n_splits), str(found["n_draws"]), *cells])
    head = ["problem", "samples", "columns", "splits", "draws", "false", "found", "false discoveries", "discovered"]
    return table(head, lines)


def _only(rows: list[Line], words: str) -> Line:
    (row,) = [row for row in rows if words in row["what"]]
    return row


def _counted(rate: str, n: str) -> str:
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
    _PAGE.write_text(filled(_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
