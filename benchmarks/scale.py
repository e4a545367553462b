"""Beyond memory: passes and memory on files, growth in n and d, shared passes, threads."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ksupport import IRKSNIC
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.design.view import Design
from ksupport.walking import run

from . import cost_model, fresh
from .data import correlated
from .measure import RESULTS, Clock, Row, at_least, at_most, elapsed, once, take_turns

LARGE = (500, 1_000_000)  # 2 GB in single precision; 4 GB of disk while the order is changed
MIDDLE = (500, 100_000)
KINDS = ("C float16", "F float16", "C int8", "zarr float32", "zarr int8")
CHUNKS = (250, 5_000)  # of Zarr arrays
WIDTHS, HEIGHT = (1_000, 3_000, 10_000, 30_000, 100_000), 200
HEIGHTS, WIDTH = (30, 100, 300, 1_000, 3_000), 10_000
LEVELS, ALPHAS = (1, 2, 4, 6, 8, 12, 16, 20, 32), (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # 45 paths
K, STEPS, REPEATS = 10, 100, 5
LONG = 400  # steps of the paths in threads


# -- files ---------------------------------------------------------------------------------------


def write(folder: Path, shape: tuple[int, int], dtype: str) -> None:
    """X in C order, of independent entries, and a y of 20 features with signal-to-noise ratio 3."""
    n, d = shape
    rng = np.random.default_rng(0)
    features, signs = np.sort(rng.choice(d, 20, replace=False)), rng.choice([-1, 1], 20)
    y = np.empty(n)
    with (folder / f"C {dtype}").open("wb") as file:
        for i in range(n):
            row = rng.standard_normal(d, dtype=np.float32)
            row = (32 * row).clip(-127, 127).astype(dtype) if dtype == "int8" else row.astype(dtype)
            y[i] = row[features].astype(float) @ signs
            row.tofile(file)
    y += np.std(y) / 3 * rng.standard_normal(n)
    np.save(folder / "y.npy", y)
    np.save(folder / "shape.npy", shape)


def strips(folder: Path, dtype: str) -> Iterator[tuple[slice, Any]]:
    shape = tuple(np.load(folder / "shape.npy"))
    for start in range(0, shape[1], CHUNKS[1]):  # columns handled at once
        X = np.memmap(folder / f"C {dtype}", dtype, "r", shape=shape)
        part = slice(start, start + CHUNKS[1])
        yield part, np.array(X[:, part])


def write_columns(folder: Path, dtype: str) -> None:
    """The same in F order."""
    with (folder / f"F {dtype}").open("wb") as file:
        for _, strip in strips(folder, dtype):
            np.ascontiguousarray(strip.T).tofile(file)


def write_zarr(folder: Path, dtype: str) -> None:
    import zarr

    shape = tuple(int(side) for side in np.load(folder / "shape.npy"))
    X = zarr.create_array(f"{folder}/zarr {dtype}", shape=shape, chunks=CHUNKS, dtype=dtype)
    for part, strip in strips(folder, dtype):
        X[:, part] = strip


def fits(folder: Path, kind: str, expected: dict[str, Any], most_memory: float) -> Iterator[Row]:
    child, _ = fresh.run("on_disk", str(folder), kind)
    n, d = np.load(folder / "shape.npy")
    wrong = np.setxor1d(child["support"], expected["support"]).size
    at = f"{n}x{d} {kind}, 500 steps"
    yield Row(f"{at}: passes over the file", once(child["passes"]), target=at_most(40), unit="")
    yield Row(f"{at}: peak memory", once(child["peak"]), target=at_most(most_memory), unit="MB")
    yield Row("  of it before the fit", once(child["before"]["VmRSS"]), unit="MB")
    yield Row("  features that differ from the fit in memory", once(wrong), None, at_most(0), "")
    yield Row("  time, and that of the fit in memory (wall)", once(child["wall"]),
              once(expected["wall"]))  # fmt: skip


def on_disk() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as name:
        folder = Path(name)
        write(folder, LARGE, "float32")
        expected, _ = fresh.run("on_disk", name, "whole float32")
        yield from fits(folder, "C float32", expected, 1024)
        write_columns(folder, "float32")
        (folder / "C float32").unlink()
        yield from fits(folder, "F float32", expected, 1024)
    for dtype in ("float16", "int8", "float32"):
        with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as name:
            folder = Path(name)
            write(folder, MIDDLE, dtype)
            expected, _ = fresh.run("on_disk", name, f"whole {dtype}")
            for kind in KINDS:
                if not kind.endswith(dtype):
                    continue
                if kind.startswith("F"):
                    write_columns(folder, dtype)
                if kind.startswith("zarr"):
                    write_zarr(folder, dtype)
                yield from fits(folder, kind, expected, 512)


# -- growth --------------------------------------------------------------------------------------


def centred_walk(design: Design, y: Any) -> None:
    walk(design.centred(), y, [IRKSNMethod(K, 1e-3)])


def one_size(n: int, d: int) -> tuple[float, float, int]:
    """Seconds of a walk with the means, those of ‖X‖, which it does without, and passes."""
    X, y, _ = correlated(n, d, K)
    walks, norms = [], []
    for _ in range(REPEATS):
        design = Design.of(X)
        walks.append(elapsed(partial(centred_walk, design, y)))
        passes = design.passes
        norms.append(elapsed(design.centred().norm))
    return min(walks), min(norms), passes


def walk(
    design: Design, y: Any, methods: list[IRKSNMethod], steps: int = STEPS, n_jobs: int = 1
) -> Any:
    paths = [method.start(design, y) for method in methods]
    return run(paths, max_iter=steps, every=5, keep="last", n_jobs=n_jobs)


def slope(sizes: tuple[int, ...], values: list[float]) -> float:
    """The power of the size with which values grow."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def growth() -> Iterator[Row]:
    curves = {}
    for name, sizes in (("d", WIDTHS), ("n", HEIGHTS)):
        measured = [one_size(*((HEIGHT, s) if name == "d" else (s, WIDTH))) for s in sizes]
        walks, norms, passes = (list(each) for each in zip(*measured, strict=True))
        curves[name] = sizes, walks, norms, passes
        fixed = f"n={HEIGHT}" if name == "d" else f"d={WIDTH}"
        for s, (seconds, norm, count) in zip(sizes, measured, strict=True):
            yield Row(f"{name}={s}, {fixed}: walk, and norm ({count} passes)", once(seconds),
                      once(norm))  # fmt: skip
        yield Row(f"power of {name} with which a walk's time grows", once(slope(sizes, walks)),
                  target=at_most(1.15), unit="")  # fmt: skip
        yield Row("  the norm's", once(slope(sizes, norms)), unit="")
        yield Row("  that of the passes", once(slope(sizes, passes)), target=at_most(0.1), unit="")
    draw(curves)


