"""The k-support prox against ModOpt's and against one plain pass over the vector.

Run ``python -m benchmarks.prox`` from the root of the repository.  Times are medians.  The unit
is one ``np.abs(q).sum()`` over the same vector, timed in turn with what it is compared to, so
that a busy machine slows both.
"""

from collections.abc import Iterator

import numpy as np
from modopt.opt.proximity import KSupportNorm

from ksupport._kernels.prox import prox_warm
from ksupport.commands.timing import elapsed, take_turns
from ksupport.norms import prox_ksupport

SIZES = (100_000, 1_000_000)
KS = (10, 1000)
STRENGTHS = (1.0, 999.0)
# at least this many times ModOpt's speed; at most this many units, cold and warm
MODOPT_TARGET, COLD_TARGET, WARM_TARGET = 200, 8, 4


def measure(d: int, k: int, lam: float, repeats: int) -> dict[str, float]:
    """Times of one setting; ``s`` for the warm start comes from a q that is 1 % away."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal(d)
    before = q * (1 + 0.01 * rng.standard_normal(d))
    out = np.empty(d)
    s = prox_warm(before, lam, k, 0.0, out)
    timings = take_turns(
        lambda: np.abs(q).sum(),
        lambda: prox_ksupport(q, lam, k),
        lambda: prox_warm(q, lam, k, s, out),
        repeats=repeats,
    )
    unit, cold, warm = (each.median for each in timings)
    # Once: it is slow enough to be timed well.
    modopt = elapsed(lambda: KSupportNorm(beta=lam, k_value=k).op(q))
    return {
        "unit_ms": 1e3 * unit,
        "cold": cold / unit,
        "warm": warm / unit,
        "modopt": modopt / cold,
    }


def rows(repeats: int) -> Iterator[tuple[str, bool]]:
    """A line of the table for each setting, and whether it meets every target."""
    for d in SIZES:
        for k in KS:
            for lam in STRENGTHS:
                m = measure(d, k, lam, repeats)
                missed = [
                    name
                    for name, kept in (
                        ("ModOpt", m["modopt"] >= MODOPT_TARGET),
                        ("cold", m["cold"] <= COLD_TARGET),
                        ("warm", m["warm"] <= WARM_TARGET),
                    )
                    if not kept
                ]
                yield (
                    (
                        f"{d:>9,} {k:>5} {lam:>5g} {m['unit_ms']:>12.3f} {m['cold']:>8.1f}x"
                        f" {m['warm']:>8.1f}x {m['modopt']:>12,.0f}x   "
                        + ("missed: " + ", ".join(missed) if missed else "met")
                    ),
                    not missed,
                )


def main(repeats: int = 51) -> None:
    """Print the table."""
    print("prox of (lam/2)(k-support norm)²; cold and warm in units of one np.abs(q).sum()")
    print(f"targets: cold <= {COLD_TARGET}x, warm <= {WARM_TARGET}x, ModOpt >= {MODOPT_TARGET}x")
    print(
        f"{'d':>9} {'k':>5} {'lam':>5} {'abs-sum (ms)':>12} {'cold':>9} {'warm':>9}"
        f" {'ModOpt/cold':>13}   targets"
    )
    met = []
    for line, kept in rows(repeats):
        print(line, flush=True)
        met.append(kept)
    print(f"targets met in {sum(met)} of {len(met)} settings")


if __name__ == "__main__":
    main()
