"""Categories, missing entries, groups, kept columns and weights, alone and together, against the definitions."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mixed_oracle
from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, Laplacian, label_kernel
from pairwise import ENGINES, pairwise

pd = pytest.importorskip("pandas", reason="mixed tables come as dataframes; pandas is not installed")

KERNELS = {2: Gaussian, 1: Laplacian}
OPTIONS = ("categories", "missing", "groups", "weights", "keep")


@pytest.fixture(scope="module", autouse=True)
def _every_column_takes_part():
    """Columns that hardly vary are ranked last by a rule of their own, see test_roles; here they are like others."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bahsic.data.entries._FEWEST_ROWS", 10**9)
        yield


class Problem:
    """A table with labels and options, as a user passes them and as the oracle takes them."""

    def __init__(self, seed, *, categories, missing, groups, weights, keep, power=2, statistic="unbiased", m=16, d=6):
        self.rng = np.random.default_rng(seed)
        self.power, self.statistic, self.m, self.d = power, statistic, m, d
        self.categorical = [bool(categories and j % 3 == 0) for j in range(d)]
        self.missing = missing if isinstance(missing, str) else "neutral" if missing else "error"
        self.columns = [self.column(j, missing=missing) for j in range(d)]
        self.y = self.rng.integers(0, 3, m).tolist()
        self.y[:3] = [0, 1, 2]
        self.weights = self.rng.integers(0, 4, m) if weights else None
        ids = self.rng.integers(0, d // 2, d) if groups else np.arange(d)
        self.group_ids = [f"g{number}" for number in ids] if groups else None
        labels = list(dict.fromkeys(ids.tolist()))
        self.groups = [[j for j in range(d) if ids[j] == label] for label in labels]
        self.keep = f"x{self.rng.integers(d)}" if keep else None
        self.kept = [unit for unit, group in enumerate(self.groups) if keep and int(self.keep[1:]) in group]

    def column(self, j, *, missing):
        if self.categorical[j]:
            column = self.rng.choice(list("abcd")[: 2 + j % 3], self.m).tolist()
            column[:2] = ["a", "b"]
        elif j % 3 == 1:
            column = self.rng.integers(0, 3, self.m).astype(float).tolist()
            column[:2] = [0.0, 1.0]
        else:
            column = self.rng.normal(size=self.m).tolist()
        if missing and j % 2 == 0:
            for i in self.rng.choice(np.arange(4, self.m), self.m // 4, replace=False):
                column[i] = None
        return column

    @property
    def frame(self):
        columns = {f"x{j}": column for j, column in enumerate(self.columns)}
        return pd.DataFrame(
            {
                name: pd.Categorical(column) if is_category else np.array(column, dtype=float)
                for (name, column), is_category in zip(columns.items(), self.categorical, strict=True)
            }
        )

    def fitted(self, selector, **options):
        return selector(
            kernel=KERNELS[self.power](),
            statistic=self.statistic,
            target_kernel="multiclass",
            identifiers="use",
            missing=self.missing,
            feature_groups=self.group_ids,
            keep=self.keep,
            step=1,
            **options,
        ).fit(self.frame, self.y, sample_weight=self.weights)

    def oracle(self):
        """What each column contributes to D, and W, of the repeated samples."""
        columns, y, samples = self.columns, self.y, None
        if self.weights is not None:
            columns, y, samples = mixed_oracle.repeated(columns, y, self.weights)
        D = mixed_oracle.totals(columns, self.categorical, self.power, samples, self.missing == "indicator")
        return D, mixed_oracle.weights_of_labels(label_kernel(y, "multiclass").gram(), self.statistic)


def check(problem, selector):
    """Every unit that leaves or enters is the one that the definition chooses, but for ties within rounding."""
    D, W = problem.oracle()
    fitted = problem.fitted(selector)
    leaving = selector is BAHSIC
    tolerance = 1e-10 * np.abs(W).sum()
    groups = [[j for j in group if D[j].any()] or group for group in problem.groups]  # what takes part
    varying = [unit for unit, group in enumerate(groups) if D[group].any() or unit in problem.kept]
    inside = varying if leaving else list(problem.kept)
    unit_of = {j: unit for unit, group in enumerate(problem.groups) for j in group}
    for step in fitted.path_:
        if not step.features:  # nothing may change where all columns are kept
            continue
        changed = {unit_of[j] for j in step.features}
        assert sorted(step.features) == sorted(j for unit in changed for j in problem.groups[unit])
        (unit,) = changed
        if not leaving or len(inside) > 1:
            rounds = mixed_oracle.elimination_scores if leaving else mixed_oracle.selection_scores
            scores = rounds(D, W, groups, problem.kept, inside)
            assert scores[unit] >= max(scores.values()) - tolerance
        if not leaving:
            inside.append(unit)
        columns = [j for i in inside for j in groups[i]]
        assert step.n_features == sum(len(problem.groups[i]) for i in inside)
        assert step.hsic == pytest.approx(mixed_oracle.score(D, W, columns, 1 / (2 * len(columns))), abs=tolerance)
        if leaving:
            inside.remove(unit)
    assert sorted(inside) == (problem.kept if leaving else list(range(len(problem.groups))))


@pairwise(
    selector=[BAHSIC, FOHSIC],
    power=[2, 1],
    option=["categories", "missing", "indicator", "groups", "weights", "keep"],
    statistic=["unbiased", "biased"],
    engine=ENGINES,
)
def test_each_option_equals_its_definition(selector, power, option, statistic, engine):
    chosen = {"missing": "indicator", "categories": True} if option == "indicator" else {option: True}
    options = dict.fromkeys(OPTIONS, False) | chosen
    for seed in range(2):
        check(Problem(seed, power=power, statistic=statistic, **options), selector)


@pytest.mark.filterwarnings("ignore:.* features are constant and are ignored")  # as small ones may be by chance
@pytest.mark.filterwarnings("ignore:y has .* once")
@example(58110, dict.fromkeys(OPTIONS, True), 2, "unbiased", BAHSIC)  # a column that is constant where weights are
@example(
    1, dict.fromkeys(OPTIONS, True) | {"missing": "neutral", "groups": False, "keep": False}, 2, "unbiased", BAHSIC
)
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    options=st.fixed_dictionaries(
        {name: st.booleans() for name in OPTIONS} | {"missing": st.sampled_from([False, "neutral", "indicator"])}
    ),
    power=st.sampled_from([2, 1]),
    statistic=st.sampled_from(["unbiased", "biased"]),
    selector=st.sampled_from([BAHSIC, FOHSIC]),
)
def test_all_options_together_equal_their_definitions(seed, options, power, statistic, selector):
    check(Problem(seed, power=power, statistic=statistic, **options), selector)
