"""What a loss knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.checks import as_numbers
from .._kernels.losses import Loss as RowLoss
from .newton import Model, Refit, refits
from .response import Response

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def weights_or_ones(weights: ArrayLike | None, n: int) -> Floats:
    """Weights of n rows as compiled code takes them; one each where none are given."""
    return np.ones(n) if weights is None else contiguous(weights)


def contiguous(values: ArrayLike) -> Floats:
    """Numbers as compiled code takes them."""
    return np.ascontiguousarray(values, np.float64)


@dataclass(frozen=True)
class Loss:
    """A convex function of fitted values eta, given the response y.

    Arrays ``eta`` may have leading axes, of many models at once; the last one is that of rows.
    Sums over rows, and their derivatives, take ``weights``.
    """

    name: ClassVar[str]
    kernel: ClassVar[type[RowLoss]]  # the compiled one, of the response and weights
    smoothness: ClassVar[float | None]  # a bound on second derivatives; None: there is none
    has_constant: ClassVar[bool] = True  # whether an intercept says anything
    in_units_of_y: ClassVar[bool] = False  # whether eta is
    of_classes: ClassVar[bool] = False  # whether the response is a class
    may_spread: ClassVar[bool] = False  # whether rows may vary more than the loss says
    averages_eta: ClassVar[bool] = True  # whether `averaged` is the mean of both eta
    uses_variance: ClassVar[bool] = False  # whether predictions use the variance of eta over models
    model: ClassVar[type[Model] | None] = None  # of a refit, where rows have several numbers

    # -- the response ----------------------------------------------------------------------

    def checked(self, y: Any) -> Floats:
        """The response as numbers, or an error that says what is wrong with it."""
        values = np.asarray(as_numbers("y", y), np.float64)
        if values.ndim != 1:
            raise ValueError(f"y must have shape (n,), got {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("y contains NaN or infinity")
        return values

    def one_by_one(self, Y: Floats) -> list[Floats]:
        """The responses, each for a model of its own, in the columns of Y."""
        return [np.ascontiguousarray(y) for y in Y.T]

    def sorts(self, y: Floats) -> Floats:
        """A label for each row; rows to fit and rows held out should have some of each."""
        return y if self.of_classes else np.zeros(len(y))

    def needed_sorts(self, sorts: Floats) -> Floats:
        """Those of these sorts of which every fit needs a row: all classes, else sort 1."""
        return np.unique(sorts) if self.of_classes else np.ones(1 if np.any(sorts) else 0)

    def check_rows(self, y: Floats) -> None:
        """Refuse rows, already checked one by one, from which nothing can be learnt."""
        if self.of_classes and y.min() == y.max():
            raise ValueError(
                f"y has one class only on the {len(y)} rows to fit; two are needed: give rows of "
                "both, or hold out others"
            )

    def fixed(self, y: Floats, weights: Floats | None = None) -> Loss:
        """The loss with those of its parameters set that depend on the data."""
        return self

    def on(
        self, y: ArrayLike, weights: Floats | None = None, unpenalized: Floats | None = None
    ) -> Response:
        """This loss on the rows of a problem; see `Response`."""
        target = np.asarray(y, np.float64)
        n = len(target)
        Q = np.ascontiguousarray(np.empty((0, n)) if unpenalized is None else unpenalized, float)
        return Response(self.fixed(target, weights), target, weights_or_ones(weights, n), Q)

    def emphasis(self, y: Floats) -> Floats:
        """How much each row counts while a path is walked, besides its weight."""
        return np.ones(len(y))

    @property
    def n_dual(self) -> int:
        """Fitted values, and so dual numbers, that a row has."""
        return 1

    @property
    def n_free(self) -> int:
        """How many of them can be chosen: of classes only differences count."""
        return 1

    def compiled(self, y: Floats, weights: Floats) -> RowLoss:
        """This loss on these rows, for compiled code (`ksupport._kernels.losses`)."""
        return self.kernel(contiguous(y), weights)

    # -- values and derivatives ------------------------------------------------------------

    def value(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        """What each row contributes; summed up, less what a perfect fit would have."""
        E = contiguous(eta).reshape(-1, np.shape(eta)[-1])
        out = np.empty_like(E)
        self.compiled(y, weights_or_ones(weights, len(y))).values_rows(E, out)
        return out.reshape(np.shape(eta))

    def deviance(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        """Twice the value, row by row; (y - eta)² for squares."""
        return 2.0 * self.value(eta, y, weights)

    def gradient(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        """Derivatives of the weighted sum of values."""
        return self._slopes(eta, y, weights)[0]

    def curvature(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        """Second derivatives of the weighted sum of values; their diagonal where rows interact."""
        return self._slopes(eta, y, weights)[1]

    def _slopes(self, eta: Floats, y: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
        E = contiguous(eta).reshape(-1, np.shape(eta)[-1])
        G, H = np.empty_like(E), np.empty_like(E)
        self.compiled(y, weights_or_ones(weights, len(y))).slopes_rows(E, G, H)
        return G.reshape(np.shape(eta)), H.reshape(np.shape(eta))

    def hessian(self, columns: Floats, eta: Floats, y: Floats, weights: Floats) -> Floats:
        """Second derivatives of the weighted sum of values in coefficients of columns (as rows)."""
        rows = self.compiled(y, weights_or_ones(weights, len(y)))
        return np.asarray(rows.hessian_of(contiguous(eta), contiguous(columns)))

    def reduced_hessian(self, columns: Floats, eta: Floats, y: Floats, weights: Floats) -> Floats:
        """The Hessian in identifiable coefficients: of classes, those of contrasts (`Model`)."""
        return self.hessian(columns, eta, y, weights)

    def contrasts(self, eta: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Of several fitted values a row: the root of their mean curvature, and its inverse.

        Both take n_dual values to n_free ones, along which the curvature of the loss is equal.
        """
        raise NotImplementedError

    # -- models ----------------------------------------------------------------------------

    def mean(self, eta: Any) -> Any:
        """What is expected of the response at eta."""
        return eta

    def averaged(self, eta: Any, other: Any, variance: Any = 0.0, share: float = 0.5) -> Any:
        """Where the response is expected to be what two models expect of it, on average.

        The other counts by its share.  Where expectations are not linear in eta, that of the first
        is uncertain by this variance.
        """
        return (1.0 - share) * eta + share * other

    def constant(self, y: Floats, weights: Floats | None = None) -> float:
        """The best eta that is the same in all rows."""
        if not self.has_constant:
            return 0.0
        return float(
            self.on(y, weights, np.ones((1, len(y)))).unpenalized_coef(np.zeros(len(y)))[0]
        )

    def refit(
        self,
        columns: Floats,
        y: Floats,
        weights: Floats | None = None,
        ridge: float = 0.0,
        unpenalized: Floats | None = None,
    ) -> Refit:
        """The least of Σ weights value + ridge/2 ‖w‖² over coefficients w of columns (as rows).

        Those of ``unpenalized`` columns (as rows: ones for an intercept) are free.  Where there is
        no least, as of classes that the columns separate, a small ridge makes one.
        """
        (found,) = refits(self.on(y, weights, unpenalized), columns, [ridge])
        return found

    def deviance_of_new(
        self, seen: Response, eta: Floats, new_eta: Floats, new_y: Floats
    ) -> Floats:
        """Deviance of rows that were not seen, for models that have eta on those that were."""
        return self.deviance(new_eta, new_y)
