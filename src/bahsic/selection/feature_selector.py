"""The front door: a selector with the defaults of the command, that shows and writes what it has found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bahsic.options import recorded_options
from bahsic.selection.selectors import BAHSIC


class FeatureSelector(BAHSIC):
    """Select the few features that predict the target, with everything else chosen by held-out samples.

    The number of features and the kernel are those that predict samples best that took no part in choosing them. The
    defaults are those of ``bahsic select``, and the selection is the same.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default="auto"
        "auto" is the smallest number that predicts as well as any; otherwise as for `BAHSIC`.
    kernel : str or Kernel, default="auto"
        "auto" is the Gaussian, Laplacian or linear kernel, whichever predicts best; otherwise as for `BAHSIC`.
    target_kernel, categorical_features, missing, identifiers, feature_groups, keep, cv, n_jobs, random_state,
    checkpoint, verbose
        As for `BAHSIC`.

    Attributes
    ----------
    support_, ranking_, n_features_, elimination_order_, scores_, path_, columns_, kernel_, target_kernel_,
    block_size_, predictability_, predictability_error_, score_, score_name_, n_folds_, n_judged_,
    selection_frequencies_, predicts_, leaks_, n_features_in_, feature_names_in_
        As for `BAHSIC` with ``criterion="prediction"``.

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

    step = 0.1
    criterion = "prediction"
    ridge = "auto"
    statistic = "unbiased"
    standardize = True
    block_size = "auto"
    executor = None
    standard_errors = False

    def __init__(  # noqa: PLR0913 - what users of tables have to say
        self,
        n_features_to_select: float | str | None = "auto",
        *,
        kernel: Any = "auto",
        target_kernel: Any = "auto",
        categorical_features: Any = "from_dtype",
        missing: str = "neutral",
        identifiers: Any = "drop",
        feature_groups: Any = None,
        keep: Any = None,
        cv: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.categorical_features = categorical_features
        self.missing = missing
        self.identifiers = identifiers
        self.feature_groups = feature_groups
        self.keep = keep
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select the features; see `BAHSIC.fit`.

        The selector refers to X and y from then on, for `summary` and `report`; pickles don't have them.
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
            A row for each feature that took part: its rank; whether it was selected; its worth, the R2 that would be
            lost without it or added by it, NaN where it was not measured; in how many folds it was chosen. For selected
            ones also R2 with it alone, and the partner that it works with, see `interactions`. Where nothing predicts
            the target no feature is selected or has a worth, and a column says which ones are kept so that pipelines
            go on.
        """
        import pandas as pd

        from bahsic.report.headline import findings
        from bahsic.report.roles import used_rows

        rows = used_rows(findings(self._result()))
        folds = [None if row["frequency"] is None else round(self.n_folds_ * row["frequency"]) for row in rows]
        named = {"feature": "feature", "selected": "selected", "worth": "relevance", "alone": "alone"}
        table: dict[str, Any] = {name: [row[key] for row in rows] for name, key in named.items()}
        table |= {"folds": folds, **{name: [row[name] for row in rows] for name in ("partner", "together")}}
        if not getattr(self, "predicts_", True):
            table["kept"] = [bool(self.support_[row["column"]]) for row in rows]
        table |= {name: np.array(table[name], dtype=np.float64) for name in ("worth", "alone")}
        return pd.DataFrame(table, index=pd.Index([row["rank"] for row in rows], name="rank"))

    def report(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write a page about the selection, and beside it a table of all features.

        Parameters
        ----------
        path : path-like
            The page, an HTML file that needs nothing else. Existing files are replaced.

        Returns
        -------
        list of Path
            The page and the table.
        """
        from bahsic.report import write_report

        return write_report(self._result(), path)

    def _result(self) -> dict[str, Any]:
        from bahsic.report.result import selection_result

        check_is_fitted(self, "support_")
        if "_fitted_to" not in vars(self):
            raise ValueError("the selector was pickled, which leaves out the data; accepted: one that was fitted here")
        X, y = self._fitted_to
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        record = {"name": None, "target": getattr(y, "name", None), "target_kernel": self.target_kernel_}
        record |= {"n_samples": len(y), "n_features": self.n_features_in_}
        parameters = {option.name: getattr(self, option.name) for option in recorded_options()}
        groups = None if self.feature_groups is None else list(np.asarray(self.feature_groups))
        return selection_result(
            self, X, y, [str(name) for name in names], groups=groups, input=record, parameters=parameters, seed=0
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_fitted_to"}
