"""Run work in a copy of this process first, where it might not end or exhaust memory."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable

SECONDS = 10  # of CPU time
MEGABYTES = 1000  # beyond what this process has
PAUSE = 0.005


def is_safe(work: Callable[[], object]) -> bool:
    """Whether work ends, with a result or an error, within limits on time and memory.

    Where processes cannot be copied, on Windows, it is taken to be.
    """
    if not hasattr(os, "fork"):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other threads: the copy needs none of them
        pid = os.fork()
    if pid == 0:
        _try(work)
    # Somebody who waits for a lock of a thread that was not copied takes no CPU time.
    end = time.monotonic() + 10 * SECONDS
    while (status := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)
    return os.waitstatus_to_exitcode(status[1]) in (0, -signal.SIGKILL)


def _try(work: Callable[[], object]) -> None:
    code = 0
    try:
        _bound()
        work()
    except Exception as error:  # which the work itself will tell of, but for want of memory
        code = int(isinstance(error, MemoryError) or "alloc" in str(error))
    finally:
        os._exit(code)


def _bound() -> None:
    import faulthandler
    import resource

    faulthandler.disable()  # that it may crash is why it is tried

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as stream:
            pages = int(stream.read().split()[0])
        most = pages * resource.getpagesize() + MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
