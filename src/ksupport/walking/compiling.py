"""One line for the user who waits: numba compiles the kernels when they are first called."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

from .._common.telling import wipe

LINE = "ksupport: compiling its numerical core, once; up to half a minute"


class _Announcer(event.Listener):
    """Writes the line when a function of one module is compiled (not: loaded from the cache)."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.told = False

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"].py_func.__module__
        if not self.told and compiled == self.module:
            self.told = True
            wipe()
            print(LINE, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


def tell_when_compiling(module: str) -> None:
    """From now on say so, once, when functions of this module are compiled."""
    event.register("numba:compile", _Announcer(module))
