"""
Significance done right
=======================

A selector returns features even from pure noise. A test on the same samples nearly always finds that these features
depend on the labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from bahsic import BAHSIC, hsic_test, selection_test
from bahsic.datasets import make_xor

random = np.random.default_rng(0)
selector = BAHSIC(n_features_to_select=3, step=0.5)


def pvalues(n_data_sets):
    """P-values of both ways, on data sets of noise."""
    for _ in range(n_data_sets):
        X, y = random.standard_normal((40, 50)), np.arange(40) % 2
        selected = selector.fit_transform(X, y)
        wrong = hsic_test(selected, y, method="gamma").pvalue
        right = selection_test(selector, X, y, n_splits=5, method="gamma", random_state=0).pvalue
        yield wrong, right


wrong, right = np.array(list(pvalues(40))).T

# %%
# If there is nothing to find, no more than one p-value in twenty should be below 0.05.

figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharex=True, layout="constrained")
for axes, values, title in zip(panels, (wrong, right), ("hsic_test, same samples", "selection_test"), strict=True):
    axes.hist(values, bins=np.linspace(0, 1, 21), edgecolor="white")
    axes.axvline(0.05, linestyle="--", color="tab:orange")
    axes.set(title=f"{title}: {np.mean(values <= 0.05):.0%} at 5%", xlabel="p-value")

# %%
# ``selection_test`` selects on one part of the samples and tests on the other, in several random splits. It is
# conservative, but it finds a pair of features even if neither matters alone:

X, y, support = make_xor(n_samples=120, n_features=12, random_state=0)
found = selection_test(BAHSIC(2), X, y, n_splits=5, random_state=0)
print(f"p = {found.pvalue:.4f}; feature 0 and 1 selected in {found.frequencies[:2]} of the splits")

# %%
# For a column that was chosen *before* looking at the data, the plain test is right:

print("feature 0 alone, p =", hsic_test(X[:, [0]], y, random_state=0).pvalue)
print("features 0 and 1, p =", hsic_test(X[:, :2], y, random_state=0).pvalue)
