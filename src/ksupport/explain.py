"""What a fitted model did, in words and as a method: shared by the commands and the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from .algorithms import METHODS, Method, make_method
from .algorithms.irksn import IRKSNMethod
from .linear import Problem


def description_of(model: Any) -> str:
    """How the model was chosen, in a sentence or two."""
    if hasattr(model, "decision_"):
        return str(model.decision_)
    size, name = int(model.support_.sum()), title_of(model)
    params = ", ".join(f"{key}={_value(value)}" for key, value in settings_of_model(model).items())
    if hasattr(model, "alternatives_"):
        where = f"first met on the path of {params}" if params else "reached by exchanging features"
        return f"EBIC chose {size} features among the supports that {name} visits, {where}."
    return (
        f"Cross-validation chose {name} with {params or 'its defaults'}, at step {model.n_iter_}: "
        f"{size} features."
    )


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def title_of(model: Any) -> str:
    """The name of the method whose path was walked."""
    return METHODS[getattr(model, "method", "irksn") if _generic(model) else "irksn"].title


def _generic(model: Any) -> bool:
    return "method" in model.get_params()


def settings_of_model(model: Any) -> dict[str, Any]:
    """The parameters of the path behind the model; empty if exchanges alone led to it."""
    if hasattr(model, "params_"):
        return {name: value for name, value in model.params_.items() if name != "norm"}
    if getattr(model, "k_", None) is None:
        return {}
    return {"k": int(model.k_), "alpha": float(model.alpha_)}


def method_behind(model: Any, problem: Problem) -> Method:
    """The method with the parameters of the path behind the model, its steps fixed by the data."""
    name = model.method if _generic(model) else "irksn"
    settings = settings_of_model(model)
    if name == "irksn":
        k = int(settings.get("k") or max(int(model.support_.sum()), 1))
        return IRKSNMethod(k=k, alpha=float(settings.get("alpha") or 1e-2))
    return make_method(name, **settings).fixed(problem.design, problem.targets[0])


def problem_of(model: Any, X: Any, y: Any) -> Problem:
    """The data as the paths of the model saw them."""
    Y = np.asarray(y, np.float64)[:, None]
    rows = np.arange(len(Y))
    return Problem(X, Y, None, rows, model.fit_intercept, model.standardize, compress=False)
