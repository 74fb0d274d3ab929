import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bahsic import BAHSIC
from bahsic.kernels import Gaussian, label_kernel

FIELDS = [("event", bool), ("time", float)]


def subjects(event, time):
    return np.array(list(zip(event, time, strict=True)), dtype=FIELDS)


def random_subjects(m=60, seed=0, n_times=12):
    """Subjects with ties, about a third of them censored."""
    rng = np.random.default_rng(seed)
    return subjects(rng.random(m) < 0.65, rng.integers(0, n_times, m) / 4)


def survival_vectors(y, sample_weight=None):
    return label_kernel(y, "survival", sample_weight).values


def squared_distances(y, sample_weight=None):
    V = survival_vectors(y, sample_weight)
    return np.square(V[:, None] - V).sum(axis=2)


def by_definition(y):
    """Squared distances with loops over the event times, the risk sets counted one by one."""
    times, survival, before, atoms = sorted({t for e, t in y.tolist() if e}), {}, 1.0, {}
    for t in times:
        at_risk = sum(time >= t for _, time in y.tolist())
        deaths = sum(event and time == t for event, time in y.tolist())
        survival[t] = before * (1 - deaths / at_risk)
        atoms[t] = before - survival[t]
        before = survival[t]

    def curve(event, time, u):
        if event:
            return float(u < time)
        known = min([survival[t] for t in times if t <= time], default=1.0)
        return 1.0 if u <= time else survival[u] / known

    def distance(a, b):
        return sum((curve(*a, u) - curve(*b, u)) ** 2 * atoms[u] for u in times)

    return [[distance(a, b) for b in y.tolist()] for a in y.tolist()]


@pytest.mark.parametrize("seed", range(5))
def test_definition(seed):
    y = random_subjects(seed=seed)
    assert_allclose(squared_distances(y), by_definition(y), rtol=1e-10, atol=1e-14)


def test_the_kernel():
    y = random_subjects()
    labels = label_kernel(y)
    D = np.array(by_definition(y))
    distances = np.sqrt(D[np.triu_indices(len(y), 1)])
    assert labels.name == "survival"
    assert labels.vectors is None
    assert isinstance(labels.kernel, Gaussian)
    assert_allclose(labels.gram(), np.exp(-D / (2 * np.median(distances) ** 2)), rtol=1e-10)
    assert_array_equal(label_kernel(y, "survival").gram(), labels.gram())


@pytest.mark.parametrize(("m", "n_times"), [(60, 12), (2000, 10**6)], ids=["ties", "shared columns"])
def test_weights_are_repetitions(m, n_times):
    y = random_subjects(m, n_times=n_times)
    weights = np.random.default_rng(2).integers(0, 4, m)
    index = np.repeat(np.arange(m), weights)
    assert_allclose(survival_vectors(y, weights)[index], survival_vectors(y[index]), rtol=1e-12, atol=1e-15)
    y = subjects([True, True, False, True, False], [1, 2, 2.5, 3, 4])
    assert np.isfinite(survival_vectors(y, [1e-30, 1e30, 1e-30, 1e-30, 1.0])).all()
    with pytest.raises(ValueError, match="y has no event"):
        label_kernel(subjects([True, False], [1, 2]), sample_weight=[0, 1])


@pytest.mark.parametrize("m", [900, 1500, 4000])
def test_many_event_times_share_columns(m):
    y = random_subjects(m, n_times=10**6)
    parts = np.random.default_rng(4).choice(m, 80, replace=False)
    V = survival_vectors(y)
    lost = exact_distances(y, parts) - np.square(V[parts][:, None] - V[parts]).sum(axis=2)
    assert V.shape[1] <= 512
    assert lost.min() >= -1e-12
    assert 1e-4 < lost.max() <= 1 / 256
    assert lost.mean() < 1 / 1024


def exact_distances(y, parts):
    """Squared distances of some of many subjects: all event times, without sharing."""
    times = np.unique(y["time"][y["event"]])
    at_risk = (y["time"] >= times[:, None]).sum(axis=1)
    deaths = (y["time"][y["event"]] == times[:, None]).sum(axis=1)
    S = np.cumprod(1 - deaths / at_risk)
    atoms = -np.diff(S, prepend=1.0)
    curves = []
    for event, time in y[parts].tolist():
        known = np.append(1.0, S)[np.searchsorted(times, time, side="right")]
        curves.append(np.where(times < time, 1.0, 0.0) if event else np.where(times <= time, 1.0, S / known))
    C = np.array(curves) * np.sqrt(atoms)
    return np.square(C[:, None] - C).sum(axis=2)


