"""Certificates of fitted models."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.names import names_seen
from .._common.progress import shows_progress
from ..design import (
    Problem,
    by_blocks,
    fetched,
)
from ..theory.report import RecoveryReport, report_on


class Certified:
    """The part of a linear model that checks recovery conditions at it."""

    @shows_progress
    def certify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RecoveryReport:
        """Check conditions under which a method would find this model, were it the truth.

        Evaluates the recovery conditions of the theory at ``coef_``, on X and y centred, scaled
        and weighted as the paths saw them.  They are sufficient, not necessary, and rarely met
        with noise: where they fail the model may be good or bad.  To tell which, look at its
        error on rows held out (``sklearn.model_selection.cross_val_score``) and at how often
        half-samples choose its features (`stability_selection`).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements of the fit.
        y : array of shape (n,)
            The response of the fit.
        sample_weight : array of shape (n,), optional
            The weights of the fit.

        Returns
        -------
        ksupport.theory.RecoveryReport
            Print it, show it in a notebook, or take ``to_dict()``.

        Notes
        -----
        All rows count, those that a stopping rule held out too.  For paths of IRKSN, the error is
        predicted at the model's own alpha.

        Examples
        --------
        >>> from ksupport import IRKSN
        >>> from ksupport.datasets import make_example1
        >>> X, y, w = make_example1()
        >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
        >>> report = model.certify(X, y)
        >>> print(report.words[0])
        If this vector is the truth, IRKSN with k=3 recovers it: ...
        >>> [row.method for row in report.methods if row.status == "met"]
        ['IRKSN']
        """
        check_is_fitted(self)
        return certificate(self, X, y, sample_weight)

    def _of_one_column(self: Any) -> Any:
        """A model of one column of y, as that of the vector."""
        flat = copy(self)
        flat.coef_, flat.intercept_ = self.coef_[0], float(self.intercept_[0])
        flat.adjustment_ = {name: values[0] for name, values in self.adjustment_.items()}
        flat._selection = replace(self._selection, coef=self._selection.coef[0], shared=False)
        for name in ("n_iter_", "stop_reason_", "history_"):
            if isinstance(values := getattr(self, name, None), list):
                setattr(flat, name, values[0])
        return flat


def certificate(model: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> RecoveryReport:
    """The report on a fitted linear model, on the data of its fit."""
    if model._loss.name != "squared":
        raise ValueError(
            f"certify requires loss='squared', got loss={model._loss.name!r}: the recovery "
            "conditions are proved for squares only; fit a model with loss='squared'"
        )
    if model._labels is not None:
        raise ValueError(
            f"certify requires single features, got feature_groups of {max(model._labels) + 1} "
            "groups: the recovery conditions are proved for single features; certify a model "
            "fitted without feature_groups"
        )
    if len(np.atleast_2d(model.coef_)) > 1:
        raise ValueError(
            f"certify requires a model of one target, got {len(model.coef_)}: fit and certify "
            "the columns of y one at a time"
        )
    if model.coef_.ndim > 1:
        return certificate(model._of_one_column(), X, np.ravel(fetched(y)), sample_weight)
    if not model.support_.any():
        raise ValueError(f"there is nothing to certify: {model._why_empty()}")
    given = X
    X, y = model._validated(X, y, reset=False)
    if isinstance(X, np.ndarray) and not by_blocks(X):
        X = X.astype(np.float64, copy=False)  # conditions are about small differences
    weights = model._weights(sample_weight, len(y))
    rows = np.arange(len(y))
    problem = Problem(
        X, y[:, None], weights, rows, model.fit_intercept, model.standardize,
        unpenalized=model._set_aside(given),
    )  # fmt: skip
    return report_on(
        problem.view, problem.scaled(model.coef_.astype(np.float64)), problem.targets[0],
        alpha=model._selection.irksn[1], names=names_seen(model),
        remarks=tuple(_remarks(model, problem)),
    )  # fmt: skip


def _remarks(model: Any, problem: Problem) -> Iterator[str]:
    """What to know when reading a certificate of this model on these data."""
    k, size = model._selection.irksn[0], int(model.support_.sum())
    if model.positive:
        yield (
            "The conditions are for coefficients of either sign. A non-negative model that "
            "meets them is recovered with positive=True, too: it has the least R of all that "
            "fit, and so of those that are non-negative."
        )
    if k is not None and k != size:
        yield (
            f"The path was walked with k={k} and the support has {size} features; the "
            f"condition of IRKSN is for k={size}."
        )
    off = abs(problem.to_original_units(model.coef_)[2] - model.intercept_)
    if model.fit_intercept and off > 1e-4 * float(np.std(problem.Y)):
        yield (
            f"On these rows predictions are off by {off:.3g} on average, so the model was "
            "fitted on other rows or weights (a rule that holds out rows does that too). "
            "The conditions are those of the rows given here."
        )
