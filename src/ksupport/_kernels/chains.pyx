# cython: language_level=3, wraparound=False, cdivision=True
"""Gibbs sampling of sets of atoms.

A move removes an atom, or none, and draws another given the rest, among all atoms at once.  Chains
come back to the same rest again and again (on expression data one in three to seven moves meets a
new one; where very many models are about equally probable, most do), so its weights are found once
and kept: of atoms that have nearly all of the weight one by one, of the others together, which are
weighed again when one of them is drawn.  Probabilities are summed by how often each rest was met.
"""

from libc.math cimport exp
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from ksupport._kernels.posterior cimport draw_lam, weigh
from ksupport._kernels.sampler cimport Sampler
from ksupport._kernels.sampling cimport LANES, STRETCH
from ksupport._kernels.signs cimport Signs

import numpy as np

cdef enum:
    PRECISION_EVERY = 50  # moves after which a prior precision is drawn
    REFRESH = 100  # columns that enter or leave before products are made anew: errors below 1e-8
    ROOM = 1 << 21  # atoms that rests list before all are forgotten (24 MB, where that is needed);
    MOST_RESTS = 1 << 15  # that are kept,
    SLOTS = 1 << 16  # and the size of the table that finds them

cdef double LISTED = 1e-3  # share of the weight from which an atom is listed by itself


cdef struct Rest:
    uint64_t key
    int64_t first, size  # of its atoms, among all of those listed, followed by
    int64_t listed  # how many others, with their cumulative weights
    double none, total, other  # weights of no atom, of those listed, and of those that are not
    int64_t exchanges, others  # moves that met it


