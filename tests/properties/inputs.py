"""What properties are tried on: vectors, problems, ways to lay numbers out in memory."""

from collections import Counter
from dataclasses import dataclass
from functools import wraps

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

tried = Counter()  # examples, by property


def holds(**examples):
    """`hypothesis.given`, which counts."""

    def decorate(test):
        @wraps(test)
        def counted(*args, **options):
            tried[test.__name__] += 1
            return test(*args, **options)

        return given(**examples)(counted)

    return decorate


def examples(share):
    """That share of the examples of the profile: for what takes long."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


# -- layouts -------------------------------------------------------------------------------


def strided(a):
    wide = np.full([2 * size for size in a.shape], 7, a.dtype)
    every_second = (slice(None, None, 2),) * a.ndim
    wide[every_second] = a
    return wide[every_second]


def read_only(a):
    copy = a.copy()
    copy.flags.writeable = False
    return copy


def unaligned(a):
    buffer = np.zeros(a.nbytes + 1, np.uint8)
    out = np.frombuffer(buffer.data, a.dtype, a.size, offset=1).reshape(a.shape)
    out[...] = a
    return out


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "backwards": lambda a: np.flip(np.flip(a).copy()),
    "read-only": read_only,
    "unaligned": unaligned,
    "other bytes": lambda a: a.astype(a.dtype.newbyteorder()),
}
layouts = st.sampled_from(sorted(LAYOUTS))


# -- vectors -------------------------------------------------------------------------------

plain = st.one_of(
    st.just(0.0),
    st.integers(-4, 4).map(float),  # ties
    st.floats(2.0**-20, 10.0),
    st.floats(-10.0, -(2.0**-20)),
)
wild = st.one_of(
    plain,
    st.floats(-1e300, 1e300),  # with the smallest that there are
    st.builds(lambda x, e: float(np.ldexp(x, e)), st.floats(-1, 1), st.integers(-1060, 990)),
)
exponents = st.integers(-960, 990)


@st.composite
def vectors(draw, entries=plain, largest=24):
    """A vector and a k for it."""
    w = np.array(draw(st.lists(entries, min_size=1, max_size=largest)))
    return w, draw(st.integers(1, w.size))


# -- problems ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A design and a response, in general position or not, and what they were drawn from."""

    kind: str
    seed: int
    X: np.ndarray
    y: np.ndarray

    @property
    def rng(self):
        return np.random.default_rng([self.seed, 1])


def _plain(rng, n, d):
    return rng.standard_normal((n, d))


def _correlated(rng, n, d):
    return rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((n, 1))


def _heavy(rng, n, d):
    return rng.standard_t(2, (n, d))


def _whole(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float)


def _copies(rng, n, d):
    return rng.standard_normal((n, d))[:, rng.integers(0, d, d)]


def _with_zeros(rng, n, d):
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    X[:, rng.random(d) < 0.2] = 0.0
    return X


def _constants(rng, n, d):
    X = rng.standard_normal((n, d))
    X[:, rng.random(d) < 0.4] = 3.0
    return X


GENERAL = {"plain": _plain, "correlated": _correlated, "heavy": _heavy}
SPECIAL = {"whole": _whole, "copies": _copies, "zeros": _with_zeros, "constants": _constants}
DESIGNS = GENERAL | SPECIAL


@st.composite
def problems(draw, designs=tuple(GENERAL), rows=(8, 30), columns=(2, 20)):
    """Columns with and without a share in y."""
    kind = draw(st.sampled_from(sorted(designs)))
    seed = draw(st.integers(0, 2**32 - 1))
    n, d = draw(st.integers(*rows)), draw(st.integers(*columns))
    rng = np.random.default_rng(seed)
    X = DESIGNS[kind](rng, n, d)
    w = np.zeros(d)
    w[: min(3, d)] = [2.0, -1.5, 1.0][: min(3, d)]
    return Drawn(kind, seed, X, X @ w + 0.3 * rng.standard_normal(n))
