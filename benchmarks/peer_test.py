"""Time and p-value of hyppo's test of independence; runs in the environment of benchmarks/peers.txt, without bahsic.

``peer_test.py data.npz n_permutations`` prints, in its last line, a JSON object.
"""

import json
import sys
import warnings
from importlib.metadata import version

import numpy as np
from timing import seconds


def main(path: str, n_permutations: str) -> None:
    """Measure one test on the data in a file."""
    warnings.simplefilter("ignore")  # of a library that we compare with, not of ours
    from hyppo.independence import Hsic

    data = np.load(path)
    x, y = data["x"], data["y"].astype(float)
    pvalues: list[float] = []

    def test(m: int, repeats: int) -> None:
        found = Hsic().test(x[:m], y[:m], reps=repeats, workers=1, auto=False, random_state=0)
        pvalues.append(float(found[1]))

    test(50, 20)  # imports and compilation
    time = seconds(lambda: test(len(x), int(n_permutations)))
    print()
    print(json.dumps({"seconds": time, "pvalue": pvalues[-1], "package": f"hyppo {version('hyppo')}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
