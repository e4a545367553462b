"""Runs commands on machines that nobody should have, and looks at what they leave.

    unshare --mount python machines.py disk KIND FOLDER POINTS SEED
    python machines.py clock KIND FOLDER POINTS SEED

``disk`` mounts small disks of random sizes, in a namespace of its own: a command that finds no room
says so in words, everything there is whole, and where there is room again it goes on.  ``clock``
sets the clock back by ten years at random moments (libfaketime); nobody may notice.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from killing import (  # type: ignore[import-not-found]  # beside this script
    KINDS,
    check_parts,
    left_over,
    run,
    undisturbed,
)

PAGE = 4  # kilobytes, of which such disks have a whole number
ROOM = 1 << 14  # kilobytes for everything


# -- small disks ---------------------------------------------------------------------------


def mount(place, kilobytes, *, again=False):
    options = f"size={kilobytes}k" + ",remount" * again
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)


def assert_told(text):
    assert "Traceback" not in text, text
    assert "No space left" in text or "disk" in text, text


def on_a_small_disk(command, place, kilobytes, whole):
    """Whether there was room; if not, it is told, and nothing is lost or left half-written."""
    mount(place, ROOM)
    command.prepare(place)
    mount(place, kilobytes, again=True)
    before, told = command.contents(place), place.parent / "told"
    told.unlink(missing_ok=True)
    code = run(command.args, place)
    found = command.contents(place)
    check_parts(found, before, whole)
    assert left_over(place) == []
    if code:
        assert code == 1, told.read_text()
        assert_told(told.read_text())
    else:
        assert found == whole
    mount(place, ROOM, again=True)
    assert run(command.args, place) == 0, told.read_text()
    assert command.contents(place) == whole
    subprocess.run(["umount", place], check=True)
    return code == 0


def used(place):
    """Kilobytes, in whole pages."""
    sizes = [path.stat().st_size for path in place.rglob("*") if path.is_file()]
    return sum(PAGE * -(-size // (1024 * PAGE)) for size in sizes)


def disks(command, folder, points, rng):
    whole = undisturbed(command, folder / "whole")
    most, place = used(folder / "whole"), folder / "small"
    place.mkdir()
    sizes = [PAGE * rng.randint(4, round(1.6 * most) // PAGE) for _ in range(points)]
    return Counter(
        "room" if on_a_small_disk(command, place, size, whole) else "full" for size in sizes
    )


# -- clocks that are set back --------------------------------------------------------------


def under_a_clock(command, place, seconds):
    """Run a command whose clock is set back after some seconds; whether it was still at work."""
    clock = place.parent / "clock"
    clock.write_text("+0")
    told = (place.parent / "told").open("w")
    env = os.environ | {
        "LD_PRELOAD": os.environ["FAKETIME_LIBRARY"], "FAKETIME_NO_CACHE": "1",
        "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    code = [sys.executable, "-m", "ksupport_command", *command.args]
    process = subprocess.Popen(code, cwd=place, env=env, stdout=told, stderr=told)
    time.sleep(seconds)
    clock.write_text("-3650d")
    at_work = process.poll() is None
    assert process.wait() == 0, (place.parent / "told").read_text()
    return at_work


def clocks(command, folder, points, rng):
    """Each run goes on in the folder of the one before, whose files are then from the future."""
    whole = undisturbed(command, folder / "whole")
    place, hit = folder / "set back", Counter()
    place.mkdir()
    command.prepare(place)
    started = time.monotonic()
    under_a_clock(command, place, 0.0)
    seconds = time.monotonic() - started
    for _ in range(points):
        hit["at work" if under_a_clock(command, place, rng.uniform(0, seconds)) else "after"] += 1
        assert command.contents(place) == whole
        assert left_over(place) == []
    return hit


def main(machine, kind, folder, points, seed):
    from ksupport.cli import program

    program()
    tried = {"disk": disks, "clock": clocks}[machine]
    command = KINDS[kind](folder)
    print(json.dumps(tried(command, folder, points, random.Random(seed))))


if __name__ == "__main__":
    machine, kind, folder, points, seed = sys.argv[1:]
    main(machine, kind, Path(folder).resolve(), int(points), int(seed))
