"""A whole brain, 216 x 39912 with k = 150: IRKSN, the nine methods with the paper's grids, memory.

Every measurement is in a process of its own, with one BLAS thread; two of the methods' processes
run at once.  Needs nilearn (``ksupport[fmri]``) for the brain's shape.  Some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from . import fresh
from .measure import Clock, Row, at_most, once

SLOWEST_FIRST = ("irosr", "ksn", "enet", "srdi", "ircr", "iht", "irksn", "lasso", "omp")
BASELINE_STEPS = 20
PROCESSES = 2


def tuned(method: str) -> dict[str, Any]:
    """What a child measured of one method with the paper's grid."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return fresh.run("tuned_on_brain", method, **one_thread)[0]


def alone() -> Iterator[Row]:
    """IRKSN to the published stopping point, against the published loop."""
    ours = fresh.run("irksn_on_brain", str(BASELINE_STEPS), OMP_NUM_THREADS="1")[0]
    what = f"IRKSN, alpha=1e-3, ‖X‖ and {ours['steps']} steps of the published length"
    seconds = once(fresh.seconds(ours["ours"]))
    yield Row(what, seconds, target=at_most(2))
    step = fresh.seconds(ours["numpy"]) / (BASELINE_STEPS + 1)
    rival = once(step * ours["steps"])
    at = f"  against NumPy + ModOpt, from {BASELINE_STEPS} steps"
    yield Row(at, seconds, rival, speed_up=True)
    best = once(fresh.seconds(ours["spectral"]))
    yield Row(f"  steps by the spectral norm: {ours['best']} to the best model", best)


def nine() -> Iterator[Row]:
    """Every method with the paper's grid: seconds and peak memory."""
    started = perf_counter()
    with ThreadPoolExecutor(PROCESSES) as pool:
        measured = dict(zip(SLOWEST_FIRST, pool.map(tuned, SLOWEST_FIRST), strict=True))
    wall = perf_counter() - started
    for method, each in measured.items():
        yield Row(f"{method}, tuned as in the paper: CPU", once(each["cpu"]))
        yield Row(f"  wall; distance to the truth {each['distance']:.3f}", once(each["wall"]))
    cpu = sum(each["cpu"] for each in measured.values())
    total = cpu / PROCESSES if Clock.shared else wall
    how = "half of the CPU time" if Clock.shared else "wall, start of processes and data included"
    yield Row(f"nine methods, {PROCESSES} processes: {how}", once(total), target=at_most(15 * 60))
    yield Row("  CPU time of all", once(cpu))
    heaviest = max(measured, key=lambda method: measured[method]["peak"])
    peak = once(measured[heaviest]["peak"])
    yield Row(f"peak memory of a process ({heaviest})", peak, target=at_most(1024), unit="MB")


def main() -> list[Row]:
    """All rows."""
    if not sys.platform.startswith("linux"):
        print("skipped: memory is read from /proc, which only Linux has")
        return []
    return [*alone(), *nine()]
