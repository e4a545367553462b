"""Rows of the data: how much each counts, and how well models predict those held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.utils import check_array

from .adjusting import Adjustment
from .stores import Floats, Ints, Store, is_dask, unwrapped
from .view import Design

Loss = Callable[[Floats], float]  # of predictions for held-out rows
MEANINGS = ("relative", "repetitions")


def fetched(values: Any, name: str = "y") -> Any:
    """Return a response or weights, computed if they are a Dask collection."""
    values = unwrapped(values, name)
    if not is_dask(values):
        return values
    from .dask_wait import compute_all  # Dask is there, as they are made of it

    return compute_all(values)[0]


def refuse_dates(X: Any, name: str = "X") -> None:
    """Reject dates and durations, which would be read in nanoseconds or fail in a fit."""
    name_of_types = "dtypes" if hasattr(type(X), "dtypes") else "dtype"  # a Dask Delayed has both
    types = getattr(X, name_of_types, None) if hasattr(type(X), name_of_types) else None
    types = [types] if name_of_types == "dtype" else types
    for each in types if isinstance(types, Iterable) else []:
        if getattr(each, "kind", None) in ("m", "M") or str(each).startswith(
            ("period", "interval")
        ):
            raise ValueError(
                f"{name} must hold numbers, got {each}; give dates as days, or in another unit, "
                "from an origin of your choice"
            )


@dataclass(frozen=True)
class Weights:
    """The weight of each row; rows of weight zero are ignored.

    The scale of relative weights does not matter, and the number of samples is that of rows.
    Repetitions say how often a row was observed: the number of samples is their sum.
    """

    values: Floats | None = None  # None: all rows count alike
    meaning: str = "relative"

    @classmethod
    def checked(cls, sample_weight: ArrayLike | None, n: int, meaning: str) -> Weights:
        """Validate the weights of n rows, as a user gives them."""
        if meaning not in MEANINGS:
            raise ValueError(f"weights must be 'relative' or 'repetitions', got {meaning!r}")
        if sample_weight is None:
            return cls(None, meaning)
        given = fetched(sample_weight, "sample_weight")
        refuse_dates(given, "sample_weight")
        one = np.isscalar(given) or getattr(given, "ndim", None) == 0
        try:
            values = check_array(
                np.full(n, given) if one else given,
                ensure_2d=False, dtype=np.float64, input_name="sample_weight",
            )  # fmt: skip
        except (TypeError, ValueError, OverflowError) as error:
            if "sample_weight" in str(error):
                raise
            raise ValueError(f"sample_weight must hold numbers: {error}") from error
        if values.shape != (n,):
            raise ValueError(
                f"sample_weight must be a number or have shape ({n},), got {values.shape}"
            )
        if (values < 0).any() or not values.any():
            raise ValueError(
                "sample_weight must be non-negative and not all zero, got values from "
                f"{values.min():g} to {values.max():g}"
            )
        broken = values[values % 1 != 0]
        if meaning == "repetitions" and broken.size:
            raise ValueError(
                "sample_weight must hold whole numbers where weights='repetitions', got "
                f"{broken[0]:g}; weights='relative' takes any"
            )
        return cls(np.asarray(values), meaning)

    @property
    def plain(self) -> Floats | None:
        """Weights of all rows, scaled so that no sum overflows; None if all are equal."""
        if self.values is None or self.meaning == "repetitions":
            return self.values
        return np.asarray(self.values / self.values.max())

    def samples(self, n: int) -> float:
        """Return how many samples n rows stand for."""
        rows = self.positive(np.arange(n))
        return float(rows.size if (each := self.of(rows)) is None else each.sum())

    def merged(self, first: Ints) -> Weights:
        """Return weights where each row's is added to that of its first copy."""
        own = np.ones(len(first)) if self.values is None else self.values
        return replace(self, values=np.asarray(np.bincount(first, own, len(first)), np.float64))

    def positive(self, rows: Ints) -> Ints:
        """Return the rows whose weight is positive."""
        return rows if self.values is None else rows[self.values[rows] > 0]

    def of(self, rows: Ints) -> Floats | None:
        """Return the weights of rows with positive weight; they sum to their number of samples."""
        if self.values is None or self.meaning == "repetitions":
            return None if self.values is None else self.values[rows]
        values = self.values[rows] / self.values[rows].max()  # so that no sum overflows
        return np.asarray(values / values.mean())


@dataclass(frozen=True)
class PreparedRows:
    """Rows of (X, Y), centred, projected and scaled for paths."""

    view: Design  # X, centred and scaled by these rows
    design: Design  # these rows of it, or fewer that do for them
    targets: list[Any]  # vectors, of squares; of other losses a `Response` each
    mean: Floats  # of Y
    adjustment: Adjustment | None = None  # the unpenalised columns beside the intercept

    def joined(self) -> PreparedRows:
        """Return a problem of one target: all targets, concatenated."""
        return replace(self, targets=[np.concatenate(self.targets)])

    def outline(self) -> PreparedRows:
        """Return a copy without the rows: enough to transform models back."""
        view = replace(self.view, family=(), _cache={})
        return replace(self, view=view, design=view, targets=[])

    def on(self, store: Store) -> PreparedRows:
        """Return this outline with its X again."""
        view = replace(self.view, store=store)
        return replace(self, view=view, design=view)

    def expected(self, always: Floats, target: int) -> Any:
        """Predict y without any feature, given the columns of `Problem.always_on`."""
        if self.adjustment is None:
            return float(self.mean[target])
        basis, share = self.adjustment.basis, self.adjustment.share[:, target]
        return self.mean[target] + basis.rows(always[:, -basis.mean.size :]) @ share


