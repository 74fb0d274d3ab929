"""The page of the brain-computer interface: every number of a result comes from rows, the words are in page_eeg.md."""

from pathlib import Path

from experiments import eeg_option_table, eeg_table
from experiments.eeg import EXPERIMENT, N_REPEATS, SUBJECTS
from experiments.eeg_methods import CONTROLS, METHODS
from experiments.markdown import unbroken

_TEMPLATE = Path(__file__).with_name("page_eeg.md")


def page(results: Path) -> str:
    """The page as Markdown, from the file of rows in a folder."""
    rows = EXPERIMENT.store(results).read()
    cells = {(row["subject"], row["method"], row["repeat"]) for row in rows if row["subject"] in SUBJECTS}
    parts = {
        "n_there": len(cells),
        "n_cells": len(SUBJECTS) * len(METHODS | CONTROLS) * N_REPEATS
        + eeg_option_table.n_option_cells(len(SUBJECTS), N_REPEATS),
        "errors": eeg_table.errors(rows),
        "differences": eeg_table.differences(rows),
        "paper": eeg_table.of_paper(),
        "finding": eeg_table.finding(rows),
        "controls": eeg_table.controls(rows),
        "reason": eeg_table.reason(rows),
        "options": eeg_option_table.options(rows),
        "option_finding": eeg_option_table.finding(rows),
        "limits": eeg_option_table.limits(rows),
        "channels": eeg_option_table.channels(rows),
        "rhythms": eeg_table.rhythms(rows),
        "seconds": eeg_table.seconds(rows),
    }
    return unbroken(_TEMPLATE.read_text(encoding="utf-8").format_map(parts))
