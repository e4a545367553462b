"""Optional packages, imported when needed: an error says how to install a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str, need: str = "this needs") -> Iterator[None]:
    """A context for imports of packages that an extra installs; ``need`` begins the message.

    >>> with extra("plot", "pictures need"):
    ...     import a_package_that_draws
    Traceback (most recent call last):
    ImportError: pictures need a_package_that_draws: pip install 'ksupport[plot]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise ImportError(f"{need} {package}: pip install 'ksupport[{name}]'") from error
