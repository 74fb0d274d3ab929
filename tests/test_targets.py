"""The rule for whole numbers as labels, the same everywhere; and classes of a single sample."""

import json
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

import oracle
from bahsic import (
    BAHSIC,
    BAHSICCV,
    FOHSIC,
    hsic,
    hsic_interval,
    hsic_scores,
    hsic_test,
    hsic_weights,
    predictability,
    selection_frequencies,
    selection_test,
)
from bahsic.kernels import label_kernel
from bahsic.related import cka
from command import run

M = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 3))

# Name of the target: its values, the rule's answer, and whether it is told of.
TARGETS = {
    "prices": (1000 * RNG.integers(50, 900, M), "regression", False),
    "counts": (RNG.poisson(40, M), "regression", True),
    "ratings": (np.arange(M) % 5 + 1, "multiclass", False),
    "years": (1960 + np.arange(M) % 60, "regression", True),
    "two floats": (np.arange(M) % 2 * 1.0, "binary", False),
    "whole floats": (np.arange(M) % 7 * 1.0, "multiclass", False),
    "many whole floats": (np.arange(M) * 3.0, "regression", False),
    "fractions": (np.arange(M) % 3 / 2, "regression", False),
    "twenty": (np.arange(M) % 20, "multiclass", False),
    "twenty-one": (np.arange(M) % 21, "regression", True),
    "a hundred": (np.append(np.arange(100), np.arange(20)), "regression", False),  # most of them once
    "fifteen with gaps": (np.arange(M) % 15 * 2, "multiclass", True),
    "ten with gaps": (np.arange(M) % 10 * 2, "multiclass", False),
    "people": (np.arange(M) % 40, "regression", True),
    "signs": (np.arange(M) % 2 * 2 - 1, "binary", False),
}


def told(call):
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore:(y|the target) has .* different whole numbers")
def test_whole_numbers_in_the_library_and_in_the_command(name, tmp_path):
    y, kernel, doubtful = TARGETS[name]
    assert label_kernel(y).name == kernel
    assert BAHSIC(2).fit(X, y).target_kernel_ == kernel
    found = hsic_test(X[:, 0], y, method="gamma")
    assert (found.target_kernel if isinstance(found.target_kernel, str) else "regression") == kernel
    assert found.pvalue == hsic_test(X[:, 0], y, method="gamma", target_kernel=kernel).pvalue
    np.savez(tmp_path / "t.npz", X=X, target=y)
    for command in ("select -k 2 --criterion hsic --kernel gaussian", "rank", "test --x x0 --pvalues gamma"):
        first, *others = command.split()
        words = [first, tmp_path / "t.npz", "--y" if first == "test" else "--target", "target", *others]
        status, out, err = run(*words, "--json")
        assert (status, err.count("different whole numbers")) == (0, doubtful)
        result = json.loads(out)
        assert result["input"]["target_kernel"] == kernel
        assert not doubtful or run(*words, "--json", "--quiet")[0::2] == (0, "")
    assert (result["pvalue"], result["statistic"]) == (found.pvalue, found.statistic)


@pytest.mark.parametrize("name", ["counts", "ratings", "fifteen with gaps", "ten with gaps", "people"])
def test_one_warning_where_it_is_not_obvious(name):
    y, kernel, doubtful = TARGETS[name]
    n, other = len(np.unique(y)), "multiclass" if kernel == "regression" else "regression"
    kinds = ("numbers", "classes") if kernel == "regression" else ("classes", "numbers")
    taken = f"y has {n} different whole numbers and is treated as {kinds[0]}"
    expected = f"{taken}; target_kernel={other!r} treats them as {kinds[1]}"
    calls = [
        lambda **given: BAHSIC(2, **given).fit(X, y),
        lambda **given: FOHSIC(2, criterion="prediction", **given).fit(X, y),
        lambda **given: hsic(X, y, **given),
        lambda **given: hsic(X, y, block_size=30, random_state=0, **given),
        lambda **given: hsic_test(X, y, n_permutations=9, **given),
        lambda **given: hsic_interval(X, y, **given),
        lambda **given: hsic_scores(X, y, **given),
        lambda **given: predictability(X, y, **given),
        lambda **given: cka(X, y, **given),
        lambda **given: selection_frequencies(BAHSIC(2, **given), X, y, 3, stratify=False),
        lambda **given: (
            selection_test(BAHSIC(2, **{"target_kernel": "regression"} | given), X, y, n_splits=2, method="gamma")
            if given
            else selection_test(BAHSIC(2), X, y, n_splits=2, method="gamma")
        ),
    ]
    for call in calls:
        assert told(call) == [expected] * doubtful
        assert told(lambda call=call: call(target_kernel="regression")) == []


def test_a_warning_names_the_line_of_the_user():
    y = TARGETS["years"][0]
    for call in (lambda: BAHSIC(2).fit(X, y), lambda: hsic(X, y), lambda: SelectKBest(hsic_scores, k=1).fit(X, y)):
        with pytest.warns(UserWarning, match="60 different whole numbers") as found:
            call()
        assert [warning.filename for warning in found] == [__file__]


