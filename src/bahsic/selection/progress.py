"""Progress of long fits through scikit-learn's callbacks, where the installed release has them.

This is the only module that knows of them: scikit-learn offers them from 1.9 on, as
``selector.set_callbacks(ProgressBar())``. With an older release fits are silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Call the method, from a frame of its own as scikit-learn does: warnings count the frames."""

        @wraps(method)
        def called(estimator: Any, *arguments: Any, **named: Any) -> Any:
            return method(estimator, *arguments, **named)

        return called


Item = TypeVar("Item")


def reported(estimator: Any, rounds: Iterable[Item], n_rounds: int, X: Any, y: Any) -> Iterator[Item]:
    """The rounds of a fit, each reported to the callbacks of the estimator as a task of its own."""
    if not hasattr(estimator, "_init_callback_context"):
        yield from rounds
        return
    data = {"estimator": estimator, "X": X, "y": y}
    fit = estimator._init_callback_context(max_subtasks=n_rounds)  # noqa: SLF001 - scikit-learn's hook for authors
    fit.call_on_fit_task_begin(**data)
    iterator = iter(rounds)
    for _ in range(n_rounds):
        task = fit.subcontext(task_name="round")
        task.call_on_fit_task_begin(**data)
        item = next(iterator)
        task.call_on_fit_task_end(**data)
        yield item
    fit.call_on_fit_task_end(**data)


__all__ = ["CallbackSupportMixin", "reported", "with_callbacks"]
