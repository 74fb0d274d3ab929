"""Groups of features that enter and leave together, and features that are kept."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bahsic import BAHSIC, FOHSIC, hsic_biased, hsic_unbiased, hsic_variance
from bahsic.kernels import Gaussian, InverseDistance, Kernel, Laplacian, Linear, Polynomial, label_kernel
from pairwise import ENGINES, pairwise
from selecting import SELECTORS, drawn, order, same_fit, selectors_in_turn, standardised

# Columns 1 and 4 of `drawn` are relevant; they are in the groups "b" and "c".
IDS = ["a", "b", "b", "c", "c", "c", "a", "d"]
GROUPS = {"a": [0, 6], "b": [1, 2], "c": [3, 4, 5], "d": [7]}


def columns_of(labels):
    return [j for label in labels for j in GROUPS[label]]


def inverse_quadratic(X, Y):
    """A kernel that is a plain function."""
    squares = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2 * X @ Y.T
    return 1 / (1 + squares / 10)


# Every kind that has code of its own for groups.
KERNELS = {
    "gaussian": Gaussian(),
    "laplacian": Laplacian(),
    "linear": Linear(),
    "quadratic": Polynomial(2),
    "cubic": Polynomial(3, coef0=0.5),
    "inverse distance": InverseDistance(),
    "function": inverse_quadratic,
}

# What is selected


@SELECTORS
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_groups_are_selected_as_a_whole(selector, n):
    fitted = selector(n, feature_groups=IDS).fit(*drawn())
    assert sorted(fitted.group_order_) == list("abcd")
    assert fitted.get_support(indices=True).tolist() == sorted(columns_of(fitted.group_order_[:n]))
    assert fitted.n_features_ == fitted.support_.sum()
    for label, columns in GROUPS.items():
        place = fitted.group_order_.tolist().index(label)
        assert fitted.ranking_[columns].tolist() == [max(1, place + 2 - n)] * len(columns)


@selectors_in_turn
@pytest.mark.parametrize(
    ("wanted", "n"), [(None, 2), (3, 3), (np.int64(1), 1), (0.25, 1), (0.5, 2), (0.99, 3), (1.0, 4)]
)
def test_the_number_is_that_of_groups(selector, wanted, n):
    fitted = selector(wanted, feature_groups=IDS).fit(*drawn())
    assert np.unique(np.array(IDS)[fitted.support_]).size == n
    assert_array_equal(fitted.support_, fitted.ranking_ == 1)


@SELECTORS
def test_auto_counts_groups_and_keeps_them_together(selector):
    fitted = selector("auto", feature_groups=IDS, step=1).fit(*drawn(m=80))
    (chosen,) = [step for step in fitted.path_ if step.reason]
    labels = set(np.array(IDS)[fitted.support_])
    assert fitted.n_features_ == chosen.n_features == len(columns_of(labels))
    verb = "is" if len(labels) == 1 else "are"
    assert chosen.reason.startswith(f"{len(labels)} of 4 groups {verb} enough: held-out R2 ")
    assert fitted.predictability_ == chosen.predictability
    assert fitted.get_support(indices=True).tolist() == sorted(columns_of(labels))
    for label in "abcd":
        shares = fitted.selection_frequencies_[GROUPS[label]]
        assert (shares == shares[0]).all()
    assert sum(fitted.selection_frequencies_[columns[0]] for columns in GROUPS.values()) == pytest.approx(len(labels))


# How groups are given


@SELECTORS
def test_ways_to_give_groups(selector):
    pandas = pytest.importorskip("pandas", reason="names come with dataframes; pandas is not installed")
    X, y = drawn()
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    names = {label: [f"x{j}" for j in columns] for label, columns in GROUPS.items()}
    expected = selector(2, feature_groups=IDS).fit(X, y)
    without_d = {label: names[label] for label in "abc"}
    for groups in [np.array(IDS), pandas.Series(IDS), GROUPS, names, without_d, [names[label] for label in "abc"]]:
        found = selector(2, feature_groups=groups).fit(frame, y)
        assert same_fit(found, expected)
        assert_array_equal(found.ranking_, expected.ranking_)
    assert selector(2, feature_groups=names).fit(frame, y).group_order_.tolist() == expected.group_order_.tolist()
    renamed = selector(2, feature_groups=[names[label] for label in "abc"]).fit(frame, y).group_order_
    of_label = {"a": "group 0", "b": "group 1", "c": "group 2", "d": "x7"}
    assert renamed.tolist() == [of_label[label] for label in expected.group_order_]
    numbered = selector(2, feature_groups=[9, 4, 4, 7, 7, 7, 9, 1]).fit(frame, y).group_order_
    assert numbered.tolist() == [{"a": 9, "b": 4, "c": 7, "d": 1}[label] for label in expected.group_order_]


# Scores


def gram(kernel, X, labels, size):
    """The kernel matrix of the columns of some groups, with the gamma for subsets of a given size."""
    Z = X[:, columns_of(labels)]
    if not isinstance(kernel, Kernel):
        return kernel(Z, Z)
    return (kernel.with_gamma(1 / (2 * size)) if hasattr(kernel, "gamma") else kernel)(Z)


@pairwise(selector=[BAHSIC, FOHSIC], estimate=[hsic_unbiased, hsic_biased], name=KERNELS, engine=ENGINES)
def test_each_round_is_that_of_the_definition(selector, name, estimate, engine):
    X, y = drawn(m=24)
    Z, L, leaving = standardised(X), label_kernel(y).gram(), selector is BAHSIC

    def score(labels, size):
        return estimate(gram(KERNELS[name], Z, labels, size), L)

    options = {"kernel": KERNELS[name], "statistic": estimate.__name__.removeprefix("hsic_"), "step": 1}
    inside = list(GROUPS) if leaving else []
    for step in selector(4, feature_groups=IDS, standard_errors=True, **options).fit(X, y).path_:
        (label,) = {IDS[j] for j in step.features}
        assert list(step.features) == GROUPS[label]
        candidates = [other for other in GROUPS if (other in inside) == leaving]
        subsets = {other: [one for one in GROUPS if (one in inside) != (one == other)] for other in candidates}
        size = np.mean([len(columns_of(subset)) for subset in subsets.values()])
        scores = {other: score(subset, size) for other, subset in subsets.items() if subset}
        assert not scores or scores[label] == max(scores.values())
        subset = inside if leaving else subsets[label]
        assert step.n_features == len(columns_of(subset))
        assert step.hsic == pytest.approx(score(subset, step.n_features), rel=1e-8)
        variance = hsic_variance(gram(KERNELS[name], Z, subset, step.n_features), L)
        assert step.standard_error == pytest.approx(variance**0.5, rel=1e-6)
        inside = subsets[label]


def test_copies_of_groups_go_by_their_position():
    X, y = drawn()
    X = np.column_stack([X[:, 1], X[:, 2], X[:, 2], X[:, 1], X[:, 0]])
    groups = ["first", "first", "copy", "copy", "noise"]
    assert FOHSIC(feature_groups=groups).fit(X, y).group_order_[0] == "first"
    leaving = BAHSIC(feature_groups=groups, step=1).fit(X, y).group_order_.tolist()
    assert leaving.index("first") > leaving.index("copy"), "of equals, the first one leaves first"


# Constant features


@SELECTORS
def test_groups_of_constant_features_rank_last(selector):
    X, y = drawn()
    X[:, [0, 6]] = 3.0
    X[:, 2] = -1.0
    with pytest.warns(UserWarning, match="3 of 8 features are constant and are ignored: 0, 2, 6"):
        fitted = selector(2, feature_groups=IDS, step=1).fit(X, y)
    assert fitted.group_order_[-1] == "a"
    assert fitted.ranking_[[0, 6]].tolist() == [4 - 1, 4 - 1]
    assert fitted.ranking_[1] == fitted.ranking_[2] == 1, "a group with one that varies is judged by that"


# Features that are kept


@selectors_in_turn
@pytest.mark.parametrize(
    "keep", [[0, 5], (5, 0), np.array([0, 5]), [True, *[False] * 4, True, False, False], [5, 0, 5]]
)
def test_kept_features_are_always_selected(selector, keep):
    X, y = drawn()
    for n in [2, 3, 8]:
        fitted = selector(n, keep=keep, step=1).fit(X, y)
        assert fitted.support_[[0, 5]].all()
        assert fitted.n_features_ == n
        assert sorted(order(fitted)[:2].tolist()) == [0, 5]
        assert not {0, 5} & {j for step in fitted.path_ for j in step.features}
        assert fitted.path_[-1 if selector is BAHSIC else 0].n_features in ([3] if n > 2 or selector is BAHSIC else [2])


@SELECTORS
def test_a_kept_feature_keeps_its_group(selector):
    fitted = selector(2, feature_groups=IDS, keep=[5]).fit(*drawn())
    assert fitted.support_[[3, 4, 5]].all()
    assert fitted.group_order_[:2].tolist() == ["c", "b"]
    assert sorted(order(fitted)[:3].tolist()) == [3, 4, 5]


@SELECTORS
def test_half_of_the_features_and_at_least_those_kept(selector):
    X, y = drawn()
    assert selector(keep=[0, 1]).fit(X, y).n_features_ == 4
    assert selector(keep=range(6)).fit(X, y).n_features_ == 6


@SELECTORS
def test_fewer_features_than_are_kept(selector):
    for wanted, number in [(2, 2), (0.3, 2)]:
        message = f"n_features_to_select is {wanted}, which makes {number} features, and keep has 3"
        with pytest.raises(ValueError, match=message):
            selector(wanted, keep=[0, 1, 2]).fit(*drawn())
    with pytest.raises(ValueError, match="makes 1 groups, and keep has 2"):
        selector(1, feature_groups=IDS, keep=[0, 7]).fit(*drawn())


@pairwise(selector=[BAHSIC, FOHSIC], wanted=[None, 8, 1.0, "auto"], groups=[None, IDS])
def test_everything_may_be_kept(selector, wanted, groups):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if wanted == 8 and groups else "error")
        fitted = selector(wanted, keep=range(8), feature_groups=groups).fit(*drawn())
    assert fitted.support_.all()
    assert fitted.ranking_.tolist() == [1] * 8
    assert sorted(order(fitted).tolist()) == list(range(8))
    assert not any(step.features for step in fitted.path_)
