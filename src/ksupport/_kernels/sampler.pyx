# cython: language_level=3, wraparound=False, cdivision=True
"""The present set S of atoms, and the log evidence that each of the others would add to it.

With the symbols of posterior.pyx, residual products of all columns of D with the present ones out,

    a = diag(D'D + lam I - D'D_S A^-1 D_S'D),    r = D'Y - D'D_S A^-1 C,

are updated when a column enters or leaves, at O(|S| N): by e, the residual products of that column
with all.  Each update writes into a second set of arrays, so that a column that comes back as soon
as it left finds its products as they were, which is the most frequent of moves.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from scipy.linalg.cython_lapack cimport dgetrf, dgetri

from ksupport._kernels.sampling cimport (
    EXACT_FIT, LANES, STRETCH, add_multiple, add_outer, add_products, add_rows, add_square_of,
    add_squares, factorise, gains_of, log_dets,
)
from ksupport._kernels.simd cimport dot

import numpy as np


cdef class Sampler:
    """The present set of atoms, and what others would add to it.

    Parameters
    ----------
    data : Quadratic
    atoms : Atoms
    most, widest : int
        Atoms of a set, and columns, at most.
    d : int
        Features.
    """

    def __init__(self, data, atoms, int most, int widest, int d):
        cdef const double[:, ::1] total = data.total
        cdef const double[::1] bonus = atoms.bonus
        self.arrays = [data, atoms]
        self.N, self.T = data.c.shape
        self.n_simple, self.n_blocks, self.n_atoms = (
            atoms.n_simple, len(atoms.rank), len(atoms.cluster)
        )
        self.products = data.products
        if self.products.n_columns != self.N or total.shape[0] != self.T:
            raise ValueError(f"{self.products.n_columns} columns do not fit c of shape "
                             f"{data.c.shape} and total of shape {data.total.shape}")
        self.total, self.nu = &total[0, 0], data.nu
        self.bonus = &bonus[0] if self.n_atoms else NULL
        self.first, self.ranks, self.cluster, self.indptr, self.members = (
            self._ints(atoms.first), self._ints(atoms.rank), self._ints(atoms.cluster),
            self._ints(atoms.indptr), self._ints(atoms.members),
        )
        self.d, self.most, self.widest = d, most, widest
        self.rank = self.products.rank
        self.groups = (self.n_blocks + LANES - 1) // LANES
        self.c = self._room(self.T * self.N)
        cdef const double[:, :] c = data.c
        cdef int64_t t, i
        for t in range(self.T):
            for i in range(self.N):
                self.c[t * self.N + i] = c[i, t]
        self._make_room()
        for t in range(self.T):
            self.responses[t] = t
        self.just_left = -1

    cdef const int64_t *_ints(self, array):
        cdef const int64_t[::1] view = array
        return &view[0] if view.shape[0] else NULL

    cdef double *_room(self, int64_t size):
        cdef double[::1] view = np.zeros(max(size, 1))
        self.arrays.append(view)
        return &view[0]

    cdef int64_t *_int_room(self, int64_t size):
        cdef int64_t[::1] view = np.zeros(max(size, 1), np.int64)
        self.arrays.append(view)
        return &view[0]

    cdef void _make_room(self):
        cdef int64_t N = self.N, T = self.T, w = self.widest, R = self.rank
        cdef int64_t size = max(w, R), triangles = self.groups * R * (R + 1) // 2 * LANES
        self.present, self.columns = self._int_room(self.most), self._int_room(w)
        self.cover, self.responses = self._int_room(self.d), self._int_room(T)
        self.inverse, self.mean = self._room(w * w), self._room(w * T)
        self.left, self.left_inverse = self._room(T * T), self._room(T * T)
        self.a, self.a_before = self._room(N), self._room(N)
        self.r, self.r_before = self._room(T * N), self._room(T * N)
        self.blocks, self.blocks_before = self._room(triangles), self._room(triangles)
        self.e, self.row = self._room(N), self._room(max(N, w))
        self.h, self.own, self.coef = self._room(w), self._room(w), self._room(T)
        self.within = self._room(self.groups * R * LANES)
        self.sums = self._room(self.n_atoms // STRETCH + 1)
        self.L, self.over = self._room(size * (size + 1) // 2 * LANES), self._room(size * LANES)
        self.W = self._room(size * (T + size) * LANES)
        self.small = self._room(2 * T * T)
        self.pivots = <int *> self._int_room(T)

    @property
    def atoms(self):
        """The atoms that are present."""
        return np.array([self.present[at] for at in range(self.count)], np.int64)

    @property
    def inside(self):
        """Whether each atom is present."""
        found = np.zeros(self.n_atoms, bool)
        found[self.atoms] = True
        return found

    @property
    def unexplained(self):
        """Y'Y - C'A^-1 C."""
        T = self.T
        return np.array([self.left[i] for i in range(T * T)]).reshape(T, T)

    def refresh(self, double lam):
        """Make all products anew for the present atoms, at a prior precision."""
        self.make_products(lam)

    def add(self, int64_t j):
        """Let an atom enter."""
        self.enter(j)

    def remove(self, int64_t place):
        """Let the atom in a place leave."""
        self.leave(place)

    def gains(self, double lam):
        """Log evidence that each atom would add; minus infinity for those that are present."""
        cdef double[::1] out = np.empty(self.n_atoms)
        with nogil:
            self.find_gains(lam, &out[0])
        return np.asarray(out)

    cdef void make_products(self, double lam) noexcept nogil:
        cdef int64_t T = self.T, R = self.rank, i, k, b, at = 0, first, size
        cdef const double *lower = self.products.lower
        memcpy(self.left, self.total, T * T * sizeof(double))
        self._invert_left()
        memcpy(self.r, self.c, T * self.N * sizeof(double))
        for i in range(self.n_simple):
            self.a[i] = lower[i * R] + lam
        for b in range(self.groups * LANES):  # those beyond the last, and rows beyond a rank: lam I
            first, size = 0, 0
            if b < self.n_blocks:
                first, size = self.first[b], self.ranks[b]
            for i in range(R):
                for k in range(i + 1):
                    at = _entry(R, b, i, k)
                    self.blocks[at] = lam if i == k else 0.0
                    if i < size:
                        self.blocks[at] += lower[(first + i) * R + k]
                if i < size:
                    self.a[first + i] = self.blocks[at]
        self.p, self.just_left = 0, -1
        for at in range(self.count):
            self._enter_columns(self.present[at])

    cdef void enter(self, int64_t j) noexcept nogil:
        self._enter_columns(j)
        self.note(j)

    cdef void note(self, int64_t j) noexcept nogil:
        """That an atom is present."""
        cdef int64_t at
        self.present[self.count] = j
        self.count += 1
        self.clusters += self.cluster[j]
        for at in range(self.indptr[j], self.indptr[j + 1]):
            self.cover[self.members[at]] += 1

    cdef void leave(self, int64_t place) noexcept nogil:
        cdef int64_t j = self.present[place], b = j - self.n_simple, i
        if b < 0:
            self._leave_column(j)
            self.just_left = j
        else:
            for i in range(self.ranks[b]):
                self._leave_column(self.first[b] + i)
                self._set_block(b, i)
        self.forget(place)

    cdef void forget(self, int64_t place) noexcept nogil:
        """That the atom in a place has left."""
        cdef int64_t j = self.present[place], at
        self.count -= 1
        self.present[place] = self.present[self.count]
        self.clusters -= self.cluster[j]
        for at in range(self.indptr[j], self.indptr[j + 1]):
            self.cover[self.members[at]] -= 1

    cdef int64_t columns_of(self, int64_t j, int64_t *out) noexcept nogil:
        """The columns of an atom; returns how many."""
        cdef int64_t b = j - self.n_simple, i, rank = 1 if b < 0 else self.ranks[b]
        for i in range(rank):
            out[i] = (j if b < 0 else self.first[b]) + i
        return rank

    cdef void _enter_columns(self, int64_t j) noexcept nogil:
        cdef int64_t at, first = self.p
        for at in range(self.columns_of(j, self.columns + first)):
            self._enter_column(self.columns[first + at])

    cdef void _set_block(self, int64_t b, int64_t i) noexcept nogil:
        """After column i of an atom has left: its products with those that left before."""
        cdef int64_t first = self.first[b], k
        self.blocks[_entry(self.rank, b, i, i)] = self.a[first + i]
        for k in range(i):
            self.blocks[_entry(self.rank, b, i, k)] = self.e[first + k]

    cdef void _exchange_products(self) noexcept nogil:
        """Products before the last update for those after it, or back."""
        self.a, self.a_before = self.a_before, self.a
        self.r, self.r_before = self.r_before, self.r
        self.blocks, self.blocks_before = self.blocks_before, self.blocks
        self.just_left = -1

    cdef void _update(self, double scale, double sign) noexcept nogil:
        """a += scale e², r += sign e coef'."""
        cdef int64_t N = self.N, R = self.rank, t, b, i, size = R * (R + 1) // 2 * LANES
        add_squares(self.a_before, self.a, self.e, scale, N)
        for t in range(self.T):
            add_multiple(self.r_before + t * N, self.r + t * N, self.e, sign * self.coef[t], N)
        for b in range(self.n_blocks):
            for i in range(self.ranks[b]):
                self.within[(b // LANES * R + i) * LANES + b % LANES] = self.e[self.first[b] + i]
        for b in range(self.groups):
            add_outer(self.blocks_before + b * size, self.blocks + b * size,
                      self.within + b * R * LANES, scale, R)
        self._exchange_products()

    cdef void _invert_left(self) noexcept nogil:
        """Of T x T; what is singular keeps the inverse before."""
        cdef int T = <int> self.T, info = 0, size = T * T
        if T == 1:
            self.left_inverse[0] = 1.0 / self.left[0]
            return
        memcpy(self.small, self.left, size * sizeof(double))
        dgetrf(&T, &T, self.small, &T, self.pivots, &info)
        if info == 0:
            dgetri(&T, self.small, &T, self.pivots, self.small + size, &size, &info)
        if info == 0:
            memcpy(self.left_inverse, self.small, size * sizeof(double))

    cdef double det(self, double *M) noexcept nogil:
        """Of a T x T matrix, which is lost."""
        cdef int T = <int> self.T, info = 0, i
        cdef double found = 1.0
        dgetrf(&T, &T, M, &T, self.pivots, &info)
        for i in range(T):
            found *= M[i * T + i] if self.pivots[i] == i + 1 else -M[i * T + i]
        return found

    cdef void _products_of(self, int64_t j) noexcept nogil:
        """h and e of a column that is not present."""
        cdef int64_t p = self.p, u
        cdef const double *row = self.products.row(j)
        for u in range(p):
            self.own[u] = row[self.columns[u]]
        for u in range(p):
            self.h[u] = -dot(self.inverse + u * self.widest, self.own, p)
        memcpy(self.e, row, self.N * sizeof(double))
        add_rows(self.e, self.products.G, self.columns, self.h, p, self.N)

    cdef void _enter_column(self, int64_t j) noexcept nogil:
        cdef int64_t p = self.p, T = self.T, w = self.widest, u, t, s
        cdef double left = self.a[j]
        cdef double *inverse = self.inverse
        for t in range(T):
            self.coef[t] = self.r[t * self.N + j] / left
        if j == self.just_left:  # h is that of its leaving
            self._exchange_products()
        else:
            self._products_of(j)
            self._update(-1.0 / left, -1.0)
        for u in range(p):
            for t in range(T):
                self.mean[u * T + t] += self.h[u] * self.coef[t]
            inverse[u * w + p] = inverse[p * w + u] = self.h[u] / left
        add_square_of(inverse, self.h, 1.0 / left, p, w)
        inverse[p * w + p] = 1.0 / left
        for t in range(T):
            self.mean[p * T + t] = self.coef[t]
            for s in range(T):
                self.left[t * T + s] -= left * self.coef[t] * self.coef[s]
        for t in range(T):
            self.left[t * T + t] = max(self.left[t * T + t], EXACT_FIT * self.total[t * T + t])
        self.columns[p] = j
        self.p = p + 1
        self._invert_left()

    cdef void _leave_column(self, int64_t j) noexcept nogil:
        cdef int64_t p = self.p, last = self.p - 1, T = self.T, w = self.widest, at = 0, u, t, s
        cdef double left
        cdef double *inverse = self.inverse
        while self.columns[at] != j:
            at += 1
        left = 1.0 / inverse[at * w + at]
        memcpy(self.coef, self.mean + at * T, T * sizeof(double))
        for u in range(p):
            self.h[u] = inverse[at * w + u] * left
        memset(self.e, 0, self.N * sizeof(double))
        add_rows(self.e, self.products.G, self.columns, self.h, p, self.N)
        self._update(1.0 / left, 1.0)
        self.a[j] = left
        for u in range(p):
            for t in range(T):
                self.mean[u * T + t] -= self.h[u] * self.coef[t]
        add_square_of(inverse, self.h, -1.0 / left, p, w)
        for t in range(T):
            self.r[t * self.N + j] = self.coef[t] * left
            for s in range(T):
                self.left[t * T + s] += left * self.coef[t] * self.coef[s]
            self.mean[at * T + t] = self.mean[last * T + t]
        self.columns[at] = self.columns[last]
        self.h[at] = self.h[last]
        memcpy(inverse + at * w, inverse + last * w, p * sizeof(double))
        for u in range(p):
            inverse[u * w + at] = inverse[u * w + last]
        self.p = last
        self._invert_left()

    cdef void find_gains(self, double lam, double *out) noexcept nogil:
        cdef int64_t N = self.N, T = self.T, n = self.n_simple, t, at
        memset(out, 0, n * sizeof(double))
        for t in range(T):
            if self.nu == 0.0 or T == 1:
                add_products(out, self.r + t * N, self.r + t * N,
                             1.0 if self.nu == 0.0 else self.left_inverse[0], n)
            else:
                memset(self.row, 0, N * sizeof(double))
                add_rows(self.row, self.r, self.responses, self.left_inverse + t * T, T, N)
                add_products(out, self.row, self.r + t * N, 1.0, n)
        gains_of(out, self.a, self.nu, T, lam, EXACT_FIT, n)
        for at in range(self.groups):
            self._block_gains(at, lam, out + n)
        for at in range(self.count):
            out[self.present[at]] = -INFINITY

    cdef void _block_gains(self, int64_t group, double lam, double *out) noexcept nogil:
        """Of LANES atoms with several columns."""
        cdef int64_t R = self.rank, T = self.T, b, i, t, s, size, j
        cdef double lams[LANES]
        cdef double least[LANES]
        cdef double log_det[LANES]
        cdef double found, share
        for b in range(LANES):
            j = group * LANES + b
            lams[b], least[b] = lam, EXACT_FIT * lam
            size = self.ranks[j] if j < self.n_blocks else 0
            for i in range(R):
                for t in range(T):
                    self.W[(i * T + t) * LANES + b] = (
                        self.r[t * self.N + self.first[j] + i] if i < size else 0.0
                    )
        factorise(self.blocks + group * (R * (R + 1) // 2 * LANES), self.L, self.W, self.over,
                  least, R, T)
        log_dets(self.L, lams, log_det, R)
        for b in range(min(LANES, self.n_blocks - group * LANES)):
            j = group * LANES + b
            if self.nu == 0.0 or T == 1:
                found = 0.0
                for t in range(T):
                    found += explained(self.W, self.over, R, T, t, t, b)
                if self.nu == 0.0:
                    out[j] = 0.5 * (found - T * log_det[b])
                    continue
                share = 1.0 - found * self.left_inverse[0]
            else:
                share = self._share_left(R, b)
            out[j] = -0.5 * (self.nu * log(max(share, EXACT_FIT)) + T * log_det[b])

    cdef double _share_left(self, int64_t R, int64_t b) noexcept nogil:
        """det(I - left^-1 W'D^-1 W) of a lane."""
        cdef int64_t T = self.T, t, s, u
        cdef double *M = self.small
        cdef double *taken = self.small + T * T
        for t in range(T):
            for s in range(T):
                taken[t * T + s] = explained(self.W, self.over, R, T, t, s, b)
        for t in range(T):
            for s in range(T):
                M[t * T + s] = 1.0 if s == t else 0.0
                for u in range(T):
                    M[t * T + s] -= self.left_inverse[t * T + u] * taken[u * T + s]
        return self.det(M)


cdef inline int64_t _entry(int64_t R, int64_t b, int64_t i, int64_t k) noexcept nogil:
    """Where entry (i, k <= i) of block b is."""
    cdef int64_t triangle = R * (R + 1) // 2
    return (b // LANES * triangle + i * (i + 1) // 2 + k) * LANES + b % LANES
