"""A function in a process of its own, which may crash, take too long or take too much memory."""

import resource
import signal
import traceback
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

MEMORY = 2 * 2**30  # bytes beside those of this process
SECONDS = 30


class Outcome(NamedTuple):
    """What became of a case: "fine", "refused" (a clear error), or "fault" with the reason."""

    kind: str
    text: str = ""


def apart(function, *arguments, memory=MEMORY, seconds=SECONDS):
    """Outcome of a function that returns one, run in a forked process; an exception in it is a fault."""
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sending, function, arguments, memory))
    process.start()
    sending.close()
    try:
        outcome = receiving.recv() if receiving.poll(seconds) else Outcome("fault", f"no end within {seconds} seconds")
        process.kill()
    except EOFError:
        outcome = None
    process.join()
    if outcome is None:
        code = process.exitcode
        outcome = Outcome("fault", f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}")
    return outcome


def _work(pipe, function, arguments, memory):
    """Run the function in the forked process, and tell its outcome."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        outcome = function(*arguments)
    except BaseException:  # noqa: BLE001 - whatever it is, it is told
        outcome = Outcome("fault", traceback.format_exc())
    pipe.send(Outcome(outcome.kind, outcome.text[-4000:]))
