"""Beyond memory and beyond one machine: files, blocks, checkpoints, a Dask cluster.

The parts take long, so each is kept in ``benchmarks/.scale`` as soon as it is done, and a benchmark that was
interrupted goes on from there.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scale_error import error_rows
from sklearn import config_context
from table import Row, row

from bahsic import BAHSIC
from bahsic.datasets import make_xor

_FOLDER = Path(__file__).resolve().parent / ".scale"
_GIB = 2**30


def rows(*, quick: bool) -> list[Row]:
    """Rows of all parts, in order."""
    parts: list[Callable[[bool], list[Row]]] = [
        *(_out_of_core, _blocks, _interruptions, _cluster, _efficiency, error_rows),
    ]
    return [line for part in parts for line in _kept(part, quick)]


def _kept(part: Callable[[bool], list[Row]], quick: bool) -> list[Row]:
    """The rows of a part, from the file where it has been done before."""
    path = _FOLDER / f"{part.__name__.strip('_')}{'-quick' if quick else ''}.json"
    if not path.exists():
        load = os.getloadavg()[0]
        found = [{**line, "load": load} for line in part(quick)]
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found))
        print(f"{path.stem}: {len(found)} rows", flush=True)
    lines: list[Row] = json.loads(path.read_text())
    return lines


def _data(m: int, d: int) -> tuple[Path, Path]:
    """XOR among noise in files, written piece by piece."""
    _FOLDER.mkdir(exist_ok=True)
    path, labels = _FOLDER / f"X-{m}-{d}.npy", _FOLDER / f"y-{m}-{d}.npy"
    if not labels.exists():
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(m, d))
        y = np.empty(m, dtype=np.int64)
        for number, start in enumerate(range(0, m, 10_000)):
            stop = min(start + 10_000, m)
            X[start:stop], y[start:stop], _ = make_xor(stop - start, d, random_state=number)
        X.flush()
        np.save(labels, y)
    return path, labels


def _fit(m: int, d: int, **options: Any) -> dict[str, Any]:
    program = Path(__file__).with_name("scale_task.py")
    command = [sys.executable, str(program), *map(str, _data(m, d)), json.dumps(options)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def _out_of_core(quick: bool) -> list[Row]:
    m, d, small = (3000, 20, 1000) if quick else (50_000, 100, 4000)
    memory = 8 if quick else 1024
    checkpoint = str(_FOLDER / f"rounds-{m}")
    found = _fit(m, d, step=0.5, working_memory=memory, checkpoint=checkpoint, block_size=None)
    both = [_fit(m, d, step=0.5, working_memory=memory, n_samples=small, in_memory=way) for way in (False, True)]
    # On disk: a budget in which D is not kept, as with all samples; in memory the same plan of tiles.
    few = [_fit(m, d, step=0.5, working_memory=8, n_samples=small, in_memory=way) for way in (False, True)]
    same = sum(one["order"] == two["order"] and one["path"] == two["path"] for one, two in (both, few))
    note = f"{found['seconds']:.0f} s; without the pages of the file {found['own_bytes'] / _GIB:.2f} GiB"
    size = {"m": m, "d": d}
    return [
        row(f"out of core, m={m}, d={d}: peak memory, GiB", found["peak_bytes"] / _GIB, "<= 2", note=note, **size),
        row("out of core: both XOR features found", int(sorted(found["selected"]) == [0, 1]), "== 1", **size),
        row(f"out of core, m={small}: fits with the bits of those in memory", same, "== 2", note="of 2", m=small, d=d),
    ]


def _blocks(quick: bool) -> list[Row]:
    large, small, d, size = (20_000, 4000, 20, 200) if quick else (1_000_000, 100_000, 50, 1000)
    options = {"step": 0.5, "block_size": size, "random_state": 0}
    part, whole = (_fit(m, d, **options) for m in (small, large))
    predicted = part["seconds"] * large / small
    note = f"{whole['seconds']:.0f} s, m={small} took {part['seconds']:.1f} s"
    what = f"blocks, m={large}, d={d}, B={size}"
    peak = row(f"{what}: peak memory, GiB", whole["peak_bytes"] / _GIB, "<= 2", note=note, m=large, d=d)
    found = int(sorted(whole["selected"]) == [0, 1])
    return [
        peak,
        row(f"{what}: both XOR features found", found, "== 1", m=large, d=d),
        row(f"{what}: time / predicted by m B d", whole["seconds"] / predicted, "<= 3", note=note, m=large, d=d),
    ]


def _interruptions(quick: bool) -> list[Row]:
    """Kill a process at random moments, resume it, compare."""
    m, d, kills = (600, 20, 2) if quick else (1500, 60, 20)
    options = {"step": 0.1}
    whole = _fit(m, d, **options)
    same, draws, finished = 0, random.Random(0), []
    while len(finished) < kills:
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = str(Path(folder) / "rounds")
            if not _killed({**options, "checkpoint": checkpoint}, m, d, draws.uniform(0, whole["seconds"])):
                continue  # it was faster
            file = Path(checkpoint) / "bahsic-checkpoint.json"
            finished.append(len(json.loads(file.read_text())["content"]["rounds"]) if file.exists() else 0)
            again = _fit(m, d, **options, checkpoint=checkpoint)
            same += again["path"] == whole["path"] and again["order"] == whole["order"]
    note = f"of {kills}; rounds finished before: {', '.join(map(str, finished))} of {len(whole['path'])}"
    return [row("kill -9 and resume: same bits", same, f"== {kills}", note=note, m=m, d=d)]


def _killed(options: dict[str, Any], m: int, d: int, delay: float) -> bool:
    """Start a fit and kill it so many seconds after it has made its folder; whether it was still at work."""
    program = Path(__file__).with_name("scale_task.py")
    command = [sys.executable, str(program), *map(str, _data(m, d)), json.dumps(options)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not Path(options["checkpoint"]).exists():  # libraries are loaded
        time.sleep(0.001)
    time.sleep(delay)
    at_work = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return at_work


def _started(n_workers: int) -> Any:
    from distributed import Client, LocalCluster

    workers = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
    )
    return Client(workers)


def _cluster(quick: bool) -> list[Row]:
    m, d, memory = (600, 12, 1) if quick else (6000, 60, 64)
    X, y, _ = make_xor(m, d, random_state=0)
    client = _started(2)
    with config_context(working_memory=memory):
        alone = BAHSIC(2, step=0.5).fit(X, y)
        start = time.perf_counter()
        there = BAHSIC(2, step=0.5, executor=client).fit(X, y)
        seconds = time.perf_counter() - start
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(seconds / 3, os.kill, (victim, signal.SIGKILL))
        killer.start()
        after = BAHSIC(2, step=0.5, executor=client).fit(X, y)
        lost = not killer.is_alive()  # killed while the fit was at work
        killer.join()
    client.cluster.close()
    client.close()
    size = {"m": m, "d": d}
    return [
        row("two workers: bits of one machine", _same(alone, there), "== 1", note=f"{seconds:.1f} s", **size),
        row("two workers, one killed with SIGKILL: same bits", _same(alone, after) * lost, "== 1", **size),
    ]


def _same(one: BAHSIC, two: BAHSIC) -> int:
    equal = (np.array_equal(getattr(one, n), getattr(two, n)) for n in ("support_", "ranking_", "elimination_order_"))
    return int(one.path_ == two.path_ and all(equal))


def _efficiency(quick: bool) -> list[Row]:
    """Time of one worker over twice that of two, on a case in which the tiles take nearly all of it."""
    m, d, memory = (1500, 12, 8) if quick else (16_000, 40, 256)
    X, y, _ = make_xor(m, d, random_state=0)
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(1 if quick else 3):
        for n_workers, measured in times.items():
            with config_context(working_memory=memory):
                measured.append(_measured(n_workers, X, y))
    (one, one_cpu), (two, two_cpu) = (np.min(measured, axis=0) for measured in times.values())
    bar, what = "" if quick else ">= 0.8", "scaling efficiency of 2 workers over 1"
    note = f"{one:.1f} s and {two:.1f} s, least of {len(times[1])}; load {os.getloadavg()[0]:.1f} on 2 cores"
    busy = f"{one_cpu:.1f} s and {two_cpu:.1f} s of the client and the busiest worker: as on a machine without others"
    return [
        row(f"{what}, by the clock", one / (2 * two), bar, note=note, m=m, d=d),
        row(f"{what}, by processor time", one_cpu / (2 * two_cpu), bar, note=busy, m=m, d=d),
    ]


def _measured(n_workers: int, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds of a fit by the clock, and of the processors that it has to wait for."""
    client = _started(n_workers)
    BAHSIC(2, step=0.9, executor=client).fit(X[:200], y[:200])  # libraries are loaded
    before, own, start = client.run(time.process_time), time.process_time(), time.perf_counter()
    BAHSIC(2, step=0.9, block_size=None, executor=client, n_jobs=1).fit(X, y)
    seconds, own = time.perf_counter() - start, time.process_time() - own
    after = client.run(time.process_time)
    client.cluster.close()
    client.close()
    return seconds, own + max(after[worker] - before[worker] for worker in before)
