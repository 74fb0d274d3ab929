"""Compiled loops: the values of the definition, and the results of the reference in numpy."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from sklearn import config_context

import bahsic
from bahsic import BAHSIC
from bahsic.data.columns import Columns, largest_contributions
from bahsic.datasets import make_xor
from bahsic.engine import compiled, reference
from bahsic.engine.encoding import encode
from bahsic.engine.plan import Tile
from bahsic.engine.tiles import add_differences
from bahsic.kernels import Gaussian, Laplacian
from pairwise import pairwise

# Coefficients of the polynomials.
SHORT, LONG = 4, 6

loops = pytest.importorskip("bahsic.engine.loops", reason="numba is not installed", exc_type=ImportError)
FUNCTIONS = pytest.mark.parametrize("functions", [reference, loops], ids=["reference", "loops"])

# Heights and widths about those of the groups of four rows, and of the blocks of 16 rows and 256 columns.
HEIGHTS, WIDTHS = [1, 2, 3, 4, 5, 127, 128], [1, 3, 255, 256, 257, 600]


def table(m, *, together=False):
    """Numbers, far from zero too, and categories, some of them with missing entries."""
    rng = np.random.default_rng(m)
    X = np.array(
        [
            rng.normal(size=m),
            1e3 + rng.normal(size=m),
            rng.standard_cauchy(m),
            rng.integers(0, 3, m),
            10**5 - rng.integers(1, 3, m),
            rng.normal(size=m),
            rng.integers(0, 3, m),
        ]
    )
    missing = np.arange(7) >= 5
    X[5, ::3] = X[6, ::4] = np.nan
    if together:
        missing[6], X[6, ::4] = False, 3.0
    different = np.array([0.0, 0.0, 0.0, 3.0, 0.7, 0.0, 2.5])
    return Columns(X, different, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.6, 2.0]) * missing, missing, together)


def contributions(columns, power, tile):
    """What each column contributes to the pairs of a tile, by definition."""
    found = []
    for column, different, neutral in zip(columns.data, columns.different, columns.neutral, strict=True):
        x, y = column[tile.rows, None], column[None, tile.cols]
        known, half = np.abs(np.nan_to_num(x) - np.nan_to_num(y)) ** power, neutral / 2
        both, one = np.isnan(x) & np.isnan(y), np.isnan(x) != np.isnan(y)
        if different:
            known, half = different * (x != y), (neutral + different) / 2
            known = np.where(one, 0.0, known)
        known = np.where(one, known + half, known)
        found.append(np.where(both, neutral * (not columns.together), known))
    return np.array(found)


def drawn(shape, *, diagonal):
    """A tile, and D and W on it."""
    rng, start = np.random.default_rng(shape), 3
    first = start if diagonal else start + shape[0] + 2
    D, W = rng.uniform(0, 9, size=shape), rng.normal(size=shape)
    if diagonal:
        W = np.triu(W, 1)
    return Tile(slice(start, start + shape[0]), slice(first, first + shape[1])), D, W


def changes(t, change, n_coefficients):
    """What units with contributions t (units, rows, columns) do to kernel values; and the coefficients of each."""
    if change in ("short", "long"):
        coefficients = np.random.default_rng(0).normal(size=(len(t), LONG))
        powers = range(n_coefficients)
        return sum(coefficients[:, k, None, None] * t ** (k + 1) for k in powers), coefficients
    return np.expm1(change * t), np.full((len(t), LONG), change)


@pairwise(
    height=HEIGHTS,
    width=WIDTHS,
    diagonal=[True, False],
    power=[1, 2],
    dtype=[np.float32, np.float64],
    change=["short", "long", -0.2, -5.0, 0.6, 40.0],
    missing=[("apart", 1), ("apart", 4), ("together", 1), ("together", 2), ("none", 1), ("none", 2)],
)
def test_sums_over_pairs_of_changes_by_units(height, width, diagonal, power, dtype, change, missing):
    tile, D, W = drawn((height, max(width, height) if diagonal else width), diagonal=diagonal)
    kind, size = missing
    columns, ends = table(tile.cols.stop, together=kind == "together"), np.arange(0, 141, size)
    features = np.tile(np.arange(7) if kind != "none" else np.arange(7) % 3, 20)  # more than pass together
    unit = np.repeat(np.add.reduceat(largest_contributions(columns, features, power), ends[:-1]), size)
    distinct = min(7, 140 // size)  # units, which repeat themselves after seven
    t = contributions(columns, power, tile)[features[: size * distinct]] / unit[: size * distinct, None, None]
    n_coefficients = SHORT if change == "short" else LONG
    e, coefficients = changes(t.reshape(distinct, size, *D.shape).sum(axis=1), change, n_coefficients)
    M, n_units = 0.5 * W * np.exp(-0.1 * D), len(ends) - 1
    expected = [(weights * e).sum(axis=(1, 2)) for weights in (M, np.abs(M))]
    sums, again = np.full((2, n_units), 0.25), np.arange(n_units) % distinct
    encoded = replace(encode(columns, features, power, dtype, unit), ends=ends)
    assert encoded.is_mixed == (kind != "none")
    place, coefficients = (
        (W * np.exp(-0.1 * D), tile.rows.start, tile.cols.start, 0.5),
        coefficients[again].astype(dtype),
    )
    name = change if change in ("short", "long") else "exponential"
    loops.unit_sums(place, encoded, coefficients, sums, absolute=power == 1, change=name)
    # Errors are relative to the changes, and where these are small to the largest contribution, which is 1.
    exactness = 40 * np.finfo(dtype).eps * max(1, np.abs(coefficients).max())
    tolerance = exactness * (np.abs(M) * (1 + np.abs(e))).sum(axis=(1, 2)) + 1e-300
    for found, true in zip(sums, expected, strict=True):
        assert (np.abs(found - 0.25 - true[again]) <= tolerance[again] + 1e-15).all()
        if name != "exponential":
            break  # of which the sums of magnitudes are not asked for


@pairwise(
    height=HEIGHTS, width=WIDTHS, diagonal=[True, False], power=[1, 2], together=[True, False], numba=[True, False]
)
def test_contributions_of_columns_are_added_up(height, width, diagonal, power, together, numba):
    tile, D, _ = drawn((height, max(width, height) if diagonal else width), diagonal=diagonal)
    columns = table(tile.cols.stop, together=together)
    for features in (np.arange(7), np.array([1, 5])):
        found, expected = D.copy(), contributions(columns, power, tile)[features].sum(axis=0)
        add_differences(columns, features, power, tile, found, compiled=numba)
        same = (
            np.arange(tile.cols.start, tile.rows.stop) if diagonal else np.arange(0)
        )  # a sample with itself is left open
        found[same - tile.rows.start, same - tile.cols.start] = (D + expected)[
            same - tile.rows.start, same - tile.cols.start
        ]
        np.testing.assert_allclose(found, D + expected, rtol=1e-14)


@FUNCTIONS
def test_the_exponential_is_exact_to_rounding(functions):
    x = np.concatenate([np.geomspace(1e-300, 708, 20_000), np.linspace(0, 708, 20_001)])[None]
    found = np.empty(x.shape)
    functions.weigh(x, np.ones(x.shape), 1.0, found)
    true = np.exp(-x.astype(np.longdouble))
    assert float((np.abs(found - true) / true).max()) < 2.5e-16
    beyond = np.array([[750.0, 1e10, np.inf]])
    functions.weigh(beyond, np.ones((1, 3)), 1.0, beyond)
    assert not beyond.any()


@FUNCTIONS
@pairwise(height=HEIGHTS, width=WIDTHS)
def test_sums_of_kernel_values(functions, height, width):
    _, D, W = drawn((height, width), diagonal=False)
    D[0, 0], D[-1, -1] = 1e5, -1e-12  # far below the least number, and zero with its rounding error
    expected, M = W * np.exp(-0.1 * D.astype(np.longdouble)), np.empty(D.shape)
    functions.weigh(D, W, 0.1, M)
    np.testing.assert_allclose(M, expected.astype(float), rtol=1e-15, atol=1e-300)
    across, down = np.ones((2, height)), np.ones((2, width))
    functions.form(M, across, down)
    for found, axis in ((across, 1), (down, 0)):
        np.testing.assert_allclose(found[0], 1 + expected.sum(axis=axis).astype(float), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[1], 1 + np.abs(expected).sum(axis=axis).astype(float), rtol=1e-14)


@FUNCTIONS
@pairwise(height=HEIGHTS, width=WIDTHS, sign=[-1, 1], size=[1e-12, 1.0])
def test_sums_of_changes(functions, height, width, sign, size):
    _, D, W = drawn((height, width), diagonal=False)
    T = size * np.random.default_rng(1).uniform(0, 1, D.shape) * D
    D[0, 0], D[-1, -1], T[-1, -1] = 1e5, 1.0, 1 + 1e-12  # the last one may not grow beyond 1
    exponent, t = -0.1 * D.astype(np.longdouble), 0.1 * T.astype(np.longdouble)
    change = np.exp(np.minimum(exponent + t, 0)) * -np.expm1(-t) if sign > 0 else np.exp(exponent) * np.expm1(-t)
    found = functions.changed(D, W, T, 0.1, float(sign))
    scale = float(np.abs(W * change).sum())
    assert found == (pytest.approx(float((W * change).sum()), abs=2e-15 * scale), pytest.approx(scale, rel=2e-15))


def outcome(X, y, **options):
    selector = BAHSIC(2, **options).fit(X, y)
    return selector.ranking_.tolist(), [step.hsic for step in selector.path_], selector.scores_


@pairwise(kernel=["gaussian", Gaussian(0.1), Laplacian(0.3)], regression=[False, True], working_memory=[1024, 0.5])
def test_selections_are_those_of_the_reference(monkeypatch, kernel, regression, working_memory):
    X, y, _ = make_xor(260, 40, random_state=0)
    y = y + 0.1 * X[:, 0] if regression else y
    calls = []
    monkeypatch.setattr(loops, "form", lambda *arrays, form=loops.form: calls.append(1) or form(*arrays))
    with config_context(working_memory=working_memory):
        monkeypatch.setenv(compiled.VARIABLE, "always")
        order, values, scores = outcome(X, y, kernel=kernel)
        assert calls
        assert (order, values) == outcome(X, y, kernel=kernel, n_jobs=2)[:2]
        calls.clear()
        monkeypatch.setenv(compiled.VARIABLE, "0")
        alone = outcome(X, y, kernel=kernel)
    assert not calls
    assert order == alone[0]
    np.testing.assert_allclose(values, alone[1], rtol=1e-9)
    np.testing.assert_allclose(scores, alone[2], rtol=1e-6, atol=1e-12)


def printed(program):
    environment = {name: value for name, value in os.environ.items() if name != compiled.VARIABLE}
    return subprocess.check_output([sys.executable, "-c", program], text=True, env=environment)


def test_few_data_don_t_load_numba():
    program = """
