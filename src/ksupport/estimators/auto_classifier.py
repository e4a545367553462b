"""`AutoIRKSNClassifier`: which features distinguish classes, with nothing to tune."""

from __future__ import annotations

from .auto import AutoModel
from .checks import with_parameters
from .labels import LinearClassifier


@with_parameters
class AutoIRKSNClassifier(LinearClassifier, AutoModel):
    """Find the features that distinguish classes, with a probability for each and nothing to tune.

    As `AutoIRKSN`, with the logistic loss: candidate features come from paths of `IRKSNClassifier`,
    and predictions are scored by their deviance.  With more than two classes each class has a
    vector of coefficients, and all share one support: a feature matters if it distinguishes any of
    them.

    Parameters
    ----------
    positive : bool, default=False
        Whether features can only raise the odds of the second class, as in `AutoIRKSN`; for two
        classes.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) of more than two
        A ridge logistic regression on the support with the penalty that maximises the marginal
        likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSNClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 200))
    >>> y = np.where(X[:, 3] - X[:, 7] > 0, "yes", "no")
    >>> model = AutoIRKSNClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.predict(X[:3])
    array([...], dtype='<U3')
    """

    _many_classes = True
