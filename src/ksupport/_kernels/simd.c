/* The hottest loops; see simd.h. */

#include <math.h>

#include "simd.h"

/* Not fmax and fmin, which are calls: the second one where either is NaN. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

/* Part of its callers, so that it is compiled for the CPU that they are. */
#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#else
#define PART static inline
#endif

#define LANES 8    /* partial sums side by side, as each waits for the one before */
#define STRETCH 32 /* entries that are looked at together */

/* -- sums of products ---------------------------------------------------------------------- */

KSUPPORT_CLONES
double ks_dot(const double *a, const double *b, ptrdiff_t n)
{
    double sums[LANES] = {0.0};
    ptrdiff_t i = 0;
    int l;
    for (; i + LANES <= n; i += LANES)
        for (l = 0; l < LANES; l++)
            sums[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

KSUPPORT_CLONES
double ks_sum(const double *a, ptrdiff_t n)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (ptrdiff_t i = 0; i < n; i++)
        total += a[i];
    return total;
}

KSUPPORT_CLONES
double ks_distance2(const double *a, double c, const double *b, ptrdiff_t n)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (ptrdiff_t i = 0; i < n; i++)
        total += (a[i] - c * b[i]) * (a[i] - c * b[i]);
    return total;
}

#ifdef KSUPPORT_CLONED
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define LOAD(a) (*(const four *)(a))
#define MIX(...) __builtin_shufflevector(__VA_ARGS__)

/* ks_correlate where four doubles are one register: sums of four rows are brought together at once,
   as are the ends of the rows.  Of 50 rows of 30 that saves nearly half of the time. */
__attribute__((target("avx2,fma"))) static void
correlate_fours(const double *restrict B, const double *restrict u, double *restrict out,
                ptrdiff_t m, ptrdiff_t n)
{
    ptrdiff_t i, j;
    for (j = 0; j < m; j += 4) {
        /* Rows beyond the last one are that one once more. */
        const double *b0 = B + j * n, *b1 = j + 1 < m ? b0 + n : b0;
        const double *b2 = j + 2 < m ? b1 + n : b1, *b3 = j + 3 < m ? b2 + n : b2;
        four t0 = {0.0}, t1 = {0.0}, t2 = {0.0}, t3 = {0.0};
        for (i = 0; i + 4 <= n; i += 4) {
            four x = LOAD(u + i);
            t0 += LOAD(b0 + i) * x;
            t1 += LOAD(b1 + i) * x;
            t2 += LOAD(b2 + i) * x;
            t3 += LOAD(b3 + i) * x;
        }
        t0 = MIX(t0, t1, 0, 4, 2, 6) + MIX(t0, t1, 1, 5, 3, 7);
        t2 = MIX(t2, t3, 0, 4, 2, 6) + MIX(t2, t3, 1, 5, 3, 7);
        t0 = MIX(t0, t2, 0, 1, 4, 5) + MIX(t0, t2, 2, 3, 6, 7);
        for (; i < n; i++)
            t0 += (four){b0[i], b1[i], b2[i], b3[i]} * u[i];
        for (i = j; i < j + 4 && i < m; i++)
            out[i] = t0[i - j];
    }
}
#endif

void ks_correlate(const double *restrict B, const double *restrict u, double *restrict out,
                  ptrdiff_t m, ptrdiff_t n)
{
    ptrdiff_t i, j;
#ifdef KSUPPORT_CLONED
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        correlate_fours(B, u, out, m, n);
        return;
    }
#endif
    for (j = 0; j + 4 <= m; j += 4) { /* four rows share a scan of u */
        const double *b0 = B + j * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
        double t0 = 0.0, t1 = 0.0, t2 = 0.0, t3 = 0.0;
#pragma omp simd simdlen(4) reduction(+ : t0, t1, t2, t3)
        for (i = 0; i < n; i++) {
            t0 += b0[i] * u[i];
            t1 += b1[i] * u[i];
            t2 += b2[i] * u[i];
            t3 += b3[i] * u[i];
        }
        out[j] = t0, out[j + 1] = t1, out[j + 2] = t2, out[j + 3] = t3;
    }
    for (; j < m; j++) {
        double total = 0.0;
#pragma omp simd simdlen(4) reduction(+ : total)
        for (i = 0; i < n; i++)
            total += B[j * n + i] * u[i];
        out[j] = total;
    }
}

