# cython: language_level=3
"""The hottest loops, in C; see simd.h."""

cdef extern from "simd.h" nogil:
    double dot "ks_dot"(const double *a, const double *b, Py_ssize_t n)
    double sum_of "ks_sum"(const double *a, Py_ssize_t n)
    double distance2 "ks_distance2"(const double *a, double c, const double *b, Py_ssize_t n)
    void correlate "ks_correlate"(const double *B, const double *u, double *out, Py_ssize_t m,
                                  Py_ssize_t n)
    void add_product "ks_add_product"(const double *B, const double *r, double *out, Py_ssize_t m,
                                      Py_ssize_t n)
    void combine "ks_combine"(const double *B, const double *r, double scale, double *out,
                              Py_ssize_t m, Py_ssize_t n)
    void axpy "ks_axpy"(double c, const double *a, double *out, Py_ssize_t n)
    struct ks_dual_sums:
        double fall, along, curvature, change2, move2, z2, Xr2
    struct ks_loss_sums:
        double fall, rise, change2, Xr2, gr2
    ks_dual_sums sum_dual "ks_sum_dual"(const double *z, const double *v, double gamma,
                                        const double *Xr, const double *Xw, Py_ssize_t n)
    ks_loss_sums sum_loss "ks_sum_loss"(const double *Xr, const double *Xw, const double *gr,
                                        const double *gw, Py_ssize_t n)
    double max_abs "ks_max_abs"(const double *a, Py_ssize_t n)
    void block_maxima "ks_block_maxima"(const double *a, Py_ssize_t n, Py_ssize_t size,
                                        double *maxima)
    void raise_to "ks_raise_to"(const double *a, double scale, double *out, Py_ssize_t n)
    void raise_to_single "ks_raise_to_single"(const float *a, double scale, double *out,
                                              Py_ssize_t n)
    double max_product "ks_max_product"(const double *a, const double *b, Py_ssize_t n)
    double max_product_single "ks_max_product_single"(const float *a, const double *b,
                                                      Py_ssize_t n)
    void extrapolate "ks_extrapolate"(const double *a, const double *before, double beta,
                                      double *out, Py_ssize_t n)
    void theta_sum "ks_theta_sum"(const double *q, Py_ssize_t n, double rho, double lam,
                                  double delta, double *total, double *slope)
    void shrink "ks_shrink"(const double *q, Py_ssize_t n, double base, double shift, double cut,
                            double least, double most, double *out)
    void flush "ks_flush"(double *x, Py_ssize_t n, double level)
    Py_ssize_t gather "ks_gather"(const double *q, Py_ssize_t n, double low, double high,
                                  double *out, Py_ssize_t *n_above)
    bint all_finite "ks_all_finite"(const double *a, Py_ssize_t n)
    bint all_finite_single "ks_all_finite_single"(const float *a, Py_ssize_t n)
