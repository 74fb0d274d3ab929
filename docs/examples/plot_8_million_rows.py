"""
A million rows by blocks
========================

All pairs of a million samples are too many. The mean of HSIC over random blocks of B samples is unbiased too, and its
cost grows with m B instead of m².

This page uses 50,000 rows, so that it builds quickly. The call is the same for a million; :doc:`../appendix/scale`
has the time and the memory.
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
# The table may be in a file. A numpy memmap, a zarr array and a dask array are read piece by piece:

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "X.npy"
np.save(path, np.asfortranarray(X))
stored = np.load(path, mmap_mode="r")

start = time.perf_counter()
selector = BAHSIC(n_features_to_select=2, step=0.5, block_size=500, random_state=0).fit(stored, y)
print(f"selected {selector.get_support(indices=True)} of {n_rows:,} rows in {time.perf_counter() - start:.1f} s")

# %%
# Each block yields a value, and their spread is the standard error of the mean. Small blocks are noisier, but all
# estimate the same quantity:

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
sizes = [25, 50, 100, 200, 400]
for size in sizes:
    values = hsic_blocks(X[:5000, :2], y[:5000], block_size=size, random_state=0)
    axes.errorbar(size, values.mean(), values.std(ddof=1) / len(values) ** 0.5, fmt="o", color="tab:blue", capsize=3)
axes.set(xlabel="samples in a block", ylabel="HSIC, one standard error", xscale="log", xticks=sizes, xticklabels=sizes)
axes.minorticks_off()

# %%
# With ``checkpoint="folder"`` an interrupted fit resumes where it stopped and selects the same features.

del stored  # so that the file can be removed on every system
folder.cleanup()
