"""What may be said of odd data, and is not the point here."""

import warnings
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from ksupport import NoSignalWarning


@contextmanager
def quiet():
    """Without warnings that are meant for users; any other is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (ConvergenceWarning, NoSignalWarning, UserWarning):
            warnings.simplefilter("ignore", category)
        yield
