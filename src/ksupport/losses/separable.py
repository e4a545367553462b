"""Losses that are sums over rows: squares, Huber's, of classes and of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from .._common.checks import check_interval
from .._kernels import losses as kernels
from .base import Floats, Loss, contiguous

# Of the spread of y, beyond which Huber's loss is linear.  1.345 standard deviations of the errors
# would be the textbook's, but those are not known before the model is, and are several times
# smaller; 0.2 loses little without outliers (`benchmarks/losses.py`; chosen on other draws).
SHARE = 0.2
HALF = 1e-12  # share of half the weight that may be lacking in a median
NORMAL = 0.6745  # median of |x| for a standard normal x


@dataclass(frozen=True)
class Squared(Loss):
    """½ (y - eta)².

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Squared
    >>> Squared().deviance(np.array([1.0, 2.0]), np.array([1.0, 5.0]))
    array([0., 9.])
    """

    name: ClassVar[str] = "squared"
    kernel: ClassVar[type[kernels.Loss]] = kernels.Squared
    smoothness: ClassVar[float | None] = 1.0
    in_units_of_y: ClassVar[bool] = True


@dataclass(frozen=True)
class Huber(Loss):
    """Squares of small residuals, absolute values of those beyond delta.

    With ``r = y - eta`` it is ``½ r²`` where ``|r|`` is at most delta, and ``delta |r| - ½ delta²``
    beyond.

    Parameters
    ----------
    delta : float, optional
        Beyond it errors count linearly.  None takes 0.2 standard deviations of y, estimated by the
        median of ``|y - median(y)|`` on the rows of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Huber
    >>> Huber(delta=1.0).deviance(np.zeros(2), np.array([0.5, 10.0]))
    array([ 0.25, 19.  ])
    """

    name: ClassVar[str] = "huber"
    smoothness: ClassVar[float | None] = 1.0
    in_units_of_y: ClassVar[bool] = True

    delta: float | None = None

    def __post_init__(self) -> None:
        if self.delta is not None:
            check_interval("delta", self.delta, low=0, high=np.inf, open_low=True, open_high=True)

    def compiled(self, y: Floats, weights: Floats) -> kernels.Loss:
        """This loss on these rows, for compiled code."""
        if self.delta is None:
            raise ValueError("delta of Huber's loss is not known: fix it by the data (`fixed`)")
        return kernels.Huber(contiguous(y), weights, self.delta)

    def fixed(self, y: Floats, weights: Floats | None = None) -> Huber:
        """With delta from the spread of y, if it was not given."""
        if self.delta is not None:
            return self
        return replace(self, delta=SHARE * robust_scale(y, weights)[1])


def robust_scale(values: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """The median, and the standard deviation that the median of distances from it stands for."""
    centre = _median(values, weights)
    away = np.abs(values - centre)
    scale = _median(away, weights) / NORMAL
    if scale == 0.0:  # more than half of the rows are alike
        scale = float(np.average(away, weights=weights)) or 1.0
    return centre, scale


def _median(values: Floats, weights: Floats | None) -> float:
    """The median, in which a row of weight two counts as two rows.

    The least value with half of the weight at or below it; half is half but for rounding.
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    return float(values[order[np.searchsorted(below, 0.5 * below[-1] * (1.0 - HALF))]])


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^eta) - y eta, for classes y in {0, 1} whose log odds are eta.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Logistic
    >>> Logistic().gradient(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(3)
    array([-0.5  ,  0.881])
    """

    name: ClassVar[str] = "logistic"
    kernel: ClassVar[type[kernels.Loss]] = kernels.Logistic
    smoothness: ClassVar[float | None] = 0.25
    of_classes: ClassVar[bool] = True
    averages_eta: ClassVar[bool] = False
    uses_variance: ClassVar[bool] = True

    def checked(self, y: Any) -> Floats:
        """Zeros and ones."""
        values = super().checked(y)
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(f"y must be 0 or 1 for the logistic loss, got {other[0]:g}")
        return values

    def mean(self, eta: Any) -> Any:
        """The probability of the second class."""
        return expit(eta)

    def averaged(self, eta: Any, other: Any, variance: Any = 0.0, share: float = 0.5) -> Any:
        """Log odds of the mean probability; that of normal log odds is MacKay's (1992)."""
        eta = eta / np.sqrt(1.0 + np.pi / 8.0 * variance)
        one, two = log_shares(share)
        second = np.logaddexp(one - np.logaddexp(0.0, -eta), two - np.logaddexp(0.0, -other))
        return second - np.logaddexp(one - np.logaddexp(0.0, eta), two - np.logaddexp(0.0, other))


@dataclass(frozen=True)
class Poisson(Loss):
    """e^eta - y eta, for counts y whose mean is e^eta.

    While a path is walked, rows count by (y + ½)^-½: the curvature of the loss grows with the count
    by as much as themselves, and a few large ones would lead all steps.  Refits, deviances and
    the intercept that is reported do without.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Poisson
    >>> round(Poisson().constant(np.array([0.0, 1.0, 5.0])), 3)  # log 2
    0.693
    """

    name: ClassVar[str] = "poisson"
    kernel: ClassVar[type[kernels.Loss]] = kernels.Poisson
    smoothness: ClassVar[float | None] = None
    may_spread: ClassVar[bool] = True
    averages_eta: ClassVar[bool] = False

    def checked(self, y: Any) -> Floats:
        """Counts, which need not be whole."""
        values = super().checked(y)
        if (values < 0).any():
            raise ValueError(
                f"y must hold counts, 0 or more, for the Poisson loss, got {values.min():g}"
            )
        return values

    def sorts(self, y: Floats) -> Floats:
        """Whether anything was counted."""
        return np.asarray(y > 0, np.float64)

    def check_rows(self, y: Floats) -> None:
        """Refuse rows without a positive count."""
        if not y.any():
            raise ValueError(
                f"y is zero on all {len(y)} rows to fit: the Poisson loss needs a positive count"
            )

    def emphasis(self, y: Floats) -> Floats:
        """(y + ½)^-½: large counts lead less."""
        return np.asarray((y + 0.5) ** -0.5)

    def mean(self, eta: Any) -> Any:
        """The mean count."""
        return np.exp(np.asarray(eta, order="C"))  # whose last bit would differ with strides

    def averaged(self, eta: Any, other: Any, variance: Any = 0.0, share: float = 0.5) -> Any:
        """The logarithm of the mean count, without the variance: far out it would be all."""
        one, two = log_shares(share)
        return np.logaddexp(one + eta, two + other)

    def constant(self, y: Floats, weights: Floats | None = None) -> float:
        """The logarithm of the mean count."""
        return float(np.log(np.average(y, weights=weights)))


def log_shares(share: float) -> tuple[float, float]:
    """Logarithms of what two models count, the second of which has this share."""
    one, two = (-np.inf if each <= 0.0 else float(np.log(each)) for each in (1.0 - share, share))
    return one, two
