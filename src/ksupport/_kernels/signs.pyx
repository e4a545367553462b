# cython: language_level=3, wraparound=False, cdivision=True
"""The evidence that coefficients are positive, where they cannot be negative.

A half-normal prior multiplies the evidence of p coefficients by 2^p times the probability that all
are positive.  It is taken to be a product over coefficients: of 2 Phi(x), where x is the mean of
one in standard errors.
"""

from libc.math cimport INFINITY, M_PI, M_SQRT1_2, erfc, log, sqrt
from libc.stdint cimport int64_t

from ksupport._kernels.sampler cimport Sampler
from ksupport._kernels.sampling cimport EXACT_FIT
from ksupport._kernels.simd cimport dot

cdef double CERTAIN = 8.3  # standard errors from which on 2 Phi is 2 in double precision
cdef double TAIL = -30.0  # standard errors up to which log Phi is that of its asymptote


cdef class Signs:
    """Of the coefficients of a present set of columns; atoms have one column each."""

    cdef void _begin(self) noexcept nogil:
        self.product, self.total = 1.0, 0.0

    cdef void _take(self, double x) noexcept nogil:
        if x > CERTAIN:
            self.product *= 2.0
        elif x > TAIL:
            self.product *= erfc(-x * M_SQRT1_2)
        else:
            self.total += -0.5 * x * x - log(-x) - 0.5 * log(0.5 * M_PI)
        if not 1e-100 < self.product < 1e100:  # the next factor is above 1e-198
            self.total += log(self.product)
            self.product = 1.0

    cdef double _log(self) noexcept nogil:
        return self.total + log(self.product)

    cdef double _noise(self, Sampler state, int64_t t, double left) noexcept nogil:
        """The variance of the noise of a response, of which this is left."""
        if state.nu == 0.0:
            return 1.0
        return max(left, EXACT_FIT * state.total[t * state.T + t]) / state.nu

    cdef double of_present(self, Sampler state) noexcept nogil:
        """Log evidence of the signs of present coefficients."""
        cdef int64_t T = state.T, u, t
        cdef double noise
        self._begin()
        for t in range(T):
            noise = self._noise(state, t, state.left[t * T + t])
            for u in range(state.p):
                self._take(state.mean[u * T + t]
                           / sqrt(state.inverse[u * state.widest + u] * noise))
        return self._log()

    cdef double beside(self, Sampler state, int64_t j) noexcept nogil:
        """The same of the present coefficients beside those of one more column, or none (-1)."""
        cdef int64_t T = state.T, N = state.N, w = state.widest, p = state.p, u, t
        cdef double a, r, noise, h
        if j < 0:
            return self.of_present(state)
        a = state.a[j]
        for u in range(p):
            state.own[u] = state.products.row(j)[state.columns[u]]
        self._begin()
        for u in range(p):
            h = dot(state.inverse + u * w, state.own, p)
            for t in range(T):
                r = state.r[t * N + j]
                noise = self._noise(state, t, state.left[t * T + t] - r * r / a)
                self._take((state.mean[u * T + t] - h * r / a)
                           / sqrt((state.inverse[u * w + u] + h * h / a) * noise))
        return self._log()

    cdef double add_own(self, Sampler state, double *odds, double top) noexcept nogil:
        """Add to the log weight of each atom that of its own signs; the largest, or ``top``."""
        cdef int64_t T = state.T, j, t
        cdef double a, r
        for j in range(state.n_atoms):
            if odds[j] == -INFINITY:
                continue
            a = state.a[j]
            self._begin()
            for t in range(T):
                r = state.r[t * state.N + j]
                self._take(r / sqrt(a * self._noise(state, t, state.left[t * T + t] - r * r / a)))
            odds[j] += self._log()
            top = max(top, odds[j])
        return top
