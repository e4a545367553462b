/* Loops of the sampler; see sampling.h. */

#include <string.h>

#include "sampling.h"
#include "simd.h"

#define LANES KSUPPORT_LANES
#define STRETCH KSUPPORT_STRETCH

#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#else
#define PART static inline
#endif

/* log x of a positive normal number: x = 2^k m with sqrt(1/2) <= m < sqrt(2), and the series of
   2 artanh s at s = (m - 1) / (m + 1), whose next term is below 1e-16. In loops it vectorises. */
PART double fast_log(double x)
{
    const uint64_t root = 0x3fe6a09e667f3bcdULL; /* the bits of sqrt(1/2) */
    uint64_t bits;
    double m;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x3ff0000000000000ULL - root;
    const double k = (double)((int32_t)(bits >> 52) - 1023);
    bits = (bits & 0x000fffffffffffffULL) + root;
    memcpy(&m, &bits, sizeof m);
    const double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p = 2.0 / 21;
    p = p * q + 2.0 / 19;
    p = p * q + 2.0 / 17;
    p = p * q + 2.0 / 15;
    p = p * q + 2.0 / 13;
    p = p * q + 2.0 / 11;
    p = p * q + 2.0 / 9;
    p = p * q + 2.0 / 7;
    p = p * q + 2.0 / 5;
    p = p * q + 2.0 / 3;
    p = p * q + 2.0;
    return k * 0.693147180559945309417 + s * p;
}

/* exp x of -710 <= x <= 0, and 0 where that is no normal number: x = n log 2 + r with
   |r| <= log(2) / 2, and the series of exp r, whose next term is below 2e-16. Relative errors are
   those of x itself, below 1e-14 for weights that count. */
PART double fast_exp(double x)
{
    const int32_t n = (int32_t)(x * 1.44269504088896340736 - 0.5);
    const double r = x - n * 0.693147180559945309417;
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const int32_t exponent = n + 1023 > 0 ? n + 1023 : 0; /* 0: the power is 0 */
    const uint64_t bits = (uint64_t)exponent << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

KSUPPORT_CLONES
void ks_add_rows(double *restrict e, const double *restrict M, const int64_t *at,
    const double *f, int64_t p, int64_t n)
{
    int64_t u = 0;
    for (; u + 8 <= p; u += 8) {
        const double *x0 = M + at[u] * n, *x1 = M + at[u + 1] * n, *x2 = M + at[u + 2] * n,
                     *x3 = M + at[u + 3] * n, *x4 = M + at[u + 4] * n, *x5 = M + at[u + 5] * n,
                     *x6 = M + at[u + 6] * n, *x7 = M + at[u + 7] * n;
        const double f0 = f[u], f1 = f[u + 1], f2 = f[u + 2], f3 = f[u + 3], f4 = f[u + 4],
                     f5 = f[u + 5], f6 = f[u + 6], f7 = f[u + 7];
        for (int64_t i = 0; i < n; i++)
            e[i] += (f0 * x0[i] + f1 * x1[i] + f2 * x2[i] + f3 * x3[i]) +
                    (f4 * x4[i] + f5 * x5[i] + f6 * x6[i] + f7 * x7[i]);
    }
    for (; u + 2 <= p; u += 2) {
        const double *x0 = M + at[u] * n, *x1 = M + at[u + 1] * n;
        const double f0 = f[u], f1 = f[u + 1];
        for (int64_t i = 0; i < n; i++) e[i] += f0 * x0[i] + f1 * x1[i];
    }
    if (u < p) {
        const double *x = M + at[u] * n, g = f[u];
        for (int64_t i = 0; i < n; i++) e[i] += g * x[i];
    }
}

KSUPPORT_CLONES
void ks_add_squares(double *restrict new, const double *restrict old,
    const double *restrict e, double scale, int64_t n)
{
    for (int64_t i = 0; i < n; i++) new[i] = old[i] + scale * e[i] * e[i];
}

KSUPPORT_CLONES
void ks_add_multiple(double *restrict new, const double *restrict old,
    const double *restrict e, double f, int64_t n)
{
    for (int64_t i = 0; i < n; i++) new[i] = old[i] + f * e[i];
}

KSUPPORT_CLONES
void ks_add_products(double *restrict out, const double *restrict x,
    const double *restrict y, double f, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] += f * x[i] * y[i];
}

KSUPPORT_CLONES
void ks_add_square_of(double *restrict M, const double *restrict h, double scale,
    int64_t p, int64_t width)
{
    for (int64_t u = 0; u < p; u++) {
        const double f = scale * h[u];
        for (int64_t v = 0; v < p; v++) M[u * width + v] += f * h[v];
    }
}

