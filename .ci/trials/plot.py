"""A picture of the path."""

import matplotlib as mpl

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.plotting import plot_path

mpl.use("Agg")
X, y, support = make_xor(100, 6, random_state=0)
plot_path(BAHSIC(2).fit(X, y)).figure.savefig("path.png")
