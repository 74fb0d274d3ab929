"""Compiled loops, in a fit that is large enough for them."""

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.engine.loops import loops, worthwhile

X, y, support = make_xor(1000, 200, random_state=0)
assert worthwhile(len(X) ** 2, X.shape[1])
assert BAHSIC(2).fit(X, y).get_support(indices=True).tolist() == [0, 1]
assert "form" in vars(loops(compiled=True))