def one_by_one(Y: Floats) -> list[Floats]:
    """Return the targets, each contiguous, as compiled code needs them."""
    return [np.ascontiguousarray(y) for y in Y.T]


def marks_of(design: Design) -> Floats:
    """Return a number for each row of X̃ that differs where rows do: a random projection."""
    g = np.random.default_rng(0).standard_normal(design.d)
    marks = design.matvec(g)
    return marks if design.sqrt_weights is None else marks / design.sqrt_weights


def count_different(y: Floats, d: int, marks: Callable[[], Floats]) -> int:
    """Count the different rows of (X̃, y); more than 2d + 4 need not be counted exactly.

    Rows with different y differ, which is the usual case if y is measured: X̃ is then not needed.
    """
    values = _to_unit_size(y)
    found = _distinct(values)
    if found < min(len(y), 2 * d + 4):
        found = _distinct(values + _to_unit_size(marks()))
    return found


def _to_unit_size(values: Floats) -> Floats:
    return values / (np.abs(values).max() or 1.0)


def _distinct(values: Floats) -> int:
    """Count values, of about unit size, that differ by more than rounding."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(values)) > 1e-10))


class Predicting(Protocol):
    """Models, such as a block of recorded iterates, that predict the rows of a design."""

    def predict(self, design: Design) -> Floats: ...


@dataclass(frozen=True)
class Unseen:
    """Rows that were not walked on, and how well models predict them."""

    design: Design  # centred and scaled by the rows walked on
    truth: Floats  # y less what is expected without any feature
    weights: Floats | None
    loss: Loss | None = None  # instead of the mean squared error

    def __call__(self, models: Predicting) -> Floats:
        """Return the errors of recorded iterates."""
        return self.errors(models.predict(self.design))

    def errors(self, predictions: Floats) -> Floats:
        """Return the mean squared error, or the loss asked for, of each row of predictions."""
        if self.loss is not None:
            return np.array([self.loss(row) for row in predictions])
        return np.asarray(np.average((predictions - self.truth) ** 2, -1, self.weights))

    def errors_of(self, models: Any) -> Floats:
        """Return the mean squared error, or the loss asked for, of each row of coefficients."""
        return self.errors(predicted(models, self.design))

    def each_of(self, models: Any) -> Floats:
        """Return the squared error on each sample for each row of coefficients, R x n."""
        return np.asarray((predicted(models, self.design) - self.truth) ** 2)

    def row_errors(self, models: Any) -> tuple[Floats, Floats]:
        """Return the squared error of each model on each held-out row, and the rows' weights.

        For several responses it is their mean; rows that were compressed count as one.
        """
        squares, n = self.each_of(models), self.design.n
        if self.design.compact:
            return squares.mean(axis=1, keepdims=True), np.array([self.design.n_samples])
        squares = squares.reshape(len(squares), -1, n).mean(axis=1)
        return squares, np.ones(n) if self.weights is None else self.weights[:n]

    def average_errors(
        self, models: Floats, features: Ints, spread: Floats, shares: Floats
    ) -> Floats:
        """Return errors of averages of two models, for each share of the second.

        ``spread`` has coefficients of these features; see `choosing.average.Average`.
        """
        raise TypeError("averages of squares are linear: measure the mean of coefficients")


def predicted(models: Any, design: Design) -> Floats:
    """Return X̃w for each row of coefficients; several responses are concatenated."""
    targets = models.shape[1] // design.d
    if targets > 1:
        models = models.reshape(models.shape[0] * targets, design.d)
        models = sp.csr_array(models) if sp.issparse(models) else models
    used = np.unique(models.indices if sp.issparse(models) else np.nonzero(models)[1])
    fitted = np.asarray(models[:, used] @ design.columns(used))
    return fitted.reshape(len(fitted) // targets, targets * design.n)


class Answers(RegressorMixin, BaseEstimator):
    """Estimator that returns given predictions, so that any scorer of scikit-learn applies."""

    def __init__(self, given: Any = None) -> None:
        self.given = given

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.given


def loss_of(scoring: Any, truth: Floats, mean: Any) -> Loss | None:
    """Return a function that gives minus the score of predictions; None without a scorer.

    Predictions for several responses, the columns of truth and mean, are concatenated.
    """
    if scoring is None:
        return None
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring

    def loss(predictions: Floats) -> float:
        rows, said = np.zeros((len(truth), 1)), predictions.reshape(truth.T.shape).T
        return -float(scorer(Answers(said + mean), rows, truth))

    return loss