/* Four rows at a time, so that out is touched less often. */
PART void add_four(const double *const *rows, const double *c, double *restrict out, ptrdiff_t n)
{
    const double *b0 = rows[0], *b1 = rows[1], *b2 = rows[2], *b3 = rows[3];
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
#pragma omp simd simdlen(4)
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] += (c0 * b0[i] + c1 * b1[i]) + (c2 * b2[i] + c3 * b3[i]);
}

PART void add_scaled(const double *restrict B, const double *restrict r, double scale,
                     double *restrict out, ptrdiff_t m, ptrdiff_t n)
{
    const double *rows[4];
    double c[4];
    ptrdiff_t i, j = 0;
    int count = 0;
    /* No row is to be passed over: they need not be gathered first. */
    for (; j + 4 <= m && r[j] != 0.0 && r[j + 1] != 0.0 && r[j + 2] != 0.0 && r[j + 3] != 0.0;
         j += 4) {
        const double *b = B + j * n, *next[4] = {b, b + n, b + 2 * n, b + 3 * n};
        double scaled[4] = {scale * r[j], scale * r[j + 1], scale * r[j + 2], scale * r[j + 3]};
        add_four(next, scaled, out, n);
    }
    for (; j < m; j++) {
        if (r[j] == 0.0)
            continue;
        rows[count] = B + j * n;
        c[count++] = scale * r[j];
        if (count == 4) {
            add_four(rows, c, out, n);
            count = 0;
        }
    }
    while (count > 0) {
        const double *b0 = rows[--count];
        double c0 = c[count];
#pragma omp simd simdlen(4)
        for (i = 0; i < n; i++)
            out[i] += c0 * b0[i];
    }
}

KSUPPORT_CLONES
void ks_add_product(const double *B, const double *r, double *out, ptrdiff_t m, ptrdiff_t n)
{
    add_scaled(B, r, 1.0, out, m, n);
}

KSUPPORT_CLONES
void ks_combine(const double *B, const double *r, double scale, double *out, ptrdiff_t m,
                ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = 0.0;
    add_scaled(B, r, scale, out, m, n);
}

KSUPPORT_CLONES
void ks_axpy(double c, const double *restrict a, double *restrict out, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] += c * a[i];
}

KSUPPORT_CLONES
struct ks_dual_sums ks_sum_dual(const double *z, const double *v, double gamma, const double *Xr,
                                const double *Xw, ptrdiff_t n)
{
    double fall = 0.0, along = 0.0, curvature = 0.0, change2 = 0.0, move2 = 0.0, z2 = 0.0;
    double Xr2 = 0.0;
#pragma omp simd reduction(+ : fall, along, curvature, change2, move2, z2, Xr2)
    for (ptrdiff_t i = 0; i < n; i++) {
        /* The dual in units of gamma is as large as y; itself it might be too large for squares. */
        double here = z[i] / gamma, move = (z[i] - v[i]) / gamma, change = Xw[i] - Xr[i];
        fall += change * here;
        along += Xr[i] * move;
        curvature -= change * move;
        change2 += change * change;
        move2 += move * move;
        z2 += here * here;
        Xr2 += Xr[i] * Xr[i];
    }
    return (struct ks_dual_sums){fall, along, curvature, change2, move2, z2, Xr2};
}

KSUPPORT_CLONES
struct ks_loss_sums ks_sum_loss(const double *Xr, const double *Xw, const double *gr,
                                const double *gw, ptrdiff_t n)
{
    double fall = 0.0, rise = 0.0, change2 = 0.0, Xr2 = 0.0, gr2 = 0.0;
#pragma omp simd reduction(+ : fall, rise, change2, Xr2, gr2)
    for (ptrdiff_t i = 0; i < n; i++) {
        double change = Xw[i] - Xr[i];
        fall -= gr[i] * change;
        rise += gw[i] * change;
        change2 += change * change;
        Xr2 += Xr[i] * Xr[i];
        gr2 += gr[i] * gr[i];
    }
    return (struct ks_loss_sums){fall, rise, change2, Xr2, gr2};
}

/* -- scans of one vector ------------------------------------------------------------------- */

#define FEW 32 /* entries, whose partial results take longer to bring together than to find */

