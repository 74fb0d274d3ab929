"""Compiled inner loops: the values of the definition, and the results of the way by numpy alone."""

import importlib.util
import subprocess
import sys
import warnings
from importlib.metadata import version

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval
from sklearn import config_context

import bahsic
from bahsic import BAHSIC
from bahsic.data.columns import Columns
from bahsic.datasets import make_xor
from bahsic.engine import loops
from bahsic.engine.gaussian.bounds import Matrices
from bahsic.engine.gaussian.expansion import expansion
from bahsic.engine.gaussian.families import Incomplete, Polynomial, Smooth
from bahsic.engine.gaussian.moments import LowRank
from bahsic.engine.scratch import Scratch
from bahsic.kernels import Gaussian

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    compiled = (
        importlib.import_module("bahsic.engine.compiled") if importlib.util.find_spec("numba") is not None else None
    )

needs_numba = pytest.mark.skipif(compiled is None, reason="numba is not installed: pip install bahsic[fast]")


@pytest.fixture
def worth_it(monkeypatch):
    monkeypatch.setattr(loops, "_WORTH", 0)
    monkeypatch.setenv(loops.VARIABLE, "1")


def residual(D, W, gamma, kappa):
    return (np.exp(-gamma * D.astype(np.longdouble)) - kappa) * W


@needs_numba
def test_the_exponential_is_exact_to_rounding():
    x = np.concatenate([-np.geomspace(1e-300, 708, 20_000), np.linspace(-708, 700, 20_001), [0.0]])
    found = np.array([compiled.exponential(value) for value in x])
    true = np.exp(x.astype(np.longdouble))
    assert float((np.abs(found - true) / true).max()) < 2.5e-16


@needs_numba
def test_the_exponential_of_a_very_negative_number_is_zero():
    assert [compiled.exponential(x) for x in (-708.1, -1e10, -np.inf)] == [0.0, 0.0, 0.0]


@needs_numba
@pytest.mark.parametrize("kappa", [0.0, 0.4])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (7, 130)])
def test_the_first_pass_gives_the_residual_and_its_sums(shape, kappa):
    rng = np.random.default_rng(0)
    D, W, gamma = rng.uniform(0, 30, size=shape), rng.normal(size=shape), 0.1
    D[0, 0], D[-1, -1] = 1e5, -1e-12  # far below the least number, and a distance of zero with its rounding error
    R, R32 = np.empty(shape), np.empty(shape, np.float32)
    across, down = np.zeros((2, shape[0])), np.zeros((2, shape[1]))
    own = compiled.form(D, W, gamma, kappa, 0.2, R, R32, across, down)
    true = residual(D, W, gamma, kappa)
    close = {"rtol": 0, "atol": 1e-14 * max(shape)}
    np.testing.assert_allclose(R, true.astype(float), rtol=0, atol=4e-16 * np.abs(W).max())
    assert np.array_equal(R32, R.astype(np.float32))
    np.testing.assert_allclose(across, [true.sum(axis=1), np.abs(true).sum(axis=1)], **close)
    np.testing.assert_allclose(down, [true.sum(axis=0), np.abs(true).sum(axis=0)], **close)
    assert own == pytest.approx(float((np.exp(-0.2 * D) * W).sum()), abs=1e-13)
    assert compiled.form(D, W, gamma, kappa, -1.0, R, R32, across, down) == 0.0


@needs_numba
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("n", [1, 4])
def test_polynomials_and_the_sums_of_their_squares(dtype, odd, n):
    rng = np.random.default_rng(1)
    x, weights, halved = rng.normal(size=(3, 37)), rng.uniform(size=37), rng.normal(size=n)
    out, norms = np.empty(x.shape, dtype), np.empty(3)
    compiled.polynomial(x, 2.5, halved, odd, weights, out, norms)
    true = sum(c * (x / 2.5) ** (2 * power + odd) for power, c in enumerate(halved))
    np.testing.assert_allclose(out, true, rtol=0, atol=1e-14 if dtype is np.float64 else 2e-6)
    np.testing.assert_allclose(norms, true**2 @ weights, rtol=1e-12)


