"""Cox's partial likelihood, for survival times that may be censored.

D. R. Cox, "Regression models and life-tables", 1972; ties by Breslow 1974 or Efron 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import _loss_kernels as _kernels
from .._common.checks import check_choice
from .base import Floats, Ints, Loss

if TYPE_CHECKING:
    from .base import Response


@dataclass(frozen=True)
class Cox(Loss):
    """Minus the log partial likelihood: of each event, log Σ e^eta over all at risk, less its eta.

    The response has columns time, event (0: censored at that time) and, if rows fall into strata
    with hazards of their own, stratum; or is scikit-survival's structured array of event and time.

    What a row contributes is read in two ways.  On the rows of a fit, an event contributes its term
    of the partial likelihood, given all rows at risk, and a censored row nothing.  A row that was
    not seen contributes what minus the log partial likelihood of the rows that were seen rises by
    when it alone joins them (as Verweij and van Houwelingen 1993 have it for one row left out, ties
    as Breslow has them): then censored rows count as well, for having survived so long.

    Parameters
    ----------
    ties : {"efron", "breslow"}
        How events at the same time are treated.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.losses import Cox
    >>> y = np.array([[3.0, 1], [5.0, 0], [1.0, 1]])  # time, event
    >>> Cox().gradient(np.zeros(3), y).round(3)
    array([-0.167,  0.833, -0.667])
    """

    name: ClassVar[str] = "cox"
    kind: ClassVar[int] = _kernels.COX
    smoothness: ClassVar[float | None] = None
    has_constant: ClassVar[bool] = False

    ties: str = "efron"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, ("efron", "breslow"))

    @property
    def param(self) -> float:
        return float(self.ties == "efron")

    def checked(self, y: Any) -> Floats:
        values = _as_columns(y)
        if not np.isfinite(values).all():
            raise ValueError("y contains NaN or infinity")
        if (values[:, 0] < 0).any():
            raise ValueError(f"survival times must not be negative, got {values[:, 0].min():g}")
        events = values[:, 1]
        other = events[(events != 0) & (events != 1)]
        if other.size:
            raise ValueError(
                f"the second column of y must be 0 (censored) or 1 (event), got {other[0]:g}; the "
                "first is the time"
            )
        return values

    def check_rows(self, y: Floats) -> None:
        if not y[:, 1].any():
            raise ValueError(
                f"all {len(y)} survival times to fit are censored: the partial likelihood needs "
                "at least one event"
            )

    def target(self, y: Floats) -> Floats:
        return np.ascontiguousarray(y[:, 1])

    def layout(self, y: Floats) -> Ints:
        time, stratum = y[:, 0], _strata(y)
        order = np.lexsort((np.arange(len(y)), -time, stratum))
        at = np.arange(len(y))
        new_stratum = np.append(True, np.diff(stratum[order]) != 0)
        new_time = new_stratum | np.append(True, np.diff(time[order]) != 0)
        first, tie_end = _runs(new_time)
        stratum_end = _runs(new_stratum)[1]
        return np.stack([order, first, tie_end, stratum_end]).astype(np.intp)[:, at]

    def value(self, eta: Floats, y: Floats, weights: Floats | None = None) -> Floats:
        E = np.ascontiguousarray(eta, np.float64).reshape(-1, len(y))
        out, each = np.empty_like(E), np.ones(len(y)) if weights is None else weights
        _kernels.cox_values_rows(self.param, E, self.target(y), each, self.layout(y), out)
        return out.reshape(np.shape(eta))

    def deviance_of_new(
        self, seen: Response, eta: Floats, new_eta: Floats, new_y: Floats
    ) -> Floats:
        _, _, events, weights, layout, _ = seen.packed
        E = np.ascontiguousarray(eta).reshape(-1, seen.n)
        new_E = np.ascontiguousarray(new_eta).reshape(-1, len(new_y))
        out = np.empty_like(new_E)
        new = np.column_stack([new_y[:, :2], _strata(new_y)])
        times = np.ascontiguousarray(seen.y[:, 0])
        _kernels.cox_added_rows(
            E, events, weights, layout, times, _strata(seen.y), new_E, new, out
        )
        return 2.0 * out.reshape(np.shape(new_eta))

    def hessian(self, columns: Floats, eta: Floats, y: Floats, weights: Floats) -> Floats:
        """Σ over events of the covariance of columns among those at risk."""
        layout, events = self.layout(y), self.target(y)
        H = np.zeros((len(columns), len(columns)))
        for at in _starts(layout[_kernels.STRATUM_END]):
            end = layout[_kernels.STRATUM_END, at]
            H += self._within(layout[:, at:end] - np.array([[0], [at], [at], [at]]),
                              columns, eta, events, weights)  # fmt: skip
        return H

    def _within(
        self, layout: Ints, columns: Floats, eta: Floats, events: Floats, weights: Floats
    ) -> Floats:
        """The same of one stratum."""
        rows = layout[_kernels.ORDER]
        A, event = columns[:, rows], events[rows] > 0
        risk = weights[rows] * np.exp(eta[rows] - eta[rows].max())
        starts = _starts(layout[_kernels.TIE_END])
        ends = layout[_kernels.TIE_END, starts]
        S0, S1 = np.cumsum(risk)[ends - 1], np.cumsum(risk * A, axis=1)[:, ends - 1]
        T0 = np.add.reduceat(risk * event, starts)
        T1 = np.add.reduceat(risk * event * A, starts, axis=1)
        count = np.add.reduceat(event, starts)
        weight = np.add.reduceat(weights[rows] * event, starts)
        parts = count if self.ties == "efron" else np.minimum(count, 1)
        group = np.repeat(np.arange(len(starts)), parts)  # one for each term
        share = (np.arange(group.size) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[group]
        left = S0[group] - share * T0[group]
        hazard = weight[group] / parts[group] / left
        means = (S1[:, group] - share * T1[:, group]) / left
        # A row's second moment counts in all terms of times up to its own.
        later = np.add.reduceat(np.append(hazard, 0.0), np.append(0, np.cumsum(parts))[:-1])
        later = np.cumsum(np.where(parts > 0, later, 0.0)[::-1])[::-1]
        tied = np.zeros(len(starts))
        np.add.at(tied, group, hazard * share)
        place = np.repeat(np.arange(len(starts)), ends - starts)
        total = risk * (later[place] - tied[place] * event)
        return (A * total) @ A.T - (means * (hazard * left)) @ means.T


def _as_columns(y: Any) -> Floats:
    """Time, event and perhaps stratum as columns."""
    array = np.asarray(y)
    if array.dtype.names is not None:
        events = [name for name in array.dtype.names if array.dtype[name] == bool]
        times = [name for name in array.dtype.names if array.dtype[name].kind in "fiu"]
        if len(array.dtype.names) != 2 or len(events) != 1 or len(times) != 1:
            raise ValueError(
                "a structured y must have one field of booleans (event) and one of numbers (time), "
                f"got {array.dtype}"
            )
        array = np.column_stack([array[times[0]], array[events[0]]])
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "biuf":
        raise ValueError(
            "y must have columns time and event (and stratum), or be a structured array of event "
            f"and time, got shape {array.shape} of {array.dtype}"
        )
    return array.astype(np.float64)


def _strata(y: Floats) -> Floats:
    return np.ascontiguousarray(y[:, 2]) if y.shape[1] > 2 else np.zeros(len(y))


def _starts(ends: Ints) -> Ints:
    """Where runs begin, of which each place has the end."""
    return np.flatnonzero(np.append(True, np.diff(ends) != 0))


def _runs(new: Any) -> tuple[Ints, Ints]:
    """For each place the first and the end of its run, given where runs begin."""
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(new)))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)
