"""The protocol of the experiments: data, folds, errors, tests of significance, the paper's numbers and the page."""

from itertools import product

import numpy as np
import pytest
from experiments import data as sources
from experiments import genes, genes_table, judges, machines, ranks, real
from experiments.artificial import rows as artificial_rows
from experiments.comparison import Summary, chance_distances, l2_distance, p_worse, paper, paper_distances, summaries
from experiments.data import Data, checksum, load
from experiments.evaluation import Fold, error, fold, splits
from experiments.frame import RESULTS
from experiments.methods import METHODS, Method
from experiments.page import pages
from experiments.paper_table import expected
from experiments.real_table import complete, distances
from scipy.stats import ttest_ind, wilcoxon
from sklearn.ensemble import RandomForestClassifier

# --- data ---


@pytest.mark.parametrize(("name", "shape", "ones"), [("wine", (178, 13), 59), ("wdbc", (569, 30), 212)])
def test_bundled_sets_are_those_of_the_files(name, shape, ones, data_folder):
    bundled, file = load(name, None), load(name, data_folder)
    assert bundled.X.shape == file.X.shape == shape
    assert bundled.y.sum() == file.y.sum() == ones
    assert np.allclose(bundled.X, file.X, rtol=1e-6)
    assert bundled.task == file.task == "binary"


def test_sizes_and_checksums_are_those_of_the_files(data_folder):
    for name, size in (real.SIZES | real.MORE).items():
        found = load(name, data_folder)
        assert (found.X.shape, found.task) == (size, real.task_of(name)), name
    for name, n_folds in genes.FOLDS.items():
        found = load(name, data_folder)
        assert np.isfinite(found.X).all()
        assert np.bincount(found.y).min() >= n_folds
    for row in sources.openml_rows():
        with np.load(data_folder / f"{row['dataset']}.npz") as file:
            assert checksum(file["X"].astype(float)) == row["checksum"]


# --- folds and errors ---


def test_columns_are_standardised_by_the_training_part_alone():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 4)) * [1, 5, 0, 2] + 3
    X[30:, 2] = 7.0  # constant in training
    X[30:, 0] = 1e6
    part = fold(Data(X, np.arange(40) % 2, "binary"), np.arange(30), np.arange(30, 40))
    assert part.columns.tolist() == [0, 1, 3]
    assert part.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert part.X.std(axis=0) == pytest.approx(1)
    assert part.X_test[:, 0] == pytest.approx((1e6 - X[:30, 0].mean()) / X[:30, 0].std())
    assert part.y_test.tolist() == [0, 1] * 5


def test_error_rate_and_unexplained_variance():
    random = np.random.default_rng(0)
    X, X_test = random.standard_normal((80, 3)), random.standard_normal((40, 3))
    classes = Fold(X, (X[:, 1] > 0) * 1, X_test, (X_test[:, 1] > 0) * 1, np.arange(3))
    assert error(classes, np.array([1]), "binary") < 5
    assert error(Fold(X, classes.y, X_test, 1 - classes.y_test, np.arange(3)), np.array([1]), "binary") > 95
    assert 25 < error(classes, np.array([0]), "binary") < 75
    numbers = Fold(X, 1000 + 50 * X[:, 1], X_test, 1000 + 50 * X_test[:, 1], np.arange(3))
    assert error(numbers, np.array([1]), "regression") < 2
    assert 70 < error(numbers, np.array([0]), "regression") < 200  # the mean alone gives 100


def test_shuffled_labels_stay_at_chance():
    random = np.random.default_rng(0)
    data = Data(random.standard_normal((120, 300)), random.permutation(np.arange(120) % 2), "binary")
    errors = []
    for train, test in splits(data):
        part = fold(data, train, test)
        chosen = METHODS["pearson"].select(part.X, part.y, real.Problem("binary", 5))[:5]
        errors.append(error(part, chosen, "binary"))
    assert 40 < np.mean(errors) < 60  # chosen from all samples it would be near 30


IN_ORDER = Method(lambda X, y, problem: np.arange(X.shape[1]), "in order", "reference")


