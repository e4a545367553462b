"""Running `child` in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .measure import Clock


def environment(**more: str) -> dict[str, str]:
    env = {**os.environ, **more}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # users import bytecode, and so must a child
    if Clock.shared:
        env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return env


def run(*arguments: str, **more: str) -> tuple[dict[str, Any], str]:
    """What the child measured, and what it wrote to stderr."""
    command = [sys.executable, str(Path(__file__).with_name("child.py")), *arguments]
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"benchmarks/child.py {' '.join(arguments)} failed:\n{done.stderr}")
    return json.loads(done.stdout), done.stderr


def watched(*arguments: str) -> tuple[dict[str, Any], dict[str, float]]:
    """As `run`, and the largest anonymous and file-backed memory seen from outside, in MB."""
    command = [sys.executable, str(Path(__file__).with_name("child.py")), *arguments]
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    most = {"RssAnon": 0.0, "RssFile": 0.0}
    while child.poll() is None:
        try:
            lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
        except OSError:  # it has just ended
            break
        for name in most:
            for line in lines:
                if line.startswith(name):
                    most[name] = max(most[name], int(line.split()[1]) / 1024)
        time.sleep(0.005)
    out, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"benchmarks/child.py {' '.join(arguments)} failed")
    return json.loads(out), most


def seconds(measured: dict[str, float]) -> float:
    """By the clock in use."""
    return measured["cpu" if Clock.shared else "wall"]
