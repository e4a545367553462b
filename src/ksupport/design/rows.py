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
    """A response or weights as they are, but computed if they are a collection of Dask."""
    values = unwrapped(values, name)
    if not is_dask(values):
        return values
    from .dask_wait import computed  # Dask is there, as they are made of it

    return computed(values)[0]


def refuse_dates(X: Any, name: str = "X") -> None:
    """Dates and durations would be counted in nanoseconds, or fail in the middle of a fit."""
    of = "dtypes" if hasattr(type(X), "dtypes") else "dtype"  # a Dask Delayed claims to have both
    types = getattr(X, of, None) if hasattr(type(X), of) else None
    types = [types] if of == "dtype" else types
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
    """How much each row counts; one without weight takes part in nothing.

    Relative weights compare rows with each other: their scale says nothing, and rows are what is
    counted.  Repetitions say how often a row was seen: then they are counted.
    """

    values: Floats | None = None  # None: all rows count alike
    meaning: str = "relative"

    @classmethod
    def checked(cls, sample_weight: ArrayLike | None, n: int, meaning: str) -> Weights:
        """The weights of n rows, as a user gives them."""
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
        """Of all rows, at a scale at which no sum overflows; None: all count alike."""
        if self.values is None or self.meaning == "repetitions":
            return self.values
        return np.asarray(self.values / self.values.max())

    def samples(self, n: int) -> float:
        """For how many samples n rows stand."""
        rows = self.positive(np.arange(n))
        return float(rows.size if (each := self.of(rows)) is None else each.sum())

    def merged(self, first: Ints) -> Weights:
        """With the weight of each row added to that of another, its first copy."""
        own = np.ones(len(first)) if self.values is None else self.values
        return replace(self, values=np.asarray(np.bincount(first, own, len(first)), np.float64))

    def positive(self, rows: Ints) -> Ints:
        """Those of these rows that have weight."""
        return rows if self.values is None else rows[self.values[rows] > 0]

    def of(self, rows: Ints) -> Floats | None:
        """The weights of rows that have some; their sum says for how many samples they stand."""
        if self.values is None or self.meaning == "repetitions":
            return None if self.values is None else self.values[rows]
        values = self.values[rows] / self.values[rows].max()  # so that no sum overflows
        return np.asarray(values / values.mean())


@dataclass(frozen=True)
class Walked:
    """Some rows of (X, Y), as the paths see them."""

    view: Design  # X, centred and scaled by these rows
    design: Design  # these rows of it, or fewer that do for them
    targets: list[Any]  # vectors, of squares; of other losses a `Response` each
    mean: Floats  # of Y
    adjustment: Adjustment | None = None  # the unpenalised columns beside the intercept

    def joined(self) -> Walked:
        """A problem of one target: all targets side by side."""
        return replace(self, targets=[np.concatenate(self.targets)])

    def outline(self) -> Walked:
        """What tells of models on them, without the rows."""
        view = replace(self.view, family=(), _cache={})
        return replace(self, view=view, design=view, targets=[])

    def on(self, store: Store) -> Walked:
        """Given the X of which this is the outline."""
        view = replace(self.view, store=store)
        return replace(self, view=view, design=view)

    def expected(self, always: Floats, target: int) -> Any:
        """What is said of y without any feature, where these columns are (`Problem.always_on`)."""
        if self.adjustment is None:
            return float(self.mean[target])
        basis, share = self.adjustment.basis, self.adjustment.share[:, target]
        return self.mean[target] + basis.rows(always[:, -basis.mean.size :]) @ share


def one_by_one(Y: Floats) -> list[Floats]:
    """The targets, each contiguous, as compiled code takes them."""
    return [np.ascontiguousarray(y) for y in Y.T]


def marks_of(design: Design) -> Floats:
    """A number for each row of X̃, which differs where rows do: a product with a random vector."""
    g = np.random.default_rng(0).standard_normal(design.d)
    marks = design.matvec(g)
    return marks if design.sqrt_weights is None else marks / design.sqrt_weights


