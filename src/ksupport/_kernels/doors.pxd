# cython: language_level=3
"""What functions ask of arrays that come from Python, before they read them without looking.

Lengths that do not go together, or numbers of rows and columns that there are not, would be read
beyond the end of an array.  So they are refused here; behind the door nothing checks them again.
"""


cdef inline int agree(bint they_do, str what) except -1:
    if not they_do:
        raise ValueError(f"arrays do not agree: {what}")
    return 0


cdef inline int numbers_below(const Py_ssize_t[::1] numbers, Py_ssize_t count, str what) except -1:
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        if not 0 <= numbers[i] < count:
            raise ValueError(f"{what} must be from 0 to {count - 1}, got {numbers[i]}")
    return 0


cdef inline int ends_of_parts(const Py_ssize_t[::1] indptr, Py_ssize_t size) except -1:
    """Part i of an array of this size has the entries from indptr[i] to indptr[i + 1]."""
    cdef Py_ssize_t i
    agree(indptr.shape[0] > 0 and 0 <= indptr[0], "indptr must begin at 0 or later")
    for i in range(1, indptr.shape[0]):
        agree(indptr[i - 1] <= indptr[i] <= size, "indptr must ascend, to the end of parts at most")
    return 0