def draw(curves: dict[str, Any]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
    for axis, (name, (sizes, walks, norms, passes)) in zip(axes, curves.items(), strict=True):
        axis.loglog(sizes, walks, "o-", label=f"means and {STEPS} steps")
        axis.loglog(sizes, norms, "s-", label="norm of X (not needed)")
        axis.loglog(sizes, walks[-1] * np.array(sizes) / sizes[-1], "k:", label="linear")
        for s, seconds, count in zip(sizes, walks, passes, strict=True):
            axis.annotate(str(count), (s, seconds), (0, 5), textcoords="offset points", ha="center")
        axis.set_xlabel(f"{name} (numbers: passes over X)")
    axes[0].set_ylabel("seconds")
    axes[0].legend(fontsize="small")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "scale.png", dpi=90)
    plt.close(figure)
    print(f"drawn in {RESULTS / 'scale.png'}")


# -- many paths ----------------------------------------------------------------------------------


def shared_passes() -> Iterator[Row]:
    X, y, _ = correlated(200, 20_000, 20)
    many = IRKSNIC(LEVELS, ALPHAS).fit(X, y).n_passes_
    for k, alpha in ((8, 1e-2), (8, 1e-3)):
        one = IRKSNIC(k, alpha).fit(X, y).n_passes_
        yield Row(f"passes of IRKSNIC, 45 paths against k={k}, alpha={alpha:g}", once(many),
                  once(one), at_most(3), "")  # fmt: skip


def threads() -> Iterator[Row]:
    """One thread in all, against two that walk."""
    X, y, _ = correlated(1000, 5_000, 20)
    methods = [
        IRKSNMethod(k, alpha) for k in range(4, 36, 4) for alpha in np.geomspace(1e-3, 1e-2, 8)
    ]

    def in_threads(count: int) -> None:
        design = Design.of(X).centred()  # its own, which remembers no products of others
        walk(design, y, methods, LONG, n_jobs=count)

    def alone() -> None:
        with threadpool_limits(1):
            in_threads(1)

    two, one = take_turns(lambda: in_threads(2), alone, repeats=7, budget=240)
    yield Row(f"64 paths of {LONG} steps, two threads against one (wall)", two, one, at_least(1.7))


def main() -> list[Row]:
    """All rows."""
    if not sys.platform.startswith("linux"):
        print("skipped: memory is read from /proc, which only Linux has")
        return []
    rows = [*shared_passes(), *growth()]
    if not Clock.shared:  # CPU time cannot tell
        rows += threads()
    return [*rows, *cost_model.main(), *on_disk()]
