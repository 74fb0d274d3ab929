"""
A mixed table with missing values
=================================

Numbers, categories and holes in one pandas table. Nothing is encoded and nothing imputed: each column has its own
place in the kernel.
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
# The risk is high for old smokers and for young ones who do not smoke: an interaction of a number with a category. A
# tenth of the ages, and of the pressures, is missing.

y = ((table["age"] > 50) == (table["smoker"] == "yes")).astype(int)
table.loc[random.random(m) < 0.1, "age"] = np.nan
table.loc[random.random(m) < 0.1, "pressure"] = np.nan
table.head()

# %%
# ``"from_dtype"`` takes the columns of categories, ``"neutral"`` lets missing entries neither attract nor repel.

options = {"categorical_features": "from_dtype", "missing": "neutral"}
selector = BAHSIC(n_features_to_select=2, **options).fit(table, y)
print(selector.get_feature_names_out())
plot_ranking(selector)

# %%
# Which columns say the same? Normalised HSIC of each pair of columns is one for copies:

numbers = ["age", "weight", "weight in pounds", "pressure", "visits"]
plot_redundancy(redundancy(table[numbers], missing="neutral"), names=numbers)

# %%
# Columns that belong together enter and leave together, and columns that are used anyway can be kept:

grouped = BAHSIC(2, feature_groups={"body": ["weight", "weight in pounds"]}, **options).fit(table, y)
print(list(grouped.group_order_))
kept = BAHSIC(3, keep=["visits"], **options).fit(table, y)
print(kept.get_feature_names_out())

# %%
# How many of them predict best? In each fold the table is ranked with the same options, and the estimator gets the
# selected columns with their types. This one knows categories and missing entries:

search = BAHSICCV(HistGradientBoostingClassifier(max_iter=20), cv=3, **options).fit(table, y)
print(search.get_feature_names_out())