@pytest.mark.parametrize(
    ("kernel", "targets"),
    [
        ("binary", [[7, 9], [0.0, 1.0, 1.0, 0.0], np.array([2**60, 2**60 + 1] * 3)]),
        # Five classes of which four are rare, then three rare ones of six.
        ("multiclass", [[3, 1, 1, 2], [0, 0, 0, 1, 2, 3, 4], [0, 0, 1, 1, 2, 2, 3, 4, 5], list(range(12)) * 2]),
        # Another one for each sample, then five rare ones of six.
        ("regression", [[1, 2, 3, 4], list(range(12)), [0, 0, 0, 1, 2, 3, 4, 5]]),
    ],
)
def test_few_samples(kernel, targets):
    for y in targets:
        assert label_kernel(y).name == kernel
        assert label_kernel(np.array(y)[::-1]).name == kernel


def test_weights_count_as_repetitions():
    y, weights = np.arange(8), np.full(8, 2)
    assert label_kernel(y).name == "regression"
    assert label_kernel(y, sample_weight=weights).name == label_kernel(np.repeat(y, 2)).name == "multiclass"
    absent = np.append(np.arange(30) % 3, 0.5)
    assert label_kernel(absent, sample_weight=[1] * 30 + [0]).name == "multiclass"


@pytest.mark.parametrize(("n", "kernel"), [(2, "binary"), (5, "multiclass"), (30, "regression")])
def test_every_container_of_whole_numbers(n, kernel):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    array = np.arange(90) % n
    listed, expected = array.tolist(), label_kernel(array)
    dtypes = [np.float32, np.uint16, object]
    series = ["int64", "Int64", "Float64", "int64[pyarrow]"]
    frames = [pandas.DataFrame({"y": array}), polars.DataFrame({"y": listed}), pyarrow.table({"y": listed})]
    arrow = [pyarrow.array(listed), pyarrow.chunked_array([listed])]
    containers = [listed, array[:, None], *map(array.astype, dtypes), polars.Series(listed), *arrow, *frames]
    for y in (*containers, *(pandas.Series(array, dtype=dtype) for dtype in series)):
        labels = label_kernel(y)
        assert (labels.name, labels.doubt) == (kernel, expected.doubt)
        assert_allclose(labels.gram(), expected.gram(), rtol=1e-6)


def test_categories_of_many_numbers_are_classes():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    codes = np.arange(90) % 30
    words = [str(code) for code in codes]
    for y in (
        pandas.Series(codes, dtype="category"),
        pandas.Series(codes / 2, dtype="category"),
        pandas.DataFrame({"y": pandas.Series(codes, dtype="category")}),
        polars.Series(words, dtype=polars.Categorical),
        pyarrow.array(codes).dictionary_encode(),
        words,
    ):
        labels = label_kernel(y)
        assert (labels.name, labels.doubt, len(labels.classes)) == ("multiclass", None, 30)


def test_several_outputs_are_judged_by_column():
    ratings, years = TARGETS["ratings"][0], TARGETS["years"][0]
    labels = label_kernel(np.column_stack([ratings, years]))
    assert (labels.name, labels.name.numbers) == ("multioutput", (False, True))
    told = "column 1 of y has 60 different whole numbers and is treated as numbers; as strings they are classes"
    assert labels.doubt == told
    assert label_kernel(np.column_stack([years, years**2])).name == "regression"
    assert label_kernel(np.column_stack([years, np.full(M, 3)])).name == "regression"  # a constant decides nothing
    pairs = label_kernel(np.column_stack([ratings, ratings[::-1] * 1.0]))
    assert (pairs.name, pairs.name.numbers, pairs.doubt) == ("multioutput", (False, False), None)


def test_a_choice_for_all_samples_holds_for_some():
    y = np.column_stack([np.arange(M) % 25, np.arange(M) % 3, np.arange(M) % 2])
    name = label_kernel(y).name
    part = np.arange(10)
    assert label_kernel(y[part]).name.numbers == (True, False, False)  # each of ten once
    assert label_kernel(y[:40] % 12, name).name.numbers == name.numbers == (True, False, False)
    assert label_kernel(y[:40] % 12).name.numbers == (False, False, False)


def recording(selector, seen):
    """A selector that adds to a list how it took its labels."""

    class Seen(selector):
        def fit(self, X, y, sample_weight=None, groups=None):
            fitted = super().fit(X, y, sample_weight=sample_weight, groups=groups)
            seen.append(getattr(self, "selector_", self).target_kernel_)
            return fitted

    return Seen


