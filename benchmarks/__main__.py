"""``python -m benchmarks [names...]``: run parts of the benchmarks and count targets met.

A part is a module of this package whose ``main()`` returns rows (see `measure.Row`); one that
returns None has printed a table of its own, and its targets are not counted here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import scipy.linalg  # noqa: F401  (SciPy's BLAS, like NumPy's, must be loaded to be limited)
from threadpoolctl import threadpool_info, threadpool_limits

from . import measure

QUICK = ("prox", "irksn", "steps", "supports", "methods", "memory", "startup")
ADAPTED = {"prox": "prox_rows"}  # modules that turn another part's numbers into rows


def _main_of(part: str) -> Callable[[], Sequence[measure.Row] | None]:
    return import_module(f"{__package__}.{ADAPTED.get(part, part)}").main


def run(part: str) -> Sequence[measure.Row]:
    main = _main_of(part)
    title = (import_module(main.__module__).__doc__ or part).splitlines()[0]
    print(f"\n== {part}: {title}", flush=True)
    rows = main()
    if rows is None:
        return ()
    print(measure.table(rows))
    print(f"written to {measure.save(part, rows)}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"by default {' '.join(QUICK)}")
    parser.add_argument(
        "--shared",
        action="store_true",
        help="the machine has other work to do: CPU time instead of wall time, one BLAS thread",
    )
    arguments = parser.parse_args()
    parts = arguments.parts or list(QUICK)
    for part in parts:
        if not part.isidentifier() or find_spec(f"{__package__}.{part}") is None:
            parser.error(f"no part {part!r}; the quick ones are {', '.join(QUICK)}")
    measure.Clock.shared = arguments.shared
    measure.Clock.busy = not arguments.shared and measure.load() > measure.IDLE
    about = measure.machine()
    print(", ".join(f"{name} {value}" for name, value in about.items() if value is not None))
    print("times and ratios are medians over repeats, minima in brackets; medians are judged")
    print(
        '"?": not to be trusted, a median is 1.5 times the minimum or more, or the machine is busy'
    )
    if measure.Clock.busy:
        print(f"this machine is busy (load {measure.load():.1f}): try again later, or --shared")
    with threadpool_limits(1 if arguments.shared else None):
        threads = [pool["num_threads"] for pool in threadpool_info()]
        print(f"BLAS and OpenMP threads: {threads}")
        rows = [row for part in parts for row in run(part)]
    missed = [row for row in rows if row.met is False]
    judged = sum(row.met is not None for row in rows)
    doubtful = sum(row.doubtful for row in rows)
    print(f"\ntargets met: {judged - len(missed)}, missed: {len(missed)}; doubtful: {doubtful}")
    for row in missed:
        print(f"  missed: {row.what}: {row.ratio:.3g}, target {row.target}")


if __name__ == "__main__":
    main()