PART double largest_of_few(const double *a, ptrdiff_t n)
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

PART double largest(const double *a, ptrdiff_t n)
{
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (ptrdiff_t i = 0; i < n; i++)
        most = LARGER(fabs(a[i]), most);
    return most;
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
    if (size == 1) {
        for (; b < n; b++)
            maxima[b] = LARGER(fabs(a[b]), 0.0);
        return;
    }
    for (; first + size <= n; first += size)
        maxima[b++] = size < FEW ? largest_of_few(a + first, size) : largest(a + first, size);
    if (first < n)
        maxima[b] = largest(a + first, n - first);
}

/* In double and in single precision. */
#define OF_EITHER_PRECISION(raise_to, max_product, number)                                    \
    KSUPPORT_CLONES                                                                           \
    void raise_to(const number *restrict a, double scale, double *restrict out, ptrdiff_t n)  \
    {                                                                                         \
        for (ptrdiff_t i = 0; i < n; i++) {                                                   \
            double part = scale * a[i];                                                       \
            out[i] = LARGER(part, out[i]);                                                    \
        }                                                                                     \
    }                                                                                         \
    KSUPPORT_CLONES                                                                           \
    double max_product(const number *a, const double *b, ptrdiff_t n)                         \
    {                                                                                         \
        double most = 0.0;                                                                    \
        _Pragma("omp simd reduction(max : most)")                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                   \
            double product = a[i] * b[i];                                                     \
            most = LARGER(product, most);                                                     \
        }                                                                                     \
        return most;                                                                          \
    }
OF_EITHER_PRECISION(ks_raise_to, ks_max_product, double)
OF_EITHER_PRECISION(ks_raise_to_single, ks_max_product_single, float)

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
    double cd = delta / rho, cl = lam / rho, sum = 0.0, free = 0.0;
#pragma omp simd reduction(+ : sum, free)
    for (ptrdiff_t i = 0; i < n; i++) {
        double a = fabs(q[i]), t = cd * a + cl * (a - rho);
        double theta = LARGER(0.0, t);
        sum += SMALLER(1.0, theta);
        free += (t > 0.0) & (t < 1.0) ? a : 0.0;
    }
    *total = sum;
    *slope = free / rho;
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

PART ptrdiff_t gather(const double *restrict q, ptrdiff_t n, double low, double high,
                      double *restrict out)
{
    ptrdiff_t count = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        /* Written always, kept or not: a branch would be mispredicted half the time. */
        double a = fabs(q[i]);
        out[count] = a;
        count += (a > low) & (a <= high);
    }
    return count;
}

KSUPPORT_CLONES
ptrdiff_t ks_gather(const double *restrict q, ptrdiff_t n, double low, double high,
                    double *restrict out, ptrdiff_t *n_above)
{
    ptrdiff_t count = 0, above = 0, first = 0;
    for (; first + STRETCH <= n; first += STRETCH) { /* most have nothing to gather */
        double within = 0.0, over = 0.0;
#pragma omp simd reduction(+ : within, over)
        for (ptrdiff_t i = first; i < first + STRETCH; i++) {
            double a = fabs(q[i]);
            within += (a > low) & (a <= high) ? 1.0 : 0.0;
            over += a > high ? 1.0 : 0.0;
        }
        above += (ptrdiff_t)over;
        if (within > 0.0)
            count += gather(q + first, STRETCH, low, high, out + count);
    }
    for (ptrdiff_t i = first; i < n; i++)
        above += fabs(q[i]) > high;
    *n_above = above;
    return count + gather(q + first, n - first, low, high, out + count);
}

KSUPPORT_CLONES
int ks_all_finite(const double *a, ptrdiff_t n)
{
    double wrong = 0.0; /* what is finite, times zero, is zero */
#pragma omp simd reduction(+ : wrong)
    for (ptrdiff_t i = 0; i < n; i++)
        wrong += a[i] * 0.0;
    return wrong == 0.0;
}

KSUPPORT_CLONES
int ks_all_finite_single(const float *a, ptrdiff_t n)
{
    float wrong = 0.0f;
#pragma omp simd reduction(+ : wrong)
    for (ptrdiff_t i = 0; i < n; i++)
        wrong += a[i] * 0.0f;
    return wrong == 0.0f;
}
