from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bahsic
import oracle
from bahsic.kernels import Delta, Gaussian, Linear, Spectrum, label_kernel

hsic = partial(bahsic.hsic, standardize=False)  # oracles take x as it is


def floats(matrix):
    return np.array(matrix, dtype=float)


BINARY = ["no", "yes", "yes", "no", "yes"]
CLASSES = ["b", "a", "c", "a", "c", "c"]


@pytest.mark.parametrize(
    "y", [BINARY, [0, 1, 1, 0, 1], [False, True, True, False, True], [-1.0, 1.0, 1.0, -1.0, 1.0], CLASSES]
)
def test_classes(y):
    labels = label_kernel(y)
    name, vectors = ("multiclass", oracle.multiclass_labels) if y is CLASSES else ("binary", oracle.binary_labels)
    assert (labels.name, labels.kernel) == (name, Linear())
    assert_array_equal(labels.classes, sorted(set(y)))
    assert_allclose(labels.values, floats(vectors(y)), rtol=1e-15)
    assert_allclose(labels.gram(), floats(oracle.gram(oracle.linear, vectors(y))), rtol=1e-14)
    weights = np.resize([2, 1, 0, 3], len(y))
    index, repeated = np.repeat(np.arange(len(y)), weights), label_kernel(oracle.repeated(y, weights))
    weighted = label_kernel(y, sample_weight=weights)
    assert weighted.name == repeated.name
    assert_allclose(weighted.gram()[np.ix_(index, index)], repeated.gram(), rtol=1e-13)


def regression_gram(rows):
    return floats(oracle.gram(oracle.gaussian, rows, gamma=oracle.median_gamma(rows)))


def common(a, b):
    return np.minimum.outer(a, b)


class Doubled(Linear):
    def __call__(self, X, Y=None):
        return 2 * super().__call__(X, Y)


@pytest.mark.parametrize(
    ("y", "target", "name", "expected"),
    [
        (CLASSES, "delta", "delta", floats(oracle.gram(oracle.delta, CLASSES))),
        (CLASSES, Delta(), "delta", floats(oracle.gram(oracle.delta, CLASSES))),
        ([[2.0, 1.0], [1.0, 3.0]], "precomputed", "precomputed", [[2, 1], [1, 3]]),
        ([1.0, 2.0, 3.0], common, "common", [[1, 1, 1], [1, 2, 2], [1, 2, 3]]),
        ([1.0, 2.0], Doubled(), "Doubled()", [[2, 4], [4, 8]]),
        (["aab", "ab", "b"], Spectrum(n=1), "Spectrum(n=1, normalize=False)", [[5, 3, 1], [3, 2, 1], [1, 1, 1]]),
        ([0.0, 0.0, 0.0], "regression", "regression", np.ones((3, 3))),
        (["a", "b", "b"], "auto", "binary", [[1, -0.5, -0.5], [-0.5, 0.25, 0.25], [-0.5, 0.25, 0.25]]),
    ],
)
def test_other_kernels(y, target, name, expected):
    labels = label_kernel(y, target)
    assert labels.name == name
    assert_array_equal(labels.gram(), expected)
    assert len(labels) == len(y)
    assert labels.gram().dtype == np.float64
    assert_array_equal(labels.block(slice(0, 1), slice(1, 2)), labels.gram()[:1, 1:2])


@pytest.mark.parametrize(
    ("y", "target", "message"),
    [
        (["a", "a"], "auto", r"y has one class only \('a'\); at least two are needed"),
        (["a", "b", "c"], "binary", "y has 3 classes; accepted for target_kernel='binary': two"),
        ([0.5, np.nan], "auto", "y has 1 entries that are NaN"),
        (["a", None], "auto", "y has 1 missing values"),
        ([Decimal(1), Decimal(2)], "auto", "y is of type 'unknown'.*accepted: target_kernel one of 'binary'"),
        ([[1, 2], [3, 1]], "multiclass", r"y has shape \(2, 2\); accepted for target_kernel='multiclass': one label"),
        ([1, 2], "binry", "target_kernel is 'binry', did you mean 'binary'"),
        (["a", 1, "b"], "auto", "y has labels that cannot be sorted"),
        ([["a", "x"], [1, "y"]], "auto", "column 0 of y has labels that cannot be sorted"),
        ([["a", "x"], [None, "y"]], "auto", "y has 1 missing values .*in row 1, column 0"),
        ([[1.5, 2.0], [np.nan, 1.0]], "auto", r"y has 1 entries that are NaN .*row 1, column 0"),
        ([["a", 1], ["a", 1]], "auto", "y has no column that varies"),
        ([1.0, 2.0], Gaussian("optimise"), "'optimise', which needs labels"),
        ([1j, 2.0], "auto", "y has dtype complex128"),
    ],
)
def test_bad_labels(y, target, message):
    with pytest.raises((ValueError, TypeError), match=message):
        label_kernel(y, target)


