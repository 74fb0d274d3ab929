"""Every library that an extra brings, in one process."""

import anndata  # noqa: F401
import dask.array as da
import distributed  # noqa: F401
import jinja2  # noqa: F401
import matplotlib as mpl  # noqa: F401
import mne  # noqa: F401
import pandas as pd  # noqa: F401
import polars as pl  # noqa: F401
import pyriemann  # noqa: F401
import zarr  # noqa: F401

from bahsic import BAHSIC
from bahsic.datasets import make_xor

X, y, support = make_xor(100, 6, random_state=0)
assert BAHSIC(2).fit(da.from_array(X), y).get_support(indices=True).tolist() == [0, 1]
