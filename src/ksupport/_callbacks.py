"""scikit-learn's callback API (1.9 on), where installed; nothing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .design import Floats
from .walking import History, Watch
from .walking.progress import Progress

__all__ = ["CallbackSupportMixin", "walk_with_callbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


@contextmanager
def walk_with_callbacks(estimator: Any, problem: Any, progress: Progress) -> Iterator[Watch]:
    """A watcher for the loop that reports progress and calls the estimator's callbacks.

    Every block of steps is one task of the callback API; its hook receives an estimator that is
    fitted with the block's last iterate, and may end the walk by returning True.  With several
    targets the iterate belongs to the target that has just been walked.
    """
    context = None
    if getattr(estimator, "_skl_callbacks", None):
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator)

    def watch(history: History, w: Floats) -> bool:
        t = int(history["t"][-1])
        progress.update(t)
        if context is None:
            return False
        coef = problem.unscaled(w)
        attributes = {
            "coef_": coef,
            "intercept_": problem.intercept(coef),
            "support_": coef != 0,
            "n_iter_": t,
            "history_": history,
            "n_features_in_": coef.size,
        }
        task = context.subcontext(task_name="block of steps")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator, reconstruction_attributes=attributes)
        return bool(stop)

    try:
        yield watch
        if context is not None:
            context.call_on_fit_task_end(estimator=estimator)
    finally:
        progress.close()
