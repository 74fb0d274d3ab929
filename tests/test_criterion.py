"""Criteria of users: searches by them are those of the definition, and wrong answers are refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from bahsic import BAHSIC, BAHSICCV, FOHSIC
from bahsic.criteria import Criterion
from pairwise import pairwise

GROUPS = [0, 0, 1, 1, 2, 3, 3, 4]


class Explained(Criterion):
    """Share of the variance of the target that ridge regression explains."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, Y, sample_weight=None):
        w = np.ones(len(X)) if sample_weight is None else sample_weight
        self.gram_, self.products_ = (X.T * w) @ X, (X.T * w) @ Y
        self.total_ = w @ np.square(Y).sum(axis=1)
        return self

    def score(self, columns):
        A, b = self.gram_[np.ix_(columns, columns)], self.products_[columns]
        return np.sum(b * np.linalg.solve(A + self.alpha * np.eye(len(columns)), b)) / self.total_


class Answering(Explained):
    """Gives some answer to each question."""

    def __init__(self, value=1.0, positions=None):
        self.value, self.positions = value, positions

    def score(self, columns):
        return self.value

    def leaving(self, columns, candidates, count):
        return super().leaving(columns, candidates, count) if self.positions is None else self.positions


def drawn(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 8)) @ (np.eye(8) + 0.3 * rng.standard_normal((8, 8)))
    return X, X[:, 2] - X[:, 5] + 0.5 * X[:, 7] + rng.standard_normal(m)


def of_definition(X, y, alpha, groups, kept, *, forward):
    """The columns of each round and their scores, by a regression for every candidate."""
    Z, target = StandardScaler().fit_transform(X), StandardScaler().fit_transform(y[:, None])[:, 0]
    groups = np.asarray(groups)

    def score(units):
        A = Z[:, np.isin(groups, list(units))]
        fitted = np.linalg.solve(A.T @ A + alpha * np.eye(A.shape[1]), A.T @ target)
        return target @ A @ fitted / (target @ target)

    everyone = set(groups.tolist())
    inside, rounds = set(kept) if forward else set(everyone), []
    while forward and inside < everyone:
        best = max(sorted(everyone - inside), key=lambda unit: score(inside | {unit}))
        inside.add(best)
        rounds.append((best, score(inside)))
    while not forward and inside > set(kept):
        worst = max(sorted(inside - set(kept)), key=lambda unit: score(inside - {unit}) if len(inside) > 1 else 0.0)
        rounds.append((worst, score(inside)))
        inside.remove(worst)
    return [(tuple(np.flatnonzero(groups == unit)), value) for unit, value in rounds]


@pairwise(selector=[BAHSIC, FOHSIC], groups=[None, GROUPS], keep=[None, [4]], alpha=[0.1, 20.0])
def test_searches_are_those_of_the_definition(selector, groups, keep, alpha):
    X, y = drawn()
    units = np.arange(8) if groups is None else groups
    kept = [] if keep is None else [units[4]]
    fitted = selector(None, criterion=Explained(alpha), step=1, feature_groups=groups, keep=keep).fit(X, y)
    expected = of_definition(X, y, alpha, units, kept, forward=selector is FOHSIC)
    assert [step.features for step in fitted.path_] == [columns for columns, _ in expected]
    assert [step.value for step in fitted.path_] == pytest.approx([value for _, value in expected])
    assert all(step.hsic is None for step in fitted.path_)
    if keep is not None:
        assert fitted.support_[4]


def test_scores_are_what_is_lost_or_gained():
    X, y = drawn()
    fitted = BAHSIC(3, criterion=Explained(), step=1).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    criterion = Explained().fit(Z, StandardScaler().fit_transform(y[:, None]))
    chosen = set(np.flatnonzero(fitted.support_))
    whole = criterion.score(sorted(chosen))
    expected = [abs(whole - criterion.score(sorted(chosen ^ {j}))) for j in range(8)]
    assert fitted.scores_ == pytest.approx(expected)


def test_weights_are_repetitions():
    X, y = drawn()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), w)
    weighted = BAHSIC(3, criterion=Explained(), step=1).fit(X, y, sample_weight=w)
    repeated = BAHSIC(3, criterion=Explained(), step=1).fit(X[rows], y[rows])
    assert [step.value for step in weighted.path_] == pytest.approx([step.value for step in repeated.path_])


def test_missing_entries_are_the_mean():
    X, y = drawn()
    X[3:9, 2] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    criterion = Explained().fit(filled - filled.mean(axis=0), (y - y.mean())[:, None])
    fitted = BAHSIC(2, criterion=Explained(0.0), standardize=False, step=1).fit(X, y)
    criterion.alpha = 0.0
    assert fitted.path_[0].value == pytest.approx(criterion.score(np.arange(8)))


