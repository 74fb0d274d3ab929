"""Put the rows of `inference` and `selection_bias` into docs/inference.md, three tables between comments."""

from pathlib import Path

from marked import Line, placed, read, table

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
    rows = read("inference")
    return placed(page, {"levels": _levels(rows), "coverage": _coverage(rows), "bias": _bias(read("selection_bias"))})


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
