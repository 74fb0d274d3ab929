"""BAHSIC and FOHSIC: feature selectors for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.selection.base import Selector
from bahsic.selection.units import FeatureUnits

Indices = NDArray[np.intp]


class BAHSIC(Selector):
    """Backward elimination by the Hilbert-Schmidt independence criterion.

    At each round the features leave without which HSIC between the remaining ones and the labels is
    highest (the paper's algorithm BAHSIC). Features that matter only together with others are found,
    because each is judged in the context of all the others.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to select: a count, a fraction of all, or half of them (None). "auto" takes the smallest
        number that predicts held-out samples as well as any; see Notes.
    step : float or int, default=0.1
        Amount that leaves in a round: a fraction of the features that remain (at least one), or a number.
    kernel : str, Kernel or callable, default="gaussian"
        Kernel on the data; ``"gaussian"`` is ``Gaussian("dimension")``, the paper's gamma = 1/(2 d).
        A rule for gamma is evaluated anew in each round, for subsets of one feature less. ``"auto"`` compares the
        Gaussian, the Laplacian and, where all columns are complete numbers, the linear kernel, and takes the one that
        predicts held-out samples best.
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on the labels, see `bahsic.kernels.label_kernel`; ``"auto"`` chooses by the type of y.
    criterion : {"hsic", "prediction"} or Criterion, default="hsic"
        Quantity that the search maximises. "hsic", the paper's, is the dependence between the features and the labels.
        "prediction" is the share of the labels' variance that kernel ridge regression on the features explains:
        a feature counts for what the others leave unexplained, and exact copies are one candidate. See Notes. A
        `bahsic.criteria.Criterion` is one of your own, for columns of numbers; kernel and ridge are then those of the
        regressions that predict held-out samples, and all samples of a search are in one block.
    ridge : float or "auto", default="auto"
        With the criterion "prediction", or where held-out samples are predicted: the penalty of the regression is m
        times the ridge. "auto" takes the one of 0.1, 0.0316, ..., 0.0001 with the least leave-one-out error.
    statistic : {"unbiased", "biased"}, default="unbiased"
        The estimate of HSIC.
    standardize : bool, default=True
        Whether to give each number zero mean and unit variance first.
    categorical_features : None, "from_dtype", or array-like of bool, int or str, default="from_dtype"
        Which columns are categories: those of strings, booleans and categorical types, the given ones, both for
        a list of "from_dtype" and columns, or none. Two different categories contribute to a squared distance so
        much that the mean contribution of the column is that of a standardised number. For the kernels `Gaussian`
        and `Laplacian`.
    missing : {"neutral", "indicator", "error"}, default="neutral"
        What a missing entry (NaN, None, null) is. "neutral": in the middle of its column and, in a direction of
        its own, so far away that two missing entries are as unlike as two others on average. "indicator": a value
        of its own, the same for all samples, so that being missing can be what matters.
    identifiers : {"drop", "use"} or array-like of bool, int or str, default="drop"
        Whether to ignore columns of a data frame that look like identifiers: text of which more than half is
        different, whole numbers that count the rows, or nearly all differ and are called an id; or the columns
        to ignore. One that ``categorical_features`` or ``keep`` names is used. What is left out ranks last and is
        never selected. See `columns_` for what else is left out.
    feature_groups : array-like of n_features labels, list of lists of columns, or dict, default=None
        Groups of columns that enter and leave together, such as one-hot columns or gene sets; numbers of
        features then count groups. gamma is for the columns that are left when a group of mean size leaves.
    keep : str, int or array-like of str, int or bool, default=None
        Columns that are never eliminated and condition all scores; the group of such a column is kept. They are not
        tested for being uninformative.
    cv : int, "auto", splitter, iterable or None, default=None
        Splits into samples that choose the features and held-out samples that judge them: a number of folds, a splitter
        of scikit-learn (with ``fit(X, y, groups=groups)``, if it needs groups), or pairs of indices. "auto" is five
        folds of up to 1000 samples and three beyond; where there are blocks, samples in none of them judge. None is
        "auto" where the number of features or the kernel is "auto"; otherwise nothing is held out and
        `predictability_` is missing. With a given number and kernel, ``cv`` measures the selection and does not
        change it.
    standard_errors : bool, default=False
        Whether to record the standard error of HSIC in each round, with the criterion "hsic".
    n_jobs : int or None, default=None
        Number of threads. None means as many as BLAS uses, or one where there are few samples. Folds run side by side,
        each in one thread. The result does not depend on it.
    block_size : int, "auto" or None, default="auto"
        With an int B, the mean of the unbiased HSIC over disjoint random blocks of B samples instead of HSIC of
        all samples: as unbiased, less exact, at a cost that is linear in the number of samples. Regressions
        are made in each block by itself. Standard errors are those of the mean over blocks. Rules for gamma but
        "dimension" are evaluated on 4096 samples. "auto" takes all samples at once up to 10,000 of them, and
        blocks of 500 beyond. Where there are regressions, for the criterion "prediction" or to predict held-out
        samples, it takes all at once up to 4000, and blocks of 1000 beyond, of which regressions use five. With
        ``sample_weight`` or the biased statistic it always takes all at once, with a warning.
        None takes all samples at once, however many there are. See ``block_size_``.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator used to draw the blocks. None draws others in each fit, except with
        ``block_size="auto"``, where it means 0: the same result each time.
    checkpoint : str, path or None, default=None
        Folder in which each finished round and fold is kept. The same fit, interrupted in whatever way, goes on from
        there to the same selection; one that is finished is read from there at once. A folder that belongs to
        another fit, or is damaged, is refused.
    executor : dask.distributed.Client, str or None, default=None
        A Dask cluster that works on the tiles, or the address of its scheduler: the result is the same, bit
        by bit. If X is a dask array, the current client is used by default.
    verbose : int, default=0
        With 1, a fit of more than two seconds prints on stderr how far it is and how long it will still take,
        such as ``31% done, about 25 s left``.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the next best one, and so on. Copies rank right behind the column that stands
        for them, other columns that are left out rank last.
    elimination_order_ : ndarray of int of shape (n_features,)
        All features, the least relevant first (the paper's S-dagger).
    n_features_ : int
        Number of selected features.
    group_order_ : ndarray of shape (n_groups,)
        With ``feature_groups``, the labels of the groups, the most relevant first.
    path_ : tuple of PathStep
        A record of each round.
    scores_ : ndarray of shape (n_features,)
        Worth of each feature: for selected ones what would be lost without it, for the others what it would add; 0 for
        columns that are left out. In units of HSIC, with the kernel of the selection, for the criterion "hsic". For
        "prediction" in units of leave-one-out R^2; with the number "auto" it is positive for every selected feature
        that is not kept, unless there is only one. For features that are not selected it is measured on at most 1000
        samples for the next 24 in order, and NaN for the rest. For more than 16 selected
        features, n of them and m samples with n m^3 above 1e11, it is the first-order change of the explained variance.
    feature_importances_ : ndarray of shape (n_features,)
        ``scores_`` of the selected features and 0 for the others, under the name that scikit-learn's tools look for.
    columns_ : tuple of ColumnRole
        For each column its name, its role and the reason. Roles are "number", "category" and "date". Left out are
        "identifier", "text", "empty" and "constant"; "copy", with the criterion "prediction" and without groups: the
        same as another column up to scale and shift, or renaming of categories; "uninformative", in data frames: a
        category of more than 20 levels, a column with one value in nearly all rows or, with the criterion "prediction"
        and "neutral" missing entries, with more than 25% of them, that does not depend on the labels by itself (gamma
        p-value of HSIC above 5% for categories, 1% for others, divided by the number of columns tested). Such a column
        is lost if it matters only in combination with others, unless ``keep`` names it.
    leaks_ : tuple of str
        Names of selected features that look like the labels themselves: they equal them up to renaming or a monotone
        function, or the first one predicts held-out samples with an R^2 of at least 0.99 by itself. With the number
        "auto" there is a warning.
    kernel_ : str or Kernel
        The kernel on the data that was used.
    predictability_, predictability_error_ : float
        R^2 of kernel ridge regression on samples that took no part in choosing the features, and its standard error;
        both 0, which is that of the mean, where nothing predicts the target. Where something was judged: see ``cv``,
        also for the next six.
    score_ : float or None
        The same held-out predictions by a measure that people know; None if no fold has two classes.
    score_name_ : str
        That measure: "ROC AUC" for two classes, "accuracy" for several, "R2" for all else.
    n_folds_ : int
        Number of splits that judged; 1 for held-out samples beside blocks.
    n_judged_ : int
        Number of samples that were held out by one of them.
    selection_frequencies_ : ndarray of shape (n_features,)
        In which share of the folds each feature is among as many of the best as were selected.
    predicts_ : bool
        With the number "auto", whether any subset predicts held-out samples. If not, the best feature is kept
        all the same, with a warning: it is no finding.
    target_kernel_ : str
        The kernel on the labels that was used.
    block_size_ : int or None
        Number of samples B of a block; None if all samples were used at once.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    FeatureSelector : Selection for prediction, with everything else chosen by held-out samples.
    FOHSIC : Forward selection.
    sklearn.feature_selection.RFE : Elimination by the weights of an estimator.

    Notes
    -----
    For the Gaussian, linear and polynomial kernels a round costs a few matrix products, O(m^2 n) for
    m samples and n remaining features; the whole elimination with a fraction f costs O(m^2 d / f).
    Other kernels take a slower path, see `bahsic.engine`.

    With the criterion "prediction" each round fits a kernel ridge regression to the remaining features. With more
    than 16 of them, the features leave whose leaving changes the explained variance least to first order, which
    is HSIC with the residuals (of a ridge that is not too small) instead of the labels; with 16 or fewer, the
    eight best of them are judged by regressions of their own: by what they explain, or in blocks by their
    predictability. A round costs O(m^3) more. See `bahsic.predictability` and the theory page.

    "auto" is decided by cross-fitting. For each fold, a whole search runs on the other folds, and kernel ridge
    regression on each subset of its path predicts the fold: no sample judges features that it has chosen. The number
    is the smallest whose mean held-out loss is within one standard error of the least (of the least one; of the
    difference where there is a single split), and the features are the best so many of the search on all samples. Zero
    features, which predict the mean, are compared too. Where they are chosen, or R^2 is less than 1.645 standard errors
    above zero, nothing predicts the target: the selection is then the single best feature, so that pipelines go on,
    with a warning and `predicts_` False. With the criterion "prediction", selected features whose worth (`scores_`) is
    not positive are then removed, the worst first, on all samples and in each fold alike. Only sizes on the path are
    compared: a smaller ``step`` gives more of them. Folds have much the same labels and are the same in every fit.

    There are five folds of up to 1000 samples, three of up to 4000. Beyond that, with blocks, there is one search, on
    the blocks, and samples in none of them judge: at least a fifth of all, but at most 8000. ``kernel="auto"`` takes
    the kernel with the least held-out loss, that of its best number or of the given one. It compares them in the first
    folds that have 200 samples together, or beyond 4000 samples on 1000 of those that judge, after a search on 700.
    Losses of several numbers and kernels are compared, so that `predictability_` is a little too high;
    `selection_test` tells whether there is any dependence, and `BAHSICCV` lets an estimator be the judge.

    With ``sample_weight``, HSIC is that of samples repeated so many times. Regressions and held-out losses weigh each
    sample accordingly, but leave it out as a whole: no copy of a sample predicts another one.

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

    def _record_order(self, units: FeatureUnits, order: Indices) -> None:
        self.elimination_order_ = np.concatenate(units.each(order[::-1]))


class FOHSIC(Selector):
    """Forward selection by the Hilbert-Schmidt independence criterion.

    At each round the features enter with which HSIC between the selected ones and the labels is
    highest. This is quicker than elimination where few features are wanted, but a feature that
    matters only together with others is not found: see `BAHSIC`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        As for `BAHSIC`. The search stops at a number or fraction, and the other features are ranked by
        what each would add next; with None and "auto" it goes on to the end.
    step : int or float, default=1
        Amount that enters in a round: a number, or a fraction of the features that remain (at least one).
    kernel, target_kernel, criterion, ridge, statistic, standardize, categorical_features, missing, identifiers
        As for `BAHSIC`. A rule for gamma is evaluated for subsets of one feature more. Kept columns are
        selected from the beginning.
    feature_groups, keep, cv, standard_errors, n_jobs, block_size, random_state, checkpoint, executor,
    verbose
        As for `BAHSIC`.

    Attributes
    ----------
    selection_order_ : ndarray of int of shape (n_features,)
        All features, the most relevant first.
    support_, ranking_, n_features_, scores_, feature_importances_, group_order_, path_, columns_, kernel_,
    target_kernel_, block_size_, predictability_, predictability_error_, score_, score_name_, n_folds_,
    selection_frequencies_, predicts_, leaks_, n_features_in_, feature_names_in_
        As for `BAHSIC`.

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

    def __init__(  # noqa: PLR0913 - the parameters of BAHSIC, with a step of one feature
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        criterion: Any = "hsic",
        ridge: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        categorical_features: Any = "from_dtype",
        missing: str = "neutral",
        identifiers: Any = "drop",
        feature_groups: Any = None,
        keep: Any = None,
        cv: Any = None,
        standard_errors: bool = False,
        n_jobs: int | None = None,
        block_size: int | str | None = "auto",
        random_state: Any = None,
        checkpoint: Any = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_features_to_select,
            step=step,
            kernel=kernel,
            target_kernel=target_kernel,
            criterion=criterion,
            ridge=ridge,
            statistic=statistic,
            standardize=standardize,
            categorical_features=categorical_features,
            missing=missing,
            identifiers=identifiers,
            feature_groups=feature_groups,
            keep=keep,
            cv=cv,
            standard_errors=standard_errors,
            n_jobs=n_jobs,
            block_size=block_size,
            random_state=random_state,
            checkpoint=checkpoint,
            executor=executor,
            verbose=verbose,
        )

    def _record_order(self, units: FeatureUnits, order: Indices) -> None:
        self.selection_order_ = np.concatenate(units.each(order))
