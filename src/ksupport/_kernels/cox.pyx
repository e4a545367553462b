# cython: language_level=3, wraparound=False, cdivision=True
"""Minus the log partial likelihood of Cox, for censored survival times, ties by Breslow or Efron.

An event at time t contributes log Σ_{j at risk at t} weight_j e^eta_j - eta_i.  With m events tied,
Efron has m terms, in the s-th of which those m count by 1 - s/m only; Breslow has one of weight m.
Second derivatives in eta are diag(d) - BᵀB: d is each row's risk times the hazard that it has lived
through, and B takes a vector to its mean among those at risk, for each term, times the root of the
term's weight.  All is found in passes over the rows, in the order of time.
"""

import numpy as np

from ksupport._kernels.linalg cimport add_squares
from ksupport._kernels.losses cimport Loss
from libc.math cimport INFINITY, exp, log, sqrt

ORDER, TIE, TIE_END, STRATUM_END = range(4)  # rows of a layout; see cox.pxd


cdef int check_layout(const Py_ssize_t[:, ::1] layout, Py_ssize_t n) except -1:
    """Each row once, and ends that lie ahead: passes go from end to end."""
    cdef Py_ssize_t i
    cdef unsigned char[::1] seen = np.zeros(n, np.uint8)
    for i in range(n):
        if not 0 <= layout[0, i] < n or seen[layout[0, i]]:
            raise ValueError(f"the layout must have each of {n} rows once")
        seen[layout[0, i]] = True
        if not 0 <= layout[1, i] <= i < layout[2, i] <= layout[3, i] <= n:
            raise ValueError("times and strata must begin before they end")
    return 0


