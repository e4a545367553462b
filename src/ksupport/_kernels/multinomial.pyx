# cython: language_level=3, wraparound=False, cdivision=True
"""The loss of several classes, log Σ_a exp(eta_a) - eta_y, with a fitted value for each class."""

import numpy as np

from ksupport._kernels.losses cimport Loss
from libc.math cimport INFINITY, exp, log


cdef class Multinomial(Loss):
    """Fitted values of one class stand side by side: eta has n_classes times n entries.

    Parameters
    ----------
    y : array of shape (n,)
        Numbers of classes, from 0 on.
    weights : array of shape (n,)
        How much each row counts.
    n_classes : int
        How many classes there are.
    """

    cdef Py_ssize_t n_classes

    def __init__(self, const double[::1] y, const double[::1] weights, Py_ssize_t n_classes):
        cdef Py_ssize_t i
        Loss.__init__(self, y, weights)
        for i in range(self.n):
            if not 0.0 <= y[i] < n_classes:
                raise ValueError(f"classes must be from 0 to {n_classes - 1}, got {y[i]}")
        self.n_classes, self.size = n_classes, self.n * n_classes
        self.largest_curvature, self.flat_share = 0.5, 1e-10
        self.diagonal, self.of_classes = False, True

    def __reduce__(self):
        return type(self), (np.asarray(self.y), np.asarray(self.weights), self.n_classes)

    cdef Py_ssize_t workspace(self, Py_ssize_t q) noexcept nogil:
        return self.n_classes * (2 + q)

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef double *p = work
        cdef double *rest = work + self.n_classes
        cdef Py_ssize_t i, a
        for i in range(self.n):
            self.probabilities(eta, i, p, rest)
            for a in range(self.n_classes):
                g[a * self.n + i] = self.weights[i] * (-rest[a] if a == self.y[i] else p[a])
                h[a * self.n + i] = self.weights[i] * p[a] * rest[a]

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        """Minus the logarithm of the probability of the class."""
        cdef double most, total
        cdef Py_ssize_t i, a
        for i in range(self.n):
            most, total = -INFINITY, 0.0
            for a in range(self.n_classes):
                most = most if most > eta[a * self.n + i] else eta[a * self.n + i]
            for a in range(self.n_classes):
                total += exp(eta[a * self.n + i] - most)
            out[i] = log(total) + (most - eta[<Py_ssize_t> self.y[i] * self.n + i])

    cdef void hessian(self, const double *eta, const double *h, const double *T, Py_ssize_t q,
                      double *H, double *work) noexcept nogil:
        cdef double *p = work
        cdef double *rest = work + self.n_classes
        cdef double *along = rest + self.n_classes
        cdef const double *row
        cdef double own
        cdef Py_ssize_t i, at, a, other, size = self.n_classes * q
        for i in range(self.n):
            self.probabilities(eta, i, p, rest)
            row = T + i * q
            for at in range(size):
                along[at] = p[at // q] * row[at % q]
            for at in range(size):
                a = at // q
                own = self.weights[i] * along[at]
                for other in range(a * q):
                    H[at * size + other] -= own * along[other]
                for other in range(q):
                    H[at * size + a * q + other] += own * rest[a] * row[other]

    cdef double curvature_along(self, const double *eta, const double *along,
                                double *work) noexcept nogil:
        """Of each row the variance of the vector under the probabilities of its classes."""
        cdef double curvature = 0.0, most, total, mean, square, p
        cdef Py_ssize_t i, a, at
        for i in range(self.n):
            most, total, mean, square = -INFINITY, 0.0, 0.0, 0.0
            for a in range(self.n_classes):
                most = most if most > eta[a * self.n + i] else eta[a * self.n + i]
            for a in range(self.n_classes):
                at = a * self.n + i
                p = exp(eta[at] - most)
                total += p
                mean += p * along[at]
                square += p * along[at] * along[at]
            curvature += self.weights[i] * (square / total - (mean / total) * (mean / total))
        return curvature

    cdef void probabilities(self, const double *eta, Py_ssize_t i, double *p,
                            double *rest) noexcept nogil:
        """Of the classes in row i; and 1 - p, as a sum of the others, without cancellation."""
        cdef double most = -INFINITY, total = 0.0, after = 0.0
        cdef Py_ssize_t a
        for a in range(self.n_classes):
            most = most if most > eta[a * self.n + i] else eta[a * self.n + i]
        for a in range(self.n_classes):
            p[a] = exp(eta[a * self.n + i] - most)
            rest[a] = total
            total += p[a]
        for a in range(self.n_classes - 1, -1, -1):
            rest[a] = (rest[a] + after) / total
            after += p[a]
        for a in range(self.n_classes):
            p[a] /= total
