"""Results of selections as the report reads them, made from data that need no download."""

from sklearn.datasets import load_diabetes, load_wine

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.report.result import selection_result


def result_of(X, y, names, wanted, data_name="data.csv", target="class", criterion="hsic", **more):
    """The result of BAHSIC as plain data."""
    selector = BAHSIC(n_features_to_select=wanted, criterion=criterion, standard_errors=True).fit(X, y)
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
    }
    result = selection_result(selector, X, y, names, input=source, parameters=parameters, seed=0, **more)
    return {**result, "timing": {"read_seconds": 0.01, "fit_seconds": 0.1, "total_seconds": 0.11}}


def wine_result():
    """13 measurements of 178 wines; the number of features is chosen by the search."""
    data = load_wine()
    return result_of(data.data, data.target, list(data.feature_names), "auto", "wine.csv", "cultivar")


def diabetes_result():
    """Ten measurements of 442 patients, and a number to be predicted."""
    data = load_diabetes()
    return result_of(
        data.data, data.target, list(data.feature_names), "auto", "diabetes.csv", "progression", "prediction"
    )


def xor_result(criterion="hsic"):
    """Two features that matter together among 20 of noise."""
    X, y, _ = make_xor(n_samples=200, n_features=22, random_state=0)
    return result_of(X, y, [f"x{j + 1}" for j in range(22)], 2, "xor.csv", "same sign", criterion)