@pytest.mark.parametrize("kind", [int, float, np.uint8, bool])
@pytest.mark.parametrize("order", [["died", "days"], ["days", "died"]])
def test_events_of_any_type_in_any_place(kind, order):
    y = random_subjects()
    columns = {"died": y["event"].astype(kind), "days": y["time"] + 1}
    expected = label_kernel(y).gram()
    fields = np.rec.fromarrays([columns[name] for name in order], names=order)
    assert_array_equal(label_kernel(fields).gram(), expected)
    ones = subjects([True, False, True, True], [1, 1, 0, 1])  # times of zero and one come second
    array = np.column_stack([ones["event"], ones["time"]])
    assert_array_equal(label_kernel(array, "survival").gram(), label_kernel(ones).gram())
    pairs = [[columns[name][i].item() for name in order] for i in range(len(y))]
    for array in (np.column_stack([columns[name] for name in order]), np.array(pairs, dtype=object)):
        assert_array_equal(label_kernel(array, "survival").gram(), expected)
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame({name: columns[name] for name in order})
        assert_array_equal(label_kernel(frame, "survival").gram(), expected)


@pytest.mark.parametrize("kind", [int, float, bool])
def test_a_hint_where_two_outputs_look_like_survival(kind):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    y = random_subjects()
    X = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame({"days": y["time"] + 1, "died": y["event"].astype(kind)})
    hint = r"y looks like survival times \(column {}\) with their events \(column {}\) .*target_kernel='survival'"
    for labels, names in ((frame, ("'days'", "'died'")), (frame.to_numpy(), (0, 1)), (frame[["died", "days"]], None)):
        with pytest.warns(UserWarning, match=hint.format(*(names or ("'days'", "'died'")))):
            assert BAHSIC(2).fit(X, labels).target_kernel_ == "multioutput"
    for name in ("survival", "multioutput"):
        assert BAHSIC(2, target_kernel=name).fit(X, frame).target_kernel_ == name


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1.5, -2.0, 3.0, 4.0], "b": [0, 1, 1, 0]},
        {"a": [1.5, 2.5, 3.0, 4.0], "b": [0, 1, 2, 0]},
        {"a": [1.5, 2.5, 3.0, 4.0], "b": list("xyyx")},
        {"a": [1.5, 2.5, 3.0, 4.0], "b": [0, 1, 1, 0], "c": [1, 0, 1, 0]},
        {"a": [1, 0, 1, 1], "b": [0, 1, 1, 0]},
    ],
)
def test_no_hint_for_other_outputs(columns):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    assert label_kernel(pd.DataFrame(columns)).doubt is None


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (subjects([False, False], [1, 2]), "y has no event among 2 subjects"),
        (subjects([True, True], [1, -2]), r"y has the time -2.0 in column 'time'; accepted: times from 0 on"),
        (subjects([True, True], [1, np.nan]), r"y has 1 entries that are NaN .*row 1, column 'time'"),
        (np.array([(3, 2.0)], [("e", int), ("t", float)]), r"columns 'e' \(int64\), 't' \(float64\); accepted"),
        (np.array([(True, "a")], [("e", bool), ("t", "U1")]), "accepted for survival: two columns, the event"),
        (np.array([(True, 1.0, 2.0)], [("e", bool), ("t", float), ("u", float)]), "y has 3 columns; accepted"),
        (np.ones(4), "y has type ndarray, no fields; accepted for survival"),
        (np.full((4, 2), 2.0), r"y has the columns 0 \(float64\), 1 \(float64\); accepted for survival"),
        (np.ones((4, 3)), "y has 3 columns; accepted for survival"),
        ([[1.0, -2.0], [0.0, 1.0]], "y has the time -2.0 in column 1; accepted: times from 0 on"),
    ],
)
def test_bad_survival_times(y, message):
    with pytest.raises(ValueError, match=message):
        label_kernel(y, "survival")
