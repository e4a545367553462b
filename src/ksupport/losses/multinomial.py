"""The loss of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from .._kernels.multinomial import Multinomial as RowMultinomial
from .base import Floats, Loss, contiguous
from .newton import Model
from .response import LEAST_CURVATURE, Response
from .separable import log_shares


@cache
def contrasts_of(count: int) -> Floats:
    """Helmert's contrasts of so many classes, as orthonormal rows: one class and those before."""
    at = np.arange(1, count)[:, None]
    V = np.tri(count - 1, count) - at * np.eye(count - 1, count, 1)
    return np.asarray(V / np.sqrt(at * (at + 1.0)))


class _Classes:
    """Coefficients of contrasts of classes as one vector, those of a contrast side by side."""

    def __init__(self, response: Response, columns: Floats) -> None:
        self.response, self.A = response, np.vstack([response.unpenalized, columns])
        self.V, self.q = contrasts_of(response.n_dual), len(response.unpenalized)

    def start(self) -> Floats:
        return np.zeros(len(self.V) * len(self.A))

    def from_unpenalized(self, c: Floats) -> Floats:
        b = np.zeros((len(self.V), len(self.A)))
        b[:, : self.q] = self.V @ c.reshape(self.V.shape[1], self.q)
        return b.ravel()

    def _of_classes(self, b: Floats) -> Floats:
        return np.asarray(self.V.T @ b.reshape(len(self.V), -1))

    def eta(self, b: Floats) -> Floats:
        return (self._of_classes(b) @ self.A).T

    def gradient(self, g: Floats) -> Floats:
        return (self.V @ g.T @ self.A.T).ravel()

    def penalty(self, ridge: float) -> Floats:
        free = np.arange(len(self.A)) < self.q
        return np.tile(np.where(free, 0.0, ridge), len(self.V))

    def split(self, b: Floats) -> tuple[Floats, Floats]:
        B = self._of_classes(b)
        return B[:, self.q :], B[:, : self.q]


