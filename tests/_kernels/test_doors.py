"""Arrays and numbers that compiled functions were not made for: see `doors.py`."""

import subprocess
import sys
from pathlib import Path


def test_no_door_lets_in_what_is_read_beyond_its_end():
    command = [sys.executable, Path(__file__).with_name("doors.py"), "0", "30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    last = "\n".join(done.stderr.splitlines()[-20:])
    assert done.returncode == 0, f"ended with {done.returncode}, after\n{last}"
    assert "calls of" in done.stdout
