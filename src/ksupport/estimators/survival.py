"""`AutoIRKSNSurvival`: which features predict survival, with nothing to tune."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from .._common.checks import check_interval
from .._common.progress import shows_progress
from ..design import Floats, fetched
from ..losses import Cox, Loss
from ..metrics import concordance
from .auto import AutoModel
from .checks import with_parameters

LARGEST = float(np.log(np.finfo(np.float64).max))  # whose exponential is finite


@dataclass(frozen=True, eq=False)
class StepFunction:
    """``y[i]`` from time ``x[i]`` on, and up to ``x[0]`` from the start of time.

    Called with times, which ascend in x, as scikit-survival's.

    >>> survival = StepFunction(np.array([1.0, 3.0]), np.array([0.9, 0.4]))
    >>> survival([2.0, 3.0])
    array([0.9, 0.4])
    """

    x: Floats
    y: Floats

    @property
    def domain(self) -> tuple[float, float]:
        """The times between which it is known."""
        return 0.0, float(self.x[-1])

    def __call__(self, times: ArrayLike) -> Any:
        """The values at times, one or many."""
        t = np.asarray(times, np.float64)
        low, high = self.domain
        if not ((t >= low) & (t <= high)).all():
            raise ValueError(
                f"times must lie between {low:g} and {high:g}, the last time of the fit; got "
                f"{np.nanmin(t):g} to {np.nanmax(t):g}"
            )
        at = np.maximum(np.searchsorted(self.x, t, side="right") - 1, 0)
        return self.y[at]


@with_parameters
class AutoIRKSNSurvival(AutoModel):
    """Find the features that predict survival, with a probability for each and nothing to tune.

    As `AutoIRKSN`, with Cox's partial likelihood: candidate features are those that explain the
    martingale residuals, and held-out rows are scored by how much the partial likelihood changes
    when they join the others.  ``predict``, ``score`` and ``predict_survival_function`` are as in
    scikit-survival, whose metrics and tools accept the model.  So is ``y``: a structured array of
    event and time, as made by its `Surv`; or a data frame of these, whose one column of booleans is
    the event; or an array of shape (n, 2), time and event (0: censored).

    Parameters
    ----------
    ties : {"efron", "breslow"}
        How events at the same time are treated.
    positive : bool, default=False
        Whether features can only raise the risk, as in `AutoIRKSN`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        A Cox regression on the support with the ridge penalty that maximises the marginal
        likelihood.
    intercept_ : float
        0: there is none.
    unique_times_ : array
        The distinct times of the training rows, sorted.
    baseline_survival_, cum_baseline_hazard_ : StepFunction
        Breslow's estimates, for a row whose log risk is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSNSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 200))
    >>> died, left = rng.exponential(np.exp(2 * X[:, 7] - 2 * X[:, 3])), rng.exponential(3.0, 100)
    >>> y = np.column_stack([np.minimum(died, left), died <= left])  # time, event
    >>> model = AutoIRKSNSurvival().fit(X, y)
    >>> bool(model.probability_[[3, 7]].min() > 0.9)
    True
    >>> model.score(X, y) > 0.8  # concordance
    True
    >>> survival = model.predict_survival_function(X[:1])[0]
    >>> round(float(survival(1.0)), 1)  # of surviving the first year
    0.8
    >>> lower, upper = model.predict_survival_band(X[:1])
    >>> bool(lower[0](1.0) < survival(1.0) < upper[0](1.0))
    True
    """

    _columns_of_y = 2
    _loss = Cox()

    _: KW_ONLY
    ties: str = "efron"
    fit_intercept: bool = field(default=True, init=False)  # centring changes no risk

    def _asked_loss(self) -> Loss:
        return Cox(self.ties)

    def _validated(
        self, X: Any, y: ArrayLike, multi_output: bool = False, reset: bool = True
    ) -> tuple[Any, Floats]:
        """X and y checked, y as columns of time and event."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        return super()._validated(X, time_and_event(y), True, reset)

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        super()._fit(X, y, sample_weight, groups)
        Y = time_and_event(y)
        weights = self._weights(sample_weight, len(Y)).plain
        self._keep_baseline(np.asarray(self._eta(X)), Y, weights)

    def _keep_baseline(self, eta: Floats, Y: Floats, weights: Floats | None) -> None:
        """Breslow's estimate of the hazard; in logarithms, where nothing overflows or vanishes."""
        own = np.ones(len(Y)) if weights is None else weights
        self.unique_times_, place = np.unique(Y[:, 0], return_inverse=True)
        with np.errstate(divide="ignore"):  # of rows without weight, and of times without an event
            risks, events = eta + np.log(own), np.log(np.bincount(place, own * Y[:, 1]))
        joining = np.full(len(events), -np.inf)
        np.logaddexp.at(joining, place, risks)
        at_risk = np.logaddexp.accumulate(joining[::-1])[::-1]
        known = np.isfinite(events)
        self._log_hazard = np.logaddexp.accumulate(np.where(known, events - at_risk, -np.inf))
        squares = np.logaddexp.accumulate(np.where(known, events - 2.0 * at_risk, -np.inf))
        before = np.isinf(self._log_hazard)  # any event
        self._hazard_variance = np.exp(
            np.where(before, -np.inf, squares) - 2.0 * np.where(before, 0.0, self._log_hazard)
        )
        (hazard,) = self._hazards(np.zeros(1))
        self.cum_baseline_hazard_ = StepFunction(self.unique_times_, hazard)
        self.baseline_survival_ = StepFunction(self.unique_times_, np.exp(-hazard))

    def _hazards(self, risk: Floats) -> Floats:
        """Cumulative hazards of rows of these risks, at all times: rows x times.

        Those beyond the largest number are taken to be it.
        """
        return np.exp(np.minimum(risk[:, None] + self._log_hazard, LARGEST))

    # -- predicting ------------------------------------------------------------------------

    @shows_progress
    def predict(self, X: Any) -> Any:
        """Logarithm of the relative risk, X w: the larger, the sooner the event.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n,)
            For a Dask array or data frame a Dask array, not computed yet.
        """
        return self._eta(X)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> Any:
        """The survival probability of each row, as a function of time.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        return_array : bool, default=False
            Whether to return the values at ``unique_times_`` instead of functions.

        Returns
        -------
        ndarray of shape (n,) of functions of time, or ndarray of shape (n, n_times)
            With ``return_array=True``, the values at ``unique_times_`` instead of functions.
        """
        return self._over_time(np.exp(-self._hazards(np.asarray(self.predict(X)))), return_array)

    @shows_progress
    def predict_survival_band(
        self, X: Any, level: float = 0.95, return_array: bool = False
    ) -> tuple[Any, Any]:
        """A pointwise credible band around each survival function.

        The logarithm of the cumulative hazard is taken to be normal.  Its variance is that of the
        coefficients over sampled models plus Greenwood's variance of the baseline.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        level : float, default=0.95
            The probability, at any one time, that the band contains the survival probability.
        return_array : bool, default=False
            Whether to return the values at ``unique_times_`` instead of functions.

        Returns
        -------
        lower, upper : as given by `predict_survival_function`
        """
        check_interval("level", level, low=0, high=1, open_low=True, open_high=True)
        check_is_fitted(self)
        if self._averaging is None:
            raise ValueError(
                "predict_survival_band needs predict_by='average', got predict_by='support': its "
                "band comes from the average over models"
            )
        values = np.asarray(self._values(X, self._averaging.linear))
        variance = (self._averaging.differences(values) ** 2).sum(axis=1)
        far = norm.isf((1.0 - level) / 2) * np.sqrt(variance[:, None] + self._hazard_variance)
        hazard = self._averaged(values)[:, None] + self._log_hazard
        lower, upper = (np.exp(-np.exp(np.minimum(hazard + off, LARGEST))) for off in (far, -far))
        return self._over_time(lower, return_array), self._over_time(upper, return_array)

    def predict_cumulative_hazard_function(self, X: Any, return_array: bool = False) -> Any:
        """The cumulative hazard of each row, as a function of time.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        return_array : bool, default=False
            Whether to return the values at ``unique_times_`` instead of functions.

        Returns
        -------
        ndarray of shape (n,) of functions of time, or ndarray of shape (n, n_times)
            With ``return_array=True``, the values at ``unique_times_`` instead of functions.
        """
        return self._over_time(self._hazards(np.asarray(self.predict(X))), return_array)

    def _over_time(self, values: Floats, return_array: bool) -> Any:
        if return_array:
            return values
        functions = np.empty(len(values), object)
        functions[:] = [StepFunction(self.unique_times_, row) for row in values]
        return functions

    def score(self, X: Any, y: ArrayLike) -> float:
        """The concordance of predicted risks with survival (Harrell's c).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : structured array or data frame of event and time, or array of shape (n, 2)
            As in ``fit``.

        Returns
        -------
        float
        """
        return concordance(time_and_event(y), np.asarray(self.predict(X)))


def time_and_event(y: Any) -> Floats:
    """Columns time and event, without strata, which have no survival function of their own."""
    Y = Cox().checked(fetched(y))
    if Y.shape[1] != 2:
        raise ValueError(
            f"y must have two columns, time and event, got {Y.shape[1]}; for strata walk a path: "
            "ksupport.path('irksn', X, y, loss='cox')"
        )
    return Y