cdef uint64_t _mixed(uint64_t x) noexcept nogil:
    """A number that looks random (the finaliser of splitmix64)."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xbf58476d1ce4e5b9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94d049bb133111eb
    return x ^ (x >> 31)


cdef class Chain:
    """Where a chain is: a set of atoms, and the place of a prior precision."""

    cdef int64_t[::1] present
    cdef int64_t count, at_lam
    cdef uint64_t key  # of the set; those of two sets are equal once in 2^64 pairs

    def __init__(self, Conditionals moves, start):
        cdef int64_t j
        self.present = np.zeros(moves.state.most + 1, np.int64)
        for j in start[:moves.state.most]:
            self.present[self.count] = j
            self.count += 1
            self.key ^= moves.keys[j]


cdef class Conditionals:
    """What may enter a set of atoms, given the others and the prior precision.

    Parameters
    ----------
    data, atoms : Quadratic, Atoms
    prior : array of shape (lams, most + 2, most + 2)
        Log prior of a precision and a set, by its numbers of features and of clusters.
    lams : array
        Prior precisions of coefficients.
    positive : bool
        Whether coefficients cannot be negative; atoms have one column each then.
    most, widest : int
        Atoms of a set, and columns, at most.
    d : int
        Features.
    room : int
        How many atoms rests may list before all are forgotten.
    """

    cdef Sampler state  # whose products are those of some set met before
    cdef Signs signs
    cdef const double[:, :, ::1] prior
    cdef const double[::1] lams
    cdef readonly bint positive
    cdef int64_t at_lam, updates, count, listed, room  # rests that are kept, what they list, at most
    cdef uint64_t[::1] keys  # of atoms, and of precisions
    cdef Rest *rests
    cdef int[::1] slots  # where a rest is; -1: nowhere
    cdef int[::1] atoms_of
    cdef double[::1] cumulative
    cdef double[::1] odds  # weights of the rest ``weighed``
    cdef int64_t weighed, brought  # and the rest whose products there are; -1: of none
    cdef double[::1] logs, p
    cdef int64_t[::1] columns
    cdef unsigned char[::1] marked, covered  # atoms, features
    cdef object memory

    def __init__(self, data, atoms, prior, lams, bint positive, int most, int widest, int d,
                 int64_t room=ROOM):
        cdef int64_t at, n
        cdef unsigned char[::1] memory
        self.state, self.signs = Sampler(data, atoms, most, widest, d), Signs()
        self.prior, self.lams, self.positive = prior, lams, positive
        n = self.state.n_atoms
        self.keys = np.empty(n + len(lams), np.uint64)
        for at in range(n + self.lams.shape[0]):
            self.keys[at] = _mixed(<uint64_t> (at + 1) * <uint64_t> 0x9e3779b97f4a7c15)
        self.memory = memory = np.empty(MOST_RESTS * sizeof(Rest), np.uint8)
        self.rests = <Rest *> &memory[0]
        self.slots = np.full(SLOTS, -1, np.int32)
        self.atoms_of, self.cumulative = np.empty(room + n, np.int32), np.empty(room + n)
        self.room = room
        self.odds, self.logs = np.empty(n), np.empty(len(lams) + LANES)
        self.columns = np.empty(widest + self.state.rank, np.int64)
        self.marked, self.covered = np.zeros(n, np.uint8), np.zeros(max(d, 1), np.uint8)
        self.at_lam = self.weighed = self.brought = -1

    def advance(self, Chain chain, const double[:, ::1] u, int keep, int thin):
        """Moves of a chain, one for each row of uniform random numbers.

        Parameters
        ----------
        chain : Chain
        u : array of shape (moves, 4), or (moves, 6) if ``positive``
            Which kind of move, which atom leaves, which enters, which precision, and whether signs
            accept the last two.
        keep : int
            Of the last so many moves, every ``thin``-th set and the probabilities are kept.

        Returns
        -------
        sets : array of shape (rows, most), places of precisions, array of shape (rows,)
        p : array of shape (d,)
            The mean, over moves, of the probability that a feature is present given all but the
            atom that is drawn (Rao and Blackwell).
        """
        cdef int64_t moves = u.shape[0], t, row, at
        rows, most = (keep + thin - 1) // thin, self.state.most
        sets, places = np.full((rows, most), -1, np.int32), np.empty(rows, np.int8)
        cdef int[:, ::1] kept = sets
        cdef signed char[::1] kept_lams = places
        p = np.zeros(self.state.d)
        self.p = p
        with nogil:
            for t in range(moves):
                if t % PRECISION_EVERY == 0:
                    self._draw_precision(chain, &u[t, 0])
                row = t - (moves - keep)
                self._move(chain, u[t, 0] < 0.5, &u[t, 0], row >= 0)
                if row >= 0 and row % thin == 0:
                    row //= thin
                    for at in range(chain.count):
                        kept[row, at] = <int> chain.present[at]
                    kept_lams[row] = <signed char> chain.at_lam
            self._count()
        return sets, places, p / keep

    cdef void _draw_precision(self, Chain chain, const double *u) noexcept nogil:
        cdef int64_t at, drawn, p = 0, clusters = 0
        cdef double own
        for at in range(chain.count):
            clusters += self.state.cluster[chain.present[at]]
            p += self.state.columns_of(chain.present[at], &self.columns[p])
        drawn = draw_lam(self.state, &self.columns[0], p, self.lams,
                         self.prior[:, chain.count - clusters, clusters], &self.logs[0], u[3])
        if self.positive and drawn != chain.at_lam:  # signs accept it or not
            self._bring(self.state, chain, self.state.most, -1)
            own = self.signs.of_present(self.state)
            self.state.make_products(self.lams[drawn])
            self.at_lam = drawn
            if u[5] >= exp(self.signs.of_present(self.state) - own):
                return
        chain.at_lam = drawn

    cdef void _move(self, Chain chain, bint exchange, const double *u, bint counts) noexcept nogil:
        """Draw an atom in place of one that is present, or of none."""
        cdef int64_t place, i, j, at
        if exchange and chain.count == 0:
            return  # nothing to exchange: to add an atom instead would favour full sets
        place = <int64_t> (u[1] * (chain.count if exchange else self.state.most))
        i = chain.present[place] if place < chain.count else -1
        at = self._find(chain, place)
        self.rests[at].exchanges += counts and exchange
        self.rests[at].others += counts and not exchange
        j = self._draw(chain, place, at, u[2], exchange, counts)
        if j < 0 and exchange:
            return  # weights that are all zero
        if self.positive and i != j:
            j = self._accepted(chain, place, at, i, j, u[4], counts)
        if i >= 0:
            chain.key ^= self.keys[i]
            chain.count -= 1
            chain.present[place] = chain.present[chain.count]
        if j >= 0:
            chain.present[chain.count] = j
            chain.count += 1
            chain.key ^= self.keys[j]

    cdef int64_t _accepted(self, Chain chain, int64_t place, int64_t at, int64_t i, int64_t j,
                           double u, bint counts) noexcept nogil:
        """Atom j, or i in whose place it was drawn; either is -1 for none.

        They were weighed by their own signs alone; those of all others decide (Metropolis and
        Hastings).  A draw refused with probability q counts q less for its features, and the atom
        that stays q more: in the mean over moves, each has its exact probability.
        """
        cdef double q
        self._bring(self.state, chain, place, at)
        q = max(1.0 - exp(self.signs.beside(self.state, j) - self.signs.beside(self.state, i)), 0.0)
        if counts:
            self._cover(&self.rests[at], 0.0)
            if i >= 0:
                self._add(i, q, 0)
            if j >= 0:
                self._add(j, -q, 0)
            self._uncover()
        return i if u < q else j

    cdef int64_t _find(self, Chain chain, int64_t place) noexcept nogil:
        """The rest of a chain without the atom in a place."""
        cdef uint64_t key = chain.key ^ self.keys[self.state.n_atoms + chain.at_lam]
        cdef int64_t slot
        if place < chain.count:
            key ^= self.keys[chain.present[place]]
        slot = <int64_t> (key % <uint64_t> SLOTS)
        while self.slots[slot] >= 0:
            if self.rests[self.slots[slot]].key == key:
                return self.slots[slot]
            slot = (slot + 1) % SLOTS
        if self.count == MOST_RESTS or self.listed > self.room - self.state.most:
            self._forget()
            slot = <int64_t> (key % <uint64_t> SLOTS)
        self.slots[slot] = <int> self.count
        self.rests[self.count].key = key
        self._make(chain, place, self.count)
        self.count += 1
        return self.count - 1

    cdef void _make(self, Chain chain, int64_t place, int64_t at) noexcept nogil:
        """Find the weights of a rest, and keep the large ones."""
        cdef Rest *rest = &self.rests[at]
        cdef int64_t k, j, n = self.listed, N = self.state.n_atoms
        cdef double Z = self._weigh(chain, place, at), total = 0.0
        rest.first, rest.exchanges, rest.others = n, 0, 0
        for k in range(self.state.count):
            self.atoms_of[n + k] = <int> self.state.present[k]
        n += self.state.count
        rest.size = self.state.count
        for k in range((N + STRETCH - 1) // STRETCH if Z > 0.0 else 0):
            if self.state.sums[k] < LISTED * Z:
                continue
            for j in range(k * STRETCH, min((k + 1) * STRETCH, N)):
                self.atoms_of[n] = <int> j  # stays if it is listed; a branch would be guessed badly
                n += self.odds[j] >= LISTED * Z
        rest.listed = n - rest.first - rest.size
        for k in range(n - rest.listed, n):
            total += self.odds[self.atoms_of[k]]
            self.cumulative[k] = total
        rest.total, rest.other = total, max(Z - total, 0.0)
        if rest.listed == N - rest.size:
            rest.other = 0.0
        self.listed = n

    cdef double _weigh(self, Chain chain, int64_t place, int64_t at) noexcept nogil:
        """All weights beside a chain's atoms but the one in a place."""
        self._bring(self.state, chain, place, at)
        self.weighed = at
        return weigh(self.state, self.signs, self.prior[chain.at_lam], self.positive,
                     self.lams[chain.at_lam], &self.odds[0], &self.rests[at].none)

    cdef void _bring(self, Sampler state, Chain chain, int64_t place, int64_t at) noexcept nogil:
        """Bring products to a chain's atoms but the one in a place, which are rest ``at`` or -1."""
        cdef int64_t k, j
        cdef bint anew = self.at_lam != chain.at_lam or self.updates >= REFRESH
        if at >= 0 and self.brought == at:
            return
        self.brought = at
        for k in range(chain.count):
            if k != place:
                self.marked[chain.present[k]] = 1
        k = 0
        while k < state.count:
            j = state.present[k]
            if self.marked[j]:
                self.marked[j] = 0
                k += 1
            elif anew:
                state.forget(k)
            else:
                self.updates += state.p
                state.leave(k)
                self.updates -= state.p
        for k in range(chain.count):
            j = chain.present[k]
            if k == place or not self.marked[j]:
                continue
            self.marked[j] = 0
            if anew:
                state.note(j)
            else:
                self.updates -= state.p
                state.enter(j)
                self.updates += state.p
        if anew:
            self.at_lam, self.updates = chain.at_lam, 0
            state.make_products(self.lams[chain.at_lam])

    cdef int64_t _draw(self, Chain chain, int64_t place, int64_t at, double v, bint exchange,
                       bint counts) noexcept nogil:
        """The atom that enters; -1 for none."""
        cdef Rest *rest = &self.rests[at]
        cdef double none = 0.0 if exchange else rest.none
        cdef int64_t low = rest.first + rest.size, high = low + rest.listed - 1, middle
        v = v * (none + rest.total + rest.other) - none
        if v < 0.0:
            return -1
        if v >= rest.total and rest.other > 0.0:
            return self._draw_other(chain, place, at, v - rest.total, counts)
        if rest.listed == 0:
            return -1
        while low < high:  # the first whose cumulative weight exceeds v
            middle = (low + high) // 2
            if self.cumulative[middle] > v:
                high = middle
            else:
                low = middle + 1
        return self.atoms_of[low]

    cdef int64_t _draw_other(self, Chain chain, int64_t place, int64_t at, double v,
                             bint counts) noexcept nogil:
        """An atom that is not listed; the probabilities of all such atoms are added here."""
        cdef Rest *rest = &self.rests[at]
        cdef int64_t k, j, first = rest.first + rest.size, drawn = -1, last = -1
        if self.weighed != at:
            self._weigh(chain, place, at)
        for k in range(first, first + rest.listed):
            self.marked[self.atoms_of[k]] = 1
        self._cover(rest, 0.0)
        for j in range(self.state.n_atoms):
            if self.marked[j] or self.odds[j] <= 0.0:
                continue
            last = j
            if counts:
                self._add(j, self.odds[j] / rest.other, 0)
            v -= self.odds[j]
            if v < 0.0 and drawn < 0:
                drawn = j
        self._uncover()
        for k in range(first, first + rest.listed):
            self.marked[self.atoms_of[k]] = 0
        return drawn if drawn >= 0 else last

    cdef void _cover(self, Rest *rest, double weight) noexcept nogil:
        """Mark the features of a rest, and add to their probabilities."""
        cdef int64_t k
        for k in range(rest.first, rest.first + rest.size):
            self._add(self.atoms_of[k], weight, 1)

    cdef void _uncover(self) noexcept nogil:
        memset(&self.covered[0], 0, self.state.d)

    cdef void _add(self, int64_t j, double weight, unsigned char covered) noexcept nogil:
        """A probability, to those of the features of an atom that are not covered yet."""
        cdef int64_t at, i
        for at in range(self.state.indptr[j], self.state.indptr[j + 1]):
            i = self.state.members[at]
            if not self.covered[i]:
                self.p[i] += weight
                self.covered[i] = covered

    cdef void _count(self) noexcept nogil:
        """Add probabilities of features, given each rest as often as it was met."""
        cdef int64_t at, k, first
        cdef double times, before, Z
        cdef Rest *rest
        for at in range(self.count):
            rest = &self.rests[at]
            if rest.exchanges + rest.others == 0:
                continue
            self._cover(rest, rest.exchanges + rest.others)
            Z, first, before = rest.total + rest.other, rest.first + rest.size, 0.0
            times = rest.others / (Z + rest.none)
            if rest.exchanges:
                times += rest.exchanges / Z
            for k in range(first, first + rest.listed):
                self._add(self.atoms_of[k], times * (self.cumulative[k] - before), 0)
                before = self.cumulative[k]
            self._uncover()
            rest.exchanges = rest.others = 0

    cdef void _forget(self) noexcept nogil:
        """All rests, once their moves are counted."""
        self._count()
        memset(&self.slots[0], 0xff, SLOTS * sizeof(int))
        self.count = self.listed = 0
        self.weighed = self.brought = -1
