"""Pictures: what is drawn where, in the order and with the names that it should have, and legible."""

import io
import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from bahsic import BAHSIC, BAHSICCV, FOHSIC
from bahsic.datasets import make_xor
from bahsic.plotting import plot_bands, plot_path, plot_ranking, plot_redundancy, plot_scores, plot_stability

HOSTILE = [
    "$a$",
    r"x$\frac{",
    r"\$",
    "a\nb\tc\r\x00",
    "שלום עולם",
    "مرحبا",
    "😀👩\u200d👩\u200d👧",
    "<script>alert(1)</script>",
    "漢字",
    "\u202eabc\x07\x1b[31m",
    r"_^{}%#&~\input{x}",
    "\ud800x",
    "",
    "x" * 10_000,
]


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")  # of other tests in the same process
    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def xor():
    X, y, _ = make_xor(n_samples=60, n_features=30, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def backward(xor):
    return BAHSIC(2, standard_errors=True).fit(*xor)


def names_on(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def luminance(colour):
    from matplotlib.colors import to_rgb

    return float(np.dot(to_rgb(colour), [0.2126, 0.7152, 0.0722]))


def drawn(ax):
    ax.figure.savefig(io.BytesIO(), format="png")
    return ax


def overlaps(axis):
    """Pairs of labels that share pixels, of those that were drawn last."""
    boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
    return [(i, j) for i, a in enumerate(boxes) for j, b in enumerate(boxes[:i]) if a.overlaps(b)]


# The path


def test_path_is_drawn_as_recorded_and_the_selected_number_is_marked(plt, backward, xor):
    ax = plot_path(backward)
    steps = sorted(backward.path_, key=lambda step: step.n_features)
    sizes, hsic = [step.n_features for step in steps], [step.hsic for step in steps]
    assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([sizes, hsic]))
    low, high = ({step.hsic + sign * step.standard_error for step in steps} for sign in (-1, 1))
    corners = set(ax.collections[0].get_paths()[0].vertices[:, 1])
    assert low | high <= corners <= low | high | {hsic[0], hsic[-1]}
    assert ax.get_xscale() == "log"  # 1 to 30
    line, marker = ax.lines[1:]
    assert set(line.get_xdata()) == {2}
    assert_array_equal(marker.get_xydata(), [[2, hsic[sizes.index(2)]]])
    assert (ax.texts[0].get_text(), ax.get_title()) == ("2 features selected", "")
    ax = plot_path(BAHSIC(29, step=0.5).fit(*xor))  # a number that is not on the path
    assert [set(line.get_xdata()) for line in ax.lines[1:]] == [{29}]
    assert not ax.collections  # no standard errors, no band
    assert ax.get_legend() is None


@pytest.mark.parametrize("number", [1, 29])
def test_the_annotation_is_inside(plt, xor, number):
    ax = drawn(plot_path(BAHSIC(number).fit(*xor)))
    box, frame = ax.texts[0].get_window_extent(), ax.get_window_extent()
    assert frame.x0 < box.x0
    assert box.x1 < frame.x1
    data = ax.transData.transform(ax.lines[0].get_xydata())
    assert box.y0 > data[:, 1].max()


def test_the_title_is_the_headline(plt, xor):
    selector = BAHSIC("auto").fit(*xor)
    ax = plot_path(selector)
    title = ax.get_title().replace("\n", " ").replace("\xa0", " ")
    reached = f"{selector.predictability_:.2f} ± {selector.predictability_error_:.2f}"
    assert title == f"2 of 30 features predict the target: ROC AUC {selector.score_:.2f}, held-out R² {reached}"
    drawn(ax)
    assert ax.title.get_window_extent().width < ax.get_window_extent().width


@pytest.mark.parametrize("selector", [BAHSIC(3, cv=3), BAHSIC("auto"), BAHSIC(3, kernel="auto")])
def test_predictability_is_drawn_where_it_is_recorded(plt, xor, selector):
    X, y = xor
    steps = sorted(selector.fit(X[:, :6], y).path_, key=lambda step: step.n_features)
    ax = plot_path(selector)
    assert ax.get_ylabel() == "held-out R²"
    assert_array_equal(ax.lines[0].get_ydata(), [step.predictability for step in steps])
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert {step.predictability + step.predictability_error for step in steps} <= set(corners)
    ranked = plot_ranking(selector)
    assert ranked.get_xlabel() == "held-out R² down to here"
    assert_array_equal(ranked.lines[0].get_xdata(), [step.predictability for step in steps])


def test_nothing_is_drawn_where_nothing_was_measured(plt, xor):
    with pytest.raises(ValueError, match='accepted: one that was fitted with cv="auto", or with criterion="hsic"'):
        plot_path(BAHSIC(2, criterion="prediction").fit(*xor))


def test_forward_and_cross_validated_paths(plt, xor):
    X, y = xor
    forward = FOHSIC(4).fit(X, y)
    ax = plot_path(forward)
    assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3, 4])
    assert_array_equal(ax.lines[0].get_ydata(), [step.hsic for step in forward.path_])
    assert ax.get_xscale() == "linear"
    from sklearn.neighbors import KNeighborsClassifier

    search = BAHSICCV(KNeighborsClassifier(), step=0.5, cv=2).fit(X, y)
    ax = plot_path(search)
    assert ax.texts[0].get_text().startswith(f"{search.n_features_} feature")
    assert_array_equal(ax.lines[0].get_ydata(), [step.hsic for step in search.selector_.path_][::-1])
    assert len(plot_ranking(search).lines) == 3


