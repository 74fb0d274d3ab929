"""The numbers of the paper's table of the brain-computer interface, read from its LaTeX source.

``python -m experiments.eeg_expected song2007.tex`` writes experiments/expected/eeg.csv.
"""

import re
import sys
from pathlib import Path

from experiments.rows import Row, Rows

SUBJECTS = ("aa", "al", "av", "aw", "ay")
_COLUMNS = ("subject", "method", "error", "deviation")
EXPECTED = Rows(Path(__file__).with_name("expected") / "eeg.csv", _COLUMNS, ("subject", "method"))


def parsed(source: str) -> list[dict[str, str]]:
    r"""The entries of the table with the label tb:bci: a row for each method and subject.

    Examples
    --------
    >>> line = r"\textbf{CSP}  & 17.5&2.5 & \textit{3.1}&\textit{1.2} & 1&2 & 3&4 & 5&6 \\"
    >>> parsed(r"\label{tb:bci}" + line + r"\end{tabular}")[1]
    {'subject': 'al', 'method': 'csp', 'error': '3.1', 'deviation': '1.2'}
    """
    body = source.partition(r"\label{tb:bci}")[2].partition(r"\end{tabular}")[0]
    plain = re.sub(r"\\text(?:bf|it)\{(.*?)\}|\\hline|\s+", r"\1", body)
    lines = [line.split("&") for line in plain.split(r"\\") if re.match(r"[A-Z]+&", line)]
    return [
        dict(zip(_COLUMNS, (subject, name.lower(), *cells[2 * k : 2 * k + 2]), strict=True))
        for name, *cells in lines
        for k, subject in enumerate(SUBJECTS)
    ]


def expected() -> list[Row]:
    """The entries as they were written down."""
    return EXPECTED.read()


def main(source: str) -> None:
    """Write the entries of this file down."""
    EXPECTED.path.unlink(missing_ok=True)
    EXPECTED.append(parsed(Path(source).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(sys.argv[1])