@needs_numba
def test_families_of_polynomials_are_those_of_numpy_alone():
    rng = np.random.default_rng(3)
    data, terms = Columns.plain(rng.uniform(-2, 2, size=(6, 50))), expansion(0.05, 2.0, 1e-9)
    chosen, matrices = np.array([1, 2, 5]), Matrices(rng.normal(size=50), rng.uniform(size=50), 0.0, None, 0.0)
    found = []
    for loop in (False, True):
        family = Polynomial(np.arange(3), data, chosen, terms, 2, 1, None, loop)
        out = [np.empty((3, 50)), np.empty((3, 50), np.float32)]
        found.append([*family.evaluate(slice(0, 3), out, matrices, Scratch()), *out])
    for alone, fast, close in zip(*found, [1e-13, 1e-13, 1e-13, 1e-6], strict=True):
        np.testing.assert_allclose(fast, alone, rtol=0, atol=close)


@needs_numba
@pytest.mark.parametrize("degree", [2, 3, 4, 9, 16])
@pytest.mark.parametrize("m", [1, 512, 1030])
def test_functions_by_chebyshev_coefficients_and_their_sums(degree, m):
    rng = np.random.default_rng(degree)
    x, odd = rng.uniform(-3, 3, size=(2, m)), np.array([True, False, True])
    functions = rng.normal(size=(3, degree + 1))
    functions[odd, ::2], functions[~odd, 1::2] = 0.0, 0.0
    plain, squared = rng.normal(size=(3, m)), rng.normal(size=(2, m))
    out, sums = np.full((2, 2, m), np.nan), np.full((3, 2, 5), np.nan)
    compiled.expanded(x, 3.0, functions, odd, plain, squared, out, sums)
    phi = chebval(x / 3, functions.T)
    np.testing.assert_allclose(out, phi[:2], rtol=0, atol=1e-12)
    true = np.concatenate([phi @ plain.T, phi**2 @ squared.T], axis=2)
    np.testing.assert_allclose(sums, true, rtol=0, atol=1e-12 * m)


def with_gaps(x, *, together):
    """Columns a third of whose entries are missing."""
    x[np.random.default_rng(0).random(x.shape) < 1 / 3] = np.nan
    zeros, ones = np.zeros(len(x)), np.ones(len(x))
    return Columns(x, different=zeros, neutral=ones, missing=ones.astype(bool), together=together)


@needs_numba
@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("gaps", [None, "apart", "together"])
def test_families_by_chebyshev_polynomials_are_those_of_numpy_alone(rank, gaps):
    rng, m = np.random.default_rng(4), 600
    x, terms = rng.uniform(-3, 3, size=(6, m)), expansion(-0.3, 3.0, 1e-9)
    data = Columns.plain(x) if gaps is None else with_gaps(x, together=gaps == "together")
    B = rng.normal(size=(rank, rank))
    low_rank = LowRank(rng.normal(size=(m, rank)), B + B.T, rng.normal(size=m), rng.normal(size=m), 1.0)
    matrices = Matrices(rng.normal(size=m), rng.uniform(size=m), 0.5, low_rank, 1e-13)
    found = []
    for loop in (False, True):
        of, known = (Smooth, ()) if gaps is None else (Incomplete, (-0.3,))
        family = of(np.arange(3), data, np.array([1, 2, 5]), terms, 4, 1, *known, loop)
        out = [np.empty((3, m)), *np.empty((3, 3, m), np.float32)]
        parts = family.known(family.evaluate(slice(0, 3), out, matrices, Scratch()), matrices)
        found.append([parts.value, parts.dropped, parts.sizes, parts.error, parts.eigenvalues, *out])
    for alone, fast, close in zip(*found, [*[1e-10] * 6, 1e-6, 1e-6, 1e-6], strict=True):
        np.testing.assert_allclose(fast, alone, rtol=close, atol=close)


