"""The loss of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from .. import _kernels
from .base import Floats, Loss, Response
from .newton import Refit, least
from .separable import column


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
    kind: ClassVar[int] = _kernels.MULTINOMIAL
    smoothness: ClassVar[float | None] = 0.5

    n_classes: int | None = None

    @property
    def n_dual(self) -> int:
        if self.n_classes is None:
            raise ValueError("n_classes is not known: fix it by the data (`fixed`)")
        return self.n_classes

    def checked(self, y: Any) -> Floats:
        """Numbers of classes, from 0 on."""
        values = column(y)
        most = np.inf if self.n_classes is None else self.n_classes - 1
        other = values[(values < 0) | (values > most) | (values % 1 != 0)]
        if other.size:
            raise ValueError(f"y must number the classes from 0 on, got {other[0]:g}")
        return values

    def sorts(self, y: Floats) -> Floats:
        """The classes."""
        return y

    def check_rows(self, y: Floats) -> None:
        """Refuse rows of one class, or without one that there is."""
        if y.min() == y.max():
            raise ValueError(
                f"y has one class only on the {len(y)} rows to fit; two are needed: give rows of "
                "both, or hold out others"
            )
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
        own = np.take_along_axis(eta, at, axis=-1)[..., 0]
        return np.asarray(logsumexp(eta, axis=-1) - own)

    def mean(self, eta: Any) -> Any:
        """The probabilities of the classes."""
        return softmax(np.asarray(eta, order="C"), axis=-1)

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

    def constant(self, y: Floats, weights: Floats | None = None) -> Floats:  # type: ignore[override]
        """Logarithms of the shares of classes, which sum up to zero."""
        loss = self.fixed(y)
        shares = np.bincount(y.astype(np.intp), weights, loss.n_dual)
        with np.errstate(divide="ignore"):
            logs = np.log(shares)
        return np.asarray(logs - logs.mean())

    def refit(
        self,
        columns: Floats,
        y: Floats,
        weights: Floats | None = None,
        ridge: float = 0.0,
        unpenalized: Floats | None = None,
    ) -> Refit:
        """As of every loss; coefficients are classes x columns."""
        return least(self.on(y, weights, unpenalized), columns, ridge, _Classes)


class _Classes:
    """Coefficients of several classes as one vector, those of a class side by side."""

    def __init__(self, response: Response, columns: Floats) -> None:
        self.response, self.A = response, np.vstack([response.unpenalized, columns])
        self.C, self.q = response.loss.n_dual, len(response.unpenalized)

    def start(self) -> Floats:
        return np.zeros(self.C * len(self.A))

    def eta(self, b: Floats) -> Floats:
        return (b.reshape(self.C, -1) @ self.A).T

    def change(self, step: Floats) -> float:
        return float(np.abs(self.eta(step)).max(initial=0.0))

    def gradient(self, g: Floats) -> Floats:
        return (g.T @ self.A.T).ravel()

    def penalty(self, ridge: float) -> Floats:
        free = np.arange(len(self.A)) < self.q
        return np.tile(np.where(free, 0.0, ridge), self.C)

    def split(self, b: Floats) -> tuple[Floats, Floats]:
        B = b.reshape(self.C, -1)
        B = B - B.mean(axis=0)
        return B[:, self.q :], B[:, : self.q]
