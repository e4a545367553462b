"""The problems of the selection benchmark: each knows its truth.

Three ranges of seeds never meet: what is reported, what constants may be chosen on, and (0 to 99)
what earlier versions were seen on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from ksupport.datasets import make_block_data, make_correlated_data, make_fmri_process
from ksupport.experiments.fig_f1 import AXES, CENTRE
from ksupport.experiments.synthetic import DENSITY, N_FEATURES

from .selection_noise import LAWS, noise_law
from .selection_real import (
    DRUGS,
    WIDE,
    Array,
    Problem,
    coefficients,
    genotypes,
    held_out,
    hiv,
    linked,
    noise_on,
    noisy,
    on_held_out,
    permuted,
    real,
    spike_in,
    standardised,
)

__all__ = [
    "DEVELOPMENT",
    "REPORTED",
    "Array",
    "Problem",
    "Setting",
    "problem",
    "settings",
    "standardised",
]

REPORTED, DEVELOPMENT = 100, 1000  # the first seed of each range
Setting = dict[str, Any]


def problem(kind: str, seed: int, **setting: Any) -> Problem:
    """X, y and the true w of a setting; where only the true support is known, w is 0 and 1."""
    return MAKERS[kind](np.random.RandomState(seed), **setting)


def ar1(rng: Any, n: int, d: int, k: int, rho: float, snr: float) -> Problem:
    w = coefficients(rng, d, k, "gaussian")
    return make_correlated_data(n, d, rho=rho, snr=snr, w_true=w, random_state=rng)


def blocks(
    rng: Any, n: int, block: int, rho: float, sizes: Literal["equal", "gaussian"]
) -> Problem:
    return make_block_data(
        n, 10 * block if block > 20 else 20 * block, block_size=block,
        n_active_blocks=2 if block > 20 else 3, rho=rho, coef=sizes, snr=3.0, random_state=rng,
    )  # fmt: skip


def factor(rng: Any, n: int, d: int, k: int, factors: int) -> Problem:
    loadings = rng.standard_normal((factors, d)) / np.sqrt(factors)
    X = rng.standard_normal((n, factors)) @ loadings + 0.7 * rng.standard_normal((n, d))
    return noisy(rng, X, coefficients(rng, d, k, "gaussian"), 3.0)


def background(rng: Any, n: int, d: int, k: int, rho: float) -> Problem:
    """All columns correlate alike: time, batch or size is in each of them."""
    X = np.sqrt(rho) * rng.standard_normal((n, 1)) + np.sqrt(1 - rho) * rng.standard_normal((n, d))
    return noisy(rng, X, coefficients(rng, d, k, "gaussian"), 3.0)


def example2(rng: Any, n: int, d: int, region: int) -> Problem:
    """Fewer samples than active features, as in the paper's Example 2."""
    return make_fmri_process(n, d, region_size=region, snr=5.0, random_state=rng)


def many(rng: Any, name: str, k: int, sizes: str, snr: float) -> Problem:
    """Many small effects, and rows enough to find most: simulated, or on mutations of HIV-1."""
    if name == "ar1":
        X = make_correlated_data(500, 200, rho=0.5, random_state=rng)[0]
    else:
        X = standardised(hiv(rng, name, DRUGS[name][0])[0])
    return noisy(rng, X, coefficients(rng, X.shape[1], k, sizes), snr)


def paper(rng: Any, n: int, rho: float, snr: float) -> Problem:
    """The paper's synthetic experiments: 10 of 50 features."""
    return make_correlated_data(n, N_FEATURES, rho=rho, snr=snr, density=DENSITY, random_state=rng)


def noise(rng: Any, n: int, d: int, design: str) -> Problem:
    """A simulated design and a response that has nothing to do with it."""
    if design == "blocks":
        X = make_block_data(n, d, block_size=20, rho=0.9, random_state=rng)[0]
    else:
        rho = {"independent": 0.0, "ar1": 0.9}[design]
        X = make_correlated_data(n, d, rho=rho, random_state=rng)[0]
    return X, rng.standard_normal(n), np.zeros(d)


MAKERS: dict[str, Callable[..., Problem]] = {
    "ar1": ar1,
    "blocks": blocks,
    "factor": factor,
    "background": background,
    "real": real,
    "held_out": on_held_out,
    "linked": linked,
    "example2": example2,
    "paper": paper,
    "many": many,
    "noise": noise,
    "noise_law": noise_law,
    "noise_on": noise_on,
    "permuted": permuted,
    "hiv": hiv,
    "spike_in": spike_in,
    "genotypes": genotypes,
}
SIMULATED = (
    "ar1", "blocks", "factor", "background", "real", "held_out", "linked", "example2", "paper",
    "many",
)  # fmt: skip
NOISE = ("noise", "noise_law", "noise_on", "permuted")
REAL_TRUTH = ("hiv", "spike_in", "genotypes")
SUPPORT_ONLY = ("hiv", "spike_in")  # the true coefficients are not known


