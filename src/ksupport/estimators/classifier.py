"""IRKSN for classes: one path of the logistic loss."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from .checks import with_parameters
from .labels import LinearClassifier
from .paths import PathModel


@with_parameters
class IRKSNClassifier(LinearClassifier, PathModel):
    """Sparse classification by iterative regularisation with the k-support norm.

    Walks one path of mirror descent, with momentum, on the logistic loss; its mirror map is
    ``(1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖²``, as in `IRKSN`, whose path on squares it becomes with
    the squared loss.  Early iterates have about k features, later ones more.

    More than two classes have a vector of coefficients each, with one support: the coefficients of
    a feature for all classes are a group (as with ``shared_support`` in `IRKSN`), and the loss is
    the multinomial one.  They sum up to zero over classes; with two classes that is the logistic
    model w as -w/2 and w/2, on the same path.

    Parameters
    ----------
    alpha : float, default=1e-2
        Weight of the squared l2 norm, strictly between 0 and 1.  Small values give iterates
        close to k-sparse.
    feature_groups, positive
        As in `IRKSN`; k counts groups.  ``positive`` is for two classes.
    stopping : None, str or a rule of `ksupport.stopping`
        When to stop before ``max_iter``; None walks all the way.  "held_out" (by the deviance on
        rows held out, a share of each class), "no_change" and "residual_ratio" stand for rules with
        their defaults.

    Attributes
    ----------
    history_ : History
        ``t``, ``n_nonzero``, ``residual`` (the root of the deviance) and, with held-out rows,
        ``validation`` (their mean deviance) along the path.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSNClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 200))
    >>> y = np.where(X[:, 3] - X[:, 7] > 0, "yes", "no")
    >>> model = IRKSNClassifier(k=2, max_iter=20).fit(X, y)
    >>> np.flatnonzero(model.support_)[:2]
    array([3, 7])
    >>> model.predict(X[:3])
    array([...], dtype='<U3')
    """

    _method_name = "irksn"
    _several = False
    _many_classes = True

    k: int | None = None
    alpha: float = 1e-2
    _: KW_ONLY
    feature_groups: Any = None
    positive: bool = False
    max_iter: int = 100
    every: int = 1

    @property
    def _given(self) -> dict[str, Any]:
        return super()._given | {"loss": self._loss}
