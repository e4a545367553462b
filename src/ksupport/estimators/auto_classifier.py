"""`AutoIRKSNClassifier`: which features tell classes apart, with nothing to choose."""

from __future__ import annotations

from .auto import AutoModel
from .checks import with_parameters
from .labels import LinearClassifier


@with_parameters
class AutoIRKSNClassifier(LinearClassifier, AutoModel):
    """Find the features that tell classes apart, with nothing to choose.

    As `AutoIRKSN`, with the logistic loss: paths are those of `IRKSNClassifier`, held-out rows
    are judged by the probability that was given to their class, and features are sought by what
    they explain of the classes.  More than two classes have a vector of coefficients each, and one
    support: a feature belongs to the model if it tells any of them apart.

    Parameters
    ----------
    class_weight
        As in `ksupport.IRKSNClassifier`.
    cv : int, splitter or iterable
        Folds of rows that are held out; a number makes as many, with a share of each class.
    positive : bool, default=False
        Whether a feature can only speak for the second class, as in `AutoIRKSN`; for two classes.
    beta : float, default=1.0
        As in `AutoIRKSN`: 2 names more features, 0.5 the surest alone.
    predict_by : {"average", "support"}
        As in `AutoIRKSN`; probabilities are averaged, not log odds.
    random_state : int, RandomState or None, default=0
        Shuffles the folds; the default makes results repeatable.
    max_iter : int, default=60
        Steps of the paths.
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
        As in `ksupport.IRKSNClassifier`; ``coef_`` is the ridge logistic regression on the support
        whose strength predicts best on folds, each with its own support (without folds, has the
        most evidence).
    posterior_, probability_, signal_, p_value_, sets_, expected_f1_, effective_rows_, decision_,
    n_iter_, path_
        As in `AutoIRKSN`.
    performance_ : Performance
        What folds say of new rows: ``score`` (share of the deviance explained), its
        ``standard_error``, and the score of knowing nothing, ``baseline``.  None if there are too
        few rows, or of a class, to hold some out.
    alternatives_ : list of (support, score)
        Other supports of almost as much evidence.

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
