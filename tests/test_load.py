"""Kills, lack of memory, many threads and processes, many fits: each in a fresh process that forks, in seconds."""

import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg

from bahsic import BAHSIC, FOHSIC
from command import fresh

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="processes and limits of Linux")


def data(m=200, d=24):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    return X, (X[:, 1] * X[:, 4] > 0).astype(int)


def essence(fitted):
    """The result of a fit, to the last bit."""
    path = [(step.hsic, step.predictability, step.features) for step in fitted.path_]
    return fitted.ranking_.tolist(), path, fitted.scores_.tolist()


def fit(criterion, seed=0, **options):
    X, y = data(40, 6) if "checkpoint" not in options else data()
    X = X + 0.01 * seed * np.random.default_rng(seed).standard_normal(X.shape)
    selector = BAHSIC if seed % 2 == 0 else FOHSIC
    return essence(selector(2, step=1, criterion=criterion, **options).fit(X, y))


def killed(criterion, folder):
    """Fit in forked processes that are killed again and again, then to the end; the selection is that of one fit."""
    from fuzz.apart import Outcome, apart

    start = time.monotonic()
    whole = fit(criterion, checkpoint=f"{folder}/whole")
    whole_seconds, kills = time.monotonic() - start, 0
    for number in range(12):
        seconds = whole_seconds * (0.02 + 0.1 * (number * 0.618 % 1))
        ended = apart(lambda: Outcome("fine", str(fit(criterion, checkpoint=f"{folder}/killed"))), seconds=seconds)
        kills += ended.kind == "fault"
    assert kills >= 3, kills
    ranking, path, scores = fit(criterion, checkpoint=f"{folder}/killed")
    assert ranking == whole[0]
    assert [features for *_, features in path] == [features for *_, features in whole[1]]
    values = [np.array([step[:2] for step in steps], dtype=float) for steps in (path, whole[1])]  # NaN for None
    np.testing.assert_allclose(*values, rtol=1e-9)
    np.testing.assert_allclose(scores, whole[2], rtol=1e-6, atol=1e-12)


def short_of_memory(folder):
    """Run the command with ever more memory: one line and a checkpoint that is whole, until it has enough."""
    from fuzz.apart import Outcome, apart
    from fuzz.commands import command_outcome

    folder = Path(folder)
    X, y = data(1500, 8)
    linalg.cholesky(X.T @ X)  # now BLAS, of numpy and of scipy, has its own memory: without it OpenBLAS tries for ever
    linalg.blas.dgemm(1.0, X[:200].T, X[:200].T, trans_b=True)
    np.savez(folder / "t.npz", X=X, y=y)
    words = ["select", str(folder / "t.npz"), "-k", "2", "--json", "--memory", "64", "--quiet", "--random-state", "0"]
    words += ["--block-size", "none", "--kernel", "gaussian", "--jobs", "1"]
    kept = ["--checkpoint", str(folder / "kept"), "-o", str(folder / "o.npz")]

    def run(more):
        outcome, text = command_outcome([*words, *more], with_output=True)
        return Outcome(outcome.kind, text.partition('"timing"')[0] if outcome.kind == "fine" else outcome.text)

    whole, refused = apart(run, [], memory=2**32), []
    assert whole.kind == "fine", whole
    for mebibytes in (1, 6, 24, 96, 4096):
        outcome = apart(run, kept, memory=mebibytes * 2**20)
        assert outcome.kind in ("fine", "refused"), (mebibytes, outcome)
        if outcome.kind == "refused":
            assert "not enough memory" in outcome.text, (mebibytes, outcome)
            assert not (folder / "o.npz").exists()
            refused.append(mebibytes)
    assert refused
    assert outcome.text == whole.text
    assert sorted(path.name for path in folder.iterdir()) == ["kept", "o.npz", "t.npz"]


def many():
    """20 fits in 8 threads and in processes are those of a loop; 40 more keep the memory flat."""
    jobs = [(["hsic", "prediction"][i % 2], i) for i in range(20)]
    serial = [fit(*job) for job in jobs]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        assert list(processes.map(fit, *zip(*jobs, strict=True))) == serial
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda job: fit(*job), jobs)) == serial
    before = resident()
    for number in range(40):
        fit(*jobs[number % 20])
    assert resident() - before < 20 * 2**20, resident() - before


def resident():
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def run_apart(root, call):
    done = fresh("-W", "ignore", "-c", f"import test_load; test_load.{call}", cwd=root / "tests")
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_a_fit_that_is_killed_again_and_again_gives_the_same_selection(criterion, tmp_path, root):
    run_apart(root, f"killed({criterion!r}, {str(tmp_path)!r})")


def test_lack_of_memory_is_one_line_and_leaves_the_checkpoint_whole(tmp_path, root):
    run_apart(root, f"short_of_memory({str(tmp_path)!r})")


def test_many_fits_at_once_and_one_after_the_other(root):
    run_apart(root, "many()")
