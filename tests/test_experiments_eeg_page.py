"""The brain-computer interface: its tables, figure and page, made from rows."""

import numpy as np
import pytest
from experiments import eeg, eeg_option_table, eeg_table
from experiments.__main__ import main
from experiments.eeg_figure import bands_figure
from experiments.eeg_methods import CONTROLS, METHODS, TITLES
from experiments.eeg_options import OPTIONS
from experiments.eeg_page import page
from experiments.frame import RESULTS
from experiments.markdown import unbroken
from experiments.paper_table import eeg_entries, expected

CHANNELS_4 = ("channels_hsic_4", "channels_prediction_4", "channels_random_4")


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


def test_table_and_sentence_of_controls(rows):
    assert eeg_table.reason(rows) == "No subject has results of the controls yet."
    more = {"random_in_band": [40, 40, 50, 50], "bahsic_15_in_band": [20, 40, 30, 30]}
    rows = [*rows, *rows_of(more)]
    assert lines(eeg_table.controls(rows))[-1] == ["mean", "25.0", "35.0", "45.0", "30.0"]
    told = eeg_table.reason(rows)
    assert "BAHSIC err 35.0%, five at random 45.0%, so what BAHSIC selects does matter" in told
    assert "Fifteen of BAHSIC err 30.0% and the whole band 25.0%: a wider filter is better" in told


def test_mean_is_over_subjects_that_all_methods_have(rows):
    partial = rows + rows_of({"csp": [90, 90]}, "S056")
    assert lines(eeg_table.errors(partial))[-1][1] == "15.0"
    assert lines(eeg_table.errors(partial))[-2] == ["S056", "90.0 ± 0.0", "", "", "", ""]


def test_differences_are_of_the_same_repeats(rows):
    found = {line[0]: line[1:] for line in lines(eeg_table.differences(rows))}
    assert found["S007"] == ["+0.0 ± 0.0", "+0.0 ± 0.0", "-5.0 ± 0.0", f"+10.0 ± {np.std([15, 5], ddof=1):.1f}"]
    for method in ("csp", "cssp"):
        without = [row for row in rows if (row["subject"], row["method"], row["repeat"]) != ("S007", method, "1")]
        assert lines(eeg_table.differences(without))[0][1] == ""  # one repeat has no deviation


def test_finding_says_which_is_better(rows):
    text = eeg_table.finding(rows)
    assert "BAHSIC errs 12.5% on average over 2 subjects, against 15.0%" in text
    assert "at least as good on average, and better for 1 of them." in text
    assert "BAHSIC, 8 to 40 Hz errs 20.0%" in text
    assert "worse on average, and better for 0 of them." in text
    assert eeg_table.finding([]) == "No subject has results of all methods yet."


def test_rhythms_and_seconds(rows):
    assert lines(eeg_table.rhythms(rows)) == [["S007", "0", "60", "20", "0", "20"], ["S042", "80", "0", "0", "20", "0"]]
    assert lines(eeg_table.seconds(rows))[1] == ["CSSP", "1.50", "3"]


def test_options_are_compared_with_csp_in_the_same_folds(rows):
    assert eeg_option_table.finding(rows) == "No subject has results of these yet."
    more = rows_of({"band_prediction": [10, 10]}) + rows_of({"band_prediction": [4, 4, 4, 4]}, "S042")
    text = eeg_option_table.finding([*rows, *more])
    # CSP errs 10 and 20 in the first repeat of S007, and 2, 4, 6, 8 in S042, which the rule was chosen on.
    assert text.startswith("- **one band, prediction**: 7.0% on average over 2 subjects, against 10.0% of the manual")
    assert "at least as good on average, and better for 2 of them." in text
    assert (
        "4.0% against 5.0% on the subjects that the rule was chosen on; 10.0% against 15.0% on the others, which"
        in text
    )
    lucky = rows_of({"band_prediction": [16, 16]}) + rows_of({"band_prediction": [0, 0, 0, 0]}, "S042")
    assert "16.0% against 15.0% on the others, so it is not confirmed" in eeg_option_table.finding([*rows, *lucky])
    worse = eeg_option_table.finding([*rows, *rows_of({"band_hsic": [90]})])
    assert "90.0% on average over 1 subjects, against 10.0%" in worse
    assert "worse on average, and better for 0 of them." in worse
    assert lines(eeg_option_table.options([*rows, *more]))[0][1:] == [
        f"25.0 ± {np.std([10, 20, 30, 40], ddof=1):.1f}",
        f"20.0 ± {np.std([10, 10, 20, 40], ddof=1):.1f}",
        "10.0 ± 0.0",
    ]


