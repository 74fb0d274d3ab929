"""A run of the command, and whether it ended as it should."""

import importlib

from command import run
from fuzz.apart import Outcome

# Imported before a process is forked for each case, as this takes longer than most cases.
for _name in ("cli.selecting", "cli.testing", "files.reading", "report", "plotting"):
    importlib.import_module(f"bahsic.{_name}")


def command_outcome(words, *, with_output=False):
    """Fine for status 0; refused for one clear line and status 2 or 3, or for lack of memory; else a fault."""
    status, out, err = run(*words)
    outcome = _judged(words, status, err)
    return (outcome, out) if with_output else outcome


def _judged(words, status, told):
    lines = told.splitlines()
    errors = [line for line in lines if line.startswith("bahsic: error: ")]
    told = f"bahsic {' '.join(words)}\nstatus {status}\n{told}"
    if not all(line.startswith("bahsic") for line in lines) or len(errors) != (status != 0):
        return Outcome("fault", told)
    if status == 0:
        return Outcome("fine")
    no_memory = status == 1 and "not enough memory" in errors[0]
    return Outcome("refused" if status in (2, 3) or no_memory else "fault", told)
