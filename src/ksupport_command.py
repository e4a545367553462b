"""The command ``ksupport``, outside the package: importing that takes a while, and may be cut."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130  # what a shell reports of a command that Ctrl-C has ended


def main() -> None:
    """Import the command line and run it; Ctrl-C ends both without a traceback."""
    # NumPy 2.0 cannot be imported without standard error; what is closed takes everything.
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        from ksupport.cli import app

        app()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
