"""
A million rows by blocks
========================

All pairs of a million samples are too many. The mean of HSIC over random blocks of B samples is as unbiased, and its
cost grows with m B instead of m².

So that this page is made quickly it runs with 50,000 rows. The call is the same for a million; how long that takes, and
in how much memory, is measured in :doc:`../appendix/scale`.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bahsic import BAHSIC, hsic_blocks
from bahsic.datasets import make_xor

n_rows = 50_000
X, y, support = make_xor(n_samples=n_rows, n_features=10, random_state=0)

# %%
# The table may lie in a file. A numpy memmap, a zarr array and a dask array are read piece by piece:

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "X.npy"
np.save(path, np.asfortranarray(X))
stored = np.load(path, mmap_mode="r")

start = time.perf_counter()
selector = BAHSIC(n_features_to_select=2, step=0.5, block_size=500, random_state=0).fit(stored, y)
print(f"selected {selector.get_support(indices=True)} of {n_rows:,} rows in {time.perf_counter() - start:.1f} s")

# %%
# What it costs in accuracy: each block gives a value, and their spread the standard error of the mean. Small blocks
# are noisier, but all estimate the same:

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
sizes = [25, 50, 100, 200, 400]
for size in sizes:
    values = hsic_blocks(X[:5000, :2], y[:5000], block_size=size, random_state=0)
    axes.errorbar(size, values.mean(), values.std(ddof=1) / len(values) ** 0.5, fmt="o", color="tab:blue", capsize=3)
axes.set(xlabel="samples in a block", ylabel="HSIC, one standard error", xscale="log", xticks=sizes, xticklabels=sizes)
axes.minorticks_off()

# %%
# With ``checkpoint="folder"`` a fit that is killed goes on where it stopped, to the same bits.

del stored  # so that the file can be removed on every system
folder.cleanup()