def settings(*kinds: str) -> list[Setting]:
    """All settings of the benchmark, or those of some kinds."""
    return [s for make in GRIDS for s in make() if s["kind"] in (kinds or MAKERS)]


def label(setting: Setting, without: tuple[str, ...] = ()) -> str:
    """A setting in words, or what it has in common with others."""
    return " ".join(
        value if key == "kind" else f"{key}={value}"
        for key, value in setting.items()
        if key not in without
    )


def first_seed() -> int:
    """Of the draws that are reported, or with KSUPPORT_DEVELOPMENT=1 of the others."""
    return DEVELOPMENT if os.environ.get("KSUPPORT_DEVELOPMENT") == "1" else REPORTED


def fixed(setting: Setting) -> bool:
    """Whether there is but one draw of it: real data with a real response, all rows."""
    return setting["kind"] in REAL_TRUTH and setting.get("rows") is None


def _simulated() -> Iterator[Setting]:
    for rho in (0.0, 0.5, 0.9):
        for d in (200, 2000):
            for snr in (1.0, 3.0, 5.0):
                yield {"kind": "ar1", "n": 100, "d": d, "k": 10, "rho": rho, "snr": snr}
    for block in (10, 40):
        for rho in (0.5, 0.7, 0.9):
            for n in (30, 100):
                for sizes in ("equal", "gaussian"):
                    yield {"kind": "blocks", "n": n, "block": block, "rho": rho, "sizes": sizes}
    for factors in (3, 10):
        yield {"kind": "factor", "n": 100, "d": 500, "k": 10, "factors": factors}
    for rho in (0.36, 0.6, 0.85):
        for n, d, k in ((60, 20, 3), (60, 100, 5), (100, 500, 8), (200, 1000, 8)):
            yield {"kind": "background", "n": n, "d": d, "k": k, "rho": rho}
    for region in (30, 60):
        yield {"kind": "example2", "n": 20, "d": 300, "region": region}


def _of_the_paper() -> Iterator[Setting]:
    """Along the three axes of its figures, their common centre once."""
    seen = []
    for axis, values in AXES.items():
        for value in values:
            setting = {"kind": "paper", **CENTRE, axis: value}
            if setting not in seen:
                seen.append(setting)
    yield from seen


def _real() -> Iterator[Setting]:
    for sizes in ("equal", "gaussian"):  # five features, without much noise
        for name in WIDE[:3]:
            yield {"kind": "real", "sizes": sizes, "k": 5, "snr": 5.0, "name": name}
    for sizes in ("equal", "gaussian", "decaying", "grouped", "mixed"):
        for snr in (1.0, 2.0, 5.0):
            for kind, names in (("real", WIDE), ("held_out", held_out())):
                for name in names:
                    yield {"kind": kind, "sizes": sizes, "k": 10, "snr": snr, "name": name}


def _linked() -> Iterator[Setting]:
    for rows in (50, 100, None):
        for causes in (3, 10):
            yield {"kind": "linked", "causes": causes, "rows": rows}


def _many() -> Iterator[Setting]:
    for k, sizes in ((30, "equal"), (50, "gaussian")):
        for snr in (1.0, 2.0):
            for name in ("ar1", *DRUGS):
                yield {"kind": "many", "sizes": sizes, "k": k, "snr": snr, "name": name}


def _noise() -> Iterator[Setting]:
    for n in (20, 50, 120, 500):
        for design in ("independent", "ar1", "blocks"):
            yield {"kind": "noise", "n": n, "d": 300, "design": design}
    for n, d in ((100, 2000), (200, 5000)):  # many more, of which some go with y by chance
        yield {"kind": "noise", "n": n, "d": d, "design": "independent"}
    for law in LAWS:
        yield {"kind": "noise_law", "law": law}
    for name in WIDE:
        yield {"kind": "permuted", "name": name}
    for name, rows in (("riboflavin", None), ("scheetz2006", None), ("hiv_pi", 500)):
        yield {"kind": "noise_on", "name": name, "rows": rows}


def _real_truth() -> Iterator[Setting]:
    for rows in (None, 150):
        for name, drugs in DRUGS.items():
            for drug in drugs:
                yield {"kind": "hiv", "rows": rows, "name": name, "drug": drug}
    for profile in range(14):
        yield {"kind": "spike_in", "profile": profile}
    for trait in range(2):
        yield {"kind": "genotypes", "trait": trait}


GRIDS = (_simulated, _of_the_paper, _real, _linked, _many, _noise, _real_truth)
