"""A small experiment for the tests of the frame: its cells can fail, take too long, or end their process."""

import os
import time

from experiments.frame import Experiment


def grid(quick, results):
    return [{"kind": kind, "fold": fold} for kind in ("good", "late", "good too") for fold in range(2)]


def rows(cell, folder):
    if cell["kind"] == "late":
        start = time.process_time()
        while time.process_time() < start + 20:
            sum(range(1000))
    if cell["kind"] == "bad":
        raise ValueError("this cell is bad")
    if cell["kind"] == "gone":
        os._exit(3)
    return [{"value": 10 * cell["fold"] + part} for part in range(2)]


def stopped(cell):
    return [{"value": "stopped"}]


EXPERIMENT = Experiment(
    name="toy",
    keys=("kind", "fold"),
    columns=("kind", "fold", "value"),
    grid=grid,
    rows=rows,
    figure=print,
    repeats=("fold",),
    time_limit=1,
    stopped=stopped,
)