KSUPPORT_CLONES
void ks_gains_of(double *restrict found, const double *restrict a, double nu, double T,
    double lam, double least, int64_t n)
{
    const double inverse = 1.0 / lam, lowest = least * lam;
    if (nu > 0.0)
        for (int64_t j = 0; j < n; j++) {
            const double own = a[j] > lowest ? a[j] : lowest, share = 1.0 - found[j] / own;
            const double log_share = fast_log(share > least ? share : least);
            found[j] = -0.5 * (nu * log_share + T * fast_log(own * inverse));
        }
    else
        for (int64_t j = 0; j < n; j++) {
            const double own = a[j] > lowest ? a[j] : lowest;
            found[j] = 0.5 * (found[j] / own - T * fast_log(own * inverse));
        }
}

KSUPPORT_CLONES
double ks_add_prior(double *restrict odds, const double *restrict bonus,
    const int64_t *restrict cluster, double one, double group,
    double top, int64_t n)
{
    double tops[LANES];
    int64_t j = 0;
    for (int k = 0; k < LANES; k++) tops[k] = top;
    for (int64_t i = 0; i < n; i++) odds[i] += (cluster[i] ? group : one) + bonus[i];
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++) tops[k] = odds[j + k] > tops[k] ? odds[j + k] : tops[k];
    for (; j < n; j++) top = odds[j] > top ? odds[j] : top;
    for (int k = 0; k < LANES; k++) top = tops[k] > top ? tops[k] : top;
    return top;
}

KSUPPORT_CLONES
double ks_exponentiate(double *restrict odds, double *restrict sums, double top,
    int64_t n)
{
    double all = 0.0;
    for (int64_t at = 0; at < n; at += STRETCH) {
        const int64_t m = n - at < STRETCH ? n - at : STRETCH;
        double *x = odds + at, s = 0.0;
        for (int64_t k = 0; k < m; k++) /* a loop of its own: within the next, gcc branches */
            x[k] = x[k] - top > -710.0 ? x[k] - top : -710.0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < m; k++) {
            x[k] = fast_exp(x[k]);
            s += x[k];
        }
        sums[at / STRETCH] = s;
        all += s;
    }
    return all;
}

KSUPPORT_CLONES
void ks_count_covered(double *restrict p, const int64_t *restrict cover, int64_t n)
{
    for (int64_t i = 0; i < n; i++) p[i] += cover[i] > 0 ? 1.0 : 0.0;
}

KSUPPORT_CLONES
void ks_factorise(const double *A, double *L, double *W, double *over,
    const double *least, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        const double *own = A + i * (i + 1) / 2 * LANES;
        double *row = L + i * (i + 1) / 2 * LANES, pivot[LANES];
        for (int64_t k = 0; k < i; k++) { /* the row of L D */
            const double *other = L + k * (k + 1) / 2 * LANES;
            double s[LANES];
            for (int b = 0; b < LANES; b++) s[b] = own[k * LANES + b];
            for (int64_t u = 0; u < k; u++)
                for (int b = 0; b < LANES; b++) s[b] -= row[u * LANES + b] * other[u * LANES + b];
            for (int b = 0; b < LANES; b++) row[k * LANES + b] = s[b];
        }
        for (int b = 0; b < LANES; b++) pivot[b] = own[i * LANES + b];
        for (int64_t k = 0; k < i; k++)
            for (int b = 0; b < LANES; b++) {
                const double l = row[k * LANES + b] * over[k * LANES + b];
                pivot[b] -= row[k * LANES + b] * l;
                row[k * LANES + b] = l;
            }
        for (int b = 0; b < LANES; b++) {
            const double d = pivot[b] > least[b] ? pivot[b] : least[b];
            row[i * LANES + b] = d;
            over[i * LANES + b] = 1.0 / d;
        }
        for (int64_t t = 0; t < m; t++) {
            double s[LANES];
            for (int b = 0; b < LANES; b++) s[b] = W[(i * m + t) * LANES + b];
            for (int64_t u = 0; u < i; u++)
                for (int b = 0; b < LANES; b++)
                    s[b] -= row[u * LANES + b] * W[(u * m + t) * LANES + b];
            for (int b = 0; b < LANES; b++) W[(i * m + t) * LANES + b] = s[b];
        }
    }
}

KSUPPORT_CLONES
void ks_log_dets(const double *L, const double *lam, double *out, int64_t n)
{
    for (int b = 0; b < LANES; b++) out[b] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < LANES; b++)
            out[b] += fast_log(L[(i * (i + 1) / 2 + i) * LANES + b] / lam[b]);
}

KSUPPORT_CLONES
void ks_add_outer(double *restrict new, const double *restrict old,
    const double *restrict x, double scale, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * (i + 1) / 2;
        for (int64_t k = 0; k <= i; k++)
            for (int b = 0; b < LANES; b++) {
                const int64_t at = (row + k) * LANES + b;
                new[at] = old[at] + scale * x[i * LANES + b] * x[k * LANES + b];
            }
    }
}
