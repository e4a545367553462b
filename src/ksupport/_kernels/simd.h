/* The loops that most of the time goes into, in plain C that compilers vectorise.

   Sums may be taken in another order where a loop says so (``omp simd reduction``: needs
   -fopenmp-simd, which is no OpenMP; without it they are slow).  No flag that lets compilers do so
   elsewhere (-fassociative-math, -ffast-math): in places the order is what makes sums exact, and
   NaN and infinity keep their meaning, by which walks see that they diverge.

   Where the loader can choose (x86-64 with ELF), each function exists for several generations of
   CPUs; -DKSUPPORT_NO_CLONES leaves that out.  Matrices are C contiguous. */

#ifndef KSUPPORT_SIMD_H
#define KSUPPORT_SIMD_H

#include <limits.h> /* says whether the C library is glibc, whose loader can choose */
#include <stddef.h>

#if defined(__x86_64__) && defined(__ELF__) && defined(__GLIBC__) && \
    !defined(KSUPPORT_NO_CLONES) && \
    ((defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12) || \
     (defined(__clang__) && __clang_major__ >= 16))
#define KSUPPORT_CLONED
#define KSUPPORT_CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KSUPPORT_CLONES
#endif

/* -- sums of products ---------------------------------------------------------------------- */

/* a^T b */
double ks_dot(const double *a, const double *b, ptrdiff_t n);

/* The sum of the entries. */
double ks_sum(const double *a, ptrdiff_t n);

/* ||a - c b||^2 */
double ks_distance2(const double *a, double c, const double *b, ptrdiff_t n);

/* out = B u, B of m rows and n columns. */
void ks_correlate(const double *B, const double *u, double *out, ptrdiff_t m, ptrdiff_t n);

/* out += B^T r; rows where r is zero are passed over. */
void ks_add_product(const double *B, const double *r, double *out, ptrdiff_t m, ptrdiff_t n);

/* out = scale B^T r; rows where r is zero are passed over. */
void ks_combine(const double *B, const double *r, double scale, double *out, ptrdiff_t m,
                ptrdiff_t n);

/* out += c a */
void ks_axpy(double c, const double *a, double *out, ptrdiff_t n);

/* What a step of IRKSN from v to z = v + gamma g is judged by: see `Squares.holds`. */
struct ks_dual_sums {
    double fall, along, curvature, change2, move2, z2, Xr2;
};
struct ks_dual_sums ks_sum_dual(const double *z, const double *v, double gamma, const double *Xr,
                                const double *Xw, ptrdiff_t n);

/* The same for other losses, gr and gw their gradients: see `Profiled.holds`. */
struct ks_loss_sums {
    double fall, rise, change2, Xr2, gr2;
};
struct ks_loss_sums ks_sum_loss(const double *Xr, const double *Xw, const double *gr,
                                const double *gw, ptrdiff_t n);

/* -- scans of one vector ------------------------------------------------------------------- */

/* The largest magnitude; NaN does not count. */
double ks_max_abs(const double *a, ptrdiff_t n);

/* The largest magnitude of consecutive blocks of so many entries. */
void ks_block_maxima(const double *a, ptrdiff_t n, ptrdiff_t size, double *maxima);

/* out = max(out, scale a), entry by entry. */
void ks_raise_to(const double *a, double scale, double *out, ptrdiff_t n);
void ks_raise_to_single(const float *a, double scale, double *out, ptrdiff_t n);

/* The largest product of an entry of a with that of b; at least 0, and NaN does not count. */
double ks_max_product(const double *a, const double *b, ptrdiff_t n);
double ks_max_product_single(const float *a, const double *b, ptrdiff_t n);

/* out = a + beta (a - before) */
void ks_extrapolate(const double *a, const double *before, double beta, double *out, ptrdiff_t n);

/* The sum of theta_i = clip(delta a_i/rho + lam (a_i - rho)/rho, 0, 1), a = |q|, and its slope in
   delta. */
void ks_theta_sum(const double *q, ptrdiff_t n, double rho, double lam, double delta,
                  double *total, double *slope);

/* out = q shrunk: magnitudes become (a - base) + shift, but at least least a and at most most a;
   zero where that is at most cut. */
void ks_shrink(const double *q, ptrdiff_t n, double base, double shift, double cut, double least,
               double most, double *out);

/* Set magnitudes up to level to zero. */
void ks_flush(double *x, ptrdiff_t n, double level);

/* The magnitudes above low, and at most high, come first in out: how many.  n_above: how many
   exceed high. */
ptrdiff_t ks_gather(const double *q, ptrdiff_t n, double low, double high, double *out,
                    ptrdiff_t *n_above);

/* Whether no entry is NaN or infinite, in double or single precision. */
int ks_all_finite(const double *a, ptrdiff_t n);
int ks_all_finite_single(const float *a, ptrdiff_t n);

#endif
