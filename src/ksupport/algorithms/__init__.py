"""The methods and their registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..design import Design, as_real
from ..walking import Keep, Metric, Result, Rule, StoppingRule, run
from .base import Description, Method
from .enet import ElasticNetMethod, LassoMethod
from .iht import IHTMethod
from .ircr import IRCRMethod
from .irksn import IRKSNMethod
from .irksn_matrix import MatrixIRKSN
from .irosr import IROSRMethod
from .ksn import KSNMethod
from .omp import OMPMethod
from .srdi import SRDIMethod

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        IRKSNMethod,
        KSNMethod,
        IRCRMethod,
        IROSRMethod,
        SRDIMethod,
        IHTMethod,
        OMPMethod,
        LassoMethod,
        ElasticNetMethod,
    )
}

__all__ = [
    "METHODS",
    "Description",
    "MatrixIRKSN",
    "Method",
    "known_method",
    "make_method",
    "path",
]


def known_method(name: str) -> type[Method]:
    """A registered method; an unknown name is explained."""
    if not isinstance(name, str) or name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {name!r}")
    return METHODS[name]


def make_method(name: str, **params: Any) -> Method:
    """A registered method with these parameters; unknown names are explained."""
    known = known_method(name).describe().parameters
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise TypeError(
            f"method {name!r} has no parameter {unknown[0]!r}; it takes {', '.join(known)}"
        )
    return METHODS[name](**params)


def path(
    method: str | Method,
    X: Any,
    y: ArrayLike,
    *,
    max_iter: int = 1000,
    every: int = 1,
    stopping: StoppingRule | None = None,
    metrics: Mapping[str, Metric] | None = None,
    keep: Keep = "all",
    **params: Any,
) -> Result:
    """Walk one path of a method on the data as given: no centring, no scaling.

    Parameters
    ----------
    method : str or Method
        A name in `METHODS`, or a method with its parameters.
    X : array, memmap, Zarr or Dask array, sparse matrix, LinearOperator or Design
        The measurements.
    y : array of shape (n,) or (n, n_responses)
        The response; IRKSN takes several by squares, whose models share their support.
    max_iter : int
        Steps (iterations, penalties, or atoms) to walk.
    every : int
        Record every so many steps.
    stopping : callable, optional
        A rule of `ksupport.stopping`; None walks to ``max_iter``.
    metrics : mapping of functions of a `Block`, optional
        More columns of the history.
    keep : {"all", "last"}
        Whether to return all recorded iterates.
    **params
        The method's parameters, see ``METHODS[name].describe()``.

    Returns
    -------
    Result
        Of several responses, ``coef`` is n_responses x d, and rows of ``iterates`` have the
        coefficients of each response side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> X = np.eye(4)
    >>> result = path("irksn", X, [3.0, 0.0, 2.0, 0.0], k=2, alpha=0.1, max_iter=100)
    >>> np.round(result.coef, 3)
    array([3., 0., 2., 0.])
    >>> result.reason
    'max_iter'
    """
    if isinstance(method, Method) and params:
        raise TypeError(
            f"{next(iter(params))} cannot be set beside a method that has its parameters: give it "
            f"to {type(method).__name__}, or the method by its name, {method.name!r}"
        )
    chosen = method if isinstance(method, Method) else make_method(method, **params)
    X, y = as_real(X, y)
    design = Design.of(X)
    target = chosen.checked(y)
    if len(target) != design.n:
        raise ValueError(f"y must have {design.n} rows to match X, got shape {target.shape}")
    if stopping is not None:
        Rule.of(stopping).check_loss(chosen.loss.name)
    design, targets = chosen.compressed(design, target)
    start = chosen.start(design, np.concatenate(targets))
    (result,) = run(
        [start],
        max_iter=max_iter,
        every=every,
        stopping=stopping,
        metrics={start: metrics or {}},
        keep=keep,
        interruptible=True,
    )
    return (
        result if result.targets == 1 else replace(result, coef=result.coef.reshape(-1, design.d))
    )