@dataclass(frozen=True)
class Multinomial(Loss):
    """log Σ_c exp(eta_c) - eta_y, for classes y in {0, ..., n_classes - 1}.

    A row has a fitted value for each class: arrays ``eta`` are (..., n, n_classes), and so are
    derivatives.  Only differences of classes count; models sum up to zero over classes.  With two
    classes it is `Logistic` at ``eta_1 - eta_0``.

    Parameters
    ----------
    n_classes : int, optional
        How many classes there are; None takes as many as the rows of the fit have.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Multinomial
    >>> Multinomial(3).gradient(np.zeros((1, 3)), np.array([2.0])).round(3)
    array([[ 0.333,  0.333, -0.667]])
    """

    name: ClassVar[str] = "multinomial"
    smoothness: ClassVar[float] = 0.5
    of_classes: ClassVar[bool] = True
    averages_eta: ClassVar[bool] = False
    model: ClassVar[type[Model]] = _Classes

    n_classes: int | None = None

    @property
    def n_dual(self) -> int:
        if self.n_classes is None:
            raise ValueError("n_classes is not known: fix it by the data (`fixed`)")
        return self.n_classes

    @property
    def n_free(self) -> int:
        return self.n_dual - 1

    def compiled(self, y: Floats, weights: Floats) -> RowMultinomial:
        """This loss on these rows, for compiled code."""
        return RowMultinomial(contiguous(y), weights, self.n_dual)

    def checked(self, y: Any) -> Floats:
        """Numbers of classes, from 0 on."""
        values = super().checked(y)
        most = np.inf if self.n_classes is None else self.n_classes - 1
        other = values[(values < 0) | (values > most) | (values % 1 != 0)]
        if other.size:
            raise ValueError(f"y must number the classes from 0 on, got {other[0]:g}")
        return values

    def check_rows(self, y: Floats) -> None:
        """Refuse rows of one class, or without one that there is."""
        super().check_rows(y)
        there = np.bincount(y.astype(np.intp), minlength=self.n_classes or 0)
        if not there.all():
            raise ValueError(
                f"y has {there.size} classes, but on the {len(y)} rows to fit there is none of "
                f"class number {int(np.argmin(there))}; give rows of it, or leave it out"
            )

    def fixed(self, y: Floats, weights: Floats | None = None) -> Multinomial:
        """With as many classes as y has, if that was not given."""
        return self if self.n_classes is not None else Multinomial(int(y.max()) + 1)

    def value(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        """Minus the logarithm of the probability of the class."""
        eta = np.asarray(eta, order="C")  # last bits of sums and exponentials differ with strides
        at = np.broadcast_to(y.astype(np.intp)[:, None], (*eta.shape[:-1], 1))
        own, most = np.take_along_axis(eta, at, axis=-1), eta.max(axis=-1, keepdims=True)
        return np.asarray(np.log(np.exp(eta - most).sum(axis=-1)) + (most - own)[..., 0])

    def mean(self, eta: Any) -> Any:
        """The probabilities of the classes."""
        eta = np.asarray(eta, order="C")
        raised = np.exp(eta - np.max(eta, axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)

    def averaged(self, eta: Any, other: Any, variance: Any = 0.0, share: float = 0.5) -> Any:
        """Logarithms of the mean probabilities, less their mean; the variance is left aside."""
        one, two = log_shares(share)
        found = np.logaddexp(one + _log_softmax(eta), two + _log_softmax(other))
        return found - found.mean(axis=-1, keepdims=True)

    def _slopes(self, eta: Floats, y: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
        each = np.ones((len(y), 1)) if weights is None else weights[:, None]
        p = self.mean(eta)
        return each * (p - np.eye(eta.shape[-1])[y.astype(np.intp)]), each * p * (1 - p)

    def hessian(self, columns: Floats, eta: Floats, y: Floats, weights: Floats) -> Floats:
        """In coefficients of classes x columns, those of a class side by side."""
        p, C = self.mean(eta), eta.shape[-1]
        H = np.empty((C, len(columns), C, len(columns)))
        for a in range(C):
            for b in range(C):
                h = weights * p[:, a] * ((a == b) - p[:, b])
                H[a, :, b] = (columns * h) @ columns.T
        return H.reshape(C * len(columns), -1)

    def reduced_hessian(self, columns: Floats, eta: Floats, y: Floats, weights: Floats) -> Floats:
        """In coefficients of contrasts x columns."""
        V, p = contrasts_of(eta.shape[-1]), self.mean(eta)
        along, m = p @ V.T, len(columns)
        H = np.empty((len(V), m, len(V), m))
        for a in range(len(V)):
            for b in range(a + 1):
                h = weights * (p @ (V[a] * V[b]) - along[:, a] * along[:, b])
                H[a, :, b] = (columns * h) @ columns.T
                H[b, :, a] = H[a, :, b]
        return H.reshape(len(V) * m, len(V) * m)

    def contrasts(self, eta: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Of classes: along the axes of the mean curvature."""
        p = self.mean(eta) * weights[:, None]
        mean = (np.diag(p.sum(axis=0)) - p.T @ self.mean(eta)) / weights.sum()
        V = contrasts_of(len(mean))
        sizes, axes = np.linalg.eigh(V @ mean @ V.T)
        roots = np.sqrt(np.maximum(sizes, LEAST_CURVATURE * self.smoothness))[:, None]
        return roots * (axes.T @ V), (axes.T @ V) / roots

    def constant(self, y: Floats, weights: Floats | None = None) -> Floats:  # type: ignore[override]
        """Logarithms of the shares of classes, which sum up to zero."""
        loss = self.fixed(y)
        shares = np.bincount(y.astype(np.intp), weights, loss.n_dual)
        with np.errstate(divide="ignore"):
            logs = np.log(shares)
        return np.asarray(logs - logs.mean())


def _log_softmax(eta: Any) -> Any:
    """Logarithms of probabilities; of Dask arrays, too."""
    below = eta - eta.max(axis=-1, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=-1, keepdims=True))
