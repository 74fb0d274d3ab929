"""BAHSIC and FOHSIC: feature selectors for scikit-learn."""

from __future__ import annotations

from typing import Any

from bahsic.selection.base import Selector


class BAHSIC(Selector):
    """Select features by backward elimination with the Hilbert-Schmidt independence criterion.

    Each round removes the features without which HSIC between the remaining ones and the labels is highest (the
    paper's algorithm BAHSIC). Each feature is judged in the context of all the others, so features that matter only
    in combination are found.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to select: a count, a fraction of all, or half of them (None). "auto" takes the smallest
        number that predicts held-out samples as well as any; see Notes.
    step : float or int, default=0.1
        How many features leave in a round: a fraction of those that remain (at least one), or a number.
    kernel : str, Kernel or callable, default="gaussian"
        Kernel on the data; ``"gaussian"`` is ``Gaussian("dimension")``, the paper's gamma = 1/(2 d). A rule for gamma
        is evaluated anew in each round, for subsets of one feature less. ``"auto"`` takes the Gaussian, the Laplacian
        or, if all columns are complete numbers, the linear kernel, whichever predicts held-out samples best.
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on the labels, see `bahsic.kernels.label_kernel`; ``"auto"`` chooses by the type of y.
    criterion : {"hsic", "prediction"} or Criterion, default="hsic"
        Quantity that the search maximises. "hsic", the paper's, is the dependence between features and labels.
        "prediction" is the share of the labels' variance that kernel ridge regression on the features explains: a
        feature counts for what the others leave unexplained, and exact copies are one candidate. A
        `bahsic.criteria.Criterion` is one of your own, for columns of numbers; all samples of a search are then in
        one block, and kernel and ridge are those of the regressions that predict held-out samples.
    ridge : float or "auto", default="auto"
        Penalty of the regressions, which is multiplied by the number of samples. "auto" takes the one of 0.1, 0.0316,
        ..., 0.0001 with the least leave-one-out error.
    statistic : {"unbiased", "biased"}, default="unbiased"
        The estimate of HSIC.
    standardize : bool, default=True
        Whether to give each number zero mean and unit variance first.
    categorical_features : None, "from_dtype", or array-like of bool, int or str, default="from_dtype"
        Which columns are categories: those of strings, booleans and categorical types, the given ones, both (a list of
        "from_dtype" and columns), or none. Two different categories contribute so much to a squared distance that the
        mean contribution of the column is that of a standardised number. For the kernels `Gaussian` and `Laplacian`.
    missing : {"neutral", "indicator", "error"}, default="neutral"
        How to treat missing entries (NaN, None, null). "neutral" puts them at the average distance from every other
        value. "indicator" makes them a value of their own, so that being missing can be what matters.
    identifiers : {"drop", "use"} or array-like of bool, int or str, default="drop"
        Whether to ignore columns of a data frame that look like identifiers: text of which more than half is
        different, whole numbers that count the rows, or nearly all of which differ under a name such as "id"; or the
        columns to ignore. A column that ``categorical_features`` or ``keep`` names is used. Ignored columns rank last
        and are never selected.
    feature_groups : array-like of n_features labels, list of lists of columns, or dict, default=None
        Groups of columns that enter and leave together, such as one-hot columns or gene sets; numbers of features
        then count groups. gamma is for the columns that are left when a group of mean size leaves.
    keep : str, int or array-like of str, int or bool, default=None
        Columns that are never eliminated and condition all scores, with their groups. They are not tested for being
        uninformative.
    cv : int, "auto", splitter, iterable or None, default=None
        Splits into samples that choose the features and held-out samples that judge them: a number of folds, a splitter
        of scikit-learn (with ``fit(X, y, groups=groups)``, if it needs groups), or pairs of indices. "auto" is five
        folds of up to 1000 samples and three beyond; with blocks, samples in none of them judge. None is "auto" if the
        number of features or the kernel is "auto"; otherwise nothing is held out. With a given number and kernel,
        ``cv`` measures the selection and does not change it.
    standard_errors : bool, default=False
        Whether to record the standard error of HSIC in each round, with the criterion "hsic".
    n_jobs : int or None, default=None
        Number of threads. None means as many as BLAS uses, or one if there are few samples. Folds run side by side,
        each in one thread. The result does not depend on it.
    block_size : int, "auto" or None, default="auto"
        An int B replaces HSIC of all samples by the mean of the unbiased HSIC over disjoint random blocks of B samples:
        as unbiased, less exact, at a cost that is linear in the number of samples. Each block has regressions of its
        own. Rules for gamma except "dimension" are evaluated on 4096 samples. "auto" takes all samples at once up to
        10,000 of them, and blocks of 500 beyond; with regressions, for the criterion "prediction" or to predict
        held-out samples, all at once up to 4000 and blocks of 1000 beyond, five of which get regressions. With
        ``sample_weight`` or the biased statistic "auto" takes all samples, with a warning. None takes all samples.
    random_state : int, RandomState, Generator or None, default=None
        Seed for drawing the blocks. None draws new ones in each fit, but is 0 with ``block_size="auto"``.
    checkpoint : str, path or None, default=None
        Folder in which each finished round and fold is kept. After an interruption, the same fit continues from there
        to the same selection. A folder that belongs to another fit, or is damaged, is refused.
    executor : dask.distributed.Client, str or None, default=None
        A Dask cluster that works on the tiles, or the address of its scheduler; the selection is the same. If X is a
        dask array, the current client is used by default.
    verbose : int, default=0
        With 1, a fit of more than two seconds shows a progress bar with the time left on stderr.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the next best one, and so on. Copies rank right behind the column that stands
        for them, other ignored columns last.
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
        columns. In units of HSIC, with the kernel of the selection, for the criterion "hsic"; in units of leave-one-out
        R^2 for "prediction", where it is positive for every selected feature if the number was "auto" and there are
        several. R^2 is measured for the next 24 features, on at most 1000 samples, and NaN for the rest. For more than
        16 selected features, n of them and m samples with n m^3 above 1e11, it is the first-order change of the
        explained variance.
    feature_importances_ : ndarray of shape (n_features,)
        ``scores_`` of the selected features and 0 for the others, under the name that scikit-learn's tools look for.
    columns_ : tuple of ColumnRole
        Name, role and reason of each column. Roles are "number", "category" and "date", and for ignored columns
        "identifier", "text", "empty", "constant", "copy" and "uninformative"; see Notes.
    leaks_ : tuple of str
        Names of selected features that look like the labels themselves: they equal them up to renaming or a monotone
        function, or the first one predicts held-out samples with an R^2 of at least 0.99 by itself. With the number
        "auto" there is a warning.
    kernel_ : str or Kernel
        The kernel on the data that was used.
    predictability_, predictability_error_ : float
        R^2 of kernel ridge regression on samples that took no part in choosing the features, and its standard error;
        both 0 if nothing predicts the target. This and the next six only if held-out samples judge, see ``cv``.
    score_ : float or None
        The same predictions by a familiar measure; None if no fold has two classes.
    score_name_ : str
        That measure: "ROC AUC" for two classes, "accuracy" for several, "R2" for all else.
    n_folds_ : int
        Number of splits that judged; 1 for held-out samples beside blocks.
    n_judged_ : int
        Number of samples that were held out by one of them.
    selection_frequencies_ : ndarray of shape (n_features,)
        Share of the folds in which each feature is among as many of the best as were selected.
    predicts_ : bool
        With the number "auto", whether any subset predicts held-out samples. If not, the best feature is kept
        all the same, with a warning.
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
    FeatureSelector : Selection for prediction, with everything else chosen by held-out samples.
    FOHSIC : Forward selection.
    sklearn.feature_selection.RFE : Elimination by the weights of an estimator.

    Notes
    -----
    **Cost.** For the Gaussian, Laplacian, linear and polynomial kernels a round costs O(m^2 n) for m samples and n
    remaining features, the whole elimination with a fraction f of them O(m^2 d / f). Other kernels take a slower path.
    With the criterion "prediction", each round costs O(m^3) more.

    **Prediction.** Each round fits a kernel ridge regression to the remaining features. With more than 16 of them, the
    features leave that change the explained variance least to first order, which is HSIC with the residuals in place of
    the labels. With 16 or fewer, the eight best of them are judged by regressions of their own: by what they explain,
    or in blocks by their predictability.

    **"auto".** For each fold, a whole search runs on the other folds, and kernel ridge regression on each subset of its
    path predicts the fold: no sample judges features that it has chosen. The number is the smallest whose mean held-out
    loss is within one standard error of the least (of the difference, if there is a single split), and the features are
    the best so many of the search on all samples. The mean of the labels competes as the subset of zero features. If it
    wins, or R^2 is less than 1.645 standard errors above zero, nothing predicts the target. With the criterion
    "prediction", selected features whose worth is not positive are then removed, the worst first, on all samples and
    in each fold alike. Only sizes on the path are compared: a smaller ``step`` gives more of them.

    There are five folds of up to 1000 samples, three of up to 4000. Beyond that one search runs on blocks, and samples
    in none of them judge: at least a fifth of all, but at most 8000. Kernels are compared in the first folds that have
    200 samples together, or beyond 4000 samples on 1000 of those that judge, after a search on 700. As several numbers
    and kernels are compared, `predictability_` is a little too high; `selection_test` tells whether there is any
    dependence, and `BAHSICCV` lets an estimator be the judge.

    **Ignored columns.** A "copy" is the same as another column up to scale and shift, or renaming of categories; only
    with the criterion "prediction" and without groups. A column of a data frame is "uninformative" if it does not
    depend on the labels by itself and has more than 20 categories, one value in nearly all rows or, with the criterion
    "prediction" and "neutral" missing entries, more than 50% of them missing (gamma p-value of HSIC above 5% for
    categories, 1% for others, divided by the number of columns tested). Such a column is lost if it matters only in
    combination with others, unless ``keep`` names it.

    **Weights.** With ``sample_weight``, HSIC is that of samples repeated so many times. Regressions and held-out losses
    weigh each sample accordingly, but leave it out as a whole: no copy of a sample predicts another one.

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


class FOHSIC(Selector):
    """Select features by forward selection with the Hilbert-Schmidt independence criterion.

    Each round adds the features with which HSIC between the selected ones and the labels is highest. This is quicker
    than elimination if few features are selected, but misses features that matter only in combination: see `BAHSIC`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        As for `BAHSIC`. The search stops at a number or fraction, and the other features are ranked by
        what each would add next; with None and "auto" it goes on to the end.
    step : int or float, default=1
        How many features enter in a round: a number, or a fraction of those that remain (at least one).
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
