"""
Gene expression with 60 samples
===============================

60 patients, 5,000 genes, two types of a disease. The data are simulated so that the truth is known: the first eight
genes differ between the types by 1.2 standard deviations, the others are noise.
"""

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bahsic import BAHSIC, selection_frequencies, selection_test
from bahsic.plotting import plot_stability

random = np.random.default_rng(0)
X, y = random.standard_normal((60, 5000)), np.arange(60) % 2
X[y == 1, :8] += 1.2
names = np.array([f"gene {j}" for j in range(5000)])

selector = BAHSIC(n_features_to_select=8).fit(X, y)
print(*names[selector.get_support()], sep=", ")

# %%
# Some of the eight are selected, and some are not: among 5,000 noise genes, a few look as good in 60 samples. Which
# genes would other patients give? Repeat the selection on random halves of the patients:

frequencies = selection_frequencies(BAHSIC(8), X, y, n_resamples=10, random_state=0)
plot_stability(frequencies, names=names, n=16)

# %%
# Does the disease depend on the selected genes at all? The test selects on one part of the patients and tests on the
# other, so the choice among 5,000 genes does not invalidate the p-value:

print("p =", selection_test(BAHSIC(8), X, y, n_splits=5, random_state=0).pvalue)

# %%
# Selecting before the cross-validation is the classic mistake. With random labels, the right way is at chance level,
# and the wrong way looks like a discovery.

coins = random.permutation(y)
model = make_pipeline(StandardScaler(), KNeighborsClassifier())
wrong = cross_val_score(model, BAHSIC(8).fit_transform(X, coins), coins, cv=5)
right = cross_val_score(make_pipeline(BAHSIC(8), model), X, coins, cv=5)
print(f"accuracy on random labels: {wrong.mean():.2f} selected before, {right.mean():.2f} selected inside")
