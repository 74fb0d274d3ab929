"""One way in for data: what is prepared once is used by all that follows."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_wine

from bahsic import BAHSIC, FOHSIC, hsic_interval, hsic_scores, hsic_test, redundancy, selection_test
from bahsic.criteria import weights
from bahsic.data import prepared as prepared_module
from bahsic.data.prepared import Prepared, prepared
from bahsic.kernels import Gaussian, Laplacian, Linear, label_kernel
from bahsic.selection.problem import prepared_for
from command import main
from selecting import SELECTORS, drawn, same_fit

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


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_two_kernels_make_columns_for_each_and_weights_once(counted, criterion, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = load_wine(return_X_y=True)
    np.savez("data.npz", X=X, y=y)
    assert main(["select", "data.npz", "--json", "--kernel", "auto", "--criterion", criterion]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "gaussian"
    assert counted == {"columns": 16, "weights": 16}  # three kernels in five folds, and one on all samples


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


@pytest.mark.parametrize("measure", [hsic_test, hsic_interval])
def test_a_test_and_an_interval_make_weights_once(measure, counted):
    measure(*drawn(m=40))
    assert counted["weights"] == 1


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


def test_a_selection_test_is_that_of_the_data():
    X, y = drawn(m=80, d=5)
    tests = [selection_test(BAHSIC(2), data, y, n_splits=3, random_state=0) for data in (X, prepared(X, Gaussian()))]
    assert_array_equal(tests[0].split_pvalues, tests[1].split_pvalues)
    assert_array_equal(tests[0].feature_pvalues, tests[1].feature_pvalues)


def test_names_are_those_of_the_frame():
    pandas = pytest.importorskip("pandas")
    X, y = mixed()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    fitted = BAHSIC(2, keep=["b"], missing="neutral")
    fitted.fit(prepared_for(fitted, frame), y)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    assert fitted.get_support()[1]
    data = prepared(frame, Gaussian(), missing="neutral")
    assert_array_equal(redundancy(data, ["e", "b"], missing="neutral"), redundancy(X, [4, 1], missing="neutral"))


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


def test_blocks_change_scores_by_rounding_only():
    X, y = mixed()
    blocked = prepared_for(BAHSIC(3, block_size=20, random_state=1, **OPTIONS), X)
    assert blocked.order.tolist() != list(range(60))
    for mine, expected in zip(hsic_scores(blocked, y, **OPTIONS), hsic_scores(X, y, **OPTIONS), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(redundancy(blocked, **OPTIONS), redundancy(X, **OPTIONS), rtol=1e-9)


def test_scores_of_weighted_data_are_those_of_the_data():
    X, y = drawn(m=60, d=5)
    weighted = prepared(X, Gaussian()).weighted(np.arange(1.0, 61))
    assert_array_equal(hsic_scores(weighted, y), hsic_scores(X, y))
    assert_array_equal(redundancy(weighted), redundancy(X))


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


def test_the_same_categories_in_other_words():
    X, y = mixed()
    data = prepared(X, Gaussian(), **OPTIONS)
    mask = np.arange(6) == 4
    assert_array_equal(hsic_scores(data, y, categorical_features=mask, missing="neutral"), hsic_scores(X, y, **OPTIONS))


def test_labels_of_another_length():
    X, y = drawn(m=60, d=5)
    data = prepared(X, Gaussian())
    with pytest.raises(ValueError, match="X has 60"):
        hsic_scores(data, y[:-1])
    with pytest.raises(ValueError, match="X has 60 samples, y has 59"):
        BAHSIC(2).fit(data, y[:-1])


def test_sparse_data_are_prepared_too():
    X, y = drawn(m=60, d=6)
    X[np.abs(X) < 0.7] = 0.0
    S = sparse.csr_array(X)
    data = prepared(S, Gaussian())
    assert_array_equal(hsic_scores(data, y), hsic_scores(S, y))
    assert same_fit(BAHSIC(2).fit(data, y), BAHSIC(2).fit(S, y))
    assert_array_equal(redundancy(data, [3, 1]), redundancy(S, [3, 1]))


def test_label_values_beyond_the_range_are_told():
    X, y = drawn(m=60, d=5)
    with pytest.raises(ValueError, match="kernel values exceed the range of float64"):
        hsic_scores(X, 1e200 * (1.0 + y), target_kernel="linear")


def test_a_kernel_on_labels_that_has_its_own_call():
    class Doubled(Linear):
        def __call__(self, X, Y=None):
            return 2 * super().__call__(X, Y)

    labels = label_kernel([1.0, 2.0, 3.0], Doubled())
    assert_array_equal(labels.block(slice(0, 1), slice(0, 3)), [[2.0, 4.0, 6.0]])
    assert labels.vectors is None
