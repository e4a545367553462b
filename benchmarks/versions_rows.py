"""The rows of `versions`, written against what both versions have.

A row is a function that makes a call; making it is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import ksupport
from ksupport import datasets, path
from ksupport.algorithms import make_method
from ksupport.design import Design, Problem, Weights
from ksupport.losses import loss_of
from ksupport.walking import run

from .data import correlated, f1_of_blocks

SIZES = ((30, 50, 10), (100, 2000, 10), (100, 10_000, 10), (173, 39_912, 150))  # n, d, k
SMALL, MIDDLE, _, WIDE = SIZES
LEVELS, ALPHAS = (1, 2, 4, 6, 8, 12, 16, 20, 32), (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
FITS: dict[str, Callable[[], Any]] = {
    "IRKSN": partial(ksupport.IRKSN, k=10),
    "IRKSN held-out": partial(ksupport.IRKSN, k=10, stopping="held_out", random_state=0),
    "IRKSNIC": ksupport.IRKSNIC,
    "IRKSNCV": partial(ksupport.IRKSNCV, random_state=0),
    "IRKSNClassifier": partial(ksupport.IRKSNClassifier, k=10),
    "IRKSNICClassifier": ksupport.IRKSNICClassifier,
    "IRKSNIC of 45 paths": partial(ksupport.IRKSNIC, LEVELS, ALPHAS),
}
FITTED = (
    *product(("IRKSN", "IRKSN held-out", "IRKSNIC", "IRKSNCV"), (SMALL, MIDDLE, (1000, 200, 10))),
    *product(("IRKSNClassifier", "IRKSNICClassifier"), (SMALL, MIDDLE)),
    *product(("IRKSN", "IRKSN held-out"), (WIDE,)),
    *product(("IRKSNIC", "IRKSNCV"), ((5000, 500, 10), (1000, 5000, 10))),
    ("IRKSNIC of 45 paths", (200, 20_000, 20)),
)
KERNELS = "ksupport._kernels"  # one module in the days of numba
data = lru_cache(1)(correlated)


@lru_cache(1)
def design(n: int, d: int, k: int) -> Design:
    """That knows its norm already."""
    known = Design.of(data(n, d, k)[0])
    known.norm("spectral")
    return known


def prox(d: int, k: int, lam: float, warm: bool) -> Callable[[], Any]:
    """From nothing, or from the scale of a vector that is 1 % away."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal(d)
    if not warm:
        return partial(ksupport.prox_ksupport, q, lam, k)
    out, kernels = np.empty(d), import_module(KERNELS)
    if hasattr(kernels, "__path__"):
        kernels = import_module(f"{KERNELS}.prox")
    prox_warm = kernels.prox_warm
    s = prox_warm(q * (1 + 0.01 * rng.standard_normal(d)), lam, k, 0.0, out)
    return lambda: (prox_warm(q, lam, k, s, out), out)[1]


def steps(n: int, d: int, k: int, alpha: float, step: str, every: int = 5) -> Callable[[], Any]:
    X = data(n, d, k)[0] if step == "adaptive" else design(n, d, k)
    return partial(
        path, "irksn", X, data(n, d, k)[1], k=k, alpha=alpha, step=step, max_iter=300, every=every,
        keep="last",
    )  # fmt: skip


def method(name: str, n: int, d: int, k: int) -> Callable[[], Any]:
    """With the parameters of `methods`."""
    (X, y, w), known = data(n, d, k), design(n, d, k)
    norm = known.norm("spectral")
    params = {
        "ksn": {"k": k, "lam": 0.1 * norm**2},
        "ircr": {},
        "irosr": {"alpha": 1e-3, "eta": 0.1 * n / (norm**2 * np.abs(y).max())},
        "srdi": {"kappa": 100 * np.abs(X.T @ y).max() / norm**2},
        "iht": {"k": k},
    }[name]
    return partial(
        path, name, X if d < 1000 else known, y, max_iter=5000 if d < 1000 else 1000, every=5,
        metrics={"f1": f1_of_blocks(w)}, keep="last", **params,
    )  # fmt: skip


