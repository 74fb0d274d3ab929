"""BAHSIC and FOHSIC, and FeatureSelector with the defaults of the command, which reports its selection."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bahsic.options import recorded_options
from bahsic.selection.base import Selector


class BAHSIC(Selector):
    """Select features by backward elimination with the Hilbert-Schmidt independence criterion (HSIC).

    Each round removes the features without which HSIC between the remaining ones and the labels is highest (the
    paper's algorithm BAHSIC). Every feature is judged together with all the others, so features that matter only in
    combination are found.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to select: a count, a fraction of all, or half of them (None). "auto" takes the smallest
        number that predicts held-out samples about as well as the best one; see Notes.
    step : float or int, default=0.1
        How many features leave in a round: a fraction of those that remain (at least one), or a number.
    kernel : str, Kernel or callable, default="gaussian"
        Kernel on the data; ``"gaussian"`` is ``Gaussian("dimension")``, the paper's gamma = 1/(2 d). A rule for gamma
        is evaluated in each round, for subsets of one feature less. ``"auto"`` takes the kernel that predicts held-out
        samples best: the Gaussian, the Laplacian or, for complete tables of numbers, the linear kernel.
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on the labels, see `bahsic.kernels.label_kernel`; ``"auto"`` chooses by the type of y.
    criterion : {"hsic", "prediction"} or Criterion, default="hsic"
        What the search maximises. "hsic", as in the paper, is the dependence between features and labels.
        "prediction" is the share of the labels' variance that kernel ridge regression on the features explains: a
        feature counts for what the others leave unexplained, and exact copies are one candidate. Pass a
        `bahsic.criteria.Criterion` to use your own, for columns of numbers and without blocks.
    ridge : float or "auto", default="auto"
        Penalty of the regressions, which is multiplied by the number of samples. "auto" takes the one of 0.1, 0.0316,
        ..., 0.0001 with the least leave-one-out error.
    statistic : {"unbiased", "biased"}, default="unbiased"
        The estimate of HSIC.
    standardize : bool, default=True
        Whether to give each number zero mean and unit variance first.
    categorical_features : None, "from_dtype", or array-like of bool, int or str, default="from_dtype"
        Which columns are categories: those of strings, booleans and categorical types, the given ones, both (a list of
        "from_dtype" and columns), or none. On average, a category contributes as much to a squared distance as a
        standardised number does. For the kernels `Gaussian` and `Laplacian`.
    missing : {"neutral", "indicator", "error"}, default="neutral"
        How to treat missing entries (NaN, None, null). "neutral" puts them at the average distance from every other
        value. "indicator" makes them a value of their own, so that being missing may itself matter.
    identifiers : {"drop", "use"} or array-like of bool, int or str, default="drop"
        Whether to ignore columns of a data frame that look like identifiers, or which columns to ignore. Identifiers
        are text of which more than half differs, and whole numbers that count the rows or that nearly all differ under
        a name such as "id". Columns in ``categorical_features`` or ``keep`` are used. Ignored columns rank last.
    feature_groups : array-like of n_features labels, list of lists of columns, or dict, default=None
        Groups of columns that are selected together, such as one-hot columns or gene sets. Numbers of features
        then count groups. gamma is for the columns that are left when a group of mean size leaves.
    keep : str, int or array-like of str, int or bool, default=None
        Columns that are always selected, with their groups. All scores are given these columns, and they are not tested
        for being uninformative.
    cv : int, "auto", splitter, iterable or None, default=None
        Splits into samples that choose the features and held-out samples that judge them: a number of folds, a splitter
        of scikit-learn (with ``fit(X, y, groups=groups)`` if it needs groups), or pairs of indices. "auto" is five
        folds up to 1000 samples and three beyond; with blocks, samples outside the blocks judge. None is "auto" if the
        number of features or the kernel is "auto", and otherwise holds nothing out. With a given number and kernel,
        ``cv`` measures the selection without changing it.
    standard_errors : bool, default=False
        Whether to record the standard error of HSIC in each round, with the criterion "hsic".
    n_jobs : int or None, default=None
        Number of threads. None means as many as BLAS uses, or one if there are few samples. Folds run in parallel,
        each in one thread. The result does not depend on it.
    block_size : int, "auto" or None, default="auto"
        An int B replaces HSIC of all samples by the mean of the unbiased HSIC over disjoint random blocks of B samples.
        This is unbiased but less exact, at a cost that is linear in the number of samples. Each block has its own
        regressions. "auto" uses blocks of 500 beyond 10,000 samples. If regressions are needed (for the criterion
        "prediction" or held-out samples), it uses blocks of 1000 beyond 4000 samples, with regressions in five of
        them. With ``sample_weight`` or the biased statistic, "auto" uses all samples at once, with a warning. None
        always does. Rules for gamma except "dimension" are evaluated on 4096 samples.
    random_state : int, RandomState, Generator or None, default=None
        Seed for drawing the blocks. None draws new ones in each fit, but is 0 with ``block_size="auto"``.
    checkpoint : str, path or None, default=None
        Folder that keeps each finished round and fold. After an interruption, the same fit resumes there and makes the
        same selection. A folder that is damaged or belongs to another fit is refused.
    executor : dask.distributed.Client, str or None, default=None
        A Dask cluster, or the address of its scheduler, that shares the work; the selection is the same. If X is a
        dask array, the current client is used by default.
    verbose : int, default=0
        With 1, a fit of more than two seconds shows a progress bar with the time left on stderr.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the next best one, and so on. Copies rank right behind the column that they
        copy, other ignored columns last.
    elimination_order_ : ndarray of int of shape (n_features,)
        All features, the least relevant first (the paper's S-dagger).
    n_features_ : int
        Number of selected features.
    group_order_ : ndarray of shape (n_groups,)
        With ``feature_groups``, the labels of the groups, the most relevant first.
    path_ : tuple of PathStep
        A record of each round.
    scores_ : ndarray of shape (n_features,)
        Worth of each feature: what would be lost without a selected one, or gained with another one; 0 for ignored
        columns. With the criterion "hsic" it is in units of HSIC, with the kernel of the selection. With "prediction"
        it is leave-one-out R^2, for the selected features and the next 24, on at most 1000 samples, and NaN for the
        rest. For n > 16 selected features and m samples with n m^3 > 1e11, it is the first-order change of the
        explained variance.
    feature_importances_ : ndarray of shape (n_features,)
        ``scores_`` of the selected features and 0 for the others, under the name that scikit-learn's tools look for.
    columns_ : tuple of ColumnRole
        Name, role and reason of each column. Roles are "number", "category" and "date", and for ignored columns
        "identifier", "text", "empty", "constant", "copy" and "uninformative"; see Notes.
    leaks_ : tuple of str
        Names of selected features that look like the labels themselves: they equal the labels up to renaming or a
        monotone function, or one predicts held-out samples by itself with an R^2 of at least 0.99. With the number
        "auto" there is a warning.
    kernel_ : str or Kernel
        The kernel on the data that was used.
    predictability_, predictability_error_ : float
        R^2 of kernel ridge regression on samples that took no part in choosing the features, and its standard error;
        both 0 if nothing predicts the target. This and the next six exist only if samples are held out, see ``cv``.
    score_ : float or None
        The same predictions by a familiar measure; None if no fold has two classes.
    score_name_ : str
        That measure: "ROC AUC" for two classes, "accuracy" for several, "R2" for all else.
    n_folds_ : int
        Number of folds; 1 for held-out samples outside the blocks.
    n_judged_ : int
        Number of samples that were held out in one of them.
    selection_frequencies_ : ndarray of shape (n_features,)
        Share of the folds that selected each feature, with the number of features that was chosen.
    predicts_ : bool
        With the number "auto", whether any subset predicts held-out samples. If not, the best feature is kept
        with a warning.
    target_kernel_ : str
        The kernel on the labels that was used.
    block_size_ : int or None
        Number of samples in a block; None if all samples were used at once.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names, if X has names.

    See Also
    --------
    FeatureSelector : Select for prediction, with everything else chosen on held-out samples.
    FOHSIC : Forward selection.
    sklearn.feature_selection.RFE : Elimination by the weights of an estimator.

    Notes
    -----
    **Cost.** For the Gaussian, Laplacian, linear and polynomial kernels a round costs O(m^2 n) for m samples and n
    remaining features, and the whole elimination with a fraction f O(m^2 d / f). Other kernels take longer. With the
    criterion "prediction", each round costs O(m^3) more.

    **Prediction.** Each round fits a kernel ridge regression to the remaining features. With more than 16 of them, it
    removes those that change the explained variance least to first order, which is HSIC with the residuals in place of
    the labels. With 16 or fewer, the eight best candidates get regressions of their own.

    **"auto".** For each fold, a whole search runs on the other folds, and kernel ridge regression on each subset of its
    path predicts the fold, so no sample judges features that it has helped to choose. The number is the smallest whose
    mean held-out loss is within one standard error of the least, and a search on all samples selects that many
    features. If the mean of the labels predicts as well, or R^2 is less than 1.645 standard errors above zero, nothing
    predicts the target. With the criterion "prediction", selected features whose worth is not positive are then
    removed, in each fold too. Only sizes on the path are compared; a smaller ``step`` gives more of them.

    Beyond 4000 samples one search runs on blocks, and samples outside them judge: at least a fifth of all, but at most
    8000. Kernels are compared on the first folds that have 200 samples together, or beyond 1000 samples on at most
    1000 of the first fold, after a search on 700. As several numbers and kernels are compared, `predictability_` is
    slightly too high; `selection_test` gives a p-value, and `BAHSICCV` chooses the number for an estimator of yours.

    **Ignored columns.** A "copy" equals another column up to scale and shift, or renaming of categories; only with the
    criterion "prediction" and without groups. A column of a data frame is "uninformative" if it does not depend on the
    labels by itself (gamma p-value of HSIC above 5% for categories, 1% for others, divided by the number of columns
    tested) and is of a kind that easily overfits: more than 20 categories, one value in nearly all rows or, with the
    criterion "prediction" and "neutral" missing entries, more than 50% missing. Such a column is lost if it matters
    only in combination with others, unless ``keep`` names it.

    **Weights.** ``sample_weight`` gives HSIC of samples repeated so many times. Regressions and held-out losses weigh
    each sample accordingly, but hold it out as a whole: no copy of a sample predicts another one.

    References
    ----------
    Song, Smola, Gretton, Borgwardt, Bedo: Supervised feature selection via dependence estimation.
    ICML 2007.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    >>> selector = BAHSIC(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1])
    >>> selector.target_kernel_
    'binary'
    """


@dataclass(eq=False, repr=False, kw_only=True)
class FOHSIC(Selector):
    """Select features by forward selection with the Hilbert-Schmidt independence criterion (HSIC).

    Each round adds the features with which HSIC between the selected ones and the labels is highest. This is faster
    than `BAHSIC` if few features are selected, but does not find features that matter only in combination.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        As for `BAHSIC`. The search stops at a number or fraction, and the other features are ranked by what each
        would add next; with None and "auto" it continues to the end.
    step : int or float, default=1
        How many features enter in a round: a number, or a fraction of those that remain (at least one).
    kernel, target_kernel, criterion, ridge, statistic, standardize, categorical_features, missing, identifiers
        As for `BAHSIC`. A rule for gamma is evaluated for subsets of one feature more. Kept columns are
        selected from the beginning.
    feature_groups, keep, cv, standard_errors, n_jobs, block_size, random_state, checkpoint, executor, verbose
        As for `BAHSIC`.

    Attributes
    ----------
    selection_order_ : ndarray of int of shape (n_features,)
        All features, the most relevant first. All others are those of `BAHSIC`, but ``elimination_order_``.

    See Also
    --------
    BAHSIC : Backward elimination.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bahsic import FOHSIC
    >>> X, y = load_iris(return_X_y=True)
    >>> FOHSIC(n_features_to_select=2).fit(X, y).selection_order_
    array([2, 3, 0, 1])
    """

    _forward = True

    step: float = 1


@dataclass(eq=False, repr=False)
class FeatureSelector(BAHSIC):
    """Select the few features that predict the target.

    The number of features and the kernel are chosen by how well they predict held-out samples. Each round removes a
    fifth of the features. The result is that of the command ``bahsic select``. The attributes are those of `BAHSIC`
    with ``criterion="prediction"``. References to X and y are kept for `summary` and `report`; they are not pickled.

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
    array([2, 3, 6, 8])
    >>> round(selector.predictability_, 2)
    0.47
    """

    n_features_to_select: float | str | None = "auto"
    _: KW_ONLY
    kernel: Any = "auto"
    cv: Any = "auto"

    # Not to be chosen.
    step: float = field(default=0.2, init=False)
    criterion: Any = field(default="prediction", init=False)
    ridge: Any = field(default="auto", init=False)
    statistic: str = field(default="unbiased", init=False)
    standardize: bool = field(default=True, init=False)
    standard_errors: bool = field(default=False, init=False)
    block_size: int | str | None = field(default="auto", init=False)
    executor: Any = field(default=None, init=False)

    def _remember(self, X: Any, y: Any) -> None:
        self._fitted_to = X, y
        self.__dict__.pop("_pairs", None)

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
