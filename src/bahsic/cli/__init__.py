"""The command line: `bahsic select DATA --target COLUMN` and the other commands.

Nothing heavy is imported before the arguments are known to be right, so that help and mistakes are answered at once.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bahsic.cli.arguments import parsed
from bahsic.cli.messages import CommandError, say

FAILURE, INTERRUPTED = 1, 130

# The module that runs each command, by a function of the command's name.
_MODULES = {
    "select": "selecting",
    "report": "selecting",
    "test": "testing",
    "rank": "testing",
    "predictability": "testing",
    "demo": "showing",
    "datasets": "showing",
    "completion": "showing",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The command line without the program's name; None takes that of the process.

    Returns
    -------
    int
        The exit status: 0, 1 failure, 2 wrong usage, 3 bad data, 130 interrupted.

    Examples
    --------
    >>> main(["datasets", "--quiet"])  # doctest: +ELLIPSIS
    name ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the process that started this one
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    try:
        return _finished(words)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it
        _discard_output()
        return FAILURE
    except Exception as error:  # noqa: BLE001 - a user gets one line, whatever happened
        return _reported(error, debug="--debug" in words)


def _finished(words: Sequence[str]) -> int:
    try:
        options = parsed(words)
    except SystemExit as end:  # of argparse: help, version, or wrong usage
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else FAILURE
    with _warnings_as_notes(options.quiet):
        run = getattr(import_module(f"bahsic.cli.{_MODULES[options.command]}"), options.command)
        run(options)
    sys.stdout.flush()  # here, where a closed pipe is noticed
    return 0


def _reported(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    if isinstance(error, CommandError):
        say(f"error: {error}")
        return error.status
    if isinstance(error, OSError):
        say(f"error: {error.filename or 'output'}: {error.strerror or error}")
    elif isinstance(error, ImportError):
        say(f"error: {error}")
    elif isinstance(error, MemoryError):
        say("error: not enough memory; give fewer samples or features")
    else:
        say(f"error: unexpected {type(error).__name__}: {error}; --debug shows where")
    return FAILURE


@contextmanager
def _warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Show each warning of the library once, in one line; warnings about the code itself are left out."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        from bahsic.cli.inputs import in_options  # here, as it imports numpy

        if not quiet and str(message) not in said:
            said.add(str(message))
            say(f"note: {message if isinstance(message, str) else in_options(message)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Redirect stdout to the null device, so that the interpreter's last flush cannot fail."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