def loss(name: str) -> Callable[[], Any]:
    """100 steps at 100 x 2000, on the responses of `losses`."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    eta = 2 * X[:, :5].sum(axis=1) / np.sqrt(5)
    died, left = rng.exponential(np.exp(-eta)), rng.exponential(2.0, 100)
    y = {
        "squared": eta + rng.standard_normal(100),
        "huber": eta + rng.standard_normal(100) * rng.choice([1.0, 10.0], 100),
        "logistic": (eta + rng.logistic(size=100) > 0) * 1.0,
        "poisson": rng.poisson(np.exp(0.5 + 0.5 * eta)) * 1.0,
        "cox": np.column_stack([np.minimum(died, left), died <= left]),
    }[name]

    def walk() -> Any:
        asked = loss_of(name)
        problem = Problem(X, y.reshape(100, -1), Weights(), np.arange(100), True, False, loss=asked)
        method = make_method("irksn", k=10, alpha=0.01, loss=asked)
        return run([method.start(problem.design, problem.targets[0])], max_iter=100)[0]

    return walk


def fit(model: str, n: int, d: int, k: int) -> Callable[[], Any]:
    X, y, _ = data(n, d, k)
    target = y > np.median(y) if "Classifier" in model else y
    return lambda: FITS[model]().fit(X, target)


def on_file(order: Any, dtype: str) -> Callable[[], Any]:
    """The file is written to the folder one is in, unless the other version has written it."""
    file, shape = Path(f"{order} {dtype}"), (500, 20_000)
    X, y, _ = data(*shape, 20)
    if not file.exists():
        scaled = (32 * X).clip(-127, 127) if dtype == "int8" else X
        np.memmap(file, dtype, "w+", shape=shape, order=order)[:] = scaled.astype(dtype)
    mapped = np.memmap(file, dtype, "r", shape=shape, order=order)
    return lambda: ksupport.IRKSN(k=20, alpha=1e-3, max_iter=500).fit(mapped, y)


def growth(n: int, d: int) -> Callable[[], Any]:
    X, y, _ = data(n, d, 10)
    method = make_method("irksn", k=10, alpha=1e-3)

    def walk() -> Any:
        start = method.start(Design.of(X).centred(), y)
        return run([start], max_iter=100, every=5, keep="last")[0]

    return walk


def reached(name: str, alpha: float, step: str) -> int:
    """Steps until ‖Xw - y‖/‖y‖ is at most .1."""
    if name == "AR(1) 200x5000":
        X, y, _ = data(200, 5000, 10)
    else:
        found = getattr(datasets, f"fetch_{name}")()
        X, y = np.asarray(found.data, float), np.asarray(found.target, float)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    walked = path("irksn", X, y, k=10, alpha=alpha, step=step, max_iter=15_000, keep="last")
    return int(np.argmax(walked.history["residual"] <= 0.1 * np.linalg.norm(y)))


def size(n: int, d: int, *_: int) -> str:
    return f"{n}x{d}"


TIMED: dict[str, Callable[[], Callable[[], Any]]] = {
    **{f"prox d={d} k={k} lam={lam:g}, {'warm' if warm else 'cold'}": partial(prox, d, k, lam, warm)
       for d in (50, 2000, 100_000, 1_000_000) for k in (10, 1000) if k < d for lam in (1.0, 999.0)
       for warm in (False, True)},
    **{f"IRKSN {size(*at)} alpha={alpha:g}, {step} steps": partial(steps, *at, alpha, step)
       for at in SIZES for alpha in (1e-4, 1e-3, 1e-2, 0.1, 0.5)
       for step in ("spectral", "adaptive")},
    **{f"IRKSN {size(*at)}, every step recorded": partial(steps, *at, 1e-3, "spectral", 1)
       for at in SIZES},
    **{f"norm of X {size(*at)}": partial(lambda *at: lambda: Design.of(data(*at)[0]).norm(), *at)
       for at in SIZES},
    **{f"{name} {size(*at)}": partial(method, name, *at) for at in (SMALL, WIDE)
       for name in ("ksn", "ircr", "irosr", "srdi", "iht") if at == SMALL or name != "irosr"},
    **{f"{name} 100x2000, 100 steps": partial(loss, name)
       for name in ("squared", "huber", "logistic", "poisson", "cox")},
    **{f"{model} {size(*at)}": partial(fit, model, *at) for model, at in FITTED},
    **{f"IRKSN on a file, 500x20000 {order} {dtype}": partial(on_file, order, dtype)
       for order, dtype in (("C", "float32"), ("F", "float32"), ("C", "float16"), ("C", "int8"))},
    **{f"walk {n}x{d}, centred": partial(growth, n, d)
       for n, d in ((200, 1000), (200, 10_000), (200, 100_000), (1000, 10_000))},
}  # fmt: skip
COUNTED: dict[str, Callable[[], int]] = {
    f"{name} alpha={alpha:g}, {step}: steps to residual .1": partial(reached, name, alpha, step)
    for name in ("AR(1) 200x5000", "leukemia", "riboflavin") for alpha in (0.1, 0.01)
    for step in ("spectral", "adaptive")
}  # fmt: skip