def test_inner_cross_validation_finds_the_number():
    # Few features say everything; the rest is noise that a machine of 50 features has to fight with.
    X = np.random.default_rng(0).standard_normal((60, 60))
    for number, score in ((5, X[:, 0]), (10, X[:, 5:10].sum(axis=1))):
        assert genes.best_number(Data(X, (score > 0).astype(int), "binary"), IN_ORDER, seed=0) == number


# --- the cells of the grids ---


def test_equal_scores_do_not_favour_the_first_features(monkeypatch):
    monkeypatch.setattr("experiments.artificial.warmed_up", lambda name, task: IN_ORDER)
    cells = [{"problem": "xor", "m": 8, "run": run, "method": "bahsic"} for run in range(200)]
    assert np.mean([artificial_rows(cell, None)[0]["rank_median"] for cell in cells]) == pytest.approx(11.5, abs=1.0)


def test_a_cell_of_the_table_is_what_the_protocol_says():
    cell = {"dataset": "wine", "method": "pearson", "n_features": 5, "fold": 3}
    [row] = real.rows(cell, None)
    data = load("wine", None)
    part = fold(data, *splits(data)[3])
    r = [abs(np.corrcoef(column, part.y)[0, 1]) for column in part.X.T]
    chosen = np.argsort(r)[::-1][:5]
    assert row["features"].split() == [str(j) for j in chosen]
    assert float(row["error"]) == pytest.approx(error(part, chosen, "binary"), abs=1e-3)
    [again] = machines.rows(cell | {"features": row["features"], "machine": machines.MEAN_LOSS}, None)
    expected_error = error(part, chosen, "binary", 100 / len(part.y))
    assert float(again["error"]) == pytest.approx(expected_error, abs=1e-3)


def test_judges_see_the_features_of_the_row():
    data = load("wdbc", None)
    part = fold(data, *splits(data)[3])
    cell = {"dataset": "wdbc", "method": "rfe", "n_features": 5, "fold": 3, "features": "20 1 7", "judge": "forest"}
    forest = RandomForestClassifier(200, random_state=3).fit(part.X[:, [20, 1, 7]], part.y)
    wanted = 100 * np.mean(forest.predict(part.X_test[:, [20, 1, 7]]) != part.y_test)
    assert judges.rows(cell, None) == [{"error": f"{wanted:.4f}"}]


# --- comparing ---


def test_means_of_complete_series_only():
    rows = [{"dataset": "a", "method": "x", "error": str(value)} for value in (1, 2, 6)]
    rows += [{"dataset": "a", "method": "y", "error": "1"}]
    rows += [{"dataset": "a", "method": "z", "error": ""}] * 3
    found = summaries(rows, n_folds=3)
    assert found["a", "x"] == pytest.approx((3.0, np.std([1, 2, 6], ddof=1) / np.sqrt(3), 3, True))
    assert ("a", "y") not in found
    assert found["a", "z"] == Summary(100.0, 0.0, 3, finished=False)


def test_welch_is_that_of_scipy():
    random = np.random.default_rng(0)
    a, b = random.standard_normal(10) + 0.5, 3 * random.standard_normal(10)
    rows = [{"dataset": "d", "method": m, "error": str(v)} for m, values in (("a", a), ("b", b)) for v in values]
    found = summaries(rows)
    reference = ttest_ind(a, b, equal_var=False, alternative="greater").pvalue
    assert p_worse(found["d", "a"], found["d", "b"]) == pytest.approx(reference)
    assert p_worse(Summary(1.0, 0.0), Summary(1.0, 0.0)) == 1
    assert p_worse(Summary(2.0, 0.0), Summary(1.0, 0.0)) == 0


def test_distances_over_complete_sets():
    found = {("d", "a"): Summary(10.0, 1.0), ("d", "b"): Summary(13.0, 1.0), ("e", "a"): Summary(9.0, 1.0)}
    found |= {("e", "b"): Summary(5.0, 1.0), ("f", "a"): Summary(50.0, 1.0)}
    assert complete(found, ["a", "b"], ["d", "e", "f"]) == ["d", "e"]
    assert distances(found, ["a", "b"], ["d", "e", "f"]) == {"a": 4.0, "b": 3.0}
    assert distances(found, ["a", "b"], ["f"]) == {}


