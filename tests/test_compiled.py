"""Compiled loops: the results of the reference in numpy, and when they run; `test_engine.py` has the truth."""

import os
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from sklearn import config_context

import bahsic
from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.kernels import Gaussian, Laplacian
from pairwise import pairwise

pytest.importorskip("numba", reason="numba is not installed", exc_type=ImportError)

VARIABLE = "BAHSIC_COMPILED"


def outcome(X, y, **options):
    selector = BAHSIC(2, **options).fit(X, y)
    return selector.ranking_.tolist(), [step.hsic for step in selector.path_], selector.scores_


@pairwise(kernel=["gaussian", Gaussian(0.1), Laplacian(0.3)], regression=[False, True], working_memory=[1024, 0.5])
def test_selections_are_those_of_the_reference(monkeypatch, kernel, regression, working_memory):
    X, y, _ = make_xor(260, 40, random_state=0)
    y = y + 0.1 * X[:, 0] if regression else y
    with config_context(working_memory=working_memory):
        monkeypatch.setenv(VARIABLE, "always")
        order, values, scores = outcome(X, y, kernel=kernel)
        assert (order, values) == outcome(X, y, kernel=kernel, n_jobs=2)[:2]
        monkeypatch.setenv(VARIABLE, "0")
        alone = outcome(X, y, kernel=kernel)
    assert values != alone[1]  # by rounding, so both have run
    assert order == alone[0]
    np.testing.assert_allclose(values, alone[1], rtol=1e-9)
    np.testing.assert_allclose(scores, alone[2], rtol=1e-6, atol=1e-12)


def fit(shape, n_fits=1):
    """Program that says whether loops were loaded, and the ranking."""
    return FIT.format(shape=shape, n_fits=n_fits)


def printed(program, wish="auto", **environment):
    environment = {**os.environ, VARIABLE: wish, **environment}
    return subprocess.check_output([sys.executable, "-c", program], text=True, env=environment).split()


FIT = """
import sys
from bahsic import BAHSIC
from bahsic.datasets import make_xor
fits = [BAHSIC(2).fit(*make_xor(*{shape}, random_state=0)[:2]) for _ in range({n_fits})]
print("bahsic.engine.loops" in sys.modules, *fits[0].ranking_)
"""


@pytest.mark.parametrize(
    ("wish", "shape", "loops"),
    [
        ("auto", (100, 10), False),
        ("auto", (500, 160), True),
        ("always", (100, 10), True),
        ("0", (500, 160), False),
    ],
)
def test_the_size_decides_whether_loops_run_unless_told_otherwise(wish, shape, loops):
    assert printed(fit(shape), wish)[0] == str(loops)


def test_a_numba_that_does_not_work_is_left_out(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('needs another numpy')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    exec({fit!r})
print(*[warning.message for warning in told])
"""
    found = printed(program.format(fit=fit((60, 6), n_fits=2)), "always", PYTHONPATH=path)
    assert found[:7] == ["False", *printed(fit((60, 6)), "0")[1:]]
    assert " ".join(found).count("needs another numpy") == 1


def test_loops_run_where_no_cache_can_be_written():
    program = "from numba.core.caching import CacheImpl\nCacheImpl._locator_classes = []\n"
    found = printed(program + fit((60, 6)), "always")
    assert found == ["True", *printed(fit((60, 6)), "0")[1:]]


def test_versions_say_whether_compiled_loops_run(monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, "auto")
    bahsic.show_versions()
    assert f"compiled loops  yes, by numba {version('numba')}" in capsys.readouterr().out
    monkeypatch.setenv(VARIABLE, "0")
    bahsic.show_versions()
    shown = capsys.readouterr().out
    assert "compiled loops  no: numba does not work here, or BAHSIC_COMPILED is 0" in shown
    assert f"numpy           {np.__version__}" in shown
