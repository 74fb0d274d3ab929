"""The numbers of the paper's tables, read from its LaTeX source, so that none is mistyped.

``python -m experiments.paper_table song2007.tex`` writes experiments/expected/real.csv and eeg.csv.
"""

import re
import sys
from pathlib import Path

from experiments.rows import Row, Rows

_METHODS = ("bahsic", "fohsic", "pearson", "mutual_information", "rfe", "relief", "l0", "r2w2")
_COLUMNS = ("dataset", "method", "error", "standard_error", "bold", "finished")
_EEG_COLUMNS = ("subject", "method", "error", "deviation")
SUBJECTS = ("aa", "al", "av", "aw", "ay")

_FOLDER = Path(__file__).with_name("expected")
_FILES = {
    "real": Rows(_FOLDER / "real.csv", _COLUMNS, ("dataset", "method")),
    "eeg": Rows(_FOLDER / "eeg.csv", _EEG_COLUMNS, ("subject", "method")),
}


def real_entries(source: str) -> list[dict[str, str]]:
    r"""The entries of Table 1: a row for each data set and method that the paper applied.

    Parameters
    ----------
    source : str
        LaTeX, of which the table with the label tb:real is read. An entry is ``12.3&1.5``, perhaps in ``\textbf``,
        with a star where the program didn't finish, or ``\twoco{-}`` where it doesn't apply.

    Returns
    -------
    list of dict
        With the data set "l2" for the distances to the best.

    Examples
    --------
    >>> table = r"\label{tb:real} wine & \textbf{1.7}&\textbf{1.1} & 3.4&1.4 \\ \end{tabular}"
    >>> real_entries(table)[1]["error"], real_entries(table)[1]["bold"]
    ('3.4', 'no')
    """
    body = source.partition(r"\label{tb:real}")[2].partition(r"\end{tabular}")[0]
    lines = [re.sub(r"\\hline|\s+", " ", line).strip() for line in body.split(r"\\")]
    return [entry for line in lines if re.match(r"[a-z0-9]+ ?&|\$\\ell_2\$", line) for entry in _entries(line)]


def _entries(line: str) -> list[dict[str, str]]:
    name, *cells = [cell.strip() for cell in re.sub(r"\\twoco\{(.*?)\}(?=\s*(?:&|$))", r"\1 & ", line).split("&")]
    pairs = zip(_METHODS, cells[::2], cells[1::2], strict=False)
    dataset = "l2" if "ell_2" in name else name
    return [_entry(dataset, method, error, deviation) for method, error, deviation in pairs if error != "-"]


def _entry(dataset: str, method: str, error: str, deviation: str) -> dict[str, str]:
    bold = "yes" if r"\textbf" in error else "no"
    finished = "no" if r"\ast" in deviation else "yes"
    numbers = [re.sub(r"\\textbf\{(.*?)\}|\$.*?\$", r"\1", text) for text in (error, deviation)]
    return dict(zip(_COLUMNS, (dataset, method, *numbers, bold, finished), strict=True))


def eeg_entries(source: str) -> list[dict[str, str]]:
    r"""The entries of the table of the brain-computer interface (tb:bci): a row for each method and subject.

    Examples
    --------
    >>> line = r"\textbf{CSP}  & 17.5&2.5 & \textit{3.1}&\textit{1.2} & 1&2 & 3&4 & 5&6 \\"
    >>> eeg_entries(r"\label{tb:bci}" + line + r"\end{tabular}")[1]
    {'subject': 'al', 'method': 'csp', 'error': '3.1', 'deviation': '1.2'}
    """
    body = source.partition(r"\label{tb:bci}")[2].partition(r"\end{tabular}")[0]
    plain = re.sub(r"\\text(?:bf|it)\{(.*?)\}|\\hline|\s+", r"\1", body)
    lines = [line.split("&") for line in plain.split(r"\\") if re.match(r"[A-Z]+&", line)]
    return [
        dict(zip(_EEG_COLUMNS, (subject, name.lower(), *cells[2 * k : 2 * k + 2]), strict=True))
        for name, *cells in lines
        for k, subject in enumerate(SUBJECTS)
    ]


def expected(table: str) -> list[Row]:
    """The entries of the table "real" or "eeg" as they were written down."""
    return _FILES[table].read()


def main(source: str) -> None:
    """Write the entries of this file down."""
    text = Path(source).read_text(encoding="utf-8")
    for table, entries in (("real", real_entries(text)), ("eeg", eeg_entries(text))):
        _FILES[table].path.unlink(missing_ok=True)
        _FILES[table].append(entries)


if __name__ == "__main__":
    main(sys.argv[1])
