"""What all tests share: one BLAS thread, no deadlines, and the folder of the real data sets."""

import os
from pathlib import Path

# For the processes that tests start, and for this one unless a plugin has loaded numpy.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import pytest  # noqa: E402 (the environment has to be set before numpy is loaded)
from hypothesis import settings  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile("any machine", deadline=None)  # a busy machine is no failure
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """Bound the threads also where a plugin has loaded numpy before this file is read."""
    import numpy as np  # noqa: F401 (so that there is a BLAS to bound)

    with threadpool_limits(limits=1):
        yield


@pytest.fixture(params=["reference", "loops"])
def engine(request, monkeypatch) -> str:
    """Run the test with each engine: numpy, and the compiled loops however small the problem is."""
    if request.param == "loops":
        pytest.importorskip("numba")
    monkeypatch.setenv("BAHSIC_COMPILED", {"reference": "0", "loops": "always"}[request.param])
    return request.param


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real data sets: $BAHSIC_DATA, or shared/data beside the project."""
    folder = Path(os.environ.get("BAHSIC_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set BAHSIC_DATA to their folder")
    return folder
