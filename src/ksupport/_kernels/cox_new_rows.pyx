# cython: language_level=3, wraparound=False, cdivision=True
"""By how much a new row, joining those of a fit alone, raises minus the log partial likelihood.

It adds log(1 + e^eta / S) for each event before its time, S the risk then of all others, and its own
term if it has an event.  S falls with time.  Where e^eta < S/8 the series of the logarithm is a
polynomial in e^eta, whose coefficients are sums over the events so far.  Where it is not so small,
events are taken in bins within which S changes by a factor of 1.4: log(S + e^eta) is a series about
the middle of the bin.  Either leaves out less than 1e-15 of an event.  So one sweep over the events
serves all new rows.
"""

import numpy as np

from ksupport._kernels.cox cimport Cox, Ties
from ksupport._kernels.doors cimport agree
from ksupport._kernels.losses cimport log1p_exp
from libc.math cimport INFINITY, NAN, exp, expm1, isfinite, log
from libc.stdlib cimport free, malloc

# Rows of what says where new rows join a layout, which has a column for each new row: in which
# order they are looked at, by strata and from the earliest time on; the first place of a time that
# is not later; the end of the stratum; the first place of those that are there no less long, or -1.
SWEEP, PLACE, STOP, AT_RISK = range(4)

cdef enum:
    SERIES = 16  # terms of a series

cdef double SMALL_SHARE = -log(8.0)  # log of e^eta / S
cdef double BIN = 0.5 * log(2.0)  # width of a bin in log S
cdef double MIDDLE = log(0.5 + 0.5 * exp(-BIN))  # of a bin, from its largest log S


cdef struct Bin:
    double middle  # log S
    double weight  # of the bin's events
    double log_sum  # Σ weight (log S - middle)
    double moments[SERIES]  # Σ weight ((S - middle) / middle)^k
    double before[SERIES]  # Σ weight (S_before / S)^k over all events before the bin
    double before_level  # log S_before, of the last of them


cdef struct Sweep:
    Py_ssize_t end  # events from this place of the layout on are taken in
    Py_ssize_t stop  # the end of the stratum
    Py_ssize_t last  # the last bin; -1: there is none
    double now  # log S at the last event
    double powers[SERIES]  # Σ weight (S_now / S)^k over the events so far


def added_rows(Cox loss not None, const double[:, ::1] E, const double[:, ::1] new_E,
               const double[::1] new_events, const Py_ssize_t[:, ::1] joins, double[:, ::1] out):
    """What each new row adds, of each model: a row of E on the rows of the fit, of new_E on the new.

    Ties as Breslow has them.
    """
    cdef Py_ssize_t row, n = loss.n, j, new = joins.shape[1]
    cdef double[:, ::1] scratch = np.empty((4, n))
    if E.shape[1] != n or new_E.shape[1] != joins.shape[1] or joins.shape[0] != 4:
        raise ValueError(
            f"models of {E.shape[1]} and {new_E.shape[1]} rows do not go with {n} and "
            f"{joins.shape[1]}"
        )
    agree(new_events.shape[0] == out.shape[1] == new, "new_events, joins and out")
    agree(E.shape[0] == new_E.shape[0] == out.shape[0], "E, new_E and out")
    for j in range(new):
        agree(0 <= joins[0, j] < new and 0 <= joins[1, j] and joins[2, j] <= n
              and -1 <= joins[3, j] < n, "joins and the loss")
    with nogil:
        for row in range(E.shape[0]):
            add_rows(loss, &E[row, 0], &scratch[0, 0], new_E[row], new_events, joins, out[row])


