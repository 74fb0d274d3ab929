"""One way in for data: what is prepared once is used by all that follows."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bahsic import BAHSIC, FOHSIC, hsic_scores, redundancy, selection_test
from bahsic.criteria import weights
from bahsic.data import prepared as prepared_module
from bahsic.data.columns import Columns
from bahsic.data.columns import copies as copies_of
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.sparse_rows import SparseRows
from bahsic.data.standard import Standardisation, prepared_columns
from bahsic.kernels import Gaussian, Laplacian, Linear
from bahsic.selection.problem import prepared_for
from command import main
from selecting import SELECTORS, drawn, same_fit
from test_sparse_tables import table

GAUSSIAN = ["--kernel", "gaussian"]
OPTIONS = {"categorical_features": [4], "missing": "neutral"}


def mixed(m=60):
    """Numbers, one column of categories, and missing entries in two columns."""
    X, y = drawn(m=m, d=6)
    X[:, 4] = np.arange(m) % 3
    X[::7, 1] = X[3::9, 4] = np.nan
    return X, y


@pytest.fixture
def counted(monkeypatch):
    """How many times data become columns, and how many times W is made."""
    counts = {"columns": 0, "weights": 0}

    def counting(name, made):
        def called(*arguments, **named):
            counts[name] += 1
            return made(*arguments, **named)

        return called

    monkeypatch.setattr(prepared_module, "mixed_columns", counting("columns", prepared_module.mixed_columns))
    monkeypatch.setattr(weights, "CentredWeights", counting("weights", weights.CentredWeights))
    return counts


# In the command.


@pytest.mark.parametrize("words", [[], ["--criterion", "hsic"], ["--method", "forward"], ["--test"]])
def test_one_command_makes_columns_and_weights_once(counted, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = drawn(m=60, d=6)
    np.savez("data.npz", X=X, y=y)
    parts = {}
    if words == ["--test"]:  # each split fits and tests on other samples
        selection_test(BAHSIC(3, criterion="prediction"), prepared(X, Gaussian()), y, random_state=0, n_jobs=1)
        parts = dict(counted)
        parts["columns"] -= 1  # those of all samples, which the command shares
        counted.update(columns=0, weights=0)
    words = [*GAUSSIAN, *words, "--json", "--report", "page.html", "--jobs", "1"]
    assert main(["select", "data.npz", "-k", "3", *words]) == 0
    own = {name: count - parts.get(name, 0) for name, count in counted.items()}
    assert own == {"columns": 1, "weights": 1}


def test_one_command_with_blocks_makes_columns_once(counted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = drawn(m=60, d=6)
    np.savez("data.npz", X=X, y=y)
    assert main(["select", "data.npz", "-k", "3", "--json", "--block-size", "20", *GAUSSIAN]) == 0
    assert counted == {"columns": 2, "weights": 3}  # in blocks, and in their own order for effects; a W for each block
    found = json.loads(capsys.readouterr().out)
    scores, pvalues = hsic_scores(X, y)
    for entry in found["ranking"]:
        assert entry["score"] == pytest.approx(scores[entry["column"]], rel=1e-9, abs=1e-15)
        assert entry["pvalue"] == pytest.approx(pvalues[entry["column"]], rel=1e-9)
    chosen = [entry["column"] for entry in found["ranking"]][:3]
    np.testing.assert_allclose(found["redundancy"]["table"], redundancy(X, chosen), rtol=1e-9)


# In the library


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_the_fit_is_that_of_the_data(selector, kernel, counted):
    X, y = mixed()
    fitted = selector(3, kernel=kernel, **OPTIONS)
    data = prepared_for(fitted, X)
    assert same_fit(fitted.fit(data, y), selector(3, kernel=kernel, **OPTIONS).fit(X, y))
    assert counted["columns"] == 2
    assert fitted.n_features_in_ == 6


def test_scores_and_redundancy_are_those_of_the_data(counted):
    X, y = mixed()
    data = prepared(X, Gaussian(), **OPTIONS)
    for mine, expected in zip(hsic_scores(data, y, **OPTIONS), hsic_scores(X, y, **OPTIONS), strict=True):
        assert_array_equal(mine, expected)
    assert_array_equal(redundancy(data, **OPTIONS), redundancy(X, **OPTIONS))
    assert_array_equal(redundancy(data, [4, 1], **OPTIONS), redundancy(X, [4, 1], **OPTIONS))
    assert counted["columns"] == 4  # once for what was prepared, and once for each call with X
    S = sparse.csr_array(np.where(np.abs(X) < 0.7, 0.0, np.nan_to_num(X)))
    assert_array_equal(hsic_scores(prepared(S, Gaussian()), y), hsic_scores(S, y))
    assert_array_equal(redundancy(prepared(S, Gaussian()), [3, 1]), redundancy(S, [3, 1]))
    weighted = prepared(S, Gaussian()).weighted(np.arange(1.0, 61))
    assert_array_equal(hsic_scores(weighted, y), hsic_scores(S, y))
    mask = np.arange(6) == 4  # the same column in other words
    assert_array_equal(hsic_scores(data, y, categorical_features=mask, missing="neutral"), hsic_scores(X, y, **OPTIONS))
    blocked = prepared_for(BAHSIC(3, block_size=20, random_state=1, **OPTIONS), X)
    assert blocked.order.tolist() != list(range(60))
    for mine, expected in zip(hsic_scores(blocked, y, **OPTIONS), hsic_scores(X, y, **OPTIONS), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(redundancy(blocked, **OPTIONS), redundancy(X, **OPTIONS), rtol=1e-9)
    tests = [selection_test(BAHSIC(2), data, y, n_splits=3, random_state=0) for data in (S, prepared(S, Gaussian()))]
    assert_array_equal(tests[0].split_pvalues, tests[1].split_pvalues)
    assert_array_equal(tests[0].feature_pvalues, tests[1].feature_pvalues)


def test_weights_and_blocks_of_a_fit_get_columns_of_their_own():
    X, y = mixed()
    data = prepared(X, Gaussian(), **OPTIONS)
    weight = np.arange(60) % 3
    fits = [BAHSIC(3, **OPTIONS).fit(given, y, sample_weight=weight) for given in (X, data)]
    assert same_fit(*fits)
    fits = [BAHSIC(3, block_size=20, random_state=1, **OPTIONS).fit(given, y) for given in (X, data)]
    assert same_fit(*fits)
    blocked = prepared_for(fits[0], X)
    assert same_fit(fits[0], BAHSIC(3, block_size=20, random_state=1, **OPTIONS).fit(blocked, y))
    assert same_fit(BAHSIC(3, **OPTIONS).fit(X, y), BAHSIC(3, **OPTIONS).fit(blocked, y))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    fitted = BAHSIC(2, keep=["b"], missing="neutral")
    fitted.fit(prepared_for(fitted, frame), y)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    assert fitted.get_support()[1]


@pytest.mark.parametrize("kernel", [Laplacian(), Linear()])
def test_a_kernel_of_another_type_gets_its_own_columns(kernel):
    X, y = mixed()
    X[:, 4] = 1.0 + np.arange(60) ** 2
    data = prepared(X, Gaussian(), missing="neutral")
    again = prepared(data, kernel, missing="neutral")
    assert isinstance(again, Prepared)
    assert again is not data
    found = hsic_scores(data, y, kernel=kernel, missing="neutral")
    assert_array_equal(found, hsic_scores(X, y, kernel=kernel, missing="neutral"))


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
    for call in (
        lambda: hsic_scores(data, y, **{**OPTIONS, **options}),
        lambda: redundancy(data, **{**OPTIONS, **options}),
        lambda: FOHSIC(2, **{**OPTIONS, **options}).fit(data, y),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# Columns


def copies(XT):
    return copies_of(Columns.plain(XT)).tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e150])
def test_copies_and_negatives_point_to_the_first(scale):
    rng = np.random.default_rng(1)
    XT = rng.normal(size=(8, 30)) * scale
    XT[3], XT[5], XT[6], XT[7] = XT[1], -XT[1], XT[2], -XT[6]
    assert copies(XT) == [0, 1, 2, 1, 4, 1, 2, 7]
    XT[7] = -XT[2]
    assert copies(XT) == [0, 1, 2, 1, 4, 1, 2, 2]
    XT[3, 7] = np.nextafter(XT[3, 7], np.inf)  # nearly equal
    assert copies(XT) == [0, 1, 2, 3, 4, 1, 2, 2]
    assert copies(np.zeros((3, 5))) == [0, 0, 0]


def test_copies_among_many_and_of_the_same_signature():
    XT = np.random.default_rng(4).integers(0, 2, (400, 8)).astype(float)
    first = {}
    assert copies(XT) == [first.setdefault(min(tuple(x), tuple(-x)), j) for j, x in enumerate(XT)]
    weights = np.cos(np.arange(4.0))  # with which the inner products of both columns vanish
    x, y = np.array([weights[1], -weights[0], 0.0, 0.0]), np.array([0.0, 0.0, weights[3], -weights[2]])
    assert copies(np.stack([x, y, x, y])) == [0, 1, 0, 1]


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-143, 1e-3, 1.0, 1e160, 1e290])
def test_standardised_columns(scale, offset):
    """Zero mean and unit variance (ddof 0), whatever the unit and the offset in that unit."""
    X = (np.random.default_rng(5).normal(size=(50, 4)) + offset) * scale
    before = X.copy()
    XT, constant = prepared_columns(X, Gaussian(1.0), Standardisation())
    assert XT.shape == (4, 50)
    assert XT.flags.c_contiguous
    assert np.abs(XT.mean(axis=1)).max() <= 1e-14
    assert np.allclose((XT**2).mean(axis=1), 1.0, rtol=1e-13, atol=0)
    assert not constant.any()
    assert np.array_equal(X, before)


def test_standardising_by_hand():
    X = np.array([[1.0, 7.0], [3.0, 7.0], [1.0, 7.0], [3.0, 7.0]])
    XT, constant = prepared_columns(X, Linear(), Standardisation())
    assert XT.tolist() == [[-1.0, 1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    assert constant.tolist() == [False, True]
    X = np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0]])  # otherwise only kernels of differences are centred
    assert prepared_columns(X, Linear(), Standardisation(standardize=False))[0].tolist() == X.T.tolist()
    assert prepared_columns(X, Gaussian(1.0), Standardisation(standardize=False))[0].tolist() == [
        [-2.0, 0.0, 2.0],
        [0.0, 0.0, 0.0],
    ]
    with pytest.raises(ValueError, match=r"X has values up to 1e\+200; accepted with standardize=False: up to 1e\+150"):
        prepared_columns(np.array([[1.0], [-1e200]]), Gaussian(1.0), Standardisation(standardize=False))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_sparse_rows_are_those_of_the_dense_table(standardize, weighted, missing):
    X, _ = table(missing=missing)
    weights = np.arange(1.0, 61.0) if weighted else None
    options = {"standardize": standardize, "missing": "neutral" if missing else "error"}
    tables = [prepared(data, Gaussian(), **options).weighted(weights) for data in (X, sparse.csc_array(X))]
    (dense, constant), (columns, found) = ((data.columns, data.constant) for data in tables)
    assert isinstance(columns.data, SparseRows)
    assert_array_equal(found, constant)
    everything = np.arange(12)
    rows = [found.rows(everything) for found in (columns, dense)]
    differences = [part - np.nanmin(part, axis=1, keepdims=True) for part in rows]
    assert_allclose(*differences, atol=1e-12)  # the origin does not matter to kernels of differences
    assert_array_equal(columns.missing, dense.missing)
    assert_allclose(columns.neutral, dense.neutral, rtol=1e-12)
    assert_array_equal(columns.rows(np.array([7, 2, 7])), columns.rows(everything)[[7, 2, 7]])
    assert_array_equal(columns.rows(np.array([7, 2]), samples=slice(9, 30)), columns.rows(everything)[[7, 2], 9:30])
