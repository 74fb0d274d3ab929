"""What is prepared once is used by all that follows; and columns that are copies of each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone
from sklearn.datasets import dump_svmlight_file

from bahsic import BAHSIC, FOHSIC, hsic_scores, redundancy, selection_test
from bahsic.data.prepared import prepared
from bahsic.kernels import Gaussian
from command import printed
from selecting import drawn, same_fit


@pytest.fixture(autouse=True)
def _in_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def mixed(m=60):
    """Numbers, one column of categories, and missing entries in two columns."""
    X, y = drawn(m=m, d=6)
    X[:, 4] = np.arange(m) % 3
    X[::7, 1] = X[3::9, 4] = np.nan
    return X, y


@pytest.mark.parametrize("words", [[], ["--criterion", "hsic"], ["--method", "forward"], ["--block-size", "20"]])
def test_one_command_makes_columns_and_weights_once(words, monkeypatch):
    counts = {}
    for path in ("bahsic.data.prepared.mixed_columns", "bahsic.criteria.weights.CentredWeights"):
        module, _, name = path.rpartition(".")
        made = getattr(__import__(module, fromlist=[name]), name)

        def counted(*arguments, name=name, made=made, **options):
            counts[name] = counts.get(name, 0) + 1
            return made(*arguments, **options)

        monkeypatch.setattr(path, counted)
    X, y = drawn(m=60, d=6)
    np.savez("data.npz", X=X, y=y)
    printed("select", "data.npz", "-k", 3, "--kernel", "gaussian", *words, "--report", "page.html", "--jobs", 1, "-q")
    # In blocks, the columns in two orders, of which that of the file serves the effects, and a W for each block.
    expected = (2, 3) if "--block-size" in words else (1, 1)
    assert (counts["mixed_columns"], counts["CentredWeights"]) == expected


def sparse_ones():
    """Entries that are stored or zero, in a file of a format for them."""
    X, y = mixed()
    X = np.where(np.abs(X) < 0.7, 0.0, np.nan_to_num(X))
    dump_svmlight_file(X, y, "t.svmlight", zero_based=False)
    return "t.svmlight", X, y, {}, []


def mixed_ones():
    X, y = mixed()
    np.savez("t.npz", X=X, y=y)
    return "t.npz", X, y, {"categorical_features": [4], "missing": "neutral"}, ["--categorical", "x4"]


@pytest.mark.parametrize(("table", "blocks"), [(mixed_ones, {}), (mixed_ones, {"block_size": 20}), (sparse_ones, {})])
def test_a_command_says_what_the_functions_say(table, blocks):
    name, X, y, options, words = table()
    words = ["-k", 3, "--criterion", "hsic", "--kernel", "gaussian", *words, *(["--block-size", 20] if blocks else [])]
    found = printed("select", name, *words, "--test")
    scores, pvalues = hsic_scores(X, y, **options)
    for row in found["ranking"]:
        assert row["score"] == pytest.approx(scores[row["column"]], rel=1e-9, abs=1e-15)
        assert row["pvalue"] == pytest.approx(pvalues[row["column"]], rel=1e-9)
    chosen = [row["column"] for row in found["ranking"]][:3]
    assert_allclose(found["redundancy"]["table"], redundancy(X, chosen, **options), rtol=1e-9)
    selector = BAHSIC(3, random_state=0, **options, **blocks)
    assert_allclose([step["hsic"] for step in found["path"]], [step.hsic for step in selector.fit(X, y).path_])
    expected = selection_test(selector, X, y, random_state=0)
    assert_allclose(found["test"]["split_pvalues"], expected.split_pvalues, rtol=1e-9)


# In the library, where what was prepared is passed as X

OPTIONS = {"categorical_features": [4], "missing": "neutral"}


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_prepared_data_serve_as_the_table(kernel):
    X, y = mixed()
    data, weight = prepared(X, Gaussian(), **OPTIONS), np.arange(60) % 3
    assert_array_equal(hsic_scores(data, y, kernel=kernel, **OPTIONS), hsic_scores(X, y, kernel=kernel, **OPTIONS))
    assert_array_equal(redundancy(data, [4, 1], **OPTIONS), redundancy(X, [4, 1], **OPTIONS))
    blocks = {"block_size": 20, "random_state": 1}
    for selector in (BAHSIC(3), FOHSIC(3), BAHSIC(3, **blocks)):
        selector.set_params(kernel=kernel, **OPTIONS)
        for weights in (None, weight) if selector.block_size != 20 else (None,):
            fits = [clone(selector).fit(given, y, sample_weight=weights) for given in (X, data)]
            assert same_fit(*fits)
        tests = [selection_test(selector, given, y, n_splits=2, random_state=0) for given in (X, data)]
        assert_array_equal(tests[0].split_pvalues, tests[1].split_pvalues)
    S = sparse.csr_array(np.where(np.abs(X) < 0.7, 0.0, np.nan_to_num(X)))
    for given in (prepared(S, Gaussian()), prepared(S, Gaussian()).weighted(np.arange(1.0, 61))):
        assert_array_equal(hsic_scores(given, y), hsic_scores(S, y))
        assert_array_equal(redundancy(given, [3, 1]), redundancy(S, [3, 1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"standardize": False}, "X was prepared with standardize=True, and standardize is False; accepted: the same"),
        ({"missing": "error"}, "X was prepared with missing='neutral', and missing is 'error'; accepted: the same"),
        ({"categorical_features": [3]}, r"X was prepared with categorical_features=\[4\], and"),
        ({"categorical_features": "from_dtype"}, r"X was prepared with categorical_features=\[4\], and"),
    ],
)
def test_other_options_than_those_it_was_prepared_with(options, message):
    X, y = mixed()
    data = prepared(X, Gaussian(), **OPTIONS)
    same = {**OPTIONS, "categorical_features": np.arange(6) == 4}  # the same column in other words
    assert_array_equal(hsic_scores(data, y, **same), hsic_scores(X, y, **OPTIONS))
    for call in (hsic_scores, lambda data, y, **given: redundancy(data, **given)):
        with pytest.raises(ValueError, match=message):
            call(data, y, **{**OPTIONS, **options})
    with pytest.raises(ValueError, match=message):
        FOHSIC(2, **{**OPTIONS, **options}).fit(data, y)


# Copies


def copies(X, **options):
    """For each column the first one that it is a copy of."""
    fitted = BAHSIC(1, criterion="prediction", **options).fit(X, np.resize([0, 1], len(X)))
    first = [c.reason.removeprefix("same as x") if c.role == "copy" else j for j, c in enumerate(fitted.columns_)]
    return list(map(int, first))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e150])
def test_copies_and_negatives_point_to_the_first(scale):
    X = np.random.default_rng(1).normal(size=(30, 8))
    X[:, 3], X[:, 5], X[:, 6], X[:, 7] = X[:, 1], -X[:, 1], X[:, 2], -X[:, 2]
    assert copies(X * scale) == [0, 1, 2, 1, 4, 1, 2, 2]
    X[7, 3] += 1e-3  # nearly equal
    assert copies(X * scale) == [0, 1, 2, 3, 4, 1, 2, 2]


def test_copies_among_many_and_of_the_same_signature():
    X = np.random.default_rng(4).integers(0, 2, (8, 400)).astype(float)
    X = 2 * X[:, np.ptp(X, axis=0) > 0] - 1
    first = {}
    assert copies(X) == [first.setdefault(min(tuple(x), tuple(-x)), j) for j, x in enumerate(X.T)]
    weights = np.cos(np.arange(4.0))  # with which the inner products of both columns vanish
    x, y = np.array([weights[1], -weights[0], 0.0, 0.0]), np.array([0.0, 0.0, weights[3], -weights[2]])
    assert copies(np.column_stack([x, y, x, y]), standardize=False) == [0, 1, 0, 1]