import sys
from bahsic import BAHSIC
from bahsic.datasets import make_xor
BAHSIC(2).fit(*make_xor(100, 10, random_state=0)[:2])
print("numba" in sys.modules)
"""
    assert printed(program) == "False\n"


@pytest.mark.parametrize(("wish", "few", "many"), [("auto", False, True), ("always", True, True), ("0", False, False)])
def test_the_size_decides_whether_loops_run_unless_told_otherwise(wish, few, many, monkeypatch):
    monkeypatch.setenv(compiled.VARIABLE, wish)
    assert [compiled.is_worthwhile(0, 100**2, 50), compiled.is_worthwhile(0, 10**8, 1000)] == [few, many]
    assert [compiled.is_worthwhile(compiled.work(100**2, 10)), compiled.is_worthwhile(1e10)] == [few, many]


def test_a_numba_that_does_not_work_is_left_out(monkeypatch):
    def broken(name):
        raise ImportError("needs another numpy")

    X, y, _ = make_xor(60, 6, random_state=0)
    expected = BAHSIC(2).fit(X, y).ranking_.tolist()
    monkeypatch.setattr(compiled, "import_module", broken)
    monkeypatch.setenv(compiled.VARIABLE, "always")
    compiled._load.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="needs another numpy") as told:
            fits = [BAHSIC(2).fit(X, y) for _ in range(2)]
    finally:
        compiled._load.cache_clear()
    assert len(told) == 1
    assert [fit.ranking_.tolist() for fit in fits] == [expected] * 2


def test_loops_run_where_no_cache_can_be_written():
    program = """
import numpy as np
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
from bahsic.engine import loops
print(loops.changed(*np.array([[[2.0]], [[3.0]], [[2.0]]]), 0.5, 1.0)[0])
"""
    assert float(printed(program)) == pytest.approx(3 * (1 - np.exp(-1)))


def test_versions_say_whether_compiled_loops_run(monkeypatch, capsys):
    monkeypatch.setenv(compiled.VARIABLE, "auto")
    bahsic.show_versions()
    assert f"compiled loops  yes, by numba {version('numba')}" in capsys.readouterr().out
    monkeypatch.setenv(compiled.VARIABLE, "0")
    bahsic.show_versions()
    shown = capsys.readouterr().out
    assert "compiled loops  no: numba does not work here, or BAHSIC_COMPILED is 0" in shown
    assert f"numpy           {np.__version__}" in shown
