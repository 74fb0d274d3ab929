"""The command line: `bahsic select DATA --target COLUMN` and the other commands.

Nothing heavy is imported before the arguments are known to be right, so that help and mistakes are answered at once.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from bahsic.cli.arguments import parsed
from bahsic.cli.messages import CommandError, say

FAILURE, INTERRUPTED = 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of the process, and return its exit status.

    The status is 0, 1 failure, 2 wrong usage, 3 bad data, or 130 interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the process that started this one
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    try:
        options = parsed(words)
        with _warnings_as_notes(options.quiet):
            getattr(import_module(f"bahsic.cli.{options.module}"), options.command)(options)
        sys.stdout.flush()  # here, where a closed pipe is noticed
    except SystemExit as end:  # of argparse: help, version, or wrong usage
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else FAILURE
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it; the interpreter's last flush must not fail
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except Exception as error:  # noqa: BLE001 - a user gets one line, whatever happened
        if "--debug" in words:
            traceback.print_exception(error)
        say(f"error: {_explanation(error)}")
        return error.status if isinstance(error, CommandError) else FAILURE
    return 0


def _explanation(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'output'}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "not enough memory; give fewer samples or features"
    if isinstance(error, CommandError | ImportError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; --debug shows where"


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