@pytest.mark.filterwarnings("ignore:y has .* different whole numbers")
@pytest.mark.parametrize(("y", "kernel"), [(np.arange(M) % 24, "regression"), (np.arange(M) // 8, "multiclass")])
def test_parts_of_the_samples_do_not_change_the_choice(y, kernel):
    seen = []
    selector = recording(BAHSIC, seen)(2)
    selection_frequencies(selector, X, y, 4, subsample=0.2, stratify=False, random_state=0)
    selection_test(selector, X, y, n_splits=3, test_size=0.7, method="gamma", random_state=0)
    assert seen == [kernel] * 7
    judged = recording(BAHSICCV, seen)(LinearRegression(), cv=2)  # a regressor takes numbers
    selection_frequencies(judged, X, np.arange(M) % 4, 2, random_state=0)
    assert seen[7:] == ["regression"] * 2


def test_folds_do_not_warn_again():
    counts = TARGETS["counts"][0]
    found = told(lambda: BAHSICCV(KNeighborsClassifier(1), cv=KFold(3)).fit(X, counts))  # scikit-learn warns too
    (message,) = (said for said in found if said.startswith("y has"))
    assert "classes once" in message  # as the estimator predicts classes
    rare = np.append(np.arange(M - 1) % 2, 2)
    (message,) = told(lambda: BAHSICCV(KNeighborsClassifier(1), cv=KFold(3)).fit(X, rare))
    assert message.startswith("y has the class 2 once, which adds nothing")


# Classes of a single sample


@pytest.mark.parametrize("target", ["binary", "multiclass", "delta"])
@pytest.mark.parametrize("m", [4, 5, 9])
def test_one_sample_of_two_classes_makes_unbiased_hsic_zero(target, m):
    y = ["one"] + ["other"] * (m - 1)
    labels = label_kernel(y, target)
    assert_allclose(hsic_weights(labels.gram()), 0, atol=1e-17)
    K = RNG.integers(-5, 6, (m, m))
    K = K + K.T
    vectors = {"binary": oracle.binary_labels, "multiclass": oracle.multiclass_labels}
    L = oracle.gram(oracle.delta, y) if target == "delta" else oracle.gram(oracle.linear, vectors[target](y))
    assert oracle.unbiased(K.tolist(), L) == 0  # in exact arithmetic
    assert labels.rare.startswith("y has the class 'one' once and one other class, so the unbiased HSIC is zero what")
    assert label_kernel(["one", *y], target).rare is None
    assert label_kernel(y, target, sample_weight=[2] + [1] * (m - 1)).rare is None


def test_one_sample_of_several_classes_adds_nothing():
    y, K = ["c"] + ["a"] * 4 + ["b"] * 3, RNG.integers(-5, 6, (8, 8))
    K = (K + K.T).tolist()
    vectors = oracle.multiclass_labels(y)
    terms = [oracle.unbiased(K, oracle.gram(oracle.linear, [[v[c]] for v in vectors])) for c in range(3)]
    assert (terms[2], sum(terms)) == (0, oracle.unbiased(K, oracle.gram(oracle.linear, vectors)))
    assert all(terms[:2])
    for target in ("multiclass", "delta"):
        assert label_kernel(y, target).rare.startswith("y has the class 'c' once, which adds nothing to the unbiased")
    assert label_kernel(["d", *y], "delta").rare.startswith("y has 2 classes once ('d', 'c'), which add nothing")


def test_rare_classes_are_told_of_where_they_matter():
    y = np.append([0], np.ones(M - 1))
    rare = r"y has the class 0(\.0)? once and one other"
    biased, gamma = "add samples of that class, or use statistic='biased'", ", or use method='gamma'"
    for call, ending in [
        (lambda: BAHSIC(2).fit(X, y), biased),
        (lambda: hsic(X, y), biased),
        (lambda: hsic(X, y, target_kernel="delta"), biased),
        (lambda: hsic_test(X, y, n_permutations=9), gamma),
        (lambda: hsic_scores(X, y), "add samples of that class"),
    ]:
        (message,) = told(call)
        assert re.match(rare, message)
        assert message.endswith(ending)
    several = np.append([0], np.resize([1, 2], M - 1))
    for call in (lambda: hsic(X, several), lambda: hsic_test(X, several, n_permutations=9)):
        (message,) = told(call)
        assert message.endswith("remove its sample or merge it with another")
    for call in (
        lambda: BAHSIC(2, statistic="biased").fit(X, y),
        lambda: BAHSIC(2, criterion="prediction").fit(X, y),
        lambda: hsic(X, y, statistic="biased"),
        lambda: hsic_test(X, y, method="gamma"),
        lambda: hsic(X, y, target_kernel="regression"),
    ):
        assert told(call) == []


def test_outputs_with_a_rare_class():
    y = np.array([["a", "x"]] + [["b", "x"], ["b", "y"]] * 4)
    labels = label_kernel(y)
    assert labels.rare.startswith("column 0 of y has the class 'a' once and one other class, so it adds nothing to the")
    both, alone = hsic_weights(labels.gram()), hsic_weights(label_kernel(y[:, [1]], "multioutput").gram())
    assert_allclose(both, alone, atol=1e-15)
