"""FeatureSelector: a selector with the defaults of the command, which summarises and reports its selection."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bahsic.options import recorded_options
from bahsic.selection.selectors import BAHSIC


@dataclass(eq=False, repr=False)
class FeatureSelector(BAHSIC):
    """Select the few features that predict the target.

    The number of features and the kernel are chosen by how well they predict held-out samples. The result is that of
    the command ``bahsic select``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default="auto"
        "auto" is the smallest number whose held-out score is within one standard error of the best; otherwise as for
        `BAHSIC`.
    kernel : str or Kernel, default="auto"
        "auto" is the one of the Gaussian, Laplacian and linear kernels that predicts best; otherwise as for `BAHSIC`.
    target_kernel, categorical_features, missing, identifiers, feature_groups, keep
        As for `BAHSIC`.
    cv, n_jobs, random_state, checkpoint, verbose
        As for `BAHSIC`.

    Attributes
    ----------
    support_, ranking_, n_features_, elimination_order_, scores_, path_, columns_, leaks_
        As for `BAHSIC` with ``criterion="prediction"``.
    predictability_, predictability_error_, score_, score_name_, n_folds_, n_judged_, selection_frequencies_, predicts_
        As for `BAHSIC`.
    kernel_, target_kernel_, block_size_, n_features_in_, feature_names_in_
        As for `BAHSIC`.

    See Also
    --------
    BAHSIC : The paper's algorithm, with all its parameters.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bahsic import FeatureSelector
    >>> X, y = load_diabetes(return_X_y=True)
    >>> selector = FeatureSelector().fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1, 2, 3, 6, 8])
    >>> round(selector.predictability_, 2)
    0.49
    """

    n_features_to_select: float | str | None = "auto"
    _: KW_ONLY
    kernel: Any = "auto"
    cv: Any = "auto"

    # Not to be chosen.
    step: float = field(default=0.1, init=False)
    criterion: Any = field(default="prediction", init=False)
    ridge: Any = field(default="auto", init=False)
    statistic: str = field(default="unbiased", init=False)
    standardize: bool = field(default=True, init=False)
    standard_errors: bool = field(default=False, init=False)
    block_size: int | str | None = field(default="auto", init=False)
    executor: Any = field(default=None, init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select the features; see `BAHSIC.fit`.

        The selector keeps references to X and y for `summary` and `report`; they are not pickled.
        """
        super().fit(X, y, sample_weight=sample_weight, groups=groups)
        self._fitted_to = X, y
        self.__dict__.pop("_pairs", None)
        return self

    def summary(self) -> Any:
        """Return the features as a pandas frame, the selected ones first.

        Returns
        -------
        DataFrame
            A row for each feature that was not ignored, indexed by rank:

            - ``selected``: whether it was selected; False for all if nothing predicts the target. A column ``kept``
              then says which features `transform` keeps, so that pipelines still run.
            - ``worth``: R2 lost without a selected feature, or gained with another one; NaN if it was not measured.
            - ``alone``: R2 of a selected feature by itself.
            - ``folds``: the number of folds that selected it.
            - ``partner`` and ``together``: the feature that it works with best, and their interaction, see
              `interactions`.
        """
        import pandas as pd

        from bahsic.report.schema import candidates

        result = self._result()
        rows, predicts = candidates(result), result["predicts"] is not False
        known = {"worth": "relevance", "alone": "alone", "partner": "partner", "together": "together"}
        table: dict[str, Any] = {name: [row[name] for row in rows] for name in ("feature", "selected")}
        table |= {name: [row[key] if predicts else None for row in rows] for name, key in known.items()}
        shares = [row["frequency"] if predicts else None for row in rows]
        table["folds"] = [None if share is None else round(self.n_folds_ * share) for share in shares]
        table |= {name: np.array(table[name], dtype=np.float64) for name in ("worth", "alone")}
        table |= {} if predicts else {"kept": [row["feature"] in result["kept"] for row in rows]}
        order = ["feature", "selected", "worth", "alone", "folds", "partner", "together", "kept"]
        ranks = pd.Index([row["rank"] for row in rows], name="rank")
        return pd.DataFrame({name: table[name] for name in order if name in table}, index=ranks)

    def report(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write a report of the selection as a web page, and a CSV table of all features next to it.

        Parameters
        ----------
        path : path-like
            The page, a self-contained HTML file. Existing files are replaced.

        Returns
        -------
        list of Path
            The page and the table.
        """
        from bahsic.report import write_report

        return write_report(self._result(), path)

    def _result(self) -> dict[str, Any]:
        from bahsic.report.result import selection_result
        from bahsic.report.selector import feature_names

        check_is_fitted(self, "support_")
        if "_fitted_to" not in vars(self):
            raise ValueError("the selector is from a pickle, which has no data; accepted: one that was just fitted")
        X, y = self._fitted_to
        record = {"name": None, "target": getattr(y, "name", None), "target_kernel": self.target_kernel_}
        record |= {"n_samples": len(y), "n_features": self.n_features_in_}
        parameters = {option.name: getattr(self, option.name) for option in recorded_options()}
        groups = None if self.feature_groups is None else list(np.asarray(self.feature_groups))
        return selection_result(
            self, X, y, feature_names(self), groups=groups, input=record, parameters=parameters, seed=0
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_fitted_to"}
