"""The benchmarks are no part of the package: they come from the checkout, if there is one."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if (ROOT / "benchmarks" / "susie.py").exists():
    sys.path.insert(0, str(ROOT))
else:
    collect_ignore_glob = ["test_*.py"]
