"""`IRKSNICClassifier` and `IRKSNCVClassifier`: `IRKSNIC` and `IRKSNCV` for two classes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from .checks import with_parameters
from .cv import IRKSNChosenByFolds
from .ic import IRKSNChosenByCriterion
from .labels import LinearClassifier


@with_parameters
class IRKSNICClassifier(LinearClassifier, IRKSNChosenByCriterion):
    """Two classes: k, alpha, the stopping time and the support chosen by a criterion.

    As `IRKSNIC`, with the logistic loss: the deviance replaces n log(rss), and ``coef_`` is the
    maximum likelihood fit on the support (with a ridge of 1e-4, as features may separate classes).

    Parameters
    ----------
    criterion : {"ebic", "bic", "aic", "gic"}
        What to minimise, as in `PathIC`.

    Attributes
    ----------
    path_ : dict of arrays
        The table of all supports, as in `PathIC`, with ``deviance`` for ``rss``.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSNICClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 200))
    >>> y = np.where(3 * X[:, 3] - 3 * X[:, 7] + rng.logistic(size=120) > 0, "yes", "no")
    >>> IRKSNICClassifier().fit(X, y).get_support(indices=True)
    array([3, 7])
    """

    k: Any = "auto"
    alpha: Any = 1e-2
    _: KW_ONLY
    criterion: str = "ebic"
    max_iter: int = 60
    every: int | None = 2


@with_parameters
class IRKSNCVClassifier(LinearClassifier, IRKSNChosenByFolds):
    """Two classes: k, alpha, the stopping time and the refit chosen by cross-validation.

    As `IRKSNCV`, with the logistic loss: folds have a share of each class, and their rows are
    judged by their deviance, or by any scorer.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds; a number makes as many, with a share of each class.
    scoring : str, callable or None
        None is the deviance; else a scorer of scikit-learn, as "roc_auc".
    refit : {"auto", None, "ols", "ridge"}
        As in `IRKSNCV`; "ols" is the maximum likelihood fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSNCVClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 200))
    >>> y = np.where(3 * X[:, 3] - 3 * X[:, 7] + rng.logistic(size=120) > 0, "yes", "no")
    >>> model = IRKSNCVClassifier(random_state=0).fit(X, y)
    >>> bool(model.support_[[3, 7]].all())
    True
    """

    k: Any = "auto"
    alpha: Any = 1e-1