cdef class Cox(Loss):
    """The partial likelihood of rows with these events.

    Parameters
    ----------
    events : array of shape (n,)
        1 for an event, 0 for a row that was censored.
    weights : array of shape (n,)
        How much each row counts.
    layout : array of shape (4, n)
        Rows in the order of strata and times; see cox.pxd.
    efron : bool
        Whether ties are treated as Efron, not as Breslow, has it.
    """

    def __init__(self, const double[::1] events, const double[::1] weights,
                 const Py_ssize_t[:, ::1] layout, bint efron):
        cdef Py_ssize_t i
        Loss.__init__(self, events, weights)
        if layout.shape[0] != 4 or layout.shape[1] != self.n:
            raise ValueError(
                f"the layout must be 4 x {self.n}, got {layout.shape[0]} x {layout.shape[1]}"
            )
        check_layout(layout, self.n)
        self.layout, self.efron, self.diagonal = layout, efron, False
        self.order, self.tie = &layout[0, 0], &layout[1, 0]
        self.tie_end, self.stratum_end = &layout[2, 0], &layout[3, 0]
        self.n_events = 0
        for i in range(self.n):
            self.n_events += self.y[i] > 0.0

    def __reduce__(self):
        arrays = np.asarray(self.y), np.asarray(self.weights), np.asarray(self.layout)
        return type(self), (*arrays, self.efron)

    @property
    def times(self):
        """The layout: rows in the order of strata and times."""
        return np.asarray(self.layout)

    # -- as a loss; see losses.pxd ---------------------------------------------------------------

    cdef Py_ssize_t workspace(self, Py_ssize_t q) noexcept nogil:
        return 5 * self.n + 2 * q + self.n_events * (q + 1)

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef Py_ssize_t n = self.n
        self.risks(eta, work, work + n, work + 2 * n)
        self.hazards(work, work + n, work + 2 * n, h, g)
        self.gradient_of(g, h)

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        """What each event contributes above a saturated model; zero of censored rows."""
        cdef double *risk = work
        cdef double *sums = risk + self.n
        cdef double *top = sums + self.n
        cdef double level, share
        cdef Py_ssize_t end = self.n, first, i, row, part, parts
        cdef Ties ties
        self.risks(eta, risk, sums, top)
        while end > 0:
            first = self.tie[end - 1]
            if end - first == 1:
                row = self.order[first]
                out[row] = 0.0
                if self.y[row] > 0.0:
                    out[row] = top[first] + log(sums[first] / self.weights[row]) - eta[row]
                end = first
                continue
            ties = self.tied(risk, first, end)
            parts = self.terms(ties.count)
            level = top[first]
            for part in range(parts):
                share = <double> part / parts
                level += log((sums[first] - share * ties.risk)
                             / (ties.weight * (1.0 - share))) / parts
            for i in range(first, end):
                row = self.order[i]
                out[row] = level - eta[row] if self.y[row] > 0.0 else 0.0
            end = first

    cdef void hessian(self, const double *eta, const double *h, const double *T, Py_ssize_t q,
                      double *H, double *work) noexcept nogil:
        self.derivatives(eta, T, q, work, work + self.n, H, work + 2 * self.n)

    cdef void derivatives(self, const double *eta, const double *T, Py_ssize_t q, double *g,
                          double *h, double *H, double *work) noexcept nogil:
        """Tᵀ diag(d) T less the squares of the means, with risks computed once."""
        cdef double *risk = work
        cdef double *sums = risk + self.n
        cdef double *top = sums + self.n
        cdef double *minus = top + self.n
        cdef double *F = minus + self.n_events
        cdef Py_ssize_t i
        self.risks(eta, risk, sums, top)
        self.hazards(risk, sums, top, h, g)
        add_squares(T, self.n, q, h, H, q)
        self.gradient_of(g, h)
        self.means(risk, sums, top, T, q, F, F + self.n_events * q)
        for i in range(self.n_events):
            minus[i] = -1.0
        add_squares(F, self.n_events, q, minus, H, q)

    # -- passes over the rows ----------------------------------------------------------------------

    cdef void risks(self, const double *eta, double *risk, double *sums, double *top) noexcept nogil:
        """In units of a whole stratum, the row that survives all others could have no risk left."""
        cdef double most = -INFINITY, total = 0.0, before
        cdef Py_ssize_t at = 0, end, i, row
        while at < self.n:
            end = self.tie_end[at]
            if at == 0 or self.stratum_end[at] != self.stratum_end[at - 1]:
                most, total = -INFINITY, 0.0
            before = most
            for i in range(at, end):
                row = self.order[i]
                most = most if most > eta[row] else eta[row]
            if most > before:
                total *= exp(before - most)
            for i in range(at, end):
                row = self.order[i]
                top[i] = most
                risk[i] = self.weights[row] * exp(eta[row] - most)
                total += risk[i]
            sums[at] = total
            at = end

    cdef Ties tied(self, const double *risk, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        cdef Ties ties
        cdef Py_ssize_t i, row
        ties.count, ties.weight, ties.risk = 0, 0.0, 0.0
        for i in range(first, end):
            row = self.order[i]
            if self.y[row] > 0.0:
                ties.count += 1
                ties.weight += self.weights[row]
                ties.risk += risk[i]
        return ties

    cdef Py_ssize_t terms(self, Py_ssize_t count) noexcept nogil:
        """Terms that so many tied events have."""
        return count if self.efron or count == 0 else 1

    cdef void gradient_of(self, double *g, double *h) noexcept nogil:
        """From `hazards`, d in h and its squares in g, to first and second derivatives."""
        cdef double square
        cdef Py_ssize_t i
        for i in range(self.n):
            square = g[i]
            g[i] = h[i] - (self.weights[i] if self.y[i] > 0.0 else 0.0)
            h[i] -= square

    cdef void hazards(self, const double *risk, const double *sums, const double *top, double *d,
                      double *square) noexcept nogil:
        """d, and the diagonal of BᵀB, from the earliest row on."""
        cdef double hazard = 0.0, squared = 0.0  # Σ 1/sums and Σ 1/sums² over the events so far
        cdef double own, own_squared, unit, left, more, share
        cdef Py_ssize_t end = self.n, first, i, row, part, parts
        cdef Ties ties
        while end > 0:
            first = self.tie[end - 1]
            if self.stratum_end[first] == end:
                hazard, squared = 0.0, 0.0
            elif top[first] < top[end]:
                unit = exp(top[first] - top[end])
                hazard, squared = unit * hazard, unit * unit * squared
            if end - first == 1:  # without a branch, as events are hard to predict
                row = self.order[first]
                left = 1.0 / sums[first]
                more = left * self.weights[row] * (self.y[row] > 0.0)
                hazard += more
                squared += more * left
                d[row], square[row] = risk[first] * hazard, risk[first] * risk[first] * squared
                end = first
                continue
            ties = self.tied(risk, first, end)
            parts = self.terms(ties.count)
            own, own_squared = hazard, squared  # of rows with an event at this time
            for part in range(parts):
                share = <double> part / parts
                left = sums[first] - share * ties.risk
                more = ties.weight / parts / left
                hazard += more
                squared += more / left
                own += more * (1.0 - share)
                own_squared += more / left * (1.0 - share) * (1.0 - share)
            for i in range(first, end):
                row = self.order[i]
                d[row] = risk[i] * (own if self.y[row] > 0.0 else hazard)
                square[row] = risk[i] * risk[i] * (own_squared if self.y[row] > 0.0 else squared)
            end = first

    cdef void means(self, const double *risk, const double *sums, const double *top,
                    const double *T, Py_ssize_t q, double *F, double *work) noexcept nogil:
        """F = B T, from the latest row on."""
        cdef double *moment = work  # Σ risk t over those at risk
        cdef double *tied_moment = work + q  # and over the events of one time
        cdef double share, scale, unit
        cdef Py_ssize_t at = 0, term = 0, end, i, a, row, part, parts
        cdef Ties ties
        while at < self.n:
            end = self.tie_end[at]
            unit = 1.0
            if at == 0 or self.stratum_end[at] != self.stratum_end[at - 1]:
                for a in range(q):
                    moment[a] = 0.0
            elif top[at] > top[at - 1]:
                unit = exp(top[at - 1] - top[at])
                for a in range(q):
                    moment[a] *= unit
            for a in range(q):
                tied_moment[a] = 0.0
            for i in range(at, end):
                row = self.order[i]
                for a in range(q):
                    moment[a] += risk[i] * T[row * q + a]
                if end - at > 1 and self.y[row] > 0.0:
                    for a in range(q):
                        tied_moment[a] += risk[i] * T[row * q + a]
            ties = self.tied(risk, at, end)
            parts = self.terms(ties.count)
            for part in range(parts):
                share = <double> part / parts
                scale = sqrt(ties.weight / parts) / (sums[at] - share * ties.risk)
                for a in range(q):
                    F[(term + part) * q + a] = scale * (moment[a] - share * tied_moment[a])
            for i in range((term + parts) * q, (term + ties.count) * q):
                F[i] = 0.0
            term += ties.count
            at = end