def count_different(y: Floats, d: int, marks: Callable[[], Floats]) -> int:
    """How many rows of (X̃, y) differ, as far as matters, given the marks of those of X̃.

    Values of y alone tell apart as many rows as they differ.  They hardly ever recur if they are
    measured; and more than twice as many different rows as features allow no larger models.
    """
    values = _to_unit_size(y)
    found = _distinct(values)
    if found < min(len(y), 2 * d + 4):
        found = _distinct(values + _to_unit_size(marks()))
    return found


def _to_unit_size(values: Floats) -> Floats:
    return values / (np.abs(values).max() or 1.0)


def _distinct(values: Floats) -> int:
    """How many values of about unit size differ by more than rounding."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(values)) > 1e-10))


class Predicting(Protocol):
    """Models, as a block of recorded iterates, that predict the rows of a design."""

    def predict(self, design: Design) -> Floats: ...


@dataclass(frozen=True)
class Unseen:
    """Rows that were not walked on, and how well models predict them."""

    design: Design  # centred and scaled by the rows walked on
    truth: Floats  # y less what is expected without any feature
    weights: Floats | None
    loss: Loss | None = None  # instead of the mean squared error

    def __call__(self, models: Predicting) -> Floats:
        """The errors of iterates: what a path records."""
        return self.errors(models.predict(self.design))

    def errors(self, predictions: Floats) -> Floats:
        """Mean squared error, or the loss asked for, of each row of predictions."""
        if self.loss is not None:
            return np.array([self.loss(row) for row in predictions])
        return np.asarray(np.average((predictions - self.truth) ** 2, -1, self.weights))

    def errors_of(self, models: Any) -> Floats:
        """Mean squared error, or the loss asked for, of each row of coefficients."""
        return self.errors(predicted(models, self.design))

    def each_of(self, models: Any) -> Floats:
        """The squared error of each row for each row of coefficients, R x n."""
        return np.asarray((predicted(models, self.design) - self.truth) ** 2)

    def row_errors(self, models: Any) -> tuple[Floats, Floats]:
        """The squared error of each row of coefficients on each held-out row, and rows' weights.

        Of several responses it is the mean; rows that were summed up count as one.
        """
        squares, n = self.each_of(models), self.design.n
        if self.design.compact:
            return squares.mean(axis=1, keepdims=True), np.array([self.design.n_samples])
        squares = squares.reshape(len(squares), -1, n).mean(axis=1)
        return squares, np.ones(n) if self.weights is None else self.weights[:n]

    def average_errors(
        self, models: Floats, features: Ints, spread: Floats, shares: Floats
    ) -> Floats:
        """Errors of rows (R x n), expected as two models do on average, by shares of the second.

        ``spread`` has coefficients of these features; see `choosing.average.Average`.
        """
        raise TypeError("averages of squares are linear: measure the mean of coefficients")


def predicted(models: Any, design: Design) -> Floats:
    """X̃w for each row of coefficients; of several responses all is side by side."""
    targets = models.shape[1] // design.d
    if targets > 1:
        models = models.reshape(models.shape[0] * targets, design.d)
        models = sp.csr_array(models) if sp.issparse(models) else models
    used = np.unique(models.indices if sp.issparse(models) else np.nonzero(models)[1])
    fitted = np.asarray(models[:, used] @ design.columns(used))
    return fitted.reshape(len(fitted) // targets, targets * design.n)


class Answers(RegressorMixin, BaseEstimator):
    """Answers with given predictions, so that any scorer of scikit-learn can judge them."""

    def __init__(self, given: Any = None) -> None:
        self.given = given

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.given


def loss_of(scoring: Any, truth: Floats, mean: Any) -> Loss | None:
    """Minus the score: of a scorer or its name, as everywhere in scikit-learn; None for none.

    Predictions for several responses, the columns of truth and mean, stand side by side.
    """
    if scoring is None:
        return None
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring

    def loss(predictions: Floats) -> float:
        rows, said = np.zeros((len(truth), 1)), predictions.reshape(truth.T.shape).T
        return -float(scorer(Answers(said + mean), rows, truth))

    return loss