def test_limits_of_the_band():
    details = ("8-23.67 Hz", "10-27.67 Hz", "10-40 Hz")
    rows = [row for detail in details for row in rows_of({"band_prediction": [5]}, detail=detail)]
    assert lines(eeg_option_table.limits(rows)) == [["S007", "10 (8 to 10)", "28 (24 to 40)"]]


def test_curve_of_channels_is_over_the_folds_that_all_have(rows):
    curve = {f"channels_hsic_{number}": [number, number] for number in (4, 8, 16)}
    more = rows_of(curve) + rows_of({"channels_hsic_32": [30, 50, 70]})
    assert lines(eeg_option_table.channels([*rows, *more])) == [["HSIC", "4.0", "8.0", "16.0", "40.0", "15.0"]]
    assert lines(eeg_option_table.channels(rows)) == []


def test_numbers_of_the_paper():
    found = {(row["subject"], row["method"]): (row["error"], row["deviation"]) for row in expected("eeg")}
    assert len(found) == 4 * 5
    assert found["aa", "csp"] == ("17.5", "2.5")
    assert found["ay", "bahsic"] == ("9.0", "6.0")
    assert found["aw", "cssp"] == ("5.4", "1.9")
    assert lines(eeg_table.of_paper())[-1] == ["mean", "13.2", "12.4", "13.0", "12.2"]


def test_parser_reads_bold_and_italic_entries_of_its_table_only():
    source = r"""\label{tb:real} \textbf{CSP} & 9&9 \\ \end{tabular}
    \label{tb:bci} \hline \textbf{Subject} & \twoco{\textbf{aa}} \\ \hline
    \textbf{CSSSP}& \textbf{12.2}&\textbf{2.1} & \textit{2.2}&\textit{0.9} & 3&4 & 5&6 & 7&8 \\ \hline \end{tabular}"""
    found = [tuple(entry.values()) for entry in eeg_entries(source)]
    assert found[:2] == [("aa", "csssp", "12.2", "2.1"), ("al", "csssp", "2.2", "0.9")]
    assert len(found) == 5


def test_figure_has_a_panel_for_each_subject(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    (tmp_path / "bci").mkdir()
    X = rng.integers(-99, 99, (12, 2, 450)).astype(np.int16)
    np.savez(tmp_path / "bci" / "S1.npz", X=X, y=np.arange(12) % 2, scale=0.25, sfreq=100.0, tmin=-0.5)
    (path,) = bands_figure(["S1"], tmp_path, tmp_path / "docs")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert bands_figure(["S1"], None, tmp_path / "other") == []
    assert "no figure of frequency bands: folder of the data sets is None" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_page_is_made_from_the_rows(root, rows, tmp_path):
    current = (root / "docs" / "eeg_experiment.md").read_text(encoding="utf-8")
    assert current == page(RESULTS), "run: python -m experiments page"
    eeg.EXPERIMENT.store(tmp_path).append(rows)
    text = page(tmp_path)
    assert "There are rows of 20 of 3660 cells" in text
    assert unbroken(eeg_table.errors(rows)) in text
    assert unbroken(eeg_table.finding(rows)) in text


def test_command_writes_both_pages_and_checks_both(tmp_path, capsys):
    arguments = ["page", "--results", str(tmp_path), "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    (tmp_path / "eeg_experiment.md").write_text("old", encoding="utf-8")
    assert main([*arguments, "--check"]) == 1
    assert "eeg_experiment.md is out of date" in capsys.readouterr().out


def test_quick_grid(tmp_path, capfd):
    pytest.importorskip("pyriemann")
    (tmp_path / "bci").mkdir()
    X = np.random.default_rng(0).integers(-99, 99, (24, 3, 450)).astype(np.int16)
    np.savez(tmp_path / "bci" / "S042.npz", X=X, y=np.arange(24) % 2, scale=0.25, sfreq=100.0, tmin=-0.5)
    arguments = ["run", "eeg", "--quick", "--data", str(tmp_path), "--results", str(tmp_path)]
    assert main(arguments) == 0
    assert "eeg: 14 of 14 cells" in capfd.readouterr().err
    found = eeg.EXPERIMENT.store(tmp_path).read()
    every = [(method, fold) for method in (*METHODS, *CONTROLS, *OPTIONS, *CHANNELS_4) for fold in "01"]
    assert [(row["method"], row["fold"]) for row in found] == every
    assert all(row["detail"] and float(row["seconds"]) > 0 and 0 <= float(row["error"]) <= 100 for row in found)


def test_command_prints_the_table(rows, tmp_path, capsys):
    eeg.EXPERIMENT.store(tmp_path).append(rows)
    assert main(["table", "eeg", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out == eeg_table.errors(rows) + "\n"
