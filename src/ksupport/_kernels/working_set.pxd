# cython: language_level=3
"""What walks on a working set of columns share; see working_set.pyx."""

from ksupport._kernels.doors cimport agree


cpdef enum Status:  # why a walk ended
    DONE  # at the step asked for, or with all rows recorded
    REFRESH  # a feature that was left out may be needed
    NONFINITE  # numbers overflowed


cdef class Clock:
    """The step of a path, and the last step that was recorded."""

    cdef public Py_ssize_t now
    cdef public Py_ssize_t recorded  # -1: none yet

    # Whether the iterate of this step is to be recorded, and has not been yet.
    cdef inline bint is_due(self, Py_ssize_t end, Py_ssize_t every) noexcept nogil:
        return self.recorded < self.now and (self.now % every == 0 or self.now == end)


cdef inline int check_clock(Clock clock, Py_ssize_t every) except -1:
    if every < 1 or clock.now < 0:
        raise ValueError(f"steps are counted from 0 and recorded from every 1 on: {every}")
    return 0


# Of vectors of n entries.
cdef inline int check_refs(
    Py_ssize_t n, const double[:, ::1] refs, const double[:, ::1] edges, double reach
) except -1:
    cdef Py_ssize_t count = edges.shape[0]
    agree(
        reach == 0.0 or count == 0
        or (refs.shape[0] >= count and refs.shape[1] == n and edges.shape[1] == 2),
        "references, their edges and y",
    )
    return 0


# A bound on |x_iᵀu| over all columns left out of the working set; u has n entries.
cdef double outside(const double *u, Py_ssize_t n, const double[:, ::1] refs,
                    const double[:, ::1] edges, double reach) noexcept nogil

# out = B u and out = scale Bᵀ r; of several responses, whose vectors stand side by side.
cdef void correlate_all(const double[:, ::1] B, const double *u, Py_ssize_t responses,
                        double *out) noexcept nogil
cdef void combine_all(const double[:, ::1] B, const double *r, double scale, Py_ssize_t responses,
                      double *out) noexcept nogil
