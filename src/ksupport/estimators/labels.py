"""Classes: how they are told apart from numbers, weighted and predicted."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .._common.progress import shows_progress
from ..choosing.selection import Selection
from ..design import Floats, Problem, Weights, fetched
from ..losses import Logistic, Loss, Multinomial
from .base import LinearModel
from .checks import with_parameters

NUMBERS = (int, float, np.number, np.bool_)  # that may stand in an array of objects as classes


@with_parameters
class LinearClassifier(ClassifierMixin, LinearModel):
    """A linear model of the log odds of two classes, or of the logarithms of probabilities.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        How much the rows of each class count, besides ``sample_weight``; "balanced" lets classes
        count alike.
    fit_intercept : bool
        Whether to fit an intercept, which is never penalised.
    unpenalized : names, indices, mask or selector, optional
        Columns that are always in the model, as in `IRKSN`; Newton's method finds their
        coefficients at each step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) of more than two
        Coefficients of the log odds of the second class, or of every class; those of unpenalised
        columns too.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept.
    """

    _loss = cast("Loss", Logistic())
    _many_classes = False  # whether more than two are taken

    _: KW_ONLY
    class_weight: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many
        # Where features can only speak for the second class, what tells the first is not to be had.
        tags.classifier_tags.poor_score = bool(self.positive)
        return tags

    @property
    def _takes_many(self) -> bool:
        """Whether more than two classes are taken: their coefficients have both signs."""
        return self._many_classes and not self.positive

    def _validated(
        self, X: Any, y: ArrayLike, multi_output: bool = False, reset: bool = True
    ) -> tuple[Any, Floats]:
        """X and y checked, the classes as 0, 1, and so on."""
        return super()._validated(X, None if y is None else self._encode(y, reset), False, reset)

    def _encode(self, y: Any, reset: bool) -> Floats:
        """Which class each row has; those of the fit are remembered or compared."""
        y = column_or_1d(fetched(y), warn=True)
        if y.dtype == object and all(isinstance(label, NUMBERS) for label in y):
            y = np.array(y.tolist())
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        found = np.unique(y)
        if reset:
            if found.size > 2 and not self._takes_many:
                instead = "; IRKSNClassifier takes more than two"
                if self._many_classes:
                    instead = (
                        ", and positive=True is for two, as coefficients of more sum up to zero: "
                        "give positive=False"
                    )
                raise ValueError(
                    "Only binary classification is supported. The type of the target is "
                    f"{type_of_target(y)}: y has {found.size} classes{instead}"
                )
            self.classes_ = found
            self._loss = Multinomial(found.size) if found.size > 2 else Logistic()
        elif not np.isin(found, self.classes_).all():
            raise ValueError(f"y must have the classes of the fit, {self.classes_}, got {found}")
        return np.asarray(np.searchsorted(self.classes_, y), np.float64)

    def _weights_for(self, y: Floats, sample_weight: ArrayLike | None) -> Weights:
        weights = self._weights(sample_weight, len(y))
        if self.class_weight is None:
            return weights
        # Before classes are compared: those without weight are none.
        self._loss.check_rows(y[weights.positive(np.arange(len(y)))])
        place, own = y.astype(np.intp), 1.0 if weights.values is None else weights.values
        of_class = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[place],
            sample_weight=weights.values,
        )  # fmt: skip
        return self._weights(of_class[place] * own, len(y))

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        if chosen.flat:
            self.coef_, self.intercept_ = self.coef_[None], np.array([self.intercept_])

    # -- predicting ------------------------------------------------------------------------

    @shows_progress
    def decision_function(self, X: Any) -> Any:
        """Log odds of the second class; of more than two, for each the logarithm of its odds.

        That is X w + intercept; of more than two classes they sum up to zero.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n,), or (n, n_classes) of more than two
            For a Dask array or data frame a Dask array, not computed yet.
        """
        eta = self._eta(X)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n, n_classes)
            A column for each of ``classes_``.
        """
        eta = np.asarray(self.decision_function(X))
        return self._loss.mean(np.column_stack([-eta, eta]) if eta.ndim == 1 else eta)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        eta = np.asarray(self.decision_function(X))
        if eta.ndim == 2:
            return np.asarray(log_softmax(eta, axis=1))
        return -np.logaddexp(0.0, np.column_stack([eta, -eta]))

    def predict(self, X: Any) -> Any:
        """The most probable class.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        eta = np.asarray(self.decision_function(X))
        return self.classes_[(eta > 0).astype(np.intp) if eta.ndim == 1 else eta.argmax(axis=1)]
