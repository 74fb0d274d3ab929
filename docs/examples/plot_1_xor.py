"""
XOR: why scores of single features fail
=======================================

Two features determine the label together, and neither predicts anything by itself. A score of single features cannot
see such a pair, however many samples there are.
"""

import matplotlib.pyplot as plt
from sklearn.feature_selection import f_classif, mutual_info_classif

from bahsic import BAHSIC, FOHSIC, hsic_scores
from bahsic.datasets import make_xor

X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)

figure, axes = plt.subplots(figsize=(4, 3.6), layout="constrained")
for label, marker in enumerate("ox"):
    axes.scatter(*X[y == label, :2].T, marker=marker, alpha=0.7, label=f"y = {label}")
axes.set(xlabel="feature 0", ylabel="feature 1")
axes.legend()

# %%
# Along either axis, the two classes have the same distribution. The F test, mutual information and HSIC of single
# features therefore rank the 22 features by chance:

scores = {
    "F test": f_classif(X, y)[0],
    "mutual information": mutual_info_classif(X, y, random_state=0),
    "HSIC alone": hsic_scores(X, y)[0],
}
figure, panels = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for panel, (name, values) in zip(panels, scores.items(), strict=True):
    panel.bar(range(22), values, color=["tab:orange"] * 2 + ["tab:blue"] * 20)
    panel.set(title=name, xlabel="feature", yticks=[])

# %%
# `BAHSIC` starts from all features and asks what is lost without each of them. Both halves of the pair matter then:

backward = BAHSIC(n_features_to_select=2).fit(X, y)
print("BAHSIC selects", backward.get_support(indices=True))

# %%
# `FOHSIC` adds features one by one. Its first choice is a single feature again, so it does not find the pair, unless
# one half is given:

print("FOHSIC selects", FOHSIC(n_features_to_select=2).fit(X, y).get_support(indices=True))
print("with feature 0 kept", FOHSIC(n_features_to_select=2, keep=[0]).fit(X, y).get_support(indices=True))
