"""Estimators with a Dask client among their parameters, which can be neither copied nor pickled."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from bahsic.engine.dask_executor import client_address


class ClusterMixin:
    """An estimator whose parameter ``executor`` may be a Dask client."""

    executor: Any

    def __sklearn_clone__(self) -> Self:
        """A clone works with the same client; scikit-learn would try to copy it."""
        bare = copy(self)
        bare.executor = None
        cloned: Self = super(ClusterMixin, bare).__sklearn_clone__()  # type: ignore[misc]
        cloned.executor = self.executor
        return cloned

    def __getstate__(self) -> Any:
        """State for pickling, with the address of the scheduler in place of a client."""
        state: Any = super().__getstate__()
        return {**state, "executor": client_address(self.executor)}
