"""Other feature selectors: those of the paper, and those in use today.

Each is a function of standardised data, ``select(X, y, problem)``, that returns columns, the most relevant first;
at least `problem.number` of them unless the method finds fewer. X has no constant column.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Order = NDArray[np.intp]
Task = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True)
class Problem:
    """What a selector is asked for, beside the data.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
        What the labels are.
    number : int
        How many features are wanted.
    seed : int
        For methods that draw random numbers.
    """

    task: Task
    number: int = 5
    seed: int = 0


def by_score(scores: Any) -> Order:
    """Columns by falling score; equal ones by their number.

    Examples
    --------
    >>> by_score([0.5, 2.0, 0.5]).tolist()
    [1, 0, 2]
    """
    return np.argsort(-np.asarray(scores, dtype=float), kind="stable")


def indicators(y: NDArray[Any], task: Task) -> Array:
    """The labels as columns: numbers as they are, one column for two classes, else one for each class.

    Examples
    --------
    >>> import numpy as np
    >>> indicators(np.array([1, 0, 2]), "multiclass")
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]])
    """
    if task == "regression":
        return np.asarray(y, dtype=float)[:, None]
    classes = np.unique(y)
    columns: Array = (y[:, None] == (classes[1:] if len(classes) == 2 else classes)).astype(float)
    return columns