TABLE = {
    "site": ["b", "a", "c", "a", "c", "b", "a"],
    "dose": [0.5, 2.0, 1.0, 4.0, 0.0, 2.5, 3.25],
    "sick": [True, False, False, True, True, True, False],
    "visits": [3, 1, 1, 2, 3, 1, 1],
    "weight": [70.5, 80.0, 65.0, 90.0, 71.0, 60.0, 85.0],
}
CLASS_COLUMNS, NUMBER_COLUMNS = ["site", "sick", "visits"], ["dose", "weight"]
FREQUENCIES = [2, 1, 0, 3, 1, 2, 1]


def centred_trace(K):
    return sum(K[i][i] for i in range(len(K))) - sum(map(sum, K)) / len(K)


def sum_of_kernels(columns):
    """By definition: the kernel of each column divided by the trace of its centred matrix, added up."""
    total = 0
    for column in columns:
        if isinstance(column[0], float):
            K = regression_gram([[value] for value in column])
        else:
            vectors = oracle.binary_labels if len(set(column)) == 2 else oracle.multiclass_labels
            K = floats(oracle.gram(oracle.linear, vectors(column)))
        total = total + K / centred_trace(K)
    return total


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("names", [CLASS_COLUMNS, list(TABLE), ["dose", "sick"]], ids=["classes", "all", "two"])
def test_columns_of_a_dataframe(names, library):
    frames, data = pytest.importorskip(library), {name: TABLE[name] for name in names}
    labels = label_kernel(frames.table(data) if library == "pyarrow" else frames.DataFrame(data))
    assert labels.name == "multioutput"
    assert (labels.vectors is not None) == (names == CLASS_COLUMNS)
    assert_allclose(labels.gram(), sum_of_kernels([TABLE[name] for name in names]), rtol=1e-12, atol=1e-14)
    assert_allclose(labels.block(slice(2, 5), slice(0, 3)), labels.gram()[2:5, 0:3], rtol=1e-12)


def test_arrays_of_classes():
    indicators = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 1]])
    labels = label_kernel(indicators)
    assert labels.name == "multioutput"
    assert_allclose(labels.gram(), sum_of_kernels(indicators.T.tolist()), rtol=1e-13, atol=1e-15)
    for same in (indicators.astype(float), indicators.astype(bool), indicators.astype(str), indicators.tolist()):
        assert_array_equal(label_kernel(same).gram(), labels.gram())
    assert [found.tolist() for found in labels.classes] == [[0, 1]] * 3
    assert labels.vectors.shape == (5, 3)  # one column is enough for two classes
    columns = [["a", "b", "b", "a"], [0.5, 2.0, 1.0, 7.0], [1, 2, 3, 3]]
    for y in (np.array(columns, dtype=object).T, [list(row) for row in zip(*columns, strict=True)]):
        assert_allclose(label_kernel(y).gram(), sum_of_kernels(columns), rtol=1e-12, atol=1e-14)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"grade": pandas.Categorical([1.5, 2.5, 2.5, 1.5]), "dose": columns[1]})
    assert_allclose(label_kernel(frame).gram(), sum_of_kernels(columns[:2]), rtol=1e-12, atol=1e-14)


def test_numbers_share_one_gaussian_and_have_no_units():
    Y = np.column_stack([TABLE[name] for name in NUMBER_COLUMNS])
    labels = label_kernel(Y)
    assert labels.name == "regression"
    assert_allclose(labels.gram(), regression_gram(((Y - Y.mean(axis=0)) / Y.std(axis=0)).tolist()), rtol=1e-12)
    assert_allclose(label_kernel(Y * [1e-200, 1e200] + [0.0, 1e203]).gram(), labels.gram(), rtol=1e-9)


