# cython: language_level=3, wraparound=False, cdivision=True
"""What Algorithm 1 is called with: the loss whose gradient it follows, and the pace of its steps.

By squares, the paper's case, it is accelerated gradient descent on the dual function

    D(v) = R*(-Xᵀv) + ⟨y, v⟩,   ∇D(v) = y - Xr,   r = ∇R*(-Xᵀv).

R is homogeneous of degree 2, so R*(-Xᵀv) = -½⟨v, Xr⟩: values of D come with the products of a
step.  By any other loss it is mirror descent with momentum, z = v + gamma ∇l(Xr).
"""

import numpy as np

cimport cython
from libc.float cimport DBL_EPSILON
from libc.math cimport sqrt

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree
from ksupport._kernels.profile cimport ProfileLoss

FIRST_SHARE = 1.0 / 16  # of the longest first step: small, so that no early support is jumped over
GROWTH, LATE_GROWTH = 1.5, 1.1  # of the next trial step: until the first refusal, and from then on
SHORTEST = 1e-300  # of losses: a step that had to become shorter than this is none
cdef double first_share = FIRST_SHARE, growth = GROWTH


@cython.final
cdef class Pace:
    """Steps of Algorithm 1: constant ones of length gamma, or by backtracking.

    With gamma and gamma⁺ the last step and the next one,

        theta⁺ = (1 + √(1 + 4 (gamma/gamma⁺) theta²))/2,   v⁺ = z + (theta - 1)/theta⁺ (z - z_prev)

    (Scheinberg, Goldfarb and Bai 2014); for constant steps that is the paper's momentum.

    Parameters
    ----------
    gamma : float, optional
        The constant step; None: steps are found by backtracking.
    """

    def __init__(self, gamma=None):
        self.constant = gamma is not None
        self.gamma = gamma or 0.0
        self.late_growth = LATE_GROWTH

    def __getstate__(self):
        return (
            self.constant, self.theta, self.gamma, self.scale_w, self.scale_r, self.curvature,
            self.refused, self.trial, self.late_growth,
        )

    def __setstate__(self, state):
        self.constant, self.theta, self.gamma, self.scale_w, self.scale_r = state[:5]
        self.curvature, self.refused, self.trial, self.late_growth = state[5:]

    def __reduce__(self):
        return Pace, (), self.__getstate__()

    def __eq__(self, other):
        return isinstance(other, Pace) and self.__getstate__() == other.__getstate__()

    def copy(self):
        """Another pace with the same numbers."""
        other = Pace()
        other.__setstate__(self.__getstate__())
        return other

    cpdef double trial_step(self) noexcept nogil:
        """The step to try next: longer than the last one, unless that met no curvature."""
        if self.constant:
            return self.gamma
        if self.trial > 0.0:
            return self.trial
        if self.theta == 0.0 or not self.curvature > 0.0:
            return self.gamma
        return self.gamma * (self.late_growth if self.refused else growth)

    cpdef double next_theta(self, double gamma) noexcept nogil:
        """theta⁺ of a step gamma."""
        if self.theta == 0.0:
            return 1.0
        return 0.5 + sqrt(0.25 + self.gamma / gamma * self.theta * self.theta)

    cpdef double momentum(self, double gamma) noexcept nogil:
        """(theta - 1)/theta⁺ of a step gamma."""
        return 0.0 if self.theta == 0.0 else (self.theta - 1.0) / self.next_theta(gamma)

    cpdef void refuse(self, double gamma) noexcept nogil:
        """Try this shorter step next; a walk that waits for columns then goes on with it."""
        self.refused = True
        self.trial = gamma

    cpdef void accept(self, double theta, double gamma) noexcept nogil:
        """A step gamma was taken, with momentum theta."""
        self.theta, self.gamma, self.trial = theta, gamma, 0.0


cdef double first_step(const double *y, const double *Xw, Py_ssize_t n) noexcept nogil:
    """A share of ‖y‖²/⟨y, Xw⟩, w = ∇R*(Xᵀy): the longest step from v = 0 that lowers D enough."""
    cdef double largest = simd.max_abs(y, n), far = simd.max_abs(Xw, n), size = 0.0, along = 0.0
    cdef Py_ssize_t i
    if not (largest > 0.0 and far > 0.0):
        return 1.0
    for i in range(n):  # relative to these, or large numbers could not be multiplied
        size += (y[i] / largest) * (y[i] / largest)
        along += (y[i] / largest) * (Xw[i] / far)
    return first_share * (largest / far) * (size / along) if along > 0.0 else 1.0


cdef class Objective:
    """A loss as Algorithm 1 sees it; `Squares` or `Profiled`."""

    cdef bint gradient_at(self, const double *Xr, double *g) noexcept nogil:
        return False

    cdef double first_step_along(self, const double *Xw) noexcept nogil:
        return first_step(&self.y[0], Xw, self.y.shape[0])

    cdef bint step_holds(
        self, const double *z, const double *v, double gamma, const double *Xr, const double *g,
        const double *Xw, Pace pace
    ) noexcept nogil:
        return False

    # -- for steps in Python, which multiply with all of X --------------------------------------

    def gradient(self, const double[::1] Xr):
        """The gradient at fitted values Xr, and whether it is finite."""
        g = np.empty(self.y.shape[0])
        cdef double[::1] out = g
        agree(Xr.shape[0] == self.y.shape[0], "Xr and y")
        finite = self.gradient_at(&Xr[0], &out[0])
        return g, finite

    def first_step(self, const double[::1] Xw):
        """The length of the first step, where Xw is along ∇R*(Xᵀy)."""
        agree(Xw.shape[0] == self.y.shape[0], "Xw and y")
        return self.first_step_along(&Xw[0])

    def holds(
        self, const double[::1] z, const double[::1] v, double gamma, const double[::1] Xr,
        const double[::1] g, const double[::1] Xw, Pace pace not None,
    ):
        """Whether the step gamma from v to z holds, where g is the gradient at Xr."""
        cdef Py_ssize_t n = self.y.shape[0]
        agree(z.shape[0] == v.shape[0] == Xr.shape[0] == n, "z, v, Xr and y")
        agree(g.shape[0] == Xw.shape[0] == n, "g, Xw and y")
        return self.step_holds(&z[0], &v[0], gamma, &Xr[0], &g[0], &Xw[0], pace)


