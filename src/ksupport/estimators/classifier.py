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
    k : int, optional
        How many features to look for; None takes ``min(10, n_features)``.  More than there are
        means all of them, with a warning.
    alpha : float, default=1e-2
        Weight of the squared l2 norm, strictly between 0 and 1.  Small values give iterates
        close to k-sparse.
    feature_groups, positive
        As in `IRKSN`; k counts groups.  ``positive`` is for two classes.
    class_weight : dict, "balanced" or None
        How much the rows of each class count, besides ``sample_weight``; "balanced" lets classes
        count alike.
    max_iter : int, default=100
        Steps to walk at most (in one call of ``fit``).
    stopping : None, str or a rule of `ksupport.stopping`
        When to stop before ``max_iter``; None walks all the way.  "held_out" (by the deviance on
        rows held out, a share of each class), "no_change" and "residual_ratio" stand for rules with
        their defaults.
    every : int, default=1
        The history holds every so many steps, and stopping rules look that often.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is never penalised.
    standardize : bool, default=False
        Whether to scale the columns to unit variance while fitting; ``coef_`` is always in the
        units of X.
    unpenalized : names, indices, mask or selector, optional
        Columns that are always in the model, as in `IRKSN`; Newton's method finds their
        coefficients at each step.
    warm_start : bool, default=False
        Go on from where the last fit stopped, if X and y are the same.
    random_state : int, RandomState or None
        Chooses held-out rows.
    verbose : bool, default=False
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) of more than two
        Coefficients of the log odds of the second class, or of every class; those of unpenalised
        columns too.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept.
    support_ : ndarray of bool, shape (n_features,)
        Which features were chosen: have a nonzero coefficient and are not unpenalised.
    adjustment_ : dict of str to float
        Coefficients of all that the model is adjusted for, by name, as in `IRKSN`.
    unpenalized_ : ndarray of int
        The columns that are unpenalised.
    levels_ : dict of str to list
        The levels of the categories among them; the first of each has no coefficient.
    n_iter_ : int
        The step of the iterate that was kept.
    stop_reason_ : {"stopped", "max_iter", "diverged", "interrupted"}
        Why the walk ended.
    history_ : History
        ``t``, ``n_nonzero``, ``residual`` (the root of the deviance) and, with held-out rows,
        ``validation`` (their mean deviance) along the path.
    held_out_ : ndarray of int or None
        The rows that the stopping rule held out, if it does.
    n_passes_ : int
        How many times the whole of X was read (small ones are copied, and their copy not counted).
    n_features_in_, feature_names_in_
        As in all scikit-learn estimators.

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
    _method_params = ("k", "alpha")
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
