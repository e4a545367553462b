"""Every compiled function, called with arrays and numbers that it was not made for.

    python doors.py SEED MORE

It may refuse them with an ordinary error, or do what it can; but a page that may not be touched
lies at one end of each array, and who reads or writes beyond it ends the process.  What changes a
layout alone must change no result.  MORE is how many random pairs of odd arguments each gets.
"""

import ctypes
import faulthandler
import importlib
import mmap
import pkgutil
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

import ksupport._kernels
from ksupport._kernels import (
    cox_new_rows,
    iht,
    irksn,
    linalg,
    newton,
    products,
    prox,
    refits,
    residuals,
    rivals,
    working_set,
)
from ksupport._kernels.cox import Cox
from ksupport._kernels.losses import Huber, Logistic, Loss, Poisson, Squared
from ksupport._kernels.multinomial import Multinomial
from ksupport._kernels.objectives import Objective, Pace, Profiled, Squares
from ksupport._kernels.profile import ProfileLoss
from ksupport._kernels.rivals import Fista
from ksupport._kernels.signs import Signs
from ksupport._kernels.working_set import Clock

NOT_TRIED = {"chains", "posterior", "sampler"}  # called by `ksupport.posterior` alone
N, D = 6, 4  # rows, and columns of a working set
RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.standard_normal(shape)


# -- arrays at the end of what may be read ---------------------------------------------------

PAGE = mmap.PAGESIZE
protect = getattr(ctypes.CDLL(None), "mprotect", None) if sys.platform == "linux" else None


