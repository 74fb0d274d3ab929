"""Error against cost: HSIC of all samples, of random blocks, and of a subsample of as many pairs."""

import numpy as np
from table import Row, row

from bahsic import hsic, hsic_blocks
from bahsic.datasets import make_xor
from bahsic.kernels import Gaussian


def error_rows(quick: bool) -> list[Row]:
    """Root mean squared errors over many draws of XOR, dependent and with permuted labels."""
    m, draws, sizes = (256, 10, [16, 64]) if quick else (2048, 200, [16, 32, 64, 128, 256, 512, 1024])
    found: dict[tuple[str, str, int], list[float]] = {}
    for seed in range(draws):
        X, y, _ = make_xor(m, 2, random_state=seed)
        for case, labels in (("dependent", y), ("independent", np.random.default_rng(seed).permutation(y))):
            for way, size, value in _estimates(X, labels, sizes, seed):
                found.setdefault((case, way, size), []).append(value)
    rows = []
    for (case, way, size), values in found.items():
        truth = np.mean(found[case, "exact", m]) if case == "dependent" else 0.0
        error = float(np.sqrt(np.mean(np.square(np.array(values) - truth))))
        pairs = m * size / 2 if way == "blocks" else size**2 / 2
        unit = float(np.mean(found["dependent", "exact", m]))
        what = f"error of {way}, {case}, B={size}" if way == "blocks" else f"error of {way}, {case}, n={size}"
        note = f"relative to HSIC, over {draws} draws"
        rows.append(row(what, error / unit, note=note, m=m, case=case, way=way, size=size, pairs=pairs))
    return rows


def _estimates(X: np.ndarray, y: np.ndarray, sizes: list[int], seed: int) -> list[tuple[str, int, float]]:
    kernel, m = Gaussian(0.5), len(y)
    found = [("exact", m, hsic(X, y, kernel, standardize=False))]
    order = np.random.default_rng(seed).permutation(m)
    for size in sizes:
        values = hsic_blocks(X, y, kernel, block_size=size, standardize=False, random_state=seed)
        found.append(("blocks", size, float(values.mean())))
        some = order[: int(np.sqrt(m * size))]  # as many pairs
        # The labels' kernel is that of all samples, as for the blocks.
        found.append(("subsample", len(some), _on_some(X, y, some, kernel)))
    return found


def _on_some(X: np.ndarray, y: np.ndarray, some: np.ndarray, kernel: Gaussian) -> float:
    from bahsic import hsic_unbiased
    from bahsic.kernels import label_kernel

    return hsic_unbiased(kernel(X[some]), label_kernel(y).of_samples(some).gram())
