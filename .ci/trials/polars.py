"""A fit to a dataframe of polars."""

import polars as pl

from bahsic import BAHSIC
from bahsic.datasets import make_xor

X, y, support = make_xor(100, 6, random_state=0)
assert BAHSIC(2).fit(pl.DataFrame(X), y).get_support(indices=True).tolist() == [0, 1]