def fenced(array, at_end):
    """A copy that ends where a page that may not be touched begins, or begins where one ends."""
    if protect is None or array.dtype.hasobject:
        return array.copy()
    inside = -(-max(array.nbytes, 1) // PAGE) * PAGE
    memory = mmap.mmap(-1, inside + 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (start, start + PAGE + inside):
        assert protect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) == 0
    first = PAGE + (inside - array.nbytes if at_end else 0)
    flat = np.frombuffer(memory, array.dtype, array.size, first)
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    flat[:] = array.ravel(order)
    return flat.reshape(array.shape, order=order)


# -- calls as they should be -----------------------------------------------------------------


def layout(n):
    """Rows of one stratum, two of them tied."""
    tie = np.r_[0, 0, 2:n]
    ends = np.r_[2, 2, 3 : n + 1]
    return np.stack([np.arange(n)[::-1], tie, ends, np.full(n, n)]).astype(np.intp)


Y, WEIGHTS = np.array([0.0, 1, 1, 0, 1, 0]), np.linspace(0.5, 2.0, N)
EVENTS = np.array([1.0, 0, 1, 1, 0, 1])


def a_loss(which="logistic"):
    return {
        "logistic": lambda: Logistic(Y, WEIGHTS),
        "cox": lambda: Cox(EVENTS, WEIGHTS, layout(N), True),
        "multinomial": lambda: Multinomial(Y + (EVENTS > 0), WEIGHTS, 3),
    }[which]()


def slopes_of(loss, E, G, H):
    loss.slopes_rows(E, G, H)


def profile_of(loss):
    return ProfileLoss(loss, np.ones((1, N)), np.sqrt(WEIGHTS))


def profiled():
    return Profiled(profile_of(a_loss()), numbers(N), np.zeros(N), np.zeros((2, 1)))


def walk(end, every, rows, seen, k, alpha, lam, sign, working, **state):
    """A walk of IRKSN, whose arguments are attributes."""
    state = SimpleNamespace(k=k, alpha=alpha, lam=lam, sign=sign, **state)
    return irksn.Walk(state, SimpleNamespace(**working)).run(end, every, rows, seen)


def columns(n=N, m=D):
    return {
        "columns": numbers(m, n),
        "refs": numbers(2, n),
        "edges": 9 + numbers(2, 2),
        "reach": 0.1,
    }


def a_walk(**other):
    y = numbers(N)
    return {
        "end": 9, "every": 2, "rows": np.zeros((9, D)), "seen": np.zeros((3, 2, N)), "k": 2,
        "alpha": 0.5, "lam": 1.0, "sign": 0.0, "y": y, "Z": np.zeros((2, N)), "F": np.zeros((2, D)),
        "at": np.zeros(N), "times": np.zeros(4), "labels": np.zeros(0, np.intp), "pace": Pace(),
        "clock": Clock(), "objective": Squares(y), "working": columns(), **other,
    }  # fmt: skip


def rival(**own):
    """What the walks on a working set share."""
    return {
        "B": numbers(D, N), "y": numbers(N), **own, "clock": Clock(),
        "refs": numbers(2, N), "edges": 9 + numbers(2, 2), "reach": 0.1,
        "end": 9, "every": 2, "rows": np.zeros((9, D)),
    }  # fmt: skip


def supports():
    X = numbers(N, D)
    return {
        "G": X.T @ X, "c": numbers(D), "indptr": np.array([0, 2, 3, 6]),
        "indices": np.array([0, 2, 1, 0, 2, 3]), "order": np.array([1, 0, 2]), "tol": 1e-9,
        "rss_drop": np.zeros(3), "rank": np.zeros(3, np.intp), "coef": np.zeros(6),
    }  # fmt: skip


def models():
    return {
        "loss": a_loss(), "Q": np.ones((1, N)), "start": np.zeros(1), "columns": numbers(D, N),
        "indptr": np.array([0, 2, 3]), "features": np.array([0, 2, 1]), "ridges": np.full(2, 0.1),
        "unit": 1.0, "terms": 1.0,
    }  # fmt: skip


def joins():
    return np.array([[2, 0, 1], [0, 2, 5], [N, N, N], [-1, 2, 0]])


def added_rows(which, **given):
    return cox_new_rows.added_rows(which, **given)


def gains(products, c, inverse, mean, length, **given):
    return residuals.Residuals(products, c, inverse, mean, length).gains(**given)


def rows_of_products(columns, **given):
    return products.Products(**given).rows(columns)


def columns_of_atoms():
    """Two features, their sum, and an atom of two columns."""
    return {
        "columns": np.array([0, 4, 2]), "S": 9.0 * np.eye(4),
        "indptr": np.array([0, 1, 2, 4, 6, 8]),
        "features": np.array([0, 1, 0, 1, 2, 3, 2, 3]), "loadings": numbers(8),
        "first": np.array([3]), "rank": np.array([2]),
    }  # fmt: skip


def left_out():
    return {
        "products": numbers(2, D), "c": numbers(3, D), "inverse": np.eye(2), "mean": numbers(2, 3),
        "length": 6.0, "out": np.array([-1, 1, 0]), "left_inverse": np.stack([0.1 * np.eye(3)] * 3),
        "lams": np.ones(3), "nu": 5.0,
    }  # fmt: skip


def exchanges():
    Q = np.linalg.qr(numbers(N, 2))[0]
    X = numbers(N, D)
    return {
        "products": np.column_stack([numbers(N), Q]).T @ X, "UX": numbers(2, D), "b": numbers(2),
        "norms": np.linalg.norm(X, axis=0), "own": np.array([0, 2]), "tol": 1e-9, "rounding": 1e-20,
        "equal": 1e-9, "falls": np.zeros(3), "out": np.zeros(3, np.intp),
        "into": np.zeros(3, np.intp),
    }  # fmt: skip


def marked(d):
    return np.arange(d) == 1


def of_losses(call, **given):
    """A call with each kind of loss, each with as many fitted values as it has."""
    for which, size in (("logistic", N), ("cox", N), ("multinomial", 3 * N)):
        yield (
            call,
            lambda which=which, size=size: {
                "loss": a_loss(which),
                **{name: make(size) for name, make in given.items()},
            },
        )


def box():
    return {"lam": 1.0, "kappa": 2.0, "low": 0.1, "width": 0.9}


CALLS: dict[str, Any] = {
    "prox.all_finite": [(prox.all_finite, lambda: {"q": numbers(D)})],
    "prox.sweep": [(prox.sweep, lambda: {"x": numbers(D)})],
    "prox.prox_warm": [
        (prox.prox_warm, lambda: {
            "q": numbers(D), "lam": 1.0, "k": 2, "s": 0.7, "out": np.zeros(D)})
    ],
    "prox.prox_groups": [
        (prox.prox_groups, lambda: {
            "q": numbers(2 * D), "lam": 40.0, "k": 2, "s": 0.7, "labels": np.array([0, 1, 1, 2]),
            "sign": 1.0, "out": np.zeros(2 * D)})
    ],
    "prox.prox_rows": [
        (prox.prox_rows, lambda: {"q": numbers(3, D), **box(), "out": np.zeros((3, D))})
    ],
    "prox.group_norms": [
        (prox.group_norms, lambda: {
            "q": numbers(2 * D), "labels": np.array([0, 1, 1, 2]), "sign": 0.0,
            "norms": np.zeros(3)})
    ],
    "prox.norm_rows": [
        (prox.norm_rows, lambda: {
            "w": numbers(3, D), "kappa": 2.0, "low": 0.1, "width": 0.9, "out": np.zeros(3)})
    ],
    "prox.prox_jvp": [
        (prox.prox_jvp, lambda: {
            "q": numbers(D), **box(), "u": numbers(3, D), "out": np.zeros((3, D))})
    ],
    "iht.iht_walk": [
        (iht.iht_walk, lambda normalised=normalised: rival(
            beta=np.zeros(D), u=numbers(N), k=2, step=0.1, normalised=normalised, safe=0.05,
            floor=1e-20))
        for normalised in (True, False)
    ],
    "iht.iht_proposal": [
        (iht.iht_proposal, lambda: {
            "beta": numbers(D), "g": numbers(D), "eta": 0.1, "k": 2, "new": np.zeros(D)})
    ],
    "iht.iht_support": [
        (iht.iht_support, lambda: {
            "beta": np.zeros(D), "g": numbers(D), "k": 2, "support": np.zeros(D)})
    ],
    "iht.same_support": [(iht.same_support, lambda: {"a": numbers(D), "b": numbers(D)})],
    "irksn.thetas": [(irksn.thetas, lambda: {"steps": 5})],
    "irksn.Walk": [(walk, a_walk)],
    "irksn.Walk.run": [
        (walk, a_walk),
        (walk, lambda: a_walk(labels=np.array([0, 1, 1, 0]), sign=1.0)),
        (walk, lambda: a_walk(objective=profiled())),
        (walk, lambda: a_walk(  # of two responses
            objective=Squares(np.ones(2 * N)), y=np.ones(2 * N), Z=np.zeros((2, 2 * N)),
            F=np.zeros((2, 2 * D)), at=np.zeros(2 * N), rows=np.zeros((9, 2 * D)),
            seen=np.zeros((3, 2, 2 * N)), working={**columns(), "refs": numbers(2, 2 * N)})),
    ],
    "linalg.solve": [
        (linalg.solve, lambda: {"H": 4 * np.eye(D), "s": numbers(D)}),
        (linalg.solve, lambda: {"H": np.ones((D, D)), "s": numbers(D)}),
    ],
    **{
        f"losses.{kind.__name__}": [(kind, lambda: {"y": Y, "weights": WEIGHTS})]
        for kind in (Loss, Squared, Logistic, Poisson)
    },
    "losses.Huber": [(Huber, lambda: {"y": Y, "weights": WEIGHTS, "delta": 0.5})],
    "losses.Loss.slopes_rows": list(of_losses(
        lambda loss, **given: loss.slopes_rows(**given), E=lambda size: numbers(2, size),
        G=lambda size: np.zeros((2, size)), H=lambda size: np.zeros((2, size)))),
    "losses.Loss.values_rows": list(of_losses(
        lambda loss, **given: loss.values_rows(**given), E=lambda size: numbers(2, size),
        out=lambda size: np.zeros((2, N)))),
    "losses.Loss.hessian_of": list(of_losses(
        lambda loss, **given: loss.hessian_of(**given), eta=numbers,
        columns=lambda size: numbers(2, N))),
    "losses.Loss.scratch": [(lambda loss, q: None if loss.scratch(q).size else 0, lambda: {
        "loss": a_loss("cox"), "q": 2})],
    "losses.Loss.check_width": [
        (lambda loss, E: loss.check_width(E), lambda: {"loss": a_loss(), "E": numbers(2, N)})
    ],
    "multinomial.Multinomial": [
        (Multinomial, lambda: {"y": Y + (EVENTS > 0), "weights": WEIGHTS, "n_classes": 3})
    ],
    "cox.Cox": [
        (Cox, lambda: {"events": EVENTS, "weights": WEIGHTS, "layout": layout(N), "efron": True}),
        (lambda **given: slopes_of(
            Cox(**given), np.zeros((1, N)), np.zeros((1, N)), np.zeros((1, N))), lambda: {
            "events": EVENTS, "weights": WEIGHTS, "layout": layout(N), "efron": True}),
    ],
    "cox_new_rows.added_rows": [
        (cox_new_rows.added_rows, lambda: {
            "loss": a_loss("cox"), "E": numbers(2, N), "new_E": numbers(2, 3),
            "new_events": np.array([1.0, 0, 1]), "joins": joins(), "out": np.zeros((2, 3))})
    ],
    "newton.Newton": [
        (lambda **given: newton.Newton(**given) and None, lambda: {
            "loss": a_loss(), "Q": np.ones((1, N)), "start": np.zeros(1), "widest": 2, "unit": 1.0,
            "terms": 1.0})
    ],
    "newton.refit_models": [
        (newton.refit_models, models),
        (newton.refit_models, lambda: {**models(), "loss": a_loss("cox")}),
    ],
    "objectives.Pace": [
        (lambda gamma: Pace(gamma).trial_step(), lambda: {"gamma": 0.5}),
    ],
    **{
        f"objectives.Pace.{name}": [
            (lambda name=name, **given: getattr(Pace(0.5), name)(**given),
             lambda given=given: dict(given))
        ]
        for name, given in {
            "trial_step": {}, "next_theta": {"gamma": 0.5}, "momentum": {"gamma": 0.5},
            "refuse": {"gamma": 0.5}, "accept": {"theta": 1.5, "gamma": 0.5},
        }.items()
    },
    "objectives.Objective": [(lambda: Objective() and None, dict)],
    "signs.Signs": [(lambda: Signs() and None, dict)],
    "objectives.Squares": [(lambda y: Squares(y).shortest_step, lambda: {"y": numbers(N)})],
    "objectives.Profiled": [
        (lambda **given: Profiled(**given).shortest_step, lambda: {
            "loss": profile_of(a_loss()), "y": numbers(N), "origin": np.zeros(N),
            "unpenalized_coef": np.zeros((2, 1))})
    ],
    **{
        f"objectives.Objective.{name}": [
            (lambda objective, name=name, **given: getattr(objective, name)(**given),
             lambda make=make, given=given, name=name: {
                "objective": make(), **{each: numbers(N) for each in given},
                **({"gamma": 0.5, "pace": Pace()} if name == "holds" else {})})
            for make in (lambda: Squares(numbers(N)), profiled)
        ]
        for name, given in {
            "gradient": ["Xr"], "first_step": ["Xw"], "holds": ["z", "v", "Xr", "g", "Xw"],
        }.items()
    },
    "profile.ProfileLoss": [
        (lambda **given: ProfileLoss(**given).n_free, lambda: {
            "loss": a_loss(), "Q": np.ones((1, N)), "roots": np.sqrt(WEIGHTS)})
    ],
    "profile.ProfileLoss.solve_rows": [
        (lambda profile, **given: profile.solve_rows(**given), lambda which=which, free=free: {
            "profile": profile_of(a_loss(which)), "E": numbers(2, free * N),
            "C": np.zeros((2, free))})
        for which, free in (("logistic", 1), ("multinomial", 3))
    ],
    "profile.ProfileLoss.gradient": [
        (lambda profile, **given: profile.gradient(**given), lambda: {
            "profile": profile_of(a_loss()), "fitted": numbers(N), "c": np.zeros(1),
            "eta": np.zeros(N), "g": np.zeros(N)})
    ],
    "profile.ProfileLoss.step_factor": [
        (lambda profile, **given: profile.step_factor(**given), lambda: {
            "profile": profile_of(a_loss("cox")), "origin": numbers(N), "fitted": numbers(N)})
    ],
    "profile.ProfileLoss.check": [
        (lambda profile, **given: profile.check(**given), lambda: {
            "profile": profile_of(a_loss()), "size": N, "free": 1})
    ],
    "refits.Factor": [
        (lambda **given: refits.Factor(**given) and None, lambda: {
            "G": np.eye(D), "c": numbers(D), "widest": 2, "tol": 1e-9})
    ],
    "products.signed_sums": [
        (products.signed_sums, lambda: {
            "R": np.eye(4), "S": 9.0 * np.eye(4), "indptr": np.array([0, 2, 4]),
            "members": np.array([0, 1, 3, 2]), "positive": False})
    ],
    "products.Products": [(rows_of_products, columns_of_atoms)],
    "products.Products.rows": [(rows_of_products, columns_of_atoms)],
    "refits.refit_many": [(refits.refit_many, supports)],
    "refits.best_gains": [(refits.best_gains, exchanges)],
    "refits.fill_calls": [
        (refits.fill_calls, lambda: {
            "calls": np.array([[0, 1], [-127, 2], [1, 1]], np.int8), "missing": -127,
            "out": np.zeros((3, 2), order="F")})
    ],
    "residuals.Residuals": [(gains, left_out)],
    "residuals.Residuals.gains": [
        (gains, left_out),
        (gains, lambda: {**left_out(), "products": np.zeros((0, D)), "inverse": np.zeros((0, 0)),
                         "mean": np.zeros((0, 3)), "out": np.full(3, -1)}),
    ],
    "rivals.srdi_walk": [
        (rivals.srdi_walk, lambda: rival(
            beta=np.zeros(D), r=numbers(N), u=np.zeros(N), kappa=1.0, delta=0.1))
    ],
    "rivals.ksn_walk": [
        (rivals.ksn_walk, lambda: rival(
            XB=np.zeros((2, N)), F=np.zeros((2, D)), fista=Fista(1.0), k=2,
            lams=np.array([1.0, 0.5]), steps=3, search=True))
    ],
    "rivals.ircr_walk": [
        (rivals.ircr_walk, lambda: rival(
            T=np.zeros((2, N)), F=np.zeros((2, D)), sigma=0.1, tau=0.1))
    ],
    "rivals.irosr_walk": [
        (rivals.irosr_walk, lambda: {
            "B": numbers(D, N), "X": numbers(N, D), "y": numbers(N), "U": numbers(2, D),
            "w": numbers(D), "clock": Clock(), "step": 0.01, "end": 9, "every": 2,
            "rows": np.zeros((9, D))})
    ],
    "rivals.Fista": [
        (lambda **given: Fista(**given).scale, lambda: {"inverse_step": 1.0, "momentum": 0.0})
    ],
    "rivals.Fista.move_on": [
        (lambda **given: Fista(1.0).move_on(**given), lambda: {
            "XB": numbers(2, N), "Xb": numbers(N), "restart": False})
    ],
    "rivals.residual_of": [
        (rivals.residual_of, lambda: {"Xb": numbers(N), "y": numbers(N), "u": np.zeros(N)})
    ],
    "rivals.soft_threshold": [
        (rivals.soft_threshold, lambda: {
            "z": numbers(D), "level": 0.5, "scale": 2.0, "out": np.zeros(D)})
    ],
    "rivals.ircr_dual": [
        (rivals.ircr_dual, lambda: {
            "T": numbers(2, N), "Xb": numbers(N), "y": numbers(N), "sigma": 0.1})
    ],
    "rivals.ircr_primal": [
        (rivals.ircr_primal, lambda: {"c": numbers(D), "tau": 0.1, "F": numbers(2, D)})
    ],
    "rivals.irosr_move": [
        (rivals.irosr_move, lambda: {
            "U": numbers(2, D), "g": numbers(D), "step": 0.1, "w": np.zeros(D)})
    ],
    "working_set.Clock": [
        (lambda **given: Clock(**given).now, lambda: {"now": 1, "recorded": 0})
    ],
    "working_set.Clock.due": [
        (lambda **given: Clock().due(**given), lambda: {"end": 3, "every": 2})
    ],
    "working_set.correlate": [
        (working_set.correlate, lambda: {
            "B": numbers(D, N), "u": numbers(2 * N), "out": np.zeros(2 * D)})
    ],
    "working_set.combine": [
        (working_set.combine, lambda: {
            "B": numbers(D, N), "r": numbers(2 * D), "scale": 2.0, "out": np.zeros(2 * N)})
    ],
    "working_set.bound_outside": [
        (working_set.bound_outside, lambda: {
            "u": numbers(N), "refs": numbers(2, N), "edges": numbers(2, 2), "reach": 1.0})
    ],
    "working_set.choose_columns": [
        (working_set.choose_columns, lambda: {
            "correlations": numbers(40), "norms": numbers(40), "m": 2, "chosen": marked(40)})
    ],
    "working_set.choose_for": [
        (working_set.choose_for, lambda: {
            "up": numbers(3, D), "down": numbers(3, D), "lengths": np.ones(3), "wrong": np.zeros(3),
            "norms": np.ones(D), "m": 2, "chosen": marked(D), "edges": np.zeros((3, 2))})
    ],
    "working_set.carry_rows": [
        (working_set.carry_rows, lambda: {
            "A": numbers(D, N), "before": np.array([0, 2, 5]), "now": np.array([1, 2, 5, 7])})
    ],
}  # fmt: skip


# -- what is tried in place of an argument ---------------------------------------------------


def other_layouts(a):
    """The same numbers, which mean the same if they are taken at all."""
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = a
    yield "strided", wide[..., ::2]
    yield "backwards", a[::-1].copy()[::-1]
    yield "in the other order", np.array(a, order="C" if a.flags.f_contiguous else "F")
    yield "read alone", np.lib.stride_tricks.as_strided(a, writeable=False)


def other_arrays(a):
    """Other shapes, types and numbers."""
    for axis in range(a.ndim):
        length = a.shape[axis]
        for new in sorted(
            {0, 1, max(length - 1, 0), length + 1, 2 * length, 7 * length} - {length}
        ):
            yield f"{new} along {axis}", np.resize(a, (*a.shape[:axis], new, *a.shape[axis + 1 :]))
    yield "nothing", np.zeros((0,) * a.ndim, a.dtype)
    yield "one dimension less", a.ravel() if a.ndim > 1 else a[0] if a.size else None
    yield "one dimension more", a[None]
    yield "transposed", np.ascontiguousarray(a.T)
    for kind in ("f4", "f8", "i4", "i8", "u1", "?", "c16", "O", "U4", ">f8"):
        if np.dtype(kind) != a.dtype:
            yield f"of type {kind}", a.astype(kind)
    if a.dtype.kind == "f":
        fills = (np.nan, np.inf, -np.inf, 0.0, 1e300, 5e-324, -1.0)
    else:
        fills = (-1, -5, a.size, 9 * a.size, 2**62) if a.dtype == np.intp else ()
    for fill in fills:
        yield f"all {fill}", np.full_like(a, fill)
        if a.size:
            one = a.copy()
            one.flat[a.size // 2] = fill
            yield f"one {fill}", one


OTHERS = [("None", None), ("text", "a"), ("a list", [1.0, 2.0]), ("an object", object())]
FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 5e-324, 3)
COUNTS = (-(2**62), -7, -1, 0, 1, 3, 7, 1.5)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool)


