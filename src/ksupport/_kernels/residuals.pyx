# cython: language_level=3, wraparound=False, cdivision=True
"""What features that were left out would add to a model, or to it without one of its columns.

The symbols are those of sampler.pyx; here the model is one, and features are many.
"""

from libc.stdint cimport int64_t

from ksupport._kernels.doors cimport agree
from ksupport._kernels.sampling cimport (
    EXACT_FIT, add_multiple, add_products, add_rows, add_squares, gains_of,
)

import numpy as np


cdef class Residuals:
    """Products of features with themselves and the responses, those with a model out.

    Parameters
    ----------
    products : array of shape (s, m)
        Of m features with the s columns of the model.
    c : array of shape (T, m)
        Of the features with the responses.
    inverse, mean : arrays of shape (s, s) and (s, T)
        A^-1 and A^-1 C.
    length : float
        The squared length of each feature.
    """

    cdef const double[:, ::1] inverse, mean
    cdef double[:, ::1] by_model, r  # A^-1 times the products, and residual products with Y
    cdef double[::1] a  # residual squares

    def __init__(self, const double[:, ::1] products, const double[:, ::1] c,
                 const double[:, ::1] inverse, const double[:, ::1] mean, double length):
        cdef int64_t s = products.shape[0], m = c.shape[1], k, t
        cdef int64_t[::1] every = np.arange(s)
        cdef double[:, ::1] factors = -np.asarray(mean).T.copy()
        self.inverse, self.mean = inverse, mean
        self.by_model, self.r, self.a = np.zeros((s, m)), np.array(c), np.full(m, length)
        agree(mean.shape[0] == s and mean.shape[1] == c.shape[0], "mean, products and c")
        agree(inverse.shape[0] == inverse.shape[1] == s, "inverse and products")
        if s == 0 or m == 0:
            return
        agree(products.shape[1] == m, "products and c")
        for k in range(s):
            add_rows(&self.by_model[k, 0], &products[0, 0], &every[0], &inverse[k, 0], s, m)
            add_products(&self.a[0], &self.by_model[k, 0], &products[k, 0], -1.0, m)
        for t in range(c.shape[0]):
            add_rows(&self.r[t, 0], &products[0, 0], &every[0], &factors[t, 0], s, m)

    def gains(self, const int64_t[::1] out, const double[:, :, ::1] left_inverse,
              const double[::1] lams, double nu):
        """Log evidence that each feature adds, given the model without some column.

        Parameters
        ----------
        out : array of int, of shape (draws,)
            Which column of the model is out; -1 for none.
        left_inverse : array of shape (draws, T, T)
            The inverse of what is left of Y'Y then.
        lams : array of shape (draws,)
            Prior precisions of the feature's coefficient.
        nu : float
            Rows that count.

        Returns
        -------
        array of shape (draws, m)
        """
        cdef int64_t draw, k, t, u, i, T = self.r.shape[0], m = self.a.shape[0]
        cdef double[:, ::1] found = np.zeros((out.shape[0], m)), r = np.empty((T, m))
        cdef double[::1] a = np.empty(m)
        cdef double left
        agree(left_inverse.shape[0] == lams.shape[0] == out.shape[0], "out, left_inverse and lams")
        agree(left_inverse.shape[1] == left_inverse.shape[2] == T, "left_inverse and c")
        for draw in range(out.shape[0] if m else 0):
            k = out[draw]
            agree(-1 <= k < self.mean.shape[0], "out and the model")
            a[:], r[:] = self.a, self.r
            if k >= 0:
                left = 1.0 / self.inverse[k, k]
                add_squares(&a[0], &self.a[0], &self.by_model[k, 0], left, m)
                for t in range(T):
                    add_multiple(&r[t, 0], &self.r[t, 0], &self.by_model[k, 0],
                                 left * self.mean[k, t], m)
            for i in range(m):
                a[i] = max(a[i], 0.0) + lams[draw]
            for t in range(T):
                for u in range(T):
                    add_products(&found[draw, 0], &r[t, 0], &r[u, 0], left_inverse[draw, t, u], m)
            gains_of(&found[draw, 0], &a[0], nu, T, lams[draw], EXACT_FIT, m)
        return np.asarray(found)
