/* Scans of a vector that round alike on every CPU; see simd.h. */

#include <math.h>

#include "simd.h"

#define LANES 8 /* partial results side by side, which fill the registers of any CPU */

/* Not fmax and fmin, which are calls: the second one where either is NaN. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#else
#define PART static inline
#endif

PART double largest(const double *a, ptrdiff_t n)
{
    double most[LANES] = {0.0};
    ptrdiff_t i = 0;
    int l;
    for (; i + LANES <= n; i += LANES)
        for (l = 0; l < LANES; l++)
            most[l] = LARGER(fabs(a[i + l]), most[l]);
    for (; i < n; i++)
        most[0] = LARGER(fabs(a[i]), most[0]);
    for (l = 1; l < LANES; l++)
        most[0] = LARGER(most[l], most[0]);
    return most[0];
}

KSUPPORT_CLONES
double ks_max_abs(const double *a, ptrdiff_t n)
{
    return largest(a, n);
}

KSUPPORT_CLONES
void ks_block_maxima(const double *a, ptrdiff_t n, ptrdiff_t size, double *maxima)
{
    ptrdiff_t b = 0, first = 0;
    for (; first + size <= n; first += size)
        maxima[b++] = largest(a + first, size);
    if (first < n)
        maxima[b] = largest(a + first, n - first);
}

KSUPPORT_CLONES
void ks_extrapolate(const double *restrict a, const double *restrict before, double beta,
                    double *restrict out, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = a[i] + beta * (a[i] - before[i]);
}

KSUPPORT_CLONES
void ks_theta_sum(const double *q, ptrdiff_t n, double rho, double lam, double delta,
                  double *total, double *slope)
{
    double cd = delta / rho, cl = lam / rho;
    double sums[LANES] = {0.0}, slopes[LANES] = {0.0};
    ptrdiff_t i = 0;
    int l;
    for (; i + LANES <= n; i += LANES)
        for (l = 0; l < LANES; l++) {
            double a = fabs(q[i + l]), t = cd * a + cl * (a - rho);
            double theta = LARGER(0.0, t);
            sums[l] += SMALLER(1.0, theta);
            slopes[l] += (t > 0.0) & (t < 1.0) ? a : 0.0;
        }
    for (; i < n; i++) {
        double a = fabs(q[i]), t = cd * a + cl * (a - rho);
        double theta = LARGER(0.0, t);
        sums[0] += SMALLER(1.0, theta);
        slopes[0] += (t > 0.0) & (t < 1.0) ? a : 0.0;
    }
    for (l = 1; l < LANES; l++) {
        sums[0] += sums[l];
        slopes[0] += slopes[l];
    }
    *total = sums[0];
    *slope = slopes[0] / rho;
}

KSUPPORT_CLONES
void ks_shrink(const double *restrict q, ptrdiff_t n, double base, double shift, double cut,
               double least, double most, double *restrict out)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double a = fabs(q[i]), x = (a - base) + shift;
        double within = LARGER(least * a, x);
        within = SMALLER(most * a, within);
        out[i] = copysign(x <= cut ? 0.0 : within, q[i]);
    }
}

KSUPPORT_CLONES
void ks_flush(double *x, ptrdiff_t n, double level)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = fabs(x[i]) <= level ? 0.0 : x[i];
}

KSUPPORT_CLONES
ptrdiff_t ks_gather(const double *restrict q, ptrdiff_t n, double low, double high,
                    double *restrict out, ptrdiff_t *n_above)
{
    ptrdiff_t count = 0, above = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        /* Written always, kept or not: a branch would be mispredicted half the time. */
        double a = fabs(q[i]);
        out[count] = a;
        count += (a > low) & (a <= high);
        above += a > high;
    }
    *n_above = above;
    return count;
}
