"""The command ``ksupport``, outside the package: importing that takes a while, and may be cut."""

from __future__ import annotations

INTERRUPTED = 130  # what a shell reports of a command that Ctrl-C has ended


def main() -> None:
    """Import the command line and run it; Ctrl-C ends both without a traceback."""
    try:
        from ksupport.cli import app

        app()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
