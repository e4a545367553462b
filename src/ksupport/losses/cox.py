"""Cox's partial likelihood, for survival times that may be censored.

D. R. Cox, "Regression models and life-tables", 1972; ties by Breslow 1974 or Efron 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._common.checks import check_choice
from .._kernels import cox as kernels
from .._kernels.cox_new_rows import AT_RISK, PLACE, STOP, SWEEP, added_rows
from .base import Floats, Ints, Loss, contiguous

if TYPE_CHECKING:
    from .response import Response


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
    smoothness: ClassVar[float | None] = None
    has_constant: ClassVar[bool] = False
    uses_variance: ClassVar[bool] = True  # bands of survival

    ties: str = "efron"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, ("efron", "breslow"))

    def one_by_one(self, Y: Floats) -> list[Floats]:
        """All columns are one response."""
        return [Y]

    def checked(self, y: Any) -> Floats:
        """Columns time, event and perhaps stratum."""
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

    def sorts(self, y: Floats) -> Floats:
        """Events and censored times."""
        return np.ascontiguousarray(y[:, 1])

    def check_rows(self, y: Floats) -> None:
        """Refuse rows without an event."""
        if not y[:, 1].any():
            raise ValueError(
                f"all {len(y)} survival times to fit are censored: the partial likelihood needs "
                "at least one event"
            )

    def compiled(self, y: Floats, weights: Floats) -> kernels.Cox:
        """This loss on these rows, for compiled code."""
        return kernels.Cox(contiguous(y[:, 1]), weights, self.layout(y), self.ties == "efron")

    def layout(self, y: Floats) -> Ints:
        """Rows by stratum and from the latest time on; see ``_kernels/cox.pxd``."""
        time, stratum = y[:, 0], _strata(y)
        order = np.lexsort((np.arange(len(y)), -time, stratum))
        new_stratum = np.append(True, np.diff(stratum[order]) != 0)
        new_time = new_stratum | np.append(True, np.diff(time[order]) != 0)
        first, tie_end = _runs(new_time)
        stratum_end = _runs(new_stratum)[1]
        return np.stack([order, first, tie_end, stratum_end]).astype(np.intp)

    def joins(self, layout: Ints, y: Floats, new_y: Floats) -> Ints:
        """Where each new row joins those of a layout; see ``_kernels/cox_new_rows.pyx``."""
        time, stratum = y[layout[kernels.ORDER], 0], _strata(y)[layout[kernels.ORDER]]
        new_stratum, found = _strata(new_y), np.empty((4, len(new_y)), np.intp)
        for each in np.unique(new_stratum):
            rows = np.flatnonzero(new_stratum == each)
            first, stop = np.searchsorted(stratum, [each, np.nextafter(each, np.inf)])
            place = first + np.searchsorted(-time[first:stop], -new_y[rows, 0])
            last = first + np.searchsorted(-time[first:stop], -new_y[rows, 0], "right") - 1
            found[PLACE, rows], found[STOP, rows] = place, stop
            at_risk = layout[kernels.TIE, np.maximum(last, 0)]
            found[AT_RISK, rows] = np.where(last >= first, at_risk, -1)
        found[SWEEP] = np.lexsort((-found[PLACE], found[STOP]))
        return found

    def deviance_of_new(
        self, seen: Response, eta: Floats, new_eta: Floats, new_y: Floats
    ) -> Floats:
        """What each new row, joining those seen alone, adds to the deviance."""
        rows = seen.compiled
        E = contiguous(eta).reshape(-1, seen.n)
        new_E = contiguous(new_eta).reshape(-1, len(new_y))
        out, joins = np.empty_like(new_E), self.joins(rows.times, seen.y, new_y)
        added_rows(rows, E, new_E, contiguous(new_y[:, 1]), joins, out)
        return 2.0 * out.reshape(np.shape(new_eta))


def _as_columns(y: Any) -> Floats:
    """Time, event and perhaps stratum as columns."""
    named = _named_columns(y)
    events = [name for name, column in named.items() if column.dtype.kind == "b"]
    times = [name for name, column in named.items() if column.dtype.kind in "fiu"]
    if len(named) == 2 and len(events) == len(times) == 1:
        named = {name: named[name] for name in times + events}
    elif named and isinstance(y, np.ndarray):
        raise ValueError(
            "a structured y must have one field of booleans (event) and one of numbers (time), "
            f"got {y.dtype}"
        )
    array = np.column_stack(list(named.values())) if named else np.asarray(y)
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "biuf":
        raise ValueError(
            "y must have columns time and event (and stratum), or be a structured array or data "
            "frame of an event, True or False, and a time, got "
            f"shape {array.shape} of {array.dtype}"
        )
    return array.astype(np.float64)


def _named_columns(y: Any) -> dict[str, Any]:
    """The fields of a structured array, or the columns of a data frame; none of other arrays.

    Columns of pandas' own types that may miss values (boolean, Float64) are of NumPy's if none is.
    """
    if hasattr(y, "to_numpy") and hasattr(y, "columns"):
        names = list(y.columns)
        if len({str(name) for name in names}) < len(names):
            raise ValueError(f"y has two columns of one name: {', '.join(map(str, names))}")
        columns = {str(name): np.asarray(y[name]) for name in names}
        return {name: _plain(column) for name, column in columns.items()}
    fields = getattr(getattr(y, "dtype", None), "names", None) or ()
    return {name: y[name] for name in fields}


def _plain(column: Any) -> Any:
    """A column of objects that are all booleans, or all numbers, as such."""
    kinds = {type(value) for value in column.tolist()} if column.dtype.kind == "O" else set()
    if kinds and kinds <= {bool, np.bool_}:
        return column.astype(bool)
    return column.astype(np.float64) if kinds and kinds <= {int, float} else column


def _strata(y: Floats) -> Floats:
    return np.ascontiguousarray(y[:, 2]) if y.shape[1] > 2 else np.zeros(len(y))


def _runs(new: Any) -> tuple[Ints, Ints]:
    """For each place the first and the end of its run, given where runs begin."""
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(new)))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)