def test_distances_by_chance():
    # A method without noise and one whose mean over ten folds has the standard error s: E max(0, s Z) = s / sqrt(2 pi).
    noise = np.random.default_rng(0).standard_normal(10)
    errors = {"still": np.full(10, 40.0), "noisy": 10 + 3 * noise / noise.std(ddof=1)}
    rows = [
        {"dataset": "d", "method": m, "fold": str(f), "error": repr(float(e))}
        for m, values in errors.items()
        for f, e in enumerate(values)
    ]
    found = chance_distances(rows, ["still", "noisy"], ["d"], n_draws=20000)
    expected = 3 / np.sqrt(10) / np.sqrt(2 * np.pi)
    assert found == pytest.approx({"still": expected, "noisy": expected}, rel=0.03)


# --- ranks ---


def test_critical_difference_is_that_of_the_tables():
    # Demsar (2006), Table 5: q of 0.05 is 2.343 for three methods and 3.164 for ten.
    assert ranks.critical_difference(3, 20) == pytest.approx(2.343 * np.sqrt(3 * 4 / 120), abs=1e-3)
    assert ranks.critical_difference(10, 30) == pytest.approx(3.164 * np.sqrt(10 * 11 / 180), abs=1e-3)


def test_methods_against_the_reference():
    random = np.random.default_rng(0)
    own, better, other = random.random((3, 12)) + np.array([[0.0], [1.0], [0.3]])
    found = {
        (str(i), m): Summary(values[i], 0.1)
        for m, values in (("prediction", own), ("bahsic", better), ("rfe", other), ("l1", own))
        for i in range(12)
    }
    p = ranks.against(found, ["prediction", "bahsic", "rfe", "l1"], [str(i) for i in range(12)])
    assert p == pytest.approx({"bahsic": 2 * wilcoxon(own, better).pvalue, "rfe": wilcoxon(own, other).pvalue})
    corrected = ranks.holm({"a": 0.02, "b": 0.011, "c": 0.6, "d": 0.7})  # never falls, and stays below one
    assert corrected == pytest.approx({"b": 0.044, "a": 0.06, "c": 1.0, "d": 1.0})


# --- the paper's numbers ---


def test_paper_has_all_sets_and_its_own_distances_follow_from_its_errors():
    theirs = paper()
    assert {dataset for dataset, _ in theirs} == set(real.SIZES)
    assert len(expected("real")) == 21 * 8 + 6 * 6 + 3 * 4 + 8
    methods = list(paper_distances())
    for method, printed in paper_distances().items():
        assert l2_distance(theirs, method, real.BINARY, methods) == pytest.approx(printed, abs=0.11)


# --- the pages ---


def test_pages_are_made_from_the_rows(root):
    texts = pages(RESULTS)
    assert len(texts) == 17
    changed = [name for name, text in texts.items() if (root / "docs" / name).read_text(encoding="utf-8") != text]
    assert changed == [], "run: python -m experiments page"


def test_mean_error_of_genes_over_sets_judges_and_folds():
    """Of two methods, one errs by 10 points everywhere; the other by 20, but not at all in a fold of colon."""
    rows, judged = [], []
    for (dataset, n_folds), method in product(genes.FOLDS.items(), ("pearson", "relief")):
        for at, number in product(range(n_folds), genes.JUDGED):
            error = 10 if method == "pearson" else 0 if (dataset, at) == ("colon", 0) else 20
            row = {"dataset": dataset, "method": method, "n_features": number, "fold": str(at), "error": str(error)}
            rows.append(row | {"seconds": "0.5"})
            judged += [row | {"judge": judge} for judge in judges.TRAINED]
    lines = [line.split(" | ") for line in genes_table.judges_table(rows, judged).splitlines()[2:]]
    assert [line[0] for line in lines] == ["| PC", "| RELIEF"]
    assert lines[0][1:] == ["**10.0 ± 0.0**", "**10.0 ± 0.0**", "0.5 |"]
    assert lines[1][1] == "19.3 ± 0.7"  # 20 - 2/3, and a third of the error of the mean of nine 20 and a 0
    assert genes_table.judges_table(rows, judged[1:]).count("PC") == 0  # a judge lacks a fold