def test_held_out_samples_choose_the_number():
    X, y = drawn(120)
    fitted = BAHSIC("auto", criterion=Explained(), kernel="auto", step=1).fit(X, y)
    assert set(np.flatnonzero(fitted.support_)) >= {2, 5}
    assert fitted.n_features_ < 8
    assert 0.4 < fitted.predictability_ < 0.9
    assert fitted.kernel_ == "linear"
    assert fitted.selection_frequencies_[[2, 5]].tolist() == [1.0, 1.0]


def test_an_estimator_can_be_the_judge():
    X, y = drawn(120)
    search = BAHSICCV(LinearRegression(), criterion=Explained(), step=1).fit(X, y)
    assert search.support_[[2, 5]].all()
    assert search.selector_.criterion.alpha == 1.0


def test_parameters_of_the_criterion_are_those_of_the_selector():
    selector = BAHSIC(criterion=Explained(2.0))
    assert clone(selector).get_params()["criterion__alpha"] == 2.0
    assert selector.set_params(criterion__alpha=3.0).criterion.alpha == 3.0
    fitted = selector.fit(*drawn())
    assert not hasattr(fitted.criterion, "gram_")  # a clone was


def test_checkpoints_belong_to_the_parameters_of_the_criterion(tmp_path):
    X, y = drawn()
    selector = BAHSIC(2, criterion=Explained(), step=1, checkpoint=tmp_path)
    first = clone(selector).fit(X, y)
    again = clone(selector).fit(X, y)
    assert first.path_ == again.path_
    assert np.array_equal(first.ranking_, again.ranking_)
    with pytest.raises(ValueError, match="another fit, which differs in criterion"):
        clone(selector).set_params(criterion__alpha=2.0).fit(X, y)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ("hsik", "criterion is 'hsik'; accepted: 'hsic', 'prediction', an object of a class derived from"),
        (Explained, "criterion is <class .*accepted: 'hsic', 'prediction', an object"),
        (Answering(np.nan), r"criterion is Answering\(.*score of . columns is nan; accepted: a finite number"),
        (Answering("much"), "score of 7 columns is 'much'; accepted: a finite number"),
        (Answering(positions=[0, 0]), r"leaving returns array\(\[0, 0\]\); accepted: 1 different positions among 8"),
    ],
)
def test_wrong_answers_are_refused(criterion, message):
    with pytest.raises(ValueError, match=message):
        BAHSIC(2, criterion=criterion, step=1).fit(*drawn())


def test_categories_are_refused():
    pd = pytest.importorskip("pandas")
    X, y = drawn()
    table = pd.DataFrame(X, columns=list("abcdefgh")).assign(town=["Rome", "Bonn", "Oslo"] * 20)
    with pytest.raises(ValueError, match="X has categories in town; accepted: numbers alone"):
        BAHSIC(2, criterion=Explained()).fit(table, y)


def test_many_samples_are_taken_at_once():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_100, 4))
    y = X[:, 1] + rng.standard_normal(10_100) > 0
    fitted = BAHSIC(2, criterion=Explained(), step=1).fit(X, y, np.ones(10_100))
    assert fitted.block_size_ is None
    assert fitted.support_[1]


# The rounds of a search, by a criterion that knows the answers


RELEVANCE = np.array([3.0, 0.0, 5.0, 1.0, 4.0, 2.0])


class KnownOrder(Criterion):
    """Scores a subset by the sum of fixed relevances."""

    def fit(self, X, Y, sample_weight=None):
        return self

    def score(self, columns):
        return float(RELEVANCE[columns].sum())


@pytest.mark.parametrize(
    ("selector", "number", "step", "expected"),
    [
        (BAHSIC, None, 1, [(1,), (3,), (5,), (0,), (4,), (2,)]),
        (BAHSIC, None, 0.5, [(1, 3, 5), (0,), (4,), (2,)]),
        (BAHSIC, None, np.float32(0.5), [(1, 3, 5), (0,), (4,), (2,)]),
        (BAHSIC, None, 9, [(1, 3, 5, 0, 4, 2)]),
        (BAHSIC, None, np.int64(3), [(1, 3, 5), (0, 4, 2)]),
        (FOHSIC, 5, 4, [(2, 4, 0, 5), (3,)]),  # it stops in the middle of a round
        (FOHSIC, 6, 0.5, [(2, 4, 0), (5,), (3,), (1,)]),
    ],
)
def test_rounds_of_several_features(selector, number, step, expected):
    X = np.random.default_rng(0).normal(size=(20, 6))
    fitted = selector(number, criterion=KnownOrder(), step=step).fit(X, np.resize([0, 1], 20))
    assert [step.features for step in fitted.path_] == expected
