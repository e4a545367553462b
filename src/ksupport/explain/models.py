"""What was chosen, of a fitted model, and the path behind it walked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.checks import check_count, dense
from .._common.names import listed, shown
from ..algorithms import Method
from ..choosing.selection import Selection
from ..design import Floats, Ints, Problem
from ..losses import Loss
from ..walking import Result, run

WALKED = 400  # records of a path that is walked again, or more


class Model(Protocol):
    """What is asked of a fitted estimator: its coefficients, and what was chosen."""

    max_iter: int
    standardize: bool
    n_features_in_: int
    coef_: Floats
    intercept_: Any
    adjustment_: Mapping[str, Any]
    unpenalized_: Ints
    levels_: Mapping[str, Any]
    _loss: Loss
    _selection: Selection

    def _eta(self, X: Any) -> Any: ...

    def _validated(
        self, X: Any, y: ArrayLike, multi_output: bool, reset: bool
    ) -> tuple[Any, Floats]: ...

    def _problem_again(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem: ...
    def _of_one_column(self) -> Any: ...


def chosen_by(model: Model) -> Selection:
    """What a fitted estimator has chosen, and how."""
    check_is_fitted(model)
    try:
        return model._selection
    except AttributeError as error:
        raise TypeError(
            f"estimator must be a fitted linear model of ksupport, got {type(model).__name__}"
        ) from error


def targets_of(model: Model) -> list[str]:
    """What the rows of coefficients are called: classes, or targets by their number."""
    classes = getattr(model, "classes_", ())
    if len(classes) > 2:
        return [str(each) for each in classes]
    return [f"target {i}" for i in range(len(np.atleast_2d(model.coef_)))]


def one_coefficient(coef: Floats) -> Floats:
    """A number for each column: its coefficient, or the range of those of several classes."""
    each = np.atleast_2d(coef)
    return np.asarray(each[0] if len(each) == 1 else each.max(axis=0) - each.min(axis=0))


def speaks_for(model: Model, feature: int) -> str | None:
    """Of several classes, those that a feature makes most and least likely."""
    coef = np.atleast_2d(model.coef_)[:, feature]
    if len(coef) == 1 or not coef.any():
        return None
    names = targets_of(model)
    return f"{shown(names[int(coef.argmax())])}, not {shown(names[int(coef.argmin())])}"


def effects_of(model: Model, X: Any) -> Floats:
    effects, features = np.zeros(X.shape[1]), np.flatnonzero(chosen_by(model).support)
    if features.size:
        spreads = dense(X[:, features]).std(axis=0)
        effects[features] = one_coefficient(model.coef_)[features] * spreads
    return effects


@dataclass(frozen=True)
class Covariate:
    """A column that the model is adjusted for."""

    name: str
    coefficients: tuple[float, ...]  # one, or one for each of more than two classes
    effect: float  # of one standard deviation: the largest of them


def covariates_of(model: Model, X: Any, names: Sequence[str]) -> list[Covariate]:
    """The columns that the model is adjusted for, with their coefficients."""
    found = []
    for j in model.unpenalized_.tolist():
        coef = np.atleast_2d(model.coef_)[:, j]
        spread = float(np.nanstd(dense(X[:, [j]]).astype(np.float64)))
        effect = float(np.abs(coef).max()) * spread
        found.append(Covariate(str(names[j]), tuple(map(float, coef)), effect))
    return found


def adjusted_for(model: Model, names: Sequence[str] | None = None) -> str | None:
    """What the model is adjusted for, in words; or nothing.

    Columns have the names that the model has seen, or these.
    """
    columns: Iterable[str] = model.adjustment_
    if not model.adjustment_:
        return None
    if names is not None and not model.levels_:
        columns = [names[j] for j in model.unpenalized_]
    return f"Adjusted for {listed(columns)}."


# -- the path again ------------------------------------------------------------------------


def method_behind(chosen: Selection, problem: Problem) -> Method:
    """The method of the path behind a model, its steps fixed by the data as they were for it."""
    method = chosen.method_behind
    return method if chosen.how == "path" else method.fixed(problem.design, problem.targets[0])


def walk_again(
    model: Model,
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
    chosen = chosen_by(model)
    problem = model._problem_again(X, y, sample_weight)
    if max_iter is not None:
        check_count("max_iter", max_iter)
    step = step_of(chosen, target)
    walk = 0 if chosen.shared else target  # all responses share one
    if max_iter is None:  # as far as the fit, or beyond the step where many paths were walked
        own = chosen.how == "path"
        walked = int(chosen.histories[walk]["t"][-1]) if own else 0
        max_iter = walked if own else around(chosen.steps[walk], model.max_iter)
    end = max(max_iter, step, 1)
    design, goal = problem.design, problem.targets[walk]
    start = method_behind(chosen, problem).start(design, goal)
    (result,) = run([start], max_iter=end, every=spacing(step, end))
    assert result.iterates is not None
    step = step if chosen.path is not None else int(result.history["t"][-1])
    record = int(np.searchsorted(result.history["t"], step))
    iterates = result.iterates
    if chosen.shared:
        iterates = sp.csr_array(iterates[:, target * design.d : (target + 1) * design.d])
    if problem.shared:
        iterates = sp.csr_array(iterates * problem.units[target])
    if problem.view.scale is not None:
        iterates = sp.csr_array(iterates @ sp.diags_array(1.0 / problem.view.scale))
    coef = iterates[[record]].toarray()[0]
    return replace(result, coef=coef, n_iter=step, iterates=iterates, targets=1)


def step_of(chosen: Selection, target: int) -> int:
    if chosen.shared:
        check_count("target", target, low=0, high=len(chosen.coef) - 1)
        return chosen.steps[0]
    check_count("target", target, low=0, high=len(chosen.steps) - 1)
    return chosen.steps[target]


def around(step: int, max_iter: int) -> int:
    """How far to walk to see what came before and after a chosen step."""
    return int(np.clip(1.5 * step, 100, max(max_iter, step)))


def spacing(step: int, end: int) -> int:
    """Steps between records: some `WALKED` records, that of the step among them."""
    limit = max(1, end // WALKED)
    return max(each for each in range(1, limit + 1) if step % each == 0)
