"""
Strings as labels
=================

Labels need not be classes or numbers; a kernel on them is enough. Here each sample has a sequence. On which features
do its letters depend?
"""

import matplotlib.pyplot as plt
import numpy as np

from bahsic import BAHSIC, hsic_test
from bahsic.kernels import Spectrum

random = np.random.default_rng(0)
X = random.standard_normal((150, 12))

# %%
# The signs of features 3 and 7 decide which motif is written into a random sequence:


def sequence(row):
    """Thirty letters with a motif in the middle."""
    letters = random.choice(list("ACGT"), 30)
    motif = "GATTACA" if row[3] * row[7] > 0 else "CCGTGGC"
    start = random.integers(5, 15)
    letters[start : start + 7] = list(motif)
    return "".join(letters)


sequences = [sequence(row) for row in X]
print(*sequences[:4], sep="\n")

# %%
# ``Spectrum(3)`` counts common substrings of three letters. Sorted by motif, the matrix of the sequences shows two
# faint squares:

kernel = Spectrum(3, normalize=True)
order = np.argsort(X[:, 3] * X[:, 7])
L = kernel([sequences[i] for i in order])
np.fill_diagonal(L, np.nan)
figure, axes = plt.subplots(figsize=(4.4, 3.6), layout="constrained")
figure.colorbar(axes.imshow(L, cmap="viridis"), label="kernel on the sequences")
axes.set(xlabel="sequence", ylabel="sequence")

# %%
# This is enough for the selector to find the two features:

selector = BAHSIC(n_features_to_select=2, target_kernel=kernel).fit(X, sequences)
print("selected:", selector.get_support(indices=True))
print("p of both:", hsic_test(X[:, [3, 7]], sequences, target_kernel=kernel, random_state=0).pvalue)
print("p of one :", hsic_test(X[:, [3]], sequences, target_kernel=kernel, random_state=0).pvalue)