def odd(value):
    """Other arguments in place of one: what they are, and whether results stay the same."""
    if isinstance(value, np.ndarray):
        yield from ((what, other, True) for what, other in other_layouts(value))
        yield from ((what, other, False) for what, other in other_arrays(value))
    elif isinstance(value, dict):
        for name, own in value.items():
            for what, other, same in odd(own):
                yield f"{name}: {what}", {**value, name: other}, same
    elif is_count(value):
        yield from ((str(count), count, False) for count in COUNTS)
    elif isinstance(value, float):
        yield from ((str(number), number, False) for number in FLOATS)
    elif isinstance(value, Clock):
        for now in (-7, -1, 3, 2**62):
            yield f"a clock at {now}", Clock(now), False
    elif isinstance(value, (Loss, Objective)):
        for what, other in (("longer", np.ones(N + 1)), ("of nothing", np.ones(0))):
            kind = Squares(other) if isinstance(value, Objective) else Logistic(other, other)
            yield what, kind, False
        if isinstance(value, Loss):
            yield "multinomial", a_loss("multinomial"), False
    yield from ((what, other, False) for what, other in OTHERS)


# -- trying ----------------------------------------------------------------------------------


def behind_fences(value, at_end):
    if isinstance(value, np.ndarray) and value.flags.forc:
        copy = fenced(value, at_end)
        copy.flags.writeable = value.flags.writeable
        return copy
    if isinstance(value, dict):
        return {name: behind_fences(each, at_end) for name, each in value.items()}
    return value


