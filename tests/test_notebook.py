"""What a notebook shows of a selector."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from bahsic import BAHSIC, BAHSICCV, FOHSIC
from bahsic.datasets import make_xor

X, Y, _ = make_xor(n_samples=60, n_features=30, random_state=0)
HOSTILE = "<script>alert(1)</script>"


def html_of(selector):
    """The same by both protocols."""
    bundle = selector._repr_mimebundle_()
    assert bundle["text/plain"] == repr(selector)
    # scikit-learn numbers the elements of its pictures.
    theirs, ours = (
        re.sub(r"sk-container-id-\d+|sk-estimator-id-\d+", "id", html)
        for html in (bundle["text/html"], selector._repr_html_())
    )
    assert theirs == ours
    return ours


def test_without_a_fit_or_pictures_it_is_that_of_scikit_learn():
    selector = BAHSIC(2)
    assert "bahsic-selection" not in html_of(selector)
    with sklearn.config_context(display="text"):
        assert not hasattr(selector.fit(X, Y), "_repr_html_")
        assert list(selector._repr_mimebundle_()) == ["text/plain"]


@pytest.mark.parametrize("selector", [BAHSIC(25), FOHSIC(2), BAHSICCV(LogisticRegression(), cv=2)])
def test_fitted_selector_shows_its_features_and_path(selector):
    html = html_of(selector.fit(X, Y))
    assert f"{selector.n_features_} of 30 features selected" in html
    listed = [int(j) for j in re.findall(r"<td>x(\d+)</td>", html.partition("bahsic-selection")[2])]
    assert len(listed) == min(20, selector.n_features_)
    assert selector.support_[listed].all()
    worth = getattr(selector, "selector_", selector).scores_[listed]
    assert (np.diff(worth) <= 0).all()
    assert ("and 5 more" in html) == (selector.n_features_ == 25)
    assert html.count('class="chart path"') == 1


def test_prediction_shows_predictability():
    selector = BAHSIC(2, criterion="prediction", cv=5).fit(X[:, :6], Y)
    html = html_of(selector).partition("bahsic-selection")[2]
    reached = f"held-out R² {selector.predictability_:.2f} ± {selector.predictability_error_:.2f}".replace(" ", "\xa0")
    told = html.partition("<p><strong>")[2].partition("</strong></p>")[0]
    assert told.startswith("2 of 6 features")
    assert reached in told.replace(" ", "\xa0")
    assert "Held-out R² against the number of features" in html
    assert f">all 6 features: {selector.path_[0].predictability:.2f}</text>" in html
    assert "HSIC" not in html


def test_names_are_text():
    pandas = pytest.importorskip("pandas", reason="names come with a dataframe")
    frame = pandas.DataFrame(X[:, :3], columns=[HOSTILE, "a&b", "c"])
    html = html_of(BAHSIC(2).fit(frame, Y))
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
