"""Losses: what takes the place of the squared residual for counts, classes and survival times.

A loss is a function of the fitted values ``eta = Xw + what is not penalised``, row by row or, for
survival times, of all rows at once.  It knows its derivatives, its deviance, its best constant and
its refit on a few columns; `Response` is a loss on the rows of a problem.
"""

from .base import Loss
from .cox import Cox
from .multinomial import Multinomial
from .newton import Refit
from .response import Response
from .separable import Huber, Logistic, Poisson, Squared

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (Squared, Huber, Logistic, Poisson, Cox, Multinomial)
}

__all__ = [
    "LOSSES",
    "Cox",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "Refit",
    "Response",
    "Squared",
    "loss_of",
]


def loss_of(loss: str | Loss, known: tuple[str, ...] = tuple(LOSSES)) -> Loss:
    """A loss itself, or the one of this name with its defaults.

    Parameters
    ----------
    loss : str or Loss
        What a user gave.
    known : tuple of str
        The names that are allowed here.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from ksupport.losses import loss_of
    >>> loss_of("huber")
    Huber(delta=None)
    """
    if isinstance(loss, Loss) and loss.name in known:
        return loss
    if not isinstance(loss, str) or loss not in known:
        raise ValueError(f"loss must be one of {', '.join(map(repr, known))}, got {loss!r}")
    return LOSSES[loss]()
