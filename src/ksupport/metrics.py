r"""How well a model recovers the truth: its support and its coefficients.

With :math:`S^* = \mathrm{supp}(w^*)` and :math:`S = \mathrm{supp}(w)`, precision is
:math:`|S \cap S^*| / |S|`, recall is :math:`|S \cap S^*| / |S^*|`, and F1, their harmonic mean,
is :math:`2 |S \cap S^*| / (|S| + |S^*|)`. Where a denominator vanishes the score is 1 if *both*
supports are empty (nothing to find, nothing claimed) and 0 otherwise. With that one convention
F1 is the harmonic mean of the other two everywhere, and swapping truth and estimate swaps
precision and recall.

Every score takes one estimate, or a batch of them as the rows of a 2-D array or a SciPy sparse
matrix, such as the iterates of a path. An entry that is not a number counts as selected: a
method that diverged did not set it to zero.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ._common.vectors import scaled_by_power_of_two

__all__ = ["concordance", "model_error", "support_f1", "support_precision", "support_recall"]

Floats = NDArray[np.float64]

TIED = 1e-8  # risks that differ by no more are equal


def concordance(y: ArrayLike, risk: ArrayLike) -> float:
    """Concordance: share of comparable pairs in which the longer survivor has the smaller risk.

    Pairs count where the time of the earlier is that of an event (Harrell's c): a row that is
    censored at the very time of an event has survived it.  Equal risks count one half.

    Parameters
    ----------
    y : array-like of shape (n, 2)
        Columns time and event (0: censored).
    risk : array-like of shape (n,)
        The larger, the sooner the event.

    Returns
    -------
    float
        1 for a perfect order, one half for none.

    Examples
    --------
    >>> from ksupport.metrics import concordance
    >>> round(concordance([[1.0, 1], [2.0, 1], [3.0, 0]], [0.9, 0.1, 0.5]), 2)
    0.67
    """
    Y, score = np.asarray(y, np.float64), np.asarray(risk, np.float64)
    wrong, pairs = wrong_pairs(Y, score, np.ones(len(Y)))
    if not pairs.any():
        raise ValueError("y has no comparable pair: no row is known to have outlived another")
    return float(1.0 - wrong.sum() / pairs.sum())


def wrong_pairs(Y: Floats, risk: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Of each row the pairs in the wrong order that it is part of, and all its pairs.

    A pair counts with the product of the weights of its rows.
    """
    wrong, pairs = np.zeros(len(Y)), np.zeros(len(Y))
    for i in np.flatnonzero(Y[:, 1]).tolist():
        later = np.flatnonzero((Y[:, 0] > Y[i, 0]) | ((Y[:, 0] == Y[i, 0]) & (Y[:, 1] == 0)))
        gap = risk[i] - risk[later]
        count = weights[i] * weights[later]
        missed = count * np.where(np.abs(gap) <= TIED, 0.5, gap < 0)
        for total, each in ((wrong, missed), (pairs, count)):
            total[i] += each.sum()
            total[later] += each
    return wrong, pairs


def support_f1(w_true: ArrayLike, w: Any) -> float | NDArray[np.float64]:
    """F1 score of a support: the harmonic mean of its precision and its recall.

    Parameters
    ----------
    w_true : array-like of shape (n_features,)
        True coefficients, or the boolean mask of their support.
    w : array-like of shape (n_features,) or (n_models, n_features), or sparse of the latter
        Estimated coefficients or boolean masks, one model per row.

    Returns
    -------
    float or ndarray of shape (n_models,)
        1 for the true support, 0 for a disjoint one. Two empty supports agree: 1.

    Examples
    --------
    >>> from ksupport.metrics import support_f1
    >>> support_f1([1.0, 2.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0])
    0.6666666666666666
    >>> support_f1([1.0, 2.0, 0.0, 0.0], [[1, 1, 0, 0], [0, 0, 0, 0]])
    array([1., 0.])
    """
    hits, n_true, n_found = _counts(w_true, w)
    return _ratio(2.0 * hits, n_true + n_found, n_true + n_found)


def support_precision(w_true: ArrayLike, w: Any) -> float | NDArray[np.float64]:
    """Fraction of the selected features that are true ones.

    Parameters
    ----------
    w_true : array-like of shape (n_features,)
        True coefficients, or the boolean mask of their support.
    w : array-like of shape (n_features,) or (n_models, n_features), or sparse of the latter
        Estimated coefficients or boolean masks, one model per row.

    Returns
    -------
    float or ndarray of shape (n_models,)
        An empty estimate has precision 0, unless the truth is empty too: then 1.

    Examples
    --------
    >>> from ksupport.metrics import support_precision
    >>> support_precision([1.0, 2.0, 0.0, 0.0], [0.5, 0.0, 0.1, 0.0])
    0.5
    """
    hits, n_true, n_found = _counts(w_true, w)
    return _ratio(hits, n_found, n_true + n_found)


def support_recall(w_true: ArrayLike, w: Any) -> float | NDArray[np.float64]:
    """Fraction of the true features that are selected.

    Parameters
    ----------
    w_true : array-like of shape (n_features,)
        True coefficients, or the boolean mask of their support.
    w : array-like of shape (n_features,) or (n_models, n_features), or sparse of the latter
        Estimated coefficients or boolean masks, one model per row.

    Returns
    -------
    float or ndarray of shape (n_models,)
        An empty truth gives recall 0, unless the estimate is empty too: then 1.

    Examples
    --------
    >>> from ksupport.metrics import support_recall
    >>> support_recall([True, True, False, False], [0.5, 0.0, 0.1, 0.0])
    0.5
    """
    hits, n_true, n_found = _counts(w_true, w)
    return _ratio(hits, n_true, n_true + n_found)


def model_error(w_true: ArrayLike, w: Any) -> float | NDArray[np.float64]:
    """Euclidean distance from the true coefficients to the estimated ones.

    Parameters
    ----------
    w_true : array-like of shape (n_features,)
        True coefficients.
    w : array-like of shape (n_features,) or (n_models, n_features), or sparse of the latter
        Estimated coefficients, one model per row.

    Returns
    -------
    float or ndarray of shape (n_models,)

    Examples
    --------
    >>> from ksupport.metrics import model_error
    >>> model_error([3.0, 0.0], [0.0, 4.0])
    5.0
    """
    truth = _vector("w_true", w_true)
    models = _models(w, truth.size)
    for name, given in (("w_true", truth), ("w", models)):
        if given.dtype == bool:
            raise ValueError(
                f"{name} must hold coefficients, got a boolean mask, which has no size"
            )
    if not sparse.issparse(models):
        return _scalar_or_rows(_lengths(models - truth))
    # Split by the true support: each part is a sum of squares, so nothing cancels, and only the
    # few columns of the support are ever made dense.
    support = truth != 0
    columns = models.tocsc()
    on = columns[:, support].toarray() - truth[support]
    off = columns[:, ~support].tocsr()
    parts = [_lengths(on), _sparse_lengths(off)]
    return np.asarray(np.hypot(*parts))


def _lengths(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The l2 norm of each row, of numbers too large or too small to square as well."""
    unit, exponents = scaled_by_power_of_two(rows)
    lengths = np.ldexp(np.sqrt(np.square(unit).sum(axis=1)), exponents)
    return np.asarray(lengths.reshape(rows.shape[:-1]))


def _sparse_lengths(rows: Any) -> NDArray[np.float64]:
    """`_lengths` of a CSR matrix: each row's entries, one after the other."""
    ends = rows.indptr
    return np.array([_lengths(rows.data[a:b]) for a, b in pairwise(ends)], np.float64)


def _counts(w_true: ArrayLike, w: Any) -> tuple[Any, int, Any]:
    """Sizes of the common, of the true and of the estimated support."""
    truth = _vector("w_true", w_true) != 0
    found = _models(w, truth.size) != 0  # a stored zero of a sparse matrix is dropped here
    n_found = np.ravel(found.sum(axis=1)) if sparse.issparse(found) else found.sum(axis=-1)
    return found @ truth.astype(np.int64), int(truth.sum()), n_found


def _ratio(numerator: Any, denominator: Any, union: Any) -> float | NDArray[np.float64]:
    """``numerator / denominator``; where that is 0/0, 1 if both supports are empty, else 0."""
    numerator, denominator, union = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), denominator, union
    )
    undefined = np.where(union == 0, 1.0, 0.0)
    return _scalar_or_rows(np.divide(numerator, denominator, out=undefined, where=denominator != 0))


def _scalar_or_rows(value: NDArray[np.float64]) -> float | NDArray[np.float64]:
    return float(value) if np.ndim(value) == 0 else value


def _vector(name: str, value: ArrayLike) -> NDArray[Any]:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a vector of real coefficients or a boolean mask, "
            f"got shape {array.shape} and dtype {array.dtype}"
        )
    return array


def _models(w: Any, n_features: int) -> Any:
    models: Any = w if sparse.issparse(w) else np.asarray(w)
    if models.ndim not in (1, 2) or models.dtype.kind not in "biuf":
        raise ValueError(
            "w must be one vector, or a 2-D batch with one model per row, of real coefficients "
            f"or booleans, got shape {models.shape} and dtype {models.dtype}"
        )
    if models.shape[-1] != n_features:
        raise ValueError(
            f"w must have as many features as w_true, n_features={n_features}, "
            f"got shape {models.shape}"
        )
    return models.tocsr() if sparse.issparse(models) and models.ndim == 2 else models