def outcome(call, given):
    """All numbers that a call returns or writes; the error where it refuses."""
    try:
        returned = call(**given)
    except SystemError:
        raise
    except Exception as error:
        return error
    return flat([returned, [each for each in given.values() if isinstance(each, np.ndarray)]])


def flat(value):
    if isinstance(value, (list, tuple)):
        return [number for each in value for number in flat(each)]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.kind in "fiub" else []
    return [value] if isinstance(value, (int, float)) else []


def try_door(name, seed, more):
    """All odd arguments one by one, then some pairs; how many, and how many were refused."""
    global RNG
    tried = refused = 0

    def attempt(call, make, changes, same):
        nonlocal tried, refused
        given, at_end = make(), (tried + seed) % 3 > 0
        told = ", ".join(f"{which} is {what}" for which, what, _ in changes)
        print(f"{name}: {told}", file=sys.stderr, flush=True)
        given.update({which: other for which, _, other in changes})
        found = outcome(call, behind_fences(given, at_end))
        tried += 1
        refused += isinstance(found, Exception)
        if same is not None and not isinstance(found, Exception):
            np.testing.assert_equal(found, same, err_msg=told)

    for call, plain in CALLS[name]:

        def make(plain=plain):
            global RNG
            RNG = np.random.default_rng(seed)
            return plain()

        expected = outcome(call, behind_fences(make(), True))
        assert not isinstance(expected, Exception), (name, expected)
        there = [
            (which, what, other, same)
            for which, value in make().items()
            for what, other, same in odd(value)
        ]
        for which, what, other, same in there:
            attempt(call, make, [(which, what, other)], expected if same else None)
        pairs = np.random.default_rng([seed, len(name)])
        for _ in range(more if there else 0):
            chosen = [there[at][:3] for at in pairs.integers(len(there), size=2)]
            attempt(call, make, chosen, None)
    return tried, refused


def doors_of(module):
    """Names of functions, of classes, and of their methods that take arguments."""
    compiled = importlib.import_module(f"ksupport._kernels.{module}")
    for name, thing in vars(compiled).items():
        here = getattr(thing, "__module__", None) == compiled.__name__ and callable(thing)
        if name.startswith("_") or not here or name == "Status":
            continue
        yield f"{module}.{name}"
        for method, what in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and callable(what) and method != "copy":
                yield f"{module}.{name}.{method}"


def main(seed, more):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    modules = {
        name for _, name, _ in pkgutil.iter_modules(ksupport._kernels.__path__) if name[0] != "_"
    }
    there = {door for module in modules - NOT_TRIED for door in doors_of(module)}
    assert there == set(CALLS), there ^ set(CALLS)
    total = 0
    for name in CALLS:
        tried, refused = try_door(name, seed, more)
        print(f"{name}: {tried} calls, {refused} of them refused", flush=True)
        total += tried
    print(f"{total} calls of {len(CALLS)} functions, classes and methods")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
