/* Sums of products, which may be reordered; see simd.h. */

#include "simd.h"

KSUPPORT_CLONES
double ks_dot(const double *a, const double *b, ptrdiff_t n)
{
    /* Four sums side by side, as each waits for the one before. */
    ptrdiff_t quarter = n / 4, i;
    const double *a1 = a + quarter, *a2 = a1 + quarter, *a3 = a2 + quarter;
    const double *b1 = b + quarter, *b2 = b1 + quarter, *b3 = b2 + quarter;
    double t0 = 0.0, t1 = 0.0, t2 = 0.0, t3 = 0.0;
    for (i = 0; i < quarter; i++) {
        t0 += a[i] * b[i];
        t1 += a1[i] * b1[i];
        t2 += a2[i] * b2[i];
        t3 += a3[i] * b3[i];
    }
    for (i = 4 * quarter; i < n; i++)
        t0 += a[i] * b[i];
    return (t0 + t1) + (t2 + t3);
}

KSUPPORT_CLONES
double ks_sum(const double *a, ptrdiff_t n)
{
    double total = 0.0;
    for (ptrdiff_t i = 0; i < n; i++)
        total += a[i];
    return total;
}

KSUPPORT_CLONES
double ks_distance2(const double *a, double c, const double *b, ptrdiff_t n)
{
    double total = 0.0;
    for (ptrdiff_t i = 0; i < n; i++)
        total += (a[i] - c * b[i]) * (a[i] - c * b[i]);
    return total;
}

KSUPPORT_CLONES
void ks_correlate(const double *restrict B, const double *restrict u, double *restrict out,
                  ptrdiff_t m, ptrdiff_t n)
{
    ptrdiff_t i, j;
    for (j = 0; j + 4 <= m; j += 4) { /* four rows share a scan of u */
        const double *b0 = B + j * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
        double t0 = 0.0, t1 = 0.0, t2 = 0.0, t3 = 0.0;
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
        for (i = 0; i < n; i++)
            total += B[j * n + i] * u[i];
        out[j] = total;
    }
}

/* Part of its callers, so that it is compiled for the CPU that they are. */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline void add_rows(const double *restrict B, const double *restrict r,
                            double *restrict out, ptrdiff_t m, ptrdiff_t n)
{
    ptrdiff_t i, j;
    for (j = 0; j + 4 <= m; j += 4) { /* four at a time, so that out is touched less often */
        const double *b0 = B + j * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
        double r0 = r[j], r1 = r[j + 1], r2 = r[j + 2], r3 = r[j + 3];
        for (i = 0; i < n; i++)
            out[i] += (r0 * b0[i] + r1 * b1[i]) + (r2 * b2[i] + r3 * b3[i]);
    }
    for (; j < m; j++)
        for (i = 0; i < n; i++)
            out[i] += r[j] * B[j * n + i];
}

KSUPPORT_CLONES
void ks_add_product(const double *B, const double *r, double *out, ptrdiff_t m, ptrdiff_t n)
{
    add_rows(B, r, out, m, n);
}

KSUPPORT_CLONES
void ks_combine(const double *restrict B, const double *restrict r, double scale,
                double *restrict out, ptrdiff_t m, ptrdiff_t n)
{
    ptrdiff_t i, j, nonzero = 0;
    for (i = 0; i < n; i++)
        out[i] = 0.0;
    for (j = 0; j < m; j++)
        nonzero += r[j] != 0.0;
    if (2 * nonzero > m) {
        add_rows(B, r, out, m, n);
        for (i = 0; i < n; i++)
            out[i] *= scale;
        return;
    }
    for (j = 0; j < m; j++) {
        double rj = scale * r[j];
        if (r[j] != 0.0)
            for (i = 0; i < n; i++)
                out[i] += rj * B[j * n + i];
    }
}

KSUPPORT_CLONES
void ks_axpy(double c, const double *restrict a, double *restrict out, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] += c * a[i];
}
