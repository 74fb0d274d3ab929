"""Results of selections as the report reads them, made by the public functions from data that need no download."""

import numpy as np
from sklearn.datasets import load_wine

from bahsic import BAHSIC, __version__, hsic_scores, redundancy
from bahsic.datasets import make_xor


def result_of(X, y, names, wanted, data_name="data.csv", target="class", criterion="hsic"):
    """The result of BAHSIC as plain data."""
    selector = BAHSIC(n_features_to_select=wanted, criterion=criterion, standard_errors=True).fit(X, y)
    order = selector.elimination_order_[::-1]
    scores = hsic_scores(X, y)
    alone, pvalues = np.asarray(scores[0]), np.asarray(scores[1])
    chosen = [int(j) for j in order[: selector.n_features_]]
    reason = next((step.reason for step in selector.path_ if step.reason), f"{wanted} features were asked for")
    return {
        "schema": "bahsic/1",
        "kind": "select",
        "versions": {"bahsic": __version__, "numpy": np.__version__},
        "input": {
            "name": data_name,
            "sha256": "0" * 64,
            "n_samples": len(X),
            "n_features": len(names),
            "target": target,
            "target_kernel": selector.target_kernel_,
        },
        "parameters": {
            "n_features_to_select": wanted,
            "method": "backward",
            "kernel": "gaussian",
            "step": 0.1,
            "criterion": criterion,
        },
        "seed": 0,
        "criterion": criterion,
        "kernel": "gaussian",
        "selected": [names[j] for j in chosen],
        "n_features": int(selector.n_features_),
        "reason": reason,
        "ranking": [
            {
                "feature": names[j],
                "column": int(j),
                "rank": rank,
                "selected": bool(rank <= selector.n_features_),
                "score": float(alone[j]),
                "pvalue": float(pvalues[j]),
                "group": None,
                "relevance": float(selector.scores_[j]),
            }
            for rank, j in enumerate(order, start=1)
        ],
        "path": [
            {
                "n_features": step.n_features,
                "hsic": step.hsic,
                "standard_error": step.standard_error,
                "predictability": step.predictability,
                "predictability_error": step.predictability_error,
                "ridge": step.ridge,
                "parameter": step.parameter,
                "features": [names[j] for j in step.features],
            }
            for step in selector.path_
        ],
        "redundancy": {"features": [names[j] for j in chosen], "table": redundancy(X, chosen).tolist()},
        "test": None,
        "timing": {"read_seconds": 0.01, "fit_seconds": 0.1, "total_seconds": 0.11},
    }


def wine_result():
    """13 measurements of 178 wines; the number of features is chosen by the search."""
    data = load_wine()
    return result_of(data.data, data.target, list(data.feature_names), "auto", "wine.csv", "cultivar")


def xor_result(criterion="hsic"):
    """Two features that matter together among 20 of noise."""
    X, y, _ = make_xor(n_samples=200, n_features=22, random_state=0)
    return result_of(X, y, [f"x{j + 1}" for j in range(22)], 2, "xor.csv", "same sign", criterion)