@pytest.mark.parametrize(("width", "n_features"), [(2.5, 30), (6.4, 30), (3.0, 400)])
def test_numbers_along_the_path_do_not_overlap(plt, width, n_features):
    rng = np.random.default_rng(0)
    selector = BAHSIC(1, step=0.5).fit(rng.normal(size=(20, n_features)), np.tile([0, 1], 10))
    _, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    plot_path(selector, ax=ax).figure.draw_without_rendering()
    assert not overlaps(ax.xaxis)
    assert len(names_on(ax.xaxis)) > 2


# The ranking


def test_ranking_of_an_elimination(plt, xor):
    selector = BAHSIC(3, step=0.2).fit(*xor)
    ax = plot_ranking(selector, n=25)
    order = selector.elimination_order_[::-1]
    expected = []
    for feature in order[:25]:  # the round in which it left had the smallest subset with it
        (hsic,) = (step.hsic for step in selector.path_ if feature in step.features)
        expected.append(hsic)
    assert_array_equal(ax.lines[0].get_xdata(), expected)
    chosen, others = ax.lines[1:]
    assert_array_equal(chosen.get_ydata(), [0, 1, 2])
    assert_array_equal(others.get_xdata(), expected[3:])
    assert chosen.get_markerfacecolor() != others.get_markerfacecolor() == "white"
    assert names_on(ax.yaxis) == [f"x{j}" for j in order[:25]]
    assert ax.yaxis_inverted()


def test_ranking_of_a_forward_selection(plt, xor):
    pandas = pytest.importorskip("pandas")
    selector = FOHSIC(4).fit(pandas.DataFrame(xor[0], columns=[f"column {j}" for j in range(30)]), xor[1])
    ax = plot_ranking(selector, n=6)
    assert_array_equal(ax.lines[0].get_xdata(), [*(step.hsic for step in selector.path_), np.nan, np.nan])
    assert len(ax.lines) == 2  # no marker for what never entered
    assert names_on(ax.yaxis) == [f"column {j}" for j in selector.selection_order_[:6]]
    assert names_on(plot_ranking(selector, n=1, names=range(30)).yaxis) == [str(selector.selection_order_[0])]
    for kind in (BAHSIC, FOHSIC):  # all features are kept
        selector = kind(30, keep=range(30)).fit(*xor)
        (step,) = selector.path_
        assert_array_equal(plot_path(selector).lines[0].get_xydata(), [[30, step.hsic]])
        assert_array_equal(plot_ranking(selector).lines[0].get_xdata(), [step.hsic] * 30)


# Bars


