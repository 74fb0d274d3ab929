"""hsic, hsic_test, hsic_interval and hsic_blocks on tables: units, categories, missing entries, every container."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import mixed_oracle
from bahsic import BAHSIC, hsic, hsic_blocks, hsic_interval, hsic_test, hsic_unbiased, hsic_variance, predictability
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial, label_kernel
from command import main

M = 60
RNG = np.random.default_rng(1)
X = RNG.normal(size=(M, 4)) * [1, 1000, 0.01, 5] + [0, 1e5, 0, -3]
Y = X[:, 1] / 1000 + RNG.normal(size=M)
Z = (X - X.mean(axis=0)) / X.std(axis=0)
KERNELS = [Gaussian(), Gaussian("median"), Gaussian("optimise"), Laplacian(), InverseDistance(), Linear(), Polynomial()]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("statistic", ["unbiased", "biased"])
def test_numbers_are_standardised(kernel, statistic):
    expected = hsic(Z, Y, kernel, statistic=statistic, standardize=False)
    assert_allclose(hsic(X, Y, kernel, statistic=statistic), expected, rtol=1e-9)
    assert_allclose(hsic(X * [1, 1e-9, 1e9, -2] + 7, Y, kernel, statistic=statistic), expected, rtol=1e-6)


def test_a_test_and_an_interval_are_those_of_standardised_numbers():
    K, L = Gaussian(1 / 8)(Z), label_kernel(Y).gram()
    test = hsic_test(X, Y, random_state=0)
    assert (test.kernel, test.statistic) == (Gaussian(1 / 8), pytest.approx(hsic_unbiased(K, L), rel=1e-9))
    of_standardised = hsic_test(Z, Y, standardize=False, random_state=0)
    assert_allclose(test.null_sample, of_standardised.null_sample, rtol=1e-6, atol=1e-12)
    low, high = hsic_interval(X, Y)
    assert (low + high) / 2 == pytest.approx(hsic_unbiased(K, L), rel=1e-9)
    assert (high - low) / 2 == pytest.approx(1.959963984540054 * hsic_variance(K, L) ** 0.5, rel=1e-9)


COLOURS = np.array(["red", "green", "blue"], dtype=object)[RNG.integers(3, size=M)]
AGES = np.where(np.arange(M) % 7 == 0, np.nan, RNG.normal(40, 10, M))
FLAGS = RNG.integers(2, size=M) > 0
LABELS = np.where((COLOURS == "red") ^ FLAGS, "yes", "no")


def frames():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    ages = [None if np.isnan(age) else float(age) for age in AGES]
    data = {"colour": COLOURS.tolist(), "age": ages, "flag": FLAGS.tolist()}
    return [
        pandas.DataFrame({"colour": COLOURS, "age": AGES, "flag": FLAGS}),
        pandas.DataFrame(data).astype({"colour": "category", "age": "Float64", "flag": "boolean"}),
        polars.DataFrame(data),
        pyarrow.table(data),
        np.array([list(row) for row in zip(*data.values(), strict=True)], dtype=object),
    ]


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", Gaussian("median"), Gaussian("optimise")], ids=repr)
def test_tables_are_those_of_the_selectors(kernel):
    table, *others = frames()
    options = {"categorical_features": "from_dtype", "missing": "neutral"}
    expected = BAHSIC(2, kernel=kernel, **options).fit(table, LABELS).path_[0].hsic
    assert hsic(table, LABELS, kernel) == pytest.approx(expected, rel=1e-9)
    for other in others[:-1] if kernel == "laplacian" else others:  # there booleans in an array are numbers
        assert hsic(other, LABELS, kernel) == pytest.approx(expected, rel=1e-9)
        if kernel != Gaussian("optimise"):
            assert hsic_test(other, LABELS, kernel=kernel, method="normal").statistic == pytest.approx(
                expected, rel=1e-9
            )
            assert np.mean(hsic_interval(other, LABELS, kernel=kernel)) == pytest.approx(expected, rel=1e-9)


def test_a_table_by_definition():
    columns = [COLOURS.tolist(), [None if np.isnan(age) else age for age in AGES], FLAGS.astype(float).tolist()]
    D = mixed_oracle.totals(columns, [True, False, False], 2).sum(axis=0)
    expected = hsic_unbiased(np.exp(-D / 6), label_kernel(LABELS).gram())
    assert hsic(frames()[0], LABELS) == pytest.approx(expected, rel=1e-9)
    assert hsic_test(frames()[0], LABELS).statistic == pytest.approx(expected, rel=1e-9)
    index = np.random.RandomState(4).permutation(M)
    parts = np.split(index, [30])
    L = label_kernel(LABELS).gram()
    blocks = [hsic_unbiased(np.exp(-D / 6)[np.ix_(part, part)], L[np.ix_(part, part)]) for part in parts]
    assert_allclose(hsic_blocks(frames()[0], LABELS, block_size=30, random_state=4), blocks, rtol=1e-9)


def test_one_column_in_every_container():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    numbers, ages = X[:, 1], [None if np.isnan(age) else float(age) for age in AGES]
    containers = [numbers, numbers.tolist(), numbers[:, None], pandas.Series(numbers), polars.Series(numbers)]
    containers += [pandas.Series(numbers, dtype="Float64"), pyarrow.array(numbers), pyarrow.chunked_array([numbers])]
    assert len({hsic(x, Y) for x in containers}) == 1
    containers = [AGES, ages, pandas.Series(AGES), polars.Series(ages), pyarrow.array(ages), np.ma.masked_invalid(AGES)]
    assert_allclose([hsic(x, Y) for x in containers], hsic(AGES, Y), rtol=1e-12)
    containers = [COLOURS, COLOURS.tolist(), COLOURS.astype(str), pandas.Series(COLOURS)]
    containers += [pandas.Series(COLOURS, dtype="category"), polars.Series(COLOURS.tolist())]
    containers += [
        polars.Series(COLOURS.tolist(), dtype=polars.Categorical),
        pyarrow.array(COLOURS).dictionary_encode(),
    ]
    codes = np.unique(COLOURS, return_inverse=True)[1]
    coded, expected = pandas.Series(codes, dtype="category"), hsic(COLOURS, LABELS)
    assert_allclose([hsic(x, LABELS) for x in [*containers, coded]], expected, rtol=1e-12)
    assert hsic(codes, LABELS, categorical_features=[0]) == pytest.approx(expected, rel=1e-12)
    assert hsic(codes, LABELS) != pytest.approx(expected, rel=1e-3)
    assert predictability(coded, LABELS) == pytest.approx(predictability(COLOURS, LABELS), rel=1e-9)


def test_sparse_and_stored_data(tmp_path):
    stored = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", shape=X.shape)
    stored[:] = X
    for x in (sparse.csr_array(X), stored):
        assert hsic(x, Y) == pytest.approx(hsic(X, Y), rel=1e-9)
        assert hsic_test(x, Y, method="gamma").pvalue == pytest.approx(hsic_test(X, Y, method="gamma").pvalue, rel=1e-7)
    assert hsic(sparse.csr_array(X), Y, standardize=False) == pytest.approx(hsic(X, Y, standardize=False), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (AGES, {"missing": "error"}, "x contains NaN or null: 9 entries"),
        (AGES, {"kernel": "inverse_distance"}, "kernel is InverseDistance.*accepted where entries are missing"),
        (COLOURS, {"kernel": "linear"}, "kernel is Linear.*accepted with categorical_features"),
        (COLOURS[:-1], {}, "x has 59 samples, y has 60 samples"),
        (X[:0], {}, r"x has shape \(0, 4\)"),
    ],
)
def test_what_is_refused(x, options, message):
    for function in (hsic, hsic_test, hsic_interval):
        with pytest.raises(ValueError, match=message):
            function(x, LABELS, **options)
    with pytest.raises(TypeError, match="column 0 of x has strings or categories"):
        hsic(COLOURS, LABELS, categorical_features=None)


@pytest.mark.parametrize("method", ["permutation", "gamma"])
def test_the_command_gives_the_same(tmp_path, monkeypatch, capsys, method):
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    table = frames()[0].assign(price=(1000 * Y).round().astype(int), label=LABELS)
    table["flag"] = table["flag"].map({True: "t", False: "f"})
    table.to_csv("table.csv", index=False)
    table = pandas.read_csv("table.csv")
    command = ["test", "table.csv", "--pvalues", method, "--seed", "5", "--json", "--missing", "neutral"]
    for columns, target in ((["colour", "age", "flag"], "label"), (["age"], "price"), (["colour"], "price")):
        capsys.readouterr()
        assert main([*command, "--x", ",".join(columns), "--y", target]) == 0
        found = json.loads(capsys.readouterr().out)
        test = hsic_test(table[columns], table[target], method=method, random_state=5)
        assert found["statistic"] == pytest.approx(test.statistic, rel=1e-12)
        assert found["pvalue"] == pytest.approx(test.pvalue, rel=1e-12)
    assert main([*command, "--x", "age", "--y", "label,price"]) == 0  # classes beside numbers
    found = json.loads(capsys.readouterr().out)
    assert found["input"]["target_kernel"] == "multioutput"
    both = hsic_test(table[["age"]], table[["label", "price"]], method=method, random_state=5)
    assert found["pvalue"] == pytest.approx(both.pvalue, rel=1e-12)
