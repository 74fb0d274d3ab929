"""Versions of the libraries in use, for reports of problems."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info

from bahsic.engine.compiled import VARIABLE, loops

_LIBRARIES = (
    *("bahsic", "numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "pyarrow", "matplotlib"),
    *("dask", "distributed", "zarr", "anndata", "mne"),
)


def show_versions() -> None:
    """Print the versions of Python and of the libraries in use, the BLAS, and whether compiled inner loops run.

    Examples
    --------
    >>> import bahsic
    >>> bahsic.show_versions()  # doctest: +ELLIPSIS
    python ...
    compiled loops ...
    """
    found = {"python": sys.version.split()[0], "system": platform.platform()}
    found |= {name: _version(name) for name in _LIBRARIES}
    found["blas"] = "; ".join(
        f"{library['internal_api']} {library['version']}, {library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    )
    numba, works = found["numba"], loops() is not None
    why_not = "numba is not installed" if numba == "-" else f"numba does not work here, or {VARIABLE} is 0"
    found["compiled loops"] = f"yes, by numba {numba}, where the data are large enough" if works else f"no: {why_not}"
    width = max(len(name) for name in found)
    print("\n".join(f"{name:{width}}  {value}" for name, value in found.items()))  # noqa: T201 - what it is for


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"
