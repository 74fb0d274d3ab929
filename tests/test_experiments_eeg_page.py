"""The brain-computer interface: its tables, figure and page, made from rows."""

import numpy as np
import pytest
from experiments import eeg, eeg_table
from experiments.__main__ import main
from experiments.eeg_methods import METHODS, TITLES
from experiments.eeg_page import parts
from experiments.paper_table import expected


def rows_of(errors, subject="S007", detail="10 11 12 22 45 Hz"):
    """Rows of two repeats: the errors of each method in four folds."""
    return [
        {
            "subject": subject,
            "method": method,
            "repeat": str(place // 2),
            "fold": str(place % 2),
            "error": str(value),
            "seconds": "0.5" if method == "csp" else "1.5",
            "detail": detail,
        }
        for method, values in errors.items()
        for place, value in enumerate(values)
    ]


@pytest.fixture
def rows():
    first = {method: [10, 20, 30, 40] for method in METHODS}
    first |= {"bahsic": [10, 10, 20, 40], "bahsic_in_band": [30, 30, 40, 40]}
    second = {method: [2, 4, 6, 8] for method in METHODS}
    return [*rows_of(first), *rows_of(second, "S042", "1 2 3 4 39.99 Hz")]


def lines(table):
    """The cells of each line below the header."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_table_of_errors(rows):
    table = eeg_table.errors(rows[::-1])  # the order of rows doesn't matter but for that of subjects
    found = {line[0]: line[1:] for line in lines(table)}
    deviation = np.std([10, 20, 30, 40], ddof=1)
    assert found["S007"][0] == f"25.0 ± {deviation:.1f}"
    assert found["S007"][3] == f"20.0 ± {np.std([10, 10, 20, 40], ddof=1):.1f}"
    assert found["mean"] == ["15.0", "15.0", "15.0", "12.5", "20.0"]
    assert all(TITLES[method] in table.splitlines()[0] for method in METHODS)


def test_differences_are_of_the_same_repeats(rows):
    found = {line[0]: line[1:] for line in lines(eeg_table.differences(rows))}
    assert found["S007"] == ["+0.0 ± 0.0", "+0.0 ± 0.0", "-5.0 ± 0.0", f"+10.0 ± {np.std([15, 5], ddof=1):.1f}"]
    for method in ("csp", "cssp"):
        without = [row for row in rows if (row["subject"], row["method"], row["repeat"]) != ("S007", method, "1")]
        assert lines(eeg_table.differences(without))[0][1] == ""  # one repeat has no deviation


def test_numbers_of_the_paper():
    found = {(row["subject"], row["method"]): (row["error"], row["deviation"]) for row in expected("eeg")}
    assert len(found) == 4 * 5
    assert found["aa", "csp"] == ("17.5", "2.5")
    assert found["ay", "bahsic"] == ("9.0", "6.0")
    assert found["aw", "cssp"] == ("5.4", "1.9")
    assert lines(eeg_table.of_paper())[-1] == ["mean", "13.2", "12.4", "13.0", "12.2"]


def test_page_is_made_from_the_rows(rows, tmp_path):
    eeg.EXPERIMENT.store(tmp_path).append(rows)
    found = parts(tmp_path)
    assert (found["n_there"], found["n_cells"]) == ("20", "3660")
    assert found["errors"] == eeg_table.errors(rows)
    assert found["finding"] == eeg_table.finding(rows)


def test_quick_grid(tmp_path):
    pytest.importorskip("pyriemann")
    (tmp_path / "bci").mkdir()
    X = np.random.default_rng(0).integers(-99, 99, (24, 3, 450)).astype(np.int16)
    np.savez(tmp_path / "bci" / "S042.npz", X=X, y=np.arange(24) % 2, scale=0.25, sfreq=100.0, tmin=-0.5)
    methods = ["csp", "bahsic_in_band", "random_in_band", "channels_hsic_4", "channels_random_4"]
    arguments = ["run", "eeg", "--quick", "--data", str(tmp_path), "--results", str(tmp_path)]
    assert main([*arguments, "--only", f"method={','.join(methods)}"]) == 0
    found = eeg.EXPERIMENT.store(tmp_path).read()
    assert [(row["method"], row["fold"]) for row in found] == [(method, fold) for method in methods for fold in "01"]
    assert all(row["detail"] and float(row["seconds"]) > 0 and 0 <= float(row["error"]) <= 100 for row in found)