def test_a_constant_output_adds_nothing():
    y = np.array([["a", "x", 1], ["a", "y", 1], ["a", "y", 1], ["a", "x", 1]], dtype=object)
    assert_allclose(label_kernel(y).gram(), label_kernel(y[:, 1], "multioutput").gram())
    with_number = np.array([["x", 1.5], ["y", 1.5], ["y", 1.5], ["x", 1.5]], dtype=object)
    assert_allclose(label_kernel(with_number).gram(), label_kernel(y).gram())
    numbers = np.array([[0.5, 0.1], [1.5, 0.1], [4.0, 0.1], [2.25, 0.1]])
    for weights in (None, np.arange(1.0, 5.0)):
        alone = label_kernel(numbers[:, 0], sample_weight=weights).gram()
        assert_allclose(label_kernel(numbers, sample_weight=weights).gram(), alone, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:column 'site' of y has the class 'c' once")
@pytest.mark.parametrize("statistic", ["unbiased", "biased"])
@pytest.mark.parametrize("names", [CLASS_COLUMNS, NUMBER_COLUMNS, list(TABLE)], ids=["classes", "numbers", "mixed"])
def test_weights_of_several_outputs_are_repetitions(names, statistic):
    pandas = pytest.importorskip("pandas")
    frame, index = pandas.DataFrame(TABLE)[names], np.repeat(np.arange(7), FREQUENCIES)
    frame.loc[2, [name for name in names if name in NUMBER_COLUMNS]] = 1e200  # absent: its weight is zero
    weighted, repeated = label_kernel(frame, sample_weight=FREQUENCIES), label_kernel(frame.iloc[index])
    assert weighted.name == repeated.name
    assert_allclose(weighted.gram()[np.ix_(index, index)], repeated.gram(), rtol=1e-11, atol=1e-14)
    x = np.arange(7.0) ** 2
    expected = hsic(x[index], frame.iloc[index], statistic=statistic)
    assert_allclose(hsic(x, frame, statistic=statistic, sample_weight=FREQUENCIES), expected, rtol=1e-10)


def test_errors_name_the_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE)
    frame.loc[3, "dose"] = np.nan
    for columns in (frame, frame[NUMBER_COLUMNS]):
        with pytest.raises(ValueError, match=r"y has 1 entries that are NaN or infinite, .* row 3, column 'dose'"):
            label_kernel(columns)
    frame = pandas.DataFrame(TABLE).astype({"site": object})
    frame.loc[5, "site"] = None
    with pytest.raises(ValueError, match=r"y has 1 missing values .* in row 5, column 'site'"):
        label_kernel(frame)
    frame.loc[5, "site"] = 3
    with pytest.raises(ValueError, match="column 'site' of y has labels that cannot be sorted"):
        label_kernel(frame)
    dates = pandas.DataFrame({"when": pandas.to_datetime(["2020-01-01", "2020-01-02"]), "dose": [1.5, 2.0]})
    with pytest.raises(TypeError, match="column 'when' of y has dtype datetime64"):
        label_kernel(dates)
    with pytest.raises(TypeError, match=r"column 1 of y has dtype object \(first value Decimal\('1'\)\)"):
        label_kernel([["a", Decimal(1)], ["b", Decimal(2)]])


@pytest.mark.parametrize("kernel", ["auto", "multiclass"])
def test_classes_of_nearly_every_sample_take_no_memory(kernel):
    y = np.arange(60_000) % 34_000
    told = r"y has 34000 classes in 60000 samples, too many for a column each; accepted: fewer, target_kernel='delta'"
    with pytest.raises(ValueError, match=told):
        label_kernel(np.char.add("c", y.astype(str)), kernel)


@pytest.mark.parametrize("offset", [2**53, 2**62])
@pytest.mark.parametrize("columns", [1, 2])
def test_large_whole_numbers_are_labels_up_to_an_offset(offset, columns):
    y = np.random.default_rng(0).integers(0, 200, (60, columns)).squeeze()
    large, small = label_kernel(y + offset, "regression"), label_kernel(y, "regression")
    np.testing.assert_allclose(large.gram(), small.gram(), atol=1e-9)
