"""
A mixed table with missing values
=================================

A pandas table with numbers, categories and missing values. The kernel handles all of them, so nothing is encoded or
imputed.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from bahsic import BAHSIC, BAHSICCV, redundancy
from bahsic.plotting import plot_ranking, plot_redundancy

random = np.random.default_rng(0)
m = 300
table = pd.DataFrame(
    {
        "age": random.normal(50, 12, m),
        "smoker": pd.Categorical(random.choice(["no", "yes"], m)),
        "region": pd.Categorical(random.choice(["north", "east", "south", "west"], m)),
        "weight": random.normal(75, 10, m),
        "pressure": random.normal(130, 15, m),
        "visits": random.poisson(2, m).astype(float),
    }
)
table["weight in pounds"] = 2.2 * table["weight"] + random.normal(0, 1, m)

# %%
# The risk is high for old smokers and for young non-smokers: an interaction of a number with a category. A tenth of
# the ages, and of the pressures, is missing.

y = ((table["age"] > 50) == (table["smoker"] == "yes")).astype(int)
table.loc[random.random(m) < 0.1, "age"] = np.nan
table.loc[random.random(m) < 0.1, "pressure"] = np.nan
table.head()

# %%
# ``"from_dtype"`` recognises categories by their type, and ``"neutral"`` places a missing entry at the average
# distance from all others. Both are the defaults.

options = {"categorical_features": "from_dtype", "missing": "neutral"}
selector = BAHSIC(n_features_to_select=2, **options).fit(table, y)
print(selector.get_feature_names_out())
plot_ranking(selector)

# %%
# Which columns are near-duplicates? The normalised HSIC of a pair of columns is one for copies:

numbers = ["age", "weight", "weight in pounds", "pressure", "visits"]
plot_redundancy(redundancy(table[numbers], missing="neutral"), names=numbers)

# %%
# Select groups of columns as a whole, and keep columns that have to be used:

grouped = BAHSIC(2, feature_groups={"body": ["weight", "weight in pounds"]}, **options).fit(table, y)
print(list(grouped.group_order_))
kept = BAHSIC(3, keep=["visits"], **options).fit(table, y)
print(kept.get_feature_names_out())

# %%
# How many columns predict best? Each fold ranks the columns with the same options, and the estimator gets the
# selected ones with their types. This estimator accepts categories and missing entries:

search = BAHSICCV(HistGradientBoostingClassifier(max_iter=20), cv=3, **options).fit(table, y)
print(search.get_feature_names_out())
