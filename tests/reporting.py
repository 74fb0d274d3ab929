"""Results of selections as the report reads them, made from data that need no download, and parts of its pages."""

import re
import warnings
from html import unescape

import numpy as np
from sklearn.datasets import load_diabetes, load_wine

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.report.result import selection_result


def result_of(X, y, names, wanted, data_name="data.csv", target="class", criterion="hsic", cv=None, **more):
    """The result of BAHSIC as plain data."""
    selector = BAHSIC(n_features_to_select=wanted, criterion=criterion, cv=cv, standard_errors=True).fit(X, y)
    source = {
        "name": data_name,
        "sha256": "0" * 64,
        "n_samples": len(X),
        "n_features": len(names),
        "target": target,
        "target_kernel": selector.target_kernel_,
    }
    parameters = {
        "n_features_to_select": wanted,
        "method": "backward",
        "kernel": "gaussian",
        "step": 0.1,
        "criterion": criterion,
        "cv": cv if cv is None or isinstance(cv, str | int) else None,
    }
    result = selection_result(selector, X, y, names, input=source, parameters=parameters, seed=0, **more)
    return {**result, "timing": {"read_seconds": 0.01, "fit_seconds": 0.1, "total_seconds": 0.11}}


def wine_result(criterion="hsic"):
    """13 measurements of 178 wines; the number of features is chosen by the search."""
    data = load_wine()
    return result_of(data.data, data.target, list(data.feature_names), "auto", "wine.csv", "cultivar", criterion)


def diabetes_result():
    """Ten measurements of 442 patients, and a number to be predicted."""
    data = load_diabetes()
    return result_of(
        data.data, data.target, list(data.feature_names), "auto", "diabetes.csv", "progression", "prediction"
    )


def xor_result(criterion="hsic", cv=None):
    """Two features that matter together among 20 of noise."""
    X, y, _ = make_xor(n_samples=200, n_features=22, random_state=0)
    return result_of(X, y, [f"x{j + 1}" for j in range(22)], 2, "xor.csv", "same sign", criterion, cv)


def noise():
    """Eight columns that have nothing to do with the labels: each sample occurs with both of them."""
    X = np.random.default_rng(0).normal(size=(30, 8))
    return np.concatenate([X, X]), np.repeat([0, 1], 30)


def noise_result():
    """A selection that finds nothing."""
    X, y = noise()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing predicts
        return result_of(X, y, [f"x{j + 1}" for j in range(8)], "auto", "noise.csv", "coin", "prediction")


def result_of_before(criterion="prediction"):
    """A result as versions without cross-fitting made it: leave-one-out R2 along the path, and no measures."""
    result = xor_result(criterion, cv=2)
    for key in ("headline", "predictability", "predictability_error", "score", "score_name", "n_folds", "predicts"):
        del result[key]
    del result["parameters"]["cv"]
    for row in result["ranking"]:
        del row["frequency"]
    for step in result["path"]:
        del step["score"]
    result["reason"] = "2 of 22 features: R2 0.96 (all 22: 0.10)"
    return result


def synthetic(names, n_selected=1, **changes):
    """A result with a path of every size, made by hand."""
    d = len(names)
    rows = [
        {"feature": name, "column": i, "rank": i + 1, "selected": i < n_selected, "score": 1 / (i + 1)}
        for i, name in enumerate(names)
    ]
    for row in rows:
        row |= {"pvalue": 0.5, "group": None}
    path = [
        {"n_features": n, "hsic": 1 / n, "standard_error": 0.1 / n, "parameter": 1 / n, "features": [names[n - 1]]}
        for n in range(d, 0, -1)
    ]
    few = names[:30]
    table = [[1.0 if i == j else 0.25 for j in range(len(few))] for i in range(len(few))]
    result = {
        "schema": "bahsic/1",
        "kind": "select",
        "versions": {"bahsic": "0"},
        "input": {"name": "data.csv", "sha256": "0" * 64, "n_samples": 10, "n_features": d, "target": names[0]},
        "parameters": {"n_features_to_select": n_selected, "method": "backward", "kernel": "gaussian", "step": 0.1},
        "seed": 0,
        "selected": names[:n_selected],
        "n_features": n_selected,
        "reason": f"because of {names[0]}",
        "ranking": rows,
        "path": path,
        "redundancy": {"features": few, "table": table},
        "test": None,
        "timing": {"total_seconds": 0.1},
    }
    return {**result, **changes}


def title_of(html):
    """The headline of a page."""
    return unescape(re.search("<title>(.*?)</title>", html)[1]).replace("\xa0", " ")


def cells_of(html, heading):
    """Texts of a column of the table of features."""
    table = html.split('id="ranking"')[1].split("</table>")[0]
    cells = re.findall(rf'<td[^>]* data-label="{re.escape(heading)}"[^>]*>(.*?)</td>', table)
    return [unescape(re.sub("<[^>]*>", "", cell)) for cell in cells]


def cards_of(html):
    """Sentences of the card of each selected feature, by its name."""
    cards = re.findall(r'<li>\s*<h3><bdi class="name">(.*?)</bdi></h3>(.*?)</li>', html, re.DOTALL)
    return {
        unescape(name): [
            unescape(re.sub("<[^>]*>", "", line)).replace("\xa0", " ")
            for line in re.findall("<p(?: [^>]*)?>(.*?)</p>", card, re.DOTALL)
        ]
        for name, card in cards
    }
