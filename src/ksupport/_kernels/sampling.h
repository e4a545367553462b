/* Loops of the sampler in sampler.pyx and posterior.pyx, over all columns or atoms at every move.

   As in simd.h, sums are reordered where a loop says so, and functions exist for several
   generations of CPUs.  Where an array is written, no other argument overlaps it, unless said. */

#ifndef KSUPPORT_SAMPLING_H
#define KSUPPORT_SAMPLING_H

#include <stdint.h>

#define KSUPPORT_LANES 8 /* matrices factorised side by side: one register of AVX-512 */
#define KSUPPORT_STRETCH 64 /* atoms whose weights are summed, so that a draw can skip them */
#define KSUPPORT_EXACT_FIT 1e-12 /* share of Y'Y that no model explains: its evidence is finite */

/* e += f_0 M[at_0] + ... + f_(p-1) M[at_(p-1)], of rows with n entries. */
void ks_add_rows(double *e, const double *M, const int64_t *at, const double *f, int64_t p,
    int64_t n);

/* new = old + scale e². */
void ks_add_squares(double *new, const double *old, const double *e, double scale, int64_t n);

/* new = old + f e. */
void ks_add_multiple(double *new, const double *old, const double *e, double f, int64_t n);

/* out += f x y. */
void ks_add_products(double *out, const double *x, const double *y, double f, int64_t n);

/* M += scale h h', of a p x p matrix whose rows are ``width`` apart. */
void ks_add_square_of(double *M, const double *h, double scale, int64_t p, int64_t width);

/* Log evidence that one column would add for each of T responses, in place of r'Mr, where M is the
   identity or, with nu > 0, the inverse of what is left. */
void ks_gains_of(double *found, const double *a, double nu, double T, double lam, double least,
    int64_t n);

/* Add the log prior of what would enter to its log evidence; returns the largest sum, or top. */
double ks_add_prior(double *odds, const double *bonus, const int64_t *cluster, double one,
    double group, double top, int64_t n);

/* Turn logs of weights into weights over exp top, with the sum of each stretch; returns the sum. */
double ks_exponentiate(double *odds, double *sums, double top, int64_t n);

/* Where cover is above 0, add 1 to p. */
void ks_count_covered(double *p, const int64_t *cover, int64_t n);

/* Factorise LANES symmetric matrices as L D L', side by side, and solve L w = W in place.

   A and L have lower triangles row by row, LANES numbers for each entry, and may be the same; W is
   n x m.  Pivots, which are at least ``least`` (one for each lane), end on the diagonal of L, and
   one over them in ``over``. */
void ks_factorise(const double *A, double *L, double *W, double *over, const double *least,
    int64_t n, int64_t m);

/* After `ks_factorise`: log det of each matrix over lam^n. */
void ks_log_dets(const double *L, const double *lam, double *out, int64_t n);

/* new = old + scale x x', of the lower triangles of LANES matrices. */
void ks_add_outer(double *new, const double *old, const double *x, double scale, int64_t n);

#endif
