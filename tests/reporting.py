"""Results of selections as the command prints them, made from data that need no download, and parts of their pages."""

import csv
import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_wine

from bahsic.datasets import make_xor
from command import printed, run


def result_of(columns, target, *options, name="data.csv"):
    """The result of `bahsic select` for columns by name, one of them the target."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*map(list, columns.values()), strict=True))
        return printed("select", path, "--target", target, *options)


def named(X, names=None):
    """Columns x1, x2, ... of an array, or with other names."""
    return dict(zip(names or [f"x{j + 1}" for j in range(X.shape[1])], X.T.tolist(), strict=True))


def page_of(result):
    """The page that `bahsic report` makes of a result."""
    with TemporaryDirectory() as folder:
        source, page = Path(folder, "result.json"), Path(folder, "page.html")
        source.write_text(json.dumps(result))
        status, _, err = run("report", source, "-o", page)
        assert status == 0, err
        return page.read_text(encoding="utf-8")


@cache
def _printed(kind, criterion, *options):
    words = ("--criterion", criterion, "--kernel", "gaussian", "--standard-errors", *options)
    if kind == "wine":
        data = load_wine()
        return json.dumps(
            result_of({**named(data.data, data.feature_names), "cultivar": data.target}, "cultivar", *words)
        )
    if kind == "noise":
        X, y = noise()
        return json.dumps(result_of({**named(X), "coin": y}, "coin", *words))
    X, y, _ = make_xor(n_samples=200, n_features=22, random_state=0)
    return json.dumps(result_of({**named(X), "same sign": y}, "same sign", "-k", 2, *words, name="xor.csv"))


def wine_result(criterion="hsic"):
    """13 measurements of 178 wines; the number of features is chosen by the search."""
    return json.loads(_printed("wine", criterion))


def xor_result(criterion="hsic", cv="none"):
    """Two features that matter together among 20 of noise."""
    return json.loads(_printed("xor", criterion, "--cv", str(cv)))


def noise_result():
    """A selection that finds nothing."""
    return json.loads(_printed("noise", "prediction"))


def noise():
    """Eight columns that have nothing to do with the labels: each sample occurs with both of them."""
    X = np.random.default_rng(0).normal(size=(30, 8))
    return np.concatenate([X, X]), np.repeat([0, 1], 30)


def synthetic(names, n_selected=1, **changes):
    """A result with a path of every size, made by hand."""
    d, few = len(names), names[:30]
    columns = [{"name": name, "role": "number", "reason": "", "n_missing": 0} for name in names]
    rows = [
        {"feature": name, "column": i, "rank": i + 1, "selected": i < n_selected, "score": 1 / (i + 1)}
        | {"pvalue": 0.5, "group": None, "relevance": None, "frequency": None}
        for i, name in enumerate(names)
    ]
    path = [
        {"n_features": n, "hsic": 1 / n, "standard_error": 0.1 / n, "parameter": 1 / n, "features": [names[n - 1]]}
        for n in range(d, 0, -1)
    ]
    nothing = ("n_folds", "predicts", "pair", "stability", "test", "block_size", "score", "score_name", "n_judged")
    return {
        "schema": "bahsic/1",
        "kind": "select",
        "versions": {"bahsic": "0"},
        "input": {"name": "data.csv", "sha256": "0" * 64, "n_samples": 10, "n_features": d, "target": names[0]},
        "parameters": {"n_features_to_select": n_selected, "method": "backward", "kernel": "gaussian", "step": 0.1},
        "seed": 0,
        "criterion": "hsic",
        "selected": names[:n_selected],
        "kept": [],
        "n_features": n_selected,
        "reason": f"because of {names[0]}",
        "columns": columns,
        "ranking": rows,
        "path": path,
        "redundancy": {"features": few, "table": (0.25 + 0.75 * np.eye(len(few))).tolist()},
        "timing": {"total_seconds": 0.1},
        **dict.fromkeys(("predictability", "predictability_error", *nothing)),
        **dict.fromkeys(("leaks", "views", "near_copies", "interactions"), ()),
        **changes,
    }


def plain(markup):
    """The text of a piece of a page."""
    return unescape(re.sub("<[^>]*>", "", markup)).replace("\xa0", " ")


def title_of(html):
    """The headline of a page."""
    return plain(re.search("<title>(.*?)</title>", html)[1])


def cells_of(html, heading):
    """Texts of a column of the table of features."""
    table = html.split('id="ranking"')[1].split("</table>")[0]
    return [plain(cell) for cell in re.findall(rf'<td[^>]* data-label="{re.escape(heading)}"[^>]*>(.*?)</td>', table)]


def cards_of(html):
    """Sentences of the card of each selected feature, by its name."""
    cards = re.findall(r'<li>\s*<h3><bdi class="name">(.*?)</bdi></h3>(.*?)</li>', html, re.DOTALL)
    sentences = "<p(?: [^>]*)?>(.*?)</p>"
    return {unescape(name): list(map(plain, re.findall(sentences, card, re.DOTALL))) for name, card in cards}


def code_of(html):
    """The Python code and the command that repeat the selection."""
    return list(map(plain, re.findall("<pre[^>]*><code>(.*?)</code></pre>", html, re.DOTALL)))
