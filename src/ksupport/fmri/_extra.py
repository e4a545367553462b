"""The optional packages behind this one: looked for when needed, with words when missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs {package}: pip install 'ksupport[fmri]'") from error
