"""A function in a process of its own, which may crash, take too long or take too much memory."""

import os
import resource
import select
import signal
import time
import traceback
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
    receiving, sending = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        _work(sending, function, arguments, memory)
    os.close(sending)
    try:
        told = _received(receiving, time.monotonic() + seconds)
    finally:
        os.close(receiving)
    if told is None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return Outcome("fault", f"no end within {seconds} seconds")
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return Outcome("fault", f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
    kind, _, text = told.decode(errors="backslashreplace").partition("\n")
    return Outcome(kind, text) if kind else Outcome("fault", f"exit status {os.waitstatus_to_exitcode(status)}")


def _received(pipe, deadline):
    """All that was sent; None if there is no end by the deadline."""
    parts = []
    while (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            part = os.read(pipe, 2**16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return None


def _work(pipe, function, arguments, memory):
    """Run the function in the forked process, tell its outcome, and end without cleaning up."""
    try:
        limit = _address_space() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            outcome = function(*arguments)
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            outcome = Outcome("fault", traceback.format_exc())
        os.write(pipe, f"{outcome.kind}\n{outcome.text[-4000:]}".encode(errors="backslashreplace"))
    finally:
        os._exit(0)


def _address_space():
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
