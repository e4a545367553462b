"""Imports of the optional packages; a missing one is an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._common.extra import extra


def optional(module: str) -> Any:
    """A module of the extra ``fmri``.

    Parameters
    ----------
    module : str
        Its full name.

    Returns
    -------
    module

    Examples
    --------
    >>> from ksupport.fmri._extra import optional
    >>> optional("numpy").__name__
    'numpy'
    """
    with extra("fmri"):
        return import_module(module)
