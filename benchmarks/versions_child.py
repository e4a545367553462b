"""What `versions` starts in both versions: answers the names of rows with lines of JSON."""

from __future__ import annotations

import gc
import json
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.versions_rows import COUNTED, TIMED

LEAST = 0.02  # CPU seconds that calls are repeated for


def shown(result: Any) -> list[float]:
    """How many coefficients are not zero, and how large they are."""
    coef = getattr(result, "coef", getattr(result, "coef_", result))
    return [int(np.count_nonzero(coef)), float(np.linalg.norm(coef))]


def answers() -> None:
    """The name that was asked for last stays ready: the call, and how many of them are timed."""
    ready, call, count = "", lambda: None, 1
    for line in sys.stdin:
        name = line.strip()
        answer: dict[str, Any] = {}
        if name == "rows":
            answer = {"timed": list(TIMED), "counted": list(COUNTED)}
        elif name in COUNTED:
            answer["count"] = COUNTED[name]()
        elif name != ready:
            ready, call = name, TIMED[name]()
            answer["found"] = shown(call())
            start = process_time()
            call()
            count = 1 + int(LEAST / max(process_time() - start, 1e-6))
        else:
            gc.collect()
            start = process_time()
            for _ in range(count):
                call()
            answer["seconds"] = (process_time() - start) / count
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answers()
