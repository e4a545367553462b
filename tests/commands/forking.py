"""Runs each line of standard input, a command as JSON, in a forked process; prints the code."""

import json
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress


def child(job):
    """Become the command: its directory, environment, arguments and files."""
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    for number, name in ((1, job["out"]), (2, job["err"])):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["ksupport", *job["args"]]
    try:
        app()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def warm_up():
    """Load what most commands would load, each for itself: estimators, and parts of typer."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    AutoIRKSN().fit(X, X[:, 0])
    AutoIRKSNClassifier().fit(X, X[:, 0] + rng.standard_normal(40) > 0)
    sys.argv = ["ksupport", "fit", os.devnull, "--target", "y"]
    with (
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        suppress(SystemExit),
    ):
        app()


if __name__ == "__main__":
    import numpy as np

    from ksupport import AutoIRKSN, AutoIRKSNClassifier
    from ksupport.cli import app, program

    program()
    warm_up()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
