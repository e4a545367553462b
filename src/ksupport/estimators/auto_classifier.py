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
    class_weight
        As in `ksupport.IRKSNClassifier`.
    cv : int, splitter or iterable
        Cross-validation folds, which measure how well new rows are predicted; a number makes as
        many stratified folds.
    positive : bool, default=False
        Whether features can only raise the odds of the second class, as in `AutoIRKSN`; for two
        classes.
    beta : float, default=1.0
        As in `AutoIRKSN`: 2 selects more features, 0.5 only the most certain.
    predict_by : {"average", "support"}
        As in `AutoIRKSN`; probabilities are averaged, not log odds.
    random_state : int, RandomState or None, default=0
        Seed of chains, permutations and folds; the default makes results reproducible.
    max_iter : int, default=60
        Number of iterations of the paths on which candidate features are found.
    fit_intercept, standardize, unpenalized
        As in `ksupport.IRKSNClassifier`.
    weights : {"relative", "repetitions"}
        As in `PathIC`.
    n_jobs : int, optional
        Paths walked at once, in threads that share X.
    verbose : bool, default=False
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, adjustment_, unpenalized_, levels_, n_passes_
        As in `ksupport.IRKSNClassifier`; ``coef_`` is a ridge logistic regression on the support
        with the penalty that maximises the marginal likelihood.
    posterior_, probability_, signal_, p_value_, sets_, expected_f1_, effective_rows_, decision_,
    n_iter_, path_
        As in `AutoIRKSN`.
    performance_ : Performance
        How well held-out rows are predicted: ``score`` (share of the deviance explained), its
        ``standard_error``, and the ``baseline``, 0 for a model without features.  None if there are
        too few rows of a class to hold some out.
    alternatives_ : list of (support, score)
        Other supports that are almost as probable.

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
