# cython: language_level=3
"""Loops in C; see sampling.h."""

from libc.stdint cimport int64_t

cdef extern from "sampling.h" nogil:
    enum: LANES "KSUPPORT_LANES"
    enum: STRETCH "KSUPPORT_STRETCH"
    const double EXACT_FIT "KSUPPORT_EXACT_FIT"
    void add_rows "ks_add_rows"(double *e, const double *M, const int64_t *at, const double *f, int64_t
        p, int64_t n)
    void add_squares "ks_add_squares"(double *new, const double *old, const double *e, double scale, int64_t
        n)
    void add_multiple "ks_add_multiple"(double *new, const double *old, const double *e, double f, int64_t n)
    void add_products "ks_add_products"(double *out, const double *x, const double *y, double f, int64_t n)
    void add_square_of "ks_add_square_of"(double *M, const double *h, double scale, int64_t p, int64_t width)
    void gains_of "ks_gains_of"(double *found, const double *a, double nu, double T, double lam, double
        least, int64_t n)
    double add_prior "ks_add_prior"(double *odds, const double *bonus, const int64_t *cluster, double one,
        double group, double top, int64_t n)
    double exponentiate "ks_exponentiate"(double *odds, double *sums, double top, int64_t n)
    void count_covered "ks_count_covered"(double *p, const int64_t *cover, int64_t n)
    void factorise "ks_factorise"(const double *A, double *L, double *W, double *over, const double
        *least, int64_t n, int64_t m)
    void log_dets "ks_log_dets"(const double *L, const double *lam, double *out, int64_t n)
    void add_outer "ks_add_outer"(double *new, const double *old, const double *x, double scale, int64_t
        n)
