"""What a fitted model did, in words and as a method: shared by the commands and the report."""

from __future__ import annotations

from dataclasses import asdict, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._common.checks import check_count
from ..algorithms import METHODS, Method, make_method
from ..design import Floats, Ints, Problem, Weights
from ..walking import Result, run

WALKED = 400  # records of a path that is walked again, or more
ENDS = {
    "max_iter": "it walked all the steps it was given",
    "exhausted": "the path was at its end",
    "diverged": "the iterates diverged",
    "interrupted": "it was interrupted",
}


def description_of(model: Any) -> str:
    """How the model was chosen, in a sentence or two."""
    if hasattr(model, "decision_"):
        return str(model.decision_)
    size, name = int(model.support_.sum()), title_of(model)
    params = ", ".join(f"{key}={_value(value)}" for key, value in settings_of_model(model).items())
    if walks_one_path(model):
        told = f"{name} with {params}" if params else name
        return f"{told}: {_ending(model)}."
    if chosen_by_criterion(model):
        where = f"first met on the path of {params or 'its defaults'}"
        where = where if on_a_path(model) else "reached by exchanging features"
        criterion = str(getattr(model, "criterion", "ebic")).upper()
        return f"{criterion} chose {size} features among the supports that {name} visits, {where}."
    return (
        f"Cross-validation chose {name} with {params or 'its defaults'}, at step {model.n_iter_}: "
        f"{size} features."
    )


def _ending(model: Any) -> str:
    """The step that was kept, how many were walked, and why no more."""
    steps, reasons = np.atleast_1d(model.n_iter_), np.unique(model.stop_reason_)
    histories = [model.history_] if model.coef_.ndim == 1 else model.history_
    walked = max(int(history["t"][-1]) for history in histories)
    kept = f"step {steps.min()}" if np.ptp(steps) == 0 else f"steps {steps.min()} to {steps.max()}"
    why = "; ".join(_why(model, reason) for reason in reasons)
    return f"kept {kept} of {walked}; {why}"


def _why(model: Any, reason: str) -> str:
    if reason == "stopped":
        rule = model.stopping if isinstance(model.stopping, str) else type(model.stopping).__name__
        rule = "a callback" if model.stopping is None else f"the stopping rule {rule}"
        return f"{rule} ended the walk"
    return ENDS[reason]


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def title_of(model: Any) -> str:
    """The name of the method whose path was walked."""
    return METHODS[name_of(model)].title


def name_of(model: Any) -> str:
    """The registered name of the method whose path was walked."""
    if walks_one_path(model):
        return str(model._method_name)
    return str(model.method) if "method" in model.get_params() else "irksn"


def walks_one_path(model: Any) -> bool:
    """Whether the model is one path to one step, and not a choice among many."""
    return hasattr(model, "stop_reason_")


def chosen_by_criterion(model: Any) -> bool:
    """Whether an information criterion chose the support, and not a step of a path."""
    return "score" in getattr(model, "path_", {})


def on_a_path(model: Any) -> bool:
    """Whether the model's support was met on a path; if not, exchanges alone led to it."""
    return not chosen_by_criterion(model) or bool(model.path_["t"][0] >= 0)


def settings_of_model(model: Any) -> dict[str, Any]:
    """The parameters of the path behind the model; empty if exchanges alone led to it."""
    if walks_one_path(model):
        values = asdict(model._method_behind).items()
        return {name: v for name, v in values if isinstance(v, Real) and not isinstance(v, bool)}
    if hasattr(model, "params_"):
        return {name: value for name, value in model.params_.items() if name != "norm"}
    if getattr(model, "k_", None) is None:
        return {}
    return {"k": int(model.k_), "alpha": float(model.alpha_)}


def method_behind(model: Any, problem: Problem) -> Method:
    """The method with the parameters of the path behind the model, its steps fixed by the data."""
    if walks_one_path(model):
        method: Method = model._method_behind
        return method
    name = name_of(model)
    settings = dict(getattr(model, "params_", None) or settings_of_model(model))
    if name == "irksn":
        settings = {"k": max(int(model.support_.sum()), 1), "alpha": 1e-2} | settings
    return make_method(name, **settings).fixed(problem.design, problem.targets[0])


def least_scores(model: Any) -> tuple[Ints, Floats]:
    """The least criterion for each number of features, above the least of all."""
    score, size = np.asarray(model.path_["score"], float), np.asarray(model.path_["size"], int)
    sizes = np.unique(size)
    return sizes, np.array([score[size == each].min() for each in sizes]) - score.min()


# -- the path again ------------------------------------------------------------------------


def walk_again(
    model: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    max_iter: int | None = None,
    target: int = 0,
) -> Result:
    """The path behind a fitted model, with all its iterates, in the units of X.

    ``n_iter`` is the step that the model kept.  A support that was only reached by exchanging
    features is on no path: then the walk is that of its size, and its last step is returned.
    """
    problem = model._problem_again(X, y, sample_weight)
    check_count("target", target, low=0, high=len(problem.targets) - 1)
    if max_iter is not None:
        check_count("max_iter", max_iter)
    step = int(np.atleast_1d(model.n_iter_)[target])
    end = max(max_iter or _far_enough(model, step, target), step, 1)
    design, goal = problem.design, problem.targets[target]
    start = method_behind(model, problem).start(design, goal)
    (result,) = run([start], [design], [goal], max_iter=end, every=spacing(step, end))
    assert result.iterates is not None
    step = step if on_a_path(model) else int(result.history["t"][-1])
    record = int(np.searchsorted(result.history["t"], step))
    iterates = result.iterates
    if problem.view.scale is not None:
        iterates = sp.csr_array(iterates @ sp.diags_array(1.0 / problem.view.scale))
    coef = iterates[[record]].toarray()[0]
    return replace(result, coef=coef, n_iter=step, iterates=iterates)


def _far_enough(model: Any, step: int, target: int) -> int:
    """As far as the fit walked, or, where many paths were walked, half as far again as it chose."""
    if not walks_one_path(model):
        return around(step, model.max_iter)
    history = model.history_ if model.coef_.ndim == 1 else model.history_[target]
    return int(history["t"][-1])


def around(step: int, max_iter: int) -> int:
    """How far to walk to see what came before and after a chosen step."""
    return int(np.clip(1.5 * step, 100, max(max_iter, step)))


def spacing(step: int, end: int) -> int:
    """Steps between records: some `WALKED` records, that of the step among them."""
    limit = max(1, end // WALKED)
    return max(each for each in range(1, limit + 1) if step % each == 0)


def problem_of(model: Any, X: Any, y: Any) -> Problem:
    """The data as the paths of the model saw them."""
    Y = np.asarray(y, np.float64)[:, None]
    rows = np.arange(len(Y))
    return Problem(X, Y, Weights(), rows, model.fit_intercept, model.standardize)
