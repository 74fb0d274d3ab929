"""BAHSIC and FOHSIC on tables as users have them: dataframes, categories, missing entries, weights, any labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils import get_tags

from bahsic import BAHSIC, FOHSIC, hsic
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial, Spectrum, WeisfeilerLehman, label_kernel
from pairwise import pairwise
from patients import CATEGORIES, FRAMES, MIXED, NAMES, in_codes, in_pandas, in_polars, patients
from selecting import SELECTORS, drawn, order, same_fit, selectors_in_turn

# Containers


@SELECTORS
@pytest.mark.parametrize("frame", FRAMES)
def test_every_container_gives_the_same_fit(selector, frame):
    columns, y = patients()
    expected = selector(2, **(MIXED | {"categorical_features": [0, 1, 3]})).fit(in_codes(columns), y)
    found = selector(2, **MIXED).fit(frame(columns), y)
    assert same_fit(found, expected)
    assert found.feature_names_in_.tolist() == NAMES
    names = found.get_feature_names_out().tolist()
    assert names == [name for name, chosen in zip(NAMES, found.support_, strict=True) if chosen]
    assert len(set(names)) == len(names) == 2


def observed(values):
    """The entries that are there, by their rows."""
    gone = [value is None or type(value).__name__ == "NAType" or value != value for value in values]  # noqa: PLR0124
    return {row: value for row, value in enumerate(values) if not gone[row]}


@SELECTORS
@pytest.mark.parametrize("frame", FRAMES)
def test_transform_finds_the_selected_columns_by_name(selector, frame):
    columns, y = patients()
    fitted = selector(2, keep=["city", "visits"], **MIXED).fit(frame(columns), y)
    more = frame(columns | {"new": list("abcdefghij" * 6)})
    for names in (NAMES, ["city", "visits"], ["dose", "city", "new", "visits"], ["new", *NAMES[::-1]]):
        X = more.select(names) if hasattr(more, "select") else more[names]
        found = fitted.transform(X)
        assert [observed(values) for values in found.T] == [observed(columns[name]) for name in ("visits", "city")]


@pytest.mark.parametrize(("frame", "kind"), [(in_pandas, "pandas"), (in_polars, "polars")])
def test_columns_found_by_name_keep_their_types(frame, kind):
    columns, y = patients()
    X = frame(columns)
    fitted = BAHSIC(2, keep=["ward", "visits"], **MIXED).set_output(transform=kind).fit(X, y)
    assert fitted.transform(X[["visits", "dose", "ward"]]).equals(X[["ward", "visits"]])


@SELECTORS
def test_transform_names_the_selected_columns_that_are_missing(selector):
    columns, y = patients()
    X = in_pandas(columns)
    fitted = selector(3, keep=["city", "visits", "dose"], **MIXED).fit(X, y)
    with pytest.raises(ValueError, match="X lacks 2 of 3 selected columns: 'visits', 'dose'; accepted: frames with"):
        fitted.transform(X[["weight", "city"]])
    with pytest.raises(ValueError, match="X lacks 1 of 3 selected columns: 'city'"):
        fitted.transform(X.rename(columns={"city": "town"}))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fitted.transform(X[NAMES[::-1]])
    with pytest.raises(ValueError, match="X has 2 columns called 'dose'"):
        fitted.transform(X[["dose", "city", "visits", "dose"]])


@selectors_in_turn
@pytest.mark.parametrize("given", [CATEGORIES, [0, 1, 3], [True, True, False, True, False, False]])
def test_ways_to_give_categories(selector, given):
    columns, y = patients()
    X = in_pandas(columns)
    options = MIXED | {"categorical_features": given}
    assert same_fit(selector(**options).fit(X, y), selector(**MIXED).fit(X, y))
    more = selector(**(MIXED | {"categorical_features": [*CATEGORIES, "visits"]})).fit(X, y)
    assert not same_fit(more, selector(**MIXED).fit(X, y)), "numbers may be categories"


# Errors


@selectors_in_turn
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"missing": "error"}, ValueError, r"X contains NaN or null: .* row 0, column 'ward'.*; .*missing='neutral'"),
        ({"missing": "drop"}, ValueError, "missing is 'drop'; accepted: 'error', 'neutral'"),
        ({"categorical_features": None}, TypeError, "column 'ward' of X has strings or categories"),
        ({"categorical_features": ["ward"]}, TypeError, "column 'city' of X has strings"),
        ({"categorical_features": ["town"]}, ValueError, "categorical_features has 'town', which is not a column"),
        ({"kernel": Linear()}, ValueError, r"kernel is Linear\(\); accepted with categorical_features: Gaussian"),
        ({"kernel": Polynomial(2)}, ValueError, "kernel is Polynomial.*; accepted with categorical_features"),
        ({"kernel": Gaussian(lambda X: 1.0)}, (TypeError, ValueError), "gamma is .*; accepted"),
    ],
)
def test_tables_that_are_refused(selector, options, error, message):
    columns, y = patients()
    fresh = selector(**(MIXED | options))
    with pytest.raises(error, match=message):
        fresh.fit(in_pandas(columns), y)
    assert not hasattr(fresh, "support_")


@SELECTORS
def test_kernels_without_a_place_for_missing_entries(selector):
    X, y = drawn()
    X[3, 2] = np.nan
    for kernel, standardize in [(lambda A, B: A @ B.T, True), (Linear(), False), (Gaussian() + Linear(), True)]:
        with pytest.raises(ValueError, match=r"kernel is .*; accepted where entries are missing: Gaussian"):
            selector(kernel=kernel, standardize=standardize, missing="neutral").fit(X, y)
    zero = np.where(np.isnan(X), np.nanmean(X[:, 2]), X)  # the mean is what has no product with others
    assert_array_equal(
        order(selector(kernel="linear", missing="neutral").fit(X, y)), order(selector(kernel="linear").fit(zero, y))
    )


# Weights


@selectors_in_turn
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[-1, np.ones(39)], "sample_weight ranges over -1.0 to 1.0; accepted: >= 0"),
        (np.zeros(40), "sample_weight ranges over 0.0 to 0.0; accepted: .* not all zero"),
        (np.ones(39), r"sample_weight has shape \(39,\); accepted: one weight for each of 40"),
        (np.ones((40, 2)), r"sample_weight has shape \(40, 2\)"),
        (np.r_[np.nan, np.ones(39)], "sample_weight has 1 entries that are NaN"),
        (np.r_[np.ones(3), np.zeros(37)], "sample_weight has the sum 3, which is how many samples; accepted"),
    ],
)
def test_bad_weights(selector, weights, message):
    X, y = drawn()
    y[:2] = [0, 1]
    with pytest.raises(ValueError, match=message):
        selector().fit(X, y, sample_weight=weights)


def labels_of(kind, m, rng):
    if kind == "numbers":
        return rng.normal(size=m)
    if kind == "several outputs":
        return np.column_stack([rng.integers(0, 2, m), rng.integers(0, 3, m)])
    if kind == "survival":
        return np.array(list(zip(rng.random(m) < 0.7, rng.exponential(size=m), strict=True)), dtype="?,f8")
    if kind == "strings":
        return ["".join(letters) for letters in rng.choice(list("AB"), (m, 6))]
    return rng.permutation(np.resize(["no", "yes"], m))


LABELS = {
    "classes": "auto",
    "numbers": "auto",
    "several outputs": "auto",
    "survival": "auto",
    "strings": Spectrum(2),
    "precomputed": "precomputed",
}


@selectors_in_turn
@pytest.mark.parametrize("labels", LABELS)
def test_samples_of_weight_zero_are_absent(selector, labels):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 6)), np.resize([0, 1, 2, 1], 30)
    X[::7, 2] = np.nan
    present, y = np.flatnonzero(weights), labels_of(labels, 30, rng)
    some = [y[i] for i in present] if isinstance(y, list) else y[present]
    if labels == "precomputed":
        y = label_kernel(labels_of("numbers", 30, rng)).gram()
        some = y[np.ix_(present, present)]
    options = {"target_kernel": LABELS[labels], "missing": "neutral", "kernel": Gaussian("median")}
    found = selector(**options, standard_errors=True).fit(X, y, sample_weight=weights)
    expected = selector(**options, standard_errors=True).fit(X[present], some, sample_weight=weights[present])
    assert same_fit(found, expected), "bit by bit"


@pairwise(
    selector=[BAHSIC, FOHSIC],
    kernel=[Gaussian("median"), Gaussian("optimise"), Laplacian("median"), Linear()],
    statistic=["unbiased", "biased"],
)
def test_weights_are_repetitions(selector, kernel, statistic):
    X, y = drawn(m=30)
    weights = np.random.default_rng(2).integers(0, 4, 30)
    picks = np.repeat(np.arange(30), weights)
    options = {"kernel": kernel, "statistic": statistic, "standard_errors": True, "step": 1}
    found = selector(**options).fit(X, y, sample_weight=weights)
    expected = selector(**options).fit(X[picks], y[picks])
    assert_array_equal(order(found), order(expected))
    for one, other in zip(found.path_, expected.path_, strict=True):
        assert one.parameter == (None if other.parameter is None else pytest.approx(other.parameter, rel=1e-9))
        assert one.hsic == pytest.approx(other.hsic, rel=1e-7, abs=1e-15)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-7)


# Labels


@selectors_in_turn
@pytest.mark.parametrize("kind", ["strings", "graphs", "several outputs", "numbers", "precomputed", "survival"])
def test_labels_of_every_kind(selector, kind):
    """Feature 1 decides on the labels, whatever they are, and the recorded HSIC is that of the columns and labels."""
    X = np.random.default_rng(0).normal(size=(40, 5))
    high, time = X[:, 1] > 0, np.exp(X[:, 1])
    y, target, name = {
        "strings": (["ABABAB" if one else "BBBAAA" for one in high], Spectrum(2), repr(Spectrum(2))),
        "graphs": (None, WeisfeilerLehman(2), repr(WeisfeilerLehman(2))),
        "several outputs": (np.column_stack([high, X[:, 1] > 1]).astype(int), "auto", "multioutput"),
        "numbers": (X[:, [1, 1]], "auto", "regression"),
        "precomputed": (np.equal.outer(high, high).astype(float), "precomputed", "precomputed"),
        "survival": (np.array([(True, t) for t in time], dtype="?,f8"), "auto", "survival"),
    }[kind]
    if kind == "graphs":
        networkx = pytest.importorskip("networkx", reason="graphs come from networkx, which is not installed")
        y = [networkx.cycle_graph(6) if one else networkx.path_graph(5) for one in high]
    fitted = selector(1, target_kernel=target, step=1).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [1]
    assert fitted.target_kernel_ == name
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    alone = fitted.path_[-1 if selector is BAHSIC else 0]
    assert alone.hsic == pytest.approx(hsic(Z[:, [1]], y, Gaussian(0.5), target), rel=1e-9)


# scikit-learn


@SELECTORS
def test_tags(selector):
    strict = {"missing": "error", "categorical_features": None}
    named = {"categorical_features": ["city"]}
    plain, mixed, given = (get_tags(selector(**options)).input_tags for options in (strict, {}, named))
    assert (plain.allow_nan, plain.categorical, plain.string, plain.sparse) == (False, False, False, True)
    assert (mixed.allow_nan, mixed.categorical, mixed.string, mixed.sparse) == (True, False, True, True)
    assert (given.categorical, given.string) == (True, True)


@SELECTORS
def test_sparse_tables_have_no_categories(selector):
    with pytest.raises(ValueError, match="categorical_features has columns of a sparse X"):
        selector(categorical_features=[0]).fit(sparse.csr_array(np.eye(8)), np.resize([0, 1], 8))