cdef int add_rows(Cox loss, const double *eta, double *scratch, const double[::1] new_eta,
                  const double[::1] new_events, const Py_ssize_t[:, ::1] joins,
                  double[::1] out) except -1 nogil:
    """Of one model."""
    cdef double *risk = scratch
    cdef double *level = scratch + 3 * loss.n  # log S, at the first row of each time
    cdef Bin *bins
    cdef Sweep sweep
    cdef Py_ssize_t at, j, count
    loss.risks(eta, risk, risk + loss.n, risk + 2 * loss.n)
    count = levels(loss, risk + loss.n, risk + 2 * loss.n, level)
    if count == 0:
        out[:] = NAN
        return 0
    bins = <Bin *> malloc(count * sizeof(Bin))
    if bins == NULL:
        with gil:
            raise MemoryError(f"no memory for {count} bins of events")
    begin(&sweep, -1)
    for at in range(new_eta.shape[0]):
        j = joins[0, at]
        if joins[2, j] != sweep.stop:
            begin(&sweep, joins[2, j])
        while sweep.end > joins[1, j]:
            take_events(loss, risk, level, &sweep, bins)
        out[j] = of_events(&sweep, bins, new_eta[j])
        if new_events[j] > 0.0 and joins[3, j] >= 0:
            out[j] += log1p_exp(level[joins[3, j]] - new_eta[j])
    free(bins)
    return 0


cdef Py_ssize_t levels(Cox loss, const double *sums, const double *top,
                       double *level) noexcept nogil:
    """Log S at each time; how many bins are enough, or 0 where one is not finite."""
    cdef double least = INFINITY, most = -INFINITY, count
    cdef Py_ssize_t at = 0
    while at < loss.n:
        level[at] = top[at] + log(sums[at])
        if not isfinite(level[at]):
            return 0
        least = level[at] if level[at] < least else least
        most = level[at] if level[at] > most else most
        at = loss.tie_end[at]
    count = (most - least) / BIN
    return <Py_ssize_t> (count if count < loss.n else loss.n) + 2  # a bin has an event, or more


cdef void begin(Sweep *sweep, Py_ssize_t stop) noexcept nogil:
    """Before the first event of a stratum."""
    cdef Py_ssize_t k
    sweep.stop, sweep.end, sweep.last, sweep.now = stop, stop, -1, INFINITY
    for k in range(SERIES):
        sweep.powers[k] = 0.0


cdef void take_events(Cox loss, const double *risk, const double *level, Sweep *sweep,
                      Bin *bins) noexcept nogil:
    """Take in the events of one more time."""
    cdef Py_ssize_t first = loss.tie[sweep.end - 1], k
    cdef double weight = loss.tied(risk, first, sweep.end).weight
    cdef double ratio, off, power = 1.0, away = weight
    cdef Bin *own
    sweep.end = first
    if weight == 0.0:
        return
    if sweep.last < 0 or level[first] < bins[sweep.last].middle - MIDDLE - BIN:
        sweep.last += 1
        own = &bins[sweep.last]
        own.middle, own.weight, own.log_sum = level[first] + MIDDLE, 0.0, 0.0
        own.before_level = sweep.now
        for k in range(SERIES):
            own.before[k], own.moments[k] = sweep.powers[k], 0.0
    own = &bins[sweep.last]
    ratio, off = exp(level[first] - sweep.now), expm1(level[first] - own.middle)
    sweep.now = level[first]
    own.weight += weight
    own.log_sum += weight * (level[first] - own.middle)
    for k in range(SERIES):
        power *= ratio
        away *= off
        sweep.powers[k] = sweep.powers[k] * power + weight
        own.moments[k] += away


cdef double of_events(const Sweep *sweep, const Bin *bins, double eta) noexcept nogil:
    """Σ weight log(1 + e^eta / S) over the events so far."""
    cdef double total = 0.0, x
    cdef Py_ssize_t at = sweep.last
    if eta - sweep.now <= SMALL_SHARE:
        return log_series(sweep.powers, exp(eta - sweep.now))
    while at >= 0:
        x = eta - bins[at].middle
        total += bins[at].weight * log1p_exp(x) - bins[at].log_sum
        total += log_series(bins[at].moments, 1.0 / (1.0 + exp(x)))
        if eta - bins[at].before_level <= SMALL_SHARE:
            return total + log_series(bins[at].before, exp(eta - bins[at].before_level))
        at -= 1
    return total


cdef double log_series(const double *moments, double x) noexcept nogil:
    """Σ_k -(-x)^k / k moments[k - 1]: of moments Σ m^k it is Σ log(1 + m x)."""
    cdef double total = 0.0
    cdef int k
    for k in range(SERIES, 0, -1):
        total = x * ((moments[k - 1] if k % 2 else -moments[k - 1]) / k + total)
    return total