@needs_numba
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-13), (np.float32, 1e-5)])
@pytest.mark.parametrize("width", [3, 256, 600])
def test_sums_of_sines_are_those_of_the_definition(dtype, close, width):
    rng = np.random.default_rng(2)
    M = rng.normal(size=(6, width)).astype(dtype)
    (s, c), (t, d), sums = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 4, width)), np.empty(4)
    compiled.sine_sums(M, *(one.astype(dtype) for one in (s, c, t, d)), sums)
    sines = np.abs(s[:, :, None] * d[:, None, :] - c[:, :, None] * t[:, None, :])
    np.testing.assert_allclose(sums, (M * sines).sum(axis=(1, 2)), rtol=0, atol=close * width)


def outcome(X, y, **options):
    selector = BAHSIC(2, **options).fit(X, y)
    return selector.ranking_.tolist(), [step.hsic for step in selector.path_], selector.scores_


@needs_numba
@pytest.mark.parametrize("kernel", ["gaussian", Gaussian(0.1), "laplacian"])
@pytest.mark.parametrize("regression", [False, True])
def test_selections_are_those_of_numpy_alone(worth_it, monkeypatch, kernel, regression):
    X, y, _ = make_xor(260, 60, random_state=0)
    y = y + 0.1 * X[:, 0] if regression else y
    calls = []
    monkeypatch.setattr(compiled, "form", lambda *arrays, form=compiled.form: calls.append(1) or form(*arrays))
    order, values, scores = outcome(X, y, kernel=kernel)
    assert calls
    assert (order, values) == outcome(X, y, kernel=kernel, n_jobs=2)[:2]
    calls.clear()
    monkeypatch.setenv(loops.VARIABLE, "0")
    alone = outcome(X, y, kernel=kernel)
    assert not calls
    assert order == alone[0]
    np.testing.assert_allclose(values, alone[1], rtol=1e-9)
    np.testing.assert_allclose(scores, alone[2], rtol=1e-6, atol=1e-12)


@needs_numba
def test_selections_are_those_of_numpy_alone_where_nothing_is_kept(worth_it, monkeypatch):
    X, y, _ = make_xor(300, 20, random_state=0)
    with config_context(working_memory=0.5):
        order, values, _ = outcome(X, y)
        assert (order, values) == outcome(X, y, n_jobs=2)[:2]
        monkeypatch.setenv(loops.VARIABLE, "0")
        alone = outcome(X, y)
    assert order == alone[0]
    np.testing.assert_allclose(values, alone[1], rtol=1e-9)


@needs_numba
def test_few_data_don_t_load_the_loops():
    program = (
        "import sys; from bahsic.engine.loops import worthwhile; print(worthwhile(100, 50), 'numba' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).split() == ["False", "False"]


def test_without_numba_numpy_does_the_work(monkeypatch):
    monkeypatch.setattr(loops, "find_spec", lambda name: None)
    assert not loops.worthwhile(10**4, 10**4)
    assert loops.loops(compiled=True) is None


def test_a_numba_that_does_not_work_is_left_out(monkeypatch):
    def broken(name):
        raise ImportError("needs another numpy")

    monkeypatch.setattr(loops, "import_module", broken)
    monkeypatch.setattr(loops, "find_spec", lambda name: True)
    monkeypatch.setenv(loops.VARIABLE, "1")
    loops._loaded.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="needs another numpy"):
            assert not loops.worthwhile(10**4, 10**4)
    finally:
        loops._loaded.cache_clear()


@needs_numba
def test_loops_run_where_no_cache_can_be_written():
    program = """
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
from bahsic.engine.compiled import exponential
print(exponential(0.0))
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "1.0\n"


@needs_numba
def test_versions_say_whether_compiled_loops_run(monkeypatch, capsys):
    bahsic.show_versions()
    assert f"compiled loops  yes, by numba {version('numba')}" in capsys.readouterr().out
    monkeypatch.setenv(loops.VARIABLE, "0")
    bahsic.show_versions()
    shown = capsys.readouterr().out
    assert "compiled loops  no: numba does not work here, or BAHSIC_COMPILED is 0" in shown
    assert f"numpy           {np.__version__}" in shown