def benjamini_hochberg(pvalues, level):
    """By definition: all up to the last of the sorted ones with p_(k) <= k level / n."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    last = max((k for k, j in enumerate(order, 1) if pvalues[j] <= k * level / len(pvalues)), default=0)
    return [j in order[:last] for j in range(len(pvalues))]


@pytest.mark.parametrize("seed", range(5))
def test_significance(plt, seed):
    rng = np.random.default_rng(seed)
    pvalues = np.concatenate([rng.uniform(size=30), rng.uniform(high=0.01, size=5)])
    ax = plot_scores(np.arange(35.0)[::-1], pvalues, n=35, level=0.1)
    assert [not bar.get_hatch() for bar in ax.patches] == benjamini_hochberg(pvalues.tolist(), 0.1)


def test_scores(plt):
    scores, pvalues = [0.1, 0.5, -0.2, 0.5, 0.3], [0.02, 0.001, 1.0, 0.3, 0.029]
    ax = plot_scores(scores, pvalues, n=4)
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.5, 0.3, 0.1]
    assert [bar.get_y() + bar.get_height() / 2 for bar in ax.patches] == [0, 1, 2, 3]
    assert names_on(ax.yaxis) == ["x1", "x3", "x4", "x0"]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True, False, False]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["significant (0.05)", "not significant"]
    solid, hatched = (luminance(ax.patches[i].get_facecolor()[:3]) for i in (0, 1))
    assert hatched - solid > 0.4  # in grey too
    ax = plot_scores([1.0, 3.0, 2.0], names=["a", "b", "c"])
    assert names_on(ax.yaxis) == ["b", "c", "a"]
    assert ax.get_legend() is None
    assert not any(bar.get_hatch() for bar in ax.patches)


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_scores_of_a_selector(plt, xor, criterion):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = pd.DataFrame(xor[0][:, :6], columns=list("abcdef"))
    selector = BAHSIC(2, criterion=criterion).fit(X, xor[1])
    order = np.argsort(-selector.scores_, kind="stable")[:4]
    ax = plot_scores(selector, n=4)
    assert [bar.get_width() for bar in ax.patches] == selector.scores_[order].tolist()
    assert names_on(ax.yaxis) == X.columns[order].tolist()
    assert [not bar.get_hatch() for bar in ax.patches] == selector.support_[order].tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["selected", "not selected"]
    assert ax.get_xlabel().startswith("HSIC lost" if criterion == "hsic" else "R² lost")
    assert names_on(plot_scores(selector, names=list("uvwxyz"), n=4).yaxis) == ["uvwxyz"[j] for j in order]
    search = BAHSICCV(GaussianNB(), step=0.5).fit(X, xor[1])
    expected = sorted(search.selector_.scores_.tolist(), reverse=True)
    assert [bar.get_width() for bar in plot_scores(search).patches] == expected


def test_stability(plt):
    ax = plot_stability([0.6, 0.0, 1.0, 0.59], names=list("abcd"), threshold=0.6)
    assert [bar.get_width() for bar in ax.patches] == [1.0, 0.6, 0.59, 0.0]
    assert names_on(ax.yaxis) == ["c", "a", "d", "b"]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, False, True, True]
    assert set(ax.lines[0].get_xdata()) == {0.6}
    assert ax.get_xlim() == (0, 1)


# Heat maps


def blocks(k, seed=0):
    """Similarities of k features of three kinds in random order, and the kinds."""
    kinds = np.random.default_rng(seed).permutation(np.arange(k) % 3)
    table = np.where(kinds[:, None] == kinds, 0.9, 0.1)
    np.fill_diagonal(table, 1)
    return table, kinds


@pytest.mark.parametrize("k", [1, 9, 20, 250])
def test_near_duplicates_are_adjacent(plt, k):
    table, kinds = blocks(k)
    ax = plot_redundancy(table, names=[f"{j} of kind {kinds[j]}" for j in range(k)])
    found = np.asarray(ax.images[0].get_array())
    assert np.count_nonzero(np.diff(found[0])) <= 3  # one block of each kind
    assert ax.images[0].get_clim() == (0, 1)
    assert len(ax.figure.axes) == 2  # a colour bar
    if k == 250:  # there is no room for all names
        assert_array_equal(np.sort(found, axis=None), np.sort(table, axis=None))
        return
    assert names_on(ax.xaxis) == names_on(ax.yaxis)
    order = [int(name.split()[0]) for name in names_on(ax.yaxis)]
    assert sorted(order) == list(range(k))
    assert_array_equal(found, table[np.ix_(order, order)])
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written == ({(j, i): f"{value:.2f}" for (i, j), value in np.ndenumerate(found)} if k < 20 else {})


def test_values_are_legible_on_their_cells(plt):
    ax = plot_redundancy(np.minimum.outer(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    cells = ax.images[0].to_rgba(ax.images[0].get_array())
    for text in ax.texts:
        column, row = text.get_position()
        assert abs(luminance(text.get_color()) - luminance(cells[row, column, :3])) > 0.4


def test_colours_rise_in_grey(plt):
    for image in (plot_redundancy(np.eye(2)).images[0], plot_bands([[1.0, 2]], [1], [2, 3]).collections[0]):
        grey = [luminance(colour[:3]) for colour in image.get_cmap()(np.linspace(0, 1, 64))]
        assert (np.diff(grey) > 0).all()
        assert grey[-1] - grey[0] > 0.6


def test_bands(plt):
    lower, upper = np.array([4.0, 8, 12]), np.array([8.0, 12, 20, 30])
    hsic = np.arange(12.0).reshape(3, 4) % 7
    hsic[1:, 0] = hsic[2, 1] = np.nan
    ax = plot_bands(hsic, lower, upper)
    mesh = ax.collections[0]
    assert_array_equal(mesh.get_array().filled(-1), np.where(np.isnan(hsic), -1, hsic).T)
    assert_array_equal(mesh.get_coordinates()[0, :, 0], [2, 6, 10, 14])
    assert_array_equal(mesh.get_coordinates()[:, 0, 1], [6, 10, 16, 25, 35])
    assert {(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines} == {(8.0, 20.0)}
    assert ax.texts[0].get_text() == "8 to 20 Hz: HSIC 6"
    assert "Hz" in ax.get_xlabel()
    assert "Hz" in ax.get_ylabel()
    ax = plot_bands([[-0.2, -0.1], [9.0, -0.3]], [1, 3], [2, 4])  # no maximum where there is no band
    assert ax.texts[0].get_text() == "1 to 4 Hz: HSIC -0.1"
    assert_array_equal(plot_bands([[0.5]], [1], [2]).collections[0].get_coordinates()[0, :, 0], [0.5, 1.5])


# Names


@pytest.mark.parametrize("count", [5, 500])
@pytest.mark.parametrize("size", [(6.4, 4.8), (3.0, 2.2)], ids=["large", "small"])
def test_names_do_not_overlap(plt, count, size):
    names = [f"{j} {'W' * 190} {j}" for j in range(count)]
    figure, axes = plt.subplots(1, 2, figsize=(2 * size[0], size[1]), layout="constrained")
    plot_scores(np.arange(count), np.ones(count), names=names, n=count, ax=axes[0])
    plot_redundancy(np.eye(count), names=names, ax=axes[1])
    figure.draw_without_rendering()
    assert [overlaps(axis) for axis in (axes[0].yaxis, axes[1].xaxis, axes[1].yaxis)] == [[]] * 3
    assert len(names_on(axes[0].yaxis)) > (4 if size != (3.0, 2.2) else 1)


def test_all_names_are_written_where_there_is_room_and_inside_the_figure(plt, backward):
    for ax in (plot_scores(np.arange(40.0), n=30), plot_ranking(backward), plot_stability(np.ones(60), n=50)):
        ax.figure.draw_without_rendering()
        assert len(names_on(ax.yaxis)) == len(ax.patches or ax.lines[0].get_xdata())
    ax = drawn(plot_redundancy(np.eye(5), names=["W" * 200] * 5))
    assert min(min(name.get_window_extent().min) for name in [*ax.get_xticklabels(), *ax.get_yticklabels()]) >= 0
    ax = plot_redundancy(np.eye(500))
    assert len(names_on(ax.yaxis)) < 40
    ax.set_ylim(110.5, 99.5)  # more of them after zooming in
    assert len(names_on(ax.yaxis)) == 11


def test_hostile_names_are_drawn(plt):
    ax = plot_stability(np.linspace(1, 0, len(HOSTILE)), names=HOSTILE)
    drawn(ax)  # warnings about glyphs would be errors
    written = names_on(ax.yaxis)
    assert written[0] == r"\$a\$"
    assert written[3] == "a b c"
    assert written[9] == "abc[31m"
    assert written[11:13] == ["x", "(blank)"]
    assert max(map(len, written)) <= 30
    drawn(plot_redundancy(np.eye(len(HOSTILE)), names=HOSTILE))


# Axes, errors


def calls(backward):
    return [
        lambda ax: plot_path(backward, ax=ax),
        lambda ax: plot_ranking(backward, ax=ax),
        lambda ax: plot_scores([1.0, 2], [0.1, 0.2], ax=ax),
        lambda ax: plot_redundancy(np.eye(2), ax=ax),
        lambda ax: plot_stability([0.5, 1], ax=ax),
        lambda ax: plot_bands([[1.0]], [1], [2], ax=ax),
    ]


def test_given_axes_are_used_and_nothing_else_changes(plt, backward):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    for call in calls(backward):
        figure, (left, right) = plt.subplots(1, 2)
        assert call(right) is right
        assert not left.has_data()
        assert plt.get_fignums() == [figure.number]
        plt.close(figure)
        new = call(None)
        assert new.figure.axes[0] is new
        plt.close(new.figure)
    assert dict(mpl.rcParams) == before


def test_figures_without_pyplot_and_pickled(plt, backward):
    from matplotlib.figure import Figure

    before = plt.get_fignums()
    for call in calls(backward)[1:4]:
        ax = call(Figure(layout="constrained").add_subplot())
        again = pickle.loads(pickle.dumps(ax.figure)).axes[0]
        assert names_on(drawn(again).yaxis) == names_on(drawn(ax).yaxis)
        assert plt.get_fignums() == before


def test_axes_of_another_type_and_no_matplotlib(plt, monkeypatch, backward):
    for call in calls(backward):
        with pytest.raises(TypeError, match="ax is 'here'; accepted: matplotlib Axes"):
            call("here")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in calls(backward):
        with pytest.raises(ImportError, match=r'pip install "bahsic\[plot\]"'):
            call(None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot_path(BAHSIC()), ValueError, r"selector is BAHSIC\(\), not fitted"),
        (lambda: plot_path([1, 2]), TypeError, r"selector is \[1, 2\], not fitted; accepted: a fitted BAHSIC"),
        (lambda: plot_scores([1.0, np.nan]), ValueError, "scores has nan at position 1; accepted: finite"),
        (lambda: plot_scores(BAHSIC()), NotFittedError, "selector is .*, not fitted; accepted: a fitted BAHSIC"),
        (lambda: plot_scores([[1.0]]), ValueError, r"scores has shape \(1, 1\); accepted: one dimension"),
        (lambda: plot_scores(["a"]), TypeError, "scores is .*; accepted: an array of real numbers"),
        (lambda: plot_scores([1j]), TypeError, "scores is .*; accepted: an array of real numbers"),
        (lambda: plot_scores([1.0], [0.1, 0.2]), ValueError, r"pvalues has shape \(2,\); .* length 1"),
        (lambda: plot_scores([1.0], [1.1]), ValueError, "pvalues has 1.1; accepted: numbers between 0 and 1"),
        (lambda: plot_scores([1.0], level=5), ValueError, "level is 5; accepted: a number between 0 and 1"),
        (lambda: plot_scores([1.0], n=0), ValueError, "n is 0; accepted: an int of at least 1"),
        (lambda: plot_redundancy([[1, 0.2]]), ValueError, r"table has shape \(1, 2\)"),
        (lambda: plot_redundancy([[1, 0.5], [0.4, 1]]), ValueError, "table is not symmetric"),
        (lambda: plot_redundancy([[1, np.nan], [np.nan, 1]]), ValueError, "table has nan; accepted: .* 0 and 1"),
        (lambda: plot_stability([0.5, 1.5]), ValueError, "frequencies has 1.5; accepted: numbers between"),
        (lambda: plot_stability([0.5], threshold=-1), ValueError, "threshold is -1; accepted"),
        (lambda: plot_bands([[1.0]], [1, 2], [2]), ValueError, r"hsic has shape \(1, 1\); accepted: \(2, 1\)"),
        (lambda: plot_bands([[np.nan]], [1], [2]), ValueError, r"hsic\[0, 0\] is nan for a band"),
        (lambda: plot_bands([[1.0]], [2], [2]), ValueError, "lower begins at 2, upper ends at 2; accepted: at least"),
        (lambda: plot_bands([[1.0, 1]], [1], [3, 2]), ValueError, r"upper is \[3.0, 2.0\]; accepted: increasing"),
        (
            lambda: plot_scores([0.1, 0.2], names=["a"]),
            ValueError,
            "names has length 1; accepted: 2, one for each feature",
        ),
        (lambda: plot_redundancy(np.eye(2), names="ab"), TypeError, "names is 'ab'; accepted: a sequence of 2 names"),
        (lambda: plot_bands([[1.0]], [-1], [2]), ValueError, r"lower is \[-1.0\]; accepted: .* from 0 on"),
    ],
)
def test_errors_name_the_argument(call, error, message):
    with pytest.raises(error, match=message):
        call()
