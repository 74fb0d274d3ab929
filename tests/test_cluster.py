"""A Dask cluster: the selection of one machine, whatever the kernel, where the data are, and who is killed."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn import clone, config_context
from threadpoolctl import threadpool_info, threadpool_limits

from bahsic import BAHSIC, FOHSIC
from bahsic.engine import dask_executor
from bahsic.kernels import Gaussian
from selecting import assert_same_selection, drawn
from test_stored import dask_array, mapped, zarr_array

cloudpickle = pytest.importorskip("cloudpickle")
distributed = pytest.importorskip("distributed")

pytestmark = [
    # Of the libraries, when a cluster starts, loses a worker or stops.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as workers,
        distributed.Client(workers, set_as_default=False) as found,
    ):
        yield found


# With 0.3 MiB there are several tiles, with 1024 there is one.
CASES = [
    (BAHSIC, {"standard_errors": True}, 0.3),
    (FOHSIC, {"n_features_to_select": 3, "step": 2}, 1024),
    (BAHSIC, {"feature_groups": [[0, 1], [2, 3]], "kernel": Gaussian("median")}, 0.3),
    (BAHSIC, {"block_size": 40, "random_state": 0, "standard_errors": True}, 1024),
    (BAHSIC, {"criterion": "prediction", "n_features_to_select": "auto", "kernel": "auto"}, 0.3),
    (FOHSIC, {"criterion": "prediction", "block_size": 40, "random_state": 0}, 1024),
]


@pytest.mark.parametrize(("selector", "options", "working_memory"), CASES, ids=str)
def test_the_selection_is_that_of_one_machine(client, selector, options, working_memory):
    X, y = drawn(m=100, d=6)
    with config_context(working_memory=working_memory):
        alone = selector(**{"n_features_to_select": 2, "step": 0.5, **options}).fit(X, y)
        there = clone(alone).set_params(executor=client).fit(X, y)
    assert_same_selection(there, alone)


@pytest.mark.parametrize("stored", [mapped, zarr_array, dask_array])
def test_tasks_read_the_data_themselves(client, stored, tmp_path):
    X, y = drawn(m=70, d=6)
    with config_context(working_memory=0.2):
        alone = BAHSIC(2, step=0.5).fit(X, y)
        assert_same_selection(BAHSIC(2, step=0.5, executor=client).fit(stored(X, tmp_path), y), alone)


def test_a_dask_array_uses_the_client_at_hand(client, tmp_path, monkeypatch):
    X, y = drawn(m=60, d=5)
    streams = []
    stream = dask_executor.DaskExecutor.stream
    monkeypatch.setattr(
        dask_executor.DaskExecutor, "stream", lambda self, *given: streams.append(1) or stream(self, *given)
    )
    alone = BAHSIC(2, step=0.5).fit(X, y)
    with client.as_current():
        assert_same_selection(BAHSIC(2, step=0.5).fit(dask_array(X, tmp_path), y), alone)
        assert streams
        streams.clear()
        BAHSIC(2, step=0.5).fit(X, y)  # other data stay here
    assert not streams
    BAHSIC(2, step=0.5).fit(dask_array(X, tmp_path), y)  # no client at hand
    assert not streams


def test_chunks_on_the_cluster_are_refused(client, tmp_path):
    X, y = drawn(m=60, d=5)
    with client.as_current(), pytest.raises(ValueError, match="on a cluster already, by persist; accepted"):
        BAHSIC(2, step=0.5).fit(dask_array(X, tmp_path).persist(), y)


def test_clones_share_the_client_and_pickles_have_its_address(client):
    X, y = drawn(m=60, d=5)
    selector = BAHSIC(2, step=0.5, executor=client).fit(X, y)
    assert clone(selector).executor is client
    again = pickle.loads(pickle.dumps(selector))
    assert again.executor == client.scheduler.address
    assert np.array_equal(again.transform(X), selector.transform(X))
    assert_same_selection(again.fit(X, y), BAHSIC(2, step=0.5).fit(X, y))
    assert selector.executor is client
    assert pickle.loads(pickle.dumps(BAHSIC(2))).executor is None


def blas_threads(item):
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_in_the_tasks():
    # Here, as if it were a worker: Dask gives those one thread, unless told otherwise.
    dask_executor._one_blas_thread.cache_clear()  # once for each process
    with threadpool_limits(limits=2, user_api="blas"):
        assert blas_threads(0) == {2}
        assert dask_executor._results(("token", cloudpickle.dumps(blas_threads)), {}, [0], -1) == [{1}]


def test_errors_of_tasks_reach_the_caller(client):
    with dask_executor.executor_for(client, None, 1, 10) as executor:
        with pytest.raises(ZeroDivisionError):
            list(executor.stream(lambda item: 1 / (item - 3), range(8)))
        assert list(executor.stream(abs, [-1, -2])) == [1, 2]


def test_few_tasks_are_in_flight(client):
    with dask_executor.executor_for(client, None, 1, 10) as executor:
        submitted = []
        submit = executor.submit
        executor.submit = lambda *given: submitted.append(1) or submit(*given)
        stream = executor.stream(abs, range(64))
        for position in range(10):
            assert next(stream) == position
        assert len(submitted) <= 2 * 3 + 3  # of 16; three have been asked for
        stream.close()


def test_a_killed_worker_changes_nothing(client):
    X, y = drawn(m=400, d=12)
    with config_context(working_memory=0.5):
        alone = BAHSIC(2, step=0.5).fit(X, y)
        victim = next(iter(client.run(os.getpid).values()))

        def kill():
            time.sleep(0.5)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        there = clone(alone).set_params(executor=client).fit(X, y)
        killer.join()
        after = clone(there).fit(X, y)
    assert victim not in client.run(os.getpid).values()
    assert_same_selection(alone, there)
    assert_same_selection(alone, after)


def test_sending_that_never_ends_is_begun_again(client, monkeypatch):
    """As when a worker is killed while it receives and the scheduler waits for it."""
    monkeypatch.setattr(dask_executor, "_SENDING", 0.2)
    scatter, calls = client.scatter, []

    def stuck(*things, **options):
        calls.append(1)
        return asyncio.sleep(1000) if len(calls) == 1 else scatter(*things, **options)

    monkeypatch.setattr(client, "scatter", stuck)
    with dask_executor.executor_for(client, None, 1, 10) as executor:
        assert list(executor.stream(abs, [-1, -2, 3])) == [1, 2, 3]
    assert len(calls) == 2


LOST = r"executor is '{}' \(.*\); accepted: a client, or the address of"


@pytest.mark.parametrize(
    ("executor", "error", "message"),
    [
        (3, TypeError, r"executor is 3; accepted: None, a dask.distributed.Client or the address"),
        ("nonsense", ValueError, LOST.format("nonsense")),
        ("tcp://nowhere.invalid:80", ValueError, LOST.format("tcp://nowhere.invalid:80")),
    ],
)
def test_other_executors_are_refused_at_once(executor, error, message):
    with pytest.raises(error, match=message):
        BAHSIC(1, executor=executor).fit(*drawn(m=20, d=6))


def test_without_dask_the_install_line_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'bahsic\[dask\]'"):
        BAHSIC(1, executor="tcp://127.0.0.1:1").fit([[0.0], [1.0], [3.0], [2.0]], [0, 1, 0, 1])


def test_nothing_of_dask_is_imported_without_a_cluster():
    code = "import sys, bahsic; bahsic.BAHSIC(1).fit([[0.0, 1], [1.0, 2], [3.0, 1], [2.0, 4]], [0, 1, 0, 1]); "
    code += "print({'dask', 'distributed', 'zarr'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "set()"
