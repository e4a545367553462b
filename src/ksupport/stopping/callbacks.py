"""scikit-learn's callback API (1.9 on), where installed; nothing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..design import Floats
from ..walking import History, StoppingRule, Watch
from .rules import rule_of

__all__ = ["CallbackSupportMixin", "StoppingCallback", "walk_with_callbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


@contextmanager
def walk_with_callbacks(estimator: Any, problem: Any) -> Iterator[Watch]:
    """A watcher for the loop that calls the estimator's callbacks.

    Every block of steps is one task of the callback API; its hook receives an estimator that is
    fitted with the block's last iterate, and may end the walk by returning True.  With several
    targets the iterate belongs to the target that has just been walked.
    """
    context = None
    if getattr(estimator, "_skl_callbacks", None):
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator)

    def watch(history: History, w: Floats) -> bool:
        if context is None:
            return False
        w = problem.reshape_coef(w)
        coef, _, intercept = problem.to_original_units(problem.unscaled(w))
        attributes = {
            "coef_": coef,
            "intercept_": intercept,
            "support_": (w != 0) if w.ndim == 1 else w.any(axis=0),
            "n_iter_": int(history["t"][-1]),
            "history_": history,
            "n_features_in_": coef.shape[-1],
            "_loss": problem.losses[0],
        }
        task = context.subcontext(task_name="block of steps")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator, reconstruction_attributes=attributes)
        return bool(stop)

    yield watch
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator)


class StoppingCallback:
    """A stopping rule as a callback of scikit-learn (1.9 on): ``model.set_callbacks(...)``.

    scikit-learn is told of a walk once for each block of steps, so the walk ends, and the
    model is taken, at the end of the block in which the rule says stop.  Where the very record
    matters, pass the rule as ``stopping=`` instead.

    Parameters
    ----------
    rule : Rule or str
        Any rule, or the name of one, but `HeldOut`, for which rows must be set aside before the
        walk begins.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSN
    >>> from ksupport.stopping import ResidualRatio, StoppingCallback
    >>> X, y = np.eye(4), np.array([3.0, 0.0, 2.0, 0.0])
    >>> model = IRKSN(k=2, max_iter=10**6, fit_intercept=False)
    >>> if hasattr(model, "set_callbacks"):
    ...     model = model.set_callbacks(StoppingCallback(ResidualRatio()))
    ...     assert model.fit(X, y).n_iter_ < 10**5
    """

    def __init__(self, rule: StoppingRule | str) -> None:
        found = rule_of(rule)
        if found is None or found.holds_out:
            raise ValueError(
                f"rule must not hold out rows, got {rule!r}: pass it as stopping= to the estimator"
            )
        self.rule = found

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare: the estimator measures what ``rule.metrics`` asks for."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to do before a block."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        """Whether the rule says stop, given the history up to the end of a block."""
        if fitted_estimator is None:  # the end of the whole fit
            return False
        return self.rule(fitted_estimator.history_).stop is not None
