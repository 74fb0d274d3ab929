"""
How many features
=================

Two ways to choose the number of features: the smallest set that predicts held-out samples about as well as the best
one, and the number that is best for your own model.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bahsic import BAHSIC, BAHSICCV
from bahsic.plotting import plot_path

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
automatic = BAHSIC("auto", step=1).fit(X, y)
plot_path(automatic)

# %%
# The curve is R² on samples that took no part in choosing the features. ``"auto"`` takes the smallest subset within
# one standard error of the least held-out error; the title says how well it predicts:

print(*automatic.get_feature_names_out(), sep=", ")

# %%
# `BAHSICCV` ranks the features once in each fold and scores your model on the nested subsets:

search = BAHSICCV(make_pipeline(StandardScaler(), KNeighborsClassifier()), step=2, cv=3).fit(X, y)
results = search.cv_results_
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.errorbar(results["n_features"], results["mean_test_score"], results["std_test_score"], marker="o", capsize=2)
axes.axvline(search.n_features_, linestyle="--", color="tab:orange", label=f"best: {search.n_features_}")
axes.set(xlabel="number of features", ylabel="accuracy")
axes.legend()

# %%
# The curve rises slowly, and its best point is the best of several. ``one_standard_error=True`` takes the fewest
# features within one standard error of it:

modest = BAHSICCV(search.estimator, step=2, cv=3, one_standard_error=True).fit(X, y)
print(modest.n_features_, "features")