cdef class Squares(Objective):
    """½‖Xw - y‖², the paper's case."""

    def __init__(self, const double[::1] y):
        self.y = y
        self.shortest_step = 0.0

    cdef bint gradient_at(self, const double *Xr, double *g) noexcept nogil:
        """Xr - y."""
        cdef Py_ssize_t i
        for i in range(self.y.shape[0]):
            g[i] = Xr[i] - self.y[i]
        return True

    cdef bint step_holds(
        self, const double *z, const double *v, double gamma, const double *Xr, const double *g,
        const double *Xw, Pace pace
    ) noexcept nogil:
        """Whether the step is one that a (1/gamma)-smooth D would allow.

        D must not rise above its tangent at v by more than ‖z - v‖²/(2 gamma), which is what the
        theory needs; and gradients must agree, gamma ‖∇D(z) - ∇D(v)‖² <= ⟨∇D(z) - ∇D(v), z - v⟩:
        that sees steep directions of which the step has little yet, in which errors of rounding
        would grow.  Products are right to EPS ‖Xr‖; what drowns in that says nothing, and the step
        does not grow.
        """
        sums = simd.sum_dual(z, v, gamma, Xr, Xw, self.y.shape[0])
        cdef double rise = 0.5 * (sums.along - sums.fall), allowed = 0.5 * sums.move2
        cdef double rounding = 16 * DBL_EPSILON * sqrt(sums.Xr2)
        cdef double blur = rounding * sqrt(sums.move2), sure
        pace.curvature = sums.curvature if sums.curvature > 4.0 * blur else 0.0
        if rise > 4.0 * rounding * sqrt(sums.z2) and not rise <= allowed:
            return False
        sure = max(sqrt(sums.change2) - rounding, 0.0)
        return not sure * sure > sums.curvature + blur


cdef class Profiled(Objective):
    """Another loss, minimised over what is not penalised.

    Parameters
    ----------
    loss : ProfileLoss
    y : array
        Minus the gradient at w = 0, in fitted values.
    origin : array
        eta at w = 0.
    unpenalized_coef : array of two rows
        The coefficients of what is not penalised, at r and at w; updated in place.
    """

    def __init__(
        self, ProfileLoss loss not None, const double[::1] y, const double[::1] origin,
        double[:, ::1] unpenalized_coef,
    ):
        agree(y.shape[0] == origin.shape[0] == loss.loss.size, "y, origin and the loss")
        agree(
            unpenalized_coef.shape[0] >= 2 and unpenalized_coef.shape[1] >= loss.n_free,
            "unpenalized_coef and the loss",
        )
        self.loss, self.y, self.origin, self.unpenalized_coef = loss, y, origin, unpenalized_coef
        self.scratch = np.empty((2, y.shape[0]))
        self.shortest_step = SHORTEST

    cdef double *coef_at(self, Py_ssize_t row) noexcept nogil:
        """A row of ``unpenalized_coef``, or NULL if it is empty."""
        return &self.unpenalized_coef[row, 0] if self.unpenalized_coef.shape[1] else NULL

    cdef bint gradient_at(self, const double *Xr, double *g) noexcept nogil:
        return self.loss.loss_gradient(self.coef_at(0), Xr, &self.scratch[0, 0], g)

    cdef double first_step_along(self, const double *Xw) noexcept nogil:
        """The less the loss is curved along Xw, compared with squares, the longer."""
        cdef double factor = self.loss.first_step_factor(&self.origin[0], Xw)
        return factor * first_step(&self.y[0], Xw, self.y.shape[0])

    cdef bint step_holds(
        self, const double *z, const double *v, double gamma, const double *Xr, const double *g,
        const double *Xw, Pace pace
    ) noexcept nogil:
        """Whether the loss still falls at w along w - r, the way that the step went.

        As the step is along -g, that is gamma ⟨∇l(Xw) - g, X(w - r)⟩ <= ⟨w - r, ∇R(w) - ∇R(r)⟩: on
        this step, the loss is no more curved than R/gamma (relative smoothness, Bauschke, Bolte and
        Teboulle 2017).  For squares it is the second test of `Squares`.
        """
        cdef double blur
        self.loss.loss_gradient(self.coef_at(1), Xw, &self.scratch[0, 0], &self.scratch[1, 0])
        sums = simd.sum_loss(Xr, Xw, g, &self.scratch[1, 0], self.y.shape[0])
        blur = (16 * DBL_EPSILON * sqrt(sums.Xr2) + 1e-12 * sqrt(sums.change2)) * sqrt(sums.gr2)
        pace.curvature = sums.fall if sums.fall > 4.0 * blur else 0.0
        return sums.rise <= blur
